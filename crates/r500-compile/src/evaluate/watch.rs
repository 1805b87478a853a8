//! Snapshots: the values of all variables at visits of statements, which a debugger asks for.

use std::collections::HashMap;

use r500_glsl::tree::{Shader, Storage};

use super::{ALL, Evaluator, Given, Mask, Pixels, Value, Vertices};
use crate::points::{Part, Parts, Visit};

/// The variables of a quad before a part of the shader is executed.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    /// The value of each variable that has one.
    pub(crate) values: Vec<Option<Value>>,
    /// Where each variable is set.
    pub(crate) set: Vec<Mask>,
    /// Where the part is executed.
    pub(crate) active: Mask,
    /// Where the rules leave open what the shader gives.
    pub(crate) open: Mask,
}

/// The visits that are asked for, and where the evaluator is.
pub(super) struct Watch {
    parts: Parts,
    path: Vec<(Part, u32)>,
    wanted: HashMap<Visit, Option<Snapshot>>,
    set: Vec<Mask>,
}

impl Watch {
    fn new(shader: &Shader, wanted: impl IntoIterator<Item = Visit>) -> Self {
        // What the draw gives, and constants.
        let is_given = |storage| {
            !matches!(storage, Storage::Local | Storage::Parameter { .. } | Storage::Output(_))
        };
        let set = |storage| if is_given(storage) { ALL } else { [false; 4] };
        Self {
            parts: Parts::of(shader),
            path: Vec::new(),
            wanted: wanted.into_iter().map(|visit| (visit, None)).collect(),
            set: shader.variables.iter().map(|variable| set(variable.storage)).collect(),
        }
    }
}

/// Runs a shader on the quad whose first pixel is at `x`, `y`. Returns the snapshots of visits that happen.
pub(crate) fn snapshots_of_quad(
    shader: &Shader,
    pixels: Pixels<'_>,
    [x, y]: [u32; 2],
    wanted: impl IntoIterator<Item = Visit>,
) -> HashMap<Visit, Snapshot> {
    snapshots(Evaluator::new(shader, Given::Quad(pixels, [x, y])), wanted)
}

/// Runs a vertex shader on four vertices. Returns the snapshots of visits that happen.
pub(crate) fn snapshots_of_vertices(
    shader: &Shader,
    given: &Vertices,
    wanted: impl IntoIterator<Item = Visit>,
) -> HashMap<Visit, Snapshot> {
    snapshots(Evaluator::new(shader, Given::Vertices(given)), wanted)
}

fn snapshots(
    mut evaluator: Evaluator<'_>,
    wanted: impl IntoIterator<Item = Visit>,
) -> HashMap<Visit, Snapshot> {
    let mut watch = Watch::new(evaluator.shader, wanted);
    for (set, variable) in watch.set.iter_mut().zip(&evaluator.shader.variables) {
        // What the shader gives is set by it.
        if evaluator.is_result(variable.storage) || matches!(variable.storage, Storage::Global) {
            *set = [variable.init.is_some(); 4];
        }
    }
    evaluator.watch = Some(Box::new(watch));
    evaluator.run();
    let found = evaluator.watch.map_or_else(HashMap::new, |watch| watch.wanted);
    found.into_iter().filter_map(|(visit, snapshot)| Some((visit, snapshot?))).collect()
}

impl Evaluator<'_> {
    /// Notes where the evaluator is.
    pub(super) fn visit(&mut self, part: impl FnOnce(&Parts) -> Part) {
        let Some(watch) = self.watch.as_deref() else { return };
        let visit = Visit { path: watch.path.clone(), part: part(&watch.parts) };
        if watch.wanted.get(&visit).is_none_or(Option::is_some) {
            return;
        }
        let snapshot = Snapshot {
            values: self.values.clone(),
            set: watch.set.clone(),
            active: self.active(),
            open: self.open,
        };
        if let Some(watch) = self.watch.as_deref_mut() {
            watch.wanted.insert(visit, Some(snapshot));
        }
    }

    /// Enters a call or the passes of a loop.
    pub(super) fn enter(&mut self, part: impl FnOnce(&Parts) -> Part) {
        if let Some(watch) = self.watch.as_deref_mut() {
            watch.path.push((part(&watch.parts), 0));
        }
    }

    /// Notes the number of the pass.
    pub(super) fn begin_pass(&mut self, pass: usize) {
        let path = self.watch.as_deref_mut().and_then(|watch| watch.path.last_mut());
        if let Some((_, number)) = path {
            *number = u32::try_from(pass).unwrap_or(u32::MAX);
        }
    }

    pub(super) fn leave(&mut self) {
        if let Some(watch) = self.watch.as_deref_mut() {
            watch.path.pop();
        }
    }

    /// Notes that a variable is set, or begins without a value.
    pub(super) fn note_set(&mut self, variable: usize, mask: Mask, is_set: bool) {
        if let Some(set) = self.watch.as_deref_mut().and_then(|watch| watch.set.get_mut(variable)) {
            for lane in (0..4).filter(|lane| mask[*lane]) {
                set[lane] = is_set;
            }
        }
    }
}
