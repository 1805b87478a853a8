//! The card of a process, and open files of its node.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use r500_stream::{Submission, counted};

use crate::capture::Capture;
use crate::display::Display;
use crate::events::EventQueue;
use crate::frame_link::FrameWriter;
use crate::lock::locked;
use crate::objects::{Handles, Objects};
use crate::profile::Profile;
use crate::vblank::Vblank;
use crate::worker::Worker;
use crate::{Errno, Machine, Settings};

/// The card of a process: its buffers, its screen, and the machine that draws.
#[derive(Debug)]
pub struct Device {
    pub(crate) settings: Settings,
    pub(crate) worker: Worker,
    /// Whether there is a machine.
    pub(crate) draws: bool,
    pub(crate) capture: Arc<Capture>,
    /// Held from the recording of a submission until that of its results.
    pub(crate) capture_order: Mutex<()>,
    pub(crate) objects: Mutex<Objects>,
    pub(crate) display: Mutex<Display>,
    pub(crate) vblank: Vblank,
    /// What the global names of buffers are combined with.
    pub(crate) name_key: u32,
    /// The window for frames, if any.
    pub(crate) window: Option<FrameWriter>,
    /// What is measured, if anything.
    pub(crate) profile: Option<Arc<Profile>>,
    counts: Counts,
    /// The process of this card. A child that shares its memory must not end the capture.
    process: u32,
    /// Whether a frame could not be written.
    pub(crate) failed: AtomicBool,
}

#[derive(Debug, Default)]
struct Counts {
    submissions: AtomicU64,
    dwords: AtomicU64,
    relocations: AtomicU64,
}

impl Device {
    /// Returns a card. Without a machine it accepts submissions and draws nothing.
    pub fn new(settings: Settings, machine: Option<Box<dyn Machine>>) -> Result<Arc<Self>, Errno> {
        let profile = Profile::new(&settings).map(Arc::new);
        Ok(Arc::new(Self {
            draws: machine.is_some(),
            worker: Worker::new(machine, profile.clone())?,
            capture: Arc::new(Capture::new(&settings)),
            capture_order: Mutex::default(),
            objects: Mutex::default(),
            display: Mutex::new(Display::new(settings.mode)),
            vblank: Vblank::new(settings.window.is_some()),
            name_key: name_key()?,
            window: settings.window.clone().map(FrameWriter::new),
            profile,
            counts: Counts::default(),
            process: std::process::id(),
            failed: AtomicBool::new(false),
            settings,
        }))
    }

    /// Opens its node, with a queue for events.
    pub fn open(self: &Arc<Self>, events: Arc<EventQueue>) -> File {
        File {
            device: Arc::clone(self),
            handles: Mutex::default(),
            events,
            all_planes: AtomicBool::new(false),
        }
    }

    /// Completes the capture and the profile without waiting, if the process is the one that created the card. For a process that ends at
    /// once.
    pub fn finish_capture(&self) {
        if std::process::id() == self.process {
            self.capture.finish(false);
            if let Some(profile) = &self.profile {
                profile.finish(false);
            }
        }
    }

    /// Returns whether an output could not be written, which was reported then: a frame, the capture, or the profile.
    pub fn has_failed(&self) -> bool {
        let profile = self.profile.as_ref().is_some_and(|profile| profile.has_failed());
        self.failed.load(Ordering::Relaxed) || self.capture.has_failed() || profile
    }

    /// Returns the settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Waits for the machine, and completes the capture and the profile. Returns the lines to print for the user at the end.
    pub fn finish(&self) -> Vec<String> {
        self.worker.wait_all();
        self.capture.finish(true);
        if let Some(profile) = &self.profile {
            profile.finish(true);
        }
        let mut lines = self.worker.report(self.settings.stats);
        if self.settings.stats {
            let [submissions, dwords, relocations] =
                [&self.counts.submissions, &self.counts.dwords, &self.counts.relocations]
                    .map(|count| count.load(Ordering::Relaxed));
            let frames = locked(&self.display).frames();
            lines.push(format!(
                "{}, {}, {}, {}",
                counted(submissions, "submission"),
                counted(dwords, "dword"),
                counted(relocations, "relocation"),
                counted(frames, "frame")
            ));
        }
        lines
    }

    /// Executes what a program waits for; it is part of the profile.
    pub(crate) fn timed<T>(&self, name: &'static str, wait: impl FnOnce() -> T) -> T {
        let Some(profile) = &self.profile else { return wait() };
        let begin = Instant::now();
        let result = wait();
        profile.request(name, begin);
        result
    }

    pub(crate) fn count(&self, submission: &Submission) {
        let counts = &self.counts;
        counts.submissions.fetch_add(1, Ordering::Relaxed);
        counts.dwords.fetch_add(submission.words.len() as u64, Ordering::Relaxed);
        counts.relocations.fetch_add(submission.relocations.len() as u64, Ordering::Relaxed);
    }
}

/// Returns a number that other processes do not have. Ids of buffers are small: with it, a name is not 0.
fn name_key() -> Result<u32, Errno> {
    let mut random = [0_u8; 4];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
    Ok(u32::from_ne_bytes(random) | 0x4000_0000)
}

/// An open file of the node: buffer handles, and an event queue.
#[derive(Debug)]
pub struct File {
    pub(crate) device: Arc<Device>,
    pub(crate) handles: Mutex<Handles>,
    pub(crate) events: Arc<EventQueue>,
    all_planes: AtomicBool,
}

impl File {
    /// The card.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Sets whether the primary plane is listed.
    pub(crate) fn list_all_planes(&self, all: bool) {
        self.all_planes.store(all, Ordering::Relaxed);
    }

    /// Returns whether the plane of the screen is listed.
    pub(crate) fn lists_all_planes(&self) -> bool {
        self.all_planes.load(Ordering::Relaxed)
    }

    /// Handles the close of the last descriptor: releases all buffers.
    pub fn release(&self) {
        *locked(&self.handles) = Handles::default();
        self.events.close();
    }
}
