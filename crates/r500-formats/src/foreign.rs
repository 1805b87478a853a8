//! Inputs that are not fragment programs: other kinds of files, texts in languages that are not read, and vertex programs.
//!
//! Any dwords decode as a fragment program, so these inputs would be misread. Only inputs with a detected format are
//! checked; a format named by the user is not.

use r500_isa::Instruction;
use r500_pvs::{self as pvs, Addressing, Component, DstType, Op, Src, SrcType};

use crate::error::ReadErrorKind;
use crate::head_text::{as_text, without_comments};
use crate::{ReadError, mesa_log};

/// Magic numbers of other files: offset, bytes, kind. All have at least four bytes, or are checked further in
/// [`file_kind`], so that programs rarely match by chance.
const MAGICS: &[(usize, &[u8], &str)] = &[
    (0, b"\x7fELF", "an ELF executable or library"),
    (0, b"\xfe\xed\xfa\xce", "a Mach-O executable"),
    (0, b"\xfe\xed\xfa\xcf", "a Mach-O executable"),
    (0, b"\xce\xfa\xed\xfe", "a Mach-O executable"),
    (0, b"\xcf\xfa\xed\xfe", "a Mach-O executable"),
    (0, b"\xca\xfe\xba\xbe", "a Java class or a Mach-O executable"),
    (0, b"\0asm", "a WebAssembly module"),
    (0, b"BC\xc0\xde", "LLVM bitcode"),
    (0, b"!<arch>\n", "an archive of object files or a Debian package"),
    (0, b"\x03\x02\x23\x07", "a SPIR-V module"),
    (0, b"DXBC", "a Direct3D shader"),
    (0, b"\x89PNG", "a PNG picture"),
    (0, b"GIF87a", "a GIF picture"),
    (0, b"GIF89a", "a GIF picture"),
    (0, b"II*\0", "a TIFF picture"),
    (0, b"MM\0*", "a TIFF picture"),
    (0, b"v/1\x01", "an OpenEXR picture"),
    (0, b"DDS ", "a DDS texture"),
    (0, b"\xabKTX ", "a KTX texture"),
    (0, b"RIFF", "a RIFF file (WebP, WAV, AVI)"),
    (0, b"OggS", "an Ogg file"),
    (0, b"fLaC", "a FLAC file"),
    (4, b"ftyp", "an MP4, HEIF or AVIF file"),
    (0, b"\x1a\x45\xdf\xa3", "a Matroska or WebM file"),
    (0, b"%PDF-", "a PDF document"),
    (0, b"PK\x03\x04", "a ZIP archive"),
    (0, b"PK\x05\x06", "a ZIP archive"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (0, b"Rar!\x1a\x07", "a RAR archive"),
    (0, b"\xfd7zXZ\0", "an xz archive"),
    (0, b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (0, b"\x04\x22\x4d\x18", "an LZ4 archive"),
    (257, b"ustar", "a tar archive"),
    (0, b"SQLite format 3\0", "an SQLite database"),
    (0, b"\x89R5CS\r\n\x1a", CAPTURE),
];

/// The [kind](ReadErrorKind::NotAProgram) of captures of command streams.
pub const CAPTURE: &str = "a captured command stream";

/// The [kind](ReadErrorKind::NotAProgram) of dwords of vertex programs.
pub const VERTEX_PROGRAM: &str = "a vertex program (PVS, four dwords an instruction)";

/// What an input without R500 programs is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignKind {
    /// What it is, such as "a PNG picture".
    pub name: &'static str,
    /// For a language that people write or print programs in: what leads from it to an R500 program.
    pub advice: Option<&'static str>,
}

impl ForeignKind {
    const fn file(name: &'static str) -> Self {
        Self { name, advice: None }
    }

    const fn language(name: &'static str, advice: &'static str) -> Self {
        Self { name, advice: Some(advice) }
    }
}

const TRANSLATE: &str = "it has to be translated: GLSL, and the programs of ARB_fragment_program and ARB_vertex_program, are compiled";

const PRINT: &str = "Mesa's r300 driver prints the programs that it becomes with RADEON_DEBUG=fp,vp; of source languages, GLSL and ARB programs are compiled";

/// Returns the kind of an input without fragment programs: of a file from the magic number at its start, of a text from its first
/// statement.
#[must_use]
pub fn file_kind(head: &[u8]) -> Option<ForeignKind> {
    let at = |offset: usize| head.get(offset..).unwrap_or_default();
    let magic = MAGICS.iter().find(|(offset, magic, _)| at(*offset).starts_with(magic));
    if let Some((_, _, kind)) = magic {
        return Some(ForeignKind::file(kind));
    }
    match head {
        // The byte after SOI and a marker's 0xff is APP0 to APP15, DQT or a comment.
        [0xff, 0xd8, 0xff, 0xe0..=0xef | 0xdb | 0xfe, ..] => {
            Some(ForeignKind::file("a JPEG picture"))
        }
        [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, ..] => {
            Some(ForeignKind::file("a bzip2 archive"))
        }
        // The dword at 60 is the position of a PE file's header.
        [b'M', b'Z', ..] => {
            let place = at(60).first_chunk::<4>().map(|bytes| u32::from_le_bytes(*bytes) as usize);
            let is_pe = place.is_some_and(|place| at(place).starts_with(b"PE\0\0"));
            is_pe.then_some(ForeignKind::file("a Windows executable"))
        }
        _ => {
            let first = head.first_chunk::<4>().map(|bytes| u32::from_le_bytes(*bytes));
            // A driver's log may begin with what the compiler was given.
            let language = || language(head).filter(|_| !mesa_log::is_log(head));
            first.and_then(direct3d_tokens).or_else(language)
        }
    }
}

/// Returns the kind of Direct3D 9 bytecode whose first token this is: the type in the upper half, the version in the lower one, major
/// before minor (0xff: of the software pipeline).
fn direct3d_tokens(first: u32) -> Option<ForeignKind> {
    let [minor, major, low, high] = first.to_le_bytes();
    if !(1..=3).contains(&major) || !matches!(minor, 0..=4 | 0xff) || high != 0xff {
        return None;
    }
    match low {
        0xff => Some(ForeignKind::language("a Direct3D 9 pixel shader (bytecode)", TRANSLATE)),
        0xfe => Some(ForeignKind::language("a Direct3D 9 vertex shader (bytecode)", TRANSLATE)),
        _ => None,
    }
}

/// Returns the kind of a text in a language that is not read.
fn language(head: &[u8]) -> Option<ForeignKind> {
    let text = as_text(head)?;
    if text.trim_start().starts_with("; SPIR-V") {
        return Some(ForeignKind::language("SPIR-V assembly", TRANSLATE));
    }
    let text = without_comments(text);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next()?;
    let second = lines.next().unwrap_or_default();
    if first.starts_with("shader: ") {
        return Some(ForeignKind::language("NIR, Mesa's intermediate language", PRINT));
    }
    let is_tgsi = ["DCL ", "PROPERTY ", "IMM"].iter().any(|word| second.starts_with(word));
    match first {
        "FRAG" if is_tgsi => Some(ForeignKind::language("a fragment program in TGSI", PRINT)),
        "VERT" if is_tgsi => Some(ForeignKind::language("a vertex program in TGSI", PRINT)),
        _ if first.starts_with("!!ARB") => None,
        _ if first.starts_with("!!") => Some(ForeignKind::language(
            "assembly of an OpenGL extension other than ARB's",
            TRANSLATE,
        )),
        _ => direct3d_version(first.split_whitespace().next()?),
    }
}

/// Returns the kind of Direct3D assembly that begins with this word, such as `ps_3_0` or `vs.1.1`.
fn direct3d_version(word: &str) -> Option<ForeignKind> {
    let word = word.to_ascii_lowercase().replace('.', "_");
    let mut parts = word.split('_');
    let (stage, major, minor) = (parts.next()?, parts.next()?, parts.next()?);
    let is_version = matches!(major, "1" | "2" | "3")
        && matches!(minor, "0" | "1" | "2" | "3" | "4" | "x" | "a" | "b" | "sw")
        && parts.next().is_none();
    match stage {
        "ps" if is_version => {
            Some(ForeignKind::language("a pixel shader in Direct3D assembly", TRANSLATE))
        }
        "vs" if is_version => {
            Some(ForeignKind::language("a vertex shader in Direct3D assembly", TRANSLATE))
        }
        _ => None,
    }
}

/// Checks the beginning of an input for a known kind of file.
pub(crate) fn check_file(head: &[u8]) -> Result<(), ReadError> {
    let Some(kind) = file_kind(head) else { return Ok(()) };
    Err(match kind {
        ForeignKind { name, advice: Some(advice) } => {
            ReadError::new(ReadErrorKind::OtherLanguage(name)).with_help(advice)
        }
        ForeignKind { name: CAPTURE, .. } => ReadError::new(ReadErrorKind::NotAProgram(CAPTURE)),
        ForeignKind { name, .. } => ReadError::new(ReadErrorKind::NotAProgram(name))
            .with_help("to read its bytes as dwords all the same, name a format"),
    })
}

/// Which dwords a reader rejects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DwordCheck {
    /// None: the user named the format.
    None,
    /// Those of vertex programs.
    VertexPrograms,
}

