//! Reasons why flow control is unstructured.

use std::fmt;

macro_rules! reasons {
    ($($reason:ident $text:literal;)*) => {
        /// The reason why a flow-control instruction fits no structured statement.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum UnstructuredReason {
            $( #[doc = concat!("The reason reads: ", $text, ".")] $reason, )*
        }

        impl UnstructuredReason {
            /// Returns the reason in words.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self {
                    $( Self::$reason => $text, )*
                }
            }
        }
    };
}

reasons! {
    EndOutsideWindow "END_ADDR is not in the code window";
    EndBeforeStart "the program ends before its start";
    EndsInSubroutine "the program ends inside a subroutine";
    EndsInLoop "the program ends inside a loop";
    ReservedAddrOp "A_OP is reserved";
    ReservedBranchOp "IF with a reserved B_OP1";
    IfWithAnyOrElse "IF with JUMP_ANY or B_ELSE";
    IfTarget "IF with a target before it or outside the code window";
    ElseInsideOpenBranch "ELSE while inner branch levels are open";
    ElseTarget "ELSE with a target before it or outside the code window";
    ElseExit "ELSE with a target that is neither its ENDIF nor, if it closes levels, the instruction after it";
    EndIfLevels "ENDIF closes a different number of branch levels than are open";
    NoEndIf "a branch without ENDIF";
    BranchExit "a branch with a target that is neither an ENDIF that closes it nor the instruction after one";
    BranchLevels "a branch that closes a different number of levels than its ENDIF";
    PlainJumpCounts "a jump that counts branch levels but is not IF, ELSE or ENDIF";
    DivergentJump "a jump with a divergent condition and no branch level";
    JumpTarget "a jump backward, or out of its statement or program";
    OverlappingStatements "an instruction of two statements";
    LoopCounts "LOOP or REP that also counts branch levels or addresses";
    ConditionalLoop "LOOP or REP with a jump condition";
    LoopTarget "LOOP or REP with a target outside the enclosing statement";
    LoopEnd "LOOP or REP with a target that is neither its end nor the instruction after it";
    LoopEndForm "the end of a loop has a condition, counts branch levels, or is of the other kind";
    UnmatchedLoopEnd "ENDLOOP or ENDREP without its LOOP or REP";
    ExitOutsideLoop "BREAK or CONTINUE outside a loop";
    ExitCounts "BREAK or CONTINUE that also counts branch levels or addresses";
    ExitLevels "BREAK or CONTINUE closes a different number of branch levels than are open in the loop";
    BreakKind "BREAK of the other kind of loop";
    ExitTarget "BREAK with a target other than the loop's exit, or CONTINUE with a target other than its end";
    CallCloses "a call that closes branch levels";
    CallCounts "a call that counts branch levels when it is not taken";
    ConditionalCall "a conditional call without JUMP_ANY and B_OP1 INCR";
    CallTarget "a call with a target outside the code window";
    MixedCalls "some calls of a subroutine count branch levels and others do not";
    Recursion "subroutines that call each other";
    NoReturn "a subroutine without RETURN";
    ReturnOutsideSubroutine "RETURN outside a subroutine";
    ReturnInDivergentCode "RETURN inside a loop, or where pixels may be inactive";
    ReturnLevels "RETURN closes a different number of branch levels than are open since the call";
    DivergentReturn "RETURN with a divergent condition";
}

impl fmt::Display for UnstructuredReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
