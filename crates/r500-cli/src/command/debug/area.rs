//! Area queries in the background, with their progress and cancellation.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use r500::exec::record::area::{self, FirstHits, Heatmap};
use r500::exec::record::{DrawSetup, Expr, LaneActivity};
use r500::exec::{Cancel, PixelRect, RunError};

/// The quantity of a heat map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::command) enum Measure {
    Executed,
    Waited,
}

impl Measure {
    /// Returns the quantity of a pixel.
    pub(super) fn of(self, work: &LaneActivity) -> u64 {
        match self {
            Self::Executed => work.executed,
            Self::Waited => work.waited,
        }
    }
}

/// An area query.
#[derive(Clone)]
pub(super) enum AreaQuery {
    /// Instructions executed or waited, per pixel.
    Heat(Measure),
    /// Where a condition first becomes true, and its text.
    Sight(Expr, String),
}

/// The result of an area query.
pub(in crate::command) enum Found {
    Heat(Heatmap, Measure),
    Sight(FirstHits, String),
}

/// An area query on a background thread, in stripes of rows.
pub(in crate::command) struct BackgroundQuery {
    found: Found,
    parts: Receiver<Result<Part, RunError>>,
    cancel: &'static Cancel,
}

enum Part {
    Heat(Heatmap),
    Sight(FirstHits),
}

impl BackgroundQuery {
    /// Starts a query.
    pub(super) fn new(
        scene: &DrawSetup,
        area: PixelRect,
        question: AreaQuery,
    ) -> Result<Self, String> {
        let [width, height] = scene.bindings.size();
        let inside = |from: u32, size: u32, all: u32| {
            size > 0 && from.checked_add(size).is_some_and(|end| end <= all)
        };
        if !inside(area.x, area.width, width) || !inside(area.y, area.height, height) {
            return Err(RunError::AreaOutside { area, width, height }.to_string());
        }
        // The draw setup refers to data that outlives it; one leaked byte a query is acceptable.
        let cancel: &'static Cancel = Box::leak(Box::default());
        let mut scene = scene.clone();
        scene.options.cancel = Some(cancel);
        let (send, parts) = channel();
        let found = match &question {
            AreaQuery::Heat(measure) => {
                Found::Heat(Heatmap { area, activity: Vec::new(), stopped: 0 }, *measure)
            }
            AreaQuery::Sight(_, written) => {
                let none = FirstHits { area, first: Vec::new(), stopped: 0 };
                Found::Sight(none, written.clone())
            }
        };
        std::thread::spawn(move || {
            for rows in stripes(area, scene.options.group[1]) {
                let part = match &question {
                    AreaQuery::Heat(_) => area::heatmap(&scene, rows).map(Part::Heat),
                    AreaQuery::Sight(condition, _) => {
                        area::find_first(&scene, rows, condition).map(Part::Sight)
                    }
                };
                let failed = part.is_err();
                if send.send(part).is_err() || failed {
                    return;
                }
            }
        });
        Ok(Self { found, parts, cancel })
    }

    /// Waits up to `patience` for progress. Returns the result when the query is complete.
    pub(super) fn wait(&mut self, patience: Duration) -> Option<Result<Found, String>> {
        let until = Instant::now() + patience;
        loop {
            match self.parts.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Ok(part)) => self.take(part),
                Ok(Err(RunError::Cancelled)) => {
                    let share = self.share() * 100.0;
                    return Some(Err(format!("stopped, {share:.0}% of the pixels were asked")));
                }
                Ok(Err(error)) => return Some(Err(error.to_string())),
                Err(RecvTimeoutError::Timeout) => return None,
                // All rows have arrived.
                Err(RecvTimeoutError::Disconnected) => {
                    let empty = Heatmap { area: self.area(), activity: Vec::new(), stopped: 0 };
                    let none = Found::Heat(empty, Measure::Executed);
                    return Some(Ok(std::mem::replace(&mut self.found, none)));
                }
            }
        }
    }

    /// Requests cancellation.
    pub(super) fn stop(&self) {
        self.cancel.cancel();
    }

    /// Returns the completed share, 0 to 1.
    pub(super) fn share(&self) -> f64 {
        let area = self.area();
        let known = match &self.found {
            Found::Heat(heat, _) => heat.activity.len(),
            Found::Sight(seen, _) => seen.first.len(),
        };
        known as f64 / (f64::from(area.width) * f64::from(area.height)).max(1.0)
    }

    fn area(&self) -> PixelRect {
        match &self.found {
            Found::Heat(heat, _) => heat.area,
            Found::Sight(seen, _) => seen.area,
        }
    }

    /// Stores rows, which arrive from the bottom.
    fn take(&mut self, part: Part) {
        match (&mut self.found, part) {
            (Found::Heat(all, _), Part::Heat(part)) => {
                all.activity.extend(part.activity);
                all.stopped += part.stopped;
            }
            (Found::Sight(all, _), Part::Sight(part)) => {
                all.first.extend(part.first);
                all.stopped += part.stopped;
            }
            // A query has one kind of result.
            _ => {}
        }
    }
}

impl Drop for BackgroundQuery {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Splits an area into stripes that do not split groups of pixels: enough rows for all threads, few enough for visible
/// progress.
fn stripes(area: PixelRect, group: u32) -> impl Iterator<Item = PixelRect> {
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let rows = group * u32::try_from(threads).unwrap_or(1).clamp(1, 16);
    let top = area.y + area.height;
    let mut y = area.y;
    std::iter::from_fn(move || {
        let below = y;
        y = top.min((y / rows + 1) * rows);
        (below < y).then_some(PixelRect { y: below, height: y - below, ..area })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stripes_cover_the_area_and_cut_no_group() {
        for (y, height, group) in [(0, 64, 4), (3, 50, 4), (5, 1, 2), (0, 1000, 6)] {
            let area = PixelRect { x: 1, y, width: 7, height };
            let all: Vec<PixelRect> = stripes(area, group).collect();
            let mut next = y;
            for stripe in &all {
                assert_eq!((stripe.x, stripe.y, stripe.width), (1, next, 7));
                assert!(stripe.y == y || stripe.y % group == 0);
                next += stripe.height;
            }
            assert_eq!(next, y + height);
        }
    }
}
