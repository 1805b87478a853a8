//! Writes the program of a file (JSON, C array, hex) as a shader: `cargo run -p r500-emit --example emit -- FILE LANGUAGE [exact] [planes]`.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::io::Write as _;
use std::process::ExitCode;

use r500_emit::{Arithmetic, Code, Inputs, Language, Options, emit};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, language, flags @ ..] = &args[..] else {
        return Err("usage: emit FILE LANGUAGE [exact] [planes]".into());
    };
    let language = Language::from_name(language).ok_or("no such language")?;
    let has = |flag: &str| flags.iter().any(|own| own == flag);
    let options = Options {
        arithmetic: if has("exact") { Arithmetic::Exact } else { Arithmetic::Fast },
        inputs: if has("planes") { Inputs::Planes } else { Inputs::Varyings },
        ..Options::new(language)
    };
    let jobs = r500_formats::read(&std::fs::read(file)?, None, &r500_formats::Limits::default())?;
    let shader = emit(jobs.first().ok_or("no program")?, &options)?;
    let bytes = match &shader.code {
        Code::Text(text) => text.clone().into_bytes(),
        Code::Words(words) => words.iter().flat_map(|word| word.to_le_bytes()).collect(),
    };
    std::io::stdout().write_all(&bytes)?;
    Ok(())
}
