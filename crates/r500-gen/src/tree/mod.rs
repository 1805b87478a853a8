//! Structured programs as syntax trees.
//!
//! A [`Tree`] is what a compiler knows about a program before it becomes jumps: nested branches and
//! loops, subroutines, and straight instructions between them. It has two readings that know nothing
//! of each other. [`Tree::lower`] gives the six-dword instructions, by the encodings that drivers
//! and documents use; [`oracle`](crate::oracle) runs the tree itself, pixel by pixel. A machine
//! which disagrees with the oracle is wrong about flow control, predication or data routing.
//!
//! Most statements can be encoded in several ways that mean the same. Which way was chosen stands in
//! the tree (the `form` fields), so that lowering has no choices left and a shrinker can change one
//! thing at a time.
//!
//! Not every tree is valid: [`Tree::check`] states the requirements. Generators and shrinkers only
//! hand out trees that pass.

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
    /// The statements where the program starts.
    pub main: Vec<Stmt>,
    /// Subroutines. One may call those after it, so there is no recursion.
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
    /// In front of its first one (`START_ADDR`).
    Front,
    /// Before its last statement, after a jump over them.
    Inside,
}

/// A subroutine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sub {
    /// Its statements.
    pub body: Vec<Stmt>,
    /// Its calls open a branch level (`B_OP1` INCR) and its returns close one (DECR), so that calls
    /// may have a condition. Otherwise calls and returns leave the levels alone.
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
    /// Leaves the innermost loop.
    Break(Leave),
    /// Goes to the end of the innermost loop's pass.
    Continue(Leave),
    /// Calls a subroutine.
    Call(Call),
    /// Leaves a subroutine before its end.
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
    /// `INT_ADDR`: passes, and for LOOP start and step of aL.
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
    /// REP: leaves aL alone.
    Rep,
}

/// BREAK or CONTINUE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leave {
    /// When; always if not given.
    pub when: Option<Cond>,
    /// `JUMP_ANY`. Either value means the same: the jump is only taken when no pixel is left.
    pub any: bool,
    /// Other fields of the word.
    pub trim: Trim,
}

/// A call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// The subroutine.
    pub sub: u8,
    /// When; always if not given.
    pub when: Option<Cond>,
    /// `JUMP_ANY`; must be set where there is a condition.
    pub any: bool,
    /// Other fields of the word.
    pub trim: Trim,
}

/// An early return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Return {
    /// When; always if not given. Must not depend on the pixel.
    pub when: Option<Cond>,
    /// Other fields of the word.
    pub trim: Trim,
}

/// A condition: what `JUMP_FUNC` reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cond {
    /// Bit `4*alu_result + 2*predicate + boolean` is set if it holds.
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
    /// `JUMP_ANY` of ELSE: it then never jumps, instead of jumping when no pixel takes its arm.
    pub else_any: bool,
    /// How ENDIF closes its level.
    pub endif: Endif,
    /// Other fields of the words of IF, ELSE and ENDIF.
    pub trims: [Trim; 3],
}

/// Branch counters and targets of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfShape {
    /// As drivers do it: a jump over the whole branch lands after ENDIF.
    Usual,
    /// A jump over the whole branch opens the level anyway and lands on ENDIF.
    Through,
    /// There is no ENDIF: that of the branch around it, which must follow at once and be `Usual` or
    /// itself `Merged`, closes this level too.
    Merged,
    /// Plain jumps that leave the branch counters alone, for conditions that hold for all pixels or
    /// none.
    Plain,
}

/// How ENDIF closes its level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endif {
    /// It never jumps; `B_OP0` DECR.
    Never,
    /// It always jumps, to the next instruction; `B_OP1` DECR.
    Always,
    /// Whether it jumps, to the next instruction, depends on this table; both DECR.
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
    /// The target of LOOP or REP is after its end, as the documents describe; drivers take the
    /// ENDLOOP itself. Must be set for a loop of no passes.
    pub past_end: bool,
    /// `JUMP_ANY` of ENDLOOP or ENDREP. Without it, passes continue though no pixel is left in them.
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

/// Bits of the common word that only concern timing and statistics.
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
    /// OUT: the output masks name channels of render targets; else predicate bits.
    pub out: bool,
    /// Colours.
    pub rgb: Half<RgbOp, 3>,
    /// Alpha.
    pub alpha: Half<AlphaOp, 1>,
    /// The ALU result, if it is set: `ALU_RESULT_SEL`, `ALU_RESULT_OP`.
    pub result: Option<(AluResultSel, Compare)>,
    /// `W_OMASK`: OUT sends alpha to depth.
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

/// A texture instruction. Trees have no textures: a fetch gives what a unit gives that is not
/// enabled.
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
    /// Texel channel that lands in R, G, B, A.
    pub swiz: [Channel; 4],
    /// Channels written, red in bit 0, alpha in bit 3.
    pub wmask: u8,
    /// Predicate of the colours; TEXKILL reads it alone.
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
    /// Channels that serve as S, T, R, Q.
    pub swiz: [Channel; 4],
}

impl Tree {
    /// Returns a tree of these statements, with state that does for simple ones: no constants, 33
    /// temporaries, full flow control.
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
    /// The ALU result is set.
    pub const ALU_RESULT: Self = Self { table: 0xf0, pred: Pred::NONE, boolean: 0 };

    /// Returns whether a predicate bit is set, negated if `pred` is.
    #[must_use]
    pub const fn predicate(pred: Pred) -> Self {
        Self { table: 0xcc, pred, boolean: 0 }
    }

    /// Returns a boolean constant is set.
    #[must_use]
    pub const fn boolean(n: u8) -> Self {
        Self { table: 0xaa, pred: Pred::NONE, boolean: n }
    }

    /// Returns the opposite.
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

    /// Returns whether it is the same for all pixels: it reads no more than the boolean constant.
    #[must_use]
    pub fn is_static(self) -> bool {
        // PRED_SEL NONE reads as one bit for all pixels: 1, or 0 inverted (open).
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
    /// Not predicated.
    pub const NONE: Self = Self { sel: PredSel::NONE, inv: false };

    /// That bit (0 R to 3 A).
    #[must_use]
    pub const fn bit(n: u8) -> Self {
        Self { sel: PredSel::new(PredSel::RRRR.code() + (n & 3)), inv: false }
    }
}

impl Trim {
    /// Nothing but `ALU_WAIT`, which drivers set in every flow-control instruction.
    pub const USUAL: Self = Self {
        ignore_uncovered: false,
        global: false,
        hints: Hints { alu_wait: true, ..Hints::NONE },
    };
}

impl Hints {
    /// None of them.
    pub const NONE: Self =
        Self { last: false, nop: false, alu_wait: false, tex_sem_wait: false, stat_we: 0 };
}

impl IfForm {
    /// As drivers do it.
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

    /// As drivers do it.
    pub const MESA: Self = Self { any: false, past_end: false, ..Self::SAFE };
}

impl Leave {
    /// BREAK or CONTINUE without a condition, as drivers do it.
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
    /// An idle half, as drivers write it: MAD of source 0's red, nothing written.
    pub const IDLE: Self = idle_half(RgbOp::MAD);
}

impl<const N: usize> Half<AlphaOp, N> {
    /// An idle half, as drivers write it: MAD of source 0's red, nothing written.
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
    /// An instruction that does nothing.
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
    /// An instruction that does nothing.
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
