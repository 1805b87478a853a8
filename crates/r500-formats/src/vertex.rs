//! Vertex programs as dwords: raw, hex text, C arrays. Programs of four dwords an instruction have no marks of their own; what they hold
//! decides.

use std::io::{self, Write};

use r500_pvs::INSTRUCTIONS;

use crate::dwords::dwords_of_text;
use crate::{ByteOrder, DwordOptions, Format, is_vertex_program};

/// Bytes of the longest text of a vertex program that is read.
const LONGEST: usize = 1 << 20;

/// Returns the vectors of a vertex program, four dwords each, if the bytes are those of one: raw, hex text or a C array.
#[must_use]
pub fn vertex_program(bytes: &[u8]) -> Option<Vec<[u32; 4]>> {
    vertex_program_with(bytes, DwordOptions::default())
}

/// Returns the same as [`vertex_program`], after the bytes that are skipped, in the byte order of the options. By content, that is the order
/// in which the dwords are a vertex program.
#[must_use]
pub fn vertex_program_with(bytes: &[u8], options: DwordOptions) -> Option<Vec<[u32; 4]>> {
    let skip = usize::try_from(options.skipped()).ok()?;
    let dwords = match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => {
            let most = (INSTRUCTIONS * 4).saturating_add(skip / 4);
            let dwords = if bytes.len() > LONGEST { None } else { dwords_of_text(text, most) }?;
            if skip.is_multiple_of(4) { dwords.get(skip / 4..)?.to_vec() } else { return None }
        }
        _ => {
            let (words, rest) = bytes.get(skip..)?.as_chunks::<4>();
            if !rest.is_empty() || words.len() > INSTRUCTIONS * 4 {
                return None;
            }
            words.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
        }
    };
    let swapped = || dwords.iter().map(|dword| dword.swap_bytes()).collect();
    let dwords = match options.order {
        ByteOrder::Little => dwords,
        ByteOrder::Big => swapped(),
        ByteOrder::ByContent if is_vertex_program(&dwords) => dwords,
        ByteOrder::ByContent => swapped(),
    };
    is_vertex_program(&dwords).then(|| dwords.as_chunks::<4>().0.to_vec())
}

/// Writes vectors of four dwords as raw dwords, hex text or a C array; formats that hold more than dwords write nothing and give `false`.
///
/// # Errors
/// Those of the writer.
pub fn write_vertex_program(
    code: &[[u32; 4]],
    format: Format,
    out: &mut impl Write,
) -> io::Result<bool> {
    match format {
        Format::Raw => {
            for word in code.as_flattened() {
                out.write_all(&word.to_le_bytes())?;
            }
        }
        Format::Hex => {
            for [a, b, c, d] in code {
                writeln!(out, "{a:08x} {b:08x} {c:08x} {d:08x}")?;
            }
        }
        Format::CArray => {
            for [a, b, c, d] in code {
                writeln!(out, "0x{a:08x}, 0x{b:08x}, 0x{c:08x}, 0x{d:08x},")?;
            }
        }
        _ => return Ok(false),
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// An addition that copies an input to the position, as drivers write it.
    const COPY: [u32; 4] = [0x00f0_0203, 0x00d1_0001, 0x0124_8001, 0x0124_8001];

    #[test]
    fn every_format_is_read_as_it_is_written() {
        for format in [Format::Raw, Format::Hex, Format::CArray] {
            let mut bytes = Vec::new();
            assert!(write_vertex_program(&[COPY, COPY], format, &mut bytes).unwrap());
            assert_eq!(vertex_program(&bytes), Some(vec![COPY, COPY]), "{format:?}");
        }
        let mut bytes = Vec::new();
        assert!(!write_vertex_program(&[COPY], Format::Json, &mut bytes).unwrap());
    }

    #[test]
    fn arrays_in_sources_are_read_and_prose_is_not() {
        let c = "static const uint32_t vs[] = {\n  0x00f00203, /* copy */\n 0x00d10001,\n0x01248001,0x01248001 };\n";
        assert_eq!(vertex_program(c.as_bytes()), Some(vec![COPY]));
        assert_eq!(vertex_program(b"00f00203 00d10001 01248001"), None);
        assert_eq!(vertex_program(b"a vertex program"), None);
        assert_eq!(vertex_program(b""), None);
    }
}
