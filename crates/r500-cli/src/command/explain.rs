//! `r500 explain`: the meaning of dwords, instructions and names.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use clap::Args;
use r500::asm::DiagnosticCode;
use r500::check::LintCode;
use r500::chip::{Access, Mapping, RegisterRef};
use r500::exec::{Readings, WarningKind};
use r500::explain::{self, DwordExplanation, FieldExplanation, Named, WordExplanation};
use r500::formats::LogEntry;
use r500::isa::{FieldKind, Instruction, Register, Value};
use r500::pvs;
use serde_json::{Value as Json, json};

use super::exit::{Failure, Outcome, Status};
use super::format::Format;
use super::input_args::{self, ReadArgs};
use super::vertex::VertexFile;
use super::{markdown, terminal};

/// Explain dwords, instructions, names and error codes.
///
/// WHAT is a dword (with --as the name of its register), six dwords that make an instruction, a
/// program file followed by instruction numbers (all of it without), or a name: of a register
/// (US_FC_INST, RB3D_COLORPITCH2, CP_STAT, or its address as @4e40), a register with its value (RBBM_STATUS=0x80010140, 0x4e04=1), a field (JUMP_FUNC, US_FC_INST.OP), a value (OP_MAD), a word of the assembly language (MAD, LOOP, INPUT), an error of
/// the assembler (E0101) or of the checker (R5041), a finding (never-written) or a reading (break). Several may be given; `-`
/// reads them from stdin.
#[derive(Args, Debug)]
#[command(after_help = AFTER)]
pub(super) struct Explain {
    /// What to explain
    #[arg(required = true, value_name = "WHAT")]
    what: Vec<String>,
    /// The register that dwords are explained as, PACKET0 or PACKET3 for a packet's header, or `pvs`: each four dwords are an
    /// instruction of a vertex program
    #[arg(long = "as", value_name = "REGISTER|pvs", value_parser = layout)]
    layout: Option<Layout>,
    /// Which program of a file that holds several: its name, or its number from 0
    #[arg(long, value_name = "NAME|N")]
    pick: Option<String>,
    /// How to answer
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

const AFTER: &str = "\
Examples:
  r500 explain 0x1401ff05 --as us_fc_inst
  r500 explain prog.bin 7                       the eighth instruction of a program
  r500 explain 00078005 08020000 08020080 1c9b04d8 1c810003 00000005
  r500 explain JUMP_FUNC OP_CMP E0101 MAD
  r500 explain 0x00c00100 --as RB3D_COLORPITCH0
  r500 explain RBBM_STATUS=0x80010140 CP_STAT   as the kernel prints it when a card is locked up
  r500 explain 00f00203 00d10001 01248001 01248001 --as pvs
  r500 explain vp.log --as pvs --pick vp1       a vertex program of a driver's log
  echo us_out_fmt | r500 explain - --format json

Exit status: 0 explained, 1 there is no such name or instruction, 2 wrong usage, 3 a file cannot be
read.";

/// The type of dwords that `--as` gives.
#[derive(Clone, Copy, Debug)]
enum Layout {
    Register(&'static Register),
    VertexInstruction,
}

/// Something explained.
enum Answer {
    VertexInstruction(pvs::Instruction),
    Word(WordExplanation),
    Instruction {
        number: Option<usize>,
        text: Option<String>,
        dwords: Box<[DwordExplanation; 6]>,
    },
    Name(Named),
    Diagnostic(DiagnosticCode),
    Finding(WarningKind),
    Reading(&'static r500::exec::reading::ReadingInfo),
    Check(LintCode),
    /// A word of the assembly language, and its page in Markdown.
    Keyword {
        word: String,
        page: String,
    },
}

impl Explain {
    /// Explains.
    pub(super) fn run(self) -> Outcome {
        let mut items = Vec::new();
        for item in &self.what {
            if item == "-" {
                let text = input_args::bytes(Path::new(item))?;
                if let Some(words) = self.vertex_programs(&text)? {
                    items.extend(words);
                    continue;
                }
                let text = String::from_utf8_lossy(&text);
                items.extend(text.split_whitespace().map(str::to_owned));
            } else if matches!(self.layout, Some(Layout::VertexInstruction))
                && Path::new(item).is_file()
                && let Some(words) = self.vertex_programs(&input_args::bytes(Path::new(item))?)?
            {
                items.extend(words);
            } else {
                items.push(item.clone());
            }
        }
        let answers = self.answers(&items)?;
        let mut out = terminal::out();
        match self.format {
            Format::Text => {
                let style = Style { colors: terminal::colors(&std::io::stdout()) };
                for (i, answer) in answers.iter().enumerate() {
                    if i != 0 {
                        writeln!(out)?;
                    }
                    out.write_all(style.answer(answer).as_bytes())?;
                }
            }
            Format::Json => {
                let list: Vec<Json> = answers.iter().map(answer_json).collect();
                writeln!(out, "{:#}", json!({ "version": 1, "explanations": list }))?;
            }
        }
        Ok(Status::Fine)
    }

