//! The command language: syntax and help.

/// A command, without its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::command) enum Verb {
    Step,
    ReverseStep,
    Next,
    ReverseNext,
    Finish,
    ReverseFinish,
    Until,
    ReverseUntil,
    Active,
    ReverseActive,
    Continue,
    ReverseContinue,
    Run,
    End,
    Goto,
    Break,
    TemporaryBreak,
    Watch,
    Condition,
    Hits,
    Log,
    Delete,
    Enable,
    Disable,
    Print,
    Bits,
    Display,
    Undisplay,
    Info,
    Backtrace,
    List,
    /// Selects another pixel or vertex.
    Select,
    First,
    Heat,
    Help,
    Quit,
}

/// What is debugged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::command) enum Kind {
    Pixel,
    Vertex,
}

impl Kind {
    fn plural(self) -> &'static str {
        match self {
            Self::Pixel => "pixels",
            Self::Vertex => "vertices",
        }
    }
}

/// A row of the command table.
pub(in crate::command) struct Row {
    pub(in crate::command) verb: Verb,
    pub(in crate::command) name: &'static str,
    /// Abbreviations. Unambiguous prefixes of a name are accepted, too.
    pub(in crate::command) short: &'static [&'static str],
    pub(in crate::command) arguments: &'static str,
    pub(in crate::command) help: &'static str,
    /// The kind that has it; `None`: all.
    of: Option<Kind>,
}

impl Row {
    fn is_of(&self, kind: Kind) -> bool {
        self.of.is_none_or(|of| of == kind)
    }
}

/// Returns the commands of a kind.
pub(in crate::command) fn commands(kind: Kind) -> impl Iterator<Item = &'static Row> {
    COMMANDS.iter().filter(move |row| row.is_of(kind))
}

