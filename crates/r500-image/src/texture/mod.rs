//! Textures from files (pictures, DDS, KTX2, raw texels) and procedural textures.
//!
//! A [`TextureSpec`] is the text form (`brick.png,wrap=mirror`); loading it returns a [`Texture`]: registers and texels
//! as the card would have them. Compressed blocks stay compressed.

mod dds;
mod image;
mod ktx2;
mod memory;
mod procedural;
mod spec;
mod texel_format;

use std::path::{Path, PathBuf};

use r500_files::MAX_PICTURE;
use r500_program::Texture;

use crate::picture::{Picture, PictureError};

pub use image::Texels;
pub use memory::{TextureMemory, TextureTooLarge};
pub use spec::{Filter, Mips, Source, SpecError, TextureSpec};
pub use texel_format::{Components, Pixels};

pub use dds::decode_dds;
pub use ktx2::decode_ktx2;

/// Why a texture cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TextureError {
    /// A file that cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        error: std::io::Error,
    },
    /// A file that is not a valid picture.
    #[error("{}: {error}", path.display())]
    Picture {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        error: PictureError,
    },
    /// A file that is not a valid texture, or has a format that the card cannot sample.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The problem.
        error: FileError,
    },
    /// An invalid texture.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// A texture above the memory limit.
    #[error(transparent)]
    Memory(#[from] TextureTooLarge),
}

/// Errors in a texture file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// An unknown file format.
    #[error("this is no PNG, DDS or KTX2 file; texels without a header need `raw:` and a size")]
    Unknown,
    /// A truncated file: which part is missing.
    #[error("the file ends inside {0}; it is cut off")]
    Truncated(&'static str),
    /// An inconsistent header.
    #[error("{0}")]
    Header(&'static str),
    /// A format that the card does not support.
    #[error("the format {0} is not one that this card can sample; {1}")]
    Format(String, &'static str),
}

/// Errors in a texture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// A size that does not fit the registers.
    #[error("a texture of {width}x{height} is out of range: width and height go from 1 to 4096")]
    Size {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
    },
    /// A depth that does not fit the registers.
    #[error("a volume of depth {depth} is out of range: the depth is a power of two up to 4096")]
    Depth {
        /// Its depth.
        depth: u32,
    },
    /// Cube faces that are not square.
    #[error("a cube face of {width}x{height} is not square")]
    Face {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
    },
    /// A number of bytes that does not match the size.
    #[error("{what} takes {wanted} bytes, {given} are given")]
    Bytes {
        /// What is too short or too long.
        what: String,
        /// Required bytes.
        wanted: u64,
        /// Given bytes.
        given: u64,
    },
    /// A required size or format that is not given.
    #[error("raw texels need `size=WxH` and `format=…` (such as 8_8_8_8 or 16f_16f)")]
    Unsized,
    /// Generated levels of a format other than uncompressed texels.
    #[error("levels are made of 8_8_8_8 texels of a flat or cube texture only; take `mips=stored`")]
    Mips,
    /// More levels than the size allows.
    #[error("the size has {most} levels, {given} are given")]
    Levels {
        /// Greatest number of levels for the size.
        most: u32,
        /// Given levels.
        given: usize,
    },
    /// A border colour that cannot be converted to the texture's format.
    #[error("`border=#rrggbbaa` is for 8-bit RGBA texels; give the dword itself (`border=0x…`)")]
    Border,
}

impl TextureSpec {
    /// Loads the texture; relative paths start at `folder`.
    ///
    /// Pictures (PNG) and procedural textures have their bottom at v = 0. DDS, KTX2 and raw files keep their order: the
    /// first row is at v = 0.
    ///
    /// # Errors
    /// [`TextureError`], naming the file.
    pub fn load(&self, folder: &Path) -> Result<Texture, TextureError> {
        self.load_with(&|path| r500_files::read(path, MAX_PICTURE), folder)
    }

    /// Loads the texture, with a function that returns the bytes of files.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_with(
        &self,
        read: &dyn Fn(&Path) -> std::io::Result<Vec<u8>>,
        folder: &Path,
    ) -> Result<Texture, TextureError> {
        self.load_within(read, folder, &mut TextureMemory::default())
    }

    /// Loads the texture within a memory limit, and counts it.
    ///
    /// # Errors
    /// As [`load`](Self::load), and [`TextureError::Memory`], for pictures and procedural textures before they are
    /// decoded or generated.
    pub fn load_within(
        &self,
        read: &dyn Fn(&Path) -> std::io::Result<Vec<u8>>,
        folder: &Path,
        memory: &mut TextureMemory,
    ) -> Result<Texture, TextureError> {
        let bytes = |path: &Path| {
            let path = folder.join(path);
            match read(&path) {
                Ok(bytes) => Ok((path, bytes)),
                Err(error) => Err(TextureError::Read { path, error }),
            }
        };
        let texels = match &self.source {
            Source::File(path) => {
                let (path, bytes) = bytes(path)?;
                file_texels(&path, &bytes, self, memory)?
            }
            Source::Raw(path) => {
                let (path, bytes) = bytes(path)?;
                let pixels = self.format.clone().ok_or(ImageError::Unsized)?;
                let [width, height, depth] = self.size.ok_or(ImageError::Unsized)?;
                let length = bytes.len() as u64;
                memory.take(&path.display().to_string(), [width, height], length)?;
                let shape = self.shape([width, height, depth]);
                Texels::from_bytes(pixels, shape, [width, height, depth], &bytes)?
            }
            Source::Checker => {
                self.take_rgba(memory, "checker", self.flat_size())?;
                procedural::checker(self.flat_size(), self.cells, &self.colors)
            }
            Source::Gradient => {
                self.take_rgba(memory, "gradient", self.flat_size())?;
                procedural::gradient(self.flat_size())
            }
            Source::Noise => {
                self.take_rgba(memory, "noise", self.flat_size())?;
                procedural::noise(self.flat_size(), self.cells, self.seed)
            }
        };
        Ok(texels.bind(self)?)
    }

    /// Returns the path of its file, if it has one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match &self.source {
            Source::File(path) | Source::Raw(path) => Some(path),
            _ => None,
        }
    }

    /// Counts a texture with four bytes a texel and its generated levels.
    fn take_rgba(
        &self,
        memory: &mut TextureMemory,
        name: &str,
        size: [u32; 2],
    ) -> Result<(), TextureError> {
        // Larger sizes are rejected when the texture is bound.
        let [width, height] = size.map(|side| u64::from(side.min(image::MAX_SIDE)));
        let texels = 4 * width * height;
        let levels = if self.mips == Mips::Make { texels / 3 } else { 0 };
        Ok(memory.take(name, size, texels + levels)?)
    }

    fn flat_size(&self) -> [u32; 2] {
        self.size.map_or([64, 64], |[width, height, _]| [width, height])
    }
}

