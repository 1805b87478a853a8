//! JSON pretty-printer: short values are printed on one line.

use std::borrow::Cow;
use std::io::{self, Write};

/// A JSON value whose parts are already formatted.
pub(super) enum JsonNode {
    /// A number, a string with its quotes, `true`, `null`.
    Leaf(Cow<'static, str>),
    /// A list.
    List(Vec<JsonNode>),
    /// An object, in the order of writing.
    Object(Vec<(Cow<'static, str>, JsonNode)>),
}

/// Longest line that holds more than a leaf or a list of leaves.
const LINE: usize = 100;

impl JsonNode {
    pub(super) fn null() -> Self {
        Self::Leaf(Cow::Borrowed("null"))
    }

    pub(super) fn text(text: &str) -> Self {
        Self::Leaf(serde_json::Value::from(text).to_string().into())
    }

    pub(super) fn dword(word: u32) -> Self {
        Self::Leaf(format!("\"{word:08x}\"").into())
    }

    pub(super) fn integer(n: impl Into<u64>) -> Self {
        Self::Leaf(n.into().to_string().into())
    }

    pub(super) fn list(items: impl IntoIterator<Item = Self>) -> Self {
        Self::List(items.into_iter().collect())
    }

    /// Returns the items, `null` for those that are `None`.
    pub(super) fn sparse(items: impl IntoIterator<Item = Option<Self>>) -> Self {
        Self::list(items.into_iter().map(|item| item.unwrap_or_else(Self::null)))
    }

    /// Returns all on one line.
    pub(super) fn write_line(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Leaf(text) => out.write_all(text.as_bytes()),
            Self::List(items) => {
                out.write_all(b"[")?;
                for (n, item) in items.iter().enumerate() {
                    out.write_all(if n == 0 { b"" } else { b", " })?;
                    item.write_line(out)?;
                }
                out.write_all(b"]")
            }
            Self::Object(entries) => {
                out.write_all(b"{")?;
                for (n, (key, value)) in entries.iter().enumerate() {
                    write!(out, "{}\"{key}\": ", if n == 0 { "" } else { ", " })?;
                    value.write_line(out)?;
                }
                out.write_all(b"}")
            }
        }
    }

    /// Over lines, the inner ones indented by `depth`.
    pub(super) fn write_lines(&self, out: &mut impl Write, depth: usize) -> io::Result<()> {
        if self.keeps_to_a_line(depth) {
            return self.write_line(out);
        }
        let gap = |out: &mut dyn Write, n, depth| {
            let comma = if n == 0 { "" } else { "," };
            write!(out, "{comma}\n{:depth$}", "")
        };
        match self {
            Self::Leaf(_) => self.write_line(out),
            Self::List(items) => {
                out.write_all(b"[")?;
                for (n, item) in items.iter().enumerate() {
                    gap(out, n, depth + 1)?;
                    item.write_lines(out, depth + 1)?;
                }
                gap(out, 0, depth)?;
                out.write_all(b"]")
            }
            Self::Object(entries) => {
                out.write_all(b"{")?;
                for (n, (key, value)) in entries.iter().enumerate() {
                    gap(out, n, depth + 1)?;
                    write!(out, "\"{key}\": ")?;
                    value.write_lines(out, depth + 1)?;
                }
                gap(out, 0, depth)?;
                out.write_all(b"}")
            }
        }
    }

    fn keeps_to_a_line(&self, depth: usize) -> bool {
        match self {
            Self::Leaf(_) => true,
            Self::List(items) if items.iter().all(|i| matches!(i, Self::Leaf(_))) => true,
            _ => depth > 0 && self.fits(LINE.saturating_sub(depth)).is_some(),
        }
    }

    /// Returns the columns of `room` that remain after it.
    fn fits(&self, room: usize) -> Option<usize> {
        match self {
            Self::Leaf(text) => room.checked_sub(text.len()),
            Self::List(items) => {
                let mut room = room.checked_sub(2)?;
                for item in items {
                    room = item.fits(room)?.checked_sub(2)?;
                }
                Some(room)
            }
            Self::Object(entries) => {
                let mut room = room.checked_sub(2)?;
                for (key, value) in entries {
                    room = value.fits(room.checked_sub(key.len())?)?.checked_sub(6)?;
                }
                Some(room)
            }
        }
    }
}
