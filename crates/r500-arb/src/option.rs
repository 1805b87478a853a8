//! Options: their names, and what they do after the last instruction.

use r500_glsl::diagnostic::nearest;
use r500_glsl::tree::{BuiltinVariable, Expr, ExprKind, Stmt, StmtKind, Storage};
use r500_glsl::types::Type;
use r500_glsl::{Binary, Builtin, Diagnostic, Span, Stage};

use crate::build::Build;
use crate::program::{Fog, Read, Reader};

/// Names of options that change nothing here.
const HINTS: [&str; 2] = ["ARB_precision_hint_fastest", "ARB_precision_hint_nicest"];

/// Names of options with their stages.
const OPTIONS: [(&str, Stage); 7] = [
    ("ARB_fog_linear", Stage::Fragment),
    ("ARB_fog_exp", Stage::Fragment),
    ("ARB_fog_exp2", Stage::Fragment),
    ("ARB_draw_buffers", Stage::Fragment),
    ("ATI_draw_buffers", Stage::Fragment),
    ("ARB_fragment_program_shadow", Stage::Fragment),
    ("ARB_position_invariant", Stage::Vertex),
];

impl Reader<'_> {
    /// Reads the name of an option.
    pub(crate) fn option(&mut self) -> Read<()> {
        let token = self.next();
        let options = &mut self.options;
        let stage = OPTIONS.iter().find(|(name, _)| *name == token.text).map(|(_, stage)| *stage);
        if let Some(other) = stage.filter(|stage| *stage != self.stage) {
            let message = format!("`{}` is an option of {other} programs", token.text);
            return Err(Diagnostic::error(token.span, message).into());
        }
        match token.text {
            "ARB_fog_linear" | "ARB_fog_exp" | "ARB_fog_exp2" => {
                if options.fog.is_some() {
                    return Err(
                        Diagnostic::error(token.span, "a program has one kind of fog").into()
                    );
                }
                options.fog = Some(match token.text {
                    "ARB_fog_linear" => Fog::Linear,
                    "ARB_fog_exp" => Fog::Exponential,
                    _ => Fog::Squared,
                });
            }
            "ARB_draw_buffers" | "ATI_draw_buffers" => options.draw_buffers = true,
            "ARB_fragment_program_shadow" => options.shadow = true,
            "ARB_position_invariant" => options.position_invariant = true,
            name if HINTS.contains(&name) && self.stage == Stage::Fragment => {
                if options.hint.is_some_and(|hint| hint != name) {
                    return Err(
                        Diagnostic::error(token.span, "the hints exclude each other").into()
                    );
                }
                options.hint = Some(name);
            }
            name => {
                let error = Diagnostic::error(token.span, format!("there is no option `{name}`"));
                let known = OPTIONS.iter().filter(|(_, stage)| *stage == self.stage);
                let known: Vec<&str> = known.map(|(name, _)| *name).collect();
                let error = match nearest(name, known.iter().chain(&HINTS).copied()) {
                    Some(meant) => error.fix(format!("did you mean `{meant}`?"), token.span, meant),
                    None => error.help(format!("there are {}", known.join(", "))),
                };
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// Adds what options do after the last instruction.
    pub(crate) fn ending(&mut self, header: Span) {
        let build = Build { span: header };
        if self.options.position_invariant {
            self.position(build);
        } else if self.stage == Stage::Vertex && !self.sets_position {
            let error = Diagnostic::error(header, "the program does not write `result.position`");
            let help = "write the place in clip space to it, or `OPTION ARB_position_invariant;`";
            self.report(error.help(help));
        }
        if let Some(fog) = self.options.fog {
            self.fog(build, fog);
        }
    }

    fn append(&mut self, build: Build, target: Expr, value: Expr) {
        let kind = StmtKind::Expr(build.assign(target, value));
        self.body.push(Stmt { kind, span: build.span });
    }

    /// The position as fixed-function drawing has it.
    fn position(&mut self, build: Build) {
        let four = Type::floats(4);
        let rows = Type::Array(Box::new(four.clone()), 4);
        let matrix = self.uniform("state.matrix.mvp.row", rows.clone());
        let vertex = self.attribute("vertex.position", build.span);
        let row = |n: i32| {
            let of = Box::new(build.variable(matrix, rows.clone()));
            build.expr(ExprKind::Index(of, Box::new(build.integer(n))), four.clone())
        };
        let dots = (0..4).map(|n| build.dot(row(n), vertex.clone())).collect();
        let storage = Storage::Builtin(BuiltinVariable::Position);
        let id = self.shared("gl_Position", four.clone(), storage);
        self.append(build, build.variable(id, four.clone()), build.join(dots));
    }

    /// Mixes the colour with that of the fog. `state.fog.params` are the density, start, end and 1 / (end - start).
    fn fog(&mut self, build: Build, fog: Fog) {
        let four = Type::floats(4);
        let [color, params] = ["state.fog.color", "state.fog.params"]
            .map(|name| build.variable(self.uniform(name, four.clone()), four.clone()));
        let distance = build.component(&self.attribute("fragment.fogcoord", build.span), 0);
        let param = |n| build.component(&params, n);
        let power = |x: Expr| {
            let exponent = build.binary(Binary::Mul, x, build.number(-std::f32::consts::LOG2_E));
            build.call(Builtin::Exp2, vec![exponent])
        };
        let optical = build.binary(Binary::Mul, param(0), distance.clone());
        let factor = match fog {
            Fog::Linear => {
                let left = build.binary(Binary::Sub, param(2), distance);
                build.binary(Binary::Mul, left, param(3))
            }
            Fog::Exponential => power(optical),
            Fog::Squared => power(build.binary(Binary::Mul, optical.clone(), optical)),
        };
        let factor = build.saturate(factor);
        let Ok(place) = self.result("result.color[0]", build.span) else { return };
        let target = build.xyz(&place.target);
        let mixed = vec![build.xyz(&color), target.clone(), factor];
        self.append(build, target, build.call(Builtin::Mix, mixed));
    }
}
