//! Printer of the IR. [`parse`](super::parse()) is its inverse and documents the format.

use std::fmt::{Display, Formatter, Result, Write};

use r500_isa::values::TexOp;

use super::{
    AddSign, ConstantChannel, DenormalMode, Fetch, Function, Inst, MulFlags, NONE, Opcode, Operand,
    Stmt, Type, Uniform, Value, Values,
};

/// Infix operations; of two symbols with a common prefix, the longer one comes first.
pub(super) const INFIX: [(&str, Opcode); 9] = [
    (" & !", Opcode::AndNot),
    (" & ", Opcode::And),
    (" | ", Opcode::Or),
    (" == ", Opcode::Eq),
    (" != ", Opcode::Ne),
    (" >= ", Opcode::Ge),
    (" < ", Opcode::Lt),
    (" + ", Opcode::Add),
    (" - ", Opcode::Sub),
];

/// Operations on one operand, by name.
pub(super) const UNARY: [(&str, Opcode); 12] = [
    ("neg", Opcode::Neg),
    ("abs", Opcode::Abs),
    ("neg_abs", Opcode::NegAbs),
    ("flush", Opcode::Flush),
    ("clamp01", Opcode::Clamp01),
    ("frc", Opcode::Frc),
    ("rcp", Opcode::Rcp),
    ("rsq", Opcode::Rsq),
    ("ex2", Opcode::Ex2),
    ("ln2", Opcode::Ln2),
    ("sin", Opcode::Sin),
    ("cos", Opcode::Cos),
];

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "%{}", self.0)
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Self::F32 => "f32",
            Self::Mask => "mask",
        })
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match *self {
            Self::Value(value) => value.fmt(f),
            Self::Const(0) => f.write_str("0"),
            Self::Const(u32::MAX) => f.write_str("all"),
            // Different NaN have different bits.
            Self::Const(bits) if f32::from_bits(bits).is_nan() => write!(f, "{bits:#010x}"),
            Self::Const(bits) => write!(f, "{:?}", f32::from_bits(bits)),
        }
    }
}

impl Display for Inst {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let [a, b, c] = self.args;
        let product = |flags: MulFlags| {
            // `~` marks a factor with the zero rule.
            let mark = |zero: bool| if zero { "~" } else { "" };
            let product = format!("{a}{} * {b}{}", mark(flags.zero_a), mark(flags.zero_b));
            if flags.negate { format!("-({product})") } else { product }
        };
        let mode = |mode: DenormalMode| match mode {
            DenormalMode::Kept => "",
            DenormalMode::Excluded => ".no_denormals",
        };
        match self.opcode {
            Opcode::Input { input, channel } => write!(f, "input {input}.{channel}"),
            Opcode::Mul(flags) => f.write_str(&product(flags)),
            Opcode::Mad(flags, AddSign::Plus) => write!(f, "{} + {c}", product(flags)),
            Opcode::Mad(flags, AddSign::Minus) => write!(f, "{} - {c}", product(flags)),
            Opcode::Select => write!(f, "{a} ? {b} : {c}"),
            Opcode::Min(denormals) => write!(f, "min{} {a}, {b}", mode(denormals)),
            Opcode::Max(denormals) => write!(f, "max{} {a}, {b}", mode(denormals)),
            Opcode::LoadConstant { base, channel } => write!(f, "const[{a} + {base}].{channel}"),
            Opcode::QuadBroadcast(lane) => write!(f, "quad_broadcast {lane} {a}"),
            opcode => {
                let infix = INFIX.iter().find(|(_, of)| *of == opcode);
                let prefix = UNARY.iter().find(|(_, of)| *of == opcode);
                match (infix, prefix) {
                    (Some((symbol, _)), _) => write!(f, "{a}{symbol}{b}"),
                    (None, Some((name, _))) => write!(f, "{name} {a}"),
                    (None, None) => unreachable!("every opcode has a spelling"),
                }
            }
        }
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.print(f, &mut |_| None)
    }
}

impl Function {
    /// Returns the function as text, with a comment wherever the source instruction changes: the text of `describe` for its address.
    #[must_use]
    pub fn listing(&self, describe: &mut dyn FnMut(u32) -> Option<String>) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.print(&mut text, describe);
        text
    }

    fn print(&self, f: &mut dyn Write, describe: &mut dyn FnMut(u32) -> Option<String>) -> Result {
        let mut printer = Printer { f, values: &self.values, describe, address: None };
        for uniform in &self.uniforms {
            let Uniform { value, source: ConstantChannel { constant, channel } } = *uniform;
            writeln!(printer.f, "uniform {} = const {constant}.{channel}", printer.def(value))?;
        }
        printer.list(&self.body, 0)?;
        for (target, (color, non_nan)) in self.colors.iter().zip(self.non_nan).enumerate() {
            let Some([r, g, b, a]) = color else { continue };
            let channels = "rgba".chars().zip(non_nan);
            let channels: String =
                channels.filter(|(_, non_nan)| *non_nan).map(|(name, _)| name).collect();
            let non_nan =
                if channels.is_empty() { channels } else { format!(" non_nan {channels}") };
            writeln!(f, "out[{target}] = {r}, {g}, {b}, {a}{non_nan}")?;
        }
        if let Some((depth, written)) = self.depth {
            writeln!(f, "depth = {depth} where {written}")?;
        }
        (0..)
            .zip(&self.results)
            .try_for_each(|(n, result): (usize, _)| writeln!(f, "result[{n}] = {result}"))
    }
}

