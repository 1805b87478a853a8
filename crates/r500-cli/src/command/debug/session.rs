//! The state of a debugger session: the recorded pixel, breakpoints, displayed values.

use r500::exec::record::expr::Value;
use r500::exec::record::{Break, DrawSetup, End, Expr, Recording};
use r500::exec::{PixelRect, RunError};
use r500::expression;
use r500::trace::InstructionTexts;

use super::breakpoint::{Breakpoint, Owner};
use crate::command::source_map::SourceMap;

/// A debugger session.
pub(in crate::command) struct Session {
    pub(in crate::command) name: String,
    /// Lines, labels and names of the source.
    pub(in crate::command) map: SourceMap,
    pub(in crate::command) recording: Recording,
    /// The program's instructions.
    pub(in crate::command) texts: InstructionTexts,
    pub(in crate::command) breakpoints: Vec<Breakpoint>,
    pub(super) displays: Vec<(usize, String, Expr)>,
    pub(super) next_number: usize,
    pub(super) next_display: usize,
    pub(super) last: String,
}

impl Session {
    pub(in crate::command) fn new(
        name: String,
        map: SourceMap,
        scene: DrawSetup,
        pixel: [u32; 2],
    ) -> Result<Self, RunError> {
        let recording = Recording::new(scene, pixel)?;
        Ok(Self {
            name,
            map,
            texts: InstructionTexts::new(&recording.setup().shader),
            recording,
            breakpoints: Vec::new(),
            displays: Vec::new(),
            next_number: 1,
            next_display: 1,
            last: String::new(),
        })
    }

    /// Returns the inspected pixel.
    pub(in crate::command) fn pixel(&self) -> [u32; 2] {
        let moment = self.recording.now();
        [moment.pixel().x, moment.pixel().y]
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

    pub(in crate::command) fn value(&self, expr: &Expr) -> Value {
        expr.value(&self.recording.now())
    }

    /// Adds a breakpoint of a command. Returns the reply.
    pub(super) fn add(&mut self, stop: Break, text: String, once: bool) -> String {
        let mut point = Breakpoint::new(Owner::Command, stop, text.clone());
        point.once = once;
        let number = self.add_breakpoint(point);
        format!("breakpoint {number}: {text}\n")
    }

    /// Numbers and adds a breakpoint. Returns its number.
    pub(in crate::command) fn add_breakpoint(&mut self, point: Breakpoint) -> usize {
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

    pub(in crate::command) fn expression(&self, written: &str) -> Result<Expr, String> {
        expression::parse(written, &self.map.names).map_err(|error| explain(&error, written))
    }

    pub(in crate::command) fn condition(&self, written: &str) -> Result<Expr, String> {
        expression::parse_condition(written, &self.map.names)
            .map_err(|error| explain(&error, written))
    }

    /// Returns an address, if it is executable.
    pub(in crate::command) fn address(&self, address: u32) -> Result<u32, String> {
        let shader = &self.recording.setup().shader;
        if shader.op(address).is_some() {
            return Ok(address);
        }
        let (first, last) = shader.window().addresses();
        Err(format!("there is no instruction at {address}; the program has {first} to {last}"))
    }

    /// Selects another pixel, at the same step if it is in the same group.
    pub(super) fn look_at(&mut self, pixel: [u32; 2]) -> Result<(), String> {
        let [width, height] = self.recording.setup().bindings.size();
        if pixel[0] >= width || pixel[1] >= height {
            return Err(format!(
                "{},{} is outside the picture of {width}x{height}",
                pixel[0], pixel[1]
            ));
        }
        if !self.recording.watch(pixel) {
            let scene = self.recording.setup().clone();
            self.recording = Recording::new(scene, pixel).map_err(|error| error.to_string())?;
        }
        self.breakpoints.iter_mut().for_each(Breakpoint::forget_positions);
        Ok(())
    }

    pub(super) fn picture(&self) -> PixelRect {
        let [width, height] = self.recording.setup().bindings.size();
        PixelRect { x: 0, y: 0, width, height }
    }
}

fn explain(error: &expression::ExpressionError, written: &str) -> String {
    format!("{}\n{}", "this cannot be read:", error.render(written))
}
