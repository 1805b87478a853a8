//! The adapter between the device and the virtual chip.

use r500_card::{Card, Limits, TimedBlock};
use r500_drm::{DrawTime, Fault, Machine, Settings};
use r500_exec::EngineName;
use r500_fast::Simd;
use r500_jit::{engine, vertex_engine};
use r500_stream::{Submission, counted};

/// A chip that executes submissions.
#[derive(Debug, Default)]
struct Chip(Card);

/// Returns the machine that executes submissions; `None` if drawing is disabled. Fails if the engine or a reading does not exist.
pub(crate) fn new(settings: &Settings) -> Result<Option<Box<dyn Machine>>, String> {
    if !settings.draw {
        return Ok(None);
    }
    let name = settings.engine.as_deref().map_or(Ok(Card::USUAL_ENGINE), str::parse::<EngineName>);
    let name = name.map_err(|error| error.to_string())?;
    let (simd, of_engine) = (Simd::detect(), r500_jit::Settings::default());
    let mut card = Card::with_engine(engine(name, simd, of_engine));
    card.set_vertex_engine(vertex_engine(name, simd, of_engine));
    let time = Some(settings.limit_time).filter(|time| !time.is_zero());
    card.set_limits(Limits { time, ..Limits::default() });
    card.set_draw_times(settings.measures());
    for reading in &settings.readings {
        let (name, value) = reading
            .split_once('=')
            .ok_or_else(|| format!("reading {reading:?} is not NAME=VALUE"))?;
        card.set_reading(name, value).map_err(|error| error.to_string())?;
    }
    Ok(Some(Box::new(Chip(card))))
}

impl Chip {
    /// Number of reads of stale texels that are listed.
    const READS: usize = 20;
}

impl Machine for Chip {
    fn submit(&mut self, submission: &Submission) -> Result<(), Fault> {
        self.0.submit(submission).map_err(|error| Fault(error.to_string()))
    }

    fn report(&self, stats: bool) -> Vec<String> {
        let report = self.0.report();
        let notes = report.notes().map(|(note, count)| match count {
            1 => format!("not drawn as a card does: {note}"),
            count => format!("not drawn as a card does: {note} ({count} times)"),
        });
        // Without statistics, only draws that the slow engine took over.
        let engines = report.engines().filter(|(choice, _)| stats || choice.steps_aside());
        let engines =
            engines.map(|(choice, draws)| format!("{} by {choice}", counted(draws, "draw")));
        let stale = report.stale_texels_note().into_iter();
        let reads = report.stale_texels().iter().take(Self::READS).map(ToString::to_string);
        let programs = report.programs().map(|programs| programs.to_string());
        let vertices = report.vertex_engines();
        let vertices =
            vertices.map(|(choice, count)| format!("{} by {choice}", counted(count, "vertex")));
        let counts = [report.statistics.to_string()].into_iter().chain(programs).chain(vertices);
        let counts = stats.then(|| reads.chain(counts));
        notes.chain(stale).chain(counts.into_iter().flatten()).chain(engines).collect()
    }

    fn take_draw_times(&mut self) -> Vec<DrawTime> {
        let times = self.0.take_draw_times().into_iter().map(|time| DrawTime {
            number: time.number,
            begin: time.begin,
            end: time.end,
            blocks: TimedBlock::ALL.map(TimedBlock::name).into_iter().zip(time.blocks).collect(),
            counts: vec![
                ("vertices", time.vertices),
                ("primitives", time.primitives),
                ("quads", time.quads),
            ],
        });
        times.collect()
    }
}
