//! Compiles the vertex shaders of files and compares each with the evaluator: `.vert`, and the section of a `.shader_test`.
//!
//! ```sh
//! cargo run --release -p r500-compile --example vertices -- FILE…
//! ```
//!
//! Prints the number of instructions of each, with `-v` the program, or its first error.
#![allow(clippy::print_stdout, reason = "a table on the terminal")]

use r500_compile::vertex::{self, verify::verify};
use r500_compile::{Stage, parse};

/// Vertices, four at a time, that are compared.
const RUNS: usize = 32;

fn main() {
    let (mut fit, mut failed, mut vertices, mut open) = (0, 0, 0, 0);
    let is_verbose = std::env::args().any(|argument| argument == "-v");
    for path in std::env::args().skip(1).filter(|argument| argument != "-v") {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let source = match path.ends_with(".shader_test") {
            true => match section(&text) {
                Some(source) => source,
                None => continue,
            },
            false => text,
        };
        let result = parse(&source, Stage::Vertex).and_then(|(shader, warnings)| {
            Ok((vertex::compile_tree(&shader, None, warnings)?, shader))
        });
        match result {
            Ok((compiled, shader)) => {
                let count = compiled.source.program.window().count();
                match verify(&shader, &compiled, RUNS, 1) {
                    Ok(checked) => {
                        vertices += checked.vertices;
                        open += checked.open;
                        fit += 1;
                        println!("{path}: {count} instructions");
                    }
                    Err(mismatch) => {
                        failed += 1;
                        println!(
                            "{path}: WRONG: {mismatch}, constants {:?}, inputs {:?}",
                            mismatch.constants, mismatch.inputs
                        );
                    }
                }
                let lints = compiled.source.program.check();
                if !lints.is_empty() {
                    println!("{path}: {lints:?}");
                }
                if is_verbose {
                    println!("{}", compiled.source);
                }
            }
            Err(errors) => {
                failed += 1;
                let (line, _) = errors[0].line_column(&source);
                println!("{path}:{line}: {}", errors[0]);
            }
        }
    }
    println!(
        "{fit} compile and equal the evaluator in {vertices} vertices ({open} open); {failed} do not"
    );
}

/// Returns the vertex shader of a test of piglit's.
fn section(text: &str) -> Option<String> {
    let mut lines =
        text.lines().skip_while(|line| line.trim() != "[vertex shader]").skip(1).peekable();
    lines.peek()?;
    let body: Vec<&str> = lines.take_while(|line| !line.starts_with('[')).collect();
    Some(body.join("\n"))
}
