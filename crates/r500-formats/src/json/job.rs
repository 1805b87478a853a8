//! Conversion of the schema into a job: consistency checks and defaults.

use r500_isa::texture::TxFormat0;
use r500_isa::values::CoordType;
use r500_isa::{TEXTURE_UNITS, Word};
use r500_program::{
    Compare, Component, Expect, Input, InputData, Job, LeftOut, Level, PixelColor, Plane, Program,
    State, Texture, Uniform,
};

use super::compilation;
use super::plane::Triangle;
use super::scalar::{Coverage, Dword, Float, Indexed, Real};
use super::schema;
use crate::error::number_of;
use crate::{Limits, ReadError};

/// Returns the job of an entry. Errors have a path, but no line yet.
pub(super) fn from_entry(entry: schema::Entry, limits: &Limits) -> Result<Job, ReadError> {
    let size = picture(entry.size, limits)?;
    let code = entry.program.0;
    if code.len() as u64 > limits.instructions {
        return Err(ReadError::limit("instructions", limits.instructions).at_path("program"));
    }
    let mut state = state(entry.us.unwrap_or_default());
    let constants = entry.constants.unwrap_or_default().0;
    for (number, constant) in constants.into_iter().enumerate() {
        let channels = constant.map_or([None; 4], |c| c.map(|bits| Some(bits?.0)));
        state.set_given_channels(number, channels);
    }
    let textures = textures(entry.bound_textures.unwrap_or_default().0, &mut state)?;

    let is_draw = entry.test.is_some() || entry.background.is_some() || entry.probes.is_some();
    let mut expect = entry.expect.map(expect).unwrap_or_default();
    expect.background = entry.background.map(|b| b.into_iter().map(background).collect());
    expect.tolerance = entry.tolerance.map_or(0.0, |t| t.0);
    expect.compare = match entry.compare {
        Some(schema::Compare::Values) => Compare::Values,
        Some(schema::Compare::EightBit) => Compare::EightBit,
        None if is_draw => Compare::EightBit,
        None => Compare::Values,
    };
    expect.known_failure = entry.sim.as_deref() == Some("fail");
    check_pixels(&expect, entry.coverage.as_ref(), size, limits)?;

    let inputs = match entry.inputs {
        Some(inputs) => Some(self::inputs(inputs.0, entry.position, size, limits)?),
        None => None,
    };
    let uniforms = entry.uniforms.unwrap_or_default().0;
    let compilation = entry.compilation.map(compilation::read).transpose();
    let compilation = compilation.map_err(|error| error.below("compilation"))?.map(Box::new);
    let named_by_value = named_by_value(&uniforms, &state.constants);
    Ok(Job {
        name: entry.name.unwrap_or_default(),
        origin: entry.origin.or(entry.test).unwrap_or_default(),
        rationale: entry.rationale.unwrap_or_default(),
        status: entry.status.unwrap_or_default(),
        program: Program { code, state },
        size,
        inputs,
        textures,
        live: Vec::new(),
        uniforms: uniforms.into_iter().filter_map(uniform).collect(),
        named_by_value,
        coverage: entry.coverage.map(|c| c.flags),
        time: entry.time.map(|t| t.0),
        expect,
        share: entry.check.and_then(|c| c.share).map(|s| s.0),
        compilation,
        left_out: LeftOut::default(),
    })
}

fn picture(size: Option<[u32; 2]>, limits: &Limits) -> Result<Option<[u32; 2]>, ReadError> {
    if let Some([width, height]) = size {
        if width == 0 || height == 0 {
            let error =
                ReadError::value(format!("{width}x{height} pixels are not a valid picture size"));
            return Err(error.at_path("size").with_help("both must be at least 1"));
        }
        if u64::from(width) * u64::from(height) > limits.pixels {
            return Err(ReadError::limit("pixels", limits.pixels).at_path("size"));
        }
    }
    Ok(size)
}

/// Checks that per-pixel data has one item per pixel.
fn check_pixels(
    expect: &Expect,
    coverage: Option<&Coverage>,
    size: Option<[u32; 2]>,
    limits: &Limits,
) -> Result<(), ReadError> {
    let [a, b, c, d] = expect.targets.each_ref().map(|target| target.as_ref().map(Vec::len));
    for (have, path) in [
        (a, "expect.target0"),
        (b, "expect.target1"),
        (c, "expect.target2"),
        (d, "expect.target3"),
        (expect.depth.as_ref().map(Vec::len), "expect.depth"),
        (expect.coverage.as_ref().map(Vec::len), "expect.coverage"),
        (expect.background.as_ref().map(Vec::len), "background"),
        (coverage.map(|c| c.flags.len()), "coverage"),
    ] {
        let checked = have.map_or(Ok(()), |have| per_pixel(have, size, limits));
        checked.map_err(|e| e.at_path(path))?;
    }
    // The same number of pixels, in rows of another length.
    match (coverage.and_then(|c| c.row), size) {
        (Some(row), Some([width, height])) if row as u64 != u64::from(width) => {
            let row = number_of(row, "pixel", "pixels");
            let rows = format!("rows of {row} for a picture of {width}x{height}");
            Err(ReadError::count(rows).at_path("coverage"))
        }
        _ => Ok(()),
    }
}

