//! Scenes: whole draws as text, on the virtual card.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use r500::check::Stats;
use r500::exec::record::DrawSetup;
use r500::exec::{Limits, Options, Shader};
use r500::files::NamedFiles;
use r500::picture::Picture;
use r500_card::{Card, Limits as CardLimits};
use r500_jit::{Effort, Jit, Settings, When};
use r500_scene::{PixelVerdict, PreviousFrame, Scene, TargetPart};
use r500_stream::Chip;
use r500_stream::capture::{Info, Writer};
use serde::Serialize;

use crate::analysis::{Analysis, Diagnostic, DrawProgram, listing, numbers};
use crate::bytes::{Bytes, keep};
use crate::document::{Range, SceneSource, Units};
use crate::expect::Judged;
use crate::look::Look;
use crate::picture::Loaded;
use crate::step::{Places, Recorded, Stepping};

/// A drawn scene.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SceneDrawn {
    /// Pixels of 8 bits a channel, the upper row first.
    pub bytes: Bytes,
    /// Draws.
    pub draws: u64,
    /// Vertices.
    pub vertices: u64,
    /// What a real card does otherwise.
    pub notes: Vec<String>,
}

/// A recorded pixel of a scene.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SceneRecorded {
    /// The number of the draw that shades it last, from 0.
    pub draw: usize,
    /// Its run.
    pub recorded: Recorded,
}

/// Parses a scene.
fn parse(source: &SceneSource) -> Result<Scene, Vec<r500_scene::SceneError>> {
    let files = source.files.iter();
    let files = files.map(|file| (PathBuf::from(&file.name), file.bytes.clone()));
    Scene::parse(&source.text, Path::new("scene.r5"), &NamedFiles::given(files))
}

/// Returns the analysis of a scene: its errors, and the programs of its draws.
#[must_use]
pub fn analyse(source: &SceneSource) -> Analysis {
    let units = Units::of(&source.text);
    let range =
        |span: std::ops::Range<usize>| Range { from: units.at(span.start), to: units.at(span.end) };
    let error = |span, message: String, help: String| Diagnostic {
        range: range(span),
        severity: "error",
        code: "",
        message,
        help: Some(help).filter(|help| !help.is_empty()).into_iter().collect(),
        fixes: Vec::new(),
    };
    let mut analysis = Analysis {
        ok: false,
        name: String::new(),
        size: None,
        time: 0.0,
        clock: None,
        moves: false,
        targets: [true, false, false, false],
        depth: false,
        diagnostics: Vec::new(),
        offset: 0,
        instructions: Vec::new(),
        constants: Vec::new(),
        ints: Vec::new(),
        textures: Vec::new(),
        builtin: Vec::new(),
        expects: false,
        stats: Vec::new(),
        notes: Vec::new(),
        draws: Vec::new(),
    };
    let scene = match parse(source) {
        Ok(scene) => scene,
        Err(errors) => {
            let errors = errors.into_iter().map(|one| error(one.span, one.message, one.help));
            analysis.diagnostics = errors.collect();
            return analysis;
        }
    };
    // What is wrong with a draw does not depend on the time.
    if let Err(wrong) = scene.compile(0.0) {
        let span = scene.draw_span(wrong.draw).unwrap_or_default();
        analysis.diagnostics.push(error(span, wrong.message, String::new()));
    }
    analysis.ok = analysis.diagnostics.is_empty();
    analysis.size = Some(scene.size());
    analysis.moves = scene.moves();
    analysis.expects = scene.expects();
    for (draw, (_, job)) in scene.programs().enumerate() {
        let places = scene.fragment_places(draw);
        let place = |index: usize| places.get(index).cloned().flatten().map(range);
        let offset = job.program.state.base_address();
        let instructions = listing(&job.program, place);
        let stats = || Stats::of(&job.program).map_or_else(|_| Vec::new(), |stats| numbers(&stats));
        if draw == 0 {
            analysis.offset = offset;
            analysis.instructions = listing(&job.program, place);
            analysis.stats = stats();
        }
        analysis.draws.push(DrawProgram { offset, stats: stats(), instructions });
    }
    analysis
}

/// The scene that is drawn.
#[derive(Default)]
pub struct SceneSession {
    loaded: Option<LoadedScene>,
}

struct LoadedScene {
    scene: Scene,
    name: String,
    text: String,
    card: Card,
    drawn: Option<Picture>,
    frames: Frames,
}

/// The frame drawn last, of a scene that reads what the frame before left.
#[derive(Default)]
struct Frames {
    time: f32,
    /// What it read.
    before: PreviousFrame,
    /// What it left; none before the first frame.
    after: Option<PreviousFrame>,
}

impl Frames {
    /// Turns to the frame at a time, and returns what it reads: the same again at the same time, nothing at an earlier one.
    fn turn_to(&mut self, time: f32) -> &PreviousFrame {
        if time < self.time {
            *self = Self::default();
        } else if time > self.time {
            self.before = self.after.take().unwrap_or_default();
        }
        self.time = time;
        &self.before
    }
}

