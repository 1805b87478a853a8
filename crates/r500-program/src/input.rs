//! Inputs: initial values of temporaries, which the rasteriser writes before the program starts.

use alloc::string::String;
use alloc::vec::Vec;

/// An input: a temporary and its initial value in each pixel.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// The temporary that receives it, 0 to 127.
    pub temp: u8,
    /// Its values.
    pub data: InputData,
}

/// The values of an input.
#[derive(Clone, Debug, PartialEq)]
pub enum InputData {
    /// A plane over the picture for each component.
    Planes([Component; 4]),
    /// A vector per pixel, row by row from y = 0 (the bottom), of a picture `width` pixels wide.
    /// Pixels outside use the nearest vector.
    Values {
        /// Pixels in a row.
        width: u32,
        /// The vectors; rows are `width` long.
        values: Vec<[f32; 4]>,
    },
}

/// A component that is linear over the picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Component {
    /// Name in the source (`uv.x`); may be empty.
    pub name: String,
    /// Its plane.
    pub plane: Plane,
}

/// A linear function of the position: `(c + du*u) + dv*v` with u = (x + 1/2) / width and
/// v = (y + 1/2) / height, y upward.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Plane {
    /// Value at the lower left corner of the picture.
    pub c: f32,
    /// Change over the width of the picture.
    pub du: f32,
    /// Change over the height of the picture.
    pub dv: f32,
}

impl Plane {
    /// Returns a constant plane.
    #[must_use]
    pub const fn constant(c: f32) -> Self {
        Self { c, du: 0.0, dv: 0.0 }
    }

    /// Returns the plane that a component of an input has where nothing else gives one, by its number: x and y go from 0 to 1 over the
    /// picture, z is 0 and w is 1.
    #[must_use]
    pub const fn of_component(n: usize) -> Self {
        match n {
            0 => Self { c: 0.0, du: 1.0, dv: 0.0 },
            1 => Self { c: 0.0, du: 0.0, dv: 1.0 },
            3 => Self::constant(1.0),
            _ => Self::constant(0.0),
        }
    }

    /// Returns the plane that a component of the place in clip space has: x and y go from -1 to 1, z is 0 and w is 1.
    #[must_use]
    pub const fn of_clip_place(n: usize) -> Self {
        match n {
            0 => Self { c: -1.0, du: 2.0, dv: 0.0 },
            1 => Self { c: -1.0, du: 0.0, dv: 2.0 },
            _ => Self::of_component(n),
        }
    }

    /// Returns the plane through the values at three corners of the picture: lower left, lower
    /// right, upper left.
    #[must_use]
    pub fn from_corners([origin, right, top]: [f32; 3]) -> Self {
        Self { c: origin, du: right - origin, dv: top - origin }
    }

    /// Returns the plane through the values at the vertices of the full-screen triangle with which
    /// captures are drawn: lower left corner, twice the width to the right, twice the height up.
    #[must_use]
    pub fn from_triangle([origin, right, top]: [f32; 3]) -> Self {
        Self { c: origin, du: (right - origin) / 2.0, dv: (top - origin) / 2.0 }
    }
}

impl Input {
    /// Returns an input of four unnamed planes.
    #[must_use]
    pub fn planes(temp: u8, planes: [Plane; 4]) -> Self {
        let data = InputData::Planes(planes.map(|plane| Component { name: String::new(), plane }));
        Self { temp, data }
    }

    /// Returns the default input: temporary 0 = (u, v, 0, 1), u and v from 0 to 1 over the picture,
    /// v upward.
    #[must_use]
    pub fn uv() -> Self {
        Self::planes(0, [0, 1, 2, 3].map(Plane::of_component))
    }
}