/// Checks that a list holds one item per pixel.
fn per_pixel(have: usize, size: Option<[u32; 2]>, limits: &Limits) -> Result<(), ReadError> {
    if have as u64 > limits.pixels {
        return Err(ReadError::limit("pixels", limits.pixels));
    }
    match size {
        Some([width, height]) if have as u64 != u64::from(width) * u64::from(height) => {
            Err(ReadError::count(format!(
                "{} for a picture of {width}x{height}, which takes {}",
                number_of(have, "entry", "entries"),
                u64::from(width) * u64::from(height)
            ))
            .with_help("one a pixel, row by row from y = 0"))
        }
        _ => Ok(()),
    }
}

fn register<W: Word>(dword: Option<Dword>) -> Option<W> {
    dword.map(|Dword(bits)| W::from_bits(bits))
}

fn registers<W: Word, const N: usize>(set: Option<Indexed<N>>) -> [Option<W>; N] {
    set.map_or([const { None }; N], |set| set.0.map(|bits| bits.map(W::from_bits)))
}

fn state(us: schema::State) -> State {
    State {
        config: register(us.us_config),
        pixsize: register(us.us_pixsize),
        fc_ctrl: register(us.us_fc_ctrl),
        fc_bool_const: register(us.us_fc_bool_const),
        fc_int_const: registers(us.us_fc_int_const),
        code_addr: register(us.us_code_addr),
        code_range: register(us.us_code_range),
        code_offset: register(us.us_code_offset),
        out_fmt: us.us_out_fmt.unwrap_or_default().map(register),
        w_fmt: register(us.us_w_fmt),
        format: registers(us.us_format),
        ..State::default()
    }
}

/// Returns the textures by unit. `US_FORMAT0`, which stands with them, goes into the state.
fn textures(
    bound: Vec<schema::Texture>,
    state: &mut State,
) -> Result<[Option<Texture>; TEXTURE_UNITS], ReadError> {
    let mut textures = [const { None }; TEXTURE_UNITS];
    for (n, bound) in bound.into_iter().enumerate() {
        let unit = usize::from(bound.unit.0);
        if textures[unit].is_some() {
            return Err(ReadError::value(format!("unit {unit} has a texture already"))
                .at_path(format!("bound_textures[{n}].unit")));
        }
        if let Some(format) = register(bound.us_format0) {
            state.format[unit] = Some(format);
        }
        textures[unit] = Some(texture(bound));
    }
    Ok(textures)
}

fn texture(bound: schema::Texture) -> Texture {
    let mut texture = Texture {
        filter0: register(bound.tx_filter0).unwrap_or_default(),
        filter1: register(bound.tx_filter1).unwrap_or_default(),
        format0: register(bound.tx_format0).unwrap_or_default(),
        format1: register(bound.tx_format1).unwrap_or_default(),
        format2: register(bound.tx_format2).unwrap_or_default(),
        offset: register(bound.tx_offset).unwrap_or_default(),
        border_color: bound.tx_border_color.map_or(0, |d| d.0),
        chroma_key: register(bound.tx_chroma_key).unwrap_or_default(),
        levels: Vec::new(),
    };
    let level = |(n, level): (usize, schema::Level)| Level {
        width: level.width,
        height: level.height,
        layers: level.layers.unwrap_or_else(|| usual_layers(&texture, n)),
        bytes: level.bytes.0,
    };
    let levels = bound.levels.unwrap_or_default().into_iter().enumerate().map(level).collect();
    texture.levels = levels;
    texture
}

/// Returns the default number of layers of level `n`, from the registers.
pub(super) fn usual_layers(texture: &Texture, n: usize) -> u32 {
    match texture.format1.tex_coord_type() {
        CoordType::CUBE => 6,
        CoordType::D3 => {
            let log2 = TxFormat0::txdepth(texture.format0);
            1 << usize::from(log2).saturating_sub(n)
        }
        _ => 1,
    }
}

/// Returns a uniform with a known constant; captures do not specify it.
fn uniform(uniform: schema::Uniform) -> Option<Uniform> {
    Some(Uniform {
        name: uniform.name?,
        constant: uniform.constant?.0,
        channel: uniform.channel.map_or(0, |n| n.0),
        channels: uniform.channels.map_or(1, std::num::NonZeroU8::get),
    })
}

