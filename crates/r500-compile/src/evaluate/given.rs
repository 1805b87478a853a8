//! What a draw gives a shader: uniforms, inputs and textures, by name.

use std::collections::HashMap;

use r500_exec::Bindings;
use r500_glsl::tree::{BuiltinVariable, VariableId};
use r500_glsl::types::Type;
use r500_program::Uniform;
use r500_texture::Sampler;

use super::{Evaluator, Lanes, Value, zeros};
use crate::arithmetic::{Alu, Arithmetic};
use crate::interface::{InputVector, SamplerUnit, VIEWPORT, host_name, leaves};

/// What the pixels of a draw are given, and where a program has it.
#[derive(Clone, Copy, Debug)]
pub struct Pixels<'a> {
    /// Constants, inputs and textures.
    pub bindings: &'a Bindings,
    /// Names of constants.
    pub uniforms: &'a [Uniform],
    /// What temporaries hold when the program starts.
    pub inputs: &'a [(u8, InputVector)],
    /// The samplers of the texture units, in order.
    pub samplers: &'a [SamplerUnit],
}

/// What four vertices are given.
#[derive(Clone, Debug, Default)]
pub struct Vertices {
    /// The vectors of uniforms by name.
    pub uniforms: HashMap<String, [f32; 4]>,
    /// The vectors of attributes by name, of each vertex.
    pub attributes: HashMap<String, [[f32; 4]; 4]>,
}

/// What the pixels of a quad, or four vertices, are given.
pub(super) enum Given<'a> {
    /// The quad at a place of a draw.
    Quad(Pixels<'a>, [u32; 2]),
    Vertices(&'a Vertices),
}

impl Given<'_> {
    /// Returns the `n`th vector of uniforms with a name. One that the program does not read has no constant, and its value does not matter.
    fn uniform(&self, name: &str, n: usize) -> [f32; 4] {
        let found = match self {
            Self::Quad(pixels, _) => {
                let mut all = pixels.uniforms.iter().filter(|uniform| uniform.name == name);
                let constant = all.nth(n).map(|uniform| usize::from(uniform.constant));
                constant.and_then(|constant| pixels.bindings.constant(constant))
            }
            Self::Vertices(vertices) => vertices.uniforms.get(name).copied(),
        };
        found.unwrap_or_default()
    }

    /// Returns an input in each pixel, an attribute of each vertex.
    fn input(&self, name: &str) -> [[f32; 4]; 4] {
        match self {
            Self::Quad(Pixels { bindings, inputs, .. }, at) => {
                let found = inputs.iter().find(|(_, vector)| vector.name == name);
                let input = found.and_then(|(temp, _)| {
                    bindings.inputs().iter().find(|input| input.temp == *temp)
                });
                std::array::from_fn(|lane| {
                    let (x, y) = (at[0] + (lane as u32 & 1), at[1] + (lane as u32 >> 1));
                    input.map_or([0.0; 4], |input| bindings.input(input, x, y))
                })
            }
            Self::Vertices(vertices) => vertices.attributes.get(name).copied().unwrap_or_default(),
        }
    }

    /// Returns the texture unit of a sampler.
    pub(super) fn unit(&self, name: &str) -> Option<u8> {
        let Self::Quad(pixels, _) = self else { return None };
        let unit = pixels.samplers.iter().position(|unit| unit.name == name)?;
        u8::try_from(unit).ok()
    }

    /// Returns what a texture unit reads.
    pub(super) fn sampler(&self, unit: u8) -> Option<&Sampler> {
        let Self::Quad(pixels, _) = self else { return None };
        pixels.bindings.sampler(usize::from(unit))
    }
}

impl Evaluator<'_> {
    pub(super) fn named(&self, name: &str, size: usize) -> Value {
        self.vector(name, 0, size)
    }

    fn vector(&self, name: &str, n: usize, size: usize) -> Value {
        let value = self.given.uniform(name, n);
        (0..size).map(|c| [value[c & 3]; 4]).collect()
    }

    pub(super) fn uniform(&mut self, id: VariableId) -> Value {
        let variable = &self.shader.variables[id];
        let name = host_name(self.shader, id);
        let toy = name != variable.name;
        if toy && name == "resolution" {
            let mut value = self.named(name, 2);
            value.push([1.0; 4]);
            return value;
        }
        let mut value: Value = Vec::new();
        for leaf in leaves(name, &variable.ty) {
            value.extend(self.named(&leaf.name, leaf.size));
        }
        if toy && name == "mouse" {
            let size = self.named("resolution", 2);
            let place = self.mul(&value[..2].to_vec(), &size);
            let pressed = self.mul(&place, &vec![value[2]]);
            return [place, pressed].concat();
        }
        value
    }

    pub(super) fn input(&self, name: &str, ty: &Type) -> Value {
        let mut value = Vec::new();
        for leaf in leaves(name, ty) {
            let lanes: [Lanes; 4] = self.given.input(&leaf.name);
            value.extend((0..leaf.size).map(|c| lanes.map(|vector| vector[c & 3])));
        }
        value
    }

    pub(super) fn builtin(&mut self, builtin: BuiltinVariable, id: VariableId) -> Value {
        use BuiltinVariable as B;
        let variable = &self.shader.variables[id];
        match builtin {
            B::FragColor | B::FragData | B::FragDepth | B::Position | B::PointSize => {
                zeros(&variable.ty)
            }
            B::FragCoord => {
                let clip = self.input(&variable.name, &Type::floats(4));
                let [scale, offset] = [0, 1].map(|n| self.vector(VIEWPORT, n, 3));
                // The sign of a zero w is as open as that of any other.
                let open = self.open;
                let w = self.alu(Alu::Rcp, &[&clip[3..].to_vec()]);
                self.open = open;
                let place = self.mul(&clip[..3].to_vec(), &w);
                let place = self.mad(&place, &scale, &offset);
                [place, w].concat()
            }
            B::FrontFacing => {
                let face = self.input(&variable.name, &Type::FLOAT);
                vec![face[0].map(|face| f32::from(u8::from(face != 0.0)))]
            }
            B::PointCoord | B::Color | B::SecondaryColor | B::TexCoord | B::FogFragCoord => {
                self.input(&variable.name, &variable.ty)
            }
        }
    }
}
