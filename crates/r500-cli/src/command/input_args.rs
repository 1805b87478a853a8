//! Common options for the input program, and reading of programs.

use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use r500::asm::{Assembly, DiagnosticCode, RenderOptions, Span};
use r500::files::{self as guard, MAX_TEXT};
use r500::formats::{self, Format, Limits, LogEntry, ReadErrorKind};
use r500::program::Job;
use r500::reader::{self, ReadError};
use r500_stream::counted;

use super::exit::{Failure, Outcome, Status};
use super::file_kind::{self, FileKind, holds_scene};
pub(super) use super::input_file::{
    bytes, cannot_read, capture_or_document, is_stdin, may_hold_programs, note_skipped,
    picture_bytes, show, source, text,
};
pub(super) use super::read_args::{PathArgs, ReadArgs};
use super::source_map::SourceMap;
use super::{compilation, overwrite, terminal};

/// Which program.
#[derive(Args, Clone, Debug)]
pub(super) struct SourceArgs {
    /// The program: assembly, a capture, case, C array, hex text, driver log or raw dwords; `-` is
    /// stdin
    // Optional for clap, because `--reading help` needs no program. `file` reports a missing one.
    #[arg(value_name = "PROGRAM")]
    program: Option<PathBuf>,
    #[command(flatten)]
    pub(super) read: ReadArgs,
    /// Which program of a file that holds several: its name, or its number from 0
    #[arg(long, value_name = "NAME|N")]
    pub(super) pick: Option<String>,
    /// List the programs of the file and stop
    #[arg(long)]
    pub(super) list: bool,
}

impl SourceArgs {
    /// Reads the program; `None` if the programs were only listed.
    pub(super) fn read(&self) -> Outcome<Option<Job>> {
        if self.list {
            self.print_list()?;
            return Ok(None);
        }
        one(self.file()?, self.read, self.pick.as_deref()).map(Some)
    }

    /// Reads all programs of the file, or the selected one; `None` if they were only listed.
    pub(super) fn read_all(&self) -> Outcome<Option<Vec<Job>>> {
        if self.list || self.pick.is_some() {
            return Ok(self.read()?.map(|job| vec![job]));
        }
        let file = self.file()?;
        let jobs: Result<Vec<Job>, ReadError> = open_sound(file, self.read)?.collect();
        let jobs = jobs.map_err(|error| unreadable(file, error))?;
        jobs.iter().for_each(|job| describe_dwords(file, job));
        if jobs.is_empty() { Err(no_program(file)) } else { Ok(Some(jobs)) }
    }

    /// Returns the program's file.
    pub(super) fn file(&self) -> Outcome<&Path> {
        let missing = || Failure::usage("the program is missing; name its file, or `-` for stdin");
        self.program.as_deref().ok_or_else(missing)
    }

    /// Returns the program's file and the files that it names: included sources and textures.
    pub(super) fn files(&self) -> Outcome<Vec<PathBuf>> {
        Ok(with_named(self.file()?, self.read))
    }

    /// Returns these files without standard input, which cannot be read again.
    pub(super) fn inputs(&self) -> Outcome<Vec<PathBuf>> {
        Ok(inputs([self.file()?], self.read))
    }

    /// Refuses outputs that would overwrite the program's file or a file that it names.
    pub(super) fn refuse_as_output<'a>(
        &self,
        outputs: impl IntoIterator<Item = &'a Path>,
    ) -> Outcome<()> {
        refuse_as_output(outputs, [self.file()?], self.read)
    }

    fn print_list(&self) -> Outcome<()> {
        let file = self.file()?;
        let mut out = terminal::out();
        let entries = compilation::entries(file, self.read.from);
        if let Some(entries) = entries.map_err(|error| unreadable(file, error))? {
            let mut number = 0;
            for entry in entries {
                match entry.map_err(|error| unreadable(file, error.into()))? {
                    LogEntry::Fragment(job) => {
                        let job = job.map_err(|error| unreadable(file, error.into()))?;
                        writeln!(out, "{number:>5}  {}", list_line(&job))?;
                        number += 1;
                    }
                    LogEntry::Vertex(program) => {
                        writeln!(out, "       {}", compilation::vertex_line(&program))?;
                    }
                }
            }
            return Ok(());
        }
        for (i, job) in open(file, self.read)?.enumerate() {
            let job = job.map_err(|error| unreadable(file, error))?;
            writeln!(out, "{i:>5}  {}", list_line(&job))?;
        }
        Ok(())
    }
}

