//! The job of a case: the lowered program, its inputs, and what the oracle expects.

use r500_program::{Compare, Expect, Input, InputData, Job};

use crate::case::{Case, Picture, PixelInput};
use crate::oracle::{self, Outcome};
use crate::tree::Stmt;

impl Case {
    /// Returns the job: the lowered program, its inputs, and the oracle's result for each pixel.
    #[must_use]
    pub fn job(&self, name: &str) -> Job {
        Job { expect: self.expect(&oracle::run(self)), ..self.bare_job(name) }
    }

    /// Returns the job without expectations.
    #[must_use]
    pub fn bare_job(&self, name: &str) -> Job {
        let Picture { size, inputs, coverage } = self.picture.clone();
        let inputs = inputs.into_iter().map(|PixelInput { temp, values }| Input {
            temp,
            data: InputData::Values { width: size[0], values },
        });
        Job {
            name: name.to_owned(),
            origin: "generated".to_owned(),
            rationale: "a structured program does what its syntax tree says".to_owned(),
            status: "derived".to_owned(),
            program: self.tree.lower(),
            size: Some(size),
            inputs: Some(inputs.collect()),
            coverage,
            ..Job::default()
        }
    }

    /// Returns the expectations: every channel of every target that an instruction may write, and coverage.
    fn expect(&self, outcomes: &[Outcome]) -> Expect {
        let (mut written, mut depth) = ([false; 4], false);
        self.tree.each(&mut |stmt| {
            if let Stmt::Alu(alu) = stmt
                && alu.out
            {
                written[usize::from(alu.rgb.target.code() & 3)] |= alu.rgb.omask != 0;
                written[usize::from(alu.alpha.target.code() & 3)] |= alu.alpha.omask != 0;
                depth |= alu.depth;
            }
        });
        let target = |n: usize| {
            let colors = outcomes.iter().map(|pixel| pixel.color[n].map(Some));
            written[n].then(|| colors.collect())
        };
        Expect {
            targets: [target(0), target(1), target(2), target(3)],
            depth: depth
                .then(|| outcomes.iter().map(|pixel| Some(pixel.depth.unwrap_or(0.0))).collect()),
            coverage: Some(outcomes.iter().map(|pixel| Some(pixel.covered)).collect()),
            compare: Compare::Values,
            ..Expect::default()
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::{Rng, Shape};

    #[test]
    fn a_job_expects_what_the_oracle_says() {
        let (mut depths, mut unwritten) = (0, 0);
        for seed in 0..100 {
            let case = Case::generate(&mut Rng::new(seed), &Shape::default());
            let outcomes = oracle::run(&case);
            let Job { expect, size, inputs, coverage, .. } = case.job("generated");
            assert_eq!(size, Some([8, 8]));
            assert_eq!(inputs.unwrap().len(), case.picture.inputs.len());
            assert_eq!(coverage, case.picture.coverage);
            // The first OUT at the end writes all of target A.
            assert!(expect.targets[0].is_some());
            for (n, pixel) in outcomes.iter().enumerate() {
                assert_eq!(expect.coverage.as_ref().unwrap()[n], Some(pixel.covered));
                for (target, wanted) in expect.targets.iter().enumerate() {
                    let bits = |color: [f32; 4]| color.map(f32::to_bits);
                    match wanted {
                        Some(colors) => {
                            let wanted = colors[n].map(Option::unwrap);
                            assert_eq!(bits(wanted), bits(pixel.color[target]));
                        }
                        None => assert_eq!(pixel.written[target], 0),
                    }
                }
                assert!(pixel.depth.is_none() || expect.depth.is_some());
            }
            depths += u32::from(expect.depth.is_some());
            unwritten += expect.targets.iter().filter(|target| target.is_none()).count();
        }
        assert!(depths > 20 && unwritten > 20, "{depths} {unwritten}");
    }
}
