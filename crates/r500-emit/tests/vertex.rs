//! Vertex shaders of all programs of the corpus, and of generated ones, are valid: as naga, spirv-val and glslang judge it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::collections::BTreeMap;
use std::io::{BufReader, Read};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use naga::valid::{Capabilities, ValidationFlags, Validator};
use r500_emit::{
    Arithmetic, Code, EmitError, Form, Language, VertexOptions, VertexShader, emit_vertex,
};
use r500_formats::{Limits, LogEntries, LogEntry};
use r500_gen::{Rng, vertex_programs};
use r500_pvs::{Program, Source};

fn corpus() -> Vec<Program> {
    let names =
        ["glmark2-mesa-22.3.6", "glmark2-mesa-25.0.7", "piglit-mesa-22.3.6", "piglit-mesa-25.0.7"];
    let programs = names.into_iter().flat_map(|name| {
        let path =
            format!("{}/../../tests/corpus/vertex/{name}.log.gz", env!("CARGO_MANIFEST_DIR"));
        let mut text = Vec::new();
        let file = std::fs::File::open(path).unwrap();
        flate2::read::GzDecoder::new(file).read_to_end(&mut text).unwrap();
        let entries = LogEntries::new(BufReader::new(&text[..]), &Limits::default());
        let program = |entry: LogEntry| match entry {
            LogEntry::Vertex(program) => program.program().unwrap(),
            LogEntry::Fragment(_) => panic!("a fragment program"),
        };
        entries.map(|entry| program(entry.unwrap())).collect::<Vec<_>>()
    });
    programs.collect()
}

fn options() -> impl Iterator<Item = VertexOptions<'static>> {
    Language::ALL.into_iter().flat_map(|language| {
        [Arithmetic::Fast, Arithmetic::Exact].into_iter().flat_map(move |arithmetic| {
            [Form::Stage, Form::Function].map(move |form| VertexOptions {
                arithmetic,
                form,
                ..VertexOptions::new(language)
            })
        })
    })
}

fn validate(module: &naga::Module) -> Result<(), String> {
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
    validator.validate(module).map(|_| ()).map_err(|error| format!("{:?}", error.into_inner()))
}

/// Judges a shader by naga. GLSL is not judged: naga's reader knows another part of it.
fn judge(shader: &VertexShader, options: &VertexOptions<'_>, place: &str) {
    let module = match &shader.code {
        Code::Text(text) if options.language == Language::Wgsl => {
            naga::front::wgsl::parse_str(text)
                .unwrap_or_else(|error| panic!("{place}: {}\n{text}", error.emit_to_string(text)))
        }
        Code::Text(_) => return,
        Code::Words(words) => {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            naga::front::spv::parse_u8_slice(&bytes, &naga::front::spv::Options::default())
                .unwrap_or_else(|error| panic!("{place}: {error}"))
        }
    };
    validate(&module).unwrap_or_else(|error| panic!("{place}: {error}\n{:?}", shader.code));
    if options.form == Form::Stage {
        let [entry] = module.entry_points.as_slice() else { panic!("{place}: one entry point") };
        assert_eq!(entry.stage, naga::ShaderStage::Vertex, "{place}");
    }
}

/// Runs a validator on a file; `None` if it is not installed.
fn runs(program: &str, args: &[&str], name: &str, bytes: &[u8]) -> Option<Result<(), String>> {
    // Tests run at the same time.
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let run = RUNS.fetch_add(1, Ordering::Relaxed);
    let folder = format!("r500-emit-vertex-{}-{run}", std::process::id());
    let folder = std::env::temp_dir().join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(name);
    std::fs::write(&file, bytes).unwrap();
    let output = Command::new(program).args(args).arg(&file).stdin(Stdio::null()).output();
    let _ = std::fs::remove_dir_all(&folder);
    output.ok().map(|output| match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr)),
    })
}

/// Judges a stage by the tools that are installed: glslang for GLSL, spirv-val. Returns which did.
fn judge_by_tools(shader: &VertexShader, options: &VertexOptions<'_>, place: &str) -> [u32; 2] {
    let (which, result) = match &shader.code {
        Code::Text(_) if options.language == Language::Wgsl => return [0, 0],
        Code::Text(text) => {
            ([1, 0], runs("glslangValidator", &["-S", "vert"], "a.vert", text.as_bytes()))
        }
        Code::Words(words) => {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            ([0, 1], runs("spirv-val", &["--target-env", "vulkan1.0"], "a.spv", &bytes))
        }
    };
    let Some(result) = result else { return [0, 0] };
    result.unwrap_or_else(|error| panic!("{place}: {error}"));
    which
}

