//! Expected contents of surfaces, stored pixel by pixel from a frame, and formats for them.

use r500_exec::output::color;
use r500_exec::{Frame, PixelRect};
use r500_isa::state::UsOutFmt;
use r500_isa::values::{OutFormat, OutSel};

/// The byte with which memory is filled before anything is stored.
pub(crate) const BACKGROUND: u8 = 0xa5;

/// Returns the memory of a surface with an area of a frame.
pub(crate) fn stored(frame: &Frame, area: PixelRect, format: UsOutFmt, pitch: usize) -> Vec<u8> {
    let size = color::bytes_per_pixel(format).unwrap();
    let length = pitch * (area.height as usize - 1) + area.width as usize * size;
    let mut bytes = vec![BACKGROUND; length];
    for (y, x) in (0..area.height).flat_map(|y| (0..area.width).map(move |x| (y, x))) {
        let at = (area.y + y) as usize * frame.width() as usize + (area.x + x) as usize;
        if !frame.coverage()[at] {
            continue;
        }
        let mut pixel = Vec::new();
        color::store(format, frame.color(0, area.x + x, area.y + y), &mut pixel);
        let at = y as usize * pitch + x as usize * size;
        bytes[at..at + size].copy_from_slice(&pixel);
    }
    bytes
}

/// Returns a format whose components select channels, red to alpha by 0 to 3, and are signed by their bits.
pub(crate) fn format(format: OutFormat, selects: [usize; 4], signs: u8) -> UsOutFmt {
    let [c0, c1, c2, c3] = selects.map(|n| [OutSel::R, OutSel::G, OutSel::B, OutSel::A][n]);
    UsOutFmt(0)
        .with(UsOutFmt::OUT_FMT, format)
        .with(UsOutFmt::C0_SEL, c0)
        .with(UsOutFmt::C1_SEL, c1)
        .with(UsOutFmt::C2_SEL, c2)
        .with(UsOutFmt::C3_SEL, c3)
        .with(UsOutFmt::OUT_SIGN, signs)
}
