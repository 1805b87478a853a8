//! Scopes: the variables that are visible at each statement.

use std::collections::HashMap;

use r500_glsl::tree::{Shader, Stmt, StmtKind, Storage, VariableId};

use crate::points::{Part, Parts};

/// The visible variables of each part of a shader, the innermost scope last.
pub(super) struct Scopes {
    of_parts: HashMap<Part, Vec<VariableId>>,
    /// Those outside of functions, and the parameters of `main`.
    global: Vec<VariableId>,
}

impl Scopes {
    pub(super) fn of(shader: &Shader) -> Self {
        let is_global = |id: &VariableId| {
            let variable = &shader.variables[*id];
            match variable.storage {
                Storage::Local | Storage::Parameter { .. } => false,
                // Constants have their values in the source.
                Storage::Constant => false,
                _ => true,
            }
        };
        let global: Vec<VariableId> = (0..shader.variables.len()).filter(is_global).collect();
        let mut walk = Walk { shader, parts: Parts::of(shader), of_parts: HashMap::new() };
        for function in &shader.functions {
            let visible = [&global[..], &function.parameters].concat();
            walk.list(&function.body, visible);
        }
        let main = &shader.functions[shader.main].parameters;
        Self { of_parts: walk.of_parts, global: [&global[..], main].concat() }
    }

    pub(super) fn visible(&self, part: Part) -> &[VariableId] {
        self.of_parts.get(&part).unwrap_or(&self.global)
    }
}

struct Walk<'a> {
    shader: &'a Shader,
    parts: Parts,
    of_parts: HashMap<Part, Vec<VariableId>>,
}

impl Walk<'_> {
    fn list(&mut self, list: &[Stmt], mut visible: Vec<VariableId>) -> Vec<VariableId> {
        for statement in list {
            self.note(self.parts.statement(statement), &visible);
            match &statement.kind {
                StmtKind::Declare(id, _) => {
                    // The source cannot name one that it hides.
                    let name = &self.shader.variables[*id].name;
                    visible.retain(|other| self.shader.variables[*other].name != *name);
                    visible.push(*id);
                }
                StmtKind::If(_, then, otherwise) => {
                    self.list(then, visible.clone());
                    self.list(otherwise, visible.clone());
                }
                StmtKind::Loop(of) => {
                    let inside = self.list(&of.init, visible.clone());
                    self.note(self.parts.test(of), &inside);
                    self.note(self.parts.step(of), &inside);
                    self.list(&of.body, inside);
                }
                _ => {}
            }
        }
        visible
    }

    fn note(&mut self, part: Part, visible: &[VariableId]) {
        self.of_parts.insert(part, visible.to_vec());
    }
}
