//! Options of the engine: engine, readings, limits, threads.

use std::io::Write;
use std::sync::OnceLock;
use std::time::Duration;

use clap::Args;
use clap::builder::FalseyValueParser;
use r500::check::ExternalReads;
use r500::exec::{
    BindError, Bindings, Engine, EngineName, Limits, Options, Readings, RunError, RunInfo,
    RuntimeWarnings, Shader, ShaderError, WarningKind,
};
use r500::fast::{Fast, Simd, VertexEngine};
use r500::jit::{Settings, engine, usual_engine, vertex_engine};
use r500::program::Job;

use super::binding_args::StateArgs;
use super::exit::{Failure, Outcome};
use super::input_args::ReadArgs;
use super::{compilation, syntax, terminal};

/// Default time limit of a picture.
pub(super) const TIME: Duration = Duration::from_secs(60);

/// How to run.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "How it runs")]
pub(super) struct EngineArgs {
    /// The engine; findings are always the reference engine's (default: jit where the processor has
    /// AVX2, else fast)
    #[arg(long, value_name = "ENGINE", env = "R500_ENGINE", value_parser = syntax::engine())]
    engine: Option<EngineName>,
    /// Vector instructions of the fast and the jit engine: `auto` takes the best there are
    #[arg(long, value_name = "LEVEL", env = "R500_SIMD", default_value = "auto", value_parser = simd)]
    simd: Simd,
    /// Tell the profiler perf what the jit engine made, in /tmp/perf-PID.map
    #[arg(long, env = "R500_PERF_MAP", value_parser = FalseyValueParser::new())]
    perf_map: bool,
    /// Decide a rule that the documents leave open; `help` lists them with their evidence
    #[arg(long, value_name = "NAME=VALUE|help")]
    reading: Vec<String>,
    /// Start what is undefined with a pattern that stands out instead of 0
    #[arg(long)]
    pub(super) poison: bool,
    /// Pixels that share a program counter; visible only with WRITE_INACTIVE and IGNORE_UNCOVERED
    #[arg(long, value_name = "WxH", value_parser = super::syntax::size)]
    group: Option<[u32; 2]>,
    /// Threads; 0 takes all cores
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) threads: usize,
    /// Instructions that a group of pixels may execute
    #[arg(long, value_name = "N", default_value_t = Limits::default().instructions)]
    limit_instructions: u64,
    /// Bytes that a picture may take, and a group of pixels, a recording, or all textures
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().memory)]
    limit_memory: u64,
    /// Seconds that drawing a picture may take; 0 for no limit [default: 60; of `diff --run` 30 for all]
    #[arg(long, value_name = "SECONDS", value_parser = syntax::seconds)]
    limit_time: Option<Duration>,
}

