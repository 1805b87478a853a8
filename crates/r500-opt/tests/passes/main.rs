//! Golden files of the passes: a program, and what becomes of it, in comments, so that the files are programs. `NAME.r5` are fragment
//! programs, `NAME.vs.r5` vertex programs, whose results are also proved equal or compared on vertices.
//!
//! ```text
//! -- Why the rewrite is allowed, or is not.
//! -- only: copies dead        the passes that run; without this line, all
//! src0.rgb = … ;
//! -- becomes:                 or `-- stays`
//! --   src0.rgb = … ;
//! ```
//!
//! Results were derived by hand. `BLESS=1` rewrites those that differ; read them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../vertices/mod.rs"]
mod vertices;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use r500_asm::{Options as AsmOptions, PrintOptions, assemble, print};
use r500_opt::{Level, Options, optimize, vertex};
use r500_program::{Job, Program};
use r500_pvs::{Fill, Source};
use vertices::{Verdict, verdict};

const BECOMES: &str = "-- becomes:\n";
const STAYS: &str = "-- stays\n";

/// What a file holds.
struct Case {
    path: PathBuf,
    /// The program, with the comments before the result.
    input: String,
    /// The expected result; `None` if the program stays.
    after: Option<String>,
    only: Vec<String>,
}

/// Returns the files with an extension, `.r5` or `.vs.r5`.
fn cases(vertex: bool) -> Vec<Case> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/passes"));
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if !name.ends_with(".r5") || name.ends_with(".vs.r5") != vertex {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let (input, after) = match text.split_once(BECOMES) {
            Some((input, after)) => (
                input,
                Some(
                    after
                        .lines()
                        .map(|line| line.trim_start_matches("-- "))
                        .collect::<Vec<_>>()
                        .join("\n"),
                ),
            ),
            None => (text.split(STAYS).next().unwrap(), None),
        };
        let only = input.lines().find_map(|line| line.strip_prefix("-- only: "));
        let only = only.unwrap_or_default().split_whitespace().map(str::to_owned).collect();
        cases.push(Case { input: input.to_owned(), after, only, path });
    }
    assert!(!cases.is_empty(), "no files in {}", folder.display());
    cases
}

/// Writes the result into the file if `BLESS` is set, else describes the difference.
fn differs(case: &Case, result: &str, stays: bool) -> Option<String> {
    let mut text = case.input.clone();
    if stays {
        text.push_str(STAYS);
    } else {
        text.push_str(BECOMES);
        for line in result.lines() {
            let _ = writeln!(text, "--   {line}");
        }
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&case.path, text).unwrap();
        return None;
    }
    Some(format!("{}:\n{text}", case.path.display()))
}

/// Asserts that no file differs, and that each pass is in the line `-- only:` of a file with a result.
fn finish(failed: &[String], cases: &[Case], passes: &[&str]) {
    assert!(failed.is_empty(), "differs (BLESS=1 accepts it):\n{}", failed.join("\n"));
    let changing = cases.iter().filter(|case| case.after.is_some());
    let named: BTreeSet<&str> = changing.flat_map(|case| &case.only).map(String::as_str).collect();
    assert_eq!(named, passes.iter().copied().collect(), "passes with files of their own");
}

fn program(source: &str, path: &Path) -> Program {
    let assembly = assemble(source.as_bytes(), AsmOptions::default());
    assert!(assembly.is_ok(), "{}: {}", path.display(), assembly.render(Default::default()));
    assembly.job.program
}

#[test]
fn fragment_programs_become_what_the_files_say() {
    let cases = cases(false);
    let mut failed = Vec::new();
    for case in &cases {
        let before = program(&case.input, &case.path);
        let options = Options { level: Level::O3, only: case.only.clone(), ..Options::default() };
        let after = optimize(&before, &options).program;
        let expected =
            case.after.as_ref().map_or_else(|| before.clone(), |text| program(text, &case.path));
        if after.code != expected.code {
            let options = PrintOptions::default();
            let text = print(&Job::from_program(after.clone()), &options).text;
            let code = text
                .lines()
                .filter(|line| line.contains(" ;") || line.trim_start().starts_with('@'));
            let code = code.collect::<Vec<_>>().join("\n");
            failed.extend(differs(case, &code, after.code == before.code));
        }
    }
    let passes: Vec<&str> = r500_opt::passes().iter().map(|pass| pass.name).collect();
    finish(&failed, &cases, &passes);
}

