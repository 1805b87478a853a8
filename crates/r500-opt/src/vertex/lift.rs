//! Translation of instructions to operations over values.

use std::collections::HashMap;

use r500_pvs::{
    Addressing, DstType, INPUTS, Instruction, MacroOp, MathOp, OUTPUTS, Op, Src, SrcType, Swizzle,
    VectorOp,
};

use super::ir::{Atom, Block, Cell, File, Kind, Lane, Memory, Node, Part, Target, Value};
use super::liveness::{Cells, cell_read, file_written, is_conditional};

/// Returns why an instruction has no operations; `None` if it has.
pub(super) fn obstacle(inst: Instruction) -> Option<&'static str> {
    let dst = inst.dst();
    let dual = inst.dual_math();
    if dst.pred_enable() {
        return Some("instructions that the predicate guards stay as they are");
    }
    if inst.op().sets_predicate() || dual.is_some_and(|dual| Op::Math(dual.op()).sets_predicate()) {
        return Some("instructions that set the predicate stay as they are");
    }
    if is_conditional(inst.op()) {
        return Some("conditional writes stay as they are");
    }
    let is_named = inst.op().name().is_some() && dual.is_none_or(|dual| dual.op().is_named());
    if !is_named || !dst.reg_type().is_named() {
        return Some("reserved operations and operands stay as they are");
    }
    let has_parts = |op: MathOp| {
        matches!(op, MathOp::EXP_BASE2_DX | MathOp::LOG_BASE2_DX | MathOp::LIGHT_COEFF_DX)
    };
    if dual.is_some_and(|dual| {
        let first_is_vector = matches!(inst.op(), Op::Vector(_));
        let does_nothing = dual.op() == MathOp::NOP;
        !first_is_vector || inst.op().sources() == 3 || has_parts(dual.op()) || does_nothing
    }) {
        return Some("unusual pairs stay as they are");
    }
    if matches!(dst.reg_type(), DstType::OUT_REPL_X | DstType::INPUT)
        || dst.reg_type() == DstType::OUT && usize::from(dst.offset()) >= OUTPUTS
    {
        return Some("unusual destinations stay as they are");
    }
    if dst.addressing() != Addressing::Absolute {
        return Some("relative writes stay as they are");
    }
    let sources = inst.read_sources();
    for src in sources.iter().flatten() {
        let is_constant = src.reg_type() == SrcType::CONSTANT;
        match src.addressing() {
            Addressing::Absolute => {}
            Addressing::A0(_) if is_constant => {}
            _ => return Some("relative reads stay as they are, but for constants by A0"),
        }
        let most = match src.reg_type() {
            SrcType::INPUT => INPUTS,
            SrcType::CONSTANT => usize::MAX,
            _ => 128,
        };
        let selects = src.swizzle();
        if usize::from(src.offset()) >= most || selects.iter().any(|s| s.code() == 6) {
            return Some("reserved operations and operands stay as they are");
        }
    }
    None
}

/// Makes a block of instructions that have no [`obstacle`], with what is live after them. The first is number `first` of the program.
pub(super) fn lift(first: usize, code: &[Instruction], live_in: &Cells, live_out: &Cells) -> Block {
    let mut lifter = Lifter { block: Block::default(), held: HashMap::new() };
    // What is live over the code stays in its place.
    for cell in live_in.iter().filter(|cell| live_out.contains(*cell)) {
        lifter.held(cell);
    }
    for (n, inst) in (first..).zip(code) {
        lifter.instruction(n, *inst);
    }
    let Lifter { mut block, held } = lifter;
    let mut outgoing: Vec<_> =
        held.into_iter().filter(|(cell, _)| live_out.contains(*cell)).collect();
    outgoing.sort_unstable();
    block.outgoing = outgoing;
    block
}

struct Lifter {
    block: Block,
    /// The values that registers hold.
    held: HashMap<Cell, Value>,
}

impl Lifter {
    /// Returns what a register holds.
    fn held(&mut self, cell: Cell) -> Value {
        if let Some(value) = self.held.get(&cell) {
            return *value;
        }
        let value = self.block.fresh();
        self.held.insert(cell, value);
        self.block.homes.insert(value, cell);
        self.block.incoming.push((cell, value));
        value
    }

    fn define(&mut self, cell: Cell) -> Value {
        let value = self.block.fresh();
        self.held.insert(cell, value);
        self.block.homes.insert(value, cell);
        value
    }