    fn answers(&self, items: &[String]) -> Outcome<Vec<Answer>> {
        let mut answers = Vec::new();
        let mut rest = items;
        while let [item, after @ ..] = rest {
            rest = after;
            let found = names(item);
            if !found.is_empty() {
                answers.extend(found);
            } else if let Some((register, bits)) = assignment(item) {
                answers.push(Answer::Word(explain::word(register, bits)));
            } else if let Some(Layout::Register(register)) = self.layout
                && let Some(bits) = dword(item)
            {
                answers.push(Answer::Word(explain::word(register, bits)));
            } else if let Some(Layout::VertexInstruction) = self.layout
                && let Some(words) = dwords(item, after)
            {
                rest = &after[3..];
                answers.push(Answer::VertexInstruction(pvs::Instruction(words)));
            } else if let Some(six) = instruction(item, after) {
                rest = &after[5..];
                let dwords = Box::new(explain::instruction(six));
                let text = Some(r500::asm::print_instruction(six));
                answers.push(Answer::Instruction { number: None, text, dwords });
            } else if let Some(found) = address(item).filter(|_| self.layout.is_none()) {
                answers.extend(found);
            } else if Path::new(item).exists() {
                let count = after.iter().take_while(|item| item.parse::<usize>().is_ok()).count();
                let (numbers, after) = after.split_at(count);
                rest = after;
                self.program(item, numbers, &mut answers)?;
            } else {
                return Err(unknown(item));
            }
        }
        Ok(answers)
    }

    /// Returns the dwords of the vertex programs in a driver's log, or of the one that `--pick` names; `None` for other texts.
    fn vertex_programs(&self, bytes: &[u8]) -> Outcome<Option<Vec<String>>> {
        let is_log = r500::formats::detect(bytes, None) == Some(r500::formats::Format::MesaLog);
        if !matches!(self.layout, Some(Layout::VertexInstruction)) || !is_log {
            return Ok(None);
        }
        let limits = r500::formats::Limits::default();
        let plain = r500::formats::decompressed(bytes, &limits).map_err(Failure::input)?;
        let mut words = Vec::new();
        let mut names = Vec::new();
        for entry in r500::formats::LogEntries::new(plain, &limits) {
            let LogEntry::Vertex(program) = entry.map_err(Failure::input)? else { continue };
            let number = names.len().to_string();
            let is_picked = |pick: &String| *pick == program.name || *pick == number;
            if self.pick.as_ref().is_none_or(is_picked) {
                words.extend(program.code.iter().flatten().map(|word| format!("{word:#010x}")));
            }
            names.push(program.name);
        }
        if words.is_empty() {
            let held = match names.as_slice() {
                [] => "the log has no vertex program; RADEON_DEBUG=vp makes the driver print them"
                    .to_owned(),
                names => format!("the log's vertex programs are {}", names.join(", ")),
            };
            return Err(Failure::input(anyhow::anyhow!(held)));
        }
        Ok(Some(words))
    }

