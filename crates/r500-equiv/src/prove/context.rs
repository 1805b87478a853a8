//! Demanded lanes and bits: the canonical form of a value in the context of its users.
//!
//! A value in a branch is used in the lanes of that branch only; a sum hides the sign of a zero that it absorbs. A user
//! therefore demands only part of a value, and two different values may be equal for all users. [`Context`] is the
//! demanded part, and [`Contexts::canonical`] rewrites a value from its result to its operands:
//!
//! - a select `m ? a : b` demands `a` in the lanes of the context that are in `m`, and `b` in the others;
//! - an operation is lane by lane, so it demands its operands in its own demanded lanes. Quad broadcasts and fetches
//!   that derive a level of detail read other lanes: they demand operands in all lanes (fetches only if the level of
//!   detail may matter);
//! - each operation demands of its operands the bits that [`operand_demands`](r500_ir::operand_demands) returns;
//! - a fetch from a texture that is known to be two-dimensional multiplies S, T and gradients by sizes, which flushes
//!   denormals, and derives texel numbers and squares of differences, which have no signs of zeros. A cube map
//!   preserves both.
//!
//! Each step replaces a value by one with the same bits where they are demanded. Values with equal canonical forms are
//! therefore equal in the context.

use std::collections::HashMap;

use r500_ir::{DENORMAL, DemandedFp, NOTHING, Opcode, SIGN};
use r500_isa::TEXTURE_UNITS;
use r500_isa::values::TexOp;

use super::simplify::{demand_of, demanded_bits};
use super::table::{EVERY, NONE, Node, Number, Table, UNUSED};
use crate::TextureKind;

/// All bits of a value.
pub(super) const FULL: DemandedFp = SIGN | DENORMAL;

/// Depth limit of the rewriting; deeper values stay as they are.
const MOST_DEEP: usize = 400;

/// The demanded part of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Context {
    /// Demanded lanes: a canonical mask.
    pub(super) care: Number,
    /// Demanded bits.
    pub(super) fp: DemandedFp,
}

impl Context {
    /// All bits in all lanes.
    pub(super) const FULL: Self = Self { care: EVERY, fp: FULL };

    /// All bits in some lanes.
    pub(super) fn within(care: Number) -> Self {
        Self { care, ..Self::FULL }
    }
}

/// Memoised canonical forms.
#[derive(Debug)]
pub(super) struct Contexts {
    /// Assumptions about the texture of each unit.
    textures: [TextureKind; TEXTURE_UNITS],
    known: HashMap<(Number, Context), Number>,
    /// For each canonical form, the first value that it was derived from, which has a source location.
    sources: HashMap<Number, Number>,
    depth: usize,
}

/// The fourth coordinate: PROJ divides by it, so the sign of a zero is observable.
const Q: usize = 3;

impl Contexts {
    /// Returns an empty table, for the given assumptions about textures.
    pub(super) fn new(textures: [TextureKind; TEXTURE_UNITS]) -> Self {
        Self { textures, known: HashMap::new(), sources: HashMap::new(), depth: 0 }
    }

    /// Returns the first value that a canonical form was derived from.
    pub(super) fn source(&self, number: Number) -> Option<Number> {
        self.sources.get(&number).copied()
    }

    /// Returns the canonical form of a mask in some lanes.
    pub(super) fn mask(&mut self, table: &mut Table, mask: Number, care: Number) -> Number {
        // The only leaves of a diagram over masks are the two constants.
        if care == NONE { NONE } else { self.canonical(table, mask, Context { care, fp: NOTHING }) }
    }

    /// Returns the canonical form of a value.
    pub(super) fn canonical(
        &mut self,
        table: &mut Table,
        number: Number,
        context: Context,
    ) -> Number {
        if context.care == NONE {
            return UNUSED;
        }
        if let Some(&known) = self.known.get(&(number, context)) {
            return known;
        }
        table.step();
        if self.depth > MOST_DEEP || table.is_exhausted() {
            return table.ranked(number);
        }
        self.depth += 1;
        let canonical = self.rewritten(table, number, context);
        self.depth -= 1;
        let canonical = table.ranked(canonical);
        let canonical = table.constrain(canonical, context.care);
        self.known.insert((number, context), canonical);
        self.sources.entry(canonical).or_insert(number);
        canonical
    }

    fn rewritten(&mut self, table: &mut Table, number: Number, context: Context) -> Number {
        match table.node(number).clone() {
            Node::Constant(bits) => table.constant(demanded_bits(bits, context.fp)),
            Node::Select(mask, yes, no) => self.select(table, [mask, yes, no], context),
            Node::Op(opcode, args) => self.op(table, opcode, args, context),
            Node::Texel(fetched, mut reads, channel) => {
                let active = reads.pop().expect("a fetch has a mask");
                let active = self.mask(table, active, context.care);
                let kind = self.textures[usize::from(fetched.unit)];
                let reads_quad = !kind.ignores_lod
                    && [TexOp::LD, TexOp::PROJ, TexOp::LODBIAS]
                        .iter()
                        .any(|op| op.code() == fetched.op);
                let care = if reads_quad { EVERY } else { table.and(context.care, active) };
                for (n, read) in reads.iter_mut().enumerate() {
                    let fp = if kind.is_flat && n != Q { NOTHING } else { FULL };
                    *read = self.canonical(table, *read, Context { care, fp });
                }
                reads.push(active);
                table.intern(Node::Texel(fetched, reads, channel))
            }
            Node::Uniform(..) | Node::Input(_) | Node::Carried(_) | Node::Unused => number,
        }
    }

    fn select(
        &mut self,
        table: &mut Table,
        [mask, yes, no]: [Number; 3],
        context: Context,
    ) -> Number {
        let mask = self.mask(table, mask, context.care);
        let inverse = table.not(mask);
        let [in_mask, in_others] = [mask, inverse].map(|mask| table.and(context.care, mask));
        let yes = self.canonical(table, yes, Context { care: in_mask, ..context });
        let no = self.canonical(table, no, Context { care: in_others, ..context });
        match (in_mask, in_others) {
            (NONE, _) => no,
            (_, NONE) => yes,
            _ => table.select(mask, yes, no),
        }
    }

    fn op(
        &mut self,
        table: &mut Table,
        opcode: Opcode,
        mut args: Vec<Number>,
        context: Context,
    ) -> Number {
        let care = match opcode {
            Opcode::Input { .. } => return table.op(opcode, args),
            Opcode::Select => return self.select(table, [args[0], args[1], args[2]], context),
            Opcode::And => return self.select(table, [args[0], args[1], NONE], context),
            Opcode::Or => return self.select(table, [args[0], EVERY, args[1]], context),
            Opcode::AndNot => {
                let mask = self.mask(table, args[0], context.care);
                let care = table.and(context.care, mask);
                let without = self.mask(table, args[1], care);
                let rest = table.not(without);
                return table.and(mask, rest);
            }
            Opcode::QuadBroadcast(_) => EVERY,
            _ => context.care,
        };
        // One operand at a time: the demand of an operand may rely on the bits of the others.
        for n in 0..args.len() {
            let fp = demand_of(table, opcode, &args, n, context.fp);
            args[n] = self.canonical(table, args[n], Context { care, fp });
        }
        table.simplified(opcode, args, context.fp)
    }
}
