//! The evaluator: runs the typed tree on a quad of pixels, statement by statement, by the rules that the crate states.
//!
//! It shares the formulas of the language's functions with the compiler, and nothing else: no folding, no value numbering, no registers,
//! no flow control of the chip. What a program gives must be what the evaluator gives, but where the rules leave it open: the sign of a
//! zero (so also a reciprocal of zero), comparisons with NaN, more than 255 passes of a loop, differences and fetches in pixels that are not all on the same way.

use std::collections::HashMap;

use r500_exec::Bindings;
use r500_glsl::tree::{
    BuiltinVariable, Expr, ExprKind, Shader, Stmt, StmtKind, Storage, VariableId,
};
use r500_glsl::types::{Base, Type};
use r500_glsl::{Binary, Builtin, Unary};
use r500_isa::values::TexOp;
use r500_texture::{DISABLED_UNIT, Gradients, QuadFetch, TexReadings};

use crate::Compiled;
use crate::arithmetic::{ARITH, Alu, Arithmetic, FetchKind, compute};
use crate::builder::dot_of;
use crate::functions::{self, rows};
use crate::interface::{VIEWPORT, host_name, leaves};
use crate::lower::product;

/// A component in the four pixels of a quad: top left, top right, bottom left, bottom right; the top has the smaller y.
type Lanes = [f32; 4];
type Value = Vec<Lanes>;

/// Pixels that execute.
type Mask = [bool; 4];
const ALL: Mask = [true; 4];

/// Most passes and statements of a quad; what is not finished by then is open.
const MOST_STEPS: usize = 200_000;

/// What a shader gives in a quad.
#[derive(Clone, Debug)]
pub struct Quad {
    /// The colours of the targets that it writes.
    pub colors: [Option<[Lanes; 4]>; 4],
    /// The depth, if it writes it.
    pub depth: Option<Lanes>,
    /// Whether a pixel is discarded.
    pub discarded: Mask,
    /// Whether the rules leave open what a pixel gets.
    pub open: Mask,
}

/// Passes of a loop of the chip.
const CHIP_PASSES: usize = 255;

/// Runs a shader on the quad whose first pixel is at `x`, `y`, with the constants, inputs and textures of a compiled program's bindings.
#[must_use]
pub fn quad(shader: &Shader, compiled: &Compiled, bindings: &Bindings, [x, y]: [u32; 2]) -> Quad {
    let mut evaluator = Evaluator {
        shader,
        compiled,
        bindings,
        at: [x, y],
        values: vec![None; shader.variables.len()],
        samplers: HashMap::new(),
        mask: ALL,
        discarded: [false; 4],
        open: [false; 4],
        loops: Vec::new(),
        returned: [false; 4],
        result: Vec::new(),
        steps: 0,
    };
    evaluator.run()
}

struct Open {
    broken: Mask,
    continued: Mask,
}

struct Evaluator<'a> {
    shader: &'a Shader,
    compiled: &'a Compiled,
    bindings: &'a Bindings,
    at: [u32; 2],
    values: Vec<Option<Value>>,
    samplers: HashMap<VariableId, String>,
    mask: Mask,
    discarded: Mask,
    open: Mask,
    loops: Vec<Open>,
    returned: Mask,
    result: Value,
    steps: usize,
}

fn and(a: Mask, b: Mask) -> Mask {
    std::array::from_fn(|n| a[n] && b[n])
}

fn not(a: Mask) -> Mask {
    a.map(|value| !value)
}

fn or(a: Mask, b: Mask) -> Mask {
    std::array::from_fn(|n| a[n] || b[n])
}

fn any(a: Mask) -> bool {
    a.contains(&true)
}

