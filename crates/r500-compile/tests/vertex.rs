//! Vertex shaders: what their programs are and write, errors, and generated ones against the evaluator.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "a test fails by them")]

use r500_compile::vertex::{self, Output, verify::verify};
use r500_compile::{Stage, parse};

fn program(source: &str) -> String {
    vertex::compile(source, None).unwrap().source.to_string()
}

/// The sum of the columns times the components, in their order: one instruction a column. The last component is 1, so that its product is
/// the column.
#[test]
fn a_transform_is_four_instructions() {
    let source = "attribute vec3 place; uniform mat4 transform;
        void main() { gl_Position = transform * vec4(place, 1.0); }";
    let statements = [
        "temp[0].xyzw = VE_MUL const[0].xyzw input[0].xxxx",
        "temp[0].xyzw = VE_MAD const[1].xyzw input[0].yyyy temp[0].xyzw",
        "temp[0].xyzw = VE_MAD const[2].xyzw input[0].zzzz temp[0].xyzw",
        "out[0].xyzw = VE_ADD const[3].xyzw temp[0].xyzw",
    ];
    let text = program(source);
    let written: Vec<&str> =
        text.lines().filter_map(|line| Some(line.split_once("VE_")?.0)).collect();
    assert_eq!(written.len(), statements.len(), "{text}");
    for statement in statements {
        assert!(text.contains(statement), "{statement}\n{text}");
    }
}

/// The product begins at the vector: four columns of each matrix, and not sixteen products of the matrices.
#[test]
fn two_matrices_are_eight_instructions() {
    let source = "attribute vec4 place; uniform mat4 view, projection;
        void main() { gl_Position = projection * view * place; }";
    let compiled = vertex::compile(source, None).unwrap();
    assert_eq!(compiled.source.program.window().count(), 8, "{}", compiled.source);
}

/// A light of OpenGL: its uniforms have the names of the language, the only ones that the program reads; Mesa's driver has the same ones
/// as state. A material's shininess is a component of its own.
#[test]
fn lights_are_uniforms_of_their_names() {
    let source = "#version 120
void main() {
  vec3 normal = normalize(gl_NormalMatrix * gl_Normal);
  vec3 place = vec3(gl_ModelViewMatrix * gl_Vertex);
  vec4 color = gl_FrontLightModelProduct.sceneColor;
  for (int i = 0; i < 2; i++) {
    vec3 way = gl_LightSource[i].position.xyz - place;
    float far = length(way);
    float fades = gl_LightSource[i].constantAttenuation + gl_LightSource[i].quadraticAttenuation * far * far;
    float lit = max(dot(normal, way / far), 0.0);
    float shines = pow(lit, gl_FrontMaterial.shininess);
    color += (gl_FrontLightProduct[i].diffuse * lit + gl_FrontMaterial.specular * shines) / fades;
  }
  gl_FrontColor = color;
  gl_FogFragCoord = clamp((gl_Fog.end - place.z) * gl_Fog.scale, 0.0, 1.0);
  gl_Position = ftransform();
}";
    let compiled = vertex::compile(source, None).unwrap();
    let names: Vec<&str> = compiled.uniforms.iter().map(|uniform| &*uniform.name).collect();
    for name in [
        "gl_LightSource[0].position",
        "gl_LightSource[1].quadraticAttenuation",
        "gl_FrontLightProduct[1].diffuse",
        "gl_FrontLightModelProduct.sceneColor",
        "gl_FrontMaterial.shininess",
        "gl_Fog.end",
        "gl_NormalMatrix[2]",
        "gl_ModelViewProjectionMatrix[3]",
    ] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    assert!(
        !names.iter().any(|name| name.contains("[2].") || name.ends_with("ambient")),
        "{names:?}"
    );
}

/// The chip clips by the position, so what is set is not written.
#[test]
fn a_clip_vertex_has_no_effect_and_a_warning() {
    let source = "void main() { gl_ClipVertex = gl_ModelViewMatrix * gl_Vertex; gl_Position = ftransform(); }";
    let compiled = vertex::compile(source, None).unwrap();
    assert_eq!(compiled.outputs.len(), 1);
    assert_eq!(compiled.uniforms.len(), 4);
    let warnings: Vec<&str> = compiled.warnings.iter().map(|warning| &*warning.message).collect();
    assert_eq!(warnings, ["`gl_ClipVertex` has no effect: the chip clips by `gl_Position`"]);
}

