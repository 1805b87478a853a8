//! Open documents and their included files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use r500::asm::ide::Analysis;
use r500::asm::ide::lines::{Encoding, LineColumn, Lines};
use r500::asm::{Assembly, IncludeLimits, Loaded, Options, assemble};
use r500::files::{NamedFiles, without_dots};
use serde_json::Value;

use super::super::input_args::PathArgs;
use super::shader::{ShaderDocument, is_shader};

/// An open document.
pub(super) struct Document {
    pub(super) version: Value,
    pub(super) text: Arc<[u8]>,
    /// The cached analysis of its current text.
    analysis: Option<Arc<Analysis>>,
    /// Whether it is GLSL, and what its current text was compiled to.
    is_shader: bool,
    shader: Option<Arc<ShaderDocument>>,
    /// Whether its diagnostics have to be published.
    pub(super) stale: bool,
}

/// The open documents, by URI.
#[derive(Default)]
pub(super) struct Documents {
    open: HashMap<String, Document>,
    paths: PathArgs,
    /// Workspace folders: sources in them may include each other.
    pub(super) folders: Vec<PathBuf>,
}

impl Documents {
    pub(super) fn new(paths: PathArgs) -> Self {
        Self { paths, ..Self::default() }
    }

    pub(super) fn open(&mut self, uri: &str, language: &str, version: Value, text: &str) {
        let text = Arc::from(text.as_bytes());
        let is_shader = is_shader(language, uri);
        let document =
            Document { version, text, analysis: None, is_shader, shader: None, stale: true };
        self.open.insert(uri.to_owned(), document);
        self.changed();
    }

    /// Closes a document. Returns whether it was open.
    pub(super) fn close(&mut self, uri: &str) -> bool {
        let was = self.open.remove(uri).is_some();
        self.changed();
        was
    }

    /// Returns the URIs of the open documents, in order.
    pub(super) fn uris(&self) -> Vec<String> {
        let mut all: Vec<String> = self.open.keys().cloned().collect();
        all.sort();
        all
    }

    pub(super) fn get(&self, uri: &str) -> Option<&Document> {
        self.open.get(uri)
    }

    /// Marks the diagnostics of all documents as to be published.
    pub(super) fn all_stale(&mut self) {
        self.open.values_mut().for_each(|document| document.stale = true);
    }

    /// Applies changes of a document in sequence; `None` if the document or a change is invalid.
    pub(super) fn change(
        &mut self,
        uri: &str,
        version: Value,
        changes: &[Value],
        encoding: Encoding,
    ) -> Option<()> {
        let document = self.open.get_mut(uri)?;
        let mut text = document.text.to_vec();
        for change in changes {
            let new = change.get("text")?.as_str()?;
            match change.get("range") {
                None | Some(Value::Null) => text = new.as_bytes().to_vec(),
                Some(range) => {
                    let lines = Lines::new(&text);
                    let at =
                        |end: &str| Some(lines.offset(&text, position(range.get(end)?)?, encoding));
                    let (start, end) = (at("start")?, at("end")?);
                    text.splice(start..end.max(start), new.bytes());
                }
            }
        }
        document.text = Arc::from(text);
        document.shader = None;
        document.version = version;
        document.stale = true;
        self.changed();
        Some(())
    }

    /// Returns a GLSL document, compiled; `None` for others.
    pub(super) fn shader(&mut self, uri: &str) -> Option<Arc<ShaderDocument>> {
        let document = self.open.get_mut(uri).filter(|document| document.is_shader)?;
        let text = document.text.clone();
        let new = || Arc::new(ShaderDocument::of(text, uri));
        Some(document.shader.get_or_insert_with(new).clone())
    }

    /// Returns the analysis of a document.
    pub(super) fn analysis(&mut self, uri: &str) -> Option<Arc<Analysis>> {
        let document = self.open.get(uri)?;
        if let Some(analysis) = &document.analysis {
            return Some(analysis.clone());
        }
        let text = document.text.clone();
        let analysis = Arc::new(Analysis::of(self.assemble(uri, &text)));
        if let Some(document) = self.open.get_mut(uri) {
            document.analysis = Some(analysis.clone());
        }
        Some(analysis)
    }

