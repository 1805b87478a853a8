//! Logs of drivers: what they say of constants, compared with what the driver uploaded, and their shapes.
//!
//! `logs/mesa-*` has logs of Mesa's r300 driver on the virtual card (`tools/card/logs` makes such), each with the state and the constants of
//! the draw of the same run.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::PathBuf;

use r500_formats::{Format, Limits, LogEntries, LogEntry, VertexProgram, detect, read, write};
use r500_isa::InstInfo;
use r500_program::{Channel, DriverState, Job, Outcome, Resource, SamplerTarget};

fn logs(folder: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/logs").join(folder)
}

fn bytes(file: &str) -> Vec<u8> {
    fs::read(logs(file)).unwrap()
}

fn text(file: &str) -> String {
    String::from_utf8(bytes(file)).unwrap()
}

fn jobs(log: &str) -> Vec<Job> {
    read(log.as_bytes(), None, &Limits::default()).unwrap()
}

fn vertex_programs(log: &str) -> Vec<VertexProgram> {
    LogEntries::new(log.as_bytes(), &Limits::default())
        .filter_map(|entry| match entry.unwrap() {
            LogEntry::Vertex(program) => Some(program),
            LogEntry::Fragment(_) => None,
        })
        .collect()
}

/// Returns the job of a log whose program the draw has, and the draw.
fn pair(version: &str, name: &str) -> (Job, Job) {
    let read = |end: &str| {
        let bytes = bytes(&format!("{version}/{name}.{end}.gz"));
        read(&bytes, None, &Limits::default()).unwrap()
    };
    let draw = read("json").remove(0);
    let job = read("log").into_iter().find(|job| job.program.code == draw.program.code).unwrap();
    (job, draw)
}

/// Returns the channels of constants that a program reads.
fn reads(job: &Job) -> Vec<(usize, usize)> {
    let mut reads = vec![0_u8; 256];
    for instruction in &job.program.code {
        for access in InstInfo::new(*instruction).constants.iter() {
            if access.relative {
                reads.fill(15);
            }
            reads[usize::from(access.addr)] |= access.may;
        }
    }
    let bits = |(n, mask): (usize, &u8)| {
        let mask = *mask;
        (0..4).filter(move |c| mask >> c & 1 != 0).map(move |c| (n, c))
    };
    reads.iter().enumerate().flat_map(bits).collect()
}

#[test]
fn constants_of_logs_are_those_of_the_draws_or_missing_by_name() {
    let (mut programs, mut equal, mut missing) = (0, 0, 0);
    for version in ["mesa-22.3.6", "mesa-22.3.6-noopt", "mesa-25.0.7"] {
        for entry in fs::read_dir(logs(version)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let Some(name) = name.strip_suffix(".log.gz") else { continue };
            let (job, draw) = pair(version, name);
            programs += 1;
            let (state, truth) = (&job.program.state, &draw.program.state);
            let compilation = job.compilation.as_ref().unwrap();
            for (n, c) in reads(&job) {
                let uploaded = truth.constants.get(n).map_or(0.0, |k| f32::from_bits(k[c]));
                let channel = compilation.channel(n, c);
                let place = format!("{version} {name}: const[{n}] channel {c}, {channel}");
                if !state.gives_channel(n, c) {
                    missing += 1;
                    match channel {
                        Channel::Uniform { .. } | Channel::State(_) => {}
                        Channel::Tiny { decimals } => {
                            assert!(
                                uploaded.abs() <= 0.5 * 10_f32.powi(-i32::from(decimals)),
                                "{place}"
                            );
                        }
                        _ => panic!("{place} is read, and the log says nothing"),
                    }
                    continue;
                }
                let Channel::Literal { decimals: Some(decimals) } = channel else {
                    panic!("{place} has a value");
                };
                let logged = f64::from(f32::from_bits(state.constants[n][c]));
                let tolerance =
                    0.5 * 10_f64.powi(-i32::from(decimals)) + f64::from(uploaded.abs()) * 1e-7;
                assert!(
                    (logged - f64::from(uploaded)).abs() <= tolerance,
                    "{place}: {logged}, draw {uploaded}"
                );
                equal += 1;
            }
            // What Mesa always writes.
            assert_eq!(state.config, truth.config, "{version} {name}");
            if let Some(int) = state.fc_int_const[0] {
                assert_eq!(Some(int), truth.fc_int_const[0], "{version} {name}");
            }
        }
    }
    assert_eq!(programs, 30);
    assert_eq!((equal, missing), (141, 138));
}