    fn part(&mut self, src: Src, component: usize) -> Part {
        let atom = match (src.swizzle()[component], src.reg_type()) {
            (Swizzle::ZERO, _) => Atom::Zero,
            (Swizzle::ONE, _) => Atom::One,
            // What selects nothing reads 0, as reserved codes do.
            (select, _) if select.code() > 3 => Atom::Zero,
            (select, SrcType::INPUT) => Atom::Memory(Memory::Input(src.offset()), select.code()),
            (select, SrcType::CONSTANT) => {
                let memory = match src.addressing() {
                    Addressing::A0(of) => {
                        let channel = of.code() & 3;
                        let cell = Cell { file: File::Address, number: 0, channel };
                        Memory::Relative(src.offset(), self.held(cell), channel)
                    }
                    _ => Memory::Constant(src.offset()),
                };
                Atom::Memory(memory, select.code())
            }
            _ => match cell_read(src, component) {
                Some(cell) => Atom::Value(self.held(cell)),
                None => Atom::Zero,
            },
        };
        let is_number = matches!(atom, Atom::Zero | Atom::One);
        Part { atom, abs: src.abs_xyzw() && !is_number, negate: src.negate()[component] }
    }

    fn parts(&mut self, src: Src, components: &[usize]) -> Vec<Part> {
        components.iter().map(|component| self.part(src, *component)).collect()
    }

    fn instruction(&mut self, n: usize, inst: Instruction) {
        let dst = inst.dst();
        let mask = dst.write_mask();
        let lanes: Vec<usize> = (0..4).filter(|channel| mask[*channel]).collect();
        let (kind, components): (Kind, &[usize]) = match inst.op() {
            Op::Vector(VectorOp::DOT_PRODUCT) => (Kind::Dot, &[0, 1, 2, 3]),
            Op::Vector(op @ VectorOp::DISTANCE_VECTOR) => {
                (Kind::Fixed(Op::Vector(op)), &[0, 1, 2, 3])
            }
            Op::Vector(op) => (Kind::Lanes(op), &lanes),
            Op::Macro(MacroOp::M2X_ADD) => (Kind::Lanes(VectorOp::MULTIPLYX2_ADD), &lanes),
            Op::Macro(_) => (Kind::Lanes(VectorOp::MULTIPLY_ADD), &lanes),
            Op::Math(op @ MathOp::LIGHT_COEFF_DX) => (Kind::Fixed(Op::Math(op)), &[0, 1, 2, 3]),
            Op::Math(op @ (MathOp::EXP_BASE2_DX | MathOp::LOG_BASE2_DX)) => {
                (Kind::Fixed(Op::Math(op)), &[3, 3, 3, 3])
            }
            Op::Math(op) => (Kind::Scalar(op), &[3]),
        };
        let is_nothing = matches!(inst.op(), Op::Vector(VectorOp::NOP) | Op::Math(MathOp::NOP))
            || lanes.is_empty();
        let dual = inst.dual_math();
        let [a, b, c] = inst.sources();
        let count = inst.op().sources();
        // The second scalar of a power is the third source.
        let used: &[Src] = match (inst.op(), count) {
            (Op::Math(_), 3) => &[a, c],
            (_, count) => &[a, b, c][..count],
        };
        // All is read before anything is written.
        let sources = used.iter().map(|src| self.parts(*src, components)).collect();
        let second = dual.map(|dual| {
            let parts = self.parts(dual.source(), &[0, 1]);
            let is_pair = Op::Math(dual.op()).sources() > 1;
            let scalars =
                if is_pair { vec![vec![parts[0]], vec![parts[1]]] } else { vec![vec![parts[0]]] };
            (dual, scalars)
        });
        if !is_nothing {
            let saturate =
                if matches!(inst.op(), Op::Math(_)) { dst.me_sat() } else { dst.ve_sat() };
            let file = file_written(dst.reg_type());
            let lane = |channel: &usize| {
                let channel = *channel as u8;
                let value = match file {
                    Some(file) => {
                        let number = if file == File::Address { 0 } else { dst.offset() };
                        self.define(Cell { file, number, channel })
                    }
                    None => self.block.fresh(),
                };
                Lane { channel, value }
            };
            let lanes = lanes.iter().map(lane).collect();
            let target = file.map_or(Target::Output(dst.offset()), Target::Values);
            let origins = vec![n];
            self.block.nodes.push(Node { kind, target, lanes, sources, saturate, origins });
        }
        if let Some((dual, sources)) = second {
            let channel = dual.dst_we_sel().code() & 3;
            let cell = Cell { file: File::Alternate, number: dual.dst_offset(), channel };
            let lanes = vec![Lane { channel, value: self.define(cell) }];
            self.block.nodes.push(Node {
                kind: Kind::Scalar(dual.op()),
                target: Target::Values(File::Alternate),
                lanes,
                sources,
                saturate: dst.me_sat(),
                origins: vec![n],
            });
        }
    }
}
