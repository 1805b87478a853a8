//! Registers of the command processor (`CP`): the ring and indirect buffers, the queues between them and the engines,
//! synchronisation.
//!
//! Names, bits and values of `WAIT_UNTIL`: the R5xx register documents that AMD published, which do not have the others. Those are from
//! `rv515d.h`, `r100d.h`, `radeon_reg.h` and `r100.c` of the Linux kernel's radeon driver.
use crate::table::block;
use crate::values::*;

#[rustfmt::skip]
block! {
    Cp;

    CpRbBase "CP_RB_BASE" @ 0x0700 ReadWrite "address of the ring." {
        RB_BASE rb_base 31:0 u32 "bytes";
    }

    CpRbCntl "CP_RB_CNTL" @ 0x0704 ReadWrite "the ring." {
        RB_BUFSZ       rb_bufsz       5:0   u8          "its size: 2 to this power quadwords";
        RB_BLKSZ       rb_blksz       13:8  u8          "entries read before the read pointer is written to memory: 2 to this power quadwords";
        BUF_SWAP       buf_swap       17:16 Endian      "byte order";
        MAX_FETCH      max_fetch      19:18 u8          "longest read of memory";
        RB_NO_UPDATE   rb_no_update   27:27 bool        "the read pointer is not written to memory";
        RB_RPTR_WR_ENA rb_rptr_wr_ena 31:31 bool        "CP_RB_RPTR_WR sets the read pointer";
    }

    CpRbRptrAddr "CP_RB_RPTR_ADDR" @ 0x070c ReadWrite "where the read pointer is written to." {
        RB_RPTR_SWAP rb_rptr_swap 1:0  Endian "byte order";
        RB_RPTR_ADDR rb_rptr_addr 31:2 u32    "address / 4";
    }

    CpRbRptr "CP_RB_RPTR" @ 0x0710 Read "read pointer of the ring." {
        RB_RPTR rb_rptr 31:0 u32 "dwords from the ring's start";
    }

    CpRbWptr "CP_RB_WPTR" @ 0x0714 ReadWrite "write pointer of the ring: the command processor reads up to it." {
        RB_WPTR rb_wptr 31:0 u32 "dwords from the ring's start";
    }

    CpRbWptrDelay "CP_RB_WPTR_DELAY" @ 0x0718 ReadWrite "when a new write pointer counts." {
        PRE_WRITE_TIMER pre_write_timer 22:0  u32 "clocks to wait";
        PRE_WRITE_LIMIT pre_write_limit 31:23 u16 "writes to wait for";
    }

    CpRbRptrWr "CP_RB_RPTR_WR" @ 0x071c ReadWrite "sets the read pointer, if CP_RB_CNTL.RB_RPTR_WR_ENA allows it." {
        RB_RPTR_WR rb_rptr_wr 31:0 u32 "dwords from the ring's start";
    }

    CpIbBase "CP_IB_BASE" @ 0x0738 ReadWrite "address of an indirect buffer: a program's command stream." {
        IB_BASE ib_base 31:0 u32 "bytes";
    }

    CpIbBufsz "CP_IB_BUFSZ" @ 0x073c ReadWrite "size of the indirect buffer; the write starts it." {
        IB_BUFSZ ib_bufsz 31:0 u32 "dwords";
    }

    CpCsqCntl "CP_CSQ_CNTL" @ 0x0740 ReadWrite "the queues of fetched commands." {
        CSQ_CNT_PRIMARY  csq_cnt_primary  7:0   u8      "free entries of the ring's queue";
        CSQ_CNT_INDIRECT csq_cnt_indirect 15:8  u8      "free entries of the indirect buffers' queue";
        CSQ_MODE         csq_mode         31:28 CsqMode "where commands come from";
    }

    CpCsqMode "CP_CSQ_MODE" @ 0x0744 ReadWrite "division of the command queue." {
        INDIRECT2_START indirect2_start 6:0  u8 "first entry of the second indirect buffer / 8";
        INDIRECT1_START indirect1_start 14:8 u8 "first entry of the first indirect buffer / 8";
    }

    ScratchUmsk "SCRATCH_UMSK" @ 0x0770 ReadWrite "which scratch registers are copied to memory when they are written." {
        SCRATCH_UMSK scratch_umsk 5:0   u8     "a bit a register";
        SCRATCH_SWAP scratch_swap 17:16 Endian "byte order";
    }

    ScratchAddr "SCRATCH_ADDR" @ 0x0774 ReadWrite "where scratch registers are copied to." {
        SCRATCH_ADDR scratch_addr 31:5 u32 "address / 32";
    }

    CpResyncAddr "CP_RESYNC_ADDR" @ 0x0778 ReadWrite "the register to which CP_RESYNC_DATA goes." {
        RESYNC_ADDR resync_addr 31:0 u32 "number";
    }

    CpResyncData "CP_RESYNC_DATA" @ 0x077c ReadWrite "data that are written in the order of the stream." {
        RESYNC_DATA resync_data 31:0 u32 "dword";
    }

    CpStat "CP_STAT" @ 0x07c0 Read "which parts of the command processor are busy." {
        MRU_BUSY          mru_busy          0:0   bool "memory reads";
        MWU_BUSY          mwu_busy          1:1   bool "memory writes";
        RSIU_BUSY         rsiu_busy         2:2   bool "requests from the register backbone";
        RCIU_BUSY         rciu_busy         3:3   bool "requests to the register backbone";
        CSF_PRIMARY_BUSY  csf_primary_busy  9:9   bool "fetches of the ring";
        CSF_INDIRECT_BUSY csf_indirect_busy 10:10 bool "fetches of indirect buffers";
        CSQ_PRIMARY_BUSY  csq_primary_busy  11:11 bool "the ring's queue";
        CSQ_INDIRECT_BUSY csq_indirect_busy 12:12 bool "the indirect buffers' queue";
        CSI_BUSY          csi_busy          13:13 bool "interpretation of commands";
        GUIDMA_BUSY       guidma_busy       28:28 bool "copies of the drawing engines";
        VIDDMA_BUSY       viddma_busy       29:29 bool "copies of video";
        CMDSTRM_BUSY      cmdstrm_busy      30:30 bool "any part of the stream's way";
        CP_BUSY           cp_busy           31:31 bool "any part";
    }

    CpMeRamAddr "CP_ME_RAM_ADDR" @ 0x07d4 ReadWrite "where CP_ME_RAM_DATAH and DATAL write the microcode." {
        ME_RAM_ADDR me_ram_addr 31:0 u32 "instruction";
    }

    CpMeRamRaddr "CP_ME_RAM_RADDR" @ 0x07d8 ReadWrite "where CP_ME_RAM_DATAH and DATAL read the microcode." {
        ME_RAM_RADDR me_ram_raddr 31:0 u32 "instruction";
    }

    CpMeRamDatah "CP_ME_RAM_DATAH" @ 0x07dc ReadWrite "upper dword of an instruction of the microcode." {
        ME_RAM_DATAH me_ram_datah 31:0 u32 "dword";
    }

    CpMeRamDatal "CP_ME_RAM_DATAL" @ 0x07e0 ReadWrite "lower dword of an instruction of the microcode; the next access is to the next one." {
        ME_RAM_DATAL me_ram_datal 31:0 u32 "dword";
    }

    CpCsqAddr "CP_CSQ_ADDR" @ 0x07f0 ReadWrite "the entry of the command queue that CP_CSQ_DATA reads." {
        CSQ_ADDR csq_addr 31:0 u32 "bytes";
    }

    CpCsqData "CP_CSQ_DATA" @ 0x07f4 Read "an entry of the command queue." {
        CSQ_DATA csq_data 31:0 u32 "dword";
    }

    CpCsqStat "CP_CSQ_STAT" @ 0x07f8 Read "pointers of the command queue." {
        RING_RPTR      ring_rptr      9:0   u16 "read pointer of the ring's part";
        RING_WPTR      ring_wptr      19:10 u16 "write pointer of the ring's part";
        INDIRECT1_RPTR indirect1_rptr 29:20 u16 "read pointer of the first indirect buffer's part";
    }

    CpCsq2Stat "CP_CSQ2_STAT" @ 0x07fc Read "more pointers of the command queue." {
        INDIRECT1_WPTR indirect1_wptr 9:0   u16 "write pointer of the first indirect buffer's part";
        INDIRECT2_RPTR indirect2_rptr 19:10 u16 "read pointer of the second indirect buffer's part";
        INDIRECT2_WPTR indirect2_wptr 29:20 u16 "write pointer of the second indirect buffer's part";
    }

    ScratchReg "SCRATCH_REG" @ 0x15e0 * 6 [Plain 4] ReadWrite "memory for the driver; the kernel counts finished submissions in one." {
        SCRATCH scratch 31:0 u32 "dword";
    }

    WaitUntil "WAIT_UNTIL" @ 0x1720 Write "the command processor waits." {
        WAIT_CRTC_PFLIP    wait_crtc_pflip    0:0   bool "until a flip has happened";
        WAIT_DMA_GUI_IDLE  wait_dma_gui_idle  9:9   bool "until copies of the drawing engines are done";
        WAIT_2D_IDLE       wait_2d_idle       14:14 bool "until the 2D engine is idle";
        WAIT_3D_IDLE       wait_3d_idle       15:15 bool "until the 3D engine is idle";
        WAIT_2D_IDLECLEAN wait_2d_idleclean 16:16 bool "until the 2D engine is idle and its caches are written";
        WAIT_3D_IDLECLEAN wait_3d_idleclean 17:17 bool "until the 3D engine is idle and its caches are written";
        WAIT_HOST_IDLECLEAN wait_host_idleclean 18:18 bool "until the host data path is idle and its buffers are written";
    }
}
