//! The key under which a host keeps shaders: all that a shader depends on.

use std::hash::{Hash, Hasher};

use r500_isa::{Instruction, TEXTURE_UNITS};
use r500_program::{Component, Input, InputData, Job, Level, Plane, State, Texture, Uniform};

use crate::textures::Textures;
use crate::{Arithmetic, Dimensions, Inputs, Language, Options};

/// The key of a shader. Jobs and options with equal keys have equal shaders, but for [`Options::annotate`] and the values in the uniform buffer: float
/// constants and planes. Texels are not part of it; the registers and sizes of textures are in keys of exact shaders.
///
/// ```
/// use r500_emit::{Language, Options, ShaderKey};
/// use r500_program::Job;
///
/// let mut job = Job::default();
/// job.program.state.constants = vec![[0; 4]];
/// let options = Options::new(Language::Wgsl);
/// let key = ShaderKey::new(&job, &options);
/// job.program.state.constants[0][2] = 1.5_f32.to_bits();
/// assert_eq!(ShaderKey::new(&job, &options), key);
/// job.program.code = vec![r500_isa::Instruction([0x0007_8101, 0, 0x80, 0x00db_0220, 0x00c1_8003, 0x0049_0000])];
/// assert_ne!(ShaderKey::new(&job, &options), key);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ShaderKey {
    options: (Language, Arithmetic, Inputs),
    code: Vec<Instruction>,
    /// Without the values of float constants.
    state: State,
    /// Without their values.
    inputs: Vec<Input>,
    names: Vec<Uniform>,
    textures: [TextureKey; TEXTURE_UNITS],
}

impl Eq for ShaderKey {}

/// What a shader depends on of a unit's texture.
#[derive(Clone, Debug, PartialEq)]
enum TextureKey {
    /// The dimensions, whether they are assumed, and whether a nearest texel may be chosen.
    Fast(Dimensions, bool, bool),
    /// Without texels.
    Exact(Option<Texture>),
}

impl ShaderKey {
    /// Returns the key of a job's shader.
    #[must_use]
    pub fn new(job: &Job, options: &Options<'_>) -> Self {
        let Options { language, arithmetic, inputs, annotate: _ } = *options;
        let mut state = job.program.state.clone();
        state.constants.iter_mut().for_each(|constant| *constant = [0; 4]);
        let textures = Textures::of(job, Arithmetic::Fast);
        let texture = |unit: usize| match arithmetic {
            Arithmetic::Exact => TextureKey::Exact(job.textures[unit].as_ref().map(without_texels)),
            Arithmetic::Fast => {
                let unit = u8::try_from(unit).expect("units are numbered by bytes");
                let is_assumed = textures.is_assumed(unit);
                let may_be_nearest = textures.may_be_nearest(unit);
                TextureKey::Fast(textures.dimensions(unit), is_assumed, may_be_nearest)
            }
        };
        Self {
            options: (language, arithmetic, inputs),
            code: job.program.code.clone(),
            state,
            inputs: match &job.inputs {
                Some(inputs) => inputs.iter().map(without_values).collect(),
                None => job.inputs_or_default(),
            },
            names: job.uniforms.iter().chain(&job.named_by_value).cloned().collect(),
            textures: std::array::from_fn(texture),
        }
    }
}

impl Hash for ShaderKey {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        // Programs differ in their instructions; the rest is left to the comparison.
        self.code.iter().for_each(|instruction| instruction.0.hash(hasher));
    }
}

fn without_values(input: &Input) -> Input {
    let data = match &input.data {
        InputData::Planes(components) => {
            InputData::Planes(components.each_ref().map(|Component { name, .. }| Component {
                name: name.clone(),
                plane: Plane::default(),
            }))
        }
        InputData::Values { .. } => InputData::Values { width: 0, values: Vec::new() },
    };
    Input { temp: input.temp, data }
}

/// Returns a texture without its bytes.
fn without_texels(texture: &Texture) -> Texture {
    let levels = texture.levels.iter();
    let level = |level: &Level| Level { bytes: Vec::new(), ..*level };
    Texture { levels: levels.map(level).collect(), ..*texture }
}
