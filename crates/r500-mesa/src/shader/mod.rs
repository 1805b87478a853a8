//! Shaders as people have them: files of GLSL, and pairs in a `.shader_test`.
//!
//! | module | content |
//! | --- | --- |
//! | this one | the pair, and which of the two APIs it is for |
//! | `shader_test` | piglit's files, which `MESA_SHADER_CAPTURE_PATH` writes, too |
//! | `interface` | declarations of varyings; the stage that a lone shader needs |
//! | `toy` | `mainImage` of ShaderToy |

mod interface;
mod shader_test;
mod toy;

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

#[cfg(target_os = "linux")]
pub(crate) use interface::POSITION;
pub use interface::{Made, Unknown as UnknownInterface};
pub use shader_test::{ShaderTestError, is_shader_test};
pub(crate) use toy::PREFIX;

/// A stage of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Vertex shaders.
    Vertex,
    /// Fragment shaders.
    Fragment,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Vertex => "vertex",
            Self::Fragment => "fragment",
        })
    }
}

/// Which OpenGL compiles a pair: they accept other texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Api {
    /// OpenGL ES 2: `#version 100`, or no version and a `precision` statement.
    Es,
    /// OpenGL with the compatibility profile: all other texts.
    Gl,
}

/// The text of a shader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shader {
    /// The file that it is in, as messages call it.
    pub file: String,
    /// The GLSL.
    pub text: String,
    /// The line of the file that the first line of the text is in, from 1.
    pub first_line: u32,
}

/// A vertex and a fragment shader that are linked; one of them may be missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShaderPair {
    /// What messages and outputs call it.
    pub name: String,
    /// The vertex shader.
    pub vertex: Option<Shader>,
    /// The fragment shader.
    pub fragment: Option<Shader>,
    /// The API, if the file names it.
    pub api: Option<Api>,
}

/// What is wrong with the text of a pair.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShaderError {
    /// A `.shader_test` that is none.
    #[error(transparent)]
    ShaderTest(#[from] ShaderTestError),
    /// The other stage cannot be made.
    #[error(transparent)]
    Interface(#[from] UnknownInterface),
}

/// Returns whether a text is GLSL (outside of comments it defines `main` or `mainImage`), or a program of the assembly languages of OpenGL.
#[must_use]
pub fn is_glsl(text: &str) -> bool {
    r500::compile::stage_of(text).is_some()
}

/// Returns the stage that a file name stands for: `.frag` and `.fs` of fragment shaders, `.vert` and `.vs` of vertex shaders, before
/// `.glsl`, too; `.fp`, `.arbfp`, `.vp` and `.arbvp` of programs.
#[must_use]
pub fn stage_of_name(path: &Path) -> Option<Stage> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".glsl").unwrap_or(&name);
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    if ends(&[".frag", ".fs", ".fsh", ".fragment", ".fp", ".arbfp"]) {
        Some(Stage::Fragment)
    } else if ends(&[".vert", ".vs", ".vsh", ".vertex", ".vp", ".arbvp"]) {
        Some(Stage::Vertex)
    } else {
        None
    }
}

/// Returns the stage of a text without a name that says it: that of a vertex shader writes `gl_Position`.
#[must_use]
pub fn stage_of_text(text: &str) -> Stage {
    match r500::compile::stage_of(text) {
        Some(r500::compile::Stage::Vertex) => Stage::Vertex,
        Some(r500::compile::Stage::Fragment) | None => Stage::Fragment,
    }
}

impl Shader {
    /// Returns the shader of a file.
    #[must_use]
    pub fn of_file(file: impl Into<String>, text: impl Into<String>) -> Self {
        Self { file: file.into(), text: text.into(), first_line: 1 }
    }
}

/// The two texts that a driver gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complete {
    /// The API.
    pub api: Api,
    /// The vertex shader.
    pub vertex: String,
    /// The fragment shader.
    pub fragment: String,
    /// The stage that was made for the other one.
    pub made: Option<Stage>,
    /// Where a made vertex shader has its outputs from.
    pub varyings: Vec<Made>,
}

impl ShaderPair {
    /// Reads piglit's text format of a pair.
    ///
    /// # Errors
    /// If there is no shader in it, or one of another stage.
    pub fn of_shader_test(file: &str, text: &str) -> Result<Self, ShaderError> {
        Ok(shader_test::parse(file, text)?)
    }

    /// Returns whether a text of it is a program of the assembly languages of OpenGL, which the driver's compiler is not given.
    #[must_use]
    pub fn has_assembly(&self) -> bool {
        let texts = [&self.vertex, &self.fragment].into_iter().flatten();
        texts.into_iter().any(|shader| r500::compile::is_assembly(&shader.text))
    }

    /// Returns the API: the one that the file names, or the one that a text stands for.
    #[must_use]
    pub fn api(&self) -> Api {
        let stages = [&self.fragment, &self.vertex];
        let texts = stages.into_iter().flatten().map(|shader| shader.text.as_str());
        self.api.unwrap_or_else(|| api_of(texts))
    }

