//! Printer of command streams.

use std::convert::Infallible;
use std::fmt::Write as _;

use r500_chip::pm4::{FILLER, Header, IndexBuffer, Opcode, Type0, Type3, VertexArrays};
use r500_chip::vap::{VapPvsVectorDataReg, VapPvsVectorDataReg128, VapPvsVectorIndxReg, VapVfCntl};
use r500_chip::{Mapped, RegisterRef, at};
use r500_isa::state::{GaUsVectorData, GaUsVectorIndex};
use r500_isa::values::VectorType;
use r500_isa::{Field, FieldKind, Instruction, Register, Word};
use r500_pvs::{self as pvs, CONSTANT_BASE};

use super::words;
use crate::packet::{Packet, Truncated, packets};

/// Prints a stream, one line for each packet or register.
#[must_use]
pub fn print(stream: &[u32]) -> String {
    Printer::default().print(stream)
}

/// A function that prints fragment instructions, for comments.
type Disassemble = fn(Instruction) -> String;

/// A printer with options.
#[derive(Clone, Copy, Debug, Default)]
pub struct Printer {
    instructions: Option<Disassemble>,
}

/// Bytes of text after which a piece is passed on.
const PIECE: usize = 64 << 10;

/// Column of comments.
const COMMENTS: usize = 44;

impl Printer {
    /// Adds a comment to each instruction of the fragment processor, printed by this function.
    #[must_use]
    pub fn instructions(mut self, print: fn(Instruction) -> String) -> Self {
        self.instructions = Some(print);
        self
    }

    /// Prints a stream, one line for each packet or register.
    #[must_use]
    pub fn print(self, stream: &[u32]) -> String {
        let mut out = String::new();
        let Ok(()) = self.print_pieces::<Infallible>(stream, |piece| {
            out.push_str(piece);
            Ok(())
        });
        out
    }

    /// Prints a stream as [`print`](Self::print) does, in pieces of about 64 KiB, so that the text of a long stream
    /// is not in memory as a whole.
    ///
    /// # Errors
    /// The first one of `put`.
    pub fn print_pieces<E>(
        self,
        stream: &[u32],
        mut put: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        self.print_to(stream, |lines| {
            if lines.out.len() < PIECE {
                return Ok(());
            }
            put(&lines.out)?;
            lines.clear();
            Ok(())
        })
        .and_then(|lines| put(&lines.out))
    }

    /// Calls `each` with every line of the text, without its line break, and the index of the line's first dword: that of the packet's
    /// header, or of the value if the line continues a packet.
    ///
    /// # Errors
    /// The first one of `each`.
    pub fn lines<E>(
        self,
        stream: &[u32],
        mut each: impl FnMut(usize, &str) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut take = |lines: &mut Lines| -> Result<(), E> {
            for (n, (start, dword)) in lines.starts.iter().enumerate() {
                let end = lines.starts.get(n + 1).map_or(lines.out.len(), |(next, _)| *next);
                each(*dword, lines.out[*start..end].trim_end_matches('\n'))?;
            }
            lines.clear();
            Ok(())
        };
        let mut rest = self.print_to(stream, &mut take)?;
        take(&mut rest)
    }

    /// Prints a stream. Calls `between` before each packet, which may take what is printed.
    fn print_to<E>(
        self,
        stream: &[u32],
        mut between: impl FnMut(&mut Lines) -> Result<(), E>,
    ) -> Result<Lines, E> {
        let mut lines = Lines {
            printer: self,
            out: String::new(),
            starts: Vec::new(),
            at: 0,
            upload: Upload::default(),
        };
        let mut fillers = 0;
        for packet in packets(stream) {
            between(&mut lines)?;
            match packet {
                Ok(Packet { header: Header::Type2(FILLER), at, .. }) => {
                    if fillers == 0 {
                        lines.at = at;
                    }
                    fillers += 1;
                }
                Ok(packet) => {
                    lines.fill(&mut fillers);
                    lines.at = packet.at;
                    lines.packet(packet);
                }
                Err(Truncated { at, needs, has, .. }) => {
                    lines.fill(&mut fillers);
                    lines.at = at;
                    let comment = format!("the packet needs {needs} dwords, {has} follow");
                    lines.dwords(&stream[at..], &comment);
                }
            }
        }
        lines.fill(&mut fillers);
        Ok(lines)
    }
}

