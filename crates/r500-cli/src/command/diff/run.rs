//! `--run`: comparison of the results of two programs.

mod report;
mod values;

use std::time::{Duration, Instant};

use clap::Args;
use r500::builtin_uniforms::BuiltinUniforms;
use r500::check::ExternalReads;
use r500::equivalence::{
    Claim, Comparison, Divergence, Exercise, FRAMES, Incomparable, InterfaceMatch, Known, Literals,
    Pair, Proof, RANDOM, Search, SearchEnd, Shared, Side, Unexercised, Unknown, Unmatched, WORK,
    prove_with, state_difference,
};
use r500::exec::{Options, RunError, Shader};
use r500::program::Job;
use r500::register_text;

pub(super) use self::report::{claim_json, parts};
use self::values::Values;
use crate::command::engine_args::EngineArgs;
use crate::command::exit::{Failure, Outcome};
use crate::command::syntax;

/// Options of the comparison of results.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "What the programs compute")]
pub(super) struct RunArgs {
    /// Run both and compare every pixel that both cover: with what the files carry, then with edge values and random values of
    /// the inputs and constants that correspond
    #[arg(long)]
    run: bool,
    /// Run both only with what the files carry (implies --run)
    #[arg(long)]
    carried: bool,
    /// Number of pictures of random values after those of edge values [default: 48] (implies --run). With --tolerance, pictures
    /// of ordinary random values
    #[arg(long, value_name = "N", conflicts_with = "carried")]
    random: Option<u64>,
    /// Run part K of N of the pictures; of folders and files of several programs, part K of N of the pairs
    #[arg(long, value_name = "K/N", value_parser = syntax::shard)]
    pub(super) shard: Option<syntax::Shard>,
    /// Seed of the random values
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Greatest difference that counts as none: absolute up to 1, relative above (default: what is
    /// stored must be the same bits). Edge values are not tried then
    #[arg(long, value_name = "T", value_parser = tolerance)]
    tolerance: Option<f32>,
    /// Width and height of the picture with what the files carry (default: their own, which must agree, else 256x256)
    #[arg(long, value_name = "WxH", value_parser = syntax::size)]
    size: Option<[u32; 2]>,
    /// A constant of A and the one of B that is the same, by number or name, whole or some channels:
    /// `c0=c3`, `c1.r=time`. May be given several times
    #[arg(long, value_name = "A=B")]
    share: Vec<String>,
}

impl RunArgs {
    /// Returns the number of batches of vertices.
    pub(super) fn batches(&self) -> u64 {
        self.random.unwrap_or(RANDOM)
    }

    /// Returns the seed of random values.
    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the greatest difference that counts as none.
    pub(super) fn tolerance(&self) -> Option<f32> {
        self.tolerance
    }

