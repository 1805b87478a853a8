//! Cache keys of compile units and functions.

use std::hash::{Hash, Hasher};

use r500_fast::codegen::CompileUnit;
use r500_ir::{Function, Value};

/// A canonical serialisation: two keys are equal if and only if the contents are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct CacheKey(Vec<u8>);

/// Stores the hashed bytes instead of a digest.
impl Hasher for CacheKey {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

impl CacheKey {
    /// Returns the key of a unit and its compilation parameters. Debug locations are not part of it.
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

    /// Returns the key of a function. Debug locations are not part of it.
    pub(crate) fn of_function(function: &Function) -> Self {
        let mut content = Self::default();
        let Function { values, uniforms, body, colors, non_nan, depth, results } = function;
        (uniforms, body, colors, non_nan, depth, results, values.len()).hash(&mut content);
        values.items().iter().for_each(|value| (value.ty, value.facts).hash(&mut content));
        content
    }

    /// Returns the size in bytes.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}
