//! WGSL.

use crate::bindings::{Bindings, TABLE, UNIFORMS, vertex_outputs};
use crate::interface::Form;
use crate::source::{Expr, Lod, Member, Op, Sample, Source, Type};
use crate::text::{Dialect, Lines, Text, call, decimal, fetch_arguments, infix, prefix};
use crate::{Arithmetic, Dimensions};

/// Writes a vertex program.
pub(crate) fn write_vertex(source: &Source, bindings: &Bindings<'_>, form: Form) -> String {
    let wgsl = Wgsl { bindings };
    let mut lines = Lines { dialect: &wgsl, out: String::new(), depth: 0 };
    header(&mut lines, source, bindings);
    lines.functions(&source.functions);
    lines.line("struct Outputs {");
    for output in vertex_outputs(source) {
        let at = match (form, output.location) {
            (Form::Function, _) => String::new(),
            (Form::Stage, None) => "@builtin(position) ".to_owned(),
            (Form::Stage, Some(location)) => format!("@location({location}) "),
        };
        lines.line(&format!("    {at}{}: vec4<f32>,", output.name));
    }
    lines.line("}");
    lines.line("");
    let parameters: Vec<String> = bindings
        .varyings()
        .map(|(location, name)| match form {
            Form::Function => format!("{name}: vec4<f32>"),
            Form::Stage => format!("@location({location}) {name}: vec4<f32>"),
        })
        .collect();
    if form == Form::Stage {
        lines.line("@vertex");
    }
    let name = form.entry_point();
    lines.line(&format!("fn {name}({}) -> Outputs {{", parameters.join(", ")));
    lines.block(&source.body, &source.types);
    lines.depth += 1;
    lines.line("var outputs: Outputs;");
    for (register, channels) in &source.outputs {
        let channels = channels.each_ref().map(|channel| lines.print(channel));
        lines.line(&format!("outputs.out{register} = vec4<f32>({});", channels.join(", ")));
    }
    lines.line("return outputs;");
    lines.depth -= 1;
    lines.line("}");
    lines.out
}

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
    if !bindings.members.is_empty() {
        lines.line("struct Uniforms {");
        if bindings.has_table {
            lines.line(&format!("    constants: array<vec4<f32>, {TABLE}>,"));
        }
        for member in bindings.named_members() {
            lines.line(&format!("    {}: vec4<f32>,", bindings.member_name(*member)));
        }
        lines.line("}");
        lines.line(&format!("@group(0) @binding({}) var<uniform> uniforms: Uniforms;", UNIFORMS));
    }
    for (unit, dimensions) in &bindings.textures {
        let ty = match dimensions {
            Dimensions::Two => "texture_2d<f32>",
            Dimensions::Three => "texture_3d<f32>",
            Dimensions::Cube => "texture_cube<f32>",
            Dimensions::Faces => "texture_2d_array<f32>",
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

    fn own_operation(&self, op: Op, operands: &[String]) -> Text {
        let [a, b, c] = std::array::from_fn(|n| operands.get(n).map_or("", String::as_str));
        let call = |name| call(name, operands);
        let rounded = |text: Text| match self.bindings.arithmetic {
            Arithmetic::Exact => Text::atom(format!("r({})", text.text)),
            Arithmetic::Fast => text,
        };
        match op {
            Op::Add => rounded(infix(operands, "+")),
            Op::Sub => rounded(infix(operands, "-")),
            Op::Mul => rounded(infix(operands, "*")),
            Op::Div => rounded(infix(operands, "/")),
            Op::Sqrt => rounded(call("sqrt")),
            // Hosts take `!=` for ordered, which is false with NaN.
            Op::Ne => prefix("!", &[format!("({a} == {b})")]),
            Op::RoundEven => call("round"),
            Op::InverseSqrt => call("inverseSqrt"),
            Op::Saturate => call("saturate"),
            Op::ColumnDifference => call("dpdxFine"),
            Op::RowDifference => call("dpdyFine"),
            Op::Select => Text::atom(format!("select({c}, {b}, {a})")),
            Op::Bits => call("bitcast<u32>"),
            Op::FromBits => call("bitcast<f32>"),
            Op::ShiftRightSigned => Text::atom(format!("bitcast<u32>(bitcast<i32>({a}) >> {b})")),
            Op::ToFloat => call("f32"),
            Op::ToFloatSigned => Text::atom(format!("f32(bitcast<i32>({a}))")),
            Op::ToWord => call("u32"),
            Op::ToWordSigned => Text::atom(format!("bitcast<u32>(i32({a}))")),
            op => unreachable!("{op:?} is the same in all languages"),
        }
    }

    fn input(&self, input: u8) -> String {
        self.bindings.input_name(input)
    }

    fn member(&self, member: Member) -> String {
        format!("uniforms.{}", self.bindings.member_name(member))
    }

    fn table(&self, number: &str) -> String {
        format!("uniforms.constants[{number}]")
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
        let size = format!("textureDimensions(texture{unit})");
        let size = self.bindings.is_scaled_by_size(sample).then_some(size.as_str());
        let vector = |components| format!("vec{components}<f32>");
        let arguments = fetch_arguments(sample, print, &vector, size).join(", ");
        let name = match sample.lod {
            Lod::Implicit => "textureSample",
            Lod::Bias(_) => "textureSampleBias",
            Lod::Level(_) => "textureSampleLevel",
            Lod::Gradients(..) => "textureSampleGrad",
        };
        format!("{name}(texture{unit}, sampler{unit}, {arguments})")
    }

    fn load(&self, unit: u8, at: &[String], level: &str) -> String {
        let at = match (self.bindings.dimensions(unit), at) {
            (Dimensions::Faces, [x, y, layer]) => {
                format!("vec2<i32>(vec2<u32>({x}, {y})), i32({layer})")
            }
            (_, at) => format!("vec{0}<i32>(vec{0}<u32>({1}))", at.len(), at.join(", ")),
        };
        // Signed, because naga 30 compares unsigned coordinates with signed sizes when it writes GLSL.
        format!("textureLoad(texture{unit}, {at}, i32({level}))")
    }

    fn vector(&self, channels: &[String]) -> String {
        format!("vec4<f32>({})", channels.join(", "))
    }

    fn declare_vector(&self, name: &str, value: &str) -> String {
        format!("let {name} = {value};")
    }

    fn loop_head(&self, counter: &str, trips: u32) -> String {
        format!("for (var {counter} = 0u; {counter} < {trips}u; {counter}++)")
    }

    fn function_head(&self, name: &str, parameters: &[(String, Type)], is_vector: bool) -> String {
        let parameters: Vec<String> =
            parameters.iter().map(|(name, ty)| format!("{name}: {}", self.ty(*ty))).collect();
        let result = if is_vector { "vec4<f32>" } else { "f32" };
        format!("fn {name}({}) -> {result}", parameters.join(", "))
    }
}
