//! Vertex programs as text: statements, comments, includes, and the registers that belong to a program.
//!
//! ```text
//! -- Comments reach to the end of the line; `#` begins one, too, except for `#include "file"` between statements.
//! NAME "transform" ;
//! DEF row = 4 ;                                   -- a number; with `.macro` and `.rept` in [`expansion`]
//! FILL 0000 ;                                      -- what stands in sources that nothing reads: 0000, ____ (default) or none
//! VAP_PVS_CONST_CNTL = PVS_MAX_CONST_ADDR(7) ;     -- a register by its fields, or as a number
//! const[0] = (1, 0, 0, 0.5) ;                      -- a constant; inputs and expected outputs are in [`values`](super::values)
//! FLOW[0] = LOOP after 1, 4 times 2 to 5, aL 0 step 1 ;
//! FLOW[1] = JUMP after 6 to 9 ;
//! FLOW[2] = CALL after 7, 10 to 12, return 8 ;
//! out[0].x = VE_DOT const[0].xyzw input[0].xyzw ;
//! ```

mod expansion;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::Range;

use r500_chip::pvs::{DstType, FLOW_INSTRUCTIONS, INSTRUCTIONS, SrcType};
use r500_chip::values::FlowOp;
use r500_chip::vap::{
    VapOutVtxFmt0, VapPvsCodeCntl0, VapPvsCodeCntl1, VapPvsConstCntl, VapPvsFlowCntlAddrsLw,
    VapPvsFlowCntlAddrsUw, VapPvsFlowCntlLoopIndex,
};
use r500_isa::{FieldKind, Register, Word};

use super::error::SyntaxError;
use super::numbers::{Names, integer, whole};
use super::operands::Fill;
use super::values::{self, Expectation};
use crate::instruction::reads_register;
use crate::{Controls, Flow, Instruction, Program};

/// A vertex program as a text says it.
#[derive(Clone, Debug)]
pub struct Source {
    /// The program.
    pub program: Program,
    /// Its name, if the text gives one.
    pub name: Option<String>,
    /// Constants that the text gives, as bits.
    pub constants: BTreeMap<u8, [u32; 4]>,
    /// Inputs that the text gives, as bits: those of a vertex whose caller gives none.
    pub inputs: BTreeMap<u8, [u32; 4]>,
    /// Vertices and what the program must write for them.
    pub expectations: Vec<Expectation>,
    /// What stands in sources that an operation does not read.
    pub fill: Fill,
    /// Where each instruction is in the text; those of included files where they are included.
    pub spans: Vec<Range<usize>>,
}

/// Returns the text of an included file, or why it cannot be read.
pub type Include<'a> = dyn FnMut(&str) -> Result<String, String> + 'a;

/// Most files that include each other.
const DEPTH: usize = 32;

/// Most errors that are collected.
const ERRORS: usize = 10_000;

impl Source {
    /// Returns whether a text is one of a vertex program: outside of comments it assigns an operation of the vector or math engine.
    #[must_use]
    pub fn is_likely(text: &str) -> bool {
        let clean = without_comments(text);
        let mut after = clean.split('=').skip(1).map(str::trim_start);
        after.any(|rest| {
            let head = rest.get(..3).unwrap_or_default();
            let engine = head.eq_ignore_ascii_case("VE_") || head.eq_ignore_ascii_case("ME_");
            engine || rest.get(..13).is_some_and(|op| op.eq_ignore_ascii_case("VECTOR_NO_OP "))
        })
    }

    /// Parses a program. `include` reads included files.
    ///
    /// # Errors
    /// All errors of the text, in its order.
    pub fn parse(text: &str, include: &mut Include<'_>) -> Result<Self, Vec<SyntaxError>> {
        let mut reader = Reader::default();
        reader.names.scopes.push(HashMap::new());
        reader.read(text, include, &mut Vec::new());
        reader.finish()
    }
}

