//! Recovery of immediate constants from the passes that a log prints before a program.
//!
//! After a pass the driver prints the program as text, with its immediates:
//!
//! ```text
//! Fragment Program: after 'dataflow swizzles'
//! # Radeon Compiler Program
//!   0: MUL temp[5].xy, const[0].xx__, input[0].yx__;
//! CONST[0] = {     0.6366     0.1000     0.0400    -0.0050 }
//! Fragment Program: after 'dead constants'
//! # Radeon Compiler Program
//! ```
//!
//! The pass 'dead constants' renumbers constants, and only earlier passes print values. It changes nothing else, so the
//! constants of both texts, in order, give the new position of each channel. Later passes move instructions but keep
//! the numbers.

use std::collections::BTreeMap;

use r500_program::State;

/// The line before the text of a pass.
const LISTING: &str = "# Radeon Compiler Program";
/// The pass that renumbers constants.
const RENUMBERS: &str = "after 'dead constants'";

/// The immediates of the next program, from compiler passes.
#[derive(Default)]
pub(super) struct Immediates {
    /// The current pass.
    pass: Pass,
    /// The previous pass.
    before: Pass,
    /// Channels of the program's own constants.
    recovered: BTreeMap<u8, [Option<f32>; 4]>,
    /// Whether the current text is that of [`RENUMBERS`].
    renumbers: bool,
    /// Whether a line has announced that text.
    announced: bool,
}

/// The constants of a pass.
#[derive(Default)]
struct Pass {
    /// Each use of a constant: its number and its swizzle.
    uses: Vec<(u8, String)>,
    /// Values printed after the text.
    values: BTreeMap<u8, [f32; 4]>,
    /// Whether a constant is addressed relative to a register, so that its uses do not show its number.
    relative: bool,
}

impl Immediates {
    /// Processes a line that is not part of a program's words.
    pub(super) fn line(&mut self, line: &str) {
        if line.contains("Fragment Program: ") {
            self.announced = line.contains(RENUMBERS);
        } else if line.contains(LISTING) {
            self.end_of_text();
            self.before = std::mem::take(&mut self.pass);
            self.renumbers = std::mem::take(&mut self.announced);
        } else if let Some((number, value)) = value(line) {
            self.pass.values.insert(number, value);
        } else {
            self.pass.uses_of(line);
        }
    }

    fn end_of_text(&mut self) {
        if !std::mem::take(&mut self.renumbers) {
            return;
        }
        self.recovered = match self.pass.values.is_empty() {
            true => renumbered(&self.before, &self.pass),
            false => {
                let values = self.pass.values.iter();
                values.map(|(&number, value)| (number, value.map(Some))).collect()
            }
        };
    }

    /// Stores the recovered constants in a program's state. Constants in between that are not immediates are absent.
    /// Resets the recovered data for the next program.
    pub(super) fn give(&mut self, state: &mut State) {
        self.end_of_text();
        let recovered = std::mem::take(self).recovered;
        let Some((&last, _)) = recovered.last_key_value() else { return };
        for number in 0..=last {
            match recovered.get(&number) {
                Some(value) => {
                    state.constants.push(value.map(|channel| channel.unwrap_or(0.0).to_bits()));
                }
                None => {
                    state.constants.push([0; 4]);
                    state.absent_constants.push(usize::from(number));
                }
            }
        }
    }
}

impl Pass {
    fn uses_of(&mut self, line: &str) {
        for (at, _) in line.match_indices("const[") {
            let rest = &line[at + "const[".len()..];
            let Some((number, rest)) = rest.split_once(']') else { continue };
            let Ok(number) = number.parse() else {
                self.relative = true;
                continue;
            };
            let swizzle = rest.strip_prefix('.').unwrap_or("xyzw");
            let end = swizzle.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let swizzle = &swizzle[..end.unwrap_or(swizzle.len())];
            self.uses.push((number, swizzle.to_owned()));
        }
    }
}

/// Returns the values of a pass with the numbers of the next one; empty if the texts use constants differently.
fn renumbered(old: &Pass, new: &Pass) -> BTreeMap<u8, [Option<f32>; 4]> {
    let mut recovered: BTreeMap<u8, [Option<f32>; 4]> = BTreeMap::new();
    if old.relative || new.relative || old.uses.len() != new.uses.len() {
        return recovered;
    }
    // The old constant of each new one, as long as all uses agree.
    let mut copies: BTreeMap<u8, Option<u8>> = BTreeMap::new();
    for ((from, from_channels), (to, to_channels)) in old.uses.iter().zip(&new.uses) {
        let Some(value) = old.values.get(from) else { continue };
        let copy = copies.entry(*to).or_insert(Some(*from));
        if *copy != Some(*from) || from_channels != to_channels {
            *copy = None;
        }
        for (a, b) in from_channels.chars().zip(to_channels.chars()) {
            if let (Some(a), Some(b)) = ("xyzw".find(a), "xyzw".find(b)) {
                recovered.entry(*to).or_default()[b] = Some(value[a]);
            }
        }
    }
    // Unused channels of a copied constant are known, too.
    for (to, from) in copies {
        if let Some(value) = from.and_then(|from| old.values.get(&from)) {
            recovered.insert(to, value.map(Some));
        }
    }
    recovered
}

/// Parses `CONST[2] = { 0.4000 0.6000 0.0000 0.0000 }`.
fn value(line: &str) -> Option<(u8, [f32; 4])> {
    let (_, rest) = line.split_once("CONST[")?;
    let (number, rest) = rest.split_once("] = {")?;
    let (numbers, _) = rest.split_once('}')?;
    let mut numbers = numbers.split_ascii_whitespace().map(str::parse);
    let mut next = || numbers.next()?.ok();
    Some((number.parse().ok()?, [next()?, next()?, next()?, next()?]))
}