/// Checks the dwords of a program: instructions, and what follows the last whole one.
pub(crate) fn check_dwords(
    check: DwordCheck,
    code: &[Instruction],
    rest: &[u32],
) -> Result<(), ReadError> {
    if check == DwordCheck::None {
        return Ok(());
    }
    // Bytecode as an array or as hex text.
    if let Some(ForeignKind { name, advice: Some(advice) }) =
        code.first().and_then(|inst| direct3d_tokens(inst.0[0]))
    {
        return Err(ReadError::new(ReadErrorKind::OtherLanguage(name)).with_help(advice));
    }
    // Six dwords a fragment instruction, four a vertex instruction.
    if code.len() * 6 + rest.len() > pvs::INSTRUCTIONS * 4 {
        return Ok(());
    }
    let dwords = code.iter().flat_map(|inst| inst.0).chain(rest.iter().copied());
    if !is_vertex_program(&dwords.collect::<Vec<_>>()) {
        return Ok(());
    }
    Err(ReadError::new(ReadErrorKind::NotAProgram(VERTEX_PROGRAM))
        .with_help("to read it as a fragment program all the same, name its format"))
}

/// Checks that most instructions of a file of any bytes have documented encodings only, as in programs that a chip executes.
pub(crate) fn check_encodings(code: &[Instruction]) -> Result<(), ReadError> {
    let reserved = code.iter().filter(|inst| inst.uses_reserved_encodings()).count();
    if reserved * 2 <= code.len() {
        return Ok(());
    }
    let kind = ReadErrorKind::MostlyReserved { reserved, of: code.len() };
    Err(ReadError::new(kind).with_help("to read it all the same, name its format"))
}

