//! The command line: one file a subcommand, each with its options and its `run`.
//!
//! | module | content |
//! | --- | --- |
//! | [`render`], [`run`], [`trace`], [`debug`], [`test`], [`bench`], [`asm`], [`disasm`], [`convert`], [`check`], [`fmt`](mod@fmt), [`lsp`], [`dap`], [`stats`], [`cfg`](mod@cfg), [`diff`], [`opt`], [`explain`], [`find`], [`compile`], [`card`], [`replay`], [`stream`], [`man`] | the subcommands |
//! | [`format`](mod@format), [`binding_args`], [`input_args`], [`input_file`], [`output_args`], [`engine_args`], [`capture_args`] | options shared by commands |
//! | [`vertex`], [`scene`], [`glsl`] | vertex programs, scenes and GLSL, in the commands that take them |
//! | [`compiler`] | compilers of GLSL: our own, and Mesa's on the virtual card |
//! | [`compilation`], [`program_match`] | what drivers' logs say of programs, matching of the programs of two files or folders |
//! | [`syntax`], [`plane_expr`], [`rows`], [`float_format`] | the syntax of option values and of files with rows of values |
//! | [`source_map`], [`excerpt`], [`text_diff`], [`markdown`], [`report`], [`wire`] | source lines, messages with a line of a text, text diffs, Markdown, reports for build servers, protocol messages |
//! | [`exit`], [`interrupt`], [`card_process`], [`captured_program`], [`scratch`], [`terminal`], [`safe_text`], [`output_file`], [`overwrite`] | exit statuses, signals, processes on the card, the end of one that is captured, their files, messages, colours, progress; escaping of output; complete outputs, protection of inputs |

mod asm;
mod bench;
mod binding_args;
mod capture_args;
#[cfg(target_os = "linux")]
mod captured_program;
mod card;
#[cfg(target_os = "linux")]
mod card_process;
#[cfg(all(feature = "window", target_os = "linux"))]
mod card_window;
mod cfg;
mod check;
mod compilation;
mod compile;
mod compiler;
mod convert;
mod dap;
mod debug;
mod diff;
mod disasm;
mod engine_args;
mod excerpt;
mod exit;
mod explain;
mod file_kind;
mod find;
mod float_format;
mod fmt;
mod format;
mod glsl;
mod input_args;
mod input_file;
#[cfg(unix)]
mod interrupt;
mod lsp;
mod man;
mod markdown;
mod opt;
mod output_args;
mod output_file;
mod overwrite;
mod plane_expr;
mod program_match;
mod read_args;
mod render;
mod replay;
mod report;
mod rows;
mod run;
mod safe_text;
mod scene;
#[cfg(target_os = "linux")]
mod scratch;
mod shader;
mod shader_variables;
mod source_map;
mod stats;
mod stream;
mod syntax;
mod terminal;
mod test;
mod text_diff;
mod trace;
mod vertex;
mod wire;

#[doc(hidden)]
pub use dap::serve_dap;
#[doc(hidden)]
pub use lsp::serve_lsp;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

/// Read, check, run and see fragment programs of the Radeon R500 (X1000 series).
#[derive(Parser, Debug)]
#[command(name = "r500", version, after_help = AFTER, max_term_width = 100)]
struct Cli {
    /// When output is coloured; `auto`: on a terminal, unless NO_COLOR is set or TERM is `dumb`
    #[arg(long, value_enum, global = true, default_value = "auto", value_name = "WHEN")]
    color: terminal::Color,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Render(Box<render::Render>),
    Run(Box<run::Run>),
    Trace(Box<trace::Trace>),
    Debug(Box<debug::Debug>),
    Test(Box<test::Test>),
    Bench(Box<bench::Bench>),
    Asm(asm::Asm),
    Disasm(disasm::Disasm),
    Convert(convert::Convert),
    Check(check::Check),
    Fmt(fmt::Fmt),
    Lsp(lsp::Lsp),
    Dap(dap::Dap),
    Stats(stats::Stats),
    Cfg(cfg::Cfg),
    Diff(Box<diff::Diff>),
    Opt(opt::Opt),
    Explain(explain::Explain),
    Find(find::Find),
    Compile(compile::Compile),
    #[cfg(target_os = "linux")]
    #[command(hide = true)]
    MesaClient(compile::MesaClient),
    Card(card::Card),
    Capture(card::Capture),
    Replay(replay::Replay),
    Stream(Box<stream::Stream>),
    Completions(man::Completions),
    Man(man::Man),
}

const AFTER: &str = "\
Exit status: 0 fine, equal, passed; 1 the input has errors, different, failed; 2 wrong usage;
3 could not be done (unreadable file, a limit).