/// The upload position of the program memories, for comments.
#[derive(Clone, Copy, Debug, Default)]
struct Upload {
    us_type: VectorType,
    us: Port,
    vector: Port,
}

/// The position in a memory whose items (instructions, vectors) are written dword by dword, by one packet or several.
#[derive(Clone, Copy, Debug, Default)]
struct Port {
    start: usize,
    dwords: usize,
    /// The dwords of the current item that are written.
    item: [u32; 6],
}

/// What dwords that are written to a [`Port`] belong to.
struct Written {
    /// The item of the first dword.
    item: usize,
    /// The first dword's place in it.
    dword: usize,
    /// The item that they complete, and its dwords.
    whole: Option<(usize, [u32; 6])>,
}

impl Port {
    fn at(start: usize) -> Self {
        Self { start, ..Self::default() }
    }

    /// Takes at most `size` dwords, the number that an item has.
    fn put(&mut self, dwords: &[u32], size: usize) -> Written {
        let (item, dword) = (self.start + self.dwords / size, self.dwords % size);
        let mut whole = None;
        for value in dwords {
            self.item[self.dwords % size] = *value;
            self.dwords += 1;
            if self.dwords.is_multiple_of(size) {
                whole = Some((self.start + self.dwords / size - 1, self.item));
            }
        }
        Written { item, dword, whole }
    }
}

struct Lines {
    printer: Printer,
    out: String,
    /// Where each line begins in `out`, and its first dword.
    starts: Vec<(usize, usize)>,
    /// The first dword of the next line.
    at: usize,
    upload: Upload,
}

impl Lines {
    fn clear(&mut self) {
        self.out.clear();
        self.starts.clear();
    }

    fn line(&mut self, text: &str, comment: &str) {
        self.starts.push((self.out.len(), self.at));
        self.out.push_str(text);
        if !comment.is_empty() {
            let blanks = COMMENTS.saturating_sub(text.chars().count()).max(1);
            let _ = write!(self.out, "{:blanks$}# {comment}", "");
        }
        self.out.push('\n');
    }

    fn fill(&mut self, fillers: &mut usize) {
        while *fillers > 0 {
            let count = (*fillers).min(words::MAX_FILL);
            *fillers -= count;
            match count {
                1 => self.line(words::FILL, ""),
                n => self.line(&format!("{} {n}", words::FILL), ""),
            }
            self.at += count;
        }
    }

    fn packet(&mut self, packet: Packet<'_>) {
        let body = packet.body;
        match packet.header {
            Header::Type0(header) => {
                let address = header.address(0);
                let plain = Type0::write(address, body.len());
                if Some(header) == plain {
                    self.registers(address, body);
                } else if Some(header) == plain.map(|header| header.with(Type0::ONE_REG_WR, true)) {
                    self.one_register(address, body);
                } else {
                    self.whole(packet, "register writes with reserved bits");
                }
            }
            Header::Type3(header)
                if Some(header) == Type3::command(header.it_opcode(), body.len()) =>
            {
                self.command(header.it_opcode(), body);
            }
            Header::Type3(_) => self.whole(packet, "a command with reserved bits or a predicate"),
            Header::Type1(_) => self.whole(packet, "a packet of type 1"),
            Header::Type2(_) => self.whole(packet, "a packet of type 2 with reserved bits"),
        }
    }

    fn whole(&mut self, packet: Packet<'_>, comment: &str) {
        let mut words = vec![packet.header.bits()];
        words.extend_from_slice(packet.body);
        self.dwords(&words, comment);
    }

    fn dwords(&mut self, dwords: &[u32], comment: &str) {
        self.rows(words::DWORDS, dwords, 8, |_, i, _| {
            if i == 0 { comment.to_owned() } else { String::new() }
        });
    }