    /// Assembles a text as that of a document; included files come from open documents, else from disk.
    pub(super) fn assemble(&self, uri: &str, text: &[u8]) -> Assembly {
        let path = path_of(uri);
        let name = path.as_ref().map_or_else(|| uri.to_owned(), |path| path.display().to_string());
        let files = self.paths.files(Path::new(&name)).and_below(&self.folders);
        let mut loader = |path: &str, from: &str| self.load(path, from, &files);
        assemble(text, Options { name: &name, loader: Some(&mut loader), ..Options::default() })
    }

    fn load(&self, path: &str, from: &str, files: &NamedFiles) -> Result<Loaded, String> {
        let beside = Path::new(from).parent().unwrap_or(Path::new("")).join(path);
        let path = without_dots(&beside);
        let name = path.display().to_string();
        if let Some(document) = self.open.get(&uri_of(&name)) {
            return Ok(Loaded { name, bytes: document.text.to_vec() });
        }
        let bytes = files.read(&path, IncludeLimits::default().bytes);
        bytes.map(|bytes| Loaded { name: name.clone(), bytes }).map_err(|e| format!("{name}: {e}"))
    }

    /// Returns the documents with unpublished diagnostics, and marks them as published.
    pub(super) fn stale(&mut self) -> Vec<String> {
        let mut list: Vec<String> = Vec::new();
        for (uri, document) in &mut self.open {
            if std::mem::take(&mut document.stale) {
                list.push(uri.clone());
            }
        }
        list.sort();
        list
    }

    /// Invalidates the analyses of a changed document, and of all documents that include files.
    fn changed(&mut self) {
        for document in self.open.values_mut() {
            let includes = document.analysis.as_ref().is_some_and(|analysis| {
                let failed = r500::asm::DiagnosticCode::IncludeFailed;
                let assembly = analysis.assembly();
                !assembly.includes.is_empty()
                    || assembly.diagnostics.iter().any(|d| d.code == failed)
            });
            if includes || document.stale {
                document.analysis = None;
                document.stale = true;
            }
        }
    }
}

/// Returns a position of the protocol.
pub(super) fn position(value: &Value) -> Option<LineColumn> {
    let number = |name: &str| Some(u32::try_from(value.get(name)?.as_u64()?).unwrap_or(u32::MAX));
    Some(LineColumn { line: number("line")?, column: number("character")? })
}

/// Returns the URI of a file that a document names, relative to it.
pub(super) fn uri_relative_to(uri: &str, path: &str) -> Option<String> {
    let folder = path_of(uri)?;
    let there = folder.parent().unwrap_or(Path::new("")).join(path);
    Some(uri_of(&without_dots(&there).display().to_string()))
}

/// Returns the path of a `file:` URI.
pub(super) fn path_of(uri: &str) -> Option<PathBuf> {
    let path = uri.strip_prefix("file://")?;
    // `file://host/path`: other hosts are not supported.
    let path = &path[path.find('/')?..];
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match digits.filter(|_| *first == b'%').and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    // `/C:/…` is `C:/…`.
    let drive = text.as_bytes().get(2) == Some(&b':') && text.as_bytes()[1].is_ascii_alphabetic();
    Some(without_dots(Path::new(if drive { &text[1..] } else { &text })))
}

/// Returns the `file:` URI of a path; a text that is not a path is returned as it is.
pub(super) fn uri_of(path: &str) -> String {
    let path = path.replace('\\', "/");
    let drive = path.as_bytes().get(1) == Some(&b':');
    if !path.starts_with('/') && !drive {
        return path;
    }
    let mut uri = String::from(if drive { "file:///" } else { "file://" });
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~:".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_paths_and_back() {
        let path = |uri: &str| path_of(uri).map(|path| path.display().to_string());
        assert_eq!(path("file:///a/b%20c/%C3%A9.r5").as_deref(), Some("/a/b c/é.r5"));
        assert_eq!(uri_of("/a/b c/é.r5"), "file:///a/b%20c/%C3%A9.r5");
        assert_eq!(path("file:///c%3A/x.r5").as_deref(), Some("c:/x.r5"));
        assert_eq!(uri_of("c:/x.r5"), "file:///c:/x.r5");
        assert_eq!(path("file:///a/./b/../c%").as_deref(), Some("/a/c%"));
        assert_eq!(path("untitled:Untitled-1"), None);
    }
}
