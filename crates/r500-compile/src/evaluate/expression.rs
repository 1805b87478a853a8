//! Expressions: values in each pixel, and the places that are set.

use r500_glsl::tree::{Expr, ExprKind, Storage};
use r500_glsl::types::{Base, Type};
use r500_glsl::{Binary, Builtin, Span, Unary};

use super::{Evaluator, Lanes, Mask, Value, and, any, not, or, zeros};
use crate::arithmetic::Arithmetic;
use crate::functions;
use crate::lower::product;
use crate::matrices::{self, rows};

/// For each pixel, components of a variable.
type Places = [Vec<usize>; 4];

impl<'a> Evaluator<'a> {
    pub(super) fn truth(&mut self, expr: &'a Expr) -> Mask {
        let value = self.expr(expr);
        value.first().copied().unwrap_or_default().map(|value| value != 0.0)
    }

    pub(super) fn of_truth(mask: Mask) -> Value {
        vec![mask.map(|value| f32::from(u8::from(value)))]
    }

    pub(super) fn expr(&mut self, expr: &'a Expr) -> Value {
        match &expr.kind {
            ExprKind::Constant(values) => values.iter().map(|value| [*value; 4]).collect(),
            ExprKind::Variable(id) => self.value(*id),
            ExprKind::Unary(op, of) => match op {
                Unary::Not => Self::of_truth(not(self.truth(of))),
                Unary::Negate => {
                    let value = self.expr(of);
                    self.negate(&value)
                }
                Unary::Plus | Unary::Complement => self.expr(of),
            },
            ExprKind::Binary(op, a, b) => self.binary(expr, *op, a, b),
            ExprKind::Assign { op: None, target, value } => {
                let value = self.expr(value);
                self.store(target, &value);
                value
            }
            ExprKind::Assign { op: Some(op), target, value } => {
                let places = self.places(target);
                let old = self.load(target, &places);
                let new = match (op, product(value)) {
                    (Binary::Add | Binary::Sub, Some((x, y))) => {
                        let (x, y) = (self.expr(x), self.expr(y));
                        let x = if *op == Binary::Sub { self.negate(&x) } else { x };
                        self.mad(&x, &y, &old)
                    }
                    _ => {
                        let by = self.expr(value);
                        functions::arithmetic(self, *op, (&old, &target.ty), (&by, &value.ty))
                    }
                };
                self.store_at(target, &places, &new);
                new
            }
            ExprKind::Step { postfix, add, target } => {
                let places = self.places(target);
                let old = self.load(target, &places);
                let one = self.literal(if *add { 1.0 } else { -1.0 });
                let new = self.add(&old, &one);
                self.store_at(target, &places, &new);
                if *postfix { old } else { new }
            }
            ExprKind::Select(test, a, b) => {
                let test = self.truth(test);
                let mut result = zeros(&a.ty);
                for (mask, way) in [(test, a), (not(test), b)] {
                    if !any(and(self.active(), mask)) {
                        continue;
                    }
                    let before = self.mask;
                    self.mask = and(before, mask);
                    let value = self.expr(way);
                    self.mask = before;
                    for (to, from) in result.iter_mut().zip(&value) {
                        for lane in 0..4 {
                            if mask[lane] {
                                to[lane] = from[lane];
                            }
                        }
                    }
                }
                result
            }
            ExprKind::Construct(list) => {
                let mut all = Vec::new();
                for part in list {
                    let value = self.expr(part);
                    all.extend(functions::convert(self, &value, &part.ty, &expr.ty));
                }
                all
            }
            ExprKind::Splat(of) => {
                let value = self.expr(of);
                let value = functions::convert(self, &value, &of.ty, &expr.ty);
                vec![value[0]; expr.ty.components()]
            }
            ExprKind::Truncate(of) => {
                let mut value = self.expr(of);
                value.truncate(expr.ty.components());
                functions::convert(self, &value, &of.ty, &expr.ty)
            }
            ExprKind::Diagonal(of) => {
                let value = self.expr(of);
                let value = functions::convert(self, &value, &of.ty, &Type::FLOAT);
                matrices::diagonal::<Self>(value[0], &expr.ty)
            }
            ExprKind::Resize(of) => {
                let value = self.expr(of);
                matrices::resized::<Self>(&value, &of.ty, &expr.ty)
            }
            ExprKind::Call(function, arguments) => self.function(*function, arguments, &expr.span),
            ExprKind::Builtin(function, arguments) => {
                self.language_function(expr, *function, arguments)
            }
            ExprKind::Swizzle(of, list) => {
                let value = self.expr(of);
                list.iter().map(|c| value[usize::from(*c)]).collect()
            }
            ExprKind::Member(of, first) => {
                let value = self.expr(of);
                value[*first..first + expr.ty.components()].to_vec()
            }
            ExprKind::Index(of, index) => {
                let (value, index) = (self.expr(of), self.expr(index)[0]);
                let count = expr.ty.components();
                let length = value.len() / count.max(1);
                (0..count)
                    .map(|c| {
                        std::array::from_fn(|lane| {
                            value[self.element(index, length, lane) * count + c][lane]
                        })
                    })
                    .collect()
            }
            ExprKind::Sequence(a, b) => {
                self.expr(a);
                self.expr(b)
            }
        }
    }

