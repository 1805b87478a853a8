//! Textures that change from frame to frame: what the program wrote in the frame before.

use r500::asm::{Options, assemble};
use r500::exec::Shader;
use r500::exec::live_textures::previous_targets;
use r500::program::{Job, LiveSource};

use super::Render;
use crate::command::exit::{Failure, Outcome};
use crate::command::terminal;

impl Render {
    /// Returns the program with the textures of `--feedback`; `None` if programs were only listed.
    pub(super) fn job(&self) -> Outcome<Option<Job>> {
        let Some(mut job) = self.source.read()? else { return Ok(None) };
        for text in &self.feedback {
            bind(&mut job, text)?;
        }
        let Ok(shader) = Shader::new(&job.program) else { return Ok(Some(job)) };
        let written = shader.targets();
        for target in previous_targets(&job) {
            if !written.get(usize::from(target)).copied().unwrap_or_default() {
                let message = format!(
                    "out[{target}] is read as a texture, and the program does not write it"
                );
                return Err(Failure::input(anyhow::anyhow!(message)));
            }
        }
        let reads_previous = previous_targets(&job).next().is_some();
        if reads_previous && self.crop.is_some() {
            return Err(Failure::usage("--crop: the next frame reads the whole picture"));
        }
        Ok(Some(job))
    }
}

/// Gives a job the texture of `out[0]=tex[0],linear`.
fn bind(job: &mut Job, text: &str) -> Outcome<()> {
    let wrong = || {
        Failure::usage(format!(
            "--feedback `{text}`: write out[0]=tex[0], and after commas nearest or linear, wrap, mirror, clamp or border"
        ))
    };
    let mut words = text.split(',').map(str::trim);
    let (target, unit) = words.next().and_then(|pair| pair.split_once('=')).ok_or_else(wrong)?;
    let sampling = words.collect::<Vec<_>>().join(" ");
    // The language has the rules.
    let directive = format!("TEXTURE {} = previous {} {sampling} ;", unit.trim(), target.trim());
    let is_one = directive.matches([';', '"', '\n']).count() == 1 && !directive.contains("--");
    let assembly = assemble(directive.as_bytes(), Options::default());
    let mut bound = assembly.job;
    let complete = is_one
        && !assembly
            .diagnostics
            .iter()
            .any(|one| one.span.end < directive.len() as u32 && one.is_error());
    let Some(live) = bound.live.pop().filter(|_| complete) else { return Err(wrong()) };
    let unit = usize::from(live.unit);
    job.textures[unit] = bound.textures[unit].take();
    job.program.state.format[unit] = None;
    job.live.retain(|other| other.unit != live.unit);
    job.live.push(live);
    Ok(())
}

/// Warns of textures that only the page has.
pub(super) fn warn_absent(job: &Job) {
    for live in &job.live {
        let named = LiveSource::named().into_iter().find(|(_, source)| *source == live.source);
        if let Some((name, _)) = named {
            terminal::warn(&format!(
                "tex[{}] is the {name}, which only the page has: it reads 0",
                live.unit
            ));
        }
    }
}
