//! The command line, as described in `usage.txt`.

use std::path::PathBuf;
use std::time::Duration;

use r500::emit::{Arithmetic, Language};

/// Parsed options.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Args {
    /// The engine's name.
    pub(crate) engine: String,
    /// The engine's instruction set.
    pub(crate) simd: String,
    /// Threads of each renderer.
    pub(crate) threads: usize,
    /// Width and height of the picture.
    pub(crate) size: [u32; 2],
    /// Folder with NAME.frag and NAME.json.
    pub(crate) corpus: PathBuf,
    /// Texts of which names must contain one; all names match if it is empty.
    pub(crate) filters: Vec<String>,
    /// The output format of the engine.
    pub(crate) output: Output,
    /// Measurement time per program.
    pub(crate) time: Duration,
    /// Format of the answer.
    pub(crate) format: Format,
    /// Compare emitted shaders of this kind instead of timing.
    pub(crate) emitted: Option<Arithmetic>,
    /// The language of the shaders.
    pub(crate) language: Language,
    /// Compare this many generated programs instead of the corpus.
    pub(crate) generated: u64,
    /// A folder for the shaders of pictures that differ.
    pub(crate) dump: Option<PathBuf>,
    /// The seed of the first generated program.
    pub(crate) seed: u64,
}

/// The output format of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// A frame of floats, with coverage.
    Float,
    /// Target A in 8 bits per channel, like llvmpipe.
    Rgba8,
}

impl Output {
    /// Returns the name in the command line and the report.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Float => "float",
            Self::Rgba8 => "rgba8",
        }
    }
}

/// The format of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// A table.
    Text,
    /// One JSON object.
    Json,
}

/// A valid command line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Command {
    /// Time programs.
    Run(Args),
    /// Print the usage.
    Help,
}

/// Greatest width and height: a render target size that every llvmpipe supports.
const LARGEST: u32 = 8192;
/// Greatest number of threads: older versions of llvmpipe silently use no more than 16.
const MOST_THREADS: usize = 16;

impl Default for Args {
    fn default() -> Self {
        Self {
            engine: "auto".into(),
            simd: "auto".into(),
            threads: 2,
            size: [1024, 1024],
            corpus: concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/mesa").into(),
            filters: Vec::new(),
            output: Output::Float,
            time: Duration::from_secs(2),
            format: Format::Text,
            emitted: None,
            language: Language::Glsl450,
            generated: 0,
            seed: 0,
            dump: None,
        }
    }
}

impl Command {
    /// Parses the words after the program's name.
    ///
    /// # Errors
    /// What is wrong with the first invalid word.
    pub(crate) fn parse(words: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut args = Args::default();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let (option, attached) = match word.split_once('=') {
                Some((option, value)) => (option.to_owned(), Some(value.to_owned())),
                None => (word, None),
            };
            if matches!(option.as_str(), "-h" | "--help") {
                return Ok(Self::Help);
            }
            let mut value = || {
                let value = attached.clone().or_else(|| words.next());
                value.ok_or_else(|| format!("{option}: a value is missing"))
            };
            match option.as_str() {
                "--engine" => args.engine = value()?,
                "--simd" => args.simd = value()?,
                "--threads" => args.threads = threads(&value()?)?,
                "--size" => args.size = size(&value()?)?,
                "--corpus" => args.corpus = value()?.into(),
                "--filter" => args.filters.push(value()?),
                "--output" => args.output = output(&value()?)?,
                "--time" => args.time = time(&value()?)?,
                "--format" => args.format = format(&value()?)?,
                "--language" => args.language = language(&value()?)?,
                "--generated" => args.generated = number(&option, &value()?)?,
                "--dump" => args.dump = Some(value()?.into()),
                "--seed" => args.seed = number(&option, &value()?)?,
                "--emitted" => args.emitted = Some(emitted(&value()?)?),
                _ => return Err(format!("`{option}` is not an option; see --help")),
            }
        }
        Ok(Self::Run(args))
    }
}

fn number(option: &str, text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("{option}: `{text}` is not a number"))
}

fn language(text: &str) -> Result<Language, String> {
    match Language::from_name(text) {
        Some(language @ (Language::Glsl450 | Language::Wgsl | Language::Spirv)) => Ok(language),
        _ => Err(format!("--language: `{text}` is not glsl, wgsl or spirv")),
    }
}

