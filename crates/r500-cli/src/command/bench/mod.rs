//! `r500 bench`: performance of programs.

mod baseline;
mod measure;
mod table;
mod work;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use r500::exec::{Draw, Engine, EngineName, Limits, Options, RunInfo};
use r500::fast::Simd;
use r500::jit::{Effort, Settings, When, engine, usual_engine};
use r500::program::Job;

use self::baseline::Baseline;
use self::measure::Times;
use self::work::Work;
use super::binding_args::StateArgs;
use super::exit::{Failure, Outcome, Status};
use super::format::TableFormat;
use super::input_args::{self, ReadArgs};
use super::output_file::put;
use super::{engine_args, syntax, terminal};

/// Measure how fast programs run.
///
/// Draws each program's picture repeatedly with every selected engine, SIMD level and number of
/// threads. Reports pixels per second, executed program instructions per second, the fraction of the
/// processor's peak arithmetic rate, and the time that the engine takes to prepare the program. Inputs,
/// constants and textures are given as for render; the default is what the program carries.
#[derive(Args, Debug)]
#[command(after_help = AFTER)]
pub(super) struct Bench {
    /// Files and folders; `-` is stdin
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
    /// Only programs whose name contains this text (`*` matches anything)
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Engines, separated by commas (default: jit if the processor has AVX2, else fast)
    #[arg(long, value_name = "ENGINE", value_delimiter = ',', value_parser = engines)]
    engine: Vec<Engines>,
    /// SIMD levels of the fast and the jit engine, separated by commas: `auto` is the best that the
    /// processor has, `all` is each of them
    #[arg(long, value_name = "LEVEL", value_delimiter = ',', default_value = "auto", value_parser = levels)]
    simd: Vec<Levels>,
    /// Numbers of threads, separated by commas; 0 uses all cores
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "0", value_parser = thread_count)]
    threads: Vec<usize>,
    /// Width and height of the picture
    #[arg(long, value_name = "WxH", value_parser = syntax::size, default_value = "1024x1024")]
    size: [u32; 2],
    /// What pictures are stored as. Saved measurements with another output can be compared
    #[arg(long, value_enum, default_value_t = measure::Output::Float)]
    output: measure::Output,
    /// Measuring time for each row of the table, in seconds; at least three pictures are drawn
    #[arg(long, value_name = "SECONDS", value_parser = syntax::seconds, default_value = "1")]
    seconds: Duration,
    /// Output format
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    format: TableFormat,
    /// Save the measurements in this file, as JSON
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Compare with saved measurements: speed relative to them
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// With --against: exit with status 1 if the relative speed of a row is below this, such as 0.8
    #[arg(long, value_name = "RATIO", requires = "against")]
    fail_below: Option<f64>,
    /// Say which engines draw, with which vector instructions, and which of these the processor has
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    state: StateArgs,
}

const AFTER: &str = "\
Columns:
  Mpixel/s      million pixels per second, from the median time of a picture; best: from the minimum time
  Ginstr/s      10^9 executed program instructions per second: instructions per pixel (counted by the
                reference engine over a sample of up to 256 groups of 4x4 pixels) times pixels per second.
                The count is the same for all engines, whatever they optimise away
  of peak       floating-point operations of these instructions (each product, sum, comparison, fraction
                and transcendental counts 1; unused channels, copies, signs, clamps, textures and flow
                control count 0) divided by the multiply and add rate that the same number of threads
                reaches in registers in the same run, at the same SIMD level, without fusing. The
                reference engine is compared with the best SIMD level of the machine
  times then    with --against: speed relative to the saved measurements, from minimum times, which other
                load on the machine affects least
  prepare       time from a decoded program to an engine that is ready to draw; the jit engine compiles
                before the first picture, with all optimisations

Exit status: 0 measured; 1 a program has errors or cannot run, or --fail-below; 2 wrong usage; 3 a file
cannot be read or written, or a limit was exceeded.