impl From<Program> for Source {
    fn from(program: Program) -> Self {
        Self {
            program,
            name: None,
            constants: BTreeMap::new(),
            inputs: BTreeMap::new(),
            expectations: Vec::new(),
            fill: Fill::default(),
            spans: Vec::new(),
        }
    }
}

/// Prints all but comments: text that parses to the same.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            writeln!(f, "NAME \"{name}\" ;")?;
        }
        values::print(f, "const", &self.constants)?;
        values::print(f, "input", &self.inputs)?;
        self.program.fmt(f)?;
        let mut tolerance = 0.0;
        for expectation in &self.expectations {
            if expectation.tolerance != tolerance {
                tolerance = expectation.tolerance;
                writeln!(f, "EXPECT tolerance = {tolerance} ;")?;
            }
            writeln!(f, "{expectation} ;")?;
        }
        Ok(())
    }
}

#[derive(Default)]
struct Reader {
    name: Option<String>,
    fill: Fill,
    code: Vec<(Instruction, Range<usize>)>,
    constants: BTreeMap<u8, [u32; 4]>,
    inputs: BTreeMap<u8, [u32; 4]>,
    expectations: Vec<Expectation>,
    tolerance: f32,
    range: Option<u32>,
    last_input: Option<u32>,
    window: Option<u32>,
    outputs: Option<u32>,
    flow: BTreeMap<u8, Flow>,
    errors: Vec<SyntaxError>,
    names: Names,
    /// How many bodies are open, and what limits of their text count.
    depth: usize,
    expansions: usize,
    expanded_bytes: usize,
    past_limit: bool,
}

/// Returns the text with comments as spaces: bytes keep their places. Lines of `#include` stay.
fn without_comments(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let is_include = |at: usize| {
            let word = line[at + 1..].trim_start();
            word.get(..7).is_some_and(|word| word.eq_ignore_ascii_case("include"))
        };
        let mut quoted = false;
        let mut end = line.len();
        let mut previous = ' ';
        for (at, c) in line.char_indices() {
            match c {
                '"' => quoted = !quoted,
                '-' if !quoted && line[at..].starts_with("--") => end = at,
                '#' if !quoted && !is_include(at) && previous != '#' => end = at,
                _ => {}
            }
            if end != line.len() {
                break;
            }
            previous = c;
        }
        clean.push_str(&line[..end]);
        clean.extend(line[end..].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
    }
    clean
}

impl Reader {
    fn error(&mut self, span: Range<usize>, message: impl Into<String>) {
        self.push(SyntaxError { span, message: message.into(), help: None });
    }

    fn push(&mut self, error: SyntaxError) {
        if self.errors.len() < ERRORS {
            self.errors.push(error);
        }
    }

    fn read(&mut self, text: &str, include: &mut Include<'_>, open: &mut Vec<String>) {
        let clean = without_comments(text);
        self.read_part(&clean, 0..clean.len(), include, open);
    }

    /// Reads statements of a part of a text without comments.
    fn read_part(
        &mut self,
        text: &str,
        part: Range<usize>,
        include: &mut Include<'_>,
        open: &mut Vec<String>,
    ) {
        let clean = &text[..part.end];
        let mut at = part.start;
        while at < clean.len() && self.errors.len() < ERRORS {
            let rest = &clean[at..];
            let blank = rest.len() - rest.trim_start().len();
            at += blank;
            let rest = &clean[at..];
            if rest.is_empty() {
                return;
            }
            if rest.starts_with('.')
                && let Some(next) = self.body_statement(clean, at, include, open)
            {
                at = next;
                continue;
            }
            if let Some(next) = self.macro_use(clean, at, include, open) {
                at = next;
                continue;
            }
            if let Some(line) = rest.strip_prefix('#') {
                let length = rest.find('\n').unwrap_or(rest.len());
                let line = line[..length - 1].trim();
                self.include(line, at..at + length, include, open);
                at += length;
                continue;
            }
            let end = rest.find(';');
            let statement = &rest[..end.unwrap_or(rest.len())];
            let span = at..at + statement.trim_end().len();
            if end.is_none() {
                let last = statement.trim_end().chars().next_back().map_or(0, char::len_utf8);
                self.push(SyntaxError {
                    span: span.end - last..span.end,
                    message: "the last statement has no end".to_owned(),
                    help: Some("end it with `;`".to_owned()),
                });
            }
            if !statement.trim().is_empty() {
                self.statement(statement.trim_end(), span);
            }
            at += statement.len() + 1;
        }
    }

