#![allow(clippy::unwrap_used)]

use r500_exec::record::Variable;

use super::*;
use crate::vertex_run::VertexVariable;

fn names() -> Vec<Uniform> {
    let uniform = |name: &str, constant, channel, channels| Uniform {
        name: name.to_owned(),
        constant,
        channel,
        channels,
    };
    vec![uniform("color", 4, 0, 3), uniform("time", 5, 2, 1)]
}

fn parse(text: &str, names: &[Uniform]) -> Result<Expr, ExpressionError> {
    super::parse(text, names)
}

fn written(text: &str) -> String {
    Written(&parse(text, &names()).unwrap()).to_string()
}

#[test]
fn expressions_parse_and_evaluate() {
    let rows = [
        ("temp[2].r is NaN", "(temp[2].r is nan)"),
        ("t2.x is not nan", "(not (temp[2].r is nan))"),
        ("temp[0].g > 0.5", "(temp[0].g > 0.5)"),
        ("alu_result", "alu_result"),
        ("ALU", "alu_result"),
        ("pred.r", "pred.r"),
        ("pred", "pred.rgba"),
        ("active", "active"),
        // Precedence: `and` over `or`, `not` over both, comparisons over all.
        ("active or killed and not pred.a", "(active or (killed and (not pred.a)))"),
        ("1 + 2 * 3 - -x < y && !killed", "((((1 + (2 * 3)) - (-x)) < y) and (not killed))"),
        ("(1 + 2) * 3 == 9", "(((1 + 2) * 3) == 9)"),
        ("all(abs(c255.wzyx) <= inf)", "all((abs(const[255].abgr) <= inf))"),
        ("any(t0 == t1)", "(not all((not (temp[0].rgba == temp[1].rgba))))"),
        ("color.b < time", "(const[4].b < const[5].b)"),
        ("color > 0", "(const[4].rgb > 0)"),
        ("o3.a - .5e-1", "(out[3].a - 0.05)"),
        ("depth == 0x3f800000", "(depth == 1)"),
        ("step >= 100 or pc == 12", "((step >= 100) or (address == 12))"),
        ("alu_result == pred.r", "(alu_result == pred.r)"),
    ];
    for (text, wanted) in rows {
        assert_eq!(written(text), wanted, "{text}");
        // Printing and parsing again gives the same.
        assert_eq!(written(wanted), wanted);
    }
}

#[test]
fn vertices_have_words_of_their_own() {
    let rows = [
        ("temp[2].r is nan", "(temp[2].x is nan)"),
        ("i0.xw > t1.y", "(input[0].xw > temp[1].y)"),
        ("alt_temp[127].w == c255", "(alt_temp[127].w == const[255].xyzw)"),
        ("a0.x - out[127].y", "(a0.x - out[127].y)"),
        ("color.b < time", "(const[4].z < const[5].z)"),
        ("not predicate or active", "((not pred) or active)"),
        ("loops > 0 and passes == aL", "((loops > 0) and (passes == al))"),
    ];
    let parse = |text: &str| super::parse::<VertexVariable>(text, &names());
    for (text, wanted) in rows {
        assert_eq!(Written(&parse(text).unwrap()).to_string(), wanted, "{text}");
        assert_eq!(Written(&parse(wanted).unwrap()).to_string(), wanted);
    }
    for (text, message) in [
        ("input[32]", "input[0] to input[31]"),
        ("depth", "there are temp[N], alt_temp[N], const[N], input[N], out[N], a0, pred, active"),
        ("pred.x", "`.` is not expected here"),
        ("alu_result", "there is no `alu_result`"),
        ("tmp[1]", "did you mean `temp`?"),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.message.contains(message), "{text}: {error}");
    }
}