Examples:
  r500 bench plasma.r5
  r500 bench tests/corpus/mesa --engine all --simd all --threads 1,2
  r500 bench tests/corpus/mesa --seconds 0.2 --format csv > speed.csv
  r500 bench plasma.r5 --save f.json; r500 bench plasma.r5 --output rgba8 --against f.json
  r500 bench tests/corpus/mesa --save before.json; r500 bench tests/corpus/mesa --against before.json";

/// Engines to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Engines {
    One(EngineName),
    All,
}

fn engines(text: &str) -> Result<Engines, String> {
    let one = || text.parse().map(Engines::One).map_err(|error| format!("{error}; `all` is each"));
    if text == "all" { Ok(Engines::All) } else { one() }
}

/// Levels of vector instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Levels {
    One(Simd),
    All,
}

fn thread_count(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|&count: &usize| count <= MOST_THREADS);
    count.ok_or_else(|| format!("expected a number from 0 to {MOST_THREADS}"))
}

/// Threads that are started to measure.
const MOST_THREADS: usize = 1024;

fn levels(text: &str) -> Result<Levels, String> {
    if text == "all" { Ok(Levels::All) } else { engine_args::simd(text).map(Levels::One) }
}

/// A program to measure.
struct Program {
    /// The key in a baseline: its path below the folder that was given, and its name in
    /// a file of several.
    key: String,
    /// The name in the output.
    name: String,
    /// Its file, and its number there.
    file: String,
    index: usize,
    job: Job,
}

/// An engine and a number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Setup {
    engine: EngineName,
    /// Its vector instructions; `None` for the reference engine.
    simd: Option<Simd>,
    threads: usize,
}

impl Setup {
    /// Returns an engine of its own.
    fn make(self) -> Box<dyn Engine + Send> {
        let settings = Settings { when: When::Before(Effort::Full), ..Settings::default() };
        engine(self.engine, self.peak_simd(), settings)
    }

    /// Returns the instructions that it is held against.
    fn peak_simd(self) -> Simd {
        self.simd.unwrap_or_else(Simd::detect)
    }
}

/// Says which engines run with which vector instructions. All of it runs on the processor: code for levels that
/// it does not have runs in tests only.
fn what_draws(setups: &[Setup]) -> String {
    let mut engines: Vec<_> = (setups.iter())
        .map(|setup| {
            let native = if setup.engine == EngineName::Jit { " (native)" } else { "" };
            let level = setup.simd.map_or(String::new(), |simd| format!(" with {}", simd.name()));
            format!("{}{level}{native}", setup.engine)
        })
        .collect();
    engines.dedup();
    let levels: Vec<_> = Simd::available().map(Simd::name).collect();
    format!("engines: {}; this processor has {}", engines.join(", "), levels.join(", "))
}

/// A line of the table.
struct Row {
    key: String,
    name: String,
    file: String,
    index: usize,
    setup: Setup,
    size: [u32; 2],
    times: Times,
    work: Work,
    /// Operations a second that the processor can do.
    peak: f64,
}

impl Row {
    fn pixels(&self) -> f64 {
        self.size.map(f64::from).iter().product()
    }

    fn pixels_a_second(&self) -> f64 {
        self.pixels() / self.times.median
    }

    fn instructions_a_second(&self) -> f64 {
        self.work.instructions * self.pixels_a_second()
    }

    fn operations_a_second(&self) -> f64 {
        self.work.operations * self.pixels_a_second()
    }

    fn share(&self) -> f64 {
        self.operations_a_second() / self.peak
    }
}

/// The measurements of a run.
struct Measured {
    rows: Vec<Row>,
    /// The peak of the processor, for each level and number of threads in use.
    peaks: Vec<(Simd, usize, f64)>,
}

