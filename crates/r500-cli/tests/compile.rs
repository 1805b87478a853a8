//! `r500 compile` and GLSL in other commands, with the Mesa that is installed. Skipped, with a message, without one (Debian: libegl1
//! libegl-mesa0 libgl1-mesa-dri).
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::print_stderr)]

#[path = "../../r500-preload/tests/common/mod.rs"]
mod card;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn r500(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_r500"))
        .args(arguments)
        .current_dir(folder)
        .env("R500_CARD_LIBRARY", card::library())
        .env("TMPDIR", folder)
        .env_remove("R500_MESA_PATH")
        .output()
        .unwrap()
}

/// A folder with shaders; `None` without Mesa.
struct Folder(tempfile::TempDir);

impl Folder {
    fn with(files: &[(&str, &str)]) -> Option<Self> {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        fs::write(folder.path().join("probe.frag"), "void main() { gl_FragColor = vec4(0.5); }")
            .unwrap();
        let probe = r500(&["compile", "probe.frag"], folder.path());
        let errors = String::from_utf8_lossy(&probe.stderr);
        if probe.status.code() == Some(3) {
            eprintln!("skipped: {errors}");
            return None;
        }
        // The answer names the driver, so it is not that of anything else.
        let answer = String::from_utf8_lossy(&probe.stdout);
        assert!(answer.contains("Mesa") && answer.contains("RV530"), "{answer}{errors}");
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        Some(Self(folder))
    }

    fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }

    fn run(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let output = r500(arguments, self.0.path());
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }
}

impl Drop for Folder {
    /// Files between processes are gone.
    fn drop(&mut self) {
        let left: Vec<PathBuf> =
            fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        let is_left = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("r500-"))
        };
        assert!(!left.iter().any(is_left), "{left:?}");
    }
}

fn benches() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/shaders")
}

/// The captures were made by another program, with the values of uniforms that the sources name: the programs are the same, and the
/// constants that have a name hold its value.
#[test]
fn programs_and_names_are_those_of_captured_draws() {
    let Some(folder) = Folder::with(&[]) else { return };
    let out = folder.path().join("out");
    let shaders = benches();
    let (status, answer, errors) = folder.run(&[
        "compile",
        shaders.to_str().unwrap(),
        "-o",
        "out",
        "--to",
        "json",
        "--format",
        "json",
    ]);
    assert_eq!(status, Some(0), "{errors}");
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let all = answer["shaders"].as_array().unwrap();
    assert_eq!(all.len(), 59);
    let version = all[0]["compilers"][0]["compiler"].as_str().unwrap();
    let (mut values, mut programs) = (0, 0);
    for entry in fs::read_dir(&out).unwrap() {
        let path = entry.unwrap().path();
        let read = |path: &Path| -> Value {
            serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
        };
        let compiled = read(&path);
        let compiled = compiled.get(0).unwrap_or(&compiled);
        let capture = read(&shaders.join(path.file_name().unwrap()));
        // Other versions compile other programs.
        if version.contains("22.3.6") {
            assert_eq!(compiled["program"], capture["program"], "{}", path.display());
            programs += 1;
        } else {
            continue;
        }
        for uniform in compiled["uniforms"].as_array().into_iter().flatten() {
            let name = uniform["name"].as_str().unwrap();
            let (name, component) = name
                .split_once('.')
                .map_or((name, 0), |(name, letter)| (name, "xyzw".find(letter).unwrap()));
            let wanted =
                capture["uniforms"].as_array().unwrap().iter().find(|other| other["name"] == name);
            let wanted = &wanted.unwrap()["value"];
            let (first, count) = (
                uniform["channel"].as_u64().unwrap() as usize,
                uniform["channels"].as_u64().unwrap() as usize,
            );
            for n in 0..count {
                let value = wanted.get(component + n).unwrap_or(wanted).as_f64().unwrap() as f32;
                let held = &capture["constants"][uniform["constant"].as_u64().unwrap() as usize]
                    [first + n];
                assert_eq!(
                    held.as_str().unwrap(),
                    format!("{:08x}", value.to_bits()),
                    "{}: {name}",
                    path.display()
                );
                values += 1;
            }
        }
    }
    if version.contains("22.3.6") {
        assert_eq!(programs, 59);
        assert!(values > 40, "{values} values of uniforms");
    }
}