    fn include(
        &mut self,
        line: &str,
        span: Range<usize>,
        include: &mut Include<'_>,
        open: &mut Vec<String>,
    ) {
        let name =
            line.get(7..).map(str::trim).and_then(|name| name.strip_prefix('"')?.strip_suffix('"'));
        let Some(name) = name else {
            return self.error(span, "expected the name of a file in quotes after #include");
        };
        if open.len() >= DEPTH || open.iter().any(|open| open == name) {
            return self.error(span, format!("`{name}` includes itself"));
        }
        let text = match include(name) {
            Ok(text) => text,
            Err(error) => return self.error(span, format!("`{name}`: {error}")),
        };
        let (code, errors) = (self.code.len(), self.errors.len());
        let expectations = self.expectations.len();
        open.push(name.to_owned());
        self.read(&text, include, open);
        open.pop();
        // Places in the file are places of the line that includes it.
        self.code[code..].iter_mut().for_each(|(_, place)| *place = span.clone());
        self.expectations[expectations..].iter_mut().for_each(|e| e.span = span.clone());
        for error in &mut self.errors[errors..] {
            let line = text[..error.span.start.min(text.len())].matches('\n').count() + 1;
            error.message = format!("{name}:{line}: {}", error.message);
            error.span = span.clone();
        }
    }

    fn statement(&mut self, text: &str, span: Range<usize>) {
        let word: String =
            text.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let rest = text[word.len()..].trim_start();
        let done = match word.to_ascii_uppercase().as_str() {
            "NAME" => self.set_name(rest),
            "FILL" => self.set_fill(rest),
            "FLOW" => self.set_flow(rest),
            "CONST" | "CONSTANT" | "INPUT" | "OUT" if values::is_assignment(rest) => {
                values::assign(text, &mut self.constants, &mut self.inputs, &self.names)
            }
            "DEF" => self.define_number(rest),
            "EXPECT" => values::expect(rest, &mut self.tolerance, span.clone(), &self.names)
                .map(|expectation| self.expectations.extend(expectation)),
            register if register.starts_with("VAP_") => self.set_register(register, rest),
            _ => {
                match Instruction::parse_with(text, self.fill, &self.names) {
                    Ok(inst) => self.code.push((inst, span.clone())),
                    Err(mut error) => {
                        error.span = error.span.start + span.start..error.span.end + span.start;
                        self.push(error);
                    }
                }
                Ok(())
            }
        };
        if let Err((message, help)) = done {
            self.push(SyntaxError { span, message, help: Some(help.to_owned()) });
        }
    }

    fn set_name(&mut self, rest: &str) -> Result<(), (String, &'static str)> {
        let name = rest.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
        self.name = Some(
            name.ok_or(("expected a name in quotes".to_owned(), "write `NAME \"transform\" ;`"))?
                .to_owned(),
        );
        Ok(())
    }

    fn set_fill(&mut self, rest: &str) -> Result<(), (String, &'static str)> {
        self.fill = match rest {
            "0000" => Fill::Zero,
            "____" => Fill::Unused,
            "none" => Fill::Clear,
            _ => {
                return Err((
                    format!("`{rest}` fills nothing"),
                    "write `FILL 0000 ;`, `FILL ____ ;` or `FILL none ;`",
                ));
            }
        };
        Ok(())
    }

