//! Programs in a scene: in braces, or in files.

use std::ops::Range;
use std::path::PathBuf;

use r500::files::{MAX_TEXT, parent};
use r500::program::Job;
use r500::pvs::Source;
use r500::reader::assembly;

use super::{MAX_ERRORS, Parsed, Parser, at};
use crate::SceneError;

impl Parser<'_> {
    /// Parses what follows `VERTEX PROGRAM`; `None` for a program with errors, which are reported.
    pub(super) fn vertex_program(&mut self) -> Parsed<Option<Source>> {
        let (text, path, span) = self.program()?;
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
    pub(super) fn fragment_program(&mut self) -> Parsed<Option<Job>> {
        let (text, path, span) = self.program()?;
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
        assembly::job(&assembly, self.files)
            .map(Some)
            .map_err(|error| at(span, error.to_string(), "a fragment program names its textures"))
    }

    /// Parses a program in braces or the name of its file. Returns the text and its file; a text in braces has spaces before it, so that its
    /// places are those of the scene.
    pub(super) fn program(&mut self) -> Parsed<(String, PathBuf, Range<usize>)> {
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
        let (begin, mut depth) = (self.at, 1usize);
        let mut chars = self.text[begin..].char_indices().peekable();
        let mut quoted = false;
        while let Some((n, c)) = chars.next() {
            match c {
                '"' => quoted = !quoted,
                '\n' => quoted = false,
                '-' if !quoted && chars.peek().is_some_and(|(_, next)| *next == '-') => {
                    while chars.next_if(|(_, c)| *c != '\n').is_some() {}
                }
                '{' if !quoted => depth += 1,
                '}' if !quoted => {
                    depth -= 1;
                    if depth == 0 {
                        self.at = begin + n + 1;
                        let before: String = self.text[..begin]
                            .bytes()
                            .map(|byte| if byte == b'\n' { '\n' } else { ' ' })
                            .collect();
                        let text = before + &self.text[begin..begin + n];
                        return Ok((text, self.path.to_owned(), open..begin + n));
                    }
                }
                _ => {}
            }
        }
        self.at = self.text.len();
        Err(at(open..open + 1, "the program has no end".to_owned(), "end it with `}`"))
    }
}
