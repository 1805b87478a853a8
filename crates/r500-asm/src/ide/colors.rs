//! Colour constants: constants whose name or comment mentions a colour.

use super::{Analysis, span};
use crate::items::{Register, SymbolKind};
use crate::names::Kw;
use crate::source::Span;
use r500_text::raw_tokens::{RawToken, RawTokenKind};

/// A constant that is a colour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColorConstant {
    /// Span of its four values, parentheses included.
    pub span: Span,
    /// Its number.
    pub constant: u8,
    /// Red, green, blue, alpha.
    pub value: [f32; 4],
}

/// Returns whether a name or comment mentions a colour.
#[must_use]
pub fn says_color(text: &str) -> bool {
    const WORDS: [&str; 5] = ["color", "colour", "tint", "albedo", "rgb"];
    let text = text.to_ascii_lowercase();
    WORDS.iter().any(|word| text.contains(word))
}

impl Analysis {
    /// Returns the colour constants of the source itself, by position.
    #[must_use]
    pub fn colors(&self) -> Vec<ColorConstant> {
        let one = |statement: &super::Statement| {
            let tokens = self.code.get(statement.first..statement.end)?;
            let mark = |token: &RawToken, mark| token.kind == RawTokenKind::Mark(mark);
            let open = tokens.iter().position(|token| mark(token, b'('))?;
            let close = tokens.iter().rposition(|token| mark(token, b')'))?;
            let first = *tokens.first()?;
            let named = if self.kw(first) == Kw::Def { *tokens.get(1)? } else { first };
            let Register::Const(constant) = self.constant_of(named)? else { return None };
            let values = span(*tokens.get(open)?).to(span(*tokens.get(close)?));
            let state = &self.assembly.job.program.state;
            let value = state.constants.get(usize::from(constant))?.map(f32::from_bits);
            let says = self.color_names(constant).any(says_color)
                || self.comment_after(tokens.last()?.end).is_some_and(|text| says_color(&text));
            says.then_some(ColorConstant { span: values, constant, value })
        };
        self.statements.iter().filter_map(one).collect()
    }

    /// Returns the register that a statement assigns: by name, or as written.
    fn constant_of(&self, token: RawToken) -> Option<Register> {
        match self.symbol(token.start).map(|symbol| symbol.kind) {
            Some(SymbolKind::Register(register)) => Some(register),
            _ => Some(self.register_at(token)?.0),
        }
    }

    /// Returns the names of a constant that hold at least red, green and blue.
    fn color_names(&self, constant: u8) -> impl Iterator<Item = &str> {
        let uniforms = self.assembly.job.uniforms.iter();
        let uniforms = uniforms
            .filter(move |uniform| uniform.constant == constant && uniform.channels >= 3)
            .map(|uniform| uniform.name.as_str());
        self.names_of(Register::Const(constant)).chain(uniforms)
    }

    /// Returns the comment after a position on its line.
    fn comment_after(&self, at: usize) -> Option<String> {
        let comment = self.comments.iter().find(|comment| comment.start >= at)?;
        let between = self.text.get(at..comment.start)?;
        let only = between.iter().all(|byte| b" \t".contains(byte));
        only.then(|| self.string(*comment))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::Options;

    #[test]
    fn names_and_comments_say_what_is_a_colour() {
        let text = "const[0] = (1, 0.5, 0, 1) ; -- colour of the sky\n\
            const[1] = (1, 2, 3, 4) ; -- waves\n\
            DEF tint = const[2] ;\nconst[2] = (0, 0, 1, 1) ;\n\
            UNIFORM \"rgb\" = const[3].rgb ;\nconst[3] = (0.25, 0, 0, 0) ;\n: ;";
        let analysis = Analysis::new(text.as_bytes(), Options::default());
        let found: Vec<(u8, [f32; 4])> =
            analysis.colors().into_iter().map(|color| (color.constant, color.value)).collect();
        assert_eq!(
            found,
            [(0, [1.0, 0.5, 0.0, 1.0]), (2, [0.0, 0.0, 1.0, 1.0]), (3, [0.25, 0.0, 0.0, 0.0])]
        );
        let span = analysis.colors()[0].span;
        assert_eq!(&text[span.start as usize..span.end as usize], "(1, 0.5, 0, 1)");
    }
}
