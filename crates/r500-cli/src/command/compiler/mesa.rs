//! The client's process on the virtual card.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use r500::files::{self as guard, MAX_TEXT};
use r500_drm::Settings;
use r500_mesa::Compiled;
use r500_mesa::compiled::Evidence;
use r500_mesa::request::{Report, Request};
use r500_mesa::shader::{Complete, ShaderPair};
use r500_stream::Chip;

use super::verdict::Verdict;
use crate::command::capture_args::deadline;
use crate::command::card_process::{INSTALL, has_r300_driver, put_on_card};
use crate::command::exit::{Failure, Outcome};
use crate::command::input_file;
use crate::command::scratch::ScratchFolder;

/// A Mesa, and the chip that it compiles for.
#[derive(Clone, Debug)]
pub(in crate::command) struct Driver {
    /// Variables that select another Mesa than the system's.
    variables: Vec<(&'static str, PathBuf)>,
    library: PathBuf,
    chip: Chip,
    limit: Duration,
}

/// What a run left.
struct Run {
    report: Option<Report>,
    capture: Vec<u8>,
    log: Vec<u8>,
    status: ExitStatus,
}

/// Bytes of a capture of a few draws.
const MAX_CAPTURE: u64 = 64 << 20;

impl Driver {
    /// Returns the Mesa in a folder, or the system's.
    pub(super) fn new(
        folder: Option<&Path>,
        library: PathBuf,
        chip: Chip,
        limit: Duration,
    ) -> Outcome<Self> {
        let variables = match folder {
            Some(folder) => variables(folder)?,
            None => Vec::new(),
        };
        Ok(Self { variables, library, chip, limit })
    }

    /// Compiles a pair.
    ///
    /// # Errors
    /// If there is no Mesa, the compiler crashes or takes too long, or what it left cannot be read; that a shader does not compile
    /// is a verdict.
    pub(in crate::command) fn compile(&self, pair: &ShaderPair) -> Outcome<Verdict> {
        let named = |failure: Failure| failure.context(pair.name.clone());
        let complete = pair.complete().map_err(|error| named(Failure::input(error)))?;
        let end = deadline(self.limit);
        let run = self.run(&complete, end).map_err(named)?;
        let Some(report) = run.report else {
            return Err(named(self.no_report(&run.log, run.status)));
        };
        let evidence = Evidence {
            report: &report,
            capture: &run.capture,
            log: &run.log,
            made: &complete.varyings,
            deadline: end,
        };
        let mut compiled =
            Compiled::read(&evidence).map_err(|error| named(Failure::could_not(error)))?;
        if complete.made.is_none() && report.draws > 0 {
            self.name_varyings(&complete, &mut compiled, end).map_err(named)?;
        }
        let is_linked = report.link.as_ref().is_some_and(|link| link.ok);
        let compiled = (is_linked || compiled.fragment.is_some()).then_some(compiled);
        Ok(Verdict::new(pair, &complete, report, compiled, run.log))
    }

    /// Finds the names of a fragment program's inputs by a second run with a made vertex shader, if it gives the same program.
    fn name_varyings(
        &self,
        complete: &Complete,
        compiled: &mut Compiled,
        end: Option<Instant>,
    ) -> Outcome<()> {
        let Some(fragment) = &mut compiled.fragment else { return Ok(()) };
        let Ok(probe) = Complete::with_vertex(complete.api, complete.fragment.clone()) else {
            return Ok(());
        };
        let run = self.run(&probe, end)?;
        let Some(report) = &run.report else { return Ok(()) };
        let evidence = Evidence {
            report,
            capture: &run.capture,
            log: &run.log,
            made: &probe.varyings,
            deadline: end,
        };
        // Names that are not found are reported missing.
        let Ok(Compiled { fragment: Some(other), .. }) = Compiled::read(&evidence) else {
            return Ok(());
        };
        if other.job.program.code == fragment.job.program.code {
            fragment.varyings = other.varyings;
            fragment.job.inputs = other.job.inputs;
        }
        Ok(())
    }

