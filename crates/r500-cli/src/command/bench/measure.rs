//! Timing: the time of pictures, and the processor's peak arithmetic rate.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use r500::exec::{
    ColorSurface, Draw, Drawing, Engine, Frame, PixelRect, RunError, RunInfo, Surfaces, draw_into,
};
use r500::fast::Simd;

/// Least number of pictures to draw, however long one takes.
const FRAMES: usize = 3;

/// What pictures are stored as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Output {
    /// A frame of floats, with coverage: 17 bytes a pixel and target
    Float,
    /// Target A in eight bits a channel: 4 bytes a pixel
    Rgba8,
}

/// Measured times of a program on an engine.
#[derive(Clone, Debug)]
pub(super) struct Times {
    /// The engine that drew.
    pub(super) run_info: RunInfo,
    /// Seconds to prepare the program.
    pub(super) prepare: f64,
    /// Seconds per picture: median and minimum.
    pub(super) median: f64,
    pub(super) best: f64,
    /// Pictures drawn.
    pub(super) frames: usize,
}

/// A ratio of median to minimum above which a measurement was disturbed.
pub(super) const TORN: f64 = 1.5;

impl Times {
    /// Returns whether other load disturbed the measurement.
    pub(super) fn was_interrupted(&self) -> bool {
        self.median > self.best * TORN
    }
}

/// Draws a picture repeatedly for the given time. Each preparation uses a new engine without cached state.
pub(super) fn measure(
    engine: &dyn Fn() -> Box<dyn Engine>,
    draw: &Draw<'_>,
    output: Output,
    time: Duration,
) -> Result<Times, RunError> {
    let mut prepare = Vec::new();
    let begin = Instant::now();
    // Preparation may take microseconds, and longer the first time: it gets a tenth of the time.
    while prepare.len() < FRAMES || begin.elapsed() < time / 10 && prepare.len() < 1_000 {
        let engine = engine();
        let start = Instant::now();
        black_box(engine.prepare(*draw));
        prepare.push(start.elapsed().as_secs_f64());
    }
    let engine = engine();
    let (run_info, mut seconds) = match output {
        Output::Float => {
            let prepared = engine.prepare(*draw);
            let mut frame = Frame::new(draw.shader, draw.bindings, draw.options)?;
            let seconds = repeat(time, || {
                draw_into(&*prepared, draw, &mut frame)?;
                black_box(&frame);
                Ok(())
            })?;
            (frame.run_info, seconds)
        }
        Output::Rgba8 => {
            let (shader, options) = (draw.shader.clone(), draw.options.clone());
            let mut drawing = Drawing::new(&*engine, shader, draw.bindings, options)?;
            let [width, height] = draw.bindings.size();
            let mut bytes = vec![0; width as usize * height as usize * 4];
            let area = PixelRect { x: 0, y: 0, width, height };
            let seconds = repeat(time, || {
                let surface = ColorSurface::rgba8(&mut bytes, width as usize * 4);
                drawing.draw_to(draw.bindings, &mut Surfaces::color(area, surface))?;
                black_box(&bytes);
                Ok(())
            })?;
            (drawing.run_info(), seconds)
        }
    };
    let frames = seconds.len();
    let (median_seconds, best) = median(&mut seconds);
    Ok(Times { run_info, prepare: median(&mut prepare).0, median: median_seconds, best, frames })
}

/// Draws pictures for the given time. Returns the seconds of each.
fn repeat(
    time: Duration,
    mut picture: impl FnMut() -> Result<(), RunError>,
) -> Result<Vec<f64>, RunError> {
    // Warm-up, not counted: memory pages are not mapped yet, and processors are idle.
    picture()?;
    let mut seconds = Vec::new();
    let begin = Instant::now();
    while seconds.len() < FRAMES || begin.elapsed() < time {
        let start = Instant::now();
        picture()?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    Ok(seconds)
}

/// Returns median and minimum of at least one value.
fn median(values: &mut [f64]) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let middle = values.get(values.len() / 2).copied().unwrap_or(f64::NAN);
    (middle, values.first().copied().unwrap_or(f64::NAN))
}

/// Iterations between two reads of the clock: about a tenth of a millisecond.
const ROUNDS: u32 = 20_000;

/// Returns the products and sums per second that the given number of threads achieves, the best of several
/// measurements.
pub(super) fn peak(simd: Simd, threads: usize, time: Duration) -> f64 {
    let ready = Barrier::new(threads);
    let alone = || {
        ready.wait();
        let (mut best, begin) = (0.0f64, Instant::now());
        while best == 0.0 || begin.elapsed() < time {
            let start = Instant::now();
            let done: u64 = (0..10).map(|_| simd.multiply_add(ROUNDS)).sum();
            best = best.max(done as f64 / start.elapsed().as_secs_f64());
        }
        best
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(alone)).collect();
        let mine = alone();
        mine + others.into_iter().map(|other| other.join().unwrap_or(0.0)).sum::<f64>()
    })
}

/// Returns the geometric mean.
pub(super) fn geometric(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), x| (sum + x.ln(), count + 1));
    (sum / f64::from(count)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_what_was_measured() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), (2.0, 1.0));
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), (3.0, 1.0));
    }
}
