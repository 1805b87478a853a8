//! Numbers of frames: how many a second, their draws, and the machine's time by block.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::machine::DrawTime;

/// How long the overlay shows the same numbers, which are means of the time before.
const SHOWN: Duration = Duration::from_millis(500);

/// The work of the machine in a frame, or in several.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Numbers {
    pub(crate) submissions: u64,
    pub(crate) draws: u64,
    /// The time of the machine.
    pub(crate) machine: Duration,
    /// The same of the draws by block.
    pub(crate) blocks: Vec<(&'static str, Duration)>,
}

impl Numbers {
    fn add(&mut self, other: &Self) {
        self.submissions += other.submissions;
        self.draws += other.draws;
        self.machine += other.machine;
        for (name, time) in &other.blocks {
            match self.blocks.iter_mut().find(|(known, _)| known == name) {
                Some((_, sum)) => *sum += *time,
                None => self.blocks.push((name, *time)),
            }
        }
    }
}

/// The numbers since the last frame, and since the overlay's text was made.
#[derive(Debug)]
pub(crate) struct Pace {
    frame: Numbers,
    sum: Numbers,
    frames: u32,
    since: Instant,
    text: String,
}

impl Pace {
    pub(crate) fn new(now: Instant) -> Self {
        let (frame, sum) = (Numbers::default(), Numbers::default());
        Self { frame, sum, frames: 0, since: now, text: String::new() }
    }

    /// Adds a submission.
    pub(crate) fn add(&mut self, machine: Duration, draws: &[DrawTime]) {
        let (submissions, draw_count) = (1, draws.len() as u64);
        self.frame.add(&Numbers { submissions, draws: draw_count, machine, blocks: Vec::new() });
        for draw in draws {
            self.frame.add(&Numbers { blocks: draw.blocks.clone(), ..Numbers::default() });
        }
    }

    /// Ends a frame. Returns its numbers.
    pub(crate) fn frame(&mut self, now: Instant) -> Numbers {
        let frame = std::mem::take(&mut self.frame);
        self.sum.add(&frame);
        self.frames += 1;
        let elapsed = now.duration_since(self.since);
        if self.text.is_empty() || elapsed >= SHOWN {
            self.text = text(&self.sum, self.frames, elapsed);
            (self.sum, self.frames, self.since) = (Numbers::default(), 0, now);
        }
        frame
    }

    /// Returns the lines of the overlay.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

/// Returns lines with the means of frames that took the time `elapsed`.
fn text(sum: &Numbers, frames: u32, elapsed: Duration) -> String {
    let each = 1.0 / f64::from(frames.max(1));
    let ms = |time: Duration| time.as_secs_f64() * 1e3 * each;
    let mut text = match elapsed.as_secs_f64() {
        0.0 => String::new(),
        seconds => format!("{:6.1} frames/s\n", f64::from(frames) / seconds),
    };
    // Writing to a string does not fail.
    let _ = writeln!(text, "{:6.0} draws", sum.draws as f64 * each);
    let _ = writeln!(text, "{:6.1} ms card", ms(sum.machine));
    for (name, time) in &sum.blocks {
        let _ = writeln!(text, "{:6.1} ms {name}", ms(*time));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(now: Instant, vertices: u64, fragments: u64) -> DrawTime {
        let ms = Duration::from_millis;
        DrawTime {
            number: 0,
            begin: now,
            end: now + ms(vertices + fragments),
            blocks: vec![("vertices", ms(vertices)), ("fragments", ms(fragments))],
            counts: Vec::new(),
        }
    }

    #[test]
    fn the_text_has_means_of_the_frames_since_the_last_one() {
        let begin = Instant::now();
        let at = |ms| begin + Duration::from_millis(ms);
        let mut pace = Pace::new(begin);
        pace.add(Duration::from_millis(8), &[draw(begin, 2, 4)]);
        let first = pace.frame(at(100));
        assert_eq!((first.submissions, first.draws), (1, 1));
        assert_eq!(
            pace.text(),
            "  10.0 frames/s\n     1 draws\n   8.0 ms card\n   2.0 ms vertices\n   4.0 ms fragments\n"
        );
        // The text stays for half a second, then has the means of four frames, one of them without draws.
        for n in 0..4 {
            let draws = if n == 0 { Vec::new() } else { vec![draw(begin, 4, 8); 4] };
            pace.add(Duration::from_millis(20), &draws);
            let numbers = pace.frame(at(300 + 100 * n));
            assert_eq!(numbers.draws, if n == 0 { 0 } else { 4 });
            assert_eq!(pace.text().starts_with("  10.0"), n < 3, "{}", pace.text());
        }
        assert_eq!(
            pace.text(),
            "   8.0 frames/s\n     3 draws\n  20.0 ms card\n  12.0 ms vertices\n  24.0 ms fragments\n"
        );
    }
}
