//! The assembly languages of OpenGL. What instructions give is worked out by hand from the formulas in sections 2.14.4 of
//! ARB_vertex_program and 3.11.5 of ARB_fragment_program.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use r500_compile::evaluate::{Pixels, Vertices, quad, vertices};
use r500_compile::{Compiled, Stage, compile, parse, vertex};
use r500_exec::Bindings;
use r500_program::InputData;

/// The values that all cases have.
const OPERANDS: &str = "PARAM a = {0.5, -1.25, 2.0, 3.0};
    PARAM b = {-2.0, 4.0, 0.25, 3.0};
    PARAM c = {1.0, 0.5, -1.0, 8.0};
    TEMP r;
    MOV r, {9.0, 9.0, 9.0, 9.0};\n";

/// Instructions that write R, and what is in it after.
const BOTH: [(&str, [f32; 4]); 24] = [
    ("ABS r, a;", [0.5, 1.25, 2.0, 3.0]),
    ("ADD r, a, b;", [-1.5, 2.75, 2.25, 6.0]),
    // -1 - 5 + 0.5 = -5.5, with 9 more.
    ("DP3 r, a, b;", [-5.5; 4]),
    ("DP4 r.x, a, b;", [3.5, 9.0, 9.0, 9.0]),
    ("DPH r, a, b;", [-2.5; 4]),
    ("DST r, a, b;", [1.0, -5.0, 2.0, 3.0]),
    ("EX2 r, a.w;", [8.0; 4]),
    ("FLR r, a;", [0.0, -2.0, 2.0, 3.0]),
    ("FRC r, a;", [0.5, 0.75, 0.0, 0.0]),
    ("LG2 r.yz, c.w;", [9.0, 3.0, 3.0, 9.0]),
    // X is 0.5, Y is below 0: 0 ^ 3.
    ("LIT r, a;", [1.0, 0.5, 0.0, 1.0]),
    // 0.5 ^ 8.
    ("LIT r, c;", [1.0, 1.0, 1.0 / 256.0, 1.0]),
    ("LIT r, b;", [1.0, 0.0, 0.0, 1.0]),
    ("MAD r, a, b, c;", [0.0, -4.5, -0.5, 17.0]),
    ("MAX r, a, b;", [0.5, 4.0, 2.0, 3.0]),
    ("MIN r, -a, b.yxzw;", [-0.5, -2.0, -2.0, -3.0]),
    ("MUL r.xw, a.y, b;", [2.5, 9.0, 9.0, -3.75]),
    // 4 ^ 0.5.
    ("POW r, b.y, a.x;", [2.0; 4]),
    ("RCP r, b.y;", [0.25; 4]),
    // Of the absolute value.
    ("RSQ r, -b.y;", [0.5; 4]),
    ("SGE r, a, b;", [1.0, 0.0, 1.0, 1.0]),
    ("SLT r, a, b;", [0.0, 1.0, 0.0, 0.0]),
    ("SUB r, a, b;", [2.5, -5.25, 1.75, 0.0]),
    ("SWZ r, a, -y, 1, -0, w;", [1.25, 1.0, 0.0, 3.0]),
];

/// What only one of both languages has.
const FRAGMENT: [(&str, [f32; 4]); 5] = [
    ("CMP r, a, b, c;", [1.0, 4.0, -1.0, 8.0]),
    // 0.5 * -2 + 0.5 * 1, ...
    ("LRP r, a.x, b, c;", [-0.5, 2.25, -0.375, 5.5]),
    ("MOV_SAT r, a;", [0.5, 0.0, 1.0, 1.0]),
    ("MAD_SAT r.rb, a, b.g, c.r;", [1.0, 9.0, 1.0, 9.0]),
    ("COS r.a, {0.0}.x;", [9.0, 9.0, 9.0, 1.0]),
];
const VERTEX: [(&str, [f32; 4]); 2] = [
    // 2 ^ -1.25 is 2 ^ -2 times 2 ^ 0.75.
    ("EXP r, a.y;", [0.25, 0.75, 0.420_448_2, 1.0]),
    // 1.25 is 2 ^ 0 times 1.25.
    ("LOG r, a.y;", [0.0, 1.25, 0.321_928_1, 1.0]),
];

fn near(given: [f32; 4], wanted: [f32; 4]) -> bool {
    given.iter().zip(wanted).all(|(given, wanted)| (given - wanted).abs() <= 1e-5 * wanted.abs())
}