#[test]
fn literals_smaller_than_the_decimals_are_missing() {
    let (job, draw) = pair("mesa-22.3.6", "tiny_eps");
    // max(abs(u.y), 1e-5): the log prints 0.0000.
    assert_eq!(f32::from_bits(draw.program.state.constants[1][0]), 1e-5);
    assert!(!job.program.state.gives_channel(1, 0));
    assert_eq!(job.compilation.unwrap().channel(1, 0), Channel::Tiny { decimals: 4 });
}

/// Versions that translate NIR without TGSI print no text of the shader: the compiler's first text names the targets. The log is the one of
/// 25.0.7 without that text, and with other targets.
#[test]
fn samplers_are_read_from_the_compilers_text_too() {
    let file = bytes("mesa-25.0.7/tex2d_const.log.gz");
    let mut log = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&file[..]), &mut log).unwrap();
    assert!(log.contains("r300: Initial fragment program"));
    let mut in_shader = false;
    let stripped: String = log
        .lines()
        .filter(|line| {
            in_shader |= line.starts_with("r300: Initial fragment program");
            in_shader &= !line.starts_with("Fragment Program: ");
            !in_shader
        })
        .map(|line| format!("{line}\n"))
        .collect();
    assert!(!stripped.contains("SAMP["));
    let samplers = |log: &str| -> Vec<_> {
        jobs(log).into_iter().map(|job| job.compilation.unwrap().samplers).collect()
    };
    assert_eq!(samplers(&stripped), samplers(&log));
    for (text, target, shadow) in [
        ("CUBE[3]", SamplerTarget::Cube, false),
        ("3DSHADOW[3]", SamplerTarget::D3, true),
        ("RECT[3]", SamplerTarget::Rect, false),
    ] {
        // The first text only: later ones have what the pass that transforms textures makes of it.
        let changed = stripped.replacen("2D[0]", text, 1);
        let found = samplers(&changed).into_iter().find_map(|samplers| samplers[3]).unwrap();
        assert_eq!((found.target, found.shadow), (target, shadow));
    }
}

#[test]
fn uniforms_and_driver_state_have_names() {
    let (job, _) = pair("mesa-22.3.6", "array_uniform");
    let named: Vec<_> = job.uniforms.iter().map(|u| (u.name.as_str(), u.constant)).collect();
    assert!(
        named.contains(&("CONST[0][1]", 1)) && named.contains(&("CONST[0][3]", 3)),
        "{named:?}"
    );
    for version in ["mesa-22.3.6", "mesa-25.0.7"] {
        let (job, _) = pair(version, "coord_only");
        let compilation = job.compilation.unwrap();
        assert_eq!(compilation.channel(2, 0), Channel::State(DriverState::ViewportScale));
        assert_eq!(compilation.channel(3, 1), Channel::State(DriverState::ViewportOffset));
        assert!(job.uniforms.iter().any(|u| u.name == "viewport scale" && u.channels == 4));
        let (job, _) = pair(version, "tex2d_const");
        let sampler = job.compilation.unwrap().samplers[0].unwrap();
        assert_eq!((sampler.target, sampler.shadow), (SamplerTarget::D2, false));
    }
}

#[test]
fn jobs_of_logs_round_trip_through_json() {
    for (version, name) in [("mesa-25.0.7", "sincos"), ("mesa-22.3.6", "tiny_eps")] {
        let (job, _) = pair(version, name);
        let mut out = Vec::new();
        write(&job, Format::Json, &mut out).unwrap();
        assert_eq!(read(&out, None, &Limits::default()).unwrap(), [job]);
    }
    let failed = jobs(&text("failed.log")).remove(0);
    let mut out = Vec::new();
    write(&failed, Format::Json, &mut out).unwrap();
    assert_eq!(read(&out, None, &Limits::default()).unwrap(), [failed]);
}

#[test]
fn a_failed_compilation_is_its_dummy_with_the_reason() {
    let log = text("failed.log");
    let [job] = &jobs(&log)[..] else { panic!("one program") };
    assert_eq!((job.name.as_str(), job.program.code.len()), ("fp0", 1));
    let compilation = job.compilation.as_ref().unwrap();
    let Outcome::Failed(failure) = &compilation.outcome else { panic!("{compilation:?}") };
    assert_eq!(failure.reason, "Ran out of temporary registers");
    let limit = failure.limit.unwrap();
    assert_eq!(
        (limit.resource, limit.most, limit.excess()),
        (Resource::Temporaries, Some(128), None)
    );
    // The text is that of the shader, not of the dummy.
    assert!(compilation.source.contains("MUL OUT[0], IN[0], IN[0]"), "{}", compilation.source);

    // The reason without an end of line, as Mesa 22 prints it.
    let run_on = log
        .replace(
            "r300compiler error: Ran out of temporary registers\n",
            "r300compiler error: Ran out of temporary registers",
        )
        .replace("registers\nUsing", "registersUsing");
    assert_eq!(jobs(&run_on)[0].compilation.as_ref().unwrap().outcome, compilation.outcome);

    // By how much.
    let much =
        log.replace("Ran out of temporary registers", "Too many constants. Max: 256, Got: 313");
    let jobs = jobs(&much);
    let outcome = &jobs[0].compilation.as_ref().unwrap().outcome;
    assert_eq!(
        outcome.to_string(),
        "the driver failed: Too many constants. Max: 256, Got: 313 (57 too many)"
    );
}

