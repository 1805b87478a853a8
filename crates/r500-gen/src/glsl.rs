//! GLSL: fragment and vertex shaders without errors, as text.
//!
//! They use what compilers find hard: variables over branches and loops, every exit, functions with results and output parameters, arrays,
//! structures, matrices, swizzles on both sides of assignments, conditions with effects.

use std::fmt::Write as _;

use crate::Choices;

/// The types of values, as the generator sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Float,
    Vec(u8),
    Int,
    Bool,
    Mat(u8),
}

impl Type {
    fn name(self) -> String {
        match self {
            Self::Float => "float".to_owned(),
            Self::Vec(n) => format!("vec{n}"),
            Self::Int => "int".to_owned(),
            Self::Bool => "bool".to_owned(),
            Self::Mat(n) => format!("mat{n}"),
        }
    }
}

#[derive(Clone, Debug)]
struct Variable {
    name: String,
    ty: Type,
    writable: bool,
}

#[derive(Clone, Debug)]
struct Function {
    name: String,
    parameters: Vec<(Type, bool)>,
    returns: Type,
}

struct Writer<'a, C: Choices> {
    is_vertex: bool,
    choices: &'a mut C,
    text: String,
    variables: Vec<Variable>,
    functions: Vec<Function>,
    names: usize,
    /// Open loops around the statement, and the function's type.
    loops: usize,
    returns: Option<Type>,
    /// Statements that are left.
    work: u32,
}

/// Writes a fragment shader of GLSL ES 1.00.
pub fn shader(choices: &mut impl Choices) -> String {
    write(choices, false)
}

/// Writes a vertex shader of GLSL ES 1.00: without what vertices do not have (textures, `discard`). It sets `gl_Position` and the varyings `out_a`, `out_b`.
pub fn vertex_shader(choices: &mut impl Choices) -> String {
    write(choices, true)
}

fn write(choices: &mut impl Choices, is_vertex: bool) -> String {
    let work = 4 + choices.below(24);
    let own = match is_vertex {
        true => {
            "\nattribute vec4 va; attribute vec2 vb;\nvarying vec4 out_a; varying float out_b;\n"
        }
        false => " uniform sampler2D image;\nvarying vec4 va; varying vec2 vb;\n",
    };
    let mut writer = Writer {
        is_vertex,
        choices,
        text: format!(
            "precision highp float;\nuniform vec4 ua; uniform vec2 ub; uniform float uc; uniform int ud; uniform bool ue;\n\
             uniform mat3 um; uniform vec3 list[3];{own}\
             struct Pair {{ vec3 a; float b; }};\nfloat shared_value = 0.25;\n",
        ),
        variables: Vec::new(),
        functions: Vec::new(),
        names: 0,
        loops: 0,
        returns: None,
        work,
    };
    let inputs = [
        ("ua", Type::Vec(4)),
        ("ub", Type::Vec(2)),
        ("uc", Type::Float),
        ("ud", Type::Int),
        ("ue", Type::Bool),
        ("um", Type::Mat(3)),
        ("va", Type::Vec(4)),
        ("vb", Type::Vec(2)),
    ];
    for (name, ty) in inputs {
        writer.variables.push(Variable { name: name.to_owned(), ty, writable: false });
    }
    writer.variables.push(Variable {
        name: "shared_value".to_owned(),
        ty: Type::Float,
        writable: true,
    });
    for _ in 0..writer.choices.below(3) {
        writer.function();
    }
    writer.main();
    writer.text
}

