//! Errors of malformed input: message, position and remedy.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{self, Read, Write};

use Format::{CArray, Hex, Json, JsonLines, MesaLog, Raw};
use r500_formats::{Format, Jobs, Limits, ReadErrorKind, detect, read};

/// Input, message, help.
fn check(format: Format, text: &str, message: &str, help: &str) {
    let error = read(text.as_bytes(), Some(format), &Limits::default()).expect_err(text);
    assert_eq!(error.to_string(), message, "{text}");
    assert_eq!(error.help().unwrap_or_default(), help, "{text}");
}

#[test]
#[rustfmt::skip]
fn dwords() {
    for (format, text, message, help) in [
        (Raw, "123456789012345678901234567890",
         "byte 24: instruction 1 is cut off: 6 bytes of its 24",
         "a raw program is 24 bytes an instruction and nothing else: 18 are missing, or 6 too many"),
        (Hex, "00001800 0800010",
         "line 1, column 10: `0800010` is not a dword in hex",
         "write eight hex digits, or 0x and up to eight"),
        (Hex, "00001800 0x123456789 // c",
         "line 1, column 10: `0x123456789` is not a dword in hex",
         "write eight hex digits, or 0x and up to eight"),
        (Hex, "# c\n 00001800 +8000100",
         "line 2, column 11: `+8000100` is not a dword in hex",
         "write eight hex digits, or 0x and up to eight"),
        (Hex, "00001800\n08000100\n",
         "line 2: instruction 0 is cut off: 2 dwords of its 6",
         "4 are missing, or 2 too many"),
        (CArray, "0x1, 0x2, 0x3,\n0x4,",
         "line 2, column 5: instruction 0 is cut off: 4 dwords of its 6",
         "2 are missing, or 4 too many"),
        (CArray, "0x1, 0x100000000",
         "line 1, column 6: `0x100000000` is not a 32-bit integer",
         "write dwords as 0x00001800"),
        (CArray, "00001800, 08000100,",
         "line 1, column 1: `00001800` looks like hex without `0x`",
         "write 0x00001800, or read the file as hex text"),
        (CArray, "uint32_t a[] = { 0x1, B };",
         "line 1, column 23: `B` is not a number",
         "an array of a program holds integers of 32 bits only"),
        (CArray, "float a[] = {\n 0.5f };",
         "line 2, column 2: `0.5f` is not a 32-bit integer",
         "write dwords as 0x00001800"),
        (CArray, "uint32_t a[] = { 0x1,\n 2",
         "line 1, column 16: this array has no end",
         "the file is cut off, or a `}` is missing"),
        (CArray, "uint32_t a[] = { 0x1,\n 2 };",
         "line 2, column 4: instruction 0 is cut off: 2 dwords of its 6",
         "4 are missing, or 2 too many"),
        (CArray, "int x = 3;",
         "line 1, column 1: `int` is neither a number nor an array",
         "write `const uint32_t name[] = { … };`, or numbers only"),
        (CArray, "int f(void);",
         "line 1, column 1: `int` is neither a number nor an array",
         "write `const uint32_t name[] = { … };`, or numbers only"),
        (CArray, "1, 2, -3, 4, 5, 6",
         "line 1, column 7: `-` is neither a number nor an array",
         "write `const uint32_t name[] = { … };`, or numbers only"),
        (CArray, "0x1, /* no end",
         "line 1, column 6: this comment has no end",
         ""),
    ] {
        check(format, text, message, help);
    }
}

