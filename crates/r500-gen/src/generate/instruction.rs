//! Generation of ALU, OUT and texture instructions.

use r500_isa::values::{
    AlphaOp, AluResultSel, Channel, Compare, Mod, Omod, PredSel, RgbOp, Sel, SrcpOp, Swiz, Target,
    TexOp,
};
use r500_isa::{Operand, Source};

use super::{Context, Generator, Stmt};
use crate::Choices;
use crate::tree::{Alu, Dest, Half, Hints, Pred, Tex, TexReg};

const RGB_OPS: [RgbOp; 10] = [
    RgbOp::MAD,
    RgbOp::DP3,
    RgbOp::DP4,
    RgbOp::D2A,
    RgbOp::MIN,
    RgbOp::MAX,
    RgbOp::CND,
    RgbOp::CMP,
    RgbOp::FRC,
    RgbOp::SOP,
];
const ALPHA_OPS: [AlphaOp; 7] = [
    AlphaOp::MAD,
    AlphaOp::DP,
    AlphaOp::MIN,
    AlphaOp::MAX,
    AlphaOp::CND,
    AlphaOp::CMP,
    AlphaOp::FRC,
];
const FUNCTIONS: [AlphaOp; 6] =
    [AlphaOp::EX2, AlphaOp::LN2, AlphaOp::RCP, AlphaOp::RSQ, AlphaOp::SIN, AlphaOp::COS];
const COLOURS: [Swiz; 3] = [Swiz::R, Swiz::G, Swiz::B];

