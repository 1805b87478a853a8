//! The lines of a shader in a trace of the program that it was compiled to.

use std::io::{self, Write};

use serde_json::Value;

use crate::command::source_map::SourceMap;

/// The lines of a shader, of which each is printed before its instructions.
pub(super) struct ShaderLines<'a> {
    /// `None`: the program is not compiled from a shader whose lines are known.
    map: Option<&'a SourceMap>,
    last: Option<usize>,
}

impl<'a> ShaderLines<'a> {
    pub(super) fn new(map: Option<&'a SourceMap>) -> Self {
        Self { map, last: None }
    }

    fn line(&self, address: u32) -> Option<usize> {
        Some(self.map?.line_of(address)?.0)
    }

    /// Prints the line of an instruction, unless the instruction before is of the same one.
    pub(super) fn print(&mut self, out: &mut impl Write, address: u32) -> io::Result<()> {
        let line = self.line(address);
        let new = line.filter(|_| line != self.last);
        self.last = line;
        let Some((number, map)) = new.zip(self.map) else { return Ok(()) };
        let text = map.lines.get(number - 1).map_or("", |line| line.trim());
        writeln!(out, "{number}: {text}")
    }

    /// Adds the line to the JSON of an instruction.
    pub(super) fn add(&self, value: &mut Value, address: u32) {
        if self.map.is_some() {
            value["line"] = self.line(address).into();
        }
    }
}
