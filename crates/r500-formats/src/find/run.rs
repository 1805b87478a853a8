//! Runs of instructions, at each offset that instructions may have.

use super::Finder;
use super::background::{self, BEFORE};
use super::code_length::{BIT, Cost};

/// What instructions of a language look like.
pub(super) trait Language: Default + Clone + std::fmt::Debug {
    /// Dwords of an instruction.
    const DWORDS: usize;
    /// Instructions of the longest program.
    const MOST: usize;

    /// Returns the length of an instruction after another one of its program; `None` if no program has it.
    fn cost(words: &[u32], before: Option<&[u32]>) -> Option<Cost>;

    /// Takes the next instruction of a program.
    fn step(&mut self, words: &[u32]) -> Verdict;
}

/// What an instruction means for a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The program continues.
    Continues,
    /// It may end here.
    MayEnd,
    /// It ends here.
    Ends,
    /// It would need what nothing has set: it is none.
    Impossible,
}

/// What a longer program may gain less than a shorter one, in sixteenths of a bit.
const SLACK: i64 = 8 * BIT as i64;

/// A program: its first dword, its dwords and its score in bits.
pub(super) type Program = (u64, Vec<u32>, u32);

/// The search for programs of a language.
#[derive(Debug)]
pub(super) struct Runs<L> {
    least: Cost,
    /// The number of the dword at which the next instruction begins.
    next: u64,
    /// A run for each remainder of the number of its first dword.
    runs: Vec<Run<L>>,
    programs: Vec<Program>,
    is_cut: bool,
}

/// Instructions one after the other, which may become a program.
#[derive(Clone, Debug, Default)]
struct Run<L> {
    first: u64,
    words: Vec<u32>,
    /// Data minus program for each instruction, in sixteenths of a bit.
    gains: Vec<i64>,
    gain: i64,
    state: L,
    /// Instructions and gain of the best program so far.
    best: Option<(usize, i64)>,
    /// The highest gain at an instruction with which a program may end.
    peak: i64,
}

impl<L: Language> Runs<L> {
    pub(super) fn new(least_score: u32) -> Self {
        Self {
            least: least_score.saturating_mul(BIT),
            next: 0,
            runs: (0..L::DWORDS).map(|_| Run::default()).collect(),
            programs: Vec::new(),
            is_cut: false,
        }
    }

    /// Takes the instructions in a window of dwords, of which the first has the number `base`. Returns the number of the first dword that
    /// is needed again.
    pub(super) fn window(&mut self, words: &[u32], base: u64) -> u64 {
        while let Some(at) = usize::try_from(self.next - base).ok()
            && let Some(inst) = words.get(at..at + L::DWORDS)
        {
            let phase = (self.next % L::DWORDS as u64) as usize;
            let words_before = &self.runs[phase].words;
            let before =
                words_before.len().checked_sub(L::DWORDS).map(|start| &words_before[start..]);
            match L::cost(inst, before) {
                None => self.close(phase),
                Some(cost) => {
                    let before = at.min(BEFORE);
                    let data = background::cost(&words[at - before..at + L::DWORDS], before);
                    self.take(phase, self.next, inst, i64::from(data) - i64::from(cost));
                }
            }
            self.next += 1;
        }
        self.next.saturating_sub(BEFORE as u64)
    }

    /// Adds an instruction to a run.
    fn take(&mut self, phase: usize, first: u64, words: &[u32], gain: i64) {
        let run = &mut self.runs[phase];
        if run.gains.len() == L::MOST {
            self.close(phase);
        }
        if self.runs[phase].words.is_empty() && gain <= 0 {
            // A program that begins later is shorter to describe. Zeros and tables end here, without an allocation.
            return;
        }
        let run = &mut self.runs[phase];
        if run.words.is_empty() {
            run.first = first;
        }
        let verdict = run.state.step(words);
        if verdict == Verdict::Impossible {
            self.close(phase);
            return;
        }
        run.words.extend_from_slice(words);
        run.gains.push(gain);
        run.gain += gain;
        if run.gain <= 0 {
            self.close(phase);
            return;
        }
        // The last outputs of a program are often alike, and gain little.
        if verdict != Verdict::Continues && run.gain >= run.peak - SLACK {
            run.best = Some((run.gains.len(), run.gain));
            run.peak = run.peak.max(run.gain);
        }
        if verdict == Verdict::Ends {
            self.close(phase);
        }
    }

    /// Ends a run: keeps its best program, and looks for another one in what follows that.
    fn close(&mut self, phase: usize) {
        if self.runs[phase].words.is_empty() {
            self.runs[phase].state = L::default();
            return;
        }
        let Run { first, words, gains, best, .. } = std::mem::take(&mut self.runs[phase]);
        let Some((count, gain)) = best.filter(|(_, gain)| *gain >= i64::from(self.least)) else {
            return;
        };
        let dwords = count * L::DWORDS;
        let score = u32::try_from(gain / i64::from(BIT)).unwrap_or(u32::MAX);
        match self.programs.len() < Finder::MOST {
            true => self.programs.push((first, words[..dwords].to_vec(), score)),
            false => self.is_cut = true,
        }
        let rest = words[dwords..].chunks_exact(L::DWORDS).zip(&gains[count..]);
        for (n, (words, gain)) in rest.enumerate() {
            let first = first + ((count + n) * L::DWORDS) as u64;
            self.take(phase, first, words, *gain);
        }
    }

    /// Ends the search. Returns the programs, and whether there were more.
    pub(super) fn finish(mut self) -> (Vec<Program>, bool) {
        for phase in 0..L::DWORDS {
            // What follows a program may hold another one, which ends here, too.
            while !self.runs[phase].words.is_empty() {
                self.close(phase);
            }
        }
        (self.programs, self.is_cut)
    }
}
