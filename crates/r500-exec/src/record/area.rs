//! Over an area: how much its pixels execute and wait, and where a condition becomes true first.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{DrawSetup, Expr, LaneActivity, Snapshot};
use crate::frame::pixels_in;
use crate::reference::Group;
use crate::{Draw, PixelRect, RunError};

/// What every pixel of an area does: row by row from its lowest, as in a [`Frame`](crate::Frame).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heatmap {
    /// The pixels.
    pub area: PixelRect,
    /// What each does.
    pub activity: Vec<LaneActivity>,
    /// Groups that a limit of instructions stopped; what they did until then is counted.
    pub stopped: u64,
}

/// Where a condition becomes true, pixel by pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstHits {
    /// The pixels.
    pub area: PixelRect,
    /// The first position of each pixel's run at which the condition holds; row by row from the lowest.
    pub first: Vec<Option<u64>>,
    /// Groups that a limit of instructions stopped; what was seen until then is here.
    pub stopped: u64,
}

/// What each pixel of an area executes, and how often it waits for others of its group.
///
/// # Errors
/// [`RunError`], of the area and the limits of memory and time. That of instructions is none: see
/// [`Heatmap::stopped`].
pub fn heatmap(setup: &DrawSetup, area: PixelRect) -> Result<Heatmap, RunError> {
    let (activity, stopped) = run_groups(setup, area, |group, out: &mut [LaneActivity]| {
        while !group.ended() {
            let readings = &setup.options.readings;
            let executing: Vec<bool> =
                group.lanes().iter().map(|lane| lane.executes(readings)).collect();
            group.step()?;
            for (activity, executes) in out.iter_mut().zip(executing) {
                activity.count(executes);
            }
        }
        Ok(())
    })?;
    Ok(Heatmap { area, activity, stopped })
}

/// Where each pixel of an area first makes a condition true.
///
/// # Errors
/// [`RunError`], of the area and the limits of memory and time. That of instructions is none: see
/// [`FirstHits::stopped`].
pub fn find_first(
    setup: &DrawSetup,
    area: PixelRect,
    condition: &Expr,
) -> Result<FirstHits, RunError> {
    let (first, stopped) = run_groups(setup, area, |group, out: &mut [Option<u64>]| {
        let mut position = 0;
        loop {
            for (lane, first) in out.iter_mut().enumerate().filter(|(_, first)| first.is_none()) {
                let snapshot = Snapshot { setup, state: group.state(), lane, position };
                if condition.holds(&snapshot) {
                    *first = Some(position as u64);
                }
            }
            if group.ended() || out.iter().all(Option::is_some) {
                return Ok(());
            }
            group.step()?;
            position += 1;
        }
    })?;
    Ok(FirstHits { area, first, stopped })
}

impl FirstHits {
    /// The pixel that makes the condition true after the fewest steps, the lowest and leftmost of
    /// several, and the position in its run.
    #[must_use]
    pub fn earliest(&self) -> Option<([u32; 2], u64)> {
        let width = self.area.width as usize;
        let seen = self.first.iter().enumerate().filter_map(|(i, first)| Some((i, (*first)?)));
        // The first of several minima.
        let (i, position) = seen.min_by_key(|(_, position)| *position)?;
        let pixel = [self.area.x + (i % width) as u32, self.area.y + (i / width) as u32];
        Some((pixel, position))
    }

    /// How many pixels make it true.
    #[must_use]
    pub fn count(&self) -> usize {
        self.first.iter().flatten().count()
    }
}

/// Runs every group of an area; `run` gets one and a value for each of its lanes. Gives the values of
/// the area's pixels, and how many groups ran into the limit of instructions.
fn run_groups<T: Clone + Default + Send>(
    setup: &DrawSetup,
    area: PixelRect,
    run: impl Fn(&mut Group<'_>, &mut [T]) -> Result<(), RunError> + Sync,
) -> Result<(Vec<T>, u64), RunError> {
    let bytes = size_of::<T>() as u64;
    let pixels = pixels_in(area, setup.bindings.size(), bytes, setup.options.limits.memory)?;
    let draw = Draw::new(&setup.shader, &setup.bindings, &setup.options)?;
    let [width, height] = setup.options.group;
    let (left, top) = (area.x - area.x % width, area.y + area.height);
    let next_row = AtomicU32::new(area.y / height);
    let shared = Mutex::new((vec![T::default(); pixels], 0u64));
    let work = || -> Result<(), RunError> {
        loop {
            let y = u64::from(next_row.fetch_add(1, Ordering::Relaxed)) * u64::from(height);
            let Ok(y) = u32::try_from(y) else { return Ok(()) };
            if y >= top {
                return Ok(());
            }
            let (mut row, mut stopped) = (Vec::new(), 0);
            let mut x = left;
            while x < area.x + area.width {
                let mut group = Group::new(&draw, PixelRect { x, y, width, height });
                let mut values = vec![T::default(); group.lanes().len()];
                match run(&mut group, &mut values) {
                    Ok(()) => {}
                    Err(RunError::Instructions { .. }) => stopped += 1,
                    Err(error) => {
                        // Nobody begins another row.
                        next_row.store(u32::MAX / 2, Ordering::Relaxed);
                        return Err(error);
                    }
                }
                row.extend(group.lanes().iter().map(|lane| [lane.x, lane.y]).zip(values));
                x += width;
            }
            let mut shared = shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            for ([x, y], value) in row {
                if let Some(index) = area.index(x, y) {
                    shared.0[index] = value;
                }
            }
            shared.1 += stopped;
        }
    };
    let rows = (area.height / height + 2) as usize;
    let threads = crate::engine::thread_count(setup.options.threads).clamp(1, rows);
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mine = work();
        others.into_iter().fold(mine, |result, other| {
            // A thread ends by itself: nothing in it panics.
            result.and(other.join().unwrap_or(Ok(())))
        })
    })?;
    Ok(shared.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}
