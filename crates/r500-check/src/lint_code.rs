//! The table of lint codes: number, name, severity, meaning, evidence and remedy. Messages,
//! `--explain` and the guide's reference page are generated from it.

use crate::severity::Severity;
use crate::severity::Severity::{Error, Note, Warning};

/// A row of the table of lint codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LintInfo {
    /// Stable number, such as `R5010`.
    pub number: &'static str,
    /// Stable name, such as `reserved-rgb-op`.
    pub name: &'static str,
    /// Severity of the lint.
    pub severity: Severity,
    /// The rule that the program violates.
    pub meaning: &'static str,
    /// The evidence: *documented* (register documents), *ctm* (the vendor's CTM guide), *observed*
    /// (compiled programs), *derived* (follows from other rules), *open* (a choice of this
    /// project).
    pub evidence: &'static str,
    /// How to correct the program.
    pub remedy: &'static str,
}

macro_rules! codes {
    ($($code:ident $number:literal $name:literal $severity:ident
        $meaning:literal
        $evidence:literal
        $remedy:literal;)*) => {
        /// A lint. [`LintCode::info`] is its row of the table; [`LintCode::bad`] is a program that
        /// triggers it and [`LintCode::good`] a similar program that does not.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum LintCode {
            $( #[doc = $meaning] $code, )*
        }

        impl LintCode {
            /// All codes in ascending order of number.
            pub const ALL: &'static [Self] = &[ $( Self::$code, )* ];

            /// Returns the row of the table.
            #[must_use]
            pub const fn info(self) -> &'static LintInfo {
                match self {
                    $( Self::$code => &LintInfo {
                        number: $number,
                        name: $name,
                        severity: $severity,
                        meaning: $meaning,
                        evidence: $evidence,
                        remedy: $remedy,
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
        "documented: a program ends after the instruction at END_ADDR"
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
        "Execution can continue past the last instruction that can run."
        "documented: only END_ADDR ends a program; ending there, outside the window, is this project's choice (open)"
        "Make END_ADDR the last instruction of every path, or jump to it.";
    JumpsOut "R5008" "jumps-out" Error
        "A jump that may be taken leads to an address that cannot run."
        "documented: jump targets are relative to US_CODE_OFFSET unless JUMP_GLOBAL; outside the window nothing is defined (open)"
        "Correct JUMP_ADDR or JUMP_GLOBAL, or widen US_CODE_RANGE.";
    NeverEnds "R5009" "never-ends" Error
        "No path leads from here to the end of the program: the card would hang."
        "derived: every path leads back here"
        "Give the cycle an exit, or make it a LOOP, which has a trip count.";
    TooTangled "R5010" "too-tangled" Error
        "The calls and loops of the program nest in more ways than the checker follows; nothing is known about the program."
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
        "A possible outcome of the instruction has a reserved branch counter operation."
        "documented: B_OP0 and B_OP1 3 have no meaning"
        "Use NONE, DECR or INCR.";
    DpWithoutDotProduct "R5016" "dp-without-dot-product" Error
        "The alpha half uses the RGB half's dot product, but the RGB half computes none."
        "ctm: alpha DP is valid with DP3, DP4 and D2A only"
        "Make the RGB half DP3, DP4 or D2A; an RGB half that writes nothing may compute one.";
    SopWithoutFunction "R5017" "sop-without-function" Error
        "The RGB half uses the alpha half's transcendental result, but the alpha half computes none."
        "documented: SOP replicates EX2, LN2, RCP, RSQ, SIN or COS of the alpha half"
        "Make the alpha half one of these; an alpha half that writes nothing may compute one.";
    OmodDisabled "R5018" "omod-7" Error
        "OMOD 7 copies the result bit for bit, which only MIN, MAX, CMP and CND allow."
        "documented, ctm"
        "Use OMOD 0 (times 1) with other operations.";
    RelativeRange "R5019" "relative-range" Error
        "aL may move a register address out of its range."
        "documented: there are 128 temporaries and 256 constants; wrapping is this project's choice (open)"
        "Lower the base address, or the trip count, start or step of the loop's integer constant.";
    PastPixsize "R5020" "past-pixsize" Error
        "A temporary above US_PIXSIZE is used: it is outside the pixel stack frame."
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
        "Enter loops through LOOP or REP; let a loop of zero iterations jump to the instruction after its end.";
    CallOverflow "R5024" "call-overflow" Error
        "More calls may be open than the address stack holds."
        "ctm: overflow is not defined; 32 is this project's number (open)"
        "Recursion cannot work; return from every call.";
    CallUnderflow "R5025" "call-underflow" Error
        "A return may be executed without a call."
        "ctm: underflow is not defined (open)"
        "End the program, or jump around subroutines, before execution falls into them.";
    PartialFlowControl "R5026" "partial-flow-control" Error
        "Loops and subroutines are used while US_FC_CTRL.FULL_FC_EN is off."
        "documented: partial flow control has branches only"
        "Set FULL_FC_EN.";
    NeverWritten "R5031" "never-written" Warning
        "A channel of a temporary is read that no path has written."
        "documented: temporaries are undefined at the start, except for the rasteriser's inputs"
        "Write it first, read another register, or feed it from the rasteriser.";
    MaybeUnwritten "R5032" "maybe-unwritten" Warning
        "A channel of a temporary is read that some path has not written."
        "documented: temporaries are undefined at the start, except for the rasteriser's inputs"
        "Write it on every path, for example before the branch or loop.";
    PredicateNotSet "R5033" "predicate-not-set" Warning
        "A predicate bit is read that some path has not set."
        "documented: predicate bits are undefined at the start"
        "Set it on every path by an ALU instruction with OMASK.";
    AluResultNotSet "R5034" "alu-result-not-set" Warning
        "The ALU result is read that some path has not set."
        "documented: the ALU result is undefined at the start"
        "Set it on every path by an ALU instruction with ALU_WMASK.";
    NoConstant "R5035" "no-constant" Warning
        "A float constant is read that the program's state does not provide."
        "derived: it would hold the value of an earlier program"
        "Provide it, or use an inline constant.";
    NoIntConstant "R5036" "no-int-constant" Warning
        "An integer constant is read that the program's state does not provide."
        "derived: it would hold the value of an earlier program"
        "Provide US_FC_INT_CONST.";
    NoBoolConstant "R5037" "no-bool-constant" Warning
        "Boolean constants are read that the program's state does not provide."
        "derived: they would hold the values of an earlier program"
        "Provide US_FC_BOOL_CONST.";
    DeadWrite "R5038" "dead-write" Warning
        "A value is written into a temporary, predicate bit or the ALU result that is never read."
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
        "A texture result is read without waiting for the texture semaphore: on a card it may not have arrived."
        "ctm: an instruction that reads a fetched register waits for the semaphore first; observed in all compiled programs"
        "Set TEX_SEM_WAIT on the instruction that reads it.";
    NeverAcquired "R5042" "never-acquired" Warning
        "A texture result is read whose fetch never acquired the texture semaphore, so no wait covers it."
        "ctm: a wait covers fetches up to the last that acquired the semaphore; observed in all compiled programs"
        "Set TEX_SEM_ACQUIRE on the last fetch before the reader.";
    MissingNop "R5043" "missing-nop" Warning
        "A presubtract, MDH or MDV reads a register that the previous instruction writes: on a card the old value may be read."
        "documented: NOP exists for this dependency; observed in all compiled programs"
        "Set NOP on the instruction before.";
    MissingAluWait "R5044" "missing-alu-wait" Warning
        "Flow control reads an ALU result or predicate bit without waiting for the ALU."
        "observed: compiled programs set ALU_WAIT on every flow-control instruction"
        "Set ALU_WAIT.";
    PendingOverwrite "R5045" "pending-overwrite" Warning
        "A register is written while a texture result for it may be pending: on a card the result may arrive later and overwrite the value."
        "derived from ctm: only the texture semaphore signals that a fetch has completed"
        "Set TEX_SEM_WAIT on the instruction that writes, or write another register.";
    OutWithoutOutput "R5051" "out-without-output" Warning
        "An OUT instruction outputs nothing."
        "documented: OMASK and W_OMASK say what is output"
        "Name what to output, or make it an ALU instruction (at END_ADDR keep OUT).";
    LastNotOut "R5052" "last-not-out" Warning
        "The instruction at END_ADDR is not OUT."
        "observed: the last instruction of every compiled program is OUT; ending after any instruction is documented"
        "Let an OUT instruction be the last.";
    UnusedTarget "R5053" "unused-target" Warning
        "An output is written to a render target whose format marks it as unused."
        "documented: US_OUT_FMT 15"
        "Output to a used target, or give this one a format.";
    ReservedPredicate "R5054" "reserved-predicate" Warning
        "A predicate selection is reserved; it is taken for none."
        "documented: PRED_SEL 6 and 7 have no meaning; taking them for NONE is this project's choice (open)"
        "Use a named selection.";
    FcPredicateRgba "R5055" "fc-predicate-rgba" Warning
        "A flow-control instruction has one decision, not one per channel; RGBA selects the R bit."
        "ctm: RGBA means nothing there; taking R is this project's choice (open)"
        "Select the bit that is meant.";
    DerivativeOperands "R5056" "derivative-operands" Warning
        "MDH and MDV read source 0 of the quad's corners, channel by channel; the selection or swizzle of operands A and C, which says otherwise, is ignored."
        "documented"
        "Select src0 unswizzled for A and C, and put the register there.";
    StrayBits "R5057" "stray-bits" Note
        "Bits are set that no field names."
        "documented: the field tables leave them out"
        "Clear them, unless something else is known to read them.";
    Unreachable "R5058" "unreachable" Note
        "Instructions that no path reaches."
        "derived"
        "Drop them.";
    UnitDisabled "R5059" "unit-disabled" Warning
        "A fetch names a texture unit that is not enabled; it returns alpha 1 and colours 0."
        "documented: TX_ENABLE"
        "Bind a texture to the unit, or correct TEX_ID.";
    Unbalanced "R5061" "unbalanced" Warning
        "Paths reach this instruction with different numbers of open branch levels, so pixels may stay inactive too long or become active too early."
        "documented: branch counters count INCR and DECR; derived: the following instructions are right for one depth only"
        "Make every path close the levels that it opened: B_POP_CNT, and the targets of IF, ELSE and BREAK.";
    ElseWithoutIf "R5062" "else-without-if" Warning
        "B_ELSE where no branch level may be open: it deactivates all pixels."
        "documented: B_ELSE exchanges the active pixels and those with counter zero"
        "Open a level first (IF), or clear B_ELSE.";
    EndsInBranch "R5063" "ends-in-branch" Warning
        "The program ends with branch levels open: inactive pixels do not reach its last instruction."
        "documented: the program ends after END_ADDR for all pixels"
        "Close every IF with ENDIF before END_ADDR.";
    EndsInLoop "R5064" "ends-in-loop" Warning
        "The program may end while a loop runs."
        "documented: the program ends after END_ADDR, whatever instruction it is"
        "Put END_ADDR after the loop.";
    BreakDepth "R5065" "break-depth" Warning
        "A BREAK or CONTINUE that jumps does not close the branch levels that are open in its loop."
        "observed: compiled programs put the depth in the loop into B_POP_CNT with B_OP1 DECR"
        "Set B_OP1 to DECR and B_POP_CNT to the levels open in the loop.";
    LoopHazard "R5066" "loop-hazard" Warning
        "A LOOP without JUMP_ANY that jumps to its own end: reached with no active pixel and read literally, it jumps there without entering the loop, and ENDLOOP then ends the enclosing loop."
        "observed: a compiled program does this and draws correctly only if the LOOP does not jump (open); documented: JUMP_ANY and a target after the end are advised"
        "Set JUMP_ANY and make JUMP_ADDR the instruction after the end.";
    SilentLimit "R5067" "silent-limit" Note
        "A loop that is left by BREAK has 255 iterations, the maximum: it stops after them silently."
        "documented: KR has eight bits"
        "Nest two loops if more iterations are needed.";
    DivergentQuad "R5068" "divergent-quad" Warning
        "A derivative or an implicit level of detail is computed where some pixels of the quad may be inactive; their registers may hold old values."
        "derived: registers of inactive pixels are read too"
        "Compute it before the branch, or use gradients (DXDY) or an explicit level (LOD).";
    Unstructured "R5069" "unstructured" Note
        "A flow-control instruction does not fit a structured branch, loop, call or return."
        "derived"
        "None needed if intended; engines then use the slow reference engine.";
    EndlessJump "R5070" "endless-jump" Warning
        "A backward jump over instructions that do not change its condition: once taken, it is taken for ever."
        "derived"
        "Change the condition in the cycle, or use LOOP.";
    DivergentReturn "R5071" "divergent-return" Warning
        "A RETURN inside a loop, or where pixels of the group may be inactive: it returns for pixels that did not reach it."
        "ctm: the hardware does not support a return from a divergent branch or loop; derived: an ELSE with JUMP_ANY takes the group into an arm that no pixel executes"
        "Close the branch or leave the loop first; let ELSE jump by all (no JUMP_ANY).";
    NoOutput "R5072" "no-output" Warning
        "No instruction that can run writes a render target or depth: the picture stays as it was."
        "documented: only OUT instructions write, by their output masks and W_OMASK"
        "Write `out[0]` by an instruction with OUT.";
}

impl LintCode {
    /// Returns the code with a number (`R5010`) or name. Case is ignored.
    #[must_use]
    pub fn find(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| {
            let info = code.info();
            info.number.eq_ignore_ascii_case(text) || info.name.eq_ignore_ascii_case(text)
        })
    }
}
