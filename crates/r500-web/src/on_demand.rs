//! The session of a module that contains only what the page loads where it is asked for: the optimiser, the compiler of GLSL, captures.

use serde::Deserialize;

use crate::message::{Source, json, parse};
use crate::shader::{self, Setting};
use crate::{capture, open, optimize};

/// Answers the requests `optimize`, `open`, `compile` and `editShader` like [`Session`](crate::Session).
#[derive(Clone, Copy, Debug, Default)]
pub struct OnDemandSession;

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
}

impl OnDemandSession {
    /// Processes a request. Returns the answer as JSON.
    ///
    /// # Errors
    /// The error message.
    #[allow(clippy::unused_self, reason = "modules have one session, whichever it is")]
    pub fn answer(&mut self, request: &[u8]) -> Result<String, String> {
        let (request, mut attached) = parse(request)?;
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
        }
    }
}
