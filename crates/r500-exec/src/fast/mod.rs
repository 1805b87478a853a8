//! The fast engine: batches of pixels, operation by operation.
//!
//! A drawing is [lifted](mod@crate::ir) once to operations on single channels. Each operation is then
//! a loop over some hundred pixels at once, whose values lie one after the other, sixteen to a
//! chunk: the loops are plain Rust, compiled for each level of vector instructions
//! and chosen at run time ([`Simd`]), and the values in use fit the processor's first cache.
//!
//! ```text
//! Function ──code──▶ Code (steps over slots) ──machine──▶ Band
//!                                               │
//!                          lanes (loops), simd (levels), fp_env (denormals), tile (batches)
//! ```
//!
//! What has no [`Function`](crate::ir::Function) runs on the [reference engine](mod@crate::reference);
//! [`Ran::instead`](crate::Ran) says why.

mod code;
pub(crate) mod fp_env;
mod kernels;
pub(crate) mod lanes;
mod machine;
mod memory;
mod peak;
pub(crate) mod simd;
mod tile;

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::frame::Band;
use crate::ir;
use crate::reference::{Group, Reference};
use crate::{Block, Draw, Engine, Prepared, Ran, Report, RunError};
use code::Code;
use machine::{Desk, Machine};
use tile::{Centres, Leave, ROWS, Tile};

pub use simd::Simd;

/// The fast engine.
#[derive(Clone, Copy, Debug)]
pub struct Fast {
    simd: Simd,
}

impl Fast {
    /// The engine with the best instructions that this machine has.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Simd::detect())
    }

    /// The engine with certain instructions. The portable ones stand in for what this machine does
    /// not have.
    #[must_use]
    pub fn with(simd: Simd) -> Self {
        Self { simd: if simd.is_available() { simd } else { Simd::Portable } }
    }

    /// The instructions that it uses.
    #[must_use]
    pub fn simd(self) -> Simd {
        self.simd
    }
}

impl Default for Fast {
    fn default() -> Self {
        Self::new()
    }
}

impl Engine for Fast {
    fn name(&self) -> &'static str {
        "fast"
    }

    fn prepare<'a>(&self, draw: Draw<'a>) -> Box<dyn Prepared + 'a> {
        match ir::lift(&draw) {
            Ok(function) => Box::new(Batches::new(draw, &function, self.simd)),
            Err(reason) => {
                Box::new(Instead { reference: Reference.prepare(draw), reason: reason.to_string() })
            }
        }
    }
}

/// What the reference engine draws for this one.
struct Instead<'a> {
    reference: Box<dyn Prepared + 'a>,
    reason: String,
}

impl Prepared for Instead<'_> {
    fn band_rows(&self) -> u32 {
        self.reference.band_rows()
    }

    fn band(&self, band: &mut Band<'_>) -> Result<Report, RunError> {
        self.reference.band(band)
    }

    fn ran(&self) -> Ran {
        Ran { instead: Some(self.reason.clone()), ..self.reference.ran() }
    }
}

/// A picture drawn batch by batch.
struct Batches<'a> {
    draw: Draw<'a>,
    code: Code,
    simd: Simd,
    /// Chunks of a batch beside each other.
    columns: u32,
    centres: Centres,
    /// Memory that no thread is using: getting it anew for each band would take longer than a short
    /// program.
    desks: Mutex<Vec<Desk>>,
}

/// Bytes that the slots of a batch should not exceed, so that they stay in the processor's second
/// cache. Larger batches make less of what a step costs beside its loop, above all where few pixels
/// are left in a loop, and that is worth more than the first cache (measured, see the guide).
const NEAR: usize = 96 << 10;

impl<'a> Batches<'a> {
    fn new(draw: Draw<'a>, function: &ir::Function, simd: Simd) -> Self {
        let code = Code::new(function, simd);
        let column = (ROWS / 4) as usize * size_of::<lanes::Chunk>() * code.slots.max(1) as usize;
        let columns = u32::try_from(NEAR / column).unwrap_or(1).clamp(1, 16);
        // Of powers of two only, so that chunks lie in squares.
        let columns = 1 << columns.ilog2();
        let centres = Centres::new(draw.bindings.size());
        Self { draw, code, simd, columns, centres, desks: Mutex::default() }
    }
}

impl Batches<'_> {
    fn desks(&self) -> MutexGuard<'_, Vec<Desk>> {
        self.desks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Draws again, as groups, what pixels by themselves may have drawn otherwise.
    fn draw_dubious(
        &self,
        tile: &Tile<'_>,
        machine: &mut Machine<'_>,
        band: &mut Band<'_>,
    ) -> Result<(), RunError> {
        for (chunk, (x, y)) in tile.chunks().enumerate() {
            if !std::mem::take(&mut machine.dubious[chunk]) {
                continue;
            }
            machine.counters.killed -= u64::from(machine.killed[chunk]);
            let mut group = Group::new(&self.draw, Block { x, y, width: 4, height: 4 });
            group.run()?;
            for lane in group.lanes() {
                band.clear_pixel(lane.x, lane.y);
                band.put_pixel(lane.x, lane.y, &lane.output());
            }
            machine.counters.merge(group.counters());
        }
        Ok(())
    }
}

impl Prepared for Batches<'_> {
    fn band_rows(&self) -> u32 {
        ROWS
    }

    fn band(&self, band: &mut Band<'_>) -> Result<Report, RunError> {
        let chunks = (self.columns * (ROWS / 4)) as usize;
        let desk = self.desks().pop().unwrap_or_else(|| Desk::new(&self.code, chunks));
        let mut machine = Machine::new(&self.draw, &self.code, self.simd, desk);
        let block = band.block();
        let mut x = block.x - block.x % 4;
        let y = block.y - block.y % ROWS;
        while x < block.x + block.width {
            let tile = Tile { x, y, columns: self.columns, centres: &self.centres };
            if tile.cover(&mut machine, band) {
                machine.run(&tile)?;
            }
            self.simd.run_plain(Leave { tile: &tile, machine: &mut machine, band });
            self.draw_dubious(&tile, &mut machine, band)?;
            x += self.columns * 4;
        }
        let (counters, desk) = machine.finish();
        self.desks().push(desk);
        Ok(Report { counters, ..Report::default() })
    }

    fn ran(&self) -> Ran {
        Ran { engine: "fast", simd: Some(self.simd.name()), instead: None }
    }
}
