//! Instructions.

use r500_glsl::diagnostic::nearest;
use r500_glsl::tree::{Expr, ExprKind, Stmt, StmtKind};
use r500_glsl::types::Type;
use r500_glsl::{Binary, Builtin, Diagnostic, Span, Stage};

use crate::bindings::UNITS;
use crate::build::Build;
use crate::lexer::{Kind, Token};
use crate::opcodes::{self, Fetch, Form, OPCODES, Opcode, TARGETS, Target};
use crate::operand::Destination;
use crate::program::{DECLARATIONS, Read, Reader, Stop};

impl<'a> Reader<'a> {
    /// Reads an instruction after its opcode.
    pub(crate) fn instruction(&mut self, opcode: Token<'a>) -> Read<()> {
        let (of, saturates) = self.opcode(opcode)?;
        match of.form {
            Form::Vectors(count, value) => {
                let to = self.destination()?;
                let operands = self.operands(count, |reader| reader.vector())?;
                let build = self.build(opcode);
                self.write(build, to, value(build, &operands), saturates);
            }
            Form::Scalars(count, value) => {
                let to = self.destination()?;
                let operands = self.operands(count, |reader| reader.scalar(of.name))?;
                let build = self.build(opcode);
                self.write(build, to, value(build, &operands), saturates);
            }
            Form::Swizzle => {
                let to = self.destination()?;
                self.expect(",", "before the source")?;
                let value = self.extended_swizzle()?;
                self.write(self.build(opcode), to, value, saturates);
            }
            Form::Address => {
                let target = self.address_destination()?;
                let operands = self.operands(1, |reader| reader.scalar(of.name))?;
                let build = self.build(opcode);
                let value = build.call_of(Builtin::Floor, operands, Type::INT);
                self.push(build, StmtKind::Expr(build.assign(target, value)));
            }
            Form::Kill => {
                let value = self.vector()?;
                let build = self.build(opcode);
                for component in 0..4 {
                    let value = build.component(&value, component);
                    let test = build.compare(Binary::Lt, value, build.number(0.0));
                    let discard = Stmt { kind: StmtKind::Discard, span: build.span };
                    self.push(build, StmtKind::If(test, vec![discard], Vec::new()));
                }
            }
            Form::Fetch(fetch) => {
                let to = self.destination()?;
                let place = self.operands(1, |reader| reader.vector())?;
                let (sampler, target) = self.texture()?;
                let build = self.build(opcode);
                let value = self.fetched(build, fetch, (sampler, target), &place[0]);
                self.write(build, to, value, saturates);
            }
        }
        Ok(())
    }

    /// Returns the instruction of an opcode, and whether it clamps its result.
    fn opcode(&self, token: Token<'a>) -> Read<(&'static Opcode, bool)> {
        let (name, saturates) = match token.text.strip_suffix("_SAT") {
            Some(name) => (name, true),
            None => (token.text, false),
        };
        let here = |of: &&Opcode| of.stage.is_none_or(|stage| stage == self.stage);
        let Some(of) = OPCODES.iter().find(|of| of.name == name) else {
            let message = format!("there is no instruction `{}`", token.text);
            let error = Diagnostic::error(token.span, message);
            let known = OPCODES.iter().filter(here).map(|of| of.name);
            // A word after `_` is meant to clamp.
            let (name, rest) = name.split_once('_').map_or((name, ""), |(name, _)| (name, "_SAT"));
            let known = known.chain(DECLARATIONS).chain(["END"]);
            let meant = match OPCODES.iter().any(|of| of.name == name) {
                true => Some(name),
                false => nearest(name, known),
            };
            return Err(match meant.map(|meant| format!("{meant}{rest}")) {
                Some(meant) => {
                    error.fix(format!("did you mean `{meant}`?"), token.span, meant.clone())
                }
                None => error.help("instructions of other extensions than ARB's are not read"),
            }
            .into());
        };
        if !here(&of) {
            let message = format!("{} programs have no {}", self.stage, of.name);
            return Err(Diagnostic::error(token.span, message).into());
        }
        let writes_vector = !matches!(of.form, Form::Address | Form::Kill);
        if saturates && (self.stage == Stage::Vertex || !writes_vector) {
            let message = match self.stage {
                Stage::Vertex => "vertex programs do not clamp results".to_owned(),
                Stage::Fragment => format!("{} has no result to clamp", of.name),
            };
            return Err(Diagnostic::error(token.span, message)
                .fix("remove `_SAT`", token.span, name)
                .into());
        }
        Ok((of, saturates))
    }

