//! What the debugger asks a kind of machine: the group of a pixel, or a vertex.

use r500::compile::variables::{Inspector, Moments, Place, Stop};
use r500::exec::record::{Machine, Recording, Snapshot};
use r500::expression::Vocabulary;

use super::language::Kind;

/// A kind of machine that is debugged.
pub(in crate::command) trait Debugged: Machine<Variable: Vocabulary> {
    /// What the session knows apart from the recording: other vertices.
    type Others;

    const KIND: Kind;
    /// What is said of an address without an instruction.
    const NOTHING_THERE: &'static str;

    /// Returns the dwords of an instruction; `None` if there is none.
    fn dwords(&self, address: u32) -> Option<Vec<u32>>;

    /// Returns whether there is an instruction that can run.
    fn is_executable(&self, address: u32) -> bool;

    /// Returns the first and the last address of the program.
    fn addresses(&self) -> (u32, u32);

    /// Returns the address of the instruction that a step executed.
    fn address_of(step: &Self::Step) -> u32;

    /// Returns what a step read, computed and wrote, one a line.
    fn effects(&self, step: &Self::Step) -> Vec<String>;

    /// Returns where running calls return to, the outermost first.
    fn calls(&self, state: &Self::State) -> Vec<u32>;

    /// Returns why the next instruction is not executed, in parentheses after a space.
    fn inactive(now: &Snapshot<'_, Self>) -> String;

    /// Returns what becomes of the results of an ended program, if that depends on the run.
    fn fate(now: &Snapshot<'_, Self>) -> Option<&'static str>;

    /// Returns a line for each loop and each call that runs.
    fn nesting(now: &Snapshot<'_, Self>) -> Vec<String>;

    /// Returns the values of a shader's variables at stops of a recorded run.
    fn moments(recording: &Recording<Self>, inspector: &Inspector, stops: &[Stop]) -> Moments;

    /// Returns what a register holds.
    fn register(now: &Snapshot<'_, Self>, place: Place) -> f32;

    /// Returns predicates and loop index in few characters.
    fn short_flags(now: &Snapshot<'_, Self>) -> String;
}
