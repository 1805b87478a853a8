//! Work per picture, sampled by the reference engine.

use r500::exec::reference::Group;
use r500::exec::{Alu, AluHalf, Draw, GROUP, Op, PixelRect, RunError};
use r500::isa::Operand;
use r500::isa::values::{AlphaOp, Omod, RgbOp, Sel, SrcpOp, Swiz};

/// Number of sampled groups in each direction.
const GROUPS: u32 = 16;

/// The mean work of a pixel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Work {
    /// Executed instructions.
    pub(super) instructions: f64,
    /// Float operations in them, see [`operations`].
    pub(super) operations: f64,
}

impl Work {
    /// Counts the work of a grid of groups that is spread over the picture.
    pub(super) fn sample(draw: &Draw<'_>) -> Result<Self, RunError> {
        let [width, height] = draw.bindings.size();
        let costs: Vec<u64> = draw.shader.ops().iter().map(operations).collect();
        let (mut pixels, mut instructions, mut all) = (0u64, 0u64, 0u64);
        for y in spread(height, GROUP[1]) {
            for x in spread(width, GROUP[0]) {
                let block = PixelRect { x, y, width: GROUP[0], height: GROUP[1] };
                let mut group = Group::new(draw, block);
                pixels += group.state().lanes().iter().filter(|lane| lane.inside).count() as u64;
                while !group.ended() {
                    let lanes = group.state().lanes().iter();
                    let active =
                        lanes.filter(|lane| lane.inside && lane.is_active()).count() as u64;
                    let address = group.step()?.address;
                    let cost = address.checked_sub(draw.shader.offset());
                    let cost = cost.and_then(|index| costs.get(index as usize));
                    instructions += active;
                    all += active * cost.copied().unwrap_or_default();
                }
            }
        }
        let mean = |sum: u64| sum as f64 / pixels.max(1) as f64;
        Ok(Self { instructions: mean(instructions), operations: mean(all) })
    }
}

/// Returns the positions of sampled groups in a direction: all of them, or some at equal distances.
fn spread(side: u32, group: u32) -> impl Iterator<Item = u32> {
    let groups = u64::from(side.div_ceil(group));
    let taken = groups.min(u64::from(GROUPS));
    (0..taken).map(move |i| ((2 * i + 1) * groups / (2 * taken)) as u32 * group)
}

/// Returns the floating-point operations of an instruction per pixel: products, sums, comparisons with selection,
/// fractions and transcendentals count one each, in the channels that are used. Signs, clamps, swizzles, copies,
/// factors 1 and terms 0 by swizzle, texture and flow-control instructions count nothing.
fn operations(op: &Op) -> u64 {
    let Op::Alu(alu) = op else { return 0 };
    let Alu { rgb, alpha, wanted, .. } = &**alu;
    let colours = (0..3).filter(|channel| wanted >> channel & 1 != 0);
    let has_colours = wanted & 7 != 0;
    // The result of a half may be used by the other half only.
    let has_alpha = wanted & 8 != 0;
    let takes_dot = has_alpha && alpha.op == AlphaOp::DP && rgb.op.is_dot_product();
    let takes_scalar = has_colours && rgb.op == RgbOp::SOP;
    let mut count = 0;
    if has_colours || takes_dot {
        count += match rgb.op {
            RgbOp::DP3 => 5,
            RgbOp::DP4 => 7,
            RgbOp::D2A => 4,
            RgbOp::MAD => colours.clone().map(|channel| multiply_add(rgb, channel)).sum(),
            RgbOp::MIN | RgbOp::MAX if is_copy(rgb) => 0,
            RgbOp::SOP => 0,
            _ => colours.clone().count() as u64,
        };
        count += presubtract(rgb, |slot| rgb.op.uses(slot));
        count += scaled(rgb.omod) * colours.count() as u64;
    }
    if has_alpha || takes_scalar {
        count += match alpha.op {
            AlphaOp::DP => 0,
            AlphaOp::MAD => multiply_add(alpha, 0),
            AlphaOp::MIN | AlphaOp::MAX if is_copy(alpha) => 0,
            _ => 1,
        };
        count += presubtract(alpha, |slot| alpha.op.uses(slot));
        count += scaled(alpha.omod);
    }
    count
}