#[cfg(feature = "png")]
fn read_png(bytes: &[u8]) -> Result<Picture, PictureError> {
    crate::picture::decode_png(bytes)
}

#[cfg(feature = "png")]
fn png_size(bytes: &[u8]) -> Option<[u32; 2]> {
    crate::picture::png_size(bytes)
}

#[cfg(not(feature = "png"))]
fn png_size(_: &[u8]) -> Option<[u32; 2]> {
    None
}

#[cfg(not(feature = "png"))]
fn read_png(_: &[u8]) -> Result<Picture, PictureError> {
    Err(PictureError::NotBuilt { format: "PNG", feature: "png" })
}

fn file_texels(
    path: &Path,
    bytes: &[u8],
    spec: &TextureSpec,
    memory: &mut TextureMemory,
) -> Result<Texels, TextureError> {
    let name = path.display().to_string();
    let file_error = |error| TextureError::File { path: path.to_owned(), error };
    if bytes.starts_with(b"\x89PNG") {
        // Before decoding, because a small file can contain a large picture.
        if let Some([width, height]) = png_size(bytes) {
            if width.max(height) > image::MAX_SIDE {
                return Err(ImageError::Size { width, height }.into());
            }
            spec.take_rgba(memory, &name, [width, height])?;
        }
        let picture = read_png(bytes)
            .map_err(|error| TextureError::Picture { path: path.to_owned(), error })?;
        return Ok(Texels::from_picture(&picture, spec.flip.unwrap_or(true)));
    }
    let mut texels = if bytes.starts_with(dds::MAGIC) {
        decode_dds(bytes).map_err(file_error)?
    } else if bytes.starts_with(ktx2::MAGIC) {
        decode_ktx2(bytes).map_err(file_error)?
    } else {
        return Err(file_error(FileError::Unknown));
    };
    // These formats store texels as they are bound, so decoding takes no more memory than the file.
    let length = texels.levels.iter().map(|level| level.bytes.len() as u64).sum();
    let [width, height, _] = texels.size;
    memory.take(&name, [width, height], length)?;
    if spec.flip == Some(true) {
        texels.flip().map_err(file_error)?;
    }
    Ok(texels)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Almost valid headers, with random fields and truncation: every file is an error, or gives texels that can be
    /// bound or are rejected.
    #[test]
    fn no_file_is_too_odd() {
        let mut state = 1u64;
        let mut random = move |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        };
        let spec = TextureSpec::new(Source::Gradient);
        let mut bound = 0;
        for round in 0..20_000 {
            let dds = round % 2 == 0;
            let magic = if dds { dds::MAGIC } else { ktx2::MAGIC };
            let mut bytes = magic.to_vec();
            let length = random(600) as usize;
            bytes.resize(bytes.len().max(length), 0);
            // Small numbers in most fields, so that some headers are valid.
            for _ in 0..random(20) {
                let at = 4 * random(40) as usize;
                let value = if random(8) == 0 { random(1 << 32) } else { random(40) } as u32;
                if let Some(field) = bytes.get_mut(at..at + 4).filter(|_| at >= magic.len()) {
                    field.copy_from_slice(&value.to_le_bytes());
                }
            }
            if dds && bytes.len() > 80 && random(4) > 0 {
                bytes[4] = 124;
                bytes[76] = 32;
                bytes[80] = 4;
                let codes = [b"DXT1", b"DXT5", b"ATI1", b"DX10"];
                if bytes.len() >= 88 {
                    bytes[84..88].copy_from_slice(codes[random(4) as usize]);
                }
            }
            let texels = if dds { decode_dds(&bytes) } else { decode_ktx2(&bytes) };
            if let Ok(mut texels) = texels {
                // Rows of blocks cannot be flipped, which is an error.
                let _ = texels.flip();
                bound += usize::from(texels.bind(&spec).is_ok());
            }
        }
        assert!(bound > 50, "only {bound} files made sense");
    }
}