impl<'a> Evaluator<'a> {
    fn run(&mut self) -> Quad {
        let shader = self.shader;
        for (id, variable) in shader.variables.iter().enumerate() {
            let value = match variable.storage {
                Storage::Uniform => Some(self.uniform(id)),
                Storage::Varying => Some(self.input(&variable.name, &variable.ty)),
                Storage::Builtin(builtin) => Some(self.builtin(builtin, id)),
                Storage::Global | Storage::Output(_) => Some(zeros(&variable.ty)),
                Storage::Constant | Storage::Local | Storage::Parameter { .. } => None,
            };
            self.values[id] = value;
        }
        for (id, variable) in shader.variables.iter().enumerate() {
            if let (Storage::Global, Some(init)) = (variable.storage, &variable.init) {
                self.values[id] = Some(self.expr(init));
            }
        }
        let main = &shader.functions[shader.main];
        let mut color = None;
        let mut arguments = Vec::new();
        if shader.is_main_image {
            for parameter in &main.parameters {
                let value = match shader.variables[*parameter].ty.components() {
                    2 => {
                        let place = self.input("uv", &Type::floats(2));
                        let size = self.named("resolution", 3);
                        self.mul(&place, &size[..2].to_vec())
                    }
                    _ => {
                        color = Some(*parameter);
                        vec![[0.0; 4], [0.0; 4], [0.0; 4], [1.0; 4]]
                    }
                };
                arguments.push(Some(value));
            }
        }
        self.call(shader.main, arguments);
        if self.steps > MOST_STEPS {
            self.open = ALL;
        }
        let mut colors = [None; 4];
        let mut depth = None;
        let four = |value: &[Lanes]| -> [Lanes; 4] {
            std::array::from_fn(|n| value.get(n).copied().unwrap_or_default())
        };
        for (id, variable) in shader.variables.iter().enumerate() {
            let Some(value) = self.values[id].as_ref() else { continue };
            match variable.storage {
                Storage::Builtin(BuiltinVariable::FragColor) => colors[0] = Some(four(value)),
                Storage::Builtin(BuiltinVariable::FragData) => {
                    for (slot, value) in colors.iter_mut().zip(value.chunks(4)) {
                        *slot = Some(four(value));
                    }
                }
                Storage::Builtin(BuiltinVariable::FragDepth) => depth = value.first().copied(),
                Storage::Output(n) => {
                    for (slot, value) in colors.iter_mut().skip(n.into()).zip(value.chunks(4)) {
                        *slot = Some(four(value));
                    }
                }
                _ if color == Some(id) => colors[0] = Some(four(value)),
                _ => {}
            }
        }
        Quad { colors, depth, discarded: self.discarded, open: self.open }
    }

    // What the draw gives.

    fn named(&self, name: &str, size: usize) -> Value {
        let found = self.compiled.job.uniforms.iter().find(|uniform| uniform.name == name);
        // One that the program does not read has no constant, and its value does not matter.
        let value = found.and_then(|uniform| self.bindings.constant(usize::from(uniform.constant)));
        let value = value.unwrap_or_default();
        (0..size).map(|c| [value[c & 3]; 4]).collect()
    }

    fn uniform(&mut self, id: VariableId) -> Value {
        let variable = &self.shader.variables[id];
        let name = host_name(self.shader, id);
        let toy = name != variable.name;
        if toy && name == "resolution" {
            let mut value = self.named(name, 2);
            value.push([1.0; 4]);
            return value;
        }
        let mut value: Value = Vec::new();
        for leaf in leaves(name, &variable.ty) {
            value.extend(self.named(&leaf.name, leaf.size));
        }
        if toy && name == "mouse" {
            let size = self.named("resolution", 2);
            let place = self.mul(&value[..2].to_vec(), &size);
            let pressed = self.mul(&place, &vec![value[2]]);
            return [place, pressed].concat();
        }
        value
    }

    fn input(&self, name: &str, ty: &Type) -> Value {
        let mut value = Vec::new();
        for leaf in leaves(name, ty) {
            let found = self.compiled.inputs.iter().find(|(_, vector)| vector.name == leaf.name);
            let input = found.and_then(|(temp, _)| {
                self.bindings.inputs().iter().find(|input| input.temp == *temp)
            });
            let lanes: [[f32; 4]; 4] = std::array::from_fn(|lane| {
                let (x, y) = (self.at[0] + (lane as u32 & 1), self.at[1] + (lane as u32 >> 1));
                input.map_or([0.0; 4], |input| self.bindings.input(input, x, y))
            });
            value.extend((0..leaf.size).map(|c| lanes.map(|vector| vector[c & 3])));
        }
        value
    }

