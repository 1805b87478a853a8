//! The formatter: what it writes, and that it changes white space only.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by them")]

use std::path::Path;

use r500_glsl::format::format;

#[test]
fn blocks_are_indented_and_tokens_separated() {
    let cases = [
        (
            "precision mediump float;varying vec2 uv;\nvoid main(){if(uv.x>0.5)discard;else{gl_FragColor=vec4( uv,-1.0 , 1. );}}",
            "precision mediump float;\nvarying vec2 uv;\nvoid main() {\n    if (uv.x > 0.5) discard;\n    else {\n        gl_FragColor = vec4(uv, -1.0, 1.);\n    }\n}\n",
        ),
        (
            "struct Light { vec3 at;float power ; }lights[2] ;\n\n\n\nfloat f ( in float a )\n{\n  for(int i=0;i<4;++i){a+=-a*float(i) ; a++ ;}\n  return(a);}",
            "struct Light {\n    vec3 at;\n    float power;\n} lights[2];\n\nfloat f(in float a) {\n    for (int i = 0; i < 4; ++i) {\n        a += -a * float(i);\n        a++;\n    }\n    return (a);\n}\n",
        ),
        (
            "// head\n#define F(x)   (x)+\\\n   1.0   // kept  \n#ifdef A\nvoid main(){\n#else\nvoid other(){ // why\n#endif\n/* block\n   comment */\nfloat a = b\n+ c /* d */ * e; // end\n do{a--;}while(a> - -1.0&&!true) ;\n}",
            "// head\n#define F(x)   (x)+\\\n   1.0   // kept\n#ifdef A\nvoid main() {\n#else\nvoid other() { // why\n#endif\n    /* block\n   comment */\n    float a = b\n        + c /* d */ * e; // end\n    do {\n        a--;\n    } while (a > - -1.0 && !true);\n}\n",
        ),
        (
            "void main(){}\nvoid f() { if (a) {\n\n b = c ? -1 : d[ 1 ] ;\n\n } else if (e)\n g(); }",
            "void main() {}\nvoid f() {\n    if (a) {\n        b = c ? -1 : d[1];\n    } else if (e)\n        g();\n}\n",
        ),
    ];
    for (source, expected) in cases {
        let formatted = format(source).unwrap();
        assert_eq!(formatted, expected, "{formatted}");
        assert_eq!(format(&formatted).unwrap(), formatted);
    }
}

#[test]
fn invalid_tokens_are_errors() {
    assert!(format("void main() { /* no end").unwrap_err().message.contains("no end"));
    assert!(format("float a = 1.0x;").unwrap_err().message.contains("is not a number"));
}

#[test]
fn deep_sources_are_errors_and_shallow_ones_are_indented_so_far() {
    for open in ["{", "(", "#if A\n"] {
        let error = format(&open.repeat(100_000)).unwrap_err();
        assert_eq!(error.message, "more than 256 brackets or conditions are open");
    }
    let text = format(&"{".repeat(200)).unwrap();
    assert_eq!(text.lines().map(|line| line.len() - line.trim_start().len()).max(), Some(128));
}

fn is_kept(name: &str, source: &str) {
    let formatted = format(source).unwrap_or_else(|error| panic!("{name}: {error}"));
    let again = format(&formatted).unwrap_or_else(|error| panic!("{name}: {error}\n{formatted}"));
    assert_eq!(again, formatted, "{name} is not the same when it is formatted again");
    let (stage, formatted_stage) = (r500_glsl::stage_of(source), r500_glsl::stage_of(&formatted));
    assert_eq!(stage, formatted_stage, "{name}");
    // Errors are the same ones, too.
    if let Some(stage) = stage {
        let messages = |text: &str| match r500_glsl::parse(text, stage) {
            Ok((_, warnings)) => warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
            Err(errors) => errors.iter().map(ToString::to_string).collect(),
        };
        assert_eq!(messages(source), messages(&formatted), "{name}");
    }
}

#[test]
fn shaders_of_the_corpus_stay_what_they_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut count = 0;
    for folder in ["benches/shaders", "tests/corpus/mesa", "examples/scenes", "tests/corpus/vertex"]
    {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let is_shader = path.extension().is_some_and(|e| e == "frag" || e == "vert");
            if is_shader {
                is_kept(&path.display().to_string(), &std::fs::read_to_string(&path).unwrap());
                count += 1;
            }
        }
    }
    assert!(count > 100, "{count}");
}

/// Tokens of the language in any order: hardly any of these texts is a shader, and no token may change.
#[test]
fn tokens_in_any_order_stay_the_same() {
    const TOKENS: [&str; 44] = [
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        ";",
        ",",
        ".",
        "+",
        "-",
        "++",
        "--",
        "!",
        "~",
        "*",
        "/",
        "=",
        "==",
        "<",
        "<<",
        "&&",
        "?",
        ":",
        "if",
        "else",
        "do",
        "while",
        "for",
        "return",
        "struct",
        "uniform",
        "float",
        "x",
        "1",
        "1.",
        ".5",
        "2.0e3",
        "// c\n",
        "/* d */",
        "/* e\n */",
        "\n#if A\n",
        "\n#else\n",
        "\n#endif // f\n",
    ];
    let mut state = 0x1234_5678_9abc_def1_u64;
    let mut next = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % n
    };
    for case in 0..20_000 {
        let mut source = String::new();
        for _ in 0..=next(24) {
            source.push_str(TOKENS[next(TOKENS.len())]);
            source.push_str(["", " ", "\n", "\n\n", "  "][next(5)]);
        }
        let Ok(formatted) = format(&source).map_err(|error| {
            assert!(!error.message.contains("formatter"), "{case}: {error}\n{source}");
        }) else {
            continue;
        };
        let again = format(&formatted)
            .unwrap_or_else(|error| panic!("{case}: {error}\n{source}\n---\n{formatted}"));
        assert_eq!(again, formatted, "{case}\n{source}");
    }
}