impl Bench {
    pub(super) fn run(&self) -> Outcome {
        let baseline = self.against.as_deref().map(Baseline::read).transpose()?;
        let mut status = Status::Fine;
        let programs = self.programs(&mut status)?;
        if programs.is_empty() {
            if status != Status::Fine {
                return Ok(status);
            }
            let files: Vec<String> = self.files.iter().map(|file| input_args::show(file)).collect();
            return Err(Failure::input(anyhow::anyhow!("no program in {}", files.join(", "))));
        }
        let measured = self.measure(&programs, &mut status)?;
        let compared = baseline.as_ref().map(|baseline| baseline.compare(&measured));
        if let Some(file) = &self.save {
            let text = format!("{:#}\n", table::json(&measured, None));
            put(file, text.as_bytes())?;
        }
        let mut out = std::io::BufWriter::new(terminal::out());
        match self.format {
            TableFormat::Text => table::text(&mut out, &measured, compared.as_ref())?,
            TableFormat::Csv => table::csv(&mut out, &measured, compared.as_ref())?,
            TableFormat::Json => {
                writeln!(out, "{:#}", table::json(&measured, compared.as_ref()))?;
            }
        }
        out.flush()?;
        let torn = measured.rows.iter().filter(|row| row.times.was_interrupted()).count();
        if torn > 0 {
            terminal::note(&format!(
                "in {torn} of {} rows, half of the pictures took more than {} times as long as the \
                 shortest: others use this machine; `best` tells more then",
                measured.rows.len(),
                measure::TORN
            ));
        }
        if let (Some(compared), Some(least)) = (&compared, self.fail_below)
            && compared.report_slower(&measured, least)
        {
            status = Status::Failed;
        }
        Ok(status)
    }

