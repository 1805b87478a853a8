//! Printer of the low-level IR, for tests and for people who change the compiler.
//!
//! ```text
//! v0 = slot 3                  a value that is given in memory
//! v1 = const 2.5
//! v2 = mul v0, v1
//! k3 = cmp.lt v2, v1           k: a mask register
//! branch phi v5 = v2
//!   arm k3
//!     v4 = sqrt v2
//!     v6 := v4 over v5         the phi after the arm, and before it
//! ```

use std::fmt::{Display, Formatter, Result};

use crate::{
    Arm, Branch, Class, LirFunction, Loop, MemOperand, Op, Opcode, PixelRows, Region, Relation,
    Rounding, TableEntry, VReg,
};

impl Display for Relation {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Self::Lt => "lt",
            Self::Le => "le",
            Self::Gt => "gt",
            Self::Ge => "ge",
            Self::Eq => "eq",
            Self::Ne => "ne",
        })
    }
}

impl Display for PixelRows {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Self { target, bytes, number, part } = self;
        write!(f, "out[{target}] bytes {bytes} rows {number} group {part}")
    }
}

impl Display for TableEntry {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} + loop {}", self.first, self.inner)?;
        match self.outer {
            Some((outer, shift)) => write!(f, " + loop {outer} << {shift}"),
            None => Ok(()),
        }
    }
}

/// The name of an opcode, with what it has besides arguments.
impl Display for Opcode {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let name = match self {
            Self::Add => "add",
            Self::Sub => "sub",
            Self::Mul => "mul",
            Self::Div => "div",
            Self::Min => "min",
            Self::Max => "max",
            Self::Sqrt => "sqrt",
            Self::Copy => "copy",
            Self::Round(Rounding::Nearest) => "round.nearest",
            Self::Round(Rounding::Floor) => "round.floor",
            Self::ToFloat => "to_float",
            Self::FloorToInt => "floor_to_int",
            Self::Remainder => "remainder",
            Self::Scale => "scale",
            Self::And => "and",
            Self::Or => "or",
            Self::Xor => "xor",
            Self::AndNot => "and_not",
            Self::IntAdd => "int_add",
            Self::IntSub => "int_sub",
            Self::Shl(by) => return write!(f, "shl.{by}"),
            Self::Sar(by) => return write!(f, "sar.{by}"),
            Self::QuadBroadcast(lane) => return write!(f, "quad_broadcast.{lane}"),
            Self::Cmp(relation) => return write!(f, "cmp.{relation}"),
            Self::MaskAnd => "mask_and",
            Self::MaskOr => "mask_or",
            Self::MaskAndNot => "mask_and_not",
            Self::MaskAll => "mask_all",
            Self::MaskNone => "mask_none",
            Self::Blend => "blend",
            Self::MaskedMove => "masked_move",
            Self::MaskedMul => "masked_mul",
            Self::FixUp => "fix_up",
            Self::ToMask => "to_mask",
            Self::FromMask => "from_mask",
            Self::IntMin => "int_min",
            Self::IntMul => "int_mul",
            Self::Truncate(range) => return write!(f, "truncate.{range:?}"),
            Self::UnpackLo32 => "unpack_lo32",
            Self::UnpackHi32 => "unpack_hi32",
            Self::UnpackLo64 => "unpack_lo64",
            Self::UnpackHi64 => "unpack_hi64",
            Self::Permute128Lo => "permute128_lo",
            Self::Permute128Hi => "permute128_hi",
            Self::Permute2Lo => "permute2_lo",
            Self::Permute2Hi => "permute2_hi",
            Self::MulAdd => "mul_add",
            Self::NegMulAdd => "neg_mul_add",
            Self::ToHalf => "to_half",
            Self::PermuteQuads => "permute_quads",
            Self::Narrow(bytes) => return write!(f, "narrow.{bytes}"),
            Self::LoadPixels(rows) => return write!(f, "load_pixels {rows}"),
            Self::StorePixels(rows) => return write!(f, "store_pixels {rows}"),
            Self::LoadTexel(it) => {
                let tiny = if it.tiny { " may be subnormal" } else { "" };
                return write!(
                    f,
                    "load_texel tex[{}] pixel {} + {}{tiny}",
                    it.unit, it.pixel, it.offset
                );
            }
            Self::GatherChannel(it) => {
                let tiny = if it.tiny { " may be subnormal" } else { "" };
                return write!(f, "gather_channel tex[{}] + {}{tiny}", it.unit, it.offset);
            }
            Self::Store(slot, group) => return write!(f, "store slot {slot} group {group}"),
            Self::Interpolant(it) => {
                return write!(f, "interpolant {} group {}", it.number, it.part);
            }
            Self::Lookup(it) => return write!(f, "lookup {}", it.first),
            Self::Tabulated(entry) => return write!(f, "tabulated {entry}"),
            Self::LoadCoverage(group) => return write!(f, "load_coverage group {group}"),
            Self::StoreCoverage(group) => return write!(f, "store_coverage group {group}"),
            Self::CountFuel(count) => return write!(f, "count_fuel {count}"),
            Self::StoreColor(it) => {
                return write!(
                    f,
                    "store_color out[{}] row {} group {}",
                    it.target, it.row, it.part
                );
            }
        };
        f.write_str(name)
    }
}

