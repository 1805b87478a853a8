//! State that decides how results are stored.
//!
//! Equal floats are stored equally if both programs have the same formats. Where not both files give a format, floats are
//! compared.

use r500_isa::state::{UsOutFmt, UsWFmt};
use r500_isa::{InstInfo, TARGETS};
use r500_program::Program;

/// Returns the register that makes two programs store equal results differently, if there is one: a format that both give,
/// of a result that one of them may write.
#[must_use]
pub fn state_difference(programs: [&Program; 2]) -> Option<String> {
    let mut targets = [false; TARGETS];
    let mut depth = false;
    for info in programs.iter().flat_map(|program| &program.code).map(|&inst| InstInfo::new(inst)) {
        for (target, _) in info.outputs.iter().filter(|(_, mask)| *mask != 0) {
            targets[usize::from(*target)] = true;
        }
        depth |= info.depth;
    }
    let differs = |name: String, a: Option<u32>, b: Option<u32>| {
        let (a, b) = (a?, b?);
        (a != b).then(|| format!("{name} differs: A has {a:#010x}, B {b:#010x}"))
    };
    let states = programs.map(|program| &program.state);
    for target in (0..TARGETS).filter(|&target| targets[target]) {
        let bits = |n: usize| states[n].out_fmt[target].map(UsOutFmt::bits);
        if let Some(what) = differs(format!("US_OUT_FMT[{target}]"), bits(0), bits(1)) {
            return Some(what);
        }
    }
    let bits = |n: usize| states[n].w_fmt.map(UsWFmt::bits);
    if depth { differs("US_W_FMT".to_owned(), bits(0), bits(1)) } else { None }
}
