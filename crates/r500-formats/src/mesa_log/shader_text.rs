//! The text of the shader as the driver receives it: TGSI.
//!
//! ```text
//! FRAG
//! DCL IN[0], GENERIC[9], PERSPECTIVE
//! DCL CONST[0][0..3]
//! IMM[0] FLT32 {    2.0000,     4.0000,     8.0000,    16.0000}
//!   0: MUL TEMP[0].x, CONST[0][0].xxxx, IMM[0].xxxx
//!   1: TEX TEMP[1], TEMP[0], SAMP[0], 2D
//! ```
//!
//! Before 2013 immediates have no numbers (`IMM FLT32 {…}`), and before 2018 constants have no buffer (`CONST[3]`).

use std::collections::BTreeMap;

use r500_isa::TEXTURE_UNITS;
use r500_program::Sampler;

use super::line_kind::number;

/// A shader as the driver receives it.
#[derive(Default)]
pub(super) struct ShaderText {
    /// All of its lines, with one space between words.
    pub(super) lines: String,
    /// Whether lines were left out, because there are too many.
    pub(super) cut: bool,
    /// Elements of constant buffer 0: the greatest declared index and 1.
    pub(super) externals: Option<u16>,
    /// Literals, with their decimals.
    pub(super) immediates: Vec<[Option<(f32, u8)>; 4]>,
    /// Instructions without `END`.
    pub(super) instructions: Vec<Instruction>,
    pub(super) samplers: [Option<Sampler>; TEXTURE_UNITS],
    /// Whether it reads the position of the fragment.
    pub(super) reads_position: bool,
}

/// The constants that an instruction reads, in the order of its text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Instruction {
    /// Its number in the text.
    pub(super) number: u16,
    pub(super) opcode: String,
    pub(super) uses: Vec<Use>,
}

/// A constant operand.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Use {
    pub(super) constant: Constant,
    /// The four letters of its swizzle.
    pub(super) swizzle: [u8; 4],
    /// Whether the swizzle is that of this operand. Constants in a presubtract operand have none of their own.
    pub(super) has_swizzle: bool,
}

/// What a constant operand names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Constant {
    /// Element of a constant buffer of the shader.
    Buffer(u8, u16),
    /// Literal of the shader.
    Immediate(u16),
    /// A constant of the compiler's program.
    Register(u16),
    /// One whose number depends on a register.
    Relative,
}

/// Bytes of a shader's text that are kept. The longest program of the processor has a tenth.
const MOST_TEXT: usize = 1 << 20;

impl ShaderText {
    /// Processes a line of the shader.
    pub(super) fn line(&mut self, text: &str) {
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.is_empty() {
            return;
        }
        if self.lines.len() + text.len() > MOST_TEXT {
            self.cut = true;
            return;
        }
        if !self.lines.is_empty() {
            self.lines.push('\n');
        }
        self.lines.push_str(&words.join(" "));
        if let Some(declaration) = after(text, "DCL ") {
            self.declaration(declaration);
        } else if let Some(rest) = after(text, "IMM") {
            // An operand of an instruction is not at the beginning of a line.
            if !text.contains(": ") {
                self.immediates.push(immediate(rest));
            }
        } else if let Some(instruction) = Instruction::parse(text, &["CONST[", "IMM["]) {
            self.sampler(text);
            if instruction.opcode != "END" {
                self.instructions.push(instruction);
            }
        }
    }

    /// Returns whether it is the driver's dummy: it writes black, and has no other instruction.
    pub(super) fn is_dummy(&self) -> bool {
        if self.lines.contains("r300 dummy FS") {
            return true;
        }
        let black = |&(value, _): &(f32, u8)| value == 0.0 || value == 1.0;
        let constants = self.immediates.iter().flatten().all(|v| v.as_ref().is_some_and(black));
        let mov = |instruction: &Instruction| instruction.opcode == "MOV";
        self.immediates.len() == 1
            && constants
            && self.instructions.len() == 1
            && self.instructions.iter().all(mov)
            && !self.lines.contains("IN[")
            && !self.lines.contains("WRITES_ALL")
    }

    fn declaration(&mut self, text: &str) {
        self.reads_position |= text.starts_with("IN[") && text.contains("POSITION");
        let Some(rest) = text.strip_prefix("CONST[") else { return };
        let Some((first, rest)) = rest.split_once(']') else { return };
        let (buffer, range) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((range, _)) => (first, range),
            None => ("0", first),
        };
        let last = range.rsplit("..").next().unwrap_or(range);
        if let ("0", Ok(last)) = (buffer, last.parse::<u16>()) {
            self.externals = self.externals.max(last.checked_add(1));
        }
    }

    /// Notes what a texture instruction samples: `TEX TEMP[0], IN[0], SAMP[0], 2D`.
    fn sampler(&mut self, text: &str) {
        let Some((_, rest)) = text.split_once("SAMP[") else { return };
        let Some((unit, rest)) = rest.split_once(']') else { return };
        let target = rest.split([',', ' ', ';']).find(|word| !word.is_empty());
        let slot = unit.parse().ok().and_then(|unit: usize| self.samplers.get_mut(unit));
        if let (Some(slot), Some(target)) = (slot, target) {
            *slot = Sampler::from_target(target).or(*slot);
        }
    }
}

/// Returns what follows a word at the beginning of a line, after what loggers leave there.
fn after<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (before, rest) = text.split_once(word)?;
    before.trim().is_empty().then_some(rest)
}

