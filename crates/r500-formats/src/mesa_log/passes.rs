//! The texts and lists that compiler passes print before the machine code.
//!
//! ```text
//! CONST[1] = {     2.0000     4.0000     8.0000    16.0000 }      printed by the pass whose heading follows
//! CONST[2] = {     0.3000     0.7000     0.9000     0.1000 }
//! Fragment Program: after 'dataflow swizzles'
//! # Radeon Compiler Program
//!   0: MUL temp[4].x, const[0].x___, 2.000000 (0x40).w___;
//!   1: MUL output[0], temp[4], const[2];
//! CONST[1] = {     0.3000     0.7000     0.9000     0.1000 }      printed by 'dead constants', with the new numbers
//! Fragment Program: after 'dead constants'
//! # Radeon Compiler Program
//!   0: MUL temp[4].x, const[0].x___, 2.000000 (0x40).w___;
//!   1: MUL output[0], temp[4], const[1];
//! ```
//!
//! A pass prints its list while it runs, so a list belongs to the heading after it. 'dead constants' gives constants their final numbers:
//! lists of this and of later passes have final numbers, those of earlier passes the numbers of the text before.

use std::collections::BTreeMap;

use r500_isa::TEXTURE_UNITS;
use r500_program::Sampler;

use super::line_kind::{Listed, PassName};
use super::shader_text::Instruction;

/// The pass that renumbers constants.
const RENUMBERS: &str = "dead constants";
/// The last pass: its text has one number for each instruction of the machine code.
const LAST: &str = "register allocation";
/// The pass that replaces literals 0, 1/2 and 1 by swizzles.
const FOLDS: &str = "dataflow optimize";

/// Constants by number.
pub(super) type List = BTreeMap<u32, [Listed; 4]>;

/// What the passes of a compilation print, as far as it is about constants.
#[derive(Default)]
pub(super) struct Passes {
    /// The text before all passes.
    pub(super) first: Option<Vec<Instruction>>,
    /// What that text samples in each texture unit. Later passes replace targets: 'transform TEX' samples a `RECT` as `2D`.
    pub(super) samplers: [Option<Sampler>; TEXTURE_UNITS],
    /// The text of the pass before [`RENUMBERS`], and of that pass.
    pub(super) renumbering: Option<[Vec<Instruction>; 2]>,
    /// The last list with the numbers before [`RENUMBERS`].
    pub(super) old_list: List,
    /// The last list with final numbers.
    pub(super) new_list: List,
    /// Whether names of passes are in quotes: by then, a pass renumbers constants.
    pub(super) quoted: bool,
    /// Whether the compiler folds literals into swizzles.
    pub(super) folds: bool,
    /// Whether a text has been left out, because it is too long, or a heading is missing.
    pub(super) cut: bool,
    /// The name of the pass whose heading was last.
    name: Option<String>,
    /// The last text of instructions, which are not pairs yet.
    pub(super) last: Vec<Instruction>,
    /// The text in progress, and the one before.
    text: Option<Vec<Instruction>>,
    before: Vec<Instruction>,
    /// The list whose pass is not known yet.
    list: List,
    /// Number of texts.
    texts: usize,
    /// Whether the text of [`RENUMBERS`] is complete.
    settled: bool,
    /// Instructions of the text in progress.
    count: Option<u32>,
    /// Instructions of the text of [`LAST`].
    listed: Option<u32>,
}

/// Instructions of a text that are kept: ten times as many as the processor takes.
const MOST: usize = 1 << 13;
/// Constants of a list that are kept.
const MOST_CONSTANTS: u32 = 1 << 12;

impl Passes {
    /// Returns whether there was a text or a heading.
    pub(super) fn has_begun(&self) -> bool {
        self.texts > 0 || self.name.is_some()
    }

    /// Processes the heading of a pass; the name is empty for the text before all passes.
    pub(super) fn heading(&mut self, pass: PassName) {
        self.end_of_text();
        let PassName { name, quoted } = pass;
        self.quoted |= quoted;
        self.folds |= name == FOLDS;
        if !self.list.is_empty() {
            let list = std::mem::take(&mut self.list);
            match name == RENUMBERS || self.renumbering.is_some() {
                true => self.new_list = list,
                false => self.old_list = list,
            }
        }
        self.name = Some(name);
    }

    /// Processes the line at the beginning of a text.
    pub(super) fn listing(&mut self) {
        self.end_of_text();
        self.texts += 1;
        self.text = (!self.settled).then(Vec::new);
        self.count = Some(0);
    }