    fn builtin(&mut self, builtin: BuiltinVariable, id: VariableId) -> Value {
        use BuiltinVariable as B;
        let variable = &self.shader.variables[id];
        match builtin {
            B::FragColor | B::FragData | B::FragDepth => zeros(&variable.ty),
            B::FragCoord => {
                let clip = self.input(&variable.name, &Type::floats(4));
                let uniforms = &self.compiled.job.uniforms;
                let mut viewport = uniforms.iter().filter(|uniform| uniform.name == VIEWPORT);
                let mut next = || {
                    let constant = viewport.next().map(|uniform| usize::from(uniform.constant));
                    let value =
                        constant.and_then(|n| self.bindings.constant(n)).unwrap_or_default();
                    (0..3).map(|c| [value[c]; 4]).collect::<Value>()
                };
                let (scale, offset) = (next(), next());
                // The sign of a zero w is as open as that of any other.
                let open = self.open;
                let w = self.alu(Alu::Rcp, &[&clip[3..].to_vec()]);
                self.open = open;
                let place = self.mul(&clip[..3].to_vec(), &w);
                let place = self.mad(&place, &scale, &offset);
                [place, w].concat()
            }
            B::FrontFacing => {
                let face = self.input(&variable.name, &Type::FLOAT);
                vec![face[0].map(|face| f32::from(u8::from(face != 0.0)))]
            }
            B::PointCoord | B::Color | B::SecondaryColor | B::TexCoord | B::FogFragCoord => {
                self.input(&variable.name, &variable.ty)
            }
        }
    }

    fn value(&mut self, id: VariableId) -> Value {
        if let Some(Some(value)) = self.values.get(id) {
            return value.clone();
        }
        let shader = self.shader;
        let variable = &shader.variables[id];
        match &variable.init {
            Some(init) if variable.storage == Storage::Constant => self.expr(init),
            _ => zeros(&variable.ty),
        }
    }

    /// Sets components of a variable in the pixels that execute.
    fn set(&mut self, id: VariableId, mask: Mask, places: &[usize], value: &[Lanes]) {
        let mut whole = self.value(id);
        for (place, new) in places.iter().zip(value) {
            for lane in 0..4 {
                if mask[lane] {
                    whole[*place][lane] = new[lane];
                }
            }
        }
        self.values[id] = Some(whole);
    }

    // Statements.

    /// The pixels that execute now.
    fn active(&self) -> Mask {
        let mut mask = and(self.mask, not(self.returned));
        if let Some(open) = self.loops.last() {
            mask = and(mask, not(or(open.broken, open.continued)));
        }
        mask
    }

    fn block(&mut self, list: &'a [Stmt]) {
        for statement in list {
            if !any(self.active()) || self.steps > MOST_STEPS {
                return;
            }
            self.steps += 1;
            self.statement(statement);
        }
    }

    fn under(&mut self, mask: Mask, run: impl FnOnce(&mut Self)) {
        let before = self.mask;
        self.mask = and(before, mask);
        run(self);
        self.mask = before;
    }

