//! The disassembler: the most readable text that assembles to the same dwords.
//!
//! Printing never fails. Arithmetic instructions have a spelling for every bit. Texture and
//! flow-control instructions print their named fields; other bits follow as `WORDn`. Structured
//! flow control prints as statements; other flow control prints as `FC` with its fields.

mod alu;
mod directive;
mod flow;
mod tex;
mod write;

use r500_isa::values::{InstType, PredSel};
use r500_isa::words::CmnInst;
use r500_isa::{Half, Instruction, Slot, Source};
use r500_program::Job;

use crate::names;
use flow::ControlTree;
pub(crate) use write::TextBuffer;

/// Options of the printer.
#[derive(Clone, Debug)]
pub struct PrintOptions {
    /// Whether to print a comment at each instruction: its address and dwords, and the target of a jump.
    pub annotate: bool,
    /// What to print in lines of comments before each instruction, such as the source that it was compiled from; nothing before those that
    /// have no text.
    pub comments: Vec<String>,
    /// Whether to print the state and the rest of the job as directives, besides the instructions.
    pub state: bool,
    /// Texture levels of up to this many bytes are printed as directives; others become files.
    pub embed: usize,
    /// The prefix of the names of texture files, such as `plasma`.
    pub file_prefix: String,
}

impl Default for PrintOptions {
    fn default() -> Self {
        Self {
            annotate: false,
            comments: Vec::new(),
            state: true,
            embed: 256,
            file_prefix: "texture".to_owned(),
        }
    }
}

/// A printed job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// The text.
    pub text: String,
    /// Files that the text refers to, to be stored in the same folder.
    pub files: Vec<TextureFile>,
}

/// A texture level in a file of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextureFile {
    /// Its name.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Returns a job as text.
///
/// ```
/// use r500_asm::{Options, PrintOptions, assemble, print};
/// let source = b"OUT src0.rgb = temp[0] : out[0].rgb = MAD src0.rgb src0.111 src0.000 ;\n";
/// let job = assemble(source, Options::default()).job;
/// assert_eq!(print(&job, &PrintOptions::default()).text.as_bytes(), source);
/// ```
#[must_use]
pub fn print(job: &Job, options: &PrintOptions) -> Printed {
    let mut out = TextBuffer::with_capacity(job.program.code.len() * 96);
    let mut files = Vec::new();
    if options.state {
        directive::job(&mut out, job, options, &mut files);
    }
    let offset = job.program.state.base_address();
    code(&mut out, &job.program.code, offset, options);
    Printed { text: out.finish(), files }
}

/// Returns the instructions as text. `offset` is `US_CODE_OFFSET`, the base of global jumps.
#[must_use]
pub fn print_code(instructions: &[Instruction], offset: u16) -> String {
    let mut out = TextBuffer::with_capacity(instructions.len() * 96);
    code(&mut out, instructions, offset, &PrintOptions::default());
    out.finish()
}

/// Returns one instruction as text, without a line end. Without context, flow control prints in its general form, with
/// targets as numbers.
///
/// ```
/// use r500_isa::Instruction;
/// let text = r500_asm::print_instruction(Instruction([0x402, 0, 0x1401_ff05, 0x9_0000, 0, 0]));
/// assert_eq!(text, "FC BREAKLOOP JUMP_FUNC(0xff) B_OP1(decr) B_POP_CNT(1) IGNORE_UNCOVERED ALU_WAIT -> 9 ;");
/// ```
#[must_use]
pub fn print_instruction(instruction: Instruction) -> String {
    let mut out = TextBuffer::with_capacity(160);
    match instruction.ty() {
        InstType::FC => flow::print_general(&mut out, instruction),
        InstType::TEX => tex::tex(&mut out, instruction),
        _ => alu::alu(&mut out, instruction),
    }
    out.finish()
}

/// Returns an operand of a half of an ALU or OUT instruction as text.
///
/// ```
/// use r500_asm::{Options, assemble, operand_text};
/// use r500_isa::{Half, Slot};
/// let source = b"src0.rgb = temp[0], src1.a = temp[2] : temp[1].rg = MAX -src0.rg0 src0.rgb, temp[1].a = MAX |src1.a| src0.1 ;";
/// let instruction = assemble(source, Options::default()).job.program.code[0];
/// assert_eq!(operand_text(instruction, Half::Rgb, Slot::A), "-src0.rg0");
/// assert_eq!(operand_text(instruction, Half::Alpha, Slot::A), "|src1.a|");
/// ```
#[must_use]
pub fn operand_text(instruction: Instruction, half: Half, slot: Slot) -> String {
    let mut out = TextBuffer::with_capacity(16);
    alu::operand(&mut out, instruction, half, slot);
    out.finish().trim_start().to_owned()
}

