//! A unit as a module.
//!
//! It takes the memory in which slots are and the table from which it calls for fuel, and offers one
//! function, `run`.

use r500_fast::codegen::CompileUnit;
use wasm_encoder::{
    CodeSection, EntityType, ExportKind, ExportSection, Function, FunctionSection, ImportSection,
    MemoryType, Module, RefType, TableType, TypeSection, ValType,
};

use super::emit::{self, EmitParams, signature};
use super::guards::GuardSet;
use crate::lir::Class;
use crate::live_ranges::LiveRanges;
use crate::lower::TargetCaps;
use crate::{Effort, lower, schedule, unroll_and_jam};

/// What the module takes, under these names, is the host's to give; so is what it offers.
const IMPORTS: &str = "r500";
const MEMORY: &str = "memory";
const TABLE: &str = "table";
const RUN: &str = "run";

/// Vector registers that hosts' compilers have on most processors.
const REGISTERS: usize = 16;

/// Values that are alive at once from which on a second vector is too much.
const CROWDED: usize = 2 * REGISTERS;

/// The bytes of a module for a unit; `None` if it cannot be made.
pub(super) fn module(unit: &CompileUnit<'_>, effort: Effort) -> Option<Vec<u8>> {
    functions(unit, effort).map(|functions| of_functions(&functions))
}

/// The functions of a module.
#[derive(Clone)]
pub(super) struct Functions {
    /// With their types, in the order of `emit::function`.
    pub(super) all: [(u32, Function); 2],
    /// How many pixels go together.
    #[cfg(test)]
    pub(super) lanes: u32,
}

pub(super) fn functions(unit: &CompileUnit<'_>, effort: Effort) -> Option<Functions> {
    let mut function = lower::lower(unit, TargetCaps::quads(Class::Mask));
    // Two vectors at once take twice the registers.
    let live_ranges = LiveRanges::of(&function);
    if live_ranges.pressure(0, live_ranges.end()) < CROWDED {
        function = unroll_and_jam::interleave(function, Class::Mask, false);
    }
    if effort == Effort::Full {
        // Masks are vectors, too, but few.
        schedule::schedule(&mut function, [REGISTERS, usize::MAX], false);
    }
    let watched = GuardSet::of(&function);
    let (stride, fuel_checked) = (unit.stride, unit.fuel_checked);
    let how = EmitParams { function: &function, watched: &watched, stride, fuel_checked };
    let all = [(signature::RUN, emit::run(how)?), (signature::CAREFUL, emit::careful(how)?)];
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
