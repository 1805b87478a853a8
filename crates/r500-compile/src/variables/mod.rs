//! Debug information: the variables of a shader at the instructions of its program, with their values and registers.
//!
//! Before an instruction variables have the values that they have before the statement that it computes, in the call and the pass of its
//! loops: those of the [evaluator](crate::evaluate), which runs the shader for the same pixel or vertex. Optimised code computes statements
//! in another order and keeps no value longer than needed, so a value need not be in a register.
//!
//! `Locations` lists the registers that hold components. It is found by running the program and the evaluator side by side with random
//! inputs: a register is listed for an instruction if it has the value in all runs. A [`Variable`] only names registers that have the value in
//! the run that is shown, too, so neither a value nor a register is wrong.
//!
//! | module | content |
//! | --- | --- |
//! | this one | values of variables at instructions |
//! | [`scopes`](self) | which variables are visible |
//! | [`locations`](self) | registers of their components |
//! | [`runs`](self) | programs and the evaluator side by side |

mod locations;
mod runs;
mod scopes;

use std::collections::HashMap;

use r500_exec::Bindings;
use r500_glsl::tree::{Shader, Stage, VariableId};
use r500_glsl::types::{Base, Type};

use crate::evaluate::{Snapshot, Vertices, snapshots_of_quad, snapshots_of_vertices};
use crate::interface::leaves;
use crate::language::parse;
use crate::points::{DebugInfo, PassCounter, PointId, Visit};
use crate::{fragment, vertex};
use locations::Locations;
pub use locations::{Bank, Place};
use scopes::Scopes;

/// A shader, to tell the values of its variables at the instructions of the program that it was compiled to.
pub struct Inspector {
    shader: Shader,
    scopes: Scopes,
    program: Program,
    locations: Locations,
}

impl std::fmt::Debug for Inspector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inspector").finish_non_exhaustive()
    }
}

/// What a shader was compiled to.
enum Program {
    Fragment(Box<fragment::Compiled>),
    Vertex(Box<vertex::Compiled>),
}

/// A place in a run: an instruction in passes of loops.
#[derive(Clone, Debug)]
pub struct Stop {
    /// The number of the instruction, from 0.
    at: u32,
    /// The visits that it computes a part of, that of the shown line first.
    visits: Vec<(PointId, Visit)>,
}

/// A variable at an instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its type, as the source has it.
    pub ty: String,
    /// Its scalars, vectors and columns; none while it is not set.
    pub vectors: Vec<Vector>,
}

/// A scalar, a vector or a column: a variable, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    /// `color`, `lights[1].place`, `transform[2]`.
    pub name: String,
    /// Whether components are floats, integers or truths.
    pub base: Base,
    /// The value of each component.
    pub values: Vec<f32>,
    /// The register that holds each component; `None` where no register does.
    pub places: Vec<Option<Place>>,
}

/// The values of a vector in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Whether components are floats, integers or truths.
    pub base: Base,
    /// The number of components.
    pub width: usize,
    /// The components at each stop; `None` where the variable is not visible or not set. Those past the width repeat the last one.
    pub values: Vec<Option<[f32; 4]>>,
}

impl Inspector {
    /// Returns the inspector of a fragment shader and what it was compiled to; `None` if the shader is another one.
    #[must_use]
    pub fn of_fragment(source: &str, compiled: &fragment::Compiled) -> Option<Self> {
        let (shader, _) = parse(source, Stage::Fragment).ok()?;
        let locations = runs::of_fragment(&shader, compiled);
        Some(Self::new(shader, Program::Fragment(Box::new(compiled.clone())), locations))
    }

    /// Returns the inspector of a vertex shader and what it was compiled to; `None` if the shader is another one.
    #[must_use]
    pub fn of_vertex(source: &str, compiled: &vertex::Compiled) -> Option<Self> {
        let (shader, _) = parse(source, Stage::Vertex).ok()?;
        let locations = runs::of_vertex(&shader, compiled);
        Some(Self::new(shader, Program::Vertex(Box::new(compiled.clone())), locations))
    }

