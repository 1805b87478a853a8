//! Encoding of a unit as a module.
//!
//! It imports the memory of the slots and the table with the `refill` function, and exports one function,
//! `run`.

use r500_fast::codegen::CompileUnit;
use wasm_encoder::{
    CodeSection, EntityType, ExportKind, ExportSection, Function, FunctionSection, ImportSection,
    MemoryType, Module, RefType, TableType, TypeSection, ValType,
};

use super::emit::{self, EmitParams, signature};
use super::guards::GuardSet;
use crate::Effort;
use r500_lir::Class;
use r500_lir::LiveRanges;
use r500_lir::TargetCaps;

/// The import module; names of its memory and table, and of the exported function. They are the interface to
/// the host.
const IMPORTS: &str = "r500";
const MEMORY: &str = "memory";
const TABLE: &str = "table";
const RUN: &str = "run";

/// Vector registers that compilers of hosts have on most processors.
const REGISTERS: usize = 16;

/// The register pressure from which on interleaving would spill too much.
const CROWDED: usize = 2 * REGISTERS;

/// Returns the bytes of a module for a unit; `None` if it cannot be encoded.
pub(super) fn module(unit: &CompileUnit<'_>, effort: Effort) -> Option<Vec<u8>> {
    functions(unit, effort).map(|functions| of_functions(&functions))
}

/// The functions of a module.
#[derive(Clone)]
pub(super) struct Functions {
    /// The functions with their type indices, in the order of `emit::function`.
    pub(super) all: [(u32, Function); 2],
    /// Pixels that share control flow.
    #[cfg(test)]
    pub(super) lanes: u32,
}

pub(super) fn functions(unit: &CompileUnit<'_>, effort: Effort) -> Option<Functions> {
    let mut function = r500_lir::lower(unit, TargetCaps::quads(Class::Mask));
    // Two interleaved groups need twice the registers.
    let live_ranges = LiveRanges::of(&function);
    if live_ranges.pressure(0, live_ranges.end()) < CROWDED {
        function = r500_lir::interleave(function, Class::Mask, false);
    }
    if effort == Effort::Full {
        // Masks occupy vector registers, too, but there are few of them.
        r500_lir::schedule(&mut function, [REGISTERS, usize::MAX], false);
    }
    let guards = GuardSet::of(&function);
    let (stride, fuel_checked) = (unit.stride, unit.fuel_checked);
    let params = EmitParams { function: &function, guards: &guards, stride, fuel_checked };
    let all = [(signature::RUN, emit::run(params)?), (signature::EXACT, emit::exact(params)?)];
    Some(Functions {
        all,
        #[cfg(test)]
        lanes: 4 * function.groups.max(1),
    })
}

pub(super) fn of_functions(functions: &Functions) -> Vec<u8> {
    // In the order of `emit::signature`.
    let mut types = TypeSection::new();
    types.ty().function([ValType::I32], [ValType::I32]);
    types.ty().function([ValType::I32; 2], [ValType::I32]);
    let mut imports = ImportSection::new();
    let memory = MemoryType {
        minimum: 0,
        maximum: None,
        memory64: false,
        shared: false,
        page_size_log2: None,
    };
    imports.import(IMPORTS, MEMORY, EntityType::Memory(memory));
    let table = TableType {
        element_type: RefType::FUNCREF,
        table64: false,
        minimum: 0,
        maximum: None,
        shared: false,
    };
    imports.import(IMPORTS, TABLE, EntityType::Table(table));
    let mut declared = FunctionSection::new();
    let mut bodies = CodeSection::new();
    for (of_type, body) in &functions.all {
        declared.function(*of_type);
        bodies.function(body);
    }
    let mut exports = ExportSection::new();
    exports.export(RUN, ExportKind::Func, emit::function::RUN);
    let mut module = Module::new();
    module.section(&types).section(&imports).section(&declared).section(&exports).section(&bodies);
    module.finish()
}
