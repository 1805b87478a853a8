//! Names: what those of the program mean, and dotted ones with indices.

use r500_glsl::diagnostic::nearest;
use r500_glsl::{Diagnostic, Span};

use crate::bindings;
use crate::lexer::Kind;
use crate::path::{Index, Part};
use crate::program::{Meaning, Read, Reader, Stop};

impl<'a> Reader<'a> {
    /// Returns what a name of the program means.
    pub(crate) fn meaning(&self, name: &str, span: Span) -> Read<Meaning> {
        match self.names.get(name) {
            Some(Meaning::Broken) => Err(Stop::Known),
            Some(meaning) => Ok(meaning.clone()),
            None => {
                let error = Diagnostic::error(span, format!("`{name}` is not declared"));
                let roots = bindings::roots(self.stage).map(|root| -> &'a str { root });
                let names: Vec<&str> = self.names.keys().copied().chain(roots).collect();
                Err(match nearest(name, names.into_iter()) {
                    Some(meant) => error.fix(format!("did you mean `{meant}`?"), span, meant),
                    None => error.help(format!("declare it: `TEMP {name};`")),
                }
                .into())
            }
        }
    }

    /// Reads a dotted name.
    pub(crate) fn path(&mut self) -> Read<Vec<Part>> {
        let mut parts = Vec::new();
        loop {
            let token = self.next();
            if token.kind != Kind::Name {
                let message = format!("a name is wanted, not {}", token.describe());
                return Err(Diagnostic::error(token.span, message).into());
            }
            let index = if self.peek().is("[") { Some(self.index()?) } else { None };
            parts.push(Part { name: token.text.to_owned(), span: token.span, index });
            if !self.take(".") {
                return Ok(parts);
            }
        }
    }

    /// Reads what is in brackets.
    fn index(&mut self) -> Read<(Index, Span)> {
        let open = self.next().span;
        let token = self.next();
        let index = match token.kind {
            Kind::Integer(first) => match self.take("..") {
                false => Index::One(first),
                true => {
                    let last = self.next();
                    let Kind::Integer(last) = last.kind else {
                        let message = "a range ends in a whole number";
                        return Err(Diagnostic::error(last.span, message).into());
                    };
                    Index::Range(first, last)
                }
            },
            Kind::Name => {
                let mut component = None;
                if self.take(".") {
                    component = Some(self.next().text.to_owned());
                }
                let sign = match self.peek() {
                    token if token.is("+") => 1,
                    token if token.is("-") => -1,
                    _ => 0,
                };
                let mut offset = 0;
                if sign != 0 {
                    self.next();
                    let number = self.next();
                    let whole = match number.kind {
                        Kind::Integer(n) => i32::try_from(n).ok(),
                        _ => None,
                    };
                    let Some(n) = whole else {
                        let message = "an offset is a whole number, below 2147483648";
                        return Err(Diagnostic::error(number.span, message).into());
                    };
                    offset = sign * n;
                }
                Index::Relative { register: token.text.to_owned(), component, offset }
            }
            _ => {
                let message = format!("an index is wanted, not {}", token.describe());
                return Err(Diagnostic::error(token.span, message).into());
            }
        };
        let close = self.peek().span;
        self.expect("]", "after the index")?;
        Ok((index, open.to(close)))
    }
}

/// Returns the place of a whole path.
pub(crate) fn whole(path: &[Part]) -> Span {
    let end = |part: &Part| part.index.as_ref().map_or(part.span, |(_, span)| *span);
    match path {
        [first, .., last] => first.span.to(end(last)),
        [one] => one.span.to(end(one)),
        [] => Span::default(),
    }
}
