//! `r500 stream`.

use r500_stream::capture::{Info, Recorder};
use r500_stream::text::parse;
use r500_stream::{Buffer, BufferId, Relocation, Submission, Tiling};

use super::{Folder, r500};

const FIRST: &str = "\
SU_CULL_MODE = 2
@0x1238 = 5
VAP_PVS_VECTOR_INDX_REG = 0
VAP_PVS_VECTOR_DATA_REG_128 <- 0x00f00203 0x00d10001 0x01248001 0x01248001
GA_US_VECTOR_INDEX = 0
GA_US_VECTOR_DATA <- 0x00078005 0x08020000 0x08020080 0x1c9b04d8 0x1c810003 0x00000005
VAP_OUT_VTX_FMT_0 = 1
RB3D_COLOROFFSET0 = 0
NOP 0
RB3D_COLORPITCH0 = { COLORFORMAT ARGB8888, COLORPITCH 32 }
";

const SECOND: &str = "\
3D_DRAW_VBUF_2 0x00030024
US_OUT_FMT_0 = 15
VAP_PVS_CODE_CNTL_0 = 0x00100000
VAP_PVS_CONST_CNTL = 0
3D_DRAW_IMMD_2 0x00040035 1 2 3 4
";

/// A capture of two submissions with one buffer.
fn capture() -> Vec<u8> {
    let buffer = Buffer::zeroed(BufferId(3), 8192);
    let mut recorder = Recorder::new(Vec::new(), Info::default()).unwrap();
    recorder.create(&buffer, 4).unwrap();
    for text in [FIRST, SECOND] {
        let relocation = Relocation {
            buffer: buffer.clone(),
            read_domains: 0,
            write_domain: 4,
            flags: 0,
            tiling: Tiling::default(),
        };
        let words = parse(text).unwrap();
        let submission = Submission { words, flags: 1, relocations: vec![relocation] };
        recorder.submission(&submission).unwrap();
    }
    recorder.into_inner()
}

#[test]
fn packets_are_text_that_assembles_back() {
    let folder = Folder::new("stream-text");
    let file = folder.write("demo.r5cs", capture());
    let run = r500(&["stream", &file]).status(0);
    let run = run.shows("# submission 1: ").shows("# relocation 0: buffer 3, 8192 bytes\n");
    for line in [
        "SU_CULL_MODE = 0x00000002                   # CULL_BACK\n",
        " # 0: out[0].xyzw = VE_ADD input[0].xyzw",
        "NOP 0x00000000                              # relocation 0\n",
        "# COLORPITCH 32, COLORFORMAT ARGB8888\n",
        "# PRIM_TYPE triangle list, PRIM_WALK arrays, one vertex after another, NUM_VERTICES 3\n",
    ] {
        assert!(run.text().contains(line), "{line} in\n{}", run.text());
    }
    // The fragment instruction is assembly, as `r500 disasm` has it.
    let six = ["00078005", "08020000", "08020080", "1c9b04d8", "1c810003", "00000005"];
    let explained = r500(&[&["explain"], &six[..]].concat()).status(0);
    let first = explained.text().lines().next().unwrap();
    let inst = first.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(run.text().contains(&format!("# 0: {inst}")), "{inst} in\n{}", run.text());

    let text = folder.write("demo.txt", run.text());
    let words = folder.path("demo.bin");
    r500(&["stream", &text, "--assemble", "-o", &words]).status(0);
    let both: Vec<u32> = [FIRST, SECOND].iter().flat_map(|text| parse(text).unwrap()).collect();
    let bytes: Vec<u8> = both.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert_eq!(std::fs::read(&words).unwrap(), bytes);
    // Dwords print as the text they come from.
    let again = r500(&["stream", &words]).status(0);
    let plain =
        |text: &str| text.lines().filter(|l| !l.starts_with('#')).collect::<Vec<_>>().join("\n");
    assert_eq!(plain(again.text()), plain(run.text()));
    let first = r500(&["stream", &file, "--submission", "0"]).status(0);
    assert!(!first.text().contains("# submission 1"));
}