/// Returns a card that draws scenes.
fn new_card() -> Card {
    let settings = Settings { when: When::Before(Effort::Full), ..Settings::default() };
    let mut card = Card::with_engine(Box::new(Jit::with(r500::fast::Simd::detect(), settings)));
    // The browser has no clock for it; the page stops a module that gives no answer.
    card.set_limits(CardLimits { time: None, ..CardLimits::default() });
    card
}

impl SceneSession {
    /// Sets the scene.
    ///
    /// # Errors
    /// Its first error.
    pub fn load(&mut self, source: &SceneSource) -> Result<Loaded, String> {
        // The card keeps what it compiled.
        let card = self.loaded.take().map_or_else(new_card, |loaded| loaded.card);
        let first = |errors: Vec<r500_scene::SceneError>| {
            errors.first().map_or_else(String::new, ToString::to_string)
        };
        let scene = parse(source).map_err(first)?;
        let loaded = Loaded {
            size: Some(scene.size()),
            targets: [true, false, false, false],
            depth: false,
            moves: scene.moves(),
            live: Vec::new(),
        };
        let (name, text) = (source.name.clone(), source.text.clone());
        self.loaded =
            Some(LoadedScene { scene, name, text, card, drawn: None, frames: Frames::default() });
        Ok(loaded)
    }

    fn loaded(&mut self) -> Result<&mut LoadedScene, String> {
        self.loaded.as_mut().ok_or_else(|| "no scene is loaded".to_owned())
    }

    /// Draws the scene at a time.
    ///
    /// # Errors
    /// The reason why the card cannot draw it.
    pub fn draw(
        &mut self,
        time: f32,
        look: &Look,
        kept: &mut Vec<Vec<u8>>,
    ) -> Result<SceneDrawn, String> {
        let loaded = self.loaded()?;
        let before = loaded.card.report().statistics;
        let picture = loaded.picture(time)?;
        let report = loaded.card.report();
        let notes = report.notes().map(|(note, _)| note.to_string()).collect();
        let (draws, vertices) =
            (report.statistics.draws - before.draws, report.statistics.vertices - before.vertices);
        let bytes = keep(kept, displayed(&picture, look));
        loaded.drawn = Some(picture);
        Ok(SceneDrawn { bytes, draws, vertices, notes })
    }

    /// Displays the picture drawn last in another way.
    ///
    /// # Errors
    /// If there is none.
    pub fn show(&mut self, look: &Look, kept: &mut Vec<Vec<u8>>) -> Result<Bytes, String> {
        let picture = self.loaded()?.drawn.as_ref().ok_or("nothing is drawn")?;
        Ok(keep(kept, displayed(picture, look)))
    }

    /// Returns the values of the picture drawn last: four floats a pixel, the lowest row first.
    ///
    /// # Errors
    /// If there is none.
    pub fn values(&mut self, kept: &mut Vec<Vec<u8>>) -> Result<Bytes, String> {
        let picture = self.loaded()?.drawn.as_ref().ok_or("nothing is drawn")?;
        let colors = colors(picture);
        let bytes = colors.as_flattened().iter().flat_map(|x| x.to_le_bytes()).collect();
        Ok(keep(kept, bytes))
    }

    /// Evaluates the expectations of the scene.
    ///
    /// # Errors
    /// The reason why the card cannot draw it.
    pub fn judge(&mut self) -> Result<Vec<Judged>, String> {
        let loaded = self.loaded()?;
        let picture = loaded.picture(0.0)?;
        let units = Units::of(&loaded.text);
        let judged = loaded.scene.judge(&picture).into_iter().map(|verdict| {
            let PixelVerdict { span, passes, .. } = &verdict;
            let range = Range { from: units.at(span.start), to: units.at(span.end) };
            let text = if *passes { String::new() } else { verdict.to_string() };
            Judged { range, passes: *passes, text }
        });
        Ok(judged.collect())
    }

    /// Records a pixel in the draw that shades it last. Returns its run, and the number of the draw.
    ///
    /// # Errors
    /// The reason why it cannot be recorded.
    pub fn record(
        &mut self,
        time: f32,
        pixel: [u32; 2],
        limit: u64,
    ) -> Result<(Stepping, usize), String> {
        let loaded = self.loaded()?;
        let LoadedScene { scene, card, frames, .. } = loaded;
        let shaded = scene.shaded_after(frames.turn_to(time), None, time.into(), pixel, card);
        let shaded = shaded.map_err(|error| error.to_string())?;
        let job = shaded.job;
        let size = job.size.unwrap_or(loaded.scene.size());
        let told = |error: &dyn std::error::Error| error.to_string();
        let limits = Limits { instructions: limit, memory: 1 << 30, time: None };
        let setup = DrawSetup {
            shader: Arc::new(Shader::new(&job.program).map_err(|error| told(&error))?),
            bindings: Arc::new(
                r500::exec::Bindings::new(&job, size).map_err(|error| told(&error))?,
            ),
            options: Options { limits, ..Options::default() },
        };
        let places = Box::new(PlacesInTarget(shaded.part));
        let stepping = Stepping::of_part(setup, shaded.place, job.uniforms, places)?;
        Ok((stepping, shaded.draw))
    }

