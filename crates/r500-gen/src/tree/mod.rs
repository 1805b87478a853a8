//! Structured programs as syntax trees.
//!
//! A [`Tree`] is a program before it becomes jumps: nested branches and loops, subroutines, and straight instructions
//! between them. It has two independent interpretations. [`Tree::lower`] returns the six-dword instructions, in the
//! encodings of drivers and documents; [`oracle`](crate::oracle) runs the tree itself, pixel by pixel. An engine that
//! disagrees with the oracle is wrong about flow control, predication or data routing.
//!
//! Most statements have several equivalent encodings. The tree stores which one is used (the `form` fields), so that
//! lowering has no choices and a shrinker can change one at a time.
//!
//! Not every tree is valid: [`Tree::check`] has the requirements. Generators and shrinkers return valid trees only.

mod check;
mod lower;
mod print;
mod walk;

use r500_isa::state::UsFcIntConst;
use r500_isa::values::{
    AlphaOp, AluResultSel, Channel, Compare, Omod, PredSel, RgbOp, Sel, SrcpOp, Swiz, Target, TexOp,
};
use r500_isa::{BOOL_CONSTANTS, INT_CONSTANTS, Operand, Source};

pub use check::Invalid;
pub(crate) use check::{BRANCH_LEVELS, CALLS, LOOP_FRAMES};

/// A structured program and the state that it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The statements of the main program.
    pub main: Vec<Stmt>,
    /// Subroutines. Each may call only later ones, so there is no recursion.
    pub subs: Vec<Sub>,
    /// `US_FC_INT_CONST`.
    pub ints: [UsFcIntConst; INT_CONSTANTS],
    /// `US_FC_BOOL_CONST`.
    pub bools: u32,
    /// Float constants: the bits of R, G, B, A.
    pub constants: Vec<[u32; 4]>,
    /// `US_CONFIG.ZERO_TIMES_ANYTHING_EQUALS_ZERO`.
    pub zero_rule: bool,
    /// `US_PIXSIZE`: the highest temporary that may be used.
    pub pixsize: u8,
    /// `US_FC_CTRL.FULL_FC_EN`.
    pub full_fc: bool,
    /// `US_CODE_OFFSET`.
    pub offset: u16,
    /// The position of the subroutines.
    pub layout: Layout,
}

/// Positions of subroutines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// After the program's last instruction (`END_ADDR`).
    AfterMain,
    /// Before its first one (`START_ADDR`).
    Front,
    /// Before its last statement, after a jump over them.
    Inside,
}

/// A subroutine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sub {
    /// Its statements.
    pub body: Vec<Stmt>,
    /// Whether its calls open a branch level (`B_OP1` INCR) and its returns close one (DECR), so that calls may have a
    /// condition. Otherwise calls and returns do not change the levels.
    pub counted: bool,
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stmt {
    /// An ALU or OUT instruction.
    Alu(Box<Alu>),
    /// A texture instruction.
    Tex(Tex),
    /// A branch.
    If(If),
    /// A loop.
    Loop(Loop),
    /// Exits the innermost loop.
    Break(Leave),
    /// Ends the iteration of the innermost loop.
    Continue(Leave),
    /// Calls a subroutine.
    Call(Call),
    /// Returns before the end of a subroutine.
    Return(Return),
}

/// A branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct If {
    /// When `then` runs.
    pub cond: Cond,
    /// The statements if the condition holds.
    pub then: Vec<Stmt>,
    /// The statements of ELSE; `None` without one.
    pub otherwise: Option<Vec<Stmt>>,
    /// The encoding.
    pub form: IfForm,
}

/// A loop with a constant trip count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// LOOP or REP.
    pub kind: LoopKind,
    /// `INT_ADDR`: trip count, and for LOOP start and step of aL.
    pub int: u8,
    /// The body.
    pub body: Vec<Stmt>,
    /// The encoding.
    pub form: LoopForm,
}

/// The two kinds of loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopKind {
    /// LOOP: has its own aL.
    Loop,
    /// REP: does not change aL.
    Rep,
}

/// BREAK or CONTINUE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leave {
    /// The condition; unconditional if not given.
    pub when: Option<Cond>,
    /// `JUMP_ANY`. Both values are equivalent: the jump is only taken if no active pixel is left.
    pub any: bool,
    /// Other fields of the word.
    pub trim: Trim,
}