#[test]
fn draws_are_listed_and_counted() {
    let folder = Folder::new("stream-list");
    let file = folder.write("demo.r5cs", capture());
    let run = r500(&["stream", &file, "--list"]).status(0);
    let lines: Vec<&str> = run.text().lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].starts_with("     0  1:0  triangle list, 3 vertices; vertex program 0 to 0"));
    assert!(lines[0].contains("; target A buffer 3+0x0 ARGB8888"), "{}", lines[0]);
    assert!(lines[1].starts_with("     1  1:8  triangle fan, 4 vertices"), "{}", lines[1]);
    assert!(!lines[1].contains("target A"), "{}", lines[1]);
    let json = r500(&["stream", &file, "--list", "--format", "json"]).status(0);
    let json: serde_json::Value = serde_json::from_str(json.text()).unwrap();
    assert_eq!(json["draws"][1]["dword"], 8);
    assert_eq!(json["draws"][0]["targets"][0]["format"], "ARGB8888");

    let run = r500(&["stream", &file, "--stats"]).status(0);
    for line in [
        "         2  submissions\n",
        "         2  draws\n",
        "         7  vertices\n",
        "         3  primitives\n",
        "         1  triangle fan: 4 vertices, 2 primitives\n",
        "         6  GA_US_VECTOR_DATA\n",
        "         1  @0x1238\n",
        "         1  registers and commands without a name\n",
    ] {
        assert!(run.text().contains(line), "{line} in\n{}", run.text());
    }
    let json = r500(&["stream", &file, "--stats", "--format", "json"]).status(0);
    let json: serde_json::Value = serde_json::from_str(json.text()).unwrap();
    assert_eq!(json["register_writes"]["SU_CULL_MODE"], 1);
    assert_eq!(json["unknown"], 1);
}

/// Minutes of a game are longer than any document. After the two submissions there is a hole in the file.
#[test]
fn captures_are_longer_than_documents() {
    let folder = Folder::new("stream-long");
    for (name, content, refused) in
        [("long.r5cs", capture(), false), ("long.txt", Vec::new(), true)]
    {
        let file = folder.write(name, content);
        let opened = std::fs::OpenOptions::new().write(true).open(&file).unwrap();
        opened.set_len((128 << 20) + 1).unwrap();
        let run = r500(&["stream", &file, "--list"]);
        let said = run.stderr.clone();
        assert_eq!(said.contains("this is the limit"), refused, "{name}: {said}");
    }
}

#[test]
fn vertex_programs_print_and_check() {
    let folder = Folder::new("stream-vertex");
    let file = folder.write("demo.r5cs", capture());
    let run = r500(&["stream", &file, "--vertex", "0"]).status(0);
    run.shows("-- instructions 0 to 0;").shows("out[0].xyzw = VE_ADD input[0].xyzw ");
    // Draw 1 runs slot 1, too, which is empty: it reads nothing and is not a mistake.
    let run = r500(&["stream", &file, "--vertex", "1"]).status(0);
    run.shows("temp[0]._ = VE_NOP ");
    r500(&["stream", &file, "--vertex", "2"]).status(1).says("there is no draw 2");
    r500(&["stream", &file, "--draw", "2"]).status(1).says("there is no draw 2; there are 2");
    r500(&["stream", &file, "--draw", "0", "-o", "a.xyz"]).status(2).says("take .json or .r5");
}

#[test]
fn faults_are_reported() {
    let folder = Folder::new("stream-faults");
    let text = folder.write("bad.txt", "SU_CULL = 1\nNOP\n");
    let run = r500(&["stream", &text]).status(1);
    run.says("bad.txt: line 1, column 1: no register or command is called SU_CULL")
        .says("line 2, column 4: expected a number");
    let odd = folder.write("odd.bin", [0, 1, 2]);
    r500(&["stream", &odd]).status(1).says("3 bytes are not whole dwords");
    let cut = folder.write("cut.bin", [0xae, 0x10, 1, 0]);
    r500(&["stream", &cut, "--list"])
        .status(1)
        .says("dword 0: the packet 0x000110ae needs 2 dwords");
    r500(&["stream", &cut]).status(0).shows("dwords 0x000110ae");
    let capture = capture();
    let short = folder.write("short.r5cs", &capture[..capture.len() - 3]);
    r500(&["stream", &short, "--list"]).status(0).says("ends inside a record");
    r500(&["stream", &folder.path("none")]).status(3).says("cannot read");
    r500(&["stream", &short, "--list", "--stats"]).status(2);
}

