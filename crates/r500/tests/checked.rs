//! The examples are clean. `--fix` repairs programs whose waits were removed: they draw the same pictures, are as
//! clean, and have the same text except for the missing words.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic
)]

use std::path::{Path, PathBuf};

use r500::asm::{Options as Assemble, PrintOptions, assemble, print};
use r500::check::{LintCode, Report, Severity, check_job};
use r500::exec::reference::Reference;
use r500::exec::{Bindings, Options, Shader, draw};
use r500::files::NamedFiles;
use r500::isa::state::UsPixsize;
use r500::lint;
use r500::program::Job;
use r500::reader::{self, assembly};
use r500_gen::{Choices, Rng, forget_waits};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

fn files(name: &str, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder(name)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|e| e == extension)).collect();
    files.sort();
    files
}

/// The lints of the examples, and why they are right.
const EXAMPLES: &[(&str, LintCode, &str)] =
    &[("mandelbrot", LintCode::SilentLimit, "points that never escape are those of the set")];

#[test]
fn examples_are_clean() {
    let mut found = Vec::new();
    let examples = files("examples", "r5");
    assert!(examples.len() >= 11);
    for path in examples {
        let source = std::fs::read(&path).unwrap();
        let assembly = assembly::assemble_with_files(
            &source,
            path.to_str().unwrap(),
            &NamedFiles::next_to(&path),
        );
        assert!(assembly.is_ok());
        let report = check_job(&assembly.job);
        let facts = report.verdict.facts().unwrap_or_else(|| panic!("{}", path.display()));
        assert!(facts.structured, "{}", path.display());
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        found.extend(report.lints.iter().map(|finding| (stem.clone(), finding.code)));
    }
    let wanted = EXAMPLES.iter().map(|(name, code, why)| {
        assert!(!why.is_empty() && code.info().severity == Severity::Note, "{name}");
        ((*name).to_owned(), *code)
    });
    assert_eq!(found, wanted.collect::<Vec<_>>());
}

/// Sources that trigger a code, and similar ones that do not: cases beyond the examples of the codes.
#[test]
fn near_misses() {
    let given = "INPUT temp[0] = uv ; US_CONFIG = 0 ;";
    let out = "OUT src0.rgb = temp[1], src0.a = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb, \
        out[0].a = MAX src0.a src0.a ;";
    let has = |code: LintCode, source: &str, wanted: bool| {
        let source = format!("{given} {source} {out}");
        let assembly = assemble(source.as_bytes(), Assemble::default());
        assert!(assembly.is_ok(), "{source}: {:?}", assembly.diagnostics);
        let report = check_job(&assembly.job);
        let found = report.with_code(code).next().is_some();
        assert_eq!(found, wanted, "{code:?}: {source}\n{:#?}", report.lints);
    };
    // MDH and MDV take channels straight, where they are wanted; compilers leave C all zero.
    let derivative = |operands: &str, wanted| {
        let source = format!("src0.rgb = temp[0] : temp[1].rg = MDH {operands} ;");
        has(LintCode::DerivativeOperands, &source, wanted);
    };
    derivative("src0.rgb src1.111", false);
    derivative("src0.rg0 src1.111 src0.rg_", false);
    derivative("src0.grb src1.111", true);
    derivative("src0.000 src1.111", true);
    derivative("src0.rgb src1.111 src0.ggg", true);
    derivative("src0.rgb src1.111 src1.rgb", true);

    // Infinity times zero in DP4's alpha, taken by RGB or by alpha DP.
    let dot = |dest: &str, factor: &str, wanted| {
        let source = format!(
            "const[0] = (1, 1, 1, inf) ; src0.rgb = const[0], src0.a = const[0] : \
             {dest} DP4.rgb src0.rgb src0.rgb, temp[1].a = DP src0.a src0.{factor} ;"
        );
        has(LintCode::NanConstant, &source, wanted);
    };
    dot("temp[1].rgb =", "0", true);
    dot("", "0", true);
    dot("temp[1].rgb =", "1", false);
    // A presubtract directly after a write, through aL (0 to 3).
    let early = |write: &str, read: &str, wanted| {
        let source = format!(
            "int[0] = (4, 0, 1) ; LOOP int[0] ; src0.rgb = temp[0] : temp[{write}].rgb = MAX src0.rgb src0.rgb ; \
             src0.rgb = temp[{read}], srcp.rgb = neg : temp[1].rgb = MAX srcp.rgb srcp.rgb ; ENDLOOP ;"
        );
        has(LintCode::MissingNop, &source, wanted);
    };
    early("2+aL", "2+aL", true);
    early("2+aL", "3+aL", false);
    early("2+aL", "5", true);
    early("2+aL", "6", false);
    early("2", "2+aL", true);
    early("2", "3+aL", false);

    // A write over a fetch under way; a fetch over a fetch stays in order.
    let fetch = "TEX TEX_SEM_ACQUIRE temp[1].rg = LD tex[0].rgba temp[0].rgba ;";
    let write = |dest: &str, tags: &str, wanted| {
        let source =
            format!("{fetch} {tags} src0.rgb = temp[0] : temp[1].{dest} = MAX src0.rgb src0.rgb ;");
        has(LintCode::PendingOverwrite, &source, wanted);
    };
    write("g", "", true);
    write("b", "", false);
    write("g", "TEX_SEM_WAIT", false);
    has(LintCode::PendingOverwrite, &format!("{fetch} {fetch}"), false);

    // A RETURN in an arm that the group enters though no pixel takes it: ELSE does not jump by ANY.
    let back = |else_by: &str, wanted| {
        let source = format!(
            "JUMP @main ; @sub IF bool[0] ; src0.rgb = temp[0] : temp[2].rgb = MAX src0.rgb src0.rgb ; \
             ELSE {else_by} ; RETURN B_POP_CNT(2) ; ENDIF ; RETURN ; @main CALL @sub ;"
        );
        has(LintCode::DivergentReturn, &source, wanted);
    };
    back("any", true);
    back("all", false);
}

