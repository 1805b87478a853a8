//! Run-time warnings: events of a run that a correct program does not cause. The run continues, as documented
//! or as this project defines.

use std::collections::BTreeMap;
use std::fmt;

/// A run-time warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeWarning {
    /// Its kind.
    pub kind: WarningKind,
    /// Absolute address of the instruction.
    pub address: u32,
    /// The first pixel that caused it.
    pub pixel: [u32; 2],
    /// The number of a register, constant, unit or opcode, if the kind has one.
    pub detail: i32,
    /// How often it occurred, over all pixels and iterations.
    pub count: u64,
}

macro_rules! kinds {
    ($($kind:ident $name:literal $hard:ident $text:literal;)*) => {
        /// The kinds of run-time warnings.
        ///
        /// A *hard* warning says that the program cannot run as written: the documents give it no meaning,
        /// and the result is this project's choice.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum WarningKind {
            $( #[doc = $text] $kind, )*
        }

        impl WarningKind {
            /// Every kind.
            pub const ALL: &'static [Self] = &[ $( Self::$kind, )* ];

            /// Returns the stable name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $( Self::$kind => $name, )* }
            }

            /// Returns the message; `{}` stands for [`RuntimeWarning::detail`].
            #[must_use]
            pub fn text(self) -> &'static str {
                match self { $( Self::$kind => $text, )* }
            }

            /// Returns whether the warning is hard.
            #[must_use]
            pub fn is_hard(self) -> bool {
                match self { $( Self::$kind => kinds!(@$hard), )* }
            }
        }
    };
    (@hard) => { true };
    (@soft) => { false };
}

#[rustfmt::skip]
kinds! {
    LeftWindow           "left-window"            hard "the program continued at address {}, outside its code window, and ended there";
    ReservedRgbOp        "reserved-rgb-op"        hard "RGB_OP {} is reserved; the result is 0";
    ReservedAlphaOp      "reserved-alpha-op"      hard "ALPHA_OP {} is reserved; the result is 0";
    ReservedTexOp        "reserved-tex-op"        hard "texture INST {} is reserved; nothing happens";
    ReservedAddrOp       "reserved-a-op"          hard "A_OP {} is reserved; the address stack stays as it is";
    ReservedBranchOp     "reserved-b-op"          hard "B_OP {} is reserved; the branch counters stay as they are";
    DpWithoutDotProduct  "dp-without-dot-product" hard "alpha DP with RGB_OP {}, which is not a dot product; the result is 0";
    SopWithoutFunction   "sop-without-function"   hard "SOP with ALPHA_OP {}, which is not transcendental; its result is passed on";
    OmodDisabled         "omod-7"                 hard "OMOD 7 on an operation other than MIN, MAX, CMP, CND; the result is copied";
    RelativeRange        "relative-range"         hard "aL moves a register address to {}, out of its range; it wraps";
    PastPixsize          "past-pixsize"           hard "temporary {} is above US_PIXSIZE";
    BranchOverflow       "branch-overflow"        hard "a branch counter is at its limit ({}) and stays there";
    LoopOverflow         "loop-overflow"          hard "the loop stack is full ({}); the loop is not entered on it";
    LoopUnderflow        "loop-underflow"         hard "the loop stack is empty";
    CallOverflow         "call-overflow"          hard "the address stack is full ({}); nothing is pushed";
    CallUnderflow        "call-underflow"         hard "the address stack is empty; the next instruction follows";
    PartialFlowControl   "partial-flow-control"   hard "loops and subroutines need US_FC_CTRL.FULL_FC_EN";
    FcPredicateRgba      "fc-predicate-rgba"      soft "a flow-control instruction has no channels for PRED_SEL RGBA; the R bit is taken";
    NeverWritten         "never-written"          soft "temporary {} is read in a channel that nothing has written";
    NotAwaited           "not-awaited"            soft "temporary {} is read before the texture semaphore of its fetch is awaited";
    PredicateNotSet      "predicate-not-set"      soft "predicate bit {} (0 R, 1 G, 2 B, 3 A) is read before it is set";
    AluResultNotSet      "alu-result-not-set"     soft "the ALU result is read before it is set";
    NoConstant           "no-constant"            soft "constant {} is read but not provided; it is 0";
    NoIntConstant        "no-int-constant"        soft "integer constant {} is read but not provided; it is 0";
    NoBoolConstant       "no-bool-constant"       soft "boolean constants are read but not provided; they are 0";
    UnitDisabled         "unit-disabled"          soft "texture unit {} is not enabled; it returns alpha 1, colours 0";
}

impl fmt::Display for RuntimeWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y] = self.pixel;
        write!(f, "address {}, pixel {x},{y}: ", self.address)?;
        let mut parts = self.kind.text().split("{}");
        f.write_str(parts.next().unwrap_or_default())?;
        for part in parts {
            write!(f, "{}{part}", self.detail)?;
        }
        if self.count > 1 {
            write!(f, " ({} times)", self.count)?;
        }
        Ok(())
    }
}

/// The warnings of a run, one for each address, kind and detail, in this order.
#[derive(Clone, Debug, Default)]
pub struct RuntimeWarnings {
    found: BTreeMap<(u32, WarningKind, i32), ([u32; 2], u64)>,
}

impl RuntimeWarnings {
    /// Adds a warning.
    pub fn add(&mut self, kind: WarningKind, address: u32, pixel: [u32; 2], detail: i32) {
        self.merge_one((address, kind, detail), pixel, 1);
    }

    /// Adds the warnings of another run. The first pixel is the lowest, leftmost one, so the result does not
    /// depend on the order of execution.
    pub fn merge(&mut self, other: &Self) {
        for (&key, &(pixel, count)) in &other.found {
            self.merge_one(key, pixel, count);
        }
    }

    /// Iterates over the warnings.
    pub fn iter(&self) -> impl Iterator<Item = RuntimeWarning> + '_ {
        self.found.iter().map(|(&(address, kind, detail), &(pixel, count))| RuntimeWarning {
            kind,
            address,
            pixel,
            detail,
            count,
        })
    }

    /// Returns whether there are no warnings.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Returns the number of warnings.
    #[must_use]
    pub fn len(&self) -> usize {
        self.found.len()
    }

    fn merge_one(&mut self, key: (u32, WarningKind, i32), pixel: [u32; 2], count: u64) {
        let entry = self.found.entry(key).or_insert((pixel, 0));
        if (pixel[1], pixel[0]) < (entry.0[1], entry.0[0]) {
            entry.0 = pixel;
        }
        entry.1 = entry.1.saturating_add(count);
    }
}
