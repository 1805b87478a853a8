//! Assembly sources with their included files and texture files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use r500_asm::{
    Assembly, IncludeLimits, Loaded, Options, RenderOptions, TextureRequest, TextureSource,
    assemble,
};
use r500_isa::texture::TxFormat1;
use r500_isa::values::LayerFilter;
use r500_program::{Job, Texture};

use super::ReadError;
use crate::files::{MAX_PICTURE, NamedFiles, parent};
use crate::texture::{ImageError, Mips, Source, TextureError, TextureMemory, TextureSpec};

/// Returns whether a file name is that of assembly.
pub(super) fn is_named_assembly(head: &[u8], name: Option<&str>) -> bool {
    let named = name.is_some_and(|name| {
        [".r5", ".asm"].iter().any(|extension| name.to_ascii_lowercase().ends_with(extension))
    });
    named && is_text(head)
}

/// Returns whether text without comments is assembly: it contains words that other formats do not.
pub(super) fn is_assembly(head: &[u8]) -> bool {
    if !is_text(head) {
        return false;
    }
    let text = String::from_utf8_lossy(head).to_ascii_lowercase();
    let lines = text.lines().map(|line| line.split_once("--").map_or(line, |(code, _)| code));
    let text = lines.collect::<Vec<_>>().join("\n");
    let words = ["src0.", "src1.", "src2.", "temp[", "out[", "const[", "tex[", "fc ", "raw "];
    // Statements of the language end with a semicolon, so prose about it is not recognised.
    let statement = text.contains(';') && words.iter().any(|word| text.contains(word));
    statement || text.contains("#include \"")
}

fn is_text(head: &[u8]) -> bool {
    let control = |b: &u8| *b < b' ' && !b"\t\n\r\x0c".contains(b);
    !head.iter().any(control)
}

/// Assembles a source called `name` with its included files, which are searched in the folder of the including file,
/// then along the search path. [`job`] loads the texture files.
#[must_use]
pub fn assemble_with_files(source: &[u8], name: &str, files: &NamedFiles) -> Assembly {
    assemble_within(source, name, files, &TextureMemory::default())
}

/// Assembles as [`assemble_with_files`], with a memory limit for procedural textures.
fn assemble_within(
    source: &[u8],
    name: &str,
    files: &NamedFiles,
    memory: &TextureMemory,
) -> Assembly {
    let mut names = HashMap::new();
    if let Ok(same) = std::fs::canonicalize(name) {
        names.insert(same, name.to_owned());
    }
    let mut loader = |path: &str, from: &str| load(path, from, files, &mut names);
    let max_texture_bytes = memory.texels();
    let options =
        Options { name, loader: Some(&mut loader), max_texture_bytes, ..Options::default() };
    assemble(source, options)
}

/// Returns the job of an assembly with its textures.
///
/// # Errors
/// [`ReadError::Assembly`] if it has errors, [`ReadError::Texture`] if a texture cannot be loaded.
pub fn job(assembly: &Assembly, files: &NamedFiles) -> Result<Job, ReadError> {
    let read = |path: &Path| files.read(path, MAX_PICTURE);
    job_with(assembly, Some(&read), TextureMemory::default())
}

/// Limit of diagnostics in the text of an error.
const MOST_SHOWN: usize = 100;

/// A function that returns the bytes of a file.
pub type ReadFile<'a> = &'a dyn Fn(&Path) -> std::io::Result<Vec<u8>>;

/// Returns the job of an assembly with texture files loaded by `read`; without `read`, naming one is an error. Its
/// textures are counted in `memory`.
///
/// # Errors
/// As [`job`], and [`ReadError::TextureMemory`].
pub fn job_with(
    assembly: &Assembly,
    read: Option<ReadFile<'_>>,
    mut memory: TextureMemory,
) -> Result<Job, ReadError> {
    if !assembly.is_ok() {
        let count = assembly.errors().count();
        let text = assembly.render_first(RenderOptions::default(), MOST_SHOWN);
        return Err(ReadError::Assembly { text: text.trim_end().to_owned(), count });
    }
    let too_large = |error| ReadError::TextureMemory { place: String::new(), error };
    memory.take_job(&assembly.job).map_err(too_large)?;
    let mut job = assembly.job.clone();
    if job.name.is_empty() {
        let name = assembly.files.list.first().map_or("", |file| &file.name);
        let stem = Path::new(name).file_stem().unwrap_or_default();
        job.name = stem.to_string_lossy().into_owned();
    }
    for request in &assembly.textures {
        fill(&mut job, request, assembly, read, &mut memory)?;
    }
    Ok(job)
}

