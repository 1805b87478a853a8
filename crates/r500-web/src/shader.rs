//! GLSL on the page: a shader compiled to a source, the places that each instruction computes, costs by line, and limits.
//!
//! Values of uniforms and textures of samplers are comments of the shader, so that its text is complete:
//!
//! ```text
//! //@ uniform2f scale 4.0 3.0
//! //@ texture bricks = file "bricks.png" linear wrap
//! ```

use std::collections::BTreeMap;

use r500::check::Stats;
use r500::compile::{self, Compiled, Severity, Span};
use r500::isa::{CONSTANTS, INSTRUCTION_SLOTS, TEMPORARIES, TEXTURE_UNITS};
use r500::program::Job;
use r500::shader_values::{self, ShaderValue};
use serde::Serialize;

use crate::analysis::{Diagnostic, Fix};
use crate::document::{Range, TextEdit, Units};
use crate::open;

/// A compiled shader, or its errors.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CompiledShader {
    /// The program as a source; none if the shader has errors.
    pub text: Option<String>,
    /// Errors and warnings, by place.
    pub diagnostics: Vec<Diagnostic>,
    /// For each instruction the lines of the shader that it computes, from 1, ascending.
    pub lines: Vec<Vec<usize>>,
    /// The cost of each line that costs something, ascending.
    pub costs: Vec<LineCost>,
    /// What the program uses of the chip.
    pub limits: Vec<Limit>,
    /// The names of the samplers of the texture units, in order.
    pub samplers: Vec<String>,
}

/// What a line of a shader costs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LineCost {
    /// The line, from 1.
    pub line: usize,
    /// Instructions that compute it.
    pub instructions: usize,
    /// Instruction slots: an instruction that computes several lines is shared equally, so that the sum over all lines is the program.
    pub slots: f64,
}

/// What a program uses of a resource of the chip.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Limit {
    /// The resource.
    pub name: &'static str,
    /// What is counted.
    pub meaning: &'static str,
    /// Its use.
    pub used: usize,
    /// What the chip has; none where it has no limit.
    pub most: Option<usize>,
}

/// Compiles a shader. A draft is a program for the picture alone, which takes a fraction of the time: it is not optimised, and the answer
/// has no costs.
#[must_use]
pub fn compile(text: &str, name: &str, draft: bool) -> CompiledShader {
    let units = Units::of(text);
    let compiled = match draft {
        true => compile::compile_draft(text),
        false => compile::compile(text),
    };
    match compiled {
        Ok(mut compiled) => {
            compiled.job.name = name.to_owned();
            let mut found: Vec<_> =
                compiled.warnings.iter().map(|one| shown(one, &units)).collect();
            let textures = apply(text, &mut compiled, &units, &mut found);
            found.sort_by_key(|one| one.range.from);
            let lines = if draft { Vec::new() } else { compile::lines_of(text, &compiled.spans) };
            let mut program = open::source(&compiled.job);
            // After the declarations, before the blank line in front of the instructions.
            let place = program.find("\n\n").map_or(0, |end| end + 1);
            program.insert_str(place, &textures);
            CompiledShader {
                text: Some(program),
                diagnostics: found,
                costs: costs(&lines),
                lines,
                limits: if draft { Vec::new() } else { limits(&compiled.job) },
                samplers: compiled.samplers.into_iter().map(|unit| unit.name).collect(),
            }
        }
        Err(errors) => CompiledShader {
            text: None,
            diagnostics: errors.iter().map(|one| shown(one, &units)).collect(),
            lines: Vec::new(),
            costs: Vec::new(),
            limits: Vec::new(),
            samplers: Vec::new(),
        },
    }
}

fn range(span: Span, units: &Units) -> Range {
    Range { from: units.at(span.start as usize), to: units.at(span.end as usize) }
}

fn shown(found: &compile::Diagnostic, units: &Units) -> Diagnostic {
    let fix = found.fix.as_ref().map(|fix| Fix {
        title: found.help.clone().unwrap_or_else(|| "Fix it".to_owned()),
        edits: vec![TextEdit { range: range(fix.span, units), text: fix.text.clone() }],
        resolves: true,
    });
    Diagnostic {
        range: range(found.span, units),
        severity: match found.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        code: "",
        message: found.message.clone(),
        help: found.help.clone().into_iter().collect(),
        fixes: fix.into_iter().collect(),
    }
}

