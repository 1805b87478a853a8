//! Registers of the command processor (`CP`): synchronisation.
//!
//! Names, bits and values: the R5xx register documents that AMD published.
use crate::table::block;

#[rustfmt::skip]
block! {
    Cp;

    WaitUntil "WAIT_UNTIL" @ 0x1720 Write "the command processor waits." {
        WAIT_2D_IDLECLEAN wait_2d_idleclean 16:16 bool "until the 2D engine is idle and its caches are written";
        WAIT_3D_IDLECLEAN wait_3d_idleclean 17:17 bool "until the 3D engine is idle and its caches are written";
    }
}
