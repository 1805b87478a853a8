//! Case distinction over integer and boolean constants that programs read and do not carry.
//!
//! A boolean constant is either. An integer constant counts the iterations of a loop: none, or up to 255. What is lifted
//! for n iterations holds for each number from 1 to n, since the ranges of values are those of all iterations, and a proof
//! compares numbers of iterations without reading them. So a proof for 255 would do, were it not that loops which read
//! different constants must not be taken for equal: a second proof for 254, in every combination with other constants,
//! tells these apart, and those that read a constant of the program.

use r500_exec::{Op, Shader};
use r500_isa::state::{UsFcBoolConst, UsFcIntConst};
use r500_program::{Job, Program};

use r500_check::ExternalReads;

use super::Unknown;
use crate::equivalence::SIDES;

/// Numbers of iterations that stand for all.
const TRIPS: [u8; 3] = [0, 254, 255];

/// Combinations that a proof takes at most.
const MOST_CASES: usize = 64;

/// Returns the pairs of programs of which all must be equal: with every value of what neither carries, and each with
/// what the other one carries.
pub(super) fn cases(programs: [&Program; 2]) -> Result<Vec<[Program; 2]>, Unknown> {
    let missing = programs
        .map(|program| ExternalReads::of(program).missing(&Job::from_program(program.clone())));
    let mut cases = vec![programs.map(Clone::clone)];
    for n in bits(missing[0].int_constants | missing[1].int_constants) {
        let given = programs.into_iter().find_map(|program| program.state.fc_int_const[n]);
        if given.is_none() {
            no_relative_address(programs)?;
        }
        let trips = |trips: u8| UsFcIntConst::default().with(UsFcIntConst::KR, trips);
        let values = given.map_or_else(|| TRIPS.map(trips).to_vec(), |given| vec![given]);
        cases =
            combined(cases, &values, |program, value| program.state.fc_int_const[n] = Some(value))?;
    }
    let read = missing[0].bool_constants | missing[1].bool_constants;
    if read != 0 {
        let given = programs.into_iter().find_map(|program| program.state.fc_bool_const);
        let mut values = vec![given.unwrap_or_default()];
        if given.is_none() {
            for n in bits(read) {
                let set = values.iter().map(|value| UsFcBoolConst(value.0 | 1 << n));
                values.extend(set.collect::<Vec<_>>());
                within_limit(values.len())?;
            }
        }
        cases =
            combined(cases, &values, |program, value| program.state.fc_bool_const = Some(value))?;
    }
    Ok(cases)
}

/// Every case with every value.
fn combined<T: Copy>(
    cases: Vec<[Program; 2]>,
    values: &[T],
    set: impl Fn(&mut Program, T),
) -> Result<Vec<[Program; 2]>, Unknown> {
    within_limit(cases.len() * values.len())?;
    let mut combined = Vec::new();
    for case in cases {
        for &value in values {
            let mut case = case.clone();
            case.iter_mut().for_each(|program| set(program, value));
            combined.push(case);
        }
    }
    Ok(combined)
}

fn within_limit(cases: usize) -> Result<(), Unknown> {
    if cases > MOST_CASES { Err(Unknown::Cases) } else { Ok(()) }
}

/// Where an address depends on aL, so does everything on the number that aL begins with: too many cases.
fn no_relative_address(programs: [&Program; 2]) -> Result<(), Unknown> {
    for (side, program) in SIDES.into_iter().zip(programs) {
        let shader = Shader::new(program).map_err(|error| Unknown::Shader { side, error })?;
        let is_relative = |op: &Op| match op {
            Op::Alu(alu) => {
                let mut sources = alu.rgb.sources.iter().chain(&alu.alpha.sources);
                sources.any(|source| source.relative)
                    || alu.rgb.dest.relative
                    || alu.alpha.dest.relative
            }
            Op::Tex(tex) => {
                tex.dest.relative || [tex.coord, tex.dx, tex.dy].iter().any(|reg| reg.relative)
            }
            Op::Fc(_) => false,
        };
        if shader.ops().iter().any(is_relative) {
            return Err(Unknown::Constants { side });
        }
    }
    Ok(())
}

fn bits(set: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |n| set >> n & 1 != 0)
}