/// Returns the operation of a half of an ALU or OUT instruction as text, with its modifiers: `clamp 2.0 * MAD`.
#[must_use]
pub fn operation_text(instruction: Instruction, half: Half) -> String {
    let mut out = TextBuffer::with_capacity(16);
    alu::operation(&mut out, instruction, half);
    out.finish().trim_start().to_owned()
}

/// Returns a source address as text: `temp[2]`, `const[3+aL]`, `0.25`.
#[must_use]
pub fn source_text(source: Source) -> String {
    let mut out = TextBuffer::with_capacity(16);
    alu::source(&mut out, source);
    out.finish()
}

/// Returns the lines of [`print_code`], one for each instruction, without labels and indentation: flow control prints
/// in the context of its program. Labels count instructions from 0.
///
/// ```
/// use r500_asm::{Options, assemble, print_lines};
/// let source = b"IF alu ; src0.rgb = temp[0] : temp[1].rgb = MAX src0.rgb src0.rgb ; ENDIF ;";
/// let code = assemble(source, Options::default()).job.program.code;
/// let lines = print_lines(&code, 0);
/// assert_eq!((lines[0].as_str(), lines.len(), lines[2].as_str()), ("IF alu ;", 3, "ENDIF ;"));
/// ```
#[must_use]
pub fn print_lines(instructions: &[Instruction], offset: u16) -> Vec<String> {
    let nest = ControlTree::new(instructions, offset);
    let mut plans = nest.statements.iter().peekable();
    let line = |(at, instruction): (usize, &Instruction)| {
        let Some(plan) = plans.next_if(|plan| plan.at == at) else {
            return print_instruction(*instruction);
        };
        let mut out = TextBuffer::with_capacity(80);
        flow::print_statement(&mut out, *instruction, plan);
        out.finish()
    };
    instructions.iter().enumerate().map(line).collect()
}

fn code(out: &mut TextBuffer, instructions: &[Instruction], offset: u16, options: &PrintOptions) {
    let nest = ControlTree::new(instructions, offset);
    let mut plans = nest.statements.iter().peekable();
    let mut depth = 0usize;
    for (at, instruction) in instructions.iter().enumerate() {
        if nest.labels.get(at).copied().unwrap_or(false) {
            out.label(at);
            out.push(b'\n');
        }
        match instruction.ty() {
            InstType::FC => {
                let Some(plan) = plans.next_if(|p| p.at == at) else { continue };
                if plan.closes() {
                    depth = depth.saturating_sub(1);
                }
                comment(out, depth, options, at);
                out.indent(depth);
                flow::print_statement(out, *instruction, plan);
                if plan.opens() {
                    depth += 1;
                }
            }
            InstType::TEX => {
                comment(out, depth, options, at);
                out.indent(depth);
                tex::tex(out, *instruction);
            }
            _ => {
                comment(out, depth, options, at);
                out.indent(depth);
                alu::alu(out, *instruction);
            }
        }
        if options.annotate {
            annotate(out, at, *instruction);
        }
        out.push(b'\n');
    }
    let end = instructions.len();
    if nest.labels.get(end).copied().unwrap_or(false) {
        out.label(end);
        out.push(b'\n');
    }
}

/// Prints what is before an instruction.
fn comment(out: &mut TextBuffer, depth: usize, options: &PrintOptions, at: usize) {
    for line in options.comments.get(at).map_or("", String::as_str).lines() {
        out.indent(depth);
        out.text("-- ");
        out.text(line);
        out.push(b'\n');
    }
}

fn annotate(out: &mut TextBuffer, at: usize, instruction: Instruction) {
    out.text("  -- ");
    out.number(u32::try_from(at).unwrap_or(u32::MAX));
    out.push(b':');
    for word in instruction.0 {
        out.push(b' ');
        out.hex8(word);
    }
    if instruction.ty() == InstType::FC {
        out.text(" -> ");
        out.number(u32::from(instruction.fc_addr().jump_addr()));
    }
}

// Fields of all instructions.

