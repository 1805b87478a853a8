//! Sizes that a caller states are not allocated.
#![allow(missing_docs, unsafe_code, clippy::unwrap_used)]

mod common;

use r500_c::*;

#[test]
fn coverage_takes_what_the_picture_needs() {
    let source = c"OUT LAST : out[0].rgb = MAX src0.111 src0.111 ;\n";
    let error = || common::error().1;
    // SAFETY: pointers to memory of this function, of the sizes that the picture needs.
    unsafe {
        let bytes = source.to_bytes();
        let program = r500_read(bytes.as_ptr(), bytes.len(), c"a.r5".as_ptr(), 0);
        assert!(!program.is_null(), "{}", error());
        let drawing = r500_prepare(program, 4, 4, c"reference".as_ptr());
        assert!(!drawing.is_null(), "{}", error());
        let mut coverage = [0_u8; 16];
        let none = Surface { format: 0, bytes: std::ptr::null_mut(), size: 0, pitch: 0 };
        let mut surfaces = Surfaces {
            x: 0,
            y: 0,
            width: 0,
            height: 0,
            colors: [none; 4],
            depth: std::ptr::null_mut(),
            depth_size: 0,
            depth_pitch: 0,
            coverage: coverage.as_mut_ptr(),
            coverage_size: usize::MAX,
            coverage_pitch: 4,
        };
        assert!(r500_draw(drawing, &raw const surfaces), "{}", error());
        assert_eq!(coverage, [1; 16]);
        // More than the address space has.
        surfaces.coverage_pitch = usize::MAX / 2;
        assert!(!r500_draw(drawing, &raw const surfaces));
        assert!(error().contains("cannot be allocated"), "{}", error());
        r500_drawing_free(drawing);
        r500_program_free(program);
    }
}