#[test]
#[rustfmt::skip]
fn logs() {
    for (format, text, message, help) in [
        (MesaLog, "R500 Fragment Program:\n--------\n",
         "line 1, at fp0: no instruction follows this line",
         "lines of the log are missing or mixed up; take it again, from one program at a time"),
        (MesaLog, "R500 Fragment Program:\n0\t0:CMN_INST   0x00001800:ALU\n\t1:RGB_ADDR   0x08000100:Addr0\n",
         "line 2, at fp0: word 2 of instruction 0 is missing",
         "lines of the log are missing or mixed up; take it again, from one program at a time"),
        (MesaLog, "0\t0:CMN_INST   0x00000402:FC\n\n1\t0:CMN_INST   0x00000402:FC\n",
         "line 1, at fp0: instruction 0 is flow control, of which this log prints nothing",
         "the oldest versions of Mesa leave those words out; take a newer one's log"),
        (MesaLog, "0\t0:CMN_INST   0x00000402:FC\n\t2:FC_INST    0x00000000:\n\t3:FC_ADDR    0x00000000:\n2\t0:CMN_INST   0x00000402:FC\n",
         "line 4, at fp0: instruction 2 stands here, and 1 is next",
         "lines of the log are missing or mixed up; take it again, from one program at a time"),
        (MesaLog, "0\t0:CMN_INST   0x00000402:FC\n\t2:FC_INST    0x00000000:\n\t2:FC_INST    0x00000000:\n",
         "line 3, at fp0: word 2 stands here a second time",
         "lines of the log are missing or mixed up; take it again, from one program at a time"),
        (MesaLog, "just text\n",
         "there is no R500 fragment program in this log of Mesa's r300 driver",
         "RADEON_DEBUG=fp makes the driver print them, on R500 cards"),
    ] {
        check(format, text, message, help);
    }
}

#[test]
#[rustfmt::skip]
fn json() {
    for (format, text, message, help) in [
        (Json, "",
         "there is no R500 fragment program in this JSON file",
         ""),
        (Json, "3",
         "line 1, column 1: this is neither a job nor a list of jobs",
         "a job is an object with the key `program`"),
        (Json, "{",
         "line 1, column 1: the text ends within a JSON value",
         ""),
        (Json, r#"{"program": [}"#,
         "line 1, column 14, at program: this is not JSON: expected value",
         ""),
        (Json, "[]",
         "there is no R500 fragment program in this JSON file",
         ""),
        (Json, "{}",
         "there is no R500 fragment program in this JSON file",
         ""),
        (Json, "[1, 2]",
         "line 1, column 6: instruction 0 is cut off: 2 dwords of its 6",
         ""),
        (Json, r#"[["1"]]"#,
         r#"line 1, column 5, at [0][0]: invalid value: string "1", expected a dword in hex, such as "0x1401ff05" or "1401ff05""#,
         ""),
        (Json, r#"{"program": []} x"#,
         "line 1, column 17: this is not JSON: trailing characters",
         ""),
        (Json, r#"{"us": {}}"#,
         "line 1, column 10: `program` is missing",
         ""),
        (Json, r#"{"a": 3}"#,
         "line 1, column 7, at a: invalid type: integer `3`, expected a list of instructions, six dwords each",
         "an object without `program` is taken for programs by name"),
        (Json, r#"{"a": ["00001800"]}"#,
         "line 1, column 18, at a: instruction 0 is cut off: 1 dword of its 6",
         "an object without `program` is taken for programs by name"),
        (Json, r#"{"a": {"size": [1, 1]}}"#,
         "line 1, column 22, at a: `program` is missing",
         ""),
        (Json, "[{\"program\": []},\n {\"program\": 3}]",
         "line 2, column 14, at [1].program: invalid type: integer `3`, expected a list of instructions, six dwords each",
         ""),
        (Json, r#"{"size": [0, 4], "program": []}"#,
         "line 1, at size: 0x4 pixels are not a valid picture size",
         "both must be at least 1"),
        (Json, r#"{"size": [4], "program": []}"#,
         "line 1, column 12, at size: invalid length 1, expected an array of length 2",
         ""),
        (Json, r#"{"size": [-1, 4], "program": []}"#,
         "line 1, column 12, at size[0]: invalid value: integer `-1`, expected u32",
         ""),
        (Json, r#"{"size": [65536, 65536], "program": []}"#,
         "line 1, at size: more than 67108864 pixels: this is the limit",
         "the limits of reading are options"),
        (Json, r#"{"program": [["00000000"]]}"#,
         "line 1, column 25, at program[0]: 1 dword; an instruction has 6",
         ""),
        (Json, r#"{"program": [["0000000g", 1, 2, 3, 4, 5]]}"#,
         r#"line 1, column 24, at program[0][0]: invalid value: string "0000000g", expected a dword in hex, such as "0x1401ff05" or "1401ff05""#,
         ""),
        (Json, r#"{"program": [[4294967296, 1, 2, 3, 4, 5]]}"#,
         r#"line 1, column 24, at program[0][0]: invalid value: integer `4294967296`, expected a dword in hex, such as "0x1401ff05" or "1401ff05""#,
         ""),
        (Json, r#"{"program": [1, 2, 3]}"#,
         "line 1, column 21, at program: instruction 0 is cut off: 3 dwords of its 6",
         ""),
        (Json, r#"{"program": [], "inputs": [{"temp": 0, "values": [[0, 0, 0, 1]]}]}"#,
         "line 1, at inputs[0]: `width` is missing",
         "values per pixel need the picture's `size`, or a `width`"),
        (JsonLines, "{\"program\": []}\n{\"program\": [1]}\n",
         "line 2, column 15, at program: instruction 0 is cut off: 1 dword of its 6",
         ""),
        (JsonLines, "{\"program\": []}\n{\"program\": \n",
         "line 2, column 12, at program: the text ends within a JSON value",
         ""),
        (Json, "{\"program\": [], \"name\": \"a\nb\"}",
         r#"line 1, column 26, at name: this is not JSON: control character (\u0000-\u001F) found while parsing a string"#,
         ""),
    ] {
        check(format, text, message, help);
    }
}

