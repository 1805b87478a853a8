//! Lifts ALU and OUT instructions: sources, operations, destinations.
//!
//! `reference/{source,alu,write}.rs` document the evidence for each rule; functions with the same meaning have the same names.

use r500_exec::numerics::{CANONICAL_NAN, ClampNan};
use r500_exec::reading::{AluResultPredicate, PredReserved};
use r500_exec::{Alu, Predicate};
use r500_ir::{ALL, ConstantChannel, ModifiedOperand, NONE, Opcode, Operand, Stmt, Type};
use r500_isa::values::{
    AlphaOp, AluResultSel, Compare, Mod, Omod, PredSel, RgbOp, Sel, SrcpOp, Swiz,
};
use r500_isa::{CONSTANTS, Slot, Source, TEMPORARIES};

use crate::Lift;

/// The channels of `src0` to `src2`.
type Cells = [[Operand; 4]; 3];

/// Operands A, B, C of a half, in one channel.
type Operands = [ModifiedOperand; 3];

const ZERO: Operand = Operand::Const(0);

impl Lift<'_> {
    pub(crate) fn alu(&mut self, alu: &Alu) {
        let enabled = self.enabled(alu.rgb.pred, alu.alpha.pred);
        let result = self.results(alu);
        let color: [bool; 4] = std::array::from_fn(|i| i < 3);
        for i in 0..4 {
            let (dest, wmask) = if color[i] {
                (alu.rgb.dest, alu.rgb.wmask)
            } else {
                (alu.alpha.dest, alu.alpha.wmask << 3)
            };
            if wmask >> i & 1 != 0 {
                let temp = self.temp_address(dest.addr, dest.relative);
                let old = self.regs.temps[temp][i];
                let exact = self.is_quad_visible(temp, i);
                self.regs.temps[temp][i] =
                    self.written(Type::F32, enabled[i], result[i], old, exact);
            }
        }
        if alu.out {
            self.write_outputs(alu, result, enabled);
        } else {
            self.write_predicate(alu, result, enabled);
        }
        if let Some((sel, compare)) = alu.alu_result {
            let x = result[if sel == AluResultSel::ALPHA { 3 } else { 0 }];
            let set = self.compares(compare, x);
            let old = self.regs.alu_result;
            let gate = match self.input.readings.alu_result_predicate {
                AluResultPredicate::Ungated => ALL,
                AluResultPredicate::Gated => {
                    enabled[if sel == AluResultSel::ALPHA { 3 } else { 0 }]
                }
            };
            self.regs.alu_result = self.written(Type::Mask, gate, set, old, false);
        }
        self.count_stat(alu.stat_we, enabled);
    }

    /// Returns the operand of a register after a write: `enabled ? new : old`. In a quad-visible register, inactive lanes keep the old
    /// value.
    pub(crate) fn written(
        &mut self,
        ty: Type,
        enabled: Operand,
        new: Operand,
        old: Operand,
        quad_visible: bool,
    ) -> Operand {
        let mask = if quad_visible { self.builder.and(enabled, self.active) } else { enabled };
        self.builder.select(ty, mask, new, old)
    }

    /// Returns whether inactive lanes must keep a channel of a temporary, because other lanes of the quad may read it.
    pub(crate) fn is_quad_visible(&self, temp: usize, channel: usize) -> bool {
        self.quad_visible[temp * 4 + channel]
    }

    /// Lifts `STAT_WE`.
    pub(crate) fn count_stat(&mut self, stat_we: u8, enabled: [Operand; 4]) {
        for channel in (0..4u8).filter(|i| stat_we >> i & 1 != 0) {
            let mask = self.builder.and(enabled[usize::from(channel)], self.active);
            if mask != NONE {
                self.builder.push(Stmt::Stat { channel, mask });
            }
        }
    }

    /// Returns the masks of the channels that the predicates enable.
    pub(crate) fn enabled(&mut self, rgb: Predicate, alpha: Predicate) -> [Operand; 4] {
        [0, 1, 2, 3].map(|i| self.passes(if i < 3 { rgb } else { alpha }, i))
    }

    fn passes(&mut self, pred: Predicate, channel: usize) -> Operand {
        let bits = self.regs.predicate;
        let selected = match pred.sel {
            PredSel::RGBA => bits[channel],
            PredSel::RRRR => bits[0],
            PredSel::GGGG => bits[1],
            PredSel::BBBB => bits[2],
            PredSel::AAAA => bits[3],
            PredSel::NONE => return ALL,
            _ => match self.input.readings.pred_reserved {
                PredReserved::None => return ALL,
                PredReserved::Alpha => bits[3],
            },
        };
        if pred.inv { self.builder.not(selected) } else { selected }
    }

    /// Returns the result after OMOD and clamping; 0 for channels that are not written.
    fn results(&mut self, alu: &Alu) -> [Operand; 4] {
        let wanted = alu.wanted;
        let cells = self.cells(alu);
        let mut raw = [ZERO; 4];
        if wanted & 0b1000 != 0 || (alu.rgb.op == RgbOp::SOP && wanted & 0b0111 != 0) {
            raw[3] = match alu.alpha.op {
                AlphaOp::DP => self.dot_product(alu, &cells).unwrap_or(ZERO),
                _ => self.alpha_op(alu, &cells),
            };
        }
        let replicated = match alu.rgb.op {
            RgbOp::SOP => Some(raw[3]),
            op if op.is_dot_product() && wanted & 0b0111 != 0 => self.dot_product(alu, &cells),
            _ => None,
        };
        for i in (0..3).filter(|i| wanted >> i & 1 != 0) {
            raw[i] = match replicated {
                Some(raw) => raw,
                None => self.rgb_op(alu, &cells, i),
            };
        }
        let mut result = [ZERO; 4];
        for i in (0..4).filter(|i| wanted >> i & 1 != 0) {
            let (omod, clamp) = if i < 3 {
                (alu.rgb.omod, alu.rgb.clamp)
            } else {
                (alu.alpha.omod, alu.alpha.clamp)
            };
            result[i] = self.finish(raw[i], omod, clamp);
        }
        result
    }

    fn finish(&mut self, raw: Operand, omod: Omod, clamp: bool) -> Operand {
        let Some(factor) = omod.factor() else { return raw };
        let scaled = if factor == 1.0 {
            // The clamp treats denormals as zeros but returns them unchanged.
            self.builder.unary(Opcode::Flush, raw.into())
        } else {
            self.builder.mul(raw.into(), Operand::float(factor).into(), false)
        };
        if clamp { self.clamp(scaled) } else { scaled }
    }

    fn clamp(&mut self, x: Operand) -> Operand {
        let clamped = self.builder.unary(Opcode::Clamp01, x.into());
        let nan = match self.input.readings.clamp_nan {
            ClampNan::Zero => return clamped,
            ClampNan::One => 1.0,
            ClampNan::Nan => CANONICAL_NAN,
        };
        if !self.builder.range(x).nan {
            return clamped;
        }
        let number = self.builder.compare(Opcode::Eq, x.into(), x.into());
        self.builder.select(Type::F32, number, clamped, Operand::float(nan))
    }

    fn rgb_op(&mut self, alu: &Alu, cells: &Cells, i: usize) -> Operand {
        let x = [0, 1, 2].map(|n| {
            let operand = alu.rgb.operands[n];
            (operand.sel, operand.swiz[i], operand.modifier)
        });
        let operands: Operands = if alu.rgb.op.is_derivative() {
            let second = if alu.rgb.op == RgbOp::MDH { 1 } else { 2 };
            let corner = |lift: &mut Self, corner: u8, modifier: Mod| {
                let value = lift.builder.unary(Opcode::QuadBroadcast(corner), cells[0][i].into());
                modified(value, modifier)
            };
            let (a, c) = (corner(self, 0, x[0].2), corner(self, second, x[2].2));
            [a, self.operand(alu, cells, x[1]), c]
        } else {
            let mut operands = [ModifiedOperand::from(ZERO); 3];
            for (n, slot) in Slot::ALL.into_iter().enumerate() {
                if alu.rgb.op.uses(slot) {
                    operands[n] = self.operand(alu, cells, x[n]);
                }
            }
            operands
        };
        let zero_rule = self.input.shader.zero_rule();
        let [a, b, c] = operands;
        match alu.rgb.op {
            RgbOp::MAD | RgbOp::MDH | RgbOp::MDV => self.builder.mad(a, b, c, zero_rule),
            RgbOp::MIN => self.builder.min(a, b),
            RgbOp::MAX => self.builder.max(a, b),
            RgbOp::CND => self.cnd(a, b, c),
            RgbOp::CMP => self.cmp(a, b, c),
            RgbOp::FRC => self.builder.unary(Opcode::Frc, a),
            _ => ZERO,
        }
    }

    fn alpha_op(&mut self, alu: &Alu, cells: &Cells) -> Operand {
        let op = alu.alpha.op;
        let mut operands: Operands = [ModifiedOperand::from(ZERO); 3];
        for (n, slot) in Slot::ALL.into_iter().enumerate() {
            let operand = alu.alpha.operands[n];
            if op.uses(slot) {
                operands[n] =
                    self.operand(alu, cells, (operand.sel, operand.swiz[0], operand.modifier));
            }
        }
        if op.is_derivative() {
            let second = if op == AlphaOp::MDH { 1 } else { 2 };
            for (n, corner) in [(0, 0), (2, second)] {
                let value = self.builder.unary(Opcode::QuadBroadcast(corner), cells[0][3].into());
                operands[n] = modified(value, alu.alpha.operands[n].modifier);
            }
        }
        let zero_rule = self.input.shader.zero_rule();
        let [a, b, c] = operands;
        let function = match op {
            AlphaOp::MAD | AlphaOp::MDH | AlphaOp::MDV => {
                return self.builder.mad(a, b, c, zero_rule);
            }
            AlphaOp::MIN => return self.builder.min(a, b),
            AlphaOp::MAX => return self.builder.max(a, b),
            AlphaOp::CND => return self.cnd(a, b, c),
            AlphaOp::CMP => return self.cmp(a, b, c),
            AlphaOp::FRC => Opcode::Frc,
            AlphaOp::EX2 => Opcode::Ex2,
            AlphaOp::LN2 => Opcode::Ln2,
            AlphaOp::RCP => Opcode::Rcp,
            AlphaOp::RSQ => Opcode::Rsq,
            AlphaOp::SIN => Opcode::Sin,
            AlphaOp::COS => Opcode::Cos,
            _ => return ZERO,
        };
        self.builder.unary(function, a)
    }

    /// Returns a dot product: multiplies and adds from left to right, each step rounded.
    fn dot_product(&mut self, alu: &Alu, cells: &Cells) -> Option<Operand> {
        let zero_rule = self.input.shader.zero_rule();
        let count = if alu.rgb.op == RgbOp::D2A { 2 } else { 3 };
        if !alu.rgb.op.is_dot_product() {
            return None;
        }
        let [a, b, c] = alu.rgb.operands;
        let mut sum = None;
        for i in 0..count {
            let x = self.operand(alu, cells, (a.sel, a.swiz[i], a.modifier));
            let y = self.operand(alu, cells, (b.sel, b.swiz[i], b.modifier));
            sum = Some(self.pair(x, y, sum, zero_rule));
        }
        match alu.rgb.op {
            RgbOp::DP4 => {
                let [a, b, _] = alu.alpha.operands;
                let x = self.operand(alu, cells, (a.sel, a.swiz[0], a.modifier));
                let y = self.operand(alu, cells, (b.sel, b.swiz[0], b.modifier));
                Some(self.pair(x, y, sum, zero_rule))
            }
            RgbOp::D2A => {
                let c = self.operand(alu, cells, (c.sel, c.swiz[2], c.modifier));
                Some(self.builder.add(sum?.into(), c))
            }
            _ => sum,
        }
    }

    fn pair(
        &mut self,
        a: ModifiedOperand,
        b: ModifiedOperand,
        sum: Option<Operand>,
        zero_rule: bool,
    ) -> Operand {
        match sum {
            None => self.builder.mul(a, b, zero_rule),
            Some(sum) => self.builder.mad(a, b, sum.into(), zero_rule),
        }
    }

    /// Returns c > 0.5 ? a : b.
    fn cnd(&mut self, a: ModifiedOperand, b: ModifiedOperand, c: ModifiedOperand) -> Operand {
        let above = self.builder.compare(Opcode::Lt, Operand::float(0.5).into(), c);
        self.pick(above, a, b)
    }

    /// Returns c >= 0 ? a : b.
    fn cmp(&mut self, a: ModifiedOperand, b: ModifiedOperand, c: ModifiedOperand) -> Operand {
        let at_least = self.builder.compare(Opcode::Ge, c, ZERO.into());
        self.pick(at_least, a, b)
    }

    fn pick(&mut self, mask: Operand, a: ModifiedOperand, b: ModifiedOperand) -> Operand {
        let (a, b) = (self.builder.bits(a), self.builder.bits(b));
        self.builder.select(Type::F32, mask, a, b)
    }

    /// Returns a channel of an operand, by select, swizzle and modifier.
    fn operand(&mut self, alu: &Alu, cells: &Cells, of: (Sel, Swiz, Mod)) -> ModifiedOperand {
        let (sel, swiz, modifier) = of;
        let i = match swiz {
            Swiz::R | Swiz::G | Swiz::B | Swiz::A => usize::from(swiz.code()),
            Swiz::HALF => return modified(Operand::float(0.5), modifier),
            Swiz::ONE => return modified(Operand::float(1.0), modifier),
            _ => return modified(ZERO, modifier),
        };
        let value = match sel {
            Sel::SRC0 => cells[0][i],
            Sel::SRC1 => cells[1][i],
            Sel::SRC2 => cells[2][i],
            _ => {
                let op = if i < 3 { alu.rgb.srcp } else { alu.alpha.srcp };
                self.presubtract(op, cells[0][i], cells[1][i])
            }
        };
        modified(value, modifier)
    }

    fn presubtract(&mut self, op: SrcpOp, src0: Operand, src1: Operand) -> Operand {
        let one = Operand::float(1.0);
        match op {
            SrcpOp::SUB => self.builder.sub(src1.into(), src0.into()),
            SrcpOp::ADD => self.builder.add(src1.into(), src0.into()),
            SrcpOp::NEG => self.builder.sub(one.into(), src0.into()),
            _ => {
                // 1 - 2 * x: a product without the zero rule, then a difference.
                let twice = Operand::float(-2.0);
                self.builder.mad(src0.into(), twice.into(), one.into(), false)
            }
        }
    }

    fn cells(&mut self, alu: &Alu) -> Cells {
        [0, 1, 2].map(|n| {
            let [r, g, b, _] = self.resolve(alu.rgb.sources[n]);
            let [.., a] = self.resolve(alu.alpha.sources[n]);
            [r, g, b, a]
        })
    }

    fn resolve(&mut self, source: Source) -> [Operand; 4] {
        if source.constant {
            let constant = self.relative(source.addr, source.relative, CONSTANTS);
            let constant = u8::try_from(constant).expect("there are 256 constants");
            return [0, 1, 2, 3]
                .map(|channel| self.constant(ConstantChannel { constant, channel }));
        }
        match source.inline() {
            Some(inline) => [Operand::float(inline.value()); 4],
            None => self.regs.temps[self.temp_address(source.addr, source.relative)],
        }
    }

    /// Returns a channel of a program constant: a uniform, or its value.
    fn constant(&mut self, source: ConstantChannel) -> Operand {
        match self.symbolic.range(source) {
            Some(range) => self.builder.uniform(source, range),
            None => Operand::float(source.value(self.input.constants)),
        }
    }

    /// Returns the index of the temporary at an address, plus aL if it is relative.
    pub(crate) fn temp_address(&self, addr: u8, relative: bool) -> usize {
        self.relative(addr, relative, TEMPORARIES)
    }

    fn relative(&self, addr: u8, relative: bool, registers: usize) -> usize {
        moved(addr, if relative { self.al } else { 0 }, registers)
    }

    fn write_outputs(&mut self, alu: &Alu, result: [Operand; 4], enabled: [Operand; 4]) {
        for i in 0..4 {
            let (target, omask) = if i < 3 {
                (alu.rgb.target, alu.rgb.omask)
            } else {
                (alu.alpha.target, alu.alpha.omask << 3)
            };
            if omask >> i & 1 != 0 {
                let n = usize::from(target.code() & 3);
                let old = self.regs.colors[n][i];
                self.regs.colors[n][i] = self.written(Type::F32, enabled[i], result[i], old, false);
            }
        }
        if alu.depth {
            let (old, written) = (self.regs.depth, self.regs.depth_written);
            self.regs.depth = self.written(Type::F32, enabled[3], result[3], old, false);
            self.regs.depth_written = self.written(Type::Mask, enabled[3], ALL, written, false);
        }
    }

    fn write_predicate(&mut self, alu: &Alu, result: [Operand; 4], enabled: [Operand; 4]) {
        let omask = alu.rgb.omask | alu.alpha.omask << 3;
        let mut bits = self.regs.predicate;
        for i in (0..4).filter(|i| omask >> i & 1 != 0) {
            let compare = if i < 3 { alu.rgb.target } else { alu.alpha.target }.compare();
            let bit = self.compares(compare, result[i]);
            bits[i] = self.written(Type::Mask, enabled[i], bit, bits[i], false);
        }
        self.regs.predicate = bits;
    }

    fn compares(&mut self, compare: Compare, x: Operand) -> Operand {
        let code = match compare {
            Compare::LT => Opcode::Lt,
            Compare::GE => Opcode::Ge,
            Compare::NE => Opcode::Ne,
            _ => Opcode::Eq,
        };
        self.builder.compare(code, x.into(), ZERO.into())
    }
}

/// Returns the index of the register at an address plus aL, modulo the number of registers.
pub(crate) fn moved(addr: u8, al: i32, registers: usize) -> usize {
    let registers = i32::try_from(registers).expect("a register file is small");
    usize::try_from((i32::from(addr) + al).rem_euclid(registers)).expect("a remainder is positive")
}

fn modified(value: Operand, modifier: Mod) -> ModifiedOperand {
    let term = ModifiedOperand::from(value);
    match modifier {
        Mod::NEG => term.negated(),
        Mod::ABS => term.abs(),
        Mod::NAB => term.abs().negated(),
        _ => term,
    }
}