impl Display for MemOperand {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match *self {
            // Other bits are masks and integers.
            Self::Const(bits) => match f32::from_bits(bits) {
                x if x.is_normal() || bits == 0 => write!(f, "const {x:?}"),
                _ => write!(f, "const {bits:#x}"),
            },
            Self::Slot(slot, group) => write!(f, "slot {slot} group {group}"),
        }
    }
}

impl Display for LirFunction {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (number, operand) in (0..).zip(&self.mem_operands) {
            if let Some(operand) = operand {
                writeln!(f, "{} = {operand}", self.name(VReg(number)))?;
            }
        }
        self.regions(&self.body, 0, f)
    }
}

impl LirFunction {
    /// Returns the name of a value: `v`, or `k` for a mask register, and its number.
    fn name(&self, v: VReg) -> String {
        let class = match self.class(v) {
            Class::Vector => 'v',
            Class::Mask => 'k',
        };
        format!("{class}{}", v.0)
    }

    fn regions(&self, regions: &[Region], depth: usize, f: &mut Formatter<'_>) -> Result {
        let indent = "  ".repeat(depth);
        for region in regions {
            match region {
                Region::Ops(ops) => {
                    for op in ops {
                        writeln!(f, "{indent}{}", self.operation(op))?;
                    }
                }
                Region::Branch(branch) => self.branch(branch, depth, f)?,
                Region::Loop(repeat) => self.repeat(repeat, depth, f)?,
                Region::ConsumeFuel(count) => writeln!(f, "{indent}fuel {count}")?,
            }
        }
        Ok(())
    }

    fn operation(&self, op: &Op) -> String {
        let args: Vec<String> = op.args().map(|v| self.name(v)).collect();
        let text = format!("{} {}", op.opcode, args.join(", "));
        match op.dst {
            Some(dst) => format!("{} = {}", self.name(dst), text.trim_end()),
            None => text.trim_end().to_owned(),
        }
    }

    fn branch(
        &self,
        Branch { phis, arms }: &Branch,
        depth: usize,
        f: &mut Formatter<'_>,
    ) -> Result {
        let indent = "  ".repeat(depth);
        write!(f, "{indent}branch")?;
        for phi in phis {
            let incoming = phi.incoming.map_or_else(|| "_".to_owned(), |v| self.name(v));
            write!(f, " phi {} = {incoming}", self.name(phi.var))?;
        }
        writeln!(f)?;
        for Arm { mask, body, assign } in arms {
            writeln!(f, "{indent}  arm {}", self.name(*mask))?;
            self.regions(body, depth + 2, f)?;
            for it in assign {
                let [new, from, old] = [it.new, it.from, it.old].map(|v| self.name(v));
                writeln!(f, "{indent}    {new} := {from} over {old}")?;
            }
        }
        Ok(())
    }

    fn repeat(&self, repeat: &Loop, depth: usize, f: &mut Formatter<'_>) -> Result {
        let indent = "  ".repeat(depth);
        writeln!(f, "{indent}loop {}", repeat.max_trips)?;
        for param in &repeat.params {
            let [var, init, out] = [param.var, param.init, param.out].map(|v| self.name(v));
            writeln!(f, "{indent}  param {var} = {init} then {out}")?;
        }
        self.regions(&repeat.body, depth + 1, f)?;
        for param in &repeat.params {
            writeln!(f, "{indent}  next {} = {}", self.name(param.var), self.name(param.next))?;
        }
        match repeat.continue_mask {
            Some(mask) => writeln!(f, "{indent}  while {}", self.name(mask)),
            None => Ok(()),
        }
    }
}
