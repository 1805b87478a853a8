//! The codes of findings: one table, from which come the checker's messages, `--explain` and the
//! guide.

use r500_program::Job;

use crate::Severity;
use crate::Severity::{Error, Note, Warning};

/// What a code means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LintInfo {
    /// Stable number, such as `R5010`.
    pub number: &'static str,
    /// Stable name, such as `reserved-rgb-op`.
    pub name: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What it means.
    pub meaning: &'static str,
    /// How one knows: *documented* (register documents), *ctm* (the vendor's CTM guide), *observed*
    /// (compiled programs), *derived* (follows from other rules), *open* (a choice of this project).
    pub evidence: &'static str,
    /// What to do about it.
    pub mend: &'static str,
}

macro_rules! codes {
    ($($code:ident $number:literal $name:literal $severity:ident
        $meaning:literal
        $evidence:literal
        $mend:literal;)*) => {
        /// The kinds of findings. [`LintCode::info`] is a row of the table, [`LintCode::bad`] and
        /// [`LintCode::good`] are programs that have it and just not.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum LintCode {
            $( #[doc = $meaning] $code, )*
        }

        impl LintCode {
            /// All codes, by ascending number.
            pub const ALL: &'static [Self] = &[ $( Self::$code, )* ];

            /// What it means.
            #[must_use]
            pub const fn info(self) -> &'static LintInfo {
                match self {
                    $( Self::$code => &LintInfo {
                        number: $number,
                        name: $name,
                        severity: $severity,
                        meaning: $meaning,
                        evidence: $evidence,
                        mend: $mend,
                    }, )*
                }
            }
        }
    };
}

