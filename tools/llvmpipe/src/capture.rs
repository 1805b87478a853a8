//! A measured shader: a GLSL source and the R500 program that a driver compiled from it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use r500::formats::Limits;
use r500::program::{InputData, Job};
use serde::Deserialize;

/// A shader in both of its forms.
pub(crate) struct Capture {
    /// The GLSL source.
    pub(crate) source: String,
    /// The R500 program with its state, inputs and textures.
    pub(crate) job: Job,
    /// The values of the source's uniforms.
    pub(crate) uniforms: Vec<Uniform>,
    /// The source's samplers and the units of the job that hold their textures.
    pub(crate) samplers: Vec<(String, usize)>,
}

/// A uniform and its value.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub(crate) struct Uniform {
    /// Its name in the source.
    pub(crate) name: String,
    /// `1f` to `4f`, `1i` to `4i`, as in `glUniform`.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// Its components.
    pub(crate) value: Vec<f32>,
}

/// A varying of the source.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Varying {
    /// Its name.
    pub(crate) name: String,
    /// Number of components, 1 to 4.
    pub(crate) components: usize,
}

/// The contents of the JSON besides the job.
#[derive(Deserialize)]
struct Description {
    #[serde(default)]
    uniforms: Vec<Uniform>,
    #[serde(default)]
    textures: Vec<Named>,
    #[serde(default)]
    bound_textures: Vec<Bound>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
struct Bound {
    unit: usize,
    /// The sampler to which the uploaded texture belongs.
    matches_upload: Option<String>,
}

/// Returns the names of the pairs NAME.frag and NAME.json of a folder, in order.
///
/// # Errors
/// If the folder cannot be read.
pub(crate) fn names(folder: &Path) -> Result<Vec<String>> {
    let with_program = |path: &PathBuf| path.with_extension("json").is_file();
    let sources = files(folder, "frag")?;
    let names = sources.iter().filter(|path| with_program(path));
    let mut names: Vec<String> =
        names.filter_map(|path| path.file_stem()?.to_str()).map(str::to_owned).collect();
    names.sort();
    Ok(names)
}

/// Returns the files of a folder with an extension, in order.
fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.with_context(|| folder.display().to_string())?.path();
        if path.extension().is_some_and(|own| own == extension) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Returns the programs of all JSON files of a folder whose names contain one of the filters, in order. Files of another
/// kind are left out.
///
/// # Errors
/// If a file cannot be read.
pub(crate) fn jobs(folder: &Path, filters: &[String]) -> Result<Vec<(String, Job)>> {
    let mut jobs = Vec::new();
    for path in files(folder, "json")? {
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        if !filters.is_empty() && !filters.iter().any(|filter| name.contains(filter)) {
            continue;
        }
        let bytes = fs::read(&path).with_context(|| path.display().to_string())?;
        if let Ok(read) = r500::reader::read(&bytes, None, None, &Limits::default()) {
            jobs.extend(
                read.into_iter()
                    .enumerate()
                    .map(|(n, job)| (format!("{name} {n} {}", job.name), job)),
            );
        }
    }
    Ok(jobs)
}

impl Capture {
    /// Reads a pair of files.
    ///
    /// # Errors
    /// What cannot be read or parsed.
    pub(crate) fn read(folder: &Path, name: &str) -> Result<Self> {
        let source = fs::read_to_string(folder.join(format!("{name}.frag")))
            .with_context(|| format!("{name}.frag"))?;
        let file = format!("{name}.json");
        let json = fs::read(folder.join(&file)).with_context(|| file.clone())?;
        Self::parse(source, &json).context(file)
    }

    fn parse(source: String, json: &[u8]) -> Result<Self> {
        let mut jobs = r500::reader::read(json, None, None, &Limits::default())?;
        let (Some(job), true) = (jobs.pop(), jobs.is_empty()) else {
            bail!("wanted is one program, not {}", jobs.len());
        };
        let description: Description = serde_json::from_slice(json)?;
        let samplers = description.samplers()?;
        Ok(Self { source, job, uniforms: description.uniforms, samplers })
    }

    /// Returns whether the source is for desktop OpenGL rather than OpenGL ES.
    pub(crate) fn is_desktop(&self) -> bool {
        is_desktop(&self.source)
    }