#[rustfmt::skip]
const COMMANDS: &[Row] = &[
    row(Verb::Step, "step", &["s", "si", "stepi"], "[N]", "one instruction (or N)"),
    row(Verb::ReverseStep, "reverse-step", &["rs", "rsi", "reverse-stepi"], "[N]", "one instruction back"),
    row(Verb::Next, "next", &["n", "ni", "nexti"], "[N]", "one instruction; a loop or call that it begins as a whole"),
    row(Verb::ReverseNext, "reverse-next", &["rn", "rni", "reverse-nexti"], "[N]", "the same back"),
    row(Verb::Active, "active", &["a"], "[N]", "to the next instruction that the pixel executes").of(Kind::Pixel),
    row(Verb::Active, "active", &["a"], "[N]", "to the next instruction that its predicate does not forbid").of(Kind::Vertex),
    row(Verb::ReverseActive, "reverse-active", &["ra"], "[N]", "the same back"),
    row(Verb::Finish, "finish", &["fin"], "", "out of the innermost loop or call"),
    row(Verb::ReverseFinish, "reverse-finish", &["rf"], "", "back to before it"),
    row(Verb::Until, "until", &["u"], "[PLACE|COND]", "past a jump back; or to a place; or until a condition becomes true"),
    row(Verb::ReverseUntil, "reverse-until", &["ru"], "[PLACE|COND]", "the same back"),
    row(Verb::Continue, "continue", &["c"], "[N]", "to the next breakpoint, else the end"),
    row(Verb::ReverseContinue, "reverse-continue", &["rc"], "[N]", "to the last breakpoint before, else the start"),
    row(Verb::Run, "run", &["r", "start"], "", "to the start"),
    row(Verb::End, "end", &["e"], "", "to the end"),
    row(Verb::Goto, "goto", &["g", "seek"], "STEP", "to a position: so many steps executed"),
    row(Verb::Break, "break", &["b", "br"], "[PLACE] [if COND]", "stop before a place (address 12, label @name, source line :26); where a condition holds; where it becomes true"),
    row(Verb::TemporaryBreak, "tbreak", &["tb"], "[PLACE] [if COND]", "the same, once"),
    row(Verb::Watch, "watch", &["wa"], "EXPR", "stop after an instruction that changes a value"),
    row(Verb::Condition, "condition", &["cond"], "N [COND]", "let breakpoint N stop only where a condition holds; without one, always"),
    row(Verb::Hits, "hits", &["hit"], "N [WHICH]", "which hits of breakpoint N stop, counted from the start: 3, >= 3, % 2 (every second); without, all"),
    row(Verb::Log, "log", &["dprintf"], "PLACE TEXT", "print a text at each execution of a place, and do not stop; {EXPR} in it is a value"),
    row(Verb::Delete, "delete", &["d", "del"], "[N…]", "forget breakpoints, all if none is named"),
    row(Verb::Enable, "enable", &["en"], "[N…]", "let breakpoints stop again"),
    row(Verb::Disable, "disable", &["dis"], "[N…]", "let breakpoints not stop"),
    row(Verb::Print, "print", &["p"], "EXPR", "a value"),
    row(Verb::Bits, "bits", &["p/x", "px"], "EXPR", "the bits of a value"),
    row(Verb::Display, "display", &["disp"], "[EXPR]", "print a value at every stop"),
    row(Verb::Undisplay, "undisplay", &["und"], "[N…]", "no longer"),
    row(Verb::Info, "info", &["i"], "[WHAT]", "step, done, registers [all], constants, outputs, group, loops, breakpoints, pixel, work, end, variables").of(Kind::Pixel),
    row(Verb::Info, "info", &["i"], "[WHAT]", "step, done, registers [all], inputs, constants, outputs, loops, breakpoints, vertex, work, end, variables").of(Kind::Vertex),
    row(Verb::Backtrace, "backtrace", &["bt", "where"], "", "the loops and calls that run"),
    row(Verb::List, "list", &["l"], "[PLACE|all]", "the program around the instruction to come; lines of the source if it is assembly"),
    row(Verb::Select, "pixel", &["at"], "X,Y", "select another pixel").of(Kind::Pixel),
    row(Verb::Select, "vertex", &["at"], "N", "select another vertex").of(Kind::Vertex),
    row(Verb::First, "first", &["fi"], "COND [in X,Y,WxH]", "which pixel makes a condition true after the fewest steps; goes there").of(Kind::Pixel),
    row(Verb::Heat, "heat", &["h"], "[executed|waited] [X,Y,WxH]", "how much each pixel executes, or waits for others").of(Kind::Pixel),
    row(Verb::Help, "help", &["?"], "[COMMAND|conditions]", "this"),
    row(Verb::Quit, "quit", &["q", "exit"], "", "leave"),
];

const fn row(
    verb: Verb,
    name: &'static str,
    short: &'static [&'static str],
    arguments: &'static str,
    help: &'static str,
) -> Row {
    Row { verb, name, short, arguments, help, of: None }
}

impl Row {
    const fn of(self, kind: Kind) -> Self {
        Self { of: Some(kind), ..self }
    }
}

/// Parses a line: the command, and its arguments.
pub(in crate::command) fn parse(line: &str, kind: Kind) -> Result<(Verb, &str), String> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let word = word.to_ascii_lowercase();
    if word.is_empty() {
        return Err("the command is missing; `help` lists them".to_owned());
    }
    let exact = commands(kind).find(|row| row.name == word || row.short.contains(&&*word));
    if let Some(row) = exact {
        return Ok((row.verb, rest));
    }
    let fits: Vec<&Row> = commands(kind).filter(|row| row.name.starts_with(&*word)).collect();
    match fits[..] {
        [row] => Ok((row.verb, rest)),
        [] => Err(match COMMANDS.iter().find(|row| row.name == word).and_then(|row| row.of) {
            Some(other) => {
                format!("`{word}` is for {}; `help` lists the commands", other.plural())
            }
            None => format!("there is no command `{word}`; `help` lists them"),
        }),
        _ => {
            let names: Vec<&str> = fits.iter().map(|row| row.name).collect();
            Err(format!("`{word}` could be {}", names.join(", ")))
        }
    }
}

