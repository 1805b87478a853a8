//! Evaluation of ALU and OUT instructions.

use r500_isa::values::{AlphaOp, AluResultSel, Mod, Omod, RgbOp, Sel, SrcpOp, Swiz};
use r500_isa::{Operand, Source};

use super::{Oracle, Pixel, address, compare, number};
use crate::tree::{Alu, Dest, Half};

/// src0, src1, src2 and srcp: colours from the RGB half's addresses, alpha from the alpha half's.
type Sources = [[f32; 4]; 4];

impl Oracle<'_> {
    pub(super) fn alu(&self, alu: &Alu, pixel: &mut Pixel, al: i32) {
        let sources = self.sources(alu, pixel, al);
        let result = self.result(alu, &sources, None);
        store(alu, pixel, al, result);
    }

    /// Executes an instruction for a quad: all four pixels read before one writes.
    pub(super) fn alu_of_four(&self, alu: &Alu, quad: &mut [Pixel; 4], al: i32) {
        let sources = quad.each_ref().map(|pixel| self.sources(alu, pixel, al));
        for (pixel, own) in quad.iter_mut().zip(&sources) {
            let result = self.result(alu, own, Some(&sources));
            store(alu, pixel, al, result);
        }
    }

    fn sources(&self, alu: &Alu, pixel: &Pixel, al: i32) -> Sources {
        let read = |source: Source| match (source.constant, source.inline()) {
            (true, _) => {
                let n = address(source.addr, source.relative, al);
                self.tree.constants.get(n).map_or([0.0; 4], |bits| bits.map(f32::from_bits))
            }
            (false, Some(inline)) => [inline.value(); 4],
            (false, None) => pixel.temp(Dest { addr: source.addr, relative: source.relative }, al),
        };
        let [src0, src1, src2] = [0, 1, 2].map(|n| {
            let [r, g, b, _] = read(alu.rgb.sources[n]);
            [r, g, b, read(alu.alpha.sources[n])[3]]
        });
        let srcp = [0, 1, 2, 3].map(|channel| {
            let op = if channel < 3 { alu.rgb.srcp } else { alu.alpha.srcp };
            let (a, b) = (src0[channel], src1[channel]);
            match op {
                SrcpOp::SUB => number::add(b, -a),
                SrcpOp::ADD => number::add(b, a),
                SrcpOp::NEG => number::add(1.0, -a),
                _ => number::bias(a),
            }
        });
        [src0, src1, src2, srcp]
    }

    /// Returns the final red, green, blue and alpha.
    fn result(&self, alu: &Alu, own: &Sources, quad: Option<&[Sources; 4]>) -> [f32; 4] {
        let [a, b, c] = alu.rgb.operands.map(|operand| select(&operand, own));
        let [[alpha_a], [alpha_b], [alpha_c]] =
            alu.alpha.operands.map(|operand| select(&operand, own));
        let times = |a, b| number::product(a, b, self.tree.zero_rule);
        let mad = |a, b, c| number::add(times(a, b), c);
        let dot = match alu.rgb.op {
            RgbOp::D2A => {
                Some(mad(a[1], b[1], times(a[0], b[0]))).map(|sum| number::add(sum, c[2]))
            }
            RgbOp::DP3 => Some(mad(a[2], b[2], mad(a[1], b[1], times(a[0], b[0])))),
            RgbOp::DP4 => {
                let three = mad(a[2], b[2], mad(a[1], b[1], times(a[0], b[0])));
                Some(mad(alpha_a, alpha_b, three))
            }
            _ => None,
        };
        // Source 0 of a neighbour with its modifier, for differences. 1 is top right, 2 bottom left.
        let corner = |n: usize, channel: usize, modifier| {
            modify(quad.map_or(0.0, |quad| quad[n][0][channel]), modifier)
        };
        let other = |horizontal| if horizontal { 1 } else { 2 };

        let alpha = match alu.alpha.op {
            AlphaOp::MAD => mad(alpha_a, alpha_b, alpha_c),
            AlphaOp::DP => dot.unwrap_or(0.0),
            AlphaOp::MIN => min(alpha_a, alpha_b),
            AlphaOp::MAX => max(alpha_a, alpha_b),
            AlphaOp::CND => cnd(alpha_a, alpha_b, alpha_c),
            AlphaOp::CMP => cmp(alpha_a, alpha_b, alpha_c),
            AlphaOp::FRC => number::fraction(alpha_a),
            AlphaOp::EX2 => number::ex2(alpha_a),
            AlphaOp::LN2 => number::ln2(alpha_a),
            AlphaOp::RCP => number::rcp(alpha_a),
            AlphaOp::RSQ => number::rsq(alpha_a),
            AlphaOp::SIN => number::sin(alpha_a),
            AlphaOp::COS => number::cos(alpha_a),
            AlphaOp::MDH | AlphaOp::MDV => {
                let [first, _, second] = alu.alpha.operands.map(|operand| operand.modifier);
                let far = other(alu.alpha.op == AlphaOp::MDH);
                mad(corner(0, 3, first), alpha_b, corner(far, 3, second))
            }
            _ => 0.0,
        };
        let colour = |i: usize| match alu.rgb.op {
            RgbOp::MAD => mad(a[i], b[i], c[i]),
            RgbOp::MIN => min(a[i], b[i]),
            RgbOp::MAX => max(a[i], b[i]),
            RgbOp::CND => cnd(a[i], b[i], c[i]),
            RgbOp::CMP => cmp(a[i], b[i], c[i]),
            RgbOp::FRC => number::fraction(a[i]),
            RgbOp::SOP => alpha,
            RgbOp::MDH | RgbOp::MDV => {
                let [first, _, second] = alu.rgb.operands.map(|operand| operand.modifier);
                let far = other(alu.rgb.op == RgbOp::MDH);
                mad(corner(0, i, first), b[i], corner(far, i, second))
            }
            _ => dot.unwrap_or(0.0),
        };
        let rgb = |x| finish(x, &alu.rgb);
        [rgb(colour(0)), rgb(colour(1)), rgb(colour(2)), finish(alpha, &alu.alpha)]
    }
}

