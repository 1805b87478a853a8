//! Symbolic execution: what a program writes to its outputs, as expressions of inputs and constants, for a proof that two programs compute
//! the same.
//!
//! Flow control depends on no register, so a program executes the same instructions for every vertex; a predicate selects between values.
//! Each component of each register is a value of a table in which equal expressions have one number. Two programs whose outputs are the same
//! numbers are equal for all vertices. The reverse does not hold: expressions of different form may have the same value.

use std::collections::{BTreeMap, HashMap};

use r500_chip::pvs::{
    Addressing, DstType, INPUTS, MacroOp, MathOp, OUTPUTS, Op, SrcType, VectorOp,
};

use super::fixed_point::Changeable;
use super::flow::{FlowControl, Sequencer};
use super::{ALT_TEMPORARIES, DecodedOp, Destination, Operand, SIGN, TEMPORARIES, ZERO};
use crate::Program;

/// Whether two programs compute the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Equality {
    /// They write the same bits to each output, for all inputs and all values of the constants that are not given, but for the payload of a
    /// NaN.
    Proved,
    /// Outputs whose expressions differ. They may have the same values.
    Unproved {
        /// Their numbers, ascending.
        outputs: Vec<u8>,
    },
    /// A program does what has no expressions here.
    Unknown {
        /// 0 for the first program, 1 for the second.
        program: usize,
        /// What that is.
        why: &'static str,
    },
}

/// Constants that have a value, as bits; others have any value, which is the same in both programs.
pub type GivenConstants = BTreeMap<u8, [u32; 4]>;

/// Tries to prove that two programs compute the same outputs.
#[must_use]
pub fn prove_equal(programs: [(&Program, &GivenConstants); 2]) -> Equality {
    let mut values = Values::default();
    let mut outputs = Vec::new();
    for (n, (program, constants)) in programs.into_iter().enumerate() {
        match Machine::new(&mut values, constants).run(program) {
            Ok(found) => outputs.push(found),
            Err(why) => return Equality::Unknown { program: n, why },
        }
    }
    let [a, b] = &outputs[..] else { unreachable!("there are two programs") };
    let differ = (0..OUTPUTS).filter(|n| a[*n] != b[*n]).map(|n| n as u8).collect::<Vec<_>>();
    if differ.is_empty() { Equality::Proved } else { Equality::Unproved { outputs: differ } }
}

/// A value: an index of the table.
type Value = u32;

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Expression {
    /// A number, as bits.
    Bits(u32),
    /// A component of an input, or of a constant without a value.
    Input(u8, u8),
    Constant(u8, u8),
    /// A component of the constant at an address in A0, with an offset.
    Relative(Value, u8, u8),
    /// `|x|` and `-x`.
    Absolute(Value),
    Negate(Value),
    /// The clamp to 0..1.
    Saturate(Value),
    /// A component of the result of an operation on components of its sources.
    Result(Operation, Vec<Value>, u8),
    /// A ? B : C; A is a predicate, or the condition of an operation.
    Select(Value, Value, Value),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Operation {
    Vector(u8),
    Math(u8),
    /// Whether the operation sets the predicate, or writes a component.
    Condition(u8, bool),
}

#[derive(Debug, Default)]
struct Values {
    numbers: HashMap<Expression, Value>,
}

impl Values {
    fn of(&mut self, expression: Expression) -> Value {
        let next = self.numbers.len() as Value;
        *self.numbers.entry(expression).or_insert(next)
    }

    fn bits(&mut self, bits: u32) -> Value {
        self.of(Expression::Bits(bits))
    }
}

/// The registers of a program, as values.
struct Machine<'a> {
    values: &'a mut Values,
    constants: &'a GivenConstants,
    temporaries: Vec<[Value; 4]>,
    alternates: Vec<[Value; 4]>,
    outputs: Vec<[Value; 4]>,
    address: [Value; 4],
    predicate: Value,
    loop_index: i32,
}

/// Instructions after which a program is given up, and expressions.
const MOST_STEPS: usize = 1 << 16;
const MOST_VALUES: usize = 1 << 20;

type Given<T> = Result<T, &'static str>;

impl<'a> Machine<'a> {
    fn new(values: &'a mut Values, constants: &'a GivenConstants) -> Self {
        let zero = values.bits(0);
        Self {
            values,
            constants,
            temporaries: vec![[zero; 4]; TEMPORARIES],
            alternates: vec![[zero; 4]; ALT_TEMPORARIES],
            outputs: vec![[zero; 4]; OUTPUTS],
            address: [zero; 4],
            // False.
            predicate: zero,
            loop_index: 0,
        }
    }