/// Returns what the evaluator gives in the first pixel of a draw.
fn color(source: &str, compiled: &Compiled) -> [f32; 4] {
    let (shader, _) = parse(source, Stage::Fragment).unwrap();
    let bindings = Bindings::new(&compiled.job, [2, 2]).unwrap();
    let pixels = Pixels {
        bindings: &bindings,
        uniforms: &compiled.job.uniforms,
        inputs: &compiled.inputs,
        samplers: &compiled.samplers,
    };
    quad(&shader, pixels, [0, 0]).colors[0].unwrap().map(|lanes| lanes[0])
}

fn of_pixel(statements: &str) -> [f32; 4] {
    let source = format!("!!ARBfp1.0\n{OPERANDS}{statements}\nMOV result.color, r;\nEND");
    color(&source, &compile(&source).unwrap())
}

fn of_vertex(statements: &str, given: &Vertices, output: &str) -> [f32; 4] {
    let source = format!(
        "!!ARBvp1.0\nOPTION ARB_position_invariant;\n{OPERANDS}{statements}\nMOV result.color, r;\nEND"
    );
    vertex::compile(&source, None).unwrap();
    let (shader, _) = parse(&source, Stage::Vertex).unwrap();
    let results = vertices(&shader, given);
    assert_eq!(results.open, [false; 4], "{statements}");
    let value = &results.outputs[output];
    std::array::from_fn(|c| value[c][0])
}

#[test]
fn instructions_give_what_the_languages_say() {
    for (statement, wanted) in BOTH.iter().chain(&FRAGMENT) {
        let given = of_pixel(statement);
        assert!(near(given, *wanted), "fragment: {statement} {given:?}");
    }
    for (statement, wanted) in BOTH.iter().chain(&VERTEX) {
        let given = of_vertex(statement, &Vertices::default(), "gl_FrontColor");
        assert!(near(given, *wanted), "vertex: {statement} {given:?}");
    }
}

/// Sines are those of kernels, so near is not within 1e-5.
#[test]
fn angles_are_in_radians() {
    let quarter = of_pixel("SIN r, {1.5707963}.x;");
    assert!(quarter.iter().all(|sine| (sine - 1.0).abs() < 1e-3), "{quarter:?}");
    let both = of_pixel("SCS r.xy, {3.1415927}.x;");
    assert!((both[0] + 1.0).abs() < 1e-3 && both[1].abs() < 1e-3, "{both:?}");
}

/// The rows of a matrix are products with the vertex; environment and local parameters have their numbers in their names.
#[test]
fn state_and_parameters_are_uniforms() {
    let mut given = Vertices::default();
    for (n, row) in [[1.0, 0.0, 0.0, 2.0], [0.0, 3.0, 0.0, 0.0], [0.0; 4], [0.0, 0.0, 0.0, 1.0]]
        .iter()
        .enumerate()
    {
        given.uniforms.insert(format!("state.matrix.mvp.row[{n}]"), *row);
    }
    given.uniforms.insert("program.env[7]".to_owned(), [0.25; 4]);
    given.uniforms.insert("program.local[2]".to_owned(), [1.0, 2.0, 3.0, 4.0]);
    given.attributes.insert("gl_Vertex".to_owned(), [[5.0, 1.0, 0.0, 1.0]; 4]);
    let statements = "PARAM two = program.local[2];\nMAD r, two, program.env[7].x, c;";
    assert_eq!(of_vertex(statements, &given, "gl_FrontColor"), [1.25, 1.0, -0.25, 9.0]);
    assert_eq!(of_vertex(statements, &given, "gl_Position"), [7.0, 3.0, 0.0, 1.0]);
}

