//! The debuggee: a program and the debugger's session with its recorded pixel.

use std::path::Path;
use std::sync::Arc;

use r500::builtin_uniforms;
use r500::check::ExternalReads;
use r500::exec::record::{Break, DrawSetup, Expr};
use r500::exec::{Limits, Options, Shader};
use r500::expression;
use serde_json::Value;

use super::references::References;
use crate::command::debug::breakpoint::{Breakpoint, HitCondition, LogMessage, Owner};
use crate::command::debug::session::Session;
use crate::command::exit::Failure;
use crate::command::input_args::{self, ReadArgs};
use crate::command::syntax;

/// Default limit of recorded instructions.
const INSTRUCTIONS: u64 = 1_000_000;

pub(super) struct Target {
    pub(super) session: Session,
    /// The registers that the program reads.
    pub(super) reads: ExternalReads,
    /// The expandable values that the client knows.
    pub(super) references: References,
}

/// Why a program was not launched.
pub(super) struct LaunchError {
    /// The cause, on one line; of a source with several errors, the first one.
    pub(super) message: String,
    /// All errors with their source lines, if there is more to report.
    pub(super) details: Option<String>,
}

impl<T: Into<String>> From<T> for LaunchError {
    fn from(message: T) -> Self {
        Self { message: message.into(), details: None }
    }
}

impl LaunchError {
    fn of(failure: &Failure) -> Self {
        let (message, details) = (failure.summary(), failure.message());
        let details = (details != message).then_some(details);
        Self { message, details }
    }
}

impl Target {
    /// Reads the program and records the pixel of a launch request.
    pub(super) fn launch(arguments: &Value) -> Result<Self, LaunchError> {
        let program = arguments["program"].as_str().ok_or("the launch names no `program`")?;
        let path = Path::new(program);
        let pick = match &arguments["pick"] {
            Value::String(name) => Some(name.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let mut job = input_args::one(path, ReadArgs::default(), pick.as_deref())
            .map_err(|failure| LaunchError::of(&failure))?;
        let map = input_args::source_map(path, ReadArgs::default(), &job);
        let size = pair(&arguments["size"])?;
        if let Some([width, height]) = size {
            syntax::size(&format!("{width}x{height}"))?;
        }
        let size = size.or(job.size).unwrap_or([256, 256]);
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
            )
            .into());
        }
        let name = if job.name.is_empty() { program.to_owned() } else { job.name };
        let session = Session::new(name, map, setup, pixel).map_err(|error| error.to_string())?;
        Ok(Self { session, reads, references: References::default() })
    }

    /// Parses an expression.
    pub(super) fn expression(&self, text: &str) -> Result<Expr, String> {
        expression::parse(text, &self.session.map.names).map_err(|error| error.to_string())
    }

    /// Returns a breakpoint with the conditions and the message of a request.
    pub(super) fn breakpoint(
        &self,
        owner: Owner,
        stop: Break,
        text: &str,
        wanted: &Value,
    ) -> Result<Breakpoint, String> {
        let given = |name: &str| wanted[name].as_str().map(str::trim).filter(|t| !t.is_empty());
        let names = &self.session.map.names;
        let mut text = text.to_owned();
        let mut point = Breakpoint::new(owner, stop.clone(), String::new());
        if let Some(written) = given("hitCondition") {
            point.hit_condition = Some(HitCondition::parse(written)?);
        }
        if let Some(written) = given("logMessage") {
            point.message = Some(LogMessage::parse(written, names)?);
            text.push_str(", logs");
        }
        if let Some(written) = given("condition") {
            let condition = expression::parse_condition(written, names);
            let condition = condition.map_err(|error| error.to_string())?;
            // Without a hit count or a message, a run need not know all positions.
            match stop {
                Break::At(address) if !point.is_listed() => {
                    text.push_str(&format!(" if {written}"));
                    point = Breakpoint::new(owner, Break::AtIf(address, condition), String::new());
                }
                _ => point.condition = Some(condition),
            }
        }
        point.text = text;
        Ok(point)
    }

    /// Returns the address of the next instruction; at the end, of the last one.
    pub(super) fn address(&self) -> u32 {
        let now = self.session.recording.now();
        match self.session.recording.last_step() {
            Some(step) if now.state().ended() => step.address,
            _ => now.address(),
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
