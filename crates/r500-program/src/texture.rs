//! Textures: the registers of a unit and its texels.

use alloc::vec::Vec;

use r500_isa::texture::{
    TxChromaKey, TxFilter0, TxFilter1, TxFormat0, TxFormat1, TxFormat2, TxOffset,
};

/// A texture bound to a unit, unmodified. The execution engine decides whether it can be sampled.
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

/// A mip level of a texture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// Texels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Layers of a volume, 6 for a cube, otherwise 1.
    pub layers: u32,
    /// Texels in memory order: row 0 first, layer after layer. Compressed formats: row of blocks
    /// after row of blocks.
    pub bytes: Vec<u8>,
}
