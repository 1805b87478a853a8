//! Program diff: aligns the instructions of two programs and lists the fields that differ.
//!
//! Equal instructions are aligned first (Myers, "An O(ND) Difference Algorithm", 1986: nearly
//! linear for similar programs). The instructions between them are paired if they have the same
//! type and most fields are equal. Jumps to the same instruction of both programs are equal,
//! whatever the address.

use r500_isa::values::InstType;
use r500_isa::words::{AluAlphaInst, AluRgbaInst, FcAddr, TexAddr, TexAddrDxdy};
use r500_isa::{Field, Instruction, Register, Source};
use r500_program::{Program, State};

/// An entry of the alignment of two programs, A and B. Numbers are instruction indices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// An instruction of both programs.
    Same {
        /// Index in A.
        a: usize,
        /// Index in B.
        b: usize,
    },
    /// An instruction of both programs whose fields differ.
    Changed {
        /// Index in A.
        a: usize,
        /// Index in B.
        b: usize,
        /// The fields that differ.
        fields: Vec<FieldChange>,
    },
    /// An instruction of A only.
    Removed(usize),
    /// An instruction of B only.
    Added(usize),
}

/// A field that differs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FieldChange {
    /// Number of the dword.
    pub word: u8,
    /// The register type of the dword, if it is the same in both.
    pub register: Option<&'static Register>,
    /// The field; `None` for bits that no field names, and for dwords without a meaning.
    pub field: Option<&'static Field>,
    /// The code in A (the dword, if there is no field).
    pub a: u32,
    /// The code in B.
    pub b: u32,
}

impl std::fmt::Debug for FieldChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.field.map_or("bits", |field| field.name);
        write!(f, "{name}[{}]: {:#x} -> {:#x}", self.word, self.a, self.b)
    }
}

/// A register of the state that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateChange {
    /// The register, with its index in a set: `US_FC_INT_CONST[3]`.
    pub name: String,
    /// Its bits in A, if given.
    pub a: Option<u32>,
    /// Its bits in B, if given.
    pub b: Option<u32>,
}

/// The differences between two programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    /// Instructions, in the order of both programs.
    pub changes: Vec<Change>,
    /// Differences of the state; constants are named `const[n].r` and so on.
    pub state: Vec<StateChange>,
}

impl Diff {
    /// Compares two programs.
    #[must_use]
    pub fn of(a: &Program, b: &Program) -> Self {
        let mut pairs = align(&a.code, &b.code);
        pairs = pair_rest(&a.code, &b.code, &pairs);
        let mut to = vec![None; a.code.len()];
        pairs.iter().for_each(|&(i, j)| to[i] = Some(j));
        let offset = |p: &Program| u32::from(p.state.base_address());
        let same_target = |x: Instruction, y: Instruction| {
            let target = |inst: Instruction, offset: u32| {
                let addr = inst.fc_addr();
                let base = if addr.jump_global() { 0 } else { offset };
                (u32::from(addr.jump_addr()) + base).checked_sub(offset)
            };
            let (x, y) = (target(x, offset(a)), target(y, offset(b)));
            let index = |n: Option<u32>| n.and_then(|n| usize::try_from(n).ok());
            match (index(x), index(y)) {
                // A target after the last instruction is valid.
                (Some(x), Some(y)) => {
                    let mapped = to.get(x).copied().flatten();
                    mapped == Some(y) || (x == a.code.len() && y == b.code.len())
                }
                _ => false,
            }
        };
        let mut changes = Vec::new();
        let (mut i, mut j) = (0, 0);
        let ends = (a.code.len(), b.code.len());
        for (x, y) in pairs.iter().copied().chain([ends]) {
            changes.extend((i..x).map(Change::Removed));
            changes.extend((j..y).map(Change::Added));
            if (x, y) == ends {
                break;
            }
            let (before, after) = (a.code[x], b.code[y]);
            let mut fields = compare(before, after);
            let flow = before.ty() == InstType::FC && after.ty() == InstType::FC;
            if flow && same_target(before, after) {
                let address = FcAddr::JUMP_ADDR.describe();
                fields.retain(|change| change.field != Some(address) || change.word != 3);
            }
            changes.push(if fields.is_empty() {
                Change::Same { a: x, b: y }
            } else {
                Change::Changed { a: x, b: y, fields }
            });
            (i, j) = (x + 1, y + 1);
        }
        Self { changes, state: compare_state(&a.state, &b.state) }
    }

