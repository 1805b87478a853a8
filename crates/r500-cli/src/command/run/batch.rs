//! Batching of rows: rows with equal constants are pixels of one picture.

use std::sync::Arc;

use r500::exec::{Bindings, Drawing, Engine, Frame, Options, RuntimeWarnings, Shader};
use r500::program::{Input, InputData, Job};
use r500::row_text::Row;
use r500_stream::counted;

use super::Run;
use super::results::Results;
use crate::command::engine_args;
use crate::command::exit::{Failure, Outcome};

/// Limit of the rows of a picture, and of rows in memory.
pub(super) const CHUNK: usize = 4096;

/// Draws rows in batches.
pub(super) struct Batches<'r> {
    job: &'r Job,
    quads: bool,
    engine: &'static dyn Engine,
    shader: Arc<Shader>,
    options: Options<'static>,
    drawing: Option<Drawing<'static>>,
    bound: Option<Bound>,
    /// Rows that are not drawn yet.
    pending: Vec<Row>,
    /// Number of rows before these.
    drawn: usize,
    /// The targets that the program writes.
    targets: Vec<usize>,
    results: Results<'r>,
    pub(super) findings: RuntimeWarnings,
}

/// Bindings of the last picture; the next one with the same layout only changes values.
struct Bound {
    layout: Layout,
    bindings: Bindings,
    frame: Frame,
}

#[derive(PartialEq)]
struct Layout {
    width: u32,
    temps: Vec<u8>,
    /// Channels of constants that rows set.
    constants: Vec<(usize, usize)>,
}

impl<'r> Batches<'r> {
    pub(super) fn new(
        run: &'r Run,
        job: &'r Job,
        shader: Shader,
        targets: Vec<usize>,
        results: Results<'r>,
    ) -> Outcome<Self> {
        let options =
            Options { group: [2, 2], warnings: run.wants_findings(), ..run.machine.options()? };
        Ok(Self {
            job,
            quads: run.quads,
            engine: run.machine.engine(),
            shader: Arc::new(shader),
            options,
            drawing: None,
            bound: None,
            pending: Vec::with_capacity(CHUNK),
            drawn: 0,
            targets,
            results,
            findings: RuntimeWarnings::default(),
        })
    }

    /// Adds the next row.
    pub(super) fn push(&mut self, row: Row) -> Outcome<()> {
        if self.drawn == 0 && self.pending.is_empty() {
            let mut job = self.job.clone();
            row.set_constants(&mut job.program.state);
            engine_args::warn_missing(&job, false);
        }
        self.pending.push(row);
        if self.pending.len() == CHUNK { self.draw_pending() } else { Ok(()) }
    }

    /// Draws the remaining rows, and returns the results.
    pub(super) fn finish(mut self) -> Outcome<(Results<'r>, RuntimeWarnings)> {
        if self.quads {
            check_quads_full(self.drawn + self.pending.len())?;
        }
        self.draw_pending()?;
        Ok((self.results, self.findings))
    }

    fn draw_pending(&mut self) -> Outcome<()> {
        if self.quads {
            check_quad_constants(&self.pending, self.drawn)?;
        }
        let pending = std::mem::take(&mut self.pending);
        for rows in batches(&pending, if self.quads { 4 } else { 1 }) {
            self.draw(rows)?;
        }
        self.drawn += pending.len();
        // Reuses the memory.
        self.pending = pending;
        self.pending.clear();
        Ok(())
    }

    /// Draws rows with equal constants.
    fn draw(&mut self, rows: &[Row]) -> Outcome<()> {
        let layout = Layout {
            width: width(rows, self.quads),
            temps: temps(rows),
            constants: rows[0].constants.keys().copied().collect(),
        };
        let mut bound = match self.bound.take() {
            Some(mut bound) if bound.layout == layout => {
                self.set_values(&mut bound, rows)?;
                bound
            }
            _ => {
                let (job, width) = side_by_side(self.job, rows, self.quads);
                let bindings = Bindings::new(&job, [width, 2]).map_err(engine_args::not_bound)?;
                let frame = Frame::new(&self.shader, &bindings, &self.options);
                Bound { layout, bindings, frame: frame.map_err(engine_args::not_run)? }
            }
        };
        let drawing = match &mut self.drawing {
            Some(drawing) => drawing,
            none => {
                let (shader, options) = (Arc::clone(&self.shader), self.options.clone());
                let drawing = Drawing::new(self.engine, shader, &bound.bindings, options);
                none.insert(drawing.map_err(engine_args::not_run)?)
            }
        };
        drawing.draw_into(&bound.bindings, &mut bound.frame).map_err(engine_args::not_run)?;
        let frame = &bound.frame;
        for i in 0..rows.len() {
            let (x, y) = place(i, self.quads);
            let index = (y * frame.width() + x) as usize;
            let depth = frame.depth().map(|depth| depth[index]);
            let colors = self.targets.iter().map(|&target| frame.color(target, x, y));
            self.results.add(Some(frame.coverage()[index]), colors, depth)?;
        }
        self.findings.merge(&frame.warnings);
        self.bound = Some(bound);
        Ok(())
    }

