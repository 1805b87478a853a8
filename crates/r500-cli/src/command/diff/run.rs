//! `--run`: whether two programs compute the same.

use std::fmt;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use clap::Args;
use r500::equivalence::{
    Comparison, Divergence, Exercise, Fill, Incomparable, Pair, Part, Place, Shared, Sharing, Side,
    Unexercised,
};
use r500::exec::{Options, RunError, Shader};
use r500::program::Job;
use serde_json::{Value, json};

use crate::command::engine_args::MachineArgs;
use crate::command::exit::{Failure, Outcome, Status};
use crate::command::float_format::{self, json_all, vector};
use crate::command::trace::{Printer, add_event};
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
    /// Run part K of N of the random runs; with --prove, prove part K of N of the pairs
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
    /// Rounds of random values that were run.
    rounds: u64,
    /// Rounds of filled values whose programs did not end within their limit of instructions.
    endless: u64,
    sharing: Sharing,
    fill: Fill,
    /// Instructions that A and B did not execute.
    unexercised: [Unexercised; 2],
    end: End,
}

enum End {
    Equal { pixels: usize },
    Different(Box<Different>),
    Undecided(Undecided),
    Incomparable(Incomparable),
}

/// Why a comparison without a difference does not show that there is none.
enum Undecided {
    /// The time is up.
    Time { limit: Duration, pixels: usize },
    /// With all values that were made up some program did not end.
    Endless { limit: u64 },
    /// Something is read that is neither provided nor can be made up.
    Unfilled,
    /// The programs differ, and the made-up values did not execute all of them.
    Unexercised { pixels: usize },
}

/// Rounds with made-up values, and the size of their pictures.
const FILL_ROUNDS: u64 = 24;
const FILL_SIZE: [u32; 2] = [32, 32];
/// Limits on rounds and time if not everything was executed.
const MOST_FILL_ROUNDS: u64 = 512;
const FILL_TIME: Duration = Duration::from_secs(8);
/// Instructions that a group of pixels may execute with made-up values.
const FILL_INSTRUCTIONS: u64 = 1 << 19;
/// Time that a comparison may take.
const TIME: Duration = Duration::from_secs(30);

struct Different {
    comparison: Comparison,
    /// The round of random values; `None` with the bindings that the programs carry.
    round: Option<u64>,
    /// The first divergence, or why it could not be found.
    parting: Result<Divergence, Incomparable>,
    shaders: [Shader; 2],
}

impl RunArgs {
    /// Returns whether to run at all.
    pub(super) fn wanted(&self) -> bool {
        self.run || self.random > 0
    }

