//! The kinds of lines in a log.

use super::words::Word;

/// The shader stage of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Fragment,
    Vertex,
}

/// A channel of a constant in a list that the compiler prints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Listed {
    /// A number with its decimals.
    Number { value: f32, decimals: u8 },
    /// `unused`: no instruction reads it.
    Unused,
    /// `CONST[n].x`: channel of an external constant. The index is meaningless where the compiler prints released memory.
    External { index: i64, channel: u8 },
    /// `CONST[-1].u`: nothing is uploaded there.
    Nothing,
}

/// The name of a compiler pass in its heading; empty for the text before all passes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PassName {
    pub(super) name: String,
    /// Whether it is in quotes, as since 2010.
    pub(super) quoted: bool,
}

/// What a line is.
pub(super) enum LineKind {
    /// `r300: Initial fragment program`: the text of the shader follows.
    Initial(Stage),
    /// `Fragment Program: before compilation`, `Fragment Program: after 'deadcode'`: the text of the program follows. The name of the pass
    /// is empty for the first text.
    Heading(Stage, PassName),
    /// `# Radeon Compiler Program`.
    Listing,
    /// `CONST[1] = { … }`.
    Constant(u32, [Listed; 4]),
    /// `R500 Fragment Program:`.
    Words,
    /// A word of the program.
    Word(Word),
    /// `Constant 0: 0.5 0.25`: the first two channels in the list of the classic driver.
    Classic(u32, Vec<f32>),
    /// `r300compiler error: …`.
    CompilerError(String),
    /// `r300 FP: Compiler Error:`: the reason follows.
    Failed(Stage),
    /// `Using a dummy shader instead.`, `Corresponding draws will be skipped.`: the driver's last word, and the text before it.
    GaveUp(Stage, String),
    /// `Final vertex program code:`.
    VertexWords,
    /// `0: op: 0x00f00203 …`, ` src0: 0x00d10001 …`: a word of a vertex instruction, 0 to 3, and the address of the first.
    VertexWord { index: usize, value: u32, address: Option<usize> },
    /// `Flow Control Ops: 0x00000002`: `VAP_PVS_FLOW_CNTL_OPC`, after the words of a vertex program.
    FlowOps(u32),
    /// `LOOP: uw-> 0x0004000a lw-> 0x00ff0003 loop data->0x00000100`: the registers of the next flow control instruction.
    Flow { high: u32, low: u32, index: u32 },
    /// Text: of a shader, or of anything else.
    Text,
}

impl LineKind {
    pub(super) fn of(text: &str) -> Self {
        if let Some(word) = Word::find(text) {
            return Self::Word(word);
        }
        Self::mark(text).unwrap_or(Self::Text)
    }

    fn mark(text: &str) -> Option<Self> {
        // A message without an end of line is followed by another one.
        if let Some((_, reason)) = text.split_once("r300compiler error: ") {
            let reason = reason.split("r300 FP: Compiler").next().unwrap_or(reason);
            let reason = reason.split("r300 VP: Compiler").next().unwrap_or(reason);
            return Some(Self::CompilerError(reason.trim().to_owned()));
        }
        for (mark, stage) in [
            ("Using a dummy shader instead", Stage::Fragment),
            ("Corresponding draws will be skipped", Stage::Vertex),
        ] {
            if let Some((reason, _)) = text.split_once(mark) {
                let reason = reason.split_once("r300 FP: ").map_or(reason, |(_, reason)| reason);
                let reason = reason.split_once("r300 VP: ").map_or(reason, |(_, reason)| reason);
                return Some(Self::GaveUp(stage, reason.trim().to_owned()));
            }
        }
        let ends = |mark: &str| text.trim_end().ends_with(mark);
        if ends("r300 FP: Compiler Error:") {
            return Some(Self::Failed(Stage::Fragment));
        }
        if ends("r300 VP: Compiler error:") {
            return Some(Self::Failed(Stage::Vertex));
        }
        if text.contains("r300: Initial fragment program") {
            return Some(Self::Initial(Stage::Fragment));
        }
        if text.contains("r300: Initial vertex program") {
            return Some(Self::Initial(Stage::Vertex));
        }
        if text.contains("# Radeon Compiler Program") {
            return Some(Self::Listing);
        }
        if text.contains("R500 Fragment Program:") {
            return Some(Self::Words);
        }
        if text.contains("Final vertex program code:") {
            return Some(Self::VertexWords);
        }
        heading(text).or_else(|| constant(text)).or_else(|| classic(text)).or_else(|| vertex(text))
    }
}

