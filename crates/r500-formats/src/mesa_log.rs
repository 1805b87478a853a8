//! The log of Mesa's r300 driver (`RADEON_DEBUG=fp` and `RADEON_DEBUG=vp`): for each compilation the text of the shader, the texts of all
//! compiler passes, and the machine code, or why there is none.
//!
//! ```text
//! R500 Fragment Program:
//! --------
//! 0       0:CMN_INST   0x00001800:ALU     wmask: RG omask: NONE
//!         1:RGB_ADDR   0x08000100:Addr0: 0c, Addr1: 0t, Addr2: 128t, srcp:0
//!         …
//! ```
//!
//! Each line of the machine code has the number of a word, its name, and its dword. The explanation after it has changed over the versions
//! (2008 to today), so only the dword is read. Unused words of an instruction type are not printed, and are 0. The
//! oldest versions do not print flow control: their programs with flow control are an error.
//!
//! Programs have no names; here they are called `fp0`, `fp1` and so on, vertex programs `vp0`, `vp1`. A compilation that fails counts: the
//! driver says why, and compiles a dummy instead, which is the program of this name.
//!
//! The values of literals are printed with four or six decimals; [`constants`] finds what the log says of each constant. Lines of several
//! processes are distinguished by what loggers put in front of them ([`prefix`]).

mod constants;
mod draft;
mod line_kind;
mod passes;
mod prefix;
mod shader_text;
mod words;

use std::collections::{BTreeMap, VecDeque};
use std::io::BufRead;

use r500_program::{Failure, Job, Outcome};
use r500_pvs::{Controls, Flow, Instruction, Program};

use self::draft::Draft;
use self::line_kind::{LineKind, Stage};
use self::prefix::Line;
use crate::error::ReadErrorKind;
use crate::format::HEAD;
use crate::lines::Lines;
use crate::{Format, Limits, ReadError};

/// Returns whether the beginning or the end, where the final programs are, has text of a log.
pub(crate) fn is_log(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(HEAD)];
    let tail = &bytes[bytes.len().saturating_sub(HEAD).max(head.len())..];
    has_marks(head) || has_marks(tail)
}

fn has_marks(bytes: &[u8]) -> bool {
    let marks: [&[u8]; 11] = [
        b"# Radeon Compiler Program",
        b"R500 Fragment Program:",
        b"0:CMN_INST ",
        b"0: CMN_INST ",
        b"r300: Initial fragment program",
        b"r300: Initial vertex program",
        b"Final vertex program code:",
        b"r300 FP: Compiler Error:",
        b"r300 VP: Compiler error:",
        b"r300 FP: Cannot translate a shader.",
        b"r300compiler error: ",
    ];
    bytes.split(|&b| b == b'\n').any(|line| {
        // Not in a comment of assembly.
        let comment = line.windows(2).position(|w| w == b"--").unwrap_or(line.len());
        let line = &line[..comment];
        marks.iter().any(|mark| line.windows(mark.len()).any(|w| w == *mark))
    })
}

/// A compilation in a log.
#[derive(Debug)]
pub enum LogEntry {
    /// A fragment program.
    Fragment(Box<Result<Job, ReadError>>),
    /// A vertex program.
    Vertex(VertexProgram),
}

/// A vertex program in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VertexProgram {
    /// Its name: `vp0`, `vp1` and so on.
    pub name: String,
    /// The line that its compilation begins in.
    pub line: u64,
    /// What names the process in a log of several; may be empty.
    pub process: String,
    /// How the compilation ended.
    pub outcome: Outcome,
    /// The shader as the driver received it, if the log has it.
    pub source: String,
    /// The instructions, four dwords each; none after a failure.
    pub code: Vec<[u32; 4]>,
    /// Its flow control; `None` if the log says that there is some, and does not list it.
    pub flow: Option<Vec<Flow>>,
}

