//! `r500 check --fix`: applies the safe fixes, or shows them.

use std::io::Write;
use std::path::{Path, PathBuf};

use r500::asm::{Assembly, Diagnostic, RenderOptions};
use r500::check::{Lint, Severity};
use r500::files::NamedFiles;
use r500::lint::{self, Allows, Unfixed};
use r500::program::{Job, LeftOut};
use r500::reader::{self, Language, assembly};
use serde_json::{Value as Json, json};

use super::policy::Policy;
use super::{Check, Checked, Format, Level, Program, Tally, json, text};
use crate::command::exit::{Failure, Outcome};
use crate::command::output_args::OutputArgs;
use crate::command::output_file::put;
use crate::command::text_diff::difference;
use crate::command::{input_args, terminal};

/// The result of fixing a file.
struct FixedFile {
    /// Corrected errors of the assembler.
    corrected: Vec<Diagnostic>,
    findings: Vec<Lint>,
    left: Vec<Unfixed>,
    /// The text diff.
    difference: String,
    content: Content,
    /// Lints that remain in the fixed programs.
    after: Checked,
}

/// The fixed programs.
enum Content {
    Text(Vec<u8>),
    Jobs(Vec<Job>, Language),
}

/// Fixes files.
pub(super) fn run(check: &Check, policy: &Policy, files: &[PathBuf]) -> Outcome {
    if check.format == Format::Sarif {
        return Err(Failure::usage(
            "--fix answers as text or JSON; SARIF holds the fixes without it",
        ));
    }
    if check.output.is_some() && files.len() != 1 {
        return Err(Failure::usage(format!(
            "-o takes one program, and there are {} files",
            files.len()
        )));
    }
    if check.in_place && files.iter().any(|file| input_args::is_stdin(file)) {
        return Err(Failure::usage("stdin cannot be overwritten; -o - writes to stdout"));
    }
    if let Some(output) = check.output.as_deref() {
        input_args::refuse_as_output([output], files.iter().map(PathBuf::as_path), check.read)?;
    }
    let mut tally = Tally::default();
    let mut answers: Vec<Json> = Vec::new();
    let mut resolved = 0;
    for file in files {
        let fixed = match fix(check, policy, file) {
            Ok(fixed) => fixed,
            Err(failure) => {
                failure.report();
                tally.files += 1;
                tally.failed += 1;
                tally.could_not |= !failure.blames_input();
                continue;
            }
        };
        resolved += fixed.corrected.len() + fixed.findings.len();
        tally.count(&fixed.after, policy);
        let written = fixed.write(check, file)?;
        if check.format == Format::Json {
            answers.push(fixed.answer(written));
        } else {
            fixed.report(check, policy)?;
        }
    }
    if check.format == Format::Json {
        let answer = json!({ "version": 1, "files": answers });
        writeln!(terminal::out(), "{answer:#}")?;
    } else {
        let what = if check.in_place || check.output.is_some() { "fixed" } else { "to fix" };
        terminal::plain(&format!("{resolved} {what}; then {tally}"));
    }
    Ok(tally.status())
}

fn fix(check: &Check, policy: &Policy, file: &Path) -> Outcome<FixedFile> {
    let jobs = input_args::open(file, check.read)?;
    match jobs.assembly() {
        Some(assembly) => {
            let assembly = assembly.clone();
            match fix_source(policy, file, &check.read.paths.files(file), &assembly) {
                Some(fixed) => Ok(fixed),
                None => {
                    let jobs: Result<Vec<Job>, _> = jobs.collect();
                    jobs.map_err(|error| input_args::unreadable(file, error))?;
                    Err(Failure::input(anyhow::anyhow!(
                        "{}: it has errors",
                        input_args::show(file)
                    )))
                }
            }
        }
        _ if input_args::is_stdin(file) => {
            Err(Failure::usage("of stdin only assembly is fixed; give the file's name"))
        }
        _ => {
            drop(jobs);
            fix_jobs(check, policy, file)
        }
    }
}

/// Corrects errors and fixes findings; `None` if there are errors without a correction.
fn fix_source(
    policy: &Policy,
    file: &Path,
    files: &NamedFiles,
    before: &Assembly,
) -> Option<FixedFile> {
    let main = before.files.list.first();
    let (source, name) = main.map_or((&[][..], ""), |main| (&*main.bytes, &*main.name));
    let again = |text: &[u8]| assembly::assemble_with_files(text, name, files);
    let corrected = lint::correct(source, again);
    let fixed = lint::fix(&corrected.text, again, |assembly, finding| {
        let allows = Allows::of(assembly);
        let allowed = allows.covering(finding.code, &finding.location, assembly).is_some();
        matches!(policy.level(finding, allowed), Level::Reported(_))
    });
    if !fixed.assembly.is_ok() {
        return None;
    }
    let mut after = Checked::empty(file);
    after.source(Box::new(fixed.assembly), policy);
    Some(FixedFile {
        corrected: corrected.errors,
        difference: difference(source, &fixed.text, &input_args::show(file), "fixed"),
        findings: fixed.resolved,
        left: fixed.left,
        content: Content::Text(fixed.text),
        after,
    })
}

