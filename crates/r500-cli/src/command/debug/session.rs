//! The state of a debugger session: the recorded run, breakpoints, displayed values.

use std::cell::OnceCell;
use std::sync::Arc;

use r500::breakpoint::{Breakpoint, Owner};
use r500::breakpoints::{self, Breakpoints, Ran};
use r500::compile::Base;
use r500::compile::variables::{Inspector, Moments, Stop, Variable};
use r500::exec::record::expr::{Series, Value};
use r500::exec::record::{Break, Direction, End, Expr, Recording};
use r500::expression::{self, Names};
use r500::trace::InstructionTexts;

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
    pub(in crate::command) breakpoints: Breakpoints<M::Variable>,
    pub(super) displays: Vec<(usize, String, Expr<M::Variable>)>,
    pub(super) next_display: usize,
    pub(super) last: String,
    /// The variables of the shader in the recorded run, once they are asked for.
    history: OnceCell<Option<History>>,
}

/// The variables of a shader at each step of a run.
struct History {
    stops: Vec<Stop>,
    moments: Moments,
}

/// Most steps of a run whose variables are known at each.
const MOST_STEPS: usize = 50_000;

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
            breakpoints: Breakpoints::default(),
            displays: Vec::new(),
            next_display: 1,
            last: String::new(),
            history: OnceCell::new(),
        }
    }

    /// Returns the address of the next instruction; at the end of the run, of the last one.
    pub(in crate::command) fn here(&self) -> u32 {
        let now = self.recording.now();
        match self.recording.last_step() {
            Some(step) if now.ended() => M::address_of(step),
            _ => now.address(),
        }
    }

    /// Sets or removes the breakpoint at an address.
    pub(super) fn toggle(&mut self, address: u32) -> String {
        let there = self.breakpoints.iter().find(|point| point.stop == Break::At(address));
        match there.map(Breakpoint::number) {
            Some(number) => {
                self.breakpoints.retain(|point| point.number() != number);
                format!("breakpoint {number} is gone\n")
            }
            None => self.add(Break::At(address), format!("break {address}"), false),
        }
    }

    /// Runs to the nearest breakpoint, else to the end or start of the run.
    pub(in crate::command) fn run(&mut self, direction: Direction) -> Ran {
        self.breakpoints.run(&mut self.recording, direction)
    }

    /// Returns the messages of breakpoints from a position to the current one.
    pub(in crate::command) fn log_since(&mut self, from: usize) -> Vec<String> {
        self.breakpoints.log_since(&mut self.recording, from)
    }

    /// Returns the value of an expression here.
    ///
    /// # Errors
    /// Which variable of the shader has none.
    pub(in crate::command) fn value(&self, expr: &Expr<M::Variable>) -> Result<Value, String> {
        breakpoints::value(expr, &self.recording)
    }

    /// Adds a breakpoint of a command. Returns the reply.
    pub(super) fn add(&mut self, stop: Break<M::Variable>, text: String, once: bool) -> String {
        let mut point = Breakpoint::new(Owner::Command, stop, text.clone());
        point.once = once;
        let number = self.breakpoints.add(point);
        format!("breakpoint {number}: {text}\n")
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
        self.with_names(|names| {
            expression::parse_with(written, names).map_err(|error| explain(&error, written))
        })
    }

    pub(in crate::command) fn condition(&self, written: &str) -> Result<Expr<M::Variable>, String> {
        self.with_names(|names| {
            let parsed = expression::parse_condition_with(written, names);
            parsed.map_err(|error| explain(&error, written))
        })
    }

    /// Parses a condition of other pixels, too: without variables of a shader, which are known of the inspected one.
    pub(super) fn condition_of_machine(&self, written: &str) -> Result<Expr<M::Variable>, String> {
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

    /// Parses with the names of constants and of the shader's variables.
    pub(in crate::command) fn with_names<T>(&self, parse: impl FnOnce(Names<'_>) -> T) -> T {
        let variables = |name: &str| self.series(name);
        parse(Names { constants: &self.map.names, variables: &variables })
    }

    /// Forgets what holds for the run of one pixel or vertex only: the positions of breakpoints, the values of variables.
    pub(super) fn forget_run(&mut self) {
        self.history = OnceCell::new();
        let mut points = std::mem::take(&mut self.breakpoints);
        let mut displays = std::mem::take(&mut self.displays);
        let series = |name: &str| self.series(name);
        points.forget_run(&mut |expr| expr.replace_series(&series));
        displays.iter_mut().for_each(|(.., expr)| expr.replace_series(&series));
        (self.breakpoints, self.displays) = (points, displays);
    }

    fn inspector(&self) -> Option<&Inspector> {
        self.map.shader.as_ref()?.inspector()
    }

    /// Returns the places of all steps in the shader, and of the end.
    fn stops(&self, inspector: &Inspector) -> Vec<Stop> {
        let (first, _) = self.recording.machine().addresses();
        let index = |address: u32| address.saturating_sub(first) as usize;
        inspector.stops(self.recording.addresses().map(index))
    }

    fn history(&self) -> Option<&History> {
        let make = || {
            let inspector = self.inspector()?;
            if self.recording.len() > MOST_STEPS {
                return None;
            }
            let stops = self.stops(inspector);
            Some(History { moments: M::moments(&self.recording, inspector, &stops), stops })
        };
        self.history.get_or_init(make).as_ref()
    }

    /// Returns the values of a variable of the shader at each step; `None` if there is none of this name.
    fn series(&self, name: &str) -> Option<Arc<Series>> {
        // A constant of the program has its value everywhere.
        if self.map.names.iter().any(|constant| constant.name == name) {
            return None;
        }
        let History { stops, moments } = self.history()?;
        let of_shader = self.inspector()?.series(moments, stops, name)?;
        let (width, values) = (of_shader.width, of_shader.values);
        let is_bool = of_shader.base == Base::Bool;
        Some(Arc::new(Series { name: name.to_owned(), is_bool, width, values }))
    }

    /// Returns the variables of the shader before the next step.
    ///
    /// # Errors
    /// Why they are not known.
    pub(in crate::command) fn variables(&self) -> Result<Vec<Variable>, String> {
        let inspector = self.inspector().ok_or(
            "there are no variables: the program was not compiled from GLSL by our own compiler",
        )?;
        let now = self.recording.now();
        let stops = self.stops(inspector);
        let stop = stops.get(now.position()).ok_or("the program has ended")?;
        let moments = M::moments(&self.recording, inspector, std::slice::from_ref(stop));
        let variables = inspector.variables(&moments, stop, &|place| M::register(&now, place));
        variables.ok_or_else(|| NOT_EXECUTED.to_owned())
    }
}

/// Why a stop has no variables.
const NOT_EXECUTED: &str = "the variables are not known here: the shader does not execute this statement, or its values are undefined";

fn explain(error: &expression::ExpressionError, written: &str) -> String {
    format!("{}\n{}", "this cannot be read:", error.render(written))
}
