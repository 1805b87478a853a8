//! What a text is that is not a program: Markdown, HTML, a vertex shader, the source of another language.

use std::path::Path;

use r500::asm::{Options, assemble};

/// What the page opens, for the message about a file that it does not.
const OPENS: &str = "the page opens assembly (.r5), fragment shaders in GLSL, captures (.r5cs, .json), logs of Mesa's driver, dwords as \
                     binary, hex text or C arrays, and pictures as textures";

/// Kinds of files by the ends of their names.
const ENDINGS: &[(&[&str], &str)] = &[
    (&["md", "markdown", "mkd"], MARKDOWN),
    (&["htm", "html", "xhtml"], "HTML"),
    (&["xml", "svg"], "XML"),
    (&["csv", "tsv"], "a table (CSV)"),
    (&["toml", "yaml", "yml", "ini", "cfg", "conf"], "a file of settings"),
    (&["css"], "a style sheet"),
    (
        &["js", "mjs", "ts", "rs", "py", "c", "h", "cc", "cpp", "hpp", "java", "go", "sh", "lua"],
        "source code of another language",
    ),
    (&["hlsl", "fx", "cg", "metal", "wgsl"], "a shader in another language than GLSL"),
    (&["tex", "rst", "adoc", "org"], "a document"),
];

const MARKDOWN: &str = "Markdown";

/// Returns whether a text that has words of assembly is something else: a document about it, for example. The name of a file of assembly
/// decides before the text does.
pub(crate) fn is_other_text(text: &str, name: &str) -> bool {
    let ending = ending(name);
    if ["r5", "asm"].contains(&ending.as_str()) {
        return false;
    }
    if by_ending(&ending).is_some_and(|kind| kind == MARKDOWN || kind == "HTML") {
        return true;
    }
    let assembly = assemble(text.as_bytes(), Options { name, ..Options::default() });
    let errors = assembly.diagnostics.iter().filter(|one| one.is_error()).count();
    errors > FEW_ERRORS && errors > assembly.job.program.code.len()
}

/// Errors that a program that is being written may have.
const FEW_ERRORS: usize = 8;

/// Returns the message about a text that is not a program.
pub(crate) fn not_a_program(text: &str, name: &str) -> String {
    format!("this is {}, not a program: {OPENS}", kind(text, name))
}

fn kind(text: &str, name: &str) -> &'static str {
    if is_vertex_shader(text) {
        return "a vertex shader";
    }
    if let Some(kind) = by_ending(&ending(name)) {
        return kind;
    }
    let begin = text.trim_start().get(..200).unwrap_or(text.trim_start()).to_ascii_lowercase();
    if begin.starts_with("<!doctype html") || begin.starts_with("<html") {
        return "HTML";
    }
    if begin.starts_with("<?xml") || begin.starts_with("<svg") {
        return "XML";
    }
    let heading =
        |line: &str| line.trim_start_matches('#').starts_with(' ') && line.starts_with('#');
    let is_markdown =
        text.lines().filter(|line| heading(line)).count() > 1 || text.contains("\n```");
    if is_markdown { MARKDOWN } else { "text" }
}

fn by_ending(ending: &str) -> Option<&'static str> {
    ENDINGS.iter().find(|(endings, _)| endings.contains(&ending)).map(|(_, kind)| *kind)
}

fn is_vertex_shader(text: &str) -> bool {
    text.contains("gl_Position") && text.contains("void main")
}

/// Returns the end of a file's name in lower case, without its dot.
fn ending(name: &str) -> String {
    let ending =
        Path::new(name).extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    ending.unwrap_or_default()
}