    /// Returns whether the programs are the same except for instruction addresses.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.state.is_empty() && self.changes.iter().all(|c| matches!(c, Change::Same { .. }))
    }
}

/// Returns the fields in which two instructions differ.
#[must_use]
pub fn compare(a: Instruction, b: Instruction) -> Vec<FieldChange> {
    let mut changes = Vec::new();
    if a == b {
        return changes;
    }
    let (layout, other) = (a.layout(), b.layout());
    for (word, (&x, &y)) in (0u8..).zip(a.0.iter().zip(&b.0)) {
        let n = usize::from(word);
        let same = |r: &&Register| other[n].is_some_and(|o| std::ptr::eq(*r, o) || *r == o);
        let Some(register) = layout[n].filter(same) else {
            if x != y || layout[n] != other[n] {
                changes.push(FieldChange { word, register: None, field: None, a: x, b: y });
            }
            continue;
        };
        for field in register.fields {
            let (before, after) = (field.extract(x), field.extract(y));
            if before != after {
                let (register, field) = (Some(register), Some(field));
                changes.push(FieldChange { word, register, field, a: before, b: after });
            }
        }
        let rest = !register.named_bits();
        if x & rest != y & rest {
            let register = Some(register);
            changes.push(FieldChange { word, register, field: None, a: x & rest, b: y & rest });
        }
    }
    changes
}

/// Returns the alignment key: the instruction without its jump target.
fn key(inst: Instruction) -> Instruction {
    let mut inst = inst;
    if inst.ty() == InstType::FC {
        inst.0[3] = inst.fc_addr().with(FcAddr::JUMP_ADDR, 0).bits();
    }
    inst
}

/// The edit limit of the search; beyond it, the rest is paired by position.
const MOST_EDITS: usize = 1024;

/// Returns the pairs of equal instructions, ascending in both.
fn align(a: &[Instruction], b: &[Instruction]) -> Vec<(usize, usize)> {
    let a: Vec<Instruction> = a.iter().copied().map(key).collect();
    let b: Vec<Instruction> = b.iter().copied().map(key).collect();
    let head = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let (x, y) = (&a[head..], &b[head..]);
    let tail = x.iter().rev().zip(y.iter().rev()).take_while(|(x, y)| x == y).count();
    let middle = myers(&x[..x.len() - tail], &y[..y.len() - tail]);
    let (end_a, end_b) = (a.len() - tail, b.len() - tail);
    let mut pairs: Vec<(usize, usize)> = (0..head).map(|i| (i, i)).collect();
    pairs.extend(middle.into_iter().map(|(i, j)| (head + i, head + j)));
    pairs.extend((0..tail).map(|i| (end_a + i, end_b + i)));
    pairs
}

/// Returns the pairs of a shortest edit script; none if it needs more than [`MOST_EDITS`] edits.
fn myers(a: &[Instruction], b: &[Instruction]) -> Vec<(usize, usize)> {
    let most = (a.len() + b.len()).min(MOST_EDITS);
    // furthest[k + most + 1]: the furthest x on diagonal k = x - y.
    let mut furthest = vec![0usize; 2 * most + 3];
    let mut history: Vec<Vec<usize>> = Vec::new();
    let middle = most + 1;
    let index = |k: isize| middle.wrapping_add_signed(k);
    for edits in 0..=most {
        let d = edits.cast_signed();
        for k in (-d..=d).step_by(2) {
            let down = k == -d || (k != d && furthest[index(k - 1)] < furthest[index(k + 1)]);
            let mut x = if down { furthest[index(k + 1)] } else { furthest[index(k - 1)] + 1 };
            let mut y = x.wrapping_add_signed(-k);
            while x < a.len() && y < b.len() && a[x] == b[y] {
                (x, y) = (x + 1, y + 1);
            }
            furthest[index(k)] = x;
            if x >= a.len() && y >= b.len() {
                return walk_back(a.len(), b.len(), edits, &history);
            }
        }
        let around = index(-d)..index(d) + 1;
        history.push(furthest[around].to_vec());
    }
    Vec::new()
}

