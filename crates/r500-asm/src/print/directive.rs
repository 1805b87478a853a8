//! Printing of a job's state and resources as directives.

use r500_isa::state::UsFcIntConst;
use r500_isa::texture::{
    TxChromaKey, TxFilter0, TxFilter1, TxFormat0, TxFormat1, TxFormat2, TxOffset,
};
use r500_isa::values::{ClampMode, TexelFilter};
use r500_isa::{FieldKind, Register, Word};
use r500_program::{
    Compare, Component, Expect, InputData, Job, LiveSource, LiveTexture, Plane, Program, Texture,
};

use super::{PrintOptions, TextBuffer, TextureFile};
use crate::diagnostic::disturbs_terminal;
use crate::names;

/// Prints everything of a job except its instructions, and an empty line if that is not empty.
pub(super) fn job(
    out: &mut TextBuffer,
    job: &Job,
    options: &PrintOptions,
    files: &mut Vec<TextureFile>,
) {
    let start = out.len();
    string(out, "NAME ", &job.name);
    string(out, "ORIGIN ", &job.origin);
    string(out, "STATUS ", &job.status);
    string(out, "RATIONALE ", &job.rationale);
    if let Some([width, height]) = job.size {
        out.text("SIZE ");
        out.number(width);
        out.push(b' ');
        out.number(height);
        end(out);
    }
    if let Some(time) = job.time {
        out.text("TIME ");
        float(out, time);
        end(out);
    }
    if let Some(share) = job.share {
        out.text("SHARE ");
        out.text(&share.to_string());
        end(out);
    }
    registers(out, &job.program);
    constants(out, job);
    inputs(out, job);
    for (unit, texture) in job.textures.iter().enumerate() {
        let live = job.live.iter().find(|live| usize::from(live.unit) == unit);
        if let Some((live, texture)) = live.zip(texture.as_ref()) {
            live_texture(out, *live, texture);
        } else if let Some(texture) = texture {
            self::texture(out, unit, texture, options, files);
        }
    }
    expect(out, job);
    if out.len() != start {
        out.push(b'\n');
    }
}

fn end(out: &mut TextBuffer) {
    out.text(" ;\n");
}

/// Prints a directive with a string, unless the string is empty.
fn string(out: &mut TextBuffer, head: &str, text: &str) {
    if !text.is_empty() {
        out.text(head);
        quoted(out, text);
        end(out);
    }
}

fn quoted(out: &mut TextBuffer, text: &str) {
    out.push(b'"');
    for c in text.chars() {
        match c {
            '"' => out.text("\\\""),
            '\\' => out.text("\\\\"),
            '\n' => out.text("\\n"),
            '\r' => out.text("\\r"),
            c if disturbs_terminal(c) => out.text(&format!("\\u{:04x}", u32::from(c))),
            c => out.text(c.encode_utf8(&mut [0; 4])),
        }
    }
    out.push(b'"');
}

/// A float by value where that keeps its bits, else by its bits.
fn float(out: &mut TextBuffer, value: f32) {
    if value.is_nan() {
        out.hex(value.to_bits());
    } else if value.is_infinite() {
        out.text(if value > 0.0 { "inf" } else { "-inf" });
    } else {
        let magnitude = value.abs();
        let text = if value == 0.0 || (1e-4..1e9).contains(&magnitude) {
            format!("{value}")
        } else {
            format!("{value:e}")
        };
        out.text(&text);
    }
}

fn floats<const N: usize>(out: &mut TextBuffer, values: [f32; N]) {
    out.push(b'(');
    for (i, value) in values.into_iter().enumerate() {
        if i > 0 {
            out.text(", ");
        }
        float(out, value);
    }
    out.push(b')');
}

// Registers.