#[test]
fn messages_alone_are_failed_compilations() {
    let log = "glxgears: hello\nr300 FP: Compiler Error:\nToo many instructions\nUsing a dummy shader instead.\n";
    assert_eq!(detect(log.as_bytes(), None), Some(Format::MesaLog));
    let [job] = &jobs(log)[..] else { panic!("one compilation") };
    assert!(job.program.code.is_empty());
    let Outcome::Failed(failure) = &job.compilation.as_ref().unwrap().outcome else { panic!() };
    assert_eq!(failure.limit.unwrap().resource, Resource::Instructions);
}

#[test]
fn the_shader_after_a_failed_one_is_not_its_dummy() {
    let good = String::from_utf8(gunzip("mesa-22.3.6/inline_drop.log.gz")).unwrap();
    let log = format!("{}{good}", text("failed.log"));
    let outcomes: Vec<_> =
        jobs(&log).iter().map(|job| job.compilation.as_ref().unwrap().outcome.name()).collect();
    assert_eq!(outcomes[..2], ["failed", "compiled"]);
    // Without the dummy, which an older or another build may not print.
    let (front, _) =
        log.split_once("r300: Initial fragment program\nFRAG\nDCL OUT[0], COLOR\nIMM").unwrap();
    let jobs = jobs(&format!("{front}{good}"));
    let found: Vec<_> =
        jobs.iter().map(|job| (job.name.as_str(), job.program.code.len())).collect();
    assert_eq!(found[0], ("fp0", 0));
    assert!(found[1].1 > 1, "{found:?}");
}

fn gunzip(file: &str) -> Vec<u8> {
    use std::io::Read;
    let mut out = Vec::new();
    let bytes = bytes(file);
    let mut plain = r500_formats::decompressed(&bytes[..], &Limits::default()).unwrap();
    plain.read_to_end(&mut out).unwrap();
    out
}

#[test]
fn the_first_gallium_driver() {
    let log = text("gallium-2009.log");
    assert_eq!(detect(log.as_bytes(), None), Some(Format::MesaLog));
    let [job] = &jobs(&log)[..] else { panic!("one program") };
    assert_eq!(job.program.code.len(), log.matches("CMN_INST").count());
    assert_eq!(job.program.code[0].0[1], 0x0800_0100);
    assert_eq!(job.program.code[0].0[5], 0x0049_0010);
}

#[test]
fn the_classic_driver_lists_constants() {
    let jobs = jobs(&text("classic-2008.log"));
    let constants: Vec<_> =
        jobs[0].program.state.constants.iter().map(|c| c.map(f32::from_bits)).collect();
    assert_eq!(constants, [[0.5, 0.25, 1.0, 0.0], [2.0, 3.0, 4.0, 5.0]]);
}

#[test]
fn vertex_programs_have_names_and_words() {
    let log = text("vertex.log");
    assert_eq!(detect(log.as_bytes(), None), Some(Format::MesaLog));
    let programs = vertex_programs(&log);
    let found: Vec<_> = programs.iter().map(|p| (p.name.as_str(), p.code.len())).collect();
    assert_eq!(found, [("vp0", 2), ("vp1", 5)]);
    assert_eq!(programs[1].code[0], [0x00f0_0002, 0x00d1_0022, 0x0049_2001, 0x0124_8001]);
    let error = read(log.as_bytes(), None, &Limits::default()).unwrap_err();
    assert!(error.help().unwrap().contains("2 vertex programs, vp0 and vp1"), "{error:?}");

    // Both kinds, one after the other: the constants of vertex programs are not those of fragment programs.
    let fragment = String::from_utf8(gunzip("mesa-22.3.6/inline_drop.log.gz")).unwrap();
    let listed = log.replace(
        "Final vertex program code:",
        "CONST[1] = {    77.0000    77.0000    77.0000    77.0000 }\nFinal vertex program code:",
    );
    let both = format!("{listed}{fragment}{listed}");
    assert_eq!(jobs(&both).last().unwrap().program, jobs(&fragment).last().unwrap().program);
    assert_eq!(vertex_programs(&both).len(), 4 + vertex_programs(&fragment).len());
}

