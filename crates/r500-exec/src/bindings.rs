//! Bindings: the constants, inputs, textures and coverage that a shader reads.

use r500_isa::state::{UsFcBoolConst, UsFcIntConst};
use r500_isa::{CONSTANTS, INT_CONSTANTS, TEXTURE_UNITS};
use r500_program::{Input, InputData, Job, Plane};

mod setters;

use crate::numerics;
use crate::texture::{self, Sampler};

/// The data that a shader reads, for a picture of a certain size.
#[derive(Clone, Debug)]
pub struct Bindings {
    size: [u32; 2],
    constants: Vec<[f32; 4]>,
    ints: [Option<UsFcIntConst>; INT_CONSTANTS],
    bools: Option<UsFcBoolConst>,
    samplers: [Option<Sampler>; TEXTURE_UNITS],
    inputs: Vec<Input>,
    coverage: Option<Coverage>,
}

#[derive(Clone, Debug)]
struct Coverage {
    width: u32,
    pixels: Vec<bool>,
}

impl Coverage {
    /// Returns whether the mask has every pixel of a picture.
    fn covers_picture(&self, [width, height]: [u32; 2]) -> bool {
        width <= self.width
            && u64::from(self.width) * u64::from(height) <= self.pixels.len() as u64
            && !self.pixels.contains(&false)
    }
}

/// An error of binding data.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// A texture that cannot be sampled.
    #[error("texture unit {unit}: {error}")]
    Texture {
        /// The unit.
        unit: usize,
        /// The reason.
        #[source]
        error: texture::BindError,
    },
    /// Values per pixel that do not fill rows.
    #[error("input temp[{temp}]: {count} values do not fill rows of {width} pixels")]
    InputRows {
        /// The temporary.
        temp: u8,
        /// Values given.
        count: usize,
        /// Pixels in a row.
        width: u32,
    },
    /// An input for a temporary that does not exist.
    #[error("input temp[{temp}]: temporaries end with 127")]
    InputTemp {
        /// The temporary.
        temp: u8,
    },
    /// Coverage that does not fill rows.
    #[error("coverage: {count} pixels do not fill rows of {width}")]
    CoverageRows {
        /// Pixels given.
        count: usize,
        /// Pixels in a row.
        width: u32,
    },
    /// More constants than the processor has.
    #[error("{count} constants are given, the processor has 256")]
    Constants {
        /// Constants given.
        count: usize,
    },
    /// A register or unit that does not exist.
    #[error("there is no {what} {number}: they end with {last}")]
    Number {
        /// What is numbered: `float constant`, `integer constant`, `boolean constant`, `texture unit`.
        what: &'static str,
        /// The number given.
        number: usize,
        /// The highest number.
        last: usize,
    },
    /// Coverage of another size than the picture.
    #[error("coverage of {given} pixels for a picture of {width}x{height}")]
    CoverageSize {
        /// Pixels given.
        given: usize,
        /// Width of the picture.
        width: u32,
        /// Height of the picture.
        height: u32,
    },
}

impl Bindings {
    /// Binds the data of a job for a picture of `size` (width, height). The job's own size gives the layout of
    /// its values per pixel.
    ///
    /// # Errors
    /// [`BindError`], with the part that does not fit.
    pub fn new(job: &Job, size: [u32; 2]) -> Result<Self, BindError> {
        let state = &job.program.state;
        if state.constants.len() > CONSTANTS {
            return Err(BindError::Constants { count: state.constants.len() });
        }
        let mut samplers = [const { None }; TEXTURE_UNITS];
        for (unit, texture) in job.textures.iter().enumerate() {
            if let Some(texture) = texture {
                let bound = Sampler::bind(texture, state.format[unit])
                    .map_err(|error| BindError::Texture { unit, error })?;
                samplers[unit] = Some(bound);
            }
        }
        let inputs = job.inputs_or_default();
        for input in &inputs {
            check_input(input)?;
        }
        let coverage = match &job.coverage {
            None => None,
            Some(pixels) => {
                let width = job.size.unwrap_or(size)[0];
                if !fills_rows(pixels.len(), width) {
                    return Err(BindError::CoverageRows { count: pixels.len(), width });
                }
                let mask = Coverage { width, pixels: pixels.clone() };
                // A mask with every pixel of the picture is left out.
                (!mask.covers_picture(size)).then_some(mask)
            }
        };
        Ok(Self {
            size,
            constants: state.constants.iter().map(|c| c.map(f32::from_bits)).collect(),
            ints: state.fc_int_const,
            bools: state.fc_bool_const,
            samplers,
            inputs,
            coverage,
        })
    }

