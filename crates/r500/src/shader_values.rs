//! Values of a shader's uniforms and textures of its samplers, in comments of the shader, so that its text is complete.
//!
//! ```text
//! //@ uniform2f scale 4.0 3.0
//! //@ texture bricks = file "bricks.png" linear wrap
//! //@ texture before = previous out[0]
//! ```
//!
//! What follows `=` is what follows `TEXTURE tex[n] =` in assembly. Comments of other kinds that begin with `//@` are not meant.

use std::fmt::Write as _;

use r500_compile::Span;
use r500_program::Job;

/// A value or a texture that a comment gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShaderValue<'a> {
    /// The comment.
    pub span: Span,
    kind: &'a str,
    /// The uniform or the sampler.
    pub name: &'a str,
    /// What follows the name.
    rest: &'a str,
}

impl ShaderValue<'_> {
    /// Returns whether it is a texture.
    #[must_use]
    pub fn is_texture(&self) -> bool {
        self.kind == "texture"
    }
}

/// A comment that has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongValue {
    /// The comment.
    pub span: Span,
    /// Why.
    pub message: String,
    /// Whether the shader has no such uniform or sampler, or does not read it.
    pub is_unread: bool,
}

/// Returns the values that a shader's comments give, in order.
#[must_use]
pub fn values(text: &str) -> Vec<ShaderValue<'_>> {
    let mut all = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let at = start;
        start += line.len();
        let Some(body) = line.trim_start().strip_prefix("//@") else { continue };
        let mut words = body.trim().splitn(3, char::is_whitespace);
        let (Some(kind), Some(name), rest) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        let is_uniform = matches!(kind, "uniform1f" | "uniform2f" | "uniform3f" | "uniform4f");
        let rest = rest.unwrap_or_default().trim();
        if is_uniform || (kind == "texture" && rest.starts_with('=')) {
            let begin = at + line.len() - line.trim_start().len();
            let span = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            let span = Span { start: span(begin), end: span(at + line.trim_end().len()) };
            all.push(ShaderValue { span, kind, name, rest });
        }
    }
    all
}

/// Gives the constants of a compiled shader the values of its comments; `samplers` are the names of its samplers by unit. Returns the directives of
/// assembly that bind its textures, a line each, and the comments that have no effect.
#[must_use]
pub fn apply(text: &str, job: &mut Job, samplers: &[(u8, String)]) -> (String, Vec<WrongValue>) {
    let mut bound = String::new();
    let mut wrong = Vec::new();
    for value in values(text) {
        let unread = |what: &str| (format!("the shader reads no {what} `{}`", value.name), true);
        let result = match value.is_texture() {
            true => {
                let unit = samplers.iter().find(|(_, name)| name == value.name);
                unit.map_or_else(
                    || Err(unread("sampler")),
                    |(unit, _)| {
                        let what = value.rest.trim_end_matches(';');
                        let _ = writeln!(bound, "TEXTURE tex[{unit}] {what} ;");
                        Ok(())
                    },
                )
            }
            false => match job.uniforms.iter().any(|one| one.name == value.name) {
                true => set_uniform(job, &value).map_err(|message| (message, false)),
                false => Err(unread("uniform")),
            },
        };
        if let Err((message, is_unread)) = result {
            wrong.push(WrongValue { span: value.span, message, is_unread });
        }
    }
    (bound, wrong)
}

/// Gives a uniform's constant its value.
fn set_uniform(job: &mut Job, given: &ShaderValue<'_>) -> Result<(), String> {
    let Some(uniform) = job.uniforms.iter().find(|uniform| uniform.name == given.name) else {
        return Ok(());
    };
    let values: Result<Vec<f32>, _> = given.rest.split_whitespace().map(str::parse).collect();
    let values = values.map_err(|_| format!("`{}` is not a list of numbers", given.rest))?;
    if values.len() != usize::from(uniform.channels) {
        let (name, wanted) = (given.name, uniform.channels);
        return Err(format!("`{name}` has {wanted} components, and this gives {}", values.len()));
    }
    let first = usize::from(uniform.channel);
    let mut channels = [None; 4];
    for (channel, value) in channels.iter_mut().skip(first).zip(values) {
        *channel = Some(value.to_bits());
    }
    job.program.state.set_given_channels(uniform.constant.into(), channels);
    Ok(())
}
