//! Many frames: a file each, or one that moves.

use std::ops::Range;
use std::path::{Path, PathBuf};

use r500::picture::{encode_apng, encode_gif};

use super::output::{Kind, Sink, cannot_encode};
use super::{Render, Target};
use crate::command::exit::{Failure, Outcome, Status};
use crate::command::{input_args, terminal};

impl Render {
    /// Draws a range of frames.
    pub(super) fn sequence(&self, frames: Range<u32>) -> Outcome {
        let Some(path) = &self.output else {
            return Err(Failure::usage("--frames needs -o: out.gif, out.apng or frame-####.png"));
        };
        if self.compare.reference.is_some() {
            return Err(Failure::usage("--compare takes one picture; leave --frames away"));
        }
        let sink = Sink::new(path, true)?;
        let animation = sink.kind.is_animation();
        if animation && (self.target == Target::All || self.shard.is_some()) {
            return Err(Failure::usage(
                "an animation is one file of one target; write frames (frame-####.png) instead",
            ));
        }
        if input_args::is_stdin(path) {
            return Err(Failure::usage("frames go to files; -o - takes one picture"));
        }
        let Some(job) = self.source.read()? else { return input_args::LISTED };
        let begin = self.state.time.unwrap_or(job.time);
        let mut probe = job.clone();
        if !self.state.apply_time(&mut probe, begin)? {
            return Err(Failure::usage(
                "all frames would be equal: no constant takes the time; say which does with \
                 --time-to (such as --time-to 3.r)",
            ));
        }
        let digits = frames.end.to_string().len().max(4);
        let bar = terminal::progress(u64::from(frames.end - frames.start), "frames");
        let mut pictures = Vec::new();
        for frame in frames {
            bar.inc(1);
            if self.shard.is_some_and(|shard| !shard.takes(u64::from(frame))) {
                continue;
            }
            let sink = sink.renamed(numbered(path, frame, digits));
            if self.shard.is_some() && self.target != Target::All && sink.path().exists() {
                continue;
            }
            let time = f64::from(begin) + f64::from(frame) / f64::from(self.fps);
            let drawn = self.draw(job.clone(), Some(time as f32))?;
            if let Some(error) = drawn.stopped {
                return Err(crate::command::engine_args::not_run(error)
                    .context(format_args!("frame {frame}")));
            }
            let planes = self.planes(&drawn.frame)?;
            match planes.first() {
                Some(plane) if animation => pictures.push(plane.picture()),
                _ => {
                    let written = sink.write(&planes, &drawn.job.program.state)?;
                    if self.verbose {
                        for path in written {
                            terminal::note(&format!("wrote {}", path.display()));
                        }
                    }
                }
            }
            if self.findings && !drawn.frame.warnings.is_empty() {
                terminal::note(&format!("frame {frame}:"));
                crate::command::engine_args::print_findings(&drawn.frame.warnings)?;
            }
        }
        bar.finish_and_clear();
        if animation {
            let bytes = match sink.kind {
                Kind::Gif => encode_gif(&pictures, self.fps),
                _ => encode_apng(&pictures, self.fps),
            };
            sink.save(path, &bytes.map_err(cannot_encode)?)?;
        }
        Ok(Status::Fine)
    }
}

/// Returns the name of a frame's file: a run of `#` becomes the number, as long as the run at
/// least; without one, the number stands before the extension.
fn numbered(path: &Path, frame: u32, digits: usize) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let numbered = match name.find('#') {
        Some(start) => {
            let run = name[start..].chars().take_while(|&c| c == '#').count();
            format!("{}{frame:0run$}{}", &name[..start], &name[start + run..])
        }
        None => {
            let (stem, extension) = name.rsplit_once('.').unwrap_or((&name, ""));
            format!("{stem}-{frame:0digits$}.{extension}")
        }
    };
    path.with_file_name(numbered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_have_names_of_their_own() {
        let name = |text: &str, frame| numbered(Path::new(text), frame, 4);
        assert_eq!(name("a/out.png", 7), Path::new("a/out-0007.png"));
        assert_eq!(name("a/f##_x.png", 7), Path::new("a/f07_x.png"));
        assert_eq!(name("f##.png", 1234), Path::new("f1234.png"));
    }
}
