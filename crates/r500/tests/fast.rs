//! The fast and the jit engine against the reference engine on all that there is: cases, draws, captures,
//! examples, and programs for what is easily got wrong. The same frame bit for bit, at every level of
//! vector instructions that this machine has, and machine code of AVX2 and AVX-512 in an emulator that checks
//! each memory access. All draws, not one in sixteen, and every kind of picture of each program with `R500_ALL=1`:
//!
//! ```sh
//! R500_ALL=1 R500_ENGINE=emulated cargo test --release -p r500 --test fast draws
//! ```

#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::expect_used, clippy::panic)]

#[path = "../../r500-gen/tests/engines/mod.rs"]
mod engines;

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use engines::{Seen, compare};
use r500::exec::{Options, PixelRect};
use r500::formats::Limits;
use r500::program::{InputData, Job};

#[test]
fn cases() {
    let files = [json_files(&tests("corpus/cases")), json_files(&tests("cases"))].concat();
    let jobs: Vec<Job> = files.iter().flat_map(|file| jobs(file)).collect();
    assert!(jobs.len() >= 408);
    // The others test programs without structure, or groups.
    same(jobs.into_iter().flat_map(pictures), 65);
}

#[test]
fn draws() {
    let jobs = jobs(&tests("corpus/piglit/probes.jsonl.gz"));
    // Some, because they are many and similar. The choice does not matter.
    let every = if is_all() { 1 } else { 16 };
    same(jobs.step_by(every).map(|job| (job, options(None, 1))), 95);
}

#[test]
fn captures() {
    let jobs = json_files(&tests("corpus/mesa")).into_iter().flat_map(|file| jobs(&file));
    same(jobs.enumerate().flat_map(some_pictures), 100);
}

/// A program may be longer than the registers of its window can express.
#[test]
fn programs_past_sixteen_bits() {
    let empty = r500::isa::Instruction([0; 6]);
    let source = b"OUT LAST src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb ;";
    let last = r500::asm::assemble(source, r500::asm::Options::default()).job.program.code;
    let mut code = vec![empty; (1 << 16) + 5];
    code.extend(last);
    let mut job = Job::from_program(r500::program::Program::from_code(code));
    job.size = Some([2, 2]);
    same([(job, options(None, 1))], 0);
}

#[test]
fn examples() {
    let sources = files(&tests("../examples"), "r5");
    assert!(sources.len() >= 11);
    let jobs = sources.iter().map(|source| {
        let mut jobs = r500::reader::open(source, None, &Limits::default()).unwrap();
        let mut job = jobs.next().unwrap().unwrap();
        // Large enough for several batches and bands, and not a multiple of their sizes.
        job.size = Some([75, 53]);
        job
    });
    same(jobs.enumerate().flat_map(some_pictures), 100);
}

