//! `INPUT`: initial values of temporaries.

use r500_program::{Component, Input, InputData, Plane};

use super::{Parsed, Parser, Register};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::lexer::TokenKind;
use crate::source::Span;

/// Components that need the size of the picture, which a later directive may set.
pub(super) struct PendingInput {
    input: usize,
    component: usize,
    /// Whether the component is y.
    vertical: bool,
    span: Span,
}

impl Parser<'_> {
    /// Parses `INPUT temp[n] = … ;` or `INPUT none ;`.
    pub(super) fn input(&mut self) -> Parsed<()> {
        self.bump();
        if self.eat_text("none") {
            self.job.inputs.get_or_insert_default();
            return self.parse_semicolon();
        }
        let start = self.tok.span;
        let temp = self.register_of("a temporary like `temp[0]`", |r| match r {
            Register::Temp(n) => Some(n),
            _ => None,
        })?;
        self.once_at(&format!("INPUT temp[{temp}]"), start);
        self.expect_token(TokenKind::Equals)?;
        let data = if self.eat_text("uv") {
            Input::uv().data
        } else if self.at_text("position") {
            let span = self.bump().span;
            let index = self.job.inputs.as_ref().map_or(0, Vec::len);
            for (component, vertical) in [(0, false), (1, true)] {
                self.inputs.push(PendingInput { input: index, component, vertical, span });
            }
            let component =
                |name: &str, c| Component { name: name.to_owned(), plane: Plane::constant(c) };
            InputData::Planes([
                component("position.x", 0.0),
                component("position.y", 0.0),
                component("", 0.0),
                component("", 1.0),
            ])
        } else if self.eat_text("values") {
            self.pixel_values()?
        } else {
            self.expect_token(TokenKind::OpenParen)?;
            let index = self.job.inputs.as_ref().map_or(0, Vec::len);
            let mut components: [Component; 4] = Default::default();
            for (i, component) in components.iter_mut().enumerate() {
                if i > 0 {
                    self.expect_token(TokenKind::Comma)?;
                }
                *component = self.component(index, i)?;
            }
            self.expect_token(TokenKind::CloseParen)?;
            InputData::Planes(components)
        };
        self.job.inputs.get_or_insert_default().push(Input { temp, data });
        self.parse_semicolon()
    }

    /// Parses `values(width) (x, y, z, w), … `: a vector for each pixel, row by row from y = 0.
    fn pixel_values(&mut self) -> Parsed<InputData> {
        self.expect_token(TokenKind::OpenParen)?;
        let at = self.tok.span;
        let width = self.number(u32::MAX, "the number of pixels in a row")?;
        self.expect_token(TokenKind::CloseParen)?;
        let mut values = Vec::new();
        while self.at(TokenKind::OpenParen) {
            values.push(self.vector::<4>()?);
            self.eat(TokenKind::Comma);
        }
        let rows = if width == 0 { 1 } else { values.len() % width as usize };
        if rows != 0 && !(width == 0 && values.is_empty()) {
            let count = values.len();
            self.report(
                Diagnostic::new(
                    DiagnosticCode::WrongCount,
                    at,
                    format!("{count} values do not fill rows of {width}"),
                )
                .label("every row has this many"),
            );
        }
        Ok(InputData::Values { width, values })
    }

    /// Parses a component: `u`, `v`, `x`, `y`, a number, `plane(c, du, dv)`, `corners(ll, lr, ul)` or `vertices(a, b,
    /// c)`, and a name in quotes.
    fn component(&mut self, input: usize, index: usize) -> Parsed<Component> {
        let span = self.tok.span;
        let mut name = String::new();
        let plane = if self.eat_text("u") {
            Plane { c: 0.0, du: 1.0, dv: 0.0 }
        } else if self.eat_text("v") {
            Plane { c: 0.0, du: 0.0, dv: 1.0 }
        } else if self.at_text("x") || self.at_text("y") {
            let vertical = self.at_text("y");
            self.bump();
            name = if vertical { "position.y".to_owned() } else { "position.x".to_owned() };
            self.inputs.push(PendingInput { input, component: index, vertical, span });
            Plane::default()
        } else if self.eat_text("plane") {
            let [c, du, dv] = self.vector()?;
            Plane { c, du, dv }
        } else if self.eat_text("corners") {
            Plane::from_corners(self.vector()?)
        } else if self.eat_text("vertices") {
            Plane::from_triangle(self.vector()?)
        } else if self.at_number() {
            Plane::constant(self.float()?)
        } else {
            return Err(self.expected(
                "`u`, `v`, `x`, `y`, a number, `plane(c, du, dv)`, `corners(…)` or `vertices(…)`",
            ));
        };
        if self.at(TokenKind::Str) {
            name = self.string()?.0;
        }
        Ok(Component { name, plane })
    }

    /// Resolves `x` and `y` with the size of the picture.
    pub(super) fn finish_inputs(&mut self) {
        self.finish_edges();
        for pending in std::mem::take(&mut self.inputs) {
            let Some(size) = self.job.size else {
                self.report(
                    Diagnostic::new(
                        DiagnosticCode::SizeNeeded,
                        pending.span,
                        "a position without a `SIZE`",
                    )
                    .label("counts in pixels, but no directive gives the picture size"),
                );
                continue;
            };
            #[allow(clippy::cast_precision_loss)] // sizes have at most 17 bits
            let extent = size[usize::from(pending.vertical)] as f32;
            let input = self.job.inputs.as_mut().and_then(|i| i.get_mut(pending.input));
            if let Some(Input { data: InputData::Planes(components), .. }) = input {
                let plane = &mut components[pending.component].plane;
                if pending.vertical {
                    plane.dv = extent;
                } else {
                    plane.du = extent;
                }
            }
        }
    }
}