/// The element that the register names: of a part of the local parameters, of a table, and of both together; with offsets, also ones that
/// begin before the array.
#[test]
fn addresses_choose_elements() {
    let mut given = Vertices::default();
    for n in 0..12 {
        given.uniforms.insert(format!("program.local[{n}]"), [n as f32; 4]);
    }
    given.attributes.insert("vertex.attrib[6]".to_owned(), [[2.75, 0.0, 0.0, 0.0]; 4]);
    let arrays = "PARAM part[4] = { program.local[3..6] };
        PARAM table[] = { {10.0}, {11.0}, 12.5, {13.0}, {14.0} };
        PARAM mixed[] = { program.local[9], {20.0}, 21.0 };
        ADDRESS i; ARL i.x, vertex.attrib[6].x;\n";
    for (operand, wanted) in [
        ("part[i.x]", [5.0; 4]),
        ("part[i.x+1].x", [6.0; 4]),
        ("part[i.x - 2]", [3.0; 4]),
        ("part[0]", [3.0; 4]),
        ("table[i.x]", [12.5; 4]),
        ("table[i.x + 1]", [13.0, 0.0, 0.0, 1.0]),
        ("table[i.x-1]", [11.0, 0.0, 0.0, 1.0]),
        ("mixed[i.x]", [21.0; 4]),
        ("mixed[i.x-2]", [9.0; 4]),
    ] {
        let statements = format!("{arrays}MOV r, {operand};");
        assert_eq!(of_vertex(&statements, &given, "gl_FrontColor"), wanted, "{operand}");
    }
}

/// The table is in constants, and an instruction loads the register: four for the position, and one that reads.
#[test]
fn tables_are_constants() {
    let rows: Vec<String> = (0..40).map(|n| format!("{{{n}.0, 0.5, 0.0, 1.0}}")).collect();
    let source = format!(
        "!!ARBvp1.0\nOPTION ARB_position_invariant;\nPARAM t[40] = {{ {} }};\nADDRESS i;\n\
         ARL i.x, vertex.normal.x;\nMOV result.color, t[i.x+3];\nEND",
        rows.join(", ")
    );
    let compiled = vertex::compile(&source, None).unwrap();
    assert_eq!(compiled.source.program.window().count(), 6, "{}", compiled.source);
    assert_eq!(compiled.source.constants.len(), 40);
    // In GLSL, too.
    let glsl = "attribute vec3 gl_n; varying vec4 v;
        const vec4 t[3] = vec4[3](vec4(1.5), vec4(2.5), vec4(3.5));
        void main() { gl_Position = gl_Vertex; v = t[int(gl_n.x)]; }"
        .replace("gl_n", "n");
    let compiled = vertex::compile(&format!("#version 120\n{glsl}"), None).unwrap();
    assert_eq!(compiled.source.constants.len(), 3, "{}", compiled.source);
}

/// One instruction tests all components of a register.
#[test]
fn kil_is_one_instruction() {
    let source = "!!ARBfp1.0\nKIL fragment.texcoord[0];\nMOV result.color, fragment.color;\nEND";
    let compiled = compile(source).unwrap();
    assert_eq!(compiled.job.program.code.len(), 2, "{:?}", compiled.spans);
}

#[test]
fn pairs_of_both_languages_link() {
    let fragment = "!!ARBfp1.0\nTEMP t;\nTEX t, fragment.texcoord[1], texture[3], 2D;\n\
        MUL result.color, t, fragment.color;\nEND";
    let fragment = compile(fragment).unwrap();
    assert_eq!(fragment.samplers[0].name, "texture[3]");
    let glsl = "void main() { gl_Position = gl_Vertex; gl_FrontColor = gl_Color;
        gl_TexCoord[1] = gl_MultiTexCoord0; }";
    vertex::compile(glsl, Some(&vertex::reads_of(&fragment))).unwrap();
    let assembly = "!!ARBvp1.0\nMOV result.position, vertex.position;\nMOV result.color, vertex.color;\n\
        MOV result.texcoord[1], vertex.texcoord;\nEND";
    vertex::compile(assembly, Some(&vertex::reads_of(&fragment))).unwrap();
}

/// Linear fog: half of the way from 10 to 30 is half of the colour.
#[test]
fn fog_is_mixed_at_the_end() {
    let source =
        "!!ARBfp1.0\nOPTION ARB_fog_linear;\nMOV result.color, {1.0, 0.0, 0.5, 0.25};\nEND";
    let mut compiled = compile(source).unwrap();
    let uniforms = compiled.job.uniforms.clone();
    for uniform in &uniforms {
        let value: [f32; 4] = match uniform.name.as_str() {
            "state.fog.color" => [0.0, 1.0, 0.5, 1.0],
            "state.fog.params" => [1.0, 10.0, 30.0, 0.05],
            other => unreachable!("{other}"),
        };
        for (channel, value) in value.iter().enumerate() {
            let state = &mut compiled.job.program.state;
            state.set_constant(uniform.constant.into(), channel, value.to_bits());
        }
    }
    for input in compiled.job.inputs.iter_mut().flatten() {
        input.data = InputData::Values { width: 1, values: vec![[20.0, 0.0, 0.0, 1.0]] };
    }
    let color = color(source, &compiled);
    assert!(near(color, [0.5, 0.5, 0.5, 0.25]), "{color:?}");
}

