//! The interpreter of vertex programs.
//!
//! | rule | evidence |
//! | --- | --- |
//! | zero times anything is zero; arithmetic and comparisons as in the fragment processor, so denormals are zeros, also in predicate counters and addresses | observed; rounding and denormals open |
//! | constants outside 0..255 read 0 | Mesa |
//! | an instruction reads all operands before it writes | documented |
//! | the predicate is one bit, true if the predicate instruction's result is 0; `PRED_ENABLE` also guards predicate instructions | observed: breaks of compiled loops need it |
//! | a flow-control instruction takes effect after `ACT_ADRS`; several loops may end at one instruction | observed |
//! | loops with a common start are entered outermost first, and inner ones again in each iteration of an outer one with the same start | derived |
//! | a loop ends early if an iteration changes nothing; the result is that of all iterations | derived |
//! | transcendental functions are those of the fragment processor | open |
//! | `ME_SIN` and `ME_COS` take radians; angles outside -pi to pi count as the nearest end, not as an angle of the same direction | observed: assemblers for this chip demand reduced angles, and drivers reduce them |

mod batch;
mod execution;
mod fixed_point;
mod flow;
mod flow_graph;
mod flow_tree;
mod math;
mod symbolic;
mod vector;

pub use batch::{BATCH, BatchMemory};
pub use execution::{Execution, Step, VertexState, Write, WrittenRegisters};
pub use flow::Running;
pub use flow_graph::{FlowBlock, FlowEdge, FlowGraph};
pub use flow_tree::{FlowLoop, FlowNode, FlowTreeError};
pub use math::scalar;
pub use symbolic::{Equality, GivenConstants, prove_equal};
pub use vector::component;

use r500_chip::pvs::{
    Addressing, CONSTANTS, Dst, DstType, INPUTS, MathOp, OUTPUTS, Op, Src, SrcType, Swizzle,
};
use r500_numerics::Arith;

use crate::{Instruction, Program};
use batch::BatchCode;
use fixed_point::Changeable;
use flow::FlowControl;
use math::Scalars;

/// Number of temporaries of a vertex.
pub const TEMPORARIES: usize = 128;
/// Number of alternate temporaries of a vertex.
pub const ALT_TEMPORARIES: usize = 128;

/// The arithmetic of vertex programs.
const ARITH: Arith = Arith::REFERENCE.with_zero_rule(true);

/// A decoded vertex program with its constants, which runs for one vertex after the other.
#[derive(Clone, Debug)]
pub struct Interpreter {
    ops: Vec<DecodedOp>,
    first: usize,
    flow: FlowControl,
    changeable: Changeable,
    batch: BatchCode,
    constants: Vec<[f32; 4]>,
    base: i32,
}

#[derive(Clone, Copy, Debug)]
struct DecodedOp {
    op: Op,
    dst: Destination,
    sources: [Operand; 3],
    dual: Option<DecodedDual>,
    ve_sat: bool,
    me_sat: bool,
    /// Executes only if the predicate has this value.
    predicate: Option<bool>,
}

/// The second operation of an instruction, of the math engine. It writes a component of an alternate temporary.
#[derive(Clone, Copy, Debug)]
struct DecodedDual {
    op: MathOp,
    source: Operand,
    register: u8,
    channel: usize,
}

#[derive(Clone, Copy, Debug)]
struct Destination {
    ty: DstType,
    offset: u8,
    addressing: Addressing,
    mask: [bool; 4],
}

#[derive(Clone, Copy, Debug)]
struct Operand {
    ty: SrcType,
    offset: u8,
    addressing: Addressing,
    modifiers: Modifiers,
}

/// Swizzle and signs of an operand, as indices and bits.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Modifiers {
    /// A component, 0 to 3, or [`ZERO`] or [`ONE`].
    select: [u8; 4],
    /// Bits that stay: all, or all but the sign.
    keep: u32,
    /// Bits that are inverted.
    flip: [u32; 4],
}

const ZERO: u8 = 4;
const ONE: u8 = 5;
const SIGN: u32 = 1 << 31;

impl From<Src> for Operand {
    fn from(src: Src) -> Self {
        Self {
            ty: src.reg_type(),
            offset: src.offset(),
            addressing: src.addressing(),
            modifiers: Modifiers {
                select: src.swizzle().map(|select| match select {
                    Swizzle::ONE => ONE,
                    select if select.code() < 4 => select.code(),
                    // Reserved codes read 0 (open).
                    _ => ZERO,
                }),
                keep: if src.abs_xyzw() { !SIGN } else { u32::MAX },
                flip: src.negate().map(|negate| if negate { SIGN } else { 0 }),
            },
        }
    }
}

impl Modifiers {
    #[inline(always)]
    fn apply(&self, [x, y, z, w]: [f32; 4]) -> [f32; 4] {
        // As long as an index of three bits can be.
        let all = [x, y, z, w, 0.0, 1.0, 0.0, 0.0];
        std::array::from_fn(|i| {
            let bits = all[usize::from(self.select[i] & 7)].to_bits();
            f32::from_bits(bits & self.keep ^ self.flip[i])
        })
    }
}

