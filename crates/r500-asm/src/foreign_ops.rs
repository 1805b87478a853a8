//! Operations of other shader languages and their equivalents, for error messages and fixes.
//!
//! They are not pseudo-operations: each source line is one instruction with all its operands.

use r500_isa::Half;

use crate::names;

/// An operation of another language.
pub(crate) struct ForeignOp {
    word: &'static str,
    idiom: Idiom,
    /// Its equivalent, in words.
    pub(crate) text: &'static str,
}

/// The replacement.
enum Idiom {
    /// One `MAD` of these operands.
    Mad(&'static [Factor; 3]),
    /// Several instructions.
    Several,
}

/// An operand of the `MAD`.
#[derive(Clone, Copy)]
enum Factor {
    Operand(usize),
    Negated(usize),
    Zero,
    One,
}

use Factor::{Negated, One, Operand, Zero};

const fn mad(word: &'static str, factors: &'static [Factor; 3], text: &'static str) -> ForeignOp {
    ForeignOp { word, idiom: Idiom::Mad(factors), text }
}

const fn several(word: &'static str, text: &'static str) -> ForeignOp {
    ForeignOp { word, idiom: Idiom::Several, text }
}

static FOREIGN_OPS: &[ForeignOp] = &[
    mad("MOV", &[Operand(0), One, Zero], "a copy is `MAD a 1 0`; `raw MAX a a` copies bit for bit"),
    mad("ADD", &[Operand(0), One, Operand(1)], "a + b is `MAD a 1 b`"),
    mad("SUB", &[Operand(0), One, Negated(1)], "a - b is `MAD a 1 -b`"),
    mad("MUL", &[Operand(0), Operand(1), Zero], "a * b is `MAD a b 0`"),
    several(
        "LRP",
        "with `srcp.rgb = sub` (src1 - src0), `MAD srcp.rgb src2.rgb src0.rgb` goes from src0 to src1 by src2",
    ),
    several(
        "LERP",
        "with `srcp.rgb = sub` (src1 - src0), `MAD srcp.rgb src2.rgb src0.rgb` goes from src0 to src1 by src2",
    ),
    several(
        "MIX",
        "with `srcp.rgb = sub` (src1 - src0), `MAD srcp.rgb src2.rgb src0.rgb` goes from src0 to src1 by src2",
    ),
    several("DIV", "a / b is `RCP` of b in the alpha half, then `MAD a 1/b 0`"),
    several(
        "POW",
        "a to the power of b is `LN2` of a, `MAD` with b, `EX2`, the first and last in the alpha half",
    ),
    several("SQRT", "a square root is `RSQ`, then `RCP`, in the alpha half"),
    several("EXP", "`EX2` of the alpha half is 2 to the power of its operand"),
    several("LOG", "`LN2` of the alpha half is the logarithm to base 2"),
    several("ABS", "`|src0.rgb|` is an operand's absolute value, of any operation"),
    several("NEG", "`-src0.rgb` is an operand negated, of any operation"),
    several("SAT", "`clamp` in front of an operation limits its result to 0..1"),
    several("DP2", "`D2A a b c` is ar*br + ag*bg + cb"),
    several("FLR", "floor is a - `FRC` of a"),
    several("FLOOR", "floor is a - `FRC` of a"),
    several(
        "SLT",
        "a < b ? 1 : 0 is a difference, `MAD a 1 -b`, then `CMP 0 1 difference` (C >= 0 ? A : B)",
    ),
    several(
        "SGE",
        "a >= b ? 1 : 0 is a difference, `MAD a 1 -b`, then `CMP 1 0 difference` (C >= 0 ? A : B)",
    ),
    several("KIL", "`TEX … = TEXKILL` ends a pixel of which a component is negative"),
    several("KILL", "`TEX … = TEXKILL` ends a pixel of which a component is negative"),
    several("DDX", "`MDH` is the difference to the right"),
    several("DDY", "`MDV` is the difference downward"),
];

/// Help for an operation before registers, the order of other languages.
pub(crate) const OPERANDS: &str = "registers are bound to sources first: \
    `src0.rgb = const[1] : temp[0].rgb = MAD src0.rgb src0.111 src0.000`";

/// Returns the operation of another language that a word names; case does not matter.
pub(crate) fn foreign_op(word: &str) -> Option<&'static ForeignOp> {
    FOREIGN_OPS.iter().find(|op| op.word.eq_ignore_ascii_case(word))
}

impl ForeignOp {
    /// Returns whether one `MAD` takes its place.
    pub(crate) fn is_mad(&self) -> bool {
        matches!(self.idiom, Idiom::Mad(_))
    }
}

/// Returns the `MAD` that computes an operation in a half; `None` if operands are missing.
pub(crate) fn mad_text(foreign: &ForeignOp, half: Half, operands: &[String]) -> Option<String> {
    let Idiom::Mad(factors) = foreign.idiom else { return None };
    let operands: Option<Vec<String>> = operands.iter().map(|text| in_half(text, half)).collect();
    let operands = operands?;
    let mut text = String::from("MAD");
    for factor in factors {
        text.push(' ');
        text.push_str(&match (*factor, half) {
            (Operand(n), _) => operands.get(n)?.clone(),
            (Negated(n), _) => {
                let operand = operands.get(n)?;
                operand.strip_prefix('-').map_or_else(|| format!("-{operand}"), str::to_owned)
            }
            (Zero, Half::Rgb) => "src0.000".to_owned(),
            (Zero, Half::Alpha) => "src0.0".to_owned(),
            (One, Half::Rgb) => "src0.111".to_owned(),
            (One, Half::Alpha) => "src0.1".to_owned(),
        });
    }
    Some(text)
}

/// Returns an operand with the swizzle that a half takes, in this language's letters.
fn in_half(text: &str, half: Half) -> Option<String> {
    let (head, tail) = text.split_once('.')?;
    let (letters, bar) = tail.strip_suffix('|').map_or((tail, ""), |letters| (letters, "|"));
    let letters = names::translated_swizzle(letters.trim()).unwrap_or(letters.trim().to_owned());
    let letters: String = match (half, letters.len()) {
        (Half::Rgb, 1) => letters.repeat(3),
        (Half::Rgb, 2) => format!("{letters}_"),
        (Half::Rgb, _) => letters.chars().take(3).collect(),
        (Half::Alpha, _) => letters.chars().take(1).collect(),
    };
    Some(format!("{head}.{letters}{bar}"))
}