/// One error each, where it is, and what to do.
#[test]
fn errors_have_places_and_fixes() {
    for (text, wanted, place, fix) in [
        ("MOVE r, a;", "there is no instruction `MOVE`; did you mean `MOV`?", "MOVE", "MOV"),
        ("MOV q, a;", "`q` is not declared; declare it: `TEMP q;`", "q", ""),
        (
            "MOV r, fragment.colour;",
            "fragment programs have no `fragment.colour`; did you mean `color`?",
            "colour",
            "color",
        ),
        ("RCP r, a;", "RCP takes one component; write which one: `.x`", "a", ".x"),
        (
            "MOV r.yx, a;",
            "a mask has each component once, in the order of x, y, z, w; write `.xy`",
            "yx",
            "xy",
        ),
        (
            "MOV r, a.xy;",
            "a swizzle has one or four components; write `.x`, `.xyzw` or `.rgba`",
            "a.xy",
            "",
        ),
        ("MOV a, r;", "`a` is only read; write to a temporary or a result", "a", ""),
        (
            "MOV r, result.color;",
            "`result.color` is a result, which is only written; compute into a temporary, and move it to the result",
            "result.color",
            "",
        ),
        (
            "MOV r, fragment.texcoord[8];",
            "`texcoord` is numbered from 0 to 7; write `texcoord[0]` or another of these numbers",
            "[8]",
            "",
        ),
        (
            "TEX r, a, texture[0], 4D;",
            "there is no target `4D`; there are 1D, 2D, 3D, CUBE, RECT, SHADOW1D, SHADOW2D, SHADOWRECT",
            "4D",
            "",
        ),
        (
            "TEX r, a, texture[0], SHADOW2D;",
            "`SHADOW2D` needs the option of shadows; write `OPTION ARB_fragment_program_shadow;` after the first line",
            "SHADOW2D",
            "",
        ),
        ("TEMP r;", "`r` is declared twice; take another name", "r", ""),
        (
            "OPTION ARB_fog_linaer;",
            "there is no option `ARB_fog_linaer`; did you mean `ARB_fog_linear`?",
            "ARB_fog_linaer",
            "ARB_fog_linear",
        ),
        ("ABS r, a", "`;` is missing before `MOV`; write `;`", "", ";"),
        ("LOG r, a.x;", "fragment programs have no LOG", "LOG", ""),
        (
            "MOV r, program.env[256];",
            "`env` is numbered from 0 to 255; write `env[0]` or another of these numbers",
            "[256]",
            "",
        ),
        (
            "MOV r, state.fog;",
            "`state.fog` is not complete; one of these follows: `color`, `params`",
            "fog",
            "",
        ),
    ] {
        let source =
            format!("!!ARBfp1.0\nTEMP r;\nPARAM a = 1.0;\n{text}\nMOV result.color, r;\nEND\n");
        let errors = parse(&source, Stage::Fragment).unwrap_err();
        assert_eq!(errors.len(), 1, "{text}: {errors:?}");
        assert_eq!(errors[0].to_string(), wanted, "{text}");
        assert_eq!(&source[errors[0].span.range()], place, "{text}");
        let fixed = errors[0].fix.as_ref().map_or("", |fix| &fix.text);
        assert_eq!(fixed, fix, "{text}");
    }
}

/// Each statement is read by itself, and a name whose declaration has an error is not reported again.
#[test]
fn all_errors_are_reported_once() {
    let source = "!!ARBvp1.0\nPARAM m = state.matrix.mpv;\nTEMP t\nMOV t, m;\nFOO t, m;\nEND";
    let errors = parse(source, Stage::Vertex).unwrap_err();
    let all: Vec<String> = errors.iter().map(|error| error.message.clone()).collect();
    assert_eq!(
        all,
        [
            "the program does not write `result.position`",
            "vertex programs have no `state.matrix.mpv`",
            "`;` is missing before `MOV`",
            "there is no instruction `FOO`",
        ]
    );
}

#[test]
fn a_program_of_the_other_stage_is_named() {
    let errors = parse("!!ARBvp1.0\nEND", Stage::Fragment).unwrap_err();
    assert_eq!(errors[0].message, "this is a vertex program; a fragment program is wanted");
}
