//! What an instruction does in a structured program.

/// The part that an instruction plays in a structured program. Places are indices of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// No flow control, or some that does nothing.
    Straight,
    /// Opens a branch; pixels that do not take it go on at `other`.
    If {
        /// First of the ELSE arm, the ENDIF, or what follows.
        other: usize,
    },
    /// Closes the first arm; its pixels go on at `after`.
    Else {
        /// The ENDIF, or what follows where a branch around closes this level too.
        after: usize,
    },
    /// Closes a branch, or several.
    EndIf,
    /// LOOP or REP.
    Loop {
        /// What follows the loop.
        exit: usize,
    },
    /// ENDLOOP or ENDREP.
    EndLoop {
        /// First of the body.
        body: usize,
    },
    /// BREAKLOOP or BREAKREP.
    Break {
        /// What follows the loop.
        exit: usize,
    },
    /// CONTINUE.
    Continue {
        /// The loop's end.
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
    /// A jump forward that all pixels decide alike.
    Skip {
        /// Where to.
        to: usize,
    },
}
