//! Pairs of shaders in files and folders.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use r500::files::{self as guard, MAX_TEXT};
use r500_mesa::shader::{self, Shader, ShaderPair, Stage};

use crate::command::exit::{Failure, Outcome};
use crate::command::input_file;

/// Returns the pairs of the given files, and of those in given folders.
pub(in crate::command) fn pairs(paths: &[PathBuf]) -> Outcome<Vec<ShaderPair>> {
    let mut files = Vec::new();
    for path in paths {
        match path.is_dir() {
            true => files.extend(in_folder(path)?.into_iter().map(|file| (file, true))),
            false => files.push((path.clone(), false)),
        }
    }
    let mut skipped = 0;
    let mut shaders = Vec::new();
    let mut pairs = Vec::new();
    for (file, found) in &files {
        let text = input_file::text(file)?;
        let name = input_file::show(file);
        if is_shader_test(file, &text) {
            match ShaderPair::of_shader_test(&name, &text) {
                Ok(pair) => pairs.push(pair),
                // Folders of tests have other stages and languages, too.
                Err(_) if *found => skipped += 1,
                Err(error) => return Err(Failure::input(error)),
            }
        } else {
            let stage = shader::stage_of_name(file).unwrap_or_else(|| shader::stage_of_text(&text));
            shaders.push((file.clone(), stage, Shader::of_file(name, text)));
        }
    }
    input_file::note_skipped(skipped, "of other stages and languages");
    pairs.extend(matched(shaders)?);
    if pairs.is_empty() {
        let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
        return Err(Failure::input(anyhow::anyhow!(
            "no shader in {}: .frag, .vert, .glsl, .fp, .vp and .shader_test are read",
            paths.join(", ")
        )));
    }
    Ok(pairs)
}

/// Returns the pair of a text in a file, if the text is GLSL or a pair of piglit's.
pub(in crate::command) fn pair_of_text(file: &Path, text: &str) -> Outcome<Option<ShaderPair>> {
    let name = input_file::show(file);
    if is_shader_test(file, text) {
        return ShaderPair::of_shader_test(&name, text).map(Some).map_err(Failure::input);
    }
    if !shader::is_glsl(text) {
        return Ok(None);
    }
    let stage = shader::stage_of_name(file).unwrap_or_else(|| shader::stage_of_text(text));
    let shader = Some(Shader::of_file(name.clone(), text));
    let (vertex, fragment) = match stage {
        Stage::Vertex => (shader, None),
        Stage::Fragment => (None, shader),
    };
    // A vertex shader of the same name in the folder is the one that the author has for it.
    let vertex = match (&fragment, vertex) {
        (Some(_), None) if !input_file::is_stdin(file) => partner(file),
        (_, vertex) => vertex,
    };
    Ok(Some(ShaderPair { name, vertex, fragment, api: None }))
}

/// Returns the vertex shader next to a fragment shader: `a.vert` for `a.frag`.
fn partner(file: &Path) -> Option<Shader> {
    let path = [("frag", "vert"), ("fs", "vs"), ("fsh", "vsh"), ("fp", "vp"), ("arbfp", "arbvp")]
        .iter()
        .find(|(fragment, _)| file.extension().is_some_and(|extension| extension == *fragment))
        .map(|(_, vertex)| file.with_extension(vertex))?;
    let text = guard::read_text(&path, MAX_TEXT).ok()?;
    Some(Shader::of_file(path.display().to_string(), text))
}

fn is_shader_test(file: &Path, text: &str) -> bool {
    let named = file.extension().is_some_and(|extension| extension == "shader_test");
    named || (text.trim_start().starts_with('[') && shader::is_shader_test(text))
}

/// Returns the files of a folder that are shaders by their names.
fn in_folder(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let wanted = |path: &Path| {
        let name = path.to_string_lossy().to_ascii_lowercase();
        // `.vs.asm` and the like are programs.
        shader::stage_of_name(path).is_some()
            || name.ends_with(".glsl")
            || name.ends_with(".shader_test")
    };
    let walked = guard::walk(folder, &wanted);
    walked.map_err(|(path, error)| input_file::cannot_read(&path, error))
}

/// Makes pairs of shaders: by the name of the file without its extension, or two of different stages.
fn matched(shaders: Vec<(PathBuf, Stage, Shader)>) -> Outcome<Vec<ShaderPair>> {
    if let [(_, first, _), (_, second, _)] = shaders.as_slice()
        && first != second
    {
        let mut pair = ShaderPair { name: String::new(), vertex: None, fragment: None, api: None };
        for (_, stage, shader) in shaders {
            put(&mut pair, stage, shader)?;
        }
        return Ok(vec![pair]);
    }
    let mut pairs: BTreeMap<PathBuf, ShaderPair> = BTreeMap::new();
    for (file, stage, shader) in shaders {
        let key = file.with_file_name(stem(&file));
        let empty = || ShaderPair { name: String::new(), vertex: None, fragment: None, api: None };
        put(pairs.entry(key).or_insert_with(empty), stage, shader)?;
    }
    Ok(pairs.into_values().collect())
}

/// Returns the name of a file without the extensions of shaders.
fn stem(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = name.strip_suffix(".glsl").map(str::to_owned).unwrap_or(name);
    match Path::new(&name).file_stem() {
        Some(stem) if shader::stage_of_name(Path::new(&name)).is_some() => {
            stem.to_string_lossy().into_owned()
        }
        _ => name,
    }
}

fn put(pair: &mut ShaderPair, stage: Stage, shader: Shader) -> Outcome<()> {
    let slot = match stage {
        Stage::Vertex => &mut pair.vertex,
        Stage::Fragment => &mut pair.fragment,
    };
    if let Some(other) = slot {
        let (first, second) = (&other.file, &shader.file);
        return Err(Failure::usage(format!(
            "{first} and {second} are two {stage} shaders of one name"
        )));
    }
    // The fragment shader names the pair.
    if stage == Stage::Fragment || pair.name.is_empty() {
        pair.name.clone_from(&shader.file);
    }
    *slot = Some(shader);
    Ok(())
}

/// Returns the name of a pair's files in a folder of outputs.
pub(in crate::command) fn file_name(name: &str) -> String {
    let stem = stem(Path::new(name));
    stem.strip_suffix(".shader_test").map(str::to_owned).unwrap_or(stem)
}