    fn run(&self, complete: &Complete, end: Option<Instant>) -> Outcome<Run> {
        let scratch = ScratchFolder::new()?;
        let [request, report, capture, log] =
            ["request", "report", "draw.r5cs", "log"].map(|name| scratch.file(name));
        let text = serde_json::to_vec(&Request {
            api: complete.api,
            vertex: complete.vertex.clone(),
            fragment: complete.fragment.clone(),
            report: report.clone(),
        });
        let text = text.map_err(Failure::could_not)?;
        guard::write(&request, text).map_err(Failure::could_not)?;
        #[expect(
            clippy::disallowed_methods,
            reason = "a file of the scratch folder, which another process fills"
        )]
        let output = File::create(&log).map_err(Failure::could_not)?;
        let errors = output.try_clone().map_err(Failure::could_not)?;
        let mut command = Command::new(std::env::current_exe().map_err(Failure::could_not)?);
        command.arg("mesa-client").arg(&request).stdin(Stdio::null()).stdout(output).stderr(errors);
        let settings = Settings {
            chip: self.chip,
            draw: false,
            capture: Some(capture.clone()),
            ..Settings::default()
        };
        // Variables of the user that change which driver is loaded, or what it prints, would be part of the answer.
        for name in OTHERS {
            command.env_remove(name);
        }
        command.env("EGL_PLATFORM", "surfaceless");
        command.env("RADEON_DEBUG", "fp,vp");
        command.env("MESA_SHADER_CACHE_DISABLE", "true");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        put_on_card(&mut command, &settings, &self.library)?;
        let status = wait(&mut command, end, self.limit)?;
        let bytes = |path: &Path, limit: u64| match path.exists() {
            true => guard::read(path, limit).map_err(|error| input_file::cannot_read(path, error)),
            false => Ok(Vec::new()),
        };
        let report = bytes(&report, MAX_TEXT)?;
        let report = match report.is_empty() {
            true => None,
            false => Some(serde_json::from_slice(&report).map_err(Failure::could_not)?),
        };
        Ok(Run {
            report,
            capture: bytes(&capture, MAX_CAPTURE)?,
            log: bytes(&log, MAX_TEXT)?,
            status,
        })
    }

    /// Returns the failure of a client that did not answer.
    fn no_report(&self, log: &[u8], status: ExitStatus) -> Failure {
        let log = String::from_utf8_lossy(log);
        let last = log.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let missing = if self.variables.is_empty() && !has_r300_driver() {
            format!(
                "\n  there is no r300_dri.so: `--with mesa` needs Mesa's driver ({INSTALL} libegl1 libegl-mesa0 \
                 libgl1-mesa-dri libgbm1)"
            )
        } else {
            String::new()
        };
        Failure::could_not(anyhow::anyhow!("Mesa gave no answer ({status}): {last}{missing}"))
    }
}

/// Variables that a client does not inherit.
const OTHERS: [&str; 12] = [
    "LIBGL_ALWAYS_SOFTWARE",
    "MESA_LOADER_DRIVER_OVERRIDE",
    "GALLIUM_DRIVER",
    "MESA_GL_VERSION_OVERRIDE",
    "MESA_GLES_VERSION_OVERRIDE",
    "MESA_GLSL_VERSION_OVERRIDE",
    "MESA_SHADER_CAPTURE_PATH",
    "MESA_SHADER_DUMP_PATH",
    "MESA_SHADER_READ_PATH",
    "MESA_GLSL",
    "MESA_DEBUG",
    "NIR_DEBUG",
];

/// Waits for a process until the end of its time.
fn wait(command: &mut Command, end: Option<Instant>, limit: Duration) -> Outcome<ExitStatus> {
    let mut child = command.spawn().map_err(Failure::could_not)?;
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait().map_err(Failure::could_not)? {
            return Ok(status);
        }
        if end.is_some_and(|end| Instant::now() >= end) {
            // A process that has just ended cannot be killed, and does not need to be.
            let _ = child.kill();
            child.wait().map_err(Failure::could_not)?;
            return Err(Failure::could_not(anyhow::anyhow!(
                "stopped after {limit:?}; see --limit-compiler"
            )));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Returns the variables that make a process load the Mesa in a folder: one that packages were unpacked into, or the prefix of an
/// installation.
fn variables(folder: &Path) -> Outcome<Vec<(&'static str, PathBuf)>> {
    let folder = std::path::absolute(folder).map_err(Failure::could_not)?;
    let roots = [folder.join("usr"), folder.clone()];
    let libraries = roots.iter().flat_map(|root| {
        let multiarch = guard::entries(&root.join("lib"));
        multiarch.into_iter().chain([root.join("lib64"), root.join("lib")])
    });
    let has_driver = |path: &PathBuf| path.join("dri/r300_dri.so").exists();
    let libraries = libraries.chain([folder.clone()]).find(has_driver).ok_or_else(|| {
        Failure::could_not(anyhow::anyhow!(
            "{}: there is no r300_dri.so in it; name the folder that Mesa was installed into (meson's --prefix), or that its packages \
             were unpacked into (dpkg -x)",
            folder.display()
        ))
    })?;
    let vendor = roots.iter().map(|root| root.join("share/glvnd/egl_vendor.d/50_mesa.json"));
    let mut variables = vec![
        ("LD_LIBRARY_PATH", libraries.clone()),
        ("LIBGL_DRIVERS_PATH", libraries.join("dri")),
        ("GBM_BACKENDS_PATH", libraries.join("gbm")),
    ];
    // An installation without libglvnd has its own libEGL.
    variables.extend(
        vendor
            .into_iter()
            .find(|path| path.exists())
            .map(|path| ("__EGL_VENDOR_LIBRARY_FILENAMES", path)),
    );
    Ok(variables)
}
