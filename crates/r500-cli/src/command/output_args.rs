//! The output options of commands that write programs.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use r500::asm::PrintOptions;
use r500::program::Job;
use r500::reader::Language;
use r500::writer::{self, WriteError, Written};

use super::exit::{Failure, Outcome};
use super::output_file::put_group;
use super::{input_args, overwrite, terminal};

/// The output of a program.
#[derive(Args, Clone, Debug)]
pub(super) struct OutputArgs {
    /// Where the program goes (default: stdout, as text)
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Its format (default: by the extension of the output): raw, c-array, hex, json, json-lines,
    /// assembly
    #[arg(long, value_name = "FORMAT")]
    pub(super) to: Option<Language>,
}

impl OutputArgs {
    /// Returns the format to write; `default` without an option or a known extension.
    pub(super) fn language(&self, default: Language) -> Outcome<Language> {
        if let Some(language) = self.to {
            return Ok(language);
        }
        match self.file() {
            None => Ok(default),
            Some(file) => self.by_extension().ok_or_else(|| {
                Failure::usage(format!(
                    "{}: the extension stands for no format; take .bin, .inc, .hex, .json or .r5, \
                     or name the format with --to",
                    file.display()
                ))
            }),
        }
    }

    /// Returns the format that the output's extension stands for.
    pub(super) fn by_extension(&self) -> Option<Language> {
        self.file().and_then(writer::language_of)
    }

    /// Returns how assembly is printed for this output: texture files are named after it.
    pub(super) fn print_options(&self) -> PrintOptions {
        let stem = self.file().and_then(Path::file_stem);
        let prefix = stem.map(|stem| stem.to_string_lossy().into_owned());
        // On stdout there is no next to: texels are part of the text.
        let embed = if prefix.is_some() { PrintOptions::default().embed } else { usize::MAX };
        PrintOptions { file_prefix: prefix.unwrap_or_default(), embed, ..PrintOptions::default() }
    }

    /// Writes jobs, and the files that they refer to next to them, none of them over an input.
    pub(super) fn write(
        &self,
        jobs: &[Job],
        language: Language,
        options: &PrintOptions,
        inputs: &[PathBuf],
    ) -> Outcome<()> {
        let Written { bytes, files, lost, lost_live } =
            writer::write_all(jobs, language, options).map_err(not_written)?;
        if lost {
            terminal::warn(&format!(
                "{} holds instructions only; constants, inputs and the like are left out \
                 (json and assembly hold everything)",
                language.name()
            ));
        }
        if lost_live {
            terminal::warn(&format!(
                "{} holds no textures that change from picture to picture: they are 0 in it (assembly holds them)",
                language.name()
            ));
        }
        let Some(path) = self.file() else {
            if writer::is_text(language) {
                return Ok(terminal::out().write_all(&bytes)?);
            }
            let mut out = std::io::stdout().lock();
            if out.is_terminal() {
                return Err(Failure::usage("raw dwords are not for a terminal; give -o FILE"));
            }
            return Ok(out.write_all(&bytes)?);
        };
        let textures: Vec<PathBuf> =
            files.iter().map(|file| path.with_file_name(&file.name)).collect();
        let outputs = std::iter::once(path).chain(textures.iter().map(PathBuf::as_path));
        overwrite::refuse(outputs, inputs)?;
        // The file that names the textures gets its name last.
        let textures = textures.iter().map(PathBuf::as_path).zip(files.iter().map(|f| &*f.bytes));
        let group = textures.chain([(path, &*bytes)]);
        put_group(group)
    }

    /// Returns the output, if it is a file.
    pub(super) fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| !input_args::is_stdin(path))
    }
}

/// Returns the failure of jobs that cannot be written in a format.
pub(super) fn not_written(error: WriteError) -> Failure {
    Failure::usage(match error {
        WriteError::Glsl => {
            format!("{error}; a shader of another GPU is (r500 convert --to glsl)")
        }
        error => error.to_string(),
    })
}
