//! Primitive assembly: points, lines and triangles from the vertices of a draw.

use r500_chip::values::{PrimType, ProvokingVertex};

use crate::reading::QuadSplit;

/// A primitive, with the indices of its vertices in the draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Primitive {
    Point(usize),
    Line {
        vertices: [usize; 2],
        /// The vertex of flat colours.
        provoking: usize,
        /// Whether it is the first line of a strip, loop or list, where the stipple pattern may restart.
        first: bool,
    },
    Triangle {
        vertices: [usize; 3],
        provoking: usize,
        /// Whether the edges from vertex 0 to 1, 1 to 2, 2 to 0 are edges of the polygon.
        edges: [bool; 3],
    },
}

impl Primitive {
    /// Returns the greatest index of its vertices.
    pub(crate) fn last_vertex(&self) -> usize {
        match *self {
            Self::Point(vertex) => vertex,
            Self::Line { vertices: [a, b], provoking, .. } => a.max(b).max(provoking),
            Self::Triangle { vertices: [a, b, c], provoking, .. } => a.max(b).max(c).max(provoking),
        }
    }
}

/// Calls `emit` for each primitive of a draw with `count` vertices, in order. Incomplete primitives at the end are
/// dropped. Returns whether the type is supported; otherwise nothing is emitted.
///
/// Order of vertices (observed): strip (i-2, i-1, i), with the first two swapped for odd i; fan (0, i-1, i); polygon
/// (i-1, i, 0); quads (0, 1, 3), (1, 2, 3).
pub(crate) fn assemble<E>(
    ty: PrimType,
    count: usize,
    provoking: ProvokingVertex,
    split: QuadSplit,
    mut emit: impl FnMut(Primitive) -> Result<(), E>,
) -> Result<bool, E> {
    let mut line = |vertices: [usize; 2], first| {
        let provoking = match provoking {
            ProvokingVertex::FIRST => vertices[0],
            _ => vertices[1],
        };
        emit(Primitive::Line { vertices, provoking, first })
    };
    match ty {
        PrimType::LINES => {
            for i in (1..count).step_by(2) {
                line([i - 1, i], true)?;
            }
            return Ok(true);
        }
        PrimType::LINE_STRIP | PrimType::LINE_LOOP => {
            for i in 1..count {
                line([i - 1, i], i == 1)?;
            }
            if ty == PrimType::LINE_LOOP && count > 1 {
                line([count - 1, 0], false)?;
            }
            return Ok(true);
        }
        _ => {}
    }
    // `order` is that of the application, which determines the provoking vertex.
    let mut triangle = |vertices: [usize; 3], order: [usize; 3], edges| {
        let provoking = match provoking {
            ProvokingVertex::FIRST => order[0],
            ProvokingVertex::SECOND => order[1],
            _ => order[2],
        };
        emit(Primitive::Triangle { vertices, provoking, edges })
    };
    const ALL: [bool; 3] = [true; 3];
    match ty {
        PrimType::POINTS => {
            for i in 0..count {
                emit(Primitive::Point(i))?;
            }
        }
        PrimType::TRIANGLES | PrimType::TRIANGLES_W_FLAGS => {
            for i in (2..count).step_by(3) {
                triangle([i - 2, i - 1, i], [i - 2, i - 1, i], ALL)?;
            }
        }
        PrimType::TRIANGLE_STRIP => {
            for i in 2..count {
                let order = [i - 2, i - 1, i];
                let odd = i % 2 == 1;
                triangle(if odd { [i - 1, i - 2, i] } else { order }, order, ALL)?;
            }
        }
        PrimType::TRIANGLE_FAN => {
            for i in 2..count {
                triangle([0, i - 1, i], [0, i - 1, i], ALL)?;
            }
        }
        PrimType::POLYGON => {
            for i in 2..count {
                let edges = [true, i == count - 1, i == 2];
                triangle([i - 1, i, 0], [i - 1, i, 0], edges)?;
            }
        }
        PrimType::QUADS | PrimType::QUAD_STRIP => {
            let strip = ty == PrimType::QUAD_STRIP;
            for i in (3..count).step_by(if strip { 2 } else { 4 }) {
                // Vertices of a strip alternate between its two sides.
                let (c, d) = if strip { (i, i - 1) } else { (i - 1, i) };
                let [a, b] = [i - 3, i - 2];
                // Both parts include the application's last vertex.
                let order = |part: [usize; 3]| [part[0], part[1], i];
                if split == QuadSplit::OneToThree {
                    triangle([a, b, d], order([a, b, d]), [true, false, true])?;
                    triangle([b, c, d], order([b, c, d]), [true, true, false])?;
                } else {
                    triangle([a, b, c], order([a, b, c]), [true, true, false])?;
                    triangle([a, c, d], order([a, c, d]), [false, true, true])?;
                }
            }
        }
        PrimType::NONE => {}
        _ => return Ok(false),
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(ty: PrimType, count: usize, provoking: ProvokingVertex) -> Vec<Primitive> {
        let mut primitives = Vec::new();
        let known = assemble::<()>(ty, count, provoking, QuadSplit::OneToThree, |p| {
            primitives.push(p);
            Ok(())
        });
        assert_eq!(known, Ok(true));
        primitives
    }

    fn triangles(ty: PrimType, count: usize) -> Vec<[usize; 3]> {
        let all = all(ty, count, ProvokingVertex::LAST);
        let vertices = all.into_iter().filter_map(|p| match p {
            Primitive::Triangle { vertices, .. } => Some(vertices),
            _ => None,
        });
        vertices.collect()
    }

    #[test]
    fn triangles_of_a_strip_turn_the_same_way() {
        assert_eq!(triangles(PrimType::TRIANGLE_STRIP, 5), [[0, 1, 2], [2, 1, 3], [2, 3, 4]]);
        assert_eq!(triangles(PrimType::TRIANGLE_FAN, 4), [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(triangles(PrimType::TRIANGLES, 8), [[0, 1, 2], [3, 4, 5]]);
        assert_eq!(triangles(PrimType::QUADS, 5), [[0, 1, 3], [1, 2, 3]]);
        assert_eq!(triangles(PrimType::QUAD_STRIP, 4), [[0, 1, 2], [1, 3, 2]]);
    }

    #[test]
    fn inner_edges_of_quads_and_polygons_are_none() {
        // Each outer edge of a polygon with 5 vertices occurs exactly once.
        for (ty, count) in [(PrimType::POLYGON, 5), (PrimType::QUADS, 4)] {
            let mut outer = Vec::new();
            for primitive in all(ty, count, ProvokingVertex::LAST) {
                let Primitive::Triangle { vertices, edges, .. } = primitive else { continue };
                for n in 0..3 {
                    if edges[n] {
                        outer.push((vertices[n], vertices[(n + 1) % 3]));
                    }
                }
            }
            outer.sort_unstable();
            let expected: Vec<_> = (0..count).map(|n| (n, (n + 1) % count)).collect();
            assert_eq!(outer, expected);
        }
    }

    #[test]
    fn the_provoking_vertex_follows_the_order_of_the_application() {
        let of = |provoking| {
            let all = all(PrimType::TRIANGLE_STRIP, 4, provoking);
            all.into_iter().map(|p| match p {
                Primitive::Triangle { provoking, .. } => provoking,
                _ => usize::MAX,
            })
        };
        assert!(of(ProvokingVertex::FIRST).eq([0, 1]));
        assert!(of(ProvokingVertex::SECOND).eq([1, 2]));
        assert!(of(ProvokingVertex::LAST).eq([2, 3]));
    }

    #[test]
    fn loops_close_and_reserved_types_draw_nothing() {
        let lines = all(PrimType::LINE_LOOP, 3, ProvokingVertex::LAST);
        let ends: Vec<_> = lines
            .iter()
            .map(|p| match p {
                Primitive::Line { vertices, .. } => *vertices,
                _ => [9, 9],
            })
            .collect();
        assert_eq!(ends, [[0, 1], [1, 2], [2, 0]]);
        let nothing = assemble::<()>(
            PrimType::new(9),
            8,
            ProvokingVertex::LAST,
            QuadSplit::OneToThree,
            |_| Err(()),
        );
        assert_eq!(nothing, Ok(false));
    }
}
