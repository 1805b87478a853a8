//! Direct draws: rows of adjacent batches that one kernel draws completely.
//!
//! Precondition: a function consists of a single kernel, which stores the colours, and all pixels of the batches are inside the band and
//! covered at the start. Then the fuel, the y terms of interpolants and the change of the floating-point environment are computed once for
//! the row instead of once for each batch.

use super::band_target::BandTarget;
use super::batch_io::{ALL, take_coverage};
use super::bytecode::{Bytecode, Op};
use super::codegen::{AdjacentBatches, KernelCall};
use super::fuel::Fuel;
use super::interp::Interpreter;
use super::reg_file::AlignedChunks;
use super::render_targets::Staging;
use super::tile::Tile;
use r500_exec::RunError;
use r500_lanes::LANES;
use r500_simd::chunk::SIDE as CHUNK;
use r500_simd::{SimdLevel, SimdTask};

/// The single kernel of a function.
#[derive(Clone, Copy)]
pub(super) struct SingleUnitDraw<'c> {
    call: &'c KernelCall,
    /// Instructions to count before the call, and the address of the first.
    consume: Option<(u32, u32)>,
}

impl Bytecode {
    /// Returns the single kernel, if it is all of the code and stores all outputs.
    pub(super) fn single_unit_draw(&self) -> Option<SingleUnitDraw<'_>> {
        let (call, consume) = match self.ops.as_slice() {
            [Op::Kernel(call)] => (call, None),
            &[Op::ConsumeFuel { instructions, address }, Op::Kernel(ref call)] => {
                (call, Some((instructions, address)))
            }
            _ => return None,
        };
        let direct = self.inputs.is_empty() && self.depth.is_none() && self.stores_colors();
        direct.then_some(SingleUnitDraw { call, consume })
    }
}

impl SingleUnitDraw<'_> {
    /// Draws adjacent batches from a tile to the right, as long as the precondition holds. Returns their number.
    ///
    /// # Errors
    /// [`RunError`] if a limit is exceeded.
    pub(super) fn draw(
        self,
        tile: &Tile<'_>,
        interp: &mut Interpreter<'_>,
        band: &mut impl BandTarget,
    ) -> Result<u32, RunError> {
        let rect = band.rect();
        if !interp.draw.bindings.covers_all() || !tile.inside(rect) {
            return Ok(0);
        }
        if !band.has_offsets(&mut interp.scratch.staging, tile) {
            return Ok(0);
        }
        let count = (rect.x + rect.width - tile.x) / (tile.columns * CHUNK);
        if !interp.all_covered {
            interp.scratch.covered.fill(ALL);
            interp.all_covered = true;
        }
        // Other paths must recount the coverage, which this one has stored.
        interp.fully_covered = false;
        let (simd, staging) = (interp.simd, std::mem::take(&mut interp.scratch.staging));
        let row = DirectRow { single_unit: self, tile, count, interp, staging: &staging, band };
        let result = simd.run(row);
        interp.scratch.staging = staging;
        result.map(|()| count)
    }

    /// Returns the fuel of a batch, after the instructions that are counted before the call.
    fn fuel<'d>(self, interp: &Interpreter<'d>, pixel: [u32; 2]) -> Result<Fuel<'d>, RunError> {
        let mut fuel = Fuel::new(interp.draw, pixel);
        if let Some((instructions, address)) = self.consume {
            fuel.consume(u64::from(instructions), address)?;
        }
        Ok(fuel)
    }
}

/// A row of adjacent batches to draw.
struct DirectRow<'m, 'a, 't, C> {
    single_unit: SingleUnitDraw<'m>,
    tile: &'t Tile<'t>,
    count: u32,
    interp: &'m mut Interpreter<'a>,
    staging: &'m Staging,
    band: &'m mut C,
}

impl<C: BandTarget> SimdTask for DirectRow<'_, '_, '_, C> {
    type Output = Result<(), RunError>;

    #[inline(always)]
    fn run<L: SimdLevel>(self, level: L) -> Result<(), RunError> {
        let Self { single_unit, tile, count, interp, staging, band } = self;
        let code = interp.code;
        let channels = &code.interpolants;
        // Interpolants of machine code contain no denormals: results do not depend on the environment.
        let bindings = interp.draw.bindings;
        interp.scratch.interpolants.fill_row(channels, bindings, tile, count);
        let (batches, chunks) = (count as usize, interp.scratch.memory.chunks);
        let width = tile.columns * CHUNK;
        let KernelCall { kernel: machine_code, discards, fuel_checked } = single_unit.call;
        // Code that counts fuel does so for each batch.
        if !fuel_checked {
            let mut fuel = single_unit.fuel(interp, [tile.x, tile.y])?;
            let needed = if *discards { batches * chunks } else { 0 };
            let row_covered = interp.scratch.row_covered.take();
            let mut row_covered = row_covered.filter(|row| row.len() >= needed);
            if needed > 0 {
                row_covered.get_or_insert_with(|| {
                    let mut row = AlignedChunks::new(needed);
                    row.fill(ALL);
                    row
                });
            }
            let targets = band.targets(staging, tile);
            let mut batch = interp.batch(&mut fuel, targets);
            batch.interpolants = &batch.interpolants[..batches * channels.len()];
            let covered = if *discards { chunks } else { 0 };
            let adjacent =
                AdjacentBatches { chunks, count: batches, pixels: width as usize, covered };
            if let Some(row_covered) = &mut row_covered {
                batch.covered = row_covered;
            }
            let result = machine_code.run_adjacent(&mut batch, adjacent);
            if let Some(row_covered) = &mut row_covered {
                let masks = row_covered.chunks_exact_mut(chunks);
                for (number, masks) in (0..count).zip(masks) {
                    let tile = Tile { x: tile.x + number * width, ..*tile };
                    let covered = take_coverage(level, &tile, masks, band);
                    interp.counters.killed += (chunks * LANES) as u64 - u64::from(covered);
                }
            }
            interp.scratch.row_covered = row_covered;
            result?;
            interp.counters.instructions += fuel.spent * u64::from(count);
        } else {
            for number in 0..count {
                let tile = Tile { x: tile.x + number * width, ..*tile };
                let mut fuel = single_unit.fuel(interp, [tile.x, tile.y])?;
                let targets = band.targets(staging, &tile);
                let mut batch = interp.batch(&mut fuel, targets);
                batch.interpolants = &batch.interpolants[number as usize * channels.len()..];
                machine_code.run(&mut batch, (0, chunks))?;
                interp.counters.instructions += fuel.spent;
                if *discards {
                    let covered = take_coverage(level, &tile, &mut interp.scratch.covered, band);
                    interp.counters.killed += (chunks * LANES) as u64 - u64::from(covered);
                }
            }
        }
        Ok(())
    }
}
