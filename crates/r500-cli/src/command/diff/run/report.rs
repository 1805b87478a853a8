//! Output of the verdict, as text and JSON.

use std::fmt;
use std::io::{self, Write};

use r500::equivalence::{
    Claim, Comparison, Difference, ExecutedInst, Incomparable, InterfaceMatch, Part, Proof, SIDES,
    Shared, Side, Unexercised,
};
use r500::trace::InstructionTexts;
use r500_stream::counted;
use serde_json::{Value, json};

use super::{Different, End, Undecided, Verdict};
use crate::command::exit::Status;
use crate::command::float_format::{self, json_all, vector};
use crate::command::terminal;
use crate::command::trace::{add_event, print_effects};

impl fmt::Display for Undecided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time { limit } => {
                write!(f, "limit of {limit:?} reached without a difference (raise --limit-time)")
            }
            Self::Endless { limit } => write!(
                f,
                "limit of {} a group reached with all values that were tried \
                 (provide constants with captures, or raise --limit-instructions)",
                counted(*limit, "instruction")
            ),
            Self::Unexercised => f.write_str(
                "no pixel differs, but there is no proof, and instructions were never executed \
                 (provide constants with captures, or try more values with --random N)",
            ),
            Self::Unmatched => f.write_str(
                "a result depends on what a program reads and does not carry, and nothing says what \
                 corresponds to it in the other (say so with --share, or compare with --unbound)",
            ),
            Self::Unlent { side, registers } => write!(
                f,
                "{side} reads {registers} and does not carry it; the value of the other program is its own"
            ),
            Self::State(what) => write!(f, "no pixel differs, but {what}"),
            Self::NotCompiled { side, outcome } => {
                write!(f, "{side} is not the shader: {outcome}")
            }
        }
    }
}

impl Verdict {
    pub(in crate::command::diff) fn status(&self) -> Status {
        match self.end {
            End::Equal { .. } => Status::Fine,
            End::Different(_) => Status::Failed,
            End::Undecided(_) | End::Incomparable(_) => Status::CouldNot,
        }
    }