const PAIR: [(&str, &str); 2] = [
    (
        "a.vert",
        "attribute vec4 place; attribute vec2 st; uniform mat4 mvp; uniform vec4 tint; varying vec2 uv; varying vec4 color;\n\
         void main() { gl_Position = mvp * place; uv = st * 2.0; color = tint * st.x; }",
    ),
    (
        "a.frag",
        "precision highp float; uniform sampler2D first, second; uniform bool on; uniform int steps; varying vec2 uv; varying vec4 color;\n\
         void main() { vec4 c = texture2D(second, uv) + texture2D(first, uv.yx) * float(steps); gl_FragColor = on ? c : color; }",
    ),
];

#[test]
fn a_pair_is_answered_with_the_names_of_both_stages() {
    let Some(folder) = Folder::with(&PAIR) else { return };
    let (status, answer, errors) = folder.run(&["compile", "a.vert", "a.frag", "--format", "json"]);
    assert_eq!(status, Some(0), "{errors}");
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let compiler = &answer["shaders"][0]["compilers"][0];
    let names = |list: &Value| -> Vec<String> {
        let mut names: Vec<String> = list
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry["name"].as_str().unwrap().to_owned())
            .collect();
        names.sort();
        names
    };
    let [fragment, vertex] = ["fragment", "vertex"].map(|stage| &compiler[stage]);
    assert_eq!(names(&fragment["uniforms"]), ["on", "steps"]);
    assert_eq!(names(&fragment["samplers"]), ["first", "second"]);
    assert_eq!(names(&fragment["inputs"]), ["color", "uv"]);
    assert_eq!(names(&vertex["uniforms"]), ["mvp[0]", "mvp[1]", "mvp[2]", "mvp[3]", "tint"]);
    assert_eq!(names(&vertex["inputs"]), ["place", "st"]);
    assert_eq!((&fragment["drawn"], &vertex["drawn"]), (&Value::Bool(true), &Value::Bool(true)));

    // What is written assembles, and is the program.
    let (status, _, errors) = folder.run(&["compile", "a.vert", "a.frag", "-o", "out.vs.asm"]);
    assert_eq!(status, Some(0), "{errors}");
    let (status, checked, errors) = folder.run(&["check", "out.vs.asm"]);
    assert_eq!(status, Some(0), "{checked}{errors}");
    let (_, listed, _) = folder.run(&["disasm", "a.vert", "--code-only"]);
    let (_, written, _) = folder.run(&["disasm", "out.vs.asm", "--code-only"]);
    assert_eq!(listed, written);
    assert!(listed.contains("VE_") || listed.contains("DOT"), "{listed}");
}

#[test]
fn errors_have_the_place_in_the_file() {
    let shader = "precision highp float;\nvarying vec2 uv;\nvoid main() {\n\tfloat   x = 1.0 /* one */ +  nope;\n    gl_FragColor = vec4(x, uv, 1.0);\n}\n";
    let test = format!("[require]\nGLSL ES >= 1.00\n\n[fragment shader]\n{shader}\n[test]\n");
    let toy = "void mainImage(out vec4 c, in vec2 p) {\n    c = vec4(wrong, 1.0, 1.0, 1.0);\n}\n";
    let files = [("a.frag", shader), ("a.shader_test", &test), ("toy.glsl", toy)];
    let Some(folder) = Folder::with(&files) else { return };
    for (file, place) in [("a.frag", [4, 31]), ("a.shader_test", [8, 31]), ("toy.glsl", [2, 14])] {
        let (status, answer, _) = folder.run(&["compile", file, "--format", "json"]);
        assert_eq!(status, Some(1), "{answer}");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let message = &answer["shaders"][0]["compilers"][0]["messages"][0];
        assert_eq!(
            [&message["line"], &message["column"]],
            [&Value::from(place[0]), &Value::from(place[1])],
            "{file}: {message}"
        );
        assert_eq!(message["severity"], "error");
        // Other commands print the same.
        let (status, _, errors) = folder.run(&["disasm", file]);
        assert_eq!(status, Some(1), "{errors}");
        assert!(errors.contains("undeclared"), "{errors}");
    }
}

