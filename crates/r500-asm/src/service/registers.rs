//! What a register is to a program: its value, who writes and who reads it.

use std::fmt::Write;

use r500_isa::values::{InstType, TexOp};
use r500_isa::{Half, InlineConst, Instruction};

use super::Analysis;
use crate::parse::Register;

impl Register {
    /// The register that a word and an index name.
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

    /// The word that it is written with.
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

/// What the instructions do with a register: their indices.
#[derive(Default)]
struct Uses {
    written: Vec<usize>,
    read: Vec<usize>,
}

impl Analysis {
    /// What is known of a register, in a few lines.
    pub(super) fn register(&self, register: Register) -> String {
        let job = &self.assembly.job;
        let state = &job.program.state;
        let mut text = String::new();
        // Writing to a string does not fail.
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
                    "`int[{n}]`: {} passes, aL from {} in steps of {}",
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
        let uses = self.uses(register);
        for (what, places) in [("Written", &uses.written), ("Read", &uses.read)] {
            if !places.is_empty() {
                let _ = write!(text, "\n\n{what} by instruction {}", numbers(places));
            }
        }
        text
    }

    fn uses(&self, register: Register) -> Uses {
        let mut uses = Uses::default();
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

/// Whether an instruction writes, and whether it reads a register; addresses with aL by their base.
fn touched(inst: Instruction, register: Register) -> (bool, bool) {
    let cmn = inst.cmn();
    match inst.ty() {
        InstType::TEX => {
            let addr = inst.tex_addr();
            match register {
                Register::Temp(n) => {
                    let writes = cmn.rgb_wmask().code() != 0 || cmn.alpha_wmask();
                    let gradients = inst.tex_inst().inst() == TexOp::DXDY;
                    let dxdy = inst.tex_addr_dxdy();
                    let reads = addr.src_addr() == n
                        || gradients && (dxdy.dx_addr() == n || dxdy.dy_addr() == n);
                    (writes && addr.dst_addr() == n, reads)
                }
                Register::Tex(n) => (false, inst.tex_inst().tex_id() == n),
                _ => (false, false),
            }
        }
        InstType::FC => {
            use r500_isa::values::FcOp;
            let (fc, addr) = (inst.fc_inst(), inst.fc_addr());
            match register {
                Register::Int(n) => {
                    let counts = matches!(fc.op(), FcOp::LOOP | FcOp::REP | FcOp::ENDLOOP);
                    (false, counts && addr.int_addr() == n)
                }
                Register::Bool(n) => {
                    // The table tells states apart that differ in the boolean alone.
                    let looks = (fc.jump_func() >> 1 ^ fc.jump_func()) & 0x55 != 0;
                    (false, looks && addr.bool_addr() == n)
                }
                _ => (false, false),
            }
        }
        _ => {
            let writes = match register {
                Register::Temp(n) => {
                    cmn.rgb_wmask().code() != 0 && inst.rgba_inst().rgb_addrd() == n
                        || cmn.alpha_wmask() && inst.alpha_inst().alpha_addrd() == n
                }
                Register::Out(n) => {
                    inst.ty() == InstType::OUT
                        && (cmn.rgb_omask().code() != 0 && inst.target(Half::Rgb).code() == n
                            || cmn.alpha_omask() && inst.target(Half::Alpha).code() == n)
                }
                _ => false,
            };
            let reads = inst.source_reads();
            let rgb = inst.sources(Half::Rgb).into_iter().zip(reads.rgb.map(|mask| mask != 0));
            let alpha = inst.sources(Half::Alpha).into_iter().zip(reads.alpha);
            let mut used = rgb.chain(alpha).filter(|(_, used)| *used).map(|(source, _)| source);
            let reads = match register {
                Register::Temp(n) => used.any(|s| s.temporary() == Some(n)),
                Register::Const(n) => used.any(|s| s.constant && s.addr == n),
                _ => false,
            };
            (writes, reads)
        }
    }
}

/// Some numbers, and how many more there are.
fn numbers(all: &[usize]) -> String {
    const MOST: usize = 8;
    let some: Vec<String> = all.iter().take(MOST).map(usize::to_string).collect();
    let more = all.len().saturating_sub(MOST);
    if more == 0 { some.join(", ") } else { format!("{} and {more} more", some.join(", ")) }
}
