//! What the log of a driver says of its programs, for messages.

use std::path::Path;

use r500::formats::{Limits, LogEntry, VertexProgram};
use r500::program::{Channel, Compilation, Job, Outcome as Compiled};
use r500::reader::{self, Language, ReadError};
use r500_stream::counted;
use serde_json::{Value as Json, json};

/// Returns why a program is not the shader that was compiled; `None` if it is.
pub(super) fn not_compiled(job: &Job) -> Option<String> {
    let outcome = &job.compilation.as_deref()?.outcome;
    if outcome.is_compiled() {
        return None;
    }
    // An empty shader is named as such; the dummy of a failure is a program, too.
    let dummy = matches!(outcome, Compiled::Failed(_)) && !job.program.code.is_empty();
    Some(format!("{outcome}{}", if dummy { "; this is its dummy" } else { "" }))
}

/// Returns what would help a shader that the driver could not compile.
pub(super) fn remedy(compilation: &Compilation) -> Option<&'static str> {
    let Compiled::Failed(failure) = &compilation.outcome else { return None };
    failure.limit.map(|limit| limit.resource.help())
}

/// Returns the outcome of a compilation as JSON; `null` for programs that are not from a log.
pub(super) fn json(job: &Job) -> Json {
    let Some(compilation) = job.compilation.as_deref() else { return Json::Null };
    let failure = match &compilation.outcome {
        Compiled::Failed(failure) => Some(failure),
        Compiled::Compiled | Compiled::Dummy => None,
    };
    let limit = failure.and_then(|failure| failure.limit);
    json!({
        "outcome": compilation.outcome.name(),
        "reason": failure.map(|failure| failure.reason.as_str()),
        "resource": limit.map(|limit| limit.resource.name()),
        "most": limit.and_then(|limit| limit.most),
        "needed": limit.and_then(|limit| limit.needed),
        "excess": limit.and_then(|limit| limit.excess()),
        "help": remedy(compilation),
        "process": compilation.process,
    })
}

/// Returns the channels of constants that a program reads and its log does not say, with what they are: `const[0] (CONST[0][0]),
/// const[1].b (a literal that the log rounds to 0)`; `None` without a log.
pub(super) fn missing_constants(job: &Job, missing: &r500::check::ExternalReads) -> Option<String> {
    let compilation = job.compilation.as_deref()?;
    let mut parts = Vec::new();
    for &n in &missing.constants {
        let number = usize::from(n);
        let mask = missing.constant_channels.get(&n).copied().unwrap_or(0b1111);
        let whole = !job.program.state.gives_constant(number);
        let meanings: Vec<String> = (0..4)
            .filter(|c| mask >> c & 1 != 0)
            .map(|c| meaning(job, compilation, n, c))
            .collect();
        let same = meanings.windows(2).all(|pair| pair[0] == pair[1]);
        let channels: String = "rgba"
            .chars()
            .enumerate()
            .filter(|(c, _)| mask >> c & 1 != 0)
            .map(|(_, l)| l)
            .collect();
        let place = match whole && same {
            true => format!("const[{n}]"),
            false => format!("const[{n}].{channels}"),
        };
        let unique: Vec<String> =
            if same { meanings.into_iter().take(1).collect() } else { meanings };
        parts.push(format!("{place} ({})", unique.join(", ")));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Returns what a missing channel is: the name of a uniform, or why the log does not say it.
fn meaning(job: &Job, compilation: &Compilation, constant: u8, channel: u8) -> String {
    let named = job.uniforms.iter().find(|uniform| {
        uniform.constant == constant
            && (uniform.channel..uniform.channel + uniform.channels).contains(&channel)
    });
    if let Some(uniform) = named {
        return uniform.name.clone();
    }
    match compilation.channel(usize::from(constant), usize::from(channel)) {
        Channel::Tiny { decimals } => {
            format!("a literal that the log rounds to {:.*}", usize::from(decimals), 0.0)
        }
        Channel::Uniform { .. } | Channel::State(_) => {
            compilation.channel(usize::from(constant), usize::from(channel)).to_string()
        }
        Channel::Unused => "unused".to_owned(),
        Channel::Literal { .. } | Channel::Unknown => "the log does not say".to_owned(),
    }
}

/// Returns the number of decimals that the log prints, if a program has literals that it may round.
pub(super) fn decimals(job: &Job) -> Option<u8> {
    let constants = job.compilation.as_deref()?.constants.iter().flatten();
    constants
        .filter_map(|channel| match channel {
            Channel::Literal { decimals } => *decimals,
            _ => None,
        })
        .min()
}

/// Returns the compilations of a driver's log; `None` for other files and for stdin, which cannot be read twice.
pub(super) fn entries(
    file: &Path,
    language: Option<Language>,
) -> Result<Option<reader::LogEntries>, ReadError> {
    if file == Path::new("-") || file.is_dir() {
        return Ok(None);
    }
    reader::open_log(file, language, &Limits::default())
}

/// Returns the vertex program of this name in a driver's log.
pub(super) fn vertex_program(
    file: &Path,
    language: Option<Language>,
    name: &str,
) -> Result<Option<VertexProgram>, ReadError> {
    for entry in entries(file, language)?.into_iter().flatten() {
        match entry? {
            LogEntry::Vertex(program) if program.name == name => return Ok(Some(program)),
            LogEntry::Vertex(_) | LogEntry::Fragment(_) => {}
        }
    }
    Ok(None)
}

/// Returns a line about a vertex program for a list.
pub(super) fn vertex_line(program: &VertexProgram) -> String {
    let process = match program.process.is_empty() {
        true => String::new(),
        false => format!(", {}", program.process),
    };
    match &program.outcome {
        Compiled::Compiled => {
            let count = counted(program.code.len(), "instruction");
            format!("{}  (vertex program, {count}{process})", program.name)
        }
        outcome => format!("{}  (vertex program, {outcome}{process})", program.name),
    }
}

/// Returns the message about a vertex program where a fragment program is needed.
pub(super) fn is_vertex_program(file: &str, name: &str) -> String {
    format!("{file}: {name} is a vertex program; `r500 disasm {file} --pick {name}` prints it")
}
