//! Registers of the register backbone manager (`RBBM`), through which the host and the command processor reach all others.
//!
//! Names, bits and values: `rv515d.h` and `radeon_reg.h` of the Linux kernel's radeon driver; the register documents do not have them.
use crate::table::block;
use crate::values::*;

#[rustfmt::skip]
block! {
    Rbbm;

    RbbmSoftReset "RBBM_SOFT_RESET" @ 0x00f0 ReadWrite "resets blocks while their bits are 1." {
        SOFT_RESET_CP   soft_reset_cp   0:0   bool "command processor";
        SOFT_RESET_HI   soft_reset_hi   1:1   bool "host interface";
        SOFT_RESET_VAP  soft_reset_vap  2:2   bool "vertex and primitive processor";
        SOFT_RESET_RE   soft_reset_re   3:3   bool "rasteriser";
        SOFT_RESET_PP   soft_reset_pp   4:4   bool "pixel pipe";
        SOFT_RESET_E2   soft_reset_e2   5:5   bool "2D engine";
        SOFT_RESET_RB   soft_reset_rb   6:6   bool "render backend";
        SOFT_RESET_HDP  soft_reset_hdp  7:7   bool "host data path";
        SOFT_RESET_MC   soft_reset_mc   8:8   bool "memory controller";
        SOFT_RESET_AIC  soft_reset_aic  9:9   bool "translation of bus addresses";
        SOFT_RESET_VIP  soft_reset_vip  10:10 bool "video port";
        SOFT_RESET_DISP soft_reset_disp 11:11 bool "display";
        SOFT_RESET_CG   soft_reset_cg   12:12 bool "clocks";
        SOFT_RESET_GA   soft_reset_ga   13:13 bool "geometry assembly";
        SOFT_RESET_IDCT soft_reset_idct 14:14 bool "video decoding";
    }

    RbbmStatus "RBBM_STATUS" @ 0x0e40 Read "which blocks are busy; the kernel prints it when it finds the card locked up." {
        CMDFIFO_AVAIL   cmdfifo_avail   6:0   u8   "free entries of the queue of register writes; 64 if it is empty";
        HIRQ_ON_RBB     hirq_on_rbb     8:8   bool "a request of the host interface is on the backbone";
        CPRQ_ON_RBB     cprq_on_rbb     9:9   bool "a request of the command processor is on the backbone";
        CFRQ_ON_RBB     cfrq_on_rbb     10:10 bool "a request of the queue is on the backbone";
        HIRQ_IN_RTBUF   hirq_in_rtbuf   11:11 bool "a request of the host interface is in the retry buffer";
        CPRQ_IN_RTBUF   cprq_in_rtbuf   12:12 bool "a request of the command processor is in the retry buffer";
        CFRQ_IN_RTBUF   cfrq_in_rtbuf   13:13 bool "a request of the queue is in the retry buffer";
        CF_PIPE_BUSY    cf_pipe_busy    14:14 bool "the queue's pipeline is busy";
        ENG_EV_BUSY     eng_ev_busy     15:15 bool "an event of an engine is under way";
        CP_CMDSTRM_BUSY cp_cmdstrm_busy 16:16 bool "the command processor has a stream";
        E2_BUSY         e2_busy         17:17 bool "the 2D engine is busy";
        RB2D_BUSY       rb2d_busy       18:18 bool "the render backend of the 2D engine is busy";
        RB3D_BUSY       rb3d_busy       19:19 bool "the render backend of the 3D engine is busy";
        VAP_BUSY        vap_busy        20:20 bool "the vertex and primitive processor is busy";
        RE_BUSY         re_busy         21:21 bool "the rasteriser is busy";
        TAM_BUSY        tam_busy        22:22 bool "the texture address unit is busy";
        TDM_BUSY        tdm_busy        23:23 bool "the texture data unit is busy";
        PB_BUSY         pb_busy         24:24 bool "the pixel blender is busy";
        TIM_BUSY        tim_busy        25:25 bool "the texture input unit is busy";
        GA_BUSY         ga_busy         26:26 bool "the geometry assembly is busy";
        CBA2D_BUSY      cba2d_busy      27:27 bool "the colour buffer access of the 2D engine is busy";
        RBBM_HIBUSY     rbbm_hibusy     28:28 bool "the backbone is busy for the host interface";
        SKID_CFBUSY     skid_cfbusy     29:29 bool "the queue's overflow buffer is busy";
        VAP_VF_BUSY     vap_vf_busy     30:30 bool "vertex fetch is busy";
        GUI_ACTIVE      gui_active      31:31 bool "any of the blocks that draw is busy, or the queue is not empty";
    }

    IsyncCntl "ISYNC_CNTL" @ 0x1724 ReadWrite "waits that the chip adds by itself between the 2D and the 3D engine." {
        ISYNC_ANY2D_IDLE3D     isync_any2d_idle3d     0:0 bool "any 2D register waits until the 3D engine is idle";
        ISYNC_ANY3D_IDLE2D     isync_any3d_idle2d     1:1 bool "any 3D register waits until the 2D engine is idle";
        ISYNC_TRIG2D_IDLE3D    isync_trig2d_idle3d    2:2 bool "a 2D operation waits until the 3D engine is idle";
        ISYNC_TRIG3D_IDLE2D    isync_trig3d_idle2d    3:3 bool "a 3D operation waits until the 2D engine is idle";
        ISYNC_WAIT_IDLEGUI     isync_wait_idlegui     4:4 bool "waits are for both engines";
        ISYNC_CPSCRATCH_IDLEGUI isync_cpscratch_idlegui 5:5 bool "writes of scratch registers wait until both engines are idle";
    }

    RbbmGuicntl "RBBM_GUICNTL" @ 0x172c ReadWrite "byte order of data from the host." {
        HOST_DATA_SWAP host_data_swap 1:0 Endian "exchanged bytes of HOST_DATA";
    }
}