/// Returns a line about a program for a list.
fn list_line(job: &Job) -> String {
    let name = if job.name.is_empty() { "(no name)" } else { &job.name };
    let size = job.size.map_or(String::new(), |[w, h]| format!(", {w}x{h}"));
    let process = job.compilation.as_ref().map_or("", |compilation| &compilation.process);
    let process = if process.is_empty() { String::new() } else { format!(", {process}") };
    let outcome = compilation::not_compiled(job).map_or(String::new(), |why| format!("; {why}"));
    let count = counted(job.program.code.len(), "instruction");
    format!("{name}  ({count}{size}{process}{outcome})")
}

/// Returns a program's file and the files that it names: included sources and textures.
fn with_named(file: &Path, read: ReadArgs) -> Vec<PathBuf> {
    let jobs = begin(file, read).ok();
    let assembly = jobs.as_ref().and_then(reader::Jobs::assembly);
    let named = assembly.into_iter().flat_map(reader::assembly::files);
    std::iter::once(file.to_owned()).chain(named).collect()
}

/// Refuses outputs that would overwrite one of the programs' files or a file that these name.
pub(super) fn refuse_as_output<'a, 'b>(
    outputs: impl IntoIterator<Item = &'a Path>,
    files: impl IntoIterator<Item = &'b Path>,
    read: ReadArgs,
) -> Outcome<()> {
    overwrite::refuse(outputs, &inputs(files, read))
}

/// Returns program files and the files that they name, without standard input, which cannot be read again.
pub(super) fn inputs<'b>(
    files: impl IntoIterator<Item = &'b Path>,
    read: ReadArgs,
) -> Vec<PathBuf> {
    let files = files.into_iter().filter(|file| !is_stdin(file));
    files.flat_map(|file| with_named(file, read)).collect()
}

/// Reads the program of a file, or the one that `pick` names or numbers.
pub(super) fn one(file: &Path, read: ReadArgs, pick: Option<&str>) -> Outcome<Job> {
    let mut jobs = open_sound(file, read)?;
    let Some(pick) = pick else {
        let first = jobs.next().transpose().map_err(|error| unreadable(file, error))?;
        let first = first.ok_or_else(|| no_program(file))?;
        if jobs.next().is_some() {
            return Err(several(file));
        }
        return usable(file, first);
    };
    let number = pick.parse::<usize>().ok();
    let mut names = Names::default();
    for (i, job) in jobs.enumerate() {
        let job = match job {
            Ok(job) => job,
            // Other programs of the file may be broken.
            Err(_) if number != Some(i) => continue,
            Err(error) => return Err(unreadable(file, error)),
        };
        if job.name == *pick || (number == Some(i)) {
            return usable(file, job);
        }
        names.add(&job.name);
    }
    if pick.starts_with("vp")
        && compilation::vertex_program(file, read.from, pick)
            .map_err(|error| unreadable(file, error))?
            .is_some()
    {
        let message = compilation::is_vertex_program(&show(file), pick);
        return Err(Failure::input(anyhow::anyhow!(message)));
    }
    let file = show(file);
    Err(Failure::input(anyhow::anyhow!("{file}: there is no program `{pick}`; it holds {names}")))
}