    fn program(&self, file: &str, numbers: &[String], answers: &mut Vec<Answer>) -> Outcome<()> {
        if let Some(vertex) =
            VertexFile::picked(Path::new(file), self.pick.as_deref(), ReadArgs::default())?
        {
            vertex.sound()?;
            let (base, code) = vertex.program().instructions();
            return chosen(file, base, code, numbers, |_, inst| {
                answers.push(Answer::VertexInstruction(inst));
            });
        }
        let code = input_args::one(Path::new(file), ReadArgs::default(), self.pick.as_deref())?
            .program
            .code;
        chosen(file, 0, &code, numbers, |number, inst| {
            let text = Some(r500::asm::print_instruction(inst));
            let dwords = Box::new(explain::instruction(inst));
            answers.push(Answer::Instruction { number: Some(number), text, dwords });
        })
    }
}

/// Calls `each` with the instructions of these numbers, all if there are none, of code that begins with number `base`.
fn chosen<T: Copy>(
    file: &str,
    base: usize,
    code: &[T],
    numbers: &[String],
    mut each: impl FnMut(usize, T),
) -> Outcome<()> {
    let wanted: Vec<usize> = match numbers {
        [] => (base..base + code.len()).collect(),
        some => some.iter().filter_map(|number| number.parse().ok()).collect(),
    };
    for number in wanted {
        let Some(&inst) = number.checked_sub(base).and_then(|index| code.get(index)) else {
            let has = match base {
                0 => format!("it has {}", code.len()),
                base => format!("it has {base} to {}", base + code.len() - 1),
            };
            return Err(Failure::input(anyhow::anyhow!(
                "{file}: there is no instruction {number}; {has}"
            )));
        };
        each(number, inst);
    }
    Ok(())
}

fn layout(name: &str) -> Result<Layout, String> {
    if name.eq_ignore_ascii_case("pvs") {
        return Ok(Layout::VertexInstruction);
    }
    let member = || r500::chip::named(name).map(|place| place.mapping.register);
    r500::chip::register(name).or_else(member).map(Layout::Register).ok_or_else(|| {
        let mut similar = explain::similar(name);
        similar.retain(|name| r500::chip::register(name).is_some());
        let hint = match similar.as_slice() {
            [] => "the guide's reference pages (words, state, chip) list them".to_owned(),
            names => format!("did you mean {}?", names.join(", ")),
        };
        format!("no register has this name; {hint}")
    })
}

/// Returns the register and the value of `NAME=VALUE` or `ADDRESS=VALUE`.
fn assignment(item: &str) -> Option<(&'static Register, u32)> {
    let (name, value) = item.split_once('=')?;
    let name = name.trim();
    let member = || r500::chip::named(name).map(|place| place.mapping.register);
    let at_address = || r500::chip::at_text(name).map(|place| place.mapping.register);
    let register = r500::chip::register(name).or_else(member).or_else(at_address)?;
    Some((register, dword(value.trim())?))
}

/// Returns the register at a plain address, such as `0x4e40`.
fn address(item: &str) -> Option<Vec<Answer>> {
    let address = item.strip_prefix("0x").or_else(|| item.strip_prefix("0X"))?;
    let found = names(&format!("@{address}"));
    (!found.is_empty()).then_some(found)
}

fn names(item: &str) -> Vec<Answer> {
    let item = r500::chip::without_prefix(item);
    let mut found: Vec<Answer> = explain::name(item).into_iter().map(Answer::Name).collect();
    let lower = item.to_ascii_lowercase();
    found.extend(DiagnosticCode::from_name(&item.to_ascii_uppercase()).map(Answer::Diagnostic));
    let kinds = WarningKind::ALL.iter().filter(|kind| kind.name() == lower);
    found.extend(kinds.map(|kind| Answer::Finding(*kind)));
    let readings = Readings::TABLE.iter().filter(|info| info.name == lower);
    found.extend(readings.map(Answer::Reading));
    let checks = LintCode::ALL.iter().filter(|code| code.info().number.eq_ignore_ascii_case(item));
    found.extend(checks.map(|code| Answer::Check(*code)));
    if let Some(page) = r500::asm::ide::explain_word(item) {
        found.push(Answer::Keyword { word: item.to_owned(), page });
    }
    found
}

/// Returns a dword: hexadecimal, `0x` or not.
fn dword(item: &str) -> Option<u32> {
    let digits = item.strip_prefix("0x").or_else(|| item.strip_prefix("0X")).unwrap_or(item);
    u32::from_str_radix(digits.trim_end_matches(','), 16).ok()
}

fn instruction(first: &str, after: &[String]) -> Option<Instruction> {
    dwords(first, after).map(Instruction)
}

/// `N` dwords from `first` on.
fn dwords<const N: usize>(first: &str, after: &[String]) -> Option<[u32; N]> {
    let mut words = [dword(first)?; N];
    for (word, item) in words[1..].iter_mut().zip(after.get(..N - 1)?) {
        *word = dword(item)?;
    }
    Some(words)
}

fn unknown(item: &str) -> Failure {
    if dword(item).is_some() {
        return Failure::usage(format!(
            "{item}: a dword alone does not say what it is; name its register, e.g. \
             --as us_fc_inst, or give the six dwords of an instruction"
        ));
    }
    let similar = explain::similar(item);
    let hint = match similar.as_slice() {
        [] => "it is neither a file nor the name of a register, field, value, word, error, finding or reading"
            .to_owned(),
        names => format!("did you mean {}?", names.join(", ")),
    };
    Failure::input(anyhow::anyhow!("{item}: nothing has this name; {hint}"))
}

/// Text, coloured or not.
struct Style {
    colors: bool,
}

impl Style {
    fn answer(&self, answer: &Answer) -> String {
        let mut out = String::new();
        match answer {
            Answer::Word(word) => self.word(&mut out, word),
            Answer::VertexInstruction(inst) => {
                let _ = writeln!(out, "{}", self.bold(&inst.to_string()));
                for word in vertex_words(*inst) {
                    let _ = writeln!(out);
                    self.word(&mut out, &word);
                }
            }
            Answer::Instruction { number, text, dwords } => {
                let number = number.map_or(String::new(), |number| format!("{number}: "));
                let text = text.as_deref().unwrap_or_default().trim_end();
                let _ = writeln!(out, "{}", self.bold(&format!("{number}{text}")));
                for (i, dword) in dwords.iter().enumerate() {
                    let _ = writeln!(out);
                    match dword {
                        DwordExplanation::Word(word) => self.word(&mut out, word),
                        DwordExplanation::Unused { bits } => {
                            let note = if *bits == 0 { "" } else { ", though it is not 0" };
                            let _ = writeln!(
                                out,
                                "{} {}",
                                self.bold(&format!("dword {i} = {bits:#010x}")),
                                self.dim(&format!("ignored{note}"))
                            );
                        }
                    }
                }
            }
            Answer::Name(named) => self.named(&mut out, *named),
            Answer::Diagnostic(code) => {
                let info = code.info();
                let _ = writeln!(out, "{}: {}", self.bold(info.name), info.title);
                let explanation = markdown::render(info.explanation, self.colors);
                let _ = writeln!(out, "\n{explanation}\nExample:\n");
                for line in info.example.lines() {
                    let _ = writeln!(out, "    {line}");
                }
            }
            Answer::Finding(kind) => {
                let weight = if kind.is_hard() { "hard finding" } else { "finding" };
                let text = kind.text().replace("{}", "N");
                let _ = writeln!(out, "{} ({weight} of a run): {text}", self.bold(kind.name()));
            }
            Answer::Check(code) => {
                out.push_str(&markdown::render(&r500::lint::page(*code), self.colors))
            }
            Answer::Keyword { page, .. } => out.push_str(&markdown::render(page, self.colors)),
            Answer::Reading(info) => {
                let _ = writeln!(out, "{} (reading): {}", self.bold(info.name), info.question);
                for (i, (value, meaning)) in info.values.iter().enumerate() {
                    let default = if i == 0 { " (default)" } else { "" };
                    let _ = writeln!(out, "  {value:<14} {meaning}{default}");
                }
                let _ = writeln!(out, "{}", self.dim(info.evidence));
            }
        }
        out
    }