/// Traces a shortest edit script back from its end. `history[d]` holds the diagonals -d to d after
/// d edits.
fn walk_back(
    mut x: usize,
    mut y: usize,
    edits: usize,
    history: &[Vec<usize>],
) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for edits in (1..=edits).rev() {
        let k = x.cast_signed() - y.cast_signed();
        let d = edits.cast_signed();
        let before = |k: isize| {
            let at = k + (d - 1);
            usize::try_from(at).ok().and_then(|at| history[edits - 1].get(at)).copied()
        };
        let (left, right) = (before(k - 1), before(k + 1));
        let down = k == -d || (k != d && left < right);
        let from = if down { k + 1 } else { k - 1 };
        let start = before(from).unwrap_or(0);
        let start_y = start.wrapping_add_signed(-from);
        let (after_x, after_y) = if down { (start, start_y + 1) } else { (start + 1, start_y) };
        while x > after_x && y > after_y {
            (x, y) = (x - 1, y - 1);
            pairs.push((x, y));
        }
        (x, y) = (start, start_y);
    }
    while x > 0 && y > 0 {
        (x, y) = (x - 1, y - 1);
        pairs.push((x, y));
    }
    pairs.reverse();
    pairs
}

/// Pairs similar instructions between given pairs.
fn pair_rest(
    a: &[Instruction],
    b: &[Instruction],
    pairs: &[(usize, usize)],
) -> Vec<(usize, usize)> {
    let mut all = Vec::with_capacity(pairs.len());
    let (mut i, mut j) = (0, 0);
    for &(x, y) in pairs.iter().chain([&(a.len(), b.len())]) {
        pair_gap(a, b, (i, x), (j, y), &mut all);
        if x < a.len() && y < b.len() {
            all.push((x, y));
        }
        (i, j) = (x + 1, y + 1);
    }
    all
}

/// The largest gap, in pairs of instructions, that is searched for the best pairing.
const MOST_PAIRS: usize = 1 << 18;

fn pair_gap(
    a: &[Instruction],
    b: &[Instruction],
    (i, x): (usize, usize),
    (j, y): (usize, usize),
    all: &mut Vec<(usize, usize)>,
) {
    let (rows, columns) = (x.saturating_sub(i), y.saturating_sub(j));
    if rows == 0 || columns == 0 {
        return;
    }
    let shapes =
        |code: &[Instruction]| -> Vec<Shape> { code.iter().copied().map(Shape::of).collect() };
    let (a, b) = (shapes(&a[i..x]), shapes(&b[j..y]));
    if rows * columns > MOST_PAIRS {
        let paired = (0..rows.min(columns)).filter(|&n| likeness(&a[n], &b[n]) > 0);
        all.extend(paired.map(|n| (i + n, j + n)));
        return;
    }
    // best[r][c]: the greatest total similarity when rows from r on are paired with columns from c
    // on.
    let width = columns + 1;
    let mut best = vec![0u32; (rows + 1) * width];
    for r in (0..rows).rev() {
        for c in (0..columns).rev() {
            let like = likeness(&a[r], &b[c]);
            let paired = if like > 0 { like + best[(r + 1) * width + c + 1] } else { 0 };
            best[r * width + c] =
                paired.max(best[(r + 1) * width + c]).max(best[r * width + c + 1]);
        }
    }
    let (mut r, mut c) = (0, 0);
    while r < rows && c < columns {
        let here = best[r * width + c];
        let like = likeness(&a[r], &b[c]);
        if like > 0 && here == like + best[(r + 1) * width + c + 1] {
            all.push((i + r, j + c));
            (r, c) = (r + 1, c + 1);
        } else if here == best[(r + 1) * width + c] {
            r += 1;
        } else {
            c += 1;
        }
    }
}