    fn registers(&mut self, address: u32, body: &[u32]) {
        for (i, value) in body.iter().enumerate() {
            let address = address + 4 * i as u32;
            let sign = if i == 0 { "" } else { "+ " };
            let (name, place) = name(address);
            let mut comment =
                place.map_or(String::new(), |place| fields(place.mapping.register, *value));
            if let Some(place) = place.filter(|place| place.address() != address) {
                comment = format!("{place} {comment}");
            }
            // Some programs write the memories word by word.
            if address == GaUsVectorData::MAPPING.address {
                comment = self.us_comment(&[*value]);
            } else if is_vector_data(address) {
                comment = self.vector_comment(&[*value]);
            }
            self.line(&format!("{sign}{name} = {value:#010x}"), comment.trim_end());
            self.at += if i == 0 { 2 } else { 1 };
            self.upload.write(address, *value);
        }
    }

    fn one_register(&mut self, address: u32, body: &[u32]) {
        let (name, place) = name(address);
        let head = format!("{name} <-");
        let is = |mapping: &r500_chip::Mapping| mapping.address == address;
        if is(GaUsVectorData::MAPPING) {
            let size = if self.upload.us_type == VectorType::CONST { 4 } else { 6 };
            self.rows(&head, body, size, |lines, _, row| lines.us_comment(row));
        } else if is_vector_data(address) {
            self.rows(&head, body, 4, |lines, _, row| lines.vector_comment(row));
        } else {
            self.rows(&head, body, 8, |_, _, row| match (place, row) {
                (Some(place), [value]) => fields(place.mapping.register, *value),
                _ => String::new(),
            });
            for value in body {
                self.upload.write(address, *value);
            }
        }
    }

    /// Prints a packet's dwords in rows, each with a comment from its index and dwords.
    fn rows(
        &mut self,
        head: &str,
        body: &[u32],
        size: usize,
        comment: impl Fn(&mut Self, usize, &[u32]) -> String,
    ) {
        let start = self.at;
        for (i, row) in body.chunks(size).enumerate() {
            // Dwords outside of packets have no header before them.
            let has_header = usize::from(head != words::DWORDS);
            self.at = if i == 0 { start } else { start + has_header + i * size };
            let mut text = if i == 0 { head.to_owned() } else { "+".to_owned() };
            for value in row {
                let _ = write!(text, " {value:#010x}");
            }
            let comment = comment(self, i, row);
            self.line(&text, &comment);
        }
    }

    /// Returns the comment for dwords that are written to the memory of the fragment processor.
    fn us_comment(&mut self, row: &[u32]) -> String {
        let is_constant = self.upload.us_type == VectorType::CONST;
        let Written { item, dword, whole } =
            self.upload.us.put(row, if is_constant { 4 } else { 6 });
        match (whole, self.printer.instructions) {
            (Some((number, words)), _) if is_constant => {
                format!("const[{number}] = {}", floats(&words[..4]))
            }
            (None, _) if is_constant => format!("const[{item}].{}", components("rgba", dword, row)),
            (Some((number, words)), Some(print)) => {
                format!("{number}: {}", print(Instruction(words)).trim())
            }
            (_, _) => format!("instruction {item}{}", place(dword, row)),
        }
    }

    /// Returns the comment for dwords that are written to the memory of the vertex processor.
    fn vector_comment(&mut self, row: &[u32]) -> String {
        let Written { item, dword, whole } = self.upload.vector.put(row, 4);
        let (number, words) = match &whole {
            Some((number, words)) => (*number, Some(&words[..4])),
            None => (item, None),
        };
        let vector = |name: &str| match words {
            Some(words) => format!("{name} = {}", floats(words)),
            None => format!("{name}.{}", components("xyzw", dword, row)),
        };
        if number >= pvs::PLANE_BASE {
            vector(&format!("plane {}", number - pvs::PLANE_BASE))
        } else if number >= CONSTANT_BASE {
            vector(&format!("const[{}]", number - CONSTANT_BASE))
        } else {
            match words.and_then(|words| words.try_into().ok()) {
                Some(words) => format!("{number}: {}", pvs::Instruction(words)),
                None => format!("instruction {item}{}", place(dword, row)),
            }
        }
    }

    fn command(&mut self, opcode: Opcode, body: &[u32]) {
        let head = match opcode.describe() {
            Some(value) => value.name.to_owned(),
            None => format!("{} {:#04x}", words::COMMAND, opcode.code()),
        };
        let comment = command_comment(opcode, body);
        self.rows(&head, body, 8, |_, i, _| if i == 0 { comment.clone() } else { String::new() });
    }
}