/// What each program is about, and its text between the inputs and the end. Registers: 0 is
/// (u, v, 0, 1) scaled to go from -1 to 3, 1 is the position, 2 and 3 are free.
const PROGRAMS: &[(&str, &str)] = &[
    (
        "a register relative to aL, written in a loop that pixels leave",
        "LOOP int[0] ;
           src0.rgb = temp[0], src0.a = temp[5] : alu[lt].r = MAD src0.rrr src0.111 -src0.aaa ;
           BREAK IF alu ;
           src0.rgb = temp[0], src0.a = temp[5] : temp[2+aL].rgb = MAD src0.rgr src0.ggg src0.aaa ;
           src0.a = temp[5] : temp[5].a = MAD src0.a src0.1 src0.h ;
         ENDLOOP ;
         src0.rgb = temp[3], src1.rgb = temp[4] : temp[2].rgb = MAD src0.rgb src0.111 src1.rgb ;",
    ),
    (
        "a loop in a loop by aL of the outer one, left by CONTINUE from two branches",
        "LOOP int[0] ;
           REP int[1] ;
             src0.rgb = temp[0], src0.a = temp[5] : alu[ge].r = MAD src0.ggg src0.111 -src0.aaa ;
             IF alu ;
               src0.rgb = temp[0] : pred[lt].rg = MAD src0.rgr src0.111 -src0.hhh ;
               IF pred.r & !bool[0] ;
                 src0.a = temp[5] : temp[2+aL].g = MAD src0.aaa src0.111 src0.hhh ;
                 CONTINUE ;
               ELSE ;
                 BREAK IF pred.g ;
               ENDIF ;
             ENDIF ;
             src0.a = temp[5] : temp[2+aL].r = MAD src0.aaa src0.aaa src0.hhh, temp[5].a = MAD src0.a src0.1 src0.h ;
           ENDREP ;
         ENDLOOP ;
         src0.rgb = temp[3], src1.rgb = temp[4] : temp[2].rgb = MAD src0.rgb src0.111 src1.rgb ;",
    ),
    (
        "a selection that is what two registers hold next",
        "REP int[0] ;
           src0.rgb = temp[0], src0.a = temp[5] : pred[ge].r = MAD src0.rrr src0.111 -src0.aaa ;
           src0.a = temp[5] : temp[6].a = MAD src0.a src0.1 src0.h ;
           PRED(r) src0.a = temp[6] : temp[5].a = raw MAX src0.a src0.a ;
           src0.a = temp[5] : temp[6].a = raw MAX src0.a src0.a ;
         ENDREP ;
         src0.a = temp[5], src1.a = temp[6] : temp[2].rgb = MAD src0.aaa src0.111 src1.aaa ;",
    ),
    (
        "a loop that all pixels leave at once, whose last iteration changes nothing",
        "REP int[0] ;
           src0.a = temp[5], src1.a = 1.5 : alu[ge].r = MAD src0.aaa src0.111 -src1.aaa ;
           BREAK IF alu ;
           src0.a = temp[5] : temp[5].a = MAD src0.a src0.1 src0.h ;
           src0.rgb = temp[0], src1.rgb = temp[2], src0.a = temp[5] : temp[2].rgb = MAD src0.rgr src0.aaa src1.rgb ;
         ENDREP ;",
    ),
    (
        "a loop that all pixels leave at once, half way through its last iteration",
        "REP int[0] ;
           src0.a = temp[5] : temp[5].a = MAD src0.a src0.1 src0.h ;
           src0.rgb = temp[0], src1.rgb = temp[2], src0.a = temp[5] : temp[2].rgb = MAD src0.rgr src0.aaa src1.rgb ;
           src0.a = temp[5], src1.a = 1.5 : alu[ge].r = MAD src0.aaa src0.111 -src1.aaa ;
           BREAK IF alu ;
           src0.rgb = temp[0], src1.rgb = temp[2] : temp[2].rgb = MAD src0.rgg src0.hhh -src1.rgb ;
         ENDREP ;",
    ),
    (
        "a loop that pixels leave, with a counter for all of them and one for those that stay",
        "REP int[0] ;
           src0.a = temp[6], src1.a = 2.0 : alu[ge].r = MAD src0.aaa src0.111 -src1.aaa ;
           BREAK IF alu ;
           src0.rgb = temp[0], src1.rgb = temp[2] : temp[3].rgb = MAD src0.rgr src1.grg src0.000 ;
           src0.rgb = temp[3], src1.rgb = temp[0], src0.a = temp[5] : temp[2].rgb = MAD src0.rgb src0.111 src1.rgr ;
           src0.rgb = temp[2] : alu[ge].r = MAD src0.rrr src0.111 -src0.111 ;
           BREAK IF alu ;
           src0.a = temp[5] : temp[5].a = MAD src0.a src0.1 src0.h ;
           src0.a = temp[6] : temp[6].a = MAD src0.a src0.1 src0.1 ;
         ENDREP ;",
    ),
    (
        "zeros of either sign and denormals, where that shows and where not",
        "src0.rgb = temp[0], src1.rgb = const[0] : temp[3].rgb = MAD src0.rgr src1.ggg src0.000 ;
         src0.rgb = temp[0], src1.rgb = const[0] : temp[4].rgb = MAD -|src0.rgr| src1.ggg -src0.000 ;
         src0.rgb = temp[3], src1.rgb = temp[4] : temp[2].r = MAD src0.rrr src0.111 src1.rrr ;
         src0.rgb = temp[4] : temp[2].g = SOP, RCP src0.g ;
         src0.rgb = temp[3], src1.rgb = temp[4] : temp[3].rgb = MAX src0.rgb src1.rgb ;
         src0.rgb = const[0], src1.rgb = temp[4], src2.rgb = temp[3] : temp[2].b = MAD src0.bbb src1.bbb src2.bbb ;
         src0.rgb = temp[3], src0.a = temp[5] : temp[5].a = MAD src0.g src0.h src0.0 ;",
    ),
    (
        "a return that a boolean decides, in a call that pixels decide",
        "src0.rgb = temp[0] : alu[ge].r = MAD src0.rrr src0.111 -src0.hhh ;
         CALL @sub IF alu ;
         JUMP @behind IF !bool[0] ;
         @sub STAT_WE(r) src0.rgb = temp[0] : temp[2].r = MAD src0.ggg src0.111 src0.rrr ;
         RETURN IF !bool[0] ;
         src0.rgb = temp[0] : temp[2].g = MAD src0.ggg src0.111 src0.rrr ;
         RETURN ;
         @behind",
    ),
    (
        "a difference in the second arm of what neighbours wrote in the first",
        "src0.rgb = temp[0] : alu[ge].r = MAD src0.rrr src0.ggg -src0.hhh ;
         IF alu ;
           src0.rgb = temp[0] : temp[2].rgb = MAD src0.rgr src0.ggg src0.hhh ;
         ELSE ;
           src0.rgb = temp[2] : temp[3].rgb = MDV src0.rgb src0.111 src0.rgb ;
           src0.rgb = temp[2] : temp[2].rgb = MDH src0.rgb src0.hhh src0.rgb ;
         ENDIF ;
         src0.rgb = temp[2], src1.rgb = temp[3] : temp[2].rgb = MAD src0.rgb src0.111 src1.rgb ;",
    ),
    (
        "fetches and differences where pixels have left a loop at different times",
        "REP int[0] ;
           src0.rgb = temp[0], src0.a = temp[5] : alu[lt].r = MAD src0.rrr src0.ggg -src0.aaa ;
           BREAK IF alu ;
           src0.a = temp[5] : temp[5].a = MAD src0.a src0.1 src0.h ;
           src0.rgb = temp[0], src0.a = temp[5] : temp[4].rgb = MAD src0.rgr src0.aaa src0.hhh ;
           TEX TEX_SEM_ACQUIRE temp[3].rgb = LD tex[0].rgba temp[4].rgba ;
           TEX_SEM_WAIT src0.rgb = temp[4], src1.rgb = temp[3] : temp[2].rgb = MDH src0.rgb src1.rgb src0.rgb ;
         ENDREP ;
         src0.rgb = temp[2], src1.rgb = temp[3] : temp[2].rgb = MAD src0.rgb src0.111 src1.rgb ;",
    ),
    (
        "TEXKILL in branches, counts of what is left, depth in one arm",
        "src0.rgb = temp[0] : alu[ge].r = MAD src0.rrr src0.111 -src0.hhh ;
         IF alu ;
           TEX temp[2].none = TEXKILL tex[0].rgba temp[0].gggg ;
           STAT_WE(rga) src0.rgb = temp[0] : pred[lt].rgb = MAD src0.rgr src0.111 -src0.111 ;
           OUT PRED.a(g) src0.rgb = temp[0] : depth = RCP src0.g ;
         ELSE ;
           PRED(!b) TEX_SEM_WAIT STAT_WE(rgba) src0.rgb = temp[0] : temp[2].rgb = MAD src0.rgr src0.ggg src0.hhh ;
           OUT src0.rgb = temp[0] : out[1].rg = MIN src0.rgr src0.ggg, out[2].a = EX2 src0.g ;
         ENDIF ;
         STAT_WE(b) src0.rgb = temp[0] : ;",
    ),
    (
        "votes of uncovered pixels with quad differences",
        "src0.rgb = temp[0] : alu[ge].r = MAD src0.rrr src0.111 -src0.hhh ;
         IF alu IGNORE_UNCOVERED ;
           TEX temp[2].none = TEXKILL tex[0].rgba temp[0].gggg ;
           src0.rgb = temp[0] : temp[2].rgb = MAD src0.rgr src0.ggg src0.hhh ;
         ENDIF IGNORE_UNCOVERED ;
         src0.rgb = temp[0] : alu[ge].r = MAD src0.ggg src0.111 -src0.hhh ;
         IF alu IGNORE_UNCOVERED ;
           src0.rgb = temp[2] : temp[3].rgb = MDH src0.rgb src0.111 src0.rgb ;
           TEX TEX_SEM_ACQUIRE temp[4].rgb = LD tex[0].rgba temp[2].rgba ;
         ENDIF IGNORE_UNCOVERED ;
         TEX_SEM_WAIT src0.rgb = temp[3], src1.rgb = temp[4] : temp[2].rgb = MAD src0.rgb src0.111 src1.rgb ;",
    ),
    (
        "votes of uncovered pixels in a loop that they leave, with kills",
        "REP int[0] ;
           src0.rgb = temp[0], src0.a = temp[5] : alu[lt].r = MAD src0.rrr src0.ggg -src0.aaa ;
           BREAK IF alu IGNORE_UNCOVERED ;
           src0.rgb = temp[0], src0.a = temp[5] : temp[4].r = MAD src0.ggg src0.111 -src0.aaa ;
           TEX temp[2].none = TEXKILL tex[0].rgba temp[4].rrrr ;
           src0.a = temp[5] : temp[5].a = MAD src0.a src0.1 src0.h ;
           src0.rgb = temp[4] : temp[2].rgb = MDV src0.rgb src0.111 src0.rgb ;
         ENDREP IGNORE_UNCOVERED ;",
    ),
    (
        "a fetch for covered pixels only, after kills",
        "TEX temp[2].none = TEXKILL tex[0].rgba temp[0].rrrr ;
         TEX IGNORE_UNCOVERED TEX_SEM_ACQUIRE temp[2].rgb = LD tex[0].rgba temp[0].rgba ;
         TEX_SEM_WAIT src0.rgb = temp[2] : temp[2].rgb = MDH src0.rgb src0.111 src0.rgb ;",
    ),
    (
        "every output modifier, clamped and not, of what may be NaN, infinite or denormal",
        "src0.a = temp[1] : temp[3].a = RCP src0.r ;
         src0.rgb = temp[0], src1.rgb = const[0] : temp[3].r = SOP, LN2 src0.r ;
         src0.rgb = temp[3], src1.rgb = const[0] : temp[3].g = clamp 8.0 * MAD src0.rrr src1.rgb src1.ggg ;
         src0.rgb = temp[3], src1.rgb = const[0] : temp[3].b = raw CMP src0.ggg src1.bbb src1.rrr, temp[2].a = raw CND src1.g src0.r src0.g ;
         src0.rgb = const[0], src1.rgb = temp[0] : temp[2].r = 0.125 * MAD src0.ggg src1.rrr src0.000 ;
         src0.rgb = const[0], src1.rgb = temp[0], srcp.rgb = neg2 : temp[2].g = 4.0 * MIN -|srcp.rgb| -src1.rgb ;
         src0.rgb = temp[3], src1.rgb = temp[0], srcp.rgb = sub : temp[2].b = clamp 0.5 * MAX srcp.rrr -src1.rrb ;",
    ),
    (
        "what may be denormal, times one in a loop and times one after it",
        "src0.rgb = temp[0], src1.rgb = const[0] : temp[3].r = raw CMP src1.ggg src0.ggg src0.rrr ;
         REP int[0] ;
           src0.rgb = temp[0], src0.a = temp[5] : pred[lt].rgb = MAD src0.rgr src0.111 -src0.aaa ;
           PRED(r) src0.rgb = temp[3] : temp[2].rgb = MAD src0.rrr src0.111 src0.000 ;
           src0.a = temp[5] : temp[5].a = MAD src0.a src0.1 src0.h ;
         ENDREP ;
         src0.rgb = temp[2] : temp[2].rgb = MAD src0.rgb src0.111 src0.000 ;",
    ),
];

