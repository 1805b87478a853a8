//! Registers of fog and alpha test (`FG`) beyond those of `r500_isa`.
//!
//! Names, bits and values: Mesa's `r300_reg.h`; the register documents do not have them.
use crate::table::block;

#[rustfmt::skip]
block! {
    Fg;

    FgZbregDest "FG_ZBREG_DEST" @ 0x4be8 ReadWrite "RV530: which depth units receive writes of ZB registers." {
        PIPE_SELECT pipe_select 1:0   u8 "a bit a unit";
    }
}
