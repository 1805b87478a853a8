//! GLSL: desktop 4.50, and OpenGL ES 3.10 and 3.00.

use crate::bindings::{Bindings, TABLE, UNIFORMS, vertex_outputs};
use crate::interface::Form;
use crate::source::{Expr, Lod, Member, Op, Sample, Source, Type};
use crate::text::{Dialect, Lines, Text, call, decimal, fetch_arguments, infix};
use crate::{Arithmetic, Dimensions, Language};

/// Writes a shader.
pub(crate) fn write(source: &Source, bindings: &Bindings<'_>, language: Language) -> String {
    let glsl = Glsl { bindings, language };
    let mut lines = Lines { dialect: &glsl, out: String::new(), depth: 0 };
    glsl.header(&mut lines, source);
    lines.functions(&source.functions);
    lines.line("void main() {");
    lines.block(&source.body, &source.types);
    lines.depth += 1;
    if let Some(covered) = &source.covered {
        let covered = lines.print(covered);
        lines.line(&format!("if (!{covered}) {{ discard; }}"));
    }
    for (n, color) in source.colors.iter().enumerate() {
        if let Some(channels) = color {
            let channels = channels.each_ref().map(|channel| lines.print(channel));
            lines.line(&format!("color{n} = vec4({});", channels.join(", ")));
        }
    }
    if let Some(depth) = &source.depth {
        let depth = lines.print(depth);
        lines.line(&format!("gl_FragDepth = {depth};"));
    }
    lines.depth -= 1;
    lines.line("}");
    lines.out
}

/// Writes a vertex program.
pub(crate) fn write_vertex(
    source: &Source,
    bindings: &Bindings<'_>,
    language: Language,
    form: Form,
) -> String {
    let glsl = Glsl { bindings, language };
    let precise = if bindings.arithmetic == Arithmetic::Exact { "precise " } else { "" };
    let mut lines = Lines { dialect: &glsl, out: String::new(), depth: 0 };
    glsl.header(&mut lines, source);
    let outputs = vertex_outputs(source);
    match form {
        Form::Function => {
            lines.line("");
            lines.functions(&source.functions);
            let inputs = bindings.varyings().map(|(_, name)| format!("vec4 {name}"));
            let outputs = outputs.iter().map(|output| format!("{precise}out vec4 {}", output.name));
            let parameters: Vec<String> = inputs.chain(outputs).collect();
            lines.line(&format!("void {}({}) {{", form.entry_point(), parameters.join(", ")));
        }
        Form::Stage => {
            for (location, name) in bindings.varyings() {
                lines.line(&format!("layout(location = {location}) in vec4 {name};"));
            }
            for output in &outputs {
                match output.location {
                    None if precise.is_empty() => {}
                    None => lines.line("precise gl_Position;"),
                    // OpenGL ES 3.00 links varyings by name.
                    Some(_) if language == Language::GlslEs300 => {
                        lines.line(&format!("out vec4 {};", output.name));
                    }
                    Some(location) => lines.line(&format!(
                        "{precise}layout(location = {location}) out vec4 {};",
                        output.name
                    )),
                }
            }
            lines.line("");
            lines.functions(&source.functions);
            lines.line("void main() {");
        }
    }
    lines.block(&source.body, &source.types);
    lines.depth += 1;
    for (register, channels) in &source.outputs {
        let channels = channels.each_ref().map(|channel| lines.print(channel));
        let name = match register {
            0 if form == Form::Stage => "gl_Position".to_owned(),
            _ => format!("out{register}"),
        };
        lines.line(&format!("{name} = vec4({});", channels.join(", ")));
    }
    lines.depth -= 1;
    lines.line("}");
    lines.out
}

struct Glsl<'a> {
    bindings: &'a Bindings<'a>,
    language: Language,
}

