//! Piglit's `.shader_test`: sections in brackets, of which the texts of shaders and `[require]` count here.

use super::{Api, Shader, ShaderPair, Stage};

/// What is wrong with a `.shader_test`.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShaderTestError {
    /// A stage that the chip does not have.
    #[error("{file}:{line}: [{section}]: the chip has vertex and fragment programs only")]
    Stage {
        /// The file.
        file: String,
        /// The line.
        line: u32,
        /// The name of the section.
        section: String,
    },
    /// Two shaders of one stage, which are linked to one.
    #[error("{file}:{line}: a second {stage} shader; only one of each stage is linked")]
    Second {
        /// The file.
        file: String,
        /// The line.
        line: u32,
        /// The stage.
        stage: Stage,
    },
    /// No section with a shader.
    #[error(
        "{0}: there is neither [vertex shader] nor [fragment shader] in it, and no [vertex program] or [fragment program]"
    )]
    Empty(String),
}

/// Returns whether a text has a section of a shader.
#[must_use]
pub fn is_shader_test(text: &str) -> bool {
    text.lines().filter_map(section).any(|name| stage(name).is_some() || name == "require")
}

fn section(line: &str) -> Option<&str> {
    line.trim_end().strip_prefix('[')?.strip_suffix(']')
}

fn stage(section: &str) -> Option<Stage> {
    match section {
        "vertex shader" | "vertex program" => Some(Stage::Vertex),
        "fragment shader" | "fragment program" => Some(Stage::Fragment),
        _ => None,
    }
}

/// The vertex shader of `[vertex shader passthrough]`, as piglit has it.
const PASSTHROUGH: &str =
    "attribute vec4 piglit_vertex;\nvoid main() { gl_Position = piglit_vertex; }\n";

pub(super) fn parse(file: &str, text: &str) -> Result<ShaderPair, ShaderTestError> {
    let mut pair = ShaderPair { name: file.to_owned(), vertex: None, fragment: None, api: None };
    let mut current = "";
    let mut version = None;
    for (line, number) in text.split_inclusive('\n').zip(1_u32..) {
        if let Some(name) = section(line) {
            current = name;
            let place = || (file.to_owned(), number, name.to_owned());
            match name {
                "vertex shader passthrough" => {
                    pair.vertex = Some(Shader::of_file(file, PASSTHROUGH));
                }
                other if other.ends_with(" shader") && stage(other).is_none() => {
                    let (file, line, section) = place();
                    return Err(ShaderTestError::Stage { file, line, section });
                }
                _ => {}
            }
            if let Some(stage) = stage(name) {
                let shader =
                    Shader { file: file.to_owned(), text: String::new(), first_line: number + 1 };
                if slot(&mut pair, stage).replace(shader).is_some() {
                    return Err(ShaderTestError::Second {
                        file: file.to_owned(),
                        line: number,
                        stage,
                    });
                }
            }
            continue;
        }
        if let Some(stage) = stage(current) {
            if let Some(shader) = slot(&mut pair, stage) {
                shader.text.push_str(line);
            }
        } else if current == "require" {
            pair.api = api(line).or(pair.api);
            version = required_version(line).or(version);
        }
    }
    if let Some(version) = version {
        for shader in [&mut pair.vertex, &mut pair.fragment].into_iter().flatten() {
            add_version(shader, &version);
        }
    }
    match (&pair.vertex, &pair.fragment) {
        (None, None) => Err(ShaderTestError::Empty(file.to_owned())),
        _ => Ok(ShaderPair { api: Some(pair.api.unwrap_or(Api::Gl)), ..pair }),
    }
}

fn slot(pair: &mut ShaderPair, stage: Stage) -> &mut Option<Shader> {
    match stage {
        Stage::Vertex => &mut pair.vertex,
        Stage::Fragment => &mut pair.fragment,
    }
}

