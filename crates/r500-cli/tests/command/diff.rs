//! `r500 diff`.

use std::time::{Duration, Instant};

use super::{CONSTANT, Folder, corpus, r500};

#[test]
fn an_endless_comparison_ends_undecided() {
    let folder = Folder::new("diff-endless");
    // JUMP always, to itself; then a program that reads a constant, so that values are filled.
    let jump = "0x00000002, 0, 0x0000ff00, 0, 0, 0,\n";
    let program = folder.write("endless.inc", format!("{jump}{CONSTANT}"));
    let jump_only_at_the_end = folder.write("other.inc", format!("{CONSTANT}{CONSTANT}"));
    r500(&["diff", &program, &program, "--run", "--limit-time", "5"]).status(3);
    r500(&["diff", &program, &jump_only_at_the_end, "--run", "--limit-time", "5"]).status(3);
}

/// A file that lacks a constant may lack just the literal of the other file, under this or another number.
#[test]
fn a_missing_constant_may_be_the_literal_of_the_other_file() {
    let folder = Folder::new("diff-literal");
    let reads =
        |n: usize| format!("OUT src0.rgb = const[{n}] : out[0].rgb = MAX src0.rgb src0.rgb ;\n");
    let literal = folder.write("literal.r5", format!("const[0] = (3, 3, 3, 3) ;\n{}", reads(0)));
    for n in [0, 2] {
        let lacking = folder.write("lacking.r5", reads(n));
        r500(&["diff", &literal, &lacking, "--run"])
            .status(3)
            .shows("undecided: a result depends on what a program reads and does not carry");
        r500(&["diff", &lacking, &literal, "--run"]).status(3);
    }
    // A product with 0 under ZERO_TIMES_ANYTHING_EQUALS_ZERO is 0, whatever the missing constant is.
    let product = folder.write(
        "product.r5",
        "US_CONFIG = ZERO_TIMES_ANYTHING_EQUALS_ZERO ;\n\
         OUT src0.rgb = const[0] : out[0].rgb = MAD src0.rgb src0.000 src0.000 ;\n",
    );
    r500(&["diff", &literal, &product, "--run"]).status(1);
    let without = folder.write("without.r5", "OUT : out[0].rgb = MAX src0.111 src0.111 ;\n");
    r500(&["diff", &literal, &without, "--run"]).status(1);
}

/// Bare programs with a single bit changed: where the real constants tell them apart, filled values must not
/// call them equal; and a verdict says what corresponds. `R500_MUTATIONS` sets how many.
#[test]
#[allow(clippy::print_stdout, reason = "an experiment: the figures are its result")]
fn filled_values_find_what_real_constants_find() {
    use r500::equivalence::Pair;
    use r500::exec::{Limits, Options, reference::Reference};
    use r500::program::Program;
    use r500_gen::{Choices, Rng};

    let count = std::env::var("R500_MUTATIONS").map_or(12, |n| n.parse().unwrap());
    let folder = Folder::new("diff-filled");
    let mut rng = Rng::new(7);
    let entries = std::fs::read_dir(corpus("mesa")).unwrap().map(|entry| entry.unwrap().path());
    let mut captures: Vec<_> =
        entries.filter(|p| p.extension().is_some_and(|e| e == "json")).collect();
    captures.sort();
    let limits = Limits { instructions: 100_000, ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    let (mut compared, mut differed, mut found, mut longest) = (0, 0, 0, Duration::ZERO);
    while compared < count {
        let path = &captures[rng.below(captures.len() as u32) as usize];
        let bytes = std::fs::read(path).unwrap();
        let job = r500::reader::read(&bytes, None, None, &r500::formats::Limits::default())
            .unwrap()
            .remove(0);
        let mut broken = job.clone();
        let at = rng.below(job.program.code.len() as u32) as usize;
        broken.program.code[at].0[rng.below(6) as usize] ^= 1 << rng.below(32);
        let Ok(pair) = Pair::new(job.clone(), broken.clone(), Some([16, 16])) else { continue };
        let jobs = pair.jobs.clone();
        let Ok(real) = pair.compare(&jobs, &Reference, &options, None) else { continue };
        compared += 1;
        let bare = |name: &str, job: &r500::program::Job| {
            let job =
                r500::program::Job::from_program(Program::from_code(job.program.code.clone()));
            let mut text = Vec::new();
            r500::formats::write(&job, r500::formats::Format::CArray, &mut text).unwrap();
            folder.write(name, text)
        };
        let (a, b) = (bare("a.inc", &job), bare("b.inc", &broken));
        let start = Instant::now();
        let run = r500(&["diff", &a, &b, "--run"]);
        longest = longest.max(start.elapsed());
        let case = format!("{} instruction {at}: {}", path.display(), run.text());
        if real.differing > 0 {
            differed += 1;
            found += usize::from(run.status == 1);
            assert_ne!(run.status, 0, "{case}");
        }
        assert!(run.status != 0 || case.contains("\nshared: "), "{case}");
    }
    println!(
        "{compared} mutations; {differed} differ with the real constants: {found} found, the others undecided; \
         the longest took {longest:.1?}"
    );
    assert!(differed > compared / 8, "{differed} of {compared} mutations show");
}
