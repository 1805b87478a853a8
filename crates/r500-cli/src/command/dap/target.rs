//! The debuggee: a program, the recorded run of a pixel, breakpoints.

use std::path::Path;
use std::sync::Arc;

use r500::builtin_uniforms;
use r500::check::ExternalReads;
use r500::exec::record::expr::Value as Number;
use r500::exec::record::{Break, Direction, DrawSetup, End, Recording, Stop};
use r500::exec::{Limits, Options, Shader};
use r500::expression;
use serde_json::Value;

use crate::command::float_format::{self, vector};
use crate::command::input_args::{self, ReadArgs};
use crate::command::source_map::SourceMap;

/// Default limit of recorded instructions.
const INSTRUCTIONS: u64 = 1_000_000;

pub(super) struct Target {
    pub(super) name: String,
    pub(super) map: SourceMap,
    pub(super) recording: Recording,
    /// The registers that the program reads.
    pub(super) reads: ExternalReads,
    /// Breakpoints on lines, on labels, and on changes of values; each kind is replaced as a whole.
    breaks: [Vec<Break>; 3],
}

/// A kind of breakpoint.
#[derive(Clone, Copy, Debug)]
pub(super) enum BreakKind {
    Line,
    Label,
    Data,
}

impl Target {
    /// Reads the program and records the pixel of a launch request.
    pub(super) fn launch(arguments: &Value) -> Result<Self, String> {
        let program = arguments["program"].as_str().ok_or("the launch names no `program`")?;
        let path = Path::new(program);
        let pick = match &arguments["pick"] {
            Value::String(name) => Some(name.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let told = |failure: crate::command::exit::Failure| failure.message();
        let mut job = input_args::one(path, ReadArgs::default(), pick.as_deref()).map_err(told)?;
        let map = input_args::source_map(path, ReadArgs::default(), &job);
        let size = pair(&arguments["size"])?.or(job.size).unwrap_or([256, 256]);
        if let Some(time) = arguments["time"].as_f64() {
            job.time = Some(time as f32);
        }
        let pixel = pair(&arguments["pixel"])?.unwrap_or(size.map(|side| side / 2));
        let instructions = arguments["limitInstructions"].as_u64().unwrap_or(INSTRUCTIONS);
        let reads = ExternalReads::of(&job.program);
        let shader = Shader::new(&job.program).map_err(|error| error.to_string())?;
        let bindings = builtin_uniforms::bind(&job, size).map_err(|error| error.to_string())?;
        let options =
            Options { limits: Limits { instructions, ..Limits::default() }, ..Options::default() };
        let setup = DrawSetup { shader: Arc::new(shader), bindings: Arc::new(bindings), options };
        if pixel[0] >= size[0] || pixel[1] >= size[1] {
            return Err(format!(
                "pixel {},{} is outside the picture of {}x{}",
                pixel[0], pixel[1], size[0], size[1]
            ));
        }
        let recording = Recording::new(setup, pixel).map_err(|error| error.to_string())?;
        let name = if job.name.is_empty() { program.to_owned() } else { job.name };
        Ok(Self { name, map, recording, reads, breaks: Default::default() })
    }

    /// Replaces the breakpoints of a kind.
    pub(super) fn set_breaks(&mut self, kind: BreakKind, breaks: Vec<Break>) {
        self.breaks[kind as usize] = breaks;
    }

    /// Returns a breakpoint at an address, with a condition if one is given.
    pub(super) fn break_at(&self, address: u32, condition: Option<&str>) -> Result<Break, String> {
        if self.recording.setup().shader.op(address).is_none() {
            return Err(format!("there is no instruction at {address} that can run"));
        }
        match condition.map(str::trim).filter(|text| !text.is_empty()) {
            None => Ok(Break::At(address)),
            Some(text) => {
                let condition = expression::parse_condition(text, &self.map.names);
                Ok(Break::AtIf(address, condition.map_err(|error| error.to_string())?))
            }
        }
    }

    /// Returns a breakpoint on changes of a value.
    pub(super) fn break_on_change(&self, text: &str) -> Result<Break, String> {
        let expr = expression::parse(text, &self.map.names).map_err(|error| error.to_string())?;
        Ok(Break::Changes(expr))
    }

    /// Runs to the next breakpoint of any kind.
    pub(super) fn run(&mut self, direction: Direction) -> Stop {
        let all: Vec<Break> = self.breaks.iter().flatten().cloned().collect();
        self.recording.run(direction, &all)
    }

    /// Returns the current value of an expression as text.
    pub(super) fn evaluate(&self, text: &str) -> Result<String, String> {
        let expr = expression::parse(text, &self.map.names).map_err(|error| error.to_string())?;
        Ok(value(&expr.value(&self.recording.now())))
    }

    /// Returns the reason for the end of the recording.
    pub(super) fn end(&self) -> String {
        match self.recording.end() {
            End::Ended => "the end of the program".to_owned(),
            End::Stopped(error) => format!("the end of the recording: {error}"),
        }
    }

    /// Returns the address of the next instruction; at the end, of the last one.
    pub(super) fn address(&self) -> u32 {
        let now = self.recording.now();
        match self.recording.last_step() {
            Some(step) if now.state().ended() => step.address,
            _ => now.address(),
        }
    }
}

/// Returns a value as text.
fn value(value: &Number) -> String {
    match value {
        Number::Numbers([x, ..], 1) => float_format::text(*x),
        Number::Numbers(x, count) => vector(&x[..*count]),
        Number::Bools(x, count) => {
            x[..*count].iter().map(bool::to_string).collect::<Vec<_>>().join(", ")
        }
    }
}

fn pair(value: &Value) -> Result<Option<[u32; 2]>, String> {
    if value.is_null() {
        return Ok(None);
    }
    let numbers = value.as_array().map_or(&[][..], Vec::as_slice);
    let number = |value: &Value| value.as_u64().and_then(|number| u32::try_from(number).ok());
    match numbers {
        [x, y] => number(x).zip(number(y)).map(|(x, y)| Some([x, y])),
        _ => None,
    }
    .ok_or_else(|| format!("`{value}` is not a pair of whole numbers"))
}
