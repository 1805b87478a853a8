//! `r500 convert`, and that every command takes every format.

use super::{CONSTANT, Folder, corpus, r500, with_stdin};

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
fn what_holds_jobs_keeps_them() {
    let folder = Folder::new("convert-jobs");
    let capture = corpus("mesa/tex_mips.json");
    let step = |from: &str, to: &str| {
        let to = folder.path(to);
        let run = r500(&["convert", from, "-o", &to]).status(0);
        assert_eq!(run.stderr, "");
        to
    };
    let json = step(&capture, "a.json");
    let text = step(&json, "b.r5");
    let lines = step(&text, "c.jsonl");
    step(&lines, "d.json");
    assert!(folder.read("a.json") == folder.read("d.json"));
    assert_eq!(folder.read("c.jsonl").iter().filter(|b| **b == b'\n').count(), 1);
}

#[test]
fn what_is_lost_is_said() {
    let folder = Folder::new("convert-lost");
    let capture = corpus("mesa/alu_basic.json");
    for to in ["raw", "c-array", "hex"] {
        let run = r500(&["convert", &capture, "--to", to]);
        assert!(run.stderr.starts_with("warning: "), "{}", run.stderr);
        run.says("holds instructions only");
    }
    for to in ["json", "json-lines", "assembly"] {
        assert_eq!(r500(&["convert", &capture, "--to", to]).status(0).stderr, "");
    }
    // A bare program has nothing to lose.
    let bare = folder.write("bare.inc", CONSTANT);
    assert_eq!(r500(&["convert", &bare, "--to", "raw"]).status(0).stderr, "");
}

#[test]
fn logs_give_the_dwords_of_their_captures() {
    for name in ["loop_mandelbrot", "scene_plasma", "tex_grad"] {
        let log = hex(&corpus(&format!("logs/{name}.log")));
        assert_eq!(log, dwords(&corpus(&format!("mesa/{name}.json"))), "{name}");
    }
}

#[test]
fn several_programs_of_a_file() {
    let folder = Folder::new("convert-several");
    let names = ["loop_mandelbrot", "scene_plasma", "tex_grad"];
    let logs = names.map(|name| std::fs::read(corpus(&format!("logs/{name}.log"))).unwrap());
    let log = folder.write("all.log", logs.concat());
    let list = r500(&["convert", &log, "--list"]).status(0);
    assert_eq!(list.text().lines().count(), 3);
    for (i, name) in names.iter().enumerate() {
        let capture = dwords(&corpus(&format!("mesa/{name}.json")));
        let picked = r500(&["convert", &log, "--pick", &i.to_string()]).status(0);
        assert_eq!(picked.text(), capture);
    }
    let out = folder.path("out.bin");
    r500(&["convert", &log, "-o", &out]).status(2).says("several programs").says("--pick");
    r500(&["convert", &log, "--pick", "3", "-o", &out]).status(1).says("no program `3`");
    r500(&["disasm", &log]).status(2).says("--pick");
    r500(&["explain", &log, "0"]).status(2).says("--pick");
    r500(&["explain", &log, "0", "--pick", "1"]).status(0).shows("0: ");

    r500(&["convert", &log, "-o", &folder.path("all.jsonl")]).status(0);
    r500(&["convert", &log, "-o", &folder.path("all.json")]).status(0);
    assert_eq!(folder.read("all.jsonl").iter().filter(|b| **b == b'\n').count(), 3);
    for all in ["all.json", "all.jsonl"] {
        for (i, name) in names.iter().enumerate() {
            let picked = r500(&["convert", &folder.path(all), "--pick", &i.to_string()]).status(0);
            assert_eq!(picked.text(), dwords(&corpus(&format!("mesa/{name}.json"))), "{all}");
        }
    }
}

#[test]
fn formats_that_are_none() {
    let folder = Folder::new("convert-none");
    let bare = folder.write("bare.inc", CONSTANT);
    let out = folder.path("out.exe");
    r500(&["convert", &bare, "-o", &out]).status(2).says("stands for no format").says(".r5");
    r500(&["convert", &bare, "-o", &folder.path("out")]).status(2).says("--to");
    r500(&["convert", &bare, "--to", "mesa-log"]).status(2).says("to read, not to write");
    r500(&["convert", &bare, "--to", "elf"]).status(2).says("there is no format `elf`");
    let prose = folder.write("prose", "Nothing of the kind.");
    r500(&["convert", &prose]).status(1).says("the format is unknown");
    r500(&["convert", &bare, "--from", "json"]).status(1);
    r500(&["convert", &folder.path("nowhere.bin")]).status(3).says("cannot read");
    assert_eq!(folder.names(), ["bare.inc", "prose"]);
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
        r500(&["test", file]).status(0).shows("1 without expectations");
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