    /// Returns the texts of both stages. A fragment shader alone gets a vertex shader whose outputs are attributes, a vertex shader
    /// alone a fragment shader that reads all of its outputs; `mainImage` gets a `main` and the inputs of ShaderToy.
    ///
    /// # Errors
    /// If the other stage cannot be made, because the declarations of varyings are not understood.
    pub fn complete(&self) -> Result<Complete, ShaderError> {
        let toy = self.fragment.as_ref().filter(|shader| toy::is_toy(&shader.text));
        let api = if toy.is_some() { Api::Es } else { self.api() };
        let fragment = match toy {
            Some(shader) => Some(toy::with_main(&shader.text)),
            None => self.fragment.as_ref().map(|shader| shader.text.clone()),
        };
        let vertex = self.vertex.as_ref().map(|shader| shader.text.clone());
        Ok(match (vertex, fragment) {
            (Some(vertex), Some(fragment)) => {
                Complete { api, vertex, fragment, made: None, varyings: Vec::new() }
            }
            (None, fragment) => Complete::with_vertex(api, fragment.unwrap_or_default())?,
            (Some(vertex), None) => {
                let fragment = interface::fragment_for(&vertex, api)?;
                Complete {
                    api,
                    vertex,
                    fragment,
                    made: Some(Stage::Fragment),
                    varyings: Vec::new(),
                }
            }
        })
    }
}

impl Complete {
    /// Returns a fragment shader with a made vertex shader.
    ///
    /// # Errors
    /// If the declarations of varyings are not understood.
    pub fn with_vertex(api: Api, fragment: String) -> Result<Self, UnknownInterface> {
        let made = interface::vertex_for(&fragment)?;
        Ok(Self {
            api,
            vertex: made.text,
            fragment,
            made: Some(Stage::Vertex),
            varyings: made.varyings,
        })
    }
}

/// Returns the API that texts are for.
fn api_of<'a>(texts: impl Iterator<Item = &'a str>) -> Api {
    let mut has_precision = false;
    for text in texts {
        let clean = interface::without_comments(text);
        if let Some(version) = interface::version(&clean) {
            return match version.number == 100 || version.is_es {
                true => Api::Es,
                false => Api::Gl,
            };
        }
        has_precision |= interface::mentions(&clean, "precision");
    }
    if has_precision { Api::Es } else { Api::Gl }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn fragment(text: &str) -> ShaderPair {
        let fragment = Some(Shader::of_file("a.frag", text));
        ShaderPair { name: "a".to_owned(), vertex: None, fragment, api: None }
    }

    #[test]
    fn glsl_is_recognised_by_its_main() {
        assert!(is_glsl("void main() { gl_FragColor = vec4(1.0); }"));
        assert!(is_glsl("void mainImage(out vec4 c, in vec2 p) { c = vec4(p, 0, 1); }"));
        assert!(is_glsl("void\nmain (void)\n{\n}\n"));
        for other in
            ["// void main()", "int main() {}", "out[0].rgb = MAD ;", "", "void mainly() {}"]
        {
            assert!(!is_glsl(other), "{other}");
        }
    }

    #[test]
    fn names_say_the_stage() {
        for (name, stage) in [
            ("a.frag", Some(Stage::Fragment)),
            ("b/A.VERT", Some(Stage::Vertex)),
            ("a.frag.glsl", Some(Stage::Fragment)),
            ("a.glsl", None),
            ("a.r5", None),
        ] {
            assert_eq!(stage_of_name(Path::new(name)), stage, "{name}");
        }
        assert_eq!(stage_of_text("void main() { gl_Position = vec4(0.0); }"), Stage::Vertex);
        assert_eq!(stage_of_text("// gl_Position\nvoid main() { }"), Stage::Fragment);
    }

    #[test]
    fn the_api_follows_the_version_and_the_precision() {
        for (text, api) in [
            ("#version 100\nvoid main() {}", Api::Es),
            ("precision mediump float; void main() {}", Api::Es),
            ("# version 120\nvoid main() {}", Api::Gl),
            ("#version 300 es\nvoid main() {}", Api::Es),
            ("void main() {}", Api::Gl),
            ("// precision\nvoid main() {}", Api::Gl),
        ] {
            assert_eq!(fragment(text).api(), api, "{text}");
        }
    }

    #[test]
    fn a_lone_fragment_shader_gets_a_vertex_shader() {
        let complete = fragment(
            "precision highp float;\nvarying vec2 uv; varying highp vec4 a, b[2];\nvoid main() { varying_(); }",
        )
        .complete()
        .unwrap();
        assert_eq!((complete.api, complete.made), (Api::Es, Some(Stage::Vertex)));
        for part in [
            "varying vec2 uv;",
            "varying highp vec4 a, b[2];",
            "uv = r500_0.xy;",
            "a = r500_1.xyzw;",
            "b[0] = ",
            "b[1] = ",
        ] {
            assert!(complete.vertex.contains(part), "{part} in {}", complete.vertex);
        }
        assert!(!complete.vertex.contains("b[2] ="), "{}", complete.vertex);
    }
}
