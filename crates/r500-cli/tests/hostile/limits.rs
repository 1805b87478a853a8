//! Programs without end, and requests that grow past memory.

use std::time::{Duration, Instant};

use super::{Folder, command_line, r500, with_stdin};

/// A loop that never ends.
const ENDLESS: &str = "SIZE 64 64 ;\n@again FC JUMP JUMP_FUNC(0xff) -> @again ;\n\
                       OUT LAST : out[0].rgb = MAX src0.111 src0.111 ;\n";
const PLAIN: &str = "OUT LAST : out[0].rgb = MAX src0.111 src0.111 ;\n";
const NO_LIMIT: &str = "18446744073709551615";

#[test]
fn every_engine_ends_at_the_time_limit() {
    let folder = Folder::new("endless");
    let main = folder.write("main.r5", ENDLESS);
    // Its output differs, after a loop that never ends: no run and no proof decides.
    let other = folder.write("other.r5", ENDLESS.replace("src0.111 src0.111", "src0.000 src0.000"));
    let picture = folder.path("out.png");
    for engine in ["reference", "fast", "jit"] {
        let common = ["--engine", engine, "--limit-instructions", NO_LIMIT, "--limit-time", "0.2"];
        for args in [
            &["render", &main, "-o", &picture][..],
            &["run", &main],
            &["trace", &main, "--pixel", "3,3", "--active", "--watch", "out[0]"],
            &[
                "test",
                &folder.write(
                    "expects.r5",
                    format!("EXPECT out[0] at (0, 0) = (1, 1, 1, 1) ;\n{ENDLESS}"),
                ),
            ],
            &["diff", &main, &other, "--run", "--size", "8x8"],
        ] {
            let start = Instant::now();
            let run = r500(&[args, &common].concat());
            assert_ne!(run.status, 0, "{args:?}");
            let said = run.text() + &run.messages();
            assert!(said.contains("200ms") || said.contains("--limit-time"), "{args:?}: {said}");
            assert!(start.elapsed() < Duration::from_secs(20), "{args:?}");
        }
    }
    r500(&[
        "render",
        &main,
        "-o",
        &picture,
        "--limit-instructions",
        NO_LIMIT,
        "--limit-time",
        "0.2",
    ])
    .status(3)
    .says(&["--limit-time"]);
    assert!(!std::path::Path::new(&picture).exists());
}

/// Large groups take as long for an instruction as small ones for thousands.
#[test]
fn large_groups_end_at_the_time_limit() {
    let folder = Folder::new("large-groups");
    let main = folder.write("main.r5", ENDLESS);
    for command in ["trace", "render"] {
        let mut args = vec![command, &main, "--group", "128x128", "--limit-instructions", NO_LIMIT];
        args.extend(["--limit-time", "0.2", "--engine", "reference"]);
        args.extend(if command == "trace" { ["--pixel", "3,3"] } else { ["-o", "-"] });
        args.extend(if command == "trace" { &["--watch", "out[0]"][..] } else { &[] });
        r500(&args).status(3).says(&["--limit-time"]);
    }
}

#[test]
fn memory_is_counted_before_it_is_allocated() {
    let folder = Folder::new("memory");
    let main = folder.write("main.r5", PLAIN);
    let out = folder.path("out.png");
    for (size, crop) in [("4294967295x1", "0,0,4x1"), ("1x4294967295", "0,0,1x4")] {
        for engine in ["reference", "fast", "jit"] {
            r500(&["render", &main, "-o", &out, "--size", size, "--engine", engine])
                .status(3)
                .says(&["bytes", "--limit-memory"]);
            r500(&[
                "render", &main, "-o", &out, "--size", size, "--crop", crop, "--engine", engine,
            ])
            .status(3)
            .says(&["coordinates", "--limit-memory"]);
        }
        r500(&["trace", &main, "--size", size, "--pixel", "0,0"])
            .status(3)
            .says(&["--limit-memory"]);
    }
    for group in ["65536x65536", "4294967294x4294967294", "16384x16384"] {
        r500(&["render", &main, "-o", &out, "--size", "8x8", "--group", group])
            .status(3)
            .says(&["a group of", "--limit-memory"]);
        r500(&["trace", &main, "--size", "8x8", "--pixel", "0,0", "--group", group])
            .status(3)
            .says(&["a group of", "--limit-memory"]);
        let script = folder.write("script", "step\n");
        r500(&["debug", &main, "--size", "8x8", "--group", group, "--script", &script])
            .status(3)
            .says(&["a group of", "--limit-memory"]);
    }
    for group in ["0x0", "3x4"] {
        for command in [&["render", &main, "-o", &out][..], &["trace", &main, "--pixel", "0,0"]] {
            r500(&[command, &["--group", group, "--size", "8x8"]].concat()).status(2);
        }
    }
}

