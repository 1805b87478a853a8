//! The kinds of files, for the error of a command that is given a file of another kind.

use std::io::Read;
use std::path::Path;

use r500::compile::{self, Stage};
use r500::files as guard;
use r500::formats::{self, ForeignKind, Format, Limits};
use r500::pvs::Source;
use r500::reader::{self, Language};
use r500_scene::Scene;
use r500_stream::{capture, text};

use super::exit::{Failure, Outcome};

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileKind {
    content: Content,
    /// Whether it is compressed by gzip.
    compressed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// A capture of command streams.
    Capture,
    /// The text of a command stream.
    StreamText,
    /// Assembly of a vertex program.
    Vertex,
    /// A scene.
    Scene,
    /// A shader in GLSL.
    Glsl(Stage),
    /// A program of `ARB_fragment_program` or `ARB_vertex_program`.
    Arb(Stage),
    /// Programs in a format that has marks. Dwords have none.
    Programs(Language),
    /// A file without programs and streams, or a text in a language that is not read.
    Foreign(ForeignKind),
}

/// Bytes of a file that decide its kind.
pub(super) const HEAD: u64 = 256 << 10;

impl FileKind {
    /// Recognises a file from its content; `None` if its bytes can be anything, such as dwords or prose.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        let mut head = Vec::new();
        if let Ok(input) = formats::decompressed(bytes, &Limits::default()) {
            // The beginning of a damaged file is enough.
            let _ = input.take(HEAD).read_to_end(&mut head);
        }
        let content = if capture::is_capture(&head) {
            Content::Capture
        } else if let Some(kind) = formats::file_kind(&head) {
            Content::Foreign(kind)
        } else if std::str::from_utf8(&head).is_ok_and(Scene::is_scene) {
            Content::Scene
        } else if std::str::from_utf8(&head).is_ok_and(is_stream_text) {
            Content::StreamText
        } else if std::str::from_utf8(&head).is_ok_and(Source::is_likely) {
            Content::Vertex
        } else {
            match reader::recognise(&head, None) {
                Some(Language::Format(Format::Raw)) => return None,
                Some(language) if language != Language::Glsl => Content::Programs(language),
                _ => shader(std::str::from_utf8(&head).ok()?)?,
            }
        };
        Some(Self { content, compressed: bytes.starts_with(&[0x1f, 0x8b]) })
    }

    /// Returns whether it is assembly of a vertex program.
    pub(super) fn is_vertex_program(self) -> bool {
        self.content == Content::Vertex && !self.compressed
    }

    /// Returns whether it is a scene.
    pub(super) fn is_scene(self) -> bool {
        self.content == Content::Scene && !self.compressed
    }

    /// Returns whether it is something that no command reads.
    fn is_foreign(self) -> bool {
        matches!(self.content, Content::Foreign(_))
    }

    /// Returns whether it is the text of a command stream.
    pub(super) fn is_stream_text(self) -> bool {
        self.content == Content::StreamText && !self.compressed
    }

    /// Returns the failure of a command that reads `wanted`, such as "a capture".
    pub(super) fn failure(self, file: &str, wanted: &str) -> Failure {
        let what = self.describe();
        let help = self.help(file).map_or(String::new(), |help| format!("\n  {help}"));
        Failure::input(anyhow::anyhow!("{file}: this is {what}, not {wanted}{help}"))
    }

    fn describe(self) -> String {
        let what = match self.content {
            Content::Capture => "a captured command stream",
            Content::StreamText => "the text of a command stream",
            Content::Vertex => "assembly of a vertex program",
            Content::Scene => "a scene",
            Content::Programs(Language::Format(Format::CArray)) => "a C array",
            Content::Programs(Language::Format(Format::Hex)) => "hex text",
            Content::Programs(Language::Format(Format::MesaLog)) => "a log of Mesa's r300 driver",
            Content::Programs(Language::Format(Format::Json)) => "a JSON file",
            Content::Programs(Language::Format(Format::JsonLines)) => "a file of JSON lines",
            Content::Glsl(Stage::Fragment) => "a fragment shader in GLSL",
            Content::Glsl(Stage::Vertex) => "a vertex shader in GLSL",
            Content::Arb(Stage::Fragment) => "a program of ARB_fragment_program",
            Content::Arb(Stage::Vertex) => "a program of ARB_vertex_program",
            Content::Programs(_) => "assembly of a fragment program",
            Content::Foreign(kind) => kind.name,
        };
        format!("{what}{}", if self.compressed { ", compressed by gzip" } else { "" })
    }

    /// Returns which command reads the file.
    fn help(self, file: &str) -> Option<String> {
        Some(match self.content {
            Content::Capture | Content::StreamText if self.compressed => {
                format!("decompress it first: `gunzip {file}`")
            }
            Content::Capture => {
                format!(
                    "`r500 stream {file} --list` shows its draws, `r500 replay {file}` executes it"
                )
            }
            Content::StreamText => {
                format!("`r500 stream {file}` reads it, with --assemble it writes the dwords")
            }
            Content::Scene => format!(
                "`r500 render {file} -o picture.png` draws it, `r500 debug` and `r500 trace` show what happens at a pixel (--pixel) or vertex (--vertex), \
                 `r500 asm {file} -o scene.r5cs` makes a capture, whose draws `r500 stream --draw` writes for the other commands"
            ),
            Content::Vertex => format!(
                "`r500 check {file}` checks it; `r500 asm`, `disasm`, `convert`, `fmt`, `stats`, `cfg`, `diff`, `opt`, `explain`, `run`, `trace`, `debug` and `test` take it, too"
            ),
            Content::Programs(Language::Format(Format::MesaLog)) => format!(
                "`r500 convert {file} --list` lists its compilations, `r500 disasm {file} --pick fp0` prints a fragment \
                 program, `--pick vp0` a vertex program"
            ),
            Content::Programs(Language::Assembly) => {
                format!("`r500 check {file}` checks it, `r500 asm {file}` assembles it")
            }
            Content::Glsl(Stage::Fragment) | Content::Arb(Stage::Fragment) => {
                format!(
                    "`r500 compile {file}` compiles it, `r500 render {file} -o picture.png` draws it"
                )
            }
            Content::Glsl(Stage::Vertex) | Content::Arb(Stage::Vertex) => {
                format!("`r500 compile {file}` compiles it, `r500 run {file}` executes it")
            }
            Content::Programs(_) => {
                format!("`r500 check {file}` checks its programs, `r500 disasm {file}` prints them")
            }
            Content::Foreign(kind) => return kind.advice.map(str::to_owned),
        })
    }
}