    fn statement(&mut self, statement: &'a Stmt) {
        match &statement.kind {
            StmtKind::Declare(id, init) => {
                let ty = &self.shader.variables[*id].ty;
                let value = init.as_ref().map_or_else(|| zeros(ty), |init| self.expr(init));
                let places: Vec<usize> = (0..value.len()).collect();
                let active = self.active();
                self.set(*id, active, &places, &value);
            }
            StmtKind::Expr(expr) => drop(self.expr(expr)),
            StmtKind::If(test, then, otherwise) => {
                let test = self.truth(test);
                self.under(test, |evaluator| evaluator.block(then));
                self.under(not(test), |evaluator| evaluator.block(otherwise));
            }
            StmtKind::Loop(of) => {
                self.block(&of.init);
                let outer = self.mask;
                self.mask = self.active();
                self.loops.push(Open { broken: [false; 4], continued: [false; 4] });
                let mut is_first = true;
                let mut passes = 0_usize;
                loop {
                    if !is_first || of.test_first {
                        self.leave_where_false(of.test.as_ref());
                    }
                    is_first = false;
                    self.steps += 1;
                    if !any(self.active()) || self.steps > MOST_STEPS {
                        break;
                    }
                    passes += 1;
                    if passes > CHIP_PASSES {
                        // The chip leaves loops whose number of passes is not known.
                        self.open = or(self.open, self.active());
                    }
                    self.block(&of.body);
                    if let Some(open) = self.loops.last_mut() {
                        open.continued = [false; 4];
                    }
                    if let Some(step) = &of.step
                        && any(self.active())
                    {
                        self.expr(step);
                    }
                }
                self.loops.pop();
                self.mask = outer;
            }
            StmtKind::Return(value) => {
                let active = self.active();
                if let Some(value) = value {
                    let value = self.expr(value);
                    self.result.resize(value.len(), [0.0; 4]);
                    for (to, from) in self.result.iter_mut().zip(&value) {
                        for lane in 0..4 {
                            if active[lane] {
                                to[lane] = from[lane];
                            }
                        }
                    }
                }
                self.returned = or(self.returned, active);
            }
            StmtKind::Break | StmtKind::Continue => {
                let active = self.active();
                let is_break = matches!(statement.kind, StmtKind::Break);
                if let Some(open) = self.loops.last_mut() {
                    let set = if is_break { &mut open.broken } else { &mut open.continued };
                    *set = or(*set, active);
                }
            }
            StmtKind::Discard => self.discarded = or(self.discarded, self.active()),
        }
    }

    fn leave_where_false(&mut self, test: Option<&'a Expr>) {
        let Some(test) = test else { return };
        if !any(self.active()) {
            return;
        }
        let holds = self.truth(test);
        let active = self.active();
        if let Some(open) = self.loops.last_mut() {
            open.broken = or(open.broken, and(active, not(holds)));
        }
    }

    fn call(&mut self, function: usize, arguments: Vec<Option<Value>>) -> Value {
        let shader = self.shader;
        let of = &shader.functions[function];
        for (parameter, argument) in of.parameters.iter().zip(arguments) {
            let ty = &shader.variables[*parameter].ty;
            self.values[*parameter] = Some(argument.unwrap_or_else(|| zeros(ty)));
        }
        let mask = self.active();
        let outer = (
            self.mask,
            self.returned,
            std::mem::take(&mut self.loops),
            std::mem::take(&mut self.result),
        );
        (self.mask, self.returned, self.result) = (mask, [false; 4], zeros(&of.returns));
        self.block(&of.body);
        let result = std::mem::take(&mut self.result);
        (self.mask, self.returned, self.loops, self.result) = outer;
        result
    }

    // Expressions.

    fn truth(&mut self, expr: &'a Expr) -> Mask {
        let value = self.expr(expr);
        value.first().copied().unwrap_or_default().map(|value| value != 0.0)
    }

    fn of_truth(mask: Mask) -> Value {
        vec![mask.map(|value| f32::from(u8::from(value)))]
    }

