//! Constant expressions, where the language wants one: sizes of arrays, indices.

use crate::ast::{Binary, Unary};
use crate::tree::{Expr, ExprKind, Shader, Storage, Variable};
use crate::types::Base;

/// Returns the components of an expression that is constant and simple; `None` for all others.
pub(crate) fn evaluate(expr: &Expr, variables: &[Variable]) -> Option<Vec<f32>> {
    let of = |expr: &Expr| evaluate(expr, variables);
    let is_integer = expr.ty.base() == Some(Base::Int);
    let converted = |value: f32| match expr.ty.base() {
        Some(Base::Int) => value.trunc(),
        Some(Base::Bool) => f32::from(u8::from(value != 0.0)),
        _ => value,
    };
    Some(match &expr.kind {
        ExprKind::Constant(values) => values.clone(),
        ExprKind::Variable(id) => {
            let variable = variables.get(*id)?;
            if variable.storage != Storage::Constant {
                return None;
            }
            of(variable.init.as_ref()?)?
        }
        ExprKind::Unary(op, a) => {
            let values = of(a)?.into_iter();
            match op {
                Unary::Negate => values.map(|value| -value).collect(),
                Unary::Plus => values.collect(),
                Unary::Not => values.map(|value| f32::from(u8::from(value == 0.0))).collect(),
                Unary::Complement => return None,
            }
        }
        ExprKind::Binary(op, a, b) => {
            let (left, right) = (of(a)?, of(b)?);
            let compares = matches!(op, Binary::Eq | Binary::Ne);
            if compares && left.len() != 1 || a.ty.vector().is_none() || b.ty.vector().is_none() {
                return None;
            }
            let count = left.len().max(right.len());
            let pick =
                |list: &[f32], i: usize| list.get(if list.len() == 1 { 0 } else { i }).copied();
            let all =
                (0..count).map(|i| binary(*op, pick(&left, i)?, pick(&right, i)?, is_integer));
            all.collect::<Option<Vec<f32>>>()?
        }
        ExprKind::Construct(arguments) => {
            let mut all = Vec::new();
            for argument in arguments {
                all.extend(of(argument)?.into_iter().map(converted));
            }
            all
        }
        ExprKind::Splat(a) => vec![converted(*of(a)?.first()?); expr.ty.components()],
        ExprKind::Truncate(a) => {
            of(a)?.into_iter().take(expr.ty.components()).map(converted).collect()
        }
        ExprKind::Select(test, a, b) => match *of(test)?.first()? != 0.0 {
            true => of(a)?,
            false => of(b)?,
        },
        ExprKind::Swizzle(a, list) => {
            let values = of(a)?;
            let all = list.iter().map(|c| values.get(usize::from(*c)).copied());
            all.collect::<Option<Vec<f32>>>()?
        }
        ExprKind::Index(a, index) => {
            let (values, index) = (of(a)?, *of(index)?.first()?);
            let size = expr.ty.components();
            let start = integer(index)?.checked_mul(size)?;
            values.get(start..start.checked_add(size)?)?.to_vec()
        }
        _ => return None,
    })
}

/// Returns a component as an index.
pub(crate) fn integer(value: f32) -> Option<usize> {
    ((0.0..16_777_216.0).contains(&value) && value.fract() == 0.0).then_some(value as usize)
}

fn binary(op: Binary, a: f32, b: f32, is_integer: bool) -> Option<f32> {
    let truth = |value: bool| f32::from(u8::from(value));
    Some(match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div if is_integer && b == 0.0 => return None,
        Binary::Div if is_integer => (a / b).trunc(),
        Binary::Div => a / b,
        Binary::Rem if b != 0.0 => a % b,
        Binary::Lt => truth(a < b),
        Binary::Gt => truth(a > b),
        Binary::Le => truth(a <= b),
        Binary::Ge => truth(a >= b),
        Binary::Eq => truth(a == b),
        Binary::Ne => truth(a != b),
        Binary::And => truth(a != 0.0 && b != 0.0),
        Binary::Or => truth(a != 0.0 || b != 0.0),
        Binary::Xor => truth((a != 0.0) != (b != 0.0)),
        _ => return None,
    })
}

impl Shader {
    /// Returns the components of an expression that is constant and simple.
    #[must_use]
    pub fn constant(&self, expr: &Expr) -> Option<Vec<f32>> {
        evaluate(expr, &self.variables)
    }
}
