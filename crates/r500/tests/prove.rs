//! Proofs of equivalence: proved programs are equal, and most results of the optimiser are proved.
//!
//! `R500_MUTATIONS=1000 cargo test --release -p r500 --test prove` tries more changed programs than the default.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::expect_used, clippy::panic)]

use std::io::Write as _;
use std::path::Path;

use r500::equivalence::{Known, Proof, Trial, prove, prove_with};
use r500::formats::{Limits, read};
use r500::opt::{Allowance, Options, optimize};
use r500::optimizer;
use r500::program::Job;
use r500_gen::{Case, Rng, Shape};

/// Returns the captures of a folder of the corpus.
fn captures(folder: &str) -> Vec<Job> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus").join(folder);
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "json"))
        .collect();
    files.sort();
    let jobs = files
        .iter()
        .flat_map(|file| read(&std::fs::read(file).unwrap(), None, &Limits::default()).unwrap());
    jobs.collect()
}

/// Returns the distinct programs of piglit's tests, without state.
fn piglit() -> Vec<Job> {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/piglit/programs.json");
    read(&std::fs::read(file).unwrap(), None, &Limits::default()).unwrap()
}

fn note(text: &str) {
    // Not by a macro of the standard library, whose output is shown for failed tests only.
    std::io::stderr().write_all(text.as_bytes()).unwrap();
}

#[test]
fn programs_are_equal_to_themselves() {
    let mut unknown = Vec::new();
    for job in captures("mesa") {
        if let Proof::Unknown(why) = prove(&job.program, &job.program) {
            unknown.push(format!("{}: {why}", job.name));
        }
    }
    // These can observe the size of a group of pixels.
    assert!(unknown.len() <= 5, "{unknown:#?}");
}

/// Proves the optimiser's results for some programs: at least the given percentage.
fn proves_optimized(title: &str, jobs: &[Job], floor: usize) {
    let (mut proved, mut unknown) = (0, Vec::new());
    for job in jobs {
        let optimized = optimize(&job.program, &Options::default());
        if optimized.changes.is_empty() {
            continue;
        }
        match prove(&job.program, &optimized.program) {
            Proof::Proved | Proof::ProvedIfCovered => proved += 1,
            Proof::Unknown(why) => unknown.push(format!("{}: {why}", job.name)),
        }
    }
    let all = proved + unknown.len();
    note(&format!("{title}: {proved} of {all} changed programs proved; else {unknown:#?}\n"));
    assert!(proved * 100 >= all * floor);
}

#[test]
fn optimized_captures_are_proved() {
    proves_optimized("Mesa 22.3.6", &captures("mesa"), 90);
    proves_optimized("Mesa 25.0.7", &captures("mesa25"), 90);
}

#[test]
fn optimized_piglit_programs_are_proved() {
    proves_optimized("piglit", &piglit(), 97);
}

/// Returns assembly with `{}` replaced by one of two texts.
fn verdict(source: &str, [a, b]: [&str; 2]) -> Proof {
    let [a, b] = [a, b].map(|text| {
        let source = source.replace("{}", text);
        let jobs = r500::reader::read(source.as_bytes(), None, None, &Limits::default());
        jobs.unwrap_or_else(|error| panic!("{source}: {error}")).remove(0)
    });
    let proof = prove(&a.program, &b.program);
    let trial = Trial::run(&a, &b, 64);
    let is_different = matches!(trial, Trial::Different { .. });
    assert!(proof != Proof::Proved || !is_different, "{source}: {trial:?}");
    proof
}

