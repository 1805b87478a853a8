//! Output of pictures: files and formats.

use std::io::Write;
use std::path::{Path, PathBuf};

use r500::exec::{Frame, output};
use r500::picture::{ExrLayer, Picture, PictureError, PngCompression, encode_exr, encode_png_with};
use r500::program::State;

use crate::command::exit::{Failure, Outcome};
use crate::command::input_args;
use crate::command::output_file::{self, put, put_group};

/// Names of the render targets.
pub(super) const LETTERS: [&str; 4] = ["A", "B", "C", "D"];

/// A plane of a frame.
pub(super) struct Plane<'a> {
    /// `A` to `D`, or `depth`.
    pub(super) name: &'static str,
    width: u32,
    data: Data<'a>,
}

enum Data<'a> {
    Color(usize, &'a [[f32; 4]]),
    Depth(&'a [f32]),
}

impl<'a> Plane<'a> {
    /// Returns a render target, if the program writes it (A always exists).
    pub(super) fn color(frame: &'a Frame, target: usize) -> Option<Self> {
        let colors = frame.target(target)?;
        Some(Self {
            name: LETTERS[target],
            width: frame.width(),
            data: Data::Color(target, colors),
        })
    }

    /// Returns depth, if the program writes it.
    pub(super) fn depth(frame: &'a Frame) -> Option<Self> {
        let data = Data::Depth(frame.depth()?);
        Some(Self { name: "depth", width: frame.width(), data })
    }

    /// Returns some of its rows, counted from y = 0.
    #[cfg(feature = "window")]
    pub(super) fn rows(&self, rows: std::ops::Range<usize>) -> Self {
        let width = self.width as usize;
        let pixels = rows.start * width..rows.end * width;
        let data = match self.data {
            Data::Color(target, colors) => Data::Color(target, &colors[pixels]),
            Data::Depth(values) => Data::Depth(&values[pixels]),
        };
        Self { data, ..*self }
    }

    /// Returns the plane as an 8-bit picture, top row first.
    pub(super) fn picture(&self) -> Picture {
        match self.data {
            Data::Color(_, colors) => Picture::from_colors(self.width, colors),
            Data::Depth(values) => Picture::from_values(self.width, values),
        }
    }

    fn layer(&self, name: &'static str) -> ExrLayer<'static> {
        match self.data {
            Data::Color(_, colors) => ExrLayer::colors(name, colors),
            Data::Depth(values) => ExrLayer::depth(name, values),
        }
    }

    /// Returns the values as little-endian float32, bottom row first.
    pub(super) fn floats(&self) -> Vec<u8> {
        let values = match self.data {
            Data::Color(_, colors) => colors.as_flattened(),
            Data::Depth(values) => values,
        };
        let mut bytes = vec![0; values.len() * 4];
        for (bytes, value) in bytes.chunks_exact_mut(4).zip(values) {
            bytes.copy_from_slice(&value.to_le_bytes());
        }
        bytes
    }

    /// Checks whether the card can store this plane.
    pub(super) fn check_stored(&self, state: &State) -> Outcome<()> {
        let Data::Color(target, _) = self.data else { return Ok(()) };
        let format = state.out_fmt_or_default(target);
        if output::color::bytes_per_pixel(format).is_some() {
            return Ok(());
        }
        Err(Failure::input(anyhow::anyhow!(
            "US_OUT_FMT of target {} ({:#010x}) stores nothing; \
             set one with --register US_OUT_FMT[{target}]=0x3900",
            self.name,
            format.bits()
        )))
    }

    /// Returns the bytes that the card would store, rows from the bottom: `US_OUT_FMT` for colours;
    /// for depth, the code of `US_W_FMT` as a dword.
    pub(super) fn stored(&self, state: &State) -> Outcome<Vec<u8>> {
        self.check_stored(state)?;
        let mut bytes = Vec::new();
        match self.data {
            Data::Color(target, colors) => {
                let format = state.out_fmt_or_default(target);
                output::color::store_all(format, colors, &mut bytes);
            }
            Data::Depth(values) => {
                let format = state.w_fmt.unwrap_or_default();
                for &value in values {
                    bytes.extend(output::depth::store_depth(format, value).to_le_bytes());
                }
            }
        }
        Ok(bytes)
    }
}

/// A kind of output file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileFormat {
    Png,
    Exr,
    Floats,
    Raw,
    Gif,
    Apng,
}

impl FileFormat {
    /// Returns whether one file holds all frames.
    pub(super) fn is_animation(self) -> bool {
        matches!(self, Self::Gif | Self::Apng)
    }
}

/// An output file.
#[derive(Clone, Debug)]
pub(super) struct Sink {
    path: PathBuf,
    pub(super) kind: FileFormat,
    compression: PngCompression,
}

impl Sink {
    /// Returns the kind of a file by its extension; `animated` allows those that hold many
    /// frames.
    pub(super) fn new(path: &Path, animated: bool) -> Outcome<Self> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        let kind = match extension.as_deref() {
            Some("png") => FileFormat::Png,
            Some("exr") => FileFormat::Exr,
            Some("f32") => FileFormat::Floats,
            Some("raw") => FileFormat::Raw,
            Some("gif") if animated => FileFormat::Gif,
            Some("apng") if animated => FileFormat::Apng,
            Some(kind @ ("gif" | "apng")) => {
                return Err(Failure::usage(format!(
                    "-o {}: .{kind} is for animations; add --frames FIRST..END, or write a .png",
                    path.display()
                )));
            }
            None if input_args::is_stdin(path) => FileFormat::Png,
            _ => {
                return Err(Failure::usage(format!(
                    "-o {}: the extension does not tell the format; it is one of .png .exr .f32 \
                     .raw (and .gif .apng with --frames)",
                    path.display()
                )));
            }
        };
        Ok(Self { path: path.to_owned(), kind, compression: PngCompression::Fast })
    }

    /// Returns the same kind of file under another name.
    pub(super) fn renamed(&self, path: PathBuf) -> Self {
        Self { path, ..*self }
    }

    /// Returns the same with PNG files compressed so.
    pub(super) fn compressed(self, compression: PngCompression) -> Self {
        Self { compression, ..self }
    }

    /// Returns every file that may be written: one for each plane, if there may be several.
    pub(super) fn paths(&self, several: bool) -> Vec<PathBuf> {
        if !several || self.kind == FileFormat::Exr {
            return vec![self.path.clone()];
        }
        let parts = LETTERS.into_iter().chain(["depth"]);
        let parts = parts.map(|part| with_part(&self.path, part));
        std::iter::once(self.path.clone()).chain(parts).collect()
    }

    /// Returns how hard PNG files are compressed.
    pub(super) fn compression(&self) -> PngCompression {
        self.compression
    }

    /// Returns the file's name.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes planes: one under the file's own name, several each under a name of its own
    /// (`out.B.png`), but as layers of one OpenEXR file. Returns the names.
    pub(super) fn write(&self, planes: &[Plane<'_>], state: &State) -> Outcome<Vec<PathBuf>> {
        let [first, others @ ..] = planes else { return Ok(Vec::new()) };
        if self.kind == FileFormat::Exr {
            let bytes = encode_exr(first.width, &layers(planes));
            let bytes = bytes.map_err(|error| cannot_encode(&self.path, error))?;
            save(&self.path, &bytes)?;
            return Ok(vec![self.path.clone()]);
        }
        let mut files = Vec::new();
        for plane in planes {
            let path = if others.is_empty() {
                self.path.clone()
            } else {
                with_part(&self.path, plane.name)
            };
            let bytes = match self.kind {
                FileFormat::Floats => plane.floats(),
                FileFormat::Raw => plane.stored(state)?,
                _ => encode_png_with(&plane.picture(), self.compression)
                    .map_err(|error| cannot_encode(&path, error))?,
            };
            files.push((path, bytes));
        }
        match &files[..] {
            [(path, bytes)] => save(path, bytes)?,
            files => {
                put_group(files.iter().map(|(path, bytes)| (path.as_path(), bytes.as_slice())))?;
            }
        }
        Ok(files.into_iter().map(|(path, _)| path).collect())
    }
}

/// Writes a file, `-` to stdout.
pub(super) fn save(path: &Path, bytes: &[u8]) -> Outcome<()> {
    if input_args::is_stdin(path) {
        let mut out = std::io::stdout().lock();
        out.write_all(bytes)?;
        return Ok(out.flush()?);
    }
    put(path, bytes)
}

/// Returns a file, or stdout, that cannot be written.
pub(super) fn cannot_write(path: &Path, error: std::io::Error) -> Failure {
    if input_args::is_stdin(path) {
        return Failure::from(error);
    }
    output_file::cannot_write(path, error)
}

/// Returns planes as layers of an OpenEXR file; a single one has no name.
pub(super) fn layers(planes: &[Plane<'_>]) -> Vec<ExrLayer<'static>> {
    let single = planes.len() == 1;
    planes.iter().map(|p| p.layer(if single { "" } else { p.name })).collect()
}

/// Returns a picture that its format cannot hold, or whose file cannot be written.
pub(super) fn cannot_encode(path: &Path, error: PictureError) -> Failure {
    match error {
        PictureError::Output(error) => cannot_write(path, error),
        error => Failure::could_not(error),
    }
}

/// `out.png` and `B` give `out.B.png`.
pub(super) fn with_part(path: &Path, part: &str) -> PathBuf {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    path.with_extension(format!("{part}.{extension}"))
}
