//! Matching of the programs of two files or folders by what they are.
//!
//! Programs with proper names match by path and name. The names in logs are only numbers, which another shader shifts: these programs match
//! by the text of the shader, then by their instructions, then by what they have most in common. A shader that is compiled twice to the
//! same program is one program.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use r500::isa::Instruction;
use r500::program::Job;

/// What a program is.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    /// The path below the folder; empty for a file.
    pub(super) below: String,
    /// Its name in the file.
    pub(super) inside: String,
    /// Whether it stands for its file, whatever its name: its only program.
    pub(super) alone: bool,
    /// The shader as the driver received it; empty if unknown.
    source: String,
    code: Vec<[u32; 6]>,
}

impl Identity {
    pub(super) fn new(below: String, inside: String, job: &Job) -> Self {
        let source = job.compilation.as_ref().map_or(String::new(), |c| c.source.clone());
        let code = job.program.code.iter().map(|Instruction(words)| *words).collect();
        Self { below, inside, alone: false, source, code }
    }

    /// Returns whether the name is only a number: of programs in logs, and of unnamed ones. Inserting a program changes
    /// it.
    pub(super) fn is_counted(&self) -> bool {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let name = self.inside.rsplit(':').next().unwrap_or_default();
        ["fp", "#"].iter().any(|start| name.strip_prefix(start).is_some_and(digits))
    }
}

/// Returns for each program whether an earlier one of the same file is the same compilation of the same shader.
pub(super) fn repeated(programs: &[&Identity]) -> Vec<bool> {
    let mut seen = HashSet::new();
    programs
        .iter()
        .map(|program| {
            let Identity { below, source, code, .. } = program;
            program.is_counted() && !source.is_empty() && !seen.insert((below, source, code))
        })
        .collect()
}

/// Returns the matching program of B for each of A.
pub(super) fn partners(a: &[&Identity], b: &[&Identity]) -> Vec<Option<usize>> {
    let mut matching = Matching { partners: vec![None; a.len()], free: vec![true; b.len()] };
    matching.by_key(a, b, |it| it.alone.then_some(&*it.below));
    // Proper names; repeated ones match in file order.
    matching.by_key(a, b, |it| (!it.is_counted()).then_some((&*it.below, &*it.inside)));
    let known = |it: &Identity| it.is_counted() && !it.source.is_empty();
    // The same shader: first the same program of it, then in file order; in the same file, then in any.
    matching.by_key(a, b, |it| known(it).then_some((&*it.below, &*it.source, &it.code)));
    matching.by_key(a, b, |it| known(it).then_some((&*it.below, &*it.source)));
    matching.by_key(a, b, |it| it.is_counted().then_some((&*it.below, &it.code)));
    matching.by_key(a, b, |it| known(it).then_some(&*it.source));
    matching.by_likeness(a, b);
    matching.partners
}

struct Matching {
    partners: Vec<Option<usize>>,
    free: Vec<bool>,
}

impl Matching {
    fn pair(&mut self, m: usize, n: usize) {
        self.partners[m] = Some(n);
        self.free[n] = false;
    }

