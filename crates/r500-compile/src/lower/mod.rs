//! From the typed tree to operations. Functions are inlined; a variable is the list of its components' present values, so that copies,
//! swizzles and constructors cost nothing.
//!
//! | module | content |
//! | --- | --- |
//! | this one | variables, calls, the frame of the program |
//! | [`interface`] | uniforms, inputs and outputs |
//! | [`expression`] | values, conditions, places |
//! | [`statement`] | branches and exits |
//! | [`repeat`] | loops |
//! | [`flat_loop`] | loops of vertex shaders |
//! | [`relative`] | unknown indices of uniforms of vertices |

mod expression;
mod flat_loop;
mod interface;
mod relative;
mod repeat;
mod statement;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use expression::Access;
pub(crate) use expression::product;

use r500_glsl::Diagnostic;
use r500_glsl::Span;
use r500_glsl::tree::{Expr, ExprKind, Shader, Stage, Stmt, StmtKind, Storage, VariableId};
use r500_glsl::types::{Base, Type};

use crate::builder::Builder;
use crate::code::{Component, Condition, Routine, Value};
use crate::interface::{InputVector, OutputVector, SamplerUnit, UniformVector};
use crate::points::{Origin, Part, Parts, Points};

/// Most operations before dead ones are removed: far more than fit the chip.
const MOST_OPERATIONS: usize = 40_000;

/// Most expressions that are lowered, also to count the passes of loops, so that loops inside of each other end.
const MOST_WORK: usize = 400_000;

/// What the lowering gives.
pub(crate) struct Lowered {
    pub(crate) routine: Routine,
    pub(crate) uniforms: Vec<UniformVector>,
    pub(crate) inputs: Vec<InputVector>,
    /// What a vertex shader sets, by the numbers of [`Target::Vertex`].
    pub(crate) outputs: Vec<OutputVector>,
    pub(crate) samplers: Vec<SamplerUnit>,
    /// Which executions of statements the nodes come from.
    pub(crate) points: Points,
}

/// Lowers a shader. Loops of a vertex shader that have more than `most_unrolled` operations in all passes are loops of the chip.
pub(crate) fn lower(
    shader: &Shader,
    diagnostics: &mut Vec<Diagnostic>,
    most_unrolled: usize,
) -> Lowered {
    let mut lower = Lower {
        shader,
        builder: Builder::new(shader.stage),
        parts: Parts::of(shader),
        points: Points::new(),
        values: vec![None; shader.variables.len()],
        left: false,
        frames: Vec::new(),
        loops: Vec::new(),
        most_unrolled,
        chip_loops: 0,
        uniforms: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        samplers: Vec::new(),
        sampler_of: HashMap::new(),
        stored_at: HashMap::new(),
        tables: HashMap::new(),
        diagnostics,
        is_trial: 0,
        work: 0,
        nesting: 0,
        effects: RefCell::default(),
    };
    lower.program();
    let Lower { builder, uniforms, inputs, outputs, samplers, points, .. } = lower;
    Lowered {
        routine: builder.finish(),
        uniforms,
        inputs,
        outputs,
        samplers: samplers.into_iter().map(|(_, unit)| unit).collect(),
        points,
    }
}

/// A call that is open.
struct Frame {
    /// Variables that hold whether it returned, and what.
    returned: VariableId,
    result: VariableId,
    /// The loops that were open before it.
    loops: usize,
}

/// A loop that is open.
enum Open<'a> {
    /// Passes by the chip. The registers that hold variables from pass to pass, and what ends each pass.
    /// In a loop of loops `ended` holds whether pixels left it.
    Rolled {
        held: Vec<(VariableId, Value)>,
        of: &'a r500_glsl::tree::Loop,
        ended: Option<VariableId>,
    },
    /// Each pass by itself: variables that hold whether it ended, and whether the pass did.
    Unrolled { broken: VariableId, continued: VariableId },
}

