//! Prepared programs and what they read.

use std::io;
use std::path::Path;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use r500::exec::output::color::bytes_per_pixel;
use r500::exec::{Bindings, ColorSurface, Drawing as Prepared, PixelRect, Surfaces};
use r500::isa::state::{UsFcIntConst, UsOutFmt};
use r500::program::{Input, InputData, Uniform};
use r500::texture::TextureSpec;

use crate::byte_array;
use crate::error::error;
use crate::vectors::vectors;

#[pyclass]
pub(crate) struct Drawing {
    prepared: Prepared<'static>,
    bindings: Bindings,
    uniforms: Vec<Uniform>,
    /// The last picture of `draw_into`, which keeps its memory.
    pixels: Vec<u8>,
}

/// What a picture is drawn as.
struct Target {
    number: usize,
    format: UsOutFmt,
    /// Bytes of a row.
    pitch: usize,
    /// Bytes of the picture.
    length: usize,
}

impl Drawing {
    pub(crate) fn new(
        prepared: Prepared<'static>,
        bindings: Bindings,
        uniforms: Vec<Uniform>,
    ) -> Self {
        Self { prepared, bindings, uniforms, pixels: Vec::new() }
    }

    /// Returns what a picture takes.
    fn target(&self, format: u32, number: usize) -> PyResult<Target> {
        let format = UsOutFmt(format);
        let Some(size) = bytes_per_pixel(format) else {
            return Err(error(format!("US_OUT_FMT = {:#x} stores nothing", format.0)));
        };
        if number > 3 {
            return Err(error(format!("there is no target {number}: they end with 3")));
        }
        let [width, height] = self.bindings.size();
        let pitch = width as usize * size;
        let bytes = (pitch as u64).saturating_mul(height.into());
        let limit = self.prepared.options().limits.memory;
        let length = usize::try_from(bytes).ok().filter(|_| bytes <= limit);
        let length = length.ok_or_else(|| {
            error(format!(
                "a picture of {width}x{height} takes {bytes} bytes, the limit is {limit}"
            ))
        })?;
        Ok(Target { number, format, pitch, length })
    }

    fn draw_to(&mut self, target: &Target, bytes: &mut [u8]) -> PyResult<()> {
        let [width, height] = self.bindings.size();
        let area = PixelRect { x: 0, y: 0, width, height };
        let mut colors = [None, None, None, None];
        colors[target.number] =
            Some(ColorSurface { format: target.format, bytes, pitch: target.pitch });
        let mut surfaces = Surfaces { area, colors, depth: None, coverage: None };
        self.prepared.draw_to(&self.bindings, &mut surfaces).map(drop).map_err(error)
    }

    /// Returns the constant and the channel of each number of a uniform.
    fn channels(&self, name: &str) -> PyResult<Vec<(usize, usize)>> {
        let named = self.uniforms.iter().filter(|uniform| uniform.name == name);
        let of = |uniform: &Uniform| {
            let (constant, first) = (usize::from(uniform.constant), usize::from(uniform.channel));
            (first..first + usize::from(uniform.channels)).map(move |channel| (constant, channel))
        };
        let channels: Vec<_> = named.flat_map(of).collect();
        if channels.is_empty() {
            let mut names: Vec<_> =
                self.uniforms.iter().map(|uniform| uniform.name.as_str()).collect();
            names.dedup();
            let there = match names.as_slice() {
                [] => "it has none".to_owned(),
                names => format!("it has {}", names.join(", ")),
            };
            return Err(error(format!("the program has no uniform `{name}`: {there}")));
        }
        Ok(channels)
    }
}

#[pymethods]
impl Drawing {
    #[getter]
    fn size(&self) -> (u32, u32) {
        self.bindings.size().into()
    }

