//! Dumps of other tools and parts of dumps: where programs begin, their byte order, what is left out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use r500_formats::{
    ByteOrder, DwordOptions, Format, Jobs, Limits, ReadError, ReadErrorKind, detect, read,
    vertex_program, vertex_program_with,
};
use r500_isa::Instruction;
use r500_program::{Job, LeftOut};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/dumps/");
const MANDELBROT: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/mesa/loop_mandelbrot.json");

/// The options of the command.
const LEAVES_OUT: DwordOptions =
    DwordOptions { skip: None, order: ByteOrder::ByContent, leaves_out: true };

fn dump(name: &str) -> Vec<u8> {
    std::fs::read(format!("{FOLDER}{name}")).unwrap()
}

fn read_with(bytes: &[u8], options: DwordOptions) -> Result<Job, ReadError> {
    let format = detect(bytes, None).expect("a format");
    let mut jobs: Vec<_> =
        Jobs::recognised(bytes, format, &Limits::default(), options)?.collect::<Result<_, _>>()?;
    assert_eq!(jobs.len(), 1);
    Ok(jobs.remove(0))
}

/// The program of the dumps `m.*`, as its capture has it.
fn mandelbrot() -> Vec<Instruction> {
    let bytes = std::fs::read(MANDELBROT).unwrap();
    read(&bytes, Some(Format::Json), &Limits::default()).unwrap().remove(0).program.code
}

fn bytes(code: &[Instruction], order: fn(u32) -> [u8; 4]) -> Vec<u8> {
    code.iter().flat_map(|inst| inst.0).flat_map(order).collect()
}

#[test]
fn an_instruction_of_every_tool_is_read() {
    let words = [0x0007_8005, 0x0802_0000, 0x0802_0000, 0x00db_0220, 0x00c0_c000, 0x2049_0000];
    for name in ["p.gdb", "p.hdc", "p.kern", "p.od", "p.xxd"] {
        let job = read_with(&dump(name), LEAVES_OUT).unwrap();
        assert_eq!(job.program.code, [Instruction(words)], "{name}");
        assert_eq!(job.left_out, LeftOut::default(), "{name}");
    }
}

#[test]
fn big_endian_dwords_are_read() {
    for options in [LEAVES_OUT, DwordOptions { order: ByteOrder::Big, ..LEAVES_OUT }] {
        let job = read_with(&dump("m.be"), options).unwrap();
        assert_eq!(job.program.code, mandelbrot());
        assert_eq!(job.left_out, LeftOut::default());
    }
    let little = DwordOptions { order: ByteOrder::Little, ..LEAVES_OUT };
    assert_ne!(
        read_with(&bytes(&mandelbrot(), u32::to_be_bytes)[..48], little).unwrap().program.code,
        mandelbrot()[..2]
    );
}

/// 248 bytes: ten instructions and two dwords.
#[test]
fn a_truncated_dump_is_read_as_far_as_it_goes() {
    let job = read_with(&dump("m.part"), LEAVES_OUT).unwrap();
    assert_eq!(job.program.code, mandelbrot()[..10]);
    assert_eq!(job.left_out, LeftOut { before: 0, after: 8 });
    let strict = read_with(&dump("m.part"), DwordOptions::default()).unwrap_err();
    assert!(matches!(strict.kind(), ReadErrorKind::Truncated(_)), "{strict}");
}

/// 828 bytes, from the third dword of the first instruction to the fifth of the last one.
#[test]
fn a_dump_that_begins_within_an_instruction_is_read_from_the_next_one() {
    let code = mandelbrot();
    let (inner, off) = (&code[1..34], dump("m.off"));
    let job = read_with(&off, LEAVES_OUT).unwrap();
    assert_eq!(job.program.code, inner);
    assert_eq!(job.left_out, LeftOut { before: 16, after: 20 });

    let skipped = read_with(&off, DwordOptions { skip: Some(16), ..LEAVES_OUT }).unwrap();
    assert_eq!(skipped.program.code, inner);
    assert_eq!(skipped.left_out, LeftOut { before: 0, after: 20 });
    // The bytes from the beginning, if that is what the user wants.
    let from_0 = read_with(&off, DwordOptions { skip: Some(0), ..LEAVES_OUT }).unwrap();
    assert_eq!(from_0.program.code.len(), 34);
    assert_ne!(from_0.program.code[..33], *inner);
}

/// A program in either order, from any byte on, is found again.
#[test]
fn every_alignment_in_both_orders_is_recognised() {
    let code = mandelbrot();
    for order in [u32::to_le_bytes, u32::to_be_bytes] {
        let bytes = bytes(&code, order);
        for start in 0..24 {
            let job = read_with(&bytes[start..], LEAVES_OUT).unwrap();
            let (first, before) = if start == 0 { (0, 0) } else { (1, 24 - start as u64) };
            assert_eq!(job.program.code, code[first..], "from {start}");
            assert_eq!(job.left_out, LeftOut { before, after: 0 }, "from {start}");
        }
    }
}