struct Lower<'a> {
    shader: &'a Shader,
    builder: Builder,
    parts: Parts,
    points: Points,
    /// The present value of each variable; also of some that the source does not have.
    values: Vec<Option<Value>>,
    /// Where each variable was set last.
    stored_at: HashMap<VariableId, Origin>,
    /// Whether no pixel comes here: all have left the loop or the pass.
    left: bool,
    frames: Vec<Frame>,
    loops: Vec<Open<'a>>,
    /// Most operations of a loop of a vertex shader that is unrolled.
    most_unrolled: usize,
    /// Open loops of the chip of a vertex shader.
    chip_loops: usize,
    uniforms: Vec<UniformVector>,
    /// The constants that hold known arrays, by variable and bits.
    tables: HashMap<(VariableId, Vec<u32>), Value>,
    inputs: Vec<InputVector>,
    outputs: Vec<OutputVector>,
    samplers: Vec<((VariableId, usize), SamplerUnit)>,
    /// The sampler that a parameter stands for.
    sampler_of: HashMap<VariableId, (VariableId, usize)>,
    diagnostics: &'a mut Vec<Diagnostic>,
    /// In code that is not kept nothing is reported.
    is_trial: usize,
    /// Expressions that were lowered, trials included.
    work: usize,
    /// Open branches and loops.
    nesting: usize,
    /// For each function the variables that it sets and those that it declares, with those of functions that it calls.
    effects: RefCell<HashMap<usize, Rc<Effects>>>,
}

/// What a function does to variables.
#[derive(Default)]
struct Effects {
    sets: HashSet<VariableId>,
    declares: HashSet<VariableId>,
}

