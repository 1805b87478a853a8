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
//! A compiler may take parts of the function ([`native`]); they become steps too.
//!
//! What has no [`Function`](crate::ir::Function) runs on the [reference engine](mod@crate::reference);
//! [`RunInfo::instead`](crate::RunInfo) says why.

mod canvas;
mod code;
mod kernels;
pub(crate) mod lanes;
mod machine;
mod memory;
pub mod native;
mod ramps;
mod tile;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::frame::Band;
use crate::ir;
use crate::reference::{Group, Reference};
use crate::{BandStats, Draw, Engine, Fallback, PixelRect, PreparedDraw, RunError, RunInfo};
use code::Code;
use machine::{Desk, Machine};
use native::NativeCode;
use tile::{Centres, Leave, ROWS, Tile};

pub use r500_simd::Simd;

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

    fn prepare<'a>(&self, draw: Draw<'a>) -> Box<dyn PreparedDraw + 'a> {
        match ir::lift(&draw) {
            Ok(function) => {
                let code = NativeCode::batch(&function, &[], self.simd);
                Box::new(Batches::new(draw, code, self.simd))
            }
            Err(reason) => {
                Box::new(Fallback { prepared: Reference.prepare(draw), reason: reason.to_string() })
            }
        }
    }
}

/// A picture drawn batch by batch.
pub struct Batches<'a> {
    draw: Draw<'a>,
    centres: Centres,
    version: Mutex<Arc<Version>>,
}

/// The code that draws, which may be exchanged between two bands.
struct Version {
    simd: Simd,
    code: Code,
    /// Chunks of a batch beside each other.
    columns: u32,
    /// Memory that no thread is using: getting it anew for each band would take longer than a short
    /// program.
    desks: Mutex<Vec<Desk>>,
}

/// Bytes that the slots of a batch should not exceed, so that they stay in the processor's second
/// cache. Larger batches make less of what a step costs beside its loop, above all where few pixels
/// are left in a loop, and that is worth more than the first cache (measured, see the guide).
const NEAR: usize = 96 << 10;

/// Chunks of a batch beside each other, with so many slots. Powers of two only, so that chunks lie in
/// squares.
fn columns(slots: u32) -> u32 {
    let column = (ROWS / 4) as usize * size_of::<lanes::Chunk>() * slots.max(1) as usize;
    let columns = u32::try_from(NEAR / column).unwrap_or(1).clamp(1, 16);
    1 << columns.ilog2()
}

impl<'a> Batches<'a> {
    /// A drawing with its code. The function that the code was made of must be the drawing's.
    #[must_use]
    pub fn new(draw: Draw<'a>, code: NativeCode, simd: Simd) -> Self {
        let centres = Centres::new(draw.bindings.size());
        Self { draw, centres, version: Mutex::new(Arc::new(Version::new(code, simd))) }
    }

    /// Goes on with other code of the same function: bands that begin from now on are drawn by it.
    pub fn exchange(&self, code: NativeCode, simd: Simd) {
        *lock(&self.version) = Arc::new(Version::new(code, simd));
    }
}

impl Version {
    fn new(NativeCode { code, columns }: NativeCode, simd: Simd) -> Self {
        Self { simd, code, columns, desks: Mutex::default() }
    }
}

/// The lock, whatever another thread did while it held it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Batches<'_> {
    /// Draws again, as groups, what pixels by themselves may have drawn otherwise.
    fn draw_dubious(
        &self,
        tile: &Tile<'_>,
        machine: &mut Machine<'_>,
        band: &mut Band<'_>,
    ) -> Result<(), RunError> {
        if !std::mem::take(&mut machine.doubts) {
            return Ok(());
        }
        for (chunk, (x, y)) in tile.chunks().enumerate() {
            if !std::mem::take(&mut machine.dubious[chunk]) {
                continue;
            }
            machine.counters.killed -= u64::from(machine.killed[chunk]);
            let mut group = Group::new(&self.draw, PixelRect { x, y, width: 4, height: 4 });
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

impl PreparedDraw for Batches<'_> {
    fn band_rows(&self) -> u32 {
        ROWS
    }

    fn draw_band(&self, band: &mut Band<'_>) -> Result<BandStats, RunError> {
        let version = Arc::clone(&lock(&self.version));
        let Version { simd, code, columns, desks } = &*version;
        let chunks = (columns * (ROWS / 4)) as usize;
        let desk = lock(desks).pop().unwrap_or_else(|| Desk::new(code, chunks));
        let mut machine = Machine::new(&self.draw, code, *simd, desk);
        let block = band.rect();
        let mut x = block.x - block.x % 4;
        let y = block.y - block.y % ROWS;
        while x < block.x + block.width {
            let tile = Tile { x, y, columns: *columns, centres: &self.centres };
            if tile.cover(&mut machine, band) {
                machine.run(&tile, band)?;
            }
            simd.run_plain(Leave { tile: &tile, machine: &mut machine, band });
            self.draw_dubious(&tile, &mut machine, band)?;
            x += columns * 4;
        }
        let (counters, desk) = machine.finish();
        lock(desks).push(desk);
        Ok(BandStats { counters, ..BandStats::default() })
    }

    fn run_info(&self) -> RunInfo {
        RunInfo { simd: Some(lock(&self.version).simd.name()), ..RunInfo::of("fast") }
    }
}