    fn new(shader: Shader, program: Program, locations: Locations) -> Self {
        let scopes = Scopes::of(&shader);
        Self { shader, scopes, program, locations }
    }

    fn debug(&self) -> &DebugInfo {
        match &self.program {
            Program::Fragment(compiled) => &compiled.debug,
            Program::Vertex(compiled) => &compiled.debug,
        }
    }

    /// Returns where the instructions of a run are, which are given by their numbers from 0 in the order of the run.
    #[must_use]
    pub fn stops(&self, run: impl IntoIterator<Item = usize>) -> Vec<Stop> {
        let mut passes = self.debug().passes();
        run.into_iter().map(|at| stop(self.debug(), &mut passes, at)).collect()
    }

    /// Evaluates the shader for a pixel of a draw, and keeps what variables are at stops of its run.
    #[must_use]
    pub fn of_pixel(&self, bindings: &Bindings, [x, y]: [u32; 2], stops: &[Stop]) -> Moments {
        let Program::Fragment(compiled) = &self.program else { return Moments::default() };
        let pixels = compiled.pixels(bindings);
        let wanted = stops.iter().flat_map(|stop| &stop.visits).map(|(_, visit)| visit.clone());
        let snapshots = snapshots_of_quad(&self.shader, pixels, [x & !1, y & !1], wanted);
        Moments { snapshots, lane: (x & 1 | (y & 1) << 1) as usize }
    }

    /// Evaluates the shader for a vertex with these inputs and constants, likewise.
    #[must_use]
    pub fn of_vertex_run(
        &self,
        inputs: &[[f32; 4]],
        constant: impl Fn(u8) -> [f32; 4],
        stops: &[Stop],
    ) -> Moments {
        let Program::Vertex(compiled) = &self.program else { return Moments::default() };
        let given = Vertices {
            uniforms: (compiled.uniforms.iter())
                .map(|uniform| (uniform.name.clone(), constant(uniform.constant)))
                .collect(),
            attributes: (compiled.attributes.iter())
                .map(|attribute| {
                    let input = inputs.get(usize::from(attribute.input)).copied();
                    (attribute.name.clone(), [input.unwrap_or_default(); 4])
                })
                .collect(),
        };
        let wanted = stops.iter().flat_map(|stop| &stop.visits).map(|(_, visit)| visit.clone());
        Moments { snapshots: snapshots_of_vertices(&self.shader, &given, wanted), lane: 0 }
    }

    /// Returns the variables at a stop, the innermost scope last; `None` if the pixel or vertex does not execute its statement, or if the
    /// rules of the language leave its values open. `register` returns what a register holds.
    #[must_use]
    pub fn variables(
        &self,
        moments: &Moments,
        stop: &Stop,
        register: &dyn Fn(Place) -> f32,
    ) -> Option<Vec<Variable>> {
        let lane = moments.lane;
        let (point, visit, snapshot) = self.found(moments, stop)?;
        let visible = self.scopes.visible(visit.part).iter();
        let shown = visible.filter_map(|id| {
            let value = snapshot.values[*id].as_deref();
            let value = value.filter(|_| snapshot.set[*id][lane]);
            let component = |n: usize, value: f32| {
                let places = self.locations.places((stop.at, point), *id, n);
                places
                    .iter()
                    .copied()
                    .filter(|place| locations::same(register(*place), value))
                    .collect()
            };
            variable(
                &self.shader,
                *id,
                value.map(|value| component_values(value, lane)),
                &component,
            )
        });
        Some(shown.collect())
    }

