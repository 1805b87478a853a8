//! Raw buffers; registers, and the memory that their addresses are in.

use std::ops::Range;

use r500_stream::BufferUse;

use super::{DRAW_HELP, MAX_PARTS, Parsed, Parser, at};
use crate::{MAX_BYTES, Memory, RawBuffer, RegisterWrite};

pub(super) const BUFFER_HELP: &str = "write `BUFFER pixels \"pixels.bin\" ;` or `BUFFER pixels 65536 = 0xff000000 ;` before, and `RB3D_COLOROFFSET0 = 0 IN pixels ;`";

impl Parser<'_> {
    /// Parses what follows `BUFFER`.
    pub(super) fn buffer(&mut self) -> Parsed<()> {
        let (name, span) = self.name(BUFFER_HELP)?;
        self.free(&name, &span, BUFFER_HELP)?;
        let used: usize = self.buffers.iter().map(|buffer| buffer.bytes.len()).sum();
        let left = MAX_BYTES - used;
        let bytes = if let Some((file, span)) = self.string()? {
            self.read(&file, &span, left as u64)?
        } else {
            let size = self.whole(left as u32 + 1, BUFFER_HELP)? as usize;
            let fill = match self.optional('=') {
                true => self.bits(BUFFER_HELP)?,
                false => 0,
            };
            let mut bytes = fill.to_le_bytes().repeat(size.div_ceil(4));
            bytes.truncate(size);
            bytes
        };
        self.end(BUFFER_HELP)?;
        if self.buffers.len() >= MAX_PARTS {
            return Err(at(span, format!("a scene has at most {MAX_PARTS} buffers"), BUFFER_HELP));
        }
        self.buffers.push(RawBuffer { name, bytes });
        Ok(())
    }

    /// Refuses a name that a target or a buffer has.
    pub(super) fn free(&self, name: &str, span: &Range<usize>, help: &'static str) -> Parsed<()> {
        let target = self.targets.iter().any(|target| target.name == name);
        let buffer = self.buffers.iter().any(|buffer| buffer.name == name);
        let what = match (target, buffer) {
            (true, _) => "target",
            (_, true) => "buffer",
            _ => return Ok(()),
        };
        Err(at(span.clone(), format!("there is a {what} `{name}` already"), help))
    }

    /// Returns the memory with a name: a raw buffer, or the colours of a target.
    fn memory(&self, name: &str, span: Range<usize>) -> Parsed<Memory> {
        if let Some(n) = self.buffers.iter().position(|buffer| buffer.name == name) {
            return Ok(Memory::Raw(n));
        }
        match self.target_named(name) {
            Some(n) => Ok(Memory::Target(n)),
            None => Err(at(span, format!("there is no buffer or target `{name}`"), BUFFER_HELP)),
        }
    }

    /// Parses a register with its value, as the text of command streams has it.
    pub(super) fn register(&mut self) -> Parsed<Vec<RegisterWrite>> {
        let begin = self.at;
        let rest = &self.text[begin..];
        let word: usize =
            rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let name = &rest[..word];
        if name.is_empty() || !rest[word..].trim_start().starts_with('=') {
            let end = begin + word.max(rest.chars().next().map_or(0, char::len_utf8));
            return Err(at(begin..end, "expected a statement of a draw".to_owned(), DRAW_HELP));
        }
        let end = end_of_register(rest);
        let Some(end) = end else {
            return Err(at(begin..begin + word, format!("{name} has no end"), "end it with `;`"));
        };
        let line = rest[..end].replace('\n', " ");
        self.at = begin + end + 1;
        let (line, memory) = match line.rsplit_once(" IN ") {
            Some((line, name)) => {
                let place = begin + end - name.len();
                let name = name.trim();
                (line.to_owned(), Some(self.memory(name, place..begin + end)?))
            }
            None => (line, None),
        };
        let words = r500_stream::text::parse(&line).map_err(|errors| {
            let message = errors.first().map_or_else(String::new, |error| error.kind.to_string());
            at(self.since(begin), message, "`r500 explain REGISTER` lists its fields")
        })?;
        let mut writes = Vec::new();
        for packet in r500_stream::packets(&words) {
            let packet = packet.map_err(|_| {
                at(begin..begin + end, "this is not a register".to_owned(), DRAW_HELP)
            })?;
            for (address, value) in packet.writes() {
                let name = r500::chip::at(address).map(|register| register.to_string());
                let name = name.unwrap_or_else(|| format!("{address:#x}"));
                match (r500_stream::takes_buffer(address), memory) {
                    (BufferUse::Needed, None) => {
                        let message = format!("{name} is an address: in which buffer?");
                        return Err(at(begin..begin + end, message, BUFFER_HELP));
                    }
                    (BufferUse::None, Some(_)) => {
                        let message = format!("{name} is not an address in a buffer");
                        return Err(at(begin..begin + end, message, BUFFER_HELP));
                    }
                    _ => writes.push(RegisterWrite { address, value, memory }),
                }
            }
        }
        Ok(writes)
    }
}

/// Returns where the `;` of a register is: in its line, or after fields in braces.
fn end_of_register(text: &str) -> Option<usize> {
    let mut braces = false;
    for (n, c) in text.char_indices() {
        match c {
            '{' => braces = true,
            '}' if braces => braces = false,
            ';' if !braces => return Some(n),
            '\n' if braces => {}
            '\n' | '}' | ';' => return None,
            _ => {}
        }
    }
    None
}