/// Prints statements.
struct Printer<'a> {
    f: &'a mut dyn Write,
    values: &'a Values,
    describe: &'a mut dyn FnMut(u32) -> Option<String>,
    /// Address of the source instruction of the last statement.
    address: Option<u32>,
}

impl Printer<'_> {
    /// Returns a value with its type, as in its definition.
    fn def(&self, value: Value) -> String {
        // The verifier's caller prints malformed functions, too.
        match self.values.contains(value) {
            true => format!("{value}: {}", self.values[value].ty),
            false => format!("{value}: unknown"),
        }
    }

    fn comment(&mut self, indent: &str, value: Value) -> Result {
        let address = self.values.contains(value).then(|| self.values[value].source_loc);
        if std::mem::replace(&mut self.address, address) == address {
            return Ok(());
        }
        match address.and_then(&mut *self.describe) {
            Some(text) => writeln!(self.f, "{indent}; {text}"),
            None => Ok(()),
        }
    }

    fn list(&mut self, stmts: &[Stmt], depth: usize) -> Result {
        let indent = "  ".repeat(depth);
        stmts.iter().try_for_each(|stmt| self.stmt(stmt, &indent, depth))
    }

    fn stmt(&mut self, stmt: &Stmt, indent: &str, depth: usize) -> Result {
        match stmt {
            Stmt::Def(value, inst) => {
                self.comment(indent, *value)?;
                writeln!(self.f, "{indent}{} = {inst}", self.def(*value))
            }
            Stmt::Fetch(fetch) => self.fetch(fetch, indent),
            Stmt::Discard(mask) => writeln!(self.f, "{indent}discard {mask}"),
            Stmt::GroupHazard(mask) => writeln!(self.f, "{indent}group_hazard {mask}"),
            Stmt::Stat { channel, mask } => writeln!(self.f, "{indent}stat {channel} {mask}"),
            Stmt::ConsumeFuel { instructions, address } => {
                writeln!(self.f, "{indent}fuel {instructions} at {address}")
            }
            Stmt::If(branch) => {
                for (keyword, (mask, arm)) in
                    ["if", "} else"].iter().zip(branch.masks.iter().zip(&branch.arms))
                {
                    writeln!(self.f, "{indent}{keyword} {mask} {{")?;
                    self.list(arm, depth + 1)?;
                }
                writeln!(self.f, "{indent}}}")?;
                for phi in &branch.phis {
                    let text = |operand: Option<Operand>| {
                        operand.map_or("_".to_owned(), |operand| operand.to_string())
                    };
                    let [a, b] = phi.arms.map(text);
                    let (def, incoming) = (self.def(phi.value), text(phi.incoming));
                    writeln!(self.f, "{indent}phi {def} = {a}, {b} over {incoming}")?;
                }
                Ok(())
            }
            Stmt::Loop(repeat) => {
                writeln!(self.f, "{indent}loop {} {{", repeat.max_trips)?;
                for param in &repeat.params {
                    let def = self.def(param.value);
                    writeln!(self.f, "{indent}  param {def} = {}", param.init)?;
                }
                self.list(&repeat.body, depth + 1)?;
                for param in &repeat.params {
                    writeln!(self.f, "{indent}  next {} = {}", param.value, param.next)?;
                }
                match repeat.continue_mask {
                    Some(mask) => writeln!(self.f, "{indent}}} while {mask}"),
                    None => writeln!(self.f, "{indent}}}"),
                }
            }
        }
    }

    fn fetch(&mut self, fetch: &Fetch, indent: &str) -> Result {
        for value in fetch.texel.iter().flatten().take(1) {
            self.comment(indent, *value)?;
        }
        let texel = fetch.texel.map(|value| value.map_or("_".to_owned(), |value| self.def(value)));
        let four = |four: [Operand; 4]| four.map(|operand| operand.to_string()).join(", ");
        let Fetch { unit, op, unscaled, strq, dx, dy, active, address, .. } = fetch;
        let unscaled = if *unscaled { " unscaled" } else { "" };
        write!(self.f, "{indent}{} = {op:?} tex[{unit}]{unscaled} ", texel.join(", "))?;
        write!(self.f, "{}", four(*strq))?;
        if *op == TexOp::DXDY || [*dx, *dy] != [[NONE; 4]; 2] {
            write!(self.f, " dx {} dy {}", four(*dx), four(*dy))?;
        }
        writeln!(self.f, " where {active} at {address}")
    }
}