/// Takes waits, NOPs, semaphores and room away.
fn mutate(job: &mut Job, rng: &mut Rng) {
    forget_waits(&mut job.program.code, rng);
    let size = job.program.state.pixsize.map_or(0, |register| register.pix_size());
    let less = u8::try_from(rng.below(u32::from(size) + 1)).unwrap();
    job.program.state.pixsize = Some(UsPixsize(0).with(UsPixsize::PIX_SIZE, less));
}

/// Comments and blanks where they may stand, in and between instructions.
fn dishevel(text: &str, rng: &mut Rng) -> String {
    let mut out = String::new();
    for line in text.lines() {
        match rng.below(6) {
            0 => out += "-- src0.rgb = temp[1] : ; us_pixsize = 3 ;\n\n",
            1 => out += "\t  ",
            _ => {}
        }
        // Real numbers and strings are of one piece; spaces elsewhere may be anything.
        if rng.chance(1, 4) && !line.contains('"') {
            let blank = if rng.chance(1, 2) { "   -- ; here\n  " } else { "\r\n " };
            let at = line.match_indices(' ').map(|found| found.0).collect::<Vec<_>>();
            if let Some(&at) = at.get(rng.below(u32::try_from(at.len()).unwrap().max(1)) as usize) {
                out += &line[..at];
                out += blank;
                out += &line[at + 1..];
                out.push('\n');
                continue;
            }
        }
        out += line;
        out += if rng.chance(1, 6) { " -- ENDIF ;\n" } else { "\n" };
    }
    out
}

/// Returns a text without the words and numbers that fixes change.
fn rest(text: &str) -> String {
    let mut text = text.to_owned();
    for word in ["TEX_SEM_WAIT", "TEX_SEM_ACQUIRE", "ALU_WAIT", "NOP"] {
        // A word is removed with the blank before or after it.
        text = text.replace(&format!("{word} "), "").replace(&format!(" {word}"), "");
    }
    let at = text.find("US_PIXSIZE").unwrap();
    let at = at + text[at..].find(|c: char| c.is_ascii_digit()).unwrap();
    let digits = text[at..].bytes().take_while(u8::is_ascii_digit).count();
    text.replace_range(at..at + digits, "N");
    text
}

fn picture(job: &Job) -> (Vec<u32>, Vec<bool>) {
    let shader = Shader::new(&job.program).unwrap();
    let bindings = Bindings::new(job, [12, 8]).unwrap();
    let frame = draw(&Reference, &shader, &bindings, &Options::default()).unwrap();
    let target = frame.target(0).unwrap_or_default().as_flattened();
    (target.iter().map(|value| value.to_bits()).collect(), frame.coverage().to_vec())
}

fn found(report: &Report) -> Vec<(LintCode, Option<usize>)> {
    report.lints.iter().map(|finding| (finding.code, finding.location.index())).collect()
}

#[test]
fn fixed_text_draws_the_same_and_is_clean() {
    let mut rng = Rng::new(7);
    let (mut resolved, mut rounds) = (0, 0);
    for path in files("tests/corpus/mesa", "json") {
        let bytes = std::fs::read(&path).unwrap();
        let jobs = reader::read(&bytes, None, None, &r500::formats::Limits::default()).unwrap();
        let [original] = &jobs[..] else { panic!("{}", path.display()) };
        let wanted = picture(original);
        for _ in 0..3 {
            let mut job = original.clone();
            mutate(&mut job, &mut rng);
            let options = PrintOptions { embed: usize::MAX, ..PrintOptions::default() };
            let text = dishevel(&print(&job, &options).text, &mut rng);
            let again = |text: &[u8]| assemble(text, Assemble::default());
            let fixed = lint::fix(text.as_bytes(), again, |_, _| true);
            let what = path.display();
            assert!(fixed.left.is_empty(), "{what}: {:?}", fixed.left);
            assert_eq!(
                found(&check_job(&fixed.assembly.job)),
                found(&check_job(original)),
                "{what}"
            );
            assert!(picture(&fixed.assembly.job) == wanted, "{what}: another picture");
            let fixed_text = String::from_utf8(fixed.text).unwrap();
            assert_eq!(rest(&fixed_text), rest(&text), "{what}");
            resolved += fixed.resolved.len();
            rounds += 1;
        }
    }
    assert!(rounds == 159 && resolved > 1000, "{resolved} in {rounds}");
}

#[test]
fn fixed_programs_draw_the_same() {
    let mut rng = Rng::new(8);
    for path in files("tests/corpus/mesa", "json").into_iter().step_by(5) {
        let bytes = std::fs::read(&path).unwrap();
        let jobs = reader::read(&bytes, None, None, &r500::formats::Limits::default()).unwrap();
        let mut job = jobs[0].clone();
        mutate(&mut job, &mut rng);
        lint::fix_program(&mut job, |_| true);
        assert_eq!(found(&check_job(&job)), found(&check_job(&jobs[0])), "{}", path.display());
        assert!(picture(&job) == picture(&jobs[0]), "{}", path.display());
    }
}