/// Returns a program, with warnings of what is odd about it.
///
/// # Errors
/// If the driver could not compile it and no program is left.
fn usable(file: &Path, job: Job) -> Outcome<Job> {
    if let Some(why) = compilation::not_compiled(&job) {
        let help = job.compilation.as_deref().and_then(compilation::remedy);
        let help = help.map_or(String::new(), |help| format!("; {help}"));
        let message = format!("{}: {}: {why}{help}", show(file), job.name);
        if job.program.code.is_empty() {
            return Err(Failure::input(anyhow::anyhow!(message)));
        }
        terminal::warn(&message);
    }
    describe_dwords(file, &job);
    Ok(job)
}

/// Notes the bytes of a file that are not part of its program, because they are not whole instructions.
pub(super) fn note_left_out(file: &Path, job: &Job) {
    let bytes =
        |count| format!("{} {}", counted(count, "byte"), if count == 1 { "is" } else { "are" });
    let name = show(file);
    let (before, after) = (job.left_out.before, job.left_out.after);
    if before > 0 {
        terminal::note(&format!(
            "{name}: the first {} left out: the first whole instruction is after them (--skip 0 reads from the beginning)",
            bytes(before)
        ));
    }
    if after > 0 {
        terminal::note(&format!(
            "{name}: the last {} left out: instruction {} is cut off",
            bytes(after),
            job.program.code.len()
        ));
    }
}

/// Prints what is odd about the dwords of a program: bytes that are left out, and a warning if most instructions use reserved encodings, which
/// suggests another kind of file.
fn describe_dwords(file: &Path, job: &Job) {
    note_left_out(file, job);
    if mostly_reserved(job) {
        terminal::warn(&format!(
            "{}: {} of {} instructions use reserved encodings: is this a fragment program?",
            show(file),
            reserved(job),
            job.program.code.len()
        ));
    }
}

fn mostly_reserved(job: &Job) -> bool {
    reserved(job) * 2 > job.program.code.len()
}

fn reserved(job: &Job) -> usize {
    job.program.code.iter().filter(|inst| inst.uses_reserved_encodings()).count()
}

/// Returns whether a file contains several programs. Standard input, which cannot be read twice, counts as one.
pub(super) fn holds_several(file: &Path, read: ReadArgs) -> bool {
    !is_stdin(file) && begin(file, read).is_ok_and(|jobs| jobs.take(2).count() == 2)
}

/// Returns the source map of a program that was read from a file.
pub(super) fn source_map(file: &Path, read: ReadArgs, job: &Job) -> SourceMap {
    if let Some(super::glsl::Lines { text, spans, compiled, .. }) = super::glsl::lines(file) {
        let first = job.program.state.base_address().into();
        let map = SourceMap::of_shader(&text, &spans, file, first);
        return map.with_names(job.uniforms.clone()).with_variables(compiled);
    }
    // Standard input cannot be read again.
    let jobs = if is_stdin(file) { None } else { begin(file, read).ok() };
    SourceMap::of(job, jobs.as_ref().and_then(reader::Jobs::assembly), file)
}

fn no_program(file: &Path) -> Failure {
    Failure::input(anyhow::anyhow!("{}: no program in it", show(file)))
}

/// Returns the failure for a file of several programs where one is needed.
pub(super) fn several(file: &Path) -> Failure {
    Failure::usage(format!(
        "{}: it holds several programs; choose one with --pick (r500 convert --list shows them)",
        show(file)
    ))
}

/// Returns an iterator over the jobs of a file. Warnings of the assembler are printed to stderr.
pub(super) fn open(file: &Path, read: ReadArgs) -> Outcome<reader::Jobs<'static>> {
    let jobs = begin(file, read)?;
    if let Some(assembly) = jobs.assembly()
        && assembly.is_ok()
    {
        diagnose(assembly);
    }
    Ok(jobs)
}

/// Returns an iterator over the jobs of a file; a source with errors is a failure.
fn open_sound(file: &Path, read: ReadArgs) -> Outcome<reader::Jobs<'static>> {
    let jobs = open(file, read)?;
    match jobs.assembly() {
        Some(assembly) if !assembly.is_ok() => Err(with_errors(assembly)),
        _ => Ok(jobs),
    }
}