impl VertexProgram {
    /// Returns the program; `None` if the log does not list all of it.
    #[must_use]
    pub fn program(&self) -> Option<Program> {
        let code: Vec<Instruction> = self.code.iter().copied().map(Instruction).collect();
        let flow = self.flow.clone()?;
        let controls = Controls { flow, ..Controls::of_code(0, &code) };
        (!code.is_empty()).then(|| Program::from_code(controls, 0, code))
    }
}

/// The compilations of a log, one at a time.
pub struct LogEntries<R> {
    /// The rest of the log; `None` at its end and after an error of the input.
    lines: Option<Lines<R>>,
    limits: Limits,
    /// The compilation in progress of each process.
    processes: BTreeMap<String, Process>,
    /// Completed compilations.
    ready: VecDeque<LogEntry>,
    fragments: u64,
    vertices: u64,
}

/// A process that compiles.
#[derive(Default)]
struct Process {
    draft: Option<Draft>,
    /// A compilation that has no program, until it is known whether the driver's dummy follows.
    failed: Option<(Outcome, Draft)>,
}

/// Processes of a log that are distinguished.
const MOST_PROCESSES: usize = 1 << 12;

impl<R: BufRead> LogEntries<R> {
    /// Returns the compilations of a log, which is not compressed.
    pub fn new(input: R, limits: &Limits) -> Self {
        Self {
            lines: Some(Lines::new(input, limits.document)),
            limits: limits.clone(),
            processes: BTreeMap::new(),
            ready: VecDeque::new(),
            fragments: 0,
            vertices: 0,
        }
    }

    fn line(&mut self, number: u64, text: &str) -> Result<(), ReadError> {
        let Line { process: name, text } = Line::split(text);
        let kind = LineKind::of(&text);
        if !self.processes.contains_key(name) {
            if matches!(kind, LineKind::Text) {
                return Ok(());
            }
            if self.processes.len() == MOST_PROCESSES {
                return Err(
                    ReadError::limit("processes in a log", MOST_PROCESSES as u64).at_line(number)
                );
            }
            self.processes.insert(name.to_owned(), Process::default());
        }
        let Some(process) = self.processes.get_mut(name) else { return Ok(()) };
        let mut done = Vec::new();
        if process.draft.as_ref().is_some_and(|draft| draft.ends_before(&kind)) {
            process.close(&mut done);
        }
        let draft = match (&mut process.draft, &kind) {
            (Some(draft), _) => draft,
            (empty, LineKind::Initial(stage)) => empty.insert(Draft::of_shader(*stage, number)),
            (_, LineKind::Text | LineKind::Constant(..) | LineKind::Classic(..)) => return Ok(()),
            (_, LineKind::VertexWord { .. } | LineKind::FlowOps(_) | LineKind::Flow { .. }) => {
                return Ok(());
            }
            (_, LineKind::Word(word)) if !word.starts_instruction() => return Ok(()),
            (empty, kind) => empty.insert(Draft::new(stage_of(kind), number)),
        };
        draft.line(kind, &text, number, self.limits.instructions);
        if draft.gave_up {
            process.close(&mut done);
        }
        let name = name.to_owned();
        self.deliver(&name, done);
        Ok(())
    }

    fn end(&mut self) {
        let mut processes: Vec<_> = std::mem::take(&mut self.processes).into_iter().collect();
        let first = |process: &Process| process.draft.as_ref().map_or(0, |draft| draft.line);
        processes.sort_by_key(|(_, process)| first(process));
        for (name, mut process) in processes {
            let mut done = Vec::new();
            process.close(&mut done);
            done.extend(process.failed.take().map(|(outcome, draft)| (outcome, draft, None)));
            self.deliver(&name, done);
        }
    }

