//! What the client is asked and answers: JSON between two processes.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::shader::Api;

/// A pair of shaders to compile and draw.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Request {
    /// The API.
    pub api: Api,
    /// The vertex shader.
    pub vertex: String,
    /// The fragment shader.
    pub fragment: String,
    /// Where the [`Report`] goes.
    pub report: PathBuf,
}

/// What OpenGL says of the pair.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// `GL_RENDERER`.
    pub renderer: String,
    /// `GL_VERSION`.
    pub version: String,
    /// The vertex shader.
    pub vertex: Step,
    /// The fragment shader.
    pub fragment: Step,
    /// The program of both. Not tried if one of them is in error.
    pub link: Option<Step>,
    /// Uniforms that are used, without samplers.
    pub uniforms: Vec<Uniform>,
    /// Samplers that are used.
    pub samplers: Vec<Sampler>,
    /// Attributes that are used.
    pub attributes: Vec<Attribute>,
    /// Draws that were made, each in a submission of its own at the end of the stream: [`TAGGED`] with numbers for uniforms and
    /// attributes, then one for each Boolean component.
    pub draws: usize,
}

/// Draws in which every number of a uniform and of an attribute is another one.
pub const TAGGED: usize = 2;

/// Whether a step succeeded, and what the compiler says.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Step {
    /// Whether it succeeded.
    pub ok: bool,
    /// The log; may be empty, and may have warnings only.
    pub log: String,
}

/// A uniform.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Uniform {
    /// Its name, with `[n]` for an element of an array and a second one for a column of a matrix.
    pub name: String,
    /// The components.
    pub components: Vec<Component>,
}

/// A component of a uniform.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Component {
    /// Its numbers in the draws.
    Numbers([f32; TAGGED]),
    /// A Boolean, which is true in this draw only.
    TrueIn(usize),
}

/// A sampler.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sampler {
    /// Its name, with `[n]` for an element of an array.
    pub name: String,
    /// The type, such as `sampler2D`.
    pub kind: String,
    /// Width and height of its texture, which differ from those of all other samplers.
    pub size: [u32; 2],
}

/// An attribute.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// The location; `None` for attributes of OpenGL itself, such as `gl_Vertex`.
    pub location: Option<u32>,
    /// The values of its vectors (columns of matrices, elements of arrays) in the draws; the first attribute has the corners of the
    /// triangle in place of them.
    pub values: Vec<[[f32; 4]; TAGGED]>,
}