    fn word(&self, out: &mut String, word: &WordExplanation) {
        let WordExplanation { register, bits, fields, unnamed } = word;
        let title = self.bold(&format!("{} = {bits:#010x}", register.name));
        let _ = writeln!(out, "{title}  {}", self.dim(register.meaning));
        let width = fields.iter().map(|f| f.field.name.len()).max().unwrap_or(0);
        let readings: Vec<String> = fields.iter().map(FieldExplanation::reading).collect();
        let column = readings.iter().map(String::len).max().unwrap_or(0);
        let digits = fields.iter().map(|f| f.code.to_string().len()).max().unwrap_or(0);
        for (explained, reading) in fields.iter().zip(&readings) {
            let place = place(explained.field.hi, explained.field.lo);
            let name = explained.field.name;
            let (code, meaning) = (explained.code, explained.text());
            let line = format!(
                "  {place:>5}  {name:<width$}  {code:>digits$}  {reading:<column$}  {meaning}"
            );
            // What is 0 is most of a word and mostly of no interest.
            let line = if explained.is_reserved() {
                self.warning(&line)
            } else if explained.code == 0 {
                self.dim(&line)
            } else {
                line
            };
            let _ = writeln!(out, "{line}");
        }
        if *unnamed != 0 {
            let text = format!("  bits set that no field names: {unnamed:#010x}");
            let _ = writeln!(out, "{}", self.warning(&text));
        }
    }