impl<C: Choices> Writer<'_, C> {
    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.text, "{:1$}{text}", "", depth * 2);
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("x{}", self.names)
    }

    fn ty(&mut self) -> Type {
        match self.choices.below(10) {
            0..=2 => Type::Float,
            3 => Type::Vec(2),
            4..=5 => Type::Vec(3),
            6 => Type::Vec(4),
            7 => Type::Int,
            8 => Type::Bool,
            _ => Type::Mat(if self.choices.chance(1, 2) { 3 } else { 2 }),
        }
    }

    fn function(&mut self) {
        let name = self.name();
        let returns = self.ty();
        let outer = self.variables.len();
        let mut parameters = Vec::new();
        let mut list = Vec::new();
        for _ in 0..1 + self.choices.below(3) {
            let ty = self.ty();
            let output = self.choices.chance(1, 4);
            let parameter = self.name();
            list.push(format!("{}{} {parameter}", if output { "inout " } else { "" }, ty.name()));
            parameters.push((ty, output));
            self.variables.push(Variable { name: parameter, ty, writable: true });
        }
        self.line(0, &format!("{} {name}({}) {{", returns.name(), list.join(", ")));
        self.returns = Some(returns);
        let work = std::mem::replace(&mut self.work, 3);
        self.block(1, 2);
        self.work = work;
        let value = self.expr(returns, 2);
        self.line(1, &format!("return {value};"));
        self.line(0, "}");
        self.variables.truncate(outer);
        self.functions.push(Function { name, parameters, returns });
    }

    fn main(&mut self) {
        self.line(0, "void main() {");
        self.returns = None;
        self.line(1, "vec4 result = va * 0.5;");
        self.variables.push(Variable {
            name: "result".to_owned(),
            ty: Type::Vec(4),
            writable: true,
        });
        let target = if self.is_vertex { "gl_Position" } else { "gl_FragColor" };
        self.line(1, &format!("{target} = vec4(0.125);"));
        if self.is_vertex {
            self.line(1, "out_a = va.wzyx; out_b = vb.x;");
        }
        while self.work > 0 {
            self.statement(1, 3);
        }
        let last = self.expr(Type::Vec(4), 2);
        self.line(1, &format!("{target} = result + {last} * 0.25;"));
        if self.is_vertex {
            let values = [self.expr(Type::Vec(4), 2), self.expr(Type::Float, 2)];
            self.line(1, &format!("out_a = {}; out_b += {};", values[0], values[1]));
        }
        self.line(0, "}");
    }

    fn block(&mut self, depth: usize, left: u32) {
        let outer = self.variables.len();
        for _ in 0..1 + self.choices.below(3) {
            self.statement(depth, left);
        }
        self.variables.truncate(outer);
    }

    fn statement(&mut self, depth: usize, left: u32) {
        self.work = self.work.saturating_sub(1);
        let nested = left > 0 && depth < 6;
        match self.choices.below(16) {
            0..=3 => self.declare(depth),
            4..=7 => self.assign(depth),
            8..=9 if nested => {
                let test = self.expr(Type::Bool, 2);
                self.line(depth, &format!("if ({test}) {{"));
                self.block(depth + 1, left - 1);
                if self.choices.chance(1, 2) {
                    self.line(depth, "} else {");
                    self.block(depth + 1, left - 1);
                }
                self.line(depth, "}");
            }
            10..=11 if nested => self.repeat(depth, left),
            12 if self.loops > 0 => {
                let word = self.choices.pick("break", &["continue"]);
                let test = self.expr(Type::Bool, 1);
                self.line(depth, &format!("if ({test}) {word};"));
            }
            13 if self.choices.chance(1, 2) => {
                let test = self.expr(Type::Bool, 1);
                let word = match self.returns {
                    Some(ty) => {
                        let value = self.expr(ty, 1);
                        format!("return {value}")
                    }
                    None if self.is_vertex => "return".to_owned(),
                    None => self.choices.pick("return", &["discard"]).to_owned(),
                };
                self.line(depth, &format!("if ({test}) {word};"));
            }
            14 => self.aggregate(depth),
            _ => self.assign(depth),
        }
    }

    fn declare(&mut self, depth: usize) {
        let ty = self.ty();
        let value = self.expr(ty, 3);
        let name = self.name();
        self.line(depth, &format!("{} {name} = {value};", ty.name()));
        self.variables.push(Variable { name, ty, writable: true });
    }

    fn assign(&mut self, depth: usize) {
        let targets: Vec<Variable> =
            self.variables.iter().filter(|variable| variable.writable).cloned().collect();
        let Some(last) = targets.len().checked_sub(1) else { return self.declare(depth) };
        let target = &targets[last - self.choices.below(targets.len() as u32) as usize];
        let (mut place, mut ty) = (target.name.clone(), target.ty);
        if let Type::Vec(n) = ty
            && self.choices.chance(1, 3)
        {
            let first = self.choices.below(n.into()) as usize;
            let second =
                (first + 1 + self.choices.below(u32::from(n) - 1) as usize) % usize::from(n);
            let letters: Vec<char> = "xyzw".chars().collect();
            if self.choices.chance(1, 2) {
                place = format!("{place}.{}", letters[first]);
                ty = Type::Float;
            } else {
                place = format!("{place}.{}{}", letters[first], letters[second]);
                ty = Type::Vec(2);
            }
        }
        let value = self.expr(ty, 3);
        let op = match ty {
            Type::Bool | Type::Mat(_) => "=",
            Type::Int => self.choices.pick("=", &["+=", "-="]),
            _ => self.choices.pick("=", &["+=", "-=", "*="]),
        };
        self.line(depth, &format!("{place} {op} {value};"));
    }

    fn repeat(&mut self, depth: usize, left: u32) {
        let counter = self.name();
        let passes = 1 + self.choices.below(5);
        let outer = self.variables.len();
        if self.is_vertex && self.choices.chance(1, 3) {
            return self.repeat_unknown(depth, left, &counter, passes);
        }
        let is_while = self.choices.chance(1, 4);
        if is_while {
            self.line(depth, &format!("int {counter} = 0;"));
            self.line(depth, &format!("while ({counter} < {passes}) {{"));
            self.line(depth + 1, &format!("{counter}++;"));
        } else {
            self.line(
                depth,
                &format!("for (int {counter} = 0; {counter} < {passes}; {counter}++) {{"),
            );
        }
        self.variables.push(Variable { name: counter, ty: Type::Int, writable: false });
        self.loops += 1;
        self.block(depth + 1, left - 1);
        self.loops -= 1;
        self.line(depth, "}");
        self.variables.truncate(outer);
    }

    /// A loop whose number of passes a uniform says.
    fn repeat_unknown(&mut self, depth: usize, left: u32, counter: &str, passes: u32) {
        let outer = self.variables.len();
        let more = self.expr(Type::Bool, 1);
        let limit = format!("ud + {passes}");
        let (head, last) = match self.choices.below(7) {
            0 => (
                format!("for (int {counter} = 0; {counter} - ud < {passes}; {counter}++) {{"),
                "}".to_owned(),
            ),
            1 => (
                format!("for (int {counter} = 0; {counter} < {passes} && {more}; {counter}++) {{"),
                "}".to_owned(),
            ),
            2 => (format!("int {counter} = 0; while ({counter}++ < {limit}) {{"), "}".to_owned()),
            3 => (
                format!("int {counter} = 0; do {{ {counter}++;"),
                format!("}} while ({counter} < {limit} && {more});"),
            ),
            4 => (
                format!(
                    "int {counter} = 0; for (;;) {{ if ({counter} >= {limit}) break; {counter}++;"
                ),
                "}".to_owned(),
            ),
            5 => (
                format!(
                    "int {counter} = 0; while (true) {{ {counter} += 2; if ({counter} > {limit} || {more}) break;"
                ),
                "}".to_owned(),
            ),
            _ => (
                format!(
                    "int {counter} = {passes}; for (; {more}; {counter}--) {{ if ({counter} < ud) break;"
                ),
                "}".to_owned(),
            ),
        };
        self.line(depth, &head);
        self.variables.push(Variable { name: counter.to_owned(), ty: Type::Int, writable: false });
        self.loops += 1;
        self.block(depth + 1, left - 1);
        self.loops -= 1;
        self.line(depth, &last);
        self.variables.truncate(outer);
    }

    /// An array and a structure.
    fn aggregate(&mut self, depth: usize) {
        let (array, pair) = (self.name(), self.name());
        let (a, b) = (self.expr(Type::Vec(3), 2), self.expr(Type::Float, 2));
        self.line(
            depth,
            &format!("vec3 {array}[2]; {array}[0] = {a}; {array}[1] = list[1] * {b};"),
        );
        let (n, c) = (self.choices.below(2), self.choices.pick("x", &["z"]));
        self.line(depth, &format!("Pair {pair} = Pair({array}[{n}], {b});"));
        self.line(depth, &format!("{pair}.a.{c} += {array}[1].x;"));
        if self.is_vertex {
            // Vertex shaders have indices that are not known.
            let k = self.name();
            self.line(depth, &format!("int {k} = int(mod(abs(uc) * 4.0, 2.0));"));
            self.line(depth, &format!("{array}[{k}][1 - {k}] += {b} + list[{k}].y;"));
        }
        for (name, ty) in [
            (format!("{array}[0]"), Type::Vec(3)),
            (format!("{pair}.a"), Type::Vec(3)),
            (format!("{pair}.b"), Type::Float),
        ] {
            self.variables.push(Variable { name, ty, writable: true });
        }
    }

    fn literal(&mut self) -> String {
        let numbers = ["0.5", "1.0", "2.0", "0.25", "3.0", "(-1.5)", "0.1", "0.7"];
        numbers[self.choices.below(numbers.len() as u32) as usize].to_owned()
    }

    fn leaf(&mut self, ty: Type) -> String {
        let fits: Vec<String> = self
            .variables
            .iter()
            .flat_map(|variable| match (variable.ty, ty) {
                (a, b) if a == b => vec![variable.name.clone()],
                (Type::Vec(n), Type::Float) => "xyzw"
                    .chars()
                    .take(n.into())
                    .map(|c| format!("{}.{c}", variable.name))
                    .collect(),
                (Type::Vec(n), Type::Vec(2)) if n > 2 => vec![format!("{}.zx", variable.name)],
                (Type::Vec(4), Type::Vec(3)) => vec![format!("{}.wyx", variable.name)],
                (Type::Vec(2), Type::Vec(4)) => vec![format!("{}.xyyx", variable.name)],
                _ => Vec::new(),
            })
            .collect();
        if !fits.is_empty() && self.choices.chance(3, 4) {
            return fits[self.choices.below(fits.len() as u32) as usize].clone();
        }
        match ty {
            Type::Float => self.literal(),
            Type::Int => self.choices.below(6).to_string(),
            Type::Bool => self.choices.pick("true", &["false"]).to_owned(),
            Type::Vec(n) => {
                let parts: Vec<String> = (0..n).map(|_| self.literal()).collect();
                format!("vec{n}({})", parts.join(", "))
            }
            Type::Mat(n) => format!("mat{n}({})", self.literal()),
        }
    }

    fn expr(&mut self, ty: Type, depth: u32) -> String {
        if depth == 0 || self.choices.chance(1, 6) {
            return self.leaf(ty);
        }
        let calls: Vec<Function> =
            self.functions.iter().filter(|function| function.returns == ty).cloned().collect();
        if !calls.is_empty() && self.choices.chance(1, 8) {
            let function = &calls[self.choices.below(calls.len() as u32) as usize];
            if let Some(call) = self.call(function, depth) {
                return call;
            }
        }
        let next = depth - 1;
        match ty {
            Type::Float => self.float(next),
            Type::Vec(n) => self.vector(n, next),
            Type::Int => match self.choices.below(5) {
                0 => format!("int({})", self.expr(Type::Float, next)),
                1 => format!("({} * {})", self.expr(Type::Int, next), self.choices.below(4)),
                2 => format!("({} / {})", self.expr(Type::Int, next), 1 + self.choices.below(4)),
                _ => format!(
                    "({} {} {})",
                    self.expr(Type::Int, next),
                    self.choices.pick("+", &["-"]),
                    self.expr(Type::Int, next)
                ),
            },
            Type::Bool => match self.choices.below(6) {
                0 => format!("!({})", self.expr(Type::Bool, next)),
                1 => format!(
                    "({} {} {})",
                    self.expr(Type::Bool, next),
                    self.choices.pick("&&", &["||", "^^"]),
                    self.expr(Type::Bool, next)
                ),
                2 => format!(
                    "({} {} {})",
                    self.expr(Type::Int, next),
                    self.choices.pick("==", &["!=", "<"]),
                    self.expr(Type::Int, next)
                ),
                3 => format!(
                    "any(lessThan({}, {}))",
                    self.expr(Type::Vec(3), next),
                    self.expr(Type::Vec(3), next)
                ),
                _ => format!(
                    "({} {} {})",
                    self.expr(Type::Float, next),
                    self.choices.pick("<", &[">", "<=", ">="]),
                    self.expr(Type::Float, next)
                ),
            },
            Type::Mat(n) => match self.choices.below(3) {
                0 => format!("({} * {})", self.expr(ty, next), self.expr(ty, next)),
                1 => format!("({} * {})", self.expr(ty, next), self.expr(Type::Float, next)),
                _ => {
                    let columns: Vec<String> =
                        (0..n).map(|_| self.expr(Type::Vec(n), next)).collect();
                    format!("mat{n}({})", columns.join(", "))
                }
            },
        }
    }

    fn float(&mut self, next: u32) -> String {
        let x = |writer: &mut Self| writer.expr(Type::Float, next);
        match self.choices.below(17) {
            0..=2 => format!("({} + {})", x(self), x(self)),
            3..=4 => format!("({} * {})", x(self), x(self)),
            5 => format!("({} - {})", x(self), x(self)),
            6 => format!("(-{})", x(self)),
            7 => format!("abs({})", x(self)),
            8 => format!("min({}, {})", x(self), x(self)),
            9 => format!("max({}, {})", x(self), x(self)),
            10 => format!("fract({})", x(self)),
            11 => format!("floor({})", x(self)),
            12 => format!("sin({})", x(self)),
            13 => format!("clamp({}, 0.0, 1.0)", x(self)),
            14 => {
                format!("dot({}, {})", self.expr(Type::Vec(3), next), self.expr(Type::Vec(3), next))
            }
            15 => format!("({} ? {} : {})", self.expr(Type::Bool, next), x(self), x(self)),
            _ => format!("float({})", self.expr(Type::Int, next)),
        }
    }

    fn vector(&mut self, n: u8, next: u32) -> String {
        let ty = Type::Vec(n);
        let x = |writer: &mut Self| writer.expr(ty, next);
        match self.choices.below(14) {
            0..=1 => format!("({} + {})", x(self), x(self)),
            2 => format!("({} * {})", x(self), x(self)),
            3 => format!("({} - {})", x(self), x(self)),
            4 => format!("({} * {})", x(self), self.expr(Type::Float, next)),
            5 => format!("mix({}, {}, {})", x(self), x(self), self.expr(Type::Float, next)),
            6 => format!("fract({})", x(self)),
            7 => format!("max({}, {})", x(self), x(self)),
            8 => format!("vec{n}({})", self.expr(Type::Float, next)),
            9 if n == 3 => format!("(um * {})", x(self)),
            9 if n == 2 => format!("({} * {})", self.expr(Type::Mat(2), next), x(self)),
            10 if n == 4 && !self.is_vertex => {
                format!("texture2D(image, {})", self.expr(Type::Vec(2), next))
            }
            10 if n == 3 => format!("cross({}, {})", x(self), x(self)),
            11 if n == 4 => {
                format!("vec4({}, {})", self.expr(Type::Vec(3), next), self.expr(Type::Float, next))
            }
            11 if n == 3 => {
                format!("vec3({}, {})", self.expr(Type::Float, next), self.expr(Type::Vec(2), next))
            }
            12 => format!("({} ? {} : {})", self.expr(Type::Bool, next), x(self), x(self)),
            _ => {
                let letters: String =
                    (0..n).map(|_| self.choices.pick('x', &['y', 'z', 'w'])).collect();
                format!("({}).{letters}", self.expr(Type::Vec(4), next))
            }
        }
    }

    /// A call; output parameters need variables of their types that are not the same.
    fn call(&mut self, function: &Function, depth: u32) -> Option<String> {
        let mut arguments = Vec::new();
        let mut taken: Vec<String> = Vec::new();
        for (ty, output) in &function.parameters {
            if !output {
                arguments.push(self.expr(*ty, depth.min(2) - 1));
                continue;
            }
            let variable = self.variables.iter().rev().find(|variable| {
                variable.writable
                    && variable.ty == *ty
                    && !taken.contains(&variable.name)
                    && variable.name != "shared_value"
            })?;
            taken.push(variable.name.clone());
            arguments.push(variable.name.clone());
        }
        Some(format!("{}({})", function.name, arguments.join(", ")))
    }
}