#[test]
fn vertex_programs_of_a_driver_are_valid_shaders() {
    let (mut emitted, mut by_tools, mut tables) = (0, [0, 0], 0);
    let mut refused = BTreeMap::<String, usize>::new();
    let programs = corpus();
    assert_eq!(programs.len(), 553, "the corpus has changed");
    for (n, program) in programs.iter().enumerate() {
        for options in options() {
            let shader = match emit_vertex(program, &options) {
                Ok(shader) => shader,
                Err(EmitError::ExactLanguage | EmitError::NoFunction) => continue,
                Err(error) => {
                    *refused.entry(error.to_string()).or_default() += 1;
                    continue;
                }
            };
            emitted += 1;
            let has_table = matches!(&shader.code, Code::Text(text) if text.contains("constants["));
            tables += u32::from(has_table);
            let VertexOptions { language, arithmetic, form, .. } = options;
            let place = format!("program {n} as {} ({arithmetic:?}, {form:?})", language.name());
            judge(&shader, &options, &place);
            // A process for each would take long.
            if form == Form::Stage && (n % 32 == 0 || std::env::var_os("R500_ALL").is_some()) {
                let judged = judge_by_tools(&shader, &options, &place);
                by_tools = [by_tools[0] + judged[0], by_tools[1] + judged[1]];
            }
        }
    }
    println!(
        "{emitted} shaders, {tables} with a table of constants; {by_tools:?} also by glslang and spirv-val (0: not installed); refused: {refused:#?}"
    );
    assert_eq!(refused, BTreeMap::new());
    assert!(tables > 20, "{tables} with a table");
}

#[test]
fn generated_vertex_programs_are_valid_shaders() {
    let (mut emitted, mut refused, mut by_tools) = (0, BTreeMap::<String, usize>::new(), [0, 0]);
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let program = match seed % 2 {
            0 => vertex_programs::program(&mut rng, 24, false),
            _ => vertex_programs::wild(&mut rng, 14),
        };
        let program = vertex_programs::with_inputs(&program);
        for options in options() {
            match emit_vertex(&program, &options) {
                // Registers at relative addresses make long functions of some, which take the judges long.
                Ok(shader) if shader.code.bytes().len() > 400_000 => {}
                Ok(shader) => {
                    let place = format!("seed {seed} as {}", options.language.name());
                    judge(&shader, &options, &place);
                    if options.form == Form::Stage && seed % 32 < 2 {
                        let judged = judge_by_tools(&shader, &options, &place);
                        by_tools = [by_tools[0] + judged[0], by_tools[1] + judged[1]];
                    }
                    emitted += 1;
                }
                Err(EmitError::ExactLanguage | EmitError::NoFunction) => {}
                Err(error) => *refused.entry(error.to_string()).or_default() += 1,
            }
        }
    }
    println!(
        "{emitted} shaders; {by_tools:?} also by glslang and spirv-val; refused: {refused:#?}"
    );
    assert!(emitted > 3500, "{emitted} shaders");
}

fn written(text: &str, options: &VertexOptions<'_>) -> VertexShader {
    let source = Source::parse(text, &mut |_| Err("no files".to_owned())).unwrap();
    emit_vertex(&source.program, options).unwrap()
}

#[test]
fn the_interface_names_attributes_varyings_and_constants() {
    let text = "out[0].xyzw = VE_ADD input[2].xyzw const[1].xyzw ;
        out[3].xy = VE_ADD input[5].xy__ input[5].xy__ ;";
    let shader = written(text, &VertexOptions::new(Language::Wgsl));
    let interface = &shader.interface;
    let inputs: Vec<(u8, u32)> =
        interface.inputs.iter().map(|input| (input.temp, input.location)).collect();
    assert_eq!(inputs, [(2, 2), (5, 5)]);
    let outputs: Vec<(u8, Option<u32>)> =
        interface.outputs.iter().map(|output| (output.register, output.location)).collect();
    assert_eq!(outputs, [(0, None), (3, Some(2))]);
    assert_eq!(interface.uniforms.as_ref().unwrap().bytes, 2 * 16);
    assert_eq!(
        interface.uniform_values(&[[1.0; 4], [2.0; 4], [3.0; 4]])[..2],
        [[1.0; 4], [2.0; 4]]
    );
    assert!(interface.json().contains("\"entry_point\": \"main\""));
}

#[test]
fn a_constant_with_a_computed_number_is_in_an_array() {
    let text = "a0[0].x = VE_FLT2FIX_DX input[0].xxxx ;
        out[0].xyzw = VE_ADD const[a0.x + 3].xyzw const[a0.x + 3].0000 ;";
    for arithmetic in [Arithmetic::Fast, Arithmetic::Exact] {
        let options = VertexOptions { arithmetic, ..VertexOptions::new(Language::Wgsl) };
        let shader = written(text, &options);
        let Code::Text(wgsl) = &shader.code else { panic!("WGSL is text") };
        assert!(wgsl.contains("constants: array<vec4<f32>, 256>,"), "{wgsl}");
        let uniforms = shader.interface.uniforms.as_ref().unwrap();
        assert_eq!(uniforms.constants, 256);
        assert_eq!(uniforms.hidden.is_some(), arithmetic == Arithmetic::Exact);
    }
}