fn heading(text: &str) -> Option<LineKind> {
    let (stage, rest) = match text.split_once("Fragment Program: ") {
        Some((_, rest)) => (Stage::Fragment, rest),
        None => (Stage::Vertex, text.split_once("Vertex Program: ")?.1),
    };
    let name = rest.trim().trim_end_matches(':');
    if name.starts_with("before compilation") {
        return Some(LineKind::Heading(stage, PassName::default()));
    }
    // Before 2010 without quotes: `Fragment Program: after native rewrite part 1`.
    let name = name.strip_prefix("after ").or_else(|| name.strip_prefix("After "))?;
    let quoted = name.starts_with('\'');
    let name = name.trim_matches('\'').to_owned();
    Some(LineKind::Heading(stage, PassName { name, quoted }))
}

fn constant(text: &str) -> Option<LineKind> {
    let (_, rest) = text.split_once("CONST[")?;
    let (number, rest) = rest.split_once(']')?;
    let inside = rest.trim_start().strip_prefix('=')?.trim_start().strip_prefix('{')?;
    let inside = inside.split('}').next()?;
    let mut channels = [Listed::Nothing; 4];
    let mut words = inside.split_whitespace();
    for channel in &mut channels {
        *channel = listed(words.next()?)?;
    }
    words.next().is_none().then_some(LineKind::Constant(number.parse().ok()?, channels))
}

fn listed(word: &str) -> Option<Listed> {
    if word == "unused" {
        return Some(Listed::Unused);
    }
    if let Some(rest) = word.strip_prefix("CONST[") {
        let (index, channel) = rest.split_once("].")?;
        let index: i64 = index.parse().ok()?;
        return Some(match "xyzw".find(channel) {
            Some(channel) => Listed::External { index, channel: u8::try_from(channel).ok()? },
            None => Listed::Nothing,
        });
    }
    let (value, decimals) = number(word)?;
    Some(Listed::Number { value, decimals })
}

/// Returns a number as `printf` writes it, and its decimals.
pub(super) fn number(word: &str) -> Option<(f32, u8)> {
    let value = word.parse().ok()?;
    let decimals = word.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    Some((value, u8::try_from(decimals).ok()?))
}

/// The list of the classic driver: `Constant 0: 0.500000 0.250000`, and the other two on the next line.
fn classic(text: &str) -> Option<LineKind> {
    let (_, rest) = text.split_once("Constant ")?;
    let (number, values) = rest.split_once(':')?;
    let values = numbers(values)?;
    Some(LineKind::Classic(number.trim().parse().ok()?, values))
}

/// Returns one to four numbers that are all of a line.
pub(super) fn numbers(text: &str) -> Option<Vec<f32>> {
    let values: Vec<f32> =
        text.split_whitespace().map(|word| Some(number(word)?.0)).collect::<Option<_>>()?;
    (1..=4).contains(&values.len()).then_some(values)
}

