//! Textures: the registers of a unit and the texels they describe.

use alloc::vec::Vec;

use r500_isa::texture::{
    TxChromaKey, TxFilter0, TxFilter1, TxFormat0, TxFormat1, TxFormat2, TxOffset,
};

/// A texture bound to a unit, exactly as given. The execution engine decides whether it can be
/// sampled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texture {
    /// `TX_FILTER0`.
    pub filter0: TxFilter0,
    /// `TX_FILTER1`.
    pub filter1: TxFilter1,
    /// `TX_FORMAT0`: size and levels.
    pub format0: TxFormat0,
    /// `TX_FORMAT1`: texel format.
    pub format1: TxFormat1,
    /// `TX_FORMAT2`: pitch, upper bits of format and size.
    pub format2: TxFormat2,
    /// `TX_OFFSET`: byte order and tiling.
    pub offset: TxOffset,
    /// `TX_BORDER_COLOR`: one texel in the texture's own format. The execution engine defines its
    /// meaning for formats with texels of more than 32 bits.
    pub border_color: u32,
    /// `TX_CHROMA_KEY`.
    pub chroma_key: TxChromaKey,
    /// The levels, finest first.
    pub levels: Vec<Level>,
}

/// A level of a texture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// Texels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Layers of a volume, 6 faces of a cube, 1 else.
    pub layers: u32,
    /// Texels as they lie in memory, row 0 first, layer after layer. Blocks of compressed formats
    /// likewise, row of blocks after row of blocks.
    pub bytes: Vec<u8>,
}