/// A call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// The subroutine.
    pub sub: u8,
    /// The condition; unconditional if not given.
    pub when: Option<Cond>,
    /// `JUMP_ANY`; must be set for a conditional call.
    pub any: bool,
    /// Other fields of the word.
    pub trim: Trim,
}

/// An early return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Return {
    /// The condition; unconditional if not given. Must not depend on the pixel.
    pub when: Option<Cond>,
    /// Other fields of the word.
    pub trim: Trim,
}

/// A condition: the inputs of `JUMP_FUNC`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cond {
    /// Bit `4*alu_result + 2*predicate + boolean` is set if the condition holds for these inputs.
    pub table: u8,
    /// The predicate bit.
    pub pred: Pred,
    /// `BOOL_ADDR`.
    pub boolean: u8,
}

/// `*_PRED_SEL` and `*_PRED_INV`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pred {
    /// Which bit.
    pub sel: PredSel,
    /// Whether it is negated.
    pub inv: bool,
}

/// The encoding of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IfForm {
    /// Branch counters and targets.
    pub shape: IfShape,
    /// `JUMP_ANY` of ELSE: it then never jumps, instead of jumping if no pixel takes its arm.
    pub else_any: bool,
    /// How ENDIF closes its level.
    pub endif: Endif,
    /// Other fields of the words of IF, ELSE and ENDIF.
    pub trims: [Trim; 3],
}

/// Branch counters and targets of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfShape {
    /// As drivers emit it: a jump over the branch targets the instruction after ENDIF.
    Usual,
    /// A jump over the branch opens the level anyway and targets ENDIF.
    Through,
    /// Without ENDIF: the ENDIF of the enclosing branch, which must follow directly and be `Usual` or itself `Merged`,
    /// also closes this level.
    Merged,
    /// Plain jumps that do not change the branch counters, for uniform conditions.
    Plain,
}

/// How ENDIF closes its level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endif {
    /// It never jumps; `B_OP0` DECR.
    Never,
    /// It always jumps, to the next instruction; `B_OP1` DECR.
    Always,
    /// Jumps to the next instruction depending on this table; both DECR.
    Either {
        /// `JUMP_FUNC`.
        table: u8,
        /// `JUMP_ANY`.
        any: bool,
    },
}

/// The encoding of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopForm {
    /// `JUMP_ANY` of LOOP or REP.
    pub any: bool,
    /// The target of LOOP or REP is after its end, as the documents describe; drivers use the ENDLOOP itself. Must be
    /// set for a loop of no iterations.
    pub past_end: bool,
    /// `JUMP_ANY` of ENDLOOP or ENDREP. Without it, iterations continue without active pixels.
    pub end_any: bool,
    /// Other fields of the words of LOOP and ENDLOOP.
    pub trims: [Trim; 2],
}

/// Fields of a flow-control instruction that do not change structured code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trim {
    /// `IGNORE_UNCOVERED`.
    pub ignore_uncovered: bool,
    /// `JUMP_GLOBAL`: the target is absolute.
    pub global: bool,
    /// Bits of the common word.
    pub hints: Hints,
}

/// Bits of the common word that only affect timing and statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// `LAST`.
    pub last: bool,
    /// `NOP`.
    pub nop: bool,
    /// `ALU_WAIT`.
    pub alu_wait: bool,
    /// `TEX_SEM_WAIT`.
    pub tex_sem_wait: bool,
    /// `STAT_WE`.
    pub stat_we: u8,
}

/// An ALU or OUT instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alu {
    /// Whether it is OUT: output masks select channels of render targets; otherwise predicate bits.
    pub out: bool,
    /// Colours.
    pub rgb: Half<RgbOp, 3>,
    /// Alpha.
    pub alpha: Half<AlphaOp, 1>,
    /// The ALU result, if it is written: `ALU_RESULT_SEL`, `ALU_RESULT_OP`.
    pub result: Option<(AluResultSel, Compare)>,
    /// `W_OMASK`: OUT writes alpha to depth.
    pub depth: bool,
    /// Other bits.
    pub hints: Hints,
}