#[test]
fn the_state_at_a_draw_is_printed_and_compared() {
    let folder = Folder::new("stream-state");
    let file = folder.write("demo.r5cs", capture());
    let run = r500(&["stream", &file, "--state", "0"]).status(0);
    let run =
        run.shows("registers\n").shows("  SU_CULL_MODE = 0x00000002                 # CULL_BACK\n");
    let run = run.shows("  RB3D_COLOROFFSET0 = 0x00000000, buffer 3");
    // The memories' ports hold nothing; what was written through them is there.
    let run = run.shows("vertex program\n  0: out[0].xyzw = VE_ADD input[0].xyzw");
    assert!(!String::from_utf8_lossy(&run.stdout).contains("GA_US_VECTOR_DATA"));
    let run = r500(&["stream", &file, "--state", "0", "--against", "1"]).status(0);
    // The registers of SECOND; the draws set VAP_VF_CNTL themselves, and the program has another last instruction.
    let run = run.shows("+ US_OUT_FMT_0 = 0x0000000f").shows("- VAP_VF_CNTL = 0x00030024");
    let run = run.shows("+ VAP_VF_CNTL = 0x00040035").shows("+ VAP_PVS_CODE_CNTL_0 = 0x00100000");
    assert!(!String::from_utf8_lossy(&run.stdout).contains("SU_CULL_MODE"));
    let same = r500(&["stream", &file, "--state", "1", "--against", "1"]).status(0);
    same.shows("draw 1 (-) and draw 1 (+): 0 of");
    let run = r500(&["stream", &file, "--state", "0", "--against", "1", "--format", "json"]);
    run.status(0).shows("\"name\": \"US_OUT_FMT_0\"").shows("\"value\": null");
    r500(&["stream", &file, "--state", "2"]).status(1).says("draw 2");
    r500(&["stream", &file, "--state", "0", "--against", "9"]).status(1).says("draw 9");
    r500(&["stream", &file, "--against", "1"]).status(2);
}

#[test]
fn lines_are_found_by_register_value_and_text() {
    let folder = Folder::new("stream-find");
    let file = folder.write("demo.r5cs", capture());
    // The draw that follows, submission:dword, the line. Each register before takes two dwords, the vertex program five, the fragment
    // program seven, the relocation two.
    let target = "     -  0:26  RB3D_COLORPITCH0 = 0x00c00040";
    for what in [
        "RB3D_COLORPITCH0",
        "R300_RB3D_COLORPITCH0",
        "0x4e38",
        "RB3D_COLORPITCH0=0xc00040",
        "argb8888",
    ] {
        r500(&["stream", &file, "--find", what]).status(0).shows(target);
    }
    r500(&["stream", &file, "--find", "3D_DRAW_IMMD_2"])
        .status(0)
        .shows("     1  1:8  3D_DRAW_IMMD_2");
    r500(&["stream", &file, "--find", "US_OUT_FMT_0"]).status(0).shows("     1  1:2  US_OUT_FMT_0");
    r500(&["stream", &file, "--find", "SU_CULL_MODE=3"]).status(1).says("in no line");
    let json = r500(&["stream", &file, "--find", "ve_add", "--format", "json"]).status(0);
    let json = json.shows("\"draw\":null").shows("\"submission\":0");
    let parsed: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(parsed["lines"].as_array().unwrap().len(), 1);
}

#[test]
fn a_changed_submission_goes_back_into_the_capture() {
    let folder = Folder::new("stream-replace");
    let file = folder.write("demo.r5cs", capture());
    let text = r500(&["stream", &file, "--submission", "1"]).status(0).stdout;
    let text = String::from_utf8(text).unwrap();
    let changed = folder.write(
        "changed.txt",
        text.replace("US_OUT_FMT_0 = 0x0000000f", "US_OUT_FMT_0 = 0x00000000"),
    );
    let out = folder.path("new.r5cs");
    r500(&["stream", &file, "--replace", "1", "--with", &changed, "-o", &out])
        .status(0)
        .says("wrote");
    let run = r500(&["stream", &out, "--state", "1"]).status(0);
    run.shows("  US_OUT_FMT_0 = 0x00000000").shows("RB3D_COLOROFFSET0 = 0x00000000, buffer 3");
    // The other submission is as it was.
    let [old, new] =
        [&file, &out].map(|file| r500(&["stream", file, "--submission", "0"]).status(0).stdout);
    assert_eq!(old, new);
    // What the kernel refuses is said.
    let wrong = folder.write("wrong.txt", "CP_RB_BASE = 1\n");
    let run =
        r500(&["stream", &file, "--replace", "1", "--with", &wrong, "-o", &folder.path("w.r5cs")]);
    run.status(0).says("the kernel would refuse the submission");
    r500(&["stream", &file, "--replace", "2", "--with", &changed, "-o", &folder.path("x.r5cs")])
        .status(1)
        .says("submission 2");
    r500(&["stream", &file, "--replace", "0", "--with", &file, "-o", &folder.path("x.r5cs")])
        .status(2);
    r500(&["stream", &file, "--replace", "0", "--with", &changed]).status(2);
    r500(&["stream", &changed, "--replace", "0", "--with", &changed, "-o", &folder.path("x.r5cs")])
        .status(2);
    assert!(!std::path::Path::new(&folder.path("x.r5cs")).exists());
}
