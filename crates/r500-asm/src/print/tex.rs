//! Printing of texture instructions.

use r500_isa::Instruction;
use r500_isa::values::{Channel, TexOp};

use super::{TextBuffer, flags, index, predicates, spare_bits, unused_masks};
use crate::names;

pub(super) fn tex(out: &mut TextBuffer, inst: Instruction) {
    let (cmn, tex, addr) = (inst.cmn(), inst.tex_inst(), inst.tex_addr());
    out.text("TEX ");
    flags(out, cmn);
    for (on, text) in [
        (tex.tex_sem_acquire(), "TEX_SEM_ACQUIRE "),
        (tex.ignore_uncovered(), "IGNORE_UNCOVERED "),
        (tex.unscaled(), "UNSCALED "),
    ] {
        if on {
            out.text(text);
        }
    }
    predicates(out, cmn, true);
    unused_masks(out, cmn, false);
    spare_bits(out, inst);

    let mask = cmn.rgb_wmask().code() | u8::from(cmn.alpha_wmask()) << 3;
    out.text("temp");
    index(out, addr.dst_addr(), addr.dst_addr_rel());
    out.push(b'.');
    out.text(names::MASKS[usize::from(mask & 15)]);
    out.text(" = ");
    match names::word_of(names::TEX_OPS, tex.inst()) {
        Some(word) => out.text(word),
        None => {
            out.text("OP(");
            out.small(tex.inst().code());
            out.push(b')');
        }
    }
    out.text(" tex[");
    out.small(tex.tex_id());
    out.push(b']');
    channels(out, [addr.dst_r_swiz(), addr.dst_g_swiz(), addr.dst_b_swiz(), addr.dst_a_swiz()]);
    out.text(" temp");
    index(out, addr.src_addr(), addr.src_addr_rel());
    channels(out, [addr.src_s_swiz(), addr.src_t_swiz(), addr.src_r_swiz(), addr.src_q_swiz()]);
    let d = inst.tex_addr_dxdy();
    if tex.inst() == TexOp::DXDY || d.bits() != 0 {
        out.text(" temp");
        index(out, d.dx_addr(), d.dx_addr_rel());
        channels(out, [d.dx_s_swiz(), d.dx_t_swiz(), d.dx_r_swiz(), d.dx_q_swiz()]);
        out.text(" temp");
        index(out, d.dy_addr(), d.dy_addr_rel());
        channels(out, [d.dy_s_swiz(), d.dy_t_swiz(), d.dy_r_swiz(), d.dy_q_swiz()]);
    }
    out.text(" ;");
}

fn channels(out: &mut TextBuffer, channels: [Channel; 4]) {
    out.push(b'.');
    out.bytes(&channels.map(|c| names::SWIZZLES[usize::from(c.code() & 3)]));
}
