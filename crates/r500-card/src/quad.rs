//! Quads: two by two pixels.

/// A quad: the pixels at (x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1), x and y even.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quad {
    pub(crate) x: u16,
    pub(crate) y: u16,
    /// Mask of covered samples of each pixel, sample 0 in bit 0.
    pub(crate) masks: [u8; 4],
}

/// Quads, each with the index of its primitive.
pub(crate) type QuadList = [(u32, Quad)];

/// Returns the quads of each primitive, which follow one another, with the index of the primitive and their lanes: four for each quad.
#[inline(always)]
pub(crate) fn by_primitive(
    quads: &QuadList,
) -> impl Iterator<Item = (usize, &QuadList, std::ops::Range<usize>)> {
    let mut end = 0;
    quads.chunk_by(|(a, _), (b, _)| a == b).filter_map(move |quads| {
        let (primitive, _) = quads.first()?;
        let first = end;
        end += 4 * quads.len();
        Some((*primitive as usize, quads, first..end))
    })
}

impl Quad {
    /// Returns column and row of a pixel.
    pub(crate) fn pixel(&self, corner: usize) -> [u32; 2] {
        [u32::from(self.x) + corner as u32 % 2, u32::from(self.y) + corner as u32 / 2]
    }
}

/// Pixels that a fill stores at once.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FillArea {
    /// Quads side by side, from left to right, entirely covered: the first pixel and their number.
    Full { first: [u32; 2], count: u32 },
    /// The covered pixels of a quad.
    Part(Quad),
}

impl FillArea {
    /// Takes an area from the beginning of a list. Returns it and the rest of the list; `None` if the list is empty.
    #[inline(always)]
    pub(crate) fn take(quads: &QuadList) -> Option<(Self, &QuadList)> {
        let (_, first) = quads.first()?;
        let follows = |(n, (_, quad)): (usize, &(u32, Quad))| {
            quad.masks.iter().all(|mask| *mask != 0)
                && quad.y == first.y
                && usize::from(quad.x) == usize::from(first.x) + 2 * n
        };
        let count = quads.iter().enumerate().take_while(|it| follows(*it)).count();
        let area = match count {
            0 => Self::Part(*first),
            _ => Self::Full { first: first.pixel(0), count: count as u32 },
        };
        Some((area, &quads[count.max(1)..]))
    }

    /// Returns the number of pixels.
    #[inline(always)]
    pub(crate) fn pixels(&self) -> u64 {
        match self {
            Self::Full { count, .. } => 4 * u64::from(*count),
            Self::Part(quad) => quad.masks.iter().filter(|mask| **mask != 0).count() as u64,
        }
    }
}