    /// Returns whether an option is given that only pixels have.
    pub(super) fn is_of_pixels(&self) -> bool {
        self.carried || self.shard.is_some() || self.size.is_some() || !self.share.is_empty()
    }
}

fn tolerance(text: &str) -> Result<f32, String> {
    let value = register_text::float(text)?;
    if value >= 0.0 { Ok(value) } else { Err(format!("`{text}`: a tolerance is at least 0")) }
}

/// The result.
pub(super) struct Verdict {
    size: [u32; 2],
    seed: u64,
    /// Compared pixels of the picture with what the files carry; `None` if they do not carry everything.
    carried: Option<usize>,
    /// Pictures and pixels of the search.
    searched: Option<[u64; 2]>,
    /// Number of pictures that did not end within the instruction limit.
    endless: u64,
    /// Targets whose colours are compared as floats.
    as_floats: Vec<usize>,
    interface: InterfaceMatch,
    /// Unexecuted instructions of A and B.
    unexercised: [Unexercised; 2],
    end: End,
}

pub(super) enum End {
    /// No difference was found; the proof, if one was tried.
    Equal(Option<Claim>),
    Different(Box<Different>),
    Undecided(Undecided),
    Incomparable(Incomparable),
}

/// Why a comparison without a difference is inconclusive.
pub(super) enum Undecided {
    /// The time limit was reached.
    Time { limit: Duration },
    /// No picture ended in both programs.
    Endless { limit: u64 },
    /// A result depends on registers that correspond to nothing in the other program.
    Unmatched,
    /// An integer or boolean constant is read that only the other program carries.
    Unlent { side: Side, registers: ExternalReads },
    /// The programs are not proved equal, and instructions were never executed.
    Unexercised,
    /// The programs store their results differently.
    State(String),
    /// A program is not the shader: its compilation failed.
    NotCompiled { side: Side, outcome: String },
}

/// Time limit of a comparison.
const TIME: Duration = Duration::from_secs(30);

/// The values with which two programs differ.
#[derive(Clone)]
pub(super) struct Counterexample {
    /// The programs with these values.
    pub(super) jobs: [Job; 2],
    /// Width and height of the picture.
    pub(super) size: [u32; 2],
    /// Difference that counts as none.
    pub(super) tolerance: Option<f32>,
}

pub(super) struct Different {
    comparison: Comparison,
    found: Counterexample,
    /// The picture of the search; `None` for the bindings of the programs.
    frame: Option<u64>,
    /// The pixel that differs: its coordinates and values.
    values: Values,
    /// The first divergence, or why it could not be found.
    parting: Result<Divergence, Incomparable>,
    shaders: [Shader; 2],
}

impl RunArgs {
    /// Returns whether `--run` is requested.
    pub(super) fn wanted(&self) -> bool {
        self.run || self.carried || self.random.is_some()
    }

    /// Returns the options for one of several pairs: a shard then selects pairs, not pictures.
    pub(super) fn of_pair(&self) -> Self {
        Self { shard: None, ..self.clone() }
    }

    /// Runs and compares both programs, and tries to prove them equal if no pixel differs.
    pub(super) fn compare(
        &self,
        jobs: &[Job; 2],
        literals: Literals,
        machine: &EngineArgs,
    ) -> Outcome<Verdict> {
        let interface = self.interface(jobs, literals)?;
        let known = Known::of(&jobs[0], &jobs[1], interface, literals);
        let mut verdict = self.search(jobs, &known, machine)?;
        if !self.carried && verdict.is_open() {
            verdict.settle(jobs, &known, literals);
        }
        Ok(verdict)
    }

    /// Returns how the interfaces correspond.
    pub(super) fn interface(&self, jobs: &[Job; 2], literals: Literals) -> Outcome<InterfaceMatch> {
        let mut interface = InterfaceMatch::with(&jobs[0], &jobs[1], literals);
        for text in &self.share {
            interface.share(self.shared(jobs, text)?);
        }
        Ok(interface)
    }

    /// Draws both with what the files carry, and searches for a difference.
    pub(super) fn search(
        &self,
        jobs: &[Job; 2],
        known: &Known,
        machine: &EngineArgs,
    ) -> Outcome<Verdict> {
        let interface = known.interface().cloned().unwrap_or_default();
        let mut verdict = Verdict {
            size: self.size.or(jobs[0].size).or(jobs[1].size).unwrap_or([256, 256]),
            seed: self.seed,
            carried: None,
            searched: None,
            endless: 0,
            as_floats: as_floats(jobs),
            interface,
            unexercised: Default::default(),
            end: End::Equal(None),
        };
        for (side, job) in [Side::A, Side::B].into_iter().zip(jobs) {
            if let Some(compilation) = &job.compilation
                && !compilation.outcome.is_compiled()
            {
                let outcome = compilation.outcome.to_string();
                verdict.end = End::Undecided(Undecided::NotCompiled { side, outcome });
                return Ok(verdict);
            }
        }
        let options = machine.options()?;
        let end = self.runs(jobs, machine, options, &mut verdict);
        verdict.end = end.unwrap_or_else(End::Incomparable);
        Ok(verdict)
    }