/// Limit of reported errors and warnings of the assembler.
pub(super) const MAX_ERRORS: usize = 100;

/// Prints the diagnostics of the assembler to stderr.
fn diagnose(assembly: &Assembly) {
    diagnose_first(assembly, MAX_ERRORS);
}

/// Prints the first `most` diagnostics of the assembler to stderr.
pub(super) fn diagnose_first(assembly: &Assembly, most: usize) {
    if !assembly.diagnostics.is_empty() {
        terminal::plain(&diagnostics(assembly, most));
    }
}

/// Returns the failure for a source with errors, with its diagnostics.
pub(super) fn with_errors(assembly: &Assembly) -> Failure {
    let failure = Failure::diagnosed(diagnostics(assembly, MAX_ERRORS));
    let mut errors = assembly.errors();
    let Some(first) = errors.next() else { return failure };
    let (name, at) = (assembly.files.name(first.span), assembly.files.position(first.span));
    let help: String = first.help.iter().map(|help| format!("; {help}")).collect();
    let more = match errors.filter(|error| error.code != DiagnosticCode::TooManyErrors).count() {
        0 => String::new(),
        more => format!(" (the first of {} errors)", more + 1),
    };
    let message = &first.message;
    failure.with_first(format!("{name}:{}:{}: {message}{help}{more}", at.line, at.column))
}

fn diagnostics(assembly: &Assembly, most: usize) -> String {
    let color = terminal::colors(&std::io::stderr());
    assembly.render_first(RenderOptions { color }, most).trim_end().to_owned()
}

fn begin(file: &Path, read: ReadArgs) -> Outcome<reader::Jobs<'static>> {
    if read.from.is_none()
        && let Some(shader) = super::glsl::program(file, read.compiler)?
    {
        return match shader {
            super::glsl::Shader::Fragment(job) => Ok(reader::Jobs::of(*job)),
            super::glsl::Shader::Vertex(_) => Err(Failure::input(anyhow::anyhow!(
                "{}: this is a vertex shader, not {PROGRAM}",
                show(file)
            ))),
        };
    }
    let mut limits = Limits::default();
    if let Some(bytes) = read.texture_memory {
        limits.textures = bytes;
    }
    let files = read.paths.files(file);
    let jobs = if is_stdin(file) {
        let input = BufReader::new(std::io::stdin());
        reader::jobs_with_files(input, None, read.from, &limits, &files, read.dwords())
    } else if file.is_dir() {
        return Err(Failure::could_not(anyhow::anyhow!("{} is a folder", show(file))));
    } else {
        if let Some(kind) = register_writes(file).filter(|_| read.from.is_none()) {
            return Err(kind.failure(&show(file), PROGRAM));
        }
        reader::open_with_files(file, read.from, &limits, &files, read.dwords())
    };
    let jobs = jobs.map_err(|error| match error {
        ReadError::Unrecognised => unrecognised(file),
        error => unreadable(file, error),
    })?;
    if let (None, Some(assembly)) = (read.from, jobs.assembly())
        && !assembly.is_ok()
        && let Some(source) = assembly.files.list.first()
        && let Some(kind) = FileKind::of(&source.bytes)
            .filter(|kind| kind.is_stream_text() || kind.is_vertex_program() || kind.is_scene())
    {
        return Err(kind.failure(&show(file), PROGRAM));
    }
    Ok(jobs)
}

/// What the commands read.
const PROGRAM: &str = "a fragment program";

/// Returns the kind of a file whose name is that of C source, if it has register writes in place of an array.
fn register_writes(file: &Path) -> Option<FileKind> {
    let name = file.to_string_lossy();
    if Format::from_file_name(&name) != Some(Format::CArray) {
        return None;
    }
    let head = file_kind::head(file).ok()?;
    FileKind::of(&head).filter(|kind| kind.is_stream_text())
}