/// Returns whether dwords are a vertex program: every four of them are an instruction without reserved encodings, with
/// existing registers, and an instruction writes an output. Fragment instructions are six dwords long, so each of their
/// words takes each of these four positions in turn, and some bit is a reserved one.
#[must_use]
pub fn is_vertex_program(dwords: &[u32]) -> bool {
    let (instructions, rest) = dwords.as_chunks::<4>();
    if !rest.is_empty() || !(1..=pvs::INSTRUCTIONS).contains(&instructions.len()) {
        return false;
    }
    let instructions = || instructions.iter().map(|words| pvs::Instruction(*words));
    instructions().all(is_plausible) && instructions().any(writes_output)
}

/// Numbers of inputs, outputs and temporaries of the vertex processor.
const INPUTS: u8 = 16;
const OUTPUTS: u8 = 32;
const TEMPORARIES: u8 = 128;

/// Returns whether an instruction has a documented operation and destination, and operands that exist.
fn is_plausible(inst: pvs::Instruction) -> bool {
    let dst = inst.dst();
    let destination = match dst.reg_type() {
        DstType::OUT | DstType::OUT_REPL_X => dst.offset() < OUTPUTS,
        DstType::TEMPORARY | DstType::A0 | DstType::ALT_TEMPORARY => true,
        _ => false,
    };
    let operation = match inst.dual_math() {
        None => inst.op().name(),
        Some(dual) => inst.op().name().and(Op::Math(dual.op()).name()),
    };
    // MATH_INST together with MACRO_INST, and PRED_SENSE without PRED_ENABLE, have no meaning.
    let flags = !(dst.macro_inst() && dst.math_inst()) && (dst.pred_enable() || !dst.pred_sense());
    let count = if inst.dual_math().is_some() { 2 } else { 3 };
    destination
        && operation.is_some()
        && flags
        && is_plain(dst.addressing(), dst.addr_sel())
        && inst.sources()[..count].iter().all(|source| exists(*source))
}

/// Returns whether an address is consistent: a component of A0 is selected only if A0 is added.
fn is_plain(addressing: Addressing, select: Component) -> bool {
    match addressing {
        Addressing::Absolute | Addressing::LoopIndex => select == Component::X,
        Addressing::A0(_) => true,
        Addressing::Reserved => false,
    }
}

/// Returns whether a source names an existing register. Bit 2 and swizzle 6 are reserved; assemblers use 7 for unread
/// components.
fn exists(source: Src) -> bool {
    let number = match source.reg_type() {
        SrcType::INPUT => source.offset() < INPUTS,
        SrcType::CONSTANT => true,
        _ => source.offset() < TEMPORARIES,
    };
    let swizzle = source.swizzle().iter().all(|swizzle| swizzle.code() != 6);
    number && swizzle && source.0 & 4 == 0 && is_plain(source.addressing(), source.addr_sel())
}

fn writes_output(inst: pvs::Instruction) -> bool {
    let dst = inst.dst();
    let to_output = matches!(dst.reg_type(), DstType::OUT | DstType::OUT_REPL_X);
    to_output && dst.write_mask() != [false; 4] && inst.op().sources() > 0
}