/// Returns the similarity of two instructions; 0 if they should not be paired. Register numbers
/// have the least weight, because a compiler may allocate different ones.
fn likeness(a: &Shape, b: &Shape) -> u32 {
    let (x, y) = (a.shape, b.shape);
    let (a, b) = (a.key, b.key);
    if a.ty() != b.ty() {
        return 0;
    }
    let opcodes = match a.ty() {
        InstType::FC => a.fc_inst().op() == b.fc_inst().op(),
        InstType::TEX => a.tex_inst().inst() == b.tex_inst().inst(),
        _ => {
            a.rgba_inst().rgb_op() == b.rgba_inst().rgb_op()
                && a.alpha_inst().alpha_op() == b.alpha_inst().alpha_op()
        }
    };
    let same = |n: usize| a.0[n] == b.0[n];
    let words = (1..6).filter(|&n| same(n)).count();
    if !opcodes && words < 3 {
        return 0;
    }
    let shapes = (0..6).filter(|&n| x.0[n] == y.0[n]).count();
    let count = |n: usize| u32::try_from(n).unwrap_or(0);
    8 * count(shapes) + count(words) + u32::from(opcodes) * 16 + u32::from(same(0))
}

/// The comparison keys of an instruction.
struct Shape {
    /// The instruction without its jump target.
    key: Instruction,
    /// The key without register numbers.
    shape: Instruction,
}

impl Shape {
    fn of(inst: Instruction) -> Self {
        let key = key(inst);
        Self { key, shape: shape(key) }
    }
}

/// Returns an instruction without its register numbers.
fn shape(inst: Instruction) -> Instruction {
    let mut shape = inst;
    match inst.ty() {
        InstType::FC => {}
        InstType::TEX => {
            let (addr, grad) = (inst.tex_addr(), inst.tex_addr_dxdy());
            shape.0[2] = addr.with(TexAddr::SRC_ADDR, 0).with(TexAddr::DST_ADDR, 0).bits();
            shape.0[3] = grad.with(TexAddrDxdy::DX_ADDR, 0).with(TexAddrDxdy::DY_ADDR, 0).bits();
        }
        _ => {
            let plain = |source: Source| match source.inline() {
                // The address of an inline constant is a value.
                Some(_) => source,
                None => Source { addr: 0, ..source },
            };
            let (mut rgb, mut alpha) = (inst.rgb_addr(), inst.alpha_addr());
            for n in 0..3 {
                rgb = rgb.with_source(n, plain(rgb.sources()[n]));
                alpha = alpha.with_source(n, plain(alpha.sources()[n]));
            }
            (shape.0[1], shape.0[2]) = (rgb.bits(), alpha.bits());
            shape.0[4] = inst.alpha_inst().with(AluAlphaInst::ALPHA_ADDRD, 0).bits();
            shape.0[5] = inst.rgba_inst().with(AluRgbaInst::RGB_ADDRD, 0).bits();
        }
    }
    shape
}

fn compare_state(a: &State, b: &State) -> Vec<StateChange> {
    let mut changes = Vec::new();
    let mut add = |name: String, a: Option<u32>, b: Option<u32>| {
        if a != b {
            changes.push(StateChange { name, a, b });
        }
    };
    macro_rules! registers {
        ($($field:ident $name:literal;)*) => {
            $( add($name.into(), a.$field.map(|r| r.bits()), b.$field.map(|r| r.bits())); )*
        };
    }
    registers! {
        config "US_CONFIG";
        pixsize "US_PIXSIZE";
        fc_ctrl "US_FC_CTRL";
        fc_bool_const "US_FC_BOOL_CONST";
        code_addr "US_CODE_ADDR";
        code_range "US_CODE_RANGE";
        code_offset "US_CODE_OFFSET";
        w_fmt "US_W_FMT";
    }
    for (n, (a, b)) in a.fc_int_const.iter().zip(&b.fc_int_const).enumerate() {
        add(format!("US_FC_INT_CONST[{n}]"), a.map(|r| r.bits()), b.map(|r| r.bits()));
    }
    for (n, (a, b)) in a.out_fmt.iter().zip(&b.out_fmt).enumerate() {
        add(format!("US_OUT_FMT[{n}]"), a.map(|r| r.bits()), b.map(|r| r.bits()));
    }
    for (n, (a, b)) in a.format.iter().zip(&b.format).enumerate() {
        add(format!("US_FORMAT[{n}]"), a.map(|r| r.bits()), b.map(|r| r.bits()));
    }
    for n in 0..a.constants.len().max(b.constants.len()) {
        for (channel, letter) in "rgba".chars().enumerate() {
            let value = |state: &State| state.constants.get(n).map(|c| c[channel]);
            add(format!("const[{n}].{letter}"), value(a), value(b));
        }
    }
    changes
}
