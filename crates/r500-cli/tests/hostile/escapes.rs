//! Nothing that an input holds controls the terminal.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::json;

use super::{Folder, r500, with_stdin};

/// A clear of the screen, a title with a bell, a C1 introducer, an override of direction, a return.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;x\u{7}\u{9b}2J\u{202e}\rx";

/// Returns the first character that would disturb a terminal. A return before a line end does not.
pub(super) fn disturbing(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    let bad = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || ('\u{202a}'..='\u{202e}').contains(&c)
            || ('\u{2066}'..='\u{2069}').contains(&c)
    };
    let at = text.find(bad)?;
    let before: Vec<char> = text[..at].chars().rev().take(60).collect();
    Some(before.into_iter().rev().chain(text[at..].chars().take(20)).collect())
}

/// Subcommands that take `--from`.
const FROM: &[&str] = &[
    "check", "disasm", "convert", "stats", "cfg", "diff", "test", "run", "render", "trace",
    "debug", "opt", "bench",
];

/// Subcommands that [`every_command`] leaves out: protocols in JSON, and output that does not depend on a file.
const LEFT_OUT: &[&str] = &["lsp", "dap", "completions", "man", "help"];

/// Runs every command over a file that holds programs, or may; `from` is its format if it is to be said.
fn every_command(folder: &Folder, file: &str, from: Option<&str>) {
    for args in command_lines(folder, file, from) {
        let run = r500(&args);
        for bytes in [&run.stdout, &run.stderr] {
            assert_eq!(disturbing(bytes), None, "{args:?}");
        }
    }
}

/// Returns the command lines of [`every_command`].
fn command_lines(folder: &Folder, file: &str, from: Option<&str>) -> Vec<Vec<String>> {
    let image = folder.path("image.png");
    let limits = ["--limit-time", "5", "--limit-instructions", "10000"];
    let lines: &[&[&str]] = &[
        &["asm", file],
        &["asm", file, "--format", "json"],
        &["check", file],
        &["check", file, "--format", "json", "--verbose"],
        &["check", file, "--format", "sarif"],
        &["check", "--fix", file],
        &["check", "--fix", file, "--format", "json"],
        &["disasm", file],
        &["disasm", file, "--format", "json"],
        &["disasm", file, "--skip", "8", "--endian", "big"],
        &["convert", file, "--to", "json"],
        &["convert", file, "--to", "assembly"],
        &["convert", file, "--to", "c-array"],
        &["convert", file, "--list"],
        &["convert", file, "--pick", HOSTILE, "--to", "hex"],
        &["fmt", "--check", file],
        &["stats", file],
        &["stats", file, "--format", "csv"],
        &["stats", file, "--format", "json"],
        &["cfg", file],
        &["cfg", file, "--format", "dot"],
        &["cfg", file, "--format", "svg"],
        &["cfg", file, "--format", "json"],
        &["explain", file],
        &["find", file],
        &["find", file, "--format", "json"],
        &["diff", file, file],
        &["diff", file, file, "--format", "json"],
        &["diff", file, file, "--prove"],
        &["diff", file, file, "--prove", "--format", "json"],
        &["diff", file, file, "--prove", "--format", "junit"],
        &["diff", file, file, "--prove", "--format", "sarif"],
        &["diff", file, file, "--prove", "--against", file],
        &["test", file, "--list"],
        &["test", file],
        &["test", file, "--format", "json"],
        &["test", file, "--format", "junit"],
        &["test", file, "--format", "sarif"],
        &["test", file, "--against", file],
        &["stream", file],
        &["stream", file, "--list"],
        &["stream", file, "--list", "--format", "json"],
        &["stream", file, "--stats"],
        &["stream", file, "--vertex", "0"],
        &["stream", file, "--state", "0"],
        &["stream", file, "--find", "a"],
        &["replay", file],
        &["opt", file, "-O", "1", "--explain"],
        &["opt", file, "-O", "1", "-o", "-"],
        &["opt", file, "-O", "1", "--format", "json"],
        &["opt", file, "--pick", HOSTILE],
        &["bench", file, "--size", "8x8", "--seconds", "0.01", "--engine", "fast"],
        // Neither the program nor the library that stands between it and the system can be used.
        &["card", "--library", file, file],
        &["capture", "--library", file, "-o", &image, file],
        &["compile", "--library", file, file],
    ];
    let running: &[&[&str]] = &[
        &["run", file],
        &["run", file, "--format", "json"],
        &["run", file, "--format", "csv", "--findings"],
        &["run", file, "--dump-ir"],
        &["render", file, "--size", "8x8", "-o", &image],
        &["render", file, "--size", "8x8", "--format", "json"],
        &["trace", file, "--size", "8x8", "--pixel", "3,3"],
        &["trace", file, "--size", "8x8", "--pixel", "3,3", "--format", "json"],
        &["diff", file, file, "--run", "--size", "8x8"],
    ];
    let script = folder
        .write("script", "step\nrun\nfind r0 > 1\nlist\ninfo registers\nnonsense \u{1b}[2J\n");
    let debug = ["debug", file, "--size", "8x8", "--pixel", "3,3", "--script", &script];
    let all = lines.iter().map(|line| line.to_vec());
    let all =
        all.chain(running.iter().map(|line| [*line, &limits].concat())).chain([debug.to_vec()]);
    let with_format = all.map(|mut args| {
        if let Some(from) = from.filter(|_| FROM.contains(&args[0])) {
            args.extend(["--from", from]);
        }
        args.into_iter().map(str::to_owned).collect()
    });
    with_format.collect()
}

