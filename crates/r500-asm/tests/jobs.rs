//! Full programs: directives to a job, and a job to directives and back.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::Random;
use r500_asm::{DiagnosticCode, Options, PrintOptions, TextureSource, assemble, print};
use r500_isa::state::{
    UsCodeAddr, UsConfig, UsFcBoolConst, UsFcCtrl, UsFcIntConst, UsOutFmt, UsPixsize,
};
use r500_program::{Compare, InputData, Job, LiveSource, Plane, Uniform};

#[track_caller]
fn job(source: &str) -> Job {
    let assembly = assemble(source.as_bytes(), Options::default());
    assert!(assembly.diagnostics.is_empty(), "{}", assembly.render(Default::default()));
    assembly.job
}

/// Prints, assembles, and restores the texture files.
#[track_caller]
fn there_and_back(name: &str, job: &Job) -> String {
    let printed = print(job, &PrintOptions::default());
    let mut assembly = assemble(printed.text.as_bytes(), Options::default());
    assert!(assembly.is_ok(), "{name}\n{}", assembly.render(Default::default()));
    for request in &assembly.textures {
        let TextureSource::Level { level } = request.source else { panic!("{request:?}") };
        let file = printed.files.iter().find(|f| f.name == request.path).unwrap();
        let texture = assembly.job.textures[usize::from(request.unit)].as_mut().unwrap();
        texture.levels[level].bytes = file.bytes.clone();
    }
    assert_eq!(&assembly.job, job, "{name}\n{}", printed.text);
    printed.text
}

