//! Matching of the programs of two folders or files: by path and name, or by content if a name is only a number.

use std::collections::BTreeMap;
use std::path::Path;

use r500::isa::Instruction;
use r500::program::Job;

use crate::command::exit::{Outcome, Status};
use crate::command::input_args::{self, ReadArgs};

/// A program of a file or folder.
pub(super) struct Named {
    /// The path below the folder, without extension; empty for a file.
    below: String,
    /// Its name in the file.
    inside: String,
    pub(super) job: Job,
}

impl Named {
    pub(super) fn name(&self) -> String {
        let Self { below, inside, .. } = self;
        if below.is_empty() || below == inside {
            inside.clone()
        } else {
            format!("{below}:{inside}")
        }
    }

    /// Returns whether the name is only a number: of programs in logs, and of unnamed ones. Inserting a program changes
    /// it.
    fn is_counted(&self) -> bool {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        ["fp", "#"].iter().any(|start| self.inside.strip_prefix(start).is_some_and(digits))
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
            found.push(Named { below: below.clone(), inside, job });
        })?;
    }
    Ok(found)
}

/// Matches the programs of A with those of B, in the order of A; unmatched ones of B are last.
pub(super) fn pairs(a: Vec<Named>, b: Vec<Named>) -> Vec<Pair> {
    let partners = partners(&a, &b);
    let mut rest: Vec<Option<Named>> = b.into_iter().map(Some).collect();
    let mut pairs: Vec<Pair> = a
        .into_iter()
        .zip(partners)
        .map(|(a, partner)| {
            let mut name = a.name();
            let b = partner.and_then(|n| rest[n].take());
            if let Some(b) = b.as_ref().filter(|b| b.inside != a.inside) {
                name = format!("{name} and {}", b.inside);
            }
            Pair { name, jobs: [Some(a.job), b.map(|b| b.job)] }
        })
        .collect();
    let alone = rest.into_iter().flatten();
    pairs.extend(alone.map(|b| Pair { name: b.name(), jobs: [None, Some(b.job)] }));
    pairs
}

/// Returns the matching program of B for each of A.
fn partners(a: &[Named], b: &[Named]) -> Vec<Option<usize>> {
    let mut partners = vec![None; a.len()];
    let mut free = vec![true; b.len()];
    let pair = |partners: &mut [Option<usize>], free: &mut [bool], m: usize, n: usize| {
        partners[m] = Some(n);
        free[n] = false;
    };
    // Proper names; repeated ones match in file order.
    let mut by_name: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (n, b) in b.iter().enumerate().rev().filter(|(_, b)| !b.is_counted()) {
        by_name.entry((&b.below, &b.inside)).or_default().push(n);
    }
    for (m, a) in a.iter().enumerate().filter(|(_, a)| !a.is_counted()) {
        if let Some(n) = by_name.get_mut(&(&*a.below, &*a.inside)).and_then(Vec::pop) {
            pair(&mut partners, &mut free, m, n);
        }
    }
    // Equal instructions, in file order.
    let mut by_code: BTreeMap<(&str, Vec<[u32; 6]>), Vec<usize>> = BTreeMap::new();
    for (n, b) in b.iter().enumerate().rev().filter(|(_, b)| b.is_counted()) {
        by_code.entry((&b.below, code(&b.job))).or_default().push(n);
    }
    for (m, a) in a.iter().enumerate().filter(|(_, a)| a.is_counted()) {
        if let Some(n) = by_code.get_mut(&(&*a.below, code(&a.job))).and_then(Vec::pop) {
            pair(&mut partners, &mut free, m, n);
        }
    }
    // Most instructions in common, the most similar pair first; the same name wins ties.
    let left: Vec<usize> =
        (0..a.len()).filter(|&m| a[m].is_counted() && partners[m].is_none()).collect();
    let sorted = |named: &Named| {
        let mut code = code(&named.job);
        code.sort_unstable();
        code
    };
    let others: Vec<(usize, Vec<[u32; 6]>)> = (0..b.len())
        .filter(|&n| b[n].is_counted() && free[n])
        .map(|n| (n, sorted(&b[n])))
        .collect();
    let mut candidates = Vec::new();
    for m in left {
        let own = sorted(&a[m]);
        for (n, other) in others.iter().filter(|(n, _)| b[*n].below == a[m].below) {
            let share = 2000 * common(&own, other) / (own.len() + other.len()).max(1);
            let same_name = a[m].inside == b[*n].inside;
            candidates.push((std::cmp::Reverse((share, same_name)), m, *n));
        }
    }
    candidates.sort_unstable();
    for (_, m, n) in candidates {
        if partners[m].is_none() && free[n] {
            pair(&mut partners, &mut free, m, n);
        }
    }
    partners
}

fn code(job: &Job) -> Vec<[u32; 6]> {
    job.program.code.iter().map(|Instruction(words)| *words).collect()
}

/// Returns the number of common instructions of two sorted programs.
fn common(a: &[[u32; 6]], b: &[[u32; 6]]) -> usize {
    let (mut m, mut n, mut common) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(m), b.get(n)) {
        let order = x.cmp(y);
        common += usize::from(order.is_eq());
        m += usize::from(order.is_le());
        n += usize::from(order.is_ge());
    }
    common
}

#[cfg(test)]
mod tests {
    use r500::program::Program;

    use super::*;

    /// A program with instructions that differ in their first dword.
    fn named(inside: &str, words: &[u32]) -> Named {
        let code = words.iter().map(|&word| Instruction([word, 0, 0, 0, 0, 0])).collect();
        let job = Job::from_program(Program::from_code(code));
        Named { below: String::new(), inside: inside.to_owned(), job }
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