fn vertex(text: &str) -> Option<LineKind> {
    let dword = |text: &str| {
        let hex = text.trim_start().strip_prefix("0x")?.get(..8)?;
        u32::from_str_radix(hex, 16).ok()
    };
    if let Some((_, ops)) = text.split_once("Flow Control Ops: ") {
        return dword(ops).map(LineKind::FlowOps);
    }
    if let Some((kind, registers)) = text.split_once(": uw-> ") {
        let (high, rest) = registers.split_once(" lw-> ")?;
        let (low, index) = match rest.split_once(" loop data->") {
            Some(both) => both,
            // Only loops have a third register.
            None if !kind.ends_with("LOOP") => (rest, "0x00000000"),
            None => return None,
        };
        return Some(LineKind::Flow { high: dword(high)?, low: dword(low)?, index: dword(index)? });
    }
    if let Some((before, after)) = text.split_once(": op: ") {
        let digits = before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let address = before[digits..].parse().ok()?;
        return Some(LineKind::VertexWord {
            index: 0,
            value: dword(after)?,
            address: Some(address),
        });
    }
    let (_, after) = text.split_once(" src")?;
    let (index, after) = after.split_once(": ")?;
    let index: usize = index.parse().ok().filter(|&n| n < 3)?;
    Some(LineKind::VertexWord { index: index + 1, value: dword(after)?, address: None })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, clippy::approx_constant)]

    use super::*;

    fn channels(text: &str) -> [Listed; 4] {
        match LineKind::of(text) {
            LineKind::Constant(1, channels) => channels,
            _ => panic!("{text}"),
        }
    }

    #[test]
    fn lists_of_both_versions_of_mesa() {
        let number = |value, decimals| Listed::Number { value, decimals };
        assert_eq!(
            channels("CONST[1] = {     0.6366     0.1000     0.0400    -0.0050 }"),
            [number(0.6366, 4), number(0.1, 4), number(0.04, 4), number(-0.005, 4)]
        );
        assert_eq!(
            channels("CONST[1] = {   0.159155    0.250000    8.000000      unused }"),
            [number(0.159_155, 6), number(0.25, 6), number(8.0, 6), Listed::Unused]
        );
        let external = |index, channel| Listed::External { index, channel };
        assert_eq!(
            channels("CONST[1] = {CONST[4].x CONST[-858217233].y CONST[7].z CONST[-1].u  }"),
            [external(4, 0), external(-858_217_233, 1), external(7, 2), Listed::Nothing]
        );
    }

    #[test]
    fn messages_without_an_end_of_line() {
        let line = "r300compiler error: Ran out of temporary registersr300 FP: Compiler Error:";
        assert!(
            matches!(LineKind::of(line), LineKind::CompilerError(why) if why == "Ran out of temporary registers")
        );
        let line = "Ran out of temporary registersUsing a dummy shader instead.";
        assert!(
            matches!(LineKind::of(line), LineKind::GaveUp(Stage::Fragment, why) if why == "Ran out of temporary registers")
        );
        let line = "r300 FP: Cannot translate a shader. Using a dummy shader instead.";
        assert!(
            matches!(LineKind::of(line), LineKind::GaveUp(Stage::Fragment, why) if why == "Cannot translate a shader.")
        );
    }

    #[test]
    fn vertex_words() {
        let line = "12: op: 0x00f00203 dst: 0o op:                    VE_ADD";
        assert!(matches!(
            LineKind::of(line),
            LineKind::VertexWord { index: 0, value: 0x00f0_0203, address: Some(12) }
        ));
        let line = " src2: 0x01248001 reg: 0i swiz:  0/ 0/ 0/ 0";
        assert!(matches!(
            LineKind::of(line),
            LineKind::VertexWord { index: 3, value: 0x0124_8001, address: None }
        ));
        let line = "Flow Control Ops: 0x00000002";
        assert!(matches!(LineKind::of(line), LineKind::FlowOps(2)));
        let line = "LOOP: uw-> 0x0004000a lw-> 0x00ff0003 loop data->0x00000100";
        assert!(matches!(
            LineKind::of(line),
            LineKind::Flow { high: 0x0004_000a, low: 0x00ff_0003, index: 0x0000_0100 }
        ));
        let line = "JUMP: uw-> 0x00000000 lw-> 0x00050003";
        assert!(matches!(
            LineKind::of(line),
            LineKind::Flow { high: 0, low: 0x0005_0003, index: 0 }
        ));
    }
}
