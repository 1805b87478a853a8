//! The interface between recordings and the processor that they step.

use super::Snapshot;
use super::expr::{Expr, Operand, Value};
use crate::RunError;

/// A processor with a program and its data, whose run can be recorded: the group of a pixel, or a vertex.
///
/// A run is deterministic: from equal states, equal steps follow.
pub trait Machine: Sized {
    /// All that a step depends on and changes.
    type State: Clone;
    /// What a step did.
    type Step;
    /// The parts of the state that expressions name.
    type Variable: Operand;

    /// Returns the state at the start of the program.
    fn start(&self) -> Self::State;

    /// Returns whether the program has ended.
    fn ended(&self, state: &Self::State) -> bool;

    /// Returns the address of the next instruction.
    fn address(&self, state: &Self::State) -> u32;

    /// Returns the number of running loops and calls.
    fn depth(&self, state: &Self::State) -> usize;

    /// Returns whether the inspected pixel or vertex executes the next instruction.
    fn active(&self, state: &Self::State) -> bool;

    /// Returns the same for all that share the program counter, in a fixed order.
    fn executing(&self, state: &Self::State) -> Vec<bool>;

    /// Executes steps until the program has ended or `go_on` returns false, which is called after each step.
    ///
    /// # Errors
    /// [`RunError`] if a limit is exceeded; the state is that before the step.
    fn execute(
        &self,
        state: Self::State,
        go_on: impl FnMut(&Self::State) -> bool,
    ) -> (Self::State, Result<(), RunError>);

    /// Executes a step and returns what it did.
    ///
    /// # Errors
    /// [`RunError`] if a limit is exceeded; the state is that before the step.
    fn observe(&self, state: Self::State) -> (Self::State, Result<Self::Step, RunError>);

    /// Returns the value of a part of the state.
    fn value(now: &Snapshot<'_, Self>, variable: &Self::Variable) -> Value;

    /// Returns the limit of the bytes that the record of a run may take.
    fn memory_limit(&self) -> u64;

    /// Removes the limits that end a recording by time or cancellation: they must not end later seeks.
    fn lift_limits(&mut self);

    /// Returns a copy of a state that takes little memory, to be [expanded](Self::expand) before use.
    fn compact(&self, state: &Self::State) -> Self::State {
        state.clone()
    }

    /// Undoes [`compact`](Self::compact).
    fn expand(&self, _state: &mut Self::State) {}

    /// Returns the approximate size of a compact state in bytes.
    fn bytes(&self, state: &Self::State) -> usize;
}

impl<V: Operand> Expr<V> {
    /// Evaluates the expression.
    #[must_use]
    pub fn value<M: Machine<Variable = V>>(&self, snapshot: &Snapshot<'_, M>) -> Value {
        self.evaluate(snapshot.position(), &|variable: &V| M::value(snapshot, variable))
    }

    /// Returns the name of a variable of the source in it that has no value here; its [`value`](Self::value) then has no meaning.
    #[must_use]
    pub fn unknown<M: Machine<Variable = V>>(&self, snapshot: &Snapshot<'_, M>) -> Option<&str> {
        self.unknown_at(snapshot.position())
    }

    /// Returns whether it holds as a condition: any channel is true, or not 0. It does not where a variable of the source has no value.
    #[must_use]
    pub fn holds<M: Machine<Variable = V>>(&self, snapshot: &Snapshot<'_, M>) -> bool {
        self.unknown(snapshot).is_none() && self.value(snapshot).holds()
    }
}
