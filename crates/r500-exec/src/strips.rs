//! Strip mining: a picture is drawn strip by strip, with only one strip in memory at a time.
//!
//! Strips begin and end at band boundaries, so the pixels, warnings and counters are those of the picture drawn at once.

use std::time::Instant;

use crate::frame::{bytes_per_pixel, check_frame, pixels_in};
use crate::{
    BandStats, Bindings, Draw, Drawing, Frame, Options, PixelRect, PreparedDraw, RunError, RunInfo,
    Shader, draw_into,
};

/// The order of strips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StripOrder {
    /// From the strip at y = 0, the order of texels in files.
    FromBottom,
    /// From the strip at the greatest y, the order of pictures in files.
    FromTop,
}

/// The strips of a picture, drawn in order. [`Drawing::strips`] returns them.
pub struct Strips<'d> {
    prepared: &'d dyn PreparedDraw,
    shader: &'d Shader,
    bindings: &'d Bindings,
    options: Options<'d>,
    deadline: Option<Instant>,
    order: StripOrder,
    /// Rows of a strip, a multiple of the rows of a band.
    rows: u32,
    area: PixelRect,
    /// The rectangle of the remaining strips.
    rest: PixelRect,
    stats: BandStats,
    failed: bool,
}

impl<'d> Strips<'d> {
    pub(crate) fn new(
        prepared: &'d dyn PreparedDraw,
        draw: Draw<'d>,
        rows: u32,
        order: StripOrder,
    ) -> Result<Self, RunError> {
        let Draw { shader, bindings, options, .. } = draw;
        let [width, height] = bindings.size();
        let area = options.area.unwrap_or(PixelRect { x: 0, y: 0, width, height });
        let bytes = bytes_per_pixel(shader);
        pixels_in(area, [width, height], bytes, options.limits.memory)?;
        let band = prepared.band_rows().max(2);
        let rows = rows.max(1).checked_next_multiple_of(band).unwrap_or(band);
        check_frame(PixelRect { height: rows.min(area.height), ..area }, bytes)?;
        Ok(Self {
            prepared,
            shader,
            bindings,
            options: options.clone(),
            deadline: draw.deadline(),
            order,
            rows,
            area,
            rest: area,
            stats: BandStats::default(),
            failed: false,
        })
    }

    /// Returns the part of the picture that all strips cover together.
    #[must_use]
    pub fn area(&self) -> PixelRect {
        self.area
    }

    /// Returns warnings and counters of the strips drawn so far.
    #[must_use]
    pub fn stats(&self) -> &BandStats {
        &self.stats
    }

    /// Returns which engine draws.
    #[must_use]
    pub fn run_info(&self) -> RunInfo {
        self.prepared.run_info()
    }

    /// Draws the next strip into a frame, whose memory is reused, or into a new one. `None` after the last strip. After an
    /// error the frame holds the part of the strip that was drawn, and later strips are empty.
    ///
    /// # Errors
    /// [`RunError`] if a limit is exceeded.
    pub fn draw_next(&mut self, frame: Option<Frame>) -> Option<(Frame, Result<(), RunError>)> {
        let area = match self.order {
            StripOrder::FromBottom => self.rest.take_rows(self.rows),
            StripOrder::FromTop => self.rest.take_top_rows(self.rows),
        }?;
        let mut frame = match frame {
            Some(mut frame) => {
                frame.clear_to(area);
                frame
            }
            None => Frame::of_area(self.shader, area),
        };
        let result = if self.failed { Ok(()) } else { self.draw(area, &mut frame) };
        self.failed |= result.is_err();
        Some((frame, result))
    }

    fn draw(&mut self, area: PixelRect, frame: &mut Frame) -> Result<(), RunError> {
        let options = Options { area: Some(area), ..self.options.clone() };
        let draw = Draw::new(self.shader, self.bindings, &options)?.until(self.deadline);
        draw_into(self.prepared, &draw, frame)?;
        self.stats.warnings.merge(&frame.warnings);
        self.stats.counters.merge(&frame.counters);
        Ok(())
    }
}