    /// Replaces the values of earlier rows with the same layout.
    fn set_values(&self, bound: &mut Bound, rows: &[Row]) -> Outcome<()> {
        for &temp in &bound.layout.temps {
            let Some(values) = bound.bindings.input_values_mut(temp) else { continue };
            values.fill([0.0; 4]);
            spread(rows, temp, bound.layout.width, self.quads, values);
        }
        let given = &self.job.program.state.constants;
        let constants = &rows[0].constants;
        let mut numbers: Vec<usize> = constants.keys().map(|(constant, _)| *constant).collect();
        numbers.dedup();
        for n in numbers {
            let mut bits = given.get(n).copied().unwrap_or_default();
            for (channel, bits) in bits.iter_mut().enumerate() {
                *bits = constants.get(&(n, channel)).copied().unwrap_or(*bits);
            }
            let value = bits.map(f32::from_bits);
            bound.bindings.set_constant(n, value).map_err(engine_args::not_bound)?;
        }
        Ok(())
    }
}

/// Rejects a number of rows that is not a multiple of four.
pub(super) fn check_quads_full(rows: usize) -> Outcome<()> {
    match rows.is_multiple_of(4) {
        true => Ok(()),
        false => Err(Failure::input(anyhow::anyhow!(
            "--quads: {} cannot fill quads of four",
            counted(rows, "row")
        ))),
    }
}

/// Rejects quads whose rows have different constants; `drawn` rows precede them.
pub(super) fn check_quad_constants(rows: &[Row], drawn: usize) -> Outcome<()> {
    let mixed = |quad: &[Row]| quad.iter().any(|row| row.constants != quad[0].constants);
    let Some(quad) = rows.chunks(4).position(mixed) else { return Ok(()) };
    let first = drawn + quad * 4;
    Err(Failure::input(anyhow::anyhow!(
        "--quads: rows {first} to {} form a quad and differ in constants",
        first + 3
    )))
}

/// Returns a picture of height two for rows with equal constants, and its width.
///
/// With `quads`, a multiple of four rows.
pub(super) fn side_by_side(job: &Job, rows: &[Row], quads: bool) -> (Job, u32) {
    let mut job = job.clone();
    if let Some(row) = rows.first() {
        row.set_constants(&mut job.program.state);
    }
    let width = width(rows, quads);
    let inputs = temps(rows).into_iter().map(|temp| {
        let mut values = vec![[0.0; 4]; width as usize * 2];
        spread(rows, temp, width, quads, &mut values);
        Input { temp, data: InputData::Values { width, values } }
    });
    job.inputs = Some(inputs.collect());
    job.coverage = None;
    job.size = Some([width, 2]);
    (job, width)
}

/// Returns the width of the picture of rows: each a quad of its own, or quads of four rows.
fn width(rows: &[Row], quads: bool) -> u32 {
    debug_assert!(!quads || rows.len().is_multiple_of(4), "quads are checked to be full");
    let per_quad = if quads { 4 } else { 1 };
    (rows.len() / per_quad * 2) as u32
}

/// Returns the temporaries that rows set.
fn temps(rows: &[Row]) -> Vec<u8> {
    let mut temps: Vec<u8> = Vec::new();
    for row in rows {
        // Mostly the same ones in each row.
        if !row.inputs.keys().eq(&temps) {
            temps.extend(row.inputs.keys());
            temps.sort_unstable();
            temps.dedup();
        }
    }
    temps
}

/// Writes the values of a temporary to the pixels of their rows.
fn spread(rows: &[Row], temp: u8, width: u32, quads: bool, values: &mut [[f32; 4]]) {
    let copies: &[(u32, u32)] = if quads { &[(0, 0)] } else { &[(0, 0), (1, 0), (0, 1), (1, 1)] };
    for (i, row) in rows.iter().enumerate() {
        let Some(&value) = row.inputs.get(&temp) else { continue };
        let (x, y) = place(i, quads);
        for (dx, dy) in copies {
            values[((y + dy) * width + x + dx) as usize] = value;
        }
    }
}

/// Returns the pixel of a row.
fn place(row: usize, quads: bool) -> (u32, u32) {
    if quads { ((row / 4 * 2 + row % 2) as u32, (row % 4 / 2) as u32) } else { (row as u32 * 2, 0) }
}

/// Splits rows into runs with equal constants, each a multiple of `unit` rows.
fn batches(rows: &[Row], unit: usize) -> impl Iterator<Item = &[Row]> {
    let mut rest = rows;
    std::iter::from_fn(move || {
        let first = rest.first()?;
        let same = |chunk: &&[Row]| chunk.iter().all(|row| row.constants == first.constants);
        let chunks = rest.chunks(unit).take_while(same).count().max(1);
        let (batch, behind) = rest.split_at((chunks * unit).min(rest.len()));
        rest = behind;
        Some(batch)
    })
}