    /// The place of the instruction that ends before the present token.
    fn build(&self, opcode: Token<'a>) -> Build {
        Build { span: opcode.span.to(self.last_span()) }
    }

    fn push(&mut self, build: Build, kind: StmtKind) {
        self.body.push(Stmt { kind, span: build.span });
    }

    fn operands(
        &mut self,
        count: usize,
        mut one: impl FnMut(&mut Self) -> Read<Expr>,
    ) -> Read<Vec<Expr>> {
        let mut all = Vec::new();
        for n in 1..=count {
            let purpose =
                if n == 1 { "before the first operand" } else { "before the next operand" };
            self.expect(",", purpose)?;
            all.push(one(self)?);
        }
        Ok(all)
    }

    /// Writes the components of a value that a mask names.
    fn write(&mut self, build: Build, to: Destination, value: Expr, saturates: bool) {
        let value = if saturates { build.saturate(value) } else { value };
        let Destination { place, mask } = to;
        let assign = match place.component {
            // A scalar is one component of what the instruction gives.
            Some(component) if !mask.contains(&component) => return,
            Some(component) => build.assign(place.target, build.component(&value, component)),
            None => build.assign(build.swizzle(place.target, &mask), build.swizzle(value, &mask)),
        };
        self.push(build, StmtKind::Expr(assign));
    }

    /// Reads `, texture[0], 2D`.
    fn texture(&mut self) -> Read<((u32, Span), Target)> {
        self.expect(",", "before the texture")?;
        let start = self.next();
        let is_unit = start.text == "texture";
        if !is_unit {
            let message = format!("a texture is wanted, not {}", start.describe());
            return Err(Diagnostic::error(start.span, message).help("write `texture[0]`").into());
        }
        let mut unit = 0;
        if self.take("[") {
            let token = self.next();
            match token.kind {
                Kind::Integer(n) if n < UNITS => unit = n,
                _ => {
                    let message = format!("the chip has textures 0 to {}", UNITS - 1);
                    return Err(Diagnostic::error(token.span, message).into());
                }
            }
            self.expect("]", "after the number")?;
        }
        let span = start.span.to(self.last_span());
        self.expect(",", "before the target")?;
        let token = self.next();
        let Some(target) = TARGETS.iter().find(|(name, ..)| *name == token.text) else {
            let message = format!("there is no target {}", token.describe());
            let names = TARGETS.map(|(name, ..)| name).join(", ");
            let error = Diagnostic::error(token.span, message);
            return Err(error.help(format!("there are {names}")).into());
        };
        self.check_target(unit, *target, token.span)?;
        Ok(((unit, span), *target))
    }

    fn check_target(&mut self, unit: u32, target: Target, span: Span) -> Result<(), Stop> {
        let (name, _, shadow) = target;
        if shadow && !self.options.shadow {
            let message = format!("`{name}` needs the option of shadows");
            let help = "write `OPTION ARB_fragment_program_shadow;` after the first line";
            return Err(Diagnostic::error(span, message).help(help).into());
        }
        let known = *self.units.entry(unit).or_insert(target);
        if known != target {
            let message = format!("`texture[{unit}]` is {} elsewhere", known.0);
            let help = "a texture has one target in a program";
            return Err(Diagnostic::error(span, message).help(help).into());
        }
        Ok(())
    }

    fn fetched(
        &mut self,
        build: Build,
        fetch: Fetch,
        ((unit, span), target): ((u32, Span), Target),
        place: &Expr,
    ) -> Expr {
        let (_, dimensions, shadow) = target;
        let ty = Type::Sampler { dimensions, shadow };
        let id = self.uniform(&format!("texture[{unit}]"), ty.clone());
        let sampler = Expr { kind: ExprKind::Variable(id), ty, span };
        opcodes::fetch(build, fetch, target, sampler, place)
    }
}