impl EngineArgs {
    /// Returns the engine, which all draws of this process share.
    pub(super) fn engine(&self) -> &'static dyn Engine {
        static ENGINES: [OnceLock<Box<dyn Engine + Send>>; EngineName::ALL.len()] =
            [const { OnceLock::new() }; EngineName::ALL.len()];
        let name = self.chosen();
        &**ENGINES[name as usize].get_or_init(|| self.make(name))
    }

    /// Returns a new engine for a virtual card.
    pub(super) fn card_engine(&self) -> Box<dyn Engine + Send> {
        self.make(self.chosen())
    }

    /// Returns a new engine that compiles the vertex programs of a virtual card; `None` if the interpreter runs them.
    pub(super) fn vertex_engine(&self) -> Option<Box<dyn VertexEngine>> {
        vertex_engine(self.chosen(), self.simd, self.settings())
    }

    /// Returns a new engine for rows of vertices; `None` if the interpreter runs them.
    pub(super) fn rows_engine(&self) -> Option<Box<dyn VertexEngine>> {
        match self.chosen() {
            EngineName::Fast => Some(Box::new(Fast::with(self.simd))),
            name => vertex_engine(name, self.simd, self.settings()),
        }
    }

    fn make(&self, name: EngineName) -> Box<dyn Engine + Send> {
        engine(name, self.simd, self.settings())
    }

    fn settings(&self) -> Settings {
        Settings { perf_map: self.perf_map, ..Settings::default() }
    }

    /// Returns the named engine, else the usual one.
    fn chosen(&self) -> EngineName {
        self.engine.unwrap_or_else(|| usual_engine(self.simd))
    }

    /// Returns the time limit of a terminating command: the given one, none for 0, or `usual`.
    pub(super) fn time_limit(&self, usual: Duration) -> Option<Duration> {
        Some(self.limit_time.unwrap_or(usual)).filter(|limit| !limit.is_zero())
    }

    /// Passes the memory limit to the texture loader.
    pub(super) fn limit_textures(&self, read: &mut ReadArgs, state: &mut StateArgs) {
        let limit = Some(self.memory_limit());
        read.texture_memory = limit;
        state.texture_memory = limit;
    }

    /// Returns the memory limit in bytes.
    pub(super) fn memory_limit(&self) -> u64 {
        self.limit_memory
    }

    /// Returns the requested vector instructions.
    pub(super) fn simd(&self) -> Simd {
        self.simd
    }

    /// Lists the readings if that was requested. Returns whether it was.
    pub(super) fn list_readings(&self) -> Outcome<bool> {
        let wanted = self.reading.iter().any(|text| text == "help" || text == "list");
        if wanted {
            print_readings(&mut terminal::out())?;
        }
        Ok(wanted)
    }

    /// Returns the options that change results, as command-line text.
    pub(super) fn switches(&self) -> String {
        let mut text = String::new();
        for reading in &self.reading {
            text.push_str(&format!(" --reading {reading}"));
        }
        if self.poison {
            text.push_str(" --poison");
        }
        if let Some([width, height]) = self.group {
            text.push_str(&format!(" --group {width}x{height}"));
        }
        text
    }

    /// Returns the options of a run.
    pub(super) fn options(&self) -> Outcome<Options<'static>> {
        let mut readings = Readings::default();
        for text in &self.reading {
            let wanted =
                || Failure::usage(format!("--reading: `{text}`: write NAME=VALUE, or help"));
            let (name, value) = text.split_once('=').ok_or_else(wanted)?;
            readings
                .set(name.trim(), value.trim())
                .map_err(|error| Failure::usage(format!("--reading: {error}")))?;
        }
        let mut options = Options {
            readings,
            poison: self.poison,
            threads: self.threads,
            limits: Limits {
                instructions: self.limit_instructions,
                memory: self.limit_memory,
                time: self.time_limit(TIME),
            },
            ..Options::default()
        };
        if let Some(group) = self.group {
            options.group = group;
        }
        Ok(options)
    }
}

/// Parses a level of vector instructions that this machine supports.
pub(super) fn simd(text: &str) -> Result<Simd, String> {
    let there = || Simd::available().map(Simd::name).collect::<Vec<_>>().join(", ");
    match Simd::from_name(text) {
        _ if text == "auto" => Ok(Simd::detect()),
        Some(simd) if simd.is_available() => Ok(simd),
        Some(_) => Err(format!("this processor has no {text}; it has {}", there())),
        None => Err(format!("`{text}` is not a level; write auto or one of {}", there())),
    }
}

/// Warns of resources that a program reads and its job does not provide, which read as 0 (a texture as disabled).
/// Inputs count only for a picture of a job without declared inputs: rows of values are complete, and a read of an
/// uninitialised temporary despite declared inputs is a finding of `r500 check`.
pub(super) fn warn_missing(job: &Job, picture: bool) {
    let mut missing = ExternalReads::of(&job.program).missing(job);
    // A program without declared inputs gets u and v in the first temporary.
    missing.inputs.remove(&0);
    if !picture || job.inputs.is_some() {
        missing.inputs.clear();
    }
    if let Some(constants) = compilation::missing_constants(job, &missing) {
        missing.constants.clear();
        terminal::warn(&format!(
            "read and not given: {constants}; they read as 0 (--const gives them)"
        ));
    }
    if let Some(decimals) = compilation::decimals(job) {
        terminal::note(&format!(
            "the literals are those of the log, which rounds them to {decimals} decimals"
        ));
    }
    if !missing.is_empty() {
        terminal::warn(&format!(
            "read and not provided: {missing}; what is missing reads as 0 (--const, --int, --bool, \
             --texture and captures provide it)"
        ));
    }
}