/// Returns the values of `[0] FLT32 { 0.5000, 1.0000, 0.0000, 0.0000}`.
fn immediate(text: &str) -> [Option<(f32, u8)>; 4] {
    let mut values = [None; 4];
    let Some((kind, inside)) = text.split_once('{') else { return values };
    if !kind.contains("FLT32") {
        return values;
    }
    let inside = inside.split('}').next().unwrap_or(inside);
    for (value, word) in values.iter_mut().zip(inside.split(',')) {
        *value = number(word.trim());
    }
    values
}

impl Instruction {
    /// Returns the instruction of a line such as `  0: MUL temp[0].x, const[0].xxxx, const[1].xxxx;`.
    pub(super) fn parse(text: &str, files: &[&str]) -> Option<Self> {
        let (number, start) = text.match_indices(": ").find_map(|(at, _)| {
            let rest = text[at + 2..].trim_start();
            let digits = text[..at].trim_end_matches(|c: char| c.is_ascii_digit()).len();
            let number = text[digits..at].parse().ok()?;
            let opcode = rest.starts_with(|c: char| c.is_ascii_uppercase());
            opcode.then_some((number, rest))
        })?;
        let end = start.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let (opcode, operands) = start.split_at(end.unwrap_or(start.len()));
        // The destination, which is written as a source is, comes first.
        let uses = uses(operands, files);
        Some(Self { number, opcode: opcode.to_owned(), uses })
    }
}

/// Returns the constants that a text names.
pub(super) fn uses(text: &str, files: &[&str]) -> Vec<Use> {
    let mut found: BTreeMap<usize, Use> = BTreeMap::new();
    for file in files {
        for (at, _) in text.match_indices(file) {
            if let Some(found_use) = one_use(file, &text[at + file.len()..]) {
                found.insert(at, found_use);
            }
        }
    }
    found.into_values().collect()
}

fn one_use(file: &str, rest: &str) -> Option<Use> {
    let (mut index, mut rest) = rest.split_once(']')?;
    let mut buffer = 0;
    if let Some((element, after)) = rest.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        buffer = index.parse().ok()?;
        (index, rest) = (element, after);
    }
    let constant = match (file, index.parse::<u16>()) {
        (_, Err(_)) => Constant::Relative,
        ("CONST[", Ok(index)) => Constant::Buffer(buffer, index),
        ("IMM[", Ok(index)) => Constant::Immediate(index),
        (_, Ok(index)) => Constant::Register(index),
    };
    // `const[1].x___`, `|const[1]|.xy-z_`; negations of channels are left out.
    let rest = rest.strip_prefix('|').unwrap_or(rest);
    let mut swizzle = *b"xyzw";
    let mut has_swizzle = true;
    if let Some(letters) = rest.strip_prefix('.') {
        let mut letters = letters.bytes().filter(|&b| b != b'-');
        for letter in &mut swizzle {
            *letter = letters.next().filter(|b| b"xyzw01H_".contains(b))?;
        }
    } else {
        has_swizzle = rest.starts_with([',', ';', '|']) || rest.trim().is_empty();
    }
    Some(Use { constant, swizzle, has_swizzle })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use r500_program::SamplerTarget;

    use super::*;

    #[test]
    fn declarations_immediates_and_instructions_of_tgsi() {
        let mut shader = ShaderText::default();
        for line in [
            "FRAG",
            "DCL IN[0], POSITION, LINEAR",
            "DCL CONST[0][0..3]",
            "DCL SAMP[1]",
            "IMM[0] FLT32 {    2.0000,    -0.5000,     0.0000,     1.0000}",
            "  0: MUL TEMP[0].x, CONST[0][3].wwww, IMM[0].xxxx",
            "  1: TEX TEMP[1], TEMP[0], SAMP[1], SHADOW2D",
            "  2: END",
        ] {
            shader.line(line);
        }
        assert_eq!(shader.externals, Some(4));
        assert_eq!(
            shader.immediates,
            [[Some((2.0, 4)), Some((-0.5, 4)), Some((0.0, 4)), Some((1.0, 4))]]
        );
        let sampler = Sampler { target: SamplerTarget::D2, shadow: true };
        assert_eq!(shader.samplers[1], Some(sampler));
        assert!(shader.reads_position);
        let uses = &shader.instructions[0].uses;
        assert_eq!(uses[0].constant, Constant::Buffer(0, 3));
        assert_eq!(&uses[0].swizzle, b"wwww");
        assert_eq!(uses[1].constant, Constant::Immediate(0));
        assert_eq!(shader.instructions.len(), 2);
    }

    #[test]
    fn operands_of_the_compilers_text() {
        let of = |text| uses(text, &["const["]);
        let [one] = &of("MAD temp[0].x, -|const[7].x_-y_|, temp[1], temp[2];")[..] else {
            panic!()
        };
        assert_eq!((one.constant, &one.swizzle), (Constant::Register(7), b"x_y_"));
        let [a, b] = &of("MUL temp[0], (const[1] - const[2]).xyzw, temp[0];")[..] else { panic!() };
        assert!(!a.has_swizzle && !b.has_swizzle);
        let [one] = &of("MOV temp[0], const[3 + addr[0]].xyzw;")[..] else { panic!() };
        assert_eq!(one.constant, Constant::Relative);
        let [one] = &of("MOV output[0], const[3];")[..] else { panic!() };
        assert_eq!((one.has_swizzle, &one.swizzle), (true, b"xyzw"));
    }
}