    /// Returns the values of a vector at stops, which is named as [`Vector`] does; `None` if the shader has none of that name.
    #[must_use]
    pub fn series(&self, moments: &Moments, stops: &[Stop], name: &str) -> Option<Series> {
        let root = name.split(['.', '[']).next()?;
        let of_root = |id: &VariableId| self.shader.variables[*id].name == root;
        let leaf_of = |id: VariableId| {
            let of = &self.shader.variables[id];
            let leaf = leaves(&of.name, &of.ty).into_iter().find(|leaf| leaf.name == name)?;
            Some((base_of(&of.ty, leaf.first), leaf))
        };
        let (base, leaf) = (0..self.shader.variables.len()).filter(of_root).find_map(leaf_of)?;
        let value = |stop: &Stop| {
            let (_, visit, snapshot) = self.found(moments, stop)?;
            let id = *self.scopes.visible(visit.part).iter().rev().find(|id| of_root(id))?;
            let (_, own) = leaf_of(id).filter(|(_, own)| own.size == leaf.size)?;
            let set = snapshot.set[id][moments.lane];
            let value = snapshot.values[id].as_ref().filter(|_| set)?;
            let component = |n: usize| value.get(own.first + n.min(own.size - 1));
            let mut all = [0.0; 4];
            for (n, slot) in all.iter_mut().enumerate() {
                *slot = component(n)?[moments.lane];
            }
            Some(all)
        };
        Some(Series { base, width: leaf.size, values: stops.iter().map(value).collect() })
    }

    /// Returns the visit of a stop that is shown.
    fn found<'a>(
        &self,
        moments: &'a Moments,
        stop: &'a Stop,
    ) -> Option<(PointId, &'a Visit, &'a Snapshot)> {
        stop.visits.iter().find_map(|(point, visit)| {
            let snapshot = moments.snapshots.get(visit)?;
            let lane = moments.lane;
            (snapshot.active[lane] && !snapshot.open[lane]).then_some((*point, visit, snapshot))
        })
    }
}

/// The values of variables at stops.
#[derive(Default)]
pub struct Moments {
    snapshots: HashMap<Visit, Snapshot>,
    lane: usize,
}

fn stop(debug: &DebugInfo, passes: &mut PassCounter<'_>, at: usize) -> Stop {
    let passes = passes.step(at);
    Stop { at: u32::try_from(at).unwrap_or(u32::MAX), visits: debug.visits(at, &passes) }
}

fn component_values(value: &[[f32; 4]], lane: usize) -> Vec<f32> {
    value.iter().map(|lanes| lanes[lane]).collect()
}

/// Returns a variable with its value; `None` of those without one, samplers. `places` returns the registers of a component.
fn variable(
    shader: &Shader,
    id: VariableId,
    value: Option<Vec<f32>>,
    places: &dyn Fn(usize, f32) -> Vec<Place>,
) -> Option<Variable> {
    let of = &shader.variables[id];
    if of.ty.has_sampler() {
        return None;
    }
    let mut vectors = Vec::new();
    for leaf in value.iter().flat_map(|_| leaves(&of.name, &of.ty)) {
        let values: Vec<f32> =
            value.iter().flat_map(|value| value[leaf.first..][..leaf.size].to_vec()).collect();
        let all: Vec<Vec<Place>> =
            values.iter().enumerate().map(|(n, value)| places(leaf.first + n, *value)).collect();
        let base = base_of(&of.ty, leaf.first);
        vectors.push(Vector { name: leaf.name, base, values, places: locations::chosen(&all) });
    }
    Some(Variable { name: of.name.clone(), ty: of.ty.to_string(), vectors })
}

/// Returns what a component of a type is.
fn base_of(ty: &Type, component: usize) -> Base {
    match ty {
        Type::Array(of, _) => base_of(of, component % of.components().max(1)),
        Type::Struct(of) => {
            let mut left = component;
            for (_, member) in &of.members {
                if left < member.components() {
                    return base_of(member, left);
                }
                left -= member.components();
            }
            Base::Float
        }
        ty => ty.base().unwrap_or(Base::Float),
    }
}

#[cfg(test)]
mod tests;