#[test]
fn programs() {
    let given = "SIZE 32 32 ; FULL_FC_EN ; US_PIXSIZE = PIX_SIZE(16) ; int[0] = (5, 0, 1) ; int[1] = (3, 1, -1) ;
        bool[0] = false ; const[0] = (nan, 1.0e-39, -inf, 3.0e38) ; TEXTURE tex[0] = noise(16, 16, 7) linear ;
        INPUT temp[0] = (plane(-1, 4, 0), plane(-1, 0, 4), 0, 1) ; INPUT temp[1] = position ;";
    let end = "OUT TEX_SEM_WAIT src0.rgb = temp[2], src0.a = temp[5] : out[0].rgb = raw MAX src0.rgb src0.rgb, \
        out[0].a = raw MAX src0.a src0.a ;";
    let mut jobs = Vec::new();
    for (about, text) in PROGRAMS {
        for zero_rule in [0, 1] {
            let source = format!("{given} US_CONFIG = {zero_rule} ; {text} {end}");
            let assembly = r500::reader::assembly::assemble_with_files(
                source.as_bytes(),
                about,
                &r500::files::NamedFiles::anywhere(),
            );
            assert!(assembly.is_ok(), "{about}: {:?}", assembly.diagnostics);
            let mut job = assembly.job;
            job.name = format!("{about}, US_CONFIG {zero_rule}");
            let sizes = [[7, 5], [33, 18], [64, 64]];
            jobs.extend(sizes.map(|size| Job { size: Some(size), ..job.clone() }));
        }
    }
    same(jobs.into_iter().flat_map(pictures), 100);
}