#[test]
fn a_shader_that_does_not_fit_is_told_by_how_much() {
    let mut shader = "precision highp float; varying vec2 uv; uniform vec4 k[40];\nvoid main() { vec4 s = vec4(uv, 0.0, 1.0);\n".to_owned();
    for n in 0..80 {
        shader += &format!(
            "s = sin(s.yzwx * k[{}] + vec4({n}.0) * 0.37) + s.wxyz * cos(s.zwxy);\n",
            n % 40
        );
    }
    shader += "gl_FragColor = s; }\n";
    let Some(folder) = Folder::with(&[("big.frag", shader.as_str())]) else { return };
    let (status, answer, _) = folder.run(&["compile", "big.frag"]);
    assert_eq!(status, Some(1), "{answer}");
    for part in ["Too many instructions", "too many)", "help: "] {
        assert!(answer.contains(part), "{part}: {answer}");
    }
    let (status, answer, _) = folder.run(&["compile", "big.frag", "--format", "json"]);
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let compilation = &answer["shaders"][0]["compilers"][0]["fragment"]["compilation"];
    assert_eq!(status, Some(1));
    assert_eq!(compilation["resource"], "instructions");
    assert_eq!(compilation["most"], 512);
    assert!(compilation["needed"].as_u64().unwrap() > 600, "{compilation}");
    // No dummy is written or drawn in place of the shader.
    for arguments in
        [["compile", "big.frag", "-o", "big.json"], ["render", "big.frag", "-o", "big.png"]]
    {
        let (status, _, _) = folder.run(&arguments);
        assert_eq!(status, Some(1));
        assert!(!folder.path().join(arguments[3]).exists());
    }
}

#[test]
fn commands_for_programs_take_glsl() {
    let toy = "void mainImage(out vec4 c, in vec2 p) {\n    vec2 uv = p / iResolution.xy;\n    c = vec4(uv, fract(iTime), 1.0);\n}\n";
    let place = "void main() { gl_FragColor = vec4(gl_FragCoord.xy / 64.0, gl_FragCoord.z, 1.0); }";
    let Some(folder) = Folder::with(&[("toy.frag", toy), ("place.frag", place)]) else { return };
    for (file, time) in [("toy.frag", "0.25"), ("place.frag", "0.5")] {
        let arguments = ["render", file, "-o", "a.f32", "--size", "64x64", "--time", time];
        let (status, _, errors) = folder.run(&arguments);
        assert_eq!(status, Some(0), "{errors}");
        let bytes = fs::read(folder.path().join("a.f32")).unwrap();
        let values: Vec<f32> =
            bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        assert_eq!(values.len(), 64 * 64 * 4);
        // Rows from the bottom; pixel centres are at 1/2. Numbers have 17 bits.
        for (x, y) in [(0, 0), (63, 0), (10, 50)] {
            let at = (y * 64 + x) * 4;
            let wanted =
                [(x as f32 + 0.5) / 64.0, (y as f32 + 0.5) / 64.0, time.parse().unwrap(), 1.0];
            for (found, wanted) in values[at..at + 4].iter().zip(wanted) {
                assert!(
                    (found - wanted).abs() < 1e-3,
                    "{file} {x},{y}: {:?} {wanted}",
                    &values[at..at + 4]
                );
            }
        }
    }
    let (status, text, errors) = folder.run(&["disasm", "toy.frag"]);
    assert_eq!(status, Some(0), "{errors}");
    assert!(text.contains("UNIFORM \"time\"") && text.contains("UNIFORM \"resolution\""), "{text}");
    let (status, text, errors) = folder.run(&["diff", "toy.frag", "toy.frag", "--prove"]);
    assert_eq!(status, Some(0), "{text}{errors}");
}