    /// Returns the element that an index means in a pixel; outside it is undefined, and the first one here.
    pub(super) fn element(&mut self, index: Lanes, length: usize, lane: usize) -> usize {
        let n = index[lane];
        if n >= 0.0 && (n as usize) < length && n.fract() == 0.0 {
            return n as usize;
        }
        self.open[lane] |= self.active()[lane];
        0
    }

    pub(super) fn binary(&mut self, expr: &'a Expr, op: Binary, a: &'a Expr, b: &'a Expr) -> Value {
        if expr.ty == Type::BOOL {
            return Self::of_truth(self.decide(op, a, b));
        }
        if matches!(op, Binary::Add | Binary::Sub) {
            let minus = op == Binary::Sub;
            if let Some((x, y)) = product(a) {
                let (x, y, term) = (self.expr(x), self.expr(y), self.expr(b));
                let term = if minus { self.negate(&term) } else { term };
                return self.mad(&x, &y, &term);
            }
            if let Some((x, y)) = product(b) {
                let (term, x, y) = (self.expr(a), self.expr(x), self.expr(y));
                let x = if minus { self.negate(&x) } else { x };
                return self.mad(&x, &y, &term);
            }
        }
        let (left, right) = (self.expr(a), self.expr(b));
        functions::arithmetic(self, op, (&left, &a.ty), (&right, &b.ty))
    }

    /// Comparisons and operations on truths.
    pub(super) fn decide(&mut self, op: Binary, a: &'a Expr, b: &'a Expr) -> Mask {
        match op {
            Binary::And | Binary::Or => {
                let left = self.truth(a);
                let needs = if op == Binary::And { left } else { not(left) };
                let mut right = [false; 4];
                if any(and(self.active(), needs)) {
                    let before = self.mask;
                    self.mask = and(before, needs);
                    right = self.truth(b);
                    self.mask = before;
                }
                if op == Binary::And { and(left, right) } else { or(left, right) }
            }
            Binary::Xor => {
                let (left, right) = (self.truth(a), self.truth(b));
                std::array::from_fn(|lane| left[lane] != right[lane])
            }
            _ => {
                let (left, right) = (self.expr(a), self.expr(b));
                let difference = self.sub(&left, &right);
                self.note_nan(&difference);
                let all = |test: fn(f32) -> bool| -> Mask {
                    std::array::from_fn(|lane| difference.iter().all(|c| test(c[lane])))
                };
                match op {
                    Binary::Lt => all(|d| d < 0.0),
                    Binary::Ge => all(|d| d >= 0.0),
                    Binary::Gt => all(|d| d > 0.0),
                    Binary::Le => all(|d| d <= 0.0),
                    Binary::Eq => all(|d| d == 0.0),
                    _ => not(all(|d| d == 0.0)),
                }
            }
        }
    }

    pub(super) fn note_nan(&mut self, value: &[Lanes]) {
        let active = self.active();
        for lane in 0..4 {
            self.open[lane] |= active[lane] && value.iter().any(|c| c[lane].is_nan());
        }
    }