impl<E: Choices> Generator<'_, E> {
    /// Returns any instruction except flow control.
    pub(super) fn instruction(&mut self, context: Context) -> Stmt {
        match self.choices.weighted(&[10, 3, 2, 1, u32::from(self.kills)]) {
            0 => Stmt::Alu(Box::new(self.alu(context))),
            1 => self.set_predicate(context),
            2 => self.out(context),
            3 => self.fetch(context),
            _ => self.kill(context),
        }
    }

    /// Returns an instruction that increments or decrements a register, for loop counters.
    pub(super) fn count_up(&mut self, context: Context) -> Stmt {
        let mut alu = Alu::IDLE;
        let temp = Dest::temp(self.counter());
        let own = Source { addr: temp.addr, constant: false, relative: false };
        // t = t * 1 + step, the step from a constant or inline: 0x38 is 1, 0x30 is 1/2.
        let step = if self.choices.chance(1, 2) {
            self.source(context)
        } else {
            Source { addr: self.choices.pick(0xb8, &[0xb0, 0xc0]), ..Source::UNUSED }
        };
        let modifier = self.choices.pick(Mod::NOP, &[Mod::NEG]);
        alu.rgb.sources = [own, step, Source::UNUSED];
        alu.rgb.operands = [
            Operand { sel: Sel::SRC0, swiz: COLOURS, modifier: Mod::NOP },
            Operand { sel: Sel::SRC0, swiz: [Swiz::ONE; 3], modifier: Mod::NOP },
            Operand { sel: Sel::SRC1, swiz: COLOURS, modifier },
        ];
        alu.rgb.dest = temp;
        alu.rgb.wmask = 1 + self.choices.below(7) as u8;
        alu.rgb.pred = self.pred(1);
        Stmt::Alu(Box::new(alu))
    }

    /// Returns a comparison as drivers emit it before IF: a difference with zero that only sets the ALU result.
    pub(super) fn compare(&mut self, context: Context) -> Stmt {
        if self.choices.chance(1, 6) {
            let mut alu = self.alu(context);
            alu.result = Some((
                self.choices.pick(AluResultSel::RED, &[AluResultSel::ALPHA]),
                self.comparison(),
            ));
            return Stmt::Alu(Box::new(alu));
        }
        let mut alu = Alu::IDLE;
        alu.rgb.sources = self.compared(context);
        let channel = |choices: &mut E| choices.pick(Swiz::R, &[Swiz::G, Swiz::B]);
        let (x, y) = (channel(self.choices), channel(self.choices));
        let zero = Swiz::ZERO;
        alu.rgb.operands = [
            Operand { sel: Sel::SRC0, swiz: [x, zero, zero], modifier: Mod::NOP },
            Operand { sel: Sel::SRC0, swiz: [Swiz::ONE; 3], modifier: Mod::NOP },
            Operand { sel: Sel::SRC1, swiz: [y, zero, zero], modifier: Mod::NEG },
        ];
        alu.result = Some((AluResultSel::RED, self.comparison()));
        Stmt::Alu(Box::new(alu))
    }

    /// Returns operands for comparisons: mostly an input, which varies between pixels, and a loop counter.
    fn compared(&mut self, context: Context) -> [Source; 3] {
        let temp = |addr| Source { addr, constant: false, relative: false };
        let a = match self.choices.weighted(&[4, 2]) {
            0 => {
                let any = self.choices.below(self.inputs) as u8;
                temp(self.choices.pick(0, &[any]))
            }
            _ => self.source(context),
        };
        let b = match self.choices.weighted(&[3, 2]) {
            0 => temp(self.counter()),
            _ => self.source(context),
        };
        [a, b, Source::UNUSED]
    }

    /// Returns a temporary that is a loop counter.
    fn counter(&mut self) -> u8 {
        (self.inputs + self.choices.below(2)).min(u32::from(self.tree.pixsize)) as u8
    }

    /// Returns an ALU instruction that sets predicate bits.
    pub(super) fn set_predicate(&mut self, context: Context) -> Stmt {
        let mut alu = self.alu(context);
        if self.choices.chance(2, 3) {
            // A difference for every channel.
            let sources = self.compared(context);
            let (shown, one) = (self.operand(), [Swiz::ONE]);
            let part = |sel, swiz, modifier| Operand { sel, swiz, modifier };
            (alu.rgb.op, alu.rgb.sources) = (RgbOp::MAD, sources);
            alu.rgb.operands = [
                part(Sel::SRC0, shown.swiz, Mod::NOP),
                part(Sel::SRC0, [Swiz::ONE; 3], Mod::NOP),
                part(Sel::SRC1, COLOURS, Mod::NEG),
            ];
            alu.rgb.omod = Omod::MUL1;
            let (a, b) = (Swiz::new(self.choices.below(4) as u8), Swiz::A);
            (alu.alpha.op, alu.alpha.sources) = (AlphaOp::MAD, sources);
            alu.alpha.operands = [
                Operand { sel: Sel::SRC0, swiz: [a], modifier: Mod::NOP },
                Operand { sel: Sel::SRC0, swiz: one, modifier: Mod::NOP },
                Operand { sel: Sel::SRC1, swiz: [b], modifier: Mod::NEG },
            ];
            alu.alpha.omod = Omod::MUL1;
            (alu.rgb.clamp, alu.alpha.clamp) = (false, false);
        }
        (alu.rgb.omask, alu.alpha.omask) = match self.choices.weighted(&[4, 1, 2]) {
            0 => (7, 1),
            1 => (0, 1),
            _ => (1 + self.choices.below(7) as u8, self.choices.below(2) as u8),
        };
        (alu.rgb.target, alu.alpha.target) = (self.target(), self.target());
        if self.choices.chance(3, 4) {
            (alu.rgb.wmask, alu.alpha.wmask) = (0, 0);
        }
        Stmt::Alu(Box::new(alu))
    }

    /// Returns an OUT instruction.
    fn out(&mut self, context: Context) -> Stmt {
        let mut alu = self.alu(context);
        alu.out = true;
        alu.rgb.omask = self.choices.pick(7, &[0, 1, 2, 3, 4, 5, 6]);
        alu.alpha.omask = u8::from(!self.choices.chance(1, 3));
        (alu.rgb.target, alu.alpha.target) = (self.target(), self.target());
        alu.depth = self.choices.chance(1, 4);
        if self.choices.chance(3, 4) {
            (alu.rgb.wmask, alu.alpha.wmask) = (0, 0);
        }
        Stmt::Alu(Box::new(alu))
    }

    /// Adds OUT instructions at the end that make temporaries observable.
    pub(super) fn tail(&mut self) {
        let first = u32::from(self.tree.pixsize).min(7) + 1;
        for n in 0..1 + self.choices.below(5) {
            let mut alu = Alu::IDLE;
            let temp = |choices: &mut E| Source {
                addr: choices.below(first) as u8,
                constant: false,
                relative: false,
            };
            let ones = |_| Operand { sel: Sel::SRC0, swiz: [Swiz::ONE; 3], modifier: Mod::NOP };
            alu.out = true;
            alu.rgb.sources[0] = temp(self.choices);
            alu.alpha.sources[0] = temp(self.choices);
            alu.rgb.operands = [0, 1, 2].map(ones);
            alu.rgb.operands[0].swiz = COLOURS;
            alu.rgb.operands[2].swiz = [Swiz::ZERO; 3];
            alu.alpha.operands = alu.rgb.operands.map(|Operand { sel, swiz, modifier }| Operand {
                sel,
                swiz: [if swiz[0] == Swiz::R { Swiz::A } else { swiz[0] }],
                modifier,
            });
            (alu.rgb.omask, alu.alpha.omask) = (7, 1);
            // The first writes everything, later ones are predicated.
            if n != 0 {
                alu.rgb.target = self.target();
                alu.alpha.target = alu.rgb.target;
                (alu.rgb.pred, alu.alpha.pred) = (self.pred(2), self.pred(2));
            }
            self.tree.main.push(Stmt::Alu(Box::new(alu)));
        }
    }

    /// Returns an ALU instruction that writes temporaries.
    fn alu(&mut self, context: Context) -> Alu {
        let derivatives = self.derivatives && context.uniform;
        let mut rgb_op = self.choices.pick(RGB_OPS[0], &RGB_OPS[1..]);
        if derivatives && self.choices.chance(1, 4) {
            rgb_op = self.choices.pick(RgbOp::MDH, &[RgbOp::MDV]);
        }
        let dot = rgb_op.is_dot_product();
        let mut alpha_op = match self.choices.weighted(&[3, 2, u32::from(dot)]) {
            _ if rgb_op == RgbOp::SOP => self.choices.pick(FUNCTIONS[0], &FUNCTIONS[1..]),
            0 => self.choices.pick(ALPHA_OPS[0], &ALPHA_OPS[2..]),
            1 => self.choices.pick(FUNCTIONS[0], &FUNCTIONS[1..]),
            _ => AlphaOp::DP,
        };
        let free = rgb_op != RgbOp::SOP && rgb_op != RgbOp::DP4;
        if derivatives && free && self.choices.chance(1, 6) {
            alpha_op = self.choices.pick(AlphaOp::MDH, &[AlphaOp::MDV]);
        }
        let mut alu = Alu {
            out: false,
            rgb: self.half(rgb_op, context),
            alpha: self.half(alpha_op, context),
            result: None,
            depth: false,
            hints: self.hints(false),
        };
        alu.rgb.wmask = self.choices.pick(7, &[7, 7, 0, 1, 2, 3, 4, 5, 6]);
        alu.alpha.wmask = u8::from(!self.choices.chance(1, 3));
        let selects = matches!(rgb_op, RgbOp::MIN | RgbOp::MAX | RgbOp::CND | RgbOp::CMP);
        alu.rgb.omod = self.omod(selects);
        let selects = matches!(alpha_op, AlphaOp::MIN | AlphaOp::MAX | AlphaOp::CND | AlphaOp::CMP);
        alu.alpha.omod = self.omod(selects);
        if self.choices.chance(1, 10) {
            let sel = self.choices.pick(AluResultSel::RED, &[AluResultSel::ALPHA]);
            alu.result = Some((sel, self.comparison()));
        }
        alu
    }

    fn half<Op, const N: usize>(&mut self, op: Op, context: Context) -> Half<Op, N> {
        let sources = [self.source(context), self.source(context), self.source(context)];
        Half {
            op,
            sources,
            srcp: SrcpOp::new(self.choices.below(4) as u8),
            operands: [self.operand(), self.operand(), self.operand()],
            dest: self.dest(context),
            wmask: 0,
            omask: 0,
            clamp: self.choices.chance(1, 6),
            omod: Omod::MUL1,
            target: Target::A,
            pred: self.pred(2),
        }
    }

    fn operand<const N: usize>(&mut self) -> Operand<N> {
        let sel = self
            .choices
            .pick(Sel::SRC0, &[Sel::SRC0, Sel::SRC1, Sel::SRC1, Sel::SRC2, Sel::SRC2, Sel::SRCP]);
        let plain = !self.choices.chance(1, 2);
        let swiz = std::array::from_fn(|i| match (plain, N) {
            (true, 1) => Swiz::A,
            (true, _) => COLOURS[i % 3],
            // Channels more often than constants.
            (false, _) => Swiz::new(self.choices.pick(0, &[0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7])),
        });
        let modifier =
            self.choices.pick(Mod::NOP, &[Mod::NOP, Mod::NOP, Mod::NEG, Mod::ABS, Mod::NAB]);
        Operand { sel, swiz, modifier }
    }

    fn source(&mut self, context: Context) -> Source {
        match self.choices.weighted(&[6, 3, 1]) {
            0 => {
                let Dest { addr, relative } = self.temp(context);
                Source { addr, constant: false, relative }
            }
            1 => {
                let last = self.tree.constants.len() as i32 - 1;
                let Dest { addr, relative } = self.register(context, last, last);
                Source { addr, constant: true, relative }
            }
            _ => Source { addr: 0x80 | self.choices.below(128) as u8, ..Source::UNUSED },
        }
    }

    /// Returns a temporary, mostly one of the first few.
    fn temp(&mut self, context: Context) -> Dest {
        let last = i32::from(self.tree.pixsize);
        let few = if self.choices.chance(1, 8) { last } else { last.min(7) };
        self.register(context, few, last)
    }

    /// Returns a destination temporary, mostly not an input: programs that overwrite inputs early lose the differences
    /// between pixels.
    fn dest(&mut self, context: Context) -> Dest {
        let dest = self.temp(context);
        let last = u32::from(self.tree.pixsize);
        if dest.relative || u32::from(dest.addr) >= self.inputs || self.choices.chance(1, 8) {
            return dest;
        }
        Dest::temp((self.inputs + self.choices.below(5)).min(last) as u8)
    }

    /// Returns a register up to `few`, or a relative one, up to `last` with aL added.
    fn register(&mut self, context: Context, few: i32, last: i32) -> Dest {
        let (least, greatest) = context.al;
        let (first, most) = ((-least).max(0), last - greatest);
        if self.choices.chance(1, 5) && first <= most {
            // Near the low end, which other instructions also use.
            let addr = self.choices.between(first, most.min(first + 5)) as u8;
            return Dest { addr, relative: true };
        }
        Dest::temp(self.choices.between(0, few) as u8)
    }

    /// Returns a predicate with a probability of `times` in eight.
    fn pred(&mut self, times: u32) -> Pred {
        if !self.choices.chance(times, 8) {
            // Inversion has no effect without a predicate.
            return Pred { sel: PredSel::NONE, inv: self.choices.chance(1, 16) };
        }
        let sel = PredSel::new(1 + self.choices.below(5) as u8);
        Pred { sel, inv: self.choices.chance(1, 2) }
    }

    fn omod(&mut self, selects: bool) -> Omod {
        match self.choices.weighted(&[6, 3, if selects { 2 } else { 0 }]) {
            0 => Omod::MUL1,
            1 => Omod::new(1 + self.choices.below(6) as u8),
            _ => Omod::DISABLED,
        }
    }

    fn target(&mut self) -> Target {
        Target::new(self.choices.below(4) as u8)
    }

    fn comparison(&mut self) -> Compare {
        Compare::new(self.choices.below(4) as u8)
    }

    /// Returns bits without effect on results; `flow` for flow control, where drivers set `ALU_WAIT`.
    pub(super) fn hints(&mut self, flow: bool) -> Hints {
        let usual = Hints { alu_wait: flow, ..Hints::NONE };
        if !self.choices.chance(1, 8) {
            return usual;
        }
        let bits = self.choices.below(256);
        Hints {
            last: bits & 1 != 0,
            nop: bits & 2 != 0,
            alu_wait: bits & 4 != 0,
            tex_sem_wait: bits & 8 != 0,
            stat_we: (bits >> 4) as u8,
        }
    }

    /// Returns a fetch from a disabled unit.
    fn fetch(&mut self, context: Context) -> Stmt {
        let ops = [TexOp::NOP, TexOp::PROJ, TexOp::LODBIAS, TexOp::LOD, TexOp::DXDY];
        let op = self.choices.pick(TexOp::LD, &ops);
        let mut tex = self.texture(op, context);
        tex.wmask = self.choices.pick(15, &[1, 7, 8, 10]);
        Stmt::Tex(tex)
    }

    fn kill(&mut self, context: Context) -> Stmt {
        let mut tex = self.texture(TexOp::TEXKILL, context);
        if self.choices.chance(3, 4) {
            // Tests one component: four would kill nearly all pixels.
            tex.coord.swiz = [tex.coord.swiz[0]; 4];
        }
        // Drivers set the mask, but TEXKILL must not write.
        tex.wmask = self.choices.pick(15, &[0]);
        Stmt::Tex(tex)
    }

    fn texture(&mut self, op: TexOp, context: Context) -> Tex {
        Tex {
            op,
            unit: self.choices.below(16) as u8,
            unscaled: self.choices.chance(1, 4),
            ignore_uncovered: self.choices.chance(1, 4),
            acquire: self.choices.chance(1, 2),
            coord: self.tex_reg(context),
            gradients: [self.tex_reg(context), self.tex_reg(context)],
            dest: self.dest(context),
            swiz: self.channels(),
            wmask: 0,
            rgb_pred: self.pred(2),
            alpha_pred: self.pred(2),
            hints: self.hints(false),
        }
    }

    fn tex_reg(&mut self, context: Context) -> TexReg {
        let Dest { addr, relative } = self.temp(context);
        TexReg { addr, relative, swiz: self.channels() }
    }

    fn channels(&mut self) -> [Channel; 4] {
        std::array::from_fn(|_| Channel::new(self.choices.below(4) as u8))
    }
}
