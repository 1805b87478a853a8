//! Textures as machine code reads them: tables of texels, and where a place is in them.

use r500_isa::values::ClampMode;

use super::super::sampler::Sampler;
use super::corners::Four;
use super::prepared::Prepared;
use super::store::Store;

/// How a texture is looked up that is two-dimensional, of one level, clamped or repeated along axes of
/// 2^n texels.
///
/// A coordinate (divided by Q by PROJ) times the axis's `scale`, is limited to ±2^30, NaN to 0. From
/// there [`nearest`](Self::linear) takes its floor as the number of a texel; linear takes a half off,
/// the floor of that as the number of the first of two texels, and what the floor cuts off as the share
/// of the second one. The number, within the axis as [`Wrap`] says, of the column and of the row
/// give the cell `origin + row * self.row + column`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Table {
    /// The filter: of four texels, a cell holding all of them; or of one, which is the cell.
    pub linear: bool,
    /// S and T.
    pub axes: [Axis; 2],
    /// The cell of column 0 and row 0.
    pub origin: u32,
    /// Cells from one row to the next.
    pub row: u32,
    /// How many cells there are; at least one.
    pub cells: u32,
}

/// A coordinate's way to the number of a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Axis {
    /// What becomes of numbers beyond the texture.
    pub wrap: Wrap,
    /// Texels, at most 2^12.
    pub size: u32,
    /// Bits of the factor that coordinates are scaled by; not if they come `UNSCALED`.
    pub scale: u32,
}

/// What becomes of the number of a texel, or of the first one of two, along an axis of n texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// Modulo n, a power of two.
    Repeat,
    /// Modulo 2n, a power of two; of one texel, m of n and above counts as 2n - 1 - m.
    Mirror,
    /// At least 0 and less than n; the first of two texels at least -1.
    Clamp,
}

/// The cells of a table.
#[derive(Clone, Copy, Debug)]
pub enum Cells<'a> {
    /// One texel each: red, green, blue, alpha.
    Texels(&'a [[f32; 4]]),
    /// Four: first column and row, second column, second row, both second.
    Fours(&'a [Four]),
}

impl Cells<'_> {
    /// No cells.
    pub const NONE: Self = Self::Texels(&[]);

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Texels(cells) => cells.len(),
            Self::Fours(cells) => cells.len(),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Sampler {
    /// How fetches by LD and PROJ are looked up, if that is so simple.
    pub(crate) fn table(&self) -> Option<Table> {
        self.prepared().filter(|prepared| prepared.simple)?.table()
    }

    /// What they are looked up in.
    pub(crate) fn cells(&self) -> Cells<'_> {
        match self.prepared() {
            Some(Prepared { mag: [true, ..], corners: Some(corners), .. }) => {
                Cells::Fours(corners.all())
            }
            Some(Prepared { mag: [false, ..], store: Store::Decoded(texels), .. }) => {
                Cells::Texels(texels)
            }
            _ => Cells::NONE,
        }
    }
}

impl Prepared {
    fn table(&self) -> Option<Table> {
        let level = &self.levels[self.finest];
        let linear = self.mag[0];
        let axis = |axis: usize| {
            let wrapping = self.wrapping[axis];
            let wrap = match wrapping.mode {
                ClampMode::WRAP if wrapping.power_of_two => Wrap::Repeat,
                ClampMode::MIRROR if wrapping.power_of_two => Wrap::Mirror,
                ClampMode::CLAMP => Wrap::Clamp,
                _ => return None,
            };
            Some(Axis { wrap, size: level.size[axis][0] as u32, scale: self.scale[axis].to_bits() })
        };
        let (cells, origin, row) = match (&self.corners, &self.store) {
            (Some(corners), _) if linear => (corners.all().len(), level.origin[0], level.row[0]),
            (_, Store::Decoded(texels)) if !linear => {
                (texels.len(), level.base[0], level.size[0][0])
            }
            _ => return None,
        };
        Some(Table {
            linear,
            axes: [axis(0)?, axis(1)?],
            origin: origin as u32,
            row: row as u32,
            cells: u32::try_from(cells).ok().filter(|cells| *cells > 0)?,
        })
    }
}
