//! Constants that change from drawing to drawing.
//!
//! The lifter folds what is bound into the function, so an animation makes a function of its own for
//! each picture: the same operations, some constants different. Compiling each would be for nothing.
//! A [`SpecializationHistory`] remembers functions by what they are beside their constants; a constant that was
//! seen to change becomes a value that is given with the drawing, and from the third picture on the
//! same code draws them all.

use std::collections::HashMap;

use r500_fast::Simd;
use r500_ir::{Function, Inst, Opcode, Operand, Stmt, Type, Value, ValueData};

use r500_fast::codegen::{Compiler, NativeCode, ResourceLayout};

use crate::cache_key::CacheKey;

/// Functions that were drawn, by what they are beside their constants.
#[derive(Debug, Default)]
pub(crate) struct SpecializationHistory {
    seen: HashMap<CacheKey, Seen>,
    /// Counts drawings.
    now: u64,
}

#[derive(Debug)]
struct Seen {
    /// The constants of the last drawing, in the order of the function.
    last: Vec<u32>,
    /// Which of them have changed.
    changing: Vec<bool>,
    used: u64,
}

/// Functions to remember.
const MOST: usize = 64;

/// Constants that may become values; a function in which more change is taken as it is.
const PARAMETERS: usize = 48;

/// A function with what has to be given to it.
#[derive(Clone, Debug)]
pub(crate) struct SpecializedFunction {
    /// The function.
    pub(crate) function: Function,
    /// Its parameters: values that nothing in it makes, and their bits, the same for every pixel.
    pub(crate) parameters: Vec<(Value, u32)>,
    /// What the drawing binds.
    pub(crate) sources: ResourceLayout,
}

impl SpecializedFunction {
    /// Its code, by a compiler.
    pub(crate) fn compile(&self, simd: Simd, compiler: &dyn Compiler) -> NativeCode {
        NativeCode::compile(&self.function, &self.parameters, &self.sources, simd, compiler)
    }
}

impl SpecializationHistory {
    /// The function with parameters for those constants that are known to change.
    pub(crate) fn specialize(
        &mut self,
        function: Function,
        sources: ResourceLayout,
    ) -> SpecializedFunction {
        let mut bare = function.clone();
        let mut constants = Vec::new();
        each_constant(&mut bare.body, &mut |operand, bits| {
            constants.push(bits);
            *operand = Operand::Const(1);
        });
        self.now += 1;
        let now = self.now;
        let key = CacheKey::of_function(&bare);
        if self.seen.len() >= MOST && !self.seen.contains_key(&key) {
            self.forget();
        }
        let seen = self.seen.entry(key).or_insert_with(|| Seen {
            last: constants.clone(),
            changing: vec![false; constants.len()],
            used: now,
        });
        seen.used = now;
        let pairs = seen.last.iter().zip(&constants);
        for ((last, constant), changing) in pairs.zip(&mut seen.changing) {
            *changing |= last != constant;
        }
        seen.last = constants;
        specialize_constants(function, sources, &seen.changing)
    }

    /// Forgets the function that was not drawn for longest.
    fn forget(&mut self) {
        let oldest = self.seen.iter().min_by_key(|(_, seen)| seen.used);
        if let Some(key) = oldest.map(|(key, _)| key.clone()) {
            self.seen.remove(&key);
        }
    }
}

/// A function with values for constants, by their numbers. Equal ones share a value only if they do
/// in every drawing, so they do not.
fn specialize_constants(
    mut function: Function,
    sources: ResourceLayout,
    changing: &[bool],
) -> SpecializedFunction {
    let mut parameters = Vec::new();
    let count = changing.iter().filter(|changing| **changing).count();
    if (1..=PARAMETERS).contains(&count) {
        let mut numbers = changing.iter();
        let Function { values, uniforms, body, .. } = &mut function;
        each_constant(body, &mut |operand, bits| {
            if numbers.next() == Some(&true) {
                let value = values.push(ValueData::new(Type::F32));
                uniforms.push(value);
                parameters.push((value, bits));
                *operand = Operand::Value(value);
            }
        });
    }
    SpecializedFunction { function, parameters, sources }
}

/// Calls `f` with each constant that is a number and that machine code would hold, in the order of
/// the function. Zeros are none, nor are masks: the form of a function depends on them.
fn each_constant(list: &mut [Stmt], f: &mut dyn FnMut(&mut Operand, u32)) {
    let visit = |operand: &mut Operand, f: &mut dyn FnMut(&mut Operand, u32)| match *operand {
        Operand::Const(0 | u32::MAX) | Operand::Value(_) => {}
        Operand::Const(bits) => f(operand, bits),
    };
    for stmt in list {
        match stmt {
            Stmt::Def(_, inst) => numbers(inst).iter_mut().for_each(|operand| visit(operand, f)),
            Stmt::If(branch) => {
                for phi in &mut branch.phis {
                    let operands = phi.incoming.iter_mut().chain(phi.arms.iter_mut().flatten());
                    operands.for_each(|operand| visit(operand, f));
                }
                branch.arms.iter_mut().for_each(|arm| each_constant(arm, f));
            }
            Stmt::Loop(repeat) => {
                for param in &mut repeat.params {
                    visit(&mut param.init, f);
                    visit(&mut param.next, f);
                }
                each_constant(&mut repeat.body, f);
            }
            _ => {}
        }
    }
}

/// The arguments of an operation that are numbers.
fn numbers(inst: &mut Inst) -> &mut [Operand] {
    let arity = inst.opcode.arity();
    match inst.opcode {
        Opcode::And | Opcode::Or | Opcode::AndNot => &mut [],
        Opcode::Select => &mut inst.args[1..arity],
        _ => &mut inst.args[..arity],
    }
}