    pub(super) fn function(
        &mut self,
        function: usize,
        arguments: &'a [Expr],
        call: &Span,
    ) -> Value {
        let shader = self.shader;
        let parameters = &shader.functions[function].parameters;
        let mut values = Vec::new();
        let mut outputs = Vec::new();
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let variable = &shader.variables[*parameter];
            if variable.ty.has_sampler() {
                let name = self.sampler(argument);
                self.samplers.insert(*parameter, name);
                values.push(None);
                continue;
            }
            let input = !matches!(variable.storage, Storage::Parameter { input: false, .. });
            values.push(if input { Some(self.expr(argument)) } else { None });
            if matches!(variable.storage, Storage::Parameter { output: true, .. }) {
                // Its indices are those before the call.
                outputs.push((*parameter, argument, self.places(argument)));
            }
        }
        self.enter(|parts| parts.call(call));
        let result = self.call(function, values);
        self.leave();
        for (parameter, argument, places) in outputs {
            let value = self.value(parameter);
            self.store_at(argument, &places, &value);
        }
        result
    }

    /// Returns the name of a sampler's uniform.
    pub(super) fn sampler(&mut self, expr: &'a Expr) -> String {
        match &expr.kind {
            ExprKind::Variable(id) => match self.samplers.get(id) {
                Some(name) => name.clone(),
                None => self.shader.variables[*id].name.clone(),
            },
            ExprKind::Index(of, index) => {
                let n = self.expr(index)[0][0];
                format!("{}[{n}]", self.sampler(of))
            }
            _ => String::new(),
        }
    }

    pub(super) fn language_function(
        &mut self,
        expr: &'a Expr,
        function: Builtin,
        arguments: &'a [Expr],
    ) -> Value {
        if function.fetches() {
            let name = self.sampler(&arguments[0]);
            let Type::Sampler { dimensions, shadow } = arguments[0].ty else {
                return zeros(&expr.ty);
            };
            let unit = self.given.unit(&name);
            let values: Vec<Value> =
                arguments[1..].iter().map(|argument| self.expr(argument)).collect();
            let rect = dimensions == r500_glsl::types::Dimensions::Rect;
            let shape = [dimensions.coordinates(), usize::from(shadow), usize::from(rect)];
            // One that the program does not read has no unit.
            return functions::fetch(self, function, unit.unwrap_or(u8::MAX), shape, &values);
        }
        let values: Vec<Value> = arguments.iter().map(|argument| self.expr(argument)).collect();
        if function == Builtin::Mix && arguments[2].ty.base() == Some(Base::Bool) {
            let test = self.abs(&values[2]);
            let test = self.negate(&test);
            return self.at_least_zero(&test, &values[0], &values[1]);
        }
        match function {
            Builtin::Transpose
            | Builtin::OuterProduct
            | Builtin::Determinant
            | Builtin::Inverse => {
                let rows = rows(&arguments[0].ty);
                let size = [values[0].len() / rows, rows];
                matrices::matrix(self, function, &values, size)
            }
            _ => {
                let literals: Vec<Option<Vec<f32>>> =
                    arguments.iter().map(|argument| self.shader.constant(argument)).collect();
                functions::call(self, function, &values, &literals)
            }
        }
    }

    /// Sets what an expression means as a part of a variable.
    pub(super) fn store(&mut self, target: &'a Expr, value: &[Lanes]) {
        let places = self.places(target);
        self.store_at(target, &places, value);
    }

    /// The components of a target, by pixel: each pixel has its own indices.
    fn load(&mut self, target: &'a Expr, places: &Places) -> Value {
        let Some(root) = target.root() else { return zeros(&target.ty) };
        let whole = self.value(root);
        let component = |n: usize| std::array::from_fn(|lane| whole[places[lane][n]][lane]);
        (0..target.ty.components()).map(component).collect()
    }

    fn store_at(&mut self, target: &'a Expr, places: &Places, value: &[Lanes]) {
        let Some(root) = target.root() else { return };
        let active = self.active();
        for lane in (0..4).filter(|lane| active[*lane]) {
            let mask = std::array::from_fn(|other| other == lane);
            self.set(root, mask, &places[lane], value);
        }
    }

    /// The components of its variable that a target is, by pixel.
    fn places(&mut self, target: &'a Expr) -> Places {
        let count = target.ty.components();
        match &target.kind {
            ExprKind::Swizzle(of, list) => {
                let pick =
                    |inner: Vec<usize>| list.iter().map(|c| inner[usize::from(*c)]).collect();
                self.places(of).map(pick)
            }
            ExprKind::Member(of, first) => {
                self.places(of).map(|inner| inner[*first..first + count].to_vec())
            }
            ExprKind::Index(of, index) => {
                let inner = self.places(of);
                let index = self.expr(index)[0];
                std::array::from_fn(|lane| {
                    let n = self.element(index, inner[lane].len() / count.max(1), lane);
                    inner[lane][n * count..(n + 1) * count].to_vec()
                })
            }
            _ => std::array::from_fn(|_| (0..count).collect()),
        }
    }
}
