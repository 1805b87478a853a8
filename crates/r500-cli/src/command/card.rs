//! `r500 card` and `r500 capture`: running a program on the virtual card.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use r500::exec::EngineName;
use r500_stream::Chip;

#[cfg(target_os = "linux")]
use super::captured_program;
#[cfg(target_os = "linux")]
use super::card_process::{INSTALL, absolute, has_r300_driver, library, put_on_card};
use super::exit::{Failure, Outcome};
#[cfg(target_os = "linux")]
use super::output_file::create_folder;
use super::syntax::{self, seconds};
#[cfg(target_os = "linux")]
use super::terminal;

/// Run a program on the virtual card.
///
/// The program finds a Radeon of the X1000 series at /dev/dri/card0 and /dev/dri/renderD128: Mesa's r300
/// driver draws on it, and so do programs that make their own requests of the kernel's radeon driver. It
/// takes no card, no kernel driver, no root, and no change of the program or of Mesa. All processes
/// that the program starts find a card of their own. The program's exit status is that of this
/// command. Programs that are linked statically or run with other rights do not see the card.
#[derive(Args, Debug)]
#[command(after_help = CARD_AFTER)]
pub(super) struct Card {
    #[command(flatten)]
    card: CardArgs,
    /// Draw nothing: buffers keep what the program wrote
    #[arg(long)]
    no_draw: bool,
    #[command(flatten)]
    program: ProgramArgs,
}

/// Run a program on the virtual card and keep what it submits.
///
/// Every submission goes into a capture with the contents of its buffers, as far as they changed, and
/// with hashes of what the card drew. If the program runs several processes that draw, the
/// captures of the later ones are named FILE.1.r5cs, FILE.2.r5cs and so on; older captures of
/// these names are deleted first. A capture gets its name when its process ends; that of a process that
/// crashes or is killed stays as .FILE.r500-part, which can be replayed. If nothing was submitted, there is no
/// capture, and a warning says so. The program gets the signals that this command gets.
#[derive(Args, Debug)]
#[command(after_help = CAPTURE_AFTER)]
pub(super) struct Capture {
    /// The capture
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    card: CardArgs,
    /// Draw nothing: submissions are recorded, buffers keep what the program wrote
    #[arg(long)]
    no_draw: bool,
    #[command(flatten)]
    program: ProgramArgs,
}

/// Which card.
#[derive(Args, Debug)]
struct CardArgs {
    /// The chip
    #[arg(long, value_name = "CHIP", default_value = Chip::default().name(), value_parser = syntax::chip())]
    chip: Chip,
    /// Execute each submission before the program continues
    #[arg(long)]
    sync: bool,
    /// Execute submissions that the kernel's radeon driver would refuse with EINVAL, too
    #[arg(long)]
    no_check: bool,
    /// Print counts when the program ends
    #[arg(long)]
    stats: bool,
    /// Write each frame that goes to the screen into a directory, as frame-00000.png and so on
    #[arg(long, value_name = "DIRECTORY")]
    frames: Option<PathBuf>,
    /// Show the screen in a window, with keyboard and mouse (/dev/input) and at most 60 flips a second; closing it ends the program. Needs a build with the feature `window`
    #[arg(long)]
    window: bool,
    /// Draw frames a second, draws and the card's time by block over the frames of `--window` and `--frames`
    #[arg(long)]
    overlay: bool,
    /// Write when submissions and draws were executed and where their time went, as a trace that Perfetto shows
    #[arg(long, value_name = "FILE.json")]
    profile: Option<PathBuf>,
    /// Width and height of the screen in pixels
    #[arg(long, value_name = "WxH", default_value = "1024x768", value_parser = parse_mode)]
    mode: [u16; 2],
    /// What runs fragment programs; all give the same bits
    #[arg(long, value_name = "ENGINE", default_value = r500_card::Card::USUAL_ENGINE.name(), value_parser = syntax::engine())]
    engine: EngineName,
    /// Choose a rule that the documents leave open; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    reading: Vec<String>,
    /// Seconds that a submission may take before it is given up, as if the card had hung; 0 for any time
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "120")]
    limit_time: Duration,
    /// The library that stands between the program and the system (default: next to this command)
    #[arg(long, value_name = "FILE", env = "R500_CARD_LIBRARY")]
    library: Option<PathBuf>,
}

/// What runs.
#[derive(Args, Debug)]
struct ProgramArgs {
    /// The program and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    command: Vec<OsString>,
}

const CARD_AFTER: &str = "\
Exit status: that of the program; 2 wrong usage; 3 the program or libr500_card.so cannot be started, or a frame
or the profile cannot be written.

Examples:
  r500 card glmark2-es2-drm -b build             Mesa's driver, on a screen of 1024x768
  r500 card --frames out glmark2-es2-drm         each frame as a PNG
  r500 card --profile out.json ./program         where the card's time goes, for ui.perfetto.dev
  r500 card --window glmark2-es2-drm             the screen in a window, if built with --features window
  r500 card --chip r580 --stats es2_info         another chip; counts at the end
  r500 card --engine jit glmark2-es2-drm         fragment programs as machine code
  EGL_PLATFORM=surfaceless r500 card ./program   without a screen";

const CAPTURE_AFTER: &str = "\
Exit status: that of the program, also of one that submits nothing; 2 wrong usage; 3 the program or libr500_card.so
cannot be started, or the capture cannot be written.

Examples:
  r500 capture -o demo.r5cs glmark2-es2-drm -b build:duration=1
  r500 capture -o demo.r5cs --no-draw ./program   as fast as the program is";