    /// Runs both.
    pub(super) fn compare(&self, jobs: &[Job; 2], machine: &MachineArgs) -> Outcome<Verdict> {
        let mut sharing = Sharing::of(&jobs[0], &jobs[1]);
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

    /// The size of the pictures: small where there are many of them.
    fn size(&self, [a, b]: &[Job; 2], fill: &Fill) -> [u32; 2] {
        let usual = if fill.is_empty() { [256, 256] } else { FILL_SIZE };
        self.size.or(a.size).or(b.size).unwrap_or(usual)
    }

    fn rounds(
        &self,
        jobs: &[Job; 2],
        machine: &MachineArgs,
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
                // Made-up values may keep a loop going for ever: others are tried.
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

    /// `A=B`.
    fn shared(&self, jobs: &[Job; 2], text: &str) -> Outcome<Shared> {
        let usage = |message: String| Failure::usage(format!("--share: {message}"));
        let (a, b) = text
            .split_once('=')
            .ok_or_else(|| usage(format!("`{text}`: write A=B, such as c0=c3")))?;
        let place = |n: usize, text: &str| -> Outcome<Vec<(u8, u8)>> {
            let place = binding_args::place(&jobs[n], text).map_err(usage)?;
            // Constants end with 255, channels with 3.
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

impl fmt::Display for Undecided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time { limit, pixels } => write!(
                f,
                "limit of {limit:?} reached after {pixels} equal pixels (raise --limit-time)"
            ),
            Self::Endless { limit } => write!(
                f,
                "limit of {limit} instructions a group reached with all values that were tried \
                 (provide constants with captures, or raise --limit-instructions)"
            ),
            Self::Unexercised { pixels } => write!(
                f,
                "{pixels} pixels with made-up values are equal, but did not execute everything \
                 (provide constants with captures, or try more values with --random N)"
            ),
            Self::Unfilled => f.write_str(
                "a program reads what it does not carry, and the names of the other say that equal \
                 numbers need not be the same (say what is, with --share)",
            ),
        }
    }
}

impl Verdict {
    pub(super) fn status(&self) -> Status {
        match self.end {
            End::Equal { .. } => Status::Fine,
            End::Different(_) => Status::Failed,
            End::Undecided(_) | End::Incomparable(_) => Status::CouldNot,
        }
    }

    pub(super) fn text(&self, out: &mut impl Write, colors: bool) -> io::Result<()> {
        let [width, height] = self.size;
        match &self.end {
            End::Incomparable(error) => {
                out.flush()?;
                let hint = match error {
                    Incomparable::Size { .. } => "; --size WxH draws both at one size",
                    _ => "",
                };
                terminal::error(&format!("cannot compare: {error}{hint}"));
            }
            End::Equal { pixels } => {
                let with = match self.rounds {
                    n if !self.fill.is_empty() => {
                        format!("{n} times with made-up values (seed {})", self.seed)
                    }
                    0 => "with what the programs carry".to_owned(),
                    n => format!(
                        "with what the programs carry and {n} times with random values (seed {})",
                        self.seed
                    ),
                };
                writeln!(out, "equal: {pixels} pixels, {width}x{height} {with}")?;
                self.shared(out)?;
                self.filled(out)?;
                self.coverage(out)?;
            }
            End::Undecided(reason) => {
                writeln!(out, "undecided: {reason}")?;
                self.filled(out)?;
                self.coverage(out)?;
            }
            End::Different(different) => {
                different.text(out, self, colors)?;
                self.shared(out)?;
                self.filled(out)?;
            }
        }
        Ok(())
    }

    /// Reports what the programs read without carrying it.
    fn filled(&self, out: &mut impl Write) -> io::Result<()> {
        let Fill { filled, copied, unfilled } = &self.fill;
        if !filled.is_empty() {
            writeln!(out, "read and not carried, the same made-up values in both: {filled}")?;
        }
        for (side, registers) in copied {
            writeln!(out, "carried by {side} alone, given to both: {registers}")?;
        }
        for (side, registers) in unfilled {
            writeln!(out, "read by {side} and not carried: {registers}")?;
        }
        if self.endless > 0 {
            writeln!(out, "left out, because a program did not end: {} rounds", self.endless)?;
        }
        Ok(())
    }

    /// Reports what the comparison did not execute.
    fn coverage(&self, out: &mut impl Write) -> io::Result<()> {
        for (side, unexercised) in [Side::A, Side::B].iter().zip(&self.unexercised) {
            let Unexercised { instructions, branches } = unexercised;
            if !instructions.is_empty() {
                let list: Vec<String> = instructions.iter().map(|at| format!("@{at}")).collect();
                writeln!(out, "never executed in {side}: {}", list.join(", "))?;
            }
            if !branches.is_empty() {
                let branch = |(from, to): &(u32, u32)| format!("@{from} to @{to}");
                let list: Vec<String> = branches.iter().map(branch).collect();
                writeln!(out, "never taken in {side}: {}", list.join(", "))?;
            }
        }
        Ok(())
    }

    /// Returns what was shared, if that mattered.
    fn shared(&self, out: &mut impl Write) -> io::Result<()> {
        if self.rounds == 0 {
            return Ok(());
        }
        let names = |shared: &[Shared]| -> String {
            let names: Vec<&str> = shared.iter().map(|shared| shared.name.as_str()).collect();
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        };
        writeln!(
            out,
            "shared: inputs {}; constants {}",
            names(&self.sharing.inputs),
            names(&self.sharing.constants)
        )?;
        for side in [Side::A, Side::B] {
            let alone: Vec<&str> = self
                .sharing
                .alone
                .iter()
                .filter(|(owner, _)| *owner == side)
                .map(|(_, name)| name.as_str())
                .collect();
            if !alone.is_empty() {
                writeln!(out, "not shared, as {side} carries it: {}", alone.join(", "))?;
            }
        }
        Ok(())
    }

    pub(super) fn json(&self) -> Value {
        let mut value = json!({
            "size": self.size,
            "seed": self.seed,
            "rounds": self.rounds,
            "shared": {
                "inputs": self.sharing.inputs.iter().map(shared_json).collect::<Value>(),
                "constants": self.sharing.constants.iter().map(shared_json).collect::<Value>(),
            },
            "not_shared": self
                .sharing
                .alone
                .iter()
                .map(|(side, name)| json!({ "side": side.to_string(), "name": name }))
                .collect::<Value>(),
        });
        let registers = |(side, registers): &(Side, r500::check::ExternalReads)| json!({ "side": side.to_string(), "registers": registers.to_string() });
        value["filled"] = self.fill.filled.to_string().into();
        value["copied"] = self.fill.copied.iter().map(registers).collect();
        value["unfilled"] = self.fill.unfilled.iter().map(registers).collect();
        value["endless"] = self.endless.into();
        value["unexercised"] = (self.unexercised.iter())
            .map(|Unexercised { instructions, branches }| {
                json!({ "instructions": instructions, "branches": branches })
            })
            .collect();
        match &self.end {
            End::Undecided(reason) => {
                value["verdict"] = "undecided".into();
                value["reason"] = reason.to_string().into();
            }
            End::Incomparable(error) => {
                value["verdict"] = "incomparable".into();
                value["reason"] = error.to_string().into();
            }
            End::Equal { pixels } => {
                value["verdict"] = "equal".into();
                value["pixels"] = (*pixels).into();
            }
            End::Different(different) => {
                value["verdict"] = "different".into();
                different.json(&mut value);
            }
        }
        value
    }
}

fn shared_json(shared: &Shared) -> Value {
    let [a, b] = &shared.places;
    let places = |places: &[(u8, u8)]| -> Value {
        places.iter().map(|(register, channel)| json!([register, channel])).collect()
    };
    json!({ "name": shared.name, "a": places(a), "b": places(b) })
}

impl Different {
    fn text(&self, out: &mut impl Write, verdict: &Verdict, colors: bool) -> io::Result<()> {
        let Comparison { pixels, differing, first } = &self.comparison;
        let [width, height] = verdict.size;
        let with = match self.round {
            None => "what the programs carry".to_owned(),
            Some(round) => format!("random values (round {round}, seed {})", verdict.seed),
        };
        writeln!(out, "different: {differing} of {pixels} pixels, {width}x{height} with {with}")?;
        let Some(first) = first else { return Ok(()) };
        let [x, y] = first.pixel;
        writeln!(out, "\nthe first: pixel {x},{y}")?;
        for part in &first.parts {
            match part {
                Part::Color { target, written, stored } => {
                    for (side, (written, stored)) in
                        [Side::A, Side::B].iter().zip(written.iter().zip(stored))
                    {
                        let stored: String = stored.iter().map(|b| format!("{b:02x}")).collect();
                        let color = vector(written);
                        writeln!(out, "  {side}  out[{target}] = {color}, stored {stored}")?;
                    }
                }
                Part::Depth { written: [a, b] } => {
                    writeln!(
                        out,
                        "  A  depth = {}\n  B  depth = {}",
                        float_format::text(*a),
                        float_format::text(*b)
                    )?;
                }
                Part::Coverage { drawn: [a, _] } => {
                    let (drawn, killed) = if *a { ("A", "B") } else { ("B", "A") };
                    writeln!(out, "  {killed} kills it, {drawn} does not")?;
                }
            }
        }
        let parting = match &self.parting {
            Ok(parting) => parting,
            Err(error) => return writeln!(out, "\nwhere they part is not known: {error}"),
        };
        match (&parting.a, &parting.b) {
            (None, None) => writeln!(
                out,
                "\nevery result on the way is the same in both: what differs is how results are \
                 written or stored"
            )?,
            _ if parting.aligned => writeln!(out, "\nthey part at this instruction:")?,
            (Some(_), Some(_)) => writeln!(out, "\nthey part at these instructions:")?,
            (Some(_), None) => writeln!(out, "\nthey part at what A alone computes:")?,
            (None, Some(_)) => writeln!(out, "\nthey part at what B alone computes:")?,
        }
        for (n, place) in [&parting.a, &parting.b].into_iter().enumerate() {
            if let Some(place) = place {
                self.place(out, n, place, colors)?;
            }
        }
        if parting.cut {
            writeln!(out, "the runs are longer than what is recorded; they may part earlier")?;
        }
        Ok(())
    }

    fn place(&self, out: &mut impl Write, n: usize, place: &Place, colors: bool) -> io::Result<()> {
        let shader = &self.shaders[n];
        let (bold, plain) = if colors { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
        let side = if n == 0 { 'A' } else { 'B' };
        let line = shader.instruction(place.address).map(r500::asm::print_instruction);
        let line = line.unwrap_or_default();
        writeln!(out, "{side}{:>5}  {bold}@{:<3} {line}{plain}", place.step, place.address)?;
        Printer { shader, colors }.event(out, &place.event, place.address)
    }

    fn json(&self, value: &mut Value) {
        value["pixels"] = self.comparison.pixels.into();
        value["differing"] = self.comparison.differing.into();
        value["round"] = self.round.into();
        let parts = |part: &Part| match part {
            Part::Color { target, written: [a, b], stored: [x, y] } => {
                let hex =
                    |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
                json!({
                    "out": target,
                    "a": json_all(a),
                    "b": json_all(b),
                    "a_stored": hex(x),
                    "b_stored": hex(y),
                })
            }
            Part::Depth { written: [a, b] } => {
                json!({ "depth": { "a": float_format::json(*a), "b": float_format::json(*b) } })
            }
            Part::Coverage { drawn: [a, b] } => json!({ "drawn": { "a": a, "b": b } }),
        };
        if let Some(first) = &self.comparison.first {
            value["pixel"] = json!(first.pixel);
            value["parts"] = first.parts.iter().map(parts).collect();
        }
        value["parting"] = match &self.parting {
            Err(error) => json!({ "error": error.to_string() }),
            Ok(parting) => {
                let place = |n: usize, place: &Option<Place>| -> Value {
                    let Some(place) = place else { return Value::Null };
                    let line = self.shaders[n].instruction(place.address);
                    let mut value = json!({
                        "step": place.step,
                        "address": place.address,
                        "text": line.map(r500::asm::print_instruction),
                    });
                    add_event(&mut value, &place.event);
                    value
                };
                json!({
                    "aligned": parting.aligned,
                    "a": place(0, &parting.a),
                    "b": place(1, &parting.b),
                    "steps": parting.steps,
                    "cut": parting.cut,
                })
            }
        };
    }
}
