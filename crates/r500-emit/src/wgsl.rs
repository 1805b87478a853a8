//! WGSL.

use crate::bindings::Bindings;
use crate::source::{Expr, Lod, Op, PlanePart, Sample, Source, Type};
use crate::text::{Dialect, Lines, Text, decimal};
use crate::{Arithmetic, Dimensions};

/// Writes a shader.
pub(crate) fn write(source: &Source, bindings: &Bindings<'_>) -> String {
    let wgsl = Wgsl { bindings };
    let mut lines = Lines { dialect: &wgsl, out: String::new(), depth: 0 };
    // A program may take differences and fetch anywhere.
    lines.line("diagnostic(off, derivative_uniformity);");
    lines.line("");
    header(&mut lines, source, bindings);
    lines.functions(&source.functions);
    main(&mut lines, source, bindings);
    lines.out
}

fn header(lines: &mut Lines<'_>, source: &Source, bindings: &Bindings<'_>) {
    if bindings.has_uniforms() {
        lines.line("struct Uniforms {");
        for member in bindings.members() {
            lines.line(&format!("    {member}: vec4<f32>,"));
        }
        lines.line("}");
        lines.line(&format!(
            "@group(0) @binding({}) var<uniform> uniforms: Uniforms;",
            bindings.uniform_binding()
        ));
    }
    for (unit, dimensions) in &bindings.textures {
        let ty = match dimensions {
            Dimensions::Two => "texture_2d<f32>",
            Dimensions::Three => "texture_3d<f32>",
            Dimensions::Cube => "texture_cube<f32>",
        };
        let (texture, sampler) = bindings.texture_bindings(*unit);
        lines.line(&format!("@group(0) @binding({texture}) var texture{unit}: {ty};"));
        if let Some(sampler) = sampler {
            lines.line(&format!("@group(0) @binding({sampler}) var sampler{unit}: sampler;"));
        }
    }
    if bindings.arithmetic == Arithmetic::Fast && bindings.uses_bits {
        lines.line("// Numbers that have no constant in WGSL are made of bits at run time.");
        lines.line("var<private> zero: u32 = 0u;");
    }
    if bindings.uses_position {
        lines.line("var<private> position: vec4<f32>;");
    }
    lines.line("");
    if bindings.arithmetic == Arithmetic::Exact {
        lines.line("// A rounded result that the host cannot combine with another operation.");
        lines.line("fn r(x: f32) -> f32 {");
        lines.line("    return bitcast<f32>(bitcast<u32>(x) | bitcast<u32>(uniforms.hidden.x));");
        lines.line("}");
        lines.line("");
    }
    let outputs: Vec<usize> = (0..4).filter(|n| source.colors[*n].is_some()).collect();
    if !outputs.is_empty() || source.depth.is_some() {
        lines.line("struct Outputs {");
        for n in outputs {
            lines.line(&format!("    @location({n}) color{n}: vec4<f32>,"));
        }
        if source.depth.is_some() {
            lines.line("    @builtin(frag_depth) depth: f32,");
        }
        lines.line("}");
        lines.line("");
    }
}

fn main(lines: &mut Lines<'_>, source: &Source, bindings: &Bindings<'_>) {
    let mut parameters = Vec::new();
    if bindings.uses_position {
        parameters.push("@builtin(position) pixel: vec4<f32>".to_owned());
    }
    for (location, name) in bindings.varyings() {
        parameters.push(format!("@location({location}) {name}: vec4<f32>"));
    }
    let has_outputs = source.depth.is_some() || source.colors.iter().any(Option::is_some);
    let result = if has_outputs { " -> Outputs" } else { "" };
    lines.line("@fragment");
    lines.line(&format!("fn main({}){result} {{", parameters.join(", ")));
    if bindings.uses_position {
        lines.line("    position = pixel;");
    }
    lines.block(&source.body, &source.types);
    lines.depth += 1;
    if let Some(covered) = &source.covered {
        let covered = lines.print(covered);
        lines.line(&format!("if (!{covered}) {{ discard; }}"));
    }
    if has_outputs {
        lines.line("var outputs: Outputs;");
        for (n, color) in source.colors.iter().enumerate() {
            if let Some(channels) = color {
                let channels = channels.each_ref().map(|channel| lines.print(channel));
                lines.line(&format!("outputs.color{n} = vec4<f32>({});", channels.join(", ")));
            }
        }
        if let Some(depth) = &source.depth {
            let depth = lines.print(depth);
            lines.line(&format!("outputs.depth = {depth};"));
        }
        lines.line("return outputs;");
    }
    lines.depth -= 1;
    lines.line("}");
}

struct Wgsl<'a> {
    bindings: &'a Bindings<'a>,
}

impl Wgsl<'_> {
    fn zero(&self) -> &'static str {
        if self.bindings.arithmetic == Arithmetic::Exact {
            "bitcast<u32>(uniforms.hidden.x)"
        } else {
            "zero"
        }
    }
}

