//! `r500 trace`.

use super::{Folder, corpus, r500};

fn json_lines(args: &[&str]) -> Vec<serde_json::Value> {
    let run = r500(&[&["trace"], args, &["--format", "json"]].concat()).status(0);
    run.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
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