    fn runs(
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
        let interface = &verdict.interface;
        if let Some((side, registers)) = interface.unlent.first() {
            let (side, registers) = (*side, registers.clone());
            return Ok(End::Undecided(Undecided::Unlent { side, registers }));
        }
        let tolerant = self.tolerance.is_some_and(|tolerance| tolerance > 0.0);
        let is_complete = jobs.iter().all(|job| {
            let mut missing = ExternalReads::of(&job.program).missing(job);
            if job.inputs.is_some() {
                missing.inputs.clear();
            }
            missing.is_empty()
        });
        let limit = machine.time_limit(TIME);
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        let mut exercises: [Exercise; 2] = Default::default();
        if is_complete {
            let pair = Pair::new(a, b, size)?;
            // As `render` draws them.
            let jobs = &pair.jobs.clone().map(|mut job| {
                BuiltinUniforms::of_picture(&job, pair.size()).apply(&mut job);
                job
            });
            options.limits.time = limit;
            let compared = pair
                .exercise(jobs, &options, &mut exercises)
                .and_then(|()| pair.compare(jobs, machine.engine(), &options, self.tolerance));
            verdict.unexercised = unexercised(&exercises, &pair);
            let comparison = match compared {
                Err(Incomparable::Run { error: RunError::Time { .. }, .. }) => {
                    let limit = limit.unwrap_or_default();
                    return Ok(End::Undecided(Undecided::Time { limit }));
                }
                other => other?,
            };
            verdict.carried = Some(comparison.pixels);
            if comparison.first.is_some() {
                return Ok(self.different(&pair, jobs, comparison, None, &options, verdict));
            }
            let only_ordinary = tolerant && self.random.is_none();
            if self.carried || only_ordinary {
                return Ok(End::Equal(None));
            }
        } else if self.carried {
            return Ok(End::Undecided(Undecided::Unmatched));
        }
        let search = Search {
            interface: &verdict.interface,
            engine: machine.engine(),
            options: options.clone(),
            seed: self.seed,
            tolerance: self.tolerance,
            frames: FRAMES,
            random: self.random.unwrap_or(RANDOM),
            work: WORK,
            deadline,
            shard: self.shard.map_or([0, 1], syntax::Shard::part_of),
        };
        let searched = search.run(jobs)?;
        verdict.searched = Some([searched.frames, searched.pixels]);
        verdict.endless = searched.endless;
        if verdict.carried.is_none() || !searched.unexercised.iter().all(Unexercised::is_empty) {
            let carried = std::mem::take(&mut verdict.unexercised);
            verdict.unexercised = if verdict.carried.is_none() {
                searched.unexercised
            } else {
                [0, 1].map(|n| carried[n].intersect(&searched.unexercised[n]))
            };
        } else {
            verdict.unexercised = Default::default();
        }
        Ok(match searched.end {
            SearchEnd::Equal => End::Equal(None),
            SearchEnd::Different(found) => {
                let jobs = found.pair.jobs.clone();
                let frame = Some(found.frame);
                self.different(&found.pair, &jobs, found.comparison, frame, &options, verdict)
            }
            SearchEnd::Depends => End::Undecided(Undecided::Unmatched),
            SearchEnd::Endless => {
                End::Undecided(Undecided::Endless { limit: options.limits.instructions })
            }
            SearchEnd::Time => End::Undecided(Undecided::Time { limit: limit.unwrap_or_default() }),
        })
    }

    fn different(
        &self,
        pair: &Pair,
        jobs: &[Job; 2],
        comparison: Comparison,
        frame: Option<u64>,
        options: &Options<'_>,
        verdict: &Verdict,
    ) -> End {
        let Some(first) = &comparison.first else { return End::Equal(None) };
        let parting = Divergence::find(pair, jobs, first, options, self.tolerance);
        let values = Values::of(jobs, first.pixel, &verdict.interface);
        let shaders = pair.shaders().clone();
        let found =
            Counterexample { jobs: jobs.clone(), size: pair.size(), tolerance: self.tolerance };
        let different = Different { frame, values, parting, shaders, comparison, found };
        End::Different(Box::new(different))
    }

