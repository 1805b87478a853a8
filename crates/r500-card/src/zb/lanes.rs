//! Depth and stencil tests of many pixels at a time, each as [`Zb::sample`] tests it.

use r500_chip::values::{CompareFunc, DepthFormat};
use r500_simd::SimdLevel;

use super::Zb;
use crate::batch::{Batch, LANES, Lane};
use crate::quad::FillArea;
use crate::surface::{Offsets, Pairs};

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
    /// Depth of 24 bits, unsigned, without stencil; whether it is written.
    Depth(CompareFunc, bool),
    /// Any other test.
    Any,
}

impl Zb {
    /// Prepares the block; `None` if only [`sample`](Self::sample) implements its state.
    pub(crate) fn lanes(&self) -> Option<DepthLanes<'_>> {
        let surface = match &self.surface {
            None => None,
            Some(surface) => Some(surface.pairs(self.offset)?),
        };
        let kind = match (self.clear, self.depth_test, self.stencil.is_some()) {
            (Some(value), ..) if surface.is_some() => Kind::Clear(value),
            (_, None, false) => Kind::Pass,
            (_, Some(func), false)
                if self.format == DepthFormat::Z24S8 && self.signed.is_none() =>
            {
                Kind::Depth(func, self.depth_write)
            }
            _ => Kind::Any,
        };
        Some(DepthLanes { surface, kind })
    }
}

/// What replaces stored pixels where all pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DepthFill {
    /// They stay.
    Nothing,
    /// This value.
    Value(u32),
    /// The new depth.
    Depth,
    /// Some may not pass, or it depends on them.
    Tested,
}

impl DepthLanes<'_> {
    /// Returns whether depths are needed, or pixels are stored.
    pub(crate) fn tests(&self) -> bool {
        !matches!(self.kind, Kind::Pass)
    }

    /// Returns what replaces the stored pixels, if all pass.
    pub(crate) fn fills(&self) -> DepthFill {
        match self.kind {
            Kind::Pass => DepthFill::Nothing,
            Kind::Clear(value) => DepthFill::Value(value),
            Kind::Depth(CompareFunc::ALWAYS, true) => DepthFill::Depth,
            Kind::Depth(CompareFunc::ALWAYS, false) => DepthFill::Nothing,
            _ => DepthFill::Tested,
        }
    }

    /// Stores a value, or a depth of 24 bits next to the stencil that is there.
    #[inline(always)]
    pub(crate) fn fill<L: SimdLevel>(&mut self, level: L, area: FillArea, value: u32) {
        let (value, kept) = match self.kind {
            Kind::Clear(_) => (value, 0),
            _ => (value << 8, 0xff),
        };
        if let Some(surface) = &mut self.surface {
            surface.fill(level, area, value, kept);
        }
    }

    /// Notes the bytes that were written.
    pub(crate) fn finish(self) {
        if let Some(surface) = self.surface {
            surface.finish();
        }
    }

    /// Returns where the pixels of a batch are, and asks for them to be in the cache when it is tested.
    #[inline(always)]
    pub(crate) fn prepare(&self, batch: &Batch) -> Offsets {
        match &self.surface {
            Some(surface) if self.tests() => {
                let offsets = surface.offsets(batch);
                surface.prefetch(batch, &offsets);
                offsets
            }
            _ => Offsets::NONE,
        }
    }

    /// Tests the pixels in `left`, and leaves there those that pass.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "the lanes of a batch")]
    pub(crate) fn test<L: SimdLevel>(
        &mut self,
        level: L,
        zb: &Zb,
        batch: &Batch,
        offsets: &Offsets,
        depths: &Lane<u32>,
        back: &Lane<bool>,
        left: &mut Lane<bool>,
    ) {
        let clears = matches!(self.kind, Kind::Clear(_));
        let stored = match &self.surface {
            Some(surface) if !clears => surface.gather(level, batch, offsets),
            _ => [0; LANES],
        };
        let tested = *left;
        let mut values: Lane<u32> = [0; LANES];
        match self.kind {
            Kind::Pass => {}
            Kind::Clear(value) => values = [value; LANES],
            Kind::Depth(func, writes) => {
                macro_rules! compare {
                    ($($compare:tt)*) => {
                        for (lane, left) in left.iter_mut().enumerate() {
                            // Of 24 bits: signed comparisons are instructions.
                            let (new, old) = (depths[lane], stored[lane] >> 8);
                            *left &= new.cast_signed() $($compare)* old.cast_signed();
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
                if !writes {
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
        let mut changed = tested;
        for (lane, changed) in changed.iter_mut().enumerate() {
            *changed &= clears | (values[lane] != stored[lane]);
        }
        surface.scatter(level, batch, offsets, &values, &changed);
    }
}
