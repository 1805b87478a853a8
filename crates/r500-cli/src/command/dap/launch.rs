//! Launch requests: the program is read and recorded.

use std::path::Path;
use std::sync::Arc;

use r500::builtin_uniforms;
use r500::check::ExternalReads;
use r500::exec::record::{DrawSetup, PixelGroup};
use r500::exec::{Limits, Options, Shader};
use serde_json::Value;

use super::debuggee::Debuggee;
use super::references::References;
use super::target::Target;
use crate::command::debug::session::Session;
use crate::command::exit::Failure;
use crate::command::input_args::{self, ReadArgs};
use crate::command::syntax;

/// Default limit of recorded instructions.
const INSTRUCTIONS: u64 = 1_000_000;

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

/// Reads the program of a launch request and records its run.
///
/// # Errors
/// What is wrong with the request or the program.
pub(super) fn launch(arguments: &Value) -> Result<Box<dyn Debuggee>, LaunchError> {
    let program = arguments["program"].as_str().ok_or("the launch names no `program`")?;
    Ok(Box::new(pixel(program, arguments)?))
}

/// Records the pixel of a launch request.
fn pixel(program: &str, arguments: &Value) -> Result<Target<PixelGroup>, LaunchError> {
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
    let bindings = &session.recording.setup().bindings;
    let read = reads.constants.iter().copied();
    let constants = read.filter(|&n| bindings.constant(n.into()).is_some()).collect();
    Ok(Target { session, constants, references: References::default() })
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
