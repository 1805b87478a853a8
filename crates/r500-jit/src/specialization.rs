//! Specialisation history: which program constants are folded into the code of a program.
//!
//! Folding constants gives the best code, but that code holds for these values only. A constant that changes between draws becomes a
//! [uniform](r500_ir::Uniform) before the program is lifted again. From then on its values do not change the code, as long as they have the
//! signs and classes (zero, NaN, subnormal) that were seen: the lift may rely on these. A range that no longer holds is widened, which
//! happens a few times at most.

use std::collections::HashMap;
use std::sync::Arc;

use r500_exec::Draw;
use r500_ir::ConstantChannel;
use r500_lift::{AnalysisCache, SymbolicConstants};

use crate::cache_key::CacheKey;
use crate::progress::Progress;

/// The specialisation history of all programs.
#[derive(Debug, Default)]
pub(crate) struct SpecializationHistory {
    programs: HashMap<CacheKey, ConstantHistory>,
    /// The number of draws so far.
    now: u64,
}

/// The constants of a program's draws, its analysis, and its use.
#[derive(Debug)]
struct ConstantHistory {
    /// The last value of each constant channel, in the order of [`ConstantChannel::all`].
    last: Vec<f32>,
    symbolic: SymbolicConstants,
    /// The number of the last draw of the program.
    used: u64,
    progress: Arc<Progress>,
    analysis: Arc<AnalysisCache>,
}

/// What the history holds of the program of a draw.
pub(crate) struct ProgramHistory {
    /// The constants that the function of the draw leaves symbolic.
    pub(crate) symbolic: SymbolicConstants,
    /// The progress of the program's draws.
    pub(crate) progress: Arc<Progress>,
    /// The analysis of the program.
    pub(crate) analysis: Arc<AnalysisCache>,
}

/// The maximum number of programs in the history.
const MAX_PROGRAMS: usize = 64;

impl SpecializationHistory {
    /// Adds a draw.
    pub(crate) fn add(&mut self, draw: &Draw<'_>) -> ProgramHistory {
        let constants = draw.bindings.constants();
        let now: Vec<f32> = ConstantChannel::all().map(|source| source.value(constants)).collect();
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
            analysis: Arc::default(),
        });
        history.used = used;
        history.add(now);
        let ConstantHistory { symbolic, progress, analysis, .. } = history;
        let (progress, analysis) = (Arc::clone(progress), Arc::clone(analysis));
        ProgramHistory { symbolic: symbolic.clone(), progress, analysis }
    }

    /// Evicts the least recently drawn program.
    fn evict(&mut self) {
        let oldest = self.programs.iter().min_by_key(|(_, history)| history.used);
        if let Some(key) = oldest.map(|(key, _)| key.clone()) {
            self.programs.remove(&key);
        }
    }
}

impl ConstantHistory {
    /// Adds the values of a draw. Constants whose value changed become symbolic.
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
        let mut history = ConstantHistory {
            last: last.clone(),
            symbolic: SymbolicConstants::none(),
            used: 0,
            progress: Arc::default(),
            analysis: Arc::default(),
        };
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
