//! Drawings: prepared programs, their bindings, and surfaces of the caller.

use std::ffi::c_char;
use std::io;
use std::path::Path;
use std::time::Duration;

use r500::builtin_uniforms;
use r500::exec::{
    Bindings, ColorSurface, Drawing as Prepared, EngineName, Options, PixelRect, Plane, Shader,
    Surfaces as Targets,
};
use r500::isa::CONSTANTS;
use r500::isa::state::{UsFcIntConst, UsOutFmt};
use r500::jit::shared_engine;
use r500::program::{Input, InputData};
use r500::texture::{TextureError, TextureSpec};

use crate::error::{Error, guarded, or_else};
use crate::handle::{self, Handle, exclusive, object};
use crate::pointers;
use crate::program::{Program, job};
use crate::text as texts;

/// US_OUT_FMT of red, green, blue and alpha in a byte each, in this order in memory.
pub const R500_RGBA8: u32 = 0x3900;
/// US_OUT_FMT of blue, green, red and alpha in a byte each, in this order in memory.
pub const R500_BGRA8: u32 = 0x1b00;
/// US_OUT_FMT of red, green, blue and alpha as floats, in this order in memory.
pub const R500_RGBA32F: u32 = 0x3915;

/// A program that an engine is ready to draw, and what it reads. The caller of r500_prepare owns it. It belongs to one thread at a time: a
/// function fails while another call uses the drawing, also r500_drawing_free. To draw on several threads, prepare a drawing for each.
pub struct Drawing(Handle<DrawingState>);

object!(Drawing: DrawingState, "drawing");

/// A prepared program and its bindings.
pub struct DrawingState {
    prepared: Prepared<'static>,
    bindings: Bindings,
    /// Memory for the coverage of a picture, kept for the next one.
    coverage: Vec<bool>,
}

/// Memory for the colours of a target. The first row is the lowest one of the picture.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Surface {
    /// The pixels; NULL for a target that is not wanted.
    pub bytes: *mut u8,
    /// Bytes there are.
    pub size: usize,
    /// Bytes from a row to the next.
    pub pitch: usize,
    /// US_OUT_FMT: R500_RGBA8 and so on, or any format of the card.
    pub format: u32,
}

/// What is drawn: a rectangle of the picture, and memory for its results. As on the card, pixels that are not covered or killed
/// keep what they had. All zeros but the rectangle and one surface is a good beginning.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Surfaces {
    /// Left column.
    pub x: u32,
    /// Lowest row.
    pub y: u32,
    /// Columns; 0 for all of the picture, whatever x, y and height are.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Targets A to D.
    pub colors: [Surface; 4],
    /// Depth of each pixel, as the program wrote it; or NULL.
    pub depth: *mut f32,
    /// Floats there are.
    pub depth_size: usize,
    /// Floats from a row to the next.
    pub depth_pitch: usize,
    /// 1 for each pixel that is covered and not killed, 0 for the others; or NULL.
    pub coverage: *mut u8,
    /// Bytes there are.
    pub coverage_size: usize,
    /// Bytes from a row to the next.
    pub coverage_pitch: usize,
}

/// One draw of a batch.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct BatchDraw {
    /// Float constants that are set before this draw, four floats each; they stay set. NULL for none.
    pub constants: *const f32,
    /// The number of the first one.
    pub first: usize,
    /// How many there are.
    pub count: usize,
    /// What is drawn.
    pub surfaces: Surfaces,
}

/// Returns the engine of a caller's name, or the usual one.
pub(crate) fn named_engine(name: Option<&str>, usual: EngineName) -> Result<EngineName, Error> {
    name.map_or(Ok(usual), |name| name.parse().map_err(Error::argument))
}

/// Makes an engine ready to draw a program as a picture of this size. `engine_name` is "jit" (the default, for NULL), "fast" or
/// "reference"; all draw the same bits. Later changes of the program do not matter. Free it with r500_drawing_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_prepare(
    program: *const Program,
    width: u32,
    height: u32,
    engine_name: *const c_char,
) -> *mut Drawing {
    or_else(std::ptr::null_mut, || {
        // SAFETY: the contract of `pointers`.
        let (job, name) = unsafe { (job(program)?, pointers::text(engine_name, "engine_name")?) };
        let bindings = builtin_uniforms::bind(job, [width, height]).map_err(Error::input)?;
        let shader = Shader::new(&job.program).map_err(Error::input)?;
        let engine = shared_engine(named_engine(name, EngineName::Jit)?);
        let prepared = Prepared::new(engine, shader, &bindings, Options::default());
        let state = DrawingState { prepared: prepared?, bindings, coverage: Vec::new() };
        Ok(handle::give(Drawing(Handle::new(state))))
    })
}

