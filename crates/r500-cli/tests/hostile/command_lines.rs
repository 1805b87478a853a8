//! A property of command lines: over a folder of hostile files, any command ends with one of its statuses, in little
//! memory, without a panic and without a character that controls the terminal.
//!
//! `R500_FUZZ_SECONDS` makes longer runs, `R500_SEED` others:
//! `R500_FUZZ_SECONDS=1800 cargo test -p r500-cli --test hostile command_lines -- --nocapture`.

use std::time::{Duration, Instant};

use r500_gen::{Choices, Rng};

use super::escapes::disturbing;
use super::{Folder, r500};

const ROUNDS: u64 = 60;

const SOURCE: &str = "SIZE 8 8 ;\nTEXTURE tex[0] = checker(4, 4, 2) ;\nint[0] = (3, 0, 1) ;\n\
    LOOP int[0] ALU_WAIT ;\n  TEX TEX_SEM_ACQUIRE temp[1].rgba = LD tex[0].rgba temp[0].rgba ;\nENDLOOP ALU_WAIT ;\n\
    OUT LAST TEX_SEM_WAIT src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb ;\n";

/// Names of files, some of which no program should have.
const NAMES: [&str; 12] = [
    "a.r5",
    "b.r5",
    "c.inc",
    "d.json",
    "e.jsonl",
    "f.bin",
    "g.log",
    "h.png",
    "i.r5cs",
    "j\u{1b}[2J.r5",
    "-k.r5",
    "l.json.gz",
];

/// Fills the folder: sources that include each other, changed files of every kind, pipes, links, folders, holes.
fn fill(folder: &Folder, rng: &mut Rng) {
    for name in NAMES {
        let path = folder.0.path().join(name);
        let other = NAMES[rng.below(NAMES.len() as u32) as usize];
        let _ = match rng.below(12) {
            0 => {
                folder.pipe(&format!("./{name}"));
                Ok(())
            }
            1 => std::os::unix::fs::symlink(other, &path),
            2 => std::os::unix::fs::symlink("/dev/zero", &path),
            3 => std::fs::create_dir(&path),
            4 => {
                folder.sparse(name, 1 << rng.below(42));
                Ok(())
            }
            5 => std::fs::write(&path, format!("#include \"{other}\"\n").repeat(2)),
            6 => std::fs::write(&path, format!("TEXTURE tex[0] = file \"{other}\" ;\n{SOURCE}")),
            7 => {
                let bytes: Vec<u8> = (0..rng.below(400)).map(|_| rng.bits() as u8).collect();
                std::fs::write(&path, bytes)
            }
            _ => {
                let mut bytes = SOURCE.as_bytes().to_vec();
                for _ in 0..rng.below(6) {
                    let at = rng.below(bytes.len() as u32) as usize;
                    match rng.below(3) {
                        0 => bytes[at] = rng.bits() as u8,
                        1 => drop(bytes.drain(at..(at + 9).min(bytes.len()))),
                        _ => bytes.splice(at..at, "\u{9b}2J\u{202e}".bytes()).for_each(drop),
                    }
                }
                std::fs::write(&path, bytes)
            }
        };
    }
}

/// A command line of files of the folder, with some options.
fn line(folder: &Folder, rng: &mut Rng) -> Vec<String> {
    const COMMANDS: [&[&str]; 26] = [
        &["asm"],
        &["check"],
        &["check", "--fix"],
        &["check", "--format", "sarif"],
        &["disasm"],
        &["convert", "--to", "json"],
        &["fmt", "--check"],
        &["stats"],
        &["cfg"],
        &["explain"],
        &["diff", "--run"],
        &["test"],
        &["run", "--findings"],
        &["render", "-o", "-", "--format", "text"],
        &["trace", "--pixel", "1,1"],
        &["debug"],
        &["replay"],
        &["stream", "--list"],
        &["stream", "--stats"],
        &["stream"],
        &["opt", "-O", "1"],
        &["opt", "-O", "1", "--explain"],
        &["stream", "--submission", "0"],
        &["stream", "--draw", "0"],
        &["diff", "--prove"],
        &["bench", "--seconds", "0.01", "--size", "8x8"],
    ];
    let file = |rng: &mut Rng| match rng.below(16) {
        0 => folder.path(""),
        1 => "/dev/zero".to_owned(),
        2 => folder.path("not there"),
        _ => folder.path(NAMES[rng.below(NAMES.len() as u32) as usize]),
    };
    let command = COMMANDS[rng.below(COMMANDS.len() as u32) as usize];
    let mut args: Vec<String> = command.iter().map(|&word| word.to_owned()).collect();
    args.push(file(rng));
    let runs = ["run", "render", "trace", "debug", "diff"].contains(&command[0])
        && !command.contains(&"--prove");
    match command[0] {
        "diff" => args.push(file(rng)),
        "debug" => args.extend(["--script".to_owned(), file(rng)]),
        "render" if rng.chance(1, 3) => args.extend(["--compare".to_owned(), file(rng)]),
        "run" if rng.chance(1, 3) => args.extend(["--input".to_owned(), file(rng)]),
        _ => {}
    }
    if runs {
        let limits =
            ["--limit-time", "2", "--limit-instructions", "20000", "--limit-memory", "100000000"];
        args.extend(limits.map(str::to_owned));
        if rng.chance(1, 4) {
            args.extend(["--texture".to_owned(), format!("0={}", file(rng))]);
        }
    }
    if rng.chance(1, 3) && !["fmt", "explain", "replay", "stream"].contains(&command[0]) {
        args.push("--allow-paths".to_owned());
    }
    args
}

#[test]
#[expect(clippy::print_stderr, reason = "how far a long run came")]
fn any_command_over_hostile_files_ends_well() {
    let number =
        |name: &str, usual| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual);
    let (seconds, seed) = (number("R500_FUZZ_SECONDS", 0), number("R500_SEED", 1));
    let start = Instant::now();
    let mut lines = 0;
    for round in seed.. {
        if round - seed >= ROUNDS && start.elapsed() >= Duration::from_secs(seconds) {
            eprintln!("{} folders, {lines} command lines", round - seed);
            break;
        }
        let mut rng = Rng::new(round);
        let folder = Folder::new("command-lines");
        fill(&folder, &mut rng);
        for _ in 0..8 {
            let args = line(&folder, &mut rng);
            let run = r500(&args);
            lines += 1;
            assert!((0..=3).contains(&run.status), "seed {round}: {args:?}: {run:?}");
            let picture = run.stdout.starts_with(b"\x89PNG");
            for bytes in [&run.stdout, &run.stderr].into_iter().skip(usize::from(picture)) {
                assert_eq!(disturbing(bytes), None, "seed {round}: {args:?}");
            }
        }
    }
}