fn fix_jobs(check: &Check, policy: &Policy, file: &Path) -> Outcome<FixedFile> {
    let bytes = input_args::bytes(file)?;
    let name = file.to_string_lossy();
    let unreadable = |error| input_args::unreadable(file, error);
    let language = check.read.from.or_else(|| reader::recognise(&bytes, Some(&name)));
    let language = language.ok_or_else(|| unreadable(reader::ReadError::Unrecognised))?;
    let jobs: Result<Vec<Job>, _> = input_args::open(file, check.read)?.collect();
    let mut jobs = jobs.map_err(unreadable)?;
    jobs.iter().for_each(|job| input_args::note_left_out(file, job));
    let is_part = check.read.dwords().need_dwords()
        || jobs.iter().any(|job| job.left_out != LeftOut::default());
    if check.in_place && is_part {
        return Err(Failure::could_not(anyhow::anyhow!(
            "{name}: a file whose program is a part of it is not written over; give -o FILE"
        )));
    }
    if check.in_place && bytes.starts_with(&[0x1f, 0x8b]) {
        return Err(Failure::could_not(anyhow::anyhow!(
            "{name}: a compressed file is not written over; give -o FILE"
        )));
    }
    let mut after = Checked::empty(file);
    let (mut findings, mut difference) = (Vec::new(), String::new());
    for (index, job) in jobs.iter_mut().enumerate() {
        let resolved = lint::fix_program(job, |finding| {
            matches!(policy.level(finding, false), Level::Reported(_))
        });
        for fix in resolved.iter().filter_map(|finding| finding.fix.as_ref()) {
            let of = if job.name.is_empty() { index.to_string() } else { job.name.clone() };
            difference.push_str(&format!("{name} ({of}): {}\n", fix.text));
        }
        findings.extend(resolved);
        after.programs.push(Program::check(job.clone(), index, policy));
    }
    let content = Content::Jobs(jobs, language);
    let corrected = Vec::new();
    Ok(FixedFile { corrected, findings, left: Vec::new(), difference, content, after })
}

impl FixedFile {
    /// Writes the result. Returns the file.
    fn write(&self, check: &Check, file: &Path) -> Outcome<Option<PathBuf>> {
        let output = match (&check.output, check.in_place) {
            (Some(output), _) => output.clone(),
            (None, true) if !self.corrected.is_empty() || !self.findings.is_empty() => {
                file.to_owned()
            }
            _ => return Ok(None),
        };
        match &self.content {
            Content::Text(text) if input_args::is_stdin(&output) => {
                terminal::data_out().write_all(text)?;
            }
            Content::Text(text) => put(&output, text)?,
            Content::Jobs(jobs, language) => {
                let output = OutputArgs { output: Some(output.clone()), to: None };
                let language =
                    if check.in_place { None } else { output.by_extension() }.unwrap_or(*language);
                // In place, the program's file is an output as well as an input.
                let inputs = match check.in_place {
                    true => Vec::new(),
                    false => input_args::inputs([file], check.read),
                };
                output.write(jobs, language, &output.print_options(), &inputs)?;
            }
        }
        Ok(Some(output))
    }

    /// Prints the changes to stdout, and the remaining findings to stderr.
    fn report(&self, check: &Check, policy: &Policy) -> Outcome<()> {
        if check.output.is_none() && !check.in_place {
            terminal::out().write_all(self.difference.as_bytes())?;
        }
        let stderr = std::io::stderr();
        let options = RenderOptions { color: terminal::colors(&stderr) };
        text::findings(&mut terminal::err(), &self.after, policy, options)?;
        for left in &self.left {
            terminal::note(&format!("not fixed:  {}: {}", left.finding, left.reason));
        }
        Ok(())
    }

    fn answer(&self, written: Option<PathBuf>) -> Json {
        let assembly = self.after.assembly.as_deref();
        let one = |finding: &Lint| {
            json::finding(
                finding,
                Level::Reported(Severity::Note.max(finding.severity())),
                assembly,
            )
        };
        let corrected = self.corrected.iter().map(|error| {
            json!({ "code": error.code.name(), "message": error.message, "text": error.fix })
        });
        let left = self
            .left
            .iter()
            .map(|left| json!({ "finding": one(&left.finding), "reason": left.reason }));
        let after: Vec<Json> = self
            .after
            .programs
            .iter()
            .flat_map(Program::all)
            .map(|(finding, level)| json::finding(finding, level, assembly))
            .collect();
        json!({
            "file": text::name(&self.after),
            "corrected": corrected.collect::<Vec<Json>>(),
            "fixed": self.findings.iter().map(one).collect::<Vec<Json>>(),
            "not_fixed": left.collect::<Vec<Json>>(),
            "difference": self.difference,
            "written": written.map(|path| path.display().to_string()),
            "findings": after,
        })
    }
}