/// A half of an ALU or OUT instruction: `N` is 3 for colours, 1 for alpha.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Half<Op, const N: usize> {
    /// Operation.
    pub op: Op,
    /// Source addresses.
    pub sources: [Source; 3],
    /// Presubtract.
    pub srcp: SrcpOp,
    /// Operands A, B, C.
    pub operands: [Operand<N>; 3],
    /// Destination.
    pub dest: Dest,
    /// Channels of the destination, from bit 0.
    pub wmask: u8,
    /// Channels of the output or predicate bits, from bit 0.
    pub omask: u8,
    /// Clamp.
    pub clamp: bool,
    /// Output modifier.
    pub omod: Omod,
    /// Render target, or predicate comparison.
    pub target: Target,
    /// Predicate.
    pub pred: Pred,
}

/// A destination temporary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dest {
    /// `ADDRD`.
    pub addr: u8,
    /// `ADDRD_REL`.
    pub relative: bool,
}

/// A texture instruction. Trees have no textures: a fetch returns the value of a disabled unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tex {
    /// `INST`.
    pub op: TexOp,
    /// `TEX_ID`.
    pub unit: u8,
    /// `UNSCALED`.
    pub unscaled: bool,
    /// `IGNORE_UNCOVERED`.
    pub ignore_uncovered: bool,
    /// `TEX_SEM_ACQUIRE`.
    pub acquire: bool,
    /// Coordinates.
    pub coord: TexReg,
    /// The gradients of DXDY.
    pub gradients: [TexReg; 2],
    /// Destination.
    pub dest: Dest,
    /// The texel channels that are written to R, G, B, A.
    pub swiz: [Channel; 4],
    /// Channels written, red in bit 0, alpha in bit 3.
    pub wmask: u8,
    /// Predicate of the colours; TEXKILL reads only this one.
    pub rgb_pred: Pred,
    /// Predicate of alpha.
    pub alpha_pred: Pred,
    /// Other bits.
    pub hints: Hints,
}

/// A temporary that a texture instruction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TexReg {
    /// Address.
    pub addr: u8,
    /// Whether aL is added.
    pub relative: bool,
    /// The channels for S, T, R, Q.
    pub swiz: [Channel; 4],
}

impl Tree {
    /// Returns a tree of these statements with simple state: no constants, 33 temporaries, full flow control.
    #[must_use]
    pub fn new(main: Vec<Stmt>) -> Self {
        Self {
            main,
            subs: Vec::new(),
            ints: [UsFcIntConst(0); INT_CONSTANTS],
            bools: 0,
            constants: Vec::new(),
            zero_rule: false,
            pixsize: 32,
            full_fc: true,
            offset: 0,
            layout: Layout::AfterMain,
        }
    }

    /// Returns an integer constant.
    #[must_use]
    pub fn int(&self, n: u8) -> UsFcIntConst {
        self.ints[usize::from(n) % INT_CONSTANTS]
    }

    /// Returns a boolean constant.
    #[must_use]
    pub fn boolean(&self, n: u8) -> bool {
        self.bools >> (usize::from(n) % BOOL_CONSTANTS) & 1 != 0
    }
}

impl Cond {
    /// Holds if the ALU result is set.
    pub const ALU_RESULT: Self = Self { table: 0xf0, pred: Pred::NONE, boolean: 0 };

    /// Returns the condition that a predicate bit is set, negated if `pred` is.
    #[must_use]
    pub const fn predicate(pred: Pred) -> Self {
        Self { table: 0xcc, pred, boolean: 0 }
    }

    /// Returns the condition that a boolean constant is set.
    #[must_use]
    pub const fn boolean(n: u8) -> Self {
        Self { table: 0xaa, pred: Pred::NONE, boolean: n }
    }

    /// Returns the negation.
    #[must_use]
    pub const fn not(self) -> Self {
        Self { table: !self.table, ..self }
    }

    /// Returns whether it holds.
    #[must_use]
    pub const fn holds(self, alu_result: bool, predicate: bool, boolean: bool) -> bool {
        let index = (alu_result as u8) << 2 | (predicate as u8) << 1 | boolean as u8;
        self.table >> index & 1 != 0
    }

    /// Returns whether it is uniform: it depends on the boolean constant only.
    #[must_use]
    pub fn is_static(self) -> bool {
        // PRED_SEL NONE reads as one value for all pixels: 1, or 0 inverted (open).
        let predicates: &[bool] = match self.pred.sel {
            PredSel::NONE if self.pred.inv => &[false],
            PredSel::NONE => &[true],
            _ => &[false, true],
        };
        [false, true].into_iter().all(|boolean| {
            let first = self.holds(false, predicates[0], boolean);
            [false, true].into_iter().all(|alu| {
                predicates.iter().all(|&predicate| self.holds(alu, predicate, boolean) == first)
            })
        })
    }
}

