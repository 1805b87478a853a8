//! `r500 disasm`.

use r500_gen::{Choices, Rng};

use super::{Folder, corpus, r500, with_stdin};

/// Returns what a program draws, bit for bit.
fn pixels(folder: &Folder, program: &str, name: &str) -> Vec<u8> {
    r500(&["render", program, "-o", &folder.path(name)]).status(0);
    folder.read(name)
}

#[test]
fn a_capture_as_assembly_draws_the_same_picture() {
    let folder = Folder::new("disasm-captures");
    for name in ["tex_mips", "discard_branch", "loop_mandelbrot", "scene_phong"] {
        let capture = corpus(&format!("mesa/{name}.json"));
        let text = folder.path(&format!("{name}.r5"));
        let run = r500(&["disasm", &capture, "-o", &text]).status(0);
        assert_eq!((run.stderr.as_str(), run.stdout.len()), ("", 0));
        let (a, b) = (pixels(&folder, &capture, "a.f32"), pixels(&folder, &text, "b.f32"));
        assert_eq!(a.len(), 64 * 64 * 16);
        assert!(a == b, "{name} draws another picture");
    }
    let names = folder.names();
    let textures = names.iter().filter(|name| name.starts_with("tex_mips.tex"));
    // Two textures, 64 and 32 wide: levels of more than 256 bytes are files.
    assert_eq!(
        textures.collect::<Vec<_>>(),
        ["tex_mips.tex0.0.raw", "tex_mips.tex0.1.raw", "tex_mips.tex0.2.raw"]
            .iter()
            .chain(&["tex_mips.tex1.0.raw", "tex_mips.tex1.1.raw"])
            .collect::<Vec<_>>()
    );
    assert_eq!(folder.read("tex_mips.tex0.0.raw").len(), 64 * 64 * 4);
}

#[test]
fn on_stdout_everything_is_text() {
    let folder = Folder::new("disasm-stdout");
    let capture = corpus("mesa/tex_mips.json");
    let short = r500(&["disasm", &capture]).status(0);
    let left_out = "tex0.0.raw, texture.tex0.1.raw, texture.tex0.2.raw, texture.tex1.0.raw";
    let short = short.says(left_out).says("--inline-textures");
    assert!(short.text().contains("raw \"texture.tex0.0.raw\""));
    let run = r500(&["disasm", &capture, "--inline-textures"]).status(0);
    assert!(!run.text().contains("raw \"") && run.stderr.is_empty());
    assert!(run.stdout.len() > 8 * short.stdout.len());
    let text = folder.write("inline.r5", run.text());
    assert!(pixels(&folder, &capture, "a.f32") == pixels(&folder, &text, "b.f32"));
    assert_eq!(folder.names(), ["a.f32", "b.f32", "inline.r5"]);
}

#[test]
fn other_file_kinds_are_refused_by_name() {
    let folder = Folder::new("disasm-foreign");
    // VE_MAXIMUM out[0].xyzw, input[0].xyzw, input[0].xyzw, three times: 48 bytes, two fragment instructions.
    let copy = [0x00f0_0207_u32, 0x00d1_0001, 0x00d1_0001, 0x01ff_e001].map(u32::to_le_bytes);
    let vertex = folder.write("vertex.bin", copy.concat().repeat(3));
    let own = std::fs::read(env!("CARGO_BIN_EXE_r500")).unwrap();
    let picture = folder.path("picture.png");
    r500(&["render", &vertex, "-o", &picture]).status(1).says("a vertex program");
    r500(&["cfg", &vertex]).status(0).shows("3 instructions, 1 block");
    r500(&["disasm", &vertex]).status(0).shows("out[0].xyzw = VE_MAX input[0].xyzw input[0].xyzw ");
    let inputs = [
        (folder.write("program", &own[..4800]), "executable"),
        (corpus("mesa/tex_mips.png"), "a PNG picture"),
    ];
    for (input, kind) in &inputs {
        for command in ["disasm", "check", "stats", "convert"] {
            let run = r500(&[command, input]).status(1).says(kind);
            assert_eq!(run.stderr.matches("error").count(), 1, "{command}: {}", run.stderr);
        }
    }
    // A named format is taken at its word; nonsense comes with a warning then.
    r500(&["disasm", "--from", "raw", &vertex]).status(0);
    let noise = folder.write("noise.bin", [0xfe; 240]);
    let reserved = "10 of 10 instructions use reserved encodings";
    r500(&["disasm", &noise]).status(1).says(reserved).says("r500 find");
    r500(&["disasm", "--from", "raw", &noise]).status(0).says(reserved);
}

#[test]
fn a_capture_of_the_card_is_named() {
    let folder = Folder::new("disasm-stream");
    let capture = folder.write("demo.r5cs", [&r500_stream::capture::MAGIC[..], &[0; 16]].concat());
    r500(&["disasm", &capture]).status(1).says("a captured command stream").says("r500 stream");
}

#[test]
fn annotations_are_comments() {
    let capture = corpus("mesa/loop_mandelbrot.json");
    let json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&capture).unwrap()).unwrap();
    let run = r500(&["disasm", &capture, "--annotate"]).status(0);
    for (address, words) in json["program"].as_array().unwrap().iter().enumerate() {
        let words: Vec<_> = words.as_array().unwrap().iter().filter_map(|w| w.as_str()).collect();
        let comment = format!("-- {address}: {}", words.join(" "));
        assert!(run.text().contains(&comment), "no `{comment}` in {}", run.text());
    }
    let plain = r500(&["disasm", &capture]).status(0);
    assert!(!plain.text().contains("--"));
    let hex = |text: &str| with_stdin(&["asm", "-"], text.as_bytes()).status(0).stdout;
    assert!(hex(plain.text()) == hex(run.text()));
    assert!(plain.text().contains("LOOP") && plain.text().contains("ENDLOOP"));
}

#[test]
fn instructions_for_a_program_to_read() {
    let folder = Folder::new("disasm-json");
    let capture = corpus("mesa/loop_mandelbrot.json");
    let source: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&capture).unwrap()).unwrap();
    let run = r500(&["disasm", &capture, "--format", "json"]).status(0);
    let answer: serde_json::Value = serde_json::from_str(run.text()).unwrap();
    assert_eq!((&answer["version"], &answer["name"]), (&1.into(), &"loop_mandelbrot".into()));
    let mut text = String::new();
    for (i, instruction) in answer["instructions"].as_array().unwrap().iter().enumerate() {
        assert_eq!(instruction["address"], i);
        assert_eq!(instruction["dwords"], source["program"][i]);
        text += instruction["text"].as_str().unwrap();
    }
    let hex = with_stdin(&["asm", "-"], text.as_bytes()).status(0);
    assert_eq!(hex.text(), r500(&["convert", &capture, "--to", "hex"]).text());
    r500(&["disasm", &capture, "--format", "json", "-o", &folder.path("x.json")]).status(0);
    assert_eq!(folder.read("x.json"), run.stdout);
}

/// Reserved types, reserved operations, bits that no field names: all have a spelling.
#[test]
fn odd_dwords_come_back() {
    let mut random = Rng::new(0);
    let mut hex = String::from("ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff\n");
    for _ in 0..500 {
        let words: Vec<String> = (0..6).map(|_| format!("{:08x}", random.bits())).collect();
        hex += &(words.join(" ") + "\n");
    }
    let text = with_stdin(&["disasm", "-"], hex.as_bytes()).status(0);
    let again = with_stdin(&["asm", "-"], &text.stdout).status(0);
    assert_eq!(again.text(), hex);
}
