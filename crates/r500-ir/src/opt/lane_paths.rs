//! Path-sensitive evaluation: the constant that a lane adds to a loop parameter on every path through an iteration.
//!
//! A `continue` in the source makes the step of a counter a select or a phi, although each path takes one step:
//!
//! ```text
//! %3 = %0 + 1.0
//! %4 = %m ? 1.0 : 0          this lane has taken its step
//! %5 = %m ? %3 : %0
//! %6 = %4 <= 0
//! %7 = %5 + 1.0
//! %8 = %6 ? %7 : %5          %0 + 1.0 on either path
//! ```
//!
//! A path is given by the masks that contain the lane. Masks that the evaluation depends on are assumed set, then clear, until the
//! parameter's next value is the parameter plus a constant, which must be the same on all paths of continuing lanes.

use super::analyses::{Defs, Phis};
use crate::{Inst, NONE, Opcode, Operand, Value, const_eval};

/// The maximum number of evaluated values, over all paths.
const MAX_EVALUATIONS: usize = 2048;

/// Returns the constant that all lanes of `continue_mask` add to a loop parameter whose next value is `next`.
pub(super) fn step(
    defs: &Defs,
    phis: &Phis,
    param: Value,
    next: Operand,
    continue_mask: Operand,
) -> Option<f32> {
    let mut paths = Paths { defs, phis, param, assumed: Vec::new(), left: MAX_EVALUATIONS };
    paths.assume(continue_mask, true);
    paths.step_on_paths(next).ok().map(f32::from_bits)
}

/// The value of an operand in lanes of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Const(u32),
    /// The parameter at the start of the iteration.
    Param,
    /// The parameter plus a constant.
    Step(u32),
    /// Unknown.
    Other,
}

/// The reason why an evaluation stops.
enum Stop {
    /// It depends on a mask without an assumption.
    Undecided(Value),
    /// There is no such step, or it takes too long to find.
    Unknown,
}

struct Paths<'a> {
    defs: &'a Defs,
    phis: &'a Phis,
    param: Value,
    /// The masks that are assumed to contain the path's lanes, or not.
    assumed: Vec<(Value, bool)>,
    /// Remaining evaluations.
    left: usize,
}

impl Paths<'_> {
    /// Returns the bits of the step on all paths with these assumptions.
    fn step_on_paths(&mut self, next: Operand) -> Result<u32, Stop> {
        let undecided = match self.held(next) {
            Ok(Held::Step(step)) => return Ok(step),
            Ok(_) | Err(Stop::Unknown) => return Err(Stop::Unknown),
            Err(Stop::Undecided(mask)) => mask,
        };
        let [set, clear] = [true, false].map(|is_set| {
            let count = self.assumed.len();
            self.assumed.push((undecided, is_set));
            let step = self.step_on_paths(next);
            self.assumed.truncate(count);
            step
        });
        let step = set?;
        if step == clear? { Ok(step) } else { Err(Stop::Unknown) }
    }

    /// Assumes that a mask contains the lanes or not, and what this implies.
    fn assume(&mut self, mask: Operand, is_set: bool) {
        let Operand::Value(value) = mask else { return };
        self.assumed.push((value, is_set));
        match (self.defs.of_operand(mask), is_set) {
            (Some(Inst { opcode: Opcode::And, args: [a, b, _] }), true) => {
                self.assume(*a, true);
                self.assume(*b, true);
            }
            (Some(Inst { opcode: Opcode::AndNot, args: [a, b, _] }), true) => {
                self.assume(*a, true);
                self.assume(*b, false);
            }
            (Some(Inst { opcode: Opcode::Or, args: [a, b, _] }), false) => {
                self.assume(*a, false);
                self.assume(*b, false);
            }
            _ => {}
        }
    }

    /// Returns the value of a float operand.
    fn held(&mut self, operand: Operand) -> Result<Held, Stop> {
        let value = match operand {
            Operand::Const(bits) => return Ok(Held::Const(bits)),
            Operand::Value(value) if value == self.param => return Ok(Held::Param),
            Operand::Value(value) => value,
        };
        self.left = self.left.checked_sub(1).ok_or(Stop::Unknown)?;
        if let Some(from) = self.incoming(value)? {
            return self.held(from);
        }
        match self.defs.of_operand(operand) {
            Some(&Inst { opcode: Opcode::Select, args: [mask, a, b] }) => {
                let chosen = if self.mask(mask)? { a } else { b };
                self.held(chosen)
            }
            Some(&Inst { opcode: Opcode::Add, args: [a, Operand::Const(bits), _] }) => {
                Ok(if self.held(a)? == Held::Param { Held::Step(bits) } else { Held::Other })
            }
            _ => Ok(Held::Other),
        }
    }

    /// Returns the operand that a phi selects; `None` if the value is not a phi.
    fn incoming(&mut self, value: Value) -> Result<Option<Operand>, Stop> {
        let Some((masks, phi)) = self.phis.get(value) else { return Ok(None) };
        for (mask, arm) in masks.into_iter().zip(phi.arms) {
            if self.mask(mask)? {
                return arm.or(phi.incoming).map(Some).ok_or(Stop::Unknown);
            }
        }
        phi.incoming.map(Some).ok_or(Stop::Unknown)
    }

    /// Returns whether a mask contains the lanes.
    fn mask(&mut self, operand: Operand) -> Result<bool, Stop> {
        let Operand::Value(value) = operand else { return Ok(operand != NONE) };
        if let Some((_, is_set)) = self.assumed.iter().find(|(mask, _)| *mask == value) {
            return Ok(*is_set);
        }
        self.left = self.left.checked_sub(1).ok_or(Stop::Unknown)?;
        if let Some(from) = self.incoming(value)? {
            return self.mask(from);
        }
        match self.defs.of_operand(operand) {
            Some(&Inst { opcode: Opcode::And, args: [a, b, _] }) => {
                Ok(self.mask(a)? && self.mask(b)?)
            }
            Some(&Inst { opcode: Opcode::Or, args: [a, b, _] }) => {
                Ok(self.mask(a)? || self.mask(b)?)
            }
            Some(&Inst { opcode: Opcode::AndNot, args: [a, b, _] }) => {
                Ok(self.mask(a)? && !self.mask(b)?)
            }
            Some(&Inst { opcode: Opcode::Select, args: [mask, a, b] }) => {
                let chosen = if self.mask(mask)? { a } else { b };
                self.mask(chosen)
            }
            // Comparisons of truth values.
            Some(&Inst {
                opcode: opcode @ (Opcode::Lt | Opcode::Ge | Opcode::Eq | Opcode::Ne),
                args: [a, b, _],
            }) => match (self.held(a)?, self.held(b)?) {
                (Held::Const(a), Held::Const(b)) => const_eval::evaluate(opcode, [a, b, 0])
                    .map(|bits| bits != 0)
                    .ok_or(Stop::Unknown),
                _ => Err(Stop::Undecided(value)),
            },
            _ => Err(Stop::Undecided(value)),
        }
    }
}
