//! JSON writer for jobs, in the schema that the reader accepts.

use std::borrow::Cow;
use std::io::{self, Write};

use r500_isa::{Instruction, Word};
use r500_program::{
    Compare, Component, Expect, Input, InputData, Job, Level, Program, State, Texture, Uniform,
};

use super::compilation;
use super::job::usual_layers;
use super::json_printer::JsonNode;
use super::scalar::base64;

/// Writes a JSON document.
pub(crate) fn write(job: &Job, out: &mut impl Write) -> io::Result<()> {
    node(job).write_lines(out, 0)?;
    out.write_all(b"\n")
}

/// Writes a document with a list of jobs.
pub(crate) fn write_list(jobs: &[Job], out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"[")?;
    for (n, job) in jobs.iter().enumerate() {
        out.write_all(if n == 0 { b"\n" } else { b",\n" })?;
        node(job).write_lines(out, 0)?;
    }
    out.write_all(b"\n]\n")
}

/// Writes a line of JSON lines.
pub(crate) fn write_line(job: &Job, out: &mut impl Write) -> io::Result<()> {
    node(job).write_line(out)?;
    out.write_all(b"\n")
}

/// Entries of an object, without those that equal the default.
#[derive(Default)]
struct Entries(Vec<(Cow<'static, str>, JsonNode)>);

impl Entries {
    fn put(&mut self, key: &'static str, value: Option<JsonNode>) {
        self.0.extend(value.map(|value| (Cow::Borrowed(key), value)));
    }

    fn text(&mut self, key: &'static str, text: &str) {
        self.put(key, (!text.is_empty()).then(|| JsonNode::text(text)));
    }

    fn object(self) -> JsonNode {
        JsonNode::Object(self.0)
    }

    fn object_if_any(self) -> Option<JsonNode> {
        (!self.0.is_empty()).then(|| self.object())
    }
}

fn node(job: &Job) -> JsonNode {
    let Job { program, expect, size, .. } = job;
    let mut top = Entries::default();
    top.text("name", &job.name);
    top.text("origin", &job.origin);
    top.text("status", &job.status);
    top.text("rationale", &job.rationale);
    top.put("size", size.map(|size| JsonNode::list(size.map(JsonNode::integer))));
    top.put("us", state(job).object_if_any());
    let instruction = |i: &Instruction| JsonNode::list(i.0.map(JsonNode::dword));
    top.put("program", Some(JsonNode::list(program.code.iter().map(instruction))));
    let constants = program.state.constants.iter().enumerate().map(|(number, c)| {
        match program.state.gives_constant(number) {
            false => JsonNode::null(),
            true => JsonNode::sparse((0..4).map(|channel| {
                let given = program.state.gives_channel(number, channel);
                given.then(|| JsonNode::dword(c[channel]))
            })),
        }
    });
    top.put("constants", (constants.len() > 0).then(|| JsonNode::list(constants)));
    top.put(
        "uniforms",
        list_if_any(
            job.uniforms
                .iter()
                .map(uniform)
                .chain(job.named_by_value.iter().map(|named| named_by_value(named, program))),
        ),
    );
    let inputs = job.inputs.as_ref();
    top.put(
        "inputs",
        inputs.map(|i| JsonNode::list(i.iter().map(|input| self::input(input, *size)))),
    );
    let textures = job.textures.iter().enumerate();
    let textures = textures.filter_map(|(n, t)| Some(texture(n, t.as_ref()?, &program.state)));
    top.put("bound_textures", list_if_any(textures));
    top.put("coverage", job.coverage.as_ref().map(|c| coverage(c, *size)));
    top.put("time", job.time.map(float));
    top.put("tolerance", (expect.tolerance.to_bits() != 0).then(|| float(expect.tolerance)));
    let compare = match expect.compare {
        Compare::EightBit => Some(JsonNode::text("8-bit")),
        // A background alone would make it a draw.
        Compare::Values => expect.background.as_ref().map(|_| JsonNode::text("values")),
    };
    top.put("compare", compare);
    top.put("expect", wanted(expect).object_if_any());
    let background = expect.background.as_ref();
    top.put("background", background.map(|b| JsonNode::list(b.iter().map(|p| vector(*p)))));
    top.put("sim", expect.known_failure.then(|| JsonNode::text("fail")));
    let check = |share: f64| JsonNode::Object(vec![("share".into(), double(share))]);
    top.put("check", job.share.map(check));
    top.put("compilation", job.compilation.as_deref().map(compilation::write));
    top.object()
}

fn list_if_any(items: impl Iterator<Item = JsonNode>) -> Option<JsonNode> {
    let mut items = items.peekable();
    items.peek().is_some().then(|| JsonNode::List(items.collect()))
}

fn register<W: Word>(word: Option<W>) -> Option<JsonNode> {
    word.map(|word| JsonNode::dword(word.bits()))
}

/// Registers of a set by their number.
fn indexed<W: Word>(set: impl IntoIterator<Item = Option<W>>) -> Option<JsonNode> {
    let set = set.into_iter().enumerate();
    let entries = set.filter_map(|(n, word)| Some((n.to_string().into(), register(word)?)));
    Entries(entries.collect()).object_if_any()
}

fn state(job: &Job) -> Entries {
    let state = &job.program.state;
    let mut us = Entries::default();
    us.put("US_CONFIG", register(state.config));
    us.put("US_PIXSIZE", register(state.pixsize));
    us.put("US_FC_CTRL", register(state.fc_ctrl));
    us.put("US_FC_BOOL_CONST", register(state.fc_bool_const));
    us.put("US_FC_INT_CONST", indexed(state.fc_int_const));
    us.put("US_CODE_ADDR", register(state.code_addr));
    us.put("US_CODE_RANGE", register(state.code_range));
    us.put("US_CODE_OFFSET", register(state.code_offset));
    if state.out_fmt.iter().any(Option::is_some) {
        us.put("US_OUT_FMT", Some(JsonNode::sparse(state.out_fmt.map(register))));
    }
    us.put("US_W_FMT", register(state.w_fmt));
    // Those of bound textures are written with the textures.
    let unbound = state.format.iter().zip(&job.textures);
    us.put("US_FORMAT", indexed(unbound.map(|(format, t)| format.filter(|_| t.is_none()))));
    us
}

fn uniform(uniform: &Uniform) -> JsonNode {
    JsonNode::Object(vec![
        ("name".into(), JsonNode::text(&uniform.name)),
        ("constant".into(), JsonNode::integer(uniform.constant)),
        ("channel".into(), JsonNode::integer(uniform.channel)),
        ("channels".into(), JsonNode::integer(uniform.channels)),
    ])
}

/// Returns a uniform in the form of captures: with its value instead of its constant.
fn named_by_value(uniform: &Uniform, program: &Program) -> JsonNode {
    let constant = program.state.constants.get(usize::from(uniform.constant));
    let values = constant.into_iter().flatten().take(usize::from(uniform.channels));
    JsonNode::Object(vec![
        ("name".into(), JsonNode::text(&uniform.name)),
        ("value".into(), JsonNode::list(values.map(|bits| float(f32::from_bits(*bits))))),
    ])
}

fn input(input: &Input, size: Option<[u32; 2]>) -> JsonNode {
    let mut entries = Entries::default();
    entries.put("temp", Some(JsonNode::integer(input.temp)));
    match &input.data {
        InputData::Planes(components) => {
            entries.put("components", Some(JsonNode::list(components.iter().map(component))));
        }
        InputData::Values { width, values } => {
            let of_picture = size.is_some_and(|[w, h]| {
                w == *width && values.len() as u64 == u64::from(w) * u64::from(h)
            });
            entries.put("width", (!of_picture).then(|| JsonNode::integer(*width)));
            entries.put("values", Some(JsonNode::list(values.iter().map(|v| vector(*v)))));
        }
    }
    entries.object()
}

fn component(component: &Component) -> JsonNode {
    let mut entries = Entries::default();
    entries.text("name", &component.name);
    let plane = component.plane;
    entries.put("plane_uv", Some(JsonNode::list([plane.c, plane.du, plane.dv].map(float))));
    entries.object()
}

fn texture(unit: usize, texture: &Texture, state: &State) -> JsonNode {
    let mut entries = Entries::default();
    entries.put("unit", Some(JsonNode::integer(unit as u64)));
    if let Some(level) = texture.levels.first() {
        entries.put("width", Some(JsonNode::integer(level.width)));
        entries.put("height", Some(JsonNode::integer(level.height)));
    }
    for (name, word) in [
        ("TX_FILTER0", texture.filter0.bits()),
        ("TX_FILTER1", texture.filter1.bits()),
        ("TX_FORMAT0", texture.format0.bits()),
        ("TX_FORMAT1", texture.format1.bits()),
        ("TX_FORMAT2", texture.format2.bits()),
        ("TX_OFFSET", texture.offset.bits()),
        ("TX_BORDER_COLOR", texture.border_color),
        ("TX_CHROMA_KEY", texture.chroma_key.bits()),
    ] {
        entries.put(name, Some(JsonNode::dword(word)));
    }
    entries.put("US_FORMAT0", register(state.format.get(unit).copied().flatten()));
    let levels = texture.levels.iter().enumerate();
    let levels = levels.map(|(n, l)| level(l, usual_layers(texture, n)));
    entries.put("levels", Some(JsonNode::list(levels)));
    entries.object()
}

fn level(level: &Level, usual_layers: u32) -> JsonNode {
    let mut entries = Entries::default();
    entries.put("width", Some(JsonNode::integer(level.width)));
    entries.put("height", Some(JsonNode::integer(level.height)));
    let layers = level.layers;
    entries.put("layers", (layers != usual_layers).then(|| JsonNode::integer(layers)));
    entries.put("bytes", Some(JsonNode::Leaf(format!("\"{}\"", base64(&level.bytes)).into())));
    entries.object()
}

fn coverage(coverage: &[bool], size: Option<[u32; 2]>) -> JsonNode {
    let flag = |&covered: &bool| JsonNode::integer(u64::from(covered));
    match size {
        Some([width, _]) if width > 0 && coverage.len().is_multiple_of(width as usize) => {
            JsonNode::list(
                coverage.chunks(width as usize).map(|r| JsonNode::list(r.iter().map(flag))),
            )
        }
        _ => JsonNode::list(coverage.iter().map(flag)),
    }
}

fn wanted(expect: &Expect) -> Entries {
    let mut entries = Entries::default();
    for (key, target) in
        ["target0", "target1", "target2", "target3"].into_iter().zip(&expect.targets)
    {
        let pixel = |p: &[Option<f32>; 4]| JsonNode::sparse(p.map(|c| c.map(float)));
        entries.put(key, target.as_ref().map(|t| JsonNode::list(t.iter().map(pixel))));
    }
    let depth = expect.depth.as_ref();
    entries.put("depth", depth.map(|d| JsonNode::sparse(d.iter().map(|z| z.map(float)))));
    let flag = |f: &Option<bool>| f.map(|f| JsonNode::integer(u64::from(f)));
    let coverage = expect.coverage.as_ref();
    entries.put("coverage", coverage.map(|c| JsonNode::sparse(c.iter().map(flag))));
    entries
}

fn vector(vector: [f32; 4]) -> JsonNode {
    JsonNode::list(vector.map(float))
}

/// Returns a float32 in a form that reads back as the same bits.
fn float(value: f32) -> JsonNode {
    if !value.is_finite() {
        return JsonNode::Leaf(match value.to_bits() {
            0x7f80_0000 => "\"inf\"".into(),
            0xff80_0000 => "\"-inf\"".into(),
            0x7fc0_0000 => "\"nan\"".into(),
            bits => format!("\"0x{bits:08x}\"").into(),
        });
    }
    let text = format!("{value:?}");
    // The reader rounds twice, via f64. If that gives another value, all digits are written.
    let read = text.parse::<f64>().unwrap_or(f64::NAN);
    #[allow(clippy::cast_possible_truncation)]
    if (read as f32).to_bits() == value.to_bits() {
        return JsonNode::Leaf(without_fraction(text).into());
    }
    double(value.into())
}

fn double(value: f64) -> JsonNode {
    if value.is_finite() {
        JsonNode::Leaf(without_fraction(format!("{value:?}")).into())
    } else {
        let text = if value.is_nan() {
            "nan"
        } else if value > 0.0 {
            "inf"
        } else {
            "-inf"
        };
        JsonNode::text(text)
    }
}

/// Removes the fraction of 2.0, but keeps the sign of a zero.
fn without_fraction(text: String) -> String {
    match text.strip_suffix(".0") {
        Some(integer) if integer != "-0" => integer.to_owned(),
        _ => text,
    }
}