/// Frees a drawing; does nothing for NULL. Returns false, and does not free it, while another call uses it; builds with debug
/// assertions also where it was freed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_drawing_free(drawing: *mut Drawing) -> bool {
    // SAFETY: the contract of `pointers`.
    guarded(|| unsafe { handle::free(drawing) })
}

/// Returns the engine that draws: "jit", "fast" or "reference". It may change once machine code is ready. NULL if there is an error. Free it
/// with r500_text_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_engine(drawing: *const Drawing) -> *mut c_char {
    or_else(std::ptr::null_mut, || {
        // SAFETY: the contract of `pointers`.
        let drawing = unsafe { exclusive(drawing.cast_mut())? };
        texts::give(drawing.prepared.run_info().engine)
    })
}

/// Returns why another engine draws than the requested one; empty if the requested one does. NULL if there is an error. Free it with
/// r500_text_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_fallback_reason(drawing: *const Drawing) -> *mut c_char {
    or_else(std::ptr::null_mut, || {
        // SAFETY: the contract of `pointers`.
        let drawing = unsafe { exclusive(drawing.cast_mut())? };
        texts::give(&drawing.prepared.run_info().fallback_reason.unwrap_or_default())
    })
}

/// Sets the number of threads; 0 for as many as there are processors, the default.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_set_threads(drawing: *mut Drawing, threads: usize) -> bool {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let mut drawing = unsafe { exclusive(drawing)? };
        drawing.prepared.options_mut().threads = threads;
        Ok(true)
    })
}

/// Sets the limits of a picture: instructions that a group of pixels may execute (at first 4 million), bytes that a picture or another
/// allocation may take (4 GiB), and seconds (none). 0 keeps a limit as it is, a negative time removes that limit. A picture that exceeds
/// one is an error, R500_ERROR_LIMIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_set_limits(
    drawing: *mut Drawing,
    instructions: u64,
    memory: u64,
    seconds: f64,
) -> bool {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let mut drawing = unsafe { exclusive(drawing)? };
        let time =
            if seconds < 0.0 { Ok(None) } else { Duration::try_from_secs_f64(seconds).map(Some) };
        let time =
            time.map_err(|error| Error::argument(format!("seconds is {seconds}: {error}")))?;
        let limits = &mut drawing.prepared.options_mut().limits;
        if instructions != 0 {
            limits.instructions = instructions;
        }
        if memory != 0 {
            limits.memory = memory;
        }
        if time != Some(Duration::ZERO) {
            limits.time = time;
        }
        Ok(true)
    })
}

/// Binds a texture to a unit, 0 to 15. `spec` is the text that the assembly language and `--tex` take: "checker", or the name of a file and
/// options, "brick.png,wrap=mirror,min=linear" or "raw:texels,size=64x64,format=8_8_8_8". No file is opened: `bytes` are its content (PNG, DDS,
/// KTX2, or raw texels), NULL for a texture without a file. The texture's size scales the program's coordinates. The bytes are copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_set_texture(
    drawing: *mut Drawing,
    unit: usize,
    spec: *const c_char,
    bytes: *const u8,
    size: usize,
) -> bool {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let (mut drawing, spec, bytes) = unsafe {
            let bytes = pointers::slice(bytes, size, "bytes")?;
            (exclusive(drawing)?, pointers::text(spec, "spec")?, bytes)
        };
        let spec = spec.ok_or_else(|| Error::argument("spec is NULL"))?;
        let spec: TextureSpec = spec.parse().map_err(Error::argument)?;
        let read = |_: &Path| match bytes {
            [] => Err(io::Error::new(io::ErrorKind::NotFound, "no bytes are given")),
            bytes => Ok(bytes.to_vec()),
        };
        let texture = spec.load_with(&read, Path::new("")).map_err(|error| match error {
            TextureError::Memory(_) => Error::limit(error),
            error => Error::input(error),
        })?;
        drawing.bindings.set_texture(unit, &texture, None)?;
        Ok(true)
    })
}

/// Removes the texture of a unit, 0 to 15: its fetches give what a disabled unit gives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_clear_texture(drawing: *mut Drawing, unit: usize) -> bool {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let mut drawing = unsafe { exclusive(drawing)? };
        drawing.bindings.set_sampler(unit, None)?;
        Ok(true)
    })
}