    fn set_register(&mut self, name: &str, rest: &str) -> Result<(), (String, &'static str)> {
        const HELP: &str = "write fields in order, such as `PVS_LAST_INST(7)`, or a number";
        let (place, register): (&mut Option<u32>, &Register) = match name {
            "VAP_PVS_CODE_CNTL_0" => (&mut self.range, VapPvsCodeCntl0::REGISTER),
            "VAP_PVS_CODE_CNTL_1" => (&mut self.last_input, VapPvsCodeCntl1::REGISTER),
            "VAP_PVS_CONST_CNTL" => (&mut self.window, VapPvsConstCntl::REGISTER),
            "VAP_OUT_VTX_FMT_0" => (&mut self.outputs, VapOutVtxFmt0::REGISTER),
            _ => {
                return Err((
                    format!("`{name}` does not belong to a vertex program"),
                    "those that do are VAP_PVS_CODE_CNTL_0 and _1, VAP_PVS_CONST_CNTL, VAP_OUT_VTX_FMT_0; flow control is `FLOW[0] = ...`",
                ));
            }
        };
        let value = rest.strip_prefix('=').ok_or(("expected `=`".to_owned(), HELP))?.trim();
        let number = integer(value).or_else(|| fields(register, value, &self.names));
        let number = number.or_else(|| whole(value, u32::MAX, &self.names));
        *place = Some(number.ok_or_else(|| (format!("`{value}` is not a value of {name}"), HELP))?);
        Ok(())
    }

