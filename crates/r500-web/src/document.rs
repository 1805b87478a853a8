//! A source document, assembled with the files that it names.

use std::io;
use std::path::Path;

use r500::asm::ide::Analysis;
use r500::asm::{self, Assembly, Loaded, Options, Span};
use r500::program::Job;
use r500::reader::assembly;
use r500::texture::TextureMemory;

/// A file that a source may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// The text of a scene, with the files that it may name.
#[cfg(feature = "optimizer")]
pub struct SceneSource {
    pub(crate) text: String,
    pub(crate) name: String,
    pub(crate) files: Vec<File>,
}

/// A source, assembled.
pub struct Document {
    /// The text.
    pub text: String,
    /// Its name.
    pub name: String,
    /// The files that it may name.
    pub files: Vec<File>,
    /// Its analysis for the editor services.
    pub analysis: Analysis,
    units: Units,
}

impl Document {
    /// Assembles a source.
    #[must_use]
    pub fn new(text: String, name: String, files: Vec<File>) -> Self {
        let analysis = Analysis::of(assembled(&text, &name, &files));
        let units = Units::of(&text);
        Self { text, name, files, analysis, units }
    }

    /// Returns the assembled program with its diagnostics.
    #[must_use]
    pub fn assembly(&self) -> &Assembly {
        self.analysis.assembly()
    }

    /// Returns the assembly of another text with the same files.
    #[must_use]
    pub fn with_text(&self, text: &str) -> Assembly {
        assembled(text, &self.name, &self.files)
    }

    /// Returns the job, with its textures.
    ///
    /// # Errors
    /// The error message.
    pub fn job(&self) -> Result<Job, String> {
        let read = |path: &Path| {
            let name = path.to_string_lossy();
            let file = self.files.iter().find(|file| file.name == name);
            file.map(|file| file.bytes.clone()).ok_or_else(|| {
                io::Error::new(io::ErrorKind::NotFound, "no such file was dropped onto the page")
            })
        };
        assembly::job_with(self.assembly(), Some(&read), TextureMemory::default())
            .map_err(|error| error.to_string())
    }

    /// Returns the range of a span in the source itself; `None` for included files.
    #[must_use]
    pub fn range(&self, span: Span) -> Option<Range> {
        (span.file == 0).then(|| Range {
            from: self.units.at(span.start as usize),
            to: self.units.at(span.end as usize),
        })
    }

    /// Returns changes as edits; `None` if one of them is in an included file.
    #[must_use]
    pub fn edits(&self, edits: &[asm::ide::TextEdit]) -> Option<Vec<TextEdit>> {
        let edit = |edit: &asm::ide::TextEdit| {
            Some(TextEdit { range: self.range(edit.span)?, text: edit.text.clone() })
        };
        edits.iter().map(edit).collect()
    }

    /// Returns the edit that turns the source into another text: the part between the common prefix and the common suffix. Returns none if
    /// the texts are equal.
    #[must_use]
    pub fn replaced(&self, text: &[u8]) -> Vec<TextEdit> {
        let edit = self.analysis.edit_to(text);
        edit.and_then(|edit| self.edits(&[edit])).unwrap_or_default()
    }

    /// Returns the byte offset of a UTF-16 unit.
    #[must_use]
    pub fn byte(&self, unit: usize) -> usize {
        self.units.byte(unit)
    }

    /// Returns the source after edits, which are in order and do not overlap.
    #[cfg(test)]
    pub(crate) fn applied(&self, edits: &[TextEdit]) -> String {
        let mut text = self.text.clone();
        for edit in edits.iter().rev() {
            let (from, to) = (self.byte(edit.range.from), self.byte(edit.range.to));
            text.replace_range(from..to, &edit.text);
        }
        text
    }
}

/// A part of the source, in UTF-16 units, as pages count text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Range {
    /// The first unit.
    pub from: usize,
    /// The unit after the last.
    pub to: usize,
}

/// A replacement of a part of the source, in UTF-16 units.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TextEdit {
    /// The part that is replaced.
    #[serde(flatten)]
    pub range: Range,
    /// The new text.
    pub text: String,
}

fn assembled(text: &str, name: &str, files: &[File]) -> Assembly {
    let mut loader = |path: &str, _: &str| {
        let file = files.iter().find(|file| file.name == path);
        let file = file.ok_or("no such file was dropped onto the page")?;
        Ok(Loaded { name: file.name.clone(), bytes: file.bytes.clone() })
    };
    let options = Options { name, loader: Some(&mut loader), ..Options::default() };
    asm::assemble(text.as_bytes(), options)
}

/// Mapping between byte offsets and UTF-16 units of a text: the positions where their difference changes.
pub(crate) struct Units {
    /// Byte offset after a non-ASCII character, and the unit there; ascending.
    steps: Vec<(usize, usize)>,
}

impl Units {
    pub(crate) fn of(text: &str) -> Self {
        let mut steps = vec![(0, 0)];
        let mut unit = 0;
        for (byte, character) in text.char_indices() {
            unit += character.len_utf16();
            if !character.is_ascii() {
                steps.push((byte + character.len_utf8(), unit));
            }
        }
        Self { steps }
    }

    pub(crate) fn at(&self, byte: usize) -> usize {
        let step = self.steps.partition_point(|step| step.0 <= byte);
        let (from, unit) = step.checked_sub(1).map_or((0, 0), |step| self.steps[step]);
        let next = self.steps.get(step).map_or(usize::MAX, |next| next.1);
        (unit + byte - from).min(next)
    }

    fn byte(&self, unit: usize) -> usize {
        let step = self.steps.partition_point(|step| step.1 <= unit);
        let (byte, from) = step.checked_sub(1).map_or((0, 0), |step| self.steps[step]);
        let next = self.steps.get(step).map_or(usize::MAX, |next| next.0);
        (byte + unit - from).min(next)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn units_are_those_of_utf_16() {
        let text = "a\u{e9}b\u{1f600}c";
        let units = Units::of(text);
        for (byte, character) in text.char_indices() {
            let wanted = text[..byte].encode_utf16().count();
            assert_eq!(units.at(byte), wanted, "{character}");
            assert_eq!(units.byte(wanted), byte, "{character}");
        }
        assert_eq!(units.at(text.len()), text.encode_utf16().count());
    }

    #[test]
    fn files_are_those_that_came_along() {
        let text = "#include \"a\"\nTEXTURE tex[0] = file \"b.png\" ;";
        let files = vec![File { name: "a".into(), bytes: b": ;".to_vec() }];
        let document = Document::new(text.into(), "x.r5".into(), files);
        assert!(document.assembly().is_ok());
        assert_eq!(document.assembly().job.program.code.len(), 1);
        assert!(document.job().unwrap_err().contains("dropped"));
    }
}
