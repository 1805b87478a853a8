//! Guarantees about a program without errors.

/// The guarantees of a clean verdict. Engines rely on them.
///
/// They hold for the program as given: its instructions, code window, flow-control mode,
/// `US_PIXSIZE`, integer and boolean constants (any boolean constants, if none are given). They
/// hold for any float constants, inputs, textures, coverage and picture size, in the reference
/// engine with its default readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Facts {
    /// The program is [structured](crate::graph::Structure): each reachable flow-control
    /// instruction is part of a statement. A pixel that a branch, BREAK or CONTINUE deactivates
    /// becomes active again where its own path continues. The results of a voting pixel (a covered
    /// one, or any pixel if no instruction has `IGNORE_UNCOVERED`) are those of running its own
    /// path alone, except for values that MDH, MDV and implicit levels of detail read from its
    /// quad, and for inactive writes. Only ENDLOOP and ENDREP jump backward, there is no recursion,
    /// and every run ends.
    pub structured: bool,
    /// No result depends on the group size: the program is structured, nothing has
    /// `WRITE_INACTIVE`, and no flow-control instruction has `IGNORE_UNCOVERED` where quad
    /// differences are read anywhere.
    pub group_size_invisible: bool,
    /// The same, provided that every pixel of every rasterised quad is covered: `IGNORE_UNCOVERED`
    /// then has no effect unless an instruction kills pixels.
    pub group_size_invisible_if_covered: bool,
    /// No write reaches inactive pixels: no instruction that is reached has `WRITE_INACTIVE`.
    pub no_inactive_writes: bool,
    /// The largest number of branch levels open at the same time: a branch counter never exceeds
    /// this minus one.
    pub branch_levels: u8,
    /// The largest nesting depth of running loops; within the loop stack.
    pub loop_levels: u8,
    /// The largest number of addresses on the address stack; within its size.
    pub call_levels: u8,
    /// Upper bound (exclusive) of the temporaries read or written, aL included; at most
    /// `US_PIXSIZE` + 1 if that is given. aL moves no address out of this range.
    pub temporaries: u8,
    /// Upper bound (exclusive) of the constants read, aL included.
    pub constants: u16,
    /// The range of aL (least and greatest), 0 outside loops.
    pub al: (i32, i32),
    /// Every temporary channel that an instruction is known to read was written before, or is an
    /// input, on every path of the pixel (a predicated write counts). The same holds for predicate
    /// bits and the ALU result. Undefined state is never read, so its initial value has no effect.
    /// False if the inputs are not known.
    pub reads_are_defined: bool,
    /// Texture units that fetches name, unit 0 in bit 0.
    pub texture_units: u16,
    /// Render targets that some instruction may write, A in bit 0.
    pub targets: u8,
    /// Whether some instruction may write depth.
    pub writes_depth: bool,
    /// Whether some instruction may kill pixels.
    pub kills: bool,
    /// Whether some instruction reads other pixels of its quad: MDH, MDV, or a level of detail that
    /// is computed from the quad.
    pub quad_reads: bool,
    /// Whether some instruction reads predicate bits.
    pub uses_predicates: bool,
    /// Whether some instruction adds aL to an address.
    pub uses_relative: bool,
}

/// The verdict of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No errors: the reference engine reports no runtime warning of the hard kind in any run.
    Clean(Facts),
    /// No errors were found, but the behaviour depends on integer constants that are not given (bit
    /// n for constant n). Nothing is guaranteed.
    Incomplete {
        /// The constants that are missing.
        int_constants: u32,
    },
    /// There are errors. Nothing is guaranteed.
    Broken,
}

impl Verdict {
    /// Returns the facts of a clean program.
    #[must_use]
    pub fn facts(&self) -> Option<&Facts> {
        match self {
            Self::Clean(facts) => Some(facts),
            _ => None,
        }
    }
}
