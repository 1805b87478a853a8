//! What a program shares with its draw: uniforms, inputs and textures, by name.

use r500_glsl::tree::{BuiltinVariable, Shader, Storage, VariableId};
use r500_glsl::types::{Base, Dimensions, Type};

/// A vector of a variable: a scalar, a vector, a column, of an element or a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    /// `lights[1].colour`
    pub(crate) name: String,
    /// Its first component in the variable.
    pub(crate) first: usize,
    pub(crate) size: usize,
}

/// Returns the vectors of a variable, in order.
pub(crate) fn leaves(name: &str, ty: &Type) -> Vec<Leaf> {
    let mut all = Vec::new();
    add_leaves(name.to_owned(), ty, &mut all);
    all
}

fn add_leaves(name: String, ty: &Type, all: &mut Vec<Leaf>) {
    let first = all.last().map_or(0, |leaf: &Leaf| leaf.first + leaf.size);
    match ty {
        Type::Vector(_, n) => all.push(Leaf { name, first, size: usize::from(*n) }),
        Type::Matrix { columns, rows } => {
            for column in 0..*columns {
                add_leaves(format!("{name}[{column}]"), &Type::Vector(Base::Float, *rows), all);
            }
        }
        Type::Array(of, length) => {
            for element in 0..*length {
                add_leaves(format!("{name}[{element}]"), of, all);
            }
        }
        Type::Struct(of) => {
            for (member, ty) in &of.members {
                add_leaves(format!("{name}.{member}"), ty, all);
            }
        }
        Type::Sampler { .. } | Type::Void | Type::Error => {}
    }
}

/// A vector of a uniform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UniformVector {
    /// Its name: `lights[1].colour`, `transform[2]`.
    pub name: String,
    /// Components.
    pub size: u8,
    /// Whether values are integers or truths.
    pub base: Base,
    /// The bits of its value, if it is not of a uniform but of an array of the source whose values are known. It has no name.
    pub known: Option<[u32; 4]>,
}

/// What a temporary holds when the program starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputVector {
    /// The varying, or the built-in variable.
    pub name: String,
    /// Components.
    pub size: u8,
    /// The built-in variable that it is.
    pub builtin: Option<BuiltinVariable>,
}

/// A vector that a vertex shader gives: the position, the size of a point, or of a varying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputVector {
    /// `gl_Position`, `gl_PointSize`, or the varying's: `uv`, `basis[2]`.
    pub name: String,
    /// Components.
    pub size: u8,
}

/// A texture unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SamplerUnit {
    /// The sampler's name.
    pub name: String,
    /// What it reads.
    pub dimensions: Dimensions,
    /// Whether it compares with depths.
    pub shadow: bool,
}

/// The names of ShaderToy as the host's built-in uniforms have them.
pub(crate) fn host_name(shader: &Shader, id: VariableId) -> &str {
    let variable = &shader.variables[id];
    let is_toy = shader.is_main_image
        && variable.storage == Storage::Uniform
        && variable.span == r500_glsl::Span::default();
    match variable.name.as_str() {
        "iTime" | "iGlobalTime" if is_toy => "time",
        "iResolution" if is_toy => "resolution",
        "iMouse" if is_toy => "mouse",
        "iFrame" if is_toy => "frame",
        name => name,
    }
}

/// Name of the uniforms with scale and offset of the viewport, which `gl_FragCoord` needs.
pub(crate) const VIEWPORT: &str = "viewport";
