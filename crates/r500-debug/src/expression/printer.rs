//! Printing of expressions.

use std::fmt;

use r500_exec::record::expr::{Arithmetic, Comparison};
use r500_exec::record::{Expr, Variable};

use super::names::CLASSES;
use super::vocabulary::Vocabulary;

/// Displays an expression, fully parenthesised.
pub struct Written<'a, V = Variable>(pub &'a Expr<V>);

impl<V: Vocabulary> fmt::Display for Written<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unary = |f: &mut fmt::Formatter<'_>, before: &str, x: &Expr<V>, after: &str| {
            write!(f, "{before}{}{after}", Written(x))
        };
        let binary = |f: &mut fmt::Formatter<'_>, a: &Expr<V>, sign: &str, b: &Expr<V>| {
            write!(f, "({} {sign} {})", Written(a), Written(b))
        };
        match self.0 {
            Expr::Number(x) if x.is_nan() || x.is_sign_negative() => {
                write!(f, "0x{:08x}", x.to_bits())
            }
            Expr::Number(x) => write!(f, "{x}"),
            Expr::Bool(truth) => write!(f, "{truth}"),
            Expr::Variable(place) => write_place(f, *place),
            Expr::Series(series, channels) if channels.iter().eq(0..series.width) => {
                f.write_str(&series.name)
            }
            Expr::Series(series, channels) => {
                let letters: String =
                    channels.iter().map(|c| ['x', 'y', 'z', 'w'][c % 4]).collect();
                write!(f, "{}.{letters}", series.name)
            }
            Expr::Neg(x) => unary(f, "(-", x, ")"),
            Expr::Abs(x) => unary(f, "abs(", x, ")"),
            Expr::Not(x) => unary(f, "(not ", x, ")"),
            Expr::All(x) => unary(f, "all(", x, ")"),
            Expr::Is(class, x) => {
                let word = CLASSES.iter().find(|(_, found)| found == class);
                write!(f, "({} is {})", Written(x), word.map_or("", |(word, _)| word))
            }
            Expr::Arithmetic(op, a, b) => {
                let sign = match op {
                    Arithmetic::Add => "+",
                    Arithmetic::Subtract => "-",
                    Arithmetic::Multiply => "*",
                    Arithmetic::Divide => "/",
                };
                binary(f, a, sign, b)
            }
            Expr::Compare(op, a, b) => {
                let sign = match op {
                    Comparison::Lt => "<",
                    Comparison::Le => "<=",
                    Comparison::Gt => ">",
                    Comparison::Ge => ">=",
                    Comparison::Eq => "==",
                    Comparison::Ne => "!=",
                };
                binary(f, a, sign, b)
            }
            Expr::And(a, b) => binary(f, a, "and", b),
            Expr::Or(a, b) => binary(f, a, "or", b),
        }
    }
}

fn write_place<V: Vocabulary>(f: &mut fmt::Formatter<'_>, place: V) -> fmt::Result {
    if let Some((name, channels)) = place.register() {
        let letters: String = channels.iter().map(|c| V::LETTERS[c % 4]).collect();
        return write!(f, "{name}.{letters}");
    }
    let word = V::WORDS.iter().find(|(_, found)| *found == place);
    f.write_str(word.map_or("", |(word, _)| word))
}