/// Each normalisation of the prover on two programs that it makes equal, and on two similar ones that a trial or the
/// sign of a zero distinguishes.
#[test]
fn normal_forms_and_near_misses() {
    const OUT: &str = "OUT src0.rgb = temp[1], src1.rgb = temp[2] : out[0].rgb = ";
    let after = |out: &str| format!("{{}}\n{OUT}{out}, out[0].a = MAX src0.1 src0.1 ;");
    let plain = after("MAX src0.rgb src0.rgb");
    // The sum with 1 hides the sign of a zero, the sum with -0 does not.
    let sum = after("MAD src0.rgb src0.111 src0.111");
    let rcp = "{}\nsrc0.a = temp[1] : temp[1].a = RCP src0.a ;\n\
               OUT src0.rgb = temp[1], src0.a = temp[1] : out[0].rgb = MAX src0.aaa src0.aaa ;";
    let copy = "src0.rgb = temp[0] : temp[1].rgb = MAX src0.rgb src0.rgb ;";
    let mad = "src0.rgb = temp[0] : temp[1].rgb = MAD src0.rgb src0.111 src0.000 ;";
    let alpha = ["temp[1].a = MAX src0.a src0.a ;", "temp[1].a = MAD src0.a src0.1 src0.0 ;"]
        .map(|text| format!("src0.a = temp[0] : {text}"));
    let negative = "src0.rgb = temp[0] : temp[1].rgb = MAD -src0.rgb src0.111 src0.000 ;";
    for (source, pair, proved) in [
        (&sum, [copy, mad], true),
        (&plain, [copy, mad], false),
        (&rcp.to_owned(), [&alpha[0], &alpha[1]], false),
        (&sum, [negative, "src0.rgb = temp[0] : temp[1].rgb = MAX -src0.rgb -src0.rgb ;"], true),
        (&sum, [negative, mad], false),
        // x + x and 2x.
        (
            &plain,
            [
                "src0.rgb = temp[0] : temp[1].rgb = MAD src0.rgb src0.111 src0.rgb ;",
                "src0.rgb = temp[0] : temp[1].rgb = 2.0 * MAD src0.rgb src0.111 -src0.000 ;",
            ],
            true,
        ),
        // Factors change places, minima do not: of zeros with two signs, the second is returned.
        (
            &plain,
            [
                "src0.rgb = temp[0], src1.rgb = const[0] : temp[1].rgb = MAD src0.rgb src1.rgb src0.000 ;",
                "src0.rgb = temp[0], src1.rgb = const[0] : temp[1].rgb = MAD src1.rgb src0.rgb src0.000 ;",
            ],
            true,
        ),
        (
            &plain,
            [
                "src0.rgb = temp[0], src1.rgb = const[0] : temp[1].rgb = MIN src0.rgb src1.rgb ;",
                "src0.rgb = temp[0], src1.rgb = const[0] : temp[1].rgb = MIN src1.rgb src0.rgb ;",
            ],
            false,
        ),
    ] {
        assert_eq!(verdict(source, pair) == Proof::Proved, proved, "{source} with {pair:?}");
    }
}

/// Values in the lanes that use them: a branch on a condition that holds in it already, and one that does not.
#[test]
fn selections_are_compared_in_the_lanes_of_their_branch() {
    let source = "\
        : temp[1].rgb = MAX src0.000 src0.000 ;\n\
        src0.rgb = temp[0] : alu[ge].r = MAX src0.r00 src0.r00 ;\n\
        IF alu ;\n\
        src0.rgb = temp[0], src1.rgb = const[0] : temp[1].rgb = {} ;\n\
        ENDIF ;\n\
        OUT src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ;";
    let cmp = "CMP src1.rgb src1.gbr src0.rrr";
    assert_eq!(verdict(source, [cmp, "MAX src1.rgb src1.rgb"]), Proof::Proved);
    assert_ne!(verdict(source, [cmp, "MAX src1.gbr src1.gbr"]), Proof::Proved);
    // Of green, the branch knows nothing.
    assert_ne!(
        verdict(source, ["CMP src1.rgb src1.gbr src0.ggg", "MAX src1.rgb src1.rgb"]),
        Proof::Proved
    );
}

/// Loops: carried values in other registers, exits in another form; another start, another exit.
#[test]
fn loops_are_compared_in_the_lanes_that_execute_them() {
    let source = "\
        : temp[1].r = MAX src0.000 src0.000 ;\n\
        : temp[2].r = {} ;\n\
        REP int[0] ;\n\
        src0.rgb = temp[1], src1.rgb = temp[0] : temp[1].r = MAD src0.r00 src0.100 src1.r00 ;\n\
        src0.rgb = temp[1], src1.rgb = const[0] : alu[ge].r = MAD src0.r00 src0.100 -src1.r00 ;\n";
    let guarded = "IF alu ;\nBREAK ;\nENDIF ;\n";
    let direct = "BREAK IF alu ;\n";
    let inverse = "BREAK IF !alu ;\n";
    let end = "\
        src0.rgb = temp[2] : temp[2].r = MAD src0.r00 src0.100 src0.100 ;\n\
        ENDREP ;\n\
        OUT src0.rgb = temp[1], src1.rgb = temp[2] : out[0].rgb = MAD src0.rrr src1.rrr src1.rrr, out[0].a = MAX src0.1 src0.1 ;";
    let zero = "MAX src0.000 src0.000";
    let template = "{}";
    let with = |start: &str, exit: &str| format!("{}{exit}{end}", source.replace("{}", start));
    let both = |a: String, b: String| verdict(template, [&a, &b]);
    assert_eq!(both(with(zero, guarded), with(zero, direct)), Proof::Proved);
    assert_ne!(both(with(zero, guarded), with(zero, inverse)), Proof::Proved);
    assert_ne!(both(with(zero, guarded), with("MAX src0.100 src0.100", direct)), Proof::Proved);
    // A loop that reads another constant iterates as often only by chance.
    let other = with(zero, direct).replace("int[0]", "int[1]");
    assert_ne!(both(with(zero, direct), other), Proof::Proved);
}

