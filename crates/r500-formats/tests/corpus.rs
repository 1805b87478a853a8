//! Every file of `tests/corpus` is read, matches its README, and survives a round trip.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use r500_formats::{Format, Jobs, Limits, detect, is_vertex_program, read, write, write_all};
use r500_program::{Compare, InputData, Job, Plane};

fn corpus(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus").join(path)
}

/// Returns the files of a folder with that extension: name and content.
fn files(folder: &str, extension: &str) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(corpus(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, fs::read(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

fn read_one(bytes: &[u8]) -> Job {
    let mut jobs = read(bytes, None, &Limits::default()).unwrap();
    assert_eq!(jobs.len(), 1);
    jobs.remove(0)
}

fn written(job: &Job, format: Format) -> Vec<u8> {
    let mut out = Vec::new();
    write(job, format, &mut out).unwrap();
    out
}

/// Every program of the corpus and thousands of generated ones: none is taken for a vertex program, and none uses
/// reserved encodings in most of its instructions.
#[test]
fn no_fragment_program_is_taken_for_something_else() {
    let mut programs: Vec<(String, Vec<r500_isa::Instruction>)> = Vec::new();
    for folder in ["mesa", "cases", "piglit", "logs"] {
        for entry in fs::read_dir(corpus(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.display().to_string();
            if [".json", ".gz", ".log"].iter().any(|extension| name.ends_with(extension)) {
                let input = BufReader::new(fs::File::open(&path).unwrap());
                let jobs = Jobs::new(input, None, &Limits::default()).unwrap();
                programs.extend(jobs.map(|job| (name.clone(), job.unwrap().program.code)));
            }
        }
    }
    assert!(programs.len() > 5000, "{}", programs.len());
    for seed in 0..2000 {
        let case =
            r500_gen::Case::generate(&mut r500_gen::Rng::new(seed), &r500_gen::Shape::default());
        programs.push((format!("seed {seed}"), case.job("generated").program.code));
    }
    for (name, code) in programs {
        let dwords: Vec<u32> = code.iter().flat_map(|inst| inst.0).collect();
        assert!(!is_vertex_program(&dwords), "{name}");
        let reserved = code.iter().filter(|inst| inst.uses_reserved_encodings()).count();
        assert!(reserved * 2 <= code.len(), "{name}: {reserved} of {}", code.len());
    }
}

/// Jobs are equal, and so is what is written of them: `==` alone takes -0 for 0, and NaN for
/// nothing. (Text alone would not see what is never written.)
fn assert_survives(job: &Job) {
    for format in [Format::Json, Format::JsonLines] {
        let text = written(job, format);
        let again = read_one(&text);
        assert_eq!(written(&again, format), text, "{}", job.name);
        if !format!("{job:?}").contains("NaN") {
            assert_eq!(again, *job);
        }
    }
    for format in [Format::Raw, Format::CArray, Format::Hex] {
        let bytes = written(job, format);
        assert_eq!(detect(&bytes, None), Some(format), "{}", job.name);
        assert_eq!(read_one(&bytes).program.code, job.program.code, "{}", job.name);
    }
}

#[test]
fn cases() {
    let files = files("cases", "json");
    assert!(files.len() >= 100);
    for (name, bytes) in &files {
        assert_eq!(detect(bytes, None), Some(Format::Json));
        let job = read_one(bytes);
        assert_eq!(job.name, *name);
        assert!(["documented", "observed", "derived", "open"].contains(&job.status.as_str()));
        assert!(!job.rationale.is_empty());
        let [width, height] = job.size.unwrap();
        assert!((1..=64).contains(&job.program.code.len()), "{name}");
        assert_eq!(job.expect.compare, Compare::Values);
        assert_eq!(job.expect.targets[0].as_ref().unwrap().len() as u32, width * height, "{name}");
        assert!(!job.inputs.as_ref().unwrap().is_empty());
        assert!(job.program.state.fc_bool_const.is_some());
        // The program ends at its last instruction, or before (`end_addr`).
        let end = job.program.state.code_addr.unwrap().end_addr();
        assert!(usize::from(end) < job.program.code.len(), "{name}");
        assert_survives(&job);
    }
}

#[test]
fn one_case_in_every_part() {
    let job = read_one(&fs::read(corpus("cases/tex_proj.json")).unwrap());
    assert_eq!(job.size, Some([4, 4]));
    assert_eq!(job.program.code.len(), 2);
    assert_eq!(job.program.code[0].0, [0x7807, 0x02c0_0000, 0xe401_e406, 0, 0, 0]);
    let state = &job.program.state;
    assert_eq!(state.config.unwrap().0, 0);
    assert_eq!(state.pixsize.unwrap().pix_size(), 0x20);
    assert!(state.fc_ctrl.unwrap().full_fc_en());
    assert_eq!(state.code_addr.unwrap().end_addr(), 1);
    assert_eq!(state.out_fmt.map(|f| f.unwrap().0), [0x3915; 4]);
    assert_eq!(state.fc_int_const, [None; 32]);
    assert_eq!(state.format, [None; 16]);

    let inputs = job.inputs.unwrap();
    assert_eq!(inputs.iter().map(|i| i.temp).collect::<Vec<_>>(), [0, 6]);
    let InputData::Values { width: 4, values } = &inputs[1].data else { panic!() };
    assert_eq!(values.len(), 16);
    assert_eq!(values[1], [0.375, 0.75, 0.0, 2.0]);

    let texture = job.textures[0].as_ref().unwrap();
    assert!(job.textures[1..].iter().all(Option::is_none));
    assert_eq!(texture.filter0.0, 0xa12);
    assert_eq!((texture.format0.txwidth(), texture.format0.txheight()), (3, 1));
    let level = &texture.levels[0];
    assert_eq!((level.width, level.height, level.layers, level.bytes.len()), (4, 2, 1, 32));
    // "AAAA/zwAAP94" in base64.
    assert_eq!(level.bytes[..9], [0, 0, 0, 0xff, 0x3c, 0, 0, 0xff, 0x78]);

    assert_eq!(job.expect.tolerance.to_bits(), 1e-6f32.to_bits());
    let target = job.expect.targets[0].as_ref().unwrap();
    // 60/255, to the nearest float32.
    assert_eq!(target[2], [Some(60.0 / 255.0), Some(0.0), Some(0.0), Some(1.0)]);
    assert!(job.expect.targets[1..].iter().all(Option::is_none));
}

#[test]
fn optional_case_fields_are_read() {
    let job = |name: &str| read_one(&fs::read(corpus(&format!("cases/{name}.json"))).unwrap());
    let mrt = job("mrt");
    assert!(mrt.expect.targets.iter().all(Option::is_some));
    assert!(mrt.expect.targets[1].as_ref().unwrap()[0].contains(&None));
    assert_eq!(job("depth_out").expect.depth.unwrap()[3], Some(1.5));
    let uncovered = job("uncovered_any").coverage.unwrap();
    assert_eq!((uncovered.len(), uncovered.iter().filter(|&&c| c).count()), (16, 8));
    assert_eq!(job("jump_global").program.state.code_offset.unwrap().offset_addr(), 0x28);
    let rep = job("loop_one").program.state.fc_int_const;
    assert_eq!(rep.iter().flatten().count(), 1);
    let nan = job("kill");
    assert!(format!("{:?}", nan.inputs).contains("NaN"));
}

#[test]
fn captures() {
    let files = files("mesa", "json");
    assert_eq!(files.len(), 53);
    for (name, bytes) in &files {
        assert_eq!(detect(bytes, None), Some(Format::Json));
        let job = read_one(bytes);
        assert_eq!(job.name, *name);
        assert_eq!(job.origin, "mesa r300 22.3.6, RV515");
        assert_eq!(job.size, Some([64, 64]));
        assert!(job.expect.is_empty());
        let state = &job.program.state;
        // Null in the file: never written.
        assert_eq!(state.fc_bool_const, None);
        // CODE_SIZE is the number of slots less one.
        let slots = usize::from(state.code_range.unwrap().code_size()) + 1;
        assert_eq!(slots, job.program.code.len(), "{name}");
        assert!(job.inputs.iter().flatten().all(|i| matches!(i.data, InputData::Planes(_))));
        assert!(job.uniforms.is_empty());
        assert_survives(&job);
    }
    let textures = files.iter().map(|(_, bytes)| read_one(bytes).textures);
    assert_eq!(textures.map(|t| t.iter().flatten().count()).sum::<usize>(), 28);
    let share = |name: &str| read_one(&fs::read(corpus(name)).unwrap()).share;
    assert_eq!(share("mesa/tex_grad.json"), Some(0.02));
    assert_eq!(share("mesa/alu_basic.json"), None);
}

/// `vertex_values` and `position` give the planes given with them.
#[test]
fn planes_from_vertices() {
    let mut planes = 0;
    for (name, bytes) in files("mesa", "json") {
        let text = String::from_utf8(bytes).unwrap();
        let mut capture: serde_json::Value = serde_json::from_str(&text).unwrap();
        for input in capture["inputs"].as_array_mut().unwrap() {
            for component in input["components"].as_array_mut().unwrap() {
                assert!(component.as_object_mut().unwrap().remove("plane_uv").is_some());
            }
        }
        let without = capture.to_string();
        let both = [&text, &without].map(|text| read_one(text.as_bytes()).inputs.unwrap());
        for (given, computed) in both[0].iter().zip(&both[1]) {
            let [given, computed] = [given, computed].map(|i| match &i.data {
                InputData::Planes(components) => components,
                InputData::Values { .. } => panic!(),
            });
            for (given, computed) in given.iter().zip(computed) {
                assert_eq!(given.name, computed.name);
                let [Plane { c, du, dv }, is] = [given.plane, computed.plane];
                // The files round their planes to some digits.
                for (given, is) in [(c, is.c), (du, is.du), (dv, is.dv)] {
                    assert!((given - is).abs() <= 1e-6 * given.abs().max(1.0), "{name}: {is}");
                }
                planes += 1;
            }
        }
    }
    assert_eq!(planes, 284);
}

#[test]
fn draws() {
    let file = BufReader::new(fs::File::open(corpus("piglit/probes.jsonl.gz")).unwrap());
    let jobs = Jobs::new(file, None, &Limits::default()).unwrap();
    assert_eq!(jobs.format(), Format::JsonLines);
    let (mut count, mut failing, mut textures, mut backgrounds) = (0, Vec::new(), 0, 0);
    for (n, job) in jobs.enumerate() {
        let job = job.unwrap();
        assert_eq!(job.expect.compare, Compare::EightBit);
        assert_eq!(job.expect.tolerance.to_bits(), 0.01f32.to_bits());
        assert!(job.origin.ends_with(".shader_test"), "{}", job.name);
        let [width, height] = job.size.unwrap();
        let pixels = (width * height) as usize;
        assert_eq!(job.coverage.as_ref().unwrap().len(), pixels);
        assert_eq!(job.expect.targets[0].as_ref().unwrap().len(), pixels);
        let slots = usize::from(job.program.state.code_range.unwrap().code_size()) + 1;
        assert_eq!(slots, job.program.code.len(), "{}", job.name);
        textures += job.textures.iter().flatten().count();
        backgrounds += usize::from(job.expect.background.is_some());
        // All of them, the written text included, in a tenth of the time.
        if n % 10 == 0 || !job.textures.iter().all(Option::is_none) {
            assert_survives(&job);
        }
        if job.expect.known_failure {
            failing.push(job.name);
        }
        count += 1;
    }
    assert_eq!((count, textures, backgrounds), (4959, 25, 2));
    assert_eq!(failing, ["fs-dfdy-accuracy.0"]);
}

#[test]
fn programs_by_name() {
    let bytes = fs::read(corpus("piglit/programs.json")).unwrap();
    assert_eq!(detect(&bytes, None), Some(Format::Json));
    let jobs = read(&bytes, None, &Limits::default()).unwrap();
    assert_eq!(jobs.len(), 546);
    assert_eq!(jobs[0].name, "cmod-cmp-to-add-e");
    assert_eq!(jobs[0].program.code.len(), 5);
    assert_eq!(jobs[0].program.code[0].0[0], 0x0010_4800);
    assert!(jobs.iter().all(|job| (1..=512).contains(&job.program.code.len())));
    assert!(jobs.iter().all(|job| job.inputs.is_none() && job.size.is_none()));
    for job in &jobs {
        assert_survives(job);
    }
    // As a list, they come back one and all.
    let mut text = Vec::new();
    write_all(&jobs, Format::Json, &mut text).unwrap();
    assert_eq!(read(&text, None, &Limits::default()).unwrap(), jobs);
    text.clear();
    write_all(&jobs, Format::JsonLines, &mut text).unwrap();
    assert_eq!(detect(&text, None), Some(Format::JsonLines));
    assert_eq!(read(&text, None, &Limits::default()).unwrap(), jobs);
}

/// The final program of a log is the capture of the same name.
#[test]
fn logs_are_captures() {
    let files = files("logs", "log");
    assert_eq!(files.len(), 3);
    for (name, bytes) in &files {
        assert_eq!(detect(bytes, None), Some(Format::MesaLog));
        let job = read_one(bytes);
        let capture = read_one(&fs::read(corpus(&format!("mesa/{name}.json"))).unwrap());
        assert_eq!(job.program.code, capture.program.code, "{name}");
        assert_eq!(job.name, "fp0");
    }
}

/// Logs are appended to one another, as a program that compiles several shaders prints them.
#[test]
fn a_log_of_several_programs() {
    let logs = files("logs", "log");
    let all: Vec<u8> = logs.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
    let jobs = read(&all, None, &Limits::default()).unwrap();
    let names: Vec<_> = jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["fp0", "fp1", "fp2"]);
    for (job, (_, bytes)) in jobs.iter().zip(&logs) {
        assert_eq!(job.program, read_one(bytes).program);
    }
    assert_eq!(
        jobs[0].origin,
        "log of Mesa's r300 driver, line 823; US_CONFIG and int[0] as Mesa writes them"
    );

    // Truncated within the last program: the others are still read.
    let last = all.windows(9).rposition(|w| w == b"RGBA_INST").unwrap();
    let cut = &all[..last];
    let jobs: Vec<_> = Jobs::new(cut, None, &Limits::default()).unwrap().collect();
    assert_eq!(jobs.len(), 3);
    assert!(jobs[0].is_ok() && jobs[1].is_ok());
    let error = jobs[2].as_ref().unwrap_err().to_string();
    assert!(error.ends_with("at fp2: word 5 of instruction 12 is missing"), "{error}");

    // Loggers put things in front of lines, and text of other kinds stands between.
    let text = String::from_utf8(logs[2].1.clone()).unwrap();
    let prefixed: String = text
        .lines()
        .flat_map(|line| ["Nov 21 11:12:01 host app[123]: ", line, "\r\n", "b\u{e9}la 0x12\n"])
        .collect();
    assert_eq!(detect(prefixed.as_bytes(), None), Some(Format::MesaLog));
    assert_eq!(read_one(prefixed.as_bytes()).program, read_one(&logs[2].1).program);
}

#[test]
fn immediates_are_recovered_from_the_passes() {
    // The captures of the same programs hold the constants that the driver uploaded.
    for (name, absent) in [("tex_grad", &[][..]), ("scene_plasma", &[0])] {
        let log = fs::read(corpus(&format!("logs/{name}.log"))).unwrap();
        let logged = read_one(&log).program.state;
        let capture = fs::read(corpus(&format!("mesa/{name}.json"))).unwrap();
        let uploaded = read_one(&capture).program.state.constants;
        assert_eq!(logged.absent_constants, absent, "{name}");
        for (n, constant) in logged.constants.iter().enumerate() {
            if !absent.contains(&n) {
                for (logged, uploaded) in constant.iter().zip(uploaded[n]) {
                    let [logged, uploaded] = [*logged, uploaded].map(f32::from_bits);
                    assert!((logged - uploaded).abs() <= 0.5e-4 + 1e-6, "{name} const[{n}]");
                }
            }
        }
    }
}