impl Dialect for Wgsl<'_> {
    fn ty(&self, ty: Type) -> &'static str {
        match ty {
            Type::F32 => "f32",
            Type::U32 => "u32",
            Type::Bool => "bool",
        }
    }

    fn float(&self, bits: u32) -> String {
        match decimal(bits) {
            Some(decimal) => format!("{decimal}f"),
            None => format!("bitcast<f32>({bits:#010x}u | {})", self.zero()),
        }
    }

    fn word(&self, word: u32) -> String {
        if word < 256 { format!("{word}u") } else { format!("{word:#010x}u") }
    }

    fn operation(&self, op: Op, operands: &[String]) -> Text {
        let [a, b, c] = std::array::from_fn(|n| operands.get(n).map_or("", String::as_str));
        let infix = |symbol: &str| Text::compound(format!("{a} {symbol} {b}"));
        let call = |name: &str| Text::atom(format!("{name}({})", operands.join(", ")));
        let rounded = |text: Text| match self.bindings.arithmetic {
            Arithmetic::Exact => Text::atom(format!("r({})", text.text)),
            Arithmetic::Fast => text,
        };
        match op {
            Op::Add => rounded(infix("+")),
            Op::Sub => rounded(infix("-")),
            Op::Mul => rounded(infix("*")),
            Op::Div => rounded(infix("/")),
            Op::Sqrt => rounded(call("sqrt")),
            Op::Neg => Text::compound(format!("-{a}")),
            Op::Abs => call("abs"),
            Op::Floor => call("floor"),
            Op::RoundEven => call("round"),
            Op::InverseSqrt => call("inverseSqrt"),
            Op::Exp2 => call("exp2"),
            Op::Log2 => call("log2"),
            Op::Sin => call("sin"),
            Op::Cos => call("cos"),
            Op::Fract => call("fract"),
            Op::Min => call("min"),
            Op::Max => call("max"),
            Op::Saturate => call("saturate"),
            Op::ColumnDifference => call("dpdxFine"),
            Op::RowDifference => call("dpdyFine"),
            Op::Lt => infix("<"),
            Op::Ge => infix(">="),
            Op::Eq | Op::WordEq => infix("=="),
            Op::Ne => infix("!="),
            Op::And => infix("&&"),
            Op::Or => infix("||"),
            Op::Not => Text::compound(format!("!{a}")),
            Op::Select => Text::atom(format!("select({c}, {b}, {a})")),
            Op::Bits => Text::atom(format!("bitcast<u32>({a})")),
            Op::FromBits => Text::atom(format!("bitcast<f32>({a})")),
            Op::WordAnd => infix("&"),
            Op::WordOr => infix("|"),
            Op::WordXor => infix("^"),
            Op::WordAdd => infix("+"),
            Op::WordSub => infix("-"),
            Op::ShiftLeft => infix("<<"),
            Op::ShiftRight => infix(">>"),
            Op::ShiftRightSigned => Text::atom(format!("bitcast<u32>(bitcast<i32>({a}) >> {b})")),
            Op::ToFloat => Text::atom(format!("f32({a})")),
            Op::ToFloatSigned => Text::atom(format!("f32(bitcast<i32>({a}))")),
            Op::ToWord => Text::atom(format!("u32({a})")),
        }
    }

    fn input(&self, input: u8) -> String {
        self.bindings.input_name(input)
    }

    fn constant(&self, constant: u8) -> String {
        format!("uniforms.{}", self.bindings.constant_name(constant))
    }

    fn plane(&self, input: u8, part: PlanePart) -> String {
        format!("uniforms.{}", self.bindings.plane_name(input, part))
    }

    fn size(&self) -> String {
        "uniforms.size".to_owned()
    }

    fn hidden(&self) -> String {
        "uniforms.hidden".to_owned()
    }

    fn position(&self) -> &'static str {
        "position"
    }

    fn declare(&self, name: &str, ty: Type, value: &str, is_mutable: bool) -> String {
        if is_mutable {
            format!("var {name}: {} = {value};", self.ty(ty))
        } else {
            format!("let {name} = {value};")
        }
    }

    fn sample(&self, sample: &Sample, print: &dyn Fn(&Expr) -> String) -> String {
        let unit = sample.unit;
        let vector = |exprs: &[Expr]| {
            let list: Vec<String> = exprs.iter().map(print).collect();
            format!("vec{}<f32>({})", list.len(), list.join(", "))
        };
        let size = match sample.unscaled {
            // A cube's coordinates are a direction.
            true if self.bindings.dimensions(unit) != Dimensions::Cube => {
                format!(" / vec{}<f32>(textureDimensions(texture{unit}))", sample.coordinates.len())
            }
            _ => String::new(),
        };
        let at = format!("texture{unit}, sampler{unit}, {}{size}", vector(&sample.coordinates));
        match &sample.lod {
            Lod::Implicit => format!("textureSample({at})"),
            Lod::Bias(bias) => format!("textureSampleBias({at}, {})", print(bias)),
            Lod::Level(level) => format!("textureSampleLevel({at}, {})", print(level)),
            Lod::Gradients(dx, dy) => {
                format!("textureSampleGrad({at}, {}{size}, {}{size})", vector(dx), vector(dy))
            }
        }
    }

    fn declare_texel(&self, name: &str, value: &str) -> String {
        format!("let {name} = {value};")
    }

    fn loop_head(&self, counter: &str, trips: u32) -> String {
        format!("for (var {counter} = 0u; {counter} < {trips}u; {counter}++)")
    }

    fn function_head(&self, name: &str, parameters: &[String]) -> String {
        let parameters: Vec<String> =
            parameters.iter().map(|name| format!("{name}: f32")).collect();
        format!("fn {name}({}) -> f32", parameters.join(", "))
    }
}
