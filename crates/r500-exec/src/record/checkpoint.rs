//! Checkpoints of a run, in bounded memory.

/// Approximate limit of the bytes that the checkpoints of a recording take.
const MEMORY: usize = 16 << 20;
/// Steps between two checkpoints in a short run.
const STEPS: usize = 64;

/// States at regular positions, position 0 included.
#[derive(Debug)]
pub(super) struct Checkpoints<S> {
    every: usize,
    room: usize,
    bytes: usize,
    kept: Vec<Checkpoint<S>>,
}

#[derive(Debug)]
struct Checkpoint<S> {
    position: usize,
    state: S,
    bytes: usize,
}

impl<S> Default for Checkpoints<S> {
    fn default() -> Self {
        Self::within(MEMORY)
    }
}

impl<S> Checkpoints<S> {
    fn within(room: usize) -> Self {
        Self { every: STEPS, room, bytes: 0, kept: Vec::new() }
    }

    /// Stores a state, given with its size in bytes, if one is due at the position. At the memory limit, drops every other
    /// checkpoint.
    pub(super) fn store_if_due(&mut self, position: usize, state: impl FnOnce() -> (S, usize)) {
        if !position.is_multiple_of(self.every) {
            return;
        }
        let (state, bytes) = state();
        self.bytes += bytes;
        self.kept.push(Checkpoint { position, state, bytes });
        while self.bytes > self.room && self.kept.len() > 1 {
            self.every = self.every.saturating_mul(2);
            self.kept.retain(|kept| kept.position.is_multiple_of(self.every));
            self.bytes = self.kept.iter().map(|kept| kept.bytes).sum();
        }
    }

    /// Returns the nearest checkpoint at or before a position, and its position.
    pub(super) fn nearest(&self, position: usize) -> Option<(usize, &S)> {
        let after = self.kept.partition_point(|kept| kept.position <= position);
        let kept = self.kept.get(after.checked_sub(1)?)?;
        Some((kept.position, &kept.state))
    }

    /// Returns the position of the last checkpoint before a position; 0 if there is none.
    pub(super) fn before(&self, position: usize) -> usize {
        let after = self.kept.partition_point(|kept| kept.position < position);
        after.checked_sub(1).and_then(|i| self.kept.get(i)).map_or(0, |kept| kept.position)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use r500_isa::Instruction;
    use r500_program::{Job, Program};

    use super::*;
    use crate::record::DrawSetup;
    use crate::reference::{Group, GroupState};
    use crate::{Bindings, Options, Shader};

    #[test]
    fn memory_is_bounded_and_the_nearest_checkpoint_is_within_one_interval() {
        let job = Job::from_program(Program::from_code(vec![Instruction([0; 6])]));
        let setup = DrawSetup {
            shader: Arc::new(Shader::new(&job.program).unwrap()),
            bindings: Arc::new(Bindings::new(&job, [4, 4]).unwrap()),
            options: Options::default(),
        };
        let state = Group::new(&setup.draw(), setup.group_rect([0, 0])).into_state();
        let room = 40 * state.compact().bytes();
        let mut checkpoints = Checkpoints::within(room);
        for position in 0..100_000 {
            checkpoints.store_if_due(position, || {
                let state = state.compact();
                let bytes = state.bytes();
                (state, bytes)
            });
            assert!(checkpoints.bytes <= room);
        }
        // More than half of the memory is used, so checkpoints are at most 100,000 / 20 steps apart.
        assert!(checkpoints.every < 100_000 / 20, "{}", checkpoints.every);
        for position in [0, 1, 63, 64, 5_000, 77_777, 99_999] {
            let (at, found) = checkpoints.nearest(position).unwrap();
            let mut found = found.clone();
            found.expand(false);
            assert!(at <= position && position - at < checkpoints.every);
            assert_eq!(format!("{found:?}"), format!("{state:?}"));
            assert_eq!(checkpoints.before(position + 1), at);
        }
        assert_eq!(checkpoints.before(0), 0);
    }

    #[test]
    fn a_run_of_100_000_steps_has_a_checkpoint_at_least_every_256() {
        // Even if all registers of all pixels were written: 2 KB a pixel.
        let lane = 128 * 16 + size_of::<crate::reference::Lane>();
        let state = size_of::<GroupState>() + 16 * lane + 64;
        assert!(MEMORY / state > 100_000 / 256, "{state} bytes");
    }
}