fn registers(out: &mut TextBuffer, program: &Program) {
    let s = &program.state;
    one(out, s.config, None);
    one(out, s.pixsize, None);
    one(out, s.fc_ctrl, None);
    one(out, s.code_offset, None);
    one(out, s.code_addr, None);
    one(out, s.code_range, None);
    one(out, s.fc_bool_const, None);
    for (n, word) in s.out_fmt.iter().enumerate() {
        one(out, *word, Some(n));
    }
    one(out, s.w_fmt, None);
    for (n, word) in s.format.iter().enumerate() {
        one(out, *word, Some(n));
    }
    for (n, word) in s.fc_int_const.iter().enumerate() {
        let Some(word) = word else { continue };
        out.text("int[");
        out.number(u32::try_from(n).unwrap_or(0));
        out.text("] = ");
        if word.bits() & !UsFcIntConst::REGISTER.named_bits() == 0 {
            out.push(b'(');
            out.small(word.kr());
            out.text(", ");
            out.small(word.kg());
            out.text(", ");
            out.text(&word.kb().to_string());
            out.push(b')');
        } else {
            out.hex(word.bits());
        }
        end(out);
    }
}

/// A register that is given: `NAME = FIELD(value) … ;`.
fn one<W: Word>(out: &mut TextBuffer, word: Option<W>, n: Option<usize>) {
    if let Some(word) = word {
        register(out, W::REGISTER, n, word.bits());
    }
}

fn register(out: &mut TextBuffer, register: &Register, n: Option<usize>, bits: u32) {
    out.text(register.name);
    if let Some(n) = n {
        out.push(b'[');
        out.number(u32::try_from(n).unwrap_or(0));
        out.push(b']');
    }
    out.text(" =");
    let whole = register.fields.iter().any(|f| f.width() == 32);
    if bits & !register.named_bits() != 0 || bits == 0 || whole {
        out.push(b' ');
        if bits == 0 {
            out.push(b'0');
        } else {
            out.hex(bits);
        }
        return end(out);
    }
    for field in register.fields {
        let code = field.extract(bits);
        if code == 0 && !(field.kind == FieldKind::Choice && worth_naming(field.name)) {
            continue;
        }
        out.push(b' ');
        out.text(field.name);
        if field.kind == FieldKind::Flag {
            continue;
        }
        out.push(b'(');
        match field.value(code).map(|v| v.name).filter(|n| is_word(n)) {
            Some(name) => out.text(name),
            None => out.number(code),
        }
        out.push(b')');
    }
    end(out);
}

/// Fields whose zero is printed because it is meaningful.
fn worth_naming(field: &str) -> bool {
    matches!(field, "OUT_FMT" | "C0_SEL" | "C1_SEL" | "C2_SEL" | "C3_SEL")
}

