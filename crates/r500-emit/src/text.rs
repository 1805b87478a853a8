//! What the languages of text have in common: statements, nested expressions, indentation.

use std::fmt::Write;

use crate::source::{
    Expr, FilterKind, Function, Helper, Lod, Member, Op, Sample, Stmt, Type, Var, Vector,
    VectorSource,
};

/// A language of text.
pub(crate) trait Dialect {
    fn ty(&self, ty: Type) -> &'static str;
    fn float(&self, bits: u32) -> String;
    /// Returns an operation that the languages write in different ways, on operands that need no parentheses.
    fn own_operation(&self, op: Op, operands: &[String]) -> Text;
    fn input(&self, input: u8) -> String;
    fn member(&self, member: Member) -> String;
    /// Returns the program constant whose number is in a variable.
    fn table(&self, number: &str) -> String;
    fn position(&self) -> &'static str;
    /// Declares a variable, which changes later if `is_mutable`.
    fn declare(&self, name: &str, ty: Type, value: &str, is_mutable: bool) -> String;
    /// Returns the call of a fetch, a vector of four channels.
    fn sample(&self, sample: &Sample, print: &dyn Fn(&Expr) -> String) -> String;
    /// Returns the load of a texel, a vector of four channels: column, row and perhaps layer, and the level, which need no parentheses.
    fn load(&self, unit: u8, at: &[String], level: &str) -> String;
    /// Returns a vector of four floats.
    fn vector(&self, channels: &[String]) -> String;
    /// Declares a vector of four floats.
    fn declare_vector(&self, name: &str, value: &str) -> String;
    fn loop_head(&self, counter: &str, trips: u32) -> String;
    /// Returns the head of a function, which returns a vector of four floats or a float.
    fn function_head(&self, name: &str, parameters: &[(String, Type)], is_vector: bool) -> String;
}

/// The text of an expression.
pub(crate) struct Text {
    pub text: String,
    /// Whether it can be an operand without parentheses.
    pub is_atom: bool,
}

impl Text {
    pub(crate) fn atom(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_atom: true }
    }

    pub(crate) fn compound(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_atom: false }
    }

    pub(crate) fn operand(self) -> String {
        if self.is_atom { self.text } else { format!("({})", self.text) }
    }
}

pub(crate) const CHANNELS: [&str; 4] = ["x", "y", "z", "w"];

/// Returns the name of a function.
pub(crate) fn helper_name(helper: Helper) -> String {
    let name = match helper {
        Helper::Ex2 => "r500_ex2",
        Helper::Ln2 => "r500_ln2",
        Helper::Sin => "r500_sin",
        Helper::Cos => "r500_cos",
        Helper::Flush => "r500_flush",
        Helper::Product => "r500_mul",
        Helper::QuadLane(0) => "r500_top_left",
        Helper::QuadLane(1) => "r500_top_right",
        Helper::QuadLane(_) => "r500_bottom_left",
        Helper::Lod(2) => "r500_lod",
        Helper::Lod(axes) => return format!("r500_lod_{axes}d"),
        Helper::Face => "r500_face",
        Helper::FacePoint(unit) => return format!("r500_face_point{unit}"),
        Helper::Level(unit, FilterKind::Magnified) => return format!("r500_magnified{unit}"),
        Helper::Level(unit, FilterKind::Minified) => return format!("r500_minified{unit}"),
        Helper::Texture(unit) => return format!("r500_texture{unit}"),
        Helper::Probes(unit, biased) => {
            return format!("r500_probes{unit}{}", if biased { "_biased" } else { "" });
        }
    };
    name.to_owned()
}

pub(crate) fn variable(var: Var) -> String {
    format!("v{}", var.0)
}

