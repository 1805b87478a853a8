//! Specialisation history: which program constants are folded into the code of a program.
//!
//! Code with the values of constants folded is the best code, but holds for these values alone. A constant that changes
//! from draw to draw becomes a [uniform](r500_ir::Uniform) before the program is lifted again, and no value of it
//! changes the code any more, as long as it has the signs and kinds of number (zero, NaN, denormal) that were seen: the
//! lift may rely on these. A range that does not hold is widened, which happens a few times at most.

use std::collections::HashMap;
use std::sync::Arc;

use r500_exec::Draw;
use r500_ir::{ConstantChannel, SymbolicConstants};

use crate::cache_key::CacheKey;
use crate::progress::Progress;

/// What was drawn, by program.
#[derive(Debug, Default)]
pub(crate) struct SpecializationHistory {
    programs: HashMap<CacheKey, ConstantHistory>,
    /// The number of draws so far.
    now: u64,
}

/// The constants of a program's draws.
#[derive(Debug)]
struct ConstantHistory {
    /// The last value of each channel of the constants, in the order of [`ConstantChannel::all`].
    last: Vec<f32>,
    symbolic: SymbolicConstants,
    /// The draw that used it last.
    used: u64,
    progress: Arc<Progress>,
}

/// The number of programs that are remembered.
const MAX_PROGRAMS: usize = 64;

impl SpecializationHistory {
    /// Adds a draw; returns the constants that its function leaves symbolic, and how much the program's draws did so far.
    pub(crate) fn add(&mut self, draw: &Draw<'_>) -> (SymbolicConstants, Arc<Progress>) {
        let now: Vec<f32> =
            ConstantChannel::all().map(|source| source.value(draw.bindings)).collect();
        self.now += 1;
        let used = self.now;
        let key = CacheKey::of_program(draw.shader);
        if self.programs.len() >= MAX_PROGRAMS && !self.programs.contains_key(&key) {
            self.evict();
        }
        let history = self.programs.entry(key).or_insert_with(|| ConstantHistory {
            last: now.clone(),
            symbolic: SymbolicConstants::none(),
            used,
            progress: Arc::default(),
        });
        history.used = used;
        history.add(now);
        (history.symbolic.clone(), Arc::clone(&history.progress))
    }

    /// Forgets the program that was not drawn for longest.
    fn evict(&mut self) {
        let oldest = self.programs.iter().min_by_key(|(_, history)| history.used);
        if let Some(key) = oldest.map(|(key, _)| key.clone()) {
            self.programs.remove(&key);
        }
    }
}

impl ConstantHistory {
    /// Adds the values of a draw. Those that differ from the last ones are symbolic from now on.
    fn add(&mut self, values: Vec<f32>) {
        for ((source, last), now) in ConstantChannel::all().zip(&self.last).zip(&values) {
            self.symbolic.widen(source, *last, *now);
        }
        self.last = values;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use r500_ir::Range;

    fn history(values: &[f32]) -> ConstantHistory {
        let mut last = vec![0.0; ConstantChannel::all().count()];
        last[0] = values[0];
        let symbolic = SymbolicConstants::none();
        let mut history =
            ConstantHistory { last: last.clone(), symbolic, used: 0, progress: Arc::default() };
        for x in values {
            last[0] = *x;
            history.add(last.clone());
        }
        history
    }

    const FIRST: ConstantChannel = ConstantChannel { constant: 0, channel: 0 };

    #[test]
    fn constants_that_stay_are_specialised() {
        assert_eq!(history(&[1.5, 1.5, 1.5]).symbolic, SymbolicConstants::none());
    }

    #[test]
    fn ranges_of_changing_constants_hold_for_the_values_seen_and_settle() {
        let range = history(&[0.3, 0.37]).symbolic.range(FIRST).expect("it changed");
        assert!(range.lo > 0.0 && range.contains(Range::of(1e30)), "{range:?}");
        let sequence =
            [0.3, 0.37, -2.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -0.0, 1e-40, 5.0, -1e-41];
        for n in 1..sequence.len() {
            let range = history(&sequence[..=n]).symbolic.range(FIRST).expect("it changed");
            for x in &sequence[..=n] {
                assert!(range.contains(Range::of(*x)), "{x} in {range:?}");
            }
        }
        assert_eq!(history(&sequence).symbolic.range(FIRST), Some(Range::ANY));
    }
}