/// Sets float constant n, 0 to 255, to four floats. Costs nothing else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_set_constant(
    drawing: *mut Drawing,
    n: usize,
    value: *const f32,
) -> bool {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let (mut drawing, value) =
            unsafe { (exclusive(drawing)?, pointers::slice(value, 4, "value")?) };
        let value =
            value.first_chunk::<4>().ok_or_else(|| Error::argument("value has four floats"))?;
        drawing.bindings.set_constant(n, *value)?;
        Ok(true)
    })
}

/// Sets `count` float constants from number `first` on, four floats each. If they are not all of 0 to 255 it is an error, and none is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_set_constants(
    drawing: *mut Drawing,
    first: usize,
    values: *const f32,
    count: usize,
) -> bool {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let (mut drawing, values) =
            unsafe { (exclusive(drawing)?, vectors(values, count, "values")?) };
        drawing.set_constants(first, values)?;
        Ok(true)
    })
}

/// Sets integer constant n, 0 to 31: iterations of a loop, first value and step of its aL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_set_int_constant(
    drawing: *mut Drawing,
    n: usize,
    iterations: u8,
    first: u8,
    step: i8,
) -> bool {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let mut drawing = unsafe { exclusive(drawing)? };
        let value = UsFcIntConst(0)
            .with(UsFcIntConst::KR, iterations)
            .with(UsFcIntConst::KG, first)
            .with(UsFcIntConst::KB, step);
        drawing.bindings.set_int_constant(n, value)?;
        Ok(true)
    })
}

/// Sets boolean constant n, 0 to 31.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_set_bool_constant(
    drawing: *mut Drawing,
    n: usize,
    value: bool,
) -> bool {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let mut drawing = unsafe { exclusive(drawing)? };
        drawing.bindings.set_bool_constant(n, value)?;
        Ok(true)
    })
}

/// Sets what temporary `temp`, 0 to 127, starts with in each pixel: four floats a pixel, row by row from the lowest. `pixels` is
/// width times height of the picture. The values are copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_set_input(
    drawing: *mut Drawing,
    temp: u8,
    values: *const f32,
    pixels: usize,
) -> bool {
    guarded(|| {
        let floats = pixels.checked_mul(4).ok_or_else(|| Error::argument("pixels is too large"))?;
        // SAFETY: the contract of `pointers`.
        let (mut drawing, values) =
            unsafe { (exclusive(drawing)?, pointers::slice(values, floats, "values")?) };
        let [width, height] = drawing.bindings.size();
        if pixels as u64 != u64::from(width) * u64::from(height) {
            return Err(Error::argument(format!(
                "{pixels} values for a picture of {width}x{height}"
            )));
        }
        let values = values.as_chunks::<4>().0;
        match drawing.bindings.input_values_mut(temp).filter(|own| own.len() == pixels) {
            Some(own) => own.copy_from_slice(values),
            None => {
                let data = InputData::Values { width, values: values.to_vec() };
                drawing.bindings.set_input(Input { temp, data })?;
            }
        }
        Ok(true)
    })
}

/// Sets which pixels the rasteriser covers, a byte each (0 or not), row by row from the lowest. NULL for all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_set_coverage(
    drawing: *mut Drawing,
    mask: *const u8,
    pixels: usize,
) -> bool {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let mut drawing = unsafe { exclusive(drawing)? };
        let mask = match mask.is_null() {
            true => None,
            // SAFETY: as above.
            false => Some(unsafe { pointers::slice(mask, pixels, "mask")? }),
        };
        match (drawing.bindings.coverage_mut(), mask) {
            (Some(own), Some(mask)) if own.len() == mask.len() => {
                own.iter_mut().zip(mask).for_each(|(own, byte)| *own = *byte != 0);
            }
            (_, mask) => {
                let mask = mask.map(|mask| mask.iter().map(|byte| *byte != 0).collect());
                drawing.bindings.set_coverage(mask)?;
            }
        }
        Ok(true)
    })
}

/// Draws. Surfaces must not overlap each other.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_draw(drawing: *mut Drawing, surfaces: *const Surfaces) -> bool {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let (mut drawing, given) = unsafe {
            let surfaces = pointers::reference(surfaces, "surfaces")?;
            (exclusive(drawing)?, *surfaces)
        };
        // SAFETY: the contract of `pointers`.
        unsafe { drawing.draw(given)? };
        Ok(true)
    })
}