/// Returns the text of an expression.
pub(crate) fn expression(dialect: &dyn Dialect, expr: &Expr) -> Text {
    let channel = |vector: String, channel: u8| {
        Text::atom(format!("{vector}.{}", CHANNELS[usize::from(channel & 3)]))
    };
    match expr {
        Expr::Var(var) => Text::atom(variable(*var)),
        Expr::F32(bits) => Text::atom(dialect.float(*bits)),
        Expr::U32(bits) => Text::atom(word(*bits)),
        Expr::Bool(value) => Text::atom(value.to_string()),
        Expr::Input(input, c) => channel(dialect.input(*input), *c),
        Expr::Uniform(member, c) => channel(dialect.member(*member), *c),
        Expr::Table(var, c) => channel(dialect.table(&variable(*var)), *c),
        Expr::Centre(axis) => channel(dialect.position().to_owned(), axis.channel()),
        Expr::FragmentDepth => channel(dialect.position().to_owned(), 2),
        Expr::InSecond(axis) => {
            let centre = channel(dialect.position().to_owned(), axis.channel()).text;
            let pixel = operation(dialect, Op::ToWord, &[centre]).operand();
            Text::compound(format!("({pixel} & {}) != {}", word(1), word(0)))
        }
        Expr::Op(op, operands) => {
            let operands: Vec<String> =
                operands.iter().map(|operand| expression(dialect, operand).operand()).collect();
            operation(dialect, *op, &operands)
        }
        Expr::Call(helper, operands) => {
            let operands: Vec<String> =
                operands.iter().map(|operand| expression(dialect, operand).text).collect();
            call(&helper_name(*helper), &operands)
        }
    }
}

/// Returns a word: small ones are numbers, others patterns of bits.
fn word(bits: u32) -> String {
    if bits < 256 { format!("{bits}u") } else { format!("{bits:#010x}u") }
}

/// Returns an operation on operands that need no parentheses.
fn operation(dialect: &dyn Dialect, op: Op, operands: &[String]) -> Text {
    let infix = |symbol| infix(operands, symbol);
    let call = |name| call(name, operands);
    match op {
        Op::WordAdd => infix("+"),
        Op::WordSub => infix("-"),
        Op::Neg => prefix("-", operands),
        Op::Abs => call("abs"),
        Op::Floor => call("floor"),
        Op::Exp2 => call("exp2"),
        Op::Log2 => call("log2"),
        Op::Sin => call("sin"),
        Op::Cos => call("cos"),
        Op::Fract => call("fract"),
        Op::Min => call("min"),
        Op::Max => call("max"),
        Op::Lt => infix("<"),
        Op::Ge => infix(">="),
        Op::Eq | Op::WordEq => infix("=="),
        Op::WordLt => infix("<"),
        Op::WordRem => infix("%"),
        Op::And => infix("&&"),
        Op::Or => infix("||"),
        Op::Not => prefix("!", operands),
        Op::WordAnd => infix("&"),
        Op::WordOr => infix("|"),
        Op::WordXor => infix("^"),
        Op::ShiftLeft => infix("<<"),
        Op::ShiftRight => infix(">>"),
        op => dialect.own_operation(op, operands),
    }
}

pub(crate) fn infix(operands: &[String], symbol: &str) -> Text {
    Text::compound(operands.join(&format!(" {symbol} ")))
}

pub(crate) fn prefix(symbol: &str, operands: &[String]) -> Text {
    Text::compound(format!("{symbol}{}", operands.concat()))
}

pub(crate) fn call(name: &str, operands: &[String]) -> Text {
    Text::atom(format!("{name}({})", operands.join(", ")))
}

/// Returns the arguments of a fetch after its texture: coordinates, then what the level depends on. `vector` is the name of vectors with a number of
/// components, `size` the size of the finest level.
pub(crate) fn fetch_arguments(
    sample: &Sample,
    print: &dyn Fn(&Expr) -> String,
    vector: &dyn Fn(usize) -> String,
    size: Option<&str>,
) -> Vec<String> {
    let scale = size.map_or_else(String::new, |size| {
        format!(" / {}({size})", vector(sample.coordinates.len()))
    });
    let list = |exprs: &[Expr]| {
        let list: Vec<String> = exprs.iter().map(print).collect();
        format!("{}({}){scale}", vector(list.len()), list.join(", "))
    };
    let mut arguments = vec![list(&sample.coordinates)];
    match &sample.lod {
        Lod::Implicit => {}
        Lod::Bias(expr) | Lod::Level(expr) => arguments.push(print(expr)),
        Lod::Gradients(dx, dy) => arguments.extend([list(dx), list(dy)]),
    }
    arguments
}

/// Lines of a text with an indentation.
pub(crate) struct Lines<'a> {
    pub dialect: &'a dyn Dialect,
    pub out: String,
    pub depth: usize,
}