fn select<const N: usize>(operand: &Operand<N>, sources: &Sources) -> [f32; N] {
    let source = match operand.sel {
        Sel::SRC0 => sources[0],
        Sel::SRC1 => sources[1],
        Sel::SRC2 => sources[2],
        _ => sources[3],
    };
    operand.swiz.map(|swiz| {
        let value = match swiz {
            Swiz::R => source[0],
            Swiz::G => source[1],
            Swiz::B => source[2],
            Swiz::A => source[3],
            Swiz::HALF => 0.5,
            Swiz::ONE => 1.0,
            _ => 0.0,
        };
        modify(value, operand.modifier)
    })
}

fn modify(x: f32, modifier: Mod) -> f32 {
    match modifier {
        Mod::NEG => -x,
        Mod::ABS => x.abs(),
        Mod::NAB => -x.abs(),
        _ => x,
    }
}

fn min(a: f32, b: f32) -> f32 {
    if number::less(a, b) { a } else { b }
}

fn max(a: f32, b: f32) -> f32 {
    if number::less(b, a) || number::equal(a, b) { a } else { b }
}

fn cnd(a: f32, b: f32, c: f32) -> f32 {
    if number::less(0.5, c) { a } else { b }
}

fn cmp(a: f32, b: f32, c: f32) -> f32 {
    if number::less(0.0, c) || number::equal(c, 0.0) { a } else { b }
}

/// Applies OMOD, then the clamp; OMOD 7 passes the bits through without clamp.
fn finish<Op, const N: usize>(x: f32, half: &Half<Op, N>) -> f32 {
    let factor = match half.omod {
        Omod::MUL1 => 1.0,
        Omod::MUL2 => 2.0,
        Omod::MUL4 => 4.0,
        Omod::MUL8 => 8.0,
        Omod::DIV2 => 0.5,
        Omod::DIV4 => 0.25,
        Omod::DIV8 => 0.125,
        _ => return x,
    };
    let scaled = number::scale(x, factor);
    if half.clamp { number::clamp(scaled) } else { scaled }
}

fn store(alu: &Alu, pixel: &mut Pixel, al: i32, result: [f32; 4]) {
    // Predication reads the bits before the instruction writes them.
    let lets =
        [0, 1, 2, 3].map(|i| pixel.passes(if i < 3 { alu.rgb.pred } else { alu.alpha.pred }, i));
    for (i, value) in result.into_iter().enumerate() {
        let (wmask, omask, dest, target) = if i < 3 {
            (alu.rgb.wmask >> i, alu.rgb.omask >> i, alu.rgb.dest, alu.rgb.target)
        } else {
            (alu.alpha.wmask, alu.alpha.omask, alu.alpha.dest, alu.alpha.target)
        };
        if !lets[i] {
            continue;
        }
        if wmask & 1 != 0 {
            pixel.write(dest, al, i, value);
        }
        if omask & 1 != 0 && alu.out {
            let target = usize::from(target.code() & 3);
            pixel.outcome.color[target][i] = value;
            pixel.outcome.written[target] |= 1 << i;
        } else if omask & 1 != 0 {
            pixel.predicate[i] = compare(target.compare(), value);
        }
    }
    if alu.depth && alu.out && lets[3] {
        pixel.outcome.depth = Some(result[3]);
    }
    // The predicate does not gate the ALU result.
    if let Some((sel, op)) = alu.result {
        let value = if sel == AluResultSel::ALPHA { result[3] } else { result[0] };
        pixel.alu_result = compare(op, value);
    }
}
