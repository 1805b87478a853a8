//! What a log says of each channel of each constant.
//!
//! The compiler numbers the uniforms of a shader first, then its literals, then values that the driver computes. The pass
//! 'dead constants' gives them final numbers; Mesa 24 and later move single channels, too. Each constant operand of the text before that
//! pass corresponds to the operand at the same place after it, so that the two texts show where every channel that is read comes
//! from.

use std::collections::BTreeMap;

use r500_isa::{CONSTANTS, Instruction as Code};
use r500_program::{Channel, DriverState};

use super::line_kind::Listed;
use super::passes::Passes;
use super::shader_text::{Constant, Instruction, ShaderText, Use};

/// What is known of a channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Known {
    pub(super) channel: Channel,
    /// The value, if it is a literal.
    pub(super) value: Option<f32>,
}

const UNKNOWN: Known = Known { channel: Channel::Unknown, value: None };

/// A channel of a constant.
type Place = (u16, u8);

/// A constant before the pass that renumbers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Old {
    Uniform(u8, u16),
    Literal([Listed; 4]),
    State(DriverState),
}

/// Returns what a log says of the constants of a program, by number.
pub(super) fn resolve(passes: &Passes, shader: &ShaderText, code: &[Code]) -> Vec<[Known; 4]> {
    if passes.cut || shader.cut {
        return Vec::new();
    }
    let Some(origins) = Origins::of(passes) else { return Vec::new() };
    let old = old_meanings(passes, shader);
    let uniforms_move = origins.channels.iter().any(|(place, origin)| {
        origin.is_some_and(|origin| {
            origin != *place && matches!(old.get(&origin.0), Some(Old::Uniform(..)))
        })
    });
    let resolver = Resolver { passes, old, origins, uniforms_move };
    if !resolver.lists_agree() {
        return Vec::new();
    }
    let reads = reads(code);
    let mut constants: Vec<[Known; 4]> = (0..CONSTANTS as u16)
        .map(|n| {
            std::array::from_fn(|c| {
                let known = resolver.channel((n, c as u8));
                let is_read = reads[usize::from(n)] >> c & 1 != 0;
                if passes.folds && is_read { without_zero(known) } else { known }
            })
        })
        .collect();
    let is_known = |constant: &[Known; 4]| constant.iter().any(|known| *known != UNKNOWN);
    constants.truncate(constants.iter().rposition(is_known).map_or(0, |last| last + 1));
    constants
}

/// A compiler that folds literals leaves few reads of a literal 0, so what is printed as 0 is probably a number that is smaller than the
/// decimals show, such as the 1e-5 in `max(x, 1e-5)`.
fn without_zero(known: Known) -> Known {
    match known {
        Known { channel: Channel::Literal { decimals: Some(decimals) }, value: Some(0.0) } => {
            Known { channel: Channel::Tiny { decimals }, value: None }
        }
        known => known,
    }
}

/// Returns the channels of each constant that a program reads.
fn reads(code: &[Code]) -> Vec<u8> {
    let mut reads = vec![0; CONSTANTS];
    for instruction in code {
        for access in r500_isa::InstInfo::new(*instruction).constants.iter() {
            if access.relative {
                reads.fill(0b1111);
            }
            reads[usize::from(access.addr)] |= access.may;
        }
    }
    reads
}

struct Resolver<'a> {
    passes: &'a Passes,
    old: BTreeMap<u16, Old>,
    origins: Origins,
    /// Whether any uniform has another place than before.
    uniforms_move: bool,
}

