//! The IR verifier: checks that a function is well-formed.
//!
//! - Every value has one definition, which dominates its uses: it precedes them in their region or in an
//!   enclosing one. Phis and loop parameters are visible after their branch or loop; other definitions in an arm or
//!   a body are not.
//! - Operands and results have the types of their operation; a constant mask is full or
//!   empty. Arguments beyond an operation's arity are [`NONE`].
//! - The masks of a branch's arms are disjoint. This is tested, not proved: the masks are evaluated on
//!   pseudo-random bits for their comparisons, phis and parameters. An overlap that needs many of
//!   these bits to coincide may go unnoticed; disjoint masks always pass.
//! - A loop has at least one iteration, and its parameters have no other definitions.

use super::{EntityMap, Fetch, Function, If, Inst, Loop, NONE, Opcode, Operand, Stmt, Type, Value};

/// An error of the verifier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("after `{pass}`: {}{kind}", value.map_or(String::new(), |value| format!("{value}: ")))]
pub struct VerifyError {
    /// The pass after which the function was checked.
    pub pass: &'static str,
    /// The faulty value, if there is one.
    pub value: Option<Value>,
    /// The kind of error.
    pub kind: Malformed,
}

/// The kinds of errors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// A value is not in the function's table.
    #[error("the function has no such value")]
    UnknownValue,
    /// A value has two definitions.
    #[error("it is defined twice")]
    DefinedTwice,
    /// A use precedes the definition, or is in a region where the definition is not visible.
    #[error("it is used where its definition does not dominate")]
    NotDominated,
    /// An operand or a result does not have the type of its operation.
    #[error("it has type {found}, where {expected} is needed")]
    WrongType {
        /// The required type.
        expected: Type,
        /// The type of the value.
        found: Type,
    },
    /// A constant mask is neither full nor empty.
    #[error("the constant {0:#010x} is not a mask")]
    NotAMask(u32),
    /// An operation has an argument beyond its arity.
    #[error("its operation takes {0} arguments, but has more")]
    TooManyArguments(usize),
    /// The arms of a branch are not disjoint.
    #[error("the masks of a branch's arms ({0} and {1}) overlap")]
    OverlappingArms(Operand, Operand),
    /// A loop has no iterations.
    #[error("a loop has no iterations")]
    NoIterations,
}

/// Checks a function; `pass` is named in the error.
///
/// # Errors
/// [`VerifyError`] for the first fault.
pub fn verify(function: &Function, pass: &'static str) -> Result<(), VerifyError> {
    let count = function.values.len();
    let mut verifier = Verifier {
        function,
        scope: EntityMap::filled(count, Scope::Undefined),
        visible: Vec::new(),
        samples: EntityMap::filled(count, [0; SAMPLES]),
    };
    verifier.function().map_err(|(value, kind)| VerifyError { pass, value, kind })
}

/// Panics if a function is malformed, in builds with debug assertions.
pub(super) fn assert_valid(function: &Function, pass: &'static str) {
    if cfg!(debug_assertions)
        && let Err(error) = verify(function, pass)
    {
        unreachable!("{error}\n{function}");
    }
}

/// The visibility of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    Undefined,
    Visible,
    /// Defined in a region that has ended.
    Ended,
}

/// Words of sampled bits per mask.
const SAMPLES: usize = 4;

type Fault = (Option<Value>, Malformed);

struct Verifier<'a> {
    function: &'a Function,
    scope: EntityMap<Value, Scope>,
    /// The visible values, in definition order.
    visible: Vec<Value>,
    /// The bits of each mask, for pseudo-random bits of its leaves.
    samples: EntityMap<Value, [u64; SAMPLES]>,
}

