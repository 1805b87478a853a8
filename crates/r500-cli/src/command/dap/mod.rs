//! `r500 dap`: a debug adapter for editors, over stdin and stdout.
//!
//! | module | content |
//! | --- | --- |
//! | [`server`] | the protocol: requests, responses, events |
//! | [`launch`] | launch requests: the program is read and recorded |
//! | [`target`], [`debuggee`] | the program and the debugger's session; the same for any kind of machine |
//! | [`breakpoints`] | requests that set breakpoints |
//! | [`frames`], [`disassembly`] | stack frames, instructions with their dwords |
//! | [`variables`], [`references`] | registers and state as variables, which expand |
//! | [`pixel`], [`vertex`] | the scopes of a pixel, of a vertex |
//! | [`console`] | the debugger's commands |
//!
//! As in the language server, protocol types are written as JSON where they are used: no maintained crate of such types
//! covers reverse execution.

mod breakpoints;
mod console;
mod debuggee;
mod disassembly;
mod frames;
mod launch;
mod pixel;
mod references;
mod server;
mod target;
mod variables;
mod vertex;

use std::io::{self, Read, Write};

use clap::Args;

use super::exit::{Outcome, Status};
use super::wire;

/// Serve an editor: the Debug Adapter Protocol on stdin and stdout.
///
/// Editors start this themselves; the guide's page "Editors" says how for Visual Studio Code and Neovim. A pixel of the picture, or a
/// vertex, is recorded and can be stepped through in both directions, with breakpoints on lines, labels, instructions and changes of values
/// (conditions, hit counts, messages), watches, registers, constants, the pixels that share its program counter, a disassembly, and the
/// commands of `r500 debug` in the debug console. The launch request takes: program (a file of any format), pixel ([x, y], y = 0 the
/// bottom row; default: the middle), size ([width, height]), pick, time, stopOnEntry (default: true), limitInstructions; of a vertex
/// program vertex (a row of inputs, from 0), inputs (as `r500 run` takes --input) and constants; of a scene vertex, pick and time.
#[derive(Args, Debug)]
#[command(after_help = AFTER)]
pub(super) struct Dap {}

const AFTER: &str = "\
Exit status: 0 after the request `disconnect`, 1 when the connection ended otherwise, 2 wrong usage.

Examples:
  r500 dap                                      what an editor starts
  r500 debug plasma.r5 --pixel 20,30            the same without an editor";

impl Dap {
    /// Serves until the editor is done.
    pub(super) fn run(&self) -> Outcome {
        let done = serve_dap(io::stdin(), &mut io::stdout().lock())?;
        Ok(if done { Status::Fine } else { Status::Failed })
    }
}

/// Serves a client as `r500 dap` does. Returns whether it ended the session.
#[doc(hidden)]
pub fn serve_dap(input: impl Read + Send + 'static, out: &mut impl Write) -> io::Result<bool> {
    server::serve(&wire::Messages::new(input, wire::request_key::in_dap), out)
}