/// Returns the uniforms without a constant whose value is in exactly one constant: in its first channels, with zeros
/// after them. A value in two constants, or a constant with the values of two uniforms, is ambiguous.
fn named_by_value(uniforms: &[schema::Uniform], constants: &[[u32; 4]]) -> Vec<Uniform> {
    let place = |uniform: &schema::Uniform| {
        let name = uniform.name.clone().filter(|_| uniform.constant.is_none())?;
        let values = uniform.value.as_ref()?.as_array().filter(|values| values.len() <= 4)?;
        let mut bits = [0; 4];
        for (bits, value) in bits.iter_mut().zip(values) {
            *bits = (value.as_f64()? as f32).to_bits();
        }
        let mut places = constants.iter().zip(0_u8..).filter(|(constant, _)| **constant == bits);
        let (Some((_, constant)), None) = (places.next(), places.next()) else { return None };
        Some(Uniform { name, constant, channel: 0, channels: values.len().max(1) as u8 })
    };
    let found: Vec<Uniform> = uniforms.iter().filter_map(place).collect();
    let alone =
        |one: &&Uniform| found.iter().filter(|other| other.constant == one.constant).count() == 1;
    found.iter().filter(alone).cloned().collect()
}

fn background(pixel: Option<[Float; 4]>) -> [f32; 4] {
    pixel.map_or([0.0; 4], |p| p.map(|c| c.0))
}

fn expect(expect: schema::Expect) -> Expect {
    let schema::Expect { target0, target1, target2, target3, depth, coverage } = expect;
    let color = |pixel: schema::Wanted| -> PixelColor {
        pixel.map_or([None; 4], |p| p.map(|c| c.map(|c| c.0)))
    };
    Expect {
        targets: [target0, target1, target2, target3]
            .map(|target| target.map(|t| t.into_iter().map(color).collect())),
        depth: depth.map(|d| d.into_iter().map(|z| z.map(|z| z.0)).collect()),
        coverage: coverage.map(|c| c.into_iter().map(|f| f.map(|f| f.0)).collect()),
        ..Expect::default()
    }
}

fn inputs(
    inputs: Vec<schema::Input>,
    position: Option<[[Real; 4]; 3]>,
    size: Option<[u32; 2]>,
    limits: &Limits,
) -> Result<Vec<Input>, ReadError> {
    let input = |(n, input): (usize, schema::Input)| {
        let data = match (input.components, input.values) {
            (Some(components), None) => planes(components, position),
            (None, Some(values)) => pixels(values, input.width, size, limits),
            _ => Err(ReadError::value("an input has either `components` or `values`")),
        };
        let data = data.map_err(|e| e.below(&format!("inputs[{n}]")))?;
        Ok(Input { temp: input.temp.0, data })
    };
    inputs.into_iter().enumerate().map(input).collect()
}

/// Returns a plane for each component: its own, or the one through its values at the vertices.
fn planes(
    components: [schema::Component; 4],
    position: Option<[[Real; 4]; 3]>,
) -> Result<InputData, ReadError> {
    let triangle = || match position {
        Some(position) => Triangle::from_clip(position.map(|vertex| vertex.map(|x| x.0))),
        None => Err(ReadError::missing("position")
            .with_help("values at vertices need it; or give the component its `plane_uv`")),
    };
    let plane = |component: &schema::Component| match (component.plane_uv, component.vertex_values)
    {
        (Some([c, du, dv]), _) => Ok(Plane { c: c.0, du: du.0, dv: dv.0 }),
        (None, Some(values)) => Ok(triangle()?.plane(values.map(|v| v.0))),
        (None, None) => Err(ReadError::missing("plane_uv")
            .with_help("give the plane as [c, du, dv], or `vertex_values`")),
    };
    let mut planes: [Component; 4] = Default::default();
    for (n, (to, from)) in planes.iter_mut().zip(components).enumerate() {
        to.plane = plane(&from).map_err(|e| e.at_path(format!("components[{n}]")))?;
        to.name = from.name.unwrap_or_default();
    }
    Ok(InputData::Planes(planes))
}

/// Returns a vector for each pixel, of the picture or of one with its own width.
fn pixels(
    values: Vec<[Float; 4]>,
    width: Option<u32>,
    size: Option<[u32; 2]>,
    limits: &Limits,
) -> Result<InputData, ReadError> {
    let width = match (width, size) {
        (Some(width), _) => {
            if width == 0 || !(values.len() as u64).is_multiple_of(width.into()) {
                let entries = number_of(values.len(), "entry makes", "entries make");
                let rows = format!("{entries} no rows of {width}");
                return Err(ReadError::count(rows).at_path("values"));
            }
            per_pixel(values.len(), None, limits).map_err(|e| e.at_path("values"))?;
            width
        }
        (None, Some([width, _])) => {
            per_pixel(values.len(), size, limits).map_err(|e| e.at_path("values"))?;
            width
        }
        (None, None) => {
            return Err(ReadError::missing("width")
                .with_help("values per pixel need the picture's `size`, or a `width`"));
        }
    };
    let values = values.into_iter().map(|vector| vector.map(|c| c.0)).collect();
    Ok(InputData::Values { width, values })
}
