//! What a proof covers, and what the files fix.

use std::fmt;

use r500_check::ExternalReads;
use r500_exec::numerics::Decimal;
use r500_isa::state::UsFcIntConst;
use r500_program::Job;

use crate::{Known, Literals, Proof, SIDES};

/// A proof or the lack of one, with the values that it covers.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The proof.
    pub proof: Proof,
    /// Whether some constants are literals of the programs.
    pub has_literals: bool,
    /// Constants with any value, if others are literals.
    pub uniforms: Vec<String>,
    /// Integer and boolean constants, which have the values of the files, as `int[0] = (20, 0, 0)`.
    pub fixed: Vec<String>,
    /// Inputs that are numbers, as `temp[0].b = 0`.
    pub inputs: Vec<String>,
    /// Textures that have the dimensions and filters of those that the files bind.
    pub textures: ExternalReads,
}

impl Claim {
    /// Returns what a proof of two jobs covers, which was made with this knowledge of their bindings.
    #[must_use]
    pub fn of(jobs: [&Job; 2], known: &Known, literals: Literals, proof: Proof) -> Self {
        let reads = jobs.map(|job| ExternalReads::of(&job.program));
        let mut fixed = Vec::new();
        let both = reads[0].union(&reads[1]);
        for n in (0..32).filter(|n| both.int_constants >> n & 1 != 0) {
            let of = |job: &Job| job.program.state.fc_int_const[n];
            let values: Vec<String> = jobs.into_iter().filter_map(of).map(int).collect();
            fixed.extend(different(values).map(|values| format!("int[{n}] = {values}")));
        }
        for n in (0..32).filter(|n| both.bool_constants >> n & 1 != 0) {
            let of = |job: &Job| Some(job.program.state.fc_bool_const?.0 >> n & 1 != 0);
            let values = jobs.into_iter().filter_map(of).map(|value| value.to_string()).collect();
            fixed.extend(different(values).map(|values| format!("bool[{n}] = {values}")));
        }
        let mut inputs = Vec::new();
        for (n, side) in SIDES.into_iter().enumerate() {
            for ((temp, channel), value) in known.fixed_inputs(side) {
                if reads[n].inputs.get(&temp).is_some_and(|mask| mask >> channel & 1 != 0) {
                    let letter = char::from(b"rgba"[usize::from(channel & 3)]);
                    inputs.push(format!("temp[{temp}].{letter} = {}", Decimal(value)));
                }
            }
        }
        inputs.sort();
        inputs.dedup();
        let has_literals = literals == Literals::Bound
            && SIDES.into_iter().enumerate().any(|(n, side)| known.reads_literal(side, &reads[n]));
        let textures = ExternalReads {
            textures: both.textures & known.bound_textures(),
            ..ExternalReads::default()
        };
        let uniforms = known.names().to_vec();
        Self { proof, has_literals, uniforms, fixed, inputs, textures }
    }
}

/// For which values the programs are equal.
impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.has_literals, self.uniforms.is_empty()) {
            (false, _) => f.write_str("equal for all constants, inputs and textures")?,
            (true, true) => f.write_str("equal with these constants for all inputs and texels")?,
            (true, false) => write!(
                f,
                "equal for all inputs, texels and values of {}, with the other constants as they are",
                self.uniforms.join(", ")
            )?,
        }
        for fixed in [&self.fixed, &self.inputs] {
            if !fixed.is_empty() {
                write!(f, "; with {}", fixed.join(", "))?;
            }
        }
        if !self.textures.is_empty() {
            write!(f, "; {} with the state that both bind", self.textures)?;
        }
        if self.proof == Proof::ProvedIfCovered {
            f.write_str("; for groups whose pixels are all covered")?;
        }
        Ok(())
    }
}

/// Returns the values as one text, or both if they differ.
fn different(mut values: Vec<String>) -> Option<String> {
    values.dedup();
    (!values.is_empty()).then(|| values.join(" and "))
}

fn int(value: UsFcIntConst) -> String {
    format!("({}, {}, {})", value.kr(), value.kg(), value.kb())
}