    /// Returns a capture of the command stream that draws the scene at a time.
    ///
    /// # Errors
    /// The reason why the scene cannot be compiled.
    pub fn capture(&mut self, time: f32, kept: &mut Vec<Vec<u8>>) -> Result<Bytes, String> {
        let LoadedScene { scene, name, .. } = self.loaded()?;
        let frame = scene.compile(time.into()).map_err(|error| error.to_string())?;
        let info = Info {
            chip: Chip::default().pci_id().into(),
            driver: "r500".to_owned(),
            program: name.clone(),
            readings: Vec::new(),
        };
        let written = || {
            let mut writer = Writer::new(Vec::new())?;
            for record in frame.records(info) {
                writer.write(&record)?;
            }
            Ok::<_, std::io::Error>(writer.into_inner())
        };
        Ok(keep(kept, written().map_err(|error| error.to_string())?))
    }
}

impl LoadedScene {
    fn picture(&mut self, time: f32) -> Result<Picture, String> {
        let previous = self.frames.turn_to(time);
        let frame = self.scene.compile_after(previous, time.into());
        let frame = frame.map_err(|error| error.to_string())?;
        self.card.submit(&frame.submission).map_err(|error| error.to_string())?;
        self.frames.after = Some(frame.previous());
        Ok(frame.picture(&self.card))
    }
}

/// A picture of a draw in its target.
struct PlacesInTarget(TargetPart);

impl Places for PlacesInTarget {
    fn shown(&self, pixel: [u32; 2]) -> [u32; 2] {
        self.0.in_target(pixel)
    }

    fn recorded(&self, pixel: [u32; 2]) -> [u32; 2] {
        self.0.in_job(pixel)
    }
}

/// Returns the colours of a picture from 0 to 1, the lowest row first.
fn colors(picture: &Picture) -> Vec<[f32; 4]> {
    let rows = picture.pixels.chunks(picture.width as usize).rev();
    rows.flatten().map(|pixel| pixel.map(|code| f32::from(code) / 255.0)).collect()
}

/// Returns the bytes of a picture as it is displayed, the upper row first.
fn displayed(picture: &Picture, look: &Look) -> Vec<u8> {
    look.of_colors(picture.width, &colors(picture)).pixels.into_flattened()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::document::File;

    fn source(text: &str, files: Vec<File>) -> SceneSource {
        SceneSource { text: text.to_owned(), name: "scene".to_owned(), files }
    }

    fn example() -> SceneSource {
        let program = include_bytes!("../../../examples/scenes/transform.vs.asm");
        let file = File { name: "transform.vs.asm".to_owned(), bytes: program.to_vec() };
        source(include_str!("../../../examples/scenes/mirror.r5"), vec![file])
    }

    #[test]
    fn a_scene_is_analysed_drawn_and_stepped() {
        let analysis = analyse(&example());
        assert!(analysis.ok && analysis.moves && !analysis.expects, "{:?}", analysis.diagnostics);
        let counts: Vec<usize> =
            analysis.draws.iter().map(|draw| draw.instructions.len()).collect();
        assert_eq!(counts, [1, 2]);
        let mut session = SceneSession::default();
        let loaded = session.load(&example()).unwrap();
        assert_eq!((loaded.size, loaded.moves), (Some([320, 240]), true));
        let mut kept = Vec::new();
        let drawn = session.draw(0.0, &Look::default(), &mut kept).unwrap();
        assert_eq!((kept[0].len(), drawn.draws, drawn.vertices), (320 * 240 * 4, 2, 7));
        // The card is in front of the picture, which is farther away.
        let (stepping, draw) = session.record(0.0, [160, 120], 1000).unwrap();
        assert_eq!((draw, stepping.addresses().len()), (1, 2 * 4));
        let error = session.record(0.0, [2, 2], 1000).map(|_| ()).unwrap_err();
        assert!(error.contains("no fragment is shaded at pixel 2,2"), "{error}");
        assert!(session.record(0.0, [320, 0], 1000).is_err());
        session.capture(0.0, &mut kept).unwrap();
        assert!(r500_stream::capture::is_capture(kept.last().unwrap()));
    }

    #[test]
    fn errors_have_places_in_utf_16() {
        let text = "-- \u{1f600}\nSCENE 4x4 ;\nDRAW trangles { }";
        let analysis = analyse(&source(text, Vec::new()));
        let error = &analysis.diagnostics[0];
        assert!(!analysis.ok && error.message.contains("trangles"), "{error:?}");
        // The character takes two units, and four bytes.
        assert_eq!((error.range.from, error.range.to), (23, 31));
        let missing = analyse(&SceneSource { files: Vec::new(), ..example() });
        assert!(missing.diagnostics[0].message.contains("no such file was given"));
    }
}