#[test]
fn vertex_programs_become_what_the_files_say() {
    let cases = cases(true);
    let source = |text: &str, path: &Path| {
        let source = Source::parse(text, &mut |_| Err(String::new()));
        source.unwrap_or_else(|errors| panic!("{}: {errors:?}", path.display())).program
    };
    let lines = |program: &r500_pvs::Program| {
        let (_, code) = program.instructions();
        let line = |inst: &r500_pvs::Instruction| format!("{} ;\n", inst.with_fill(Fill::Zero));
        code.iter().map(line).collect::<String>()
    };
    let mut failed = Vec::new();
    for case in &cases {
        let before = source(&case.input, &case.path);
        let after = vertex::optimize(&before, &case.only).program;
        if let Verdict::Different(what) = verdict(&before, &after, 32) {
            panic!("{}: {what}\n{after}", case.path.display());
        }
        let is_expected = match &case.after {
            None => after == before,
            Some(text) => text.lines().map(str::trim).eq(lines(&after).lines()),
        };
        if !is_expected {
            failed.extend(differs(case, &lines(&after), after == before));
        }
    }
    let passes: Vec<&str> = vertex::passes().iter().map(|pass| pass.name).collect();
    finish(&failed, &cases, &passes);
}

fn text(program: &Program) -> String {
    print(&Job::from_program(program.clone()), &PrintOptions::default()).text
}

#[test]
fn values_that_a_presubtract_result_reads_keep_their_channels() {
    // The third FRC goes to the free alpha half; the first two stay in green.
    let before = program(
        "src0.rgb = temp[0] : temp[1].g = FRC src0.0g0 ;
         src0.rgb = temp[0] : temp[2].g = FRC src0.0b0 ;
         NOP src0.rgb = temp[0] : temp[0].b = FRC src0.00r ;
         OUT src0.rgb = temp[1], src1.rgb = temp[2], src2.rgb = temp[0], srcp.rgb = sub : out[0].rgb = MAD srcp.ggg src2.bbb src0.000 ;",
        Path::new("the test"),
    );
    let after = optimize(&before, &Options::default()).program;
    assert_eq!(after.code.len(), 3, "{}", text(&after));
}

#[test]
fn chain_of_else_ifs_ends_in_one_endif() {
    let branches = program(
        "src0.rgb = temp[0] : alu[lt].r = MAD src0.r00 src0.100 src0.000 ;
         IF alu ALU_WAIT ;
         src0.rgb = const[1] : temp[1].r = MAX src0.r00 src0.r00 ;
         ELSE ALU_WAIT ;
         src0.rgb = temp[0] : alu[lt].r = MAD src0.g00 src0.100 src0.000 ;
         IF alu ALU_WAIT ;
         src0.rgb = const[1] : temp[1].r = MAX src0.g00 src0.g00 ;
         ELSE ALU_WAIT ;
         src0.rgb = temp[0] : alu[lt].r = MAD src0.b00 src0.100 src0.000 ;
         IF alu ALU_WAIT ;
         src0.rgb = const[1] : temp[1].r = MAX src0.b00 src0.b00 ;
         ELSE ALU_WAIT ;
         src0.rgb = const[2] : temp[1].r = MAX src0.r00 src0.r00 ;
         ENDIF ALU_WAIT ;
         ENDIF ALU_WAIT ;
         ENDIF ALU_WAIT ;
         OUT src0.rgb = temp[1] : out[0].rgb = MAX src0.rrr src0.rrr ;",
        Path::new("the test"),
    );
    let only = Options { only: vec!["endifs".to_owned()], ..Options::default() };
    let merged = optimize(&branches, &only).program;
    assert_eq!(merged.code.len(), branches.code.len() - 2, "{}", text(&merged));
    // Each ELSE closes the levels that are open at the end of its arm.
    let levels: Vec<u8> = merged
        .code
        .iter()
        .filter(|inst| inst.ty() == r500_isa::values::InstType::FC)
        .map(|inst| inst.fc_inst().b_pop_cnt())
        .collect();
    assert_eq!(levels, [0, 1, 0, 2, 0, 3, 3], "{}", text(&merged));
}
