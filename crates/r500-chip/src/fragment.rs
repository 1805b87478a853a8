//! Addresses of the registers that `r500_isa` describes: the fragment processor (`US`), its texture units (`TX`),
//! the rasteriser (`RS`), fog and alpha test (`FG`), and the upload window (`GA_US_VECTOR_*`).
//!
//! Instruction words have addresses, too; several kinds of word share one. Drivers write instructions through
//! `GA_US_VECTOR_DATA` instead.

use r500_isa::state::*;
use r500_isa::texture::*;
use r500_isa::words::*;

/// Assigns addresses to registers of `r500_isa`.
macro_rules! addresses {
    ($(
        $word:ident $block:ident @ $address:literal $( * $count:literal [$indexing:ident $stride:literal] )?;
    )*) => {
        $(
            impl $crate::Mapped for $word {
                const MAPPING: &'static $crate::Mapping = &$crate::Mapping {
                    register: <$word as r500_isa::Word>::REGISTER,
                    block: $crate::Block::$block,
                    access: $crate::Access::ReadWrite,
                    address: $address,
                    alias: None,
                    count: 1 $( - 1 + $count )?,
                    indexing: $crate::table::indexing!($( $indexing $stride )?),
                };
            }
        )*

        /// The registers of this module with their addresses, in ascending order.
        pub const MAPPINGS: &[&$crate::Mapping] =
            &[ $( <$word as $crate::Mapped>::MAPPING, )* ];
    };
}

#[rustfmt::skip]
addresses! {
    RsIp            Rs @ 0x4074 * 16  [Underscore 4];
    TxInvalTags     Tx @ 0x4100;
    TxEnable        Tx @ 0x4104;
    TxFilter4       Tx @ 0x4110;
    GaUsVectorIndex Ga @ 0x4250;
    GaUsVectorData  Ga @ 0x4254;
    RsCount         Rs @ 0x4300;
    RsInstCount     Rs @ 0x4304;
    RsInst          Rs @ 0x4320 * 16  [Underscore 4];
    TxFilter0       Tx @ 0x4400 * 16  [Underscore 4];
    TxFilter1       Tx @ 0x4440 * 16  [Underscore 4];
    TxFormat0       Tx @ 0x4480 * 16  [Underscore 4];
    TxFormat1       Tx @ 0x44c0 * 16  [Underscore 4];
    TxFormat2       Tx @ 0x4500 * 16  [Underscore 4];
    TxOffset        Tx @ 0x4540 * 16  [Underscore 4];
    TxChromaKey     Tx @ 0x4580 * 16  [Underscore 4];
    TxBorderColor   Tx @ 0x45c0 * 16  [Underscore 4];
    UsConfig        Us @ 0x4600;
    UsPixsize       Us @ 0x4604;
    UsFcBoolConst   Us @ 0x4620;
    UsFcCtrl        Us @ 0x4624;
    UsCodeAddr      Us @ 0x4630;
    UsCodeRange     Us @ 0x4634;
    UsCodeOffset    Us @ 0x4638;
    UsFormat        Us @ 0x4640 * 16  [Underscore 4];
    UsOutFmt        Us @ 0x46a4 * 4   [Underscore 4];
    UsWFmt          Us @ 0x46b4;
    FgFogBlend      Fg @ 0x4bc0;
    FgFogFactor     Fg @ 0x4bc4;
    FgFogColorR     Fg @ 0x4bc8;
    FgFogColorG     Fg @ 0x4bcc;
    FgFogColorB     Fg @ 0x4bd0;
    FgAlphaFunc     Fg @ 0x4bd4;
    FgDepthSrc      Fg @ 0x4bd8;
    FgAlphaValue    Fg @ 0x4be0;
    UsFcIntConst    Us @ 0x4c00 * 32  [Underscore 4];
    AluRgbAddr      Us @ 0x9000 * 512 [Underscore 4];
    TexInst         Us @ 0x9000 * 512 [Underscore 4];
    AluAlphaAddr    Us @ 0x9800 * 512 [Underscore 4];
    FcInst          Us @ 0x9800 * 512 [Underscore 4];
    TexAddr         Us @ 0x9800 * 512 [Underscore 4];
    AluRgbInst      Us @ 0xa000 * 512 [Underscore 4];
    FcAddr          Us @ 0xa000 * 512 [Underscore 4];
    TexAddrDxdy     Us @ 0xa000 * 512 [Underscore 4];
    AluAlphaInst    Us @ 0xa800 * 512 [Underscore 4];
    AluRgbaInst     Us @ 0xb000 * 512 [Underscore 4];
    CmnInst         Us @ 0xb800 * 512 [Underscore 4];
}