/// Returns a job as it is, with an area that begins and ends anywhere and three threads, and at
/// another size where its inputs allow that.
fn pictures(job: Job) -> Vec<(Job, Options<'static>)> {
    let [width, height] = job.size.unwrap_or([64, 64]);
    let job = Job { size: Some([width, height]), ..job };
    let mut pictures = vec![(job.clone(), options(None, 1))];
    if width > 3 && height > 3 {
        let area = PixelRect { x: 1, y: 3, width: width - 2, height: height - 3 };
        pictures.push((job.clone(), Options { poison: true, ..options(Some(area), 3) }));
    }
    let flat = |input: &r500::program::Input| matches!(input.data, InputData::Planes(_));
    if job.coverage.is_none() && job.inputs.iter().flatten().all(flat) {
        let holes = |n: u32| n % 7 != 3 && n % 31 < 29;
        let coverage = Some((0..33 * 18).map(holes).collect());
        pictures.push((Job { size: Some([33, 18]), coverage, ..job }, options(None, 3)));
    }
    pictures
}

/// Returns one picture of a program, in turn of another kind, or all of them.
fn some_pictures((n, job): (usize, Job)) -> impl Iterator<Item = (Job, Options<'static>)> {
    let every = if is_all() { 1 } else { 3 };
    pictures(job).into_iter().skip(n % every).step_by(every)
}

