//! A draw of a stream as a scene, which is checked to draw the same.

use std::path::{Path, PathBuf};

use r500::files::NamedFiles;
use r500_card::Card;
use r500_scene::{Scene, SceneText};
use r500_stream::{Buffer, counted};

use super::Stream;
use super::source::Source;
use crate::command::exit::{Failure, Outcome, Status};
use crate::command::output_file::put_group;
use crate::command::{input_args, overwrite, terminal};

impl Stream {
    /// Writes a draw as a scene, and the files that it names.
    pub(super) fn scene(&self, source: &Source, number: u64, path: &Path) -> Outcome {
        let mut card = source.card()?;
        card.keep_inputs(number);
        source.execute_through(&mut card, number)?;
        let failed = |why: &str| Failure::input(anyhow::anyhow!("draw {number}: {why}"));
        let inputs = card
            .take_inputs()
            .ok_or_else(|| failed("the card does not draw it; `r500 replay` says why"))?;
        let Some(target) = card.target(0) else {
            return Err(failed("it has no target A, or one of a format that is not modelled"));
        };
        let mut title = format!("Draw {number} of {}", input_args::show(&self.file));
        for reading in source.readings()? {
            title += &format!("\nWith the reading {reading}");
        }
        // The scene has the names of its files in quotes.
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let stem = stem.replace(|c: char| c == '"' || c.is_control(), "_");
        let scene = Scene::of_draw(&inputs, target.size, &title, &stem)
            .map_err(|error| failed(&error.to_string()))?;
        let files: Vec<PathBuf> =
            scene.files.iter().map(|(name, _)| path.with_file_name(name)).collect();
        let outputs = files.iter().map(PathBuf::as_path);
        overwrite::refuse(outputs, std::slice::from_ref(&self.file))?;
        // The file that names the others gets its name last.
        let files = files.iter().map(PathBuf::as_path);
        let group = files.zip(scene.files.iter().map(|(_, bytes)| &**bytes));
        put_group(group.chain([(path, scene.text.as_bytes())]))?;
        let drawn = |name: &str| {
            let (_, id) = scene.buffers.iter().find(|(known, _)| known == name)?;
            inputs.state.buffer(*id)
        };
        compare(source, &scene, path, drawn)
    }
}

/// Draws the scene that was written, and compares the buffers that it leaves with those of the card.
fn compare<'a>(
    source: &Source,
    scene: &SceneText,
    path: &Path,
    drawn: impl Fn(&str) -> Option<&'a Buffer>,
) -> Outcome {
    let parsed = Scene::parse(&scene.text, path, &NamedFiles::next_to(path));
    let parsed = parsed.map_err(|errors| {
        let errors = errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        Failure::could_not(anyhow::anyhow!("the scene that was written cannot be read: {errors}"))
    })?;
    let frame = parsed.compile(0.0).map_err(Failure::could_not)?;
    let mut card: Card = source.card()?;
    card.submit(&frame.submission).map_err(Failure::could_not)?;
    let mut equal = Vec::new();
    for (name, buffer) in frame.raw_buffers() {
        let bytes = buffer.to_vec();
        let wanted = drawn(name).map(Buffer::to_vec).unwrap_or_default();
        let differ = bytes.iter().zip(&wanted).filter(|(a, b)| a != b).count();
        if differ > 0 || bytes.len() != wanted.len() {
            return Err(Failure::diagnosed(format!(
                "the scene does not draw the same: {} of {name} differ; please report it with the capture",
                counted(differ, "byte")
            )));
        }
        equal.push(name.to_owned());
    }
    terminal::note(&format!(
        "wrote {}: it leaves the same bytes in {}",
        path.display(),
        equal.join(", ")
    ));
    Ok(Status::Fine)
}
