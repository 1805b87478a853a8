//! `r500 diff`.

use serde_json::Value;

use super::{CONSTANT, Folder, corpus, r500};

/// colour = gain * u + bias, written twice: registers, constants and channels of the input lie
/// elsewhere in the second, which also computes an unused value.
const ONE: &str = "\
    SIZE 8 8 ;
    const[0] = (0.5, 0, 0, 0) ;
    const[1] = (0.25, 0, 0, 0) ;
    UNIFORM gain = const[0].r ;
    UNIFORM bias = const[1].r ;
    INPUT temp[0] = (u \"uv.x\", v \"uv.y\", 0, 1) ;
    src0.rgb = temp[0], src1.rgb = const[0] : temp[1].r = MAD src0.rrr src1.rrr src0.000 ;
    src0.rgb = temp[1], src1.rgb = const[1] : temp[1].r = MAD src0.rrr src0.111 src1.rrr ;
    OUT src0.rgb = temp[1] : out[0].rgb = MAD src0.rrr src0.111 src0.000 ;
";
const TWO: &str = "\
    SIZE 8 8 ;
    const[0] = (9, 0.25, 0, 0) ;
    const[3] = (0, 0, 0.5, 0) ;
    UNIFORM gain = const[3].b ;
    UNIFORM bias = const[0].g ;
    INPUT temp[4] = (v \"uv.y\", 7, u \"uv.x\", 1) ;
    src0.rgb = temp[4], src1.rgb = const[0] : temp[3].g = MAD src0.rrr src1.rrr src0.000 ;
    src0.rgb = temp[4], src1.rgb = const[3] : temp[2].g = MAD src0.bbb src1.bbb src0.000 ;
    src0.rgb = temp[2], src1.rgb = const[0] : temp[2].g = MAD src0.ggg src0.111 src1.ggg ;
    OUT src0.rgb = temp[2] : out[0].rgb = MAD src0.ggg src0.111 src0.000 ;
";

fn json(args: &[&str], status: i32) -> Value {
    let run = r500(&[&["diff", "--format", "json"], args].concat()).status(status);
    serde_json::from_str(run.text()).unwrap()
}

#[test]
fn the_same_program_is_the_same() {
    let capture = corpus("mesa/loop_mandelbrot.json");
    r500(&["diff", &capture, &capture]).status(0).shows("the same: 35 instructions");
    r500(&["diff", &capture, &capture, "--run"]).status(0).shows("equal: 4096 pixels, 64x64");
    let answer = json(&[&capture, &capture], 0);
    assert_eq!(
        (&answer["version"], &answer["same"], &answer["run"]),
        (&1.into(), &true.into(), &Value::Null)
    );
    assert_eq!(answer["changes"].as_array().unwrap().len(), 35);
}

/// `disasm` and `asm` change nothing: a capture and its assembly.
#[test]
fn formats_do_not_matter() {
    let folder = Folder::new("diff-formats");
    let capture = corpus("mesa/tex_mips.json");
    let text = folder.path("tex_mips.r5");
    r500(&["disasm", &capture, "-o", &text]).status(0);
    r500(&["diff", &capture, &text, "--run"]).status(0);
}

#[test]
fn fields_are_told_by_name() {
    let folder = Folder::new("diff-fields");
    let one = folder.write("one.r5", ONE);
    let other = ONE.replace("src0.rrr src0.111 src1.rrr", "src0.rrr src0.111 -src1.rrr");
    let other = folder.write("other.r5", other);
    let run = r500(&["diff", &one, &other]).status(1);
    for line in ["-   1      src0.rgb", "+       1  src0.rgb", "  RGB_MOD_C: NOP -> NEG"] {
        assert!(run.text().contains(line), "no `{line}` in {}", run.text());
    }
    assert!(run.text().ends_with(
        "instructions: 2 the same, 1 changed, 0 only in A, 0 only in B; state: 0 changed\n"
    ));
    let answer = json(&[&one, &other], 1);
    let changed = &answer["changes"][1];
    assert_eq!((&changed["change"], &changed["a"]["address"]), (&"changed".into(), &1.into()));
    let field = &changed["fields"][0];
    assert_eq!(field["field"], "RGB_MOD_C");
    assert_eq!((&field["a_reading"], &field["b_reading"]), (&"NOP".into(), &"NEG".into()));
}

#[test]
fn instructions_that_one_has_alone() {
    let folder = Folder::new("diff-added");
    let one = folder.write("one.r5", ONE);
    let added = "src0.rgb = temp[0] : temp[9].rgb = MAX src0.rgb src0.rgb ;\nOUT src0";
    let other = folder.write("other.r5", ONE.replace("OUT src0", added));
    let answer = json(&[&one, &other], 1);
    let kinds: Vec<_> = answer["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["change"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["same", "same", "added", "same"]);
    // What nothing reads does not matter.
    r500(&["diff", &one, &other, "--run"]).status(0);
}

#[test]
fn two_layouts_of_one_source_compute_the_same() {
    let folder = Folder::new("diff-layouts");
    let (one, two) = (folder.write("one.r5", ONE), folder.write("two.r5", TWO));
    r500(&["diff", &one, &two]).status(1);
    let run = r500(&["diff", &one, &two, "--run", "--random", "20", "--seed", "3"]).status(0);
    assert!(
        run.text().contains("equal: 1344 pixels, 8x8 with what the programs carry and 20 times")
    );
    assert!(
        run.text().contains("shared: inputs uv.x, uv.y; constants bias, gain"),
        "{}",
        run.text()
    );
    let answer = json(&[&one, &two, "--random", "2"], 0);
    let run = &answer["run"];
    assert_eq!((&run["verdict"], &run["rounds"]), (&"equal".into(), &2.into()));
    // gain: const[0].r, const[3].b.
    assert_eq!(run["shared"]["constants"][1]["a"], serde_json::json!([[0, 0]]));
    assert_eq!(run["shared"]["constants"][1]["b"], serde_json::json!([[3, 2]]));
}

/// Shards together find what all find: each round is one of exactly one shard.
#[test]
fn shards_share_the_rounds() {
    let folder = Folder::new("diff-shards");
    let (one, two) = (folder.write("one.r5", ONE), folder.write("two.r5", TWO));
    let rounds = |shard: &str| {
        let args = [one.as_str(), two.as_str(), "--random", "5", "--shard", shard];
        json(&args, 0)["run"]["rounds"].as_u64().unwrap()
    };
    assert_eq!((rounds("1/2"), rounds("2/2")), (3, 2));
}

/// |gain| for gain: the constants that the programs carry hide it.
#[test]
fn random_values_find_what_the_captured_ones_hide() {
    let folder = Folder::new("diff-random");
    let one = folder.write("one.r5", ONE);
    let wrong = TWO.replace(
        "temp[2].g = MAD src0.bbb src1.bbb src0.000 ;",
        "temp[2].g = MAD src0.bbb |src1.bbb| src0.000 ;",
    );
    assert_ne!(wrong, TWO);
    let wrong = folder.write("wrong.r5", wrong);
    r500(&["diff", &one, &wrong, "--run"]).status(0);
    let answer = json(&[&one, &wrong, "--run", "--random", "50"], 1);
    let run = &answer["run"];
    assert_eq!(run["verdict"], "different");
    assert!(run["round"].is_u64(), "{run}");
    // MAD of gain: address 0 in A, 1 in B, which computes something else first.
    assert_eq!(
        (&run["parting"]["a"]["address"], &run["parting"]["b"]["address"]),
        (&0.into(), &1.into())
    );
    // The same seed finds the same.
    assert_eq!(json(&[&one, &wrong, "--run", "--random", "50"], 1)["run"], answer["run"]);
    r500(&["diff", &one, &wrong, "--run", "--random", "50"]).status(1).shows("they part at");
}

/// The only pixel of the test that shows it, followed to the one instruction that is wrong.
#[test]
fn a_planted_mistake_is_shown_with_operands() {
    let folder = Folder::new("diff-planted");
    let one = folder.write("one.r5", ONE);
    let wrong = TWO.replace(
        "temp[2].g = MAD src0.ggg src0.111 src1.ggg",
        "temp[2].g = MAD src0.ggg src0.111 src1.rrr",
    );
    assert_ne!(wrong, TWO);
    let wrong = folder.write("wrong.r5", wrong);
    let run = r500(&["diff", &one, &wrong, "--run"]).status(1);
    for text in [
        "different: 64 of 64 pixels, 8x8 with what the programs carry",
        "the first: pixel 0,0",
        // u = 1/16: 0.5 / 16 + 0.25, and 9 instead of 0.25.
        "  A  out[0] = (0.28125, 0.28125, 0.28125, 0)",
        "  B  out[0] = (9.03125, 9.03125, 9.03125, 0)",
        "they part at this instruction:",
        "A    2  @1   src0.rgb = temp[1], src1.rgb = const[1]",
        "B    3  @2   src0.rgb = temp[2], src1.rgb = const[0]",
        "C (9, 9, 9)",
        "temp[2].g <- ",
    ] {
        assert!(run.text().contains(text), "no `{text}` in {}", run.text());
    }
}

#[test]
fn an_instruction_that_is_missing() {
    let folder = Folder::new("diff-missing");
    let one = folder.write("one.r5", ONE);
    let bias =
        "src0.rgb = temp[2], src1.rgb = const[0] : temp[2].g = MAD src0.ggg src0.111 src1.ggg ;\n";
    assert!(TWO.contains(bias));
    let wrong = folder.write("wrong.r5", TWO.replace(bias, ""));
    let parting = json(&[&one, &wrong, "--run"], 1)["run"]["parting"].clone();
    assert_eq!(parting["a"]["address"], 1, "{parting}");
}

#[test]
fn a_tolerance_loosens() {
    let folder = Folder::new("diff-tolerance");
    let one = folder.write("one.r5", ONE);
    let near = folder.write("near.r5", ONE.replace("(0.25, 0, 0, 0)", "(0.265, 0, 0, 0)"));
    // 0.015 is 3.8 of 255 steps.
    r500(&["diff", &one, &near, "--run"]).status(1).shows("C (0.265");
    r500(&["diff", &one, &near, "--run", "--tolerance", "0.01"]).status(1);
    r500(&["diff", &one, &near, "--run", "--tolerance", "0.02"]).status(0);
    r500(&["diff", &one, &near, "--run", "--tolerance", "-1"]).status(2);
}

#[test]
fn what_cannot_be_compared() {
    let folder = Folder::new("diff-incomparable");
    let one = folder.write("one.r5", ONE);
    let large = folder.write("large.r5", ONE.replace("SIZE 8 8", "SIZE 16 8"));
    r500(&["diff", &one, &large, "--run"]).status(3).says("A draws 8x8 pixels, B 16x8");
    r500(&["diff", &one, &large, "--run", "--size", "4x4"]).status(0);
    let answer = json(&[&one, &large, "--run"], 3);
    assert_eq!(answer["run"]["verdict"], "incomparable");
    // Nothing of these programs has a name.
    let bare = folder.write("bare.r5", "INPUT temp[0] = (plane(3, 2, 1), 0, 0, 0) ;\nOUT src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb ;");
    let nameless = folder.write("nameless.r5", "INPUT temp[0] = (plane(1, 2, 3), 0, 0, 0) ;\nOUT src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb ;");
    r500(&["diff", &nameless, &bare, "--random", "2"]).status(3).says("no input and no constant");
    // A file that is torn has no verdict; without --run it has errors.
    let torn = folder.write("torn.json", "{ \"program\": [");
    r500(&["diff", &one, &torn]).status(1);
    r500(&["diff", &one, &torn, "--run"]).status(3);
    r500(&["diff", &one]).status(2);
    r500(&["diff", "-", "-"]).status(2);
}

/// Bare dwords share u and v, and what the caller says.
#[test]
fn constants_are_shared_by_number_where_told() {
    let folder = Folder::new("diff-share");
    let one = folder.write(
        "a.r5",
        "const[0] = (1, 1, 1, 1) ;\nOUT src0.rgb = const[0] : out[0].rgb = MAX src0.rgb src0.rgb ;",
    );
    let two = folder.write("b.r5", "const[2] = (1, 1, 1, 1) ;\nOUT src0.rgb = const[2] : out[0].rgb = MIN src0.rgb |src0.rgb| ;");
    let args = ["diff", &one, &two, "--size", "4x4", "--run", "--random", "20"];
    r500(&args).status(0).shows("shared: inputs u, v; constants none");
    let share = [&args[..], &["--share", "c0=c2"]].concat();
    // The second takes the lesser of a value and its absolute: the same.
    r500(&share).status(0).shows("constants c0=c2");
    let other = folder.write("c.r5", "const[2] = (1, 1, 1, 1) ;\nOUT src0.rgb = const[2] : out[0].rgb = MAX src0.rgb |src0.rgb| ;");
    // Of a negative number the first stores 0.
    r500(&["diff", &one, &other, "--size", "4x4", "--random", "20"]).status(0);
    r500(&["diff", &one, &other, "--size", "4x4", "--random", "20", "--share", "c0=c2"]).status(1);
    r500(&["diff", &one, &two, "--run", "--share", "c0.rg=c2"]).status(2).says("2 channels and 4");
}

/// A log carries no constants but those of its immediates: what is missing is filled, the loop runs, and a
/// broken operand in its body shows.
#[test]
fn what_a_log_does_not_carry_is_filled_alike_on_both_sides() {
    let folder = Folder::new("diff-log");
    let log = corpus("logs/loop_mandelbrot.log");
    r500(&["diff", &log, &log, "--run"])
        .status(0)
        .shows("24 times with made-up values (seed 0)")
        .shows("read and not carried, the same made-up values in both: const[0], int[0], temp[0]");
    let answer = json(&[&log, &log, "--run", "--random", "3"], 0);
    assert_eq!(answer["run"]["filled"], "const[0], int[0], temp[0]");
    assert_eq!(answer["run"]["rounds"], 3);

    // Instruction 30 scales by temp[0].r; with the swizzle of another channel it does not.
    let text = std::fs::read_to_string(&log).unwrap();
    let (before, after) = text.split_at(text.find("30\t0:CMN_INST").unwrap());
    let broken = before.to_owned() + &after.replacen("0x00862410", "0x00862430", 1);
    let broken = folder.write("broken.log", broken);
    r500(&["diff", &log, &broken, "--run"]).status(1).shows("they part at this instruction");
}

#[test]
fn names_on_one_side_leave_registers_undecided() {
    let folder = Folder::new("diff-undecided");
    let named = folder.write("named.r5", ONE);
    let bare = folder.path("bare.inc");
    r500(&["asm", &named, "--to", "c-array", "-o", &bare]).status(0);
    r500(&["diff", &named, &bare, "--run"])
        .status(3)
        .shows("undecided: ")
        .shows("read by B and not carried: const[0..1]")
        .says("");
    let answer = json(&[&named, &bare, "--run"], 3);
    assert_eq!(answer["run"]["verdict"], "undecided");
}

#[test]
fn a_comparison_says_what_it_never_executed() {
    let folder = Folder::new("diff-unexercised");
    // -1 is never above 0: no pixel enters the branch.
    let source = "\
        SIZE 8 8 ;
        const[0] = (-1, 0, 0, 0) ;
        INPUT temp[0] = (u, v, 0, 1) ;
        src0.rgb = const[0] : alu[ge].r = MAD src0.rrr src0.111 src0.000 ;
        IF alu ALU_WAIT ;
            src0.rgb = temp[0] : temp[0].r = MAD src0.ggg src0.111 src0.000 ;
        ENDIF ALU_WAIT ;
        OUT src0.rgb = temp[0] : out[0].rgb = MAD src0.rgb src0.111 src0.000 ;
    ";
    let program = folder.write("branch.r5", source);
    let changed = folder.write("changed.r5", source.replace("src0.ggg", "src0.bbb"));
    r500(&["diff", &program, &changed, "--run"])
        .status(0)
        .shows("equal: 64 pixels")
        .shows("never executed in A: @2, @3\n")
        .shows("never executed in B: @2, @3\n");
}

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

/// Bare programs with a single bit changed: where the real constants tell them apart, filled values must not
/// call them equal.
#[test]
fn filled_values_find_what_real_constants_find() {
    use r500::equivalence::Pair;
    use r500::exec::{Limits, Options, reference::Reference};
    use r500::program::Program;
    use r500_gen::{Entropy, Rng};

    let count = std::env::var("R500_MUTATIONS").map_or(24, |n| n.parse().unwrap());
    let folder = Folder::new("diff-filled");
    let mut rng = Rng::new(7);
    let entries = std::fs::read_dir(corpus("mesa")).unwrap().map(|entry| entry.unwrap().path());
    let mut captures: Vec<_> =
        entries.filter(|p| p.extension().is_some_and(|e| e == "json")).collect();
    captures.sort();
    let limits = Limits { instructions: 100_000, ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    let (mut compared, mut differed) = (0, 0);
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
        let run = r500(&["diff", &a, &b, "--run"]);
        if real.differing > 0 {
            differed += 1;
            assert_ne!(run.status, 0, "{} instruction {at}: {}", path.display(), run.text());
        }
    }
    assert!(differed > compared / 8, "{differed} of {compared} mutations show");
}
