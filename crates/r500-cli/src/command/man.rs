//! `r500 completions` and `r500 man`: shell completions and manual pages, generated from the option definitions.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use clap_complete::Shell;

use super::command_line;
use super::exit::{Outcome, Status};
use super::output_file::{create_folder, put};

/// Print completions for a shell.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  r500 completions bash > ~/.local/share/bash-completion/completions/r500
  r500 completions fish > ~/.config/fish/completions/r500.fish")]
pub(super) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Write the manual: r500(1) to stdout, or all pages into a folder.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  r500 man | man -l -
  r500 man --folder ~/.local/share/man/man1      r500.1, r500-render.1 and so on")]
pub(super) struct Man {
    /// Write a page for each subcommand into this folder
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

impl Completions {
    /// Prints them.
    pub(super) fn run(self) -> Outcome {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command_line(), "r500", &mut script);
        std::io::stdout().lock().write_all(&script)?;
        Ok(Status::Fine)
    }
}

impl Man {
    /// Writes the pages.
    pub(super) fn run(self) -> Outcome {
        match self.folder {
            None => {
                let mut page = Vec::new();
                clap_mangen::Man::new(command_line()).render(&mut page)?;
                std::io::stdout().lock().write_all(&page)?;
            }
            Some(folder) => {
                create_folder(&folder)?;
                let mut command = command_line().disable_help_subcommand(true);
                command.build();
                write_pages(&command, &folder)?;
            }
        }
        Ok(Status::Fine)
    }
}

/// Writes the pages of a command and its subcommands.
fn write_pages(command: &clap::Command, folder: &Path) -> Outcome<()> {
    for command in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        write_pages(command, folder)?;
    }
    let page = clap_mangen::Man::new(command.clone());
    let mut text = Vec::new();
    page.render(&mut text)?;
    put(&folder.join(page.get_filename()), &text)
}
