//! Cache keys of compile units, functions and programs.

use std::hash::{Hash, Hasher};

use r500_exec::Shader;
use r500_fast::codegen::CompileUnit;
use r500_ir::{Function, Stmt, Type, Value, Values};

/// Something written out: equal for what is equal and for nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct CacheKey(Vec<u8>);

/// Keeps all that it is shown.
impl Hasher for CacheKey {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

impl CacheKey {
    /// Of a unit and how it is compiled. Where values come from does not count.
    pub(crate) fn of_unit(unit: &CompileUnit<'_>, how: impl Hash) -> Self {
        let mut content = Self::default();
        let CompileUnit {
            body,
            reads,
            writes,
            moves,
            colors,
            stride,
            fuel_checked,
            tables,
            interpolants,
            values,
        } = unit;
        (how, reads, writes, moves, colors, stride, fuel_checked, tables, interpolants, body.len())
            .hash(&mut content);
        reads.iter().for_each(|(value, _)| content.value(*value, values));
        moves.iter().for_each(|moved| content.value(moved.value, values));
        body.iter().for_each(|stmt| content.stmt(stmt, values));
        content
    }

    /// Of a function. Where values come from does not count.
    pub(crate) fn of_function(function: &Function) -> Self {
        let mut content = Self::default();
        let Function { values, uniforms, body, colors, non_nan, depth } = function;
        (values.len(), uniforms, colors, non_nan, depth).hash(&mut content);
        content.list(body, values);
        content
    }

    /// Of a program: its instructions and the state that they run in, constants not included.
    pub(crate) fn of_program(shader: &Shader) -> Self {
        let mut content = Self::default();
        shader.code().hash(&mut content);
        (shader.offset(), shader.start(), shader.end(), shader.window()).hash(&mut content);
        (shader.zero_rule(), shader.full_fc(), shader.pixsize()).hash(&mut content);
        content
    }

    /// Bytes that it takes.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// A definition: a value with its type.
    fn value(&mut self, value: Value, values: &Values) {
        (value, values[value].ty == Type::Mask).hash(self);
    }

    fn list(&mut self, stmts: &[Stmt], values: &Values) {
        stmts.len().hash(self);
        stmts.iter().for_each(|stmt| self.stmt(stmt, values));
    }

    fn stmt(&mut self, stmt: &Stmt, values: &Values) {
        std::mem::discriminant(stmt).hash(self);
        match stmt {
            Stmt::Def(value, inst) => {
                self.value(*value, values);
                (inst.opcode, inst.args()).hash(self);
            }
            Stmt::Fetch(fetch) => {
                let r500_ir::Fetch { unit, op, unscaled, strq, dx, dy, active, texel, address } =
                    &**fetch;
                (unit, op, unscaled, strq, dx, dy, active, texel, address).hash(self);
            }
            Stmt::Discard(mask) | Stmt::GroupHazard(mask) => mask.hash(self),
            Stmt::Stat { channel, mask } => (channel, mask).hash(self),
            Stmt::ConsumeFuel { instructions, address } => (instructions, address).hash(self),
            Stmt::If(branch) => {
                branch.masks.hash(self);
                branch.arms.iter().for_each(|arm| self.list(arm, values));
                branch.phis.len().hash(self);
                for phi in &branch.phis {
                    self.value(phi.value, values);
                    (phi.incoming, phi.arms).hash(self);
                }
            }
            Stmt::Loop(repeat) => {
                (repeat.max_trips, repeat.continue_mask, repeat.params.len()).hash(self);
                for param in &repeat.params {
                    self.value(param.value, values);
                    (param.init, param.next).hash(self);
                }
                self.list(&repeat.body, values);
            }
        }
    }
}
