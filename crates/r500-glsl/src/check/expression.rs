//! Operators, components, members and indices.

use super::{Checker, Symbol};
use crate::ast::{self, Binary, Unary};
use crate::constant::integer;
use crate::diagnostic::{Diagnostic, Span, nearest};
use crate::tree::{BuiltinVariable, Expr, ExprKind, Stage, Storage, VariableId};
use crate::types::{Base, Type};

impl Checker<'_> {
    pub(super) fn expr(&mut self, expr: &ast::Expr) -> Expr {
        let span = expr.span;
        let make = |kind, ty| Expr { kind, ty, span };
        match &expr.kind {
            ast::ExprKind::Int(value) => make(ExprKind::Constant(vec![*value as f32]), Type::INT),
            ast::ExprKind::Float(value) => make(ExprKind::Constant(vec![*value]), Type::FLOAT),
            ast::ExprKind::Bool(value) => {
                make(ExprKind::Constant(vec![f32::from(u8::from(*value))]), Type::BOOL)
            }
            ast::ExprKind::Name(name) => self.name(name, span),
            ast::ExprKind::Unary(op, of) => self.unary(*op, of, span),
            ast::ExprKind::Step { postfix, add, target } => {
                let target = self.expr(target);
                self.check_target(&target);
                let ty = target.ty.clone();
                if !matches!(ty.base(), Some(Base::Int | Base::Float)) && !ty.is_error() {
                    let text = if *add { "++" } else { "--" };
                    self.error(span, format!("`{text}` is for numbers, not `{ty}`"));
                    return self.broken(span);
                }
                let target = Box::new(target);
                make(ExprKind::Step { postfix: *postfix, add: *add, target }, ty)
            }
            ast::ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.expr(a), self.expr(b));
                self.binary(*op, a, b, span)
            }
            ast::ExprKind::Assign(op, target, value) => self.assign(*op, target, value, span),
            ast::ExprKind::Ternary(test, a, b) => {
                let test = self.expr(test);
                let (a, b) = (self.expr(a), self.expr(b));
                if !test.ty.is_error() && test.ty != Type::BOOL {
                    let message = format!("the condition of `?` is a `bool`, not `{}`", test.ty);
                    self.error(test.span, message);
                }
                let (a, b) = self.same(a, b);
                if a.ty.is_error() || b.ty.is_error() {
                    return self.broken(span);
                }
                if a.ty != b.ty {
                    let message = format!("`?` chooses between `{}` and `{}`", a.ty, b.ty);
                    self.error(span, message);
                    return self.broken(span);
                }
                let ty = a.ty.clone();
                make(ExprKind::Select(Box::new(test), Box::new(a), Box::new(b)), ty)
            }
            ast::ExprKind::Call { name, name_span, array, arguments } => {
                self.call(name, *name_span, array, arguments, span)
            }
            ast::ExprKind::Field(of, name, name_span) => {
                let of = self.expr(of);
                self.field(of, name, *name_span, span)
            }
            ast::ExprKind::Index(of, index) => {
                let (of, index) = (self.expr(of), self.expr(index));
                self.index(of, index, span)
            }
            ast::ExprKind::Length(of) => {
                let of = self.expr(of);
                match of.ty {
                    Type::Array(_, length) => {
                        make(ExprKind::Constant(vec![length as f32]), Type::INT)
                    }
                    Type::Error => self.broken(span),
                    ty => {
                        self.error(span, format!("`{ty}` has no length"));
                        self.broken(span)
                    }
                }
            }
            ast::ExprKind::Sequence(a, b) => {
                let (a, b) = (self.expr(a), self.expr(b));
                let ty = b.ty.clone();
                make(ExprKind::Sequence(Box::new(a), Box::new(b)), ty)
            }
        }
    }

    /// What stands for an expression with an error.
    pub(super) fn broken(&self, span: Span) -> Expr {
        Expr { kind: ExprKind::Constant(Vec::new()), ty: Type::Error, span }
    }

    fn name(&mut self, name: &str, span: Span) -> Expr {
        let id = match self.lookup(name) {
            Some(Symbol::Variable(id)) => *id,
            Some(Symbol::Type(_)) => {
                self.error(span, format!("`{name}` is a type, not a value"));
                return self.broken(span);
            }
            None => match self.builtin_variable(name) {
                Some(id) => id,
                None => {
                    self.undeclared(name, span);
                    return self.broken(span);
                }
            },
        };
        Expr { kind: ExprKind::Variable(id), ty: self.variables[id].ty.clone(), span }
    }

    fn undeclared(&mut self, name: &str, span: Span) {
        let error = Diagnostic::error(span, format!("`{name}` is not declared"));
        let local = self.scopes.iter().flat_map(|scope| scope.keys()).map(|name| &**name);
        let all = local.chain(self.variables_of_language());
        let near = nearest(name, all).map(str::to_owned);
        let error = match near {
            Some(near) => error.fix(format!("did you mean `{near}`?"), span, near),
            None if Type::named(name).is_some() => {
                error.help("it is a type: write its arguments in `( )`")
            }
            None => error,
        };
        self.diagnostics.add(error);
        // Once for each name.
        let id = self.variable(crate::tree::Variable {
            name: name.to_owned(),
            ty: Type::Error,
            storage: Storage::Local,
            init: None,
            span,
        });
        if let Some(scope) = self.scopes.first_mut() {
            scope.insert(name.into(), Symbol::Variable(id));
        }
    }

    fn unary(&mut self, op: Unary, of: &ast::Expr, span: Span) -> Expr {
        let of = self.expr(of);
        let ty = of.ty.clone();
        let fits = match op {
            Unary::Not => ty == Type::BOOL,
            Unary::Negate | Unary::Plus => matches!(ty.base(), Some(Base::Int | Base::Float)),
            Unary::Complement => false,
        };
        if ty.is_error() {
            return self.broken(span);
        }
        if fits {
            return Expr { kind: ExprKind::Unary(op, Box::new(of)), ty, span };
        }
        let error = match op {
            Unary::Not if matches!(ty, Type::Vector(Base::Bool, _)) => {
                Diagnostic::error(span, format!("`!` is for one `bool`, not `{ty}`"))
                    .help("write `not(…)`")
            }
            Unary::Not => Diagnostic::error(span, format!("`!` is for a `bool`, not `{ty}`")),
            Unary::Complement => self.no_bits("~", span),
            _ => Diagnostic::error(span, format!("`-` is for numbers, not `{ty}`")),
        };
        self.diagnostics.add(error);
        self.broken(span)
    }

    fn no_bits(&self, op: &str, span: Span) -> Diagnostic {
        let error = Diagnostic::error(
            span,
            format!("`{op}` works on the bits of integers, which the chip does not have"),
        );
        match op {
            "%" => error.help("write `x - n * (x / n)`, or `mod` with floats"),
            "&" => error.help("for a mask of the low bits write `mod(float(x), 4.0)`; for others divide and take `floor`"),
            "<<" => error.help("multiply by a power of two"),
            ">>" => error.help("divide by a power of two"),
            _ => error.help("write it with sums, `mod` and `floor`"),
        }
    }

    /// Converts an integer where the other operand is of floats.
    fn same(&mut self, a: Expr, b: Expr) -> (Expr, Expr) {
        if !self.version.converts_integers() {
            return (a, b);
        }
        match (a.ty.base(), b.ty.base()) {
            (Some(Base::Int), Some(Base::Float)) => (to_floats(a), b),
            (Some(Base::Float), Some(Base::Int)) => (a, to_floats(b)),
            _ => (a, b),
        }
    }

    pub(super) fn binary(&mut self, op: Binary, a: Expr, b: Expr, span: Span) -> Expr {
        if a.ty.is_error() || b.ty.is_error() {
            return self.broken(span);
        }
        let (a, b) = self.same(a, b);
        match self.result(op, &a, &b) {
            Some(ty) if op == Binary::Mul => product(a, b, ty, span),
            Some(ty) => Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), ty, span },
            None => {
                let error = self.mismatch(op, &a, &b, span);
                self.diagnostics.add(error);
                self.broken(span)
            }
        }
    }

    /// Returns the type of an operation; `None` if the operands do not fit.
    fn result(&self, op: Binary, a: &Expr, b: &Expr) -> Option<Type> {
        use Type::{Matrix, Vector};
        let (left, right) = (&a.ty, &b.ty);
        match op {
            Binary::And | Binary::Or | Binary::Xor => {
                (*left == Type::BOOL && *right == Type::BOOL).then_some(Type::BOOL)
            }
            Binary::Lt | Binary::Gt | Binary::Le | Binary::Ge => {
                let numbers = *left == Type::FLOAT || *left == Type::INT;
                (numbers && left == right).then_some(Type::BOOL)
            }
            Binary::Eq | Binary::Ne => {
                let fits = left == right && *left != Type::Void && !left.has_sampler();
                fits.then_some(Type::BOOL)
            }
            Binary::Add | Binary::Sub | Binary::Mul | Binary::Div => {
                let (base, other) = (left.base()?, right.base()?);
                if base != other || base == Base::Bool {
                    return None;
                }
                if op == Binary::Mul {
                    match (left, right) {
                        (Matrix { columns, rows }, Vector(_, n)) if *n > 1 => {
                            return (columns == n).then(|| Type::floats(*rows));
                        }
                        (Vector(_, n), Matrix { columns, rows }) if *n > 1 => {
                            return (rows == n).then(|| Type::floats(*columns));
                        }
                        (Matrix { columns, rows }, Matrix { columns: wide, rows: high }) => {
                            return (columns == high)
                                .then_some(Matrix { columns: *wide, rows: *rows });
                        }
                        _ => {}
                    }
                }
                match (left, right) {
                    _ if left == right => Some(left.clone()),
                    (Vector(_, 1), _) => Some(right.clone()),
                    (_, Vector(_, 1)) => Some(left.clone()),
                    _ => None,
                }
            }
            Binary::Rem => {
                let (base, n) = left.vector()?;
                let (other, m) = right.vector()?;
                let integers = base == Base::Int && other == Base::Int;
                let fits = integers
                    && (n == m || m == 1 || n == 1)
                    && self.version.has_integer_operators();
                fits.then_some(Vector(Base::Int, n.max(m)))
            }
            Binary::BitAnd | Binary::BitOr | Binary::BitXor | Binary::Shl | Binary::Shr => None,
        }
    }

    fn mismatch(&self, op: Binary, a: &Expr, b: &Expr, span: Span) -> Diagnostic {
        let text = op.text();
        let both = format!("`{text}` of `{}` and `{}`", a.ty, b.ty);
        let integers = a.ty.base() == Some(Base::Int) && b.ty.base() == Some(Base::Int);
        match op {
            Binary::BitAnd | Binary::BitOr | Binary::BitXor | Binary::Shl | Binary::Shr => {
                return self.no_bits(text, span);
            }
            Binary::Rem if integers => return self.no_bits("%", span),
            Binary::Rem => {
                return Diagnostic::error(span, "`%` is not for floats").help("write `mod(…, …)`");
            }
            Binary::And | Binary::Or | Binary::Xor => {
                return Diagnostic::error(span, format!("{both}: both are `bool`"))
                    .help("compare the numbers with a value");
            }
            _ => {}
        }
        // An integer where a float is wanted: the usual error in GLSL ES.
        let error = Diagnostic::error(span, format!("{both}: their types are different"));
        for (integer, float) in [(a, b), (b, a)] {
            if integer.ty.base() == Some(Base::Int) && float.ty.base() == Some(Base::Float) {
                return match float_literal(integer) {
                    Some(text) => error.fix(format!("write `{text}`"), integer.span, text),
                    None => error
                        .help(format!("write `{}(…)` around the integer", floats_of(&integer.ty))),
                };
            }
        }
        let compares = matches!(op, Binary::Lt | Binary::Gt | Binary::Le | Binary::Ge);
        if compares && a.ty == b.ty {
            return Diagnostic::error(span, format!("`{text}` compares scalars, not `{}`", a.ty))
                .help("write `lessThan(…, …)` and `all(…)`, or compare components");
        }
        if let (Some((_, n)), Some((_, m))) = (a.ty.vector(), b.ty.vector())
            && a.ty.base() == b.ty.base()
        {
            let least = n.min(m);
            return error.help(format!(
                "both have {least} components with `.{}`",
                &"xyzw"[..usize::from(least)]
            ));
        }
        error
    }

    fn assign(
        &mut self,
        op: Option<Binary>,
        target: &ast::Expr,
        value: &ast::Expr,
        span: Span,
    ) -> Expr {
        let target = self.expr(target);
        let value = self.expr(value);
        self.check_target(&target);
        let ty = target.ty.clone();
        let value = match op {
            None => self.converted(value, &ty, "the value"),
            Some(op) => {
                let combined = self.binary(op, target.clone(), value, span);
                if combined.ty.is_error() {
                    return self.broken(span);
                }
                if combined.ty != ty {
                    let message = format!(
                        "`{}=` gives `{}`, which `{ty}` cannot hold",
                        op.text(),
                        combined.ty
                    );
                    self.error(span, message);
                    return self.broken(span);
                }
                // The operand as converted.
                match combined.kind {
                    ExprKind::Binary(_, _, value) => *value,
                    _ => return self.broken(span),
                }
            }
        };
        let kind = ExprKind::Assign { op, target: Box::new(target), value: Box::new(value) };
        Expr { kind, ty, span }
    }

    /// Reports what cannot be set.
    pub(super) fn check_target(&mut self, target: &Expr) {
        if target.ty.is_error() {
            return;
        }
        let span = target.span;
        let mut place = target;
        loop {
            match &place.kind {
                ExprKind::Swizzle(of, list) => {
                    let twice = (1..list.len()).any(|i| list[..i].contains(&list[i]));
                    if twice {
                        self.error(span, "a component is set twice");
                        return;
                    }
                    place = of;
                }
                ExprKind::Member(of, _) | ExprKind::Index(of, _) => place = of,
                ExprKind::Variable(id) => {
                    self.check_variable(*id, span);
                    return;
                }
                _ => {
                    self.error(span, "this value cannot be set; only variables can");
                    return;
                }
            }
        }
    }

    fn check_variable(&mut self, id: VariableId, span: Span) {
        use BuiltinVariable as B;
        let variable = &self.variables[id];
        let what = match variable.storage {
            Storage::Constant => "a constant",
            Storage::Uniform => "a uniform",
            Storage::Attribute => "an attribute",
            Storage::Varying if self.stage == Stage::Fragment => "a varying",
            Storage::Builtin(
                B::FragColor | B::FragData | B::FragDepth | B::Position | B::PointSize,
            ) => return,
            Storage::Builtin(_) => "an input",
            Storage::Global if variable.span == Span::default() => {
                let message =
                    format!("`{}` has no effect: the chip clips by `gl_Position`", variable.name);
                let warning = Diagnostic::warning(span, message);
                let help = "the planes of the draw are those of clip space; drivers for the chip do not take it, either";
                self.diagnostics.add(warning.help(help));
                return;
            }
            Storage::Varying
            | Storage::Global
            | Storage::Output(_)
            | Storage::Local
            | Storage::Parameter { .. } => {
                return;
            }
        };
        let name = variable.name.clone();
        let error = Diagnostic::error(
            span,
            format!("`{name}` is {what}, which a {} shader cannot set", self.stage),
        );
        self.diagnostics.add(error.help("copy it to a variable of its own"));
    }

    fn field(&mut self, of: Expr, name: &str, name_span: Span, span: Span) -> Expr {
        match of.ty.clone() {
            Type::Vector(base, n) => {
                const SETS: [&str; 3] = ["xyzw", "rgba", "stpq"];
                let found = SETS.iter().find_map(|set| {
                    let all = name.chars().map(|c| set.find(c).map(|at| at as u8));
                    all.collect::<Option<Vec<u8>>>()
                });
                let Some(list) = found.filter(|list| (1..=4).contains(&list.len())) else {
                    let message = format!("`{}` has no component `{name}`", of.ty);
                    let help = "components are x y z w, r g b a or s t p q, of one of these sets, four at most";
                    self.diagnostics.add(Diagnostic::error(name_span, message).help(help));
                    return self.broken(span);
                };
                if let Some(last) = list.iter().find(|c| **c >= n) {
                    let which = name
                        .chars()
                        .nth(list.iter().position(|c| c == last).unwrap_or(0))
                        .unwrap_or('?');
                    let message = format!("`{}` has {n} components, none is `{which}`", of.ty);
                    self.error(name_span, message);
                    return self.broken(span);
                }
                let ty = Type::Vector(base, list.len() as u8);
                Expr { kind: ExprKind::Swizzle(Box::new(of), list), ty, span }
            }
            Type::Struct(structure) => {
                let mut offset = 0;
                for (member, ty) in &structure.members {
                    if member == name {
                        let ty = ty.clone();
                        return Expr { kind: ExprKind::Member(Box::new(of), offset), ty, span };
                    }
                    offset += ty.components();
                }
                let message = format!("`{}` has no member `{name}`", structure.name);
                let error = Diagnostic::error(name_span, message);
                let near =
                    nearest(name, structure.members.iter().map(|(member, _)| member.as_str()));
                self.diagnostics.add(match near {
                    Some(near) => error.fix(format!("did you mean `{near}`?"), name_span, near),
                    None => error,
                });
                self.broken(span)
            }
            Type::Error => self.broken(span),
            ty => {
                self.error(name_span, format!("`{ty}` has no components with names"));
                self.broken(span)
            }
        }
    }

    fn index(&mut self, of: Expr, index: Expr, span: Span) -> Expr {
        if of.ty.is_error() || index.ty.is_error() {
            return self.broken(span);
        }
        let Some((ty, length)) = of.ty.element() else {
            self.error(span, format!("`{}` has no elements", of.ty));
            return self.broken(span);
        };
        if index.ty != Type::INT {
            let message = format!("an index is an `int`, not `{}`", index.ty);
            let error = Diagnostic::error(index.span, message);
            self.diagnostics.add(error.help("write `int(…)` around it"));
            return self.broken(span);
        }
        if let Some(value) = self.constant_index(&index) {
            if integer(value).is_none_or(|value| value >= length) {
                let message = format!(
                    "the index {value} is outside of the {length} elements, 0 to {}",
                    length.saturating_sub(1)
                );
                self.error(index.span, message);
                return self.broken(span);
            }
        } else if self.stage == Stage::Fragment && self.version.has_limits_of_appendix_a() {
            let indices = self.loop_indices.clone();
            if !self.is_constant(&index, &indices) {
                let error = Diagnostic::error(index.span, "the index is not constant");
                let help = format!(
                    "GLSL ES 1.00 and the chip want an index of constants and loop indices: loop over the {length} elements, and \
                     take the one whose index is equal"
                );
                self.diagnostics.add(error.help(help));
                return self.broken(span);
            }
        }
        Expr { kind: ExprKind::Index(Box::new(of), Box::new(index)), ty, span }
    }

    /// Returns a value as a type, which it must have.
    pub(super) fn converted(&mut self, value: Expr, ty: &Type, what: &str) -> Expr {
        if value.ty == *ty || value.ty.is_error() || ty.is_error() {
            return value;
        }
        let to_float = value.ty.base() == Some(Base::Int) && ty.base() == Some(Base::Float);
        if to_float && value.ty.components() == ty.components() && value.ty.vector().is_some() {
            if self.version.converts_integers() {
                return to_floats(value);
            }
            let message = format!("{what} is `{}`, not `{ty}`", value.ty);
            let error = Diagnostic::error(value.span, message);
            let error = match float_literal(&value) {
                Some(text) => error.fix(format!("write `{text}`"), value.span, text),
                None => error.help(format!("write `{ty}(…)` around it")),
            };
            self.diagnostics.add(error);
            return self.broken(value.span);
        }
        let message = format!("{what} is `{}`, not `{ty}`", value.ty);
        let mut error = Diagnostic::error(value.span, message);
        if let (Some((a, n)), Some((b, m))) = (value.ty.vector(), ty.vector()) {
            if a == b && n > m {
                let components = &"xyzw"[..usize::from(m)];
                let place = value.span.after();
                error = error.fix(
                    format!("write `.{components}` after it"),
                    place,
                    format!(".{components}"),
                );
            } else {
                error = error.help(format!("write `{ty}(…)` around it"));
            }
        }
        self.diagnostics.add(error);
        self.broken(value.span)
    }
}