impl Resolver<'_> {
    fn channel(&self, place: Place) -> Known {
        let (n, c) = place;
        if let Some(row) = self.passes.new_list.get(&u32::from(n)) {
            match row[usize::from(c)] {
                Listed::Number { value, decimals } => return literal(value, decimals),
                Listed::Unused => return Known { channel: Channel::Unused, value: None },
                Listed::External { .. } | Listed::Nothing => {}
            }
        }
        if let Some(&origin) = self.origins.channels.get(&place) {
            return origin.map_or(UNKNOWN, |origin| self.old_channel(origin));
        }
        if self.uniforms_move {
            return self.from_table(place);
        }
        // Nothing reads this channel, or an address that depends on a register does.
        let of_this = self.origins.channels.range((n, 0)..=(n, 3));
        let mut of_this = of_this.filter_map(|(_, origin)| *origin);
        if let Some((k, _)) = of_this.clone().next()
            && matches!(self.old.get(&k), Some(Old::State(_)))
        {
            // Vectors of the driver stay whole.
            return self.old_channel((k, c));
        }
        if of_this.any(|(k, _)| k != n) {
            return UNKNOWN;
        }
        match self.old.get(&n) {
            Some(Old::Uniform(..)) if !self.is_listed_literal(n) => self.old_channel(place),
            Some(Old::Literal(_)) if self.origins.is_identity => self.old_channel(place),
            _ => UNKNOWN,
        }
    }

    fn is_listed_literal(&self, n: u16) -> bool {
        let row = self.passes.new_list.get(&u32::from(n));
        row.is_some_and(|row| {
            row.iter().any(|c| matches!(c, Listed::Number { .. } | Listed::Unused))
        })
    }

    /// Returns the uniform that the printed table puts in a place. The table is only right if uniforms move; else it is printed from
    /// released memory.
    fn from_table(&self, (n, c): Place) -> Known {
        let row = self.passes.new_list.get(&u32::from(n));
        match row.map(|row| row[usize::from(c)]) {
            Some(Listed::External { index, channel }) => match u16::try_from(index) {
                Ok(index) if matches!(self.old.get(&index), Some(Old::Uniform(..))) => {
                    self.old_channel((index, channel))
                }
                _ => UNKNOWN,
            },
            Some(Listed::Nothing) => Known { channel: Channel::Unused, value: None },
            _ => UNKNOWN,
        }
    }

    fn old_channel(&self, (k, c): Place) -> Known {
        match self.old.get(&k) {
            Some(Old::Literal(row)) => match row[usize::from(c)] {
                Listed::Number { value, decimals } => literal(value, decimals),
                Listed::Unused => Known { channel: Channel::Unused, value: None },
                Listed::External { .. } | Listed::Nothing => UNKNOWN,
            },
            Some(&Old::Uniform(buffer, index)) => {
                Known { channel: Channel::Uniform { buffer, index, channel: c }, value: None }
            }
            Some(&Old::State(state)) => Known { channel: Channel::State(state), value: None },
            None => UNKNOWN,
        }
    }

    /// Returns whether the two lists have the same values at places that correspond. If not, lines of several compilations are mixed.
    fn lists_agree(&self) -> bool {
        self.origins.channels.iter().all(|(&(n, c), origin)| {
            let new = self.passes.new_list.get(&u32::from(n)).map(|row| row[usize::from(c)]);
            let Some((k, old_c)) = *origin else { return true };
            let old = self.passes.old_list.get(&u32::from(k)).map(|row| row[usize::from(old_c)]);
            match (old, new) {
                // Compilers that merge literals find those of the other sign, too.
                (
                    Some(Listed::Number { value: old, .. }),
                    Some(Listed::Number { value: new, .. }),
                ) => old.abs() == new.abs() || old.is_nan() && new.is_nan(),
                (_, Some(Listed::Number { .. })) => {
                    !matches!(self.old.get(&k), Some(Old::Uniform(..)))
                }
                _ => true,
            }
        })
    }
}

fn literal(value: f32, decimals: u8) -> Known {
    match value.is_nan() {
        // The payload of NaN is not printed.
        true => UNKNOWN,
        false => {
            Known { channel: Channel::Literal { decimals: Some(decimals) }, value: Some(value) }
        }
    }
}

/// Where the channels of the final constants come from.
struct Origins {
    /// The old place of each place that is read; `None` if the texts contradict each other.
    channels: BTreeMap<Place, Option<Place>>,
    /// Whether constants keep their numbers.
    is_identity: bool,
}

impl Origins {
    /// Returns `None` if the texts do not show it.
    fn of(passes: &Passes) -> Option<Self> {
        let mut origins = Self { channels: BTreeMap::new(), is_identity: true };
        let Some([old, new]) = &passes.renumbering else {
            // Versions before 2010 do not renumber.
            return (passes.first.is_some() && passes.new_list.is_empty()).then_some(origins);
        };
        let same = |(a, b): (&Instruction, &Instruction)| {
            a.opcode == b.opcode && a.uses.len() == b.uses.len()
        };
        if old.len() != new.len() || !old.iter().zip(new).all(same) {
            return None;
        }
        let uses = |text: &[Instruction]| text.iter().flat_map(|i| i.uses.clone()).collect();
        let (old, new): (Vec<Use>, Vec<Use>) = (uses(old), uses(new));
        for (from, to) in old.iter().zip(&new) {
            origins.pair(from, to)?;
        }
        Some(origins)
    }

    fn pair(&mut self, from: &Use, to: &Use) -> Option<()> {
        let (k, n) = match (from.constant, to.constant) {
            (Constant::Register(k), Constant::Register(n)) => (k, n),
            // Where addresses depend on registers, uniforms keep their numbers.
            (Constant::Relative, Constant::Relative) => return Some(()),
            _ => return None,
        };
        self.is_identity &= k == n;
        let channel = |letter: u8| b"xyzw".iter().position(|&b| b == letter).map(|c| c as u8);
        for i in 0..4 {
            let (old, new) = match from.has_swizzle && to.has_swizzle {
                true => match (channel(from.swizzle[i]), channel(to.swizzle[i])) {
                    (Some(old), Some(new)) => (old, new),
                    (None, None) => continue,
                    _ => return None,
                },
                false => (i as u8, i as u8),
            };
            self.is_identity &= old == new;
            let origin = self.channels.entry((n, new)).or_insert(Some((k, old)));
            if *origin != Some((k, old)) {
                *origin = None;
            }
        }
        Some(())
    }
}