/// Returns help for all commands, for one, or for conditions.
pub(super) fn help(what: &str, kind: Kind) -> Result<String, String> {
    if what.is_empty() {
        let mut text = String::new();
        for row in commands(kind) {
            let short = row.short.first().copied().unwrap_or("");
            let left = format!("{} {}", row.name, row.arguments);
            text.push_str(&format!("  {left:<36} {short:<4} {}\n", row.help));
        }
        text.push_str("`help conditions` describes COND and EXPR. An empty line repeats a step.\n");
        return Ok(text);
    }
    if what == "conditions" || what == "expressions" {
        return Ok(match kind {
            Kind::Pixel => CONDITIONS.to_owned() + CHANNELS,
            Kind::Vertex => VERTEX_CONDITIONS.to_owned() + CHANNELS,
        });
    }
    let (verb, _) = parse(what, kind)?;
    let row = commands(kind).find(|row| row.verb == verb);
    Ok(row.map_or_else(String::new, |row| {
        let short = row.short.join(", ");
        format!("{} {}\n  {}; also written {short}\n", row.name, row.arguments, row.help)
    }))
}

const CONDITIONS: &str = "\
  temp[2].r is nan       also inf, finite, denormal, zero, negative; is not nan
  temp[0].g > 0.5        < <= > >= == != of temp[N], const[N], out[N], depth, constants by name
  color.r > 0.5          variables of the GLSL that our own compiler took
  alu_result             also pred, pred.r, active, covered, killed
  step >= 100            also address, aL, loops, passes, calls, x, y
  active and not pred.a  and, or, not; all(...), any(...); + - * /, abs(...)
";

const VERTEX_CONDITIONS: &str = "\
  temp[2].x is nan       also inf, finite, denormal, zero, negative; is not nan
  temp[0].y > 0.5        < <= > >= == != of temp[N], alt_temp[N], const[N], input[N], out[N], a0
  color.x > 0.5          variables of the GLSL that our own compiler took
  pred                   also active: whether the next instruction is executed
  step >= 100            also address, aL, loops, passes, calls
  active and not pred    and, or, not; all(...), any(...); + - * /, abs(...)
";

const CHANNELS: &str =
    "Operations work channel by channel; a condition holds if any channel of it does.\n";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn parse(line: &str) -> Result<(Verb, &str), String> {
        super::parse(line, Kind::Pixel)
    }

    fn help(what: &str) -> Result<String, String> {
        super::help(what, Kind::Pixel)
    }

    #[test]
    fn names_and_their_beginnings() {
        assert_eq!(parse("s 3"), Ok((Verb::Step, "3")));
        assert_eq!(parse("  Reverse-Step  "), Ok((Verb::ReverseStep, "")));
        assert_eq!(parse("fin"), Ok((Verb::Finish, "")));
        assert_eq!(parse("cont"), Ok((Verb::Continue, "")));
        assert_eq!(parse("i r"), Ok((Verb::Info, "r")));
        assert!(parse("dip").is_err() && parse("").is_err());
        assert_eq!(parse("unt").map(|(verb, _)| verb), Ok(Verb::Until));
        assert!(parse("reverse").unwrap_err().contains("reverse-step, reverse-next"));
    }

    #[test]
    fn every_spelling_is_that_of_one_command() {
        for kind in [Kind::Pixel, Kind::Vertex] {
            for row in commands(kind) {
                for spelling in row.short.iter().chain([&row.name]) {
                    let count = commands(kind)
                        .filter(|row| row.name == *spelling || row.short.contains(spelling))
                        .count();
                    assert_eq!(count, 1, "{spelling}");
                }
                assert!(super::help(row.name, kind).unwrap().contains(row.help));
            }
        }
        let heat = super::parse("heat", Kind::Vertex).unwrap_err();
        assert!(heat.starts_with("`heat` is for pixels"), "{heat}");
        assert!(help("conditions").unwrap().contains("is nan"));
        assert!(help("nonsense").is_err());
    }
}
