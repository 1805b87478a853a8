//! Setters of bindings, for changes between draws of one program.
//!
//! A [`Drawing`](crate::Drawing) takes bindings by reference for each draw. Float constants, the values of inputs that are given
//! pixel by pixel, and the pixels of a coverage mask can change without another compilation. Changes of other bindings (integer
//! and boolean constants, textures, planes, the picture's size, the presence of a mask) make it compile again.

use r500_isa::state::{UsFcBoolConst, UsFcIntConst, UsFormat};
use r500_isa::{CONSTANTS, INT_CONSTANTS, TEXTURE_UNITS};
use r500_program::{Input, InputData, Texture};

use super::{BindError, Bindings, Coverage, check_input};
use crate::texture::Sampler;

/// Number of boolean constants.
const BOOL_CONSTANTS: usize = 32;

/// Checks a register number; returns it.
fn number(what: &'static str, number: usize, count: usize) -> Result<usize, BindError> {
    if number < count {
        Ok(number)
    } else {
        Err(BindError::Number { what, number, last: count - 1 })
    }
}

impl Bindings {
    /// Sets a float constant, 0 to 255. Constants below it that were not provided become 0.
    ///
    /// # Errors
    /// [`BindError::Number`].
    pub fn set_constant(&mut self, n: usize, value: [f32; 4]) -> Result<(), BindError> {
        let n = number("float constant", n, CONSTANTS)?;
        if n >= self.constants.len() {
            self.constants.resize(n + 1, [0.0; 4]);
        }
        self.constants[n] = value;
        Ok(())
    }

    /// Sets an integer constant, 0 to 31: trip count, and first value and step of a loop's aL.
    ///
    /// # Errors
    /// [`BindError::Number`].
    pub fn set_int_constant(&mut self, n: usize, value: UsFcIntConst) -> Result<(), BindError> {
        self.ints[number("integer constant", n, INT_CONSTANTS)?] = Some(value);
        Ok(())
    }

    /// Sets a boolean constant, 0 to 31.
    ///
    /// # Errors
    /// [`BindError::Number`].
    pub fn set_bool_constant(&mut self, n: usize, value: bool) -> Result<(), BindError> {
        let bit = 1 << number("boolean constant", n, BOOL_CONSTANTS)?;
        let UsFcBoolConst(bits) = self.bools.unwrap_or_default();
        self.bools = Some(UsFcBoolConst(if value { bits | bit } else { bits & !bit }));
        Ok(())
    }

    /// Binds a texture to a unit, 0 to 15. `us_format` scales the program's coordinates; without it, the size of the texture does.
    ///
    /// # Errors
    /// [`BindError::Number`]; [`BindError::Texture`] if it cannot be sampled, and the unit keeps its texture.
    pub fn set_texture(
        &mut self,
        unit: usize,
        texture: &Texture,
        us_format: Option<UsFormat>,
    ) -> Result<(), BindError> {
        let unit = number("texture unit", unit, TEXTURE_UNITS)?;
        let sampler = Sampler::bind(texture, us_format);
        self.samplers[unit] = Some(sampler.map_err(|error| BindError::Texture { unit, error })?);
        Ok(())
    }

    /// Binds an existing sampler, or disables the unit (0 to 15). Binding a clone of the bound sampler costs nothing.
    ///
    /// # Errors
    /// [`BindError::Number`].
    pub fn set_sampler(&mut self, unit: usize, sampler: Option<Sampler>) -> Result<(), BindError> {
        self.samplers[number("texture unit", unit, TEXTURE_UNITS)?] = sampler;
        Ok(())
    }

    /// Sets the input of a temporary, in place of its previous one.
    ///
    /// # Errors
    /// [`BindError::InputTemp`] and [`BindError::InputRows`].
    pub fn set_input(&mut self, input: Input) -> Result<(), BindError> {
        check_input(&input)?;
        match self.inputs.iter_mut().find(|own| own.temp == input.temp) {
            Some(own) => *own = input,
            None => self.inputs.push(input),
        }
        Ok(())
    }

    /// Removes all inputs: every temporary starts at 0.
    pub fn clear_inputs(&mut self) {
        self.inputs.clear();
    }

    /// Returns the values of an input that is given pixel by pixel, row by row from y = 0, to be overwritten in place; `None` if
    /// the temporary has no such input.
    #[must_use]
    pub fn input_values_mut(&mut self, temp: u8) -> Option<&mut [[f32; 4]]> {
        let input = self.inputs.iter_mut().find(|input| input.temp == temp)?;
        match &mut input.data {
            InputData::Values { values, .. } => Some(values),
            InputData::Planes(_) => None,
        }
    }

    /// Sets which pixels the rasteriser covers, row by row from y = 0; all of them without a mask.
    ///
    /// # Errors
    /// [`BindError::CoverageSize`] if the mask does not have as many pixels as the picture.
    pub fn set_coverage(&mut self, mask: Option<Vec<bool>>) -> Result<(), BindError> {
        let [width, height] = self.size;
        if let Some(mask) = &mask
            && mask.len() as u64 != u64::from(width) * u64::from(height)
        {
            return Err(BindError::CoverageSize { given: mask.len(), width, height });
        }
        self.coverage = mask.map(|pixels| Coverage { width, pixels });
        Ok(())
    }

    /// Returns the coverage mask, to be overwritten in place; `None` without a mask.
    #[must_use]
    pub fn coverage_mut(&mut self) -> Option<&mut [bool]> {
        self.coverage.as_mut().map(|coverage| coverage.pixels.as_mut_slice())
    }

    /// Sets width and height of the picture, and removes the coverage mask, which has the previous size. Values that are given
    /// pixel by pixel keep their rows.
    pub fn set_size(&mut self, size: [u32; 2]) {
        if size != self.size {
            self.size = size;
            self.coverage = None;
        }
    }
}
