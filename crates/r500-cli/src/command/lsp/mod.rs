//! `r500 lsp`: a language server for editors, over stdin and stdout.
//!
//! | module | content |
//! | --- | --- |
//! | [`server`] | the protocol: messages and states |
//! | [`documents`] | open documents, their changes, included files |
//! | [`shader`] | GLSL documents |
//! | [`answer`] | conversion of [`service`](r500::service) results to JSON of the protocol |
//!
//! Protocol types are written as JSON where they are used, because few are needed. An invalid message is answered with
//! an error, and the server continues.

mod answer;
mod documents;
mod server;
mod shader;

use std::io::{self, Read, Write};

use clap::Args;

use super::exit::{Outcome, Status};
use super::input_args::PathArgs;
use super::wire;

/// Serve an editor: the Language Server Protocol on stdin and stdout.
///
/// Editors start this themselves; the guide's page "Editors" says how for Visual Studio Code, Neovim and
/// Helix. Served are problems with their fixes (of assembler and checker), hover, completion, signatures, definitions
/// and references of labels, names and included files, renaming, symbols, highlights, colours of words,
/// folds, links, formatting, and hints that show each instruction's address and dwords. GLSL (fragment shaders) has errors with their
/// fixes, and the instructions that each line costs.
/// initializationOptions choose the hints, and say where the guide is, so that codes link to their pages:
/// {"hints": {"addresses": true, "words": false}, "guide": "file:///home/me/r500/book"}.
#[derive(Args, Debug)]
#[command(after_help = AFTER)]
pub(super) struct Lsp {
    /// Accepted because some editors add it; there is no other way
    #[arg(long)]
    stdio: bool,
    #[command(flatten)]
    paths: PathArgs,
}

const AFTER: &str = "\
Exit status: 0 after the requests `shutdown` and `exit`, 1 when the connection ended otherwise, 2 wrong
usage.";

impl Lsp {
    /// Serves until the client exits.
    pub(super) fn run(self) -> Outcome {
        let mut out = io::stdout().lock();
        let done = serve(io::stdin(), &mut out, self.paths)?;
        Ok(if done { Status::Fine } else { Status::Failed })
    }
}

/// Serves a client over an input and an output. Returns whether it ended the session.
fn serve(
    input: impl Read + Send + 'static,
    out: &mut impl Write,
    paths: PathArgs,
) -> io::Result<bool> {
    server::serve(&wire::Messages::new(input, wire::request_key::in_lsp), out, paths)
}

/// Serves a client as `r500 lsp` does without options.
#[doc(hidden)]
pub fn serve_lsp(input: impl Read + Send + 'static, out: &mut impl Write) -> io::Result<bool> {
    serve(input, out, PathArgs::default())
}