    /// Parses `A=B`.
    fn shared(&self, jobs: &[Job; 2], text: &str) -> Outcome<Shared> {
        let usage = |message: String| Failure::usage(format!("--share: {message}"));
        let (a, b) = text
            .split_once('=')
            .ok_or_else(|| usage(format!("`{text}`: write A=B, such as c0=c3")))?;
        let place = |n: usize, text: &str| -> Outcome<Vec<(u8, u8)>> {
            let place = register_text::constant_place(&jobs[n], text).map_err(usage)?;
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

/// Returns the targets that a program may write and whose format not both files give.
fn as_floats(jobs: &[Job; 2]) -> Vec<usize> {
    let shaders = jobs.each_ref().map(|job| Shader::new(&job.program).ok());
    let is_written =
        |target: usize| shaders.iter().flatten().any(|shader| shader.targets()[target]);
    let is_given =
        |target: usize| jobs.iter().all(|job| job.program.state.out_fmt[target].is_some());
    (0..4).filter(|&target| is_written(target) && !is_given(target)).collect()
}

impl Verdict {
    /// Tries to prove two programs equal that the search did not distinguish.
    fn settle(&mut self, jobs: &[Job; 2], known: &Known, literals: Literals) {
        let programs = [&jobs[0].program, &jobs[1].program];
        if let Some(what) = state_difference(programs) {
            self.end = End::Undecided(Undecided::State(what));
            return;
        }
        let proof = prove_with(&jobs[0].program, &jobs[1].program, known);
        if matches!(self.end, End::Undecided(_)) && !proof.is_proved() {
            return;
        }
        let is_executed = self.unexercised.iter().all(|part| part.instructions.is_empty());
        self.end = match proof {
            // Another output, or one that a card would not write.
            Proof::Unknown(why @ Unknown::Outputs { .. }) => {
                End::Undecided(Undecided::State(why.to_string()))
            }
            Proof::Unknown(_) if !is_executed && !self.is_closed(jobs) => {
                End::Undecided(Undecided::Unexercised)
            }
            proof => End::Equal(Some(Claim::of(jobs.each_ref(), known, literals, proof))),
        };
    }

    /// Returns whether the files leave nothing open: the pictures that they carry are then all there are, and what no pixel of
    /// these executes, none executes.
    fn is_closed(&self, jobs: &[Job; 2]) -> bool {
        let InterfaceMatch { constants, inputs, alone: _, unmatched, missing, copied, unlent } =
            &self.interface;
        let gives_all =
            |job: &Job| job.size == Some(self.size) && job.textures.iter().all(Option::is_none);
        self.carried.is_some()
            && jobs.iter().all(gives_all)
            && constants.is_empty()
            && inputs.is_empty()
            && unmatched.iter().all(Unmatched::is_empty)
            && missing.is_empty()
            && copied.is_empty()
            && unlent.is_empty()
    }

    /// Returns the values with which the programs differ.
    pub(super) fn counterexample(&self) -> Option<Counterexample> {
        match &self.end {
            End::Different(different) => Some(different.found.clone()),
            _ => None,
        }
    }

    /// Returns whether a proof can decide.
    fn is_open(&self) -> bool {
        matches!(
            self.end,
            End::Equal(_)
                | End::Undecided(
                    Undecided::Time { .. } | Undecided::Endless { .. } | Undecided::Unmatched
                )
        )
    }

    /// Returns the result.
    pub(super) fn end(&self) -> &End {
        &self.end
    }

    /// Returns the number of pictures and pixels of the search.
    pub(super) fn searched(&self) -> [u64; 2] {
        self.searched.unwrap_or_default()
    }
}

fn unexercised(exercises: &[Exercise; 2], pair: &Pair) -> [Unexercised; 2] {
    [0, 1].map(|n| exercises[n].unexercised(&pair.jobs[n].program))
}