/// Soundness: a program with one bit changed is proved equal only where no run tells the two apart.
#[test]
fn changed_bits_are_not_proved() {
    let jobs = captures("mesa");
    let count = std::env::var("R500_MUTATIONS").map_or(40, |text| text.parse().unwrap());
    let (mut proved, mut differing) = (0, 0);
    for seed in 0..count {
        let mut rng = Rng::new(seed);
        let mut pick = |below: usize| (rng.next_u64() % below as u64) as usize;
        let job = &jobs[pick(jobs.len())];
        let mut changed = job.clone();
        let at = pick(changed.program.code.len());
        changed.program.code[at].0[pick(6)] ^= 1 << pick(32);
        if changed.program.code == job.program.code {
            continue;
        }
        let verdict = prove(&job.program, &changed.program);
        if verdict != Proof::Proved {
            differing += 1;
            continue;
        }
        proved += 1;
        if let Trial::Different { round, difference } = Trial::run(job, &changed, 16) {
            panic!("{} {at}, seed {seed}: proved, but round {round}: {difference:?}", job.name);
        }
    }
    note(&format!("{proved} of {count} changed programs proved, {differing} not\n"));
    assert!(proved > 0 && differing > 0);
}

/// Soundness on what drivers do not emit: generated programs with branches, loops, calls and predicates, one bit changed.
#[test]
fn changed_bits_of_generated_programs_are_not_proved() {
    let count = std::env::var("R500_MUTATIONS").map_or(25, |text| text.parse().unwrap());
    let (mut proved, mut differing) = (0, 0);
    for seed in 0..count {
        let mut rng = Rng::new(!seed);
        let job = Case::generate(&mut rng, &Shape::default()).bare_job("generated");
        let mut changed = job.clone();
        let mut pick = |below: usize| (rng.next_u64() % below as u64) as usize;
        let at = pick(changed.program.code.len());
        changed.program.code[at].0[pick(6)] ^= 1 << pick(32);
        if prove(&job.program, &changed.program) != Proof::Proved {
            differing += 1;
            continue;
        }
        proved += 1;
        if let Trial::Different { round, difference } = Trial::run(&job, &changed, 8) {
            panic!("address {at}, seed {seed}: proved, but round {round}: {difference:?}");
        }
    }
    note(&format!("{proved} of {count} changed generated programs proved, {differing} not\n"));
    assert!(proved > 0 && differing > 0);
}

/// Trials compare every channel.
#[test]
fn a_trial_sees_a_difference_in_one_channel() {
    for (n, letter) in ["r", "g", "b"].into_iter().enumerate() {
        let text = |factor: &str| {
            format!(
                "OUT src0.rgb = temp[0], src1.rgb = const[0] : out[0].rgb = MAD src0.rgb src1.{factor} src0.000, \
                 out[0].a = MAX src0.1 src0.1 ;"
            )
        };
        let mut swizzle = ["r", "g", "b"];
        swizzle[n] = if letter == "r" { "g" } else { "r" };
        let [a, b] = [text("rgb"), text(&swizzle.concat())].map(|text| {
            let jobs = r500::reader::read(text.as_bytes(), None, None, &Limits::default());
            jobs.unwrap().remove(0)
        });
        assert!(matches!(Trial::run(&a, &b, 8), Trial::Different { .. }), "{letter}");
    }
}

/// Mesa's programs with or without its optimisations, with the textures of the captures.
fn pairs(folder: &str) -> Vec<Job> {
    let mut jobs = captures(folder);
    for (job, bound) in jobs.iter_mut().zip(captures("mesa")) {
        assert_eq!(job.name, bound.name);
        job.textures = bound.textures;
    }
    jobs
}

/// Soundness where uniforms have names and textures are known.
#[test]
fn changed_bits_of_known_bindings_are_not_proved() {
    let jobs = pairs("pairs/opt");
    let count = std::env::var("R500_MUTATIONS").map_or(25, |text| text.parse().unwrap());
    let (mut proved, mut differing) = (0, 0);
    for seed in 0..count {
        let mut rng = Rng::new(seed ^ 0x626f_756e);
        let mut pick = |below: usize| (rng.next_u64() % below as u64) as usize;
        let job = &jobs[pick(jobs.len())];
        let mut changed = job.clone();
        let at = pick(changed.program.code.len());
        changed.program.code[at].0[pick(6)] ^= 1 << pick(32);
        let known = Known::bound(job, &changed);
        if prove_with(&job.program, &changed.program, &known) != Proof::Proved {
            differing += 1;
            continue;
        }
        proved += 1;
        if let Trial::Different { round, difference } = Trial::run_with(job, &changed, 16, &known) {
            panic!("{} {at}, seed {seed}: proved, but round {round}: {difference:?}", job.name);
        }
    }
    note(&format!(
        "{proved} of {count} changed programs with known bindings proved, {differing} not\n"
    ));
    assert!(proved > 0 && differing > 0);
}

