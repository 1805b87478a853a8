//! Names, locations, bindings and offsets of what a shader uses: the same for every language.

use std::collections::BTreeMap;

use r500_program::{Input, InputData, Job};

use crate::interface::{
    Interface, NamedConstant, ShaderInput, ShaderTexture, UniformBuffer, VertexOutput,
};
use crate::source::{Expr, Member, PlanePart, Sample, Source, Stmt};
use crate::textures::Textures;
use crate::{Arithmetic, Dimensions, Inputs, Language};

/// The binding of the uniform buffer; textures follow.
pub(crate) const UNIFORMS: u32 = 0;

/// The number of constants in an array.
pub(crate) const TABLE: u16 = 256;

/// The bindings of a shader.
pub(crate) struct Bindings<'a> {
    pub arithmetic: Arithmetic,
    language: Language,
    from: Inputs,
    /// The inputs that are used, by number.
    inputs: BTreeMap<u8, UsedInput>,
    /// The names of constants in the job; the members of the others have only their number.
    names: BTreeMap<u8, &'a str>,
    /// The vectors of the uniform buffer, in order.
    pub members: Vec<Member>,
    pub textures: BTreeMap<u8, Dimensions>,
    bound: &'a Textures<'a>,
    pub uses_position: bool,
    /// Whether a number is used that has no decimal form.
    pub uses_bits: bool,
    /// Whether constants are an array, because the number of one is computed.
    pub has_table: bool,
}

/// An input that is used.
pub(crate) struct UsedInput {
    pub temp: u8,
    pub name: String,
}

impl<'a> Bindings<'a> {
    pub(crate) fn of(
        source: &Source,
        job: &'a Job,
        temps: &[u8],
        (arithmetic, language, from): (Arithmetic, Language, Inputs),
        bound: &'a Textures<'a>,
    ) -> Self {
        let (mut constants, mut inputs) = (0, BTreeMap::new());
        let (mut uses_position, mut uses_bits, mut has_table) = (false, false, false);
        let all_inputs = job.inputs_or_default();
        source.each_expression(&mut |expr| match expr {
            Expr::Uniform(Member::Constant(n), _) => constants = constants.max(u16::from(*n) + 1),
            Expr::Input(input, _) | Expr::Uniform(Member::Plane(input, _), _) => {
                let temp = *temps.get(usize::from(*input)).expect("inputs are the job's");
                let used = || UsedInput { temp, name: input_name(&all_inputs, temp) };
                inputs.entry(*input).or_insert_with(used);
            }
            Expr::FragmentDepth | Expr::Centre(_) | Expr::InSecond(_) => uses_position = true,
            Expr::Table(..) => (constants, has_table) = (TABLE, true),
            Expr::F32(bits) => uses_bits |= crate::text::decimal(*bits).is_none(),
            _ => {}
        });
        let mut units = BTreeMap::new();
        source.each_statement(&mut |stmt| {
            if let Stmt::Vector(vector) = stmt {
                let unit = vector.source.unit();
                units.extend(unit.map(|unit| (unit, bound.dimensions(unit))));
            }
        });
        let constants =
            (0..constants).map(|n| u8::try_from(n).expect("a program has 256 constants"));
        let mut members: Vec<Member> = constants.map(Member::Constant).collect();
        if from == Inputs::Planes && !inputs.is_empty() {
            members.push(Member::Size);
            let planes = inputs
                .keys()
                .flat_map(|input| PlanePart::ALL.map(|part| Member::Plane(*input, part)));
            members.extend(planes);
        }
        if arithmetic == Arithmetic::Exact {
            members.push(Member::Hidden);
        }
        let mut names = BTreeMap::new();
        for uniform in job.uniforms.iter().chain(&job.named_by_value) {
            names.entry(uniform.constant).or_insert(uniform.name.as_str());
        }
        Self {
            arithmetic,
            language,
            from,
            inputs,
            names,
            members,
            textures: units,
            bound,
            uses_position,
            uses_bits,
            has_table,
        }
    }

    fn used(&self, input: u8) -> &UsedInput {
        self.inputs.get(&input).expect("found in the shader")
    }

    pub(crate) fn input_name(&self, input: u8) -> String {
        self.used(input).name.clone()
    }

    /// Returns the name of a vector of the uniform buffer.
    pub(crate) fn member_name(&self, member: Member) -> String {
        match member {
            Member::Constant(n) if self.has_table => format!("constants[{n}]"),
            Member::Constant(n) => named(&format!("c{n}"), self.names.get(&n).copied()),
            Member::Size => "size".to_owned(),
            Member::Plane(input, part) => {
                let part = match part {
                    PlanePart::Corner => "corner",
                    PlanePart::AlongX => "along_x",
                    PlanePart::AlongY => "along_y",
                };
                format!("{}_{part}", self.used(input).name)
            }
            Member::Hidden => "hidden".to_owned(),
        }
    }

    /// Returns the members of the uniform buffer with names of their own: all without the constants, if these are an array.
    pub(crate) fn named_members(&self) -> &[Member] {
        if self.has_table { &self.members[usize::from(TABLE)..] } else { &self.members }
    }

