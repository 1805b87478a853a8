//! Cache keys of compile units, functions and programs.

use std::hash::{Hash, Hasher};

use r500_exec::Shader;
use r500_fast::codegen::CompileUnit;
use r500_ir::{Function, Value};

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
        (how, body, reads, writes, moves, colors, stride, fuel_checked, tables, interpolants)
            .hash(&mut content);
        let mut of = |value: Value| (values[value].ty, values[value].facts).hash(&mut content);
        reads.iter().for_each(|(value, _)| of(*value));
        moves.iter().for_each(|moved| of(moved.value));
        body.iter().for_each(|stmt| stmt.each(&mut |stmt| stmt.defs(&mut of)));
        content
    }

    /// Of a function. Where values come from does not count.
    pub(crate) fn of_function(function: &Function) -> Self {
        let mut content = Self::default();
        let Function { values, uniforms, body, colors, non_nan, depth } = function;
        (uniforms, body, colors, non_nan, depth, values.len()).hash(&mut content);
        values.items().iter().for_each(|value| (value.ty, value.facts).hash(&mut content));
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
}