#[test]
fn mesa_optimisations_are_proved_or_distinguished() {
    let [before, after] = ["pairs/noopt", "pairs/opt"].map(pairs);
    let (mut equal, mut proved) = (0, 0);
    let (mut unknown, mut differing) = (Vec::new(), Vec::new());
    for (a, b) in before.iter().zip(&after) {
        let known = Known::bound(a, b);
        let proof = prove_with(&a.program, &b.program, &known);
        match (Trial::run_with(a, b, 24, &known), proof) {
            (Trial::Equal { .. }, Proof::Proved | Proof::ProvedIfCovered) => {
                (equal, proved) = (equal + 1, proved + 1);
            }
            (Trial::Equal { .. }, Proof::Unknown(why)) => {
                equal += 1;
                unknown.push(format!("{}: {why}", a.name));
            }
            (trial, proof) => {
                assert_ne!(proof, Proof::Proved, "{}: {trial:?}", a.name);
                differing.push(a.name.clone());
            }
        }
    }
    note(&format!(
        "{proved} of {equal} equal pairs proved; else {unknown:#?}; different: {differing:?}\n"
    ));
    // Both compilations of these are in the corpus: Mesa's optimiser breaks them.
    assert_eq!(differing, ["loop_break_continue", "loop_break_deep"]);
    assert!(proved * 100 >= equal * 90, "{proved} of {equal}");
}

/// Assembly read as a job.
fn job(source: &str) -> Job {
    r500::reader::read(source.as_bytes(), None, None, &Limits::default()).unwrap().remove(0)
}

#[test]
fn names_correspond_and_other_constants_are_literals() {
    let a = "UNIFORM gain = const[0].r ; const[0] = (3, 0, 0, 0) ; const[1] = (2, 0, 0, 0) ;
         src0.rgb = temp[0], src1.rgb = const[1] : temp[0].rgb = MAD src0.rgb src1.rrr src0.000 ;
         OUT src0.rgb = temp[0], src1.rgb = const[0] : out[0].rgb = MAD src0.rgb src1.rrr src0.000 ;";
    let b = |uniform: &str| {
        format!(
            "UNIFORM gain = const[4].{uniform} ; const[4] = (3, 3, 0, 0) ;
             src0.rgb = temp[0] : temp[0].rgb = 2.0 * MAD src0.rgb src0.111 src0.000 ;
             OUT src0.rgb = temp[0], src1.rgb = const[4] : out[0].rgb = MAD src0.rgb src1.ggg src0.000 ;"
        )
    };
    let [a, same, other] = [a, &b("g"), &b("r")].map(job);
    let proof = |b: &Job| prove_with(&a.program, &b.program, &Known::bound(&a, b));
    assert_eq!(proof(&same), Proof::Proved);
    assert_ne!(prove(&a.program, &same.program), Proof::Proved);
    // There, 3 is a literal where the first program has the uniform.
    assert_ne!(proof(&other), Proof::Proved);
    let trial = Trial::run_with(&a, &other, 4, &Known::bound(&a, &other));
    assert!(matches!(trial, Trial::Different { round: 1.., .. }), "{trial:?}");
}

/// A copy by MAD makes +0 of -0, so the minimum is an output itself only where signs of zeros do not count.
#[test]
fn signs_of_zeros_change_only_where_that_is_allowed() {
    let job = job("src0.rgb = temp[0], src1.rgb = const[0] : temp[1].rgb = MIN src0.rgb src1.rgb ;
         OUT src0.rgb = temp[1] : out[0].rgb = MAD src0.rgb src0.111 src0.000 ;");
    let exact = optimizer::optimize(&job, &Options::default());
    assert_eq!(exact.job.program.code.len(), 2);
    let allow = Options { allow: vec![Allowance::ZeroSign], ..Options::default() };
    let allowed = optimizer::optimize(&job, &allow);
    assert_eq!(allowed.job.program.code.len(), 1);
    assert!(!allowed.evidence.is_refusal(), "{:?}", allowed.evidence);
    assert_ne!(prove(&job.program, &allowed.job.program), Proof::Proved);
}
