//! The state of a debugger session: the recorded run, breakpoints, displayed values.

use r500::exec::record::expr::Value;
use r500::exec::record::{Break, End, Expr, Recording};
use r500::expression;
use r500::trace::InstructionTexts;

use super::breakpoint::{Breakpoint, Owner};
use super::debugged::Debugged;
use crate::command::source_map::SourceMap;

/// A debugger session.
pub(in crate::command) struct Session<M: Debugged> {
    pub(in crate::command) name: String,
    /// Lines, labels and names of the source.
    pub(in crate::command) map: SourceMap,
    pub(in crate::command) recording: Recording<M>,
    pub(super) others: M::Others,
    /// The program's instructions.
    pub(in crate::command) texts: InstructionTexts,
    pub(in crate::command) breakpoints: Vec<Breakpoint<M::Variable>>,
    pub(super) displays: Vec<(usize, String, Expr<M::Variable>)>,
    pub(super) next_number: usize,
    pub(super) next_display: usize,
    pub(super) last: String,
}

impl<M: Debugged> Session<M> {
    /// Begins a session at the start of a run, with the texts of the program's instructions.
    pub(super) fn of(
        name: String,
        map: SourceMap,
        texts: InstructionTexts,
        recording: Recording<M>,
        others: M::Others,
    ) -> Self {
        Self {
            name,
            map,
            texts,
            recording,
            others,
            breakpoints: Vec::new(),
            displays: Vec::new(),
            next_number: 1,
            next_display: 1,
            last: String::new(),
        }
    }

    /// Sets or removes the breakpoint at an address.
    pub(super) fn toggle(&mut self, address: u32) -> String {
        let there = self.breakpoints.iter().position(|point| point.stop == Break::At(address));
        match there {
            Some(i) => {
                let point = self.breakpoints.remove(i);
                format!("breakpoint {} is gone\n", point.number)
            }
            None => self.add(Break::At(address), format!("break {address}"), false),
        }
    }

    /// Returns whether an address has a breakpoint.
    pub(super) fn breaks_at(&self, address: u32) -> bool {
        self.breakpoints.iter().any(|point| {
            matches!(point.stop, Break::At(at) | Break::AtIf(at, _) if at == address)
                && point.enabled
        })
    }

    pub(in crate::command) fn value(&self, expr: &Expr<M::Variable>) -> Value {
        expr.value(&self.recording.now())
    }

    /// Adds a breakpoint of a command. Returns the reply.
    pub(super) fn add(&mut self, stop: Break<M::Variable>, text: String, once: bool) -> String {
        let mut point = Breakpoint::new(Owner::Command, stop, text.clone());
        point.once = once;
        let number = self.add_breakpoint(point);
        format!("breakpoint {number}: {text}\n")
    }

    /// Numbers and adds a breakpoint. Returns its number.
    pub(in crate::command) fn add_breakpoint(&mut self, point: Breakpoint<M::Variable>) -> usize {
        let number = self.next_number;
        self.next_number += 1;
        self.breakpoints.push(Breakpoint { number, ..point });
        number
    }

    /// Returns why the recording ends where it does.
    pub(in crate::command) fn end(&self) -> String {
        match self.recording.end() {
            End::Ended => "the end of the program".to_owned(),
            End::Stopped(error) => format!("the end of the recording: {error}"),
        }
    }

    pub(in crate::command) fn expression(
        &self,
        written: &str,
    ) -> Result<Expr<M::Variable>, String> {
        expression::parse(written, &self.map.names).map_err(|error| explain(&error, written))
    }

    pub(in crate::command) fn condition(&self, written: &str) -> Result<Expr<M::Variable>, String> {
        expression::parse_condition(written, &self.map.names)
            .map_err(|error| explain(&error, written))
    }

    /// Returns an address, if it is executable.
    pub(in crate::command) fn address(&self, address: u32) -> Result<u32, String> {
        let machine = self.recording.machine();
        if machine.is_executable(address) {
            return Ok(address);
        }
        let (first, last) = machine.addresses();
        Err(format!("there is no instruction at {address}; the program has {first} to {last}"))
    }

    /// Forgets which positions breakpoints have, which are those of one pixel or vertex.
    pub(super) fn forget_positions(&mut self) {
        self.breakpoints.iter_mut().for_each(Breakpoint::forget_positions);
    }
}

fn explain(error: &expression::ExpressionError, written: &str) -> String {
    format!("{}\n{}", "this cannot be read:", error.render(written))
}