/// Returns every reading with its question, evidence and values; the project's choice is marked.
fn print_readings(out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "Rules that the documents leave open. The first value (*) is what r500 does.")?;
    for reading in Readings::TABLE {
        writeln!(out, "\n{}\n  {}\n  {}", reading.name, reading.question, reading.evidence)?;
        let widest = reading.values.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        for (i, (name, meaning)) in reading.values.iter().enumerate() {
            let mark = if i == 0 { '*' } else { ' ' };
            writeln!(out, "  {mark} {name:widest$}  {meaning}")?;
        }
    }
    Ok(())
}

/// Returns a job's program and what it reads, for a picture of a size.
pub(super) fn bind(job: &Job, size: [u32; 2]) -> Outcome<(Shader, Bindings)> {
    let shader = Shader::new(&job.program).map_err(no_shader)?;
    let bindings = Bindings::new(job, size).map_err(not_bound)?;
    Ok((shader, bindings))
}

/// Returns a program that cannot run at all.
pub(super) fn no_shader(error: ShaderError) -> Failure {
    Failure::input(error)
}

/// Something that cannot be bound.
pub(super) fn not_bound(error: BindError) -> Failure {
    Failure::input(error)
}

/// Returns a run that ended without a frame, with what may help.
pub(super) fn not_run(error: RunError) -> Failure {
    let switch = match error {
        RunError::NoPixels { .. } | RunError::AreaOutside { .. } | RunError::OddGroup { .. } => {
            return Failure::usage(error);
        }
        RunError::Instructions { .. } => Some("--limit-instructions"),
        RunError::TooLarge { .. } | RunError::Memory { .. } => Some("--limit-memory"),
        RunError::Time { .. } => Some("--limit-time"),
        _ => None,
    };
    match switch {
        Some(switch) => Failure::could_not(anyhow::anyhow!("{error}; see {switch}")),
        None => Failure::could_not(error),
    }
}

/// Returns the engine that drew, and the reason if it is not the requested one.
pub(super) fn engine_summary(ran: &RunInfo) -> String {
    let simd = ran.simd.map_or(String::new(), |simd| format!(" ({simd})"));
    let share = match ran.compiled {
        Some([compiled, all]) if compiled < all => {
            format!(", {} % of it machine code", compiled * 100 / all.max(1))
        }
        _ => String::new(),
    };
    let instead = ran.fallback_reason.as_ref().map_or(String::new(), |why| format!(": {why}"));
    format!("drawn by the {} engine{simd}{share}{instead}", ran.engine)
}

/// Says what a run met.
pub(super) fn print_findings(findings: &RuntimeWarnings) -> Outcome<()> {
    let mut out = terminal::err();
    for finding in findings.iter() {
        let weight = finding_weight(finding.kind);
        writeln!(out, "{weight}[{}]: {finding}", finding.kind.name())?;
    }
    drop(out);
    if findings.is_empty() {
        terminal::note("no findings");
    }
    Ok(())
}

/// Returns the severity of a warning: a correct program has no `finding`, but may have a `hint`.
pub(super) fn finding_weight(kind: WarningKind) -> &'static str {
    if kind.is_hard() { "finding" } else { "hint" }
}

/// RuntimeWarnings as JSON.
pub(super) fn findings_json(findings: &RuntimeWarnings) -> serde_json::Value {
    findings
        .iter()
        .map(|finding| {
            serde_json::json!({
                "kind": finding.kind.name(),
                "hard": finding.kind.is_hard(),
                "address": finding.address,
                "pixel": finding.pixel,
                "detail": finding.detail,
                "count": finding.count,
                "text": finding.to_string(),
            })
        })
        .collect()
}