    fn set_flow(&mut self, rest: &str) -> Result<(), (String, &'static str)> {
        const HELP: &str = "write `FLOW[0] = LOOP after 1, 4 times 2 to 5, aL 0 step 1`, `JUMP after 6 to 9`, or `CALL after 7, 10 to 12, return 8`";
        let flow = parse_flow(rest, &self.names)
            .ok_or(("expected a flow control instruction".to_owned(), HELP))?;
        if self.flow.insert(flow.number, flow).is_some() {
            return Err((
                format!("FLOW[{}] is given twice", flow.number),
                "there are 16: FLOW[0] to FLOW[15]",
            ));
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Source, Vec<SyntaxError>> {
        let range = self.range.map(VapPvsCodeCntl0);
        let first = usize::from(range.map_or(0, |range| range.pvs_first_inst()));
        if first + self.code.len() > INSTRUCTIONS {
            let (_, span) =
                self.code[INSTRUCTIONS.saturating_sub(first).min(self.code.len() - 1)].clone();
            self.error(span, format!("a vertex program has at most {INSTRUCTIONS} instructions"));
        }
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        let code: Vec<Instruction> = self.code.iter().map(|(inst, _)| *inst).collect();
        let mut controls = Controls::of_code(first, &code);
        controls.flow = self.flow.into_values().collect();
        controls.range = range.unwrap_or(controls.range);
        controls.inputs = self.last_input.map_or(controls.inputs, VapPvsCodeCntl1);
        controls.constants = self.window.map_or(controls.constants, VapPvsConstCntl);
        controls.outputs = self.outputs.map_or(controls.outputs, VapOutVtxFmt0);
        Ok(Source {
            program: Program::from_code(controls, first, code),
            name: self.name,
            constants: self.constants,
            inputs: self.inputs,
            expectations: self.expectations,
            fill: self.fill,
            spans: self.code.into_iter().map(|(_, span)| span).collect(),
        })
    }
}

/// All constants.
const CONSTANTS: VapPvsConstCntl = VapPvsConstCntl(0xff << 16);
/// The position alone.
const POSITION: VapOutVtxFmt0 = VapOutVtxFmt0(1);

impl Controls {
    /// Returns the registers that instructions from `first` on have unless something gives others: the program ends with the last one; the
    /// position is complete, and the inputs are read, with the last instruction that writes, or reads, one; the position is the only
    /// output, and all constants exist.
    #[must_use]
    pub fn of_code(first: usize, code: &[Instruction]) -> Self {
        let last = (first + code.len()).saturating_sub(1);
        let number = |place: Option<usize>| place.map_or(last, |place| first + place) as u32;
        let position = code.iter().rposition(|inst| {
            let dst = inst.dst();
            matches!(dst.reg_type(), DstType::OUT | DstType::OUT_REPL_X) && dst.offset() == 0
        });
        let input = code.iter().rposition(|inst| {
            let mut sources = inst.read_sources().into_iter().flatten();
            sources.any(|src| src.reg_type() == SrcType::INPUT && reads_register(&src))
        });
        let range = first as u32 | number(position) << 10 | (last as u32) << 20;
        Self {
            range: VapPvsCodeCntl0(range),
            inputs: VapPvsCodeCntl1(number(input)),
            constants: CONSTANTS,
            outputs: POSITION,
            flow: Vec::new(),
        }
    }
}

fn fields(register: &Register, text: &str, names: &Names) -> Option<u32> {
    let mut value = 0;
    for word in text.split_whitespace() {
        let (name, number) = match word.split_once('(') {
            Some((name, number)) => (name, whole(number.strip_suffix(')')?, u32::MAX, names)?),
            None => (word, 1),
        };
        let field = register.fields.iter().find(|field| field.name.eq_ignore_ascii_case(name))?;
        let width = u32::from(field.hi - field.lo) + 1;
        if u64::from(number) >> width != 0 {
            return None;
        }
        value |= number << field.lo;
    }
    Some(value)
}

fn parse_flow(text: &str, names: &Names) -> Option<Flow> {
    let (number, rest) = text.strip_prefix('[')?.split_once(']')?;
    let number = u8::try_from(whole(number.trim(), u8::MAX.into(), names)?).ok();
    let number = number.filter(|number| usize::from(*number) < FLOW_INSTRUCTIONS)?;
    let rest = rest.trim_start().strip_prefix('=')?.replace(',', " ");
    let words: Vec<&str> = rest.split_whitespace().collect();
    let n = |place: usize| u16::try_from(whole(words.get(place)?, u16::MAX.into(), names)?).ok();
    let is =
        |place: usize, word: &str| words.get(place).is_some_and(|is| is.eq_ignore_ascii_case(word));
    let flow = |op, low: [u16; 2], high: [u16; 2], index: VapPvsFlowCntlLoopIndex| Flow {
        number,
        op,
        low: VapPvsFlowCntlAddrsLw(u32::from(low[0]) | u32::from(low[1]) << 16),
        high: VapPvsFlowCntlAddrsUw(u32::from(high[0]) | u32::from(high[1]) << 16),
        index,
    };
    let none = VapPvsFlowCntlLoopIndex(0);
    match words.first()?.to_ascii_uppercase().as_str() {
        // LOOP after A, N times F to L, aL I step S [REPEAT]
        "LOOP"
            if is(1, "after") && is(4, "times") && is(6, "to") && is(8, "aL") && is(10, "step") =>
        {
            let init = u8::try_from(whole(words.get(9)?, u8::MAX.into(), names)?).ok()?;
            let step: i8 = words.get(11)?.parse().ok()?;
            let repeat = is(12, "repeat");
            if words.len() > 12 + usize::from(repeat) {
                return None;
            }
            let index = u32::from(init) | u32::from(step as u8) << 8 | u32::from(repeat) << 31;
            Some(flow(FlowOp::LOOP, [n(2)?, n(3)?], [n(7)?, n(5)?], VapPvsFlowCntlLoopIndex(index)))
        }
        "JUMP" if is(1, "after") && is(3, "to") && words.len() == 5 => {
            Some(flow(FlowOp::JUMP, [n(2)?, n(4)?], [0, 0], none))
        }
        "CALL" if is(1, "after") && is(4, "to") && is(6, "return") && words.len() == 8 => {
            Some(flow(FlowOp::CALL, [n(2)?, n(3)?], [n(5)?, n(7)?], none))
        }
        _ => None,
    }
}

impl fmt::Display for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, target) = (self.low.act_adrs(), self.low.loop_cnt_jmp_inst());
        let (last, back) = (self.high.last_inst(), self.high.rtn_inst());
        write!(f, "FLOW[{}] = ", self.number)?;
        match self.op {
            FlowOp::JUMP => write!(f, "JUMP after {at} to {target}"),
            FlowOp::CALL => write!(f, "CALL after {at}, {target} to {last}, return {back}"),
            _ => {
                let (init, step) = (self.index.loop_init_val(), self.index.loop_step_val());
                write!(
                    f,
                    "LOOP after {at}, {target} times {back} to {last}, aL {init} step {step}"
                )?;
                f.write_str(if self.index.loop_repeat_no_fli() { " repeat" } else { "" })
            }
        }
    }
}