/// Returns an integer as floats.
pub(super) fn to_floats(value: Expr) -> Expr {
    let Some((Base::Int, n)) = value.ty.vector() else { return value };
    let (ty, span) = (Type::floats(n), value.span);
    Expr { kind: ExprKind::Construct(vec![value]), ty, span }
}

/// Returns a literal integer as a literal float.
fn float_literal(value: &Expr) -> Option<String> {
    match &value.kind {
        ExprKind::Constant(values) if value.ty == Type::INT => {
            Some(format!("{:?}", values.first()?))
        }
        _ => None,
    }
}

fn floats_of(ty: &Type) -> Type {
    ty.vector().map_or(Type::FLOAT, |(_, n)| Type::floats(n))
}

/// A product. That of several matrices with a vector begins at the vector, as drivers compute it: with a fourth of the multiplications of
/// the matrices' product.
fn product(a: Expr, b: Expr, ty: Type, span: Span) -> Expr {
    let is_matrix = |expr: &Expr| matches!(expr.ty, Type::Matrix { .. });
    let is_vector = matches!(b.ty, Type::Vector(_, 2..));
    match a.kind {
        ExprKind::Binary(Binary::Mul, left, right)
            if is_vector && is_matrix(&left) && is_matrix(&right) =>
        {
            let Type::Matrix { rows, .. } = right.ty else {
                unreachable!("the right factor is a matrix")
            };
            let inner = product(*right, b, Type::floats(rows), span);
            product(*left, inner, ty, span)
        }
        kind => {
            let a = Expr { kind, ..a };
            Expr { kind: ExprKind::Binary(Binary::Mul, Box::new(a), Box::new(b)), ty, span }
        }
    }
}
