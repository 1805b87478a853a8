//! `r500 convert`, and that every command takes every format.

use super::{Folder, corpus, r500, with_stdin};

/// The extensions that convert writes; the last three hold everything.
const EXTENSIONS: [&str; 6] = ["bin", "inc", "hex", "json", "jsonl", "r5"];

fn hex(program: &str) -> String {
    r500(&["convert", program, "--to", "hex"]).status(0).text().to_owned()
}

/// Returns the program of a capture as the file itself says it.
fn dwords(capture: &str) -> String {
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(capture).unwrap()).unwrap();
    let line = |words: &serde_json::Value| {
        let words: Vec<_> = words.as_array().unwrap().iter().filter_map(|w| w.as_str()).collect();
        words.join(" ") + "\n"
    };
    json["program"].as_array().unwrap().iter().map(line).collect()
}

#[test]
fn from_any_format_to_any_other() {
    let folder = Folder::new("convert-all");
    let capture = corpus("mesa/loop_break_continue.json");
    let wanted = dwords(&capture);
    for from in EXTENSIONS {
        let first = folder.path(&format!("first.{from}"));
        r500(&["convert", &capture, "-o", &first]).status(0);
        assert_eq!(hex(&first), wanted, "to {from}");
        for to in EXTENSIONS {
            let second = folder.path(&format!("second.{to}"));
            r500(&["convert", &first, "-o", &second]).status(0);
            // In the process: forty commands fewer.
            let jobs = r500::reader::open(second.as_ref(), None, &Default::default()).unwrap();
            let jobs: Vec<_> = jobs.map(Result::unwrap).collect();
            let words = |i: &r500::isa::Instruction| i.0.map(|w| format!("{w:08x}")).join(" ");
            let lines = jobs[0].program.code.iter().map(|i| words(i) + "\n");
            assert_eq!(lines.collect::<String>(), wanted, "{from} to {to}");
        }
    }
}

#[test]
fn logs_give_the_dwords_of_their_captures() {
    for name in ["loop_mandelbrot", "scene_plasma", "tex_grad"] {
        let log = hex(&corpus(&format!("logs/{name}.log")));
        assert_eq!(log, dwords(&corpus(&format!("mesa/{name}.json"))), "{name}");
    }
}

/// The same program in every format that there is, through every command.
#[test]
fn every_command_takes_every_format() {
    let folder = Folder::new("every-format");
    let log = corpus("logs/scene_plasma.log");
    let mut files = vec![log.clone()];
    for extension in EXTENSIONS {
        let file = folder.path(&format!("plasma.{extension}"));
        r500(&["convert", &log, "-o", &file]).status(0);
        files.push(file);
    }
    // Any constants will do, but all: the log brings its immediates with it.
    let state = ["0=0.5,2,3,1", "1=0.25,1,2,0.5", "2=1,2,3,4", "3=0.1,0.2,0.3,0.4"];
    let state = state.map(|constant| ["--const", constant]).concat();
    let mut seen = Vec::new();
    for file in &files {
        let bytes = std::fs::read(file).unwrap();
        let out = folder.path("out.f32");
        let render = ["-o", &out, "--size", "8x8"];
        r500(&[&["render", file], &render[..], &state].concat()).status(0);
        let drawn = folder.read("out.f32");
        with_stdin(&[&["render", "-"], &render[..], &state].concat(), &bytes).status(0);
        assert!(drawn == folder.read("out.f32"), "{file} from stdin");
        let pixel = ["--pixel", "3,4", "--size", "8x8"];
        let trace = r500(&[&["trace", file], &pixel[..], &state].concat()).status(0);
        let run = r500(&[&["run", file, "--input", "t0=0.5,0.25"], &state[..]].concat()).status(0);
        let code = r500(&["disasm", file, "--code-only"]).status(0);
        let explained = r500(&["explain", file, "5"]).status(0);
        r500(&["test", file]).status(2).shows("1 without expectations");
        r500(&["convert", file, "--list"]).status(0).shows("28 instructions");
        seen.push([
            drawn,
            trace.stdout,
            run.stdout,
            code.stdout,
            explained.stdout,
            hex(file).into(),
        ]);
    }
    for (other, file) in seen[1..].iter().zip(&files[1..]) {
        for (a, b) in seen[0].iter().zip(other) {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            assert!(a == b, "{file}:\n{}\nis not\n{}", text(b), text(a));
        }
    }
    assert_eq!(seen[0][0].len(), 8 * 8 * 16);
    assert!(seen[0][0].iter().any(|byte| *byte != 0));
}

#[test]
fn the_self_test_of_hosts_says_what_they_must_draw() {
    let folder = Folder::new("convert-self-test");
    let file = folder.path("test.wgsl");
    let ran = r500(&["convert", "--self-test", "-o", &file, "--interface", "json"]).status(0);
    let test: serde_json::Value = serde_json::from_str(ran.text()).unwrap();
    let [width, height] = [0, 1].map(|n| test["size"][n].as_u64().unwrap());
    let count = |name: &str| test[name].as_array().unwrap().len() as u64;
    assert_eq!([count("expected"), count("texels")], [width * height, width * height * 4]);
    assert!(test["operations"].as_array().unwrap().iter().any(|name| name == "1 / a"));
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.contains("textureLoad(texture0, "), "{text}");
    r500(&["convert", "--self-test", "--to", "glsl-es-300"]).status(2);
    r500(&["convert", "a.r5", "--self-test", "--to", "wgsl"]).status(2);
}
