//! Programs built word by word, for the tests of this crate.
#![allow(dead_code, missing_docs, unreachable_pub, clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};

use r500_exec::reference::Reference;
use r500_exec::{Bindings, Frame, Options, Shader, draw};
use r500_isa::state::{UsFcBoolConst, UsFcCtrl, UsFcIntConst, UsPixsize};
use r500_isa::values::{AlphaOp, InstType, Mod, RgbMask, RgbOp, Sel, Swiz, TexOp};
use r500_isa::words::{AluAlphaInst, AluRgbaInst, CmnInst, FcAddr, FcInst, TexAddr, TexInst};
use r500_isa::{BitField, FieldValue, Instruction, Operand, Slot, Source, Word};
use r500_program::{Input, InputData, Job, Program};

/// An instruction under construction.
#[derive(Clone, Copy)]
pub struct Inst(pub Instruction);

impl Inst {
    /// Returns an ALU instruction with both halves idle: MAD of inline zeros, nothing written.
    pub fn alu() -> Self {
        let mut inst = Self(Instruction::default());
        for n in 0..3 {
            inst = inst.rgb_source(n, Source::UNUSED).alpha_source(n, Source::UNUSED);
        }
        inst
    }

    /// Returns an OUT instruction that writes temporary `t` to target A.
    pub fn out(t: u8) -> Self {
        Self::alu()
            .set(CmnInst::TYPE, InstType::OUT)
            .copy(temp(t))
            .set(CmnInst::RGB_OMASK, RgbMask::RGB)
            .set(CmnInst::ALPHA_OMASK, true)
    }

    /// Returns `temp[t] = source` in all channels, by MAX.
    pub fn mov(t: u8, source: Source) -> Self {
        Self::alu()
            .copy(source)
            .set(AluRgbaInst::RGB_ADDRD, t)
            .set(AluAlphaInst::ALPHA_ADDRD, t)
            .set(CmnInst::RGB_WMASK, RgbMask::RGB)
            .set(CmnInst::ALPHA_WMASK, true)
    }

    pub fn tex(op: TexOp, dst: u8, src: u8) -> Self {
        use r500_isa::values::Channel as C;
        Self(Instruction::default())
            .set(CmnInst::TYPE, InstType::TEX)
            .set(CmnInst::RGB_WMASK, RgbMask::RGB)
            .set(CmnInst::ALPHA_WMASK, true)
            .set(TexInst::INST, op)
            .set(TexAddr::SRC_ADDR, src)
            .set(TexAddr::DST_ADDR, dst)
            .set(TexAddr::SRC_T_SWIZ, C::G)
            .set(TexAddr::SRC_R_SWIZ, C::B)
            .set(TexAddr::SRC_Q_SWIZ, C::A)
            .set(TexAddr::DST_G_SWIZ, C::G)
            .set(TexAddr::DST_B_SWIZ, C::B)
            .set(TexAddr::DST_A_SWIZ, C::A)
    }

    pub fn fc(op: r500_isa::values::FcOp) -> Self {
        Self(Instruction::default())
            .set(CmnInst::TYPE, InstType::FC)
            .set(CmnInst::ALU_WAIT, true)
            .set(FcInst::OP, op)
    }

    /// Returns a jump to `target` with a JUMP_FUNC table.
    pub fn jump(table: u8, target: u16) -> Self {
        Self::fc(r500_isa::values::FcOp::JUMP)
            .set(FcInst::JUMP_FUNC, table)
            .set(FcAddr::JUMP_ADDR, target)
    }

    /// Sets both halves to MAX of source 0 with itself.
    pub fn copy(self, source: Source) -> Self {
        let rgb = Operand { sel: Sel::SRC0, swiz: [Swiz::R, Swiz::G, Swiz::B], modifier: Mod::NOP };
        let alpha = Operand { sel: Sel::SRC0, swiz: [Swiz::A], modifier: Mod::NOP };
        let mut inst = self
            .rgb_source(0, source)
            .alpha_source(0, source)
            .set(AluRgbaInst::RGB_OP, RgbOp::MAX)
            .set(AluAlphaInst::ALPHA_OP, AlphaOp::MAX);
        for slot in [Slot::A, Slot::B] {
            inst.0 = inst.0.with_rgb_operand(slot, rgb).with_alpha_operand(slot, alpha);
        }
        inst
    }

    pub fn rgb_source(mut self, n: usize, source: Source) -> Self {
        self.0.0[1] = self.0.rgb_addr().with_source(n, source).bits();
        self
    }

    pub fn alpha_source(mut self, n: usize, source: Source) -> Self {
        self.0.0[2] = self.0.alpha_addr().with_source(n, source).bits();
        self
    }

    /// Sets a field, in its word for this type of instruction.
    pub fn set<W: Word + 'static, T: FieldValue>(
        mut self,
        field: BitField<W, T>,
        value: T,
    ) -> Self {
        let place = self.0.layout().iter().position(|register| *register == Some(W::REGISTER));
        let word = &mut self.0.0[place.unwrap()];
        *word = field.set(W::from_bits(*word), value).bits();
        self
    }
}

pub fn temp(n: u8) -> Source {
    Source { addr: n, constant: false, relative: false }
}

pub fn constant(n: u8) -> Source {
    Source { addr: n, constant: true, relative: false }
}

pub fn relative(source: Source) -> Source {
    Source { relative: true, ..source }
}

/// Returns a job of these instructions: full flow control, boolean and integer constant 0 given (0,
/// and 2 iterations from aL 1 by 1), temporary 0 = (x, y, 0, 1) per pixel of a 4x4 picture.
pub fn job(code: &[Inst]) -> Job {
    let mut program = Program::from_code(code.iter().map(|inst| inst.0).collect());
    program.state.fc_ctrl = Some(UsFcCtrl::default().with(UsFcCtrl::FULL_FC_EN, true));
    program.state.fc_bool_const = Some(UsFcBoolConst(0));
    program.state.fc_int_const[0] = Some(UsFcIntConst(0x0001_0102));
    program.state.pixsize = Some(UsPixsize(16));
    program.state.constants = vec![[0x3f80_0000; 4]];
    let values = (0..16u8).map(|i| [f32::from(i % 4), f32::from(i / 4), 0.0, 1.0]).collect();
    Job {
        size: Some([4, 4]),
        inputs: Some(vec![Input { temp: 0, data: InputData::Values { width: 4, values } }]),
        ..Job::from_program(program)
    }
}

pub fn run(job: &Job, options: &Options<'_>) -> Frame {
    let shader = Shader::new(&job.program).unwrap();
    let bindings = Bindings::new(job, job.size.unwrap_or([4, 4])).unwrap();
    draw(&Reference, &shader, &bindings, options).unwrap()
}

/// Returns the programs of a folder of the corpus with their names, in order.
pub fn corpus(folder: &str) -> Vec<(String, Job)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus").join(folder);
    let entries = std::fs::read_dir(&root);
    let files = entries.unwrap_or_else(|error| panic!("{}: {error}", root.display()));
    let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    assert!(!files.is_empty(), "no programs in {}", root.display());
    let name = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
    files.iter().map(|path| (name(path), read(path))).collect()
}

/// Returns a capture of the corpus.
pub fn capture(name: &str) -> Job {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/mesa");
    read(&Path::new(folder).join(name).with_extension("json"))
}

/// Reads the first program of a file.
fn read(path: &Path) -> Job {
    let bytes = std::fs::read(path).unwrap();
    r500_formats::read(&bytes, None, &r500_formats::Limits::default()).unwrap().remove(0)
}