    /// The engines to measure.
    fn setups(&self) -> Vec<Setup> {
        let wanted = |simd: &Simd| {
            self.simd.iter().any(|level| [Levels::All, Levels::One(*simd)].contains(level))
        };
        let levels: Vec<_> = Simd::available().filter(wanted).collect();
        let has_code = |simd: &Simd| usual_engine(*simd) == EngineName::Jit;
        let named = |engine| {
            self.engine.iter().any(|named| [Engines::One(engine), Engines::All].contains(named))
        };
        let with_level = |engine| move |&simd: &Simd| (engine, Some(simd));
        let mut engines = Vec::new();
        if self.engine.is_empty() {
            engines.extend(levels.iter().map(|&simd| (usual_engine(simd), Some(simd))));
        }
        if named(EngineName::Jit) {
            let levels = levels.iter().filter(|simd| has_code(simd));
            engines.extend(levels.map(with_level(EngineName::Jit)));
        }
        if named(EngineName::Fast) {
            engines.extend(levels.iter().map(with_level(EngineName::Fast)));
        }
        if named(EngineName::Reference) {
            engines.push((EngineName::Reference, None));
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let mut setups = Vec::new();
        for &(engine, simd) in &engines {
            for &threads in &self.threads {
                let threads = if threads == 0 { cores } else { threads };
                let setup = Setup { engine, simd, threads };
                if !setups.contains(&setup) {
                    setups.push(setup);
                }
            }
        }
        setups
    }

    /// Reads all programs; reports those that cannot be read.
    fn programs(&self, status: &mut Status) -> Outcome<Vec<Program>> {
        let mut programs = Vec::new();
        for root in &self.files {
            for file in
                input_args::files(std::slice::from_ref(root), input_args::may_hold_programs)?
            {
                let first = programs.len();
                let name = name_below(root, &file);
                input_args::each(&file, self.read, status, |index, job| {
                    let part = match job.name.as_str() {
                        "" => format!("#{index}"),
                        name => format!(":{name}"),
                    };
                    let key = format!("{name}{part}");
                    let file = input_args::show(&file);
                    programs.push(Program { name: key.clone(), key, file, index, job });
                })?;
                // Name the part only if there are several.
                if let [only] = &mut programs[first..] {
                    only.key.clone_from(&name);
                    only.name.clone_from(&name);
                }
            }
        }
        if let Some(filter) = &self.filter {
            programs.retain(|program| syntax::holds(filter, &program.name));
        }
        Ok(programs)
    }

    /// Measures everything; reports what cannot be measured.
    fn measure(&self, programs: &[Program], status: &mut Status) -> Outcome<Measured> {
        let setups = self.setups();
        if self.verbose {
            terminal::note(&what_draws(&setups));
        }
        let mut peaks = BTreeMap::new();
        for setup in &setups {
            let (simd, threads) = (setup.peak_simd(), setup.threads);
            let time = self.seconds.min(Duration::from_millis(200));
            peaks
                .entry((simd.name(), threads))
                .or_insert_with(|| (simd, threads, measure::peak(simd, threads, time)));
        }
        let bar = terminal::progress((programs.len() * setups.len()) as u64, "measurements");
        let mut rows = Vec::new();
        for program in programs {
            let before = rows.len();
            if let Err(failure) = self.measure_one(program, &setups, &peaks, &mut rows, &bar) {
                bar.suspend(|| failure.context(&program.name).report());
                rows.truncate(before);
                *status = Status::Failed;
            }
        }
        bar.finish_and_clear();
        Ok(Measured { rows, peaks: peaks.into_values().collect() })
    }

    fn measure_one(
        &self,
        program: &Program,
        setups: &[Setup],
        peaks: &BTreeMap<(&str, usize), (Simd, usize, f64)>,
        rows: &mut Vec<Row>,
        bar: &indicatif::ProgressBar,
    ) -> Outcome<()> {
        let mut job = program.job.clone();
        self.state.apply(&mut job, self.size)?;
        let (shader, bindings) = engine_args::bind(&job, self.size)?;
        // A program that does not end is a failure; what is measured may take its time besides.
        let time = engine_args::TIME.saturating_add(self.seconds.saturating_mul(2));
        let limits = Limits { time: Some(time), ..Limits::default() };
        let alone = Options { threads: 1, limits, ..Options::default() };
        let draw = Draw::new(&shader, &bindings, &alone).map_err(engine_args::not_run)?;
        let work = Work::sample(&draw).map_err(engine_args::not_run)?;
        // What the reference engine draws instead takes as long at every level.
        let mut instead = Vec::new();
        let mut told = Vec::new();
        for &setup in setups {
            bar.inc(1);
            if setup.engine != EngineName::Reference && instead.contains(&setup.threads) {
                continue;
            }
            let options = Options { threads: setup.threads, limits, ..Options::default() };
            let draw = Draw::new(&shader, &bindings, &options).map_err(engine_args::not_run)?;
            let times = measure::measure(&|| setup.make(), &draw, self.output, self.seconds)
                .map_err(engine_args::not_run)?;
            let RunInfo { engine, fallback_reason, .. } = &times.run_info;
            if let Some(why) = fallback_reason {
                let note = format!("{}: the {engine} engine draws it: {why}", program.name);
                if !told.contains(&note) {
                    bar.suspend(|| terminal::note(&note));
                    told.push(note);
                }
                if *engine == "reference" {
                    instead.push(setup.threads);
                }
            }
            let peak = peaks.get(&(setup.peak_simd().name(), setup.threads));
            rows.push(Row {
                key: program.key.clone(),
                name: program.name.clone(),
                file: program.file.clone(),
                index: program.index,
                setup,
                size: self.size,
                times,
                work,
                peak: peak.map_or(f64::NAN, |(_, _, peak)| *peak),
            });
        }
        Ok(())
    }
}

/// Returns a file's name below the folder that was given; without its path if the file itself was.
fn name_below(root: &Path, file: &Path) -> String {
    if input_args::is_stdin(file) {
        return input_args::show(file);
    }
    let below = file.strip_prefix(root).ok().filter(|below| !below.as_os_str().is_empty());
    let name = below.unwrap_or_else(|| Path::new(file.file_name().unwrap_or_default()));
    name.to_string_lossy().replace('\\', "/")
}
