//! Command-line tests: files that hold inputs, commands, and what the commands print. `README.md` describes them.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::expect_used, clippy::panic)]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};

/// A test file: comments, then sections.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Case {
    comments: String,
    sections: Vec<Section>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Section {
    kind: Kind,
    /// The file's name or the command.
    head: String,
    /// The file's content, or what the command prints.
    body: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    File,
    Run,
}

impl Kind {
    const ALL: [Self; 2] = [Self::File, Self::Run];

    const fn keyword(self) -> &'static str {
        match self {
            Self::File => "FILE: ",
            Self::Run => "RUN: ",
        }
    }
}

impl Case {
    fn parse(text: &str) -> Result<Self, String> {
        let mut case = Self { comments: String::new(), sections: Vec::new() };
        for line in text.lines() {
            let section = Kind::ALL.iter().find_map(|kind| {
                let head = line.strip_prefix(kind.keyword())?.to_owned();
                Some(Section { kind: *kind, head, body: String::new() })
            });
            if let Some(section) = section {
                case.sections.push(section);
            } else if let Some(Section { body, .. }) = case.sections.last_mut() {
                body.push_str(line);
                body.push('\n');
            } else if line.is_empty() || line.starts_with('#') {
                case.comments.push_str(line);
                case.comments.push('\n');
            } else {
                return Err(format!("`{line}` is neither a comment nor below FILE: or RUN:"));
            }
        }
        if case.sections.iter().all(|section| section.kind != Kind::Run) {
            return Err("it runs no command: no line begins with `RUN: `".to_owned());
        }
        // An empty line between sections belongs to neither.
        for text in case.sections.iter_mut().map(|section| &mut section.body) {
            text.truncate(text.trim_end_matches('\n').len());
            if !text.is_empty() {
                text.push('\n');
            }
        }
        case.comments.truncate(case.comments.trim_end_matches('\n').len());
        Ok(case)
    }

    fn print(&self) -> String {
        let mut text = self.comments.clone();
        for Section { kind, head, body } in &self.sections {
            let gap = if text.is_empty() { "" } else { "\n" };
            let newline = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            let _ = write!(text, "{newline}{gap}{}{head}\n{body}", kind.keyword());
        }
        text
    }

    /// Returns the case with what its commands print, run in an empty folder.
    fn run(&self, folder: &Path) -> Result<Self, String> {
        let mut result = self.clone();
        for section in &mut result.sections {
            match section.kind {
                Kind::File => {
                    let path = folder.join(&section.head);
                    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                    std::fs::write(path, &section.body).unwrap();
                }
                Kind::Run => section.body = output(&section.head, folder),
            }
        }
        let again = Self::parse(&result.print())?;
        if again != result {
            return Err("a command prints a line that begins with `FILE: ` or `RUN: `".to_owned());
        }
        Ok(result)
    }
}

/// Runs a command by the shell: what it writes to stdout, then the lines of stderr and the exit status if it is not 0.
fn output(command: &str, folder: &Path) -> String {
    let r500 = Path::new(env!("CARGO_BIN_EXE_r500")).parent().unwrap();
    let mut path = vec![r500.to_owned()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::join_paths(path).unwrap())
        .env("CORPUS", corpus())
        .env("LC_ALL", "C")
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).expect("the output is not UTF-8");
        without_times(&text.replace(corpus().to_str().unwrap(), "$CORPUS"))
    };
    let mut shown = text(output.stdout).trim_end_matches('\n').to_owned();
    if !shown.is_empty() {
        shown.push('\n');
    }
    for line in text(output.stderr).lines() {
        let _ = writeln!(shown, "{}", format!("stderr: {line}").trim_end());
    }
    match output.status.code() {
        Some(0) => {}
        Some(status) => {
            let _ = writeln!(shown, "exit status: {status}");
        }
        None => shown.push_str("ended by a signal\n"),
    }
    shown
}

/// Replaces measured times: ` in 0.05 s` at the end of a line, and `"seconds":0.05`.
fn without_times(text: &str) -> String {
    let is_time = |text: &str| text.parse::<f64>().is_ok_and(|seconds| seconds.is_finite());
    let mut result = String::new();
    for line in text.split_inclusive('\n') {
        let ends = line.trim_end().strip_suffix(" s").and_then(|rest| rest.rsplit_once(" in "));
        let json = line.split_once("\"seconds\":").and_then(|(head, rest)| {
            let (time, rest) = rest.split_at(rest.find([',', '}'])?);
            Some((head, time, rest))
        });
        match (ends, json) {
            (Some((head, time)), _) if is_time(time) => {
                let _ = writeln!(result, "{head} in TIME s");
            }
            (_, Some((head, time, rest))) if is_time(time) => {
                let _ = write!(result, "{head}\"seconds\":TIME{rest}");
            }
            _ => result.push_str(line),
        }
    }
    result
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus").canonicalize().unwrap()
}

/// Runs a file. `BLESS=1` writes what its commands print into it.
fn check(path: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(path)?;
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let result = Case::parse(&text)?.run(folder.path())?.print();
    if result == text {
        return Ok(());
    }
    if std::env::var_os("BLESS").is_some() {
        return Ok(std::fs::write(path, result)?);
    }
    let diff = similar::TextDiff::from_lines(&text, &result);
    let diff = diff.unified_diff().header("the file", "the commands").to_string();
    Err(format!("{}: differs (BLESS=1 accepts it):\n{diff}", path.display()).into())
}

/// Collects the files of a folder and of those in it.
fn collect(folder: &Path, name: &str, trials: &mut Vec<Trial>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_string_lossy();
        let name = format!("{name}{stem}");
        if path.is_dir() {
            collect(&path, &format!("{name}/"), trials);
        } else if path.extension().is_some_and(|extension| extension == "test") {
            let elsewhere = name.starts_with("card/") && cfg!(not(target_os = "linux"));
            let trial = Trial::test(name, move || check(&path));
            trials.push(trial.with_ignored_flag(elsewhere));
        }
    }
}

fn main() {
    let mut trials = Vec::new();
    // The commands are those of a POSIX shell.
    if cfg!(unix) {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cmd");
        collect(Path::new(folder), "", &mut trials);
        assert!(!trials.is_empty(), "no files in {folder}");
    }
    trials.sort_by(|a, b| a.name().cmp(b.name()));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
