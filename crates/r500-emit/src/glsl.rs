//! GLSL: desktop 4.50, and OpenGL ES 3.10 and 3.00.

use crate::bindings::Bindings;
use crate::source::{Expr, Lod, Op, PlanePart, Sample, Source, Type};
use crate::text::{Dialect, Lines, Text, decimal};
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
            ] {
                if self.bindings.textures.values().any(|own| *own == dimensions) {
                    lines.line(&format!("precision highp {kind};"));
                }
            }
        }
        lines.line("");
        if self.bindings.has_uniforms() {
            let mut parts = vec!["std140".to_owned()];
            parts.extend(self.binding(self.bindings.uniform_binding()));
            lines.line(&format!("{}uniform Uniforms {{", self.layout(&parts)));
            for member in self.bindings.members() {
                lines.line(&format!("    vec4 {member};"));
            }
            lines.line("};");
        }
        for (unit, dimensions) in &self.bindings.textures {
            let kind = match dimensions {
                Dimensions::Two => "sampler2D",
                Dimensions::Three => "sampler3D",
                Dimensions::Cube => "samplerCube",
            };
            let parts: Vec<String> =
                self.binding(self.bindings.texture_bindings(*unit).0).into_iter().collect();
            lines.line(&format!("{}uniform {kind} texture{unit};", self.layout(&parts)));
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

    fn word(&self, word: u32) -> String {
        if word < 256 { format!("{word}u") } else { format!("{word:#010x}u") }
    }

    fn operation(&self, op: Op, operands: &[String]) -> Text {
        let [a, b, c] = std::array::from_fn(|n| operands.get(n).map_or("", String::as_str));
        let infix = |symbol: &str| Text::compound(format!("{a} {symbol} {b}"));
        let call = |name: &str| Text::atom(format!("{name}({})", operands.join(", ")));
        // Only desktop OpenGL names which differences it takes; others have two rows and columns in practice.
        let fine = if self.is_es() { "" } else { "Fine" };
        match op {
            Op::Add | Op::WordAdd => infix("+"),
            Op::Sub | Op::WordSub => infix("-"),
            Op::Mul => infix("*"),
            Op::Div => infix("/"),
            Op::Sqrt => call("sqrt"),
            Op::Neg => Text::compound(format!("-{a}")),
            Op::Abs => call("abs"),
            Op::Floor => call("floor"),
            Op::RoundEven => call("roundEven"),
            Op::InverseSqrt => call("inversesqrt"),
            Op::Exp2 => call("exp2"),
            Op::Log2 => call("log2"),
            Op::Sin => call("sin"),
            Op::Cos => call("cos"),
            Op::Fract => call("fract"),
            Op::Min => call("min"),
            Op::Max => call("max"),
            Op::Saturate => Text::atom(format!("clamp({a}, 0.0, 1.0)")),
            Op::ColumnDifference => call(&format!("dFdx{fine}")),
            Op::RowDifference => call(&format!("dFdy{fine}")),
            Op::Lt => infix("<"),
            Op::Ge => infix(">="),
            Op::Eq | Op::WordEq => infix("=="),
            Op::Ne => infix("!="),
            Op::And => infix("&&"),
            Op::Or => infix("||"),
            Op::Not => Text::compound(format!("!{a}")),
            // `precise` holds for operations, but not for `?:`: Mesa makes a minimum of it, which differs for NaN.
            Op::Select if self.bindings.arithmetic == Arithmetic::Exact => {
                Text::atom(format!("mix({c}, {b}, {a})"))
            }
            Op::Select => Text::compound(format!("{a} ? {b} : {c}")),
            Op::Bits => call("floatBitsToUint"),
            Op::FromBits => call("uintBitsToFloat"),
            Op::WordAnd => infix("&"),
            Op::WordOr => infix("|"),
            Op::WordXor => infix("^"),
            Op::ShiftLeft => infix("<<"),
            Op::ShiftRight => infix(">>"),
            Op::ShiftRightSigned => Text::atom(format!("uint(int({a}) >> {b})")),
            Op::ToFloat => Text::atom(format!("float({a})")),
            Op::ToFloatSigned => Text::atom(format!("float(int({a}))")),
            Op::ToWord => Text::atom(format!("uint({a})")),
        }
    }

    fn input(&self, input: u8) -> String {
        self.bindings.input_name(input)
    }

    fn constant(&self, constant: u8) -> String {
        self.bindings.constant_name(constant)
    }

    fn plane(&self, input: u8, part: PlanePart) -> String {
        self.bindings.plane_name(input, part)
    }

    fn size(&self) -> String {
        "size".to_owned()
    }

    fn hidden(&self) -> String {
        "hidden".to_owned()
    }

    fn position(&self) -> &'static str {
        "gl_FragCoord"
    }

    fn declare(&self, name: &str, ty: Type, value: &str, _is_mutable: bool) -> String {
        format!("{} {name} = {value};", self.ty(ty))
    }

    fn sample(&self, sample: &Sample, print: &dyn Fn(&Expr) -> String) -> String {
        let unit = sample.unit;
        let vector = |exprs: &[Expr]| {
            let list: Vec<String> = exprs.iter().map(print).collect();
            format!("vec{}({})", list.len(), list.join(", "))
        };
        let size = match sample.unscaled {
            // A cube's coordinates are a direction.
            true if self.bindings.dimensions(unit) != Dimensions::Cube => {
                format!(" / vec{}(textureSize(texture{unit}, 0))", sample.coordinates.len())
            }
            _ => String::new(),
        };
        let at = format!("texture{unit}, {}{size}", vector(&sample.coordinates));
        match &sample.lod {
            Lod::Implicit => format!("texture({at})"),
            Lod::Bias(bias) => format!("texture({at}, {})", print(bias)),
            Lod::Level(level) => format!("textureLod({at}, {})", print(level)),
            Lod::Gradients(dx, dy) => {
                format!("textureGrad({at}, {}{size}, {}{size})", vector(dx), vector(dy))
            }
        }
    }

    fn declare_texel(&self, name: &str, value: &str) -> String {
        format!("vec4 {name} = {value};")
    }

    fn loop_head(&self, counter: &str, trips: u32) -> String {
        format!("for (uint {counter} = 0u; {counter} < {trips}u; {counter}++)")
    }

    fn function_head(&self, name: &str, parameters: &[String]) -> String {
        let parameters: Vec<String> =
            parameters.iter().map(|name| format!("float {name}")).collect();
        format!("float {name}({})", parameters.join(", "))
    }
}
