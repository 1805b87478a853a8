//! Format detection.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::Write;

use r500_formats::{Format, detect};

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

#[test]
fn from_content() {
    let cases: &[(&str, Option<Format>)] = &[
        // C: bare, declared, commented, nested, decimal.
        ("0x00001800,\n0x08000100,\n", Some(Format::CArray)),
        ("0x1 , 0x2", Some(Format::CArray)),
        ("static const uint32_t prog[] = {\n  0x00001800, };", Some(Format::CArray)),
        ("/* made by hand */\n// so\n#include <stdint.h>\nuint32_t a[6]={0,", Some(Format::CArray)),
        ("const uint32_t p[][6] = { { 0x1, 2, 3, 4, 5, 6 } };", Some(Format::CArray)),
        ("{ 0x1, 0x2 }", Some(Format::CArray)),
        // Hex.
        ("00001800 08000100", Some(Format::Hex)),
        ("\n  0x00001800 0x08000100\n", Some(Format::Hex)),
        ("# a comment\n00001800\n", Some(Format::Hex)),
        ("00001800", Some(Format::Hex)),
        ("00001800,08000100", Some(Format::Hex)),
        // JSON.
        ("{\"program\": []}", Some(Format::Json)),
        ("\u{feff}\n {\n \"name\": \"x\"", Some(Format::Json)),
        ("{}", Some(Format::Json)),
        ("[{\"program\": []}]", Some(Format::Json)),
        ("[]", Some(Format::Json)),
        ("{\"a\": [\"00001800\"]}\n", Some(Format::Json)),
        ("{\"a\": []}\n{\"b\": []}", Some(Format::JsonLines)),
        ("{\"a\": []}\n\n\n{", Some(Format::JsonLines)),
        ("{\"text\": \"R500 Fragment Program:\"}", Some(Format::Json)),
        // Logs, whatever is in front.
        ("R500 Fragment Program:\n--------\n", Some(Format::MesaLog)),
        ("[  12.34] x\n0\t0:CMN_INST   0x00001800:ALU", Some(Format::MesaLog)),
        ("r300: Initial fragment program\nFRAG\nIMM[0] FLT32 { 1.0,", Some(Format::MesaLog)),
        ("CONST[0] = { 1.0 }\n# Radeon Compiler Program\n", Some(Format::MesaLog)),
        // Assembly, and other text.
        ("OUT TEX_SEM_WAIT : out[0].rgb = MAD src0.rgb src0.111 src0.000 ;", None),
        (
            "-- 0:CMN_INST 0x00001800, said the log\nTEX temp[0].rgba = LD tex[0].rgba temp[0].rgba ;",
            None,
        ),
        ("#include \"common.asm\"\n: temp[6].a = RSQ src0.g ;", None),
        ("src0.rgb = temp[0], src0.a = temp[0] : temp[1].rgb = MAX src0.rgb src0.0b0 ;", None),
        ("raw 0x00001800, 0x08000100 ;", None),
        ("Lorem ipsum", None),
        ("3 little words", None),
        ("", None),
        ("   \n", None),
    ];
    for &(text, format) in cases {
        assert_eq!(detect(text.as_bytes(), None), format, "{text:?}");
        assert_eq!(detect(&gzipped(text.as_bytes()), None), format, "{text:?}, gzipped");
    }
    // Bytes that are not text.
    assert_eq!(detect(&[0x00, 0x18, 0, 0, 0, 1, 0, 8], None), Some(Format::Raw));
    assert_eq!(detect(&[0xff; 24], None), Some(Format::Raw));
    // Letters of other encodings, in comments or where they should not be.
    assert_eq!(detect(b"-- gr\xfcn\n: temp[0].a = RSQ src0.g ;\n", None), None);
    assert_eq!(detect(b"{\"name\": \"gr\xfcn\", \"program\": []}", None), Some(Format::Json));
    assert_eq!(detect(&[0xc3], None), None, "the first half of a letter is text yet");
}

/// The name decides where the content does not, and only there.
#[test]
fn from_names() {
    let cases: &[(&str, &str, Option<Format>)] = &[
        ("", "empty.bin", Some(Format::Raw)),
        ("", "dir/EMPTY.INC", Some(Format::CArray)),
        ("", "empty.r5", None),
        ("", "empty", None),
        ("Lorem", "a.json", Some(Format::Json)),
        ("; a comment of another kind\n00001800", "a.hex", Some(Format::Hex)),
        ("all text, 24 bytes long..", "a.bin", Some(Format::Raw)),
        ("{\"a\": []}", "a.jsonl.gz", Some(Format::JsonLines)),
        ("{\"a\": []}", "a.ndjson", Some(Format::JsonLines)),
        ("0x1, 0x2", "misnamed.json", Some(Format::CArray)),
        ("{\"a\": []}", "misnamed.bin", Some(Format::Json)),
        (": temp[0].r = FRC src0.r__ ;", "a.fs.asm", None),
    ];
    for &(text, name, format) in cases {
        assert_eq!(detect(text.as_bytes(), Some(name)), format, "{text:?}, {name}");
    }
}

#[test]
fn names_of_formats() {
    for format in Format::ALL {
        assert_eq!(format.name().parse(), Ok(format));
        for extension in format.extensions() {
            assert_eq!(extension.parse(), Ok(format));
            assert_eq!(Format::from_file_name(&format!("a.b.{extension}.gz")), Some(format));
        }
    }
    assert!("elf".parse::<Format>().is_err());
    assert_eq!(Format::from_file_name("gz"), None);
    assert_eq!(Format::from_file_name(".gz"), None);
}

/// A truncated head is detected as the format of the whole.
#[test]
fn cut_anywhere() {
    let whole = "/* gr\u{fc}n */ static const uint32_t prog[] = {\n  0x00001800, 0x08000100,\n};\n";
    let first_number = whole.find("0x").unwrap();
    for end in 0..=whole.len() {
        let expected = (end > first_number).then_some(Format::CArray);
        assert_eq!(detect(&whole.as_bytes()[..end], None), expected, "{end}");
    }
    let mut long = b"0x00001800, ".repeat(100_000);
    assert_eq!(detect(&long, None), Some(Format::CArray));
    long.push(0);
    assert_eq!(detect(&long, None), Some(Format::CArray));
}