/// Two long runs that part: the record of both is bounded.
#[test]
fn records_of_long_runs_are_bounded() {
    let folder = Folder::new("records");
    let program = |value: &str| {
        format!(
            "SIZE 2 2 ;\nint[0] = (255, 0, 1) ;\nconst[0] = ({value}, 0, 0, 1) ;\n\
             LOOP int[0] ;\nLOOP int[0] ;\n{}ENDLOOP ;\nENDLOOP ;\n\
             OUT LAST src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb ;\n",
            "src0.rgb = const[0], src1.rgb = temp[1] : temp[1].rgb = MAD src0.rgb src0.111 src1.rgb ;\n"
                .repeat(6)
        )
    };
    let (a, b) = (folder.write("a.r5", program("1")), folder.write("b.r5", program("2")));
    let run = r500(&["diff", &a, &b, "--run", "--limit-time", "5"]);
    assert!(run.memory < super::MEMORY, "{run:?}");
}

/// A diagnostic for each two bytes of a source.
#[test]
fn long_sources_of_errors_take_little_memory() {
    let folder = Folder::new("errors");
    let errors = folder.write("errors.r5", "$ ".repeat(1 << 20));
    for command in ["asm", "check", "render", "fmt"] {
        let mut args = command_line(command, &errors);
        args.extend(["--check"].iter().filter(|_| command == "fmt"));
        let run = r500(&args);
        assert_ne!(run.status, 0, "{command}");
    }
    r500(&["asm", &errors]).status(1).says(&["more than 10000 errors; the first 100 are shown"]);
    r500(&["asm", &errors, "--max-errors", "0"])
        .status(1)
        .says(&["E0008", "10000 errors come before"]);
    let warnings = folder.write("warnings.r5", "; ".repeat(1 << 20));
    r500(&["asm", &warnings, "-o", &folder.path("out.bin")])
        .status(0)
        .says(&["more than 10000 warnings"]);
}

/// A word, a key or a name as long as a file is not repeated by the message about it.
#[test]
fn messages_do_not_repeat_long_words() {
    let folder = Folder::new("words");
    let word = "a".repeat(1 << 20);
    let quoted = format!("NAME \"{word} ;\n");
    let inputs = [
        ("word.r5", word.clone()),
        ("string.r5", quoted),
        ("zeros.r5", "\0".repeat(1 << 20)),
        ("define.r5", format!("DEF {word} = {word} ;\n")),
        ("include.r5", format!("#include \"{word}\"\n")),
        ("key.json", format!("{{\"{word}\": 1}}")),
        ("value.json", format!("{{\"program\": [], \"size\": \"{word}\"}}")),
        ("escapes.json", format!("{{\"a\": \"{}\"}}", "\\u0000".repeat(1 << 18))),
    ];
    for (name, text) in inputs {
        let file = folder.write(name, text);
        for args in [&["check", &file][..], &["stats", &file], &["render", &file, "-o", "-"]] {
            let run = r500(args);
            assert_ne!(run.status, 0, "{args:?}");
            let length = run.stdout.len() + run.stderr.len();
            assert!(length < 20_000, "{args:?}: {length} bytes");
        }
    }
}

#[test]
fn programs_have_a_length_that_is_accepted() {
    let folder = Folder::new("long");
    let raw = folder.sparse("long.bin", 24 * ((1 << 16) + 1));
    for command in ["check", "disasm", "render", "run", "cfg", "opt", "convert", "trace"] {
        let run = r500(&command_line(command, &raw)).says(&["65536 instructions"]);
        assert_ne!(run.status, 0, "{command}");
    }
    let words = folder.sparse("long.words", 128 << 20);
    for args in [&["stream", &words][..], &["stream", &words, "--list"], &["replay", &words]] {
        assert_ne!(r500(args).status, 0, "{args:?}");
    }
    let source = folder.write("long.r5", ": ;\n".repeat((1 << 16) + 1));
    r500(&["asm", &source]).status(1).says(&["E0007", "long.r5:65537:1", "65536 instructions"]);
    let source = folder.write("large.r5", " ".repeat((32 << 20) + 1));
    r500(&["check", &source]).status(1).says(&["E0007", "32 MiB"]);
    let source = folder.sparse("zeros.r5", 128 << 20);
    for args in [&["fmt", "--check", &source][..], &["asm", &source]] {
        r500(args).status(3).says(&["33554432 bytes"]);
    }
}