    fn expr(&mut self, expr: &'a Expr) -> Value {
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
            ExprKind::Assign { op, target, value } => {
                let new = match op {
                    None => self.expr(value),
                    Some(op @ (Binary::Add | Binary::Sub)) if product(value).is_some() => {
                        let old = self.expr(target);
                        let Some((x, y)) = product(value) else { return old };
                        let (x, y) = (self.expr(x), self.expr(y));
                        let x = if *op == Binary::Sub { self.negate(&x) } else { x };
                        self.mad(&x, &y, &old)
                    }
                    Some(op) => {
                        let (old, by) = (self.expr(target), self.expr(value));
                        functions::arithmetic(self, *op, (&old, &target.ty), (&by, &value.ty))
                    }
                };
                self.store(target, &new);
                new
            }
            ExprKind::Step { postfix, add, target } => {
                let old = self.expr(target);
                let one = self.literal(if *add { 1.0 } else { -1.0 });
                let new = self.add(&old, &one);
                self.store(target, &new);
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
                functions::diagonal::<Self>(value[0], &expr.ty)
            }
            ExprKind::Resize(of) => {
                let value = self.expr(of);
                functions::resized::<Self>(&value, &of.ty, &expr.ty)
            }
            ExprKind::Call(function, arguments) => self.function(*function, arguments),
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
    fn element(&mut self, index: Lanes, length: usize, lane: usize) -> usize {
        let n = index[lane];
        if n >= 0.0 && (n as usize) < length && n.fract() == 0.0 {
            return n as usize;
        }
        self.open[lane] |= self.active()[lane];
        0
    }

    fn binary(&mut self, expr: &'a Expr, op: Binary, a: &'a Expr, b: &'a Expr) -> Value {
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
    fn decide(&mut self, op: Binary, a: &'a Expr, b: &'a Expr) -> Mask {
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

    fn note_nan(&mut self, value: &[Lanes]) {
        let active = self.active();
        for lane in 0..4 {
            self.open[lane] |= active[lane] && value.iter().any(|c| c[lane].is_nan());
        }
    }

    fn function(&mut self, function: usize, arguments: &'a [Expr]) -> Value {
        let shader = self.shader;
        let parameters = &shader.functions[function].parameters;
        let mut values = Vec::new();
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
        }
        let result = self.call(function, values);
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let storage = shader.variables[*parameter].storage;
            if matches!(storage, Storage::Parameter { output: true, .. }) {
                let value = self.value(*parameter);
                self.store(argument, &value);
            }
        }
        result
    }

    /// Returns the name of a sampler's uniform.
    fn sampler(&mut self, expr: &'a Expr) -> String {
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

    fn language_function(
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
            let unit = self.compiled.samplers.iter().position(|unit| unit.name == name);
            let values: Vec<Value> =
                arguments[1..].iter().map(|argument| self.expr(argument)).collect();
            let rect = dimensions == r500_glsl::types::Dimensions::Rect;
            let shape = [dimensions.coordinates(), usize::from(shadow), usize::from(rect)];
            let unit = unit.and_then(|unit| u8::try_from(unit).ok()).unwrap_or(u8::MAX);
            return functions::fetch(self, function, unit, shape, &values);
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
                functions::matrix(self, function, &values, size)
            }
            _ => {
                let literals: Vec<Option<Vec<f32>>> =
                    arguments.iter().map(|argument| self.shader.constant(argument)).collect();
                functions::call(self, function, &values, &literals)
            }
        }
    }

    /// Sets what an expression means as a part of a variable.
    fn store(&mut self, target: &'a Expr, value: &[Lanes]) {
        let Some(root) = target.root() else { return };
        let active = self.active();
        // Each pixel has its own indices.
        for lane in (0..4).filter(|lane| active[*lane]) {
            let places = self.places(target, lane);
            let mask = std::array::from_fn(|other| other == lane);
            self.set(root, mask, &places, value);
        }
    }

    fn places(&mut self, target: &'a Expr, lane: usize) -> Vec<usize> {
        match &target.kind {
            ExprKind::Swizzle(of, list) => {
                let inner = self.places(of, lane);
                list.iter().map(|c| inner[usize::from(*c)]).collect()
            }
            ExprKind::Member(of, first) => {
                let inner = self.places(of, lane);
                inner[*first..first + target.ty.components()].to_vec()
            }
            ExprKind::Index(of, index) => {
                let inner = self.places(of, lane);
                let count = target.ty.components();
                let index = self.expr(index)[0];
                let n = self.element(index, inner.len() / count.max(1), lane);
                inner[n * count..(n + 1) * count].to_vec()
            }
            _ => (0..target.ty.components()).collect(),
        }
    }
}