/// A key of a case of 2x1 pixels.
#[test]
#[rustfmt::skip]
fn keys() {
    for (key, message, help) in [
        (r#""size": [2, 1]"#,
         "line 4, column 7: duplicate field `size`",
         ""),
        (r#""us": {"US_PIXSIZE": "20"}"#,
         r#"line 4, column 26, at us.US_PIXSIZE: invalid value: string "20", expected a dword in hex, such as "0x1401ff05" or "1401ff05""#,
         ""),
        (r#""us": {"US_OUT_FMT": [null]}"#,
         "line 4, column 28, at us.US_OUT_FMT: invalid length 1, expected an array of length 4",
         ""),
        (r#""us": {"US_FC_INT_CONST": {"32": "000000ff"}}"#,
         "line 4, column 32, at us.US_FC_INT_CONST: `32` is not a number from 0 to 31",
         ""),
        (r#""constants": [["3f800000", "0", "0", "0"]]"#,
         r#"line 4, column 31, at constants[0][1]: invalid value: string "0", expected the bits of a float in hex, such as "3f800000", or a number"#,
         ""),
        (r#""inputs": [{"temp": 128, "values": []}]"#,
         "line 4, column 24, at inputs[0].temp: 128 is out of range: 0 to 127",
         ""),
        (r#""inputs": [{"temp": 0}]"#,
         "at inputs[0]: an input has either `components` or `values`",
         ""),
        (r#""inputs": [{"temp": 0, "values": [[0, 0, 0, 1]]}]"#,
         "at inputs[0].values: 1 entry for a picture of 2x1, which takes 2",
         "one a pixel, row by row from y = 0"),
        (r#""inputs": [{"temp": 0, "values": [[0, 0, 0]]}]"#,
         "line 4, column 44, at inputs[0].values[0]: invalid length 3, expected an array of length 4",
         ""),
        (r#""inputs": [{"temp": 0, "values": [[0, 0, 0, "one"]]}]"#,
         r#"line 4, column 50, at inputs[0].values[0][3]: invalid value: string "one", expected a number, "nan", "inf" or "-inf""#,
         ""),
        (r#""inputs": [{"temp": 0, "width": 2, "values": [[0, 0, 0, 1]]}]"#,
         "at inputs[0].values: 1 entry makes no rows of 2",
         ""),
        (r#""inputs": [{"temp": 0, "components": [{}, {}, {}, {}]}]"#,
         "at inputs[0].components[0]: `plane_uv` is missing",
         "give the plane as [c, du, dv], or `vertex_values`"),
        (r#""inputs": [{"temp": 0, "components": [{"plane_uv": [0,0,0]}, {"vertex_values": [1,2,3]}, {}, {}]}]"#,
         "at inputs[0].components[1]: `position` is missing",
         "values at vertices need it; or give the component its `plane_uv`"),
        (r#""position": [[0,0,0,1],[1,1,0,1],[2,2,0,1]], "inputs": [{"temp": 0, "components": [{"vertex_values": [1,2,3]}, {}, {}, {}]}]"#,
         "at inputs[0].components[0]: the vertices lie on a line, so they span no plane",
         "give each component its `plane_uv`"),
        (r#""bound_textures": [{"unit": 16}]"#,
         "line 4, column 32, at bound_textures[0].unit: 16 is out of range: 0 to 15",
         ""),
        (r#""bound_textures": [{"unit": 1}, {"unit": 1}]"#,
         "at bound_textures[1].unit: unit 1 has a texture already",
         ""),
        (r#""bound_textures": [{"unit": 1, "levels": [{"width": 1, "height": 1, "bytes": "AAAA"}, {"width": 1, "height": 1, "bytes": "AA*A"}]}]"#,
         "line 4, column 128, at bound_textures[0].levels[1].bytes: no base64: byte 0x2a stands at 2",
         ""),
        (r#""bound_textures": [{"unit": 1, "levels": [{"width": 1, "height": 1, "bytes": "AAAAA"}]}]"#,
         "line 4, column 85, at bound_textures[0].levels[0].bytes: no base64: it is cut off after 5 digits",
         ""),
        (r#""bound_textures": [{"unit": 1, "levels": [{"width": 1, "height": 1}]}]"#,
         "line 4, column 68, at bound_textures[0].levels[0]: `bytes` is missing",
         ""),
        (r#""coverage": [[1], [0, 1]]"#,
         "line 4, column 25, at coverage[1]: 2 pixels; the rows before have 1",
         ""),
        (r#""coverage": [[1], [0]]"#,
         "at coverage: rows of 1 pixel for a picture of 2x1",
         ""),
        (r#""coverage": [[1, 2]]"#,
         "line 4, column 19, at coverage[0][1]: invalid value: integer `2`, expected 0 or 1",
         ""),
        (r#""coverage": [1, 1, 1]"#,
         "at coverage: 3 entries for a picture of 2x1, which takes 2",
         "one a pixel, row by row from y = 0"),
        (r#""expect": {"target1": [[0, 0, 0, 0]]}"#,
         "at expect.target1: 1 entry for a picture of 2x1, which takes 2",
         "one a pixel, row by row from y = 0"),
        (r#""expect": {"depth": [0]}"#,
         "at expect.depth: 1 entry for a picture of 2x1, which takes 2",
         "one a pixel, row by row from y = 0"),
        (r#""expect": {"target0": [[0, 0, 0, 0], [0, 0, 0, true]]}"#,
         r#"line 4, column 52, at expect.target0[1][3]: invalid type: boolean `true`, expected a number, "nan", "inf" or "-inf""#,
         ""),
        (r#""background": [null]"#,
         "at background: 1 entry for a picture of 2x1, which takes 2",
         "one a pixel, row by row from y = 0"),
        (r#""compare": "sharp""#,
         "line 4, column 19, at compare: unknown variant `sharp`, expected `values` or `8-bit`",
         ""),
        (r#""tolerance": 1e999"#,
         "line 4, column 19, at tolerance: this is not JSON: number out of range",
         ""),
        (r#""constnats": [[0, 0, 0, 1]]"#,
         "line 4, column 12, at constnats: unknown key `constnats`",
         "did you mean `constants`?"),
        (r#""us": {"US_CONFGI": "00000000"}"#,
         "line 4, column 19, at us.US_CONFGI: unknown key `US_CONFGI`",
         "did you mean `US_CONFIG`?"),
        (r#""check": {"tolerance of pixels": 3}"#,
         "line 4, column 32, at check.tolerance of pixels: unknown key `tolerance of pixels`",
         "the keys here are share"),
        (r#""uniforms": [{"name": "a", "constant": 256}]"#,
         "line 4, column 44, at uniforms[0].constant: 256 is out of range: 0 to 255",
         ""),
    ] {
        let text = format!("{{\n \"size\": [2, 1],\n \"program\": [],\n {key}\n}}");
        check(Json, &text, message, help);
    }
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

/// A broken job in the middle does not affect the others.
#[test]
fn reading_continues_after_an_error() {
    let names = |text: &[u8], format| -> Vec<_> {
        let jobs = Jobs::new(text, format, &Limits::default()).unwrap();
        jobs.map(|job| job.map(|job| job.name).map_err(|e| e.to_string())).collect()
    };
    let good = |name: &str| Ok(name.to_owned());
    let bad = |text: &str| Err(text.to_owned());
    let lines =
        b"{\"name\": \"a\", \"program\": []}\n{]\n\n\xff\n{\"name\": \"b\", \"program\": []}";
    let wanted = [
        good("a"),
        bad("line 2, column 2: this is not JSON: key must be a string"),
        bad("line 4, column 1: this is not UTF-8"),
        good("b"),
    ];
    assert_eq!(names(lines, None), wanted);
    let list =
        b"[\n {\"name\": \"a\", \"program\": []},\n {},\n {\"name\": \"b\", \"program\": []}\n]";
    let wanted = [good("a"), bad("line 3, column 3, at [1]: `program` is missing"), good("b")];
    assert_eq!(names(list, None), wanted);
    let named = b"{\"a\": [], \"b\": [1], \"c\": {\"program\": []}, \"d\": {\"name\": \"e\", \"program\": []}}";
    let cut = "line 1, column 18, at b: instruction 0 is cut off: 1 dword of its 6";
    assert_eq!(names(named, None), [good("a"), bad(cut), good("c"), good("e")]);
    // Except for a truncated list.
    for (list, message) in [
        ("[{\"program\": []} 7]", "line 1, column 18: this is not JSON: `7` instead of `,` or `]`"),
        ("[{\"program\": []},", "line 1, column 18: the text ends within a JSON value"),
        ("[{\"program\": []},]", "line 1, column 18: this is not JSON: expected value"),
        ("[{\"program\": []}]]", "line 1, column 18: this is not JSON: `]` instead of the end"),
    ] {
        assert_eq!(names(list.as_bytes(), Some(Json)), [good(""), bad(message)], "{list}");
    }
}

#[test]
fn gzip() {
    let line = b"{\"program\": [\"00001800\", 0, 0, 0, 0, 0]}\n";
    let whole = gzipped(&line.repeat(100));
    let jobs = |bytes: &[u8]| read(bytes, None, &Limits::default());
    assert_eq!(jobs(&whole).unwrap().len(), 100);
    // Files that were compressed apart and put together.
    let shards = [whole.as_slice(), &gzipped(line)].concat();
    assert_eq!(jobs(&shards).unwrap().len(), 101);
    // Cut off; and damaged, which the checksum tells.
    let error = jobs(&whole[..whole.len() - 9]).unwrap_err();
    assert!(matches!(error.kind(), ReadErrorKind::Gzip(_)), "{error}");
    assert!(error.to_string().starts_with("the gzip data is damaged or cut off: "), "{error}");
    assert_eq!(error.help(), Some("fetch or compress the file again"));
    assert!(error.blames_input());
    let mut damaged = whole.clone();
    let checksum = damaged.len() - 8;
    damaged[checksum] ^= 1;
    assert!(matches!(jobs(&damaged).unwrap_err().kind(), ReadErrorKind::Gzip(_)));
}

#[test]
fn media_that_fail() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("unplugged"))
        }
    }
    for format in Format::ALL {
        let input = io::BufReader::new(b"{\n{}\n".chain(Failing));
        let errors: Vec<_> = match Jobs::new(input, Some(format), &Limits::default()) {
            Ok(jobs) => jobs.take(3).collect(),
            Err(error) => vec![Err(error)],
        };
        let last = errors.last().unwrap().as_ref().unwrap_err();
        assert_eq!(last.to_string(), "cannot continue reading: unplugged", "{format}");
        assert!(!last.blames_input());
        assert!(errors.len() < 3);
    }
}