/// Returns what follows `#version` for a line of `[require]`: `GLSL >= 1.20`, `GLSL ES >= 1.00`.
fn required_version(line: &str) -> Option<String> {
    let rest = line.trim().strip_prefix("GLSL")?;
    let (is_es, rest) = match rest.trim_start().strip_prefix("ES") {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let (major, minor) = rest.trim_start_matches([' ', '>', '=']).trim().split_once('.')?;
    let number = format!("{major}{minor}");
    let is_number = number.chars().all(|c| c.is_ascii_digit());
    // The first versions are those of texts without a `#version`.
    let says = if is_es { number != "100" } else { number != "110" };
    (is_number && says).then(|| number + if is_es { " es" } else { "" })
}

/// Gives a text without a `#version` the one that `[require]` names, as piglit's runner does. Lines keep their numbers in the file.
fn add_version(shader: &mut Shader, version: &str) {
    let has_version = shader.text.contains("#version") || r500::compile::is_assembly(&shader.text);
    if has_version || shader.first_line < 2 {
        return;
    }
    shader.text.insert_str(0, &format!("#version {version}\n"));
    shader.first_line -= 1;
}

/// Returns the API that a line of `[require]` names.
fn api(line: &str) -> Option<Api> {
    let mut words = line.split_whitespace();
    match (words.next()?, words.next()?) {
        ("GL" | "GLSL", "ES") => Some(Api::Es),
        ("GL" | "GLSL", _) => Some(Api::Gl),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn sections_keep_their_lines() {
        let text = "[require]\nGLSL ES >= 1.00\n\n[vertex shader]\nv1\nv2\n[fragment shader]\nf1\n[test]\ndraw rect -1 -1 2 2\n";
        let pair = parse("a.shader_test", text).unwrap();
        let (vertex, fragment) = (pair.vertex.unwrap(), pair.fragment.unwrap());
        assert_eq!((vertex.text.as_str(), vertex.first_line), ("v1\nv2\n", 5));
        assert_eq!((fragment.text.as_str(), fragment.first_line), ("f1\n", 8));
        assert_eq!(pair.api, Some(Api::Es));
        assert!(is_shader_test(text));
    }

    #[test]
    fn programs_in_assembly_are_shaders_without_a_version() {
        let text = "[require]\nGLSL >= 1.20\n[fragment program]\n!!ARBfp1.0\nEND\n";
        let pair = parse("a", text).unwrap();
        assert!(pair.has_assembly());
        let fragment = pair.fragment.unwrap();
        assert_eq!((fragment.text.as_str(), fragment.first_line), ("!!ARBfp1.0\nEND\n", 4));
    }

    #[test]
    fn the_required_version_is_added() {
        let text = "[require]\nGLSL >= 1.20\n[fragment shader]\nvoid main() {}\n";
        let fragment = parse("a", text).unwrap().fragment.unwrap();
        assert_eq!(
            (fragment.text.as_str(), fragment.first_line),
            ("#version 120\nvoid main() {}\n", 3)
        );
        for (line, version) in [
            ("GLSL >= 1.10", None),
            ("GLSL ES >= 3.00", Some("300 es")),
            ("GLSL >= 1.30", Some("130")),
            ("GL >= 2.0", None),
        ] {
            assert_eq!(required_version(line).as_deref(), version, "{line}");
        }
        let twice = "[vertex shader]\n[vertex shader]\n";
        assert!(matches!(parse("a", twice), Err(ShaderTestError::Second { line: 2, .. })));
    }

    #[test]
    fn other_stages_are_refused() {
        let error = parse("a", "[require]\nGLSL >= 1.50\n[geometry shader]\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "a:3: [geometry shader]: the chip has vertex and fragment programs only"
        );
        assert!(matches!(parse("a", "[test]\n"), Err(ShaderTestError::Empty(_))));
    }

    #[test]
    fn the_passthrough_stage_is_a_vertex_shader() {
        let pair =
            parse("a", "[vertex shader passthrough]\n[fragment shader]\nvoid main() {}\n").unwrap();
        assert!(pair.vertex.unwrap().text.contains("piglit_vertex"));
        assert_eq!(pair.api, Some(Api::Gl));
    }
}
