//! Roles of instructions in structured statements.

/// The role of an instruction in a structured program. Numbers are instruction indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Not a flow-control instruction, or one without effect.
    Straight,
    /// Opens a branch; pixels that do not take it continue at `other`.
    If {
        /// The first instruction of the ELSE arm, the ENDIF, or the instruction after the branch.
        other: usize,
    },
    /// Closes the first arm; its pixels continue at `after`.
    Else {
        /// The ENDIF, or the next instruction if the enclosing branch closes this level too.
        after: usize,
    },
    /// Closes a branch, or several.
    EndIf,
    /// LOOP or REP.
    Loop {
        /// The instruction after the loop.
        exit: usize,
    },
    /// ENDLOOP or ENDREP.
    EndLoop {
        /// The first instruction of the body.
        body: usize,
    },
    /// BREAKLOOP or BREAKREP.
    Break {
        /// The instruction after the loop.
        exit: usize,
    },
    /// CONTINUE.
    Continue {
        /// The end of the loop.
        end: usize,
    },
    /// A call.
    Call {
        /// Number of the subroutine.
        sub: usize,
    },
    /// A return.
    Return {
        /// Number of the subroutine.
        sub: usize,
    },
    /// A forward jump with a uniform condition.
    Skip {
        /// The target.
        to: usize,
    },
}