    /// Returns the place of a vector in the uniform buffer, if it is there.
    fn find(&self, member: Member) -> Option<u32> {
        let place = self.members.iter().position(|own| *own == member)?;
        Some(u32::try_from(place).expect("a buffer has some hundred vectors"))
    }

    /// Returns the place of a vector in the uniform buffer.
    pub(crate) fn place(&self, member: Member) -> u32 {
        self.find(member).expect("the shader uses its members")
    }

    pub(crate) fn dimensions(&self, unit: u8) -> Dimensions {
        *self.textures.get(&unit).expect("a shader fetches from its textures")
    }

    /// Returns whether coordinates must be divided by the size of the texture: those of a cube are a direction.
    pub(crate) fn is_scaled_by_size(&self, sample: &Sample) -> bool {
        sample.unscaled && self.dimensions(sample.unit) != Dimensions::Cube
    }

    /// Returns the bindings of a unit's texture and sampler.
    pub(crate) fn texture_bindings(&self, unit: u8) -> (u32, Option<u32>) {
        let unit = u32::from(unit);
        match self.language {
            Language::Wgsl | Language::Spirv => {
                let is_sampled = self.arithmetic == Arithmetic::Fast;
                (1 + 2 * unit, is_sampled.then_some(2 + 2 * unit))
            }
            _ => (1 + unit, None),
        }
    }

    /// Returns the locations and names of varyings.
    pub(crate) fn varyings(&self) -> impl Iterator<Item = (u32, &String)> {
        self.varying_inputs().map(|(location, input)| (location, &input.name))
    }

    pub(crate) fn varying_inputs(&self) -> impl Iterator<Item = (u32, &UsedInput)> {
        let inputs = (self.from == Inputs::Varyings).then_some(&self.inputs);
        inputs.into_iter().flatten().map(|(input, used)| (u32::from(*input), used))
    }

    /// Returns the temporaries of inputs that have planes in the uniform buffer, in order.
    fn plane_inputs(&self) -> impl Iterator<Item = u8> {
        self.members.iter().filter_map(|member| match member {
            Member::Plane(input, PlanePart::Corner) => Some(self.used(*input).temp),
            _ => None,
        })
    }

    /// Returns the description for an embedder, without what the IR says of the program.
    pub(crate) fn interface(&self, source: &Source) -> Interface {
        let inputs = self.varying_inputs().map(|(location, input)| ShaderInput {
            name: input.name.clone(),
            location,
            temp: input.temp,
        });
        let textures = self.textures.iter().map(|(unit, dimensions)| {
            let (binding, sampler) = self.texture_bindings(*unit);
            ShaderTexture {
                name: format!("texture{unit}"),
                unit: *unit,
                dimensions: *dimensions,
                is_assumed: self.bound.is_assumed(*unit),
                binding,
                sampler,
                texels: self.bound.texels(*unit),
            }
        });
        Interface {
            entry_point: "main",
            uniforms: (!self.members.is_empty()).then(|| self.uniform_buffer()),
            inputs: inputs.collect(),
            textures: textures.collect(),
            colors: (0..4).filter(|n| source.colors[usize::from(*n)].is_some()).collect(),
            depth: source.depth.is_some(),
            discards: source.covered.is_some(),
            amplifiers: Vec::new(),
            left_out: Vec::new(),
        }
    }

    pub(crate) fn uniform_buffer(&self) -> UniformBuffer {
        let constants = self.members.iter().filter_map(|member| match member {
            Member::Constant(n) => Some(*n),
            _ => None,
        });
        let names = constants.clone().filter_map(|constant| {
            let name = (*self.names.get(&constant)?).to_owned();
            Some(NamedConstant { name, constant })
        });
        let bytes = |vectors| 16 * vectors;
        UniformBuffer {
            binding: UNIFORMS,
            bytes: bytes(
                u32::try_from(self.members.len()).expect("a buffer has some hundred vectors"),
            ),
            constants: u32::try_from(constants.clone().count())
                .expect("a program has 256 constants"),
            names: names.collect(),
            planes: self.find(Member::Size).map(bytes),
            plane_inputs: self.plane_inputs().collect(),
            hidden: self.find(Member::Hidden).map(bytes),
        }
    }
}

/// Returns the outputs of a vertex program.
pub(crate) fn vertex_outputs(source: &Source) -> Vec<VertexOutput> {
    let output = |register: u8| VertexOutput {
        name: format!("out{register}"),
        register,
        location: u32::from(register).checked_sub(1),
    };
    source.outputs.iter().map(|(register, _)| output(*register)).collect()
}

/// Returns the name of an input: its temporary, and the name of its components in the job.
fn input_name(inputs: &[Input], temp: u8) -> String {
    let name = inputs.iter().find(|input| input.temp == temp).and_then(|input| match &input.data {
        InputData::Planes([first, ..]) => first.name.split('.').next(),
        InputData::Values { .. } => None,
    });
    named(&format!("input{temp}"), name)
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
