//! What the debugger shows of a session with a kind of machine.
//!
//! All that is the same for pixels and vertices is in the other modules, which are generic over a [`Subject`].

use super::area::{BackgroundQuery, Found};
use super::debugged::Debugged;
use super::language::Verb;
use super::reply::Reply;
use super::session::Session;

/// A kind of machine, of which sessions are shown.
pub(in crate::command) trait Subject: Debugged {
    /// What `info` tells, in the order in which abbreviations are resolved.
    const TOPICS: &'static [&'static str];
    /// The tables of registers; the first one is shown first.
    const TABLES: &'static [&'static str];
    /// Whether registers are shown as colours.
    const COLORS: bool;

    /// Returns the name of the program, and what is inspected.
    fn greeting(session: &Session<Self>) -> String;

    /// Returns what is inspected: `pixel 3,4`.
    fn selected(session: &Session<Self>) -> String;

    /// Returns what the user should know about the run: values that are missing.
    fn note(session: &Session<Self>) -> Option<String>;

    /// Returns its place in the picture, if it has one.
    fn pixel(session: &Session<Self>) -> Option<[u32; 2]>;

    /// Tells about a topic that is not of all machines.
    fn info(session: &Session<Self>, topic: &str, rest: &str) -> Result<String, String>;

    /// Returns the registers of a table.
    fn table(session: &Session<Self>, table: usize) -> Vec<Register>;

    /// Returns the state, running loops and calls, outputs so far; a line each.
    fn state_lines(session: &Session<Self>) -> Vec<String>;

    /// Returns the state of all that share the program counter, if there are several.
    fn mask(session: &Session<Self>) -> Option<Mask>;

    /// Returns the command that selects a neighbour, some columns to the right and rows up; `None` if there is none.
    fn neighbor(session: &Session<Self>, dx: i64, dy: i64) -> Option<String>;

    /// Selects another pixel or vertex, as an argument of its command names it.
    fn select(session: &mut Session<Self>, argument: &str) -> Result<(), String>;

    /// Starts the query of a command over many pixels.
    fn ask(session: &Session<Self>, verb: Verb, argument: &str) -> Result<BackgroundQuery, String>;

    /// Completes a command with the result of its query.
    fn found(session: &mut Session<Self>, found: Found) -> Result<Reply, String>;
}

/// A register in a table.
pub(in crate::command) struct Register {
    pub(in crate::command) name: String,
    pub(super) value: [f32; 4],
    /// The channels that were written so far, red in bit 0; all of those that are not written.
    pub(super) written: u8,
    /// The channels that the last step wrote.
    pub(super) fresh: u8,
    /// What it is called; may be empty.
    pub(super) note: String,
}

/// The state of all that share a program counter: letters in rows, the upper one first.
pub(in crate::command) struct Mask {
    pub(super) rows: Vec<Vec<MaskCell>>,
    /// Letters with their meanings.
    pub(super) legend: Vec<String>,
}

/// A cell of a mask.
pub(in crate::command) struct MaskCell {
    pub(super) letter: char,
    /// Whether it is the inspected pixel.
    pub(super) is_own: bool,
    /// Whether it belongs to its quad.
    pub(super) is_near: bool,
}
