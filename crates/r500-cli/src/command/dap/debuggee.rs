//! A launched program of any kind, as the protocol sees it.

use r500::breakpoints::Ran;
use r500::exec::record::{Direction, Stop};
use r500_stream::counted;
use serde_json::{Value, json};

use super::console::{self, Entered};
use super::target::{Inspected, Target};
use super::{breakpoints, disassembly, frames, variables};
use crate::command::debug::language::Kind;
use crate::command::debug::session::Session;

/// A launched program.
pub(super) trait Debuggee {
    fn kind(&self) -> Kind;

    /// Returns the name of the program, and what is inspected.
    fn name(&self) -> String;

    /// Returns what was recorded.
    fn greeting(&self) -> String;

    /// Runs to the next breakpoint of any kind.
    fn run(&mut self, direction: Direction) -> Ran;

    /// Moves the position without regard to breakpoints.
    fn step(&mut self, step: Movement) -> Moved;

    /// Returns the end of the run at which a move stopped; empty if it stopped before.
    fn edge(&self, stop: Stop) -> String;

    /// Handles a request that does not move the position. `line_from` is the number of the client's first line.
    fn ask(&mut self, command: &str, arguments: &Value, line_from: usize) -> Result<Value, String>;

    /// Executes a line of the debug console.
    fn enter(&mut self, line: &str) -> Result<Entered, String>;
}

/// A move of the position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Movement {
    ToStart,
    Step(Direction),
    /// Over a loop or call.
    Over,
    /// Out of a loop or call.
    Out,
}

/// What a move did.
pub(super) struct Moved {
    pub(super) stop: Stop,
    /// Messages of breakpoints on the way.
    pub(super) log: Vec<String>,
}

impl<M: Inspected> Debuggee for Target<M> {
    fn kind(&self) -> Kind {
        M::KIND
    }

    fn name(&self) -> String {
        format!("{}, {}", self.session.name, M::selected(&self.session))
    }

    fn greeting(&self) -> String {
        let session = &self.session;
        format!(
            "{}: {}, {} recorded, up to {}\n{}`help` lists the commands of this console\n",
            session.name,
            M::selected(session),
            counted(session.recording.len(), "instruction"),
            session.end(),
            M::note(session).map_or_else(String::new, |note| format!("{note}\n"))
        )
    }

    fn run(&mut self, direction: Direction) -> Ran {
        self.session.run(direction)
    }

    fn step(&mut self, step: Movement) -> Moved {
        let session = &mut self.session;
        let from = session.recording.position();
        let stop = move_position(session, step);
        Moved { stop, log: session.log_since(from) }
    }

    fn edge(&self, stop: Stop) -> String {
        match stop {
            Stop::Start => "the start of the program".to_owned(),
            Stop::End => self.session.end(),
            Stop::Reached | Stop::Break(_) => String::new(),
        }
    }

    fn ask(&mut self, command: &str, arguments: &Value, line_from: usize) -> Result<Value, String> {
        Ok(match command {
            "setBreakpoints" => breakpoints::set_lines(self, arguments, line_from),
            "setFunctionBreakpoints" => breakpoints::set_labels(self, arguments),
            "setInstructionBreakpoints" => breakpoints::set_instructions(self, arguments),
            "dataBreakpointInfo" => breakpoints::data_info(self, arguments)?,
            "setDataBreakpoints" => breakpoints::set_data(self, arguments),
            "setExceptionBreakpoints" => json!({}),
            "stackTrace" => frames::stack(self, line_from),
            "disassemble" => disassembly::disassemble(self, arguments, line_from)?,
            "source" => {
                let text = self.session.map.lines.join("\n");
                json!({ "content": text, "mimeType": "text/x-r500" })
            }
            "scopes" => variables::scopes(self),
            "variables" => {
                let reference = arguments["variablesReference"].as_u64();
                let reference = reference.ok_or("`variables` needs a `variablesReference`")?;
                json!({ "variables": variables::variables(self, reference)? })
            }
            "evaluate" => {
                let text = arguments["expression"].as_str().unwrap_or_default();
                variables::evaluate(self, text)?
            }
            _ => return Err(format!("`{command}` is not served")),
        })
    }

    fn enter(&mut self, line: &str) -> Result<Entered, String> {
        console::enter(self, line)
    }
}

fn move_position<M: Inspected>(session: &mut Session<M>, step: Movement) -> Stop {
    let recording = &mut session.recording;
    match step {
        Movement::ToStart => {
            recording.seek(0);
            Stop::Reached
        }
        Movement::Step(direction) => recording.step(direction),
        Movement::Over => recording.step_over(Direction::Forward),
        Movement::Out => recording.step_out(Direction::Forward),
    }
}
