//! Where the time of draws goes, by block.
//!
//! Times are those of the thread that executes submissions. Fragments of large draws are also shaded on other threads; what counts
//! is how long that thread shades or waits for them.

use std::time::{Duration, Instant};

use crate::report::Statistics;

/// Blocks of the card whose time is measured, in pipeline order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TimedBlock {
    /// Registers are read, the fragment program is prepared, textures are converted.
    Preparation,
    /// Vertices are fetched and transformed (`VAP`).
    Vertices,
    /// Primitives are clipped, set up and divided into quads (`GA`, `SU`, `SC`).
    Primitives,
    /// Quads are shaded, tested, blended and stored (`RS`, `US`, `FG`, `ZB`, `RB3D`).
    Fragments,
}

impl TimedBlock {
    /// All of them, in pipeline order.
    pub const ALL: [Self; 4] =
        [Self::Preparation, Self::Vertices, Self::Primitives, Self::Fragments];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Preparation => "preparation",
            Self::Vertices => "vertices",
            Self::Primitives => "primitives",
            Self::Fragments => "fragments",
        }
    }
}

/// When a draw was executed, and how long each block took.
#[derive(Clone, Debug)]
pub struct DrawTime {
    /// The draw. Draws count from 0 over all submissions.
    pub number: u64,
    /// The begin of its execution.
    pub begin: Instant,
    /// The end of its execution.
    pub end: Instant,
    /// The time of each block, in the order of [`TimedBlock::ALL`]; their sum is the time from begin to end.
    pub blocks: [Duration; TimedBlock::ALL.len()],
    /// Number of its vertices.
    pub vertices: u64,
    /// Number of its primitives.
    pub primitives: u64,
    /// Number of its quads.
    pub quads: u64,
}

/// Measures the blocks of draws, one of which runs at any time.
#[derive(Debug)]
pub(crate) struct Clock {
    number: u64,
    begin: Instant,
    /// The block that runs, and since when.
    block: TimedBlock,
    since: Instant,
    blocks: [Duration; TimedBlock::ALL.len()],
    before: Statistics,
}

impl Clock {
    /// Begins a draw, with its preparation. `statistics` are those before it.
    pub(crate) fn begin(statistics: Statistics) -> Self {
        let now = Instant::now();
        Self {
            number: statistics.draws,
            begin: now,
            block: TimedBlock::Preparation,
            since: now,
            blocks: Default::default(),
            before: statistics,
        }
    }

    /// Lets the time from now on count for a block. Returns the one before.
    pub(crate) fn enter(&mut self, block: TimedBlock) -> TimedBlock {
        self.enter_at(block, Instant::now())
    }

    fn enter_at(&mut self, block: TimedBlock, now: Instant) -> TimedBlock {
        self.blocks[self.block as usize] += now.duration_since(self.since);
        self.since = now;
        std::mem::replace(&mut self.block, block)
    }

    /// Ends the draw. `statistics` are those after it.
    pub(crate) fn end(mut self, statistics: Statistics) -> DrawTime {
        let end = Instant::now();
        self.enter_at(self.block, end);
        let Self { number, begin, blocks, before, .. } = self;
        DrawTime {
            number,
            begin,
            end,
            blocks,
            vertices: statistics.vertices - before.vertices,
            primitives: statistics.primitives - before.primitives,
            quads: statistics.quads - before.quads,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_moment_counts_for_one_block() {
        let mut clock = Clock::begin(Statistics { draws: 7, quads: 5, ..Statistics::default() });
        let at = |ms| clock.begin + Duration::from_millis(ms);
        let [one, three, six] = [at(1), at(3), at(6)];
        assert_eq!(clock.enter_at(TimedBlock::Primitives, one), TimedBlock::Preparation);
        assert_eq!(clock.enter_at(TimedBlock::Vertices, three), TimedBlock::Primitives);
        assert_eq!(clock.enter_at(TimedBlock::Primitives, six), TimedBlock::Vertices);
        assert_eq!(clock.blocks, [1, 3, 2, 0].map(Duration::from_millis));
        let time = clock.end(Statistics { draws: 8, quads: 9, ..Statistics::default() });
        assert_eq!((time.number, time.quads), (7, 4));
    }

    #[test]
    fn blocks_are_listed_in_order() {
        for (n, block) in TimedBlock::ALL.into_iter().enumerate() {
            assert_eq!(block as usize, n);
        }
    }
}