impl Drawing<'_> {
    /// Returns the strips of the picture, or of [`Options::area`], each of `rows` rows, rounded up to whole bands. The time
    /// limit counts from here and applies to all strips together, the memory limit to the whole picture.
    ///
    /// ```
    /// # use r500_exec::{Bindings, Drawing, Options, Shader, StripOrder, reference::Reference};
    /// # use r500_isa::Instruction;
    /// # use r500_program::{Job, Program};
    /// # let code = vec![Instruction([0x78101, 0, 0x80, 0x00db_0220, 0x00c1_8003, 0x0049_0000])];
    /// # let job = Job::from_program(Program::from_code(code));
    /// # let bindings = Bindings::new(&job, [64, 64])?;
    /// let mut drawing = Drawing::new(&Reference, Shader::new(&job.program)?, &bindings, Options::default())?;
    /// let mut strips = drawing.strips(&bindings, 16, StripOrder::FromTop)?;
    /// let (mut memory, mut rows) = (None, 0);
    /// while let Some((strip, drawn)) = strips.draw_next(memory.take()) {
    ///     drawn?;
    ///     rows += strip.height();
    ///     memory = Some(strip);
    /// }
    /// assert_eq!(rows, 64);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RunError`] if the picture is empty or too large.
    pub fn strips<'d>(
        &'d mut self,
        bindings: &'d Bindings,
        rows: u32,
        order: StripOrder,
    ) -> Result<Strips<'d>, RunError> {
        let (prepared, draw) = self.prepared_draw(bindings)?;
        Strips::new(prepared, draw, rows, order)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use r500_isa::Instruction;
    use r500_program::{Job, Program};

    use super::*;
    use crate::draw;
    use crate::reference::Reference;

    /// Returns a job that copies temp[0], which holds the position.
    fn job() -> Job {
        let code = vec![Instruction([0x78101, 0, 0x80, 0x00db_0220, 0x00c1_8003, 0x0049_0000])];
        Job::from_program(Program::from_code(code))
    }

    #[test]
    fn strips_put_together_are_the_picture() {
        let job = job();
        let shader = Shader::new(&job.program).unwrap();
        let bindings = Bindings::new(&job, [10, 33]).unwrap();
        for area in [None, Some(PixelRect { x: 3, y: 5, width: 6, height: 21 })] {
            let options = Options { area, ..Options::default() };
            let whole = draw(&Reference, &shader, &bindings, &options).unwrap();
            for order in [StripOrder::FromBottom, StripOrder::FromTop] {
                let shader = Shader::new(&job.program).unwrap();
                let mut drawing =
                    Drawing::new(&Reference, shader, &bindings, options.clone()).unwrap();
                let mut strips = drawing.strips(&bindings, 5, order).unwrap();
                let (mut memory, mut parts) = (None, Vec::new());
                while let Some((strip, drawn)) = strips.draw_next(memory.take()) {
                    drawn.unwrap();
                    parts.push(strip.target(0).unwrap().to_vec());
                    assert_eq!(strip.area().width, whole.width());
                    memory = Some(strip);
                }
                assert!(parts.len() > 2);
                assert_eq!(strips.stats().counters, whole.counters);
                if order == StripOrder::FromTop {
                    parts.reverse();
                }
                assert_eq!(parts.concat(), whole.target(0).unwrap());
            }
        }
    }

    #[test]
    fn after_an_error_strips_are_empty() {
        let job = job();
        let shader = Shader::new(&job.program).unwrap();
        let bindings = Bindings::new(&job, [4, 16]).unwrap();
        let mut options = Options::default();
        options.limits.time = Some(std::time::Duration::ZERO);
        let mut drawing = Drawing::new(&Reference, shader, &bindings, options).unwrap();
        let mut strips = drawing.strips(&bindings, 4, StripOrder::FromBottom).unwrap();
        let (strip, drawn) = strips.draw_next(None).unwrap();
        assert!(matches!(drawn, Err(RunError::Time { .. })));
        let (strip, drawn) = strips.draw_next(Some(strip)).unwrap();
        assert_eq!(drawn, Ok(()));
        assert_eq!(strip.area().y, 4);
        assert!(strip.coverage().iter().all(|covered| !covered));
    }

    #[test]
    fn the_memory_limit_holds_for_the_whole_picture() {
        let job = job();
        let bindings = Bindings::new(&job, [64, 64]).unwrap();
        let mut options = Options::default();
        options.limits.memory = 64 * 64 * 17 - 1;
        options.group = [2, 2];
        let shader = Shader::new(&job.program).unwrap();
        let mut drawing = Drawing::new(&Reference, shader, &bindings, options).unwrap();
        let strips = drawing.strips(&bindings, 4, StripOrder::FromBottom);
        assert!(matches!(strips.err(), Some(RunError::TooLarge { .. })));
    }
}
