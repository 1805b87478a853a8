//! Rendering of scenes: whole draws on the virtual card.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use r500::picture::{Picture, encode_png_with};
use r500_card::Card;
use r500_scene::PreviousFrame;
use r500_stream::counted;

use super::Render;
use super::output::{FileFormat, Sink, cannot_encode, save};
use super::sequence::{Animation, numbered};
use crate::command::exit::{Failure, Outcome, Status};
use crate::command::format::Format;
use crate::command::input_args;
use crate::command::scene::SceneFile;
use crate::command::terminal;

impl Render {
    /// Draws a scene.
    pub(super) fn scene(&self, file: &SceneFile) -> Outcome {
        self.refuse_for_scenes()?;
        let mut card = SceneFile::card(&self.machine)?;
        if let Some(frames) = self.frames.clone() {
            return self.scene_frames(file, &mut card, frames);
        }
        let sink = self.output.as_deref().map(|path| Sink::new(path, false)).transpose()?;
        if let Some(sink) = &sink {
            only_png(sink)?;
        }
        let paths: Vec<PathBuf> = sink.iter().map(|sink| sink.path().to_owned()).collect();
        self.refuse_inputs(&paths)?;
        let start = Instant::now();
        let time = self.state.time.unwrap_or(0.0);
        let picture = file.draw(&mut card, time.into(), &self.machine)?;
        let took = start.elapsed();
        SceneFile::warn(&card);
        if let Some(sink) = &sink {
            self.write_png(sink, &picture)?;
        }
        if self.show {
            let mut out = std::io::stdout().lock();
            let colors = terminal::colors(&out);
            terminal::show(&picture, &mut out, colors)?;
        }
        let statistics = card.report().statistics;
        let size = [picture.width, picture.height];
        let comparison = match &self.compare.reference {
            Some(_) => Some(self.compare.compare_picture(picture, None, None)?),
            None => None,
        };
        if self.format == Format::Json {
            let files: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            let answer = serde_json::json!({
                "version": 1,
                "kind": "scene",
                "size": size,
                "time": time,
                "draws": statistics.draws,
                "vertices": statistics.vertices,
                "seconds": took.as_secs_f64(),
                "files": files,
                "comparison": comparison.as_ref().map(super::compare::Compared::json),
            });
            writeln!(terminal::out(), "{answer}")?;
        } else {
            if let Some(comparison) = &comparison {
                writeln!(terminal::out(), "{comparison}")?;
            }
            if self.verbose {
                terminal::note(&format!(
                    "{}x{} in {:.3} s: {}, {}",
                    size[0],
                    size[1],
                    took.as_secs_f64(),
                    counted(statistics.draws, "draw"),
                    counted(statistics.vertices, "vertex"),
                ));
                for path in &paths {
                    terminal::note(&format!("wrote {}", path.display()));
                }
            }
        }
        let equal = comparison.is_none_or(|comparison| comparison.passes);
        Ok(if equal { Status::Fine } else { Status::Failed })
    }

    /// Draws frames of a scene, one after the other.
    fn scene_frames(
        &self,
        file: &SceneFile,
        card: &mut Card,
        frames: std::ops::Range<u32>,
    ) -> Outcome {
        let Some(path) = &self.output else {
            return Err(Failure::usage("--frames needs -o: out.gif, out.apng or frame-####.png"));
        };
        if input_args::is_stdin(path) {
            return Err(Failure::usage("frames go to files; -o - takes one picture"));
        }
        if !file.scene.moves() {
            return Err(Failure::usage(
                "all frames would be equal: no constant of the scene takes the time, and no texture is of the frame before",
            ));
        }
        let sink = Sink::new(path, true)?;
        if !sink.kind.is_animation() {
            only_png(&sink)?;
        }
        if sink.kind.is_animation() && self.shard.is_some() {
            return Err(Failure::usage(
                "an animation is one file; write frames (frame-####.png) instead",
            ));
        }
        self.refuse_inputs(std::slice::from_ref(path))?;
        let digits = frames.end.to_string().len().max(4);
        let count = frames.end - frames.start;
        let bar = terminal::progress(u64::from(count), "frames");
        let mut animation = None;
        let mut previous = PreviousFrame::default();
        // Each frame follows from the one before.
        let feeds_back = file.scene.feeds_back();
        let first = frames.start;
        let frames = if feeds_back { 0..frames.end } else { frames };
        for frame in frames {
            let own = sink.renamed(numbered(path, frame, digits));
            let wanted = frame >= first
                && self.shard.is_none_or(|shard| shard.takes(u64::from(frame)))
                && !(self.shard.is_some() && own.path().exists());
            if frame >= first {
                bar.inc(1);
            }
            if !wanted && !feeds_back {
                continue;
            }
            let begin = f64::from(self.state.time.unwrap_or(0.0));
            let time = begin + f64::from(frame) / f64::from(self.fps);
            let picture = file.draw_after(&mut previous, card, time, &self.machine)?;
            if !wanted {
                continue;
            }
            if sink.kind.is_animation() {
                let file = match &mut animation {
                    Some(file) => file,
                    none => none.insert(Animation::new(&sink, &picture, count, self.fps)?),
                };
                file.frame(&picture)?;
            } else {
                self.write_png(&own, &picture)?;
            }
        }
        bar.finish_and_clear();
        SceneFile::warn(card);
        animation.map_or(Ok(()), Animation::finish)?;
        Ok(Status::Fine)
    }

    fn write_png(&self, sink: &Sink, picture: &Picture) -> Outcome<()> {
        let bytes = encode_png_with(picture, self.compress.into());
        save(sink.path(), &bytes.map_err(|error| cannot_encode(sink.path(), error))?)
    }

    /// Refuses options without a meaning for scenes.
    fn refuse_for_scenes(&self) -> Outcome<()> {
        let state = &self.state;
        let overrides = !state.input.is_empty()
            || !state.constants.is_empty()
            || !state.int.is_empty()
            || !state.booleans.is_empty()
            || !state.texture.is_empty()
            || !state.register.is_empty();
        let given = [
            ("--size", self.size.is_some(), "SCENE gives the size"),
            ("--crop", self.crop.is_some(), "a scene is drawn whole"),
            ("--target", self.target != super::Target::A, "a scene has one picture"),
            (
                "--findings",
                self.findings,
                "`r500 asm -o scene.r5cs`, `r500 stream --draw` and `r500 render --findings` report those of a draw",
            ),
            ("--window", self.window, "use --show, or --frames with a .gif"),
            ("--reload", self.reload, "draw again by hand"),
            ("--feedback", !self.feedback.is_empty(), "a TARGET is a texture of later draws"),
            ("--time-to", state.time_to.is_some(), "expressions take `time`"),
            (
                "--input, --const, --int, --bool, --texture and --register",
                overrides,
                "the scene gives them",
            ),
        ];
        match given.iter().find(|(_, given, _)| *given) {
            Some((name, _, why)) => Err(Failure::usage(format!("{name}: not for scenes; {why}"))),
            None => Ok(()),
        }
    }
}

fn only_png(sink: &Sink) -> Outcome<()> {
    match sink.kind {
        FileFormat::Png => Ok(()),
        _ => Err(Failure::usage(format!(
            "{}: the picture of a scene has 8 bits a channel; take .png",
            sink.path().display()
        ))),
    }
}
