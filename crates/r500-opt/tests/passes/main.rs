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
use std::path::Path;

use r500_asm::{Options as AsmOptions, PrintOptions, assemble, print};
use r500_opt::{Level, Options, optimize, vertex};
use r500_program::{Job, Program};
use r500_pvs::{Fill, Source};
use vertices::{Verdict, verdict};

const BECOMES: &str = "-- becomes:\n";
const STAYS: &str = "-- stays\n";

/// A file: a program, and what is expected of it.
struct Case<'a> {
    /// The program, with the comments before the result.
    input: &'a str,
    /// The expected result; `None` if the program stays.
    after: Option<String>,
    only: Vec<String>,
}

impl<'a> Case<'a> {
    fn of(text: &'a str) -> Self {
        let uncommented = |after: &str| {
            let lines = after.lines().map(|line| line.trim_start_matches("-- ").trim());
            lines.collect::<Vec<_>>().join("\n")
        };
        let (input, after) = match text.split_once(BECOMES) {
            Some((input, after)) => (input, Some(uncommented(after))),
            None => (text.split(STAYS).next().unwrap(), None),
        };
        let only = input.lines().find_map(|line| line.strip_prefix("-- only: "));
        let only = only.unwrap_or_default().split_whitespace().map(str::to_owned).collect();
        Self { input, after, only }
    }

    /// Returns the text of the file for a result; `None` if the program stays.
    fn with(&self, result: Option<&str>) -> String {
        let mut text = self.input.to_owned();
        let Some(result) = result else { return text + STAYS };
        text.push_str(BECOMES);
        for line in result.lines() {
            let _ = writeln!(text, "--   {line}");
        }
        text
    }
}

/// Calls `expected` with each file of fragment or vertex programs, as [`r500_golden::check_files`] does. Asserts that each pass is in the
/// line `-- only:` of a file with a result.
fn check(
    is_vertex: bool,
    passes: impl Iterator<Item = &'static str>,
    mut expected: impl FnMut(&Path, &str, &Case<'_>) -> String,
) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/passes");
    let mut named = BTreeSet::new();
    let wanted = |name: &str| name.ends_with(".r5") && name.ends_with(".vs.r5") == is_vertex;
    r500_golden::check_files(folder, wanted, |path, text| {
        let case = Case::of(text);
        if case.after.is_some() {
            named.extend(case.only.iter().cloned());
        }
        expected(path, text, &case)
    });
    assert_eq!(named, passes.map(str::to_owned).collect(), "passes with files of their own");
}

fn program(source: &str, path: &Path) -> Program {
    let assembly = assemble(source.as_bytes(), AsmOptions::default());
    assert!(assembly.is_ok(), "{}: {}", path.display(), assembly.render(Default::default()));
    assembly.job.program
}

#[test]
fn fragment_programs_become_what_the_files_say() {
    let passes = r500_opt::passes().iter().map(|pass| pass.name);
    check(false, passes, |path, file, case| {
        let before = program(case.input, path);
        let options = Options { level: Level::O3, only: case.only.clone(), ..Options::default() };
        let after = optimize(&before, &options).program;
        let expected = case.after.as_ref().map(|text| program(text, path).code);
        if after.code == *expected.as_ref().unwrap_or(&before.code) {
            return file.to_owned();
        }
        let printed = text(&after);
        // Labels are lines of their own.
        let code = printed
            .lines()
            .filter(|line| line.contains(" ;") || line.trim_start().starts_with('@'));
        let code = code.collect::<Vec<_>>().join("\n");
        case.with((after.code != before.code).then_some(&code))
    });
}

#[test]
fn vertex_programs_become_what_the_files_say() {
    let passes = vertex::passes().iter().map(|pass| pass.name);
    check(true, passes, |path, file, case| {
        let source = Source::parse(case.input, &mut |_| Err(String::new()));
        let before =
            source.unwrap_or_else(|errors| panic!("{}: {errors:?}", path.display())).program;
        let after = vertex::optimize(&before, &case.only).program;
        if let Verdict::Different(what) = verdict(&before, &after, 32) {
            panic!("{}: {what}\n{after}", path.display());
        }
        let (_, code) = after.instructions();
        let lines: String =
            code.iter().map(|inst| format!("{} ;\n", inst.with_fill(Fill::Zero))).collect();
        let is_expected = match &case.after {
            None => after == before,
            Some(text) => text.lines().eq(lines.lines()),
        };
        if is_expected { file.to_owned() } else { case.with((after != before).then_some(&lines)) }
    });
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
