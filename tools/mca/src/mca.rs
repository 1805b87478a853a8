//! The interface to llvm-mca.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use r500::jit::compile::Level;
use serde::Deserialize;

/// The LLVM programs.
pub(crate) struct Llvm {
    mca: PathBuf,
    mc: PathBuf,
    /// The version of LLVM.
    pub(crate) version: String,
}

/// The cost of one iteration of a loop, averaged over many.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cost {
    /// Simulated cycles.
    pub(crate) cycles: f64,
    /// Busy cycles of the busiest unit.
    pub(crate) busy: f64,
    /// The name of that unit.
    pub(crate) unit: String,
    /// Instructions.
    pub(crate) instructions: f64,
}

/// The output of llvm-mca with `-json`.
#[derive(Deserialize)]
struct Answer {
    #[serde(rename = "CodeRegions")]
    regions: Vec<Region>,
    #[serde(rename = "TargetInfo")]
    target: Target,
}

#[derive(Deserialize)]
struct Region {
    #[serde(rename = "SummaryView")]
    summary: Summary,
    #[serde(rename = "ResourcePressureView")]
    pressure: Pressure,
}

#[derive(Deserialize)]
struct Summary {
    #[serde(rename = "TotalCycles")]
    cycles: f64,
    #[serde(rename = "Instructions")]
    instructions: f64,
}

#[derive(Deserialize)]
struct Pressure {
    #[serde(rename = "ResourcePressureInfo")]
    usages: Vec<Usage>,
}

/// How long an instruction occupies a unit.
#[derive(Deserialize)]
struct Usage {
    #[serde(rename = "InstructionIndex")]
    instruction: usize,
    #[serde(rename = "ResourceIndex")]
    unit: usize,
    #[serde(rename = "ResourceUsage")]
    cycles: f64,
}

#[derive(Deserialize)]
struct Target {
    #[serde(rename = "Resources")]
    units: Vec<String>,
}

/// Number of simulated iterations; large enough that the first ones, which do not wait, hardly count.
const ROUNDS: u32 = 100;

impl Llvm {
    /// Finds the LLVM programs, in a folder or in the search path.
    ///
    /// # Errors
    /// A message with the package to install.
    pub(crate) fn find(folder: Option<&Path>) -> Result<Self> {
        let named = |name: &str| folder.map_or_else(|| name.into(), |folder| folder.join(name));
        let (mca, mc) = (named("llvm-mca"), named("llvm-mc"));
        let said = text(&mca, &["--version".into()], "")?;
        text(&mc, &["--version".into()], "")?;
        let version = said.lines().find_map(|line| line.split("version ").nth(1));
        let version = version.unwrap_or("of unknown version").trim().to_owned();
        Ok(Self { mca, mc, version })
    }

    /// Returns the instructions as text, one per line.
    ///
    /// # Errors
    /// If LLVM cannot decode them.
    pub(crate) fn disassemble(&self, code: &[u8]) -> Result<String> {
        let mut bytes = String::new();
        for byte in code {
            let _ = write!(bytes, "0x{byte:02x} ");
        }
        let args = [
            "--disassemble",
            "-triple=x86_64",
            "-mattr=+avx2,+avx512f,+avx512bw,+avx512dq,+avx512vl",
        ];
        let text = text(&self.mc, &args.map(OsString::from), &bytes)?;
        // Lines of assembler directives are removed.
        Ok(text.lines().filter(|line| !line.trim_start().starts_with('.')).fold(
            String::new(),
            |mut all, line| {
                all.push_str(line);
                all.push('\n');
                all
            },
        ))
    }

    /// Returns the cost of a loop of these instructions on a processor.
    ///
    /// # Errors
    /// If llvm-mca does not know the processor.
    pub(crate) fn cost(&self, loop_body: &str, cpu: &str) -> Result<Cost> {
        let args = [
            "-mtriple=x86_64",
            &format!("-mcpu={cpu}"),
            &format!("-iterations={ROUNDS}"),
            "-instruction-info=0",
            "-json",
        ];
        let said = text(&self.mca, &args.map(OsString::from), loop_body)?;
        let answer: Answer = serde_json::from_str(&said).context("llvm-mca's answer")?;
        let region = answer.regions.first().context("llvm-mca tells of no loop")?;
        let Summary { cycles, instructions } = region.summary;
        // The entries with the highest index are the sums over all instructions.
        let all = region.pressure.usages.iter().map(|usage| usage.instruction).max();
        let all = region.pressure.usages.iter().filter(|usage| Some(usage.instruction) == all);
        let busiest = all.max_by(|a, b| a.cycles.total_cmp(&b.cycles));
        let (unit, busy) = busiest.map_or((usize::MAX, 0.0), |usage| (usage.unit, usage.cycles));
        let unit = answer
            .target
            .units
            .get(unit)
            .map_or("", |unit| unit.trim_end_matches(|c: char| c == '.' || c.is_control()));
        let rounds = f64::from(ROUNDS);
        Ok(Cost {
            cycles: cycles / rounds,
            busy,
            unit: unit.to_owned(),
            instructions: instructions / rounds,
        })
    }

    /// Returns the peak number of products and sums per cycle, measured like the peak of `r500 bench`: one of each in
    /// every lane of twelve independent vectors.
    ///
    /// # Errors
    /// If llvm-mca does not know the processor.
    pub(crate) fn peak(&self, level: Level, cpu: &str) -> Result<f64> {
        let (register, lanes) = match level {
            Level::Avx2 => ("ymm", 8),
            Level::Avx512 => ("zmm", 16),
        };
        let mut text = String::new();
        for vector in 0..CHAINS {
            let _ =
                writeln!(text, "vmulps %{register}{vector}, %{register}12, %{register}{vector}");
            let _ =
                writeln!(text, "vaddps %{register}{vector}, %{register}13, %{register}{vector}");
        }
        text.push_str("subl $1, %eax\njne 0\n");
        Ok(f64::from(2 * CHAINS * lanes) / self.cost(&text, cpu)?.cycles)
    }
}

/// Number of independent vectors in the peak loop.
const CHAINS: u32 = 12;

/// Returns the output of a program for an input.
fn text(program: &Path, args: &[OsString], input: &str) -> Result<String> {
    let name = program.display();
    let install = "install LLVM (Debian: apt-get install llvm), or say where it is with --llvm DIR";
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("no {name}: {install}"))?;
    let mut stdin = child.stdin.take().context("no stdin")?;
    // The program reads all input before it writes; if it does not read, the error can be ignored.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output()?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("{name}: {}", errors.lines().next().unwrap_or("failed"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
