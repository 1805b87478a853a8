//! A decoded program.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use r500_isa::dataflow::SourceReads;
use r500_isa::state::{UsFcBoolConst, UsFcIntConst};
use r500_isa::values::{
    AlphaOp, AluResultSel, Channel, Compare, InstType, Omod, PredSel, RgbOp, SrcpOp, Target, TexOp,
};
use r500_isa::words::{CmnInst, FcAddr, FcInst};
use r500_isa::{Half, INT_CONSTANTS, InstInfo, Instruction, Operand, Slot, Source, TARGETS};
use r500_program::{CodeWindow, Executable, Program, WindowError};

/// A decoded program. Any dwords can be decoded, provided that the code window contains an instruction.
#[derive(Clone, Debug)]
pub struct Shader {
    key: ProgramKey,
    ops: Vec<Op>,
    /// The render targets that some instruction may write.
    targets: [bool; TARGETS],
    /// Whether some instruction may write depth.
    depth: bool,
}

/// A program by content: all that its execution depends on, besides bindings and options. Programs with equal keys are the same.
#[derive(Clone, Debug, Eq)]
pub struct ProgramKey(Arc<ProgramContent>);

/// The content of a program.
#[derive(Debug, PartialEq, Eq, Hash)]
struct ProgramContent {
    code: Vec<Instruction>,
    window: CodeWindow,
    zero_rule: bool,
    full_fc: bool,
    pixsize: Option<u8>,
}

impl PartialEq for ProgramKey {
    fn eq(&self, other: &Self) -> bool {
        // Clones of a shader share the content.
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl Hash for ProgramKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// An error of decoding a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShaderError {
    /// There are no instructions.
    #[error("the program has no instructions")]
    Empty,
    /// `US_CODE_RANGE` and the instructions given have no address in common.
    #[error(
        "the code window {first}..={last} (US_CODE_RANGE) holds none of the {count} instructions, \
         which start at address {offset} (US_CODE_OFFSET)"
    )]
    EmptyWindow {
        /// First address of the window.
        first: u32,
        /// Last address of the window.
        last: u32,
        /// Instructions given.
        count: usize,
        /// Address of the first.
        offset: u32,
    },
    /// The program would start outside its window.
    #[error(
        "the program starts at address {start} (US_CODE_ADDR.START_ADDR + US_CODE_OFFSET), \
         outside the instructions given within the code window ({first}..={last})"
    )]
    StartOutside {
        /// Absolute address of the start.
        start: u32,
        /// First address that can run.
        first: u32,
        /// Last address that can run.
        last: u32,
    },
}

impl Shader {
    /// Decodes a program.
    ///
    /// State that is not given defaults to a window of all instructions, execution from the first to the last
    /// of them, and full flow control.
    ///
    /// # Errors
    /// [`ShaderError`] if there are no instructions, or none in the code window.
    pub fn new(program: &Program) -> Result<Self, ShaderError> {
        let count = program.code.len();
        let executable = Executable::of(program).map_err(|error| match error {
            WindowError::Empty => ShaderError::Empty,
            WindowError::EmptyWindow { first, last, offset } => {
                ShaderError::EmptyWindow { first, last, count, offset }
            }
            WindowError::StartOutside { start, first, last } => {
                ShaderError::StartOutside { start, first, last }
            }
        })?;
        let Executable { window, full_fc, pixsize, .. } = executable;
        let config = program.state.config;
        let mut targets = [false; TARGETS];
        let mut depth = false;
        for info in program.code.iter().map(|&inst| InstInfo::new(inst)) {
            for (target, _) in info.outputs.iter().filter(|(_, mask)| *mask != 0) {
                targets[usize::from(*target)] = true;
            }
            depth |= info.depth;
        }
        Ok(Self {
            key: ProgramKey(Arc::new(ProgramContent {
                code: program.code.clone(),
                window,
                zero_rule: config.is_some_and(|c| c.zero_times_anything_equals_zero()),
                full_fc,
                pixsize,
            })),
            ops: program.code.iter().map(|&inst| Op::decode(inst)).collect(),
            targets,
            depth,
        })
    }

    /// Returns the key of the program, by its content. For this project's engines.
    #[doc(hidden)]
    #[must_use]
    pub fn key(&self) -> &ProgramKey {
        &self.key
    }

