//! Terminal output: messages, colours, progress, pictures.

use std::io::{IsTerminal, StderrLock, StdoutLock, Write};
use std::sync::OnceLock;

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use r500::picture::Picture;

use super::safe_text::SafeText;

/// Prints `error: …` to stderr.
pub(crate) fn error(message: &str) {
    print_message("error", "31", message);
}

/// Prints text to stderr.
pub(crate) fn plain(text: &str) {
    // An error here cannot be reported.
    let _ = writeln!(err(), "{text}");
}

/// Prints `warning: …` to stderr.
pub(super) fn warn(message: &str) {
    print_message("warning", "33", message);
}

/// Prints `note: …` to stderr.
pub(super) fn note(message: &str) {
    print_message("note", "36", message);
}

fn print_message(label: &str, color: &str, message: &str) {
    let message = r500::asm::visible(message);
    // An error here cannot be reported.
    let _ = if colors(&std::io::stderr()) {
        writeln!(err(), "\x1b[1;{color}m{label}\x1b[0m: {message}")
    } else {
        writeln!(err(), "{label}: {message}")
    };
}

/// Returns stdout for text and JSON. Characters of an input that would disturb a terminal are escaped, wherever the
/// output goes.
pub(super) fn out() -> SafeText<StdoutLock<'static>> {
    let stdout = std::io::stdout();
    let colors = colors(&stdout);
    SafeText::new(stdout.lock(), colors)
}

/// Returns stderr, with the same filter.
pub(super) fn err() -> SafeText<StderrLock<'static>> {
    let stderr = std::io::stderr();
    let colors = colors(&stderr);
    SafeText::new(stderr.lock(), colors)
}

/// Returns stdout for a modified source: byte for byte, except that a terminal gets text escaped as by [`out`].
pub(super) fn data_out() -> Box<dyn Write> {
    if std::io::stdout().is_terminal() { Box::new(out()) } else { Box::new(std::io::stdout()) }
}

/// When output is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    Never,
    /// On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`.
    Auto,
    Always,
}

/// The choice of the command line, the same for every stream.
static COLOR: OnceLock<Color> = OnceLock::new();

/// Sets when output is coloured; only the first call has an effect.
pub(super) fn set_color(color: Color) {
    COLOR.get_or_init(|| color);
}

/// Returns whether a stream supports colours.
pub(super) fn colors(stream: &impl IsTerminal) -> bool {
    match COLOR.get().copied().unwrap_or(Color::Auto) {
        Color::Never => false,
        Color::Always => true,
        Color::Auto => {
            stream.is_terminal()
                && !is_dumb()
                && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        }
    }
}

/// Returns whether the terminal does not support escape sequences.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Returns a progress bar on stderr, if it is a terminal; it appears after a while.
pub(super) fn progress(length: u64, unit: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() || is_dumb() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr_with_hz(10));
    let template = format!("{{wide_bar}} {{pos}}/{{len}} {unit} {{elapsed}}");
    match ProgressStyle::with_template(&template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Shows the picture in the terminal: two pixels a character, reduced to its width. Without `colors`, characters show
/// brightness.
pub(super) fn show(picture: &Picture, out: &mut impl Write, colors: bool) -> std::io::Result<()> {
    let (columns, lines) = terminal_size::terminal_size()
        .map_or((80, 24), |(width, height)| (u32::from(width.0), u32::from(height.0)));
    let room = (columns.max(2), (lines.max(4) - 2) * 2);
    let shrink = |side: u32, room: u32| f64::from(side) / f64::from(room);
    let factor = shrink(picture.width, room.0).max(shrink(picture.height, room.1)).max(1.0);
    let scaled = |side: u32| ((f64::from(side) / factor).round() as u32).max(1);
    let (width, height) = (scaled(picture.width), scaled(picture.height));
    let sample = |x: u32, y: u32| mean(picture, [x, y], [width, height]);
    for y in (0..height).step_by(2) {
        for x in 0..width {
            let upper = sample(x, y);
            let lower = if y + 1 < height { sample(x, y + 1) } else { [0; 3] };
            if colors {
                let ([r, g, b], [s, h, c]) = (upper, lower);
                write!(out, "\x1b[38;2;{r};{g};{b};48;2;{s};{h};{c}m\u{2580}")?;
            } else {
                let sum: u32 = upper.iter().chain(&lower).map(|&c| u32::from(c)).sum();
                let ramp = b" .:-=+*#%@";
                let shade = ramp[(sum * 9 / (6 * 255)) as usize];
                write!(out, "{}", char::from(shade))?;
            }
        }
        writeln!(out, "{}", if colors { "\x1b[0m" } else { "" })?;
    }
    Ok(())
}

/// Returns the mean colour of the pixels that a pixel of the reduced picture covers, over black.
fn mean(picture: &Picture, [x, y]: [u32; 2], [width, height]: [u32; 2]) -> [u8; 3] {
    let span = |i: u32, n: u32, full: u32| {
        let at = |i: u32| (u64::from(i) * u64::from(full) / u64::from(n)) as u32;
        at(i)..at(i + 1).max(at(i) + 1).min(full)
    };
    let (columns, rows) = (span(x, width, picture.width), span(y, height, picture.height));
    let mut sums = [0u64; 3];
    let mut count = 0u64;
    for pixel in rows.flat_map(|y| columns.clone().map(move |x| picture.pixel(x, y))) {
        for (sum, channel) in sums.iter_mut().zip(pixel) {
            *sum += u64::from(channel) * u64::from(pixel[3]) / 255;
        }
        count += 1;
    }
    sums.map(|sum| (sum / count.max(1)) as u8)
}
