//! Instructions of short shaders, counted by hand: what each is needed for is in the comments.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use r500_isa::values::{FcOp, InstType};

/// Kinds of instructions of a program.
#[derive(Debug, PartialEq, Eq)]
struct Counts {
    arithmetic: usize,
    fetches: usize,
    flow: usize,
}

fn counts(body: &str) -> Counts {
    let head = "precision highp float; varying vec2 uv; uniform float n; uniform sampler2D a, b;";
    let source = format!("{head} void main() {{ {body} }}");
    let compiled = r500_compile::compile(&source).unwrap();
    let of = |ty: fn(InstType) -> bool| {
        compiled.job.program.code.iter().filter(|inst| ty(inst.ty())).count()
    };
    Counts {
        arithmetic: of(|ty| ty == InstType::ALU || ty == InstType::OUT),
        fetches: of(|ty| ty == InstType::TEX),
        flow: of(|ty| ty == InstType::FC),
    }
}

#[test]
fn a_variable_over_branches_is_one_register() {
    // Two comparisons and the output. IF, ELSE, IF, ELSE and the ENDIF of both. No copy.
    let body = "vec4 c;
        if (uv.x < 0.2) c = texture2D(a, uv);
        else if (uv.x < 0.4) c = texture2D(a, uv.yx);
        else c = texture2D(a, uv.xx);
        gl_FragColor = c;";
    assert_eq!(counts(body), Counts { arithmetic: 3, fetches: 3, flow: 5 });
}

#[test]
fn a_variable_over_passes_is_the_register_of_the_input_that_it_begins_with() {
    // The counter's zero; the comparison; MAD with the counter's step; FRC; the output. LOOP, BREAK IF, ENDLOOP.
    let body = "float x = uv.x;
        for (int i = 0; i < 100; i++) { if (float(i) > n) break; x = fract(x * 3.0 + uv.y); }
        gl_FragColor = vec4(x);";
    assert_eq!(counts(body), Counts { arithmetic: 5, fetches: 0, flow: 3 });
}

#[test]
fn variables_that_are_alive_at_once_stay_apart() {
    // x and y change places in each pass: two copies at least.
    let body = "float x = uv.x; float y = uv.y;
        for (int i = 0; i < 100; i++) { if (float(i) > n) break; float t = x; x = y; y = t; }
        gl_FragColor = vec4(x, y, x, y);";
    let counts = counts(body);
    assert!(counts.arithmetic >= 5, "zero, comparison, step, copies, output: {counts:?}");
}

#[test]
fn a_short_way_needs_no_else() {
    // The comparison with three components of 0.5, the fourth one, the output. IF, ENDIF.
    let body = "vec4 c = vec4(0.5); if (uv.x < 0.2) c = texture2D(a, uv); gl_FragColor = c;";
    assert_eq!(counts(body), Counts { arithmetic: 3, fetches: 1, flow: 2 });
}

#[test]
fn a_way_whose_result_the_other_way_reads_keeps_its_else() {
    // `uv` is read by the other way before it is set, so it is not set before.
    let source = "precision highp float; varying vec2 uv; uniform sampler2D a; void main() {
        vec2 p = uv;
        if (uv.x < 0.2) { p = texture2D(a, p).xy; p = texture2D(a, p).xy; } else { p = p.yx * 0.3; }
        gl_FragColor = vec4(p, p);
    }";
    let compiled = r500_compile::compile(source).unwrap();
    let flow = compiled.job.program.code.iter().filter(|inst| inst.ty() == InstType::FC);
    let elses = flow.filter(|inst| inst.fc_inst().op() == FcOp::JUMP).count();
    assert!(elses >= 2, "{elses} of IF, ELSE, ENDIF");
}

#[test]
fn coordinates_of_two_fetches_are_computed_at_once() {
    // Four components of coordinates; the sum.
    let body =
        "gl_FragColor = texture2D(a, uv + vec2(0.1, 0.2)) + texture2D(a, uv + vec2(0.3, -0.1));";
    assert_eq!(counts(body), Counts { arithmetic: 2, fetches: 2, flow: 0 });
}

#[test]
fn coordinates_of_a_fetch_that_depends_on_the_other_one_are_not() {
    // Coordinates, coordinates, the output.
    let body = "vec4 c = texture2D(a, uv + vec2(0.1, 0.2));
        gl_FragColor = texture2D(b, c.xy + vec2(0.3, -0.1));";
    assert_eq!(counts(body), Counts { arithmetic: 3, fetches: 2, flow: 0 });
}

#[test]
fn products_with_numbers_fold_where_no_bit_differs() {
    // 24 times, since 4 is a power of two; the output, from alpha.
    assert_eq!(counts("gl_FragColor = vec4(uv.x * 4.0 * 6.0);").arithmetic, 2);
    // 3 * 5 rounds twice; 0.25 * 3 may flush to zero in between.
    assert_eq!(counts("gl_FragColor = vec4(uv.x * 3.0 * 5.0);").arithmetic, 3);
    assert_eq!(counts("gl_FragColor = vec4(uv.x * 0.25 * 3.0);").arithmetic, 3);
}

#[test]
fn three_registers_go_to_one_output_at_once() {
    let body = "gl_FragColor = vec4(texture2D(a, uv).r, texture2D(b, uv).g, uv.x, 1.0);";
    assert_eq!(counts(body), Counts { arithmetic: 1, fetches: 2, flow: 0 });
}

#[test]
fn a_shader_without_output_ends_with_one() {
    // As the driver's do.
    assert_eq!(counts(""), Counts { arithmetic: 1, fetches: 0, flow: 0 });
    // What is tested, the kill, the end.
    let kills = counts("if (uv.x < 0.5) discard;");
    assert_eq!(kills, Counts { arithmetic: 2, fetches: 1, flow: 0 });
}

#[test]
fn an_array_without_a_size_has_that_of_its_largest_index() {
    let body = "float a[]; a[2] = uv.x; a[0] = uv.y; gl_FragColor = vec4(a[2], a[0], a[2], a[0]);";
    assert_eq!(counts(body).arithmetic, 1);
    // Declared again with a size, it is the same array.
    let body = "float a[]; a[1] = uv.x; float a[4]; gl_FragColor = vec4(a[1]);";
    assert!(counts(body).arithmetic <= 2);
    let wrong = "void main() { float a[2]; float a[4]; gl_FragColor = vec4(a[1]); }";
    let errors = r500_compile::compile(wrong).unwrap_err();
    assert!(errors.iter().any(|error| error.message.contains("declared twice")), "{errors:?}");
}