/// Gives a job the textures that directives of assembly bind.
#[cfg(feature = "glsl")]
pub(super) fn bind_textures(
    directives: &str,
    name: &str,
    files: Option<&NamedFiles>,
    job: &mut Job,
) -> Result<(), ReadError> {
    const NOTHING: &str = "OUT LAST src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb ;";
    let text = format!("{directives}{NOTHING}");
    let memory = TextureMemory::default();
    let assembly = assembled(text.as_bytes(), Some(name), files, &memory);
    let read = files.map(|files| move |path: &Path| files.read(path, MAX_PICTURE));
    let read = read.as_ref().map(|read| -> ReadFile<'_> { read });
    let bound = job_with(&assembly, read, memory)?;
    for (slot, texture) in job.textures.iter_mut().zip(bound.textures) {
        if texture.is_some() {
            *slot = texture;
        }
    }
    job.live.extend(bound.live);
    Ok(())
}

/// Returns the files that an assembly includes or names, besides its own.
pub fn files(assembly: &Assembly) -> impl Iterator<Item = PathBuf> {
    let included = assembly.files.list.iter().skip(1).map(|file| PathBuf::from(&file.name));
    let textures = assembly.textures.iter();
    included.chain(
        textures.map(|request| relative_to(&request.path, assembly.files.name(request.span))),
    )
}

/// Assembles a source. With `files`, included files are read; without, including a file is an error.
pub(super) fn assembled(
    source: &[u8],
    name: Option<&str>,
    files: Option<&NamedFiles>,
    memory: &TextureMemory,
) -> Assembly {
    let name = name.unwrap_or("stdin");
    match files {
        Some(files) => assemble_within(source, name, files, memory),
        None => {
            let max_texture_bytes = memory.texels();
            assemble(source, Options { name, max_texture_bytes, ..Options::default() })
        }
    }
}

/// Reads an included file: relative to the including file, else along the search path.
fn load(
    path: &str,
    from: &str,
    files: &NamedFiles,
    names: &mut HashMap<PathBuf, String>,
) -> Result<Loaded, String> {
    let mut tried = Vec::new();
    let folders = files.search().iter().map(|folder| folder.join(path));
    for path in std::iter::once(relative_to(path, from)).chain(folders) {
        let real = files.resolve(&path);
        match real.and_then(|real| Ok((files.read(&path, IncludeLimits::default().bytes)?, real))) {
            Ok((bytes, real)) => {
                // Each file has one name, however it is reached, so that cycles are detected.
                let name = names.entry(real).or_insert(path.display().to_string()).clone();
                return Ok(Loaded { name, bytes });
            }
            Err(error) => tried.push(format!("{}: {error}", path.display())),
        }
    }
    Err(tried.join("; "))
}

fn relative_to(path: &str, from: &str) -> PathBuf {
    parent(Path::new(from)).join(path)
}

/// Stores the contents of texture files in the job.
fn fill(
    job: &mut Job,
    request: &TextureRequest,
    assembly: &Assembly,
    read: Option<ReadFile<'_>>,
    memory: &mut TextureMemory,
) -> Result<(), ReadError> {
    let from = assembly.files.name(request.span);
    let path = relative_to(&request.path, from);
    let place = || format!("{from}, line {}", assembly.files.position(request.span).line);
    let wrong = |message: String| ReadError::Texture { place: place(), message };
    let too_large = |error| ReadError::TextureMemory { place: place(), error };
    let Some(read) = read else {
        return Err(wrong(format!("`{}`: files are not available here", request.path)));
    };
    let Some(texture) = job.textures.get_mut(usize::from(request.unit)).and_then(Option::as_mut)
    else {
        return Ok(());
    };
    match request.source {
        TextureSource::Picture => {
            let mipmapped = texture.filter0.mip_filter() != LayerFilter::NONE;
            let loaded = picture(path, read, mipmapped, memory).map_err(|error| match error {
                TextureError::Memory(error) => too_large(error),
                error => wrong(error.to_string()),
            });
            take_picture(texture, loaded?);
        }
        TextureSource::Level { level } => {
            let bytes = read(&path)
                .map_err(|error| wrong(format!("cannot read {}: {error}", path.display())))?;
            if let Some(level) = texture.levels.get_mut(level) {
                let (name, length) = (path.display().to_string(), bytes.len() as u64);
                memory.take(&name, [level.width, level.height], length).map_err(too_large)?;
                level.bytes = bytes;
            }
        }
    }
    Ok(())
}

/// Loads a texture file. With `mipmapped`, missing levels of a file with only the finest one are generated.
fn picture(
    path: PathBuf,
    read: ReadFile<'_>,
    mipmapped: bool,
    memory: &mut TextureMemory,
) -> Result<Texture, TextureError> {
    let mut spec = TextureSpec::new(Source::File(path));
    let before = *memory;
    let texture = spec.load_within(read, Path::new(""), memory)?;
    if !mipmapped || texture.levels.len() > 1 {
        return Ok(texture);
    }
    spec.mips = Mips::Make;
    let mut with_levels = before;
    match spec.load_within(read, Path::new(""), &mut with_levels) {
        // Levels of other formats cannot be generated: only the finest one is used.
        Err(TextureError::Image(ImageError::Mips)) => Ok(texture),
        made => {
            *memory = with_levels;
            made
        }
    }
}

/// Takes size, format and levels from the file. The sampler state is already set.
fn take_picture(texture: &mut Texture, loaded: Texture) {
    let gamma = texture.format1.gamma() || loaded.format1.gamma();
    texture.format0 = loaded.format0;
    texture.format1 = loaded.format1.with(TxFormat1::GAMMA, gamma);
    texture.format2 = loaded.format2;
    texture.levels = loaded.levels;
}