impl Pred {
    /// No predicate.
    pub const NONE: Self = Self { sel: PredSel::NONE, inv: false };

    /// Returns the predicate of a bit (0 R to 3 A).
    #[must_use]
    pub const fn bit(n: u8) -> Self {
        Self { sel: PredSel::new(PredSel::RRRR.code() + (n & 3)), inv: false }
    }
}

impl Trim {
    /// Only `ALU_WAIT`, which drivers set in every flow-control instruction.
    pub const USUAL: Self = Self {
        ignore_uncovered: false,
        global: false,
        hints: Hints { alu_wait: true, ..Hints::NONE },
    };
}

impl Hints {
    /// No bits.
    pub const NONE: Self =
        Self { last: false, nop: false, alu_wait: false, tex_sem_wait: false, stat_we: 0 };
}

impl IfForm {
    /// As drivers emit it.
    pub const USUAL: Self = Self {
        shape: IfShape::Usual,
        else_any: false,
        endif: Endif::Never,
        trims: [Trim::USUAL; 3],
    };
}

impl LoopForm {
    /// As the documents describe it.
    pub const SAFE: Self =
        Self { any: true, past_end: true, end_any: true, trims: [Trim::USUAL; 2] };

    /// As drivers emit it.
    pub const MESA: Self = Self { any: false, past_end: false, ..Self::SAFE };
}

impl Leave {
    /// An unconditional BREAK or CONTINUE, as drivers emit it.
    pub const ALWAYS: Self = Self { when: None, any: false, trim: Trim::USUAL };
}

impl Dest {
    /// Returns a temporary.
    #[must_use]
    pub const fn temp(addr: u8) -> Self {
        Self { addr, relative: false }
    }
}

impl<const N: usize> Half<RgbOp, N> {
    /// An idle half, as drivers emit it: MAD of source 0's red, without destination.
    pub const IDLE: Self = idle_half(RgbOp::MAD);
}

impl<const N: usize> Half<AlphaOp, N> {
    /// An idle half, as drivers emit it: MAD of source 0's red, without destination.
    pub const IDLE: Self = idle_half(AlphaOp::MAD);
}

const fn idle_half<Op: Copy, const N: usize>(op: Op) -> Half<Op, N> {
    let operand =
        Operand { sel: Sel::SRC0, swiz: [Swiz::R; N], modifier: r500_isa::values::Mod::NOP };
    Half {
        op,
        sources: [Source::UNUSED; 3],
        srcp: SrcpOp::NEG2,
        operands: [operand; 3],
        dest: Dest::temp(0),
        wmask: 0,
        omask: 0,
        clamp: false,
        omod: Omod::MUL1,
        target: Target::A,
        pred: Pred::NONE,
    }
}

impl Alu {
    /// An instruction without effect.
    pub const IDLE: Self = Self {
        out: false,
        rgb: Half::<RgbOp, 3>::IDLE,
        alpha: Half::<AlphaOp, 1>::IDLE,
        result: None,
        depth: false,
        hints: Hints::NONE,
    };

    /// Returns whether it takes differences across the quad.
    #[must_use]
    pub fn is_derivative(&self) -> bool {
        self.rgb.op.is_derivative() || self.alpha.op.is_derivative()
    }
}

impl Tex {
    /// An instruction without effect.
    pub const IDLE: Self = Self {
        op: TexOp::NOP,
        unit: 0,
        unscaled: false,
        ignore_uncovered: false,
        acquire: false,
        coord: TexReg::temp(0),
        gradients: [TexReg { addr: 0, relative: false, swiz: [Channel::R; 4] }; 2],
        dest: Dest::temp(0),
        swiz: [Channel::R, Channel::G, Channel::B, Channel::A],
        wmask: 0,
        rgb_pred: Pred::NONE,
        alpha_pred: Pred::NONE,
        hints: Hints::NONE,
    };
}

impl TexReg {
    /// Returns a temporary, unswizzled.
    #[must_use]
    pub const fn temp(addr: u8) -> Self {
        let swiz = [Channel::R, Channel::G, Channel::B, Channel::A];
        Self { addr, relative: false, swiz }
    }
}
