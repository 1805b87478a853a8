//! What can be asked. A request is a line of JSON; attached bytes follow it, one after the other.

use r500::program::Job;
use serde::{Deserialize, Serialize};

use crate::document::{Document, File};
use crate::picture::{Drawing, Picture};
use crate::{analysis, edit, encoding, open};

/// A request. `do` names it.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "camelCase")]
pub enum Request {
    /// The programs in a file of any format, as sources. Attached: the file.
    Open {
        /// The file's name.
        name: String,
        /// Bytes attached.
        length: usize,
    },
    /// Takes a source; answers with its [`analysis::Analysis`]. Attached: the files it may name.
    Analyse(Source),
    /// Takes a source to draw; answers with what is drawn. Attached: the files it may name.
    Load(Source),
    /// Draws rows of what was loaded.
    Draw(Drawing),
    /// Where the raw values of the rows drawn last are.
    Values {
        /// Target 0 to 3, or 4 for depth.
        target: usize,
    },
    /// The instruction with that number in the source taken last, bit by bit.
    Encoding {
        /// Its number, from 0.
        index: usize,
    },
    /// What changing a field of an instruction makes of the source.
    EditField {
        /// Number of the instruction.
        index: usize,
        /// Number of the dword.
        word: usize,
        /// Name of the field.
        field: String,
        /// Its new code.
        code: u32,
    },
    /// What changing a constant makes of the source.
    EditConstant {
        /// Its number.
        constant: u8,
        /// Its new value, as bits.
        value: [u32; 4],
    },
    /// The flow graph as SVG.
    Flow,
    /// The program in another format: `raw`, `c-array`, `json` …
    Write {
        /// The format's name.
        format: String,
    },
    /// The page of a diagnostic's code.
    Page {
        /// The code.
        code: String,
    },
}

/// A source with the files that it may name.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Source {
    /// The text.
    pub text: String,
    /// What it is called.
    #[serde(default)]
    pub name: String,
    /// Files; their bytes are attached in this order.
    #[serde(default)]
    pub files: Vec<FileLength>,
}

/// An attached file.
#[derive(Clone, Debug, Deserialize)]
pub struct FileLength {
    /// Its name.
    pub name: String,
    /// Its length.
    pub length: usize,
}

/// What is kept from one request to the next.
#[derive(Default)]
pub struct Session {
    document: Option<Document>,
    picture: Option<Picture>,
    /// Bytes that the last answer pointed to.
    kept: Vec<Vec<u8>>,
}

/// Bytes in this module's memory, until the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bytes {
    /// Address.
    pub at: usize,
    /// Length.
    pub length: usize,
}

impl Session {
    /// Answers a request: JSON.
    ///
    /// # Errors
    /// What is wrong, for people.
    pub fn answer(&mut self, request: &[u8]) -> Result<String, String> {
        let end = request.iter().position(|&byte| byte == b'\n').unwrap_or(request.len());
        let (line, rest) = request.split_at(end);
        let request = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let mut attached = Attached(rest.get(1..).unwrap_or_default());
        self.kept.clear();
        match request {
            Request::Open { name, length } => json(&open::open(attached.take(length)?, &name)?),
            Request::Analyse(source) => {
                let document =
                    Document::new(source.text, source.name, attached.files(source.files)?);
                let analysis = analysis::analyse(&document);
                self.document = Some(document);
                json(&analysis)
            }
            Request::Load(source) => {
                let document =
                    Document::new(source.text, source.name, attached.files(source.files)?);
                // What was there goes first: it may be large.
                self.picture = None;
                let picture = Picture::new(document.job()?)?;
                let loaded = picture.loaded();
                self.picture = Some(picture);
                json(&loaded)
            }
            Request::Draw(drawing) => {
                let picture = self.picture.as_mut().ok_or("nothing is loaded")?;
                json(&picture.draw(&drawing)?)
            }
            Request::Values { target } => {
                let picture = self.picture.as_ref().ok_or("nothing is loaded")?;
                json(&picture.values(target))
            }
            Request::Encoding { index } => json(&encoding::encoding(self.document()?, index)?),
            Request::EditField { index, word, field, code } => {
                json(&encoding::edit_field(self.document()?, index, word, &field, code)?)
            }
            Request::EditConstant { constant, value } => {
                json(&edit::constant(self.document()?, constant, value)?)
            }
            Request::Flow => json(&r500::flow::svg(&self.job()?, 64).map_err(|e| e.to_string())?),
            Request::Write { format } => {
                let written = open::write(&self.job()?, &format)?;
                let bytes = self.keep(written);
                json(&bytes)
            }
            Request::Page { code } => json(&analysis::page(&code)),
        }
    }

    fn document(&self) -> Result<&Document, String> {
        self.document.as_ref().ok_or_else(|| "there is no source".to_owned())
    }

    fn job(&self) -> Result<Job, String> {
        self.document()?.job()
    }

    fn keep(&mut self, bytes: Vec<u8>) -> Bytes {
        let place = Bytes { at: bytes.as_ptr() as usize, length: bytes.len() };
        self.kept.push(bytes);
        place
    }
}

/// Bytes behind a request that were not taken yet.
struct Attached<'a>(&'a [u8]);

impl<'a> Attached<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], String> {
        let (bytes, rest) = self.0.split_at_checked(length).ok_or("attached bytes are missing")?;
        self.0 = rest;
        Ok(bytes)
    }

    fn files(&mut self, lengths: Vec<FileLength>) -> Result<Vec<File>, String> {
        let file = |FileLength { name, length }| {
            let bytes = self.take(length)?.to_vec();
            Ok(File { name, bytes })
        };
        lengths.into_iter().map(file).collect()
    }
}

fn json(answer: &impl Serialize) -> Result<String, String> {
    serde_json::to_string(answer).map_err(|error| error.to_string())
}
