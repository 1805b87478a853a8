//! Launch requests: the program is read and recorded.

use std::path::Path;
use std::sync::Arc;

use r500::builtin_uniforms;
use r500::check::ExternalReads;
use r500::exec::record::{DrawSetup, PixelGroup};
use r500::exec::{Limits, Options, Shader};
use r500::vertex_run::VertexMachine;
use serde_json::Value;

use super::debuggee::Debuggee;
use super::references::References;
use super::target::Target;
use crate::command::debug::session::Session;
use crate::command::exit::Failure;
use crate::command::input_args::{self, ReadArgs};
use crate::command::scene::SceneFile;
use crate::command::syntax;
use crate::command::vertex::{Keep, VertexFile, VertexSet};

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
    let pick = match &arguments["pick"] {
        Value::String(name) => Some(name.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    match vertices(Path::new(program), pick.as_deref(), arguments)? {
        Some(set) => Ok(Box::new(vertex(set, arguments)?)),
        None => Ok(Box::new(pixel(program, pick.as_deref(), arguments)?)),
    }
}

/// Returns the limits of a recording.
fn limits(arguments: &Value) -> Limits {
    let instructions = arguments["limitInstructions"].as_u64().unwrap_or(INSTRUCTIONS);
    Limits { instructions, ..Limits::default() }
}

/// Returns the vertices of a vertex program, or of a draw of a scene if the request names a vertex; `None` of other programs.
fn vertices(
    path: &Path,
    pick: Option<&str>,
    arguments: &Value,
) -> Result<Option<VertexSet>, LaunchError> {
    let refused = |failure: Failure| LaunchError::of(&failure);
    let read = ReadArgs::default();
    let wanted = arguments["vertex"].as_u64();
    if let Some(file) = VertexFile::picked(path, pick, read).map_err(refused)? {
        file.sound().map_err(refused)?;
        let (inputs, constants) = (texts(&arguments["inputs"]), texts(&arguments["constants"]));
        let keep = Keep::AlsoOthers(wanted.unwrap_or(0));
        return file.set(&inputs, &constants, keep).map(Some).map_err(refused);
    }
    if arguments["vertex"].is_null() {
        return Ok(None);
    }
    let scene = SceneFile::read(path, read).map_err(refused)?;
    let scene = scene.ok_or("`vertex` is for vertex programs and scenes")?;
    let time = arguments["time"].as_f64().unwrap_or(0.0);
    scene.vertices(pick, time).map(Some).map_err(refused)
}

/// Returns a text or several, as `--input` takes them; other values are JSON of rows.
fn texts(value: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match value {
        Value::Null => Vec::new(),
        Value::Array(all) if all.iter().all(Value::is_string) => all.iter().map(text).collect(),
        value => vec![text(value)],
    }
}

/// Records the vertex of a launch request.
fn vertex(set: VertexSet, arguments: &Value) -> Result<Target<VertexMachine>, LaunchError> {
    let number = match &arguments["vertex"] {
        Value::Null => 0,
        value => {
            value.as_u64().ok_or_else(|| format!("`{value}` is not the number of a vertex"))?
        }
    };
    let constants = set.given_constants(number).into_iter();
    let constants = constants.filter_map(|n| u8::try_from(n).ok()).collect();
    let session = Session::of_vertex(set, number, limits(arguments));
    let session = session.map_err(|why| format!("vertex {number}: {why}"))?;
    Ok(Target { session, constants, references: References::default() })
}

/// Records the pixel of a launch request.
fn pixel(
    program: &str,
    pick: Option<&str>,
    arguments: &Value,
) -> Result<Target<PixelGroup>, LaunchError> {
    let path = Path::new(program);
    let mut job = input_args::one(path, ReadArgs::default(), pick)
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
    let reads = ExternalReads::of(&job.program);
    let shader = Shader::new(&job.program).map_err(|error| error.to_string())?;
    let bindings = builtin_uniforms::bind(&job, size).map_err(|error| error.to_string())?;
    let options = Options { limits: limits(arguments), ..Options::default() };
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