    fn content(&self) -> &ProgramContent {
        &self.key.0
    }

    /// Returns the program as far as flow control and register addresses depend on it, with integer and boolean constants; `None` for
    /// unknown ones.
    #[doc(hidden)]
    #[must_use]
    pub fn executable(
        &self,
        int_constants: [Option<UsFcIntConst>; INT_CONSTANTS],
        bool_constants: Option<UsFcBoolConst>,
    ) -> Executable<'_> {
        let &ProgramContent { ref code, window, full_fc, pixsize, .. } = self.content();
        Executable { code, window, full_fc, pixsize, bool_constants, int_constants }
    }

    /// Returns the decoded operation at an absolute address; `None` outside the window. For this project's engines and
    /// tracers.
    #[doc(hidden)]
    #[must_use]
    pub fn op(&self, address: u32) -> Option<&Op> {
        self.window().index(address).and_then(|i| self.ops.get(i))
    }

    /// Returns the dwords at an absolute address; `None` outside the window.
    #[must_use]
    pub fn instruction(&self, address: u32) -> Option<Instruction> {
        self.window().index(address).and_then(|i| self.code().get(i)).copied()
    }

    /// Returns all decoded operations, from the one at `US_CODE_OFFSET`. For this project's engines.
    #[doc(hidden)]
    #[must_use]
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// Returns the dwords of all instructions, in the same order.
    #[must_use]
    pub fn code(&self) -> &[Instruction] {
        &self.content().code
    }

    /// Returns `US_CODE_OFFSET.OFFSET_ADDR`, the absolute address of the first instruction.
    #[must_use]
    pub fn offset(&self) -> u32 {
        self.window().offset
    }

    /// Returns the absolute address at which the program starts.
    #[must_use]
    pub fn start(&self) -> u32 {
        self.window().address(self.window().start)
    }

    /// Returns the absolute address of the instruction after which the program ends.
    #[must_use]
    pub fn end(&self) -> u32 {
        self.window().end_address
    }

    /// Returns the instructions that can run.
    #[must_use]
    pub fn window(&self) -> CodeWindow {
        self.content().window
    }

    /// Returns `US_CONFIG.ZERO_TIMES_ANYTHING_EQUALS_ZERO`.
    #[must_use]
    pub fn zero_rule(&self) -> bool {
        self.content().zero_rule
    }

    /// Returns `US_FC_CTRL.FULL_FC_EN`.
    #[must_use]
    pub fn full_fc(&self) -> bool {
        self.content().full_fc
    }

    /// Returns `US_PIXSIZE.PIX_SIZE`, the highest temporary that exists, if given.
    #[must_use]
    pub fn pixsize(&self) -> Option<u8> {
        self.content().pixsize
    }

    /// Returns the render targets that some instruction may write.
    #[must_use]
    pub fn targets(&self) -> [bool; 4] {
        self.targets
    }

    /// Returns the render targets that a frame has: those that some instruction may write, and A.
    pub(crate) fn frame_targets(&self) -> [bool; 4] {
        let [_, b, c, d] = self.targets;
        [true, b, c, d]
    }

    /// Returns whether some instruction may write depth.
    #[must_use]
    pub fn writes_depth(&self) -> bool {
        self.depth
    }
}

/// A decoded instruction.
#[derive(Clone, Debug)]
pub enum Op {
    /// ALU or OUT.
    Alu(Box<Alu>),
    /// Texture.
    Tex(Tex),
    /// Flow control.
    Fc(Fc),
}

impl Op {
    /// Decodes any six dwords.
    #[must_use]
    pub fn decode(inst: Instruction) -> Self {
        match inst.ty() {
            InstType::FC => Self::Fc(Fc::decode(inst)),
            InstType::TEX => Self::Tex(Tex::decode(inst)),
            _ => Self::Alu(Box::new(Alu::decode(inst))),
        }
    }

    /// Returns `TEX_SEM_WAIT`.
    #[must_use]
    pub fn tex_sem_wait(&self) -> bool {
        match self {
            Self::Alu(alu) => alu.tex_sem_wait,
            Self::Tex(tex) => tex.tex_sem_wait,
            Self::Fc(fc) => fc.cmn.tex_sem_wait(),
        }
    }
}