/// The list of commands in the help, against those that the tests here run.
#[test]
fn no_command_is_missing_here() {
    let folder = Folder::new("commands");
    let lines = command_lines(&folder, "file", None);
    let help = r500(&["--help"]).status(0).text();
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    let names: Vec<_> = listed.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() > 20, "{help}");
    for name in names {
        let runs = lines.iter().any(|line| line[0] == name);
        assert!(runs != LEFT_OUT.contains(&name), "{name}");
    }
}

#[test]
fn names_labels_and_paths_are_filtered_in_every_command() {
    let folder = Folder::new("escapes");
    let label: String = HOSTILE.replace('\r', "");
    let program = "src0.rgb = const[0] : out[0].rgb = MAX src0.rgb src0.rgb ;";
    let good = format!(
        "SIZE 8 8 ;\nNAME \"{label}\" ;\nORIGIN \"{label}\" ;\n-- {HOSTILE}\nUNIFORM \"{label}\" = const[0] ;\n\
         EXPECT out[0] at (0, 0) = (9, 9, 9, 9) ;\nOUT LAST {program}\n"
    );
    for (n, source) in [
        good.clone(),
        format!("{good}\n#include \"{label}.inc\"\n"),
        format!("DEF {label} = temp[0] ;\n@{label}\nRAW {HOSTILE} ;\n"),
        format!("TEXTURE tex[0] = file \"{label}.png\" ;\nTEX temp[1].rgba = LD tex[0].rgba temp[0].rgba ;\nOUT LAST {program}"),
        format!("NAME \"{label} ;\n@{label} FC JUMP -> @{label}2 ;"),
    ]
    .iter()
    .enumerate()
    {
        every_command(&folder, &folder.write(&format!("{n}{label}.r5"), source), Some("assembly"));
    }
    let first = folder.path(&format!("0{label}.r5"));
    let job = r500(&["convert", &first, "--from", "assembly", "--to", "json"]);
    // What is printed assembles to the same names, escapes and all.
    let text = r500(&["disasm", &first, "--from", "assembly"]).text();
    assert!(text.contains("NAME \"\\u001b[2J"), "{text}");
    let printed = folder.write("printed.r5", text);
    let again = r500(&["convert", &printed, "--to", "json"]).status(0);
    assert_eq!(again.stdout, job.stdout);
    let mut job: serde_json::Value = serde_json::from_slice(&job.stdout).unwrap();
    // JSON escapes the names without changing them.
    assert_eq!(job["name"], *label);
    job["name"] = HOSTILE.into();
    job["origin"] = HOSTILE.into();
    every_command(&folder, &folder.write(&format!("{label}.json"), job.to_string()), None);
    job[HOSTILE] = 1.into();
    every_command(&folder, &folder.write("unknown.json", job.to_string()), None);
    every_command(&folder, &folder.path(&format!("not there {HOSTILE}")), None);
}

/// The seeds of the fuzz targets: a sample of those of targets that read files. `R500_SEEDS=all` takes all seeds of all
/// targets, some hours; `R500_SEEDS=100` so many of each target.
#[test]
#[expect(clippy::print_stderr, reason = "how far a long run came")]
fn no_seed_of_the_fuzz_targets_disturbs_a_terminal() {
    let wanted = std::env::var("R500_SEEDS").unwrap_or_default();
    let sample = match &*wanted {
        "" => SAMPLE,
        "all" => usize::MAX,
        number => number.parse().expect("R500_SEEDS is a number or `all`"),
    };
    let seeds = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    let folder = Folder::new("seeds");
    let mut archives = r500::files::entries(&seeds);
    archives.retain(|path| path.extension().is_some_and(|extension| extension == "gz"));
    archives.sort();
    let mut count = 0;
    for archive in archives {
        let name = archive.file_name().unwrap().to_str().unwrap().trim_end_matches(".tar.gz");
        if wanted.is_empty() && !READS_FILES.contains(&name) {
            continue;
        }
        let into = folder.0.path().join(name);
        std::fs::create_dir(&into).unwrap();
        let tar =
            Command::new("tar").arg("xzf").arg(&archive).arg("-C").arg(&into).status().unwrap();
        assert!(tar.success());
        let mut files = r500::files::walk(&into, &|_| true).unwrap();
        files.sort_by_key(|file| file.metadata().map_or(0, |meta| meta.len()));
        // Every seed takes forty runs: a sample, all sizes in it.
        let mut taken = 0;
        for file in files.iter().step_by(files.len().div_ceil(sample).max(1)) {
            every_command(&folder, file.to_str().unwrap(), None);
            taken += 1;
        }
        eprintln!("{name}: {taken} of {} seeds", files.len());
        count += taken;
    }
    assert!(count >= 3 * SAMPLE);
}