/// Returns what an addressing mode adds to the number of a register.
fn relative(addressing: Addressing, address: [i32; 4], loop_index: i32) -> i32 {
    match addressing {
        Addressing::A0(component) => address[usize::from(component.code() & 3)],
        Addressing::LoopIndex => loop_index,
        Addressing::Absolute | Addressing::Reserved => 0,
    }
}

/// Converts a value that is written to A0. It saturates far outside of every addressable range.
fn address(x: f32) -> i32 {
    (ARITH.floor(x) as i32).clamp(-65_536, 65_536)
}

/// Returns a register; `None` outside of the memory.
fn register<R>(memory: &[R], at: i32) -> Option<&R> {
    usize::try_from(at).ok().and_then(|at| memory.get(at))
}

impl From<Instruction> for DecodedOp {
    fn from(inst: Instruction) -> Self {
        let dst: Dst = inst.dst();
        Self {
            op: inst.op(),
            dst: Destination {
                ty: dst.reg_type(),
                offset: dst.offset(),
                addressing: dst.addressing(),
                mask: dst.write_mask(),
            },
            sources: inst.sources().map(Operand::from),
            dual: inst.dual_math().map(|dual| DecodedDual {
                op: dual.op(),
                source: dual.source().into(),
                register: dual.dst_offset(),
                channel: dual.dst_we_sel().code().into(),
            }),
            ve_sat: dst.ve_sat(),
            me_sat: dst.me_sat(),
            predicate: dst.pred_enable().then(|| dst.pred_sense()),
        }
    }
}

/// The registers of a vertex during its program.
#[derive(Clone, Debug)]
struct Registers {
    inputs: [[f32; 4]; INPUTS],
    temporaries: [[f32; 4]; TEMPORARIES],
    alternates: [[f32; 4]; ALT_TEMPORARIES],
    outputs: [[f32; 4]; OUTPUTS],
    address: [i32; 4],
    loop_index: i32,
    predicate: bool,
}

impl Interpreter {
    /// Decodes a program. `constants` are the vectors of constant memory from 0 on; missing ones read 0.
    #[must_use]
    pub fn new(program: &Program, constants: &[[f32; 4]]) -> Self {
        let controls = program.controls();
        let (first, instructions) = program.instructions();
        let ops: Vec<DecodedOp> = instructions.iter().map(|inst| (*inst).into()).collect();
        Self {
            first,
            flow: FlowControl::new(controls),
            changeable: Changeable::new(&ops),
            batch: BatchCode::new(&ops),
            ops,
            constants: constants.to_vec(),
            base: controls.constants.pvs_const_base_offset().into(),
        }
    }

    /// Runs the program for a vertex. `before_each` is called before each instruction and can end the run; outputs hold what
    /// instructions have written by then. A program may be endless.
    ///
    /// # Errors
    /// That of `before_each`.
    pub fn run<E>(
        &self,
        inputs: &[[f32; 4]; INPUTS],
        outputs: &mut [[f32; 4]; OUTPUTS],
        mut before_each: impl FnMut() -> Result<(), E>,
    ) -> Result<(), E> {
        let mut execution = self.start(inputs);
        let mut result = Ok(());
        while execution.address().is_some() {
            result = before_each();
            if result.is_err() {
                break;
            }
            execution.step();
        }
        *outputs = *execution.outputs();
        result
    }

