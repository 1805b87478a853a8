//! Recording: converts a draw to a [`Job`], for engines, checkers and debuggers of fragment programs.
//!
//! The job has the inputs of the fragment processor: program, constants, textures in row order, and the interpolated
//! inputs of each pixel. Its picture is the part of the render target that the draw touches. If several primitives
//! touch a quad, each has its own copy, because differences between neighbours are within a primitive: the picture has
//! *layers*, one below the other, and the first primitive of a quad is in the first layer.

use std::collections::HashMap;

use r500_program::{Input, InputData, Job};

use crate::limits::CardError;
use crate::quad::Quad;
use crate::rs::Rs;
use crate::sc::Samples;
use crate::su::Primitives;

/// A draw as a job.
#[derive(Clone, Debug)]
pub struct DrawJob {
    /// Program, textures, inputs by pixel, coverage.
    pub job: Job,
    /// Column and row of the render target for column 0, row 0 of each layer.
    pub origin: [u32; 2],
    /// Width and height of a layer.
    pub size: [u32; 2],
    /// Number of layers.
    pub layers: u32,
}

/// Limit of the pixels of a recorded picture.
const MOST: u64 = 1 << 22;

impl DrawJob {
    /// Returns where a pixel of the render target is shaded, in primitive order: columns and rows of the job's picture.
    #[must_use]
    pub fn places(&self, [x, y]: [u32; 2]) -> Vec<[u32; 2]> {
        let [width, height] = self.size;
        let inside = |at: u32, origin: u32, size: u32| at.checked_sub(origin).filter(|n| *n < size);
        let (Some(x), Some(y)) =
            (inside(x, self.origin[0], width), inside(y, self.origin[1], height))
        else {
            return Vec::new();
        };
        let coverage = self.job.coverage.as_deref().unwrap_or_default();
        let places = (0..self.layers).map(|layer| [x, layer * height + y]);
        places
            .filter(|[x, y]| coverage.get((y * width + x) as usize).copied().unwrap_or_default())
            .collect()
    }
}

/// The quads of a draw while it is recorded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recording {
    job: Option<Job>,
    temps: Vec<u8>,
    squares: Vec<Square>,
    /// Number of layers of each quad so far.
    layers: HashMap<[u32; 2], u32>,
}

/// A quad of a primitive.
#[derive(Clone, Debug)]
struct Square {
    /// Its column and row, divided by 2.
    at: [u32; 2],
    layer: u32,
    covered: [bool; 4],
    /// Inputs by pixel and temporary.
    inputs: [Vec<[f32; 4]>; 4],
}

impl Recording {
    /// Adds quads before they are shaded.
    pub(crate) fn add(
        &mut self,
        job: &Job,
        rs: &Rs,
        samples: &Samples,
        primitives: &Primitives,
        quads: &[(u32, Quad)],
    ) -> Result<(), CardError> {
        if self.job.is_none() {
            let Job { program, textures, .. } = job;
            let (program, textures) = (program.clone(), textures.clone());
            self.job = Some(Job { program, textures, ..Job::default() });
            self.temps = rs.writes().iter().map(|write| write.temp).collect();
        }
        for (primitive, quad) in quads {
            let primitive = primitives.get(*primitive as usize);
            if self.squares.len() as u64 * 4 >= MOST {
                return Err(CardError::Recording { limit: MOST });
            }
            let at = quad.pixel(0).map(|n| n / 2);
            let layers = self.layers.entry(at).or_default();
            self.squares.push(Square {
                at,
                layer: *layers,
                covered: quad.masks.map(|mask| mask != 0),
                inputs: std::array::from_fn(|corner| {
                    let at = quad.pixel(corner);
                    rs.inputs(primitive, at, samples.center(at)).collect()
                }),
            });
            *layers += 1;
        }
        Ok(())
    }

    /// Returns the job; `None` if the draw shaded nothing.
    pub(crate) fn finish(self) -> Result<Option<DrawJob>, CardError> {
        let Some(mut job) = self.job.filter(|_| !self.squares.is_empty()) else { return Ok(None) };
        let bound = |axis: usize| {
            let places = self.squares.iter().map(|square| square.at[axis]);
            let (least, most) = places.fold((u32::MAX, 0), |(a, b), n| (a.min(n), b.max(n)));
            (2 * least, 2 * (most - least + 1))
        };
        let ((left, width), (top, height)) = (bound(0), bound(1));
        let layers = self.layers.values().copied().max().unwrap_or_default();
        let pixels = u64::from(width) * u64::from(height) * u64::from(layers);
        if pixels > MOST {
            return Err(CardError::Recording { limit: MOST });
        }
        let mut values = vec![vec![[0.0; 4]; pixels as usize]; self.temps.len()];
        let mut coverage = vec![false; pixels as usize];
        for square in &self.squares {
            for corner in 0..4 {
                let x = 2 * square.at[0] - left + corner as u32 % 2;
                let y = square.layer * height + 2 * square.at[1] - top + corner as u32 / 2;
                let place = y as usize * width as usize + x as usize;
                coverage[place] = square.covered[corner];
                for (values, input) in values.iter_mut().zip(&square.inputs[corner]) {
                    values[place] = *input;
                }
            }
        }
        let inputs = self
            .temps
            .iter()
            .zip(values)
            .map(|(temp, values)| Input { temp: *temp, data: InputData::Values { width, values } });
        job.size = Some([width, height * layers]);
        job.inputs = Some(inputs.collect());
        job.coverage = Some(coverage);
        Ok(Some(DrawJob { job, origin: [left, top], size: [width, height], layers }))
    }
}