#[test]
fn constants_and_state() {
    let job = job("
        NAME \"a \\\"name\\\"\" ; ORIGIN \"h\\u0065re \\u001b[2J\\u9b\" ; SIZE 64 32 ; TIME 1.5 ; SHARE 0.25 ;
        const[2] = (0.5, -1e-3, inf, 0x7fc00001) ;
        int[1] = (255, 7, -128) ; int[2] = 0x01020304 ;
        bool[0] = true ; bool[31] = true ; bool[3] = false ;
        US_CONFIG = ZERO_TIMES_ANYTHING_EQUALS_ZERO ;
        US_PIXSIZE = PIX_SIZE(5) ;
        FULL_FC_EN ;
        US_OUT_FMT[0] = OUT_FMT(C4_8) C0_SEL(Blue) C1_SEL(Green) C2_SEL(Red) C3_SEL(Alpha) ;
        US_OUT_FMT[1] = 15 ;
        DEF tint = const[4] = (1, 2, 3, 4) ;
        UNIFORM speed = const[5].gb ;
        ENTRY @start ; END @last ;
        : ;
        @start src0.rgb = tint, src1.rgb = speed : temp[0].rgb = MAD src0.rgb src0.111 src0.000 ;
        @last : ;");
    assert_eq!((&*job.name, &*job.origin), ("a \"name\"", "here \u{1b}[2Ju9b"));
    assert_eq!((job.size, job.time, job.share), (Some([64, 32]), Some(1.5), Some(0.25)));
    let s = &job.program.state;
    assert_eq!(s.constants.len(), 5);
    // 0.5; -0.001 is 0xba83126f; infinity; the bits given.
    assert_eq!(s.constants[2], [0x3f00_0000, 0xba83_126f, 0x7f80_0000, 0x7fc0_0001]);
    assert_eq!(s.constants[0], [0; 4]);
    // KR 7:0, KG 15:8, KB 23:16.
    assert_eq!(s.fc_int_const[1], Some(UsFcIntConst(0x0080_07ff)));
    assert_eq!(s.fc_int_const[2], Some(UsFcIntConst(0x0102_0304)));
    assert_eq!(s.fc_bool_const, Some(UsFcBoolConst(0x8000_0001)));
    assert_eq!(s.config, Some(UsConfig(2)));
    assert_eq!(s.pixsize, Some(UsPixsize(5)));
    assert_eq!(s.fc_ctrl, Some(UsFcCtrl(0x8000_0000)));
    // Blue 3, green 2, red 1, alpha 0 at 9:8, 11:10, 13:12, 15:14.
    assert_eq!(s.out_fmt[0], Some(UsOutFmt(0x1b00)));
    assert_eq!(s.out_fmt[1], Some(UsOutFmt(15)));
    assert_eq!(s.code_addr, Some(UsCodeAddr(2 << 16 | 1)));
    assert_eq!(
        job.uniforms,
        [Uniform { name: "speed".to_owned(), constant: 5, channel: 1, channels: 2 }]
    );
    // const[4] and const[5] as sources: CONST is bit 8.
    assert_eq!(job.program.code[1].0[1], 0x0800_0000 | 0x105 << 10 | 0x104);
    there_and_back("state", &job);
}

#[test]
fn inputs() {
    assert_eq!(job(": ;").inputs, None);
    assert_eq!(job("INPUT none ;").inputs, Some(vec![]));
    let job = job("
        SIZE 8 4 ;
        INPUT temp[0] = uv ;
        INPUT temp[1] = position ;
        INPUT temp[2] = (plane(1, 2, 3) \"p\", corners(1, 3, 0), vertices(0, 2, -4), 0.5) ;
        INPUT temp[3] = values(2) (1, 2, 3, 4), (5, 6, 7, 8) ;");
    let inputs = job.inputs.as_ref().unwrap();
    let planes = |i: usize| match &inputs[i].data {
        InputData::Planes(c) => c.clone().map(|c| (c.plane.c, c.plane.du, c.plane.dv)),
        InputData::Values { .. } => panic!(),
    };
    assert_eq!(planes(0), [(0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0)]);
    assert_eq!(planes(1)[..2], [(0.0, 8.0, 0.0), (0.0, 0.0, 4.0)]);
    assert_eq!(planes(2), [(1.0, 2.0, 3.0), (1.0, 2.0, -1.0), (0.0, 1.0, -2.0), (0.5, 0.0, 0.0)]);
    let InputData::Values { width: 2, values } = &inputs[3].data else { panic!() };
    assert_eq!(values, &[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]);
    there_and_back("inputs", &job);
}

#[test]
fn textures_that_change() {
    let source = "TEXTURE tex[0] = previous out[1] ; TEXTURE tex[3] = previous out[0] linear wrap ;\n\
        TEXTURE tex[4] = keyboard ; TEXTURE tex[5] = camera ; TEXTURE tex[6] = video border ;";
    let assembly = assemble(source.as_bytes(), Options::default());
    assert!(assembly.is_ok(), "{}", assembly.render(Default::default()));
    let live: Vec<_> = assembly.job.live.iter().map(|live| (live.unit, live.source)).collect();
    let wanted = [
        (0, LiveSource::Previous(1)),
        (3, LiveSource::Previous(0)),
        (4, LiveSource::Keyboard),
        (5, LiveSource::Camera),
        (6, LiveSource::Video),
    ];
    assert_eq!(live, wanted);
    // CLAMP_S, T, R 2 each; MAG and MIN 1 (nearest) or 2 (linear) at 10:9 and 12:11.
    let filter =
        |unit: usize| assembly.job.textures[unit].as_ref().unwrap().filter0.bits() & 0x1fff;
    assert_eq!(filter(0), 0o222 | 1 << 9 | 1 << 11);
    assert_eq!(filter(3), 2 << 9 | 2 << 11);
    assert_eq!(filter(5), 0o222 | 2 << 9 | 2 << 11);
    there_and_back("textures that change", &assembly.job);
    let wrong = assemble(b"TEXTURE tex[0] = previous tex[0] ;", Options::default());
    assert!(!wrong.is_ok());
}

#[test]
fn textures() {
    let source = "
        TEXTURE tex[0] = file \"stone.png\" nearest clamp ;
        TEXTURE tex[1] = checker(4, 2, 2) ;
        TEXTURE tex[2] = gradient(3, 3) mirror ;
        TX_FORMAT0[3] = TXWIDTH(1) TXHEIGHT(0) ;
        LEVEL tex[3] = (2, 1) bytes \"00ff00ff\" \"01020304\" ;
        LEVEL tex[3] = (1, 1) raw \"level1.raw\" ;";
    let assembly = assemble(source.as_bytes(), Options::default());
    assert!(assembly.is_ok(), "{}", assembly.render(Default::default()));
    let [file, level] = &assembly.textures[..] else { panic!("{:?}", assembly.textures) };
    assert_eq!((file.unit, &*file.path, file.source), (0, "stone.png", TextureSource::Picture));
    assert_eq!((level.unit, level.source), (3, TextureSource::Level { level: 1 }));
    let textures = &assembly.job.textures;
    // CLAMP_S, T, R 2 each; MAG and MIN 1 at 10:9 and 12:11.
    assert_eq!(textures[0].as_ref().unwrap().filter0.bits(), 0o222 | 1 << 9 | 1 << 11);
    let checker = textures[1].as_ref().unwrap();
    assert_eq!(checker.levels[0].bytes.len(), 4 * 2 * 4);
    assert_eq!(
        checker.levels[0].bytes[..12],
        [255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 255]
    );
    assert_eq!(checker.format0.bits(), 3 | 1 << 11);
    // X8_8_8_8 is 12; SEL_ALPHA C3 at 11:9, SEL_GREEN C1 at 17:15, SEL_BLUE C2 at 20:18.
    assert_eq!(checker.format1.bits(), 12 | 3 << 9 | 1 << 15 | 2 << 18);
    let last = textures[2].as_ref().unwrap().levels[0].bytes[32..].to_vec();
    assert_eq!(last, [255, 255, 0, 255]);
    assert_eq!(textures[3].as_ref().unwrap().levels[0].bytes, [0, 255, 0, 255, 1, 2, 3, 4]);
    let mut job = assembly.job;
    job.textures[0] = None;
    job.textures[3].as_mut().unwrap().levels[1].bytes = vec![7; 1000];
    let text = there_and_back("textures", &job);
    assert!(text.contains("raw \"texture.tex3.1.raw\""));
}

#[test]
fn expectations() {
    let job = job("
        EXPECT out[0] at (1, 0) = (1, _, 0x3f800000, nan) ;
        EXPECT out[1] row 1 = (1, 1, 1, 1), _ ;
        EXPECT out[2] all = (0, 0, 0, 0) ;
        EXPECT depth column 0 = 0.5, 0.25 ;
        EXPECT coverage = true, false, _, 1 ;
        EXPECT tolerance = 0.125 ; EXPECT compare = 8bit ; EXPECT failure ;
        COVERAGE at (0, 1) = false ;
        SIZE 2 2 ;");
    let e = &job.expect;
    let a = e.targets[0].as_ref().unwrap();
    assert_eq!(a[0], [None; 4]);
    assert_eq!(a[1][..3], [Some(1.0), None, Some(1.0)]);
    assert!(a[1][3].unwrap().is_nan());
    assert_eq!(e.targets[1].as_ref().unwrap()[2..], [[Some(1.0); 4], [None; 4]]);
    assert_eq!(e.targets[2], Some(vec![[Some(0.0); 4]; 4]));
    assert_eq!(e.depth, Some(vec![Some(0.5), None, Some(0.25), None]));
    assert_eq!(e.coverage, Some(vec![Some(true), Some(false), None, Some(true)]));
    assert_eq!((e.tolerance, e.compare, e.known_failure), (0.125, Compare::EightBit, true));
    assert_eq!(job.coverage, Some(vec![true, true, false, true]));
    // NaN does not equal itself: without it the job is restored.
    let mut job = job;
    job.expect.targets[0] = None;
    there_and_back("expectations", &job);
}

#[test]
fn malformed_directives_are_reported() {
    let codes = |source: &str| -> Vec<DiagnosticCode> {
        assemble(source.as_bytes(), Options::default()).diagnostics.iter().map(|d| d.code).collect()
    };
    assert_eq!(codes("const[0] = (1, 2, 3) ;"), [DiagnosticCode::Unexpected]);
    assert_eq!(
        codes("const[0] = (1, 2, 3, 4) ; const[0] = (1, 2, 3, 4) ;"),
        [DiagnosticCode::GivenTwice]
    );
    assert_eq!(codes("int[0] = (1, 2, 200) ;"), [DiagnosticCode::OutOfRange]);
    assert_eq!(codes("int[32] = 0 ;"), [DiagnosticCode::OutOfRange]);
    assert_eq!(
        codes("INPUT temp[0] = position ;"),
        [DiagnosticCode::SizeNeeded, DiagnosticCode::SizeNeeded]
    );
    assert_eq!(codes("INPUT temp[0] = values(2) (1, 2, 3, 4) ;"), [DiagnosticCode::WrongCount]);
    assert_eq!(codes("INPUT const[0] = uv ;"), [DiagnosticCode::WrongRegister]);
    assert_eq!(codes("END @x ;"), [DiagnosticCode::UnknownLabel]);
    assert_eq!(codes("DEF src0 = temp[0] ;"), [DiagnosticCode::BadName]);
    assert_eq!(codes("DEF US_CONFIG = temp[0] ;"), [DiagnosticCode::BadName]);
    assert_eq!(codes("LEVEL tex[0] = (1, 1) bytes \"0g\" ;"), [DiagnosticCode::BadTexture]);
    assert_eq!(
        codes("TEXTURE tex[0] = file \"a\" ; LEVEL tex[0] = (1, 1) bytes \"00\" ;"),
        [DiagnosticCode::BadTexture]
    );
}

/// Values of every kind that a plane, a constant or an expectation may have.
#[test]
fn floats_keep_their_bits() {
    let mut random = Random::new(0x5eed_0005);
    let mut job = Job::default();
    for _ in 0..256 {
        job.program.state.constants.push([0; 4].map(|_| random.word()));
    }
    job.program.state.constants[0] = [0x8000_0000, 1, 0xff80_0000, 0xffff_ffff];
    job.program.state.constants[1] = [0x7f7f_ffff, 0x0080_0000, 0x3dcc_cccd, 0x4b80_0000];
    let values = (0..64).map(|_| [0; 4].map(|_| f32::from_bits(random.word() & 0xff7f_ffff)));
    let data = InputData::Values { width: 8, values: values.collect() };
    job.inputs = Some(vec![r500_program::Input { temp: 3, data }]);
    job.inputs.as_mut().unwrap().push(r500_program::Input::planes(
        4,
        [
            Plane { c: -0.0, du: 0.0, dv: 0.0 },
            Plane { c: 0.1, du: -0.0, dv: 1e-20 },
            Plane::default(),
            Plane::constant(-3.5e9),
        ],
    ));
    there_and_back("floats", &job);
}

#[test]
fn annotations_are_comments() {
    for (name, code) in common::programs().into_iter().take(200) {
        let job = Job::from_program(r500_program::Program::from_code(code));
        let options = PrintOptions { annotate: true, ..PrintOptions::default() };
        let text = print(&job, &options).text;
        let first = job.program.code[0].0[0];
        assert!(text.contains(&format!("-- 0: {first:08x} ")), "{name}\n{text}");
        let back = assemble(text.as_bytes(), Options::default());
        assert!(back.is_ok() && back.job == job, "{name}");
    }
}

/// The examples of the guide's page are programs, and print as they are there, except for comments.
#[test]
fn guide_examples_assemble() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/language.md");
    let page = std::fs::read_to_string(page).unwrap();
    let examples: Vec<&str> =
        page.split("```text\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(examples.len() >= 2);
    for example in examples {
        let assembly = assemble(example.as_bytes(), Options::default());
        assert!(assembly.diagnostics.is_empty(), "{}", assembly.render(Default::default()));
        let code = example.split_once(";\n\n").map_or(example, |(_, code)| code);
        assert_eq!(r500_asm::print_code(&assembly.job.program.code, 0), join_lines(code));
    }
}

/// Joins instructions of several lines.
fn join_lines(code: &str) -> String {
    let mut out = String::new();
    for line in code.lines() {
        if out.ends_with(":\n") {
            out.pop();
            out.push(' ');
            out.push_str(line.trim_start());
        } else {
            out.push_str(line);
        }
        out.push('\n');
    }
    out
}

/// Every capture, every case and a large part of the draws are restored from their text.
#[test]
fn corpus_jobs_survive_a_round_trip() {
    use r500_formats::{Jobs, Limits};
    let mut count = 0;
    for folder in ["mesa", "cases"] {
        for entry in std::fs::read_dir(common::corpus().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "json") {
                let bytes = std::fs::read(&path).unwrap();
                let name = path.display().to_string();
                for job in r500_formats::read(&bytes, None, &Limits::default()).unwrap() {
                    comes_back(&name, job);
                    count += 1;
                }
            }
        }
    }
    assert!(count >= 153);
    let bytes = std::fs::read(common::corpus().join("piglit/probes.jsonl.gz")).unwrap();
    for job in Jobs::new(&bytes[..], None, &Limits::default()).unwrap().step_by(7) {
        comes_back("draw", job.unwrap());
    }
}

/// As [`there_and_back`], for jobs that may contain NaN: compares the debug text, which distinguishes NaN from numbers,
/// but not one NaN from another.
#[track_caller]
fn comes_back(name: &str, mut job: Job) {
    // Names for switches that do not affect the picture; the text has none.
    job.named_by_value.clear();
    let printed = print(&job, &PrintOptions { embed: usize::MAX, ..PrintOptions::default() });
    assert!(printed.files.is_empty());
    let assembly = assemble(printed.text.as_bytes(), Options::default());
    assert!(assembly.is_ok(), "{name}\n{}", assembly.render(Default::default()));
    if assembly.job != job {
        let (a, b) = (format!("{:#?}", assembly.job), format!("{job:#?}"));
        let line = a.lines().zip(b.lines()).find(|(a, b)| a != b);
        assert!(a == b, "{name} {}: {line:?}", job.name);
    }
}

/// `TIME` is a directive, and `time` a default that the command sets.
#[test]
fn a_uniform_may_be_called_like_a_word_of_the_language() {
    let assembly = assemble(b"UNIFORM time = const[3].r ;", Default::default());
    assert!(assembly.is_ok());
    let time = Uniform { name: "time".to_owned(), constant: 3, channel: 0, channels: 1 };
    assert_eq!(assembly.job.uniforms, [time]);
}