#[test]
fn another_mesa_that_is_missing_is_named() {
    let Some(folder) = Folder::with(&[]) else { return };
    let (status, _, errors) = folder.run(&["compile", "probe.frag", "--mesa-path", "nowhere"]);
    assert_eq!(status, Some(3), "{errors}");
    assert!(errors.contains("nowhere") && errors.contains("r300_dri.so"), "{errors}");
    let (status, _, errors) = folder.run(&["compile", "nothing.frag"]);
    assert_eq!(status, Some(3), "{errors}");
    let (status, _, errors) = folder.run(&["compile", "probe.frag", "--limit-compiler", "0.001"]);
    assert_eq!(status, Some(3), "{errors}");
    assert!(errors.contains("--limit-compiler"), "{errors}");
}

/// `--with` chooses the compiler wherever a command takes programs, before the environment.
#[test]
fn commands_for_programs_take_glsl_with_the_compiler_that_is_named() {
    let Some(folder) = Folder::with(&[]) else { return };
    for (compiler, origin) in [("mesa", "Mesa"), ("r500", "r500 ")] {
        let (status, text, errors) = folder.run(&["disasm", "probe.frag", "--with", compiler]);
        assert_eq!(status, Some(0), "{errors}");
        let line = text.lines().find(|line| line.starts_with("ORIGIN")).unwrap();
        assert!(line.contains(origin), "{compiler}: {line}");
    }
    let output = Command::new(env!("CARGO_BIN_EXE_r500"))
        .args(["disasm", "probe.frag", "--with", "r500"])
        .current_dir(folder.path())
        .env("R500_COMPILER", "mesa")
        .env("R500_CARD_LIBRARY", "nowhere")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for command in ["stats", "check", "cfg", "render", "run", "trace"] {
        let arguments = [command, "probe.frag", "--with", "r500", "-o", "out.png"];
        let count = if command == "render" { arguments.len() } else { arguments.len() - 2 };
        let (status, _, errors) = folder.run(&arguments[..count]);
        // `run` and `trace` ask for more, but not for another compiler.
        assert!(!errors.contains("--with") && status.is_some(), "{command}: {errors}");
        assert!(["run", "trace"].contains(&command) || status == Some(0), "{command}: {errors}");
    }
}

/// As after `cargo install`: the command alone compiles GLSL, and says with what.
#[test]
fn without_the_library_of_the_card_our_own_compiler_takes_glsl() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let alone = folder.path().join("r500");
    fs::copy(env!("CARGO_BIN_EXE_r500"), &alone).unwrap();
    fs::write(folder.path().join("a.frag"), "void main() { gl_FragColor = vec4(0.5); }").unwrap();
    fs::write(folder.path().join("b.frag"), "void main() { gl_FragColor = vec4(0.25); }").unwrap();
    let run = |arguments: &[&str], mesa: Option<&str>| {
        let mut command = Command::new(&alone);
        command.args(arguments).current_dir(folder.path());
        for name in ["R500_CARD_LIBRARY", "R500_COMPILER", "R500_MESA_PATH"] {
            command.env_remove(name);
        }
        command.envs(mesa.map(|folder| ("R500_MESA_PATH", folder)));
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (status, errors) = run(&["stats", "a.frag", "b.frag"], None);
    assert_eq!(status, Some(0), "{errors}");
    // Once, not for each shader.
    assert_eq!(errors.matches("our own compiler is taken (--with r500)").count(), 1, "{errors}");
    let (status, errors) = run(&["stats", "a.frag", "--with", "mesa"], None);
    assert_eq!(status, Some(3), "{errors}");
    // Who names a Mesa wants its compiler.
    let (status, errors) = run(&["stats", "a.frag"], Some("/usr"));
    assert_eq!(status, Some(3), "{errors}");
    assert!(errors.contains("libr500_card.so"), "{errors}");
}