    pub(in crate::command::diff) fn text(
        &self,
        out: &mut impl Write,
        colors: bool,
    ) -> io::Result<()> {
        match &self.end {
            End::Incomparable(error) => {
                out.flush()?;
                let hint = match error {
                    Incomparable::Size { .. } => "; --size WxH draws both at one size",
                    _ => "",
                };
                terminal::error(&format!("cannot compare: {error}{hint}"));
            }
            End::Equal(claim) => {
                writeln!(out, "equal: {}", self.with())?;
                match claim {
                    Some(claim) => writeln!(out, "{}", proof(claim))?,
                    None => writeln!(out, "not tried: other values than these, and a proof")?,
                }
                self.shared(out)?;
                self.filled(out)?;
                self.coverage(out)?;
            }
            End::Undecided(reason) => {
                writeln!(out, "undecided: {reason}")?;
                if self.pixels() > 0 {
                    writeln!(out, "equal are {}", self.with())?;
                }
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

    /// Returns how many pixels were compared, and with which values.
    fn with(&self) -> String {
        let [width, height] = self.size;
        let carried = self.carried.map(|pixels| {
            format!("{}, {width}x{height} with what the programs carry", counted(pixels, "pixel"))
        });
        let searched = self.searched.map(|[frames, pixels]| {
            format!(
                "{} with edge and random values ({}, seed {})",
                counted(pixels, "pixel"),
                counted(frames, "picture"),
                self.seed
            )
        });
        let parts: Vec<String> = carried.into_iter().chain(searched).collect();
        if parts.is_empty() { "no pixels were compared".to_owned() } else { parts.join("; ") }
    }

    /// Returns how many pixels were compared, of the carried picture, if it was drawn, and of the search.
    fn pixels(&self) -> u64 {
        self.carried.map_or(0, |pixels| pixels as u64) + self.searched()[1]
    }

    /// Returns the verdict in a line.
    pub(in crate::command::diff) fn line(&self) -> String {
        let made_up = match self.interface.missing.to_string() {
            registers if registers.is_empty() => String::new(),
            registers => format!("; made-up values for {registers}"),
        };
        match &self.end {
            End::Incomparable(error) => format!("cannot compare: {error}"),
            End::Equal(claim) => {
                let proof = claim.as_ref().map_or_else(String::new, |claim| match &claim.proof {
                    Proof::Proved => "; proved".to_owned(),
                    Proof::ProvedIfCovered => {
                        "; proved for groups whose pixels are all covered".to_owned()
                    }
                    Proof::Unknown(_) => {
                        let all_vote = self.unexercised.iter().all(|u| u.without_vote.is_empty());
                        let groups =
                            if all_vote { "" } else { ", for groups whose pixels all vote" };
                        format!("; not proved{groups}")
                    }
                });
                format!("equal: {}{proof}{made_up}", counted(self.pixels(), "pixel"))
            }
            End::Undecided(reason) => format!("undecided: {reason}{made_up}"),
            End::Different(different) => format!("different: {}{made_up}", different.line()),
        }
    }

    /// Reports what the programs read without carrying it.
    fn filled(&self, out: &mut impl Write) -> io::Result<()> {
        let InterfaceMatch { missing, copied, unmatched, .. } = &self.interface;
        if !missing.is_empty() {
            writeln!(out, "read and not carried, the same made-up values in both: {missing}")?;
        }
        for (side, registers) in copied {
            writeln!(out, "carried by {side} alone, given to both: {registers}")?;
        }
        for (side, unmatched) in SIDES.iter().zip(unmatched) {
            if !unmatched.is_empty() {
                let registers = unmatched.registers();
                writeln!(
                    out,
                    "read by {side} and not carried, other values than in the other program: {registers}"
                )?;
            }
        }
        if !self.as_floats.is_empty() && self.carried.or(self.searched.map(|_| 0)).is_some() {
            let targets: Vec<String> =
                self.as_floats.iter().map(|target| format!("out[{target}]")).collect();
            writeln!(out, "compared as floats, without a format of both: {}", targets.join(", "))?;
        }
        if self.endless > 0 {
            writeln!(
                out,
                "left out, because a program did not end: {}",
                counted(self.endless, "picture")
            )?;
        }
        Ok(())
    }

    /// Reports what the comparison did not execute.
    fn coverage(&self, out: &mut impl Write) -> io::Result<()> {
        for (side, unexercised) in [Side::A, Side::B].iter().zip(&self.unexercised) {
            let Unexercised { instructions, branches, without_vote } = unexercised;
            if !instructions.is_empty() {
                let list: Vec<String> = instructions.iter().map(|at| format!("@{at}")).collect();
                writeln!(out, "never executed in {side}: {}", list.join(", "))?;
            }
            if !without_vote.is_empty() {
                writeln!(out, "not covered in {side}: {}", only_without_vote(without_vote))?;
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
        if self.searched.is_none() {
            return Ok(());
        }
        let names = |shared: &[Shared]| -> String {
            let names: Vec<&str> = shared.iter().map(|shared| shared.name.as_str()).collect();
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        };
        writeln!(
            out,
            "shared: inputs {}; constants {}",
            names(&self.interface.inputs),
            names(&self.interface.constants)
        )?;
        for side in [Side::A, Side::B] {
            let alone: Vec<&str> = self
                .interface
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

    pub(in crate::command::diff) fn json(&self) -> Value {
        let mut value = json!({
            "size": self.size,
            "seed": self.seed,
            "carried_pixels": self.carried,
            "pictures": self.searched.map(|searched| searched[0]),
            "pixels": self.pixels(),
            "shared": {
                "inputs": self.interface.inputs.iter().map(shared_json).collect::<Value>(),
                "constants": self.interface.constants.iter().map(shared_json).collect::<Value>(),
            },
            "not_shared": self
                .interface
                .alone
                .iter()
                .map(|(side, name)| json!({ "side": side.to_string(), "name": name }))
                .collect::<Value>(),
        });
        let registers = |(side, registers): &(Side, r500::check::ExternalReads)| json!({ "side": side.to_string(), "registers": registers.to_string() });
        value["as_floats"] = self.as_floats.clone().into();
        value["filled"] = self.interface.missing.to_string().into();
        value["copied"] = self.interface.copied.iter().map(registers).collect();
        let unmatched = SIDES.into_iter().zip(&self.interface.unmatched);
        value["unmatched"] = unmatched
            .filter(|(_, unmatched)| !unmatched.is_empty())
            .map(|(side, unmatched)| registers(&(side, unmatched.registers())))
            .collect();
        value["endless"] = self.endless.into();
        value["unexercised"] = (self.unexercised.iter())
            .map(|Unexercised { instructions, branches, without_vote }| {
                json!({
                    "instructions": instructions,
                    "branches": branches,
                    "without_vote": without_vote,
                })
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
            End::Equal(claim) => {
                value["verdict"] = "equal".into();
                if let Some(claim) = claim {
                    claim_json(claim, &mut value);
                }
            }
            End::Different(different) => {
                value["verdict"] = "different".into();
                different.json(&mut value);
            }
        }
        value
    }
}

/// Names instructions that only pixels without a vote can execute.
fn only_without_vote(addresses: &[u32]) -> String {
    let list: Vec<String> = addresses.iter().map(|at| format!("@{at}")).collect();
    let list = list.join(", ");
    format!(
        "{list}, which only uncovered or killed pixels without a vote (IGNORE_UNCOVERED) can execute"
    )
}

fn proof(claim: &Claim) -> String {
    match &claim.proof {
        Proof::Unknown(why) => format!("not proved: {why}"),
        _ => format!("proved: {}", claim),
    }
}

/// Adds what a proof covers to a verdict.
pub(in crate::command::diff) fn claim_json(claim: &Claim, value: &mut Value) {
    value["proved"] = claim.proof.is_proved().into();
    if let Proof::Unknown(why) = &claim.proof {
        value["not_proved"] = why.to_string().into();
        return;
    }
    value["covers"] = json!({
        "constants": if claim.has_literals { "literals" } else { "all" },
        "uniforms": claim.uniforms,
        "fixed": claim.fixed,
        "inputs": claim.inputs,
        "textures": claim.textures.to_string(),
        "pixels": if claim.proof == Proof::Proved { "all" } else { "covered groups" },
    });
}

/// Returns the differing outputs of a pixel in a line.
pub(in crate::command::diff) fn parts(difference: &Difference) -> String {
    let parts: Vec<String> = difference.parts.iter().map(ToString::to_string).collect();
    parts.join("; ")
}

fn shared_json(shared: &Shared) -> Value {
    let [a, b] = &shared.places;
    let places = |places: &[(u8, u8)]| -> Value {
        places.iter().map(|(register, channel)| json!([register, channel])).collect()
    };
    json!({ "name": shared.name, "a": places(a), "b": places(b) })
}

impl Different {
    fn count(&self) -> String {
        let Comparison { pixels, differing, .. } = &self.comparison;
        format!("{differing} of {}", counted(*pixels, "pixel"))
    }

    /// Returns the difference in a line.
    pub(in crate::command::diff) fn line(&self) -> String {
        let Some(first) = &self.comparison.first else { return self.count() };
        let [x, y] = first.pixel;
        let parts = parts(first);
        match self.frame {
            None => format!("{}, the first {x},{y}: {parts}", self.count()),
            Some(_) => match self.values.text() {
                values if values.is_empty() => parts,
                values => format!("{parts} with {values}"),
            },
        }
    }

    fn text(&self, out: &mut impl Write, verdict: &Verdict, colors: bool) -> io::Result<()> {
        let first = &self.comparison.first;
        match self.frame {
            None => {
                let [width, height] = verdict.size;
                writeln!(
                    out,
                    "different: {}, {width}x{height} with what the programs carry",
                    self.count()
                )?;
            }
            Some(frame) => writeln!(
                out,
                "different: {} of a quad (picture {frame} of the search, seed {})",
                self.count(),
                verdict.seed
            )?,
        }
        let Some(first) = first else { return Ok(()) };
        let [x, y] = first.pixel;
        writeln!(out, "\nthe first: pixel {x},{y}")?;
        if self.frame.is_some() {
            let values = self.values.text();
            writeln!(out, "  with {}", if values.is_empty() { "any values" } else { &values })?;
        }
        for part in &first.parts {
            match part {
                Part::Color { target, written, stored } => {
                    for (side, (written, stored)) in
                        [Side::A, Side::B].iter().zip(written.iter().zip(stored))
                    {
                        let color = vector(written);
                        write!(out, "  {side}  out[{target}] = {color}")?;
                        if !stored.is_empty() {
                            let stored: String =
                                stored.iter().map(|b| format!("{b:02x}")).collect();
                            write!(out, ", stored {stored}")?;
                        }
                        writeln!(out)?;
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

    fn place(
        &self,
        out: &mut impl Write,
        n: usize,
        place: &ExecutedInst,
        colors: bool,
    ) -> io::Result<()> {
        let shader = &self.shaders[n];
        let (bold, plain) = if colors { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
        let side = if n == 0 { 'A' } else { 'B' };
        let texts = InstructionTexts::new(shader);
        let line = texts.get(place.address).unwrap_or_default();
        writeln!(out, "{side}{:>5}  {bold}@{:<3} {line}{plain}", place.step, place.address)?;
        print_effects(out, &place.event, place.address)
    }

    fn json(&self, value: &mut Value) {
        value["of"] = self.comparison.pixels.into();
        value["differing"] = self.comparison.differing.into();
        value["picture"] = self.frame.into();
        value["values"] = self.values.json();
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
                let place = |n: usize, place: &Option<ExecutedInst>| -> Value {
                    let Some(place) = place else { return Value::Null };
                    let texts = InstructionTexts::new(&self.shaders[n]);
                    let mut value = json!({
                        "step": place.step,
                        "address": place.address,
                        "text": texts.get(place.address),
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
