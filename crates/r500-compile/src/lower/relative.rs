//! Indices that are not known, of uniforms of vertex shaders: the chip adds a register to the number of a constant.

use r500_glsl::tree::{Expr, ExprKind, Storage};

use super::Lower;
use crate::arithmetic::Arithmetic;
use crate::code::{Atom, Component, Relative, Value};

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
    /// Returns a part of a uniform that one unknown index names, if its elements are whole constants.
    pub(super) fn relative(&mut self, expr: &'a Expr) -> Option<Value> {
        if !self.is_vertex() || self.has_effects(expr) {
            return None;
        }
        let is_uniform = |id: &usize| self.shader.variables[*id].storage == Storage::Uniform;
        let whole = {
            let root = expr.root().filter(is_uniform)?;
            self.value(root)
        };
        let part = self.part(expr)?;
        let index = part.index?;
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
        let value = self.expr(index);
        let by = self.builder.literal(f32::from(stride));
        let scaled = self.builder.mul(&value, &by);
        let index = self.builder.gathered(&scaled)[0];
        let array = (first, last + 1 - first);
        let component = |n: &usize| match whole[*n].atom {
            Atom::Uniform(base, channel) => {
                let atom = Atom::Relative(Relative { base, index, array }, channel);
                Some(Component { atom, ..whole[*n] })
            }
            _ => None,
        };
        part.components.iter().map(component).collect()
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