    /// Processes a row of a list.
    pub(super) fn constant(&mut self, number: u32, channels: [Listed; 4]) {
        self.end_of_text();
        // Rows are in ascending order. Where they are not, a heading between two lists is lost, and the numbers are those of either.
        self.cut |= self.list.last_key_value().is_some_and(|(last, _)| number <= *last);
        if number < MOST_CONSTANTS {
            self.list.insert(number, channels);
        }
    }

    /// Processes a line of a text.
    pub(super) fn line(&mut self, line: &str) {
        if let Some(count) = &mut self.count
            && is_next(line, *count)
        {
            *count += 1;
        }
        let Some(text) = &mut self.text else { return };
        if let Some(instruction) = Instruction::parse(line, &["const["]) {
            if self.texts == 1
                && let Some((unit, sampler)) = sampler(line)
                && let Some(slot) = self.samplers.get_mut(unit)
            {
                *slot = Some(sampler);
            }
            let is_next = usize::from(instruction.number) == text.len();
            match is_next && text.len() < MOST {
                true => text.push(instruction),
                false => self.cut = true,
            }
        }
    }

    /// Returns the instructions of the text of [`LAST`], which the machine code has, too, if it fits.
    pub(super) fn needed(&self) -> Option<u32> {
        let current = self.count.filter(|_| self.name.as_deref() == Some(LAST));
        current.or(self.listed)
    }

    /// Processes the end of all texts.
    pub(super) fn end_of_text(&mut self) {
        if let Some(count) = self.count.take()
            && self.name.as_deref() == Some(LAST)
        {
            self.listed = Some(count);
        }
        let Some(text) = self.text.take() else { return };
        let name = self.name.take().unwrap_or_default();
        let before = std::mem::replace(&mut self.before, text.clone());
        if !text.is_empty() {
            self.last.clone_from(&text);
        }
        if name == RENUMBERS {
            self.renumbering = Some([before, text]);
            self.settled = true;
        } else if self.texts == 1 {
            self.first = Some(text);
        }
    }
}

/// Returns whether a line is that of instruction `number`: `  3: src0.xyz = temp[0]`.
fn is_next(line: &str, number: u32) -> bool {
    let found = line.trim_start().split_once(':').map(|(number, _)| number.parse());
    found == Some(Ok(number))
}

/// Returns what an instruction samples, and in which texture unit: `0: TEX temp[0], input[0].xy__, 2DSHADOW[1];`.
///
/// Evidence: `rc_print_normal_instruction` of Mesa's `radeon_program_print.c` prints the target, `SHADOW`, and the unit after the operands.
/// In logs of versions that translate NIR without TGSI it is the only text that names targets: `r300_translate_fragment_shader` there prints
/// no text of the shader, and `nir_to_rc` prints NIR under `NIR_DEBUG=tgsi` only, which release builds ignore.
fn sampler(line: &str) -> Option<(usize, Sampler)> {
    let (_, operand) = line.split(';').next()?.rsplit_once(", ")?;
    let (target, rest) = operand.split_once('[')?;
    let (unit, _) = rest.split_once(']')?;
    Some((unit.parse().ok()?, Sampler::from_target(target)?))
}

#[cfg(test)]
mod tests {
    use r500_program::SamplerTarget;

    use super::*;

    #[test]
    fn the_last_text_says_how_many_instructions_are_needed() {
        let mut passes = Passes::default();
        let text = [
            "  0: src0.xyz = input[0]",
            "     MAD temp[4].xyz, src0.xyz",
            "  1: IF aluresult;",
            "  3: no",
        ];
        for name in ["pair scheduling", LAST] {
            passes.heading(PassName { name: name.to_owned(), quoted: true });
            passes.listing();
            text.into_iter().for_each(|line| passes.line(line));
        }
        assert_eq!(passes.needed(), Some(2));
        passes.end_of_text();
        assert_eq!(passes.needed(), Some(2));
    }

    #[test]
    fn texture_operands_name_target_and_unit() {
        let found = |line| sampler(line).map(|(unit, s)| (unit, s.target, s.shadow));
        let cube = "  3: TXB temp[0], input[1].xyzw, CUBE[15] SEM_WAIT SEM_ACQUIRE;";
        assert_eq!(found(cube), Some((15, SamplerTarget::Cube, false)));
        let shadow = "  0: TXP temp[2].x, temp[1], 2DSHADOW[3];";
        assert_eq!(found(shadow), Some((3, SamplerTarget::D2, true)));
        for other in [
            "  0: MUL temp[0], input[0], const[1];",
            "  1: TEX temp[0], input[0], BAD_TEXTURE_TARGET[0];",
            "  2: ENDIF;",
        ] {
            assert_eq!(found(other), None, "{other}");
        }
    }
}
