//! Draws of captures as scenes: a scene leaves every byte of its buffers as the draw did.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

use r500::files::NamedFiles;
use r500_card::{Card, DrawInputs};
use r500_scene::{OfDrawError, Scene, SceneText};
use r500_stream::capture::{Event, Limits, Player, Reader, Record};

fn capture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures").join(name)
}

/// A card after a draw of a capture, what the draw read, and the readings of the capture.
struct Drawn {
    card: Card,
    inputs: Option<DrawInputs>,
    readings: Vec<String>,
}

fn set_readings(card: &mut Card, readings: &[String]) {
    for reading in readings {
        let (name, value) = reading.split_once('=').unwrap();
        card.set_reading(name, value).unwrap();
    }
}

/// Executes a capture up to a draw; `None` if it has not so many.
fn execute(path: &Path, draw: u64) -> Option<Drawn> {
    let mut card = Card::new();
    let mut player = Player::new(Limits::default());
    let mut readings = Vec::new();
    card.keep_inputs(draw);
    for record in Reader::new(fs::File::open(path).unwrap()).unwrap() {
        let record = record.unwrap();
        if let Record::Info(info) = &record {
            readings.clone_from(&info.readings);
            set_readings(&mut card, &readings);
        }
        if let Some(Event::Submission(submission)) = player.apply(record).unwrap()
            && card.submit_through(&submission, draw).unwrap()
        {
            return Some(Drawn { inputs: card.take_inputs(), card, readings });
        }
    }
    None
}

/// Draws a scene from its text and its files, and compares its buffers. Returns the number of bytes that the draw changed.
fn check(drawn: &Drawn, scene: &SceneText, what: &str) -> usize {
    let inputs = drawn.inputs.as_ref().unwrap();
    let folder = tempfile::TempDir::new().unwrap();
    for (name, bytes) in &scene.files {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let path = folder.path().join("draw.r5");
    let parsed = Scene::parse(&scene.text, &path, &NamedFiles::next_to(&path));
    let parsed = parsed.unwrap_or_else(|errors| panic!("{what}: {errors:?}\n{}", scene.text));
    let frame = parsed.compile(0.0).unwrap();
    let mut card = Card::new();
    set_readings(&mut card, &drawn.readings);
    card.submit(&frame.submission).unwrap();
    assert_eq!(card.report().statistics.draws, 1);
    let mut changed = 0;
    for ((name, buffer), (known, id)) in frame.raw_buffers().zip(&scene.buffers) {
        assert_eq!(name, known);
        let bytes = buffer.to_vec();
        assert!(bytes == inputs.state.buffer(*id).unwrap().to_vec(), "{what}: {name}");
        changed += bytes.iter().zip(&inputs.buffers[id]).filter(|(a, b)| a != b).count();
    }
    // The picture is that of the card, too.
    let target = drawn.card.target(0).unwrap();
    let picture = frame.picture(&card);
    assert_eq!([picture.width, picture.height], target.size, "{what}");
    changed
}

/// Checks draws `first`, `first + step` and so on of a capture. Returns how many there were, and how many changed a byte.
fn check_all(name: &str, first: u64, step: u64) -> (usize, usize) {
    let path = capture(name);
    let (mut scenes, mut changing) = (0, 0);
    for draw in (first..).step_by(step as usize) {
        let Some(drawn) = execute(&path, draw) else { break };
        let what = format!("{name}, draw {draw}");
        let Some(inputs) = &drawn.inputs else { continue };
        let Some(target) = drawn.card.target(0) else { continue };
        let scene = match Scene::of_draw(inputs, target.size, &what, "draw") {
            Ok(scene) => scene,
            Err(OfDrawError::Empty) => continue,
            Err(error) => panic!("{what}: {error}"),
        };
        scenes += 1;
        changing += usize::from(check(&drawn, &scene, &what) > 0);
    }
    (scenes, changing)
}

#[test]
fn small_captures_become_scenes() {
    assert_eq!(check_all("triangle.r5cs", 0, 1), (1, 1));
    assert_eq!(check_all("texture.r5cs", 0, 1), (2, 2));
}

/// Mesa clears the second half of a target as if it were depth.
#[test]
fn a_clear_of_colours_by_the_depth_unit_is_a_scene() {
    let path = capture("scenes.r5cs");
    let drawn = execute(&path, 1732).unwrap();
    let inputs = drawn.inputs.as_ref().unwrap();
    let scene = Scene::of_draw(inputs, [32, 16], "", "draw").unwrap();
    assert!(scene.text.contains("ZB_CB_CLEAR"), "{}", scene.text);
    assert!(check(&drawn, &scene, "a clear") > 0);
}

/// Mesa's draws: every kind of target, depth, blend and texture that the captures have. `R500_STEP=1` takes all draws of the captures.
#[test]
fn draws_of_mesa_become_scenes() {
    let step = std::env::var("R500_STEP").ok().map_or(131, |step| step.parse().unwrap());
    for (name, least) in [("readings.r5cs", 1), ("scenes.r5cs", 7)] {
        let (scenes, changing) = check_all(name, 7, step);
        let enough = name != "scenes.r5cs" || scenes * step as usize >= 2000;
        assert!(
            enough && changing >= least.min(scenes),
            "{name}: {scenes} scenes, {changing} change"
        );
    }
}
