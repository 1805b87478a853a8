//! Memory map: the registers at each byte offset.

use core::fmt;

use r500_isa::{Register, Word};

/// A functional unit of the chip that owns registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Block {
    /// Register backbone manager.
    Rbbm,
    /// Command processor.
    Cp,
    /// 2D engine.
    E2,
    /// Vertex and primitive processor.
    Vap,
    /// Geometry backend.
    Gb,
    /// Geometry assembly.
    Ga,
    /// Setup unit.
    Su,
    /// Scan converter.
    Sc,
    /// Rasteriser: interpolants.
    Rs,
    /// Texture unit.
    Tx,
    /// Fragment processor.
    Us,
    /// Fog and alpha test.
    Fg,
    /// Render backend: colours.
    Rb3d,
    /// Render backend: depth and stencil.
    Zb,
}

/// Which accesses a register supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Reads and writes.
    ReadWrite,
    /// Reads only.
    Read,
    /// Writes only.
    Write,
}

/// How the members of a register set are named and spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Indexing {
    /// One register.
    Single,
    /// `NAME_3`, members this many bytes apart.
    Underscore(u32),
    /// `NAME3`, members this many bytes apart.
    Plain(u32),
    /// `NAME67` for member 3, members this many bytes apart.
    PairName(u32),
    /// `NAME3`; two members one dword apart, then the next two this many bytes after the first.
    PairAddress(u32),
}

/// A register or register set with its addresses.
#[derive(Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The register's description.
    pub register: &'static Register,
    /// The block that owns it.
    pub block: Block,
    /// Supported accesses.
    pub access: Access,
    /// Byte offset of the first member in the register aperture.
    pub address: u32,
    /// A second byte offset of the (single) register.
    pub alias: Option<u32>,
    /// Members: 1, or the length of the set.
    pub count: u32,
    /// Names and addresses of the members.
    pub indexing: Indexing,
}

/// A typed register with addresses.
pub trait Mapped: Word {
    /// The addresses of the register.
    const MAPPING: &'static Mapping;
}

/// One register of the chip: a member of a [`Mapping`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RegisterRef {
    /// The register or register set.
    pub mapping: &'static Mapping,
    /// The member, below [`Mapping::count`].
    pub index: u32,
}

impl Mapping {
    /// Returns the byte offset of a member.
    ///
    /// # Panics
    ///
    /// If `index` is not below [`Mapping::count`].
    #[must_use]
    pub const fn address_of(&self, index: u32) -> u32 {
        assert!(index < self.count, "no such member of the register set");
        self.address
            + match self.indexing {
                Indexing::Single => 0,
                Indexing::Underscore(stride)
                | Indexing::Plain(stride)
                | Indexing::PairName(stride) => index * stride,
                Indexing::PairAddress(stride) => index / 2 * stride + index % 2 * 4,
            }
    }

    /// Returns the members in order.
    pub fn members(&'static self) -> impl Iterator<Item = RegisterRef> {
        (0..self.count).map(move |index| RegisterRef { mapping: self, index })
    }
}

impl RegisterRef {
    /// Returns the byte offset in the register aperture.
    #[must_use]
    pub const fn address(self) -> u32 {
        self.mapping.address_of(self.index)
    }
}

/// Prints the documented name, such as `VAP_PROG_STREAM_CNTL_3`.
impl fmt::Display for RegisterRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, index) = (self.mapping.register.name, self.index);
        match self.mapping.indexing {
            Indexing::Single => f.write_str(name),
            Indexing::Underscore(_) => write!(f, "{name}_{index}"),
            Indexing::Plain(_) | Indexing::PairAddress(_) => write!(f, "{name}{index}"),
            Indexing::PairName(_) => write!(f, "{name}{}{}", 2 * index, 2 * index + 1),
        }
    }
}

impl fmt::Debug for RegisterRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
