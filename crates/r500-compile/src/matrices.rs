//! Matrices as formulas of the chip's operations: their components are those of their columns, one after the other.

use r500_glsl::builtins::Builtin;
use r500_glsl::types::Type;

use crate::arithmetic::{Alu, Arithmetic, Value, dot};

/// Columns times rows times columns: the product of linear algebra. `left` has `rows` rows, `right` as many rows as `left` has columns.
pub(crate) fn matrix_product<A: Arithmetic>(
    a: &mut A,
    left: &Value<A>,
    right: &Value<A>,
    rows: usize,
) -> Value<A> {
    let inner = left.len() / rows;
    let columns = right.len() / inner;
    let mut all = Vec::new();
    for column in 0..columns {
        let mut sum: Option<Value<A>> = None;
        for k in 0..inner {
            let of_left: Vec<usize> = (0..rows).map(|row| k * rows + row).collect();
            let (vector, factor) = (a.pick(left, &of_left), a.pick(right, &[column * inner + k]));
            sum = Some(match sum {
                None => a.mul(&vector, &factor),
                Some(sum) => a.mad(&vector, &factor, &sum),
            });
        }
        all.extend(sum);
    }
    a.join(&all)
}

/// A row times a matrix: a scalar product for each column.
pub(crate) fn row_product<A: Arithmetic>(a: &mut A, row: &Value<A>, matrix: &Value<A>) -> Value<A> {
    let rows = row.len();
    let columns = matrix.len() / rows;
    let all: Vec<Value<A>> = (0..columns)
        .map(|column| {
            let list: Vec<usize> = (0..rows).map(|k| column * rows + k).collect();
            let column = a.pick(matrix, &list);
            dot(a, row, &column)
        })
        .collect();
    a.join(&all)
}

/// Functions of matrices with `columns` and `rows`.
pub(crate) fn matrix<A: Arithmetic>(
    a: &mut A,
    function: Builtin,
    arguments: &[Value<A>],
    [columns, rows]: [usize; 2],
) -> Value<A> {
    let x = &arguments[0];
    match function {
        Builtin::Transpose => {
            let list: Vec<usize> =
                (0..rows).flat_map(|row| (0..columns).map(move |c| c * rows + row)).collect();
            a.pick(x, &list)
        }
        Builtin::OuterProduct => {
            let all: Vec<Value<A>> = (0..arguments[1].len())
                .map(|n| {
                    let factor = a.pick(&arguments[1], &[n]);
                    a.mul(x, &factor)
                })
                .collect();
            a.join(&all)
        }
        Builtin::Determinant => {
            let all: Vec<usize> = (0..columns).collect();
            minor(a, x, rows, &all, &all)
        }
        _ => inverse(a, x, rows),
    }
}

/// The determinant of some columns and rows.
fn minor<A: Arithmetic>(
    a: &mut A,
    x: &Value<A>,
    size: usize,
    columns: &[usize],
    rows: &[usize],
) -> Value<A> {
    let [first, columns @ ..] = columns else { return a.literal(1.0) };
    if columns.is_empty() {
        return a.pick(x, &[first * size + rows[0]]);
    }
    let mut sum: Option<Value<A>> = None;
    for (n, row) in rows.iter().enumerate() {
        let rest: Vec<usize> = rows.iter().copied().filter(|other| other != row).collect();
        let rest = minor(a, x, size, columns, &rest);
        let mut factor = a.pick(x, &[first * size + row]);
        if n % 2 == 1 {
            factor = a.negate(&factor);
        }
        sum = Some(match sum {
            None => a.mul(&factor, &rest),
            Some(sum) => a.mad(&factor, &rest, &sum),
        });
    }
    sum.unwrap_or_else(|| x.clone())
}

fn inverse<A: Arithmetic>(a: &mut A, x: &Value<A>, size: usize) -> Value<A> {
    let all: Vec<usize> = (0..size).collect();
    let without = |n: usize| all.iter().copied().filter(|m| *m != n).collect::<Vec<usize>>();
    let mut adjugate = Vec::new();
    for column in 0..size {
        for row in 0..size {
            let cofactor = minor(a, x, size, &without(row), &without(column));
            adjugate.push(if (row + column) % 2 == 1 { a.negate(&cofactor) } else { cofactor });
        }
    }
    let first: Vec<Value<A>> = (0..size).map(|row| adjugate[row * size].clone()).collect();
    let (first, column) = (a.join(&first), a.pick(x, &all));
    // The first row of the adjugate times the first column is the determinant.
    let determinant = dot(a, &first, &column);
    let reciprocal = a.alu(Alu::Rcp, &[&determinant]);
    let adjugate = a.join(&adjugate);
    a.mul(&adjugate, &reciprocal)
}

/// Returns the number of components in a column of a matrix; a vector is one column.
pub(crate) fn rows(ty: &Type) -> usize {
    match ty {
        Type::Matrix { rows, .. } => usize::from(*rows),
        _ => ty.components().max(1),
    }
}

/// Returns the matrix of a type with a number on its diagonal.
pub(crate) fn diagonal<A: Arithmetic>(of: A::Component, ty: &Type) -> Value<A> {
    let rows = rows(ty);
    let place = |n: usize| if n / rows == n % rows { of } else { A::number(0.0) };
    (0..ty.components()).map(place).collect()
}

/// Returns the matrix of a type with the components of another one, and those of the identity elsewhere.
pub(crate) fn resized<A: Arithmetic>(of: &[A::Component], from: &Type, to: &Type) -> Value<A> {
    let (old, new) = (rows(from), rows(to));
    let columns = of.len() / old;
    let place = |n: usize| match (n / new, n % new) {
        (column, row) if column < columns && row < old => of[column * old + row],
        (column, row) => A::number(if column == row { 1.0 } else { 0.0 }),
    };
    (0..to.components()).map(place).collect()
}