impl Glsl<'_> {
    fn is_es(&self) -> bool {
        self.language != Language::Glsl450
    }

    /// Returns `layout(…) `, as far as the version has it.
    fn layout(&self, parts: &[String]) -> String {
        if parts.is_empty() { String::new() } else { format!("layout({}) ", parts.join(", ")) }
    }

    fn binding(&self, binding: u32) -> Option<String> {
        // OpenGL ES 3.00 has no binding in the text.
        (self.language != Language::GlslEs300).then(|| format!("binding = {binding}"))
    }

    fn header(&self, lines: &mut Lines<'_>, source: &Source) {
        let exact = self.bindings.arithmetic == Arithmetic::Exact;
        lines.line(match self.language {
            Language::GlslEs300 => "#version 300 es",
            Language::GlslEs310 => "#version 310 es",
            _ => "#version 450",
        });
        if self.is_es() {
            if exact {
                // `precise` is part of this extension, and of OpenGL ES 3.20.
                lines.line("#extension GL_EXT_gpu_shader5 : require");
            }
            lines.line("precision highp float;");
            lines.line("precision highp int;");
            for (kind, dimensions) in [
                ("sampler2D", Dimensions::Two),
                ("sampler3D", Dimensions::Three),
                ("samplerCube", Dimensions::Cube),
                ("sampler2DArray", Dimensions::Faces),
            ] {
                if self.bindings.textures.values().any(|own| *own == dimensions) {
                    lines.line(&format!("precision highp {kind};"));
                }
            }
        }
        lines.line("");
        if !self.bindings.members.is_empty() {
            let mut parts = vec!["std140".to_owned()];
            parts.extend(self.binding(UNIFORMS));
            lines.line(&format!("{}uniform Uniforms {{", self.layout(&parts)));
            if self.bindings.has_table {
                lines.line(&format!("    vec4 constants[{TABLE}];"));
            }
            for member in self.bindings.named_members() {
                lines.line(&format!("    vec4 {};", self.bindings.member_name(*member)));
            }
            lines.line("};");
        }
        for (unit, dimensions) in &self.bindings.textures {
            let kind = match dimensions {
                Dimensions::Two => "sampler2D",
                Dimensions::Three => "sampler3D",
                Dimensions::Cube => "samplerCube",
                Dimensions::Faces => "sampler2DArray",
            };
            let parts: Vec<String> =
                self.binding(self.bindings.texture_bindings(*unit).0).into_iter().collect();
            lines.line(&format!("{}uniform {kind} texture{unit};", self.layout(&parts)));
        }
        if !source.outputs.is_empty() {
            return;
        }
        for (location, name) in self.bindings.varyings() {
            // OpenGL ES 3.00 links varyings by name.
            let parts = if self.language == Language::GlslEs300 {
                vec![]
            } else {
                vec![format!("location = {location}")]
            };
            lines.line(&format!("{}in vec4 {name};", self.layout(&parts)));
        }
        for n in (0..4).filter(|n| source.colors[*n].is_some()) {
            let precise = if exact { "precise " } else { "" };
            lines.line(&format!("{precise}layout(location = {n}) out vec4 color{n};"));
        }
        if exact && source.depth.is_some() {
            lines.line("precise gl_FragDepth;");
        }
        lines.line("");
    }
}

