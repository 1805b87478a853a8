//! The shaders of the corpus: compiled here and by Mesa's driver, they draw the same pictures.
//!
//! The pictures are of the driver's programs (`benches/shaders/*.json`, Mesa 22.3.6), drawn by the reference engine with the same uniforms,
//! inputs and textures. The tolerance is the corpus's own: 2/255 a channel, but for the share of pixels that a capture allows.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "a test fails by them")]

use std::path::{Path, PathBuf};

use r500_exec::reference::Reference;
use r500_exec::{Bindings, Options, Shader, draw};
use r500_program::{Component, Input, InputData, Job, Plane};
use serde_json::Value as Json;

fn sources() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all: Vec<PathBuf> = ["benches/shaders", "tests/corpus/mesa"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    all.sort();
    assert!(all.len() > 100, "the corpus is there");
    all
}

/// The plane of a component of the driver's program, by the name of the varying's component.
fn plane(capture: &Job, name: &str) -> Option<Plane> {
    capture.inputs.iter().flatten().find_map(|input| {
        let InputData::Planes(components) = &input.data else { return None };
        let found = components
            .iter()
            .find(|component| component.name.split('|').any(|other| other == name));
        found.map(|component| component.plane)
    })
}

fn inputs(job: &Job, capture: &Job) -> Vec<Input> {
    let mut inputs = job.inputs.clone().unwrap_or_default();
    for input in &mut inputs {
        let InputData::Planes(components) = &mut input.data else { continue };
        for component in components.iter_mut().filter(|component| !component.name.is_empty()) {
            let Component { name, plane: own } = component;
            // A component that the driver's program gets as a constant has no name.
            let constant = Plane::constant(if name.ends_with(".w") { 1.0 } else { 0.0 });
            // The place in clip space is the same in every picture.
            if !name.starts_with("gl_") {
                *own = plane(capture, name).unwrap_or(constant);
            }
        }
    }
    inputs
}

fn uniforms(job: &mut Job, json: &Json) {
    let values = json["uniforms"].as_array().cloned().unwrap_or_default();
    let size = job.size.unwrap_or([64, 64]).map(|side| side as f32);
    for uniform in job.uniforms.clone() {
        if uniform.name == "viewport" {
            for (channel, value) in [size[0] / 2.0, size[1] / 2.0, 0.5, 0.0].into_iter().enumerate()
            {
                job.program.state.set_constant(
                    usize::from(uniform.constant),
                    channel,
                    value.to_bits(),
                );
            }
            continue;
        }
        let of = values.iter().find(|value| value["name"] == uniform.name.as_str());
        let of = of.unwrap_or_else(|| panic!("the capture has no uniform {}", uniform.name));
        for (channel, value) in of["value"].as_array().unwrap().iter().enumerate() {
            let bits = (value.as_f64().unwrap() as f32).to_bits();
            job.program.state.set_constant(usize::from(uniform.constant), channel, bits);
        }
    }
}

fn picture(job: &Job) -> Vec<[u8; 4]> {
    let size = job.size.unwrap_or([64, 64]);
    let shader = Shader::new(&job.program).unwrap();
    let bindings = Bindings::new(job, size).unwrap();
    let frame = draw(&Reference, &shader, &bindings, &Options::default()).unwrap();
    frame.run_info.drawn_by("reference").unwrap();
    let colors = frame.target(0).unwrap();
    let byte = |value: f32| (value.clamp(0.0, 1.0) * 255.0).round() as u8;
    let covered = frame.coverage();
    colors
        .iter()
        .zip(covered)
        .map(|(color, covered)| if *covered { color.map(byte) } else { [1, 2, 3, 4] })
        .collect()
}

#[test]
fn pictures_are_those_of_the_driver() {
    let (mut own, mut drivers, mut failures) = ([0, 0], [0, 0], Vec::new());
    let only = std::env::var("R500_ONLY").ok();
    for path in sources() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if only.as_ref().is_some_and(|only| *only != name) {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let json: Json = serde_json::from_slice(&bytes).unwrap();
        let capture =
            r500_formats::read(&bytes, None, &r500_formats::Limits::default()).unwrap().remove(0);
        let source = json["source"].as_str().unwrap();
        let compiled = match r500_compile::compile(source) {
            Ok(compiled) => compiled,
            Err(errors) => {
                let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
                failures.push(format!("{name}: {}", errors.join("; ")));
                continue;
            }
        };
        let mut job = compiled.job;
        job.size = capture.size;
        uniforms(&mut job, &json);
        job.inputs = Some(inputs(&job, &capture));
        let names = json["textures"].as_array().cloned().unwrap_or_default();
        for (unit, sampler) in compiled.samplers.iter().enumerate() {
            // The driver counts the textures that a capture lists in their order.
            let from =
                names.iter().position(|texture| texture["name"] == sampler.name.as_str()).unwrap();
            job.textures[unit] = capture.textures[from].clone();
            job.program.state.format[unit] = capture.program.state.format[from];
        }
        let temporaries = |job: &Job| {
            job.program.state.pixsize.map_or(0, |size| usize::from(size.pix_size()) + 1)
        };
        for (sum, job) in [(&mut own, &job), (&mut drivers, &capture)] {
            sum[0] += job.program.code.len();
            sum[1] += temporaries(job);
        }
        let (ours, theirs) = (picture(&job), picture(&capture));
        let differs =
            |(a, b): &(&[u8; 4], &[u8; 4])| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > 2);
        let wrong = ours.iter().zip(&theirs).filter(differs).count();
        let allowed = (capture.share.unwrap_or(0.0) * ours.len() as f64) as usize;
        if only.is_some() {
            for (n, (a, b)) in
                ours.iter().zip(&theirs).enumerate().filter(|(_, pair)| differs(pair)).take(8)
            {
                eprintln!("{} {}: {a:?}, {b:?}", n % 64, n / 64);
            }
        }
        if only.is_some() || std::env::var_os("R500_VERBOSE").is_some() {
            eprintln!(
                "{name}: {} and {} instructions, {wrong} of {} pixels differ",
                job.program.code.len(),
                capture.program.code.len(),
                ours.len()
            );
        }
        if wrong > allowed {
            failures.push(format!("{name}: {wrong} pixels differ; {allowed} may"));
        }
    }
    eprintln!("instructions and temporaries: {own:?}, of the driver {drivers:?}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