    /// Matches programs with equal keys, in file order.
    fn by_key<'a, K: Ord>(
        &mut self,
        a: &[&'a Identity],
        b: &[&'a Identity],
        key: impl Fn(&'a Identity) -> Option<K>,
    ) {
        let mut open: BTreeMap<K, Vec<usize>> = BTreeMap::new();
        for n in (0..b.len()).rev().filter(|&n| self.free[n]) {
            if let Some(key) = key(b[n]) {
                open.entry(key).or_default().push(n);
            }
        }
        for m in 0..a.len() {
            if self.partners[m].is_none()
                && let Some(n) = key(a[m]).and_then(|key| open.get_mut(&key)?.pop())
            {
                self.pair(m, n);
            }
        }
    }

    /// Matches what is left of the same file: most instructions in common, the most similar pair first; the same name wins
    /// ties.
    fn by_likeness(&mut self, a: &[&Identity], b: &[&Identity]) {
        let sorted = |it: &Identity| {
            let mut code = it.code.clone();
            code.sort_unstable();
            code
        };
        let others: Vec<(usize, Vec<[u32; 6]>)> = (0..b.len())
            .filter(|&n| b[n].is_counted() && self.free[n])
            .map(|n| (n, sorted(b[n])))
            .collect();
        let mut candidates = Vec::new();
        for m in (0..a.len()).filter(|&m| a[m].is_counted() && self.partners[m].is_none()) {
            let own = sorted(a[m]);
            for (n, other) in others.iter().filter(|(n, _)| b[*n].below == a[m].below) {
                let share = 2000 * common(&own, other) / (own.len() + other.len()).max(1);
                // Shaders with other texts and no instruction in common are other shaders.
                if share == 0 && !a[m].source.is_empty() && !b[*n].source.is_empty() {
                    continue;
                }
                let same_name = a[m].inside == b[*n].inside;
                candidates.push((Reverse((share, same_name)), m, *n));
            }
        }
        candidates.sort_unstable();
        for (_, m, n) in candidates {
            if self.partners[m].is_none() && self.free[n] {
                self.pair(m, n);
            }
        }
    }
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
    use super::*;

    fn identity(below: &str, inside: &str, source: &str, words: &[u32]) -> Identity {
        Identity {
            below: below.to_owned(),
            inside: inside.to_owned(),
            alone: false,
            source: source.to_owned(),
            code: words.iter().map(|&word| [word; 6]).collect(),
        }
    }

    fn partners_of(a: &[Identity], b: &[Identity]) -> Vec<Option<usize>> {
        partners(&a.iter().collect::<Vec<_>>(), &b.iter().collect::<Vec<_>>())
    }

    #[test]
    fn shaders_match_although_their_numbers_and_programs_changed() {
        let a = [identity("x", "fp0", "sky", &[1, 2]), identity("x", "fp1", "sea", &[3])];
        let b = [
            identity("x", "fp0", "new", &[1, 2]),
            identity("x", "fp1", "sea", &[9]),
            identity("x", "fp2", "sky", &[8]),
        ];
        assert_eq!(partners_of(&a, &b), [Some(2), Some(1)]);
    }

    #[test]
    fn shaders_of_renamed_files_match() {
        let a = [identity("old", "fp0", "sky", &[1])];
        let b = [identity("new", "fp0", "sea", &[1]), identity("new", "fp1", "sky", &[5])];
        assert_eq!(partners_of(&a, &b), [Some(1)]);
    }

    #[test]
    fn a_shader_compiled_twice_is_one() {
        let all = [
            identity("x", "fp0", "sky", &[1]),
            identity("x", "fp1", "sky", &[1]),
            identity("x", "fp2", "sky", &[2]),
            identity("x", "fp3", "", &[1]),
            identity("x", "fp4", "", &[1]),
        ];
        let repeated = repeated(&all.iter().collect::<Vec<_>>());
        assert_eq!(repeated, [false, true, false, false, false]);
    }

    #[test]
    fn without_text_the_most_similar_programs_match() {
        let a = [identity("x", "fp0", "", &[1, 2, 3]), identity("x", "fp1", "", &[7, 8])];
        let b = [identity("x", "fp0", "", &[7, 9]), identity("x", "fp1", "", &[1, 2, 4])];
        assert_eq!(partners_of(&a, &b), [Some(1), Some(0)]);
    }

    #[test]
    fn proper_names_match_in_order() {
        let a = [identity("", "blur", "", &[1]), identity("", "sky", "", &[5])];
        let b = [identity("", "sky", "", &[1]), identity("", "blur", "", &[2])];
        assert_eq!(partners_of(&a, &b), [Some(1), Some(0)]);
    }
}