    fn named(&self, out: &mut String, named: Named) {
        match named {
            Named::Member(place) => {
                let title = self.bold(&place.to_string());
                let _ = writeln!(out, "{title} at {:#06x}: member of", place.address());
                self.named(out, Named::Register(place.mapping.register));
            }
            Named::Register(register) => {
                let count = match register.count {
                    1 => String::new(),
                    n => format!(" (0 to {})", n - 1),
                };
                let title = self.bold(&format!("{}{count}", register.name));
                let _ = writeln!(out, "{title}: {}", register.meaning);
                if let Some(mapping) = r500::chip::mapping_of(register) {
                    let _ = writeln!(out, "{}", self.dim(&address_line(mapping)));
                }
                let width = register.fields.iter().map(|f| f.name.len()).max().unwrap_or(0);
                for field in register.fields {
                    let place = place(field.hi, field.lo);
                    let _ =
                        writeln!(out, "  {place:>5}  {:<width$}  {}", field.name, field.meaning);
                }
            }
            Named::Field(register, field) => {
                let place = place(field.hi, field.lo);
                let title = self.bold(&format!("{}.{}", register.name, field.name));
                let plural = if field.hi == field.lo { "" } else { "s" };
                let _ = writeln!(out, "{title} (bit{plural} {place}): {}", field.meaning);
                for value in field.values {
                    let _ = writeln!(out, "  {}", value_line(value));
                }
                let reserved = field.max() as usize + 1 - field.values.len();
                if field.kind == FieldKind::Choice && reserved > 0 {
                    let _ = writeln!(out, "  {}", self.dim("others are reserved"));
                }
            }
            Named::Value(register, field, value) => {
                let title = self.bold(value.name);
                let place = place(field.hi, field.lo);
                let _ = writeln!(
                    out,
                    "{title} = {} in {}.{} ({place}): {}",
                    value.code, register.name, field.name, value.meaning
                );
            }
        }
    }

    fn bold(&self, text: &str) -> String {
        self.paint("1", text)
    }

    fn dim(&self, text: &str) -> String {
        self.paint("2", text)
    }