    /// Returns width and height of the picture.
    #[must_use]
    #[inline]
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Returns a float constant; `None` if not provided.
    #[must_use]
    #[inline]
    pub fn constant(&self, n: usize) -> Option<[f32; 4]> {
        self.constants.get(n).copied()
    }

    /// Returns the float constants from number 0 to the last one provided.
    #[must_use]
    #[inline]
    pub fn constants(&self) -> &[[f32; 4]] {
        &self.constants
    }

    /// Returns an integer constant; `None` if not provided.
    #[must_use]
    #[inline]
    pub fn int_constant(&self, n: usize) -> Option<UsFcIntConst> {
        self.ints.get(n).copied().flatten()
    }

    /// Returns the boolean constants; `None` if not provided.
    #[must_use]
    #[inline]
    pub fn bool_constants(&self) -> Option<UsFcBoolConst> {
        self.bools
    }

    /// Returns the sampler of a unit; `None` if the unit is not enabled.
    #[must_use]
    #[inline]
    pub fn sampler(&self, unit: usize) -> Option<&Sampler> {
        self.samplers.get(unit)?.as_ref()
    }

    /// Returns the inputs.
    #[must_use]
    #[inline]
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Returns whether the rasteriser covers a pixel. Pixels outside the picture are not covered.
    #[must_use]
    #[inline]
    pub fn covers(&self, x: u32, y: u32) -> bool {
        if x >= self.size[0] || y >= self.size[1] {
            return false;
        }
        self.coverage.as_ref().is_none_or(|Coverage { width, pixels }| {
            let index = y as usize * *width as usize + x as usize;
            x < *width && pixels.get(index).copied().unwrap_or(false)
        })
    }

    /// Returns the pixels of a row of the coverage mask, as many as the picture and the mask have; `None` without a mask.
    #[must_use]
    #[inline]
    pub fn coverage_row(&self, y: u32) -> Option<&[bool]> {
        let Coverage { width, pixels } = self.coverage.as_ref()?;
        let first = y as usize * *width as usize;
        let row = (*width).min(self.size[0]) as usize;
        let inside = y < self.size[1] && first < pixels.len();
        Some(if inside { &pixels[first..pixels.len().min(first + row)] } else { &[] })
    }

    /// Returns whether the rasteriser covers every pixel of the picture: there is no coverage mask.
    #[must_use]
    #[inline]
    pub fn covers_all(&self) -> bool {
        self.coverage.is_none()
    }

    /// Returns the value of an input at a pixel, which may lie outside the picture.
    ///
    /// Outside, planes are evaluated by the same formula ([`numerics::plane`]; open), and values per pixel
    /// repeat the nearest pixel (open).
    #[must_use]
    #[inline]
    pub fn input(&self, input: &Input, x: u32, y: u32) -> [f32; 4] {
        match &input.data {
            InputData::Planes(components) => {
                let u = numerics::centre(x, self.size[0]);
                let v = numerics::centre(y, self.size[1]);
                components.each_ref().map(|component| {
                    let Plane { c, du, dv } = component.plane;
                    numerics::plane(c, du, dv, u, v)
                })
            }
            InputData::Values { width, values } => {
                let width = *width as usize;
                let rows = values.len() / width.max(1);
                let x = (x as usize).min(width.saturating_sub(1));
                let y = (y as usize).min(rows.saturating_sub(1));
                values.get(y * width + x).copied().unwrap_or_default()
            }
        }
    }
}

fn check_input(input: &Input) -> Result<(), BindError> {
    let temp = input.temp;
    if usize::from(temp) >= r500_isa::TEMPORARIES {
        return Err(BindError::InputTemp { temp });
    }
    match &input.data {
        InputData::Values { width, values } if !fills_rows(values.len(), *width) => {
            Err(BindError::InputRows { temp, count: values.len(), width: *width })
        }
        _ => Ok(()),
    }
}

fn fills_rows(count: usize, width: u32) -> bool {
    count != 0 && width != 0 && count.is_multiple_of(width as usize)
}
