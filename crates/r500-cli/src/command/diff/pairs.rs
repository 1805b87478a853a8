//! The pairs of programs of two folders or files.

use std::path::Path;

use r500::program::Job;

use crate::command::exit::{Outcome, Status};
use crate::command::input_args::{self, ReadArgs};
use crate::command::program_match::{self, Identity};

/// A program of a file or folder.
pub(super) struct Named {
    /// What it is: its path is the one below the folder, without extension.
    identity: Identity,
    pub(super) job: Job,
}

impl Named {
    fn new(below: String, inside: String, job: Job) -> Self {
        Self { identity: Identity::new(below, inside, &job), job }
    }

    pub(super) fn name(&self) -> String {
        let Identity { below, inside, .. } = &self.identity;
        if below.is_empty() || below == inside {
            inside.clone()
        } else {
            format!("{below}:{inside}")
        }
    }
}

/// Two matched programs, or one without a match.
pub(super) struct Pair {
    pub(super) name: String,
    pub(super) jobs: [Option<Job>; 2],
}

/// Returns the programs of a file or folder.
pub(super) fn collect(root: &Path, read: ReadArgs, status: &mut Status) -> Outcome<Vec<Named>> {
    let mut found = Vec::new();
    let files = input_args::files(&[root.to_owned()], input_args::may_hold_programs)?;
    if files.is_empty() {
        return Err(input_args::no_program_in(&[root.to_owned()]));
    }
    for file in files {
        let below = file.strip_prefix(root).unwrap_or(&file).with_extension("");
        let below = below.to_string_lossy().replace('\\', "/");
        input_args::each(&file, read, status, |index, job| {
            let inside = if job.name.is_empty() { format!("#{index}") } else { job.name.clone() };
            found.push(Named::new(below.clone(), inside, job));
        })?;
    }
    // A shader that is compiled twice is one.
    let repeated = program_match::repeated(&identities(&found));
    let mut repeated = repeated.into_iter();
    found.retain(|_| !repeated.next().unwrap_or(false));
    Ok(found)
}

fn identities(programs: &[Named]) -> Vec<&Identity> {
    programs.iter().map(|named| &named.identity).collect()
}

/// Matches the programs of A with those of B, in the order of A; unmatched ones of B are last.
pub(super) fn pairs(a: Vec<Named>, b: Vec<Named>) -> Vec<Pair> {
    let partners = program_match::partners(&identities(&a), &identities(&b));
    let mut rest: Vec<Option<Named>> = b.into_iter().map(Some).collect();
    let mut pairs: Vec<Pair> = a
        .into_iter()
        .zip(partners)
        .map(|(a, partner)| {
            let mut name = a.name();
            let b = partner.and_then(|n| rest[n].take());
            if let Some(b) = b.as_ref().filter(|b| b.identity.inside != a.identity.inside) {
                name = format!("{name} and {}", b.identity.inside);
            }
            Pair { name, jobs: [Some(a.job), b.map(|b| b.job)] }
        })
        .collect();
    let alone = rest.into_iter().flatten();
    pairs.extend(alone.map(|b| Pair { name: b.name(), jobs: [None, Some(b.job)] }));
    pairs
}

#[cfg(test)]
mod tests {
    use r500::isa::Instruction;
    use r500::program::Program;

    use super::*;

    /// A program with instructions that differ in their first dword.
    fn named(inside: &str, words: &[u32]) -> Named {
        let code = words.iter().map(|&word| Instruction([word, 0, 0, 0, 0, 0])).collect();
        let job = Job::from_program(Program::from_code(code));
        Named::new(String::new(), inside.to_owned(), job)
    }

    fn names(a: Vec<Named>, b: Vec<Named>) -> Vec<String> {
        pairs(a, b).into_iter().map(|pair| pair.name).collect()
    }

    #[test]
    fn programs_of_logs_are_matched_by_content() {
        let a = || vec![named("fp0", &[1, 2, 3]), named("fp1", &[4, 5, 6]), named("fp2", &[7; 9])];
        // A program is inserted at the start, and another one is changed slightly.
        let b = vec![
            named("fp0", &[20, 21]),
            named("fp1", &[1, 2, 3]),
            named("fp2", &[4, 5, 9]),
            named("fp3", &[7; 9]),
        ];
        assert_eq!(names(a(), b), ["fp0 and fp1", "fp1 and fp2", "fp2 and fp3", "fp0"]);
        // Duplicates keep their order; without common instructions, programs match by number.
        let b = vec![named("fp0", &[30]), named("fp1", &[31]), named("fp2", &[32])];
        assert_eq!(names(a(), b), ["fp0", "fp1", "fp2"]);
    }

    #[test]
    fn names_that_say_something_count_before_content() {
        let a = vec![named("blur", &[1, 2]), named("blur", &[3]), named("sky", &[5])];
        let b = vec![named("sky", &[1, 2]), named("blur", &[5]), named("blur", &[6])];
        let pairs = pairs(a, b);
        let found: Vec<_> = pairs
            .iter()
            .map(|pair| {
                let word = |n: usize| pair.jobs[n].as_ref().map(|job| job.program.code[0].0[0]);
                (pair.name.as_str(), word(0), word(1))
            })
            .collect();
        let wanted =
            [("blur", Some(1), Some(5)), ("blur", Some(3), Some(6)), ("sky", Some(5), Some(1))];
        assert_eq!(found, wanted);
    }
}
