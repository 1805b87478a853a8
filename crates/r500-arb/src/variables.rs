//! Variables of the tree: those that programs share with shaders, and tables.

use r500_glsl::tree::{BuiltinVariable, Expr, ExprKind, Storage, Variable, VariableId};
use r500_glsl::types::Type;
use r500_glsl::{Diagnostic, Span, Stage};

use crate::build::Build;
use crate::program::{Place, Read, Reader};

impl Reader<'_> {
    pub(crate) fn variable(
        &mut self,
        name: &str,
        ty: Type,
        storage: Storage,
        span: Span,
    ) -> VariableId {
        self.variables.push(Variable { name: name.to_owned(), ty, storage, init: None, span });
        self.variables.len() - 1
    }

    /// Returns the variable with a name that the draw knows; the first use makes it.
    pub(crate) fn shared(&mut self, name: &str, ty: Type, storage: Storage) -> VariableId {
        if let Some(id) = self.by_name.get(name) {
            return *id;
        }
        let id = self.variable(name, ty, storage, Span::default());
        self.by_name.insert(name.to_owned(), id);
        id
    }

    pub(crate) fn uniform(&mut self, name: &str, ty: Type) -> VariableId {
        self.shared(name, ty, Storage::Uniform)
    }

    /// Makes the variable of an array whose elements are known or come from several uniforms.
    pub(crate) fn table(&mut self, name: &str, elements: Vec<Expr>, span: Span) -> VariableId {
        let build = Build { span };
        let is_constant = elements.iter().all(|e| matches!(e.kind, ExprKind::Constant(_)));
        let storage = if is_constant { Storage::Constant } else { Storage::Global };
        let ty = Type::Array(Box::new(Type::floats(4)), elements.len());
        let init = Expr { ty: ty.clone(), ..build.join(elements) };
        let id = self.variable(name, ty, storage, span);
        self.variables[id].init = Some(init);
        id
    }

    pub(crate) fn type_of(&self, id: VariableId) -> Type {
        self.variables[id].ty.clone()
    }

    /// Checks that an attribute is read by one of its two names.
    pub(crate) fn check_slot(&mut self, name: &str, span: Span) -> Read<()> {
        let Some(slot) = slot(name) else { return Ok(()) };
        let first = self.slots.entry(slot).or_insert_with(|| name.to_owned());
        if first == name {
            return Ok(());
        }
        let message = format!("`{name}` and `{first}` are the same attribute");
        Err(Diagnostic::error(span, message).help("read it by one of these names").into())
    }

    /// Returns an attribute as a vector.
    pub(crate) fn attribute(&mut self, name: &str, span: Span) -> Expr {
        let build = Build { span };
        let last = number_of(name);
        let four = Type::floats(4);
        let own = |variable| Storage::Builtin(variable);
        let (glsl, ty, storage) = match name {
            "fragment.color" => ("gl_Color".to_owned(), four, own(BuiltinVariable::Color)),
            "fragment.color.secondary" => {
                ("gl_SecondaryColor".to_owned(), four, own(BuiltinVariable::SecondaryColor))
            }
            "fragment.position" => {
                ("gl_FragCoord".to_owned(), four, own(BuiltinVariable::FragCoord))
            }
            "fragment.fogcoord" => {
                ("gl_FogFragCoord".to_owned(), Type::FLOAT, own(BuiltinVariable::FogFragCoord))
            }
            "vertex.position" => ("gl_Vertex".to_owned(), four, Storage::Attribute),
            "vertex.normal" => ("gl_Normal".to_owned(), Type::floats(3), Storage::Attribute),
            "vertex.color" => ("gl_Color".to_owned(), four, Storage::Attribute),
            "vertex.color.secondary" => ("gl_SecondaryColor".to_owned(), four, Storage::Attribute),
            "vertex.fogcoord" => ("gl_FogCoord".to_owned(), Type::FLOAT, Storage::Attribute),
            _ if name.starts_with("fragment.texcoord") => {
                (format!("gl_TexCoord[{last}]"), four, own(BuiltinVariable::TexCoord))
            }
            _ if name.starts_with("vertex.texcoord") => {
                (format!("gl_MultiTexCoord{last}"), four, Storage::Attribute)
            }
            _ => (name.to_owned(), four, Storage::Attribute),
        };
        let id = self.shared(&glsl, ty.clone(), storage);
        let missing = |count| (0..count).map(|_| build.number(0.0));
        let variable = build.variable(id, ty.clone());
        match ty.components() {
            4 => variable,
            // The rest of a shorter one is (0, 0, 1).
            n => {
                let parts = std::iter::once(variable).chain(missing(3 - n));
                build.join(parts.chain([build.number(1.0)]).collect())
            }
        }
    }

    /// Returns where a result goes.
    pub(crate) fn result(&mut self, name: &str, span: Span) -> Read<Place> {
        let build = Build { span };
        let last = number_of(name);
        let own = |variable| Storage::Builtin(variable);
        let four = Type::floats(4);
        let (glsl, storage, component) = match (self.stage, name) {
            (_, "result.depth") => ("gl_FragDepth", own(BuiltinVariable::FragDepth), Some(2)),
            (Stage::Fragment, _) => {
                if last != 0 && !self.options.draw_buffers {
                    let message = format!("`{name}` needs the option of several targets");
                    let help = "write `OPTION ARB_draw_buffers;` after the first line";
                    return Err(Diagnostic::error(span, message).help(help).into());
                }
                if self.options.draw_buffers {
                    let array = Type::Array(Box::new(four.clone()), 4);
                    let storage = own(BuiltinVariable::FragData);
                    let id = self.shared("gl_FragData", array.clone(), storage);
                    let of = Box::new(build.variable(id, array));
                    let index = Box::new(build.integer(last as i32));
                    let target = build.expr(ExprKind::Index(of, index), four);
                    return Ok(Place { target, component: None });
                }
                ("gl_FragColor", own(BuiltinVariable::FragColor), None)
            }
            (_, "result.position") => {
                self.check_position(span)?;
                ("gl_Position", own(BuiltinVariable::Position), None)
            }
            (_, "result.pointsize") => ("gl_PointSize", own(BuiltinVariable::PointSize), Some(0)),
            (_, "result.fogcoord") => ("gl_FogFragCoord", Storage::Varying, Some(0)),
            (_, "result.color") => ("gl_FrontColor", Storage::Varying, None),
            (_, "result.color.secondary") => ("gl_FrontSecondaryColor", Storage::Varying, None),
            (_, "result.color.back") => ("gl_BackColor", Storage::Varying, None),
            (_, "result.color.back.secondary") => ("gl_BackSecondaryColor", Storage::Varying, None),
            _ => {
                let id =
                    self.shared(&format!("gl_TexCoord[{last}]"), four.clone(), Storage::Varying);
                return Ok(Place { target: build.variable(id, four), component: None });
            }
        };
        let ty = if component.is_some() { Type::FLOAT } else { four };
        let id = self.shared(glsl, ty.clone(), storage);
        Ok(Place { target: build.variable(id, ty), component })
    }

    fn check_position(&mut self, span: Span) -> Read<()> {
        if self.options.position_invariant {
            let message = "`OPTION ARB_position_invariant` computes the position";
            let help = "remove the option, or this result";
            return Err(Diagnostic::error(span, message).help(help).into());
        }
        self.sets_position = true;
        Ok(())
    }
}

/// Returns the number of an attribute of vertices, which conventional attributes share with generic ones.
fn slot(name: &str) -> Option<u32> {
    Some(match name {
        "vertex.position" => 0,
        "vertex.normal" => 2,
        "vertex.color" => 3,
        "vertex.color.secondary" => 4,
        "vertex.fogcoord" => 5,
        "vertex.weight[0]" => 1,
        _ if name.starts_with("vertex.texcoord") => 8 + number_of(name),
        _ if name.starts_with("vertex.attrib") => number_of(name),
        _ => return None,
    })
}

/// Returns the number at the end of the name of a binding: 3 of `vertex.texcoord[3]`; 0 of those without one.
#[expect(
    clippy::expect_used,
    reason = "another attribute than the one that is named must not compile"
)]
fn number_of(name: &str) -> u32 {
    let number = name.strip_suffix(']').and_then(|name| name.rsplit('[').next());
    number.map_or(0, |number| number.parse().expect("bindings have numbers in their brackets"))
}
