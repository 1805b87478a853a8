//! Inputs of vertices, an array for each component, as programs that run over batches take them.

use r500_pvs::INPUTS;

/// A vector that no element writes (open).
const UNWRITTEN: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

/// Input vectors of vertices. They are [`UNWRITTEN`] but for the vectors of a draw's elements.
#[derive(Debug, Default)]
pub(crate) struct InputColumns {
    /// The four components of each vector, one after the other, `lanes` vertices each.
    values: Vec<f32>,
    lanes: usize,
    /// The vectors of the draw's elements.
    written: Vec<u8>,
}

impl InputColumns {
    /// Begins a draw: memory for so many vertices, and the vectors that its elements write.
    pub(crate) fn begin(&mut self, vertices: usize, written: Vec<u8>) {
        let grows = vertices > self.lanes;
        if grows {
            self.lanes = vertices;
            self.values.clear();
            self.values.resize(4 * INPUTS * vertices, 0.0);
        }
        let before = std::mem::replace(&mut self.written, written);
        for vector in if grows { (0..INPUTS as u8).collect() } else { before } {
            for (channel, value) in (0..).zip(UNWRITTEN) {
                self.column_mut(vector, channel).fill(value);
            }
        }
    }

    /// Stores a component of one of the written vectors.
    pub(crate) fn set(&mut self, vector: usize, channel: usize, vertex: usize, value: f32) {
        debug_assert!(self.written.contains(&(vector as u8)), "an element writes the vector");
        self.values[(4 * vector + channel) * self.lanes + vertex] = value;
    }

    /// Returns a component of all vertices.
    pub(crate) fn column(&self, vector: u8, channel: u8) -> &[f32] {
        let column = 4 * usize::from(vector) + usize::from(channel);
        &self.values[column * self.lanes..][..self.lanes]
    }

    /// Returns a component of all vertices to write, of one of the written vectors.
    pub(crate) fn written_mut(&mut self, vector: usize, channel: usize) -> &mut [f32] {
        debug_assert!(self.written.contains(&(vector as u8)), "an element writes the vector");
        self.column_mut(vector as u8, channel as u8)
    }

    fn column_mut(&mut self, vector: u8, channel: u8) -> &mut [f32] {
        let column = 4 * usize::from(vector) + usize::from(channel);
        &mut self.values[column * self.lanes..][..self.lanes]
    }

    /// Returns a vector of a vertex; 0 if there is no such vector.
    pub(crate) fn vector(&self, vector: usize, vertex: usize) -> [f32; 4] {
        if vector >= INPUTS {
            return [0.0; 4];
        }
        [0, 1, 2, 3].map(|channel| self.column(vector as u8, channel)[vertex])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_draw_wrote_is_gone_in_the_next_one() {
        let mut columns = InputColumns::default();
        columns.begin(8, vec![2, 31]);
        columns.set(2, 3, 7, 5.0);
        columns.set(31, 0, 0, 6.0);
        assert_eq!(columns.vector(2, 7), [0.0, 0.0, 0.0, 5.0]);
        assert_eq!(columns.vector(31, 0), [6.0, 0.0, 0.0, 1.0]);
        assert_eq!(columns.vector(32, 0), [0.0; 4]);
        for vertices in [4, 16] {
            columns.begin(vertices, vec![2]);
            assert_eq!(columns.vector(31, 0), UNWRITTEN);
            assert_eq!(columns.vector(2, vertices - 1), UNWRITTEN);
            assert_eq!(columns.column(2, 3)[..vertices], vec![1.0; vertices]);
            columns.set(2, 1, vertices - 1, 9.0);
        }
    }
}