/// Returns what the constants are before the pass that renumbers.
fn old_meanings(passes: &Passes, shader: &ShaderText) -> BTreeMap<u16, Old> {
    let mut old = BTreeMap::new();
    let aligned = aligned(passes.first.as_deref().unwrap_or_default(), shader);
    let agrees =
        |k: u16, constant: Constant| aligned.get(&k).is_none_or(|&found| found == Some(constant));
    let externals = shader.externals.unwrap_or(0);
    for k in 0..externals {
        if agrees(k, Constant::Buffer(0, k)) {
            old.insert(k, Old::Uniform(0, k));
        }
    }
    if !shader.instructions.is_empty() {
        for (&k, &found) in &aligned {
            match found {
                Some(Constant::Buffer(buffer, index)) => {
                    old.insert(k, Old::Uniform(buffer, index));
                }
                Some(Constant::Immediate(index)) => {
                    if let Some(values) = shader.immediates.get(usize::from(index)) {
                        let listed = values.map(|value| match value {
                            Some((value, decimals)) => Listed::Number { value, decimals },
                            None => Listed::Nothing,
                        });
                        old.insert(k, Old::Literal(listed));
                    }
                }
                _ => {
                    old.remove(&k);
                }
            }
        }
    }
    for (&k, row) in &passes.old_list {
        if let Ok(k) = u16::try_from(k) {
            let is_literal = row.iter().any(|c| matches!(c, Listed::Number { .. }));
            if is_literal {
                old.insert(k, Old::Literal(*row));
            }
        }
    }
    for (k, state) in window_position(passes, shader, &old) {
        old.insert(k, Old::State(state));
    }
    old
}

/// Returns what the constants of the first text are in the shader, from operands at the same places; `None` for contradictions.
fn aligned(first: &[Instruction], shader: &ShaderText) -> BTreeMap<u16, Option<Constant>> {
    let mut found: BTreeMap<u16, Option<Constant>> = BTreeMap::new();
    // The driver puts instructions for `gl_FragCoord` and the face in front.
    for (to, from) in first.iter().rev().zip(shader.instructions.iter().rev()) {
        if to.opcode != from.opcode {
            continue;
        }
        let from: Vec<&Use> = match from.uses.len() == to.uses.len() {
            true => from.uses.iter().collect(),
            // Literals of 0, 1/2 and 1 may be swizzles already.
            false => {
                let is_number = |it: &&Use| !is_swizzle(it.constant, shader);
                from.uses.iter().filter(is_number).collect()
            }
        };
        if from.len() != to.uses.len() {
            continue;
        }
        for (from, to) in from.into_iter().zip(&to.uses) {
            if let Constant::Register(k) = to.constant
                && from.swizzle == to.swizzle
            {
                let meaning = found.entry(k).or_insert(Some(from.constant));
                if *meaning != Some(from.constant) {
                    *meaning = None;
                }
            }
        }
    }
    found
}

/// Returns whether a literal can be written as a swizzle.
fn is_swizzle(constant: Constant, shader: &ShaderText) -> bool {
    let Constant::Immediate(index) = constant else { return false };
    let small = |value: &Option<(f32, u8)>| {
        value.is_some_and(|(value, _)| [0.0, 0.5, 1.0].contains(&value.abs()))
    };
    shader.immediates.get(usize::from(index)).is_some_and(|values| values.iter().all(small))
}

/// Returns the constants of the instruction that scales the position of the fragment: `MAD temp[4].xyz, temp[4].xyz0,
/// const[1].xyz0, const[2].xyz0;`, among those that the driver puts in front.
fn window_position(
    passes: &Passes,
    shader: &ShaderText,
    old: &BTreeMap<u16, Old>,
) -> Vec<(u16, DriverState)> {
    let Some(first) = passes.first.as_ref().filter(|_| shader.reads_position) else {
        return Vec::new();
    };
    let in_front = first.len().saturating_sub(shader.instructions.len());
    let uses =
        first.iter().take(in_front).filter(|i| i.opcode == "MAD").find_map(|i| match &i.uses[..] {
            [scale, offset] => Some([scale.constant, offset.constant]),
            _ => None,
        });
    match uses {
        Some([Constant::Register(scale), Constant::Register(offset)])
            if !old.contains_key(&scale) && !old.contains_key(&offset) =>
        {
            vec![(scale, DriverState::ViewportScale), (offset, DriverState::ViewportOffset)]
        }
        _ => Vec::new(),
    }
}
