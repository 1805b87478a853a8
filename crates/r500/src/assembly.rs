//! Assembly from files: what a source includes, and the textures it names, found beside it.
//!
//! `r500-asm` opens no files. This module does: included files are looked for beside the file that
//! includes them and then along a search path, texture files beside the file that names them.

use std::path::{Path, PathBuf};

use r500_asm::{Assembly, Loaded, Options, TextureRequest, TextureSource};
use r500_isa::values::LayerFilter;
use r500_program::Job;

use crate::texture::{Mips, Source, TextureError, TextureSpec};

/// Why a job cannot be made of an assembly.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AssemblyError {
    /// The source has errors; this is the report of all of them.
    #[error("{0}")]
    Source(String),
    /// A texture that the source names cannot be had.
    #[error("{file}:{line}: tex[{unit}]: {error}")]
    Texture {
        /// The file that names it.
        file: String,
        /// Where.
        line: u32,
        /// Its unit.
        unit: u8,
        /// What is wrong.
        #[source]
        error: TextureError,
    },
}

/// Assembles a source. `path` is the file it comes from: included files are looked for beside it,
/// then in the `search` folders. Textures in files are not loaded yet; [`load_textures`] does.
#[must_use]
pub fn assemble(source: &[u8], path: Option<&Path>, search: &[PathBuf]) -> Assembly {
    let mut load = |wanted: &str, from: &str| find(wanted, from, search);
    let name = path.map_or_else(|| STDIN.to_owned(), |path| path.display().to_string());
    let options = Options { name: &name, loader: Some(&mut load), ..Options::default() };
    r500_asm::assemble(source, options)
}

/// The job of a source with its textures.
///
/// # Errors
/// [`AssemblyError`]: all errors of the source, or the first texture that cannot be loaded.
pub fn job(source: &[u8], path: Option<&Path>) -> Result<Job, AssemblyError> {
    let mut assembly = assemble(source, path, &[]);
    if !assembly.is_ok() {
        let text = assembly.render(r500_asm::RenderOptions::default());
        return Err(AssemblyError::Source(text.trim_end().to_owned()));
    }
    load_textures(&mut assembly)?;
    if assembly.job.name.is_empty() {
        let stem = path.and_then(Path::file_stem);
        assembly.job.name =
            stem.map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    }
    Ok(assembly.job)
}

/// Loads the texture files that an assembly names into its job.
///
/// # Errors
/// [`AssemblyError::Texture`], the first that cannot be loaded.
pub fn load_textures(assembly: &mut Assembly) -> Result<(), AssemblyError> {
    for request in std::mem::take(&mut assembly.textures) {
        load_texture(&mut assembly.job, &request, folder(assembly.files.name(request.span)))
            .map_err(|error| AssemblyError::Texture {
                file: assembly.files.name(request.span).to_owned(),
                line: assembly.files.position(request.span).line,
                unit: request.unit,
                error,
            })?;
    }
    Ok(())
}

const STDIN: &str = "<stdin>";

fn load_texture(
    job: &mut Job,
    request: &TextureRequest,
    folder: &Path,
) -> Result<(), TextureError> {
    let unit = usize::from(request.unit);
    let Some(Some(texture)) = job.textures.get_mut(unit) else { return Ok(()) };
    let path = folder.join(&request.path);
    match request.source {
        TextureSource::Level { level } => {
            let bytes = std::fs::read(&path)
                .map_err(|error| TextureError::Read { path: path.clone(), error })?;
            if let Some(level) = texture.levels.get_mut(level) {
                level.bytes = bytes;
            }
        }
        TextureSource::Picture => {
            let mut spec = TextureSpec::new(Source::File(path));
            // Filters between levels need levels.
            if texture.filter0.mip_filter() != LayerFilter::NONE {
                spec.mips = Mips::Make;
            }
            let mut loaded = spec.load(Path::new(""))?;
            loaded.filter0 = texture.filter0;
            loaded.filter1 = texture.filter1;
            loaded.border_color = texture.border_color;
            *texture = loaded;
        }
    }
    Ok(())
}

/// An included file: beside the one that includes it, or in a folder of the search path.
fn find(wanted: &str, from: &str, search: &[PathBuf]) -> Result<Loaded, String> {
    let mut tried = Vec::new();
    let beside = std::iter::once(folder(from));
    for folder in beside.chain(search.iter().map(PathBuf::as_path)) {
        let path = folder.join(wanted);
        match std::fs::read(&path) {
            Ok(bytes) => {
                let name = path.canonicalize().unwrap_or_else(|_| path.clone());
                return Ok(Loaded { name: shortest(&name), bytes });
            }
            Err(error) => tried.push(format!("{}: {error}", path.display())),
        }
    }
    Err(tried.join("; "))
}

/// A name that is the same for the same file however it is reached, relative to the working folder
/// where that is possible.
fn shortest(canonical: &Path) -> String {
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    let relative = here.ok().and_then(|here| canonical.strip_prefix(here).ok().map(Path::to_owned));
    relative.unwrap_or_else(|| canonical.to_owned()).display().to_string()
}

/// The folder of a file.
fn folder(file: &str) -> &Path {
    if file == STDIN { Path::new("") } else { Path::new(file).parent().unwrap_or(Path::new("")) }
}