    /// Returns the outputs at the end of a program.
    fn run(mut self, program: &Program) -> Given<Vec<[Value; 4]>> {
        let (first, instructions) = program.instructions();
        let ops: Vec<DecodedOp> = instructions.iter().map(|inst| (*inst).into()).collect();
        let changeable = Changeable::new(&ops);
        let flow = FlowControl::new(program.controls());
        let mut sequencer = Sequencer::new(&flow, changeable.loop_index);
        let mut steps = 0;
        while let Some(pc) = sequencer.pc() {
            steps += 1;
            if steps > MOST_STEPS || self.values.numbers.len() > MOST_VALUES {
                return Err("it executes too many instructions");
            }
            self.loop_index = sequencer.loop_index();
            if let Some(op) = pc.checked_sub(first).and_then(|n| ops.get(n)) {
                self.execute(op)?;
            }
            // Values that an iteration leaves as they were end a loop here, too.
            sequencer.step(|bits| {
                bits.clear();
                bits.push(self.predicate);
                bits.extend(self.address);
                let memories = [&self.temporaries[..], &self.alternates, &self.outputs];
                changeable.each(memories, |values| bits.extend(values));
            });
        }
        Ok(self.outputs)
    }

    fn execute(&mut self, op: &DecodedOp) -> Given<()> {
        let mut sources = [[0; 4]; 3];
        for (values, source) in sources.iter_mut().zip(&op.sources) {
            *values = self.read(source)?;
        }
        let dual = match op.dual {
            Some(dual) => Some((dual, self.read(&dual.source)?)),
            None => None,
        };
        let guard = op.predicate.map(|sense| (self.predicate, sense));
        let (mut result, effect, saturate) = match op.op {
            Op::Vector(vector) => {
                let (result, effect) = self.vector(vector, sources);
                (result, effect, op.ve_sat)
            }
            Op::Macro(kind) => {
                let result = match kind {
                    MacroOp::MADD => self.vector(VectorOp::MULTIPLY_ADD, sources).0,
                    MacroOp::M2X_ADD => self.vector(VectorOp::MULTIPLYX2_ADD, sources).0,
                    // Reserved.
                    _ => [self.values.bits(0); 4],
                };
                (result, Effect::None, op.ve_sat)
            }
            Op::Math(math) => {
                let [a, b, c] = sources.map(|source| source[3]);
                let (result, effect) = self.math(math, [a, b, c], sources[0]);
                (result, effect, op.me_sat)
            }
        };
        if saturate {
            result = result.map(|value| self.values.of(Expression::Saturate(value)));
        }
        let mut written = op.dst.mask.map(|write| write.then_some(None));
        match effect {
            Effect::None => {}
            Effect::Nothing => written = [None; 4],
            Effect::Predicate(value) => self.predicate = self.guarded(guard, value, self.predicate),
            Effect::Conditions(conditions) => {
                for (written, condition) in written.iter_mut().zip(conditions) {
                    *written = written.map(|_| Some(condition));
                }
            }
        }
        self.write(op, guard, result, written)?;
        if let Some((dual, source)) = dual {
            let (result, effect) = self.math(dual.op, [source[0], source[1], source[1]], source);
            match effect {
                Effect::Predicate(value) => {
                    self.predicate = self.guarded(guard, value, self.predicate);
                }
                // A second operation that does nothing writes 0, as the interpreter does.
                Effect::None | Effect::Nothing | Effect::Conditions(_) => {}
            }
            let mut value = result[dual.channel];
            if op.me_sat {
                value = self.values.of(Expression::Saturate(value));
            }
            let register = usize::from(dual.register);
            let old = self.alternates[register][dual.channel];
            self.alternates[register][dual.channel] = self.guarded(guard, value, old);
        }
        Ok(())
    }

    /// Returns the new value where the guard holds, else the old one.
    fn guarded(&mut self, guard: Option<(Value, bool)>, new: Value, old: Value) -> Value {
        match guard {
            None => new,
            Some((predicate, true)) => self.select(predicate, new, old),
            Some((predicate, false)) => self.select(predicate, old, new),
        }
    }

    fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        if yes == no {
            return yes;
        }
        // A predicate that no instruction has set is false.
        if condition == self.values.bits(0) {
            return no;
        }
        self.values.of(Expression::Select(condition, yes, no))
    }

    fn read(&mut self, operand: &Operand) -> Given<[Value; 4]> {
        let Operand { ty, offset, addressing, modifiers } = *operand;
        let zero = self.values.bits(0);
        let mut register = [zero; 4];
        if modifiers.select.iter().any(|select| *select < ZERO) {
            register = self.register(ty, offset, addressing)?;
        }
        let mut values = [zero; 4];
        for (n, value) in values.iter_mut().enumerate() {
            *value = match modifiers.select[n] {
                select @ 0..ZERO => register[usize::from(select)],
                ZERO => zero,
                _ => self.values.bits(1.0_f32.to_bits()),
            };
            if modifiers.keep != u32::MAX {
                *value = self.values.of(Expression::Absolute(*value));
            }
            if modifiers.flip[n] == SIGN {
                *value = self.values.of(Expression::Negate(*value));
            }
        }
        Ok(values)
    }

    fn register(&mut self, ty: SrcType, offset: u8, addressing: Addressing) -> Given<[Value; 4]> {
        let zero = self.values.bits(0);
        if let Addressing::A0(component) = addressing {
            let address = self.address[usize::from(component.code() & 3)];
            return match ty {
                SrcType::CONSTANT if self.constants.is_empty() => {
                    Ok([0, 1, 2, 3]
                        .map(|n| self.values.of(Expression::Relative(address, offset, n))))
                }
                SrcType::CONSTANT => Err("it reads a constant by an address, and some have values"),
                _ => Err("it reads a register by an address"),
            };
        }
        let index = if addressing == Addressing::LoopIndex { self.loop_index } else { 0 };
        let at = i32::from(offset) + index;
        let held = |memory: &[[Value; 4]]| {
            usize::try_from(at).ok().and_then(|at| memory.get(at)).copied().unwrap_or([zero; 4])
        };
        Ok(match ty {
            SrcType::INPUT => match u8::try_from(at) {
                Ok(n) if usize::from(n) < INPUTS => {
                    [0, 1, 2, 3].map(|c| self.values.of(Expression::Input(n, c)))
                }
                _ => [zero; 4],
            },
            SrcType::CONSTANT => match u8::try_from(at) {
                Ok(n) => match self.constants.get(&n) {
                    Some(bits) => bits.map(|bits| self.values.bits(bits)),
                    None => [0, 1, 2, 3].map(|c| self.values.of(Expression::Constant(n, c))),
                },
                Err(_) => [zero; 4],
            },
            SrcType::ALT_TEMPORARY => held(&self.alternates),
            _ => held(&self.temporaries),
        })
    }

    fn write(
        &mut self,
        op: &DecodedOp,
        guard: Option<(Value, bool)>,
        result: [Value; 4],
        written: [Option<Option<Value>>; 4],
    ) -> Given<()> {
        let dst = &op.dst;
        if let Addressing::A0(_) = dst.addressing
            && dst.ty != DstType::A0
        {
            return Err("it writes a register by an address");
        }
        let Some(&mut mut register) = self.destination(dst) else { return Ok(()) };
        for n in 0..4 {
            let Some(condition) = written[n] else { continue };
            let mut value = if dst.ty == DstType::OUT_REPL_X { result[0] } else { result[n] };
            if let Some(condition) = condition {
                value = self.values.of(Expression::Select(condition, value, register[n]));
            }
            register[n] = self.guarded(guard, value, register[n]);
        }
        if let Some(to) = self.destination(dst) {
            *to = register;
        }
        Ok(())
    }

    /// Returns the register that an instruction writes; `None` if there is none.
    fn destination(&mut self, dst: &Destination) -> Option<&mut [Value; 4]> {
        let index = if dst.addressing == Addressing::LoopIndex { self.loop_index } else { 0 };
        let at = usize::try_from(i32::from(dst.offset) + index);
        match dst.ty {
            DstType::A0 => Some(&mut self.address),
            DstType::OUT | DstType::OUT_REPL_X => self.outputs.get_mut(at.ok()?),
            DstType::ALT_TEMPORARY => self.alternates.get_mut(at.ok()?),
            DstType::INPUT => None,
            _ => self.temporaries.get_mut(at.ok()?),
        }
    }

    /// An operation whose component n is a function of component n of its sources.
    fn each(&mut self, operation: Operation, sources: [[Value; 4]; 3], count: usize) -> [Value; 4] {
        std::array::from_fn(|n| {
            let operands = sources.iter().take(count).map(|source| source[n]).collect();
            self.values.of(Expression::Result(operation, operands, 0))
        })
    }

    fn vector(&mut self, op: VectorOp, sources: [[Value; 4]; 3]) -> ([Value; 4], Effect) {
        let operation = Operation::Vector(op.code());
        let [a, b, c] = sources;
        let zero = self.values.bits(0);
        let result = match op {
            VectorOp::NOP => return ([zero; 4], Effect::Nothing),
            VectorOp::DOT_PRODUCT => {
                let operands = [a, b].concat();
                [self.values.of(Expression::Result(operation, operands, 0)); 4]
            }
            // Products and sums do not depend on the order of two operands.
            VectorOp::MULTIPLY
            | VectorOp::ADD
            | VectorOp::MULTIPLY_ADD
            | VectorOp::MULTIPLYX2_ADD => {
                let pairs: [[Value; 2]; 4] = std::array::from_fn(|n| {
                    let mut pair = [a[n], b[n]];
                    pair.sort_unstable();
                    pair
                });
                let sorted = [pairs.map(|pair| pair[0]), pairs.map(|pair| pair[1]), c];
                let sums = matches!(op, VectorOp::MULTIPLY_ADD | VectorOp::MULTIPLYX2_ADD);
                self.each(operation, sorted, if sums { 3 } else { 2 })
            }
            VectorOp::COND_MUX_EQ | VectorOp::COND_MUX_GT | VectorOp::COND_MUX_GTE => {
                self.each(operation, sources, 3)
            }
            VectorOp::FRACTION | VectorOp::FLT2FIX_DX | VectorOp::FLT2FIX_DX_RND => {
                self.each(operation, sources, 1)
            }
            VectorOp::MAXIMUM
            | VectorOp::MINIMUM
            | VectorOp::SET_GREATER_THAN_EQUAL
            | VectorOp::SET_LESS_THAN
            | VectorOp::SET_GREATER_THAN
            | VectorOp::SET_EQUAL
            | VectorOp::SET_NOT_EQUAL
            | VectorOp::MULTIPLY_CLAMP => self.each(operation, sources, 2),
            VectorOp::COND_WRITE_EQ
            | VectorOp::COND_WRITE_GT
            | VectorOp::COND_WRITE_GTE
            | VectorOp::COND_WRITE_NEQ => {
                let condition = Operation::Condition(op.code(), false);
                return (b, Effect::Conditions(self.each(condition, sources, 1)));
            }
            VectorOp::PRED_SET_EQ_PUSH
            | VectorOp::PRED_SET_GT_PUSH
            | VectorOp::PRED_SET_GTE_PUSH
            | VectorOp::PRED_SET_NEQ_PUSH => {
                let operands = vec![a[3], b[3]];
                let counter = Expression::Result(operation, operands.clone(), 0);
                let counter = self.values.of(counter);
                let condition = Operation::Condition(op.code(), false);
                let predicate = self.values.of(Expression::Result(condition, operands, 0));
                return ([counter; 4], Effect::Predicate(predicate));
            }
            _ => {
                let operands = sources.concat();
                std::array::from_fn(|n| {
                    let expression = Expression::Result(operation, operands.clone(), n as u8);
                    self.values.of(expression)
                })
            }
        };
        (result, Effect::None)
    }

    /// `scalars` are the operands, `light` the whole first source.
    fn math(&mut self, op: MathOp, scalars: [Value; 3], light: [Value; 4]) -> ([Value; 4], Effect) {
        let operation = Operation::Math(op.code());
        let operands = match op {
            MathOp::NOP => return ([self.values.bits(0); 4], Effect::Nothing),
            MathOp::LIGHT_COEFF_DX => light.to_vec(),
            MathOp::MULTIPLY => scalars[..2].to_vec(),
            MathOp::POWER_FUNC_FF
            | MathOp::POWER_FUNC_FF_CLAMP_B
            | MathOp::POWER_FUNC_FF_CLAMP_B1
            | MathOp::POWER_FUNC_FF_CLAMP_01 => vec![scalars[0], scalars[2]],
            _ => vec![scalars[0]],
        };
        let components = match op {
            MathOp::EXP_BASE2_DX | MathOp::LOG_BASE2_DX | MathOp::LIGHT_COEFF_DX => [0, 1, 2, 3],
            _ => [0; 4],
        };
        let result =
            components.map(|n| self.values.of(Expression::Result(operation, operands.clone(), n)));
        let sets = [
            MathOp::PRED_SET_EQ,
            MathOp::PRED_SET_GT,
            MathOp::PRED_SET_GTE,
            MathOp::PRED_SET_NEQ,
            MathOp::PRED_SET_CLR,
            MathOp::PRED_SET_INV,
            MathOp::PRED_SET_POP,
            MathOp::PRED_SET_RESTORE,
        ];
        if !sets.contains(&op) {
            return (result, Effect::None);
        }
        let condition = Operation::Condition(op.code(), true);
        let predicate = self.values.of(Expression::Result(condition, operands, 0));
        (result, Effect::Predicate(predicate))
    }
}

/// The effect of an instruction besides its result.
enum Effect {
    None,
    /// It writes nothing.
    Nothing,
    Predicate(Value),
    /// It writes a component where its condition holds.
    Conditions([Value; 4]),
}
