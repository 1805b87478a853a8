//! Several draws in one call.
#![allow(missing_docs, unsafe_code, clippy::unwrap_used)]

mod common;

use common::{colors, error};
use r500_c::*;

/// A colour from two constants.
const PROGRAM: &[u8] = b"OUT LAST src0.rgb = const[3], src1.rgb = const[4] : out[0].rgb = MAD src0.rgb src1.rgb src0.000 ;\n";

const SIDE: u32 = 5;
const BYTES: usize = (SIDE * SIDE * 4) as usize;

unsafe fn drawing() -> *mut Drawing {
    // SAFETY: memory of this file.
    unsafe {
        let program = r500_read(PROGRAM.as_ptr(), PROGRAM.len(), c"a.r5".as_ptr(), 0);
        assert!(!program.is_null(), "{:?}", error());
        let drawing = r500_prepare(program, SIDE, SIDE, c"fast".as_ptr());
        assert!(!drawing.is_null() && r500_program_free(program), "{:?}", error());
        drawing
    }
}

#[test]
fn a_batch_draws_what_single_calls_do() {
    let constants: Vec<[[f32; 4]; 2]> = (1..=6)
        .map(|n| [[n as f32 / 8.0, 0.5, 0.25, 1.0], [1.0, 0.5, n as f32 / 6.0, 1.0]])
        .collect();
    // SAFETY: pointers to memory of this function, of the sizes that it says.
    unsafe {
        let drawing = drawing();
        let mut single = vec![[0_u8; BYTES]; constants.len()];
        for (picture, constants) in single.iter_mut().zip(&constants) {
            assert!(r500_set_constants(drawing, 3, constants.as_ptr().cast(), 2), "{:?}", error());
            let surfaces = colors(picture, SIDE as usize);
            assert!(r500_draw(drawing, &raw const surfaces), "{:?}", error());
        }
        // (1/8 * 1, 1/2 * 1/2, 1/4 * 1/6) in bytes, rounded to nearest.
        assert_eq!(single[0][..3], [32, 64, 11]);
        let mut batched = vec![[0_u8; BYTES]; constants.len()];
        let draws: Vec<BatchDraw> = batched
            .iter_mut()
            .zip(&constants)
            .map(|(picture, constants)| BatchDraw {
                constants: constants.as_ptr().cast(),
                first: 3,
                count: 2,
                surfaces: colors(picture, SIDE as usize),
            })
            .collect();
        let mut drawn = usize::MAX;
        assert!(
            r500_draw_batch(drawing, draws.as_ptr(), draws.len(), &raw mut drawn),
            "{:?}",
            error()
        );
        assert_eq!(drawn, constants.len());
        assert!(batched == single);
        // Constants stay set. A batch may be empty, and `drawn` NULL.
        let mut again = [0_u8; BYTES];
        let last = BatchDraw {
            constants: std::ptr::null(),
            first: 0,
            count: 0,
            surfaces: colors(&mut again, SIDE as usize),
        };
        assert!(r500_draw_batch(drawing, &raw const last, 1, std::ptr::null_mut()));
        assert!(again == single[5]);
        assert!(r500_draw_batch(drawing, std::ptr::null(), 0, &raw mut drawn));
        assert_eq!(drawn, 0);
        assert!(r500_drawing_free(drawing));
    }
}

#[test]
fn a_batch_ends_at_its_first_error() {
    // SAFETY: as above.
    unsafe {
        let drawing = drawing();
        let values = [[0.5_f32; 4]; 2];
        let mut pictures = vec![[0_u8; BYTES]; 3];
        let mut draws: Vec<BatchDraw> = pictures
            .iter_mut()
            .map(|picture| BatchDraw {
                constants: values.as_ptr().cast(),
                first: 3,
                count: 2,
                surfaces: colors(picture, SIDE as usize),
            })
            .collect();
        draws[1].first = 255;
        let mut drawn = 7;
        assert!(!r500_draw_batch(drawing, draws.as_ptr(), draws.len(), &raw mut drawn));
        assert_eq!(drawn, 1);
        let (code, text) = error();
        assert_eq!(code, R500_ERROR_ARGUMENT);
        assert!(text.contains("2 constants from number 255 on"), "{text}");
        draws[1].surfaces.colors[0].size -= 1;
        draws[1].first = 3;
        assert!(!r500_draw_batch(drawing, draws.as_ptr(), draws.len(), &raw mut drawn));
        assert_eq!(drawn, 1);
        for first in [256, usize::MAX] {
            assert!(!r500_set_constants(drawing, first, values.as_ptr().cast(), 1));
        }
        assert!(!r500_set_constants(drawing, 0, values.as_ptr().cast(), usize::MAX));
        assert!(r500_set_constants(drawing, 256, values.as_ptr().cast(), 0));
        assert!(!r500_set_constants(drawing, 0, std::ptr::null(), 1));
        assert!(r500_drawing_free(drawing));
    }
}
