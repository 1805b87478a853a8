//! `r500 asm`.

use std::path::Path;

use super::{Folder, r500, with_stdin};

/// The dwords of this are an example of the dialect's own assembler.
const RSQ: &str = ": temp[6].a = RSQ src0.g ;\n";
const RSQ_HEX: &str = "00004000 08020080 08020080 00000000 0000406b 00000000\n";

fn ten_mistakes() -> String {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../r500-asm/tests");
    tests.join("diagnostics/ten.r5").to_str().unwrap().to_owned()
}

#[test]
fn ten_mistakes_are_ten_errors() {
    let folder = Folder::new("asm-ten");
    let out = folder.path("out.bin");
    let run = r500(&["asm", &ten_mistakes(), "-o", &out]).status(1);
    let errors = run.stderr.lines().filter(|line| line.starts_with("error[E"));
    assert_eq!(errors.count(), 10, "{}", run.stderr);
    let run = run.says("^^^ a temporary's number is at most 127").says("0.28125 (code 41)");
    assert!(run.stderr.ends_with("10 errors\n"), "{}", run.stderr);
    assert!(!Path::new(&out).exists());
}

#[test]
fn errors_for_a_program_to_read() {
    let run = r500(&["asm", &ten_mistakes(), "--format", "json"]).status(1);
    assert_eq!(run.stderr, "");
    let answer: serde_json::Value = serde_json::from_str(run.text()).unwrap();
    assert_eq!((&answer["version"], &answer["ok"]), (&1.into(), &false.into()));
    let list = answer["diagnostics"].as_array().unwrap();
    // A mistake a line from line 2, but line 9 ends without its semicolon and line 10 is right.
    let lines: Vec<_> = list.iter().map(|d| d["place"]["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [2, 3, 4, 5, 6, 7, 8, 9, 11, 12]);
    assert!(list.iter().all(|d| d["severity"] == "error"));
    // `src0.rgb = temp[128]`: the number is in columns 17 to 19.
    let place = &list[2]["place"];
    assert_eq!(place["column"], 17);
    assert_eq!(place["end"].as_u64().unwrap() - place["start"].as_u64().unwrap(), 3);
    assert_eq!(list[1]["fix"], "temp");
}

#[test]
fn the_extension_picks_the_format() {
    let folder = Folder::new("asm-formats");
    let source = folder.write("rsq.r5", RSQ);
    r500(&["asm", &source]).status(0).shows(RSQ_HEX);
    let written = |name: &str, more: &[&str]| {
        let run = r500(&[&["asm", &source, "-o", &folder.path(name)], more].concat()).status(0);
        assert_eq!((run.stderr.as_str(), run.stdout.len()), ("", 0));
        folder.read(name)
    };
    assert_eq!(written("rsq.hex", &[]), RSQ_HEX.as_bytes());
    let dwords: Vec<u32> =
        RSQ_HEX.split_whitespace().map(|word| u32::from_str_radix(word, 16).unwrap()).collect();
    let raw: Vec<u8> = dwords.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert_eq!(written("rsq.bin", &[]), raw);
    assert_eq!(written("rsq.BIN", &[]), raw);
    // As the dialect's own tools write it: a dword a line, an empty line after six.
    let c_array =
        "0x00004000,\n0x08020080,\n0x08020080,\n0x00000000,\n0x0000406b,\n0x00000000,\n\n";
    assert_eq!(written("rsq.inc", &[]), c_array.as_bytes());
    assert_eq!(written("rsq.txt", &["--to", "raw"]), raw);
    assert_eq!(written("rsq.hex", &["--to", "c-array"]), c_array.as_bytes());
    let json: serde_json::Value = serde_json::from_slice(&written("rsq.json", &[])).unwrap();
    assert_eq!(json["program"][0][4], "0000406b");
    assert_eq!(written("again.r5", &[]), written("again.asm", &[]));
    r500(&["asm", &folder.path("again.r5"), "--to", "hex"]).status(0).shows(RSQ_HEX);

    let out = folder.path("rsq.png");
    r500(&["asm", &source, "-o", &out]).status(2).says("stands for no format").says("--to");
    let out = folder.path("rsq.log");
    r500(&["asm", &source, "-o", &out]).status(2).says("to read, not to write");
    r500(&["asm", &source, "--to", "elf"]).status(2).says("there is no format `elf`");
    let out = folder.path("nowhere/rsq.bin");
    r500(&["asm", &source, "-o", &out]).status(3).says("cannot write");
}

#[test]
fn from_stdin() {
    with_stdin(&["asm", "-"], RSQ.as_bytes()).status(0).shows(RSQ_HEX);
    with_stdin(&["asm", "-"], b"LAST LAST : ;").status(1).says("stdin:1:6");
    // Nothing is required: nothing gives no dwords.
    assert_eq!(with_stdin(&["asm", "-"], b"").status(0).text(), "");
    r500(&["asm", "no-such-file.r5"]).status(3).says("cannot read no-such-file.r5");
}

#[test]
fn includes_are_found_beside_and_on_the_search_path() {
    let folder = Folder::new("asm-include");
    std::fs::create_dir_all(folder.0.join("lib/deep")).unwrap();
    folder.write("lib/rsq.r5", RSQ);
    folder.write("lib/deep/all.r5", "#include \"one.r5\"\n#include \"rsq.r5\"\n");
    folder.write("lib/deep/one.r5", ": ;\n");
    let source = folder.write("main.r5", "#include \"deep/all.r5\"\n");
    let lib = folder.path("lib");
    r500(&["asm", &source])
        .status(1)
        .says("error[E0004]")
        .says(&folder.path("deep/all.r5"))
        .says("main.r5:1:");
    // `one.r5` is next to the file that includes it, `rsq.r5` on the path only.
    let run = r500(&["asm", &source, "-I", &lib]).status(0).shows(RSQ_HEX);
    assert_eq!(run.text().lines().count(), 2);
    // Next to comes first, and of two folders the first.
    std::fs::create_dir(folder.0.join("other")).unwrap();
    folder.write("other/rsq.r5", "LAST : ;\n");
    let source = folder.write("two.r5", "#include \"rsq.r5\"\n");
    let other = folder.path("other");
    r500(&["asm", &source, "-I", &other, "-I", &lib]).status(0).shows("00000100 ");
    r500(&["asm", &source, "-I", &lib, "-I", &other]).status(0).shows(RSQ_HEX);
    folder.write("rsq.r5", ": ;\n");
    r500(&["asm", &source, "-I", &other]).status(0).shows("00000000 08020080");
}

#[test]
fn a_file_that_includes_itself() {
    let folder = Folder::new("asm-cycle");
    let a = folder.write("a.r5", "#include \"b.r5\"\n");
    folder.write("b.r5", ": ;\n\n#include \"./a.r5\"\n");
    r500(&["asm", &a]).status(1).says("error[E0005]").says("b.r5:3:");
}

#[test]
fn warnings_do_not_fail() {
    let folder = Folder::new("asm-warning");
    let source = folder.write("long.r5", ": ;\n".repeat(513));
    let out = folder.path("long.bin");
    let run = r500(&["asm", &source, "-o", &out]).status(0);
    let run = run.says("warning[W0701]").says("long.r5:513:1").says("1 warning");
    assert!(!run.stderr.contains("error"), "{}", run.stderr);
    assert_eq!(folder.read("long.bin").len(), 513 * 24);
    let run = r500(&["asm", &source, "--format", "json"]).status(0);
    let answer: serde_json::Value = serde_json::from_str(run.text()).unwrap();
    assert_eq!((&answer["ok"], &answer["instructions"]), (&true.into(), &513.into()));
    assert_eq!(answer["diagnostics"][0]["severity"], "warning");
    // Whatever else takes the program says so, too.
    r500(&["disasm", &source]).status(0).says("warning[W0701]");
    r500(&["test", &source]).status(0).says("warning[W0701]");
}
