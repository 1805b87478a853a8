//! Mesa's compiler, run on the virtual card.
//!
//! | module | content |
//! | --- | --- |
//! | this one | which Mesa, and for which chip |
//! | [`sources`] | pairs of shaders in files and folders |
//! | [`driver`] | the client's process on the virtual card, with the system's Mesa or another |
//! | [`verdict`] | whether a pair fits, and why it does not |
//! | [`messages`] | messages of the compiler with their lines |

#[cfg(target_os = "linux")]
mod driver;
#[cfg(target_os = "linux")]
mod messages;
#[cfg(target_os = "linux")]
pub(super) mod sources;
#[cfg(target_os = "linux")]
mod verdict;

#[cfg(target_os = "linux")]
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use r500_stream::Chip;

#[cfg(target_os = "linux")]
use super::card_process::library;
#[cfg(target_os = "linux")]
use super::exit::Outcome;
use super::syntax;

#[cfg(target_os = "linux")]
use driver::Driver;
#[cfg(target_os = "linux")]
pub(super) use messages::{diagnose, span};
#[cfg(target_os = "linux")]
pub(super) use verdict::{Verdict, place};

/// Which compiler.
#[derive(Args, Clone, Debug)]
pub(super) struct CompilerArgs {
    /// The compiler
    #[arg(long = "with", value_enum, value_name = "COMPILER", default_value_t = Compiler::Mesa)]
    compiler: Compiler,
    /// Another Mesa than the system's: the folder that it was installed or unpacked into; may be repeated, for a table of versions
    #[arg(long, value_name = "FOLDER", env = "R500_MESA_PATH", value_delimiter = ':')]
    mesa_path: Vec<PathBuf>,
    /// The chip
    #[arg(long, value_name = "CHIP", default_value = Chip::default().name(), value_parser = syntax::chip())]
    chip: Chip,
    /// Seconds that the compiler may take for a pair; 0 for any time
    #[arg(long, value_name = "SECONDS", value_parser = syntax::seconds, default_value = "60")]
    limit_compiler: Duration,
    /// The library of the virtual card (default: next to this command)
    #[arg(long, value_name = "FILE", env = "R500_CARD_LIBRARY")]
    library: Option<PathBuf>,
}

/// A compiler of GLSL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Compiler {
    /// Mesa's r300 driver, on the virtual card
    Mesa,
}

#[cfg(target_os = "linux")]
impl CompilerArgs {
    /// Returns the compiler that commands for programs take for GLSL: the variables of the environment choose it.
    pub(in crate::command) fn usual() -> Self {
        let path = std::env::var_os("R500_MESA_PATH").filter(|path| !path.is_empty());
        let paths = path.iter().flat_map(std::env::split_paths);
        Self {
            compiler: Compiler::Mesa,
            mesa_path: paths.take(1).collect(),
            chip: Chip::default(),
            limit_compiler: Duration::from_secs(60),
            library: std::env::var_os("R500_CARD_LIBRARY").map(PathBuf::from),
        }
    }

    /// Returns the compilers: one for each folder, or the system's.
    pub(in crate::command) fn drivers(&self) -> Outcome<Vec<Driver>> {
        let Compiler::Mesa = self.compiler;
        let library = library(self.library.as_deref())?;
        let new = |folder: Option<&Path>| {
            Driver::new(folder, library.clone(), self.chip, self.limit_compiler)
        };
        if self.mesa_path.is_empty() {
            return Ok(vec![new(None)?]);
        }
        self.mesa_path.iter().map(|folder| new(Some(folder))).collect()
    }
}