    /// Begins the program for a vertex.
    #[must_use]
    pub fn start(&self, inputs: &[[f32; 4]; INPUTS]) -> Execution<'_> {
        Execution::new(self, inputs)
    }

    /// Returns `const[n]` as instructions read it: 0 if it is missing.
    #[must_use]
    pub fn constant_at(&self, n: u8) -> [f32; 4] {
        self.constant(n.into())
    }

    /// Replaces vectors of constant memory from 0 on; missing ones read 0.
    pub fn set_constants(&mut self, constants: &[[f32; 4]]) {
        self.constants.clear();
        self.constants.extend_from_slice(constants);
    }

    #[inline]
    fn execute(&self, op: &DecodedOp, registers: &mut Registers, observer: &mut impl Observe) {
        if op.predicate.is_some_and(|sense| registers.predicate != sense) {
            return;
        }
        let [a, b, c] = op.sources.map(|source| self.read(&source, registers));
        // The second instruction's operands are read before the first one writes.
        let dual = op.dual.map(|dual| (dual, self.read(&dual.source, registers)));
        observer.reads([a, b, c], dual.map(|(_, source)| source));
        let (result, condition, saturate) = match op.op {
            Op::Vector(vector) => {
                let result = vector::execute(vector, [a, b, c]);
                (result.value, result.effect, op.ve_sat)
            }
            Op::Math(math) => {
                let result = math::execute(math, Scalars::of_instruction([a, b, c]));
                (result.value, result.effect, op.me_sat)
            }
            Op::Macro(kind) => {
                let result = vector::execute_macro(kind, [a, b, c]);
                (result.value, result.effect, op.ve_sat)
            }
        };
        let mut mask = op.dst.mask;
        match condition {
            Effect::None => {}
            Effect::Predicate(predicate) => {
                registers.predicate = predicate;
                observer.predicate(predicate);
            }
            Effect::Write(channels) => {
                mask = std::array::from_fn(|i| mask[i] && channels[i]);
            }
        }
        let clamp = |x| if saturate { ARITH.clamp01(x) } else { x };
        registers.write(&op.dst, mask, result.map(clamp), observer);
        if let Some((dual, source)) = dual {
            let result = math::execute(dual.op, Scalars::of_dual(source));
            if let Effect::Predicate(predicate) = result.effect {
                registers.predicate = predicate;
                observer.predicate(predicate);
            }
            let channel = dual.channel;
            let value = result.value[channel];
            let value = if op.me_sat { ARITH.clamp01(value) } else { value };
            let at = usize::from(dual.register);
            registers.alternates[at][channel] = value;
            observer.writes(
                DstType::ALT_TEMPORARY,
                at,
                std::array::from_fn(|i| i == channel),
                registers.alternates[at],
            );
        }
    }

    fn read(&self, operand: &Operand, registers: &Registers) -> [f32; 4] {
        let at = i32::from(operand.offset) + registers.relative(operand.addressing);
        let vector = |memory: &[[f32; 4]]| register(memory, at).copied();
        // Reads outside of the memory give 0 (open).
        let value = match operand.ty {
            SrcType::INPUT => vector(&registers.inputs),
            SrcType::CONSTANT => Some(self.constant(at)),
            SrcType::ALT_TEMPORARY => vector(&registers.alternates),
            _ => vector(&registers.temporaries),
        };
        operand.modifiers.apply(value.unwrap_or_default())
    }

    /// Returns a constant of the window; 0 outside of it, as in Mesa.
    fn constant(&self, at: i32) -> [f32; 4] {
        let inside = (0..CONSTANTS as i32).contains(&at);
        let constant = register(&self.constants, at.saturating_add(self.base));
        constant.filter(|_| inside).copied().unwrap_or_default()
    }
}

impl Registers {
    fn relative(&self, addressing: Addressing) -> i32 {
        relative(addressing, self.address, self.loop_index)
    }

    fn write(
        &mut self,
        dst: &Destination,
        mask: [bool; 4],
        value: [f32; 4],
        observer: &mut impl Observe,
    ) {
        let at = i32::from(dst.offset) + self.relative(dst.addressing);
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        let (memory, value): (&mut [[f32; 4]], _) = match dst.ty {
            DstType::A0 => {
                for (to, (x, write)) in self.address.iter_mut().zip(value.into_iter().zip(mask)) {
                    if write {
                        *to = address(x);
                    }
                }
                observer.writes(dst.ty, 0, mask, self.address.map(|x| x as f32));
                return;
            }
            DstType::OUT => (&mut self.outputs, value),
            DstType::OUT_REPL_X => (&mut self.outputs, [value[0]; 4]),
            DstType::ALT_TEMPORARY => (&mut self.alternates, value),
            // Inputs cannot be written (open).
            DstType::INPUT => return,
            _ => (&mut self.temporaries, value),
        };
        let Some(vector) = memory.get_mut(at) else { return };
        for i in 0..4 {
            if mask[i] {
                vector[i] = value[i];
            }
        }
        observer.writes(dst.ty, at, mask, *vector);
    }
}

/// Receives what an instruction reads and changes.
trait Observe {
    /// The operands, with their modifiers; that of a second operation.
    fn reads(&mut self, sources: [[f32; 4]; 3], dual: Option<[f32; 4]>);
    /// A write of the components of `mask` to a register, which then has `value`.
    fn writes(&mut self, ty: DstType, register: usize, mask: [bool; 4], value: [f32; 4]);
    /// The new predicate.
    fn predicate(&mut self, predicate: bool);
}

/// A run without an observer.
impl Observe for () {
    fn reads(&mut self, _: [[f32; 4]; 3], _: Option<[f32; 4]>) {}
    fn writes(&mut self, _: DstType, _: usize, _: [bool; 4], _: [f32; 4]) {}
    fn predicate(&mut self, _: bool) {}
}

/// The effect of an instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Effect {
    None,
    /// Sets the predicate.
    Predicate(bool),
    /// Writes only these components.
    Write([bool; 4]),
}

/// The result of an instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Outcome {
    value: [f32; 4],
    effect: Effect,
}

impl Outcome {
    fn of(value: [f32; 4]) -> Self {
        Self { value, effect: Effect::None }
    }

    /// Returns the result of a predicate counter: the predicate is whether it is 0.
    fn counter(counter: f32) -> Self {
        Self { value: [counter; 4], effect: Effect::Predicate(vector::is_zero(counter)) }
    }
}

#[cfg(test)]
mod tests;