fn zeros(ty: &Type) -> Value {
    vec![[0.0; 4]; ty.components()]
}

impl Arithmetic for Evaluator<'_> {
    type Component = Lanes;

    fn number(value: f32) -> Lanes {
        [value; 4]
    }

    fn negate(&self, of: &Value) -> Value {
        of.iter().map(|c| c.map(|value| f32::from_bits(value.to_bits() ^ 1 << 31))).collect()
    }

    fn abs(&self, of: &Value) -> Value {
        of.iter().map(|c| c.map(f32::abs)).collect()
    }

    fn alu(&mut self, op: Alu, operands: &[&Value]) -> Value {
        let count = operands.iter().map(|operand| operand.len()).max().unwrap_or(0);
        let at = |operand: &Value, i: usize| operand[if operand.len() == 1 { 0 } else { i }];
        let active = self.active();
        if matches!(op, Alu::Ddx | Alu::Ddy) {
            // Neighbours that are on another way have other values, which are undefined.
            if active != ALL {
                self.open = ALL;
            }
            let other = if op == Alu::Ddx { 1 } else { 2 };
            let difference = |c: &Lanes| [compute(Alu::Mad, [-c[0], 1.0, c[other]]); 4];
            return operands[0].iter().map(difference).collect();
        }
        let mut result = Vec::with_capacity(count);
        for i in 0..count {
            let lanes = std::array::from_fn(|lane| {
                let operand =
                    |n: usize| operands.get(n).map_or(0.0, |operand| at(operand, i)[lane]);
                let numbers = [operand(0), operand(1), operand(2)];
                let is_open = match op {
                    Alu::Rcp | Alu::Rsq => numbers[0] == 0.0 || numbers[0].is_subnormal(),
                    Alu::Cmp => numbers[2].is_nan(),
                    Alu::Min | Alu::Max => numbers[..2].iter().any(|number| number.is_nan()),
                    _ => false,
                };
                self.open[lane] |= is_open && active[lane];
                compute(op, numbers)
            });
            result.push(lanes);
        }
        result
    }

    fn mad_sat(&mut self, operands: [&Value; 3]) -> Value {
        let value = self.alu(Alu::Mad, &operands);
        value.iter().map(|c| c.map(|value| ARITH.clamp01(value))).collect()
    }

    fn dot(&mut self, a: &Value, b: &Value) -> Value {
        let of_lane = |lane: usize| {
            let pairs: Vec<[f32; 2]> = a.iter().zip(b).map(|(a, b)| [a[lane], b[lane]]).collect();
            dot_of(&pairs)
        };
        vec![std::array::from_fn(of_lane)]
    }

    fn fetch(&mut self, kind: FetchKind, strq: &Value, gradients: Option<[&Value; 2]>) -> Value {
        let lane_of = |value: &Value, lane: usize| -> [f32; 4] {
            std::array::from_fn(|c| value[c.min(value.len() - 1)][lane])
        };
        let Some(sampler) = self.bindings.sampler(usize::from(kind.unit)) else {
            return DISABLED_UNIT.iter().map(|c| [*c; 4]).collect();
        };
        let lod =
            sampler.depends_on_lod() && matches!(kind.op, TexOp::LD | TexOp::PROJ | TexOp::LODBIAS);
        if lod && self.active() != ALL {
            self.open = ALL;
        }
        let mut fetch = QuadFetch::new(kind.op, std::array::from_fn(|lane| lane_of(strq, lane)));
        fetch.unscaled = kind.unscaled;
        if let Some([dx, dy]) = gradients {
            fetch.gradients = std::array::from_fn(|lane| Gradients {
                dx: lane_of(dx, lane),
                dy: lane_of(dy, lane),
            });
        }
        let texels = sampler.fetch(&fetch, &TexReadings::default());
        (0..4).map(|c| texels.map(|texel| texel[c])).collect()
    }
}
