//! What is known of a program that is clean.

/// What a clean verdict guarantees. An engine may rely on every word of it.
///
/// All of it holds for the program as given: its instructions, code window, flow-control mode,
/// `US_PIXSIZE`, integer and boolean constants (any boolean constants, where none are given). It
/// holds for any float constants, inputs, textures, coverage and size of picture, in the reference
/// engine with its default readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Facts {
    /// The program is [structured](crate::graph::Structure): each flow-control instruction that is
    /// reached is a word of a statement. A pixel parked by a branch, BREAK or CONTINUE wakes where
    /// its own path goes on. The results of a pixel that has a say (a covered one, or any where
    /// nothing has `IGNORE_UNCOVERED`) are those of running its own path alone, but for what MDH, MDV
    /// and implicit levels of detail read of its quad, and for inactive writes. Jumps lead backward from ENDLOOP and ENDREP only, there is no
    /// recursion, and every run ends.
    pub structured: bool,
    /// The size of the group shows in no result: the program is structured, nothing has
    /// `WRITE_INACTIVE`, and no flow-control instruction has `IGNORE_UNCOVERED` where quad
    /// differences are read anywhere.
    pub group_size_invisible: bool,
    /// The same, as long as every pixel of every quad that is touched is covered: `IGNORE_UNCOVERED`
    /// does nothing then, unless something kills.
    pub group_size_invisible_if_covered: bool,
    /// No write reaches inactive pixels: no instruction that is reached has `WRITE_INACTIVE`.
    pub no_inactive_writes: bool,
    /// Branch levels that are open at once, at most: a branch counter never exceeds this minus one.
    pub branch_levels: u8,
    /// Loops that run inside each other, at most; never past the loop stack.
    pub loop_levels: u8,
    /// Addresses on the address stack, at most; never past it.
    pub call_levels: u8,
    /// Every temporary that is read or written, through aL too, is below this; not above
    /// `US_PIXSIZE` + 1 where that is given. No address is moved out of its range by aL.
    pub temporaries: u8,
    /// Every constant that is read, through aL too, is below this.
    pub constants: u16,
    /// aL is always in this range (least and greatest), 0 outside loops.
    pub al: (i32, i32),
    /// Every temporary channel that an instruction is known to read was written before, or is an
    /// input, on every path of the pixel (a predicated write counts); predicate bits and the ALU
    /// result likewise. Undefined state is never looked at, so what it starts as does not matter.
    /// False where the inputs are not known.
    pub reads_are_defined: bool,
    /// Texture units that fetches name, unit 0 in bit 0.
    pub texture_units: u16,
    /// Render targets that some instruction may write, A in bit 0.
    pub targets: u8,
    /// Some instruction may write depth.
    pub writes_depth: bool,
    /// Some instruction may kill pixels.
    pub kills: bool,
    /// Some instruction reads other pixels of its quad: MDH, MDV, or a level of detail that comes
    /// from the quad.
    pub quad_reads: bool,
    /// Some instruction looks at predicate bits.
    pub uses_predicates: bool,
    /// Some instruction adds aL to an address.
    pub uses_relative: bool,
}

/// What came of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No errors: the reference engine reports no hard finding in any run.
    Clean(Facts),
    /// No errors that could be seen, but the program names integer constants that are not given (bit
    /// n for constant n), and what it does depends on them. Nothing is guaranteed.
    Incomplete {
        /// The constants that are missing.
        int_constants: u32,
    },
    /// There are errors. Nothing is guaranteed.
    Broken,
}

impl Verdict {
    /// The facts of a clean program.
    #[must_use]
    pub fn facts(&self) -> Option<&Facts> {
        match self {
            Self::Clean(facts) => Some(facts),
            _ => None,
        }
    }
}