#[test]
fn processes_are_told_apart() {
    let logs = ["mesa-22.3.6/inline_drop.log.gz", "mesa-25.0.7/sincos.log.gz"]
        .map(|file| String::from_utf8(gunzip(file)).unwrap());
    let mut mixed = String::new();
    let mut lines = logs.each_ref().map(|log| log.lines());
    let names = ["Nov 21 11:12:01 host glxgears[1234]: ", "Nov 21 11:12:01 host game[77]: "];
    loop {
        let next = [lines[0].next(), lines[1].next()];
        for (name, line) in names.iter().zip(next) {
            if let Some(line) = line {
                // How rsyslog writes tabulators.
                mixed.push_str(&format!("{name}{}\n", line.replace('\t', "#011")));
            }
        }
        if next == [None, None] {
            break;
        }
    }
    let found = jobs(&mixed);
    for log in &logs {
        for alone in jobs(log) {
            assert!(found.iter().any(|job| job.program == alone.program), "{}", alone.name);
        }
    }
    let processes: Vec<_> =
        found.iter().map(|job| job.compilation.as_ref().unwrap().process.as_str()).collect();
    assert!(processes.contains(&"glxgears[1234]") && processes.contains(&"game[77]"));
}

#[test]
fn a_debugger_prompt_changes_nothing() {
    let log = String::from_utf8(gunzip("mesa-25.0.7/sincos.log.gz")).unwrap();
    let prompted: String = log.lines().map(|line| format!("(gdb) {line}\n")).collect();
    let programs = |log: &str| jobs(log).into_iter().map(|job| job.program).collect::<Vec<_>>();
    assert_eq!(programs(&prompted), programs(&log));
}

#[test]
fn immediates_of_logs_without_lists() {
    // Versions before the lists: the literals of the shader and the texts of the passes give the numbers.
    for (version, name) in [("mesa-22.3.6", "inline_drop"), ("mesa-22.3.6", "repeat_vals")] {
        let log = String::from_utf8(gunzip(&format!("{version}/{name}.log.gz"))).unwrap();
        let bare: String = log
            .lines()
            .filter(|line| !line.starts_with("CONST["))
            .map(|l| format!("{l}\n"))
            .collect();
        let (with, _) = pair(version, name);
        let without =
            jobs(&bare).into_iter().find(|job| job.program.code == with.program.code).unwrap();
        for (n, c) in reads(&with) {
            let value = |job: &Job| {
                let state = &job.program.state;
                state.gives_channel(n, c).then(|| state.constants[n][c])
            };
            assert_eq!(value(&without), value(&with), "{name}: const[{n}] channel {c}");
        }
    }
}

#[test]
fn missing_and_repeated_lines_give_no_value_of_another_constant() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |most: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % most.max(1) as u64) as usize
    };
    let mut compared = 0;
    for version in ["mesa-22.3.6", "mesa-25.0.7"] {
        for name in ["inline_drop", "repeat_vals", "coord_only", "loop", "scalars"] {
            let (_, draw) = pair(version, name);
            let log = String::from_utf8(gunzip(&format!("{version}/{name}.log.gz"))).unwrap();
            let lines: Vec<&str> = log.lines().collect();
            for round in 0..120 {
                let (from, count) =
                    (random(lines.len()), 1 + random(if round % 2 == 0 { 3 } else { 60 }));
                let to = (from + count).min(lines.len());
                let mut kept = lines.clone();
                match round % 3 {
                    0 | 1 => drop(kept.drain(from..to)),
                    _ => {
                        let repeated: Vec<&str> = lines[from..to].to_vec();
                        kept.splice(to..to, repeated);
                    }
                }
                let Ok(jobs) =
                    read(kept.join("\n").as_bytes(), Some(Format::MesaLog), &Limits::default())
                else {
                    continue;
                };
                for job in jobs.iter().filter(|job| job.program.code == draw.program.code) {
                    for (n, c) in reads(job) {
                        if !job.program.state.gives_channel(n, c) {
                            continue;
                        }
                        compared += 1;
                        let [logged, uploaded] = [job, &draw].map(|job| {
                            job.program.state.constants.get(n).map_or(0.0, |k| f32::from_bits(k[c]))
                        });
                        assert!(
                            (logged - uploaded).abs() <= 0.6e-4,
                            "{version} {name}, lines {from} to {to}, round {round}: const[{n}] channel {c}: {logged}, draw {uploaded}"
                        );
                    }
                }
            }
        }
    }
    assert!(compared > 2000, "{compared}");
}
