//! Registers of the scan converter (`SC`): scissors, edge rules, sample mask.
//!
//! Names, bits and values: the R5xx register documents that AMD published.
use crate::table::block;
use crate::values::*;

#[rustfmt::skip]
block! {
    Sc;

    ScHyperzEn "SC_HYPERZ_EN" @ 0x43a4 ReadWrite "hierarchical depth." {
        HZ_EN    hz_en    0:0   bool          "on";
        HZ_MAX   hz_max   1:1   bool [HZ_MAX] "depth kept of a tile";
        HZ_ADJ   hz_adj   4:2   HzAdj         "margin of the kept depth";
        HZ_Z0MIN hz_z0min 5:5   bool          "vertex 0 has the least depth";
        HZ_Z0MAX hz_z0max 6:6   bool          "vertex 0 has the greatest depth";
    }

    ScEdgerule "SC_EDGERULE" @ 0x43a8 ReadWrite "samples exactly on an edge." {
        ER_TRI     er_tri     4:0   EdgeRule "triangles";
        ER_POINT   er_point   9:5   EdgeRule "points";
        ER_LINE_LR er_line_lr 14:10 EdgeRule "lines from left to right";
        ER_LINE_RL er_line_rl 19:15 EdgeRule "lines from right to left";
        ER_LINE_TB er_line_tb 24:20 EdgeRule "lines from top to bottom";
        ER_LINE_BT er_line_bt 29:25 EdgeRule "lines from bottom to top";
    }

    ScClip0A "SC_CLIP_0_A" @ 0x43b0 ReadWrite "clip rectangle 0: left and top." {
        XS0 xs0 12:0  u16 "left edge of clip rectangle 0, inclusive";
        YS0 ys0 25:13 u16 "top edge of clip rectangle 0, inclusive";
    }

    ScClip0B "SC_CLIP_0_B" @ 0x43b4 ReadWrite "clip rectangle 0: right and bottom." {
        XS1 xs1 12:0  u16 "right edge of clip rectangle 0, inclusive";
        YS1 ys1 25:13 u16 "bottom edge of clip rectangle 0, inclusive";
    }

    ScClip1A "SC_CLIP_1_A" @ 0x43b8 ReadWrite "clip rectangle 1: left and top." {
        XS0 xs0 12:0  u16 "left edge of clip rectangle 1, inclusive";
        YS0 ys0 25:13 u16 "top edge of clip rectangle 1, inclusive";
    }

    ScClip1B "SC_CLIP_1_B" @ 0x43bc ReadWrite "clip rectangle 1: right and bottom." {
        XS1 xs1 12:0  u16 "right edge of clip rectangle 1, inclusive";
        YS1 ys1 25:13 u16 "bottom edge of clip rectangle 1, inclusive";
    }

    ScClip2A "SC_CLIP_2_A" @ 0x43c0 ReadWrite "clip rectangle 2: left and top." {
        XS0 xs0 12:0  u16 "left edge of clip rectangle 2, inclusive";
        YS0 ys0 25:13 u16 "top edge of clip rectangle 2, inclusive";
    }

    ScClip2B "SC_CLIP_2_B" @ 0x43c4 ReadWrite "clip rectangle 2: right and bottom." {
        XS1 xs1 12:0  u16 "right edge of clip rectangle 2, inclusive";
        YS1 ys1 25:13 u16 "bottom edge of clip rectangle 2, inclusive";
    }

    ScClip3A "SC_CLIP_3_A" @ 0x43c8 ReadWrite "clip rectangle 3: left and top." {
        XS0 xs0 12:0  u16 "left edge of clip rectangle 3, inclusive";
        YS0 ys0 25:13 u16 "top edge of clip rectangle 3, inclusive";
    }

    ScClip3B "SC_CLIP_3_B" @ 0x43cc ReadWrite "clip rectangle 3: right and bottom." {
        XS1 xs1 12:0  u16 "right edge of clip rectangle 3, inclusive";
        YS1 ys1 25:13 u16 "bottom edge of clip rectangle 3, inclusive";
    }

    ScClipRule "SC_CLIP_RULE" @ 0x43d0 ReadWrite "which combinations of clip rectangles are drawn." {
        CLIP_RULE clip_rule 15:0  u16 "bit n: pixels for which the bits of n say in which rectangles they lie";
    }

    ScScissor0 "SC_SCISSOR0" @ 0x43e0 ReadWrite "scissor: left and top." {
        XS0 xs0 12:0  u16 "left edge, inclusive";
        YS0 ys0 25:13 u16 "top edge, inclusive";
    }

    ScScissor1 "SC_SCISSOR1" @ 0x43e4 ReadWrite "scissor: right and bottom." {
        XS1 xs1 12:0  u16 "right edge, inclusive";
        YS1 ys1 25:13 u16 "bottom edge, inclusive";
    }

    ScScreendoor "SC_SCREENDOOR" @ 0x43e8 ReadWrite "sample mask." {
        SCREENDOOR screendoor 23:0  u32 "six samples for each pixel of a quad";
    }
}