/// A small file that unpacks to as many broken programs as there may be.
#[test]
fn errors_of_an_input_are_counted() {
    let folder = Folder::new("broken");
    let lines = folder.write("lines.jsonl", "[\n".repeat(20_000));
    let list = folder.write("list.json", format!("[{}{{}}]", "{},".repeat(20_000)));
    for file in [&lines, &list] {
        let run = r500(&["stats", file]).status(1);
        assert!(run.messages().contains("more than 10000 programs with errors"), "{file}");
        let run = r500(&["test", file]).status(1);
        assert!(run.text().contains("more than 10000 programs with errors"), "{file}");
    }
}

#[test]
fn numbers_of_threads_are_limited_where_they_are_started() {
    let folder = Folder::new("threads");
    let main = folder.write("main.r5", PLAIN);
    r500(&["bench", &main, "--threads", "1000000"]).status(2).says(&["0 to 1024"]);
    for threads in ["4294967295", "18446744073709551615"] {
        let run = r500(&["render", &main, "-o", "-", "--size", "8x8", "--threads", threads]);
        assert!(matches!(run.status, 0 | 2), "{run:?}");
    }
}

/// Blocks inside blocks: the spaces in front of them would grow with the square of their number.
#[test]
fn deep_blocks_are_laid_out_in_little_memory() {
    let folder = Folder::new("deep");
    let source = format!("{}{}", "IF alu ;\n".repeat(20_000), "ENDIF ;\n".repeat(20_000));
    let deep = folder.write("deep.r5", &source);
    let run = with_stdin(&["fmt", "-"], std::process::Stdio::piped(), source.as_bytes()).status(0);
    assert!(run.stdout.len() < 10 << 20, "{} bytes", run.stdout.len());
    // The search for the shortest difference ends, too.
    r500(&["fmt", "--check", &deep]).status(1);
    for command in ["asm", "check", "render", "cfg", "disasm", "opt", "stats"] {
        r500(&command_line(command, &deep)).status(1);
    }
}

/// Sources of the greatest length that is accepted, of one kind of byte or token.
#[test]
fn the_longest_sources_take_little_time_and_memory() {
    let folder = Folder::new("longest");
    let repeated = |unit: &str| unit.repeat((32 << 20) / unit.len());
    let far = |unit: &str| format!("{}{}", " ".repeat((32 << 20) - 40_000), unit.repeat(10_000));
    let sources = [
        ("zeros", repeated("\0")),
        // Each character would be written as eight.
        ("overrides", repeated("\u{202e}")),
        ("word", repeated("a")),
        ("hash", repeated("#")),
        // The search for the end of each comment must not start again.
        ("comments", repeated("/* ")),
        // Lines and columns of thousands of places.
        ("lines", format!("{}$\n", repeated("\n").split_at(2).1)),
        ("far", far("$ ")),
        (
            "names",
            format!("DEF {} = temp[0] ;\n{}", "a".repeat(16 << 20), "OUTT ;\n".repeat(10_000)),
        ),
        ("labels", (0..2_500_000).map(|n| format!("@l{n}\n")).collect()),
        ("uniforms", repeated("UNIFORM \"x\" = const[0] ;\n")),
        ("include", format!("#include \"{}\"", "a".repeat(31 << 20))),
        ("tokens", repeated(";")),
        ("statement", repeated("a\n")),
        // Pictures that are not drawn, levels that are not kept.
        ("pictures", repeated("TEXTURE tex[0] = noise(4096, 4096, 1) ;\n")),
        ("levels", repeated("LEVEL tex[0] = (1, 1) raw \"a\" ;\n")),
    ];
    for (name, source) in sources {
        let file = folder.write(&format!("{name}.r5"), source);
        for args in [&["asm", &file, "--format", "json"][..], &["fmt", "--check", &file]] {
            assert!(matches!(r500(args).status, 0 | 1), "{args:?}");
        }
        std::fs::remove_file(file).unwrap();
    }
}

/// The difference of long texts is not shown.
#[test]
fn layouts_of_many_lines_are_compared_in_little_memory() {
    let folder = Folder::new("lines");
    for text in ["\n", "\r", "\r\n"] {
        let lines = folder.write("lines.r5", text.repeat(16 << 20));
        let run = r500(&["fmt", "--check", &lines]).status(1);
        assert!(run.stdout.len() < 1000, "{} bytes", run.stdout.len());
    }
}