fn is_word(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

// Constants.

fn constants(out: &mut TextBuffer, job: &Job) {
    let state = &job.program.state;
    let given = state.constants.iter().enumerate().filter(|(n, _)| state.gives_constant(*n));
    for (n, value) in given {
        out.text("const[");
        out.number(u32::try_from(n).unwrap_or(0));
        out.text("] = ");
        out.push(b'(');
        for (channel, bits) in value.iter().enumerate() {
            out.text(if channel == 0 { "" } else { ", " });
            match state.gives_channel(n, channel) {
                true => float(out, f32::from_bits(*bits)),
                false => out.push(b'_'),
            }
        }
        out.push(b')');
        end(out);
    }
    for uniform in &job.uniforms {
        out.text("UNIFORM ");
        quoted(out, &uniform.name);
        out.text(" = const[");
        out.small(uniform.constant);
        out.text("].");
        let mask = ((1u32 << uniform.channels.min(4)) - 1) << uniform.channel.min(3);
        out.text(names::MASKS[(mask & 15) as usize]);
        end(out);
    }
}

// Inputs.

fn inputs(out: &mut TextBuffer, job: &Job) {
    let Some(inputs) = &job.inputs else { return };
    if inputs.is_empty() {
        out.text("INPUT none ;\n");
    }
    for input in inputs {
        out.text("INPUT temp[");
        out.small(input.temp);
        out.text("] = ");
        match &input.data {
            InputData::Planes(components) => {
                out.push(b'(');
                for (i, component) in components.iter().enumerate() {
                    if i > 0 {
                        out.text(", ");
                    }
                    self::component(out, component);
                }
                out.push(b')');
            }
            InputData::Values { width, values } => {
                out.text("values(");
                out.number(*width);
                out.push(b')');
                for (i, value) in values.iter().enumerate() {
                    out.text(if i == 0 { "\n    " } else { ",\n    " });
                    floats(out, *value);
                }
            }
        }
        end(out);
    }
}

fn component(out: &mut TextBuffer, component: &Component) {
    let Plane { c, du, dv } = component.plane;
    let bits = [c, du, dv].map(f32::to_bits);
    const ONE: u32 = 0x3f80_0000;
    match bits {
        [0, ONE, 0] => out.push(b'u'),
        [0, 0, ONE] => out.push(b'v'),
        [_, 0, 0] => float(out, c),
        _ => {
            out.text("plane");
            floats(out, [c, du, dv]);
        }
    }
    if !component.name.is_empty() {
        out.push(b' ');
        quoted(out, &component.name);
    }
}

// Textures.

/// Prints a texture whose texels the host gives, which has the sampling of the directive alone.
fn live_texture(out: &mut TextBuffer, live: LiveTexture, texture: &Texture) {
    let source = match live.source {
        LiveSource::Previous(target) => format!("previous out[{target}]"),
        source => {
            let named = LiveSource::named().into_iter().find(|(_, other)| *other == source);
            named.map_or_else(String::new, |(name, _)| name.to_owned())
        }
    };
    let filter = match texture.filter0.mag_filter() {
        TexelFilter::LINEAR => "linear",
        _ => "nearest",
    };
    let clamp = match texture.filter0.clamp_s() {
        ClampMode::MIRROR => "mirror",
        ClampMode::CLAMP => "clamp",
        ClampMode::BORDER => "border",
        _ => "wrap",
    };
    out.text(&format!("TEXTURE tex[{}] = {source} {filter} {clamp}", live.unit));
    end(out);
}

fn texture(
    out: &mut TextBuffer,
    unit: usize,
    texture: &Texture,
    options: &PrintOptions,
    files: &mut Vec<TextureFile>,
) {
    let n = Some(unit);
    register(out, TxFilter0::REGISTER, n, texture.filter0.bits());
    register(out, TxFilter1::REGISTER, n, texture.filter1.bits());
    register(out, TxFormat0::REGISTER, n, texture.format0.bits());
    register(out, TxFormat1::REGISTER, n, texture.format1.bits());
    for (r, bits) in [
        (TxFormat2::REGISTER, texture.format2.bits()),
        (TxOffset::REGISTER, texture.offset.bits()),
        (r500_isa::texture::TxBorderColor::REGISTER, texture.border_color),
        (TxChromaKey::REGISTER, texture.chroma_key.bits()),
    ] {
        if bits != 0 {
            register(out, r, n, bits);
        }
    }
    for (k, level) in texture.levels.iter().enumerate() {
        out.text("LEVEL tex[");
        out.number(u32::try_from(unit).unwrap_or(0));
        out.text("] = (");
        out.number(level.width);
        out.text(", ");
        out.number(level.height);
        if level.layers != 1 {
            out.text(", ");
            out.number(level.layers);
        }
        out.push(b')');
        if level.bytes.len() <= options.embed {
            out.text(" bytes");
            for part in level.bytes.chunks(32) {
                out.text(" \"");
                for byte in part {
                    out.digits2(*byte);
                }
                out.push(b'"');
            }
        } else {
            let name = format!("{}.tex{unit}.{k}.raw", options.file_prefix);
            out.text(" raw ");
            quoted(out, &name);
            files.push(TextureFile { name, bytes: level.bytes.clone() });
        }
        end(out);
    }
}

// Expectations.

fn expect(out: &mut TextBuffer, job: &Job) {
    let Expect { targets, depth, coverage, compare, tolerance, background, known_failure } =
        &job.expect;
    if let Some(covered) = &job.coverage {
        out.text("COVERAGE =");
        list(out, covered, |out, on| out.push(if *on { b'1' } else { b'0' }));
    }
    if *compare == Compare::EightBit {
        out.text("EXPECT compare = 8bit ;\n");
    }
    if *known_failure {
        out.text("EXPECT failure ;\n");
    }
    if tolerance.to_bits() != 0 {
        out.text("EXPECT tolerance = ");
        float(out, *tolerance);
        end(out);
    }
    for (n, pixels) in targets.iter().enumerate() {
        let Some(pixels) = pixels else { continue };
        let bits = |pixel: &[Option<f32>; 4]| pixel.map(|channel| channel.map(f32::to_bits));
        let given = |pixel: &[Option<f32>; 4]| pixel.iter().any(Option::is_some);
        expected(out, &format!("out[{n}]"), job.size, pixels, bits, given, |out, pixel| {
            if pixel.iter().all(Option::is_none) {
                return out.push(b'_');
            }
            out.push(b'(');
            for (i, channel) in pixel.iter().enumerate() {
                if i > 0 {
                    out.text(", ");
                }
                optional(out, *channel);
            }
            out.push(b')');
        });
    }
    if let Some(depth) = depth {
        let bits = |value: &Option<f32>| value.map(f32::to_bits);
        expected(out, "depth", job.size, depth, bits, Option::is_some, |out, value| {
            optional(out, *value);
        });
    }
    if let Some(coverage) = coverage {
        let same = |on: &Option<bool>| *on;
        expected(out, "coverage", job.size, coverage, same, Option::is_some, |out, on| {
            out.push(match on {
                None => b'_',
                Some(true) => b'1',
                Some(false) => b'0',
            });
        });
    }
    if let Some(background) = background {
        out.text("EXPECT background =");
        list(out, background, |out, color| floats(out, *color));
    }
}

/// Pixels of an expectation that are printed in a line each.
const FEW: usize = 16;

/// An expectation of pixels as it is written by hand: one value for all, a line for each of a few pixels, else a list. `key` is what
/// values are compared by, `given` whether a pixel is expected to have any.
fn expected<T, K: PartialEq>(
    out: &mut TextBuffer,
    what: &str,
    size: Option<[u32; 2]>,
    pixels: &[T],
    key: impl Fn(&T) -> K,
    given: impl Fn(&T) -> bool,
    write: impl Fn(&mut TextBuffer, &T),
) {
    let begin = |out: &mut TextBuffer| {
        out.text("EXPECT ");
        out.text(what);
    };
    // Places need the width, and the number of pixels that a reader expects.
    let width = size.filter(|[w, h]| u64::from(*w) * u64::from(*h) == pixels.len() as u64);
    let width = width.map(|[width, _]| width as usize);
    let count = pixels.iter().filter(|pixel| given(pixel)).count();
    if let (Some(_), [first, _, ..]) = (width, pixels)
        && count == pixels.len()
        && pixels.iter().all(|pixel| key(pixel) == key(first))
    {
        begin(out);
        out.text(" all = ");
        write(out, first);
        return end(out);
    }
    if let Some(width) = width
        && (1..=FEW).contains(&count)
        && count < pixels.len()
    {
        for (at, pixel) in pixels.iter().enumerate().filter(|(_, pixel)| given(pixel)) {
            begin(out);
            out.text(&format!(" at ({}, {}) = ", at % width, at / width));
            write(out, pixel);
            end(out);
        }
        return;
    }
    begin(out);
    out.text(" =");
    list(out, pixels, write);
}

fn optional(out: &mut TextBuffer, value: Option<f32>) {
    match value {
        Some(value) => float(out, value),
        None => out.push(b'_'),
    }
}

/// Values, four a line; four or fewer on the line of the directive.
fn list<T>(out: &mut TextBuffer, items: &[T], write: impl Fn(&mut TextBuffer, &T)) {
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        out.text(if i % 4 == 0 && items.len() > 4 { "\n    " } else { " " });
        write(out, item);
    }
    end(out);
}