impl Upload {
    /// Takes a write of a register that sets a position.
    fn write(&mut self, address: u32, value: u32) {
        if address == GaUsVectorIndex::MAPPING.address {
            let index = GaUsVectorIndex(value);
            self.us_type = index.ty();
            self.us = Port::at(usize::from(index.index()));
        } else if address == VapPvsVectorIndxReg::MAPPING.address {
            let offset = VapPvsVectorIndxReg(value).octword_offset();
            self.vector = Port::at(usize::from(offset));
        }
    }
}

/// Returns whether a register takes dwords for the memory of the vertex processor.
pub(super) fn is_vector_data(address: u32) -> bool {
    address == VapPvsVectorDataReg::MAPPING.address
        || address == VapPvsVectorDataReg128::MAPPING.address
}

/// Returns which dwords of an instruction a row has.
fn place(dword: usize, row: &[u32]) -> String {
    match row {
        [_] => format!(", dword {dword}"),
        _ => String::new(),
    }
}

/// Returns components of a vector with their values, the first of them `dword`. A row ends before the vector does.
fn components(names: &str, dword: usize, row: &[u32]) -> String {
    let names: String = names.chars().skip(dword).take(row.len()).collect();
    format!("{names} = {}", floats(row))
}

fn command_comment(opcode: Opcode, body: &[u32]) -> String {
    match (opcode, body) {
        (Opcode::NOP, [dword]) if dword.is_multiple_of(4) => format!("relocation {}", dword / 4),
        (Opcode::DRAW_VBUF_2 | Opcode::DRAW_IMMD_2 | Opcode::DRAW_INDX_2, [vf_cntl, ..]) => {
            fields(VapVfCntl::REGISTER, *vf_cntl)
        }
        (Opcode::LOAD_VBPNTR, body) => {
            let arrays = VertexArrays::new(body).into_iter().flat_map(|arrays| arrays.iter());
            let arrays = arrays.map(|array| {
                format!("{} of {} dwords at {:#x}", array.size, array.stride, array.offset)
            });
            arrays.collect::<Vec<_>>().join(", ")
        }
        (Opcode::INDX_BUFFER, body) => IndexBuffer::new(body).map_or(String::new(), |buffer| {
            format!("{} dwords at {:#x}", buffer.dwords, buffer.offset)
        }),
        _ => String::new(),
    }
}

/// Returns the assembler's name of a register, and the register.
pub(super) fn name(address: u32) -> (String, Option<RegisterRef>) {
    let place = at(address);
    match place {
        Some(place) if place.address() == address => (place.to_string(), Some(place)),
        _ => (format!("@{address:#06x}"), place),
    }
}

pub(super) fn floats(words: &[u32]) -> String {
    let floats = words.iter().map(|word| f32::from_bits(*word).to_string());
    floats.collect::<Vec<_>>().join(" ")
}

/// Returns the nonzero fields, and unnamed bits.
pub(super) fn fields(register: &Register, bits: u32) -> String {
    let mut out = Vec::new();
    for field in register.fields {
        let code = field.extract(bits);
        if code != 0 || field.kind == FieldKind::Float || register.fields.len() == 1 {
            out.push(reading(field, code, register.fields.len() == 1));
        }
    }
    let unnamed = bits & !register.named_bits();
    if unnamed != 0 {
        out.push(format!("unnamed bits {unnamed:#x}"));
    }
    out.join(", ")
}

fn reading(field: &Field, code: u32, alone: bool) -> String {
    let value = match (field.kind, field.value(code)) {
        (FieldKind::Float, _) => f32::from_bits(code).to_string(),
        (_, Some(value)) if !value.name.is_empty() => value.name.to_owned(),
        (_, Some(value)) => value.meaning.to_owned(),
        (FieldKind::Flag, None) if !alone => return field.name.to_owned(),
        (FieldKind::Signed, None) => {
            let unused = 32 - field.width();
            ((code << unused).cast_signed() >> unused).to_string()
        }
        _ => code.to_string(),
    };
    if alone { value } else { format!("{} {value}", field.name) }
}
