//! The values of vertices that a draw interpolates.

use crate::vap::Vertex;

/// A value of a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VertexValue {
    Color { n: usize, channel: usize },
    Tex { n: usize, component: usize },
}

impl VertexValue {
    pub(crate) fn of(self, vertex: &Vertex) -> f32 {
        match self {
            Self::Color { n, channel } => vertex.colors[n][channel],
            Self::Tex { n, component } => vertex.tex[n][component],
        }
    }
}

/// The values that the blocks from the rasteriser on need of a draw's vertices: primitives have these only, in this order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Varyings(Vec<VertexValue>);

impl Varyings {
    /// Returns the place of a value, which is added if it is new.
    pub(crate) fn place(&mut self, value: VertexValue) -> usize {
        let known = self.0.iter().position(|other| *other == value);
        known.unwrap_or_else(|| {
            self.0.push(value);
            self.0.len() - 1
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = VertexValue> + '_ {
        self.0.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_one_place() {
        let mut varyings = Varyings::default();
        let tex = VertexValue::Tex { n: 1, component: 2 };
        let color = VertexValue::Color { n: 1, channel: 2 };
        assert_eq!([tex, color, tex, color].map(|value| varyings.place(value)), [0, 1, 0, 1]);
        let mut vertex = Vertex::default();
        vertex.colors[1][2] = 3.0;
        vertex.tex[1][2] = 4.0;
        let values: Vec<f32> = varyings.iter().map(|value| value.of(&vertex)).collect();
        assert_eq!(values, [4.0, 3.0]);
    }
}
