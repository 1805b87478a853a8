//! Inputs that are not fragment programs are refused with what they are; fragment programs never.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::Write;

use r500_formats::{Format, Limits, ReadErrorKind, detect, file_kind, is_vertex_program, read};

/// Vertex programs: assembly by the documents' names, whose dwords are r500-chip's.
const VERTEX_PROGRAMS: [&str; 3] = [
    // Six fragment instructions would fit into 16 dwords times 3: the count alone decides nothing.
    "temp[1].x = VE_DOT const[0].xyzw input[0].xyzw
     temp[1].y = VE_DOT const[1].xyzw input[0].xyzw
     out[0].xyzw = VE_MAX temp[1].xyzw temp[1].xyzw",
    "out[0].xyzw = VE_ADD input[0].xyzw input[0].0000 (input[0].0000)",
    "temp[5].w = ME_RCP const[7].xxxx
     a0[0].x = VE_FLT2FIX_DX input[9].w01x
     (p) out[1].xyz = VE_MAD temp[0].xyzw const[a0.x+3].xyzw input[2].-x-x-x-x
     temp[0].x = VE_FRC temp[0].xxxx (temp[0].xxxx), alt_temp[1].w = ME_RECIP_SQRT_FF temp[4].yx
     out[0].xyzw = VE_MUL temp[5].xyzw input[3].xyzw
     out[2].xyzw = VE_MUL temp[5].xyzw input[4].xyzw",
];

fn dwords(program: &str) -> Vec<u32> {
    let parse = |line: &str| line.trim().parse::<r500_pvs::Instruction>().unwrap().0;
    program.lines().flat_map(parse).collect()
}

fn bytes(dwords: &[u32]) -> Vec<u8> {
    dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect()
}

fn kind(input: &[u8]) -> String {
    let error = read(input, None, &Limits::default()).unwrap_err();
    assert!(matches!(error.kind(), ReadErrorKind::NotAProgram(_)), "{error}");
    assert!(error.blames_input() && error.help().is_some());
    error.to_string()
}

#[test]
fn vertex_programs_are_refused_in_every_format() {
    for program in VERTEX_PROGRAMS {
        let dwords = dwords(program);
        assert!(is_vertex_program(&dwords), "{program}");
        let hex: Vec<_> = dwords.iter().map(|dword| format!("{dword:08x}")).collect();
        let array: Vec<_> = dwords.iter().map(|dword| format!("{dword:#010x},")).collect();
        let declared = format!("const uint32_t vs[] = {{ {} }};", array.concat());
        let texts = [hex.join(" "), array.join("\n"), declared];
        for input in texts.iter().map(String::as_bytes).chain([&*bytes(&dwords)]) {
            assert!(kind(input).contains("vertex program"), "{program}");
        }
    }
}

#[test]
fn components_that_are_not_read_may_have_swizzle_7() {
    // out[0].xyzw = VE_MAX input[0].xyzw input[0].xyzw; the third source with swizzle code 7 four times.
    let copy = [0x00f0_0207, 0x00d1_0001, 0x00d1_0001, 0x01ff_e001];
    assert!(is_vertex_program(&copy));
    assert!(kind(&bytes(&copy)).contains("vertex program"));
    // Swizzle 6 is reserved, as bit 2 of a source is.
    assert!(!is_vertex_program(&[0x00f0_0207, 0x00d1_0001, 0x00d1_0001, 0x01b6_c001]));
    assert!(!is_vertex_program(&[0x00f0_0207, 0x00d1_0005, 0x00d1_0001, 0x01ff_e001]));
}

#[test]
fn a_named_format_is_taken_at_its_word() {
    let dwords = dwords(VERTEX_PROGRAMS[0]);
    let jobs = read(&bytes(&dwords)[..], Some(Format::Raw), &Limits::default()).unwrap();
    assert_eq!(jobs[0].program.code.len(), 2);
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR01234567";
    assert_eq!(read(&png[..], Some(Format::Raw), &Limits::default()).unwrap().len(), 1);
}