fn is_all() -> bool {
    std::env::var_os("R500_ALL").is_some()
}

fn options(area: Option<PixelRect>, threads: usize) -> Options<'static> {
    Options { area, threads, ..Options::default() }
}

/// Compares them all. At least that many in a hundred must be drawn by the fast engine.
fn same(jobs: impl IntoIterator<Item = (Job, Options<'static>)>, percent: u64) {
    let mut seen = Seen::default();
    let mut found = Vec::new();
    for (job, options) in jobs {
        let Options { poison, area, threads, .. } = options;
        let difference = seen.add(compare(&job, &options));
        found.extend(
            difference.map(|what| {
                format!("{} ({poison}, {area:?}, {threads} threads): {what}", job.name)
            }),
        );
    }
    assert!(found.is_empty(), "{} differ:\n{}", found.len(), found.join("\n"));
    seen.demand(percent);
}

fn jobs(path: &Path) -> impl Iterator<Item = Job> + use<> {
    let input = BufReader::new(File::open(path).unwrap());
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let jobs = r500::reader::jobs(input, Some(&name), None, &Limits::default()).unwrap();
    jobs.map(Result::unwrap)
}

fn json_files(folder: &Path) -> Vec<PathBuf> {
    files(folder, "json")
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|e| e == extension)).collect();
    files.sort();
    files
}

fn tests(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(path)
}