fn emitted(text: &str) -> Result<Arithmetic, String> {
    match text {
        "fast" => Ok(Arithmetic::Fast),
        "exact" => Ok(Arithmetic::Exact),
        _ => Err(format!("--emitted: `{text}` is neither fast nor exact")),
    }
}

fn threads(text: &str) -> Result<usize, String> {
    let wanted = || format!("--threads: `{text}`: wanted is a number from 1 to {MOST_THREADS}");
    text.parse().ok().filter(|n| (1..=MOST_THREADS).contains(n)).ok_or_else(wanted)
}

fn size(text: &str) -> Result<[u32; 2], String> {
    let (width, height) = text.split_once('x').unwrap_or((text, text));
    let side = |text: &str| text.parse().ok().filter(|n| (1..=LARGEST).contains(n));
    match (side(width), side(height)) {
        (Some(width), Some(height)) => Ok([width, height]),
        _ => Err(format!("--size: `{text}`: wanted is WxH or N, each from 1 to {LARGEST}")),
    }
}

fn time(text: &str) -> Result<Duration, String> {
    let seconds: Option<f64> = text.parse().ok().filter(|s| (0.0..=86400.0).contains(s));
    let seconds = seconds.ok_or_else(|| format!("--time: `{text}` is not a number of seconds"))?;
    Ok(Duration::from_secs_f64(seconds))
}

fn output(text: &str) -> Result<Output, String> {
    let known = [Output::Float, Output::Rgba8].into_iter().find(|output| output.name() == text);
    known.ok_or_else(|| format!("--output: `{text}`: wanted is float or rgba8"))
}

fn format(text: &str) -> Result<Format, String> {
    match text {
        "text" => Ok(Format::Text),
        "json" => Ok(Format::Json),
        _ => Err(format!("--format: `{text}`: wanted is text or json")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic)]

    use super::*;

    fn parse(line: &str) -> Result<Command, String> {
        Command::parse(line.split_whitespace().map(str::to_owned))
    }

    fn args(line: &str) -> Args {
        match parse(line) {
            Ok(Command::Run(args)) => args,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn every_option_is_understood() {
        assert_eq!(args(""), Args::default());
        let line = "--engine reference --simd=avx2 --threads 1 --size 640x480 --corpus a/b \
                    --filter tex_ --filter=loop_ --output rgba8 --time 0.5 --format json --emitted exact \
                    --language wgsl --generated 9 --seed 7 --dump c";
        let wanted = Args {
            engine: "reference".into(),
            simd: "avx2".into(),
            threads: 1,
            size: [640, 480],
            corpus: "a/b".into(),
            filters: vec!["tex_".into(), "loop_".into()],
            output: Output::Rgba8,
            time: Duration::from_millis(500),
            format: Format::Json,
            emitted: Some(Arithmetic::Exact),
            language: Language::Wgsl,
            generated: 9,
            seed: 7,
            dump: Some("c".into()),
        };
        assert_eq!(args(line), wanted);
        assert_eq!(args("--size 256").size, [256, 256]);
        assert_eq!(parse("--threads 1 --help --nonsense"), Ok(Command::Help));
        assert_eq!(parse("-h"), Ok(Command::Help));
    }

    #[test]
    fn mistakes_are_named() {
        for (line, part) in [
            ("--speed 3", "--speed"),
            ("tex_blur", "tex_blur"),
            ("--size", "--size: a value is missing"),
            ("--size 0x4", "0x4"),
            ("--size 4x", "4x"),
            ("--size 8193", "8193"),
            ("--threads 0", "--threads"),
            ("--threads two", "two"),
            ("--output rgba16", "rgba16"),
            ("--time -1", "-1"),
            ("--time nan", "nan"),
            ("--format csv", "csv"),
            ("--emitted slow", "slow"),
            ("--seed x", "--seed"),
        ] {
            match parse(line) {
                Err(message) => assert!(message.contains(part), "{line}: {message}"),
                Ok(command) => panic!("{line}: {command:?}"),
            }
        }
    }

    #[test]
    fn the_usage_names_every_option() {
        let usage = include_str!("usage.txt");
        let options =
            ["engine", "simd", "threads", "size", "corpus", "filter", "output", "time", "format"];
        for option in options {
            assert!(usage.contains(&format!("  --{option} ")), "{option}");
        }
    }
}