#[test]
fn other_kinds_of_files_are_named() {
    let mut pe = vec![0; 256];
    pe[..2].copy_from_slice(b"MZ");
    pe[60] = 128;
    pe[128..132].copy_from_slice(b"PE\0\0");
    let mut tar = vec![0; 512];
    tar[..6].copy_from_slice(b"readme");
    tar[257..262].copy_from_slice(b"ustar");
    let cases: [(&[u8], &str); 11] = [
        (b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0>\0\x01\0\0\0", "ELF"),
        (&pe, "Windows executable"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR01234567", "PNG"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0H\0H\0\0\xff\xdb", "JPEG"),
        (b"PK\x03\x04\x14\0\0\0\x08\0abcdefghijklmn", "ZIP"),
        (b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\0\0\0\0\0\0\0\0\0\0", "WebAssembly"),
        (b"BZh91AY&SY012345678901234", "bzip2"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "PDF"),
        (&tar, "tar"),
        (b"\x28\xb5\x2f\xfd\x04\0\x51\0\0abcdefghijklmno", "Zstandard"),
        (b"GIF89a\x01\0\x01\0\0\0\0;abcdefghij", "GIF"),
    ];
    for (input, name) in cases {
        assert!(kind(input).contains(name), "{name}");
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(input).unwrap();
        assert!(kind(&gzip.finish().unwrap()).contains(name), "{name}, gzipped");
    }
    // Two letters are not evidence.
    assert_eq!(file_kind(b"MZ nothing of the kind"), None);
    assert_eq!(detect(b"0x00001800,", None), Some(Format::CArray));
}

/// Own examples, after the descriptions of the languages.
#[test]
fn texts_in_other_languages_are_named() {
    let cases = [
        (
            "FRAG\nPROPERTY FS_COLOR0_WRITES_ALL_CBUFS 1\nDCL OUT[0], COLOR\n  0: MOV OUT[0], IMM[0]\n",
            "TGSI",
        ),
        ("VERT\nDCL IN[0]\nDCL OUT[0], POSITION\n  0: MOV OUT[0], IN[0]\n  1: END\n", "TGSI"),
        ("shader: MESA_SHADER_FRAGMENT\nname: GLSL1\ndecl_function main (0 params)\n", "NIR"),
        ("ps_3_0\ndcl_2d s0\nmov oC0, c0\n", "pixel shader in Direct3D assembly"),
        (
            "// Compiled by hand\n\n    vs.1.1\n    m4x4 oPos, v0, c0\n",
            "vertex shader in Direct3D assembly",
        ),
        ("!!FP1.0\nMOV o[COLR], f[COL0];\nEND\n", "OpenGL extension"),
        ("; SPIR-V\n; Version: 1.0\nOpCapability Shader\n", "SPIR-V assembly"),
    ];
    for (text, name) in cases {
        let error = read(text.as_bytes(), None, &Limits::default()).unwrap_err();
        assert!(matches!(error.kind(), ReadErrorKind::OtherLanguage(_)), "{text}: {error}");
        assert!(error.to_string().contains(name) && error.help().is_some(), "{error}");
    }
    for other in
        ["ps_4_0", "FRAG", "psychedelic", "!!ARBfp1.0\nEND\n", "ps_3_0_1 x", "shaders: none"]
    {
        assert_eq!(file_kind(other.as_bytes()), None, "{other}");
    }
}

/// `mov oC0, c0` for ps_3_0, as the tokens are documented: a version, an instruction with its destination and source, the end.
#[test]
fn bytecode_of_direct3d_is_named_in_every_format() {
    let pixel = [0xffff_0300, 0x0200_0001, 0x800f_0800, 0xa0e4_0000, 0x0000_ffff, 0];
    let vertex = [0xfffe_0101, 0x0000_001f, 0x8000_0000, 0x900f_0000, 0x0000_ffff, 0];
    for (dwords, name) in [(pixel, "pixel shader"), (vertex, "vertex shader")] {
        let hex: Vec<_> = dwords.iter().map(|dword| format!("{dword:08x}")).collect();
        let array = format!("const DWORD ps[] = {{ 0x{} }};", hex.join(", 0x"));
        for input in [&bytes(&dwords)[..], hex.join(" ").as_bytes(), array.as_bytes()] {
            let error = read(input, None, &Limits::default()).unwrap_err();
            assert!(matches!(error.kind(), ReadErrorKind::OtherLanguage(_)), "{error}");
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}

#[test]
fn bytes_that_decode_as_nonsense_are_no_program_unless_their_format_is_named() {
    let noise = [0xfe; 24];
    let error = read(&noise[..], None, &Limits::default()).unwrap_err();
    let of_all = ReadErrorKind::MostlyReserved { reserved: 1, of: 1 };
    assert_eq!(error.kind().to_string(), of_all.to_string());
    assert!(error.help().is_some());
    assert_eq!(read(&noise[..], Some(Format::Raw), &Limits::default()).unwrap().len(), 1);
    // Who writes down dwords means them.
    let hex = b"fefefefe fefefefe fefefefe fefefefe fefefefe fefefefe";
    assert_eq!(read(&hex[..], None, &Limits::default()).unwrap().len(), 1);
}