/// A predicate (`*_PRED_SEL`, `*_PRED_INV`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Predicate {
    /// Which bit.
    pub sel: PredSel,
    /// Whether it is negated.
    pub inv: bool,
}

/// A destination temporary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dest {
    /// `*_ADDRD`.
    pub addr: u8,
    /// `*_ADDRD_REL`.
    pub relative: bool,
}

/// A half of an ALU or OUT instruction: `N` is 3 for RGB, 1 for alpha.
#[derive(Clone, Copy, Debug)]
pub struct AluHalf<O, const N: usize> {
    /// Operation.
    pub op: O,
    /// Source addresses.
    pub sources: [Source; 3],
    /// Presubtract.
    pub srcp: SrcpOp,
    /// Operands A, B, C.
    pub operands: [Operand<N>; 3],
    /// Destination.
    pub dest: Dest,
    /// Channels of the temporary, from bit 0.
    pub wmask: u8,
    /// Channels of the output, or predicate bits, from bit 0.
    pub omask: u8,
    /// Clamp.
    pub clamp: bool,
    /// Output modifier.
    pub omod: Omod,
    /// Render target, or predicate comparison.
    pub target: Target,
    /// Predicate.
    pub pred: Predicate,
}

/// An ALU or OUT instruction.
#[derive(Clone, Debug)]
pub struct Alu {
    /// Whether it is OUT instead of ALU.
    pub out: bool,
    /// The RGB half.
    pub rgb: AluHalf<RgbOp, 3>,
    /// The alpha half.
    pub alpha: AluHalf<AlphaOp, 1>,
    /// `WRITE_INACTIVE`.
    pub write_inactive: bool,
    /// `ALU_WMASK` with `ALU_RESULT_SEL` and `ALU_RESULT_OP`.
    pub alu_result: Option<(AluResultSel, Compare)>,
    /// `W_OMASK` (used by OUT only).
    pub depth: bool,
    /// `STAT_WE`.
    pub stat_we: u8,
    /// `TEX_SEM_WAIT`.
    pub tex_sem_wait: bool,
    /// The sources that the result depends on.
    pub reads: SourceReads,
    /// Channels of the result that are used, red in bit 0.
    pub wanted: u8,
}

impl Alu {
    fn decode(inst: Instruction) -> Self {
        let (cmn, rgb, alpha, rgba) =
            (inst.cmn(), inst.rgb_inst(), inst.alpha_inst(), inst.rgba_inst());
        let out = cmn.ty() == InstType::OUT;
        Self {
            out,
            rgb: AluHalf {
                op: rgba.rgb_op(),
                sources: inst.sources(Half::Rgb),
                srcp: inst.srcp_op(Half::Rgb),
                operands: Slot::ALL.map(|slot| inst.rgb_operand(slot)),
                dest: Dest { addr: rgba.rgb_addrd(), relative: rgba.rgb_addrd_rel() },
                wmask: cmn.rgb_wmask().code(),
                omask: cmn.rgb_omask().code(),
                clamp: cmn.rgb_clamp(),
                omod: rgb.omod(),
                target: rgb.target(),
                pred: Predicate { sel: cmn.rgb_pred_sel(), inv: cmn.rgb_pred_inv() },
            },
            alpha: AluHalf {
                op: alpha.alpha_op(),
                sources: inst.sources(Half::Alpha),
                srcp: inst.srcp_op(Half::Alpha),
                operands: Slot::ALL.map(|slot| inst.alpha_operand(slot)),
                dest: Dest { addr: alpha.alpha_addrd(), relative: alpha.alpha_addrd_rel() },
                wmask: u8::from(cmn.alpha_wmask()),
                omask: u8::from(cmn.alpha_omask()),
                clamp: cmn.alpha_clamp(),
                omod: alpha.omod(),
                target: alpha.target(),
                pred: Predicate { sel: cmn.alpha_pred_sel(), inv: cmn.alpha_pred_inv() },
            },
            write_inactive: cmn.write_inactive(),
            alu_result: rgb.alu_wmask().then(|| (cmn.alu_result_sel(), cmn.alu_result_op())),
            depth: alpha.w_omask() && out,
            stat_we: cmn.stat_we(),
            tex_sem_wait: cmn.tex_sem_wait(),
            reads: inst.source_reads(),
            wanted: inst.result_channels(),
        }
    }
}