/// A reciprocal root is executed with the first instruction of the transform, which does not need it.
#[test]
fn the_engines_are_paired() {
    let source = "attribute vec3 place, normal; uniform mat4 transform; varying vec3 n;
        void main() { n = normalize(normal); gl_Position = transform * vec4(place, 1.0); }";
    let compiled = vertex::compile(source, None).unwrap();
    let code: Vec<_> = compiled.source.program.window().collect();
    let paired = code.iter().filter(|(_, inst)| inst.dual_math().is_some()).count();
    assert_eq!((code.len(), paired), (6, 1), "{}", compiled.source);
    assert!(compiled.source.program.check().is_empty());
}

/// One constant, one input and two temporaries are all that an instruction reads: others are moved first, a constant once for all.
#[test]
fn operands_that_do_not_fit_are_moved() {
    let source = "attribute vec4 a, b, c; uniform vec4 u, v; varying vec4 x, y;
        void main() { gl_Position = a + b; x = u * v + a; y = u * c + v; }";
    let compiled = vertex::compile(source, None).unwrap();
    assert!(compiled.source.program.check().is_empty(), "{}", compiled.source);
    let text = compiled.source.to_string();
    assert_eq!(text.matches("= VE_ADD const[").count(), 1, "{text}");
}

/// The address register has the number of the element times its four columns; both bones have a component of it.
#[test]
fn indices_of_uniforms_are_addresses() {
    let source = "attribute vec4 place; attribute vec2 bone; uniform mat4 bones[40];
        void main() { gl_Position = bones[int(bone.x)] * place + bones[int(bone.y)] * place; }";
    let compiled = vertex::compile(source, None).unwrap();
    let text = compiled.source.to_string();
    for part in ["a0[0].x = VE_FLT2FIX_DX", "a0[0].y = VE_FLT2FIX_DX"] {
        assert_eq!(text.matches(part).count(), 1, "{text}");
    }
    for column in 0..4 {
        for address in ["a0.x", "a0.y"] {
            let constant = format!("const[{address}+{column}].xyzw");
            assert_eq!(text.matches(&constant).count(), 1, "{constant}: {text}");
        }
    }
    // All 160 columns are constants.
    assert_eq!(compiled.uniforms.len(), 160);
    assert_eq!(compiled.uniforms[157].name, "bones[39][1]");
}

#[test]
fn varyings_go_where_the_fragment_shader_reads_them() {
    let source = "attribute vec4 place; varying vec2 uv; varying vec4 unread; varying vec3 n;
        void main() { gl_Position = place; uv = place.xy; unread = place * 2.0; n = place.zyx; }";
    let output = |name: &str, size, output| Output { name: name.to_owned(), size, output };
    let reads = [output("n", 3, 1), output("uv", 2, 2), output("gl_FragCoord", 4, 3)];
    let compiled = vertex::compile(source, Some(&reads)).unwrap();
    let expected = [
        output("gl_Position", 4, 0),
        output("n", 3, 1),
        output("uv", 2, 2),
        output("gl_Position", 4, 3),
    ];
    assert_eq!(compiled.outputs, expected);
    assert_eq!(compiled.source.program.written_outputs(), [0, 1, 2, 3]);
}

#[test]
fn errors_say_what_does_not_match() {
    let errors = |source: &str, reads: &[Output]| -> Vec<String> {
        let errors = vertex::compile(source, Some(reads)).unwrap_err();
        errors.iter().map(ToString::to_string).collect()
    };
    let read = [Output { name: "uv".to_owned(), size: 2, output: 1 }];
    let only_place = "attribute vec4 place; void main() { gl_Position = place; }";
    assert!(errors(only_place, &read)[0].starts_with("the fragment shader reads `uv`, which"));
    let other_type = "attribute vec4 place; varying vec3 uv;
        void main() { gl_Position = place; uv = place.xyz; }";
    assert!(errors(other_type, &read)[0].starts_with("`uv` is a `vec3` here and a `vec2` in"));
    let no_place = "attribute vec2 uv_in; varying vec2 uv; void main() { uv = uv_in; }";
    assert!(errors(no_place, &read)[0].starts_with("the vertex shader does not set `gl_Position`"));
    let many = "attribute vec4 place; void main() { gl_Position = place;
        for (int i = 0; i < 2000; i++) gl_Position += sin(gl_Position); }";
    assert!(
        errors(many, &[])[0].contains("instructions; the chip has 1024"),
        "{:?}",
        errors(many, &[])
    );
}

