//! One mistake gives one error: none that follows from it.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by them")]

use std::path::Path;

fn sources() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths: Vec<_> = ["benches/shaders", "tests/corpus/mesa"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "frag"))
        .collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// The places of a text after the first `{` of `main`, outside of comments.
fn places(source: &str, what: &str) -> Vec<usize> {
    let body = source.find("void main").unwrap();
    let in_comment = |at: usize| {
        let line = source[..at].rfind('\n').map_or(0, |line| line + 1);
        source[line..at].contains("//")
    };
    source
        .match_indices(what)
        .map(|(at, _)| at)
        .filter(|at| *at > body && !in_comment(*at))
        .collect()
}

/// Makes one mistake; `None` where the source has nothing to get wrong in this way.
fn broken(source: &str, mistake: usize, n: usize) -> Option<String> {
    let pick = |list: Vec<usize>| list.get(n % list.len().max(1)).copied();
    let without = |at: usize, length: usize| format!("{}{}", &source[..at], &source[at + length..]);
    let with = |at: usize, text: &str| format!("{}{text}{}", &source[..at], &source[at..]);
    match mistake {
        // A semicolon at the end of a line.
        0 => pick(places(source, ";\n")).map(|at| without(at, 1)),
        1 => pick(places(source, ")")).map(|at| without(at, 1)),
        // A misspelt function, type and variable.
        2 => pick(
            ["sin(", "cos(", "mix(", "fract(", "floor(", "dot(", "length("]
                .iter()
                .flat_map(|name| places(source, name))
                .collect(),
        )
        .map(|at| with(at + 2, "x")),
        3 => pick(places(source, "vec3 ")).map(|at| with(at + 3, "t")),
        4 => pick(places(source, "gl_FragColor")).map(|at| without(at + 3, 1)),
        // An integer for a float, a vector for a scalar.
        5 => pick(places(source, ".0;")).map(|at| without(at, 2)),
        6 => pick(places(source, "uv.x")).map(|at| without(at + 2, 2)),
        // A bracket too much.
        _ => pick(places(source, ");\n")).map(|at| with(at, ")")),
    }
}

#[test]
fn a_mistake_is_one_error() {
    let (mut one, mut all) = (0, 0);
    let mut more = Vec::new();
    for (n, source) in sources().iter().enumerate() {
        for mistake in 0..8 {
            let Some(text) = broken(source, mistake, n) else { continue };
            let Err(errors) = r500_glsl::parse(&text, r500_glsl::Stage::Fragment) else { continue };
            let errors: Vec<_> = errors.iter().filter(|error| error.is_error()).collect();
            assert!(!errors.is_empty());
            for error in &errors {
                assert!(text.get(error.span.range()).is_some(), "{error:?}");
            }
            all += 1;
            if errors.len() == 1 {
                one += 1;
            } else {
                let list: Vec<String> = errors
                    .iter()
                    .map(|error| format!("{:?} {error}", error.line_column(&text)))
                    .collect();
                more.push(format!("mistake {mistake}, shader {n}: {}", list.join(" | ")));
            }
        }
    }
    eprintln!("{one} of {all}\n{}", more.join("\n"));
    assert!(all > 300 && one * 100 >= all * 95, "{one} of {all}");
}