/// Prints the flags of the first word that are common to all instructions, each followed by a space.
fn flags(out: &mut TextBuffer, cmn: CmnInst) {
    let flags = CmnInst(0)
        .with(CmnInst::TEX_SEM_WAIT, true)
        .with(CmnInst::LAST, true)
        .with(CmnInst::NOP, true)
        .with(CmnInst::ALU_WAIT, true)
        .with(CmnInst::WRITE_INACTIVE, true);
    if cmn.bits() & flags.bits() == 0 {
        return;
    }
    for (on, text) in [
        (cmn.tex_sem_wait(), "TEX_SEM_WAIT "),
        (cmn.last(), "LAST "),
        (cmn.nop(), "NOP "),
        (cmn.alu_wait(), "ALU_WAIT "),
        (cmn.write_inactive(), "WRITE_INACTIVE "),
    ] {
        if on {
            out.text(text);
        }
    }
}

/// Prints predicates and statistics. `rgb` is false if the RGB predicate is printed elsewhere.
fn predicates(out: &mut TextBuffer, cmn: CmnInst, rgb: bool) {
    let rgb_pair =
        if rgb { (cmn.rgb_pred_sel(), cmn.rgb_pred_inv()) } else { (PredSel::NONE, false) };
    let alpha_pair = (cmn.alpha_pred_sel(), cmn.alpha_pred_inv());
    let none = (PredSel::NONE, false);
    if rgb_pair == alpha_pair && rgb {
        if rgb_pair != none {
            predicate(out, "PRED(", rgb_pair);
        }
    } else {
        if rgb_pair != none {
            predicate(out, "PRED.rgb(", rgb_pair);
        }
        if alpha_pair != none {
            predicate(out, "PRED.a(", alpha_pair);
        }
    }
    if cmn.stat_we() != 0 {
        mask_tag(out, "STAT_WE(", cmn.stat_we());
    }
}

fn predicate(out: &mut TextBuffer, head: &str, (sel, inverted): (PredSel, bool)) {
    out.text(head);
    if inverted {
        out.push(b'!');
    }
    match names::PRED_SELS.iter().find(|(_, s)| *s == sel) {
        Some((text, _)) => out.text(text),
        None => out.number(u32::from(sel.code())),
    }
    out.text(") ");
}

fn mask_tag(out: &mut TextBuffer, head: &str, mask: u8) {
    out.text(head);
    out.text(names::MASKS[usize::from(mask & 15)]);
    out.text(") ");
}

/// Prints `ALU_RESULT.r(lt) ` if no destination implies it.
fn result_tag(out: &mut TextBuffer, cmn: CmnInst) {
    let alpha = cmn.alu_result_sel().code() != 0;
    if alpha || cmn.alu_result_op().code() != 0 {
        out.text(if alpha { "ALU_RESULT.a(" } else { "ALU_RESULT.r(" });
        out.text(compare(cmn.alu_result_op()));
        out.text(") ");
    }
}

fn compare(op: r500_isa::values::Compare) -> &'static str {
    names::COMPARES[usize::from(op.code() & 3)].0.text()
}

/// Prints masks and clamps of instructions that are not arithmetic.
fn unused_masks(out: &mut TextBuffer, cmn: CmnInst, wmask: bool) {
    let mask = |rgb: u8, alpha: bool| rgb | u8::from(alpha) << 3;
    let w = mask(cmn.rgb_wmask().code(), cmn.alpha_wmask());
    let o = mask(cmn.rgb_omask().code(), cmn.alpha_omask());
    if wmask && w != 0 {
        mask_tag(out, "WMASK(", w);
    }
    if o != 0 {
        mask_tag(out, "OMASK(", o);
    }
    match (cmn.rgb_clamp(), cmn.alpha_clamp()) {
        (true, true) => out.text("CLAMP(rgba) "),
        (true, false) => out.text("CLAMP(rgb) "),
        (false, true) => out.text("CLAMP(a) "),
        (false, false) => {}
    }
    result_tag(out, cmn);
}

/// Prints `WORDn(...) ` for bits without a field.
fn spare_bits(out: &mut TextBuffer, instruction: Instruction) {
    let layout = instruction.layout();
    for (n, word) in instruction.0.into_iter().enumerate().skip(1) {
        let spare = word & !layout[n].map_or(0, r500_isa::Register::named_bits);
        if spare != 0 {
            out.text(["WORD0(", "WORD1(", "WORD2(", "WORD3(", "WORD4(", "WORD5("][n]);
            out.hex(spare);
            out.text(") ");
        }
    }
}

/// Prints `[n]` or `[n+aL]`.
fn index(out: &mut TextBuffer, n: u8, relative: bool) {
    out.push(b'[');
    out.small(n);
    out.text(if relative { "+aL]" } else { "]" });
}
