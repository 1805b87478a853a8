//! Items that a source defines or refers to: names, labels, included files, texture files.

use crate::source::Span;

/// A name that the source defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name, as written in the definition; case is ignored.
    pub name: String,
    /// Where.
    pub span: Span,
    /// The named thing.
    pub kind: SymbolKind,
}

/// The kind of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// An instruction's address.
    Label(u32),
    /// A register, constant or inline constant.
    Register(Register),
    /// A number that no inline constant has.
    Number(Constant),
    /// A macro.
    Macro,
    /// A parameter of a macro, or the counter of a repetition.
    Parameter,
}

/// A use of a name or a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    /// Its span, including the `@` of a label if it is written.
    pub span: Span,
    /// Span of the definition, that of a [`Symbol`]. `None` for an undefined label.
    pub definition: Option<Span>,
}

/// The number of a register that is an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ComputedIndex {
    /// The `[` before it.
    pub bracket: Span,
    /// Its value.
    pub n: u8,
}

/// An `#include` that was resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Include {
    /// Span of its string, quotes included.
    pub span: Span,
    /// The number of the file in [`Files`](crate::Files).
    pub file: u32,
}

/// An `EXPECT` directive with values: the pixels that it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpectedPixels {
    /// Its span, without the `;`.
    pub span: Span,
    /// The expected quantity.
    pub what: ExpectedQuantity,
    /// The first pixel, in row order from y = 0.
    pub first: usize,
    /// Distance between pixels, in row order.
    pub step: usize,
    /// How many pixels.
    pub count: usize,
}

/// The content of an `EXPECT` directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedQuantity {
    /// A colour of target 0 to 3.
    Target(u8),
    /// Depth.
    Depth,
    /// Coverage after the run.
    Coverage,
    /// The colour of target A of pixels without a result.
    Background,
    /// Coverage before the run (`COVERAGE`).
    Covered,
}

impl ExpectedPixels {
    /// Returns whether it covers a pixel, given by its index in row order from y = 0.
    #[must_use]
    pub fn contains(&self, pixel: usize) -> bool {
        pixel
            .checked_sub(self.first)
            .is_some_and(|away| away % self.step == 0 && away / self.step < self.count)
    }
}

/// A texture with texels in a file. The assembler opens no files: it records the path, and the caller loads the texels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextureRequest {
    /// The unit. Its [`r500_program::Texture`] exists and has everything else.
    pub unit: u8,
    /// The missing part.
    pub source: TextureSource,
    /// The path as written, relative to the file that names it.
    pub path: String,
    /// Span of its name; the name of that file is [`Files::name`](crate::Files::name).
    pub span: Span,
}

/// The use of a texture file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextureSource {
    /// A picture: size, format and all levels. Filters and address modes are already set.
    Picture,
    /// The bytes of a level in memory layout; everything else is already set.
    Level {
        /// Which level.
        level: usize,
    },
}

/// The value of a `DEF`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    /// A temporary, by its number.
    Temp(u8),
    /// A float constant, by its number.
    Const(u8),
    /// An inline constant, by its code.
    Float(u8),
    /// A texture unit, by its number.
    Tex(u8),
    /// A render target, by its number.
    Out(u8),
    /// An integer constant, by its number.
    Int(u8),
    /// A boolean constant, by its number.
    Bool(u8),
}

/// The value of a named number: a double.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constant(u64);

impl Constant {
    /// Returns the constant with a value.
    #[must_use]
    pub const fn new(value: f64) -> Self {
        Self(value.to_bits())
    }

    /// Returns its value.
    #[must_use]
    pub const fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// A use of a macro, or a repetition, that is not itself in one: the instructions that it produces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// The statement: of a macro its name and arguments, of a repetition its first line.
    pub call: Span,
    /// Index of its first instruction.
    pub first: usize,
    /// Index after its last one.
    pub end: usize,
}