#[rustfmt::skip]
codes! {
    NoInstructions "R5001" "no-instructions" Error
        "The program has no instructions, so nothing can run."
        "derived: execution starts at an instruction"
        "Give it at least one OUT instruction.";
    EmptyWindow "R5002" "empty-window" Error
        "US_CODE_RANGE and the instructions given have no address in common."
        "documented: only CODE_ADDR to CODE_ADDR + CODE_SIZE runs; the first instruction stands at US_CODE_OFFSET"
        "Make US_CODE_RANGE begin at US_CODE_OFFSET and CODE_SIZE the number of instructions minus one.";
    StartOutside "R5003" "start-outside" Error
        "The program starts at an address that cannot run."
        "documented: START_ADDR is relative to US_CODE_OFFSET"
        "Point US_CODE_ADDR.START_ADDR at an instruction inside the code window.";
    EndOutside "R5004" "end-outside" Error
        "END_ADDR names no instruction that can run, so the program has no end."
        "documented: a program ends behind the instruction at END_ADDR"
        "Point US_CODE_ADDR.END_ADDR at the last instruction to run.";
    PastSlots "R5005" "past-slots" Error
        "Instructions lie beyond the 512 slots of the processor."
        "documented: instruction addresses have nine bits"
        "Shorten the program, or lower US_CODE_OFFSET.";
    TooManyConstants "R5006" "too-many-constants" Error
        "More float constants are given than the 256 that the processor has."
        "documented: constant addresses have eight bits"
        "Drop the constants past 255; nothing can name them.";
    RunsOut "R5007" "runs-out" Error
        "Execution can go on past the last instruction that can run."
        "documented: only END_ADDR ends a program; ending there, outside the window, is this project's choice (open)"
        "Let END_ADDR name the last instruction of every path, or jump to it.";
    JumpsOut "R5008" "jumps-out" Error
        "A jump that may be taken leads to an address that cannot run."
        "documented: jump targets are relative to US_CODE_OFFSET unless JUMP_GLOBAL; outside the window nothing is defined (open)"
        "Correct JUMP_ADDR or JUMP_GLOBAL, or widen US_CODE_RANGE.";
    NeverEnds "R5009" "never-ends" Error
        "From here on no way leads to the end of the program: the card would hang."
        "derived: every way on leads back here"
        "Give the cycle a way out, or make it a LOOP, which has a count.";
    TooTangled "R5010" "too-tangled" Error
        "The calls and loops of the program nest in so many ways that they were not all followed; nothing is known of it."
        "derived: a limit of this checker"
        "Call fewer subroutines from fewer places, and leave loops by BREAK rather than by JUMP.";
    ReservedRgbOp "R5011" "reserved-rgb-op" Error
        "The opcode of the RGB half is reserved."
        "documented: RGB_OP 6 and 13 to 15 have no meaning; 0 as the result is this project's choice (open)"
        "Use one of the named opcodes.";
    ReservedAlphaOp "R5012" "reserved-alpha-op" Error
        "The opcode of the alpha half is reserved."
        "documented: ALPHA_OP 4 has no meaning; 0 as the result is this project's choice (open)"
        "Use one of the named opcodes.";
    ReservedTexOp "R5013" "reserved-tex-op" Error
        "The opcode of a texture instruction is reserved."
        "documented: INST 7 has no meaning"
        "Use one of the named opcodes.";
    ReservedAddrOp "R5014" "reserved-a-op" Error
        "A taken jump has a reserved address stack operation."
        "documented: A_OP 3 has no meaning"
        "Use NONE, POP or PUSH.";
    ReservedBranchOp "R5015" "reserved-b-op" Error
        "A way that the instruction may go has a reserved branch counter operation."
        "documented: B_OP0 and B_OP1 3 have no meaning"
        "Use NONE, DECR or INCR.";
    DpWithoutDotProduct "R5016" "dp-without-dot-product" Error
        "The alpha half takes the RGB half's dot product, which computes none."
        "ctm: alpha DP is valid beside DP3, DP4 and D2A only"
        "Make the RGB half DP3, DP4 or D2A; an RGB half that writes nothing may compute one.";
    SopWithoutFunction "R5017" "sop-without-function" Error
        "The RGB half takes the alpha half's transcendental result, which computes none."
        "documented: SOP replicates EX2, LN2, RCP, RSQ, SIN or COS of the alpha half"
        "Make the alpha half one of these; an alpha half that writes nothing may compute one.";
    OmodDisabled "R5018" "omod-7" Error
        "OMOD 7 copies the result bit for bit, which only MIN, MAX, CMP and CND allow."
        "documented, ctm"
        "Use OMOD 0 (times 1) with other operations.";
    RelativeRange "R5019" "relative-range" Error
        "aL may move a register address out of its range."
        "documented: there are 128 temporaries and 256 constants; wrapping is this project's choice (open)"
        "Lower the base address, or the passes, start or step of the loop's integer constant.";
    PastPixsize "R5020" "past-pixsize" Error
        "A temporary above US_PIXSIZE is used: the pixel stack frame has no room for it."
        "observed: PIX_SIZE N backs t0 to tN"
        "Raise US_PIXSIZE to the highest temporary used.";
    BranchOverflow "R5021" "branch-overflow" Error
        "More branch levels may be open than a branch counter holds."
        "documented: branch depth is limited, and small without FULL_FC_EN; 32 and 4 are this project's numbers (open)"
        "Close levels with ENDIF, nest fewer branches, or set FULL_FC_EN.";
    LoopOverflow "R5022" "loop-overflow" Error
        "More loops may run inside each other than the loop stack holds."
        "ctm: overflow is not defined; 32 is this project's number (open)"
        "Leave loops through their end or BREAK, never by a plain jump.";
    LoopUnderflow "R5023" "loop-underflow" Error
        "The end of a loop, a BREAK or a CONTINUE may be executed while no loop runs."
        "ctm: underflow is not defined (open)"
        "Enter loops through LOOP or REP; let a loop of no passes jump behind its end, not onto it.";
    CallOverflow "R5024" "call-overflow" Error
        "More calls may be open than the address stack holds."
        "ctm: overflow is not defined; 32 is this project's number (open)"
        "Recursion cannot work; return from every call.";
    CallUnderflow "R5025" "call-underflow" Error
        "A return may be executed that no call led to."
        "ctm: underflow is not defined (open)"
        "End the program, or jump around subroutines, before execution falls into them.";
    PartialFlowControl "R5026" "partial-flow-control" Error
        "Loops and subroutines are used while US_FC_CTRL.FULL_FC_EN is off."
        "documented: partial flow control has branches only"
        "Set FULL_FC_EN.";
    NeverWritten "R5031" "never-written" Warning
        "A channel of a temporary is read that nothing has written on any path."
        "documented: temporaries are undefined at the start but for the rasteriser's inputs"
        "Write it first, read another register, or feed it from the rasteriser.";
    MaybeUnwritten "R5032" "maybe-unwritten" Warning
        "A channel of a temporary is read that some path has not written."
        "documented: temporaries are undefined at the start but for the rasteriser's inputs"
        "Write it on every path, for example before the branch or loop.";
    PredicateNotSet "R5033" "predicate-not-set" Warning
        "A predicate bit is looked at that some path has not set."
        "documented: predicate bits are undefined at the start"
        "Set it on every path by an ALU instruction with OMASK.";
    AluResultNotSet "R5034" "alu-result-not-set" Warning
        "The ALU result is looked at that some path has not set."
        "documented: the ALU result is undefined at the start"
        "Set it on every path by an ALU instruction with ALU_WMASK.";
    NoConstant "R5035" "no-constant" Warning
        "A float constant is read that the program's state does not provide."
        "derived: it would be whatever an earlier program left"
        "Provide it, or use an inline constant.";
    NoIntConstant "R5036" "no-int-constant" Warning
        "An integer constant is read that the program's state does not provide."
        "derived: it would be whatever an earlier program left"
        "Provide US_FC_INT_CONST.";
    NoBoolConstant "R5037" "no-bool-constant" Warning
        "Boolean constants are read that the program's state does not provide."
        "derived: they would be whatever an earlier program left"
        "Provide US_FC_BOOL_CONST.";
    DeadWrite "R5038" "dead-write" Warning
        "A value is written into a temporary, predicate bit or the ALU result that nothing reads afterwards."
        "derived: on no path does a pixel, or a neighbour's derivative, read it before it is overwritten or the program ends"
        "Drop the channel from the write mask.";
    DeadOutput "R5039" "dead-output" Warning
        "An output is written that every path overwrites before the program ends."
        "ctm: of several writes of an output the last one counts"
        "Drop the earlier write.";
    NanConstant "R5040" "nan-constant" Warning
        "The operands are constants, and the result is not a number."
        "derived from the operation's definition"
        "Check the constants: LN2 and RSQ of a negative number, infinity times zero, infinity minus infinity.";
    NotAwaited "R5041" "not-awaited" Warning
        "A texture result is read before the texture semaphore is awaited: on a card it may not be there yet."
        "ctm: whoever reads a fetched register waits for the semaphore first; observed in all compiled programs"
        "Set TEX_SEM_WAIT on the instruction that reads it.";
    NeverAcquired "R5042" "never-acquired" Warning
        "A texture result is read whose fetch never acquired the texture semaphore, so no wait covers it."
        "ctm: a wait covers fetches up to the last that acquired the semaphore; observed in all compiled programs"
        "Set TEX_SEM_ACQUIRE on the last fetch before the reader.";
    MissingNop "R5043" "missing-nop" Warning
        "A presubtract, MDH or MDV reads a register that the instruction right before writes: on a card the old value may be read."
        "documented: NOP is there for this dependency; observed in all compiled programs"
        "Set NOP on the instruction before.";
    MissingAluWait "R5044" "missing-alu-wait" Warning
        "Flow control looks at an ALU result or predicate bit without waiting for the ALU."
        "observed: compiled programs set ALU_WAIT on every flow-control instruction"
        "Set ALU_WAIT.";
    PendingOverwrite "R5045" "pending-overwrite" Warning
        "A register is written while a texture result for it may still be on its way: on a card the result may come later and stay."
        "derived from ctm: only the texture semaphore says when a fetch has delivered"
        "Set TEX_SEM_WAIT on the instruction that writes, or write another register.";
    OutWithoutOutput "R5051" "out-without-output" Warning
        "An OUT instruction outputs nothing."
        "documented: OMASK and W_OMASK say what is output"
        "Name what to output, or make it an ALU instruction (at END_ADDR keep OUT).";
    LastNotOut "R5052" "last-not-out" Warning
        "The instruction at END_ADDR is no OUT."
        "observed: the last instruction of every compiled program is OUT; ending behind any instruction is documented"
        "Let an OUT instruction be the last.";
    UnusedTarget "R5053" "unused-target" Warning
        "An output goes to a render target whose format says that it is not used."
        "documented: US_OUT_FMT 15"
        "Output to a used target, or give this one a format.";
    ReservedPredicate "R5054" "reserved-predicate" Warning
        "A predicate selection is reserved; it is taken for none."
        "documented: PRED_SEL 6 and 7 have no meaning; taking them for NONE is this project's choice (open)"
        "Use a named selection.";
    FcPredicateRgba "R5055" "fc-predicate-rgba" Warning
        "A flow-control instruction has one decision, not one a channel; of RGBA the R bit is taken."
        "ctm: RGBA means nothing there; taking R is this project's choice (open)"
        "Select the bit that is meant.";
    DerivativeOperands "R5056" "derivative-operands" Warning
        "MDH and MDV read source 0 of the quad's corners, channel by channel; the selection or swizzle of operands A and C, which says otherwise, is ignored."
        "documented"
        "Select src0 unswizzled for A and C, and put the register there.";
    StrayBits "R5057" "stray-bits" Note
        "Bits are set that no field names."
        "documented: the field tables leave them out"
        "Clear them, unless something else is known to look at them.";
    Unreachable "R5058" "unreachable" Note
        "Instructions that no path reaches."
        "derived"
        "Drop them.";
    UnitDisabled "R5059" "unit-disabled" Warning
        "A texture unit is fetched from that is not enabled; it returns alpha 1 and colours 0."
        "documented: TX_ENABLE"
        "Bind a texture to the unit, or correct TEX_ID.";
    Unbalanced "R5061" "unbalanced" Warning
        "Ways lead here with different numbers of branch levels open, so pixels may sleep too long or wake too early."
        "documented: branch counters count INCR and DECR; derived: what follows is only right for one depth"
        "Make every way close what it opened: B_POP_CNT, and the targets of IF, ELSE and BREAK.";
    ElseWithoutIf "R5062" "else-without-if" Warning
        "B_ELSE where no branch level may be open: it puts all pixels to sleep."
        "documented: B_ELSE exchanges the active pixels and those with counter zero"
        "Open a level first (IF), or clear B_ELSE.";
    EndsInBranch "R5063" "ends-in-branch" Warning
        "The program ends with branch levels open: pixels that sleep do not reach its last instruction."
        "documented: the program ends behind END_ADDR for all pixels"
        "Close every IF with ENDIF before END_ADDR.";
    EndsInLoop "R5064" "ends-in-loop" Warning
        "The program may end while a loop runs."
        "documented: the program ends behind END_ADDR whatever stands there"
        "Put END_ADDR behind the loop.";
    BreakDepth "R5065" "break-depth" Warning
        "A BREAK or CONTINUE that jumps does not close the branch levels that are open in its loop."
        "observed: compiled programs put the depth in the loop into B_POP_CNT with B_OP1 DECR"
        "Set B_OP1 to DECR and B_POP_CNT to the levels open in the loop.";
    LoopHazard "R5066" "loop-hazard" Warning
        "A LOOP without JUMP_ANY that leads onto its own end: reached by nobody, by the letter, it jumps there without entering, and ENDLOOP then ends the loop around it."
        "observed: a compiled program meets this and only draws right where the LOOP does not jump (open); documented: JUMP_ANY and a target behind the end are advised"
        "Set JUMP_ANY and let JUMP_ADDR lead behind the end.";
    SilentLimit "R5067" "silent-limit" Note
        "A loop that is left by BREAK has 255 passes, the most there are: it stops after them without a word."
        "documented: KR has eight bits"
        "Nest two loops if more passes are needed.";
    DivergentQuad "R5068" "divergent-quad" Warning
        "A derivative or an implicit level of detail is taken where some pixels of the quad may sleep; their registers may hold old values."
        "derived: sleeping pixels' registers are read all the same"
        "Take it before the branch, or use gradients (DXDY) or an explicit level (LOD).";
    Unstructured "R5069" "unstructured" Note
        "A flow-control instruction is no word of a branch, loop, call or return in its usual meaning."
        "derived"
        "Nothing, if it is meant; engines then run the program the slow way.";
    EndlessJump "R5070" "endless-jump" Warning
        "A jump back over instructions that change nothing it looks at: once taken, it is taken for ever."
        "derived"
        "Change the condition in the cycle, or use LOOP.";
    DivergentReturn "R5071" "divergent-return" Warning
        "A RETURN inside a loop, or where pixels of the group may sleep: it takes those along that did not come to it."
        "ctm: the hardware does not support a return from a divergent branch or loop; derived: an ELSE with JUMP_ANY leads the group into an arm that nobody wants"
        "Close the branch or leave the loop first; let ELSE jump by all (no JUMP_ANY).";
}

impl LintCode {
    /// The code of that number (`R5010`) or name; case does not matter.
    #[must_use]
    pub fn find(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| {
            let info = code.info();
            info.number.eq_ignore_ascii_case(text) || info.name.eq_ignore_ascii_case(text)
        })
    }

    /// A small program that has it.
    #[must_use]
    pub fn bad(self) -> Job {
        crate::examples::examples(self).0
    }

    /// Nearly the same program without it.
    #[must_use]
    pub fn good(self) -> Job {
        crate::examples::examples(self).1
    }
}