#[test]
fn bytes_to_skip_are_those_of_memory_in_every_format() {
    let code = mandelbrot();
    let raw = [vec![0xff; 20], bytes(&code[..2], u32::to_le_bytes)].concat();
    let dwords = || raw.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
    let hex: String = dwords().map(|dword| format!("{dword:08x} ")).collect();
    let list: String = dwords().map(|dword| format!("{dword:#x}, ")).collect();
    let lines = raw.chunks(16).enumerate();
    let xxd: String = lines
        .map(|(n, line)| {
            let pairs: String =
                line.chunks(2).map(|pair| format!("{:02x}{:02x} ", pair[0], pair[1])).collect();
            format!("{:08x}: {pairs} ................\n", n * 16)
        })
        .collect();
    let skip = DwordOptions { skip: Some(20), ..LEAVES_OUT };
    for input in [&raw[..], hex.as_bytes(), list.as_bytes(), xxd.as_bytes()] {
        let job = read_with(input, skip).unwrap();
        assert_eq!(job.program.code, code[..2], "{}", String::from_utf8_lossy(input));
    }
    // What comes first may be the beginning of any file.
    let rom = [b"\x7fELF\x01\0\0\0".to_vec(), bytes(&code[..2], u32::to_le_bytes)].concat();
    let read = |options| {
        Jobs::recognised(&rom[..], Format::Raw, &Limits::default(), options)?
            .collect::<Result<Vec<_>, _>>()
    };
    let after_8 = read(DwordOptions { skip: Some(8), ..LEAVES_OUT }).unwrap();
    assert_eq!(after_8[0].program.code, code[..2]);
    assert!(matches!(read(LEAVES_OUT).unwrap_err().kind(), ReadErrorKind::NotAProgram(_)));
}

#[test]
fn what_cannot_be_skipped_is_an_error() {
    for (text, message) in [
        ("00078005 08020000", "there are 8 bytes, and 9 of them are to be skipped"),
        ("0x00078005,\n0x08020000,", "there are 8 bytes, and 9 of them are to be skipped"),
        ("\u{1}\0\0\0", "there are 4 bytes, and 9 of them are to be skipped"),
    ] {
        let error =
            read_with(text.as_bytes(), DwordOptions { skip: Some(9), ..LEAVES_OUT }).unwrap_err();
        assert!(error.to_string().ends_with(message), "{error}");
    }
    // Nothing whole is left.
    let short = read_with(b"00078005 08020000 08020000", LEAVES_OUT).unwrap_err();
    assert!(short.to_string().contains("instruction 0 is cut off"), "{short}");
    let json = std::fs::read(MANDELBROT).unwrap();
    for options in [
        DwordOptions { skip: Some(0), ..LEAVES_OUT },
        DwordOptions { order: ByteOrder::Big, ..LEAVES_OUT },
    ] {
        let error = Jobs::recognised(&json[..], Format::Json, &Limits::default(), options);
        let error = error.unwrap_err();
        assert!(matches!(error.kind(), ReadErrorKind::NotDwords(Format::Json)), "{error}");
    }
}

/// An addition that copies an input to the position, as drivers write it.
const COPY: [u32; 4] = [0x00f0_0203, 0x00d1_0001, 0x0124_8001, 0x0124_8001];

#[test]
fn vertex_programs_have_the_same_options() {
    let big: Vec<u8> = COPY.iter().flat_map(|dword| dword.to_be_bytes()).collect();
    assert_eq!(vertex_program(&big), Some(vec![COPY]));
    let with = |bytes: &[u8], skip, order| {
        vertex_program_with(bytes, DwordOptions { skip, order, ..LEAVES_OUT })
    };
    assert_eq!(with(&big, None, ByteOrder::Little), None);
    let later = [&[0xff; 6][..], &big].concat();
    assert_eq!(with(&later, Some(6), ByteOrder::Big), Some(vec![COPY]));
    let hex = b"ffffffff 00f00203 00d10001 01248001 01248001";
    assert_eq!(with(hex, Some(4), ByteOrder::ByContent), Some(vec![COPY]));
    assert_eq!(with(hex, Some(400), ByteOrder::ByContent), None);
}

/// No fragment program of the corpus is a vertex program in the other byte order.
#[test]
fn fragment_programs_are_not_vertex_programs_in_the_other_order() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus");
    let mut count = 0;
    for name in ["mesa", "piglit"] {
        for entry in std::fs::read_dir(format!("{folder}/{name}")).unwrap() {
            let path = entry.unwrap().path();
            let name = path.to_string_lossy();
            if ![".json", ".jsonl", ".jsonl.gz"].iter().any(|end| name.ends_with(end)) {
                continue;
            }
            let file = std::io::BufReader::new(std::fs::File::open(&path).unwrap());
            for job in Jobs::new(file, None, &Limits::default()).unwrap().flatten() {
                let raw = bytes(&job.program.code, u32::to_le_bytes);
                assert_eq!(vertex_program(&raw), None, "{name}: {}", job.name);
                count += 1;
            }
        }
    }
    assert!(count > 5000, "{count} programs");
}

/// Memory that is empty holds no program, so that none is cut off; whole instructions of zeros are what they are.
#[test]
fn zeros_are_not_a_part_of_a_program() {
    let error = read_with(&[0; 30], LEAVES_OUT).unwrap_err();
    assert!(matches!(error.kind(), ReadErrorKind::Truncated(_)), "{error}");
    assert_eq!(read_with(&[0; 48], LEAVES_OUT).unwrap().program.code, [Instruction([0; 6]); 2]);
}
