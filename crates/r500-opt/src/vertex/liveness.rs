//! Liveness of registers between instructions.

use r500_pvs::{Addressing, Controls, DstType, Instruction, MathOp, Op, Src, SrcType, VectorOp};

use super::ir::{Cell, File};

/// Components of registers, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cells([u64; Self::WORDS]);

/// Registers of a file that a program can address.
const REGISTERS: usize = 128;

impl Cells {
    const WORDS: usize = (2 * REGISTERS * 4 + 4).div_ceil(64);

    fn index(cell: Cell) -> usize {
        let number = usize::from(cell.number) % REGISTERS * 4 + usize::from(cell.channel);
        match cell.file {
            File::Temporary => number,
            File::Alternate => REGISTERS * 4 + number,
            File::Address => 2 * REGISTERS * 4 + usize::from(cell.channel),
        }
    }

    pub(super) fn contains(&self, cell: Cell) -> bool {
        let index = Self::index(cell);
        self.0[index / 64] >> (index % 64) & 1 != 0
    }

    fn insert(&mut self, cell: Cell) {
        let index = Self::index(cell);
        self.0[index / 64] |= 1 << (index % 64);
    }

    fn remove(&mut self, cell: Cell) {
        let index = Self::index(cell);
        self.0[index / 64] &= !(1 << (index % 64));
    }

    fn extend(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
    }

    /// Returns them, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = Cell> + '_ {
        let files = [File::Temporary, File::Alternate, File::Address];
        let all = files.into_iter().flat_map(|file| {
            let count = if file == File::Address { 1 } else { REGISTERS as u8 };
            (0..count)
                .flat_map(move |number| (0..4).map(move |channel| Cell { file, number, channel }))
        });
        all.filter(|cell| self.contains(*cell))
    }
}

/// Returns which components of its sources an operation reads, for components that it writes.
pub(super) fn read_components(inst: Instruction) -> [bool; 4] {
    let [x, y, z, w] = inst.dst().write_mask();
    // The result's x is written to all of them.
    let by_lanes = [x || inst.dst().reg_type() == DstType::OUT_REPL_X, y, z, w];
    match inst.op() {
        Op::Vector(VectorOp::DOT_PRODUCT | VectorOp::DISTANCE_VECTOR) => [true; 4],
        Op::Math(MathOp::LIGHT_COEFF_DX) => [true; 4],
        Op::Math(_) => [false, false, false, true],
        Op::Vector(op) if op.is_named() && !inst.op().sets_predicate() => by_lanes,
        Op::Macro(_) => by_lanes,
        // Operations without a name, and those that push the predicate, may read all.
        Op::Vector(_) => [true; 4],
    }
}

/// Returns whether an operation writes components under a condition of its own.
pub(super) fn is_conditional(op: Op) -> bool {
    matches!(
        op,
        Op::Vector(
            VectorOp::COND_WRITE_EQ
                | VectorOp::COND_WRITE_GT
                | VectorOp::COND_WRITE_GTE
                | VectorOp::COND_WRITE_NEQ
        )
    )
}

/// Returns the component of a register that a source reads in a component.
pub(super) fn cell_read(src: Src, component: usize) -> Option<Cell> {
    let file = match src.reg_type() {
        SrcType::INPUT | SrcType::CONSTANT => return None,
        SrcType::ALT_TEMPORARY => File::Alternate,
        _ => File::Temporary,
    };
    let channel = src.swizzle()[component].code();
    let number = src.offset();
    (channel < 4 && usize::from(number) < REGISTERS).then_some(Cell { file, number, channel })
}

/// Returns the component of the address register that a source adds.
fn address_read(src: Src) -> Option<Cell> {
    match src.addressing() {
        Addressing::A0(component) => {
            Some(Cell { file: File::Address, number: 0, channel: component.code() & 3 })
        }
        _ => None,
    }
}

/// Returns the file that a destination is in, if it is one for values.
pub(super) fn file_written(ty: DstType) -> Option<File> {
    match ty {
        DstType::A0 => Some(File::Address),
        DstType::OUT | DstType::OUT_REPL_X | DstType::INPUT => None,
        DstType::ALT_TEMPORARY => Some(File::Alternate),
        _ => Some(File::Temporary),
    }
}

/// Calls `each` with the components of registers that an instruction may read.
fn reads(inst: Instruction, mut each: impl FnMut(Cell)) {
    let components = read_components(inst);
    let dual = inst.dual_math().map(|dual| dual.source());
    let dst = inst.dst();
    if let Addressing::A0(component) = dst.addressing() {
        each(Cell { file: File::Address, number: 0, channel: component.code() & 3 });
    }
    let [a, b, c] = inst.sources();
    let sources = [Some((a, components)), Some((b, components)), Some((c, components))];
    let second = dual.map(|source| (source, [true, true, false, false]));
    for (src, components) in sources.into_iter().chain([second]).flatten() {
        address_read(src).into_iter().for_each(&mut each);
        for component in (0..4).filter(|n| components[*n]) {
            cell_read(src, component).into_iter().for_each(&mut each);
        }
    }
}

/// Calls `each` with the components of registers that an instruction always writes.
fn writes(inst: Instruction, mut each: impl FnMut(Cell)) {
    let dst = inst.dst();
    if dst.pred_enable() {
        return;
    }
    let has_result = inst.op() != Op::Vector(VectorOp::NOP) && inst.op() != Op::Math(MathOp::NOP);
    if let Some(file) = file_written(dst.reg_type())
        && has_result
        && !is_conditional(inst.op())
        && (dst.addressing() == Addressing::Absolute || file == File::Address)
    {
        let number = if file == File::Address { 0 } else { dst.offset() };
        let mask = dst.write_mask();
        (0..4).filter(|n| mask[usize::from(*n)]).for_each(|channel| {
            each(Cell { file, number, channel });
        });
    }
    if let Some(dual) = inst.dual_math() {
        let channel = dual.dst_we_sel().code() & 3;
        each(Cell { file: File::Alternate, number: dual.dst_offset(), channel });
    }
}

/// Returns what is live before each instruction, and after the last. The first instruction is number `base`; of flow control there are
/// loops only.
pub(super) fn live(base: usize, code: &[Instruction], controls: &Controls) -> Vec<Cells> {
    let mut all = vec![Cells::default(); code.len() + 1];
    // Where a loop begins, and what it may go to: into it or past it.
    let mut edges: Vec<(usize, usize)> = Vec::new();
    for flow in &controls.flow {
        let [begin, end, first] =
            [flow.low.act_adrs(), flow.high.last_inst(), flow.high.rtn_inst()]
                .map(|n| usize::from(n).wrapping_sub(base));
        for from in [begin.wrapping_add(1), end.wrapping_add(1)] {
            edges.extend([(from, first), (from, end.wrapping_add(1))]);
        }
    }
    edges.retain(|(from, to)| *from <= code.len() && *to <= code.len());
    let mut is_changed = true;
    while is_changed {
        is_changed = false;
        for n in (0..=code.len()).rev() {
            let mut live = Cells::default();
            if let Some(inst) = code.get(n) {
                live = all[n + 1];
                writes(*inst, |cell| live.remove(cell));
                reads(*inst, |cell| live.insert(cell));
            }
            for (_, to) in edges.iter().filter(|(from, _)| *from == n) {
                let there = all[*to];
                live.extend(&there);
            }
            is_changed |= live != all[n];
            all[n] = live;
        }
    }
    all
}