/// An error for each line, a word as long as the file, and lines that fill packets.
#[test]
fn texts_of_streams_are_bounded() {
    let folder = Folder::new("streams");
    for (name, text, wanted) in [
        ("errors.txt", "? ?\n".repeat(1 << 20), "10000 lines before"),
        ("word.txt", "z".repeat(16 << 20), "..."),
        ("bytes.txt", "a".repeat(9 << 20), "1179648 dwords; a submission has at most 1048576"),
        ("fill.txt", "fill 4096\n".repeat(1 << 20), "2097152 dwords"),
    ] {
        let file = folder.write(name, text);
        for args in
            [&["stream", &file][..], &["stream", &file, "--list"], &["stream", &file, "--stats"]]
        {
            let run = r500(args).status(1).says(&[wanted]);
            assert!(run.stderr.len() < 2 << 20, "{args:?}: {} bytes", run.stderr.len());
        }
    }
}

/// The line of each instruction is found without counting from the start.
#[test]
fn long_programs_are_debugged_in_little_time() {
    let folder = Folder::new("debugged");
    let add = "src0.rgb = temp[1] : temp[1].rgb = MAX src0.rgb src0.111 ;\n";
    let names: String = (0..40_000).map(|n| format!("DEF n{n} = const[{}] ;\n", n % 256)).collect();
    let long = folder.write("long.r5", names + &add.repeat(60_000) + PLAIN);
    let script = folder.write("script", "step\n");
    r500(&["debug", &long, "--size", "8x8", "--pixel", "3,3", "--script", &script]).status(0);
}

/// The layout of a graph takes time with the square of its blocks.
#[test]
fn graphs_of_many_blocks_are_not_drawn() {
    let folder = Folder::new("graphs");
    let jumps: String = (0..2000)
        .map(|n| format!("@l{n} FC JUMP JUMP_FUNC(0xf0) -> @l{} ;\n", n * 7919 % 511))
        .collect();
    let jumps = folder.write("jumps.r5", jumps + PLAIN);
    r500(&["cfg", &jumps, "-o", &folder.path("flow.svg")])
        .status(1)
        .says(&["2001 blocks", "--format dot"]);
    r500(&["cfg", &jumps, "-o", &folder.path("flow.dot")]).status(0);
}

/// Textures are counted by their sizes before they are decoded or drawn.
#[test]
fn textures_are_counted() {
    let folder = Folder::new("textures");
    let picture = folder.path("large.png");
    let plain = folder.write("plain.r5", PLAIN);
    r500(&["render", &plain, "-o", &picture, "--size", "4096x1024"]).status(0);
    let size = ["--size", "8x8", "-o", "-"];
    let limit = ["--limit-memory", "30000000"];
    let texture = format!("0={picture}");
    for (texture, name) in [(&*texture, "large.png"), ("0=noise,size=4096x1024", "noise")] {
        let args = [&["render", &plain, "--texture", texture][..], &size].concat();
        r500(&[&args[..], &limit].concat()).status(3).says(&[
            name,
            "4096x1024",
            "33554432 bytes",
            "30000000",
            "--limit-memory",
        ]);
        r500(&[&args[..], &["--limit-memory", "40000000"]].concat()).status(0);
        // The second exceeds what the first leaves.
        let second = texture.replacen('0', "1", 1);
        let args = [&args[..], &["--texture", &second, "--limit-memory", "60000000"]].concat();
        r500(&args).status(3).says(&["texture unit 1", name, "67108864", "--limit-memory"]);
    }
    let unit = |n: u32, what: &str| format!("TEXTURE tex[{n}] = {what} ;\n");
    let file = folder.write("file.r5", unit(0, "file \"large.png\"") + PLAIN);
    for command in ["render", "trace", "debug", "run", "test"] {
        let run = r500(&[&command_line(command, &file)[..], &limit].concat());
        let said = run.text() + &run.messages();
        assert!(said.contains("line 1") && said.contains("33554432 bytes"), "{command}: {said}");
    }
    let made: String = (0..16).map(|n| unit(n, "noise(4096, 4096, 1)")).collect();
    let made = folder.write("made.r5", made + PLAIN);
    r500(&[&["render", &made][..], &size, &limit].concat()).status(1).says(&[
        "made.r5:1:9",
        "the textures are too large",
        "67108864 bytes",
    ]);
}

/// A replay ends; what it drew stays.
#[test]
fn replays_end_at_the_time_limit() {
    let capture = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/captures/scenes.r5cs");
    let folder = Folder::new("replay");
    let frames = folder.path("frames");
    let run = r500(&["replay", capture, "-o", &frames, "--limit-time", "0.000001"]).status(3);
    assert!(run.messages().contains("0 submissions and 0 frames; see --limit-time"), "{run:?}");
    let draw = ["stream", capture, "--draw", "0", "-o", &folder.path("draw.json")];
    r500(&[&draw[..], &["--limit-time", "0.000001"]].concat()).status(3).says(&["--limit-time"]);
    r500(&[&draw[..], &["--limit-time", "0"]].concat()).status(0);
    r500(&["replay", capture, "--limit-time", "x"]).status(2);
}
