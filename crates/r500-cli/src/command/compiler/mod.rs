//! Compilers of GLSL: our own, and Mesa's, run on the virtual card.
//!
//! | module | content |
//! | --- | --- |
//! | this one | which compiler, and for which chip |
//! | [`sources`] | pairs of shaders in files and folders |
//! | [`own`] | our own compiler |
//! | [`mesa`] | the client's process on the virtual card, with the system's Mesa or another |
//! | [`verdict`] | whether a pair fits, and why it does not |
//! | [`messages`] | messages of the compiler with their lines |

#[cfg(target_os = "linux")]
mod mesa;
mod messages;
mod own;
pub(super) mod sources;
#[cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "Mesa's compiler, which runs on Linux, fills all of it")
)]
mod verdict;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use r500_mesa::ShaderPair;
use r500_stream::Chip;

use super::exit::{Failure, Outcome};
use super::{syntax, terminal};

pub(super) use messages::{diagnose, first_error, span};
pub(super) use verdict::{Verdict, place};

/// Which compiler.
#[derive(Args, Clone, Debug)]
pub(super) struct CompilerArgs {
    /// The compiler; may be repeated, for a table (default: mesa where Mesa's driver is, else r500)
    #[arg(
        long = "with",
        value_enum,
        value_name = "COMPILER",
        env = "R500_COMPILER",
        value_delimiter = ','
    )]
    compilers: Vec<Compiler>,
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
pub(super) enum Compiler {
    /// Mesa's r300 driver, on the virtual card
    Mesa,
    /// Our own, which needs nothing
    R500,
}

/// A compiler that is ready.
#[derive(Clone, Debug)]
pub(super) enum ChosenCompiler {
    /// Mesa's.
    #[cfg(target_os = "linux")]
    Mesa {
        /// How it is run.
        driver: Box<mesa::Driver>,
        /// Whether the user chose it; else our own compiler takes what it is not given.
        named: bool,
    },
    /// Our own.
    Own,
}

impl ChosenCompiler {
    /// Compiles a pair.
    ///
    /// # Errors
    /// If the compiler is not there, crashes or takes too long; that a shader does not compile is a verdict.
    pub(super) fn compile(&self, pair: &ShaderPair) -> Outcome<Verdict> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Mesa { named: false, .. } if pair.has_assembly() => Ok(own::compile(pair)),
            #[cfg(target_os = "linux")]
            Self::Mesa { .. } if pair.has_assembly() => Err(Failure::usage(format!(
                "{} is a program of ARB_vertex_program or ARB_fragment_program, and Mesa's compiler is given GLSL only; --with r500 compiles it",
                pair.name
            ))),
            #[cfg(target_os = "linux")]
            Self::Mesa { driver, .. } => driver.compile(pair),
            Self::Own => Ok(own::compile(pair)),
        }
    }
}

impl CompilerArgs {
    /// Returns the compiler that commands for programs take for GLSL: `--with` or the variables of the environment choose it.
    ///
    /// # Errors
    /// If `R500_COMPILER` names none, where it is asked.
    pub(super) fn usual(named: Option<Compiler>) -> Outcome<Self> {
        let path = std::env::var_os("R500_MESA_PATH").filter(|path| !path.is_empty());
        let paths = path.iter().flat_map(std::env::split_paths);
        let compiler = match named {
            Some(named) => Some(named),
            None => of_environment()?,
        };
        Ok(Self {
            compilers: compiler.into_iter().collect(),
            mesa_path: paths.take(1).collect(),
            chip: Chip::default(),
            limit_compiler: Duration::from_secs(60),
            library: std::env::var_os("R500_CARD_LIBRARY").map(PathBuf::from),
        })
    }

    /// Returns the compilers: those that are named, with Mesa once for each folder. If none is named, Mesa's where its driver is.
    pub(super) fn chosen(&self) -> Outcome<Vec<ChosenCompiler>> {
        let mut all = Vec::new();
        let named = match self.compilers.as_slice() {
            [] => vec![self.default_compiler()],
            named => named.to_vec(),
        };
        for compiler in named {
            match compiler {
                Compiler::R500 => all.push(ChosenCompiler::Own),
                Compiler::Mesa => self.mesa(&mut all)?,
            }
        }
        Ok(all)
    }

    #[cfg(target_os = "linux")]
    fn default_compiler(&self) -> Compiler {
        use super::card_process::{has_r300_driver, library};

        // Who names a Mesa wants its compiler, and that the library is missing is an error then; as it is if it is named.
        if !self.mesa_path.is_empty() {
            return Compiler::Mesa;
        }
        let missing = if !has_r300_driver() {
            "Mesa's driver is not here"
        } else if self.library.is_none() && library(None).is_err() {
            "libr500_card.so, with which Mesa's compiler runs, is not next to this command"
        } else {
            return Compiler::Mesa;
        };
        own_is_taken(missing);
        Compiler::R500
    }

    #[cfg(not(target_os = "linux"))]
    fn default_compiler(&self) -> Compiler {
        let _ = (&self.mesa_path, self.chip, self.limit_compiler, &self.library);
        own_is_taken("Mesa's driver runs on Linux");
        Compiler::R500
    }

    #[cfg(target_os = "linux")]
    fn mesa(&self, all: &mut Vec<ChosenCompiler>) -> Outcome<()> {
        let library = super::card_process::library(self.library.as_deref())?;
        let mut add = |folder: Option<&std::path::Path>| -> Outcome<()> {
            let driver =
                mesa::Driver::new(folder, library.clone(), self.chip, self.limit_compiler)?;
            let named = !self.compilers.is_empty();
            all.push(ChosenCompiler::Mesa { driver: Box::new(driver), named });
            Ok(())
        };
        if self.mesa_path.is_empty() {
            return add(None);
        }
        self.mesa_path.iter().try_for_each(|folder| add(Some(folder)))
    }

    #[cfg(not(target_os = "linux"))]
    fn mesa(&self, _: &mut Vec<ChosenCompiler>) -> Outcome<()> {
        Err(Failure::could_not(anyhow::anyhow!(
            "Mesa's compiler runs on the virtual card, which is a Linux device; --with r500 needs nothing"
        )))
    }
}

/// Says that our own compiler is taken, and why.
fn own_is_taken(why: &str) {
    terminal::note(&format!("{why}: our own compiler is taken (--with r500)"));
}

/// Returns the first compiler that `R500_COMPILER` names.
fn of_environment() -> Outcome<Option<Compiler>> {
    let named = std::env::var("R500_COMPILER").unwrap_or_default();
    let Some(name) = named.split(',').next().filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    let compiler = Compiler::from_str(name, true);
    let wrong = |_| Failure::usage(format!("R500_COMPILER is {name}: there are mesa and r500"));
    compiler.map(Some).map_err(wrong)
}
