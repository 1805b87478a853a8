//! Names, locations, bindings and offsets of what a shader uses: the same for every language.

use std::collections::BTreeMap;

use r500_program::{InputData, Job};

use crate::interface::{Interface, NamedConstant, ShaderInput, ShaderTexture, UniformBuffer};
use crate::source::{Axis, Expr, HIDDEN, PlanePart, Source, Stmt};
use crate::{Arithmetic, Dimensions, Inputs, Language};

/// The binding of the uniform buffer; textures follow.
const UNIFORMS: u32 = 0;

/// The bindings of a shader.
pub(crate) struct Bindings<'a> {
    job: &'a Job,
    pub arithmetic: Arithmetic,
    language: Language,
    inputs: Inputs,
    /// The inputs that are used: their temporaries by number.
    used_inputs: BTreeMap<u8, u8>,
    input_names: BTreeMap<u8, String>,
    constant_names: Vec<String>,
    named: Vec<NamedConstant>,
    pub textures: BTreeMap<u8, Dimensions>,
    pub uses_position: bool,
    /// Whether a number is used that has no decimal form.
    pub uses_bits: bool,
}

impl<'a> Bindings<'a> {
    pub(crate) fn of(
        source: &Source,
        job: &'a Job,
        temps: &[u8],
        (arithmetic, language, inputs): (Arithmetic, Language, Inputs),
        textures: &dyn Fn(u8) -> Dimensions,
    ) -> Self {
        let (mut constants, mut used_inputs) = (0, BTreeMap::new());
        let (mut uses_position, mut uses_bits) = (false, false);
        source.each_expression(&mut |expr| match expr {
            Expr::Constant(constant, _) => constants = constants.max(usize::from(*constant) + 1),
            Expr::Input(input, _) | Expr::Plane(input, ..) => {
                used_inputs
                    .insert(*input, *temps.get(usize::from(*input)).expect("inputs are the job's"));
            }
            Expr::FragmentDepth | Expr::Centre(_) | Expr::InSecond(_) => uses_position = true,
            Expr::F32(bits) => uses_bits |= crate::text::decimal(*bits).is_none(),
            _ => {}
        });
        let mut units = BTreeMap::new();
        units_of(&source.body, &mut |unit| {
            units.insert(unit, textures(unit));
        });
        let names = |constant: usize| {
            let uniforms = || job.uniforms.iter().chain(&job.named_by_value);
            let mut names = uniforms().filter(|uniform| usize::from(uniform.constant) == constant);
            names.next().map(|uniform| uniform.name.as_str())
        };
        let constant_names: Vec<String> =
            (0..constants).map(|n| named(&format!("c{n}"), names(n))).collect();
        let named_constants = constant_names.iter().enumerate();
        let named_constants = named_constants
            .filter_map(|(n, _)| {
                Some(NamedConstant { name: names(n)?.to_owned(), constant: u8::try_from(n).ok()? })
            })
            .collect();
        let all_inputs = job.inputs_or_default();
        let input_names = used_inputs
            .iter()
            .map(|(input, temp)| {
                let data =
                    all_inputs.iter().find(|input| input.temp == *temp).map(|input| &input.data);
                let name = match data {
                    Some(InputData::Planes([first, ..])) => first.name.split('.').next(),
                    _ => None,
                };
                (*input, named(&format!("input{temp}"), name))
            })
            .collect();
        Self {
            job,
            arithmetic,
            language,
            inputs,
            used_inputs,
            input_names,
            constant_names,
            named: named_constants,
            textures: units,
            uses_position,
            uses_bits,
        }
    }

    pub(crate) fn input_name(&self, input: u8) -> String {
        self.input_names.get(&input).expect("used inputs have names").clone()
    }

    pub(crate) fn constant_name(&self, constant: u8) -> String {
        self.constant_names.get(usize::from(constant)).expect("used constants have names").clone()
    }

    pub(crate) fn plane_name(&self, input: u8, part: PlanePart) -> String {
        let part = match part {
            PlanePart::Corner => "corner",
            PlanePart::AlongX => "along_x",
            PlanePart::AlongY => "along_y",
        };
        format!("{}_{part}", self.input_name(input))
    }

    pub(crate) fn dimensions(&self, unit: u8) -> Dimensions {
        *self.textures.get(&unit).expect("a shader fetches from its textures")
    }

    fn has_planes(&self) -> bool {
        self.inputs == Inputs::Planes && !self.used_inputs.is_empty()
    }

    /// Returns the vectors of the uniform buffer, in order.
    pub(crate) fn members(&self) -> Vec<String> {
        let mut members = self.constant_names.clone();
        if self.has_planes() {
            members.push("size".to_owned());
            for input in self.used_inputs.keys() {
                let parts = [PlanePart::Corner, PlanePart::AlongX, PlanePart::AlongY];
                members.extend(parts.map(|part| self.plane_name(*input, part)));
            }
        }
        if self.has_hidden() {
            members.push("hidden".to_owned());
        }
        members
    }

    /// Returns the place of the vector for the size, an axis of it, or a plane among the [members](Self::members).
    pub(crate) fn plane_member(&self, input: u8, part: PlanePart) -> usize {
        let before = self.used_inputs.keys().take_while(|own| **own != input).count();
        let part = match part {
            PlanePart::Corner => 0,
            PlanePart::AlongX => 1,
            PlanePart::AlongY => 2,
        };
        self.size_member() + 1 + before * 3 + part
    }