fn costs(lines: &[Vec<usize>]) -> Vec<LineCost> {
    let mut costs: BTreeMap<usize, (usize, f64)> = BTreeMap::new();
    for of_one in lines {
        for line in of_one {
            let (instructions, slots) = costs.entry(*line).or_default();
            *instructions += 1;
            *slots += 1.0 / of_one.len() as f64;
        }
    }
    let cost = |(line, (instructions, slots))| LineCost { line, instructions, slots };
    costs.into_iter().map(cost).collect()
}

#[expect(clippy::expect_used, reason = "a number that is renamed must not be left out")]
fn limits(job: &Job) -> Vec<Limit> {
    // A program of the compiler can run.
    let Ok(stats) = Stats::of(&job.program) else { return Vec::new() };
    let values = stats.values();
    let number = |name: &str| {
        let at = Stats::NAMES.iter().position(|known| *known == name);
        let at = at.expect("the statistics have numbers of these names");
        (Stats::MEANINGS[at], usize::try_from(values[at]).unwrap_or(usize::MAX))
    };
    let units =
        job.compilation.iter().flat_map(|compilation| compilation.samplers.iter().flatten());
    let counted = [
        ("temporaries", Some(TEMPORARIES)),
        ("constants", Some(CONSTANTS)),
        ("textures", None),
        ("indirections", None),
    ];
    let slots = Limit {
        name: "slots",
        meaning: "Instruction slots.",
        used: job.program.code.len(),
        most: Some(INSTRUCTION_SLOTS),
    };
    let units = Limit {
        name: "texture units",
        meaning: "Texture units with a sampler.",
        used: units.count(),
        most: Some(TEXTURE_UNITS),
    };
    let numbers = counted.into_iter().map(|(name, most)| {
        let (meaning, used) = number(name);
        let name = if name == "textures" { "fetches" } else { name };
        Limit { name, meaning, used, most }
    });
    [slots].into_iter().chain(numbers).chain([units]).collect()
}

// --- Values of uniforms, textures of samplers ----------------------------------------------------

/// Applies the comments of a shader that have values: sets constants; returns the lines that bind textures.
fn apply(
    text: &str,
    compiled: &mut Compiled,
    units: &Units,
    found: &mut Vec<Diagnostic>,
) -> String {
    let samplers = compiled.sampler_names();
    let (bound, wrong) = shader_values::apply(text, &mut compiled.job, &samplers);
    let told = wrong
        .into_iter()
        .map(|wrong| shown(&compile::Diagnostic::warning(wrong.span, wrong.message), units));
    found.extend(told);
    bound
}

/// Returns the edits of a shader that give a uniform a value, or a sampler a texture (the text after `TEXTURE tex[n] =`).
#[must_use]
pub fn with_setting(text: &str, name: &str, setting: &Setting) -> Vec<TextEdit> {
    let line = match setting {
        Setting::Uniform(values) => {
            let numbers: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
            format!("//@ uniform{}f {name} {}", values.len(), numbers.join(" "))
        }
        Setting::Texture(what) => format!("//@ texture {name} = {what}"),
    };
    let is_texture = matches!(setting, Setting::Texture(_));
    let all = shader_values::values(text);
    let same = |one: &&ShaderValue<'_>| one.name == name && one.is_texture() == is_texture;
    let units = Units::of(text);
    if let Some(known) = all.iter().find(same) {
        return vec![TextEdit { range: range(known.span, &units), text: line }];
    }
    // After the other directives, else before the shader; `#version` stays first.
    let after_line = |at: usize| {
        text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |end| at + end + 1)
    };
    let place = match all.last() {
        Some(last) => after_line(last.span.end as usize),
        None if text.starts_with("#version") => after_line(0),
        None => 0,
    };
    let before = if place > 0 && !text.get(..place).is_some_and(|text| text.ends_with('\n')) {
        "\n"
    } else {
        ""
    };
    let at = units.at(place);
    vec![TextEdit { range: Range { from: at, to: at }, text: format!("{before}{line}\n") }]
}