impl<'a> Lower<'a> {
    fn error(&mut self, diagnostic: Diagnostic) {
        let known = self.diagnostics.contains(&diagnostic);
        if self.is_trial == 0 && !known && self.diagnostics.len() < 100 {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Returns whether the program is too long already.
    fn is_full(&mut self) -> bool {
        self.work += 1;
        let full = self.builder.count > MOST_OPERATIONS || self.work > MOST_WORK;
        if full {
            let span = self.shader.functions[self.shader.main].span;
            let most = match self.shader.stage {
                Stage::Vertex => r500_pvs::INSTRUCTIONS,
                Stage::Fragment => r500_isa::INSTRUCTION_SLOTS,
            };
            let message = format!(
                "the shader needs more than {MOST_OPERATIONS} operations; the chip has {most} instructions"
            );
            let error = Diagnostic::error(span, message);
            if !self.diagnostics.contains(&error) {
                self.diagnostics.push(error);
            }
        }
        full
    }

    fn is_vertex(&self) -> bool {
        self.shader.stage == Stage::Vertex
    }

    fn base(ty: &Type) -> Base {
        ty.base().unwrap_or(Base::Float)
    }

    fn program(&mut self) {
        let shader = self.shader;
        for id in 0..shader.variables.len() {
            let variable = &shader.variables[id];
            match variable.storage {
                Storage::Uniform => self.uniform(id),
                Storage::Varying if self.is_vertex() => {
                    self.values[id] = Some(self.zeros(&variable.ty));
                }
                Storage::Varying | Storage::Attribute => {
                    self.read(&variable.name, &variable.ty, id, None);
                }
                Storage::Builtin(builtin) => self.builtin(builtin, id),
                Storage::Output(_) | Storage::Global => {
                    self.values[id] = Some(self.zeros(&variable.ty))
                }
                Storage::Constant | Storage::Local | Storage::Parameter { .. } => {}
            }
        }
        for id in 0..shader.variables.len() {
            let variable = &shader.variables[id];
            if let (Storage::Global, Some(init)) = (variable.storage, &variable.init) {
                let value = self.expr(init);
                self.values[id] = Some(value);
            }
        }
        let main = &shader.functions[shader.main];
        let mut arguments = Vec::new();
        let mut color = None;
        if shader.is_main_image {
            // The colour begins opaque black; the place is in pixels.
            let place = self.pixel_place();
            for parameter in &main.parameters {
                match shader.variables[*parameter].ty.components() {
                    2 => arguments.push(Some(place.clone())),
                    _ => {
                        let black = [0.0, 0.0, 0.0, 1.0].map(Component::literal).to_vec();
                        color = Some(*parameter);
                        arguments.push(Some(black));
                    }
                }
            }
        }
        self.inline(shader.main, arguments);
        self.at(Part::END);
        self.outputs(color);
    }

    /// Begins a part of the source: what is lowered next comes from it.
    fn at(&mut self, part: Part) {
        self.builder.point = self.points.add(part);
    }

    /// Returns where a node for a place in the source comes from.
    fn origin(&self, span: Span) -> Origin {
        Origin { span, point: self.builder.point }
    }

    fn zeros(&self, ty: &Type) -> Value {
        vec![Component::literal(0.0); ty.components()]
    }

    /// Returns the present value of a variable; what was never set is 0.
    fn value(&mut self, id: VariableId) -> Value {
        if let Some(Some(value)) = self.values.get(id) {
            return value.clone();
        }
        let Some(variable) = self.shader.variables.get(id) else { return Vec::new() };
        let value = match &variable.init {
            Some(init) if variable.storage == Storage::Constant => self.expr(init),
            _ => self.zeros(&variable.ty),
        };
        // What a constant needs is computed where it is first used, perhaps on one way only.
        if value.iter().all(|component| component.value().is_some()) {
            self.values[id] = Some(value.clone());
        }
        value
    }

    /// Makes a variable that the source does not have.
    fn hidden(&mut self, value: Value) -> VariableId {
        self.values.push(Some(value));
        self.values.len() - 1
    }

    /// Returns the value of a variable that has one: a hidden one, or one that a loop holds.
    #[expect(clippy::expect_used, reason = "an operation with no operands must not compile")]
    fn held_value(&self, id: VariableId) -> Value {
        self.values[id].clone().expect("hidden variables and those that loops hold have values")
    }

    // Calls.

    /// Runs a function's body with arguments; `None` stands for 0. Returns its value.
    fn inline(&mut self, function: usize, arguments: Vec<Option<Value>>) -> Value {
        let shader = self.shader;
        let of = &shader.functions[function];
        for (parameter, argument) in of.parameters.iter().zip(arguments) {
            let zeros = self.zeros(&shader.variables[*parameter].ty);
            self.values[*parameter] = Some(argument.unwrap_or(zeros));
        }
        let returned = self.hidden(vec![Component::literal(0.0)]);
        let zeros = self.zeros(&of.returns);
        let result = self.hidden(zeros);
        self.frames.push(Frame { returned, result, loops: self.loops.len() });
        let origin = self.builder.origin();
        self.block(&of.body);
        self.builder.set_origin(origin);
        self.frames.pop();
        self.held_value(result)
    }

    fn call(&mut self, function: usize, arguments: &'a [Expr], span: &'a Span) -> Value {
        let shader = self.shader;
        let parameters = shader.functions[function].parameters.clone();
        let mut values = Vec::new();
        let mut places = Vec::new();
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let variable = &shader.variables[*parameter];
            if variable.ty.has_sampler() {
                if let Some(of) = self.sampler(argument) {
                    self.sampler_of.insert(*parameter, of);
                }
                values.push(None);
                continue;
            }
            let (input, output) = match variable.storage {
                Storage::Parameter { input, output } => (input, output),
                _ => (true, false),
            };
            values.push(if input { Some(self.expr(argument)) } else { None });
            if output {
                places.push((*parameter, self.place(argument, Access::Set)));
            }
        }
        let around = self.points.enter_call(self.parts.call(span));
        let result = self.inline(function, values);
        self.points.leave(around);
        self.builder.span = *span;
        for (parameter, place) in places {
            let value = self.value(parameter);
            self.store(&place, value);
        }
        // Variables of the call are not those of the next one.
        for parameter in &parameters {
            self.values[*parameter] = None;
        }
        result
    }

    /// Returns the sampler that an expression names: the uniform, and the number of the element.
    fn sampler(&mut self, expr: &'a Expr) -> Option<(VariableId, usize)> {
        match &expr.kind {
            ExprKind::Variable(id) => Some(self.sampler_of.get(id).copied().unwrap_or((*id, 0))),
            ExprKind::Index(of, index) => {
                let (id, first) = self.sampler(of)?;
                let index_value = self.expr(index);
                let Some(n) = index_value.first().and_then(|c| c.value()) else {
                    let error =
                        Diagnostic::error(index.span, "the index of a sampler is not constant");
                    self.error(error.help("choose between fetches with `if`"));
                    return None;
                };
                Some((id, first + n as usize))
            }
            _ => {
                let error = Diagnostic::error(expr.span, "samplers in structures are not compiled");
                self.error(error.help("declare the sampler as a uniform of its own"));
                None
            }
        }
    }

    /// Returns the texture unit of a sampler.
    fn unit(&mut self, (id, element): (VariableId, usize), span: Span) -> u8 {
        if let Some(unit) = self.samplers.iter().position(|(key, _)| *key == (id, element)) {
            return unit as u8;
        }
        let variable = &self.shader.variables[id];
        let (ty, name) = match &variable.ty {
            Type::Array(of, _) => ((**of).clone(), format!("{}[{element}]", variable.name)),
            ty => (ty.clone(), variable.name.clone()),
        };
        let Type::Sampler { dimensions, shadow } = ty else { return 0 };
        let unit = self.samplers.len();
        if unit >= r500_isa::TEXTURE_UNITS {
            let error = Diagnostic::error(span, "the chip has 16 texture units");
            self.error(error);
            return 0;
        }
        self.samplers.push(((id, element), SamplerUnit { name, dimensions, shadow }));
        unit as u8
    }

    /// Adds the variables that statements set.
    fn assigned(&self, list: &[Stmt], all: &mut HashSet<VariableId>) {
        for statement in list {
            statement.each(&mut |statement| {
                statement.expressions(&mut |expr| self.assigned_by(expr, all));
            });
        }
    }

    fn assigned_by(&self, expr: &Expr, all: &mut HashSet<VariableId>) {
        expr.each(&mut |expr| match &expr.kind {
            ExprKind::Assign { target, .. } | ExprKind::Step { target, .. } => {
                all.extend(target.root());
            }
            ExprKind::Call(function, arguments) => {
                let of = &self.shader.functions[*function];
                for (parameter, argument) in of.parameters.iter().zip(arguments) {
                    let storage = self.shader.variables[*parameter].storage;
                    if matches!(storage, Storage::Parameter { output: true, .. }) {
                        all.extend(argument.root());
                    }
                }
                all.extend(&self.effects(*function).sets);
            }
            _ => {}
        });
    }

    /// Adds the variables that statements declare, with those of functions that they call.
    fn declared(&self, list: &[Stmt], all: &mut HashSet<VariableId>) {
        for statement in list {
            statement.each(&mut |statement| {
                if let StmtKind::Declare(id, _) = statement.kind {
                    all.insert(id);
                }
                statement.expressions(&mut |expr| {
                    expr.each(&mut |expr| {
                        if let ExprKind::Call(function, _) = expr.kind {
                            all.extend(&self.effects(function).declares);
                        }
                    });
                });
            });
        }
    }

    /// Returns what a function does to variables, found once.
    fn effects(&self, function: usize) -> Rc<Effects> {
        if let Some(known) = self.effects.borrow().get(&function) {
            return known.clone();
        }
        let of = &self.shader.functions[function];
        let mut effects = Effects::default();
        self.assigned(&of.body, &mut effects.sets);
        effects.declares.extend(&of.parameters);
        self.declared(&of.body, &mut effects.declares);
        let effects = Rc::new(effects);
        self.effects.borrow_mut().insert(function, effects.clone());
        effects
    }

    /// Returns whether an expression does more than compute its value.
    fn has_effects(&self, expr: &Expr) -> bool {
        let mut found = false;
        expr.each(&mut |expr| {
            found |= matches!(
                expr.kind,
                ExprKind::Assign { .. } | ExprKind::Step { .. } | ExprKind::Call(..)
            );
        });
        found
    }

    /// Returns whether a variable of 0 or 1 is 0.
    fn is_zero(&mut self, id: VariableId) -> Condition {
        let value = self.held_value(id)[0];
        Condition { test: value.absolute().negated(), negated: false }
    }
}