impl Verifier<'_> {
    fn function(&mut self) -> Result<(), Fault> {
        for uniform in &self.function.uniforms {
            self.define(uniform.value, Type::F32)?;
        }
        self.list(&self.function.body)?;
        for color in self.function.colors.into_iter().flatten() {
            self.all_used(&color, Type::F32)?;
        }
        if let Some((depth, written)) = self.function.depth {
            self.used(depth, Type::F32)?;
            self.used(written, Type::Mask)?;
        }
        self.all_used(&self.function.results, Type::F32)
    }

    fn list(&mut self, list: &[Stmt]) -> Result<(), Fault> {
        list.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<(), Fault> {
        match stmt {
            Stmt::Def(value, inst) => self.inst(*value, inst),
            Stmt::Fetch(fetch) => self.fetch(fetch),
            Stmt::Discard(mask) | Stmt::Stat { mask, .. } | Stmt::GroupHazard(mask) => {
                self.used(*mask, Type::Mask)
            }
            Stmt::ConsumeFuel { .. } => Ok(()),
            Stmt::If(branch) => self.branch(branch),
            Stmt::Loop(repeat) => self.repeat(repeat),
        }
    }

    fn inst(&mut self, value: Value, inst: &Inst) -> Result<(), Fault> {
        let ty = self.type_of(value)?;
        let arity = inst.opcode.arity();
        let types = inst.opcode.operand_types(ty);
        for (arg, expected) in inst.args().iter().zip(types) {
            self.used(*arg, expected)?;
        }
        if inst.args[arity..].iter().any(|arg| *arg != NONE) {
            return Err((Some(value), Malformed::TooManyArguments(arity)));
        }
        self.define(value, inst.opcode.result_type().unwrap_or(ty))?;
        self.samples[value] = self.sample_inst(value, inst);
        Ok(())
    }

    fn fetch(&mut self, fetch: &Fetch) -> Result<(), Fault> {
        for coordinates in [fetch.strq, fetch.dx, fetch.dy] {
            self.all_used(&coordinates, Type::F32)?;
        }
        self.used(fetch.active, Type::Mask)?;
        fetch.texel.into_iter().flatten().try_for_each(|value| self.define(value, Type::F32))
    }

    fn branch(&mut self, branch: &If) -> Result<(), Fault> {
        self.all_used(&branch.masks, Type::Mask)?;
        let [a, b] = branch.masks.map(|mask| self.sample(mask));
        if a.iter().zip(b).any(|(a, b)| a & b != 0) {
            let [a, b] = branch.masks;
            return Err((a.value().or(b.value()), Malformed::OverlappingArms(a, b)));
        }
        for phi in &branch.phis {
            let ty = self.type_of(phi.value)?;
            phi.incoming.into_iter().try_for_each(|incoming| self.used(incoming, ty))?;
        }
        for (number, arm) in branch.arms.iter().enumerate() {
            let outside = self.visible.len();
            self.list(arm)?;
            for phi in &branch.phis {
                let ty = self.type_of(phi.value)?;
                phi.arms[number].into_iter().try_for_each(|from| self.used(from, ty))?;
            }
            self.end_region(outside);
        }
        branch.phis.iter().try_for_each(|phi| self.define_as_typed(phi.value))
    }

    fn repeat(&mut self, repeat: &Loop) -> Result<(), Fault> {
        if repeat.max_trips == 0 {
            let first = repeat.params.first().map(|param| param.value);
            return Err((first, Malformed::NoIterations));
        }
        for param in &repeat.params {
            let ty = self.type_of(param.value)?;
            self.used(param.init, ty)?;
        }
        repeat.params.iter().try_for_each(|param| self.define_as_typed(param.value))?;
        let outside = self.visible.len();
        self.list(&repeat.body)?;
        for param in &repeat.params {
            let ty = self.type_of(param.value)?;
            self.used(param.next, ty)?;
        }
        repeat.continue_mask.into_iter().try_for_each(|mask| self.used(mask, Type::Mask))?;
        self.end_region(outside);
        Ok(())
    }

    /// Hides the definitions of a region.
    fn end_region(&mut self, outside: usize) {
        for value in self.visible.drain(outside..) {
            self.scope[value] = Scope::Ended;
        }
    }

    fn type_of(&self, value: Value) -> Result<Type, Fault> {
        if !self.function.values.contains(value) {
            return Err((Some(value), Malformed::UnknownValue));
        }
        Ok(self.function.values[value].ty)
    }

    fn define(&mut self, value: Value, expected: Type) -> Result<(), Fault> {
        let found = self.type_of(value)?;
        if found != expected {
            return Err((Some(value), Malformed::WrongType { expected, found }));
        }
        if self.scope[value] != Scope::Undefined {
            return Err((Some(value), Malformed::DefinedTwice));
        }
        self.scope[value] = Scope::Visible;
        self.visible.push(value);
        self.samples[value] = random_bits(value);
        Ok(())
    }

    /// Defines a value of any type.
    fn define_as_typed(&mut self, value: Value) -> Result<(), Fault> {
        let ty = self.type_of(value)?;
        self.define(value, ty)
    }

    fn used(&self, operand: Operand, expected: Type) -> Result<(), Fault> {
        let value = match operand {
            Operand::Const(bits) if expected == Type::Mask && bits != 0 && bits != !0 => {
                return Err((None, Malformed::NotAMask(bits)));
            }
            Operand::Const(_) => return Ok(()),
            Operand::Value(value) => value,
        };
        let found = self.type_of(value)?;
        if self.scope[value] != Scope::Visible {
            return Err((Some(value), Malformed::NotDominated));
        }
        if found != expected {
            return Err((Some(value), Malformed::WrongType { expected, found }));
        }
        Ok(())
    }

    fn all_used(&self, operands: &[Operand], expected: Type) -> Result<(), Fault> {
        operands.iter().try_for_each(|operand| self.used(*operand, expected))
    }

    fn sample(&self, mask: Operand) -> [u64; SAMPLES] {
        match mask {
            Operand::Const(0) => [0; SAMPLES],
            Operand::Const(_) => [!0; SAMPLES],
            Operand::Value(value) => self.samples[value],
        }
    }

    /// Returns the sampled bits of an operation on masks; random ones for others.
    fn sample_inst(&self, value: Value, inst: &Inst) -> [u64; SAMPLES] {
        let [a, b, c] = inst.args.map(|arg| self.sample(arg));
        std::array::from_fn(|i| match inst.opcode {
            Opcode::And => a[i] & b[i],
            Opcode::Or => a[i] | b[i],
            Opcode::AndNot => a[i] & !b[i],
            Opcode::Select => a[i] & b[i] | !a[i] & c[i],
            _ => random_bits(value)[i],
        })
    }
}

/// Returns pseudo-random bits that depend on a value's number only (SplitMix64).
fn random_bits(value: Value) -> [u64; SAMPLES] {
    std::array::from_fn(|i| {
        let mut x = (u64::from(value.0) * SAMPLES as u64 + i as u64 + 1)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    })
}
