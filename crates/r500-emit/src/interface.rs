//! What an embedder binds to an emitted shader.

use r500_program::{InputData, Job};
use serde::Serialize;

use crate::EmitError;
use crate::source::HIDDEN;

/// The bindings of a shader.
///
/// All are in group (descriptor set) 0. In WGSL and SPIR-V a texture and its sampler have a binding each, in GLSL one for both. Exact shaders load texels
/// and have no samplers; in GLSL, the sampler of the texture must not need other levels than the texture has.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Interface {
    /// The name of the entry point.
    pub entry_point: &'static str,
    /// The uniform buffer; `None` if nothing in it is used.
    pub uniforms: Option<UniformBuffer>,
    /// The varyings, by location.
    pub inputs: Vec<ShaderInput>,
    /// The textures.
    pub textures: Vec<ShaderTexture>,
    /// The targets that are written, `US_OUT_FMT` of which converts on the card: colours are written as the program computes them.
    pub colors: Vec<u8>,
    /// Whether the depth is written.
    pub depth: bool,
    /// Whether fragments may be discarded.
    pub discards: bool,
    /// Where a last bit of a host's function may become visible, or other neighbours would be read; empty for exact shaders without
    /// differences in branches.
    pub amplifiers: Vec<Amplifier>,
    /// What of the program has no equivalent.
    pub left_out: Vec<&'static str>,
}

impl Interface {
    /// Returns the bindings as one JSON object, on several lines.
    #[must_use]
    pub fn json(&self) -> String {
        json(self)
    }
}

/// Returns a value as JSON, on several lines.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("names are texts, and nothing fails")
}

impl Interface {
    /// Returns the uniform buffer for the constants and inputs of a job of the same program, and a picture of a size; nothing if there is none.
    ///
    /// # Errors
    /// [`EmitError::NoPlane`] if an input of the buffer has a value for each pixel.
    pub fn uniform_values(&self, job: &Job, size: [u32; 2]) -> Result<Vec<[f32; 4]>, EmitError> {
        let constants: Vec<[f32; 4]> =
            job.program.state.constants.iter().map(|bits| bits.map(f32::from_bits)).collect();
        self.uniform_values_of(job, &constants, size)
    }

    /// As [`uniform_values`](Self::uniform_values), with other constants than the job's.
    ///
    /// # Errors
    /// Likewise.
    pub fn uniform_values_of(
        &self,
        job: &Job,
        constants: &[[f32; 4]],
        size: [u32; 2],
    ) -> Result<Vec<[f32; 4]>, EmitError> {
        let values = |uniforms: &UniformBuffer| uniforms.values(job, constants, size);
        self.uniforms.as_ref().map_or(Ok(Vec::new()), values)
    }
}

impl UniformBuffer {
    pub(crate) fn values(
        &self,
        job: &Job,
        constants: &[[f32; 4]],
        [width, height]: [u32; 2],
    ) -> Result<Vec<[f32; 4]>, EmitError> {
        let mut vectors = constants.to_vec();
        vectors.resize(self.constants as usize, [0.0; 4]);
        if self.planes.is_some() {
            vectors.push([width as f32, height as f32, 0.0, 0.0]);
            let inputs = job.inputs_or_default();
            for temp in &self.plane_inputs {
                let data = inputs.iter().find(|input| input.temp == *temp).map(|input| &input.data);
                let Some(InputData::Planes(components)) = data else {
                    return Err(EmitError::NoPlane(*temp));
                };
                let planes = components.each_ref().map(|component| component.plane);
                vectors.push(planes.map(|plane| plane.c));
                vectors.push(planes.map(|plane| plane.du));
                vectors.push(planes.map(|plane| plane.dv));
            }
        }
        vectors.extend(self.hidden.map(|_| HIDDEN));
        Ok(vectors)
    }
}

