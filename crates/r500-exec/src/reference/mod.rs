//! The reference engine: an interpreter that defines the semantics, one instruction at a time.
//!
//! The code is written to be read next to the register documents, with one place for each rule:
//!
//! | module | rules |
//! | --- | --- |
//! | `lane` | state of a pixel: temporaries, predicate, ALU result, flow-control state, outputs |
//! | `state` | state that a group of pixels shares: program counter, stacks |
//! | `group` | one step of a group |
//! | `source` | `ADDRn`, `CONST`, `REL`, inline constants, presubtract, select, swizzle, modifier |
//! | `alu` | `RGB_OP`, `ALPHA_OP`, `OMOD`, clamp |
//! | `write` | predicates, write masks, outputs, depth, predicate bits, ALU result |
//! | `tex` | texture instructions |
//! | `flow` | flow control |
//! | `event` | trace events of a watched pixel |
//!
//! It follows the rules literally, without optimisation. Where a rule is open, it uses
//! [`Readings`](crate::Readings).

mod alu;
mod event;
mod flow;
mod group;
mod lane;
pub(crate) mod quads;
mod source;
mod state;
mod tex;
mod write;

pub use event::{Event, EventKind, Jump, Lookup, Write};
pub use group::{Group, Step};
pub use lane::{Lane, LaneState, POISON};
pub use state::{GroupState, LoopFrame};

use crate::frame::Band;
use crate::quads::PreparedQuads;
use crate::{BandStats, Draw, Engine, PixelRect, PreparedDraw, RunError, RunInfo};

/// The reference engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reference;

impl Engine for Reference {
    fn name(&self) -> &'static str {
        "reference"
    }

    fn prepare(&self, draw: Draw<'_>) -> Box<dyn PreparedDraw> {
        Box::new(Groups { rows: draw.options.group[1] })
    }

    fn prepare_quads(&self, _: Draw<'_>) -> Box<dyn PreparedQuads> {
        Box::new(quads::ReferenceQuads { fallback_reason: None })
    }
}

/// A draw, executed group by group, without compilation.
struct Groups {
    rows: u32,
}

impl PreparedDraw for Groups {
    fn band_rows(&self) -> u32 {
        self.rows
    }

    fn accepts(&self, draw: &Draw<'_>) -> bool {
        draw.options.group[1] == self.rows
    }

    fn draw_band(&self, draw: &Draw<'_>, band: &mut Band<'_>) -> Result<BandStats, RunError> {
        let mut report = BandStats::default();
        let [width, height] = draw.options.group;
        let rect = band.rect();
        band.clear();
        let y = rect.y - rect.y % height;
        let mut x = rect.x - rect.x % width;
        while x < rect.x + rect.width {
            let mut group = Group::new(draw, PixelRect { x, y, width, height });
            group.run()?;
            for lane in group.state().lanes() {
                band.store_pixel(lane.x, lane.y, &lane.output());
            }
            report.warnings.merge(group.state().warnings());
            report.counters.merge(group.state().counters());
            x += width;
        }
        Ok(report)
    }

    fn run_info(&self) -> RunInfo {
        RunInfo::of(Reference.name())
    }
}
