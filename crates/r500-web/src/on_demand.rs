//! The session of a module that contains only what the page loads where it is asked for: the optimiser, the compiler of GLSL, captures, scenes.

use serde::Deserialize;

use crate::bytes::keep;
use crate::look::Look;
use crate::message::{Source, json, parse};
use crate::scene::{self, SceneRecorded, SceneSession};
use crate::shader::{self, Setting};
use crate::step::{self, Breakpoint, Going, Stepping};
use crate::{capture, open, optimize};

/// Answers requests like [`Session`](crate::Session): those about scenes, `optimize`, `open`, `compile` and `editShader`.
#[derive(Default)]
pub struct OnDemandSession {
    scene: SceneSession,
    stepping: Option<Stepping>,
    /// Bytes to which the last answer refers.
    kept: Vec<Vec<u8>>,
}

/// The requests.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "camelCase")]
enum Request {
    Optimize(Source),
    Compile {
        text: String,
        name: String,
        draft: bool,
    },
    EditShader {
        text: String,
        name: String,
        setting: Setting,
    },
    Open {
        #[serde(default)]
        pick: usize,
        name: String,
        length: usize,
    },
    AnalyseScene(Source),
    LoadScene(Source),
    DrawScene {
        time: f32,
        look: Look,
    },
    ShowScene {
        look: Look,
    },
    SceneValues,
    ExpectScene,
    RecordScene {
        time: f32,
        pixel: [u32; 2],
        limit: u64,
    },
    SceneCapture {
        time: f32,
    },
    Go(Going),
    CheckBreakpoint {
        breakpoint: Breakpoint,
    },
}

impl OnDemandSession {
    /// Processes a request. Returns the answer as JSON.
    ///
    /// # Errors
    /// The error message.
    pub fn answer(&mut self, request: &[u8]) -> Result<String, String> {
        let (request, mut attached) = parse(request)?;
        self.kept.clear();
        match request {
            Request::Optimize(source) => json(&optimize::optimize(&attached.document(source)?)?),
            Request::Compile { text, name, draft } => json(&shader::compile(&text, &name, draft)),
            Request::EditShader { text, name, setting } => {
                json(&shader::with_setting(&text, &name, &setting))
            }
            Request::Open { pick, name, length } => {
                let bytes = attached.take(length)?;
                json(&match open::is_capture(bytes) {
                    true => capture::open(bytes, &open::stem(&name), pick)?,
                    false => open::open(bytes, &name, pick)?,
                })
            }
            Request::AnalyseScene(source) => json(&scene::analyse(&attached.scene(source)?)),
            Request::LoadScene(source) => json(&self.scene.load(&attached.scene(source)?)?),
            Request::DrawScene { time, look } => {
                json(&self.scene.draw(time, &look, &mut self.kept)?)
            }
            Request::ShowScene { look } => json(&self.scene.show(&look, &mut self.kept)?),
            Request::SceneValues => json(&self.scene.values(&mut self.kept)?),
            Request::ExpectScene => json(&self.scene.judge()?),
            Request::RecordScene { time, pixel, limit } => {
                let (stepping, draw) = self.scene.record(time, pixel, limit)?;
                let addresses = keep(&mut self.kept, stepping.addresses());
                let recorded = stepping.recorded(addresses);
                self.stepping = Some(stepping);
                json(&SceneRecorded { draw, recorded })
            }
            Request::SceneCapture { time } => json(&self.scene.capture(time, &mut self.kept)?),
            Request::Go(going) => {
                let stepping = self.stepping.as_mut().ok_or("nothing is recorded")?;
                json(&stepping.go(&going)?)
            }
            Request::CheckBreakpoint { breakpoint } => json(&step::check(&breakpoint, &[])?),
        }
    }
}