/// A uniform buffer: vectors of four floats, in this order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UniformBuffer {
    /// The binding.
    pub binding: u32,
    /// Its size in bytes.
    pub bytes: u32,
    /// The number of program constants, from the first one on.
    pub constants: u32,
    /// Constants with a name.
    pub names: Vec<NamedConstant>,
    /// The byte offset of `(width, height, 0, 0)` of the picture, after which each input has three vectors: its value at the lower left corner,
    /// and its changes over the width and over the height. `None` with varyings.
    pub planes: Option<u32>,
    /// The temporaries of the inputs that have planes there, in order.
    pub plane_inputs: Vec<u8>,
    /// The byte offset of `(0, -0, 1, -1)` in exact shaders: numbers that the host must not know, because it would simplify operations with them.
    pub hidden: Option<u32>,
}

/// A constant with a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NamedConstant {
    /// Its name in the program's source.
    pub name: String,
    /// Its number.
    pub constant: u8,
}

/// A varying.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShaderInput {
    /// Its name in the shader.
    pub name: String,
    /// Its location.
    pub location: u32,
    /// The temporary that has it when the program starts.
    pub temp: u8,
}

/// A texture. Its fetches return what the program sees: the components after the selection of `TX_FORMAT1`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShaderTexture {
    /// Its name in the shader.
    pub name: String,
    /// The unit of the program.
    pub unit: u8,
    /// The dimensions.
    pub dimensions: Dimensions,
    /// Whether the job has no texture for the unit, so that its dimensions are assumed.
    pub is_assumed: bool,
    /// The binding of the texture.
    pub binding: u32,
    /// The binding of the sampler; `None` in GLSL, where it is the texture's, and in exact shaders, which load texels.
    pub sampler: Option<u32>,
    /// The texels that an exact shader was written for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub texels: Option<ShaderTexels>,
}

/// The texels that an exact shader was written for, with sizes and address modes. [`texels`](crate::texels) returns them as floats; a format of the
/// host that returns the same floats serves, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ShaderTexels {
    /// Width, height and layers (depth) of the finest level.
    pub size: [u32; 3],
    /// The number of levels.
    pub levels: u32,
}

/// The dimensions of a texture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dimensions {
    /// Two.
    #[default]
    #[serde(rename = "2d")]
    Two,
    /// Three.
    #[serde(rename = "3d")]
    Three,
    /// Six faces.
    Cube,
    /// Six layers of two dimensions: the faces +X, -X, +Y, -Y, +Z, -Z of a cube in an exact shader, because no language loads texels of a cube.
    #[serde(rename = "2d-array")]
    Faces,
}

impl Dimensions {
    /// Returns the number of coordinates.
    pub(crate) fn count(self) -> usize {
        if matches!(self, Self::Two) { 2 } else { 3 }
    }
}

/// An instruction that makes small errors large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Amplifier {
    /// The address of the instruction.
    pub address: u32,
    /// Why.
    pub reason: AmplifierReason,
}

/// Why an instruction makes small errors large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AmplifierReason {
    /// A fraction jumps from 1 to 0.
    #[error("the fraction of an inexact number jumps from 1 to 0")]
    Fraction,
    /// A comparison of an inexact number.
    #[error("an inexact number is compared")]
    Comparison,
    /// A loop ends by a comparison of an inexact number.
    #[error("a loop ends by a comparison of an inexact number")]
    LoopEnd,
    /// A fetch without a linear filter at inexact coordinates.
    #[error("a nearest texel is chosen at inexact coordinates")]
    NearestFetch,
    /// A constant whose number is inexact.
    #[error("a constant is chosen by an inexact number")]
    ConstantIndex,
    /// Lanes of the quad are read where they may have taken another way.
    #[error("lanes of the quad are read in a branch or a loop, where a host does not define them")]
    QuadInBranch,
}

/// What a vertex program is written as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// A vertex shader.
    #[default]
    Stage,
    /// A function, with the uniform buffer and the functions that it calls: of the inputs, which returns a structure of the outputs in WGSL and has them as
    /// `out` parameters in GLSL.
    Function,
}

impl Form {
    /// Returns the name of the shader's entry point, or of the function.
    pub(crate) fn entry_point(self) -> &'static str {
        match self {
            Self::Stage => "main",
            Self::Function => "r500_vertex",
        }
    }
}

/// An output of a vertex program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VertexOutput {
    /// Its name in the shader.
    pub name: String,
    /// The number of the output register.
    pub register: u8,
    /// The location of the varying, one less than the register; `None` for register 0, which is the position.
    pub location: Option<u32>,
}
