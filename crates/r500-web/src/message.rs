//! The byte format of requests, a line of JSON followed by the attached files, and of answers,
//! JSON.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::document::{Document, File};

/// A source with the files that it may name.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Source {
    /// The text.
    pub text: String,
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// Files; their bytes are attached in this order.
    #[serde(default)]
    pub files: Vec<FileLength>,
}

/// An attached file.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FileLength {
    /// Its name.
    pub name: String,
    /// Its length.
    pub length: usize,
}

/// Splits a request into its parsed line and the attached bytes.
///
/// # Errors
/// The error message of the JSON parser.
pub(crate) fn parse<'a, T: DeserializeOwned>(
    request: &'a [u8],
) -> Result<(T, Attached<'a>), String> {
    let end = request.iter().position(|&byte| byte == b'\n').unwrap_or(request.len());
    let (line, rest) = request.split_at(end);
    let parsed = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    Ok((parsed, Attached(rest.get(1..).unwrap_or_default())))
}

/// Attached bytes of a request that are not read yet.
pub(crate) struct Attached<'a>(&'a [u8]);

impl<'a> Attached<'a> {
    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], String> {
        let (bytes, rest) = self.0.split_at_checked(length).ok_or("attached bytes are missing")?;
        self.0 = rest;
        Ok(bytes)
    }

    /// Reads the files of a source and assembles it.
    ///
    /// # Errors
    /// If bytes are missing.
    pub(crate) fn document(&mut self, source: Source) -> Result<Document, String> {
        Ok(Document::new(source.text, source.name, self.files(source.files)?))
    }

    /// Reads the files of a scene.
    ///
    /// # Errors
    /// If bytes are missing.
    #[cfg(feature = "optimizer")]
    pub(crate) fn scene(&mut self, source: Source) -> Result<crate::document::SceneSource, String> {
        let files = self.files(source.files)?;
        Ok(crate::document::SceneSource { text: source.text, name: source.name, files })
    }

    pub(crate) fn files(&mut self, lengths: Vec<FileLength>) -> Result<Vec<File>, String> {
        let file = |FileLength { name, length }| {
            let bytes = self.take(length)?.to_vec();
            Ok(File { name, bytes })
        };
        lengths.into_iter().map(file).collect()
    }
}

/// Returns an answer as JSON.
pub(crate) fn json(answer: &impl Serialize) -> Result<String, String> {
    serde_json::to_string(answer).map_err(|error| error.to_string())
}
