//! Which language a source is written in.

use crate::lexer::{Tok, Token};

/// A version of GLSL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// 100, 110, 120, 300 ...
    pub number: u16,
    /// Whether it is one of OpenGL ES.
    pub es: bool,
}

impl Version {
    /// GLSL 1.10.
    pub const GLSL_1_10: Self = Self { number: 110, es: false };

    /// Returns the version that `#version` names. Without it, a source that sets precisions or defines `mainImage` is GLSL ES 1.00,
    /// and another one GLSL 1.10.
    pub(crate) fn of(tokens: &[Token]) -> Self {
        for window in tokens.windows(3) {
            let [hash, directive, number] = window else { continue };
            if hash.is("#")
                && directive.ident() == Some("version")
                && let Tok::Int(number) = number.tok
            {
                let es = tokens
                    .iter()
                    .skip_while(|token| token.span.start <= directive.span.start)
                    .take_while(|token| !token.begins_line)
                    .any(|token| token.ident() == Some("es"));
                let number = u16::try_from(number).unwrap_or(u16::MAX);
                return Self { number, es: es || number == 100 };
            }
        }
        let names = |name: &str| tokens.iter().any(|token| token.ident() == Some(name));
        match names("precision") || names("mainImage") {
            true => Self { number: 100, es: true },
            false => Self::GLSL_1_10,
        }
    }

    /// Whether an `int` becomes a `float` where one is wanted.
    pub(crate) fn converts_integers(self) -> bool {
        !self.es && self.number >= 120
    }

    /// Whether integers have `%`, `&`, `|`, `^`, `~`, `<<` and `>>`.
    pub(crate) fn has_integer_operators(self) -> bool {
        self.number >= 130
    }

    /// Whether loops and indices have the limits of GLSL ES 1.00, appendix A.
    pub(crate) fn has_limits_of_appendix_a(self) -> bool {
        self.es && self.number == 100
    }
}