/// Seeds taken of each archive.
const SAMPLE: usize = 4;

/// Targets whose seeds are files that the commands read.
const READS_FILES: [&str; 4] = ["asm_roundtrip", "asm_text", "formats_read", "texture_files"];

/// Messages about the command line itself.
#[test]
fn wrong_command_lines_are_filtered() {
    let folder = Folder::new("usage");
    let good = folder.write("good.r5", "OUT LAST : out[0].rgb = MAX src0.111 src0.111 ;\n");
    for args in [
        &[HOSTILE][..],
        &["asm", &good, HOSTILE],
        &["asm", &good, "--from", HOSTILE],
        &["render", &good, "--size", HOSTILE],
        &["render", &good, "--engine", HOSTILE],
        &["render", &good, "--const", HOSTILE],
        &["explain", HOSTILE],
        &["help", HOSTILE],
        &["--color", HOSTILE],
        &[&format!("--{HOSTILE}")],
    ] {
        for color in ["never", "always"] {
            let run = r500(&[&["--color", color], args].concat());
            assert!([1, 2].contains(&run.status), "{args:?}: {run:?}");
            let said: Vec<u8> = run.messages().replace("\u{1b}[", "").into_bytes();
            assert_eq!(disturbing(&said), None, "{args:?}");
            assert!(!run.messages().contains("\u{1b}[2J"), "{args:?}");
        }
    }
}

/// What servers of editors send is JSON with escapes, for logs and consoles show it.
#[test]
fn messages_to_editors_are_escaped() {
    let folder = Folder::new("editors");
    let name: String = HOSTILE.replace('\r', "");
    let source = format!(
        "SIZE 8 8 ;\nNAME \"{name}\" ;\nUNIFORM \"{name}\" = const[0] ;\n\
         OUT LAST src0.rgb = const[0] : out[0].rgb = MAX src0.rgb src0.rgb ;\n"
    );
    let file = folder.write("main.r5", &source);
    let framed = |messages: &[serde_json::Value]| -> Vec<u8> {
        let texts = messages.iter().map(ToString::to_string);
        texts
            .flat_map(|text| format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes())
            .collect()
    };
    let broken = format!("{source}DEF {name} = temp[0] ;\n@{name}\n{name}\n#include \"{name}\"\n");
    let document = json!({ "uri": format!("file://{file}") });
    let language = framed(&[
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "capabilities": {} } }),
        json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": { "textDocument": {
            "uri": format!("file://{file}"), "languageId": "r500", "version": 1, "text": broken } } }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "textDocument/documentSymbol", "params": { "textDocument": document } }),
        json!({ "jsonrpc": "2.0", "id": 3, "method": name, "params": {} }),
        json!({ "jsonrpc": "2.0", "id": 4, "method": "shutdown" }),
        json!({ "jsonrpc": "2.0", "method": "exit" }),
    ]);
    let run = with_stdin(&["lsp"], Stdio::piped(), &language).status(0);
    assert!(run.text().contains("\\u202e"), "{}", run.text());
    assert_eq!(disturbing(&run.stdout), None);
    let request = |seq: u32, command: &str, arguments| json!({ "seq": seq, "type": "request", "command": command, "arguments": arguments });
    let debug = framed(&[
        request(1, "initialize", json!({ "adapterID": "r500" })),
        request(2, "launch", json!({ "program": file, "pixel": [1, 1], "size": [8, 8] })),
        request(3, "configurationDone", json!({})),
        request(4, "stackTrace", json!({ "threadId": 1 })),
        request(5, "evaluate", json!({ "expression": name, "frameId": 1 })),
        request(6, &name, json!({})),
        request(7, "launch", json!({ "program": name })),
        request(8, "disconnect", json!({})),
    ]);
    let run = with_stdin(&["dap"], Stdio::piped(), &debug);
    assert!(run.text().contains("stackTrace"), "{}", run.text());
    assert_eq!(disturbing(&run.stdout), None);
}
