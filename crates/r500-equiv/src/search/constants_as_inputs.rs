//! Constants as inputs: a program that reads constants from temporaries, so that every quad of a picture has its own.
//!
//! An operand is the same value whether it comes from a constant or a temporary. With one picture for thousands of values
//! of constants, a search takes seconds instead of hours. What it finds is confirmed with the original program.

use std::collections::{BTreeMap, BTreeSet};

use r500_isa::values::InstType;
use r500_isa::{InstInfo, Source, TEMPORARIES};
use r500_program::Program;

/// Returns a program that reads the given constants from free temporaries, and which these are. `None` if a constant is
/// read by a relative address, or not enough temporaries are free.
pub(super) fn constants_as_inputs(
    program: &Program,
    inputs: &BTreeSet<u8>,
    constants: &BTreeSet<u8>,
) -> Option<(Program, BTreeMap<u8, u8>)> {
    let mut used = inputs.clone();
    for inst in &program.code {
        let info = InstInfo::new(*inst);
        for access in info.reads.iter().chain(info.quad_reads.iter()).chain(info.writes.iter()) {
            if access.relative {
                return None;
            }
            used.insert(access.addr & 0x7f);
        }
        if info.constants.iter().any(|access| access.relative) {
            return None;
        }
        // Registers that an instruction names without reading them stay apart, too.
        if matches!(inst.ty(), InstType::ALU | InstType::OUT) {
            let (rgb, alpha) = (inst.rgb_addr().sources(), inst.alpha_addr().sources());
            used.extend(rgb.into_iter().chain(alpha).filter_map(Source::temporary));
        }
    }
    let mut free = (0..TEMPORARIES as u8).rev().filter(|temp| !used.contains(temp));
    let mut temps = BTreeMap::new();
    for &constant in constants {
        temps.insert(constant, free.next()?);
    }
    let replaced = |source: Source| match temps.get(&source.addr) {
        Some(&addr) if source.constant => Source { addr, constant: false, relative: false },
        _ => source,
    };
    let mut program = program.clone();
    program.state.pixsize = None;
    for inst in &mut program.code {
        if !matches!(inst.ty(), InstType::ALU | InstType::OUT) {
            continue;
        }
        let (mut rgb, mut alpha) = (inst.rgb_addr(), inst.alpha_addr());
        for n in 0..3 {
            rgb = rgb.with_source(n, replaced(rgb.sources()[n]));
            alpha = alpha.with_source(n, replaced(alpha.sources()[n]));
        }
        (inst.0[1], inst.0[2]) = (rgb.bits(), alpha.bits());
    }
    Some((program, temps))
}