/// Returns the failure for a file whose format is unknown.
fn unrecognised(file: &Path) -> Failure {
    // Standard input cannot be read again.
    let content = if is_stdin(file) { None } else { guard::read(file, MAX_TEXT).ok() };
    match content.and_then(|bytes| FileKind::of(&bytes)) {
        Some(kind) => kind.failure(&show(file), PROGRAM),
        None => unreadable(file, ReadError::Unrecognised),
    }
}

/// Returns the given files, and the files with a wanted name in given folders, sorted by name; no scenes in folders.
pub(super) fn files(paths: &[PathBuf], wanted: impl Fn(&Path) -> bool) -> Outcome<Vec<PathBuf>> {
    files_and_scenes(paths, |file| wanted(file) && !holds_scene(file))
}

/// Returns the same as [`files`], with scenes.
pub(super) fn files_and_scenes(
    paths: &[PathBuf],
    wanted: impl Fn(&Path) -> bool,
) -> Outcome<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let walked = guard::walk(path, &wanted);
        files.extend(walked.map_err(|(path, error)| cannot_read(&path, error))?);
    }
    Ok(files)
}

/// Program files, and the number of other files in folders.
pub(super) struct Found {
    pub(super) files: Vec<PathBuf>,
    pub(super) skipped: usize,
}

impl Found {
    /// Prints the number of skipped files.
    pub(super) fn note_skipped(&self) {
        note_skipped(self.skipped, "without programs");
    }
}

/// Returns the given files, and the program files in given folders, recognised by name or content.
///
/// # Errors
/// If a folder cannot be read, or there is no program.
pub(super) fn programs(paths: &[PathBuf]) -> Outcome<Found> {
    programs_and(paths, |_| false)
}

/// Returns the same as [`programs`], and files in folders that are wanted, too.
///
/// # Errors
/// If a folder cannot be read, or there is no program.
pub(super) fn programs_and(paths: &[PathBuf], also: impl Fn(&Path) -> bool) -> Outcome<Found> {
    let mut found = Found { files: Vec::new(), skipped: 0 };
    for path in paths {
        if !path.is_dir() {
            found.files.push(path.clone());
            continue;
        }
        let walked = guard::walk(path, &|_| true);
        let mut all = walked.map_err(|(path, error)| cannot_read(&path, error))?;
        let count = all.len();
        all.retain(|file| also(file) || holds_programs(file) && !holds_scene(file));
        found.skipped += count - all.len();
        found.files.append(&mut all);
    }
    if found.files.is_empty() {
        return Err(no_program_in(paths));
    }
    Ok(found)
}

/// Returns the failure for folders without programs.
pub(super) fn no_program_in(paths: &[PathBuf]) -> Failure {
    let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    Failure::input(anyhow::anyhow!("no program in {}", paths.join(", ")))
}

/// Returns whether a file in a folder contains programs. Sources are recognised by name, so that their errors are
/// reported; `.vs.asm` is assembly of vertex programs. Other files count if the first program can be read, or is
/// invalid JSON of a program.
fn holds_programs(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    if name.ends_with(".r5") || name.ends_with(".asm") {
        return !name.ends_with(".vs.asm");
    }
    // GLSL in a folder is the source of what is next to it; `r500 compile` takes folders of it.
    let is_shader = r500_mesa::shader::stage_of_name(file).is_some() || name.ends_with(".glsl");
    if is_shader || !may_hold_programs(file) {
        return false;
    }
    let first = reader::open(file, None, &Limits::default()).map(|mut jobs| jobs.next());
    match first {
        Ok(Some(Ok(job))) => !mostly_reserved(&job),
        Ok(Some(Err(ReadError::Format { error }))) => {
            let json = [".json", ".jsonl", ".ndjson"].iter().any(|end| name.contains(end));
            json && !matches!(error.kind(), ReadErrorKind::NoProgram(_)) && mentions_program(file)
        }
        _ => false,
    }
}

