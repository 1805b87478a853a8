//! What a proof covers, and what the files fix.

use r500::check::ExternalReads;
use r500::equivalence::{Known, Literals, Proof, SIDES};
use r500::program::Job;
use serde_json::{Value, json};

use crate::command::float_format;

/// A proof or the lack of one, with the values that it covers.
pub(in crate::command::diff) struct Claim {
    proof: Proof,
    /// Whether some constants are literals of the programs.
    has_literals: bool,
    /// Constants with any value, if others are literals.
    uniforms: Vec<String>,
    /// Integer and boolean constants, which have the values of the files.
    fixed: Vec<String>,
    /// Inputs that are numbers.
    inputs: Vec<String>,
    /// Textures that have the dimensions and filters of those that the files bind.
    textures: ExternalReads,
}

impl Claim {
    pub(in crate::command::diff) fn of(
        jobs: &[Job; 2],
        known: &Known,
        literals: Literals,
        proof: Proof,
    ) -> Self {
        let reads = jobs.each_ref().map(|job| ExternalReads::of(&job.program));
        let mut fixed = Vec::new();
        let both = reads[0].union(&reads[1]);
        for n in (0..32).filter(|n| both.int_constants >> n & 1 != 0) {
            let of = |job: &Job| job.program.state.fc_int_const[n];
            let values: Vec<String> = jobs.iter().filter_map(of).map(int).collect();
            fixed.extend(different(values).map(|values| format!("int[{n}] = {values}")));
        }
        for n in (0..32).filter(|n| both.bool_constants >> n & 1 != 0) {
            let of = |job: &Job| Some(job.program.state.fc_bool_const?.0 >> n & 1 != 0);
            let values = jobs.iter().filter_map(of).map(|value| value.to_string()).collect();
            fixed.extend(different(values).map(|values| format!("bool[{n}] = {values}")));
        }
        let mut inputs = Vec::new();
        for (n, side) in SIDES.into_iter().enumerate() {
            for ((temp, channel), value) in known.fixed_inputs(side) {
                if reads[n].inputs.get(&temp).is_some_and(|mask| mask >> channel & 1 != 0) {
                    let letter = char::from(b"rgba"[usize::from(channel & 3)]);
                    inputs.push(format!("temp[{temp}].{letter} = {}", float_format::text(value)));
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

    pub(in crate::command::diff) fn proof(&self) -> &Proof {
        &self.proof
    }

    /// Returns for which values the programs are equal.
    pub(in crate::command::diff) fn text(&self) -> String {
        let mut text = match (self.has_literals, self.uniforms.is_empty()) {
            (false, _) => "equal for all constants, inputs and textures".to_owned(),
            (true, true) => "equal with these constants for all inputs and texels".to_owned(),
            (true, false) => format!(
                "equal for all inputs, texels and values of {}, with the other constants as they are",
                self.uniforms.join(", ")
            ),
        };
        if !self.fixed.is_empty() {
            text.push_str(&format!("; with {}", self.fixed.join(", ")));
        }
        if !self.inputs.is_empty() {
            text.push_str(&format!("; with {}", self.inputs.join(", ")));
        }
        if !self.textures.is_empty() {
            text.push_str(&format!("; {} with the state that both bind", self.textures));
        }
        if self.proof == Proof::ProvedIfCovered {
            text.push_str("; for groups whose pixels are all covered");
        }
        text
    }

    /// Adds what the proof covers to a verdict.
    pub(in crate::command::diff) fn json(&self, value: &mut Value) {
        value["proved"] = self.proof.is_proved().into();
        if let Proof::Unknown(why) = &self.proof {
            value["not_proved"] = why.to_string().into();
            return;
        }
        value["covers"] = json!({
            "constants": if self.has_literals { "literals" } else { "all" },
            "uniforms": self.uniforms,
            "fixed": self.fixed,
            "inputs": self.inputs,
            "textures": self.textures.to_string(),
            "pixels": if self.proof == Proof::Proved { "all" } else { "covered groups" },
        });
    }
}

/// Returns the values as one text, or both if they differ.
fn different(mut values: Vec<String>) -> Option<String> {
    values.dedup();
    (!values.is_empty()).then(|| values.join(" and "))
}

fn int(value: r500::isa::state::UsFcIntConst) -> String {
    format!("({}, {}, {})", value.kr(), value.kg(), value.kb())
}
