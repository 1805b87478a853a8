//! Compares PM4 headers and bodies with dwords derived by hand from the packet formats.
#![allow(clippy::unwrap_used)]

use r500_chip::pm4::{
    Draw, FILLER, Header, IndexBuffer, MAX_BODY, Opcode, Type0, Type3, VertexArrays,
};
use r500_chip::values::{PrimType, PrimWalk};

#[test]
fn headers_encode_and_decode() {
    // 0x2090 / 4 = 0x824; two dwords: count 1.
    let write = Type0::write(0x2090, 2).unwrap();
    assert_eq!(write.bits(), 0x0001_0824);
    assert_eq!(Header::new(0x0001_0824), Header::Type0(write));
    assert_eq!(Header::new(0x0001_0824).body_len(), 2);
    assert_eq!([0, 1].map(|i| write.address(i)), [0x2090, 0x2094]);
    assert_eq!([0, 9].map(|i| write.with(Type0::ONE_REG_WR, true).address(i)), [0x2090; 2]);

    let nop = Type3::command(Opcode::NOP, 1).unwrap();
    assert_eq!(nop.bits(), 0xc000_1000);
    assert_eq!(Type3::command(Opcode::DRAW_VBUF_2, 1).unwrap().bits(), 0xc000_3400);
    assert_eq!(Header::new(0xc00b_3500).body_len(), 12);
    assert_eq!(Header::new(FILLER), Header::Type2(0x8000_0000));
    assert_eq!(Header::new(0x4000_0000).body_len(), 2);
    for bits in [0, 1, 0x4123_4567, 0x8000_0001, 0xffff_ffff, 0x3fff_ffff] {
        assert_eq!(Header::new(bits).bits(), bits);
    }
}

#[test]
fn headers_refuse_what_they_cannot_say() {
    assert_eq!(Type0::write(0x2091, 1), None, "unaligned");
    assert_eq!(Type0::write(0x8000, 1), None, "beyond 13 bits");
    assert_eq!(Type0::write(0x2090, 0), None, "nothing");
    assert_eq!(Type0::write(0x2090, MAX_BODY + 1), None, "too long");
    assert!(Type0::write(0x7ffc, MAX_BODY).is_some());
    assert_eq!(Type3::command(Opcode::NOP, 0), None);
    assert_eq!(Type3::command(Opcode::NOP, MAX_BODY + 1), None);
}

#[test]
fn vertex_arrays_are_read_in_pairs() {
    // Three arrays: sizes 4, 2 and 3 dwords, strides 6, 6 and 3, offsets 0x100, 0x110, 0x40.
    let body = [3, 0x0602_0604, 0x100, 0x110, 0x0303, 0x40];
    let arrays = VertexArrays::new(&body).unwrap();
    let read: Vec<_> = arrays.iter().map(|a| (a.size, a.stride, a.offset)).collect();
    assert_eq!(read, [(4, 6, 0x100), (2, 6, 0x110), (3, 3, 0x40)]);
    assert_eq!(arrays.len(), 3);
    assert!(VertexArrays::new(&body[..5]).is_none(), "too short");
    assert!(VertexArrays::new(&[]).is_none());
    assert!(VertexArrays::new(&[0]).unwrap().is_empty());
}

#[test]
fn draws_and_index_buffers_decode() {
    // Three vertices (3 << 16) in the packet (walk 3 << 4), a triangle list (4).
    let body = [0x0003_0034, 1, 2];
    let draw = Draw::new(Opcode::DRAW_IMMD_2, &body).unwrap();
    assert_eq!(draw.vf_cntl.prim_type(), PrimType::TRIANGLES);
    assert_eq!(draw.vf_cntl.prim_walk(), PrimWalk::VERTEX_DATA);
    assert_eq!(draw.vf_cntl.num_vertices(), 3);
    assert_eq!(draw.data, [1, 2]);
    assert!(Draw::new(Opcode::NOP, &body).is_none());
    assert!(Draw::new(Opcode::DRAW_VBUF_2, &[]).is_none());

    // Port VAP_PORT_IDX0 (0x2040 / 4 = 0x810), one register (bit 31).
    let buffer = IndexBuffer::new(&[0x8000_0810, 0x20, 6]).unwrap();
    assert_eq!((buffer.port.dst_port(), buffer.port.one_reg_wr()), (0x810, true));
    assert_eq!((buffer.offset, buffer.dwords), (0x20, 6));
    assert_eq!(IndexBuffer::new(&[0, 0]), None);
}