    /// Returns the values of a varying at the vertices of the triangle with the clip coordinates
    /// (-1, -1), (3, -1), (-1, 3). Components that the R500 program does not read are 0.
    pub(crate) fn at_vertices(&self, varying: &Varying) -> [[f32; 4]; 3] {
        let mut values = [[0.0; 4]; 3];
        let inputs = self.job.inputs.iter().flatten();
        let components = inputs.filter_map(|input| match &input.data {
            InputData::Planes(components) => Some(components),
            InputData::Values { .. } => None,
        });
        for component in components.flatten() {
            for channel in component.name.split('|').filter_map(|n| channel_of(n, &varying.name)) {
                let plane = component.plane;
                values[0][channel] = plane.c;
                values[1][channel] = plane.c + 2.0 * plane.du;
                values[2][channel] = plane.c + 2.0 * plane.dv;
            }
        }
        values
    }
}

impl Description {
    /// Returns which sampler reads which unit: as the capture matched by texels, otherwise in
    /// order.
    fn samplers(&self) -> Result<Vec<(String, usize)>> {
        self.bound_textures
            .iter()
            .map(|Bound { unit, matches_upload }| {
                let in_order = || self.textures.get(*unit).map(|texture| texture.name.clone());
                let name = matches_upload.clone().or_else(in_order);
                let name = name.with_context(|| format!("texture unit {unit} has no sampler"))?;
                Ok((name, *unit))
            })
            .collect()
    }
}

/// Returns the channel of a varying that `NAME.x` names.
fn channel_of(component: &str, varying: &str) -> Option<usize> {
    match component.split_once('.') {
        Some((name, "x")) if name == varying => Some(0),
        Some((name, "y")) if name == varying => Some(1),
        Some((name, "z")) if name == varying => Some(2),
        Some((name, "w")) if name == varying => Some(3),
        None if component == varying => Some(0),
        _ => None,
    }
}

fn is_desktop(source: &str) -> bool {
    source.lines().any(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        match words[..] {
            ["//@", "api", api] => api == "gl",
            ["#version", version] => version != "100",
            _ => false,
        }
    })
}

/// Returns the varyings that a source declares.
///
/// # Errors
/// A varying whose type is not a float or a vector of floats.
pub(crate) fn varyings(source: &str) -> Result<Vec<Varying>> {
    let code: String = source
        .lines()
        .map(|line| line.split_once("//").map_or(line, |(code, _)| code))
        .flat_map(|line| [line, "\n"])
        .collect();
    let mut varyings = Vec::new();
    for statement in code.split([';', '{', '}', '\n']) {
        let mut words = statement.split_whitespace();
        if words.next() != Some("varying") {
            continue;
        }
        let mut words = words.filter(|word| !matches!(*word, "highp" | "mediump" | "lowp"));
        let components = match words.next() {
            Some("float") => 1,
            Some("vec2") => 2,
            Some("vec3") => 3,
            Some("vec4") => 4,
            other => bail!("a varying of type `{}`", other.unwrap_or_default()),
        };
        let names: String = words.collect();
        for name in names.split(',') {
            if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                bail!("a varying `{name}`");
            }
            varyings.push(Varying { name: name.to_owned(), components });
        }
    }
    Ok(varyings)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn corpus() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/mesa"))
    }

    #[test]
    fn the_corpus_is_understood() {
        let names = names(corpus()).unwrap();
        assert!(names.len() >= 53);
        for name in names {
            let capture = Capture::read(corpus(), &name).unwrap();
            let textures = capture.job.textures.iter().flatten().count();
            assert_eq!(capture.samplers.len(), textures, "{name}");
            assert!(!varyings(&capture.source).unwrap().is_empty(), "{name}");
        }
    }

    #[test]
    fn varyings_reach_the_vertices() {
        let capture = Capture::read(corpus(), "alu_basic").unwrap();
        let found = varyings(&capture.source).unwrap();
        let wanted = [("uv", 2), ("vc", 4)];
        assert!(found.iter().map(|v| (v.name.as_str(), v.components)).eq(wanted));
        // The vertex values in the file.
        assert_eq!(
            capture.at_vertices(&found[0]),
            [[0.0; 4], [2.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0]]
        );
        assert_eq!(
            capture.at_vertices(&found[1]),
            [[-1.0, -1.0, 0.25, 0.0], [3.0, -1.0, 1.25, -2.0], [-1.0, 3.0, -1.75, 3.0]]
        );
        assert_eq!(capture.uniforms.len(), 1);
        assert_eq!((capture.uniforms[0].kind.as_str(), capture.uniforms[0].value.len()), ("4f", 4));
    }

    #[test]
    fn declarations_are_found() {
        let source = "// varying vec2 no;\nvarying highp vec3 a, b; varying float c; // varying\n\
                      void main() { float varying_; }\n varying lowp\nvec2 d;";
        // A declaration over two lines is not parsed: it is an error, not a wrong picture.
        assert!(varyings(source).is_err());
        let found = varyings(source.rsplit_once("varying").unwrap().0).unwrap();
        let found: Vec<_> = found.iter().map(|v| (v.name.as_str(), v.components)).collect();
        assert_eq!(found, [("a", 3), ("b", 3), ("c", 1)]);
        assert!(varyings("varying mat3 m;").is_err());
        assert!(varyings("varying vec2 a[3];").is_err());
    }

    #[test]
    fn the_api_is_told_by_the_source() {
        assert!(is_desktop("#version 120\nvoid main() {}"));
        assert!(is_desktop("//@ api gl"));
        assert!(!is_desktop("precision highp float;"));
        assert!(!is_desktop("#version 100"));
        assert!(!is_desktop("#version 300 es"));
    }
}