#[test]
fn inputs_without_a_program_are_errors() {
    let error = read(b"Lorem ipsum", None, &Limits::default()).unwrap_err();
    assert_eq!(error.to_string(), "the format is unknown");
    let help = "say which it is: raw, c-array, hex, mesa-log, json, json-lines";
    assert_eq!(error.help(), Some(help));
    let error = read(b"00001800 \xff", Some(Hex), &Limits::default()).unwrap_err();
    assert_eq!(error.to_string(), "byte 9: this is not UTF-8 text");
}

/// Each limit holds, with an error that says which.
#[test]
fn limits() {
    let few =
        Limits { bytes: 1000, document: 500, jobs: 5, instructions: 4, textures: 100, pixels: 6 };
    let message = |bytes: &[u8], format| {
        let error = read(bytes, format, &few).unwrap_err();
        assert!(!error.blames_input());
        error.to_string()
    };
    let too_many = "more than 4 instructions: this is the limit";
    assert_eq!(read(&[0; 96], None, &few).unwrap()[0].program.code.len(), 4);
    assert_eq!(message(&[0; 120], None), too_many);
    let at = |place: &str| format!("{place}: {too_many}");
    assert_eq!(message("0x0,".repeat(30).as_bytes(), None), at("line 1, column 117"));
    assert_eq!(message("0x0\n".repeat(30).as_bytes(), None), at("line 30, column 1"));
    let json = format!("{{\n\"program\": [{}0]}}", "0,".repeat(29));
    assert_eq!(message(json.as_bytes(), None), at("at program"));
    let json = format!("{{\n\"a\": [{}0]}}", "0,".repeat(29));
    assert_eq!(message(json.as_bytes(), None), at("line 2, at a"));
    let log: String = (0..5)
        .map(|n| {
            format!(
                "{n}\t0:CMN_INST   0x00000402:FC\n\t2:FC_INST 0x00000000\n\t3:FC_ADDR 0x00000000\n"
            )
        })
        .collect();
    assert_eq!(message(log.as_bytes(), None), at("line 13, at fp0"));

    let size = "{\"size\": [2, 4], \"program\": []}";
    assert_eq!(
        message(size.as_bytes(), None),
        "line 1, at size: more than 6 pixels: this is the limit"
    );
    let list = "{\"program\": [], \"expect\": {\"depth\": [0, 0, 0, 0, 0, 0, 0]}}";
    assert_eq!(
        message(list.as_bytes(), None),
        "line 1, at expect.depth: more than 6 pixels: this is the limit"
    );

    let jobs = "{\"program\": []}\n".repeat(6);
    assert_eq!(message(jobs.as_bytes(), None), "more than 5 programs: this is the limit");
    let arrays = "a[]={0};".repeat(6).replace('0', "0,0,0,0,0,0");
    assert_eq!(message(arrays.as_bytes(), Some(CArray)), "more than 5 arrays: this is the limit");

    let long = format!("{{\"x\": \"{}\"}}", "x".repeat(600));
    let most = "line 1: more than 500 bytes in a line: this is the limit";
    assert_eq!(message(long.as_bytes(), Some(JsonLines)), most);
    assert_eq!(message(long.as_bytes(), Some(MesaLog)), most);
    let long = format!("{{\n\"x\": \"{}\"}}", "x".repeat(600));
    let most = "more than 500 bytes in a document: this is the limit";
    assert_eq!(message(long.as_bytes(), None), most);
    let most = "more than 500 bytes of text: this is the limit";
    assert_eq!(message(long.as_bytes(), Some(Hex)), most);
    assert_eq!(message(long.as_bytes(), Some(CArray)), most);

    let all = Limits { instructions: 1000, document: 10_000, ..few };
    for format in Format::ALL {
        let error = read(&gzipped(&[b'0'; 2000]), Some(format), &all).unwrap_err();
        assert_eq!(error.to_string(), "more than 1000 bytes: this is the limit", "{format}");
    }
}

