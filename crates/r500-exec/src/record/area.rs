//! Area queries: execution counts of every pixel, and the first step at which a condition holds.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use super::{DrawSetup, Expr, LaneActivity, PixelGroup, Snapshot};
use crate::frame::{check_frame, pixels_in};
use crate::parallel::{fan_out, lock, task_count};
use crate::reference::Group;
use crate::{Draw, PixelRect, RunError};

/// Execution counts of the pixels of an area, row by row from the lowest, as in a [`Frame`](crate::Frame).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heatmap {
    /// The pixels.
    pub area: PixelRect,
    /// The counts of each pixel.
    pub activity: Vec<LaneActivity>,
    /// Groups that the instruction limit stopped; their counts up to there are included.
    pub stopped: u64,
}

/// The first step at which a condition holds, for each pixel of an area.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstHits {
    /// The pixels.
    pub area: PixelRect,
    /// The first position of each pixel's run at which the condition holds; row by row from the lowest.
    pub first: Vec<Option<u64>>,
    /// Groups that the instruction limit stopped; hits up to there are included.
    pub stopped: u64,
}

/// Counts the instructions that each pixel of an area executes, and those for which it is inactive while
/// others of its group execute.
///
/// # Errors
/// [`RunError`] for the area and the limits of memory and time. Exceeding the instruction limit is not an
/// error: see [`Heatmap::stopped`].
pub fn heatmap(setup: &DrawSetup, area: PixelRect) -> Result<Heatmap, RunError> {
    let (activity, stopped) = run_groups(setup, area, |group, out: &mut [LaneActivity]| {
        while !group.ended() {
            let readings = &setup.options.readings;
            let executing: Vec<bool> =
                group.state().lanes().iter().map(|lane| lane.executes(readings)).collect();
            group.step()?;
            for (activity, executes) in out.iter_mut().zip(executing) {
                activity.count(executes);
            }
        }
        Ok(())
    })?;
    Ok(Heatmap { area, activity, stopped })
}

/// Finds the first step at which a condition holds, for each pixel of an area.
///
/// # Errors
/// [`RunError`] for the area and the limits of memory and time. Exceeding the instruction limit is not an
/// error: see [`FirstHits::stopped`].
pub fn find_first(
    setup: &DrawSetup,
    area: PixelRect,
    condition: &Expr,
) -> Result<FirstHits, RunError> {
    let (first, stopped) = run_groups(setup, area, |group, out: &mut [Option<u64>]| {
        let mut machine = PixelGroup::of_lane(setup.clone(), group.state().rect(), 0);
        let mut position = 0;
        loop {
            for (lane, first) in out.iter_mut().enumerate().filter(|(_, first)| first.is_none()) {
                machine.set_lane(lane);
                let snapshot = Snapshot { machine: &machine, state: group.state(), position };
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
    /// Returns the pixel for which the condition holds after the fewest steps (the lowest, leftmost one of
    /// several) and that number of steps.
    #[must_use]
    pub fn earliest(&self) -> Option<([u32; 2], u64)> {
        let width = self.area.width as usize;
        let seen = self.first.iter().enumerate().filter_map(|(i, first)| Some((i, (*first)?)));
        // `min_by_key` returns the first of several minima.
        let (i, position) = seen.min_by_key(|(_, position)| *position)?;
        let pixel = [self.area.x + (i % width) as u32, self.area.y + (i / width) as u32];
        Some((pixel, position))
    }

    /// Returns the number of pixels for which the condition holds at some step.
    #[must_use]
    pub fn count(&self) -> usize {
        self.first.iter().flatten().count()
    }
}

/// Runs every group of an area; `run` receives a group and a value for each of its lanes. Returns the values
/// of the area's pixels, and the number of groups that exceeded the instruction limit.
fn run_groups<T: Clone + Default + Send>(
    setup: &DrawSetup,
    area: PixelRect,
    run: impl Fn(&mut Group<'_>, &mut [T]) -> Result<(), RunError> + Sync,
) -> Result<(Vec<T>, u64), RunError> {
    let bytes = size_of::<T>() as u64;
    let pixels = pixels_in(area, setup.bindings.size(), bytes, setup.options.limits.memory)?;
    check_frame(area, bytes)?;
    let draw = Draw::new(&setup.shader, &setup.bindings, &setup.options)?;
    let [width, height] = setup.options.group;
    let (left, top) = (area.x - area.x % width, area.y.saturating_add(area.height));
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
            let area_end = u64::from(area.x) + u64::from(area.width);
            while u64::from(x) < area_end {
                let mut group = Group::new(&draw, PixelRect { x, y, width, height });
                let mut values = vec![T::default(); group.state().lanes().len()];
                match run(&mut group, &mut values) {
                    Ok(()) => {}
                    Err(RunError::Instructions { .. }) => stopped += 1,
                    Err(error) => {
                        // Let no thread start another row.
                        next_row.store(u32::MAX / 2, Ordering::Relaxed);
                        return Err(error);
                    }
                }
                row.extend(group.state().lanes().iter().map(|lane| [lane.x, lane.y]).zip(values));
                let Some(next) = x.checked_add(width) else { break };
                x = next;
            }
            let mut shared = lock(&shared);
            for ([x, y], value) in row {
                if let Some(index) = area.index(x, y) {
                    shared.0[index] = value;
                }
            }
            shared.1 += stopped;
        }
    };
    let rows = (area.height / height + 2) as usize;
    let failure = Mutex::new(None);
    fan_out(task_count(setup.options.threads).clamp(1, rows), &|| {
        if let Err(error) = work() {
            lock(&failure).get_or_insert(error);
        }
    });
    if let Some(error) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    Ok(shared.into_inner().unwrap_or_else(PoisonError::into_inner))
}
