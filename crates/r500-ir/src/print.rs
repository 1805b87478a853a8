//! The form as text, for people.

use std::fmt::{Display, Formatter, Result, Write};

use super::{AddSign, Function, Inst, MulFlags, Opcode, Operand, Stmt, Type, Value};

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
            Self::Const(bits) => write!(f, "{:?}", f32::from_bits(bits)),
        }
    }
}

impl Display for Inst {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let [a, b, c] = self.args;
        let product = |product: MulFlags| {
            let minus = if product.negate { "-" } else { "" };
            // A factor whose zero makes the product zero carries a mark.
            let mark = |zero: bool| if zero { "~" } else { "" };
            format!("{minus}{a}{} * {b}{}", mark(product.zero_a), mark(product.zero_b))
        };
        match self.opcode {
            Opcode::Input { input, channel } => write!(f, "input {input}.{channel}"),
            Opcode::Mul(p) => f.write_str(&product(p)),
            Opcode::Mad(p, AddSign::Plus) => write!(f, "{} + {c}", product(p)),
            Opcode::Mad(p, AddSign::Minus) => write!(f, "{} - {c}", product(p)),
            Opcode::Add => write!(f, "{a} + {b}"),
            Opcode::Sub => write!(f, "{a} - {b}"),
            Opcode::Neg => write!(f, "-{a}"),
            Opcode::Select => write!(f, "{a} ? {b} : {c}"),
            Opcode::Lt => write!(f, "{a} < {b}"),
            Opcode::Ge => write!(f, "{a} >= {b}"),
            Opcode::Eq => write!(f, "{a} == {b}"),
            Opcode::Ne => write!(f, "{a} != {b}"),
            Opcode::And => write!(f, "{a} & {b}"),
            Opcode::Or => write!(f, "{a} | {b}"),
            Opcode::AndNot => write!(f, "{a} & !{b}"),
            Opcode::Min(_) => write!(f, "min {a} {b}"),
            Opcode::Max(_) => write!(f, "max {a} {b}"),
            Opcode::QuadBroadcast(corner) => write!(f, "corner {corner} of {a}"),
            opcode => {
                write!(f, "{}", format!("{opcode:?}").to_lowercase())?;
                self.args().iter().try_for_each(|arg| write!(f, " {arg}"))
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
    /// The form as text, with a line before what comes from another instruction than the one before:
    /// what `describe` says of an address.
    #[must_use]
    pub fn listing(&self, describe: &mut dyn FnMut(u32) -> Option<String>) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.print(&mut text, describe);
        text
    }

    fn print(&self, f: &mut dyn Write, describe: &mut dyn FnMut(u32) -> Option<String>) -> Result {
        let mut last = None;
        let mut note = |f: &mut dyn Write, indent: &str, value: Value| {
            let address = Some(self.values[value].source_loc);
            if std::mem::replace(&mut last, address) == address {
                return Ok(());
            }
            match address.and_then(&mut *describe) {
                Some(text) => writeln!(f, "{indent}; {text}"),
                None => Ok(()),
            }
        };
        list(f, &self.body, 0, &mut note)?;
        for (target, color) in self.colors.iter().enumerate() {
            if let Some([r, g, b, a]) = color {
                writeln!(f, "out[{target}] = {r}, {g}, {b}, {a}")?;
            }
        }
        match self.depth {
            Some((depth, written)) => writeln!(f, "depth = {depth} where {written}"),
            None => Ok(()),
        }
    }
}

/// Says where a value comes from, at an indent.
type Note<'a> = dyn FnMut(&mut dyn Write, &str, Value) -> Result + 'a;

fn list(f: &mut dyn Write, stmts: &[Stmt], depth: usize, note: &mut Note<'_>) -> Result {
    let indent = "  ".repeat(depth);
    for stmt in stmts {
        match stmt {
            Stmt::Def(value, inst) => {
                note(f, &indent, *value)?;
                writeln!(f, "{indent}{value} = {inst}")?;
            }
            Stmt::Fetch(fetch) => {
                for value in fetch.texel.iter().flatten().take(1) {
                    note(f, &indent, *value)?;
                }
                let [s, t, r, q] = fetch.strq;
                let texel =
                    fetch.texel.map(|value| value.map_or("_".to_owned(), |v| v.to_string()));
                let (op, unit) = (fetch.op, fetch.unit);
                writeln!(
                    f,
                    "{indent}{} = {op:?} tex[{unit}] {s}, {t}, {r}, {q} where {}",
                    texel.join(", "),
                    fetch.active
                )?;
            }
            Stmt::Discard(mask) => writeln!(f, "{indent}kill {mask}")?,
            Stmt::GroupHazard(mask) => writeln!(f, "{indent}watch {mask}")?,
            Stmt::Stat { channel, mask } => writeln!(f, "{indent}count {channel} {mask}")?,
            Stmt::ConsumeFuel { instructions, address } => {
                writeln!(f, "{indent}; {instructions} instructions from {address}")?;
            }
            Stmt::If(branch) => {
                for (mask, arm) in branch.masks.iter().zip(&branch.arms) {
                    writeln!(f, "{indent}where {mask} {{")?;
                    list(f, arm, depth + 1, note)?;
                    writeln!(f, "{indent}}}")?;
                }
                for phi in &branch.phis {
                    let text = |operand: Option<Operand>| {
                        operand.map_or("_".to_owned(), |operand| operand.to_string())
                    };
                    let [a, b] = phi.arms.map(text);
                    let before = text(phi.incoming);
                    writeln!(f, "{indent}{} = {a} or {b} over {before}", phi.value)?;
                }
            }
            Stmt::Loop(repeat) => {
                for param in &repeat.params {
                    writeln!(f, "{indent}{} = {}", param.value, param.init)?;
                }
                writeln!(f, "{indent}at most {} times {{", repeat.max_trips)?;
                list(f, &repeat.body, depth + 1, note)?;
                for param in &repeat.params {
                    writeln!(f, "{indent}  {} = {}", param.value, param.next)?;
                }
                match repeat.continue_mask {
                    Some(again) => writeln!(f, "{indent}}} while any {again}")?,
                    None => writeln!(f, "{indent}}}")?,
                }
            }
        }
    }
    Ok(())
}
