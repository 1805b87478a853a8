//! Chunks: the 4x4 pixels that fill the widest vector, quad by quad.
//!
//! A chunk is four quads, two to a row of quads; a quad is four neighbouring lanes: top left, top right,
//! bottom left, bottom right, "top" being the row with the smaller y.

/// Lanes of a chunk: one vector of the widest level.
pub const LANES: usize = 16;

/// One value of each pixel of a chunk.
pub type Chunk = [f32; LANES];

/// Columns and rows of a chunk.
pub const SIDE: u32 = 4;

/// The lanes of a chunk in the order of its pixels: row by row, from the left.
pub const LANES_BY_ROW: [[usize; 4]; 4] =
    [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]];

/// Returns column and row of a lane in its chunk.
#[must_use]
#[inline]
pub fn lane_xy(lane: usize) -> (u32, u32) {
    let (quad, corner) = (lane as u32 / 4, lane as u32 % 4);
    (quad % 2 * 2 + corner % 2, quad / 2 * 2 + corner / 2)
}

#[cfg(test)]
mod tests {
    use super::{LANES, LANES_BY_ROW, lane_xy};

    #[test]
    fn lanes_by_row_is_the_inverse_of_lane_xy() {
        for lane in 0..LANES {
            let (x, y) = lane_xy(lane);
            assert_eq!(LANES_BY_ROW[y as usize][x as usize], lane);
        }
    }
}