/// Returns what the listing says of loops: `255 times 2 to 5`.
fn loops(compiled: &vertex::Compiled) -> Vec<String> {
    let text = compiled.source.to_string();
    let of = |line: &str| Some(line.split_once(", ")?.1.split_once(", aL")?.0.to_owned());
    text.lines().filter(|line| line.contains("= LOOP after")).filter_map(of).collect()
}

/// The difference, the flag, and both sums with a move and a selection by the flag.
#[test]
fn passes_that_a_uniform_says_are_those_of_a_loop_of_the_chip() {
    let source = "attribute vec4 place; uniform float n; void main() {
        vec4 p = place; for (float i = 0.0; i < n; i++) p += p.yxwz; gl_Position = p; }";
    let compiled = vertex::compile(source, None).unwrap();
    assert_eq!(loops(&compiled), ["255 times 2 to 8"], "{}", compiled.source);
    let [warning] = &compiled.warnings[..] else { panic!("{:?}", compiled.warnings) };
    assert!(warning.message.contains("ends after 255 at the latest"), "{warning}");
    let (shader, _) = parse(source, Stage::Vertex).unwrap();
    let checked = verify(&shader, &compiled, 64, 3).unwrap();
    assert!(checked.vertices > 4 * checked.open, "{checked:?}");
}

/// A part of the test bounds the passes, so that nothing is left open; a loop that would not fit is one of the chip, with its own number.
#[test]
fn loops_have_the_passes_that_they_need() {
    let bounded = "attribute vec4 place; uniform float n; void main() {
        vec4 p = place; for (int i = 0; i < 9 && p.x < n; i++) p += p.yxwz; gl_Position = p; }";
    let long = "attribute vec4 place; void main() { vec4 p = place;
        for (int i = 0; i < 200; i++) { p += sin(p); if (p.x > 9.0) p.x = float(i); } gl_Position = p; }";
    let nested = "attribute vec4 place; uniform int n; void main() { vec4 p = place;
        for (int i = 0; i < 9 && i < n; i++) { for (int k = 0; k < 7 && k <= i; k++) {
            if (p.y > 5.0) return; p += 0.25; gl_Position = p; } } }";
    for (source, passes) in [(bounded, vec![9]), (long, vec![200]), (nested, vec![7, 9])] {
        let compiled = vertex::compile(source, None).unwrap();
        let loops = loops(&compiled);
        assert_eq!(loops.len(), passes.len(), "{}", compiled.source);
        for (of, passes) in loops.iter().zip(passes) {
            assert!(of.starts_with(&format!("{passes} times")), "{}", compiled.source);
        }
        assert!(compiled.warnings.is_empty(), "{:?}", compiled.warnings);
        assert!(compiled.source.program.check().is_empty());
        let (shader, _) = parse(source, Stage::Vertex).unwrap();
        let checked = verify(&shader, &compiled, 64, 3).unwrap();
        assert_eq!(checked.open, 0, "{checked:?}");
    }
}

/// An index that a pass changes is loaded again; one that the loop does not change is loaded once, before or in the first pass.
#[test]
fn indices_change_from_pass_to_pass() {
    let source = "attribute vec4 place; uniform int n; uniform vec4 list[20]; void main() {
        vec4 p = place; int at = n; vec4 before = list[at];
        for (int i = 0; i < 20 && i < n; i++) { p += list[i]; before = before * 0.5 + list[i + 1]; }
        gl_Position = p + list[n] + before; }";
    let compiled = vertex::compile(source, None).unwrap();
    let (shader, _) = parse(source, Stage::Vertex).unwrap();
    let checked = verify(&shader, &compiled, 64, 3).unwrap();
    assert!(checked.vertices > 200, "{checked:?}");
    assert_eq!(loops(&compiled).len(), 1, "{}", compiled.source);
}

