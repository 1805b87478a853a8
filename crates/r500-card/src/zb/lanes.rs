//! Depth and stencil tests of many pixels at a time, each as [`Zb::sample`] tests it.

use r500_chip::values::{CompareFunc, DepthFormat};

use super::Zb;
use crate::output::{Batch, LANES, Lane};
use crate::surface::Pairs;

/// The block in a state for which many pixels can be tested at a time.
pub(crate) struct DepthLanes<'a> {
    surface: Option<Pairs<'a>>,
    kind: Kind,
}

/// What a test consists of.
#[derive(Clone, Copy)]
enum Kind {
    /// All pixels pass.
    Pass,
    /// All pixels pass and store a value.
    Clear(u32),
    /// Depth of 24 bits, unsigned, without stencil.
    Depth(CompareFunc),
    /// Any other test.
    Any,
}

impl Zb {
    /// Prepares the block; `None` if only [`sample`](Self::sample) implements its state.
    pub(crate) fn lanes(&self) -> Option<DepthLanes<'_>> {
        let surface = match &self.surface {
            None => None,
            Some(surface) => Some(surface.pairs()?),
        };
        let kind = match (self.clear, self.depth_test, self.stencil.is_some()) {
            (Some(value), ..) if surface.is_some() => Kind::Clear(value),
            (_, None, false) => Kind::Pass,
            (_, Some(func), false)
                if self.format == DepthFormat::Z24S8 && self.signed.is_none() =>
            {
                Kind::Depth(func)
            }
            _ => Kind::Any,
        };
        Some(DepthLanes { surface, kind })
    }
}

impl DepthLanes<'_> {
    /// Returns whether depths are needed, or pixels are stored.
    pub(crate) fn tests(&self) -> bool {
        !matches!(self.kind, Kind::Pass)
    }

    /// Notes the bytes that were written.
    pub(crate) fn finish(self) {
        if let Some(surface) = self.surface {
            surface.finish();
        }
    }

    /// Tests the pixels in `left`, and leaves there those that pass.
    #[inline(always)]
    pub(crate) fn test(
        &mut self,
        zb: &Zb,
        batch: &Batch,
        depths: &Lane<u32>,
        back: &Lane<bool>,
        left: &mut Lane<bool>,
    ) {
        let mut offsets = [0; LANES / 2];
        let mut stored: Lane<u32> = [0; LANES];
        if let Some(surface) = &self.surface {
            let [dx, dy] = zb.offset;
            for (n, quad) in batch.quads().iter().enumerate() {
                let [x, y] = [u32::from(quad.x) + dx, u32::from(quad.y) + dy];
                for row in 0..2 {
                    let offset = surface.offset([x, y + row as u32]);
                    offsets[2 * n + row] = offset;
                    if !matches!(self.kind, Kind::Clear(_)) {
                        let at = 4 * n + 2 * row;
                        stored[at..at + 2].copy_from_slice(&surface.load(offset));
                    }
                }
            }
        }
        let tested = *left;
        let mut values: Lane<u32> = [0; LANES];
        match self.kind {
            Kind::Pass => {}
            Kind::Clear(value) => values = [value; LANES],
            Kind::Depth(func) => {
                macro_rules! compare {
                    ($($compare:tt)*) => {
                        for (lane, left) in left.iter_mut().enumerate() {
                            *left &= depths[lane] $($compare)* (stored[lane] >> 8);
                        }
                    };
                }
                match func {
                    CompareFunc::NEVER => *left = [false; LANES],
                    CompareFunc::LESS => compare!(<),
                    CompareFunc::LEQUAL => compare!(<=),
                    CompareFunc::EQUAL => compare!(==),
                    CompareFunc::GEQUAL => compare!(>=),
                    CompareFunc::GREATER => compare!(>),
                    CompareFunc::NOTEQUAL => compare!(!=),
                    _ => {}
                }
                if !zb.depth_write {
                    return;
                }
                for (lane, value) in values.iter_mut().enumerate() {
                    let new = depths[lane] << 8 | stored[lane] & 0xff;
                    *value = if left[lane] { new } else { stored[lane] };
                }
            }
            Kind::Any => {
                for (lane, left) in left.iter_mut().enumerate() {
                    values[lane] = stored[lane];
                    if *left {
                        (values[lane], *left) = zb.test(stored[lane], depths[lane], back[lane]);
                    }
                }
            }
        }
        let Some(surface) = &mut self.surface else { return };
        let clears = matches!(self.kind, Kind::Clear(_));
        for (pair, offset) in offsets[..2 * batch.quads().len()].iter().enumerate() {
            let lanes = [2 * pair, 2 * pair + 1];
            let changed = lanes.map(|n| tested[n] && (clears || values[n] != stored[n]));
            surface.store(*offset, lanes.map(|n| values[n]), changed);
        }
    }
}
