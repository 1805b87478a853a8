//! The overlay: text in the upper left corner of a frame that is shown.

use std::convert::Infallible;

use embedded_graphics::Pixel;
use embedded_graphics::draw_target::DrawTarget;
use embedded_graphics::geometry::{OriginDimensions, Point, Size};
use embedded_graphics::mono_font::ascii::{FONT_6X10, FONT_9X15};
use embedded_graphics::mono_font::{MonoFont, MonoTextStyleBuilder};
use embedded_graphics::pixelcolor::{Rgb888, RgbColor};
use embedded_graphics::primitives::{Primitive, PrimitiveStyle, Rectangle};
use embedded_graphics::text::{Baseline, Text};
use embedded_graphics::{Drawable, geometry::Dimensions};

/// Pixels between the border of the frame, the background and the text.
const MARGIN: i32 = 4;

/// Frames with more rows have the larger font.
const SMALL: u32 = 400;

/// Draws text on black into a frame of 8-bit red, green and blue, in rows from the top.
pub(crate) fn draw(text: &str, [width, height]: [u32; 2], rgb: &mut [u8]) {
    let font: &MonoFont<'_> = if height > SMALL { &FONT_9X15 } else { &FONT_6X10 };
    let style = MonoTextStyleBuilder::new().font(font).text_color(Rgb888::WHITE).build();
    let corner = Point::new(2 * MARGIN, 2 * MARGIN);
    let text = Text::with_baseline(text.trim_end(), corner, style, Baseline::Top);
    let mut frame = FrameTarget { size: Size::new(width, height), rgb };
    let background = text.bounding_box().offset(MARGIN);
    let (Ok(()), Ok(_)) = (
        Rectangle::new(background.top_left, background.size)
            .into_styled(PrimitiveStyle::with_fill(Rgb888::BLACK))
            .draw(&mut frame),
        text.draw(&mut frame),
    );
}

/// A frame to draw into; what is outside of it is not drawn.
struct FrameTarget<'a> {
    size: Size,
    rgb: &'a mut [u8],
}

impl OriginDimensions for FrameTarget<'_> {
    fn size(&self) -> Size {
        self.size
    }
}

impl DrawTarget for FrameTarget<'_> {
    type Color = Rgb888;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<Rgb888>>>(
        &mut self,
        pixels: I,
    ) -> Result<(), Infallible> {
        let Size { width, height } = self.size;
        for Pixel(Point { x, y }, color) in pixels {
            let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y)) else { continue };
            if x >= width || y >= height {
                continue;
            }
            let at = (y as usize * width as usize + x as usize) * 3;
            if let Some(pixel) = self.rgb.get_mut(at..at + 3) {
                pixel.copy_from_slice(&[color.r(), color.g(), color.b()]);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(text: &str, [width, height]: [u32; 2]) -> Vec<u8> {
        let mut rgb = vec![0x40; (width * height * 3) as usize];
        draw(text, [width, height], &mut rgb);
        rgb
    }

    /// The letter is known from its shape: `l` of this font is a column with serifs, `-` one row.
    #[test]
    fn text_is_white_on_black_and_the_rest_stays() {
        let [width, height] = [64, 40];
        let rgb = drawn("-", [width, height]);
        let of = |color: u8| {
            let places = (0..width * height).filter(|n| rgb[*n as usize * 3] == color);
            places.map(|n| [n % width, n / width]).collect::<Vec<_>>()
        };
        let white = of(0xff);
        assert!((3..=6).contains(&white.len()), "{white:?}");
        assert!(white.iter().all(|[_, y]| *y == white[0][1]), "a hyphen is one row: {white:?}");
        // The cell of 6x10 pixels with the margin around it.
        let black = of(0).len() + white.len();
        assert_eq!(black, (6 + 8) * (10 + 8));
        assert_eq!(of(0x40).len() + black, (width * height) as usize);
        assert_ne!(drawn("1.0", [64, 40]), drawn("2.0", [64, 40]));
    }

    #[test]
    fn frames_smaller_than_the_text_are_not_left() {
        for size in [[1, 1], [3, 200], [200, 3], [17, 9]] {
            let rgb = drawn("1234567890\n1234567890", size);
            assert_eq!(rgb.len(), (size[0] * size[1] * 3) as usize);
        }
    }
}
