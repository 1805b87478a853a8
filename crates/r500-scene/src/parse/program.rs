//! Programs and shaders in a scene: in braces, or in files.

use std::ops::Range;
use std::path::PathBuf;

use r500::files::{MAX_TEXT, parent};
use r500::program::Job;
use r500::pvs::Source;
use r500::reader::assembly;

use super::{MAX_ERRORS, Parsed, Parser, at};
use crate::{Places, SceneError};

/// What a text in braces is written in: where its comments are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// `--` to the end of the line.
    Assembly,
    /// `//` to the end of the line, and between `/*` and `*/`; no quotes.
    Glsl,
}

impl Parser<'_> {
    /// Parses what follows `VERTEX PROGRAM`; `None` for a program with errors, which are reported.
    pub(super) fn vertex_program(&mut self) -> Parsed<Option<Source>> {
        let (text, path, span) = self.program(Language::Assembly)?;
        let folder = parent(&path).to_owned();
        let files = self.files;
        let mut include = |name: &str| {
            let read = files.read(&folder.join(name), MAX_TEXT).and_then(r500::files::text);
            read.map_err(|error| error.to_string())
        };
        match Source::parse(&text, &mut include) {
            Ok(source) => Ok(Some(source)),
            Err(errors) => {
                let inside = path == self.path;
                for error in errors.into_iter().take(MAX_ERRORS) {
                    let place = if inside { error.span } else { span.clone() };
                    let help = error.help.unwrap_or_default();
                    self.errors.push(SceneError { span: place, message: error.message, help });
                }
                Ok(None)
            }
        }
    }

    /// Parses what follows `FRAGMENT PROGRAM`; `None` for a program with errors, which are reported.
    pub(super) fn fragment_program(&mut self) -> Parsed<Option<(Job, Places)>> {
        let (text, path, span) = self.program(Language::Assembly)?;
        let name = path.to_string_lossy().into_owned();
        let assembly = assembly::assemble_with_files(text.as_bytes(), &name, self.files);
        if !assembly.is_ok() {
            let inside = path == self.path;
            for error in assembly.errors().take(MAX_ERRORS) {
                let place = error.span;
                let here = inside && assembly.files.name(place) == name;
                let place =
                    if here { place.start as usize..place.end as usize } else { span.clone() };
                self.errors.push(SceneError {
                    span: place,
                    message: error.message.clone(),
                    help: error.help.first().cloned().unwrap_or_default(),
                });
            }
            return Ok(None);
        }
        let inside = path == self.path;
        let place = |span: &r500::asm::Span| {
            let here = inside && assembly.files.name(*span) == name;
            here.then_some(span.start as usize..span.end as usize)
        };
        let places = assembly.spans.iter().map(place).collect();
        let job = assembly::job(&assembly, self.files).map_err(|error| {
            at(span.clone(), error.to_string(), "a fragment program names its textures")
        })?;
        if let Some(live) = job.live.first() {
            let message =
                format!("texture {} of the program changes from frame to frame", live.unit);
            let help = "in a scene write `TEXTURE 0 = previous picture ;` in the draw; keyboard, camera and video are for programs alone";
            return Err(at(span, message, help));
        }
        Ok(Some((job, places)))
    }

    /// Parses a program in braces or the name of its file. Returns the text and its file; a text in braces has spaces before it, so that its
    /// places are those of the scene.
    pub(super) fn program(
        &mut self,
        language: Language,
    ) -> Parsed<(String, PathBuf, Range<usize>)> {
        let help = "write the program in braces, or `\"file\" ;`";
        if let Some((name, span)) = self.string()? {
            self.end(help)?;
            let bytes = self.read(&name, &span, MAX_TEXT)?;
            let text = r500::files::text(bytes)
                .map_err(|error| at(span.clone(), format!("`{name}`: {error}"), help))?;
            return Ok((text, parent(self.path).join(name), span));
        }
        self.space();
        let open = self.at;
        self.symbol('{', help)?;
        let begin = self.at;
        let Some(length) = length_in_braces(&self.text[begin..], language) else {
            self.at = self.text.len();
            return Err(at(open..open + 1, "the program has no end".to_owned(), "end it with `}`"));
        };
        let end = begin + length;
        self.at = end + 1;
        let before = self.text[..begin].bytes();
        let before: String = before.map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect();
        Ok((before + &self.text[begin..end], self.path.to_owned(), open..end))
    }
}

/// Returns where the brace is that ends a text.
fn length_in_braces(text: &str, language: Language) -> Option<usize> {
    let mut depth = 1usize;
    let mut quoted = false;
    let mut skip = 0;
    for (n, c) in text.char_indices() {
        if n < skip {
            continue;
        }
        let rest = &text[n..];
        let to_end_of = |mark: &str| rest.find(mark).map_or(text.len(), |at| n + at + mark.len());
        match (language, c) {
            (Language::Assembly, '"') => quoted = !quoted,
            (Language::Assembly, '\n') => quoted = false,
            (Language::Assembly, '-') if !quoted && rest.starts_with("--") => {
                skip = to_end_of("\n");
            }
            (Language::Glsl, '/') if rest.starts_with("//") => skip = to_end_of("\n"),
            (Language::Glsl, '/') if rest.starts_with("/*") => skip = to_end_of("*/"),
            (_, '{') if !quoted => depth += 1,
            (_, '}') if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return Some(n);
                }
            }
            _ => {}
        }
    }
    None
}
