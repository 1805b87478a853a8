//! `r500 trace`.

use super::{Folder, TEXTURE, UV, corpus, r500};

fn json_lines(args: &[&str]) -> Vec<serde_json::Value> {
    let run = r500(&[&["trace"], args, &["--format", "json"]].concat()).status(0);
    run.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn operands_results_and_writes() {
    let folder = Folder::new("trace");
    let program = folder.write("uv.inc", UV);
    let args = [program.as_str(), "--size", "4x4", "--pixel", "1,2"];
    r500(&[&["trace"], &args[..]].concat())
        .status(0)
        .shows("pixel 1,2 of 4x4")
        .shows("temp[0] = (0.375, 0.625, 0, 1)")
        .shows("A (0.375, 0.625, 0)  B (1, 1, 1)  C (0, 0, 0)")
        .shows("out[0].rgb <- (0.375, 0.625, 0, ")
        .shows("end after 1 instructions; delivered");
    let lines = json_lines(&args);
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["version"], 1);
    assert_eq!(lines[0]["kind"], "alu");
    assert_eq!(lines[0]["rgb"][0].to_string(), "[0.375,0.625,0.0]");
    assert_eq!(lines[0]["words"][0], "00078101");
    assert_eq!(lines[1]["end"], true);
    assert_eq!(lines[1]["outputs"][0].to_string(), "[0.375,0.625,0.0,1.0]");
    assert_eq!(lines[1]["written"][0], "rgba");
}

#[test]
fn fetches() {
    let folder = Folder::new("trace-fetch");
    let program = folder.write("texture.inc", TEXTURE);
    let texture = "0=checker,size=2x2,cells=2,filter=nearest";
    let args = [program.as_str(), "--size", "2x2", "--pixel", "1,0", "--texture", texture];
    let lines = json_lines(&args);
    assert_eq!(lines[0]["kind"], "tex");
    assert_eq!(lines[0]["coord"].to_string(), "[0.75,0.25,0.0,1.0]");
    // Texel 1,0 is white.
    assert_eq!(lines[0]["lookup"]["levels"][0]["texels"][0]["at"].to_string(), "[1,0,0]");
    assert_eq!(lines[0]["texel"].to_string(), "[1.0,1.0,1.0,1.0]");
    r500(&[&["trace"], &args[..]].concat())
        .status(0)
        .shows("texels 1,0 ")
        .shows("STRQ   (0.75, 0.25");
}

#[test]
fn flow_control_of_a_pixel_that_waits() {
    let case = corpus("cases/break_and_continue.json");
    let run = r500(&["trace", &case, "--pixel", "1,0"]).status(0);
    let run = run
        .shows("pixel: active -> continue(0)")
        .shows("pixel is inactive: continue(0)")
        .shows("pixel: continue(0) -> active")
        .shows("loop   depth 1, 3 iterations left, aL 0")
        .shows("predicate.rgba <- rgba set");
    let all = run.text().lines().count();
    let active = r500(&["trace", &case, "--pixel", "1,0", "--active"]).status(0);
    assert!(active.text().lines().count() < all);
    assert!(!active.text().contains("pixel is inactive"));
}

#[test]
fn only_what_is_watched() {
    let capture = corpus("mesa/loop_mandelbrot.json");
    let args = [capture.as_str(), "--pixel", "20,30", "--watch", "temp[0].r"];
    let lines = json_lines(&args);
    let (end, steps) = lines.split_last().unwrap();
    assert_eq!(end["end"], true);
    assert!(!steps.is_empty());
    for step in steps {
        let writes = step["writes"].as_array().unwrap();
        assert!(
            writes.iter().any(|write| {
                write["temp"] == 0 && write["mask"].as_str().unwrap().contains('r')
            })
        );
    }
    r500(&["trace", &capture, "--pixel", "1,1", "--watch", "x[3]"])
        .status(2)
        .says("cannot be watched");
}

/// The trace ends with the colour that the picture shows.
#[test]
fn the_end_of_a_trace_is_the_pixel_of_the_picture() {
    let folder = Folder::new("trace-picture");
    for name in ["tex_mips", "loop_break_deep", "discard_branch", "deriv_basic"] {
        let capture = corpus(&format!("mesa/{name}.json"));
        let out = folder.path("out.f32");
        r500(&["render", &capture, "-o", &out]).status(0);
        let picture = super::floats(&folder.read("out.f32"));
        for (x, y) in [(0, 0), (31, 17), (40, 63)] {
            let lines = json_lines(&[&capture, "--pixel", &format!("{x},{y}")]);
            let end = lines.last().unwrap();
            let covered = end["covered"].as_bool().unwrap();
            for channel in 0..4 {
                let drawn = picture[(y * 64 + x) * 4 + channel];
                let traced = end["outputs"][0][channel].as_f64().unwrap() as f32;
                assert_eq!(drawn, if covered { traced } else { 0.0 }, "{name} at {x},{y}");
            }
        }
    }
}

#[test]
fn wrong_pixels() {
    let capture = corpus("mesa/alu_basic.json");
    r500(&["trace", &capture, "--pixel", "64,0"]).status(2).says("outside the picture of 64x64");
    r500(&["trace", &capture, "--pixel", "x"]).status(2).says("write X,Y");
    r500(&["trace", &capture]).status(2).says("--pixel");
}
