//! Indices that are not known, of uniforms and of known arrays of vertex shaders: the chip adds a register to the number of a constant.

use r500_glsl::Binary;
use r500_glsl::tree::{Expr, ExprKind, Storage, VariableId};

use super::Lower;
use crate::arithmetic::Arithmetic;
use crate::code::{Atom, Component, Relative, Value};
use crate::interface::{UniformVector, leaves};

/// What a part of a variable is.
struct Part<'a> {
    /// Its components: of the variable, or of the array's first element.
    components: Vec<usize>,
    /// The index that is not known, if there is one.
    index: Option<&'a Expr>,
    /// Components of an element.
    count: usize,
}

impl<'a> Lower<'a> {
    /// Returns a part of a uniform or of a known array that one unknown index names, if its elements are whole constants.
    pub(super) fn relative(&mut self, expr: &'a Expr) -> Option<Value> {
        if !self.is_vertex() || self.has_effects(expr) {
            return None;
        }
        let root = expr.root()?;
        let whole = self.value(root);
        let is_uniform = self.shader.variables[root].storage == Storage::Uniform;
        if !is_uniform && !whole.iter().all(|component| component.value().is_some()) {
            return None;
        }
        let part = self.part(expr)?;
        let index = part.index?;
        let whole = if is_uniform { whole } else { self.table(root, &whole)? };
        let number = |component: &Component| match component.atom {
            Atom::Uniform(n, _) => Some(n),
            _ => None,
        };
        let (first, last) = (number(whole.first()?)?, number(whole.last()?)?);
        let start = part.components.first()?;
        let stride = number(whole.get(start + part.count)?)? - number(&whole[*start])?;
        if stride == 0 {
            return None;
        }
        let array = (first, last + 1 - first);
        let bases = |offset: i32| -> Option<Vec<(u16, u8)>> {
            let base = |n: &usize| match whole[*n].atom {
                Atom::Uniform(base, channel) => {
                    let moved = i32::from(base) + offset * i32::from(stride);
                    let moved = u16::try_from(moved).ok().filter(|n| (first..=last).contains(n))?;
                    Some((moved, channel))
                }
                _ => None,
            };
            part.components.iter().map(base).collect()
        };
        // A number that is added is part of the constant's, unless that is outside of the array.
        let (without, offset) = self.offset(index);
        let (index, bases) = match bases(offset) {
            Some(bases) => (without, bases),
            None => (index, bases(0)?),
        };
        let value = self.expr(index);
        let by = self.builder.literal(f32::from(stride));
        let scaled = self.builder.mul(&value, &by);
        // The chip takes the whole part itself.
        let scaled = scaled.iter().map(|c| self.builder.whole_part_of(*c)).collect();
        let index = self.builder.gathered(&scaled)[0];
        let component = |(n, (base, channel)): (&usize, (u16, u8))| {
            let atom = Atom::Relative(Relative { base, index, array }, channel);
            Component { atom, ..whole[*n] }
        };
        Some(part.components.iter().zip(bases).map(component).collect())
    }

    /// Splits an index into one that is not known and a number that is added to it.
    fn offset(&self, index: &'a Expr) -> (&'a Expr, i32) {
        let ExprKind::Binary(op @ (Binary::Add | Binary::Sub), a, b) = &index.kind else {
            return (index, 0);
        };
        let number = |expr: &Expr| {
            let value = *self.shader.constant(expr)?.first()?;
            // Numbers of constants are far below.
            (value.abs() < 1024.0 && value.fract() == 0.0).then_some(value as i32)
        };
        match (number(a), number(b), op) {
            (_, Some(n), Binary::Add) => (a, n),
            (_, Some(n), _) => (a, -n),
            (Some(n), None, Binary::Add) => (b, n),
            _ => (index, 0),
        }
    }

    /// Puts an array whose values are known into constants. Returns these; `None` if there are more than the chip has.
    fn table(&mut self, root: VariableId, whole: &Value) -> Option<Value> {
        let variable = &self.shader.variables[root];
        let values: Vec<u32> =
            whole.iter().filter_map(|component| component.value().map(f32::to_bits)).collect();
        if let Some(known) = self.tables.get(&(root, values.clone())) {
            return Some(known.clone());
        }
        let leaves = leaves("", &variable.ty);
        if leaves.len() > r500_pvs::CONSTANTS {
            return None;
        }
        let base = Self::base(&variable.ty);
        let mut table = Value::new();
        for leaf in leaves {
            let n = self.uniforms.len() as u16;
            let mut known = [0; 4];
            known[..leaf.size].copy_from_slice(&values[leaf.first..][..leaf.size]);
            let (name, size) = (String::new(), leaf.size as u8);
            self.uniforms.push(UniformVector { name, size, base, known: Some(known) });
            table.extend((0..size).map(|channel| Component::uniform(n, channel)));
        }
        self.tables.insert((root, values), table.clone());
        Some(table)
    }

    /// Returns what an expression is of its variable; `None` with several unknown indices, or one that is outside.
    fn part(&mut self, expr: &'a Expr) -> Option<Part<'a>> {
        let count = expr.ty.components();
        Some(match &expr.kind {
            ExprKind::Variable(_) => Part { components: (0..count).collect(), index: None, count },
            ExprKind::Swizzle(of, list) => {
                let part = self.part(of)?;
                let components = list.iter().map(|c| part.components[usize::from(*c)]).collect();
                Part { components, ..part }
            }
            ExprKind::Member(of, first) => {
                let part = self.part(of)?;
                Part { components: part.components[*first..first + count].to_vec(), ..part }
            }
            ExprKind::Index(of, index) => {
                let part = self.part(of)?;
                match self.expr(index)[0].value() {
                    Some(n) => {
                        let first = n as usize * count;
                        let element = part.components.get(first..first + count)?.to_vec();
                        Part { components: element, ..part }
                    }
                    None if part.index.is_none() => Part {
                        components: part.components.get(..count)?.to_vec(),
                        index: Some(index),
                        count,
                    },
                    None => return None,
                }
            }
            _ => return None,
        })
    }
}