    pub(crate) fn size_member(&self) -> usize {
        self.constant_names.len()
    }

    fn has_hidden(&self) -> bool {
        self.arithmetic == Arithmetic::Exact
    }

    pub(crate) fn hidden_member(&self) -> usize {
        self.members().len().checked_sub(1).expect("an exact shader has hidden numbers")
    }

    pub(crate) fn has_uniforms(&self) -> bool {
        !self.members().is_empty()
    }

    pub(crate) fn uniform_binding(&self) -> u32 {
        UNIFORMS
    }

    /// Returns the bindings of a unit's texture and sampler.
    pub(crate) fn texture_bindings(&self, unit: u8) -> (u32, Option<u32>) {
        let unit = u32::from(unit);
        match self.language {
            Language::Wgsl | Language::Spirv => (1 + 2 * unit, Some(2 + 2 * unit)),
            _ => (1 + unit, None),
        }
    }

    /// Returns the locations and names of varyings.
    pub(crate) fn varyings(&self) -> impl Iterator<Item = (u32, &String)> {
        let varyings = (self.inputs == Inputs::Varyings).then_some(&self.input_names);
        varyings.into_iter().flatten().map(|(input, name)| (u32::from(*input), name))
    }

    /// Returns the description for an embedder, without what the IR says of the program.
    pub(crate) fn interface(&self, source: &Source) -> Interface {
        let members = self.members().len();
        let inputs = self.varyings().map(|(location, name)| {
            let input = u8::try_from(location).expect("inputs are numbered by bytes");
            let temp = *self.used_inputs.get(&input).expect("varyings are used inputs");
            ShaderInput { name: name.clone(), location, temp }
        });
        let textures = self.textures.iter().map(|(unit, dimensions)| {
            let (binding, sampler) = self.texture_bindings(*unit);
            ShaderTexture {
                name: format!("texture{unit}"),
                unit: *unit,
                dimensions: *dimensions,
                is_assumed: self.job.textures.get(usize::from(*unit)).is_none_or(Option::is_none),
                binding,
                sampler,
            }
        });
        let uniforms = self.has_uniforms().then(|| UniformBuffer {
            binding: UNIFORMS,
            bytes: bytes(members),
            constants: u32::try_from(self.constant_names.len())
                .expect("a program has 256 constants"),
            names: self.named.clone(),
            planes: self.has_planes().then(|| bytes(self.size_member())),
            hidden: self.has_hidden().then(|| bytes(self.hidden_member())),
        });
        Interface {
            entry_point: "main",
            uniforms,
            inputs: inputs.collect(),
            textures: textures.collect(),
            colors: (0..4).filter(|n| source.colors[usize::from(*n)].is_some()).collect(),
            depth: source.depth.is_some(),
            discards: source.covered.is_some(),
            amplifiers: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// Returns the values of the uniform buffer for the job's own constants and inputs, for a picture of this size.
    pub(crate) fn uniform_values(&self, size: [u32; 2]) -> Vec<[f32; 4]> {
        let constants = &self.job.program.state.constants;
        let constant =
            |n: usize| constants.get(n).map_or([0.0; 4], |bits| bits.map(f32::from_bits));
        let mut values: Vec<[f32; 4]> = (0..self.constant_names.len()).map(constant).collect();
        if self.has_planes() {
            values.push([size[0] as f32, size[1] as f32, 0.0, 0.0]);
            let inputs = self.job.inputs_or_default();
            for temp in self.used_inputs.values() {
                let planes =
                    inputs.iter().find(|input| input.temp == *temp).map(|input| &input.data);
                let planes = match planes {
                    Some(InputData::Planes(components)) => {
                        components.each_ref().map(|component| component.plane)
                    }
                    _ => unreachable!("inputs without a plane are refused before"),
                };
                values.extend([
                    planes.map(|plane| plane.c),
                    planes.map(|plane| plane.du),
                    planes.map(|plane| plane.dv),
                ]);
            }
        }
        if self.has_hidden() {
            values.push(HIDDEN);
        }
        values
    }
}

fn bytes(vectors: usize) -> u32 {
    u32::try_from(vectors * 16).expect("a buffer has some hundred vectors")
}

fn units_of(body: &[Stmt], f: &mut impl FnMut(u8)) {
    for stmt in body {
        match stmt {
            Stmt::Sample(sample) => f(sample.unit),
            Stmt::If(_, yes, no) => {
                units_of(yes, f);
                units_of(no, f);
            }
            Stmt::Loop(_, _, body) => units_of(body, f),
            _ => {}
        }
    }
}

/// Returns an identifier: a number that makes it unique, then as much of a name as identifiers may have.
fn named(unique: &str, name: Option<&str>) -> String {
    let name: String = name
        .unwrap_or_default()
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '_')
        .collect();
    // Two underscores are reserved in GLSL.
    let mut parts = name.split('_').filter(|part| !part.is_empty()).peekable();
    match parts.peek() {
        None => unique.to_owned(),
        Some(_) => format!("{unique}_{}", parts.collect::<Vec<_>>().join("_")),
    }
}

/// Returns the index of an axis.
pub(crate) fn axis_index(axis: Axis) -> u32 {
    u32::from(axis == Axis::Y)
}
