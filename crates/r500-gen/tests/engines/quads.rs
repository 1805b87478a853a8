//! The pixels of a picture as quads, group by group: the results are those of the picture.

use std::ops::Range;

use r500_exec::{
    Bindings, Counters, Engine, Frame, Options, QuadDrawing, QuadPixels, QuadStream, Shader,
};

/// Draws the quads of a picture and compares them with its frame. Returns the first difference; none if the options have something that quads do
/// not have: an area, poison, other groups.
pub(crate) fn difference(
    engine: &dyn Engine,
    draws: &[&str],
    shader: &Shader,
    bindings: &Bindings,
    options: &Options<'_>,
    wanted: &Frame,
) -> Option<String> {
    if options.area.is_some() || options.poison || options.group != Options::default().group {
        return None;
    }
    let temps = bindings.inputs().iter().map(|input| input.temp);
    let drawing =
        QuadDrawing::new(engine, shader.clone(), bindings.clone(), temps, options.readings)
            .unwrap();
    let mut stream =
        Picture { bindings, wanted, places: places(wanted), part: 0..0, stored: 0, found: None };
    let count = stream.places.len();
    let stats = match drawing.draw(options.limits, count, &mut stream) {
        Ok(stats) => stats,
        Err(error) => return Some(error.to_string()),
    };
    let ran = drawing.run_info();
    // Quads have a mask, with which the size of the group may show where it does not in a picture.
    let reason = ran.fallback_reason.clone().unwrap_or_default();
    let expected = super::FALLBACKS.iter().any(|start| reason.starts_with(start));
    let drawn: Vec<_> = draws.iter().map(|engine| ran.drawn_by(engine)).collect();
    if !expected && drawn.iter().all(Result::is_err) {
        return drawn.into_iter().find_map(Result::err).map(|error| error.to_string());
    }
    if stream.found.is_none() && stream.stored != count {
        return Some(format!("{} of {count} quads were stored", stream.stored));
    }
    let Counters { stat, killed, .. } = stats.counters;
    let other = wanted.counters;
    let counts = (stat, killed) != (other.stat, other.killed);
    let counts = counts.then(|| format!("stat {stat:?}, killed {killed}, wanted {other:?}"));
    stream.found.or(counts)
}

/// Returns the quads of the groups of a picture, also of those that reach beyond it.
fn places(frame: &Frame) -> Vec<[u32; 2]> {
    let groups = (0..frame.height())
        .step_by(4)
        .flat_map(|y| (0..frame.width()).step_by(4).map(move |x| [x, y]));
    groups.flat_map(|[x, y]| [[x, y], [x + 2, y], [x, y + 2], [x + 2, y + 2]]).collect()
}

struct Picture<'a> {
    bindings: &'a Bindings,
    wanted: &'a Frame,
    places: Vec<[u32; 2]>,
    part: Range<usize>,
    stored: usize,
    found: Option<String>,
}

impl Picture<'_> {
    /// Returns the pixels of the current quads.
    fn pixels(&self) -> impl Iterator<Item = [u32; 2]> + '_ {
        let quads = self.places[self.part.clone()].iter();
        quads.flat_map(|[x, y]| [0, 1, 2, 3].map(|corner| [x + corner % 2, y + corner / 2]))
    }
}

impl QuadStream for Picture<'_> {
    fn begin(&mut self, quads: Range<usize>, covered: &mut [f32]) {
        assert_eq!(quads.start, self.stored, "one range after the other");
        assert_eq!(covered.len(), 4 * quads.len());
        self.part = quads;
        for (covered, [x, y]) in covered.iter_mut().zip(self.pixels()) {
            *covered = f32::from_bits(if self.bindings.covers(x, y) { !0 } else { 0 });
        }
    }

    fn load(&mut self, temp: u8, channel: u8, lanes: &mut [f32]) {
        assert_eq!(lanes.len(), 4 * self.part.len());
        let mut inputs = self.bindings.inputs().iter();
        let input = inputs.find(|input| input.temp == temp).unwrap();
        for (lane, [x, y]) in lanes.iter_mut().zip(self.pixels()) {
            *lane = self.bindings.input(input, x, y)[usize::from(channel)];
        }
    }

    fn store(&mut self, pixels: &QuadPixels<'_>) {
        self.stored += self.part.len();
        let frame = self.wanted;
        let mut found = self.found.take();
        for (lane, [x, y]) in self.pixels().enumerate() {
            if x >= frame.width() || y >= frame.height() {
                if pixels.is_alive(lane) {
                    found.get_or_insert(format!("{x},{y} is alive, outside of the picture"));
                }
                continue;
            }
            let at = (y * frame.width() + x) as usize;
            let alive = pixels.is_alive(lane);
            if alive != frame.coverage()[at] {
                found.get_or_insert(format!("{x},{y}: alive {alive}"));
            }
            if !alive {
                continue;
            }
            for target in 0..4 {
                let (got, wanted) = (pixels.color(target, lane), frame.color(target, x, y));
                if got.map(f32::to_bits) != wanted.map(f32::to_bits) {
                    found.get_or_insert(format!(
                        "{x},{y}: target {target}: {got:?}, wanted {wanted:?}"
                    ));
                }
            }
            let depth = frame.depth().map_or(0.0, |depth| depth[at]);
            if pixels.depth(lane).to_bits() != depth.to_bits() {
                found.get_or_insert(format!(
                    "{x},{y}: depth {:?}, wanted {depth:?}",
                    pixels.depth(lane)
                ));
            }
        }
        self.found = found;
    }
}
