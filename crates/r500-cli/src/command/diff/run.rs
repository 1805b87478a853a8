//! `--run`: comparison of the results of two programs.

mod report;

use std::time::{Duration, Instant};

use clap::Args;
use r500::equivalence::{
    Comparison, Divergence, Exercise, Fill, Incomparable, InterfaceMatch, Pair, Shared, Unexercised,
};
use r500::exec::{Options, RunError, Shader};
use r500::program::Job;

use crate::command::engine_args::EngineArgs;
use crate::command::exit::{Failure, Outcome};
use crate::command::{binding_args, syntax, terminal};

/// Options of the comparison of results.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "What the programs compute")]
pub(super) struct RunArgs {
    /// Run both and compare every pixel that both cover
    #[arg(long)]
    run: bool,
    /// Also run both this many times with random values of what they share by name (implies --run). Where
    /// a program reads what it does not carry, how often both are run with made-up values (default then:
    /// 24)
    #[arg(long, value_name = "N", default_value_t = 0)]
    random: u64,
    /// Run part K of N of the random runs; of folders and files of several programs, part K of N of the pairs
    #[arg(long, value_name = "K/N", value_parser = syntax::shard)]
    pub(super) shard: Option<syntax::Shard>,
    /// Seed of the random values
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Greatest difference that counts as none: absolute up to 1, relative above (default: what is
    /// stored must be the same bits)
    #[arg(long, value_name = "T", value_parser = tolerance)]
    tolerance: Option<f32>,
    /// Width and height of the pictures (default: their own, which must agree, else 256x256)
    #[arg(long, value_name = "WxH", value_parser = syntax::size)]
    size: Option<[u32; 2]>,
    /// A constant of A and the one of B that is the same, by number or name, whole or some channels:
    /// `c0=c3`, `c1.r=time`. May be given several times
    #[arg(long, value_name = "A=B")]
    share: Vec<String>,
}

fn tolerance(text: &str) -> Result<f32, String> {
    let value = syntax::float(text)?;
    if value >= 0.0 { Ok(value) } else { Err(format!("`{text}`: a tolerance is at least 0")) }
}

/// The result.
pub(super) struct Verdict {
    size: [u32; 2],
    seed: u64,
    /// Number of rounds with random values.
    rounds: u64,
    /// Number of rounds with made-up values that did not end within the instruction limit.
    endless: u64,
    sharing: InterfaceMatch,
    fill: Fill,
    /// Unexecuted instructions of A and B.
    unexercised: [Unexercised; 2],
    end: End,
}

enum End {
    Equal { pixels: usize },
    Different(Box<Different>),
    Undecided(Undecided),
    Incomparable(Incomparable),
}

/// Why a comparison without a difference is inconclusive.
enum Undecided {
    /// The time limit was reached.
    Time { limit: Duration, pixels: usize },
    /// No round with made-up values ended in both programs.
    Endless { limit: u64 },
    /// A resource is read that is not provided and cannot be made up.
    Unfilled,
    /// The programs differ, and the made-up values did not execute all of them.
    Unexercised { pixels: usize },
}

/// Default number of rounds with made-up values, and the size of their pictures.
const FILL_ROUNDS: u64 = 24;
const FILL_SIZE: [u32; 2] = [32, 32];
/// Limits of rounds and time while instructions are unexecuted.
const MOST_FILL_ROUNDS: u64 = 512;
const FILL_TIME: Duration = Duration::from_secs(8);
/// Instruction limit of a group of pixels with made-up values.
const FILL_INSTRUCTIONS: u64 = 1 << 19;
/// Time limit of a comparison.
const TIME: Duration = Duration::from_secs(30);

struct Different {
    comparison: Comparison,
    /// The round of random values; `None` for the bindings of the programs.
    round: Option<u64>,
    /// The first divergence, or why it could not be found.
    parting: Result<Divergence, Incomparable>,
    shaders: [Shader; 2],
}

impl RunArgs {
    /// Returns whether `--run` is requested.
    pub(super) fn wanted(&self) -> bool {
        self.run || self.random > 0
    }

    /// Returns the options for one of several pairs: a shard then selects pairs, not random runs.
    pub(super) fn of_pair(&self) -> Self {
        Self { shard: None, ..self.clone() }
    }

    /// Runs and compares both programs.
    pub(super) fn compare(&self, jobs: &[Job; 2], machine: &EngineArgs) -> Outcome<Verdict> {
        let mut sharing = InterfaceMatch::of(&jobs[0], &jobs[1]);
        for text in &self.share {
            sharing.constants.push(self.shared(jobs, text)?);
        }
        let fill = Fill::of(jobs, &sharing);
        let mut verdict = Verdict {
            size: self.size(jobs, &fill),
            seed: self.seed,
            rounds: 0,
            endless: 0,
            sharing,
            fill,
            unexercised: Default::default(),
            end: End::Equal { pixels: 0 },
        };
        let options = machine.options()?;
        let end = self.rounds(jobs, machine, options, &mut verdict);
        verdict.end = end.unwrap_or_else(End::Incomparable);
        Ok(verdict)
    }

    /// Returns the size of the pictures: small for many rounds.
    fn size(&self, [a, b]: &[Job; 2], fill: &Fill) -> [u32; 2] {
        let usual = if fill.is_empty() { [256, 256] } else { FILL_SIZE };
        self.size.or(a.size).or(b.size).unwrap_or(usual)
    }

