//! Register hover: its value, its names and the instructions that write and read it.

use std::fmt::Write;

use r500_isa::values::{FcOp, InstType};
use r500_isa::{Access, InlineConst, InstInfo, Instruction, JumpInput};

use super::Analysis;
use crate::items::{Register, SymbolKind};

/// How many instructions a description quotes, and their length in characters.
const EXCERPTS: usize = 4;
const EXCERPT_LENGTH: usize = 80;

impl Register {
    /// Returns the register that a word and an index name.
    pub(super) fn of(word: &[u8], n: u8) -> Option<Self> {
        let make: fn(u8) -> Self = match &*word.to_ascii_lowercase() {
            b"temp" => Self::Temp,
            b"const" => Self::Const,
            b"tex" => Self::Tex,
            b"out" => Self::Out,
            b"int" => Self::Int,
            b"bool" => Self::Bool,
            _ => return None,
        };
        Some(make(n))
    }

    /// Returns its keyword.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Temp(_) => "temp",
            Self::Const(_) => "const",
            Self::Float(_) => "float",
            Self::Tex(_) => "tex",
            Self::Out(_) => "out",
            Self::Int(_) => "int",
            Self::Bool(_) => "bool",
        }
    }
}

/// The uses of a register: indices of instructions.
#[derive(Default)]
struct RegisterUses {
    written: Vec<usize>,
    read: Vec<usize>,
}

impl Analysis {
    /// Returns a short description of a register: value, names, writers and readers.
    pub(super) fn register(&self, register: Register) -> String {
        let job = &self.assembly.job;
        let state = &job.program.state;
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = match register {
            Register::Temp(n) => write!(text, "`temp[{n}]`, a temporary"),
            Register::Out(n) => {
                write!(text, "`out[{n}]`, render target {}", char::from(b'A' + n % 4))
            }
            Register::Const(n) => {
                let _ = write!(text, "`const[{n}]`");
                if let Some(value) = state.constants.get(usize::from(n)) {
                    let value = value.map(f32::from_bits);
                    let _ =
                        write!(text, " = ({}, {}, {}, {})", value[0], value[1], value[2], value[3]);
                }
                for uniform in job.uniforms.iter().filter(|u| u.constant == n) {
                    let channels: String = "rgba"
                        .chars()
                        .skip(usize::from(uniform.channel))
                        .take(usize::from(uniform.channels))
                        .collect();
                    let _ = write!(text, "\n\nUniform `{}` in `.{channels}`", uniform.name);
                }
                Ok(())
            }
            Register::Int(n) => match state.fc_int_const.get(usize::from(n)).copied().flatten() {
                Some(word) => write!(
                    text,
                    "`int[{n}]`: {} iterations, aL from {} in steps of {}",
                    word.kr(),
                    word.kg(),
                    word.kb()
                ),
                None => write!(text, "`int[{n}]`, an integer constant without a value"),
            },
            Register::Bool(n) => match state.fc_bool_const {
                Some(word) => write!(text, "`bool[{n}]` = {}", word.kbool() >> (n & 31) & 1 != 0),
                None => write!(text, "`bool[{n}]`, a boolean constant without a value"),
            },
            Register::Tex(n) => {
                let _ = write!(text, "`tex[{n}]`, a texture unit");
                let file = self.assembly.textures.iter().find(|t| t.unit == n);
                let level =
                    job.textures.get(usize::from(n)).and_then(|t| t.as_ref()?.levels.first());
                match (file, level) {
                    (Some(file), _) => write!(text, ": file `{}`", file.path),
                    (None, Some(level)) => {
                        write!(text, ": {} x {} texels", level.width, level.height)
                    }
                    (None, None) => Ok(()),
                }
            }
            Register::Float(code) => {
                let value = InlineConst::new(code).value();
                write!(text, "inline constant {value} (code {code})")
            }
        };
        let names: Vec<String> = self.names_of(register).map(|name| format!("`{name}`")).collect();
        if !names.is_empty() {
            let _ = write!(text, "\n\nNamed {}", names.join(", "));
        }
        let uses = self.uses(register);
        for (what, places) in [("Written", &uses.written), ("Read", &uses.read)] {
            if places.is_empty() {
                continue;
            }
            let _ = write!(text, "\n\n{what} by instruction {}", numbers(places));
            for &at in places.iter().take(EXCERPTS) {
                text.push_str(&self.excerpt(at));
            }
        }
        text
    }

    /// Returns the names that `DEF` gives to a register.
    pub(super) fn names_of(&self, register: Register) -> impl Iterator<Item = &str> {
        let symbols = self.assembly.symbols.iter();
        symbols
            .filter(move |symbol| symbol.kind == SymbolKind::Register(register))
            .map(|symbol| symbol.name.as_str())
    }

    /// Returns a list item with the line and the text of an instruction.
    fn excerpt(&self, at: usize) -> String {
        let Some(&span) = self.assembly.spans.get(at) else { return String::new() };
        let files = &self.assembly.files;
        let line = files.position(span).line;
        let place = match span.file {
            0 => format!("line {line}"),
            _ => format!("`{}`, line {line}", files.name(span)),
        };
        let bytes = String::from_utf8_lossy(files.bytes(span));
        // Comments between the lines of an instruction may contain any characters.
        let lines = bytes.lines().map(|line| line.split("--").next().unwrap_or_default());
        let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
        let mut text = words.join(" ").replace('`', "'");
        if let Some((end, _)) = text.char_indices().nth(EXCERPT_LENGTH) {
            let end = text[..end].rfind(' ').unwrap_or(end);
            text.truncate(end);
            text.push_str(" …");
        }
        format!("\n- {at}, {place}: `{text}`")
    }

    fn uses(&self, register: Register) -> RegisterUses {
        let mut uses = RegisterUses::default();
        for (at, inst) in self.assembly.job.program.code.iter().enumerate() {
            let (written, read) = touched(*inst, register);
            if written {
                uses.written.push(at);
            }
            if read {
                uses.read.push(at);
            }
        }
        uses
    }
}

/// Returns whether an instruction writes and whether it reads a register. An address relative to aL counts as its base.
fn touched(inst: Instruction, register: Register) -> (bool, bool) {
    let info = InstInfo::new(inst);
    let names = |operands: &[Access], n: u8| operands.iter().any(|access| access.addr == n);
    match register {
        Register::Temp(n) => (names(&info.writes, n), names(&info.reads, n)),
        Register::Const(n) => (false, names(&info.constants, n)),
        Register::Out(n) => {
            let writes = info.outputs.iter().any(|&(target, mask)| mask != 0 && target == n);
            (writes, false)
        }
        Register::Float(_) => (false, false),
        Register::Tex(n) => (false, info.ty == InstType::TEX && inst.tex_inst().tex_id() == n),
        Register::Int(n) => {
            let loops = matches!(inst.fc_inst().op(), FcOp::LOOP | FcOp::REP | FcOp::ENDLOOP);
            (false, info.ty == InstType::FC && loops && inst.fc_addr().int_addr() == n)
        }
        Register::Bool(n) => {
            let reads = inst.fc_inst().depends_on(JumpInput::Boolean);
            (false, info.ty == InstType::FC && reads && inst.fc_addr().bool_addr() == n)
        }
    }
}

/// Returns some numbers as text, and how many more there are.
pub(super) fn numbers(all: &[usize]) -> String {
    const MOST: usize = 8;
    let some: Vec<String> = all.iter().take(MOST).map(usize::to_string).collect();
    let more = all.len().saturating_sub(MOST);
    if more == 0 { some.join(", ") } else { format!("{} and {more} more", some.join(", ")) }
}