    #[getter]
    fn engine(&self) -> &'static str {
        self.prepared.run_info().engine
    }

    #[getter]
    fn fallback_reason(&self) -> Option<String> {
        self.prepared.run_info().fallback_reason
    }

    fn set_constant(&mut self, n: usize, value: (f32, f32, f32, f32)) -> PyResult<()> {
        self.bindings.set_constant(n, value.into()).map_err(error)
    }

    /// Sets all numbers of a uniform.
    fn set_uniform(&mut self, name: &str, numbers: Vec<f32>) -> PyResult<()> {
        let channels = self.channels(name)?;
        let (wants, has) = (channels.len(), numbers.len());
        if wants != has {
            return Err(error(format!("the uniform `{name}` has {wants} numbers, not {has}")));
        }
        for ((constant, channel), number) in channels.into_iter().zip(numbers) {
            let mut value = self.bindings.constant(constant).unwrap_or_default();
            value[channel] = number;
            self.bindings.set_constant(constant, value).map_err(error)?;
        }
        Ok(())
    }

    /// Sets the texture of a unit: a description, and the bytes of its file; none for a texture without one.
    fn set_texture(
        &mut self,
        py: Python<'_>,
        unit: usize,
        spec: &str,
        bytes: Option<&[u8]>,
    ) -> PyResult<()> {
        let spec: TextureSpec = spec.parse().map_err(error)?;
        let read = |_: &Path| {
            let missing = || io::Error::new(io::ErrorKind::NotFound, "no bytes are given");
            bytes.map(<[u8]>::to_vec).ok_or_else(missing)
        };
        let texture = py.detach(|| spec.load_with(&read, Path::new(""))).map_err(error)?;
        self.bindings.set_texture(unit, &texture, None).map_err(error)
    }

    /// Removes the texture of a unit.
    fn clear_texture(&mut self, unit: usize) -> PyResult<()> {
        self.bindings.set_sampler(unit, None).map_err(error)
    }

    /// Sets limits of a picture; those that are None stay.
    fn set_limits(
        &mut self,
        instructions: Option<u64>,
        memory: Option<u64>,
        seconds: Option<f64>,
    ) -> PyResult<()> {
        let time = seconds.map(Duration::try_from_secs_f64).transpose().map_err(error)?;
        let limits = &mut self.prepared.options_mut().limits;
        limits.instructions = instructions.unwrap_or(limits.instructions);
        limits.memory = memory.unwrap_or(limits.memory);
        limits.time = time.or(limits.time);
        Ok(())
    }

    fn set_int_constant(&mut self, n: usize, iterations: u8, first: u8, step: i8) -> PyResult<()> {
        let value = UsFcIntConst(0)
            .with(UsFcIntConst::KR, iterations)
            .with(UsFcIntConst::KG, first)
            .with(UsFcIntConst::KB, step);
        self.bindings.set_int_constant(n, value).map_err(error)
    }

    fn set_bool_constant(&mut self, n: usize, value: bool) -> PyResult<()> {
        self.bindings.set_bool_constant(n, value).map_err(error)
    }

    fn set_input(&mut self, temp: u8, bytes: &[u8]) -> PyResult<()> {
        let [width, height] = self.bindings.size();
        let values = vectors(bytes);
        if values.len() as u64 != u64::from(width) * u64::from(height) {
            return Err(error(format!(
                "{} values for a picture of {width}x{height}",
                values.len()
            )));
        }
        let data = InputData::Values { width, values };
        self.bindings.set_input(Input { temp, data }).map_err(error)
    }

    #[pyo3(signature = (mask=None))]
    fn set_coverage(&mut self, mask: Option<&[u8]>) -> PyResult<()> {
        let mask = mask.map(|mask| mask.iter().map(|byte| *byte != 0).collect());
        self.bindings.set_coverage(mask).map_err(error)
    }

    fn draw<'py>(
        &mut self,
        py: Python<'py>,
        format: u32,
        target: usize,
    ) -> PyResult<Bound<'py, PyByteArray>> {
        let target = self.target(format, target)?;
        // A picture that cannot be allocated is a MemoryError. The new bytes are not shared yet, so that they may be written without
        // the interpreter's lock; that they can be written later makes the picture an `out` of the next.
        PyByteArray::new_with(py, target.length, |bytes| py.detach(|| self.draw_to(&target, bytes)))
    }

    /// Draws a picture for each `count` constants, which are set from number `first` on before it. The pictures follow each other.
    fn draw_batch<'py>(
        &mut self,
        py: Python<'py>,
        first: usize,
        constants: &[u8],
        count: usize,
        format: u32,
        target: usize,
    ) -> PyResult<Bound<'py, PyByteArray>> {
        let target = self.target(format, target)?;
        let constants = vectors(constants);
        let pictures = constants.chunks_exact(count.max(1)).len();
        let length = target.length.checked_mul(pictures);
        let length = length.ok_or_else(|| error("the pictures are larger than the memory"))?;
        // As for one picture.
        PyByteArray::new_with(py, length, |bytes| {
            py.detach(|| {
                let pictures = bytes.chunks_exact_mut(target.length.max(1));
                for (constants, picture) in constants.chunks_exact(count.max(1)).zip(pictures) {
                    for (n, value) in (first..).zip(constants) {
                        self.bindings.set_constant(n, *value).map_err(error)?;
                    }
                    self.draw_to(&target, picture)?;
                }
                Ok(())
            })
        })
    }

    /// Draws into the caller's bytes, as many as the picture takes; after the first picture without allocating memory.
    fn draw_into(
        &mut self,
        py: Python<'_>,
        out: &Bound<'_, PyByteArray>,
        format: u32,
        target: usize,
    ) -> PyResult<()> {
        let target = self.target(format, target)?;
        let mut pixels = std::mem::take(&mut self.pixels);
        pixels.clear();
        pixels.try_reserve_exact(target.length).map_err(error)?;
        pixels.resize(target.length, 0);
        let drawn = py.detach(|| self.draw_to(&target, &mut pixels));
        self.pixels = pixels;
        drawn?;
        byte_array::set(out, &self.pixels)
    }
}