/// Returns whether the beginning of a JSON text has the key of a program.
fn mentions_program(file: &Path) -> bool {
    let mut head = Vec::new();
    let file = guard::open(file, u64::MAX);
    let read = file.and_then(|file| file.take(1 << 16).read_to_end(&mut head));
    read.is_ok() && String::from_utf8_lossy(&head).contains("\"program\"")
}

/// Returns the failure for a file that cannot be read or parsed.
pub(super) fn unreadable(file: &Path, error: ReadError) -> Failure {
    if let ReadError::Io(error) = error {
        return cannot_read(file, error);
    }
    if let ReadError::Assembly { text, .. } = error {
        return Failure::diagnosed(text);
    }
    let blames_input = error.blames_input();
    let help = match &error {
        ReadError::TextureMemory { .. } => "; see --limit-memory".to_owned(),
        ReadError::Format { error } => help(error.kind(), file),
        _ => String::new(),
    };
    let error = anyhow::anyhow!("{}: {error}{help}", show(file));
    if blames_input { Failure::input(error) } else { Failure::could_not(error) }
}

/// Returns what the command can do with an input that is not a program.
fn help(error: &ReadErrorKind, path: &Path) -> String {
    let file = show(path);
    match error {
        ReadErrorKind::NotAProgram(formats::CAPTURE) => {
            format!("\n  `r500 stream {file} --list` shows its draws, `--draw N` makes one a job")
        }
        ReadErrorKind::NotAProgram(formats::VERTEX_PROGRAM) => {
            format!(" (--from)\n  `r500 disasm {file}` prints it, `r500 check {file}` checks it")
        }
        ReadErrorKind::NotAProgram(_) => " (--from)".to_owned(),
        ReadErrorKind::MostlyReserved { .. } => {
            format!(" (--from raw)\n  `r500 find {file}` searches it for programs")
        }
        ReadErrorKind::NoProgram(Format::MesaLog)
            if !is_stdin(path)
                && compilation::vertex_program(path, None, "vp0")
                    .is_ok_and(|found| found.is_some()) =>
        {
            format!(
                "\n  `r500 convert {file} --list` lists what it holds, `r500 disasm {file} --pick vp0` prints a vertex program"
            )
        }
        _ => String::new(),
    }
}

/// Calls a function for each program of a file with its index. Reports unreadable programs and continues.
pub(super) fn each(
    file: &Path,
    read: ReadArgs,
    status: &mut Status,
    mut take: impl FnMut(usize, Job),
) -> Outcome<()> {
    let jobs = match open(file, read) {
        Ok(jobs) => jobs,
        Err(failure) if failure.blames_input() => {
            failure.report();
            *status = Status::Failed;
            return Ok(());
        }
        Err(failure) => return Err(failure),
    };
    for (index, job) in jobs.enumerate() {
        match job {
            Ok(job) => {
                describe_dwords(file, &job);
                take(index, job);
            }
            Err(error) => {
                unreadable(file, error).report();
                *status = Status::Failed;
            }
        }
    }
    Ok(())
}

/// Returns the location of a source span as JSON: bytes from 0, lines and columns (in bytes) from 1.
pub(super) fn place_json(assembly: &Assembly, span: Span) -> serde_json::Value {
    let position = assembly.files.position(span);
    serde_json::json!({
        "file": assembly.files.name(span),
        "start": span.start, "end": span.end,
        "line": position.line, "column": position.column,
    })
}

/// The result of a command that only listed.
pub(super) const LISTED: Outcome = Ok(Status::Fine);

/// Displays some of the program names of a file.
#[derive(Default)]
struct Names {
    some: Vec<String>,
    count: usize,
}

impl Names {
    fn add(&mut self, name: &str) {
        self.count += 1;
        if self.some.len() < 8 {
            self.some.push(name.to_owned());
        }
    }
}

impl std::fmt::Display for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.some.iter().all(String::is_empty) {
            return write!(f, "{} without names", self.count);
        }
        write!(f, "{}", self.some.join(", "))?;
        match self.count - self.some.len() {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}