fn parse_mode(text: &str) -> Result<[u16; 2], String> {
    let sides = text.split_once('x').and_then(|(w, h)| Some([w.parse().ok()?, h.parse().ok()?]));
    let fits = sides.filter(|sides| sides.iter().all(|side| (1..=4096).contains(side)));
    fits.ok_or_else(|| "expected WIDTHxHEIGHT, each from 1 to 4096".to_owned())
}

impl Card {
    pub(super) fn run(&self) -> Outcome {
        self.card.start(&self.program, !self.no_draw, None)
    }
}

impl Capture {
    pub(super) fn run(&self) -> Outcome {
        #[cfg(target_os = "linux")]
        make_way(&self.output)?;
        self.card.start(&self.program, !self.no_draw, Some(&self.output))
    }
}

/// Deletes the captures or profiles of an earlier run, the file and its numbered siblings, and finds out whether there can be a new one.
#[cfg(target_os = "linux")]
fn make_way(path: &Path) -> Outcome<()> {
    let cannot = |error: std::io::Error| {
        Failure::could_not(error).context(format!("cannot write {}", path.display()))
    };
    if std::fs::metadata(path).is_ok_and(|meta| !meta.is_file()) {
        return Err(cannot(std::io::Error::other("this is not a regular file")));
    }
    for number in 0.. {
        let path = r500_drm::capture_path(path, number);
        let found = r500::files::remove(&path).map_err(|error| {
            Failure::could_not(error).context(format!("cannot replace {}", path.display()))
        })?;
        if !found && number > 0 {
            break;
        }
    }
    // Dropped before it is complete, it leaves nothing.
    r500::files::Output::create_new(path).map_err(cannot)?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
impl CardArgs {
    fn start(&self, _: &ProgramArgs, _: bool, _: Option<&Path>) -> Outcome {
        Err(Failure::could_not(anyhow::anyhow!(
            "the virtual card is a Linux device: it runs on Linux only"
        )))
    }
}

#[cfg(target_os = "linux")]
impl CardArgs {
    /// Becomes the program; captures it, or shows its screen, until it ends. Returns only if that fails, or when the window is closed.
    fn start(&self, program: &ProgramArgs, draw: bool, capture: Option<&Path>) -> Outcome {
        use std::os::unix::process::CommandExt;

        if self.overlay && !self.window && self.frames.is_none() {
            return Err(Failure::usage("--overlay is drawn over frames of --window or --frames"));
        }
        #[cfg(not(feature = "window"))]
        if self.window {
            return Err(super::exit::no_windows());
        }
        #[cfg(feature = "window")]
        let window = self.window.then(super::card_window::CardWindow::new).transpose()?;
        let settings = r500_drm::Settings {
            #[cfg(feature = "window")]
            window: window.as_ref().map(|window| window.name().to_owned()),
            #[cfg(feature = "window")]
            input: window.as_ref().map(|window| window.input_name().to_owned()),
            #[cfg(not(feature = "window"))]
            window: None,
            #[cfg(not(feature = "window"))]
            input: None,
            chip: self.chip,
            draw,
            sync: self.sync,
            check: !self.no_check,
            stats: self.stats,
            capture: capture.map(absolute).transpose()?,
            frames: self.frames.as_deref().map(absolute).transpose()?,
            overlay: self.overlay,
            profile: self.profile.as_deref().map(absolute).transpose()?,
            mode: self.mode,
            engine: Some(self.engine.name().to_owned()),
            readings: self.reading.clone(),
            limit_time: self.limit_time,
            parent: capture.map(|_| std::process::id()),
        };
        if let Some(profile) = &self.profile {
            make_way(profile)?;
        }
        if let Some(frames) = &settings.frames {
            create_folder(frames)?;
        }
        let (name, arguments) =
            program.command.split_first().ok_or_else(|| Failure::usage("which program?"))?;
        let mut command = std::process::Command::new(name);
        command.args(arguments);
        put_on_card(&mut command, &settings, &library(self.library.as_deref())?)?;
        if !has_r300_driver() {
            terminal::note(&format!(
                "there is no r300_dri.so: programs that draw with OpenGL find no driver for the card ({INSTALL} \
                 libegl1 libegl-mesa0 libgl1-mesa-dri libgbm1)"
            ));
        }
        let program = name.to_string_lossy();
        let end = |status| -> ! {
            if let Some(path) = capture {
                captured_program::report(path, name, status);
            }
            captured_program::end_like(status)
        };
        #[cfg(feature = "window")]
        if let Some(window) = window {
            match command.spawn() {
                Ok(child) => {
                    return match window.show(format!("{program} - r500"), child)? {
                        Some(status) => end(status),
                        None => Ok(super::exit::Status::Fine),
                    };
                }
                Err(error) => return Err(not_started(error, &program)),
            }
        }
        let error = match capture {
            None => command.exec(),
            Some(_) => match captured_program::wait_for(&mut command) {
                Ok(status) => end(status),
                Err(error) => error,
            },
        };
        Err(not_started(error, &program))
    }
}

/// Returns the failure of a program that cannot be started.
#[cfg(target_os = "linux")]
fn not_started(error: std::io::Error, program: &str) -> Failure {
    let hint = match package_of(program) {
        Some(package) if error.kind() == std::io::ErrorKind::NotFound => {
            format!(" ({INSTALL} {package})")
        }
        _ => String::new(),
    };
    Failure::could_not(error).context(format!("cannot start {program}{hint}"))
}

/// Returns the Debian package of a program that one runs on the card to see whether it works.
#[cfg(target_os = "linux")]
fn package_of(program: &str) -> Option<&'static str> {
    Some(match program {
        "glmark2-es2-drm" => "glmark2-es2-drm",
        "eglinfo" | "es2_info" | "es2gears" => "mesa-utils",
        "kmscube" => "kmscube",
        "piglit" => "piglit",
        _ => return None,
    })
}
