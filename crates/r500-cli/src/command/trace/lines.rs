//! The lines of a shader in a trace of the program that it was compiled to, with its variables.

use std::io::{self, Write};

use r500::compile::variables::{Inspector, Moments, Place, Stop, Variable};
use serde_json::Value;

use crate::command::exit::{Failure, Outcome};
use crate::command::shader_variables;
use crate::command::source_map::SourceMap;

/// The lines of a shader, of which each is printed before its instructions.
pub(super) struct ShaderLines<'a> {
    /// `None`: the program is not compiled from a shader whose lines are known.
    map: Option<&'a SourceMap>,
    last: Option<usize>,
    variables: Option<Variables<'a>>,
}

/// The variables of the shader in the traced run.
struct Variables<'a> {
    inspector: &'a Inspector,
    stops: Vec<Stop>,
    moments: Moments,
    /// The number of the step that was executed last, from 1.
    step: usize,
    /// The variables as they are now, with the letters of channels.
    now: Option<(Vec<Variable>, [char; 4])>,
    /// Their lines as they were printed.
    printed: Vec<String>,
}

impl<'a> ShaderLines<'a> {
    pub(super) fn new(map: Option<&'a SourceMap>) -> Self {
        Self { map, last: None, variables: None }
    }

    /// Also prints variables, in a run with these addresses; `first` is that of the first instruction.
    ///
    /// # Errors
    /// If the program has no variables.
    pub(super) fn with_variables(
        &mut self,
        run: impl Iterator<Item = u32>,
        first: u32,
        moments: &dyn Fn(&Inspector, &[Stop]) -> Moments,
    ) -> Outcome<()> {
        let shader = self.map.and_then(|map| map.shader.as_ref());
        let inspector = shader.and_then(|shader| shader.inspector()).ok_or_else(|| {
            Failure::usage("--variables is for GLSL that our own compiler takes (--with r500)")
        })?;
        let stops = inspector.stops(run.map(|address| address.saturating_sub(first) as usize));
        let moments = moments(inspector, &stops);
        let printed = Vec::new();
        self.variables = Some(Variables { inspector, stops, moments, step: 0, now: None, printed });
        Ok(())
    }

    fn line(&self, address: u32) -> Option<usize> {
        Some(self.map?.line_of(address)?.0)
    }

    /// Notes a step. `register` returns what a register held before it.
    pub(super) fn step(
        &mut self,
        address: u32,
        letters: [char; 4],
        register: &dyn Fn(Place) -> f32,
    ) {
        let is_new = self.line(address) != self.last;
        let Some(variables) = &mut self.variables else { return };
        let stop = variables.stops.get(variables.step);
        variables.step += 1;
        variables.now = stop.filter(|_| is_new).and_then(|stop| {
            let all = variables.inspector.variables(&variables.moments, stop, register)?;
            Some((all, letters))
        });
    }

    /// Prints the line of an instruction, unless the instruction before is of the same one; then the variables that are others than before.
    pub(super) fn print(&mut self, out: &mut impl Write, address: u32) -> io::Result<()> {
        let line = self.line(address);
        let new = line.filter(|_| line != self.last);
        self.last = line;
        let Some((number, map)) = new.zip(self.map) else { return Ok(()) };
        let text = map.lines.get(number - 1).map_or("", |line| line.trim());
        writeln!(out, "{number}: {text}")?;
        let Some(variables) = &mut self.variables else { return Ok(()) };
        let Some((now, letters)) = variables.now.take() else { return Ok(()) };
        let lines = now.iter().flat_map(|one| shader_variables::lines(one, letters));
        let now: Vec<String> = lines.collect();
        for line in now.iter().filter(|line| !variables.printed.contains(line)) {
            writeln!(out, "      {line}")?;
        }
        variables.printed = now;
        Ok(())
    }

    /// Adds the line to the JSON of an instruction, and the variables if it is another one than before.
    pub(super) fn add(&mut self, value: &mut Value, address: u32) {
        if self.map.is_none() {
            return;
        }
        let line = self.line(address);
        value["line"] = line.into();
        self.last = line;
        let now = self.variables.as_mut().and_then(|variables| variables.now.take());
        if let Some((now, letters)) = now {
            value["variables"] = shader_variables::json(&now, letters);
        }
    }
}