/// Returns what a shader is; `None` for other texts.
fn shader(text: &str) -> Option<Content> {
    let stage = compile::stage_of(text)?;
    Some(if compile::is_assembly(text) { Content::Arb(stage) } else { Content::Glsl(stage) })
}

/// Returns whether a file in a folder has a scene.
pub(super) fn holds_scene(path: &Path) -> bool {
    let name = path.to_string_lossy().to_ascii_lowercase();
    if !name.ends_with(".r5") {
        return false;
    }
    head(path).is_ok_and(|head| Scene::is_scene(&String::from_utf8_lossy(&head)))
}

/// Returns the beginning of a file.
pub(super) fn head(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    guard::open(path, u64::MAX)?.take(HEAD).read_to_end(&mut head)?;
    Ok(head)
}

/// Refuses a source with errors that is a file of another kind. Text in a file with the name of a source is one, unless it is a stream's, a
/// scene, or in another language.
pub(super) fn refuse_other_than_assembly(file: &str, source: &[u8]) -> Outcome<()> {
    let Some(kind) = FileKind::of(source) else { return Ok(()) };
    let is_source = reader::recognise(source, Some(file)) == Some(Language::Assembly);
    match is_source && !kind.is_stream_text() && !kind.is_scene() && !kind.is_foreign() {
        true => Ok(()),
        false => Err(kind.failure(file, "R500 assembly")),
    }
}

/// Lines that decide what a text is. The errors of a longer one are not all reported.
const LINES: usize = 64;

/// Returns whether most statements at the beginning of a text are those of a command stream.
fn is_stream_text(head: &str) -> bool {
    let lines: Vec<&str> = head.lines().filter(is_statement).take(LINES).collect();
    let wrong = text::parse(&lines.join("\n")).map_or_else(|errors| errors.len(), |_| 0);
    !lines.is_empty() && wrong * 4 <= lines.len()
}

/// Fewest lines, each with an error, of which a text of another kind consists. A short one may be a stream with mistakes.
const FEWEST: usize = 8;

/// Returns whether all lines of a text are errors, and too many to be mistakes.
pub(super) fn is_no_stream(text: &str, errors: usize) -> bool {
    let statements = text.lines().filter(is_statement).count();
    statements >= FEWEST && errors >= statements
}

/// Returns whether a line of a stream's text is neither empty nor a comment.
fn is_statement(line: &&str) -> bool {
    !line.split('#').next().unwrap_or_default().trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(bytes: &[u8]) -> Option<Content> {
        FileKind::of(bytes).map(|kind| kind.content)
    }

    #[test]
    fn kinds_are_recognised_from_content() {
        let stream = b"# submission 0\nVAP_PVS_STATE_FLUSH_REG = 0x00000000   # 0\n";
        assert_eq!(content(stream), Some(Content::StreamText));
        assert_eq!(content(&capture::MAGIC), Some(Content::Capture));
        assert_eq!(content(b"-- a scene\nSCENE 2x2 ;"), Some(Content::Scene));
        let hex = Content::Programs(Language::Format(Format::Hex));
        assert_eq!(content(b"00007800 08040000 08040000 00db0220 00c18003 00490000\n"), Some(hex));
        let source = b"OUT src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb ;";
        assert_eq!(content(source), Some(Content::Programs(Language::Assembly)));
        let png = ForeignKind { name: "a PNG picture", advice: None };
        assert_eq!(content(b"\x89PNG\r\n\x1a\n"), Some(Content::Foreign(png)));
        let arb = Content::Arb(Stage::Vertex);
        assert_eq!(content(b"!!ARBvp1.0\nMOV result.position, vertex.position;\nEND\n"), Some(arb));
        let glsl = Content::Glsl(Stage::Fragment);
        assert_eq!(content(b"void main() { gl_FragColor = vec4(1.0); }\n"), Some(glsl));
        for anything in [&b""[..], b"\0\x78\0\0\x01\0\x04\x08", b"This is prose.\n"] {
            assert_eq!(content(anything), None);
        }
    }
}