/// A texture instruction.
#[derive(Clone, Copy, Debug)]
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
    pub tex_sem_acquire: bool,
    /// `TEX_SEM_WAIT`.
    pub tex_sem_wait: bool,
    /// Coordinates: a temporary, and the channels used as S, T, R, Q.
    pub coord: TexReg,
    /// Gradient along x.
    pub dx: TexReg,
    /// Gradient along y.
    pub dy: TexReg,
    /// Destination.
    pub dest: Dest,
    /// Texel channel for each of R, G, B, A.
    pub dest_swiz: [Channel; 4],
    /// Channels written, red lowest, alpha in bit 3.
    pub wmask: u8,
    /// Predicate of the RGB channels.
    pub rgb_pred: Predicate,
    /// Predicate of alpha.
    pub alpha_pred: Predicate,
    /// `WRITE_INACTIVE`.
    pub write_inactive: bool,
    /// `STAT_WE`.
    pub stat_we: u8,
}

/// A temporary that a texture instruction reads, with its swizzle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TexReg {
    /// Address.
    pub addr: u8,
    /// Whether aL is added.
    pub relative: bool,
    /// Channels used as S, T, R, Q.
    pub swiz: [Channel; 4],
}

impl Tex {
    fn decode(inst: Instruction) -> Self {
        let (cmn, tex, addr, grad) =
            (inst.cmn(), inst.tex_inst(), inst.tex_addr(), inst.tex_addr_dxdy());
        Self {
            op: tex.inst(),
            unit: tex.tex_id(),
            unscaled: tex.unscaled(),
            ignore_uncovered: tex.ignore_uncovered(),
            tex_sem_acquire: tex.tex_sem_acquire(),
            tex_sem_wait: cmn.tex_sem_wait(),
            coord: TexReg {
                addr: addr.src_addr(),
                relative: addr.src_addr_rel(),
                swiz: [addr.src_s_swiz(), addr.src_t_swiz(), addr.src_r_swiz(), addr.src_q_swiz()],
            },
            dx: TexReg {
                addr: grad.dx_addr(),
                relative: grad.dx_addr_rel(),
                swiz: [grad.dx_s_swiz(), grad.dx_t_swiz(), grad.dx_r_swiz(), grad.dx_q_swiz()],
            },
            dy: TexReg {
                addr: grad.dy_addr(),
                relative: grad.dy_addr_rel(),
                swiz: [grad.dy_s_swiz(), grad.dy_t_swiz(), grad.dy_r_swiz(), grad.dy_q_swiz()],
            },
            dest: Dest { addr: addr.dst_addr(), relative: addr.dst_addr_rel() },
            dest_swiz: [addr.dst_r_swiz(), addr.dst_g_swiz(), addr.dst_b_swiz(), addr.dst_a_swiz()],
            wmask: cmn.rgb_wmask().code() | u8::from(cmn.alpha_wmask()) << 3,
            rgb_pred: Predicate { sel: cmn.rgb_pred_sel(), inv: cmn.rgb_pred_inv() },
            alpha_pred: Predicate { sel: cmn.alpha_pred_sel(), inv: cmn.alpha_pred_inv() },
            write_inactive: cmn.write_inactive(),
            stat_we: cmn.stat_we(),
        }
    }
}

/// A flow-control instruction, as its words: each field has an effect of its own.
#[derive(Clone, Copy, Debug)]
pub struct Fc {
    /// Word 0.
    pub cmn: CmnInst,
    /// Word 2.
    pub inst: FcInst,
    /// Word 3.
    pub addr: FcAddr,
}

impl Fc {
    fn decode(inst: Instruction) -> Self {
        Self { cmn: inst.cmn(), inst: inst.fc_inst(), addr: inst.fc_addr() }
    }

    /// Returns the predicate that `JUMP_FUNC` reads (`RGB_PRED_SEL`, `RGB_PRED_INV`).
    #[must_use]
    pub fn pred(&self) -> Predicate {
        Predicate { sel: self.cmn.rgb_pred_sel(), inv: self.cmn.rgb_pred_inv() }
    }
}
