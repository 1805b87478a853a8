//! Rendering of the programs of a folder, one picture each.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use r500::exec::live_textures::PreviousPicture;
use r500::program::Job;

use super::output::Sink;
use super::strips::{self, Streamed};
use super::{Render, Report, Target};
use crate::command::exit::{Failure, Outcome, Status};
use crate::command::output_file::create_folder;
use crate::command::syntax::Sharding;
use crate::command::{engine_args, input_args, overwrite, terminal};

impl Render {
    /// Draws the programs of a folder, or those of a shard. Reports failures and continues.
    pub(super) fn folder(&self, folder: &Path) -> Outcome {
        let single = self.show
            || self.window
            || self.reload
            || self.frames.is_some()
            || self.compare.reference.is_some()
            || self.source.pick.is_some();
        if single {
            return Err(Failure::usage(
                "--show, --window, --reload, --frames, --compare and --pick take one program, not a folder",
            ));
        }
        let output = self.output.as_deref().filter(|output| !input_args::is_stdin(output));
        let output = output.ok_or_else(|| {
            Failure::usage("a folder needs -o: a folder for the pictures, or a name with {} in it")
        })?;
        let pattern = Pattern::new(output)?;
        let sink = Sink::new(&pattern.0, false)?.compressed(self.compress.into());
        let found = input_args::programs(&[folder.to_owned()])?;
        if self.verbose {
            found.note_skipped();
        }
        let (mut sharding, mut names) = (Sharding::new(self.shard), HashSet::new());
        let bar = terminal::progress(found.files.len() as u64, "files");
        let (mut unreadable, mut worst) = (Status::Fine, Status::Fine);
        for file in &found.files {
            bar.inc(1);
            let below = file.strip_prefix(folder).unwrap_or(file).with_extension("");
            input_args::each(file, self.source.read, &mut unreadable, |index, job| {
                // Counts programs of other shards, so that names do not depend on the shard.
                let name = file_name(&below, index, &job.name, &mut names);
                if !sharding.takes_next() {
                    return;
                }
                let sink = sink.renamed(pattern.path(&name));
                let there = self.target != Target::All && sink.path().exists();
                if self.shard.is_some() && there {
                    return;
                }
                let drawn = self.one_of_many(job, &sink, &found.files).map_err(|failure| {
                    failure.context(format_args!("{}", file.display())).report();
                });
                if drawn.is_err() {
                    worst = Status::Failed;
                }
            })?;
        }
        bar.finish_and_clear();
        Ok(if unreadable == Status::Fine { worst } else { unreadable })
    }

    fn one_of_many(&self, job: Job, sink: &Sink, inputs: &[PathBuf]) -> Outcome<()> {
        let outputs = sink.paths(self.target == Target::All);
        if outputs.iter().any(|path| path.exists()) {
            overwrite::refuse(outputs.iter().map(PathBuf::as_path), inputs)?;
        }
        if let Some(folder) = sink.path().parent() {
            create_folder(folder)?;
        }
        let ready = self.ready(job, None, &PreviousPicture::default())?;
        let (name, size) = (ready.job.name.clone(), ready.size);
        let (summary, written, stopped) = if strips::pays(&ready) {
            let Streamed { summary, written, stopped } = self.stream(&ready, sink)?;
            (summary, written, stopped)
        } else {
            let mut drawn = self.draw(ready)?;
            let stopped = drawn.stopped.take();
            let mut written = Vec::new();
            if stopped.is_none() {
                let planes = self.planes(&drawn.frame)?;
                written = sink.write(&planes, &drawn.job.program.state)?;
            }
            (drawn.summary(), written, stopped)
        };
        stopped.map_or(Ok(()), |error| Err(engine_args::not_run(error)))?;
        self.report(&Report { name: &name, size, summary, written: &written, comparison: None })
    }
}

/// Name pattern of pictures: a path in which `{}` stands for the name of the program.
struct Pattern(PathBuf);

impl Pattern {
    /// Parses a pattern. A name without `{}` is a folder for PNG files.
    fn new(output: &Path) -> Outcome<Self> {
        if output.to_string_lossy().contains("{}") {
            return Ok(Self(output.to_owned()));
        }
        if Sink::new(output, true).is_ok() {
            return Err(Failure::usage(format!(
                "-o {}: a folder holds several programs; give a folder, or a name with {{}} in it, such as \
                 pictures/{{}}.png",
                output.display()
            )));
        }
        Ok(Self(output.join("{}.png")))
    }

    fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(self.0.to_string_lossy().replace("{}", name))
    }
}

/// Returns the name of a program's picture: its path below the folder, with the name in the file if that is another one, and with its
/// number if there is such a name already.
fn file_name(below: &Path, index: usize, name: &str, names: &mut HashSet<String>) -> String {
    let below_text = below.to_string_lossy().replace('\\', "/");
    let same = below.file_name().is_some_and(|stem| stem.to_string_lossy() == name);
    let mut full = match name {
        "" if index == 0 => below_text.clone(),
        "" => format!("{below_text}-{index}"),
        _ if same => below_text.clone(),
        _ => format!("{below_text}-{}", harmless(name)),
    };
    if names.contains(&full) {
        full = format!("{full}-{index}");
    }
    names.insert(full.clone());
    full
}

/// Returns a name from a file as a part of a file's name: no separators, nothing hidden.
fn harmless(name: &str) -> String {
    let letter = |c: char| if c.is_alphanumeric() || "._-+".contains(c) { c } else { '_' };
    name.chars().take(100).map(letter).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn pictures_have_names_of_their_own_below_the_folder() {
        let mut names = HashSet::new();
        let mut name =
            |below: &str, index, name: &str| file_name(Path::new(below), index, name, &mut names);
        assert_eq!(name("a/plasma", 0, "plasma"), "a/plasma");
        assert_eq!(name("a/log", 0, "fp0"), "a/log-fp0");
        assert_eq!(name("a/log", 1, "fp0"), "a/log-fp0-1");
        assert_eq!(name("a/x", 0, "../../etc/passwd"), "a/x-.._.._etc_passwd");
        assert_eq!(name("a/words", 0, ""), "a/words");
        assert_eq!(name("a/words", 1, ""), "a/words-1");
        let pattern = Pattern::new(Path::new("out")).unwrap();
        assert_eq!(pattern.path("a/b"), Path::new("out/a/b.png"));
        let pattern = Pattern::new(Path::new("out/{}.exr")).unwrap();
        assert_eq!(pattern.path("b"), Path::new("out/b.exr"));
        assert!(Pattern::new(Path::new("out.png")).is_err());
    }
}