/// A value of a uniform, or a texture of a sampler.
#[derive(Clone, Debug, serde::Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum Setting {
    /// The components of a uniform.
    Uniform(Vec<f32>),
    /// The text after `TEXTURE tex[n] =`.
    Texture(String),
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const WAVES: &str = "precision highp float;\nuniform vec2 scale; uniform sampler2D bricks;\nvarying vec2 uv;\n\
        void main() {\n    vec4 c = texture2D(bricks, uv * scale);\n    gl_FragColor = c * 0.5 + 0.25;\n}\n";

    #[test]
    fn costs_of_lines_sum_to_the_program() {
        let compiled = compile(WAVES, "waves", false);
        let text = compiled.text.unwrap();
        assert!(text.contains("UNIFORM \"scale\"") && compiled.diagnostics.is_empty(), "{text}");
        assert_eq!(compiled.samplers, ["bricks"]);
        let slots: f64 = compiled.costs.iter().map(|cost| cost.slots).sum();
        assert!((slots - compiled.lines.len() as f64).abs() < 1e-9, "{slots}");
        let lines: Vec<usize> = compiled.costs.iter().map(|cost| cost.line).collect();
        assert!(lines.starts_with(&[5]) && lines.contains(&6), "{lines:?}");
        let used = |name: &str| compiled.limits.iter().find(|limit| limit.name == name).unwrap();
        assert_eq!((used("slots").used, used("slots").most), (compiled.lines.len(), Some(512)));
        assert_eq!((used("fetches").used, used("texture units").used), (1, 1));
        assert_eq!((used("temporaries").most, used("indirections").most), (Some(128), None));
    }

    #[test]
    fn errors_have_places_in_utf_16_and_fixes() {
        let compiled = compile(
            "// \u{1f600}\nvoid main() { gl_FragColor = vec4(smoothstp(0.0, 1.0, 0.5)); }",
            "x",
            false,
        );
        assert!(compiled.text.is_none());
        let error = &compiled.diagnostics[0];
        assert_eq!((error.severity, error.range.from, error.range.to), ("error", 40, 49));
        let fix = &error.fixes[0];
        assert_eq!(
            (fix.title.as_str(), fix.edits[0].text.as_str()),
            ("did you mean `smoothstep`?", "smoothstep")
        );
    }

    #[test]
    fn settings_are_comments_that_the_program_takes() {
        let edits = with_setting(WAVES, "scale", &Setting::Uniform(vec![4.0, 0.1]));
        let text = applied(WAVES, &edits);
        assert!(text.starts_with("//@ uniform2f scale 4.0 0.1\nprecision"), "{text}");
        let texture = Setting::Texture("checker(64, 64, 8) nearest wrap".into());
        let text = applied(&text, &with_setting(&text, "bricks", &texture));
        assert!(
            text.contains("\n//@ texture bricks = checker(64, 64, 8) nearest wrap\nprecision"),
            "{text}"
        );
        let text = applied(&text, &with_setting(&text, "scale", &Setting::Uniform(vec![2.0, 0.1])));
        assert_eq!(text.matches("uniform2f").count(), 1);
        let compiled = compile(&text, "waves", false);
        let program = compiled.text.unwrap();
        assert!(program.contains("(2, 0.1,"), "{program}");
        let document = crate::document::Document::new(program, "waves".into(), Vec::new());
        assert!(document.job().unwrap().textures[0].is_some());
    }

    #[test]
    fn settings_of_unknown_names_are_warnings() {
        let text = format!(
            "//@ uniform1f scale 1.0\n//@ uniform1f tint 1.0\n//@ texture wood = noise(8, 8, 1)\n//@ check share\n{WAVES}"
        );
        let compiled = compile(&text, "x", false);
        let told: Vec<&str> = compiled.diagnostics.iter().map(|one| one.message.as_str()).collect();
        assert_eq!(
            told,
            [
                "`scale` has 2 components, and this gives 1",
                "the shader reads no uniform `tint`",
                "the shader reads no sampler `wood`"
            ]
        );
    }

    #[test]
    fn a_draft_is_the_program_before_optimisation() {
        let (draft, full) = (compile(WAVES, "waves", true), compile(WAVES, "waves", false));
        assert!(draft.costs.is_empty() && !full.costs.is_empty());
        let count = |text: Option<String>| {
            let document = crate::document::Document::new(text.unwrap(), "x.r5".into(), Vec::new());
            document.job().unwrap().program.code.len()
        };
        assert!(count(draft.text) >= count(full.text));
        let wrong = compile("void main() { gl_FragColor = vec4(x); }", "x", true);
        assert!(wrong.text.is_none() && wrong.diagnostics.len() == 1);
    }

    #[test]
    fn a_setting_follows_the_version() {
        let shader = "#version 120\nuniform float k; void main() { gl_FragColor = vec4(k); }";
        let text = applied(shader, &with_setting(shader, "k", &Setting::Uniform(vec![1.0])));
        assert!(text.starts_with("#version 120\n//@ uniform1f k 1.0\nuniform"), "{text}");
        assert!(compile(&text, "k", false).text.is_some());
    }

    /// Applies edits to an ASCII text.
    fn applied(text: &str, edits: &[TextEdit]) -> String {
        let mut text = text.to_owned();
        for edit in edits.iter().rev() {
            text.replace_range(edit.range.from..edit.range.to, &edit.text);
        }
        text
    }
}