/// Returns the operations of A * B + C in a channel.
fn multiply_add<O, const N: usize>(half: &AluHalf<O, N>, channel: usize) -> u64 {
    let [a, b, c] = half.operands.map(|operand| operand.swiz[channel]);
    let zero = |swiz| matches!(swiz, Swiz::ZERO | Swiz::UNUSED);
    let no_product = zero(a) || zero(b);
    let product = !no_product && a != Swiz::ONE && b != Swiz::ONE;
    let sum = !no_product && !zero(c);
    u64::from(product) + u64::from(sum)
}

/// Returns whether the operation is the maximum of a value and itself: a copy, as compilers emit it.
fn is_copy<O, const N: usize>(half: &AluHalf<O, N>) -> bool {
    let [a, b, _] = half.operands;
    a == b
}

/// Returns the operations of the presubtract unit, if an operand uses its result.
fn presubtract<O, const N: usize>(
    half: &AluHalf<O, N>,
    uses: impl Fn(r500::isa::Slot) -> bool,
) -> u64 {
    let reads = |operand: &Operand<N>| {
        let source = |swiz: &Swiz| matches!(*swiz, Swiz::R | Swiz::G | Swiz::B | Swiz::A);
        operand.sel == Sel::SRCP && operand.swiz.iter().any(source)
    };
    let slots = r500::isa::Slot::ALL.into_iter().zip(&half.operands);
    let used = slots.into_iter().any(|(slot, operand)| uses(slot) && reads(operand));
    // 1 - 2 * src0 is a product and a sum, the others a sum.
    let each = if half.srcp == SrcpOp::NEG2 { 2 } else { 1 };
    u64::from(used) * each * N as u64
}

/// Returns the operations of the output modifier.
fn scaled(omod: Omod) -> u64 {
    u64::from(!matches!(omod, Omod::MUL1 | Omod::DISABLED))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use r500::exec::{Bindings, Options, Shader};
    use r500::formats::Limits;
    use r500::program::Job;
    use r500::reader;

    fn job(body: &str) -> Job {
        reader::read(body.as_bytes(), None, None, &Limits::default()).unwrap().remove(0)
    }

    fn sample(job: &Job, size: [u32; 2]) -> Work {
        let shader = Shader::new(&job.program).unwrap();
        let bindings = Bindings::new(job, size).unwrap();
        let options = Options::default();
        Work::sample(&Draw::new(&shader, &bindings, &options).unwrap()).unwrap()
    }

    #[test]
    fn groups_are_spread() {
        let spread = |side| spread(side, 4).collect::<Vec<_>>();
        assert_eq!(spread(5), [0, 4]);
        assert_eq!(spread(64), (0..16).map(|i| i * 4).collect::<Vec<_>>());
        let wide = spread(1024);
        assert_eq!((wide.len(), wide[0], wide[1], wide[15]), (16, 32, 96, 992));
    }

    /// Copies, signs, factors 1 and terms 0 are free; the other counts are hand-derived.
    #[test]
    fn operations_are_those_of_the_channels_written() {
        let cases = [
            ("out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.a src0.a", 0),
            ("out[0].rgb = MAD -src0.rgb src0.111 src0.000, out[0].a = MAX src0.a src0.a", 0),
            ("out[0].rgb = MAD src0.rgb src0.rgb src0.000, out[0].a = MAX src0.a src0.a", 3),
            ("out[0].rgb = MAD src0.rgb src0.rgb src0.rgb, out[0].a = MAX src0.a src0.a", 6),
            ("out[0].rgb = MAD src0.rgb src0.111 src0.rgb, out[0].a = MAX src0.a src0.a", 3),
            ("out[0].rg = MAD src0.rgb src0.rgb src0.rgb, out[0].a = MAX src0.a src0.a", 4),
            ("out[0].rgb = 2.0 * MAX src0.rgb src0.rgb, out[0].a = MAX |src0.a| src0.a", 4),
            ("out[0].rgb = DP3 src0.rgb src0.rgb, out[0].a = DP", 5),
            ("out[0].rgb = SOP, out[0].a = RCP src0.r", 1),
        ];
        for (text, wanted) in cases {
            let sources = "src0.rgb = temp[0], src0.a = temp[0]";
            let job = job(&format!("OUT TEX_SEM_WAIT LAST {sources} : {text} ;"));
            let work = sample(&job, [8, 4]);
            assert_eq!((work.instructions, work.operations), (1.0, f64::from(wanted)), "{text}");
        }
    }
}
