//! Items that a source defines or refers to: names, labels, included files, texture files.

use crate::source::Span;

/// A name that the source defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// As written where it is defined; case does not matter.
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
}

/// A place where a name or a label is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    /// Where; a label's `@` is part of it if it is written.
    pub span: Span,
    /// Where what it names is defined: the span of a [`Symbol`]. `None` for a label that stands
    /// nowhere.
    pub definition: Option<Span>,
}

/// An `#include` that was followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Include {
    /// Its string, quotes and all.
    pub span: Span,
    /// The number of the file in [`Files`](crate::Files).
    pub file: u32,
}

/// An `EXPECT` directive that gives values: which pixels of the picture it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpectedPixels {
    /// Where it stands, without the `;`.
    pub span: Span,
    /// What it expects of them.
    pub what: ExpectedQuantity,
    /// The first pixel, in row order from y = 0.
    pub first: usize,
    /// From one pixel to the next, in row order.
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
    /// The colour of target A where nothing is drawn.
    Background,
    /// Coverage before the run (`COVERAGE`).
    Covered,
}

impl ExpectedPixels {
    /// Returns whether it is about a pixel, by its index in row order from y = 0.
    #[must_use]
    pub fn contains(&self, pixel: usize) -> bool {
        pixel
            .checked_sub(self.first)
            .is_some_and(|away| away % self.step == 0 && away / self.step < self.count)
    }
}

/// A texture whose texels lie in a file. The assembler opens no files: it records the path, and the
/// caller loads the texels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextureRequest {
    /// The unit; its [`r500_program::Texture`] is there already and holds everything else.
    pub unit: u8,
    /// What is missing.
    pub source: TextureSource,
    /// The path as written, relative to the file that names it.
    pub path: String,
    /// Where it is named; the name of that file is [`Files::name`](crate::Files::name).
    pub span: Span,
}

/// The use of a texture file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextureSource {
    /// A picture: size, format and all levels. Filters and addressing are set already.
    Picture,
    /// The bytes of a level as they lie in memory; everything else is set already.
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
