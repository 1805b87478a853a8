//! Case distinction over integer and boolean constants that neither program provides.
//!
//! A boolean constant is true or false. An integer constant is a trip count of a loop: 0, or 1 to 255. Code lifted for
//! n iterations is valid for every count from 1 to n, because value ranges cover all iterations, and a proof compares
//! trip counts without reading them. One proof for 255 would suffice, except that loops that read different constants
//! must not be identified: a second proof for 254, in every combination with other constants, distinguishes them from
//! each other and from loops with a constant of the program.

use r500_exec::{Op, Shader};
use r500_isa::state::{UsFcBoolConst, UsFcIntConst};
use r500_program::{Job, Program};

use r500_check::ExternalReads;

use super::Unknown;
use crate::SIDES;

/// Trip counts that represent all others.
const TRIPS: [u8; 3] = [0, 254, 255];

/// Greatest number of cases of a proof.
const MOST_CASES: usize = 64;

/// Returns the pairs of programs that must all be equal: one for each combination of values that neither provides;
/// a value that only one provides has no meaning for the other.
pub(super) fn cases(programs: [&Program; 2]) -> Result<Vec<[Program; 2]>, Unknown> {
    let missing = programs
        .map(|program| ExternalReads::of(program).missing(&Job::from_program(program.clone())));
    for (n, side) in SIDES.into_iter().enumerate() {
        let other = Job::from_program(programs[1 - n].clone());
        let absent = missing[n].missing(&other);
        let lent = ExternalReads {
            int_constants: missing[n].int_constants & !absent.int_constants,
            bool_constants: missing[n].bool_constants & !absent.bool_constants,
            ..ExternalReads::default()
        };
        if !lent.is_empty() {
            return Err(Unknown::Lent { side, registers: lent.to_string() });
        }
    }
    let mut cases = vec![programs.map(Clone::clone)];
    for n in bits(missing[0].int_constants | missing[1].int_constants) {
        no_relative_address(programs)?;
        let trips = |trips: u8| UsFcIntConst::default().with(UsFcIntConst::KR, trips);
        let values = TRIPS.map(trips);
        cases =
            combined(cases, &values, |program, value| program.state.fc_int_const[n] = Some(value))?;
    }
    let read = missing[0].bool_constants | missing[1].bool_constants;
    if read != 0 {
        let mut values = vec![UsFcBoolConst::default()];
        for n in bits(read) {
            let set = values.iter().map(|value| UsFcBoolConst(value.0 | 1 << n));
            values.extend(set.collect::<Vec<_>>());
            within_limit(values.len())?;
        }
        cases =
            combined(cases, &values, |program, value| program.state.fc_bool_const = Some(value))?;
    }
    Ok(cases)
}

/// Returns every combination of the cases with the values.
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

/// Rejects addresses relative to aL: they depend on the start value of aL, which would be too many cases.
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
