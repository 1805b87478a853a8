//! The chip's operations on numbers.

use r500_glsl::Stage;
use r500_isa::values::TexOp;
use r500_texture::{DISABLED_UNIT, Gradients, QuadFetch, TexReadings};

use super::{ALL, Evaluator, Lanes, Value};
use crate::arithmetic::{ARITH, Alu, Arithmetic, FetchKind, compute};
use crate::builder::dot_of;

impl Arithmetic for Evaluator<'_> {
    type Component = Lanes;

    fn stage(&self) -> Stage {
        self.shader.stage
    }

    fn number(value: f32) -> Lanes {
        [value; 4]
    }

    fn negate(&self, of: &Value) -> Value {
        of.iter().map(|c| c.map(|value| f32::from_bits(value.to_bits() ^ 1 << 31))).collect()
    }

    fn abs(&self, of: &Value) -> Value {
        of.iter().map(|c| c.map(f32::abs)).collect()
    }

    fn alu(&mut self, op: Alu, operands: &[&Value]) -> Value {
        let count = operands.iter().map(|operand| operand.len()).max().unwrap_or(0);
        let at = |operand: &Value, i: usize| operand[if operand.len() == 1 { 0 } else { i }];
        let active = self.active();
        if matches!(op, Alu::Ddx | Alu::Ddy) {
            // Neighbours that are on another way have other values, which are undefined.
            if active != ALL {
                self.open = ALL;
            }
            let other = if op == Alu::Ddx { 1 } else { 2 };
            let difference =
                |c: &Lanes| [compute(self.shader.stage, Alu::Mad, [-c[0], 1.0, c[other]]); 4];
            return operands[0].iter().map(difference).collect();
        }
        let mut result = Vec::with_capacity(count);
        for i in 0..count {
            let lanes = std::array::from_fn(|lane| {
                let operand =
                    |n: usize| operands.get(n).map_or(0.0, |operand| at(operand, i)[lane]);
                let numbers = [operand(0), operand(1), operand(2)];
                let is_open = match op {
                    Alu::Rcp | Alu::Rsq => numbers[0] == 0.0 || numbers[0].is_subnormal(),
                    Alu::Cmp => numbers[2].is_nan(),
                    Alu::Min | Alu::Max => numbers[..2].iter().any(|number| number.is_nan()),
                    _ => false,
                };
                self.open[lane] |= is_open && active[lane];
                compute(self.shader.stage, op, numbers)
            });
            result.push(lanes);
        }
        result
    }

    fn mad_sat(&mut self, operands: [&Value; 3]) -> Value {
        let value = self.alu(Alu::Mad, &operands);
        value.iter().map(|c| c.map(|value| ARITH.clamp01(value))).collect()
    }

    fn dot(&mut self, a: &Value, b: &Value) -> Value {
        let of_lane = |lane: usize| {
            let pairs: Vec<[f32; 2]> = a.iter().zip(b).map(|(a, b)| [a[lane], b[lane]]).collect();
            dot_of(self.shader.stage, &pairs)
        };
        vec![std::array::from_fn(of_lane)]
    }

    fn fetch(&mut self, kind: FetchKind, strq: &Value, gradients: Option<[&Value; 2]>) -> Value {
        let lane_of = |value: &Value, lane: usize| -> [f32; 4] {
            std::array::from_fn(|c| value[c.min(value.len() - 1)][lane])
        };
        let Some(sampler) = self.given.sampler(kind.unit) else {
            return DISABLED_UNIT.iter().map(|c| [*c; 4]).collect();
        };
        let lod =
            sampler.depends_on_lod() && matches!(kind.op, TexOp::LD | TexOp::PROJ | TexOp::LODBIAS);
        if lod && self.active() != ALL {
            self.open = ALL;
        }
        let mut fetch = QuadFetch::new(kind.op, std::array::from_fn(|lane| lane_of(strq, lane)));
        fetch.unscaled = kind.unscaled;
        if let Some([dx, dy]) = gradients {
            fetch.gradients = std::array::from_fn(|lane| Gradients {
                dx: lane_of(dx, lane),
                dy: lane_of(dy, lane),
            });
        }
        let texels = sampler.fetch(&fetch, &TexReadings::default());
        (0..4).map(|c| texels.map(|texel| texel[c])).collect()
    }
}
