//! Shaders of all programs of the corpus, and of their exact forms, are valid: as naga, spirv-val and glslang judge it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use naga::valid::{Capabilities, ValidationFlags, Validator};
use r500_emit::{Arithmetic, Code, EmitError, Inputs, Language, Options, emit, self_test};
use r500_formats::Limits;
use r500_gen::{Case, Rng, Shape, mutate};
use r500_program::Job;

fn corpus() -> Vec<(String, Job)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    let mut jobs = Vec::new();
    for folder in ["mesa", "cases"] {
        let mut files: Vec<PathBuf> = std::fs::read_dir(root.join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        for file in files.into_iter().filter(|file| file.extension().is_some_and(|e| e == "json")) {
            let bytes = std::fs::read(&file).unwrap();
            let Ok(read) = r500_formats::read(&bytes, None, &Limits::default()) else { continue };
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            jobs.extend(read.into_iter().map(|job| (name.clone(), job)));
        }
    }
    assert!(jobs.len() > 100, "{} programs", jobs.len());
    jobs
}

fn validate(module: &naga::Module) -> Result<(), String> {
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
    validator.validate(module).map(|_| ()).map_err(|error| format!("{:?}", error.into_inner()))
}

/// Runs a validator on a file; `None` if it is not installed.
fn runs(program: &str, args: &[&str], name: &str, bytes: &[u8]) -> Option<Result<(), String>> {
    let folder = std::env::temp_dir().join(format!("r500-emit-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(name);
    std::fs::File::options()
        .create(true)
        .truncate(true)
        .write(true)
        .open(&file)
        .unwrap()
        .write_all(bytes)
        .unwrap();
    let output = Command::new(program).args(args).arg(&file).stdin(Stdio::null()).output();
    let result = output.ok().map(|output| match output.status.success() {
        true => Ok(()),
        false => Err(format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )),
    });
    let _ = std::fs::remove_dir_all(&folder);
    result
}

/// Judges a shader by naga. GLSL is not judged: naga's reader knows another part of it.
fn judge(code: &Code, language: Language, place: &str) {
    let module = match code {
        Code::Text(text) if language == Language::Wgsl => naga::front::wgsl::parse_str(text)
            .unwrap_or_else(|error| panic!("{place}: {}\n{text}", error.emit_to_string(text))),
        Code::Text(_) => return,
        Code::Words(words) => {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let options = naga::front::spv::Options::default();
            naga::front::spv::parse_u8_slice(&bytes, &options)
                .unwrap_or_else(|error| panic!("{place}: {error}"))
        }
    };
    validate(&module).unwrap_or_else(|error| panic!("{place}: {error}\n{code:?}"));
}

#[test]
fn shaders_of_generated_programs_are_valid() {
    let (mut emitted, mut changed) = (0, 0);
    for seed in 0..400 {
        let mut rng = Rng::new(seed);
        let mut job = Case::generate(&mut rng, &Shape::default()).bare_job("generated");
        // Half of them with textures of all kinds, planes and changed fields.
        let mutated = seed % 2 == 0;
        if mutated {
            mutate(&mut job, seed);
        }
        for language in [Language::Wgsl, Language::Spirv, Language::Glsl450] {
            for arithmetic in [Arithmetic::Fast, Arithmetic::Exact] {
                let options = Options { arithmetic, ..Options::new(language) };
                let Ok(shader) = emit(&job, &options) else { continue };
                judge(
                    &shader.code,
                    language,
                    &format!("seed {seed} as {} ({arithmetic:?})", language.name()),
                );
                emitted += 1;
                changed += usize::from(mutated);
            }
        }
    }
    println!("{emitted} shaders, {changed} of changed programs");
    assert!(emitted > 600 && changed > 200, "{emitted} shaders, {changed} of changed programs");
}

#[test]
fn self_tests_are_valid() {
    for language in [Language::Wgsl, Language::Spirv, Language::Glsl450] {
        let test = self_test(language).unwrap();
        judge(&test.shader.code, language, &format!("self-test as {}", language.name()));
    }
}

#[test]
fn shaders_of_the_corpus_are_valid() {
    let (mut emitted, mut exact, mut by_tools) = (0, 0, [0, 0]);
    let (mut skipped, mut refused, mut loading) = (BTreeSet::new(), BTreeSet::new(), 0);
    for (n, (name, job)) in corpus().into_iter().enumerate() {
        for language in Language::ALL {
            for arithmetic in [Arithmetic::Fast, Arithmetic::Exact] {
                let inputs = if n % 2 == 0 { Inputs::Varyings } else { Inputs::Planes };
                let options = Options { arithmetic, inputs, ..Options::new(language) };
                let shader = match emit(&job, &options) {
                    Ok(shader) => shader,
                    Err(EmitError::ExactLanguage | EmitError::NoPlane(_)) => continue,
                    Err(error @ EmitError::ExactFetch { .. }) => {
                        refused.insert(format!("{name}: {error}"));
                        continue;
                    }
                    Err(error) => {
                        skipped.insert(format!("{name}: {error}"));
                        continue;
                    }
                };
                emitted += 1;
                exact += usize::from(arithmetic == Arithmetic::Exact);
                loading += shader.interface.textures.iter().filter(|t| t.texels.is_some()).count();
                let place = format!("{name} as {} ({arithmetic:?})", language.name());
                judge(&shader.code, language, &place);
                // A process for each would take long.
                if n % 8 != 0 && std::env::var_os("R500_ALL").is_none() {
                    continue;
                }
                let (judged, result) = match &shader.code {
                    Code::Text(_) if language == Language::Wgsl => continue,
                    Code::Text(text) => {
                        (0, runs("glslangValidator", &["-S", "frag"], "a.frag", text.as_bytes()))
                    }
                    Code::Words(words) => {
                        let bytes: Vec<u8> =
                            words.iter().flat_map(|word| word.to_le_bytes()).collect();
                        (1, runs("spirv-val", &["--target-env", "vulkan1.0"], "a.spv", &bytes))
                    }
                };
                if let Some(result) = result {
                    by_tools[judged] += 1;
                    result.unwrap_or_else(|error| panic!("{place}: {error}"));
                }
            }
        }
    }
    println!(
        "{emitted} shaders, {exact} of them exact; {by_tools:?} also by glslang and spirv-val (0: not installed); \
         not emitted: {skipped:#?}; no exact fetch: {refused:#?}"
    );
    assert!(emitted > 700 && exact > 350 && loading > 100, "{emitted} shaders, {exact} exact");
}

/// Opcodes of SPIR-V: additions, subtractions, multiplications and divisions of floats, and decorations.
const ROUNDED: [u32; 4] = [129, 131, 133, 136];
const DECORATE: u32 = 71;
const NO_CONTRACTION: u32 = 42;

#[test]
fn no_host_may_contract_exact_spir_v() {
    let (mut rounded, mut programs) = (0, 0);
    for (name, job) in corpus() {
        let options = Options { arithmetic: Arithmetic::Exact, ..Options::new(Language::Spirv) };
        let Ok(shader) = emit(&job, &options) else { continue };
        let Code::Words(words) = &shader.code else { panic!("SPIR-V is words") };
        let (mut results, mut decorated) = (Vec::new(), Vec::new());
        let mut at = 5;
        while let Some(head) = words.get(at) {
            let (length, opcode) = ((head >> 16) as usize, head & 0xffff);
            if ROUNDED.contains(&opcode) {
                results.push(words[at + 2]);
            }
            if opcode == DECORATE && words[at + 2] == NO_CONTRACTION {
                decorated.push(words[at + 1]);
            }
            at += length;
        }
        results.sort_unstable();
        decorated.sort_unstable();
        assert_eq!(results, decorated, "{name}");
        rounded += results.len();
        programs += 1;
    }
    assert!(programs > 80 && rounded > 1000, "{rounded} operations in {programs} programs");
}