/// Prints the program as text that parses to the same instructions and registers.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (base, all) = self.instructions();
        let controls = self.controls();
        let outside = controls.flow.iter().any(|flow| flow.op != FlowOp::LOOP);
        let range = controls.range;
        // Jumps can leave the window: up to the last instruction that is not 0.
        let from = usize::from(range.pvs_first_inst());
        let code: Vec<Instruction> = if outside {
            let used = all.iter().rposition(|inst| inst.0 != [0; 4]).map_or(0, |last| last + 1);
            let first = all.get(from.saturating_sub(base)..used.max(from.saturating_sub(base)));
            first.unwrap_or_default().to_vec()
        } else {
            self.window().map(|(_, inst)| inst).collect()
        };
        let last = range.pvs_last_inst();
        writeln!(
            f,
            "-- instructions {from} to {last}; position complete after {}, inputs read up to {}",
            range.pvs_xyzw_valid_inst(),
            controls.inputs.pvs_last_vtx_src_inst()
        )?;
        let implied = Controls::of_code(from, &code);
        let registers = [
            // Without this register a text begins at 0.
            (VapPvsCodeCntl0::REGISTER, range.0, (from == 0).then_some(implied.range.0)),
            (VapPvsCodeCntl1::REGISTER, controls.inputs.0, Some(implied.inputs.0)),
            (VapPvsConstCntl::REGISTER, controls.constants.0, Some(CONSTANTS.0)),
            (VapOutVtxFmt0::REGISTER, controls.outputs.0, Some(POSITION.0)),
        ];
        for (register, value, implied) in registers {
            if Some(value) != implied {
                print_register(f, register, value)?;
            }
        }
        for flow in &controls.flow {
            writeln!(f, "{flow} ;")?;
        }
        let fill = Fill::shortest(&code);
        match fill {
            Fill::Unused => {}
            Fill::Zero => f.write_str("FILL 0000 ;\n")?,
            Fill::Clear => f.write_str("FILL none ;\n")?,
        }
        for (n, inst) in (from..).zip(&code) {
            let text = inst.with_fill(fill).to_string();
            writeln!(f, "{text:<72} ; -- {n}")?;
        }
        Ok(())
    }
}

fn print_register(f: &mut fmt::Formatter<'_>, register: &Register, value: u32) -> fmt::Result {
    write!(f, "{} =", register.name)?;
    let mut rest = value;
    let mut text = String::new();
    for field in register.fields {
        let mask = u32::MAX >> (31 - (field.hi - field.lo));
        let number = value >> field.lo & mask;
        rest &= !(mask << field.lo);
        match (field.kind, number) {
            (_, 0) => {}
            (FieldKind::Flag, _) => text += &format!(" {}", field.name),
            (_, number) => text += &format!(" {}({number})", field.name),
        }
    }
    if value == 0 {
        return writeln!(f, " 0 ;");
    }
    if rest != 0 {
        return writeln!(f, " {value:#010x} ;");
    }
    writeln!(f, "{text} ;")
}