/// Decompression to 64 GiB stops at the limit.
#[test]
fn gzip_bomb() {
    // One member of 16 MiB, many times over.
    let member = gzipped(&vec![b' '; 16 << 20]);
    assert!(member.len() < 20_000);
    let bomb = member.repeat(4096);
    let limits = Limits { bytes: 256 << 20, ..Limits::default() };
    for format in [Raw, Hex, Json] {
        let error = read(&bomb, Some(format), &limits).unwrap_err();
        assert!(matches!(error.kind(), ReadErrorKind::Limit { .. }), "{format}: {error}");
    }
    assert_eq!(detect(&bomb, None), None);
}

/// Damaged files give jobs or errors, never a panic.
#[test]
fn damaged_files() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    let mut seeds: Vec<Vec<u8>> = [
        "cases/tex_proj.json",
        "cases/uncovered_any.json",
        "cases/depth_out.json",
        "mesa/alu_basic.json",
        "mesa/tex_mips.json",
        "logs/tex_grad.log",
    ]
    .iter()
    .map(|path| std::fs::read(corpus.join(path)).unwrap())
    .collect();
    seeds[5].drain(..15_000);
    seeds.push(
        b"/* a */ static const uint32_t a[2][6] = { { 0x1, 2, 3, 04, 5u, 6, }, };\n".repeat(9),
    );
    seeds.push(b"00001800 0x00001800 # so\n".repeat(9));
    seeds.push(gzipped(b"{\"a\": [1, 2, 3, 4, 5, 6]}\n{\"program\": []}\n"));
    let mut state = 1u64;
    let mut below = |n: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let limits = Limits { document: 1 << 20, pixels: 1 << 12, ..Limits::default() };
    let odd = b"{}[]\",:0x-.e\n\\#/*\0\xff9;=";
    for round in 0..3000 {
        let mut bytes = seeds[round % seeds.len()].clone();
        for _ in 0..=below(4) {
            let at = below(bytes.len());
            match below(4) {
                0 => bytes[at] = odd[below(odd.len())],
                1 => bytes.insert(at, odd[below(odd.len())]),
                2 => drop(bytes.drain(at..(at + below(40) + 1).min(bytes.len()))),
                _ => bytes.truncate(at.max(1)),
            }
        }
        let format = detect(&bytes, None);
        let jobs = Jobs::new(bytes.as_slice(), format, &limits);
        let read = jobs.map(|jobs| jobs.take(1000).filter(Result::is_ok).count());
        assert!(read.is_err() || format.is_some());
        // And as another format.
        let _ = r500_formats::read(&bytes, Some(Format::ALL[round % 6]), &limits);
    }
}