#[test]
fn loops_have_the_limits_of_the_chip() {
    let nested = |levels: usize| {
        let heads: String =
            (0..levels).map(|n| format!("for (float i{n} = 0.0; i{n} < n; i{n}++) ")).collect();
        format!(
            "attribute vec4 place; uniform float n; void main() {{ vec4 p = place; {heads} p += 1.0; gl_Position = p; }}"
        )
    };
    let errors = |source: &str| {
        let (shader, warnings) = parse(source, Stage::Vertex).unwrap();
        vertex::compile_tree(&shader, None, warnings).map(|compiled| compiled.source.to_string())
    };
    assert!(errors(&nested(8)).is_ok());
    let error = errors(&nested(9)).unwrap_err();
    let is_error = |part: &str| error.iter().any(|error| error.message.contains(part));
    assert!(is_error("loops are nested too deep; the chip has 8 levels"), "{error:?}");
    let many: String =
        (0..17).map(|n| format!("for (float i{n} = 0.0; i{n} < n; i{n}++) p += 1.0; ")).collect();
    let many = format!(
        "attribute vec4 place; uniform float n; void main() {{ vec4 p = place; {many} gl_Position = p; }}"
    );
    let error = errors(&many).unwrap_err();
    let message = "the shader needs 17 loops; the chip has 16";
    assert!(error.iter().any(|error| error.message == message), "{error:?}");
}

/// `R500_CASES` shaders from seed `R500_SEED` on.
#[test]
fn generated_shaders_write_what_the_evaluator_gives() {
    let number =
        |name: &str, usual: u64| std::env::var(name).map_or(usual, |value| value.parse().unwrap());
    let (cases, first) = (number("R500_CASES", 300), number("R500_SEED", 0));
    let (mut vertices, mut open, mut limits, mut run) = (0, 0, 0, 0);
    for seed in first..first + cases {
        let source = r500_gen::glsl::vertex_shader(&mut r500_gen::Rng::new(seed));
        let (shader, warnings) = parse(&source, Stage::Vertex).unwrap_or_else(|errors| {
            let (line, _) = errors[0].line_column(&source);
            panic!("seed {seed}, line {line}: {}\n{source}", errors[0]);
        });
        let compiled = match vertex::compile_tree(&shader, None, warnings) {
            Ok(compiled) => compiled,
            Err(errors) => {
                let is_limit = errors.iter().any(|error| error.message.contains("the chip has"));
                assert!(is_limit, "seed {seed}: {}\n{source}", errors[0]);
                limits += 1;
                continue;
            }
        };
        let lints = compiled.source.program.check();
        assert!(lints.is_empty(), "seed {seed}: {lints:?}\n{}", compiled.source);
        match verify(&shader, &compiled, 3, seed) {
            Ok(checked) => {
                vertices += checked.vertices;
                open += checked.open;
                run += 1;
            }
            Err(mismatch) => panic!("seed {seed}: {mismatch}\n{source}\n{}", compiled.source),
        }
    }
    eprintln!("{run} shaders, {vertices} vertices, {open} open; {limits} do not fit");
    assert!(run * 10 > cases * 7 && vertices > open, "{run} of {cases}, {vertices}, {open}");
}

#[test]
fn what_the_rasteriser_gives_needs_no_vertex_shader() {
    let fragment =
        "void main() { gl_FragColor = vec4(gl_FrontFacing ? 1.0 : 0.0, gl_PointCoord, 1.0); }";
    let compiled = r500_compile::compile(fragment).unwrap();
    let reads = vertex::reads_of(&compiled);
    assert_eq!(reads.len(), 2, "both are inputs: {reads:?}");
    let source = "attribute vec4 place; void main() { gl_Position = place; }";
    let linked = vertex::compile(source, Some(&reads)).unwrap();
    assert_eq!(linked.outputs.len(), 1, "the position only: {:?}", linked.outputs);
}
