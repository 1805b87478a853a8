//! What is known of values: signs, denormals, and values that depend on one truth value only.

use r500_pvs::{MathOp, VectorOp, component};

use super::ir::{Block, Kind, Node, Part, Value};

/// What is known of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Fact {
    /// Its sign is not set, or it is NaN. So it is not -0.
    pub(super) is_positive: bool,
    /// It is not a denormal.
    pub(super) is_flushed: bool,
    /// What it is if a truth value is 0, and if that is 1.
    pub(super) table: Option<Table>,
}

/// The values that depend on one that is 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Table {
    /// The truth value; `None` if there is no dependence.
    pub(super) root: Option<Value>,
    pub(super) values: [f32; 2],
}

impl Table {
    /// Returns the number that it always is.
    pub(super) fn number(&self) -> Option<f32> {
        let [no, yes] = self.values;
        (no.to_bits() == yes.to_bits()).then_some(no)
    }

    /// Returns whether it has these bits.
    pub(super) fn is(&self, values: [f32; 2]) -> bool {
        self.values.map(f32::to_bits) == values.map(f32::to_bits)
    }
}

/// The facts of a block's values.
pub(super) struct Facts(Vec<Fact>);

impl Facts {
    pub(super) fn of(block: &Block) -> Self {
        let mut facts = Self(vec![Fact::default(); block.values()]);
        for node in &block.nodes {
            for (n, lane) in node.lanes.iter().enumerate() {
                facts.0[lane.value.0 as usize] = facts.lane(node, n, lane.value);
            }
        }
        facts
    }

    pub(super) fn value(&self, value: Value) -> Fact {
        self.0[value.0 as usize]
    }

    /// Returns what is known of an operand, with its modifiers.
    pub(super) fn part(&self, part: Part) -> Fact {
        if let Some(number) = part.number() {
            let table = Some(Table { root: None, values: [number; 2] });
            return Fact { is_positive: number.is_sign_positive(), is_flushed: true, table };
        }
        let fact = part.value().map(|value| self.value(value)).unwrap_or_default();
        let modified = |x: f32| {
            let x = if part.abs { x.abs() } else { x };
            if part.negate { -x } else { x }
        };
        Fact {
            is_positive: (fact.is_positive || part.abs) && !part.negate,
            is_flushed: fact.is_flushed,
            table: fact.table.map(|table| Table { values: table.values.map(modified), ..table }),
        }
    }

    fn lane(&self, node: &Node, lane: usize, value: Value) -> Fact {
        let mut fact = match node.kind {
            Kind::Lanes(op) => {
                let operands = node.operands(lane);
                let fact = self.vector(op, &operands, value);
                Fact { table: self.table(op, &operands, node.saturate).or(fact.table), ..fact }
            }
            Kind::Dot => Fact {
                is_positive: (0..4)
                    .all(|n| self.is_product_positive(node.sources[0][n], node.sources[1][n])),
                is_flushed: true,
                table: None,
            },
            Kind::Scalar(op) => Fact {
                is_positive: matches!(
                    op,
                    MathOp::RECIP_SQRT_DX | MathOp::RECIP_SQRT_FF | MathOp::EXP_BASE2_FULL_DX
                ),
                is_flushed: matches!(
                    op,
                    MathOp::RECIP_DX
                        | MathOp::RECIP_FF
                        | MathOp::RECIP_IEEE
                        | MathOp::RECIP_SQRT_DX
                        | MathOp::RECIP_SQRT_FF
                        | MathOp::RECIP_SQRT_IEEE
                ),
                table: None,
            },
            Kind::Fixed(_) => Fact::default(),
        };
        if node.saturate {
            (fact.is_positive, fact.is_flushed) = (true, true);
        }
        if let Some(number) = fact.table.and_then(|table| table.number()) {
            (fact.is_positive, fact.is_flushed) = (number.is_sign_positive(), true);
        }
        fact
    }

    /// Returns whether a product is not negative: of a number with itself, or of such numbers. A product with zero is +0.
    pub(super) fn is_product_positive(&self, a: Part, b: Part) -> bool {
        let is_positive = |part| self.part(part).is_positive;
        let same_sign = a.abs == b.abs && a.negate == b.negate && a.atom == b.atom;
        same_sign || is_positive(a) && is_positive(b) || a.is_zero() || b.is_zero()
    }

    fn vector(&self, op: VectorOp, operands: &[Part], value: Value) -> Fact {
        let is_positive = |n: usize| self.part(operands[n]).is_positive;
        let is_flushed = |n: usize| self.part(operands[n]).is_flushed;
        let arithmetic = |is_positive| Fact { is_positive, is_flushed: true, table: None };
        match op {
            VectorOp::ADD => arithmetic(is_positive(0) && is_positive(1)),
            VectorOp::MULTIPLY => arithmetic(self.is_product_positive(operands[0], operands[1])),
            VectorOp::MULTIPLY_ADD => {
                arithmetic(self.is_product_positive(operands[0], operands[1]) && is_positive(2))
            }
            // A difference of a number and one that is not greater, rounded.
            VectorOp::FRACTION => arithmetic(true),
            VectorOp::MAXIMUM | VectorOp::MINIMUM => Fact {
                is_positive: is_positive(0) && is_positive(1),
                is_flushed: is_flushed(0) && is_flushed(1),
                table: None,
            },
            VectorOp::COND_MUX_EQ | VectorOp::COND_MUX_GT | VectorOp::COND_MUX_GTE => Fact {
                is_positive: is_positive(1) && is_positive(2),
                is_flushed: is_flushed(1) && is_flushed(2),
                table: None,
            },
            VectorOp::SET_GREATER_THAN_EQUAL
            | VectorOp::SET_LESS_THAN
            | VectorOp::SET_GREATER_THAN
            | VectorOp::SET_EQUAL
            | VectorOp::SET_NOT_EQUAL => {
                let table = Some(Table { root: Some(value), values: [0.0, 1.0] });
                Fact { is_positive: true, is_flushed: true, table }
            }
            _ => Fact::default(),
        }
    }

    /// Returns the table of an operation whose operands depend on one truth value; of a comparison of other things its own.
    fn table(&self, op: VectorOp, operands: &[Part], saturate: bool) -> Option<Table> {
        let tables: Option<Vec<Table>> =
            operands.iter().map(|part| self.part(*part).table).collect();
        evaluate(op, &tables?, saturate)
    }
}

/// Returns the table of an operation on tables of one truth value.
pub(super) fn evaluate(op: VectorOp, tables: &[Table], saturate: bool) -> Option<Table> {
    let mut roots = tables.iter().filter_map(|table| table.root);
    let root = roots.next();
    if roots.any(|other| Some(other) != root) {
        return None;
    }
    let mut values = [0.0; 2];
    for (n, value) in values.iter_mut().enumerate() {
        let operand = |k: usize| tables.get(k).map_or(0.0, |table| table.values[n]);
        *value = component(op, [operand(0), operand(1), operand(2)], saturate)?;
    }
    Some(Table { root, values })
}