#[test]
fn syntax_errors_are_reported_with_position() {
    // Text, the part that is marked as wrong, and a part of the message.
    let rows = [
        ("temp[128].r > 0", "128", "temp[0] to temp[127]"),
        ("temp[x] > 0", "x", "0 to 127"),
        ("t900 > 0", "t900", "no such register"),
        ("out[4].r > 0", "4", "out[3]"),
        ("temp[0].q > 0", "q", "rgba or xyzw"),
        ("temp[0].rgbar > 0", "rgbar", "one to four"),
        ("time.g > 0", "g", "only 1 channels"),
        ("color.a > 0", "a", "only 3 channels"),
        ("temp[0].r = 1", "=", "write `==`"),
        ("temp[0].r == nan", "nan", "is nan"),
        ("foo > 1", "foo", "there is no `foo`"),
        ("tmp[2].r > 1", "tmp", "did you mean `temp`?"),
        ("tme > 1", "tme", "did you mean `time`?"),
        ("temp[0].r is man", "man", "did you mean `nan`?"),
        ("temp[0].r > ", "", "missing"),
        ("temp[0].r is odd", "odd", "nan, inf"),
        ("1 < 2 < 3", "<", "do not chain"),
        ("temp[0].rg > temp[1].rgb", "temp[0].rg > temp[1].rgb", "2 channels"),
        ("alu_result > 0.5", "alu_result", "no number"),
        ("temp[0].r and active", "temp[0].r", "compare it"),
        ("not 3", "3", "compare it"),
        ("abs(active) > 1", "active", "no number"),
        ("(active", "", "`)` is missing"),
        ("active active", "active", "not expected"),
        ("0x3f8 > 1", "0x3f8", "not a number"),
        ("temp[0].r > 1..2", "1..2", "not a number"),
        ("active # x", "#", "means nothing"),
        ("ä", "ä", "means nothing"),
        ("", "", "missing"),
        ("*", "*", "not expected"),
    ];
    for (text, marked, message) in rows {
        let error = parse(text, &names()).unwrap_err();
        assert_eq!(&text[error.span.clone()], marked, "{text}: {error:?}");
        assert!(error.message.contains(message), "{text}: {error}");
    }
    let error = parse_condition::<Variable>(" temp[0].r * 2 ", &[]).unwrap_err();
    assert_eq!(error.span, 1..14);
    assert_eq!(
        error.render(" temp[0].r * 2 "),
        "   temp[0].r * 2 \n   ^^^^^^^^^^^^^\nthis is a number, no condition; compare it, such as \
         with `> 0.5` or `is nan`"
    );
    let deep = format!("{}active{}", "(".repeat(100), ")".repeat(100));
    assert!(parse(&deep, &[]).unwrap_err().message.contains("nested"));
    assert!(parse(&"-".repeat(4000), &[]).is_err());
    assert!(parse(&"1+".repeat(4000), &[]).is_err());
}

#[test]
fn any_text_is_read_or_reported_inside_it() {
    let words = [
        "temp[1]",
        ".rg",
        "t5.x",
        "const",
        "[",
        "]",
        "9",
        "300",
        "1.5",
        "0x3f800000",
        "(",
        ")",
        "+",
        "-",
        "*",
        "/",
        "<",
        ">=",
        "==",
        "=",
        "!",
        "and",
        "||",
        "not",
        "is",
        "nan",
        "negative",
        "all(",
        "abs(",
        "active",
        "pred",
        ".r",
        "color",
        "time",
        "x",
        ".",
        ",",
        " ",
        "ä",
        "1e",
        "0x",
        "depth",
        "alu",
    ];
    let mut dice = 1u64;
    let mut read = 0;
    for _ in 0..50_000 {
        let mut text = String::new();
        loop {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let roll = (dice >> 33) as usize;
            if roll.is_multiple_of(7) {
                break;
            }
            text.push_str(words[roll / 7 % words.len()]);
            text.push_str(if (roll / 1000).is_multiple_of(2) { " " } else { "" });
        }
        match parse(&text, &names()) {
            Ok(expr) => {
                read += 1;
                let written = Written(&expr).to_string();
                let again = parse(&written, &names()).unwrap();
                assert_eq!(format!("{again:?}"), format!("{expr:?}"), "{text}: {written}");
            }
            Err(error) => assert!(text.get(error.span.clone()).is_some(), "{text}: {error:?}"),
        }
    }
    assert!(read > 1000, "{read}");
}
