//! The evaluator: runs the typed tree on a quad of pixels, or on four vertices, statement by statement, by the rules that the crate states.
//!
//! It shares the formulas of the language's functions with the compiler, and nothing else: no folding, no value numbering, no registers,
//! no flow control of the chip. What a program gives must be what the evaluator gives, but where the rules leave it open: the sign of a
//! zero (so also a reciprocal of zero), comparisons with NaN, more than 255 passes of a loop, differences and fetches in pixels that are not all on the same way.

//!
//! | module | content |
//! | --- | --- |
//! | this one | programs; variables |
//! | [`given`](self) | what a draw gives |
//! | [`watch`](self) | snapshots of variables for debuggers |
//! | [`statement`](self), [`expression`](self), [`arithmetic`](self) | which pixels execute; values; the chip's operations |

mod arithmetic;
mod expression;
mod given;
mod statement;
mod watch;

use std::collections::HashMap;

use r500_glsl::Stage;
use r500_glsl::tree::{BuiltinVariable, Shader, Storage, VariableId};
use r500_glsl::types::Type;

use crate::arithmetic::Arithmetic;
use crate::interface::leaves;
use crate::points::Part;
use given::Given;

pub use given::{Pixels, Vertices};
pub(crate) use watch::{Snapshot, snapshots_of_quad, snapshots_of_vertices};

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

/// Runs a shader on the quad whose first pixel is at `x`, `y`.
#[must_use]
pub fn quad(shader: &Shader, pixels: Pixels<'_>, [x, y]: [u32; 2]) -> Quad {
    let mut evaluator = Evaluator::new(shader, Given::Quad(pixels, [x, y]));
    let color = evaluator.run();
    evaluator.quad(color)
}

/// The vectors of a varying, the position or the size of points, of four vertices: by component.
pub type VertexOutput = Vec<Lanes>;

/// What a vertex shader gives.
#[derive(Clone, Debug)]
pub struct VertexResults {
    /// By the names of the vectors: `gl_Position`, `uv`, `basis[2]`.
    pub outputs: HashMap<String, VertexOutput>,
    /// Whether the rules leave open what a vertex gets.
    pub open: Mask,
}

/// Runs a vertex shader on four vertices.
#[must_use]
pub fn vertices(shader: &Shader, given: &Vertices) -> VertexResults {
    let mut evaluator = Evaluator::new(shader, Given::Vertices(given));
    evaluator.run();
    let mut outputs = HashMap::new();
    for (id, variable) in shader.variables.iter().enumerate() {
        let is_result = evaluator.is_result(variable.storage);
        if let (true, Some(value)) = (is_result, &evaluator.values[id]) {
            for leaf in leaves(&variable.name, &variable.ty) {
                let vector = value[leaf.first..leaf.first + leaf.size].to_vec();
                outputs.insert(leaf.name, vector);
            }
        }
    }
    VertexResults { outputs, open: evaluator.open }
}

impl<'a> Evaluator<'a> {
    fn new(shader: &'a Shader, given: Given<'a>) -> Self {
        Self {
            shader,
            given,
            values: vec![None; shader.variables.len()],
            samplers: HashMap::new(),
            mask: ALL,
            discarded: [false; 4],
            open: [false; 4],
            loops: Vec::new(),
            returned: [false; 4],
            result: Vec::new(),
            steps: 0,
            watch: None,
        }
    }
}

struct Open {
    broken: Mask,
    continued: Mask,
}

struct Evaluator<'a> {
    shader: &'a Shader,
    given: Given<'a>,
    values: Vec<Option<Value>>,
    samplers: HashMap<VariableId, String>,
    mask: Mask,
    discarded: Mask,
    open: Mask,
    loops: Vec<Open>,
    returned: Mask,
    result: Value,
    steps: usize,
    /// What a debugger asks for.
    watch: Option<Box<watch::Watch>>,
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
    /// Runs `main`. Returns the variable of `mainImage` that holds the colour.
    fn run(&mut self) -> Option<VariableId> {
        let shader = self.shader;
        for (id, variable) in shader.variables.iter().enumerate() {
            let value = match variable.storage {
                Storage::Uniform => Some(self.uniform(id)),
                Storage::Varying if shader.stage == Stage::Vertex => Some(zeros(&variable.ty)),
                Storage::Varying | Storage::Attribute => {
                    Some(self.input(&variable.name, &variable.ty))
                }
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
        self.visit(|_| Part::START);
        self.call(shader.main, arguments);
        self.visit(|_| Part::END);
        if self.steps > MOST_STEPS {
            self.open = ALL;
        }
        color
    }

    fn quad(&self, color: Option<VariableId>) -> Quad {
        let shader = self.shader;
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

    /// Returns whether the shader gives what variables hold at its end.
    fn is_result(&self, storage: Storage) -> bool {
        use BuiltinVariable as B;
        match storage {
            Storage::Varying => self.shader.stage == Stage::Vertex,
            Storage::Output(_) => true,
            Storage::Builtin(
                B::FragColor | B::FragData | B::FragDepth | B::Position | B::PointSize,
            ) => true,
            _ => false,
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
        self.note_set(id, mask, true);
    }
}

fn zeros(ty: &Type) -> Value {
    vec![[0.0; 4]; ty.components()]
}
