//! The checker's assumptions about sources.
//!
//! A capture or a dump that names no inputs says nothing about them: any temporary may come from the rasteriser. A source
//! is the whole program that its author wrote. Without INPUT it gets the default input alone, so a temporary that neither
//! an instruction nor the rasteriser writes is read by mistake.

use r500_asm::Assembly;
use r500_check::{Assumptions, Report, check};
use r500_program::Job;

/// Returns the assumptions about the program of a source.
#[must_use]
pub fn assumptions(assembly: &Assembly) -> Assumptions {
    assumptions_of_source(&assembly.job)
}

/// Returns the assumptions about the job of a source. A source with ORIGIN was printed from something else, which may
/// have had inputs that it does not name.
#[must_use]
pub fn assumptions_of_source(job: &Job) -> Assumptions {
    let stated = Assumptions::of_job(job);
    if job.inputs.is_some() || !job.origin.is_empty() {
        return stated;
    }
    let with_default = Job { inputs: Some(job.inputs_or_default()), ..Job::default() };
    Assumptions { inputs: Assumptions::of_job(&with_default).inputs, ..stated }
}

/// Checks the program of a source.
#[must_use]
pub fn check_source(assembly: &Assembly) -> Report {
    check(&assembly.job.program, &assumptions(assembly))
}

#[cfg(test)]
mod tests {
    use r500_asm::{Options, assemble};
    use r500_check::LintCode;

    use super::*;

    /// Returns how often the checker reports a read of a temporary that nothing writes.
    fn unwritten(source: &str) -> usize {
        let assembly = assemble(source.as_bytes(), Options::default());
        assert!(assembly.is_ok(), "{source}: {:?}", assembly.diagnostics);
        check_source(&assembly).with_code(LintCode::NeverWritten).count()
    }

    #[test]
    fn temporaries_come_from_instructions_and_stated_inputs() {
        let out = |temp: u8| {
            format!(
                "OUT LAST src0.rgb = temp[{temp}] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ;"
            )
        };
        assert_eq!(unwritten(&out(5)), 1);
        // u and v are in temporary 0.
        assert_eq!(unwritten(&out(0)), 0);
        assert_eq!(unwritten(&format!("INPUT temp[5] = (u, v, 0, 1) ; {}", out(5))), 0);
        assert_eq!(unwritten(&format!("INPUT temp[5] = (u, v, 0, 1) ; {}", out(0))), 1);
        let written = "src0.rgb = temp[0] : temp[5].rgb = MAX src0.rgb src0.rgb ;";
        assert_eq!(unwritten(&format!("{written} {}", out(5))), 0);
        // The inputs of a program in a driver's log are not known.
        assert_eq!(unwritten(&format!("ORIGIN \"log, line 7\" ; {}", out(5))), 0);
    }
}
