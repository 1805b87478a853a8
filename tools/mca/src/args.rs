//! The command line, as described in `usage.txt`.

use std::path::{Path, PathBuf};

use r500::jit::compile::Level;

/// Parsed options.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Args {
    pub(crate) files: Vec<PathBuf>,
    pub(crate) level: Level,
    pub(crate) cpus: Vec<String>,
    /// A text that names must contain.
    pub(crate) filter: String,
    pub(crate) measured: Option<PathBuf>,
    pub(crate) llvm: Option<PathBuf>,
    pub(crate) json: bool,
}

/// A valid command line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Command {
    /// Estimate.
    Run(Args),
    /// Print the usage.
    Help,
}

impl Command {
    /// Parses the words after the program's name.
    ///
    /// # Errors
    /// What is wrong with the first invalid word.
    pub(crate) fn parse(words: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut args = Args {
            files: Vec::new(),
            level: Level::Avx512,
            cpus: Vec::new(),
            filter: String::new(),
            measured: None,
            llvm: None,
            json: false,
        };
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let (option, attached) = match word.split_once('=') {
                Some((option, value)) if option.starts_with("--") => {
                    (option.to_owned(), Some(value.to_owned()))
                }
                _ => (word, None),
            };
            let mut value = || {
                let value = attached.clone().or_else(|| words.next());
                value.ok_or_else(|| format!("{option}: a value is missing"))
            };
            match option.as_str() {
                "-h" | "--help" => return Ok(Self::Help),
                "--simd" => {
                    args.level = match value()?.as_str() {
                        "avx512" => Level::Avx512,
                        "avx2" => Level::Avx2,
                        other => return Err(format!("--simd: `{other}`: it is avx512 or avx2")),
                    }
                }
                "--cpu" => args.cpus = value()?.split(',').map(str::to_owned).collect(),
                "--filter" => args.filter = value()?,
                "--measured" => args.measured = Some(value()?.into()),
                "--llvm" => args.llvm = Some(value()?.into()),
                "--format" => {
                    args.json = match value()?.as_str() {
                        "text" => false,
                        "json" => true,
                        other => return Err(format!("--format: `{other}`: it is text or json")),
                    }
                }
                unknown if unknown.starts_with('-') => return Err(format!("what is `{unknown}`?")),
                file => args.files.push(file.into()),
            }
        }
        if args.cpus.is_empty() {
            let usual: &[&str] = match args.level {
                Level::Avx512 => &["sapphirerapids", "skylake-avx512", "znver4"],
                Level::Avx2 => &["znver3"],
            };
            args.cpus = usual.iter().map(|&name| name.to_owned()).collect();
        }
        if args.files.is_empty() {
            let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
            args.files = vec![root.join("tests/corpus/mesa"), root.join("examples")];
        }
        Ok(Self::Run(args))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Command, String> {
        Command::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn words_are_understood() {
        let line = "a.r5 --simd avx2 --cpu=znver3,znver4 --filter tex --format json b.json";
        let Ok(Command::Run(args)) = parse(line) else { unreachable!("it makes sense") };
        assert_eq!(args.files, ["a.r5", "b.json"].map(PathBuf::from));
        assert_eq!((args.level, args.cpus.join(" ")), (Level::Avx2, "znver3 znver4".to_owned()));
        assert_eq!((args.filter.as_str(), args.json), ("tex", true));
        assert_eq!(parse("a.r5 --help"), Ok(Command::Help));
    }

    #[test]
    fn what_makes_no_sense_is_told() {
        for (line, wanted) in [
            ("--simd sse2", "--simd: `sse2`: it is avx512 or avx2"),
            ("--cpu", "--cpu: a value is missing"),
            ("--what", "what is `--what`?"),
        ] {
            assert_eq!(parse(line), Err(wanted.to_owned()));
        }
    }
}