impl Lines<'_> {
    pub(crate) fn line(&mut self, text: &str) {
        if text.is_empty() {
            self.out.push('\n');
            return;
        }
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "{:width$}{text}", "", width = self.depth * 4);
    }

    pub(crate) fn print(&self, expr: &Expr) -> String {
        expression(self.dialect, expr).text
    }

    pub(crate) fn block(&mut self, body: &[Stmt], types: &[Type]) {
        self.depth += 1;
        self.statements(body, types);
        self.depth -= 1;
    }

    pub(crate) fn statements(&mut self, body: &[Stmt], types: &[Type]) {
        for stmt in body {
            self.statement(stmt, types);
        }
    }

    /// Writes functions.
    pub(crate) fn functions(&mut self, functions: &[Function]) {
        for function in functions {
            let parameters: Vec<(String, Type)> = function
                .parameters
                .iter()
                .map(|var| (variable(*var), function.types[var.0 as usize]))
                .collect();
            let name = helper_name(function.helper);
            let head = self.dialect.function_head(&name, &parameters, function.helper.is_vector());
            self.line(&format!("{head} {{"));
            self.block(&function.body, &function.types);
            let results: Vec<String> =
                function.results.iter().map(|result| self.print(result)).collect();
            let result = match results.as_slice() {
                [result] => result.clone(),
                channels => self.dialect.vector(channels),
            };
            self.line(&format!("    return {result};"));
            self.line("}");
            self.line("");
        }
    }

    fn declare(&mut self, var: Var, value: &Expr, types: &[Type], is_mutable: bool) {
        let value = self.print(value);
        let text = self.dialect.declare(&variable(var), types[var.0 as usize], &value, is_mutable);
        self.line(&text);
    }

    fn statement(&mut self, stmt: &Stmt, types: &[Type]) {
        match stmt {
            Stmt::Comment(text) => self.line(&format!("// {text}")),
            Stmt::Let(var, value) => self.declare(*var, value, types, false),
            Stmt::Mut(var, value) => self.declare(*var, value, types, true),
            Stmt::Set(var, value) => {
                self.line(&format!("{} = {};", variable(*var), self.print(value)))
            }
            Stmt::Vector(vector) => self.vector(vector, types),
            Stmt::If(condition, yes, no) => {
                self.line(&format!("if ({}) {{", self.print(condition)));
                self.block(yes, types);
                if !no.is_empty() {
                    self.line("} else {");
                    self.block(no, types);
                }
                self.line("}");
            }
            Stmt::Loop(counter, trips, body) => {
                let head = self.dialect.loop_head(&variable(*counter), *trips);
                self.line(&format!("{head} {{"));
                self.block(body, types);
                self.line("}");
            }
            Stmt::BreakUnless(Expr::Bool(false)) => self.line("break;"),
            Stmt::BreakUnless(condition) => {
                let condition = expression(self.dialect, condition).operand();
                self.line(&format!("if (!{condition}) {{ break; }}"));
            }
        }
    }

    fn vector(&mut self, vector: &Vector, types: &[Type]) {
        let dialect = self.dialect;
        let operand = |expr: &Expr| expression(dialect, expr).operand();
        let value = match &vector.source {
            VectorSource::Sample(sample) => dialect.sample(sample, &operand),
            VectorSource::Load(unit, at, level) => {
                let at: Vec<String> = at.iter().map(operand).collect();
                dialect.load(*unit, &at, &operand(level))
            }
            VectorSource::Call(helper, operands) => {
                let operands: Vec<String> =
                    operands.iter().map(|operand| self.print(operand)).collect();
                call(&helper_name(*helper), &operands).text
            }
        };
        let name = variable(vector.vector);
        self.line(&dialect.declare_vector(&name, &value));
        for (channel, var) in CHANNELS.iter().zip(vector.channels) {
            if let Some(var) = var {
                let value = format!("{name}.{channel}");
                let text = dialect.declare(&variable(var), types[var.0 as usize], &value, false);
                self.line(&text);
            }
        }
    }
}

/// Returns a float as the shortest decimal number with its bits, if it is a normal number or +0.
pub(crate) fn decimal(bits: u32) -> Option<String> {
    let x = f32::from_bits(bits);
    (bits == 0 || x.is_normal()).then(|| format!("{x:?}"))
}