/// Draws `count` times, in order, each with its own constants. Surfaces of one draw must not overlap each other. `drawn`, if not NULL,
/// is how many draws were done: all, or those before the one with an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_draw_batch(
    drawing: *mut Drawing,
    draws: *const BatchDraw,
    count: usize,
    drawn: *mut usize,
) -> bool {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let (mut drawing, draws) =
            unsafe { (exclusive(drawing)?, pointers::slice(draws, count, "draws")?) };
        let done = |number: usize| {
            if !drawn.is_null() {
                // SAFETY: the caller's memory for a number.
                unsafe { drawn.write(number) };
            }
        };
        done(0);
        for (number, draw) in draws.iter().enumerate() {
            // SAFETY: the contract of `pointers`.
            unsafe {
                let constants = match draw.constants.is_null() {
                    true => &[],
                    false => vectors(draw.constants, draw.count, "constants")?,
                };
                drawing.set_constants(draw.first, constants)?;
                drawing.draw(draw.surfaces)?;
            }
            done(number + 1);
        }
        Ok(true)
    })
}

/// Returns vectors of four floats of the caller.
///
/// # Safety
/// As [`pointers::slice`] for four times as many floats.
unsafe fn vectors<'a>(
    values: *const f32,
    count: usize,
    name: &str,
) -> Result<&'a [[f32; 4]], Error> {
    let floats = count
        .checked_mul(4)
        .ok_or_else(|| Error::argument(format!("{count} {name} are too many")))?;
    // SAFETY: the caller's contract.
    Ok(unsafe { pointers::slice(values, floats, name)? }.as_chunks::<4>().0)
}

impl DrawingState {
    /// Sets constants from number `first` on: all or none.
    fn set_constants(&mut self, first: usize, values: &[[f32; 4]]) -> Result<(), Error> {
        if first.checked_add(values.len()).is_none_or(|end| end > CONSTANTS) {
            return Err(Error::argument(format!(
                "{} constants from number {first} on; they are 0 to {}",
                values.len(),
                CONSTANTS - 1
            )));
        }
        for (n, value) in (first..).zip(values) {
            self.bindings.set_constant(n, *value)?;
        }
        Ok(())
    }

    /// Draws to surfaces of the caller.
    ///
    /// # Safety
    /// The pointers of the surfaces are valid, as the contract of [`pointers`] says.
    unsafe fn draw(&mut self, given: Surfaces) -> Result<(), Error> {
        let Surfaces { x, y, width, height, .. } = given;
        let [all_columns, all_rows] = self.bindings.size();
        let area = match width {
            0 => PixelRect { x: 0, y: 0, width: all_columns, height: all_rows },
            _ => PixelRect { x, y, width, height },
        };
        let mut targets =
            Targets { area, colors: [None, None, None, None], depth: None, coverage: None };
        for (to, surface) in targets.colors.iter_mut().zip(given.colors) {
            if !surface.bytes.is_null() {
                // SAFETY: the contract of `pointers`.
                let bytes = unsafe { pointers::slice_mut(surface.bytes, surface.size, "bytes")? };
                let format = UsOutFmt(surface.format);
                *to = Some(ColorSurface { format, bytes, pitch: surface.pitch });
            }
        }
        if !given.depth.is_null() {
            // SAFETY: the contract of `pointers`.
            let values = unsafe { pointers::slice_mut(given.depth, given.depth_size, "depth")? };
            targets.depth = Some(Plane { values, pitch: given.depth_pitch });
        }
        let Self { prepared, bindings, coverage } = self;
        if !given.coverage.is_null() {
            // C may have left any byte there, and not every byte is a valid `bool`.
            // No more than the area needs, whatever size the caller states.
            let rows = (area.height as usize).saturating_sub(1);
            let needed =
                given.coverage_pitch.saturating_mul(rows).saturating_add(area.width as usize);
            let size = given.coverage_size.min(needed);
            coverage.clear();
            coverage.try_reserve_exact(size).map_err(|_| {
                Error::memory(format!("{size} bytes of coverage cannot be allocated"))
            })?;
            coverage.resize(size, false);
            targets.coverage = Some(Plane { values: coverage, pitch: given.coverage_pitch });
        }
        prepared.draw_to(bindings, &mut targets)?;
        if !given.coverage.is_null() {
            let bytes = given.coverage;
            // SAFETY: the contract of `pointers`.
            let bytes = unsafe { pointers::slice_mut(bytes, coverage.len(), "coverage")? };
            for row in 0..area.height as usize {
                let row =
                    row * given.coverage_pitch..row * given.coverage_pitch + area.width as usize;
                for (byte, covered) in bytes[row.clone()].iter_mut().zip(&coverage[row]) {
                    *byte = u8::from(*covered);
                }
            }
        }
        Ok(())
    }
}
