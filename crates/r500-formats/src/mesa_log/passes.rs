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

use super::line_kind::Listed;
use super::shader_text::Instruction;

/// The pass that renumbers constants.
const RENUMBERS: &str = "dead constants";
/// The pass that replaces literals 0, 1/2 and 1 by swizzles.
const FOLDS: &str = "dataflow optimize";

/// Constants by number.
pub(super) type List = BTreeMap<u32, [Listed; 4]>;

/// What the passes of a compilation print, as far as it is about constants.
#[derive(Default)]
pub(super) struct Passes {
    /// The text before all passes.
    pub(super) first: Option<Vec<Instruction>>,
    /// The text of the pass before [`RENUMBERS`], and of that pass.
    pub(super) renumbering: Option<[Vec<Instruction>; 2]>,
    /// The last list with the numbers before [`RENUMBERS`].
    pub(super) old_list: List,
    /// The last list with final numbers.
    pub(super) new_list: List,
    /// Whether the compiler folds literals into swizzles.
    pub(super) folds: bool,
    /// Whether a text has been left out, because it is too long.
    pub(super) cut: bool,
    /// The name of the pass whose heading was last.
    name: Option<String>,
    /// The text in progress, and the one before.
    text: Option<Vec<Instruction>>,
    before: Vec<Instruction>,
    /// The list whose pass is not known yet.
    list: List,
    /// Number of texts.
    texts: usize,
    /// Whether the text of [`RENUMBERS`] is complete.
    settled: bool,
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
    pub(super) fn heading(&mut self, name: String) {
        self.end_of_text();
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
    }

    /// Processes a row of a list.
    pub(super) fn constant(&mut self, number: u32, channels: [Listed; 4]) {
        self.end_of_text();
        if number < MOST_CONSTANTS {
            self.list.insert(number, channels);
        }
    }

    /// Processes a line of a text.
    pub(super) fn line(&mut self, line: &str) {
        let Some(text) = &mut self.text else { return };
        if let Some(instruction) = Instruction::parse(line, &["const["]) {
            match text.len() < MOST {
                true => text.push(instruction),
                false => self.cut = true,
            }
        }
    }

    /// Processes the end of all texts.
    pub(super) fn end_of_text(&mut self) {
        let Some(text) = self.text.take() else { return };
        let name = self.name.take().unwrap_or_default();
        let before = std::mem::replace(&mut self.before, text.clone());
        if name == RENUMBERS {
            self.renumbering = Some([before, text]);
            self.settled = true;
        } else if self.texts == 1 {
            self.first = Some(text);
        }
    }
}