    fn rounds(
        &self,
        jobs: &[Job; 2],
        machine: &EngineArgs,
        mut options: Options<'static>,
        verdict: &mut Verdict,
    ) -> Result<End, Incomparable> {
        let [a, b] = jobs.clone();
        let size = match (a.size, b.size) {
            (Some(a), Some(b)) if a != b => self.size,
            _ => Some(verdict.size),
        };
        let pair = Pair::new(a, b, size)?;
        let fills = !verdict.fill.is_empty();
        if !verdict.fill.unfilled.is_empty() {
            return Ok(End::Undecided(Undecided::Unfilled));
        }
        if self.random > 0 && verdict.sharing.is_empty() && !fills {
            return Err(Incomparable::NothingShared);
        }
        let mut random = if fills && self.random == 0 { FILL_ROUNDS } else { self.random };
        let identical = pair.jobs[0].program.code == pair.jobs[1].program.code;
        let begun = Instant::now();
        let limit = machine.time_limit(TIME);
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        if fills {
            let limit = &mut options.limits.instructions;
            *limit = FILL_INSTRUCTIONS.min(*limit);
        }
        let bar = terminal::progress(random + 1, "runs");
        let mut pixels = 0;
        let mut exercises: [Exercise; 2] = Default::default();
        let mut round = u64::from(fills);
        loop {
            if round > random {
                let enough = !fills
                    || identical
                    || self.random > 0
                    || random >= MOST_FILL_ROUNDS
                    || begun.elapsed() > FILL_TIME
                    || unexercised(&exercises, &pair).iter().all(Unexercised::is_empty);
                if enough {
                    break;
                }
                random += FILL_ROUNDS;
                bar.set_length(random + 1);
            }
            let current = round;
            round += 1;
            bar.inc(1);
            let mine = current == 0 || self.shard.is_none_or(|shard| shard.takes(current - 1));
            if !mine {
                continue;
            }
            options.limits.time = deadline.map(|d| d.saturating_duration_since(Instant::now()));
            let mut jobs = match current {
                0 => pair.jobs.clone(),
                n => verdict.sharing.randomise(&pair, self.seed, n - 1),
            };
            if fills {
                verdict.fill.apply(&mut jobs, self.seed, current - 1);
            }
            let exercised = pair.exercise(&jobs, &options, &mut exercises);
            let compared = exercised
                .and_then(|()| pair.compare(&jobs, machine.engine(), &options, self.tolerance));
            let comparison = match compared {
                Err(Incomparable::Run { error: RunError::Time { .. }, .. }) => {
                    let limit = limit.unwrap_or_default();
                    verdict.unexercised = unexercised(&exercises, &pair);
                    return Ok(End::Undecided(Undecided::Time { limit, pixels }));
                }
                // Made-up values may cause endless loops: try others.
                Err(Incomparable::Run { error: RunError::Instructions { .. }, .. }) if fills => {
                    verdict.endless += 1;
                    continue;
                }
                other => other?,
            };
            verdict.rounds += u64::from(current > 0);
            pixels += comparison.pixels;
            let Some(first) = &comparison.first else { continue };
            let parting = Divergence::find(&pair, &jobs, first, &options, self.tolerance);
            bar.finish_and_clear();
            let different = Different {
                round: current.checked_sub(1),
                parting,
                shaders: pair.shaders().clone(),
                comparison,
            };
            return Ok(End::Different(Box::new(different)));
        }
        bar.finish_and_clear();
        verdict.unexercised = unexercised(&exercises, &pair);
        if pixels == 0 && verdict.endless > 0 {
            let limit = options.limits.instructions;
            return Ok(End::Undecided(Undecided::Endless { limit }));
        }
        let executed = verdict.unexercised.iter().all(Unexercised::is_empty);
        if fills && !identical && !executed {
            return Ok(End::Undecided(Undecided::Unexercised { pixels }));
        }
        Ok(End::Equal { pixels })
    }

    /// Parses `A=B`.
    fn shared(&self, jobs: &[Job; 2], text: &str) -> Outcome<Shared> {
        let usage = |message: String| Failure::usage(format!("--share: {message}"));
        let (a, b) = text
            .split_once('=')
            .ok_or_else(|| usage(format!("`{text}`: write A=B, such as c0=c3")))?;
        let place = |n: usize, text: &str| -> Outcome<Vec<(u8, u8)>> {
            let place = binding_args::place(&jobs[n], text).map_err(usage)?;
            // Constants have at most 8 bits, channels are 0 to 3.
            let pair = |&channel: &usize| (place.constant as u8, channel as u8);
            Ok(place.channels.iter().map(pair).collect())
        };
        let places = [place(0, a)?, place(1, b)?];
        if places[0].len() != places[1].len() {
            let [a, b] = places.map(|place| place.len());
            return Err(usage(format!("`{text}`: {a} channels and {b}")));
        }
        Ok(Shared { name: text.trim().to_owned(), places })
    }
}

fn unexercised(exercises: &[Exercise; 2], pair: &Pair) -> [Unexercised; 2] {
    [0, 1].map(|n| exercises[n].unexercised(&pair.jobs[n].program))
}
