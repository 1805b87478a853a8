//! Where the time goes: a trace of submissions, draws, waits and frames, and the overlay with the numbers of a frame.

mod overlay;
mod pace;
mod trace;

use std::sync::Mutex;
use std::time::Instant;

use r500_stream::Submission;
use r500_stream::capture::Picture;

use crate::Settings;
use crate::lock::locked;
use crate::machine::DrawTime;

use pace::Pace;
use trace::{Span, Trace};

/// What is measured of a process.
#[derive(Debug)]
pub(crate) struct Profile {
    trace: Option<Trace>,
    pace: Mutex<Pace>,
    overlay: bool,
}

impl Profile {
    /// Returns what the settings measure, if anything.
    pub(crate) fn new(settings: &Settings) -> Option<Self> {
        settings.measures().then(|| Self {
            trace: settings.profile.clone().map(Trace::new),
            pace: Mutex::new(Pace::new(Instant::now())),
            overlay: settings.overlay,
        })
    }

    /// Records a submission that the machine executed since `begin`, on the machine's thread. Submissions count from 1.
    pub(crate) fn submission(
        &self,
        number: u64,
        submission: &Submission,
        begin: Instant,
        draws: &[DrawTime],
    ) {
        let end = Instant::now();
        locked(&self.pace).add(end.duration_since(begin), draws);
        if let Some(trace) = &self.trace {
            trace.submission(number, submission.words.len(), Span { begin, end }, draws);
        }
    }

    /// Records what the program waited for since `begin`, on the program's thread.
    pub(crate) fn request(&self, name: &'static str, begin: Instant) {
        if let Some(trace) = &self.trace {
            trace.request(name, Span { begin, end: Instant::now() });
        }
    }

    /// Records that a frame is shown, and draws the overlay into its rows of 8-bit red, green and blue.
    pub(crate) fn frame(&self, number: u32, picture: &Picture, rgb: &mut [u8]) {
        let now = Instant::now();
        let (numbers, text) = {
            let mut pace = locked(&self.pace);
            let numbers = pace.frame(now);
            (numbers, pace.text().to_owned())
        };
        if let Some(trace) = &self.trace {
            trace.frame(number, now, &numbers);
        }
        if self.overlay {
            overlay::draw(&text, [picture.width, picture.height], rgb);
        }
    }

    /// Completes the trace. With `wait` false, does nothing if another thread writes it at this moment.
    pub(crate) fn finish(&self, wait: bool) {
        if let Some(trace) = &self.trace {
            trace.finish(wait);
        }
    }

    /// Returns whether the trace could not be written, which was reported then.
    pub(crate) fn has_failed(&self) -> bool {
        self.trace.as_ref().is_some_and(Trace::has_failed)
    }
}
