//! Property: any text is a scene that compiles to a command stream, which the card executes within its limits, or is reported with places inside it.
#![no_main]

use std::path::Path;
use std::time::{Duration, Instant};

use libfuzzer_sys::fuzz_target;
use r500::files::NamedFiles;
use r500_card::Card;
use r500_scene::Scene;

fuzz_target!(|input: (&str, f32)| {
    let (text, time) = input;
    // A folder without files: a scene names none.
    let path = Path::new("/nowhere/scene.r5");
    match Scene::parse(text, path, &NamedFiles::next_to(path)) {
        Ok(scene) => {
            // A larger picture costs time and shows nothing more.
            if scene.size().iter().any(|side| *side > 256) {
                return;
            }
            if let Ok(frame) = scene.compile(time.into()) {
                let mut card = Card::new();
                card.set_deadline(Instant::now().checked_add(Duration::from_millis(200)));
                let _ = card.submit(&frame.submission);
                let picture = frame.picture(&card);
                assert_eq!([picture.width, picture.height], scene.size());
            }
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            for error in errors {
                assert!(text.get(error.span.clone()).is_some(), "{error:?}");
            }
        }
    }
});
