//! The words of an instruction, with one row per field, in the order of the documents.

use crate::registers;
use crate::values::*;

#[rustfmt::skip]
registers! {
    CmnInst "US_CMN_INST" "word 0 of every instruction: type, waits, predication, write masks." {
        TYPE             ty               1:0   InstType               "kind of instruction, which decides what the other five words are";
        TEX_SEM_WAIT     tex_sem_wait     2:2   bool                   "do not issue before the texture semaphore is free (timing only)";
        RGB_PRED_SEL     rgb_pred_sel     5:3   PredSel                "predicate of the RGB half; of the whole instruction for flow control";
        RGB_PRED_INV     rgb_pred_inv     6:6   bool                   "invert the selected predicate";
        WRITE_INACTIVE   write_inactive   7:7   bool                   "write for every pixel of the group, active or not";
        LAST             last             8:8   bool                   "hint that all active pixels are done; the program may continue anyway";
        NOP              nop              9:9   bool                   "issue a NOP after this instruction (dependency of presubtract and MDH/MDV)";
        ALU_WAIT         alu_wait         10:10 bool                   "wait for pending ALU instructions before issuing (timing only)";
        RGB_WMASK        rgb_wmask        13:11 RgbMask                "colour channels written to the destination temporary";
        ALPHA_WMASK      alpha_wmask      14:14 bool    [ALPHA_MASK]   "write alpha to the destination temporary";
        RGB_OMASK        rgb_omask        17:15 RgbMask                "colour channels written to the render target (OUT), or predicate bits set (ALU)";
        ALPHA_OMASK      alpha_omask      18:18 bool    [ALPHA_MASK]   "write alpha to the render target (OUT), or set the A predicate bit (ALU)";
        RGB_CLAMP        rgb_clamp        19:19 bool                   "clamp the RGB result to 0..1";
        ALPHA_CLAMP      alpha_clamp      20:20 bool                   "clamp the alpha result to 0..1";
        ALU_RESULT_SEL   alu_result_sel   21:21 AluResultSel           "which channel of the result ALU_WMASK compares";
        ALPHA_PRED_INV   alpha_pred_inv   22:22 bool                   "invert the alpha half's predicate; nothing for flow control";
        ALU_RESULT_OP    alu_result_op    24:23 Compare                "how that channel is compared with zero";
        ALPHA_PRED_SEL   alpha_pred_sel   27:25 PredSel                "predicate of the alpha half; nothing for flow control";
        STAT_WE          stat_we          31:28 u8                     "channels (R, G, B, A from the lowest bit) that count towards the statistics counter";
    }

    AluRgbAddr "US_ALU_RGB_ADDR" "word 1 of ALU and OUT instructions: the three sources of the RGB half and its presubtract." {
        ADDR0            addr0            7:0   u8                     "source 0: constant, temporary, or (bit 7 set, not CONST) inline constant";
        ADDR0_CONST      addr0_const      8:8   bool    [ADDR_CONST]   "source 0 is a constant";
        ADDR0_REL        addr0_rel        9:9   bool    [ADDR_REL]     "add aL to ADDR0";
        ADDR1            addr1            17:10 u8                     "source 1: constant, temporary, or (bit 7 set, not CONST) inline constant";
        ADDR1_CONST      addr1_const      18:18 bool    [ADDR_CONST]   "source 1 is a constant";
        ADDR1_REL        addr1_rel        19:19 bool    [ADDR_REL]     "add aL to ADDR1";
        ADDR2            addr2            27:20 u8                     "source 2: constant, temporary, or (bit 7 set, not CONST) inline constant";
        ADDR2_CONST      addr2_const      28:28 bool    [ADDR_CONST]   "source 2 is a constant";
        ADDR2_REL        addr2_rel        29:29 bool    [ADDR_REL]     "add aL to ADDR2";
        SRCP_OP          srcp_op          31:30 SrcpOp                 "what the presubtract unit computes for the colours of srcp";
    }

    AluAlphaAddr "US_ALU_ALPHA_ADDR" "word 2 of ALU and OUT instructions: the three sources of the alpha half and its presubtract." {
        ADDR0            addr0            7:0   u8                     "source 0: constant, temporary, or (bit 7 set, not CONST) inline constant";
        ADDR0_CONST      addr0_const      8:8   bool    [ADDR_CONST]   "source 0 is a constant";
        ADDR0_REL        addr0_rel        9:9   bool    [ADDR_REL]     "add aL to ADDR0";
        ADDR1            addr1            17:10 u8                     "source 1: constant, temporary, or (bit 7 set, not CONST) inline constant";
        ADDR1_CONST      addr1_const      18:18 bool    [ADDR_CONST]   "source 1 is a constant";
        ADDR1_REL        addr1_rel        19:19 bool    [ADDR_REL]     "add aL to ADDR1";
        ADDR2            addr2            27:20 u8                     "source 2: constant, temporary, or (bit 7 set, not CONST) inline constant";
        ADDR2_CONST      addr2_const      28:28 bool    [ADDR_CONST]   "source 2 is a constant";
        ADDR2_REL        addr2_rel        29:29 bool    [ADDR_REL]     "add aL to ADDR2";
        SRCP_OP          srcp_op          31:30 SrcpOp                 "what the presubtract unit computes for the alpha of srcp";
    }

    AluRgbInst "US_ALU_RGB_INST" "word 3 of ALU and OUT instructions: operands A and B of the RGB half, its output modifier and target." {
        RGB_SEL_A        rgb_sel_a        1:0   Sel                    "operand A: which source";
        RED_SWIZ_A       red_swiz_a       4:2   Swiz                   "operand A: what the red channel reads";
        GREEN_SWIZ_A     green_swiz_a     7:5   Swiz                   "operand A: what the green channel reads";
        BLUE_SWIZ_A      blue_swiz_a      10:8  Swiz                   "operand A: what the blue channel reads";
        RGB_MOD_A        rgb_mod_a        12:11 Mod                    "operand A: sign and absolute value";
        RGB_SEL_B        rgb_sel_b        14:13 Sel                    "operand B: which source";
        RED_SWIZ_B       red_swiz_b       17:15 Swiz                   "operand B: what the red channel reads";
        GREEN_SWIZ_B     green_swiz_b     20:18 Swiz                   "operand B: what the green channel reads";
        BLUE_SWIZ_B      blue_swiz_b      23:21 Swiz                   "operand B: what the blue channel reads";
        RGB_MOD_B        rgb_mod_b        25:24 Mod                    "operand B: sign and absolute value";
        OMOD             omod             28:26 Omod                   "scale of the RGB result";
        TARGET           target           30:29 Target                 "render target of the colours (OUT), or predicate comparison (ALU)";
        ALU_WMASK        alu_wmask        31:31 bool                   "set the ALU result that the next flow-control instruction reads";
    }

    AluAlphaInst "US_ALU_ALPHA_INST" "word 4 of ALU and OUT instructions: opcode, destination, operands A and B of the alpha half." {
        ALPHA_OP         alpha_op         3:0   AlphaOp                "operation of the alpha half";
        ALPHA_ADDRD      alpha_addrd      10:4  u8                     "temporary that receives the alpha result";
        ALPHA_ADDRD_REL  alpha_addrd_rel  11:11 bool    [ADDR_REL]     "add aL to ALPHA_ADDRD";
        ALPHA_SEL_A      alpha_sel_a      13:12 Sel                    "operand A: which source";
        ALPHA_SWIZ_A     alpha_swiz_a     16:14 Swiz                   "operand A: what the alpha channel reads";
        ALPHA_MOD_A      alpha_mod_a      18:17 Mod                    "operand A: sign and absolute value";
        ALPHA_SEL_B      alpha_sel_b      20:19 Sel                    "operand B: which source";
        ALPHA_SWIZ_B     alpha_swiz_b     23:21 Swiz                   "operand B: what the alpha channel reads";
        ALPHA_MOD_B      alpha_mod_b      25:24 Mod                    "operand B: sign and absolute value";
        OMOD             omod             28:26 Omod                   "scale of the alpha result";
        TARGET           target           30:29 Target                 "render target of alpha (OUT), or predicate comparison (ALU)";
        W_OMASK          w_omask          31:31 bool    [ALPHA_MASK]   "OUT: send the alpha result to depth";
    }

    AluRgbaInst "US_ALU_RGBA_INST" "word 5 of ALU and OUT instructions: opcode and destination of the RGB half, operand C of both halves." {
        RGB_OP           rgb_op           3:0   RgbOp                  "operation of the RGB half";
        RGB_ADDRD        rgb_addrd        10:4  u8                     "temporary that receives the RGB result";
        RGB_ADDRD_REL    rgb_addrd_rel    11:11 bool    [ADDR_REL]     "add aL to RGB_ADDRD";
        RGB_SEL_C        rgb_sel_c        13:12 Sel                    "RGB operand C: which source";
        RED_SWIZ_C       red_swiz_c       16:14 Swiz                   "RGB operand C: what the red channel reads";
        GREEN_SWIZ_C     green_swiz_c     19:17 Swiz                   "RGB operand C: what the green channel reads";
        BLUE_SWIZ_C      blue_swiz_c      22:20 Swiz                   "RGB operand C: what the blue channel reads";
        RGB_MOD_C        rgb_mod_c        24:23 Mod                    "RGB operand C: sign and absolute value";
        ALPHA_SEL_C      alpha_sel_c      26:25 Sel                    "alpha operand C: which source";
        ALPHA_SWIZ_C     alpha_swiz_c     29:27 Swiz                   "alpha operand C: what the alpha channel reads";
        ALPHA_MOD_C      alpha_mod_c      31:30 Mod                    "alpha operand C: sign and absolute value";
    }

    TexInst "US_TEX_INST" "word 1 of a texture instruction: operation and unit." {
        TEX_ID           tex_id           19:16 u8                     "texture unit";
        INST             inst             24:22 TexOp                  "operation";
        TEX_SEM_ACQUIRE  tex_sem_acquire  25:25 bool                   "hold the texture semaphore until the result is written (timing only)";
        IGNORE_UNCOVERED ignore_uncovered 26:26 bool                   "need not fetch for uncovered pixels";
        UNSCALED         unscaled         27:27 bool                   "coordinates are texels, not fractions of the texture's size";
    }

    TexAddr "US_TEX_ADDR" "word 2 of a texture instruction: coordinate register, destination register, and their swizzles." {
        SRC_ADDR         src_addr         6:0   u8                     "temporary that holds the coordinates";
        SRC_ADDR_REL     src_addr_rel     7:7   bool    [ADDR_REL]     "add aL to SRC_ADDR";
        SRC_S_SWIZ       src_s_swiz       9:8   Channel                "channel that serves as S";
        SRC_T_SWIZ       src_t_swiz       11:10 Channel                "channel that serves as T";
        SRC_R_SWIZ       src_r_swiz       13:12 Channel                "channel that serves as R";
        SRC_Q_SWIZ       src_q_swiz       15:14 Channel                "channel that serves as Q";
        DST_ADDR         dst_addr         22:16 u8                     "temporary that receives the texel";
        DST_ADDR_REL     dst_addr_rel     23:23 bool    [ADDR_REL]     "add aL to DST_ADDR";
        DST_R_SWIZ       dst_r_swiz       25:24 Channel                "texel channel that lands in red";
        DST_G_SWIZ       dst_g_swiz       27:26 Channel                "texel channel that lands in green";
        DST_B_SWIZ       dst_b_swiz       29:28 Channel                "texel channel that lands in blue";
        DST_A_SWIZ       dst_a_swiz       31:30 Channel                "texel channel that lands in alpha";
    }

    TexAddrDxdy "US_TEX_ADDR_DXDY" "word 3 of a texture instruction: the two gradient registers of DXDY." {
        DX_ADDR          dx_addr          6:0   u8                     "temporary that holds the gradient along x";
        DX_ADDR_REL      dx_addr_rel      7:7   bool    [ADDR_REL]     "add aL to DX_ADDR";
        DX_S_SWIZ        dx_s_swiz        9:8   Channel                "channel that serves as dS/dx";
        DX_T_SWIZ        dx_t_swiz        11:10 Channel                "channel that serves as dT/dx";
        DX_R_SWIZ        dx_r_swiz        13:12 Channel                "channel that serves as dR/dx";
        DX_Q_SWIZ        dx_q_swiz        15:14 Channel                "channel that serves as dQ/dx";
        DY_ADDR          dy_addr          22:16 u8                     "temporary that holds the gradient along y";
        DY_ADDR_REL      dy_addr_rel      23:23 bool    [ADDR_REL]     "add aL to DY_ADDR";
        DY_S_SWIZ        dy_s_swiz        25:24 Channel                "channel that serves as dS/dy";
        DY_T_SWIZ        dy_t_swiz        27:26 Channel                "channel that serves as dT/dy";
        DY_R_SWIZ        dy_r_swiz        29:28 Channel                "channel that serves as dR/dy";
        DY_Q_SWIZ        dy_q_swiz        31:30 Channel                "channel that serves as dQ/dy";
    }

    FcInst "US_FC_INST" "word 2 of a flow-control instruction: what it does and when it jumps." {
        OP               op               2:0   FcOp                   "statement";
        B_ELSE           b_else           4:4   bool                   "first exchange the active pixels and those whose branch counter is zero";
        JUMP_ANY         jump_any         5:5   bool                   "jump if any active pixel wants to (none active: no), else only if all do (none active: yes)";
        A_OP             a_op             7:6   AddrOp                 "address stack operation of a taken jump";
        JUMP_FUNC        jump_func        15:8  u8                     "truth table: bit 4*alu_result + 2*predicate + boolean says whether a pixel wants to jump";
        B_POP_CNT        b_pop_cnt        20:16 u8                     "amount that DECR takes from the branch counters";
        B_OP0            b_op0            25:24 BranchOp               "branch counter operation when not jumping";
        B_OP1            b_op1            27:26 BranchOp               "branch counter operation when jumping";
        IGNORE_UNCOVERED ignore_uncovered 28:28 bool                   "uncovered pixels have no vote";
    }

    FcAddr "US_FC_ADDR" "word 3 of a flow-control instruction: constants and target." {
        BOOL_ADDR        bool_addr        4:0   u8                     "boolean constant for JUMP_FUNC";
        INT_ADDR         int_addr         12:8  u8                     "integer constant for LOOP, REP and ENDLOOP";
        JUMP_ADDR        jump_addr        24:16 u16                    "target of the jump";
        JUMP_GLOBAL      jump_global      31:31 bool                   "the target is absolute: US_CODE_OFFSET is not added";
    }
}