impl Dialect for Glsl<'_> {
    fn ty(&self, ty: Type) -> &'static str {
        match ty {
            Type::F32 if self.bindings.arithmetic == Arithmetic::Exact => "precise float",
            Type::F32 => "float",
            Type::U32 => "uint",
            // A comparison is an operation, too: hosts take `a - b != 0` for `a != b`.
            Type::Bool if self.bindings.arithmetic == Arithmetic::Exact => "precise bool",
            Type::Bool => "bool",
        }
    }

    fn float(&self, bits: u32) -> String {
        decimal(bits).unwrap_or_else(|| format!("uintBitsToFloat({bits:#010x}u)"))
    }

    fn own_operation(&self, op: Op, operands: &[String]) -> Text {
        let [a, b, c] = std::array::from_fn(|n| operands.get(n).map_or("", String::as_str));
        let infix = |symbol| infix(operands, symbol);
        let call = |name| call(name, operands);
        match op {
            Op::Add => infix("+"),
            Op::Sub => infix("-"),
            Op::Mul => infix("*"),
            Op::Div => infix("/"),
            Op::Sqrt => call("sqrt"),
            Op::Ne => infix("!="),
            Op::RoundEven => call("roundEven"),
            Op::InverseSqrt => call("inversesqrt"),
            Op::Saturate => Text::atom(format!("clamp({a}, 0.0, 1.0)")),
            // Only desktop OpenGL names which differences it takes; others have two rows and columns in practice.
            Op::ColumnDifference => call(if self.is_es() { "dFdx" } else { "dFdxFine" }),
            Op::RowDifference => call(if self.is_es() { "dFdy" } else { "dFdyFine" }),
            // `precise` holds for operations, but not for `?:`: Mesa makes a minimum of it, which differs for NaN.
            Op::Select if self.bindings.arithmetic == Arithmetic::Exact => {
                Text::atom(format!("mix({c}, {b}, {a})"))
            }
            Op::Select => Text::compound(format!("{a} ? {b} : {c}")),
            Op::Bits => call("floatBitsToUint"),
            Op::FromBits => call("uintBitsToFloat"),
            Op::ShiftRightSigned => Text::atom(format!("uint(int({a}) >> {b})")),
            Op::ToFloat => call("float"),
            Op::ToFloatSigned => Text::atom(format!("float(int({a}))")),
            Op::ToWord => call("uint"),
            Op::ToWordSigned => Text::atom(format!("uint(int({a}))")),
            op => unreachable!("{op:?} is the same in all languages"),
        }
    }

    fn input(&self, input: u8) -> String {
        self.bindings.input_name(input)
    }

    fn member(&self, member: Member) -> String {
        self.bindings.member_name(member)
    }

    fn table(&self, number: &str) -> String {
        format!("constants[{number}]")
    }

    fn position(&self) -> &'static str {
        "gl_FragCoord"
    }

    fn declare(&self, name: &str, ty: Type, value: &str, _is_mutable: bool) -> String {
        format!("{} {name} = {value};", self.ty(ty))
    }

    fn sample(&self, sample: &Sample, print: &dyn Fn(&Expr) -> String) -> String {
        let unit = sample.unit;
        let size = format!("textureSize(texture{unit}, 0)");
        let size = self.bindings.is_scaled_by_size(sample).then_some(size.as_str());
        let vector = |components| format!("vec{components}");
        let arguments = fetch_arguments(sample, print, &vector, size).join(", ");
        let name = match sample.lod {
            Lod::Implicit | Lod::Bias(_) => "texture",
            Lod::Level(_) => "textureLod",
            Lod::Gradients(..) => "textureGrad",
        };
        format!("{name}(texture{unit}, {arguments})")
    }

    fn load(&self, unit: u8, at: &[String], level: &str) -> String {
        format!("texelFetch(texture{unit}, ivec{}({}), int({level}))", at.len(), at.join(", "))
    }

    fn vector(&self, channels: &[String]) -> String {
        format!("vec4({})", channels.join(", "))
    }

    fn declare_vector(&self, name: &str, value: &str) -> String {
        let precise = if self.bindings.arithmetic == Arithmetic::Exact { "precise " } else { "" };
        format!("{precise}vec4 {name} = {value};")
    }

    fn loop_head(&self, counter: &str, trips: u32) -> String {
        format!("for (uint {counter} = 0u; {counter} < {trips}u; {counter}++)")
    }

    fn function_head(&self, name: &str, parameters: &[(String, Type)], is_vector: bool) -> String {
        let ty = |ty: &Type| match ty {
            Type::F32 => "float",
            Type::U32 => "uint",
            Type::Bool => "bool",
        };
        let parameters: Vec<String> =
            parameters.iter().map(|(name, of)| format!("{} {name}", ty(of))).collect();
        let result = if is_vector { "vec4" } else { "float" };
        format!("{result} {name}({})", parameters.join(", "))
    }
}
