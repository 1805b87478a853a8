//! Calls of functions, and constructors.

use super::{Checker, Symbol, builtin_functions};
use crate::ast::{self, Binary};
use crate::builtins::{Builtin, describe, matches};
use crate::diagnostic::{Diagnostic, Span, nearest};
use crate::tree::{Expr, ExprKind, Stage, Storage};
use crate::types::{Base, Type};

impl Checker<'_> {
    pub(super) fn call(
        &mut self,
        name: &str,
        name_span: Span,
        array: &Option<Option<Box<ast::Expr>>>,
        arguments: &[ast::Expr],
        span: Span,
    ) -> Expr {
        let arguments: Vec<Expr> = arguments.iter().map(|argument| self.expr(argument)).collect();
        let ty = match self.lookup(name) {
            Some(Symbol::Type(ty)) => Some(ty.clone()),
            Some(Symbol::Variable(id)) => {
                let is_known = !self.variables[*id].ty.is_error();
                if is_known {
                    self.error(name_span, format!("`{name}` is a variable, not a function"));
                }
                return self.broken(span);
            }
            None => Type::named(name),
        };
        if let Some(ty) = ty {
            return match array {
                None => self.construct(&ty, arguments, span),
                Some(_) => self.construct_array(ty, array, arguments, span),
            };
        }
        if self.functions.iter().any(|function| function.name == name) {
            return self.call_function(name, name_span, arguments, span);
        }
        if name == "ftransform" && arguments.is_empty() && self.stage == Stage::Vertex {
            return self.transformed(span);
        }
        let Some((builtin, signatures)) = Builtin::named(name) else {
            self.unknown_function(name, name_span);
            return self.broken(span);
        };
        if self.stage == Stage::Vertex && !self.has_in_vertices(builtin, name_span) {
            return self.broken(span);
        }
        if arguments.iter().any(|argument| argument.ty.is_error()) {
            return self.broken(span);
        }
        let types: Vec<Type> = arguments.iter().map(|argument| argument.ty.clone()).collect();
        let found = [false, true].into_iter().find_map(|converts| {
            let allowed = !converts || self.version.converts_integers();
            let mut fits =
                signatures.iter().filter_map(|signature| matches(signature, &types, converts));
            allowed.then(|| fits.next()).flatten()
        });
        let Some((ty, wanted)) = found else {
            let error = self.no_signature(name, span, signatures, &arguments);
            self.diagnostics.add(error);
            return self.broken(span);
        };
        let ty = match (builtin, &ty) {
            (Builtin::Transpose, Type::Matrix { columns, rows }) => {
                Type::Matrix { columns: *rows, rows: *columns }
            }
            (Builtin::Determinant | Builtin::Inverse, _) if !matches!(types.first(), Some(Type::Matrix { columns, rows }) if columns == rows) =>
            {
                self.error(span, format!("`{name}` is for square matrices"));
                return self.broken(span);
            }
            _ => ty,
        };
        let arguments = arguments
            .into_iter()
            .zip(wanted)
            .map(|(argument, wanted)| self.converted(argument, &wanted, "the argument"))
            .collect();
        Expr { kind: ExprKind::Builtin(builtin, arguments), ty, span }
    }

    /// `ftransform()`: the place of fixed-function drawing.
    fn transformed(&mut self, span: Span) -> Expr {
        let mut variable = |name: &str| {
            let id = self.builtin_variable(name);
            #[expect(clippy::expect_used, reason = "the table of variables has both")]
            let id = id.expect("a variable of vertex shaders");
            let ty = self.variables[id].ty.clone();
            Box::new(Expr { kind: ExprKind::Variable(id), ty, span })
        };
        let [matrix, place] = ["gl_ModelViewProjectionMatrix", "gl_Vertex"].map(&mut variable);
        let kind = ExprKind::Binary(Binary::Mul, matrix, place);
        Expr { kind, ty: Type::floats(4), span }
    }

    /// Reports what only fragment shaders can compute.
    fn has_in_vertices(&mut self, builtin: Builtin, span: Span) -> bool {
        let name = builtin.name();
        let (message, help) = if builtin.fetches() {
            let message = format!(
                "`{name}` is not in vertex shaders: the chip's vertex processor has no textures"
            );
            (
                message,
                "pass the value in an attribute or a uniform, or fetch in the fragment shader",
            )
        } else if builtin.is_derivative() {
            let message =
                format!("`{name}` is in fragment shaders only: vertices have no neighbours");
            (message, "compute it in the fragment shader")
        } else {
            return true;
        };
        self.diagnostics.add(Diagnostic::error(span, message).help(help));
        false
    }

    fn unknown_function(&mut self, name: &str, span: Span) {
        let error = Diagnostic::error(span, format!("there is no function `{name}`"));
        let own = self.functions.iter().map(|function| function.name.as_str());
        let types = Type::NAMES.iter().copied();
        let near = nearest(name, own.chain(builtin_functions()).chain(types)).map(str::to_owned);
        let error = match (name, near) {
            ("saturate", _) => error.help("write `clamp(…, 0.0, 1.0)`"),
            ("lerp", _) => error.fix("did you mean `mix`?", span, "mix"),
            ("frac", _) => error.fix("did you mean `fract`?", span, "fract"),
            ("rsqrt", _) => error.fix("did you mean `inversesqrt`?", span, "inversesqrt"),
            ("fmod", _) => error.fix("did you mean `mod`?", span, "mod"),
            ("tex2D", _) => error.fix("did you mean `texture2D`?", span, "texture2D"),
            ("texelFetch" | "textureSize", _) => {
                error.help("the chip's textures have no integer coordinates and tell no sizes; pass the size in a uniform")
            }
            (_, Some(near)) => error.fix(format!("did you mean `{near}`?"), span, near),
            _ => error,
        };
        self.diagnostics.add(error);
    }

    fn no_signature(
        &self,
        name: &str,
        span: Span,
        signatures: &[&str],
        arguments: &[Expr],
    ) -> Diagnostic {
        let given: Vec<String> = arguments.iter().map(|argument| argument.ty.to_string()).collect();
        let message = format!("`{name}` does not take ({})", given.join(", "));
        let error = Diagnostic::error(span, message);
        // An integer where a float is wanted.
        let integer = arguments.iter().find(|argument| argument.ty == Type::INT);
        if let Some(integer) = integer {
            let floats: Vec<Type> = arguments
                .iter()
                .map(|argument| match argument.ty.vector() {
                    Some((Base::Int, n)) => Type::floats(n),
                    _ => argument.ty.clone(),
                })
                .collect();
            if signatures.iter().any(|signature| matches(signature, &floats, false).is_some()) {
                return match &integer.kind {
                    ExprKind::Constant(values) => {
                        let text = format!("{:?}", values.first().copied().unwrap_or_default());
                        error.fix(format!("write `{text}`"), integer.span, text)
                    }
                    _ => error.help("write `float(…)` around the integer"),
                };
            }
        }
        let takes: Vec<String> =
            signatures.iter().map(|signature| format!("({})", describe(signature))).collect();
        error.help(format!("it takes {}", takes.join(" or ")))
    }

    fn call_function(
        &mut self,
        name: &str,
        name_span: Span,
        arguments: Vec<Expr>,
        span: Span,
    ) -> Expr {
        if arguments.iter().any(|argument| argument.ty.is_error()) {
            return self.broken(span);
        }
        let converts = self.version.converts_integers();
        let fits = |exact: bool| {
            let fits = |(wanted, argument): (&Type, &Expr)| {
                let is_converted = !exact
                    && converts
                    && wanted.base() == Some(Base::Float)
                    && argument.ty.base() == Some(Base::Int)
                    && wanted.components() == argument.ty.components();
                *wanted == argument.ty || is_converted
            };
            self.functions.iter().position(|function| {
                function.name == name
                    && function.types.len() == arguments.len()
                    && function.types.iter().zip(&arguments).all(fits)
            })
        };
        let Some(index) = fits(true).or_else(|| fits(false)) else {
            let given: Vec<String> =
                arguments.iter().map(|argument| argument.ty.to_string()).collect();
            let error =
                Diagnostic::error(span, format!("`{name}` does not take ({})", given.join(", ")));
            let takes: Vec<String> = self
                .functions
                .iter()
                .filter(|function| function.name == name)
                .map(|function| {
                    let types: Vec<String> =
                        function.types.iter().map(ToString::to_string).collect();
                    format!("({})", types.join(", "))
                })
                .collect();
            self.diagnostics.add(error.help(format!("it takes {}", takes.join(" or "))));
            return self.broken(span);
        };
        let types = self.functions[index].types.clone();
        let parameters = self.functions[index].parameters.clone();
        let mut converted = Vec::new();
        for ((argument, ty), parameter) in arguments.into_iter().zip(types).zip(parameters) {
            if matches!(self.variables[parameter].storage, Storage::Parameter { output: true, .. })
            {
                self.check_target(&argument);
            }
            converted.push(self.converted(argument, &ty, "the argument"));
        }
        self.call_of(index, name_span);
        let ty = self.functions[index].returns.clone();
        Expr { kind: ExprKind::Call(index, converted), ty, span }
    }

    fn construct(&mut self, ty: &Type, arguments: Vec<Expr>, span: Span) -> Expr {
        if ty.is_error() || arguments.iter().any(|argument| argument.ty.is_error()) {
            return self.broken(span);
        }
        let make = |kind| Expr { kind, ty: ty.clone(), span };
        if let Type::Struct(structure) = ty {
            if structure.members.len() != arguments.len() {
                let (wanted, given) = (structure.members.len(), arguments.len());
                self.error(span, format!("`{ty}` has {wanted} members; {given} are given"));
                return self.broken(span);
            }
            let members = structure.members.clone();
            let list = arguments.into_iter().zip(members);
            let list: Vec<Expr> = list
                .map(|(argument, (name, ty))| {
                    self.converted(argument, &ty, &format!("member `{name}`"))
                })
                .collect();
            return make(ExprKind::Construct(list));
        }
        if ty.base().is_none() {
            self.error(span, format!("`{ty}` cannot be made"));
            return self.broken(span);
        }
        if let Some(wrong) = arguments.iter().find(|argument| argument.ty.base().is_none()) {
            self.error(wrong.span, format!("`{}` is not a part of `{ty}`", wrong.ty));
            return self.broken(span);
        }
        let wanted = ty.components();
        let is_matrix = matches!(ty, Type::Matrix { .. });
        if let [one] = &arguments[..] {
            let one_components = one.ty.components();
            let one = || Box::new(one.clone());
            if one_components == 1 && wanted > 1 {
                return make(if is_matrix {
                    ExprKind::Diagonal(one())
                } else {
                    ExprKind::Splat(one())
                });
            }
            if is_matrix && matches!(one().ty, Type::Matrix { .. }) {
                return make(ExprKind::Resize(one()));
            }
            if one_components > wanted && !is_matrix {
                return make(ExprKind::Truncate(one()));
            }
        }
        let mut given = 0;
        for argument in &arguments {
            if given >= wanted {
                let message =
                    format!("`{ty}` has {wanted} components, which the arguments before give");
                self.error(argument.span, message);
                return self.broken(span);
            }
            given += argument.ty.components();
        }
        if given < wanted {
            let message = format!("`{ty}` has {wanted} components; {given} are given");
            self.error(span, message);
            return self.broken(span);
        }
        if given > wanted {
            // The last argument gives the rest of its components.
            let full = Type::Vector(ty.base().unwrap_or(Base::Float), 1);
            let inner = Expr {
                kind: ExprKind::Construct(arguments),
                ty: Type::Array(Box::new(full), given),
                span,
            };
            return make(ExprKind::Truncate(Box::new(inner)));
        }
        make(ExprKind::Construct(arguments))
    }

    fn construct_array(
        &mut self,
        of: Type,
        size: &Option<Option<Box<ast::Expr>>>,
        arguments: Vec<Expr>,
        span: Span,
    ) -> Expr {
        let array = self.array_of(of.clone(), size, None);
        let length = match array {
            Type::Array(_, 0) => arguments.len(),
            Type::Array(_, length) => length,
            _ => return self.broken(span),
        };
        if length != arguments.len() {
            let message = format!("the array has {length} elements; {} are given", arguments.len());
            self.error(span, message);
            return self.broken(span);
        }
        let list =
            arguments.into_iter().map(|argument| self.converted(argument, &of, "the element"));
        let list: Vec<Expr> = list.collect();
        let ty = Type::Array(Box::new(of), length);
        Expr { kind: ExprKind::Construct(list), ty, span }
    }
}