    fn warning(&self, text: &str) -> String {
        self.paint("33", text)
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colors { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// The words of a vertex instruction.
fn vertex_words(inst: pvs::Instruction) -> [WordExplanation; 4] {
    use r500::isa::Word;
    let source = pvs::Src::REGISTER;
    let last = if inst.dual_math().is_some() { pvs::DualMath::REGISTER } else { source };
    let layout = [pvs::Dst::REGISTER, source, source, last];
    std::array::from_fn(|i| explain::word(layout[i], inst.0[i]))
}

/// Addresses and accesses of a register.
fn address_line(mapping: &Mapping) -> String {
    let last = mapping.address_of(mapping.count - 1);
    let range = if mapping.count == 1 { String::new() } else { format!(" to {last:#06x}") };
    let alias = mapping.alias.map_or(String::new(), |alias| format!(" and {alias:#06x}"));
    let access = match mapping.access {
        Access::ReadWrite => "read and write",
        Access::Read => "read only",
        Access::Write => "write only",
    };
    format!("  at {:#06x}{range}{alias}, {access}", mapping.address)
}

fn place(hi: u8, lo: u8) -> String {
    if hi == lo { lo.to_string() } else { format!("{hi}:{lo}") }
}

fn value_line(value: &Value) -> String {
    let name = if value.name.is_empty() { String::new() } else { format!("{}: ", value.name) };
    format!("{:>3}  {name}{}", value.code, value.meaning)
}

fn answer_json(answer: &Answer) -> Json {
    match answer {
        Answer::Word(word) => word_json(word),
        Answer::VertexInstruction(inst) => {
            let words = vertex_words(*inst);
            let dwords: Vec<Json> = words.iter().map(word_json).collect();
            json!({ "kind": "vertex-instruction", "text": inst.to_string(), "dwords": dwords })
        }
        Answer::Instruction { number, text, dwords } => {
            let dwords: Vec<Json> = dwords
                .iter()
                .map(|dword| match dword {
                    DwordExplanation::Word(word) => word_json(word),
                    DwordExplanation::Unused { bits } => {
                        json!({ "kind": "unused", "bits": format!("{bits:08x}") })
                    }
                })
                .collect();
            json!({ "kind": "instruction", "number": number, "text": text, "dwords": dwords })
        }
        Answer::Name(Named::Register(register)) => register_json(register),
        Answer::Name(Named::Member(place)) => place_json(*place),
        Answer::Name(Named::Field(register, field)) => {
            let mut answer = field_json(field);
            answer["kind"] = json!("field");
            answer["register"] = json!(register.name);
            answer
        }
        Answer::Name(Named::Value(register, field, value)) => json!({
            "kind": "value", "register": register.name, "field": field.name,
            "code": value.code, "name": value.name, "meaning": value.meaning,
        }),
        Answer::Diagnostic(code) => {
            let info = code.info();
            json!({
                "kind": "diagnostic", "name": info.name, "title": info.title,
                "explanation": info.explanation, "example": info.example,
            })
        }
        Answer::Finding(kind) => json!({
            "kind": "finding", "name": kind.name(), "hard": kind.is_hard(), "meaning": kind.text(),
        }),
        Answer::Check(code) => {
            let info = code.info();
            json!({
                "kind": "check", "code": info.number, "name": info.name,
                "severity": info.severity.name(), "meaning": info.meaning,
                "evidence": info.evidence, "remedy": info.remedy,
            })
        }
        Answer::Keyword { word, page } => json!({ "kind": "word", "name": word, "meaning": page }),
        Answer::Reading(info) => {
            let values: Vec<Json> = info
                .values
                .iter()
                .map(|(name, meaning)| json!({ "name": name, "meaning": meaning }))
                .collect();
            json!({
                "kind": "reading", "name": info.name, "question": info.question,
                "evidence": info.evidence, "values": values,
            })
        }
    }
}

fn place_json(place: RegisterRef) -> Json {
    let mut answer = register_json(place.mapping.register);
    answer["name"] = json!(place.to_string());
    answer["address"] = json!(place.address());
    answer["count"] = json!(1);
    answer
}

fn register_json(register: &Register) -> Json {
    let fields: Vec<Json> = register.fields.iter().map(field_json).collect();
    json!({
        "kind": "register", "name": register.name, "count": register.count,
        "address": r500::chip::mapping_of(register).map(|mapping| mapping.address),
        "meaning": register.meaning, "fields": fields,
    })
}

fn field_json(field: &r500::isa::Field) -> Json {
    let values: Vec<Json> = field
        .values
        .iter()
        .map(|v| json!({ "code": v.code, "name": v.name, "meaning": v.meaning }))
        .collect();
    json!({
        "name": field.name, "hi": field.hi, "lo": field.lo,
        "meaning": field.meaning, "values": values,
    })
}

fn word_json(word: &WordExplanation) -> Json {
    let fields: Vec<Json> = word
        .fields
        .iter()
        .map(|f| {
            json!({
                "name": f.field.name, "hi": f.field.hi, "lo": f.field.lo, "code": f.code,
                "reading": f.reading(), "meaning": f.text(), "about": f.field.meaning,
                "reserved": f.is_reserved(),
            })
        })
        .collect();
    json!({
        "kind": "word", "register": word.register.name, "bits": format!("{:08x}", word.bits),
        "meaning": word.register.meaning, "fields": fields,
        "unnamed_bits": format!("{:08x}", word.unnamed),
    })
}
