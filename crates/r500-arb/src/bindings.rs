//! What the dotted names of the language mean: attributes, results, and parameters of the draw.

use r500_glsl::diagnostic::nearest;
use r500_glsl::{Diagnostic, Stage};

use crate::path::{self, Mismatch, Part, Wanted};

/// What a path of the language is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Read; of each vertex or pixel.
    Attribute,
    /// Written.
    Result,
    /// Read; of the draw.
    Parameter,
}

/// A path of the language.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Binding {
    pub(crate) role: Role,
    /// Its name, without the number of a vector.
    pub(crate) name: String,
    /// The first and the last vector, of what has several.
    pub(crate) vectors: Option<(u32, u32)>,
    /// How many parts of the path it takes.
    pub(crate) parts: usize,
}

/// Vectors of `program.env` and of `program.local`.
pub(crate) const PARAMETERS: u32 = 256;
/// Texture units.
pub(crate) const UNITS: u32 = 16;

type Row = (Role, &'static str);

/// See [`path::find`] for what the patterns mean; limits are those of the chip's drivers, and of OpenGL 2.1.
const OF_FRAGMENTS: [Row; 7] = [
    (Role::Attribute, "fragment.color.?primary|secondary"),
    (Role::Attribute, "fragment.texcoord#8?"),
    (Role::Attribute, "fragment.fogcoord|position"),
    (Role::Result, "result.color#4?"),
    (Role::Result, "result.depth"),
    (Role::Parameter, "state.texenv#8?.color"),
    (Role::Parameter, "state.depth.range"),
];

const OF_VERTICES: [Row; 14] = [
    (Role::Attribute, "vertex.position|normal|fogcoord"),
    (Role::Attribute, "vertex.color.?primary|secondary"),
    (Role::Attribute, "vertex.texcoord#8?"),
    (Role::Attribute, "vertex.attrib#16"),
    (Role::Attribute, "vertex.weight#4?"),
    (Role::Attribute, "vertex.matrixindex#4"),
    (Role::Result, "result.position|fogcoord|pointsize"),
    (Role::Result, "result.color.?front|back.?primary|secondary"),
    (Role::Result, "result.texcoord#8?"),
    (Role::Parameter, "state.texgen#8?.eye|object.s|t|r|q"),
    (Role::Parameter, "state.clip#6.plane"),
    (Role::Parameter, "state.point.size|attenuation"),
    (Role::Parameter, "state.matrix.palette#32.?|inverse|transpose|invtrans.?row@4"),
    (Role::Parameter, "state.depth.range"),
];

const OF_BOTH: [Row; 12] = [
    (Role::Parameter, "program.env|local@256"),
    (Role::Parameter, "state.material.?front|back.ambient|diffuse|specular|emission|shininess"),
    (Role::Parameter, "state.light#8.ambient|diffuse|specular|position|attenuation|half"),
    (Role::Parameter, "state.light#8.spot.direction"),
    (Role::Parameter, "state.lightmodel.ambient"),
    (Role::Parameter, "state.lightmodel.?front|back.scenecolor"),
    (Role::Parameter, "state.lightprod#8.?front|back.ambient|diffuse|specular"),
    (Role::Parameter, "state.fog.color|params"),
    (Role::Parameter, "state.matrix.modelview#32?.?|inverse|transpose|invtrans.?row@4"),
    (Role::Parameter, "state.matrix.texture#8?.?|inverse|transpose|invtrans.?row@4"),
    (Role::Parameter, "state.matrix.program#8.?|inverse|transpose|invtrans.?row@4"),
    (Role::Parameter, "state.matrix.projection|mvp.?|inverse|transpose|invtrans.?row@4"),
];

fn rows(stage: Stage) -> impl Iterator<Item = &'static Row> {
    let own: &[Row] = match stage {
        Stage::Fragment => &OF_FRAGMENTS,
        Stage::Vertex => &OF_VERTICES,
    };
    own.iter().chain(&OF_BOTH)
}

/// Returns the words with which paths of a stage begin.
pub(crate) fn roots(stage: Stage) -> impl Iterator<Item = &'static str> {
    rows(stage).filter_map(|(_, pattern)| pattern.split('.').next())
}

/// Returns what a path means.
pub(crate) fn find(stage: Stage, path: &[Part]) -> Result<Binding, Diagnostic> {
    let mut mismatches = Vec::new();
    for (role, pattern) in rows(stage) {
        match path::find(pattern, path) {
            Ok(found) => {
                let mut binding = Binding {
                    role: *role,
                    name: found.name,
                    vectors: found.vectors,
                    parts: found.parts,
                };
                if binding.name.starts_with("state.matrix") {
                    // A whole matrix is its rows.
                    binding.name += ".row";
                    binding.vectors.get_or_insert((0, 3));
                }
                return Ok(binding);
            }
            Err(mismatch) => mismatches.push(mismatch),
        }
    }
    Err(error(stage, path, &mismatches))
}

/// Says why no pattern matches a path: what those want that came farthest.
#[expect(clippy::expect_used, reason = "a stage without patterns must not compile")]
fn error(stage: Stage, path: &[Part], mismatches: &[Mismatch]) -> Diagnostic {
    let at = mismatches.iter().map(|mismatch| mismatch.at).max();
    let at = at.expect("each stage has patterns");
    let far = || mismatches.iter().filter(|mismatch| mismatch.at == at);
    let names: Vec<&str> = path.iter().take(at).map(|part| &*part.name).collect();
    let before = names.join(".");
    let mut wanted: Vec<&'static str> = Vec::new();
    for mismatch in far() {
        match &mismatch.wanted {
            Wanted::Names(names) => wanted.extend(names.iter().filter(|name| !name.is_empty())),
            Wanted::Index(most) => {
                let Some(part) = path.get(at) else { continue };
                let span = part.index.as_ref().map_or(part.span, |(_, span)| *span);
                let message = format!("`{}` is numbered from 0 to {}", part.name, most - 1);
                let example = format!("write `{}[0]` or another of these numbers", part.name);
                return Diagnostic::error(span, message).help(example);
            }
            Wanted::NoIndex => {
                let Some(part) = path.get(at) else { continue };
                let span = part.index.as_ref().map_or(part.span, |(_, span)| *span);
                return Diagnostic::error(span, format!("`{}` has no numbers", part.name)).fix(
                    "remove the brackets",
                    span,
                    "",
                );
            }
        }
    }
    wanted.sort_unstable();
    wanted.dedup();
    let list = wanted.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match (path.get(at), path.get(at.wrapping_sub(1))) {
        (Some(part), _) => {
            let name = if at == 0 { part.name.clone() } else { format!("{before}.{}", part.name) };
            let message = format!("{stage} programs have no `{name}`");
            let error = Diagnostic::error(part.span, message);
            match nearest(&part.name, wanted.iter().copied()) {
                Some(meant) => error.fix(format!("did you mean `{meant}`?"), part.span, meant),
                None => error.help(format!("there are {list}")),
            }
        }
        (None, last) => {
            let span = last.map(|part| part.span).unwrap_or_default();
            let message = format!("`{before}` is not complete");
            Diagnostic::error(span, message).help(format!("one of these follows: {list}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_limits_that_are_numbers() {
        for (_, pattern) in OF_FRAGMENTS.iter().chain(&OF_VERTICES).chain(&OF_BOTH) {
            for part in pattern.split('.') {
                if let Some(at) = part.find(['#', '@']) {
                    let digits = part[at + 1..].trim_end_matches('?');
                    assert!(digits.parse::<u32>().is_ok_and(|n| n > 0), "{pattern}");
                }
            }
        }
    }
}