    fn deliver(&mut self, process: &str, done: Vec<Done>) {
        for (outcome, draft, dummy) in done {
            if draft.stage == Stage::Vertex {
                let name = format!("vp{}", self.vertices);
                if let Some(program) = draft.vertex_program(name, process) {
                    self.vertices += 1;
                    self.ready.push_back(LogEntry::Vertex(program));
                }
                continue;
            }
            let name = format!("fp{}", self.fragments);
            self.fragments += 1;
            let source = draft.shader.lines.clone();
            // A heading without words is an error, unless the dummy of an empty shader follows.
            let is_alone = outcome == Outcome::Dummy && dummy.is_none();
            let outcome = if is_alone { Outcome::Compiled } else { outcome };
            let job = dummy.unwrap_or(draft).job(name, process, outcome, source);
            self.ready.push_back(LogEntry::Fragment(Box::new(job)));
        }
    }
}

/// A completed compilation: its outcome, its lines, and those of the dummy that the driver compiled instead.
type Done = (Outcome, Draft, Option<Draft>);

impl Process {
    /// Ends the compilation in progress.
    fn close(&mut self, done: &mut Vec<Done>) {
        let Some(draft) = self.draft.take() else { return };
        if draft.stage == Stage::Vertex {
            done.push((Outcome::Compiled, draft, None));
            return;
        }
        let failure: Option<Failure> = draft.failure();
        if let Some((outcome, failed)) = self.failed.take() {
            if failure.is_none() && draft.code.is_some() && draft.may_be_dummy() {
                done.push((outcome, failed, Some(draft)));
                return;
            }
            done.push((outcome, failed, None));
        }
        if let Some(failure) = failure {
            self.failed = Some((Outcome::Failed(failure), draft));
        } else if draft.has_no_instruction() {
            self.failed = Some((Outcome::Dummy, draft));
        } else if draft.code.is_some() {
            done.push((Outcome::Compiled, draft, None));
        }
    }
}

/// Returns the stage of the program that a line is about.
fn stage_of(kind: &LineKind) -> Stage {
    match kind {
        LineKind::Heading(stage, _) | LineKind::Failed(stage) | LineKind::GaveUp(stage, _) => {
            *stage
        }
        LineKind::VertexWords => Stage::Vertex,
        _ => Stage::Fragment,
    }
}

impl<R: BufRead> Iterator for LogEntries<R> {
    type Item = Result<LogEntry, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.ready.pop_front() {
                return Some(Ok(entry));
            }
            let line = match self.lines.as_mut()?.next_lossy() {
                Ok(Some((number, text))) => Ok(Some((number, text.into_owned()))),
                Ok(None) => Ok(None),
                Err(error) => Err(error),
            };
            let error = match line {
                Ok(Some((number, text))) => self.line(number, &text).err(),
                Ok(None) => {
                    self.lines = None;
                    self.end();
                    None
                }
                Err(error) => Some(error),
            };
            if let Some(error) = error {
                self.lines = None;
                return Some(Err(error));
            }
        }
    }
}

impl<R> std::fmt::Debug for LogEntries<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogEntries").finish_non_exhaustive()
    }
}

/// The fragment programs of a log, one at a time; an error for a log that holds only vertex programs.
pub(crate) struct Programs<R>(LogEntries<R>);

impl<R: BufRead> Programs<R> {
    pub(crate) fn new(input: R, limits: &Limits) -> Self {
        Self(LogEntries::new(input, limits))
    }
}

impl<R: BufRead> Iterator for Programs<R> {
    type Item = Result<Job, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.0.find_map(|entry| match entry {
            Ok(LogEntry::Fragment(job)) => Some(*job),
            Ok(LogEntry::Vertex(_)) => None,
            Err(error) => Some(Err(error)),
        });
        let vertices = std::mem::take(&mut self.0.vertices);
        if next.is_some() || self.0.fragments > 0 || vertices == 0 {
            return next;
        }
        let held = match vertices {
            1 => "one vertex program, vp0".to_owned(),
            n => format!(
                "{n} vertex programs, vp0{}vp{}",
                if n == 2 { " and " } else { " to " },
                n - 1
            ),
        };
        let error = ReadError::new(ReadErrorKind::NoProgram(Format::MesaLog));
        Some(Err(error.with_help(format!(
            "it holds {held}; for fragment programs run the driver with RADEON_DEBUG=fp, or fp,vp for both"
        ))))
    }
}