Examples:
  r500 render capture.json -o out.png           draw a capture as its driver set it up
  r500 render program.bin -o out.png --size 512x512 --const 0=1,0.5,0,1
  r500 run program.bin --input 't0=0.5,0.25'    one pixel, its outputs as a table
  r500 trace capture.json --pixel 12,34         what happens at a pixel, step by step
  r500 debug capture.json --pixel 12,34         walk through it, forward and back
  r500 test tests/corpus                        run everything that carries expectations
  r500 bench tests/corpus/mesa --threads 1,2    how fast programs run
  r500 asm plasma.r5 -o plasma.bin              assemble
  r500 disasm capture.json                      read a program as assembly
  r500 check plasma.r5                          find mistakes before a card does
  r500 fmt examples                             lay out sources
  r500 stats tests/corpus/mesa --sort cycles    count instructions, estimate cycles
  r500 cfg capture.json -o flow.svg             where a program can go, as a picture
  r500 diff old.json new.json --run             whether two programs compute the same
  r500 diff old.json new.json --prove           the same for all values
  r500 opt capture.json -o shorter.json         shorten a program, bit for bit
  r500 explain 0x1401ff05 --as us_fc_inst       what the bits of a word mean
  r500 find core.1234 -o programs               programs in any bytes: memory, ROMs, drivers
  r500 compile plasma.frag                      what becomes of GLSL: Mesa's driver, or --with r500
  r500 card glmark2-es2-drm                     run any program on the virtual card
  r500 capture -o demo.r5cs ./program           the same, and keep what it submits
  r500 replay demo.r5cs -o frames               again, bit for bit
  r500 stream demo.r5cs --list                  its draws; every packet with names";

/// Returns the switches and texts of all subcommands.
pub(super) fn command_line() -> clap::Command {
    reflowed(Cli::command())
}

/// Joins the lines of paragraphs that stand below the switches, so that only the width of the terminal breaks them. `clap` does so
/// with the texts that come from comments.
fn reflowed(mut command: clap::Command) -> clap::Command {
    if let Some(text) = command.get_after_help() {
        let text = paragraphs(&text.to_string());
        command = command.after_help(text);
    }
    let names: Vec<String> =
        command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    names.into_iter().fold(command, |command, name| command.mut_subcommand(name, reflowed))
}

/// Joins lines but those that are empty or indented, as examples are.
fn paragraphs(text: &str) -> String {
    let stands_alone = |line: &str| line.is_empty() || line.starts_with(' ');
    let mut out = String::with_capacity(text.len());
    let mut before = "";
    for line in text.lines() {
        if !out.is_empty() {
            let joins = !stands_alone(before) && !stands_alone(line);
            out.push(if joins { ' ' } else { '\n' });
        }
        out.push_str(line);
        before = line;
    }
    out
}

/// Runs the command with the arguments of the process.
#[must_use]
pub fn main() -> ExitCode {
    let matches = command_line().try_get_matches();
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => return wrong_usage(&error),
    };
    terminal::set_color(cli.color);
    #[cfg(unix)]
    if !matches!(cli.command, Command::Capture(_)) {
        // Signals for `capture` are its program's.
        interrupt::discard_outputs_on_signals();
    }
    exit::finish(match cli.command {
        Command::Render(render) => render.with_memory_limit().run(),
        Command::Run(run) => run.with_memory_limit().run(),
        Command::Trace(trace) => trace.with_memory_limit().run(),
        Command::Debug(debug) => debug.with_memory_limit().run(),
        Command::Test(test) => test.with_memory_limit().run(),
        Command::Bench(bench) => bench.run(),
        Command::Asm(asm) => asm.run(),
        Command::Disasm(disasm) => disasm.run(),
        Command::Convert(convert) => convert.run(),
        Command::Check(check) => check.run(),
        Command::Fmt(fmt) => fmt.run(),
        Command::Lsp(lsp) => lsp.run(),
        Command::Dap(dap) => dap.run(),
        Command::Stats(stats) => stats.run(),
        Command::Cfg(cfg) => cfg.run(),
        Command::Opt(opt) => opt.run(),
        Command::Diff(diff) => diff.with_memory_limit().run(),
        Command::Explain(explain) => explain.run(),
        Command::Find(find) => find.run(),
        Command::Compile(compile) => compile.run(),
        #[cfg(target_os = "linux")]
        Command::MesaClient(client) => client.run(),
        Command::Card(card) => card.run(),
        Command::Capture(capture) => capture.run(),
        Command::Replay(replay) => replay.run(),
        Command::Stream(stream) => stream.run(),
        Command::Completions(completions) => completions.run(),
        Command::Man(man) => man.run(),
    })
}

/// Prints an error of the command line, or the help that was asked for.
fn wrong_usage(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    if r500::asm::visible(&text) == text {
        // In colours, on the stream that it belongs to; a stream that is closed takes nothing.
        let _ = error.print();
    } else {
        // A name of a file or a value of the environment, which may come from elsewhere.
        let _ = terminal::err().write_all(text.as_bytes());
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(exit::Status::Usage as u8))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_switches_are_sound() {
        super::command_line().debug_assert();
    }

    #[test]
    fn paragraphs_are_broken_by_the_terminal_alone() {
        let text = "One\ntwo.\n\nExamples:\n  r500 a\n  r500 b\n\nThree\nfour.";
        let wanted = "One two.\n\nExamples:\n  r500 a\n  r500 b\n\nThree four.";
        assert_eq!(super::paragraphs(text), wanted);
    }
}
