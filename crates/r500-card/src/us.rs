//! `US`: fragment programs. Packs the quads of a draw into one picture, with inputs by pixel and a coverage mask, for
//! any engine.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use r500_chip::Mapped;
use r500_exec::{
    BindError, Bindings, Drawing, Engine, Frame, GROUP, Op, Options, Readings as ExecReadings,
    RunError, RunInfo, Shader,
};
use r500_isa::state::{
    UsCodeAddr, UsCodeOffset, UsCodeRange, UsConfig, UsFcBoolConst, UsFcCtrl, UsFcIntConst,
    UsOutFmt, UsPixsize, UsWFmt,
};
use r500_isa::{INT_CONSTANTS, TARGETS, TEXTURE_UNITS};
use r500_program::{Input, InputData, Job, Program};
use r500_stream::State;

use crate::limits::{Budget, CardError, Limits};
use crate::quad::QuadList;
use crate::reading::Readings;
use crate::report::{Note, Report};
use crate::rs::Work;
use crate::texture_cache::LevelRead;
use crate::texture_store::{BoundTexture, TextureStore};
use crate::tx;

/// A fragment program with its bindings, except inputs.
pub(crate) struct Fragments {
    shader: Arc<Shader>,
    program: Program,
    textures: [Option<Arc<BoundTexture>>; TEXTURE_UNITS],
    /// Constants and samplers.
    bindings: Bindings,
    readings: ExecReadings,
}

/// Returns which engine ran a draw of two pictures: another one than the engine of the card, if one did.
pub(crate) fn ran_together(a: Option<RunInfo>, b: RunInfo) -> RunInfo {
    a.filter(|a| a.fallback_reason.is_some() || b.fallback_reason.is_none()).unwrap_or(b)
}

/// The result of the fragment program for a pixel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fragment {
    pub(crate) colors: [[f32; 4]; TARGETS],
    pub(crate) depth: f32,
    /// Whether it is not killed.
    pub(crate) alive: bool,
}

impl Fragments {
    /// Reads program, constants and textures; `None`, with a note, if the program cannot run.
    ///
    /// # Errors
    /// [`CardError`] if the textures exceed the budget.
    pub(crate) fn new(
        state: &State,
        readings: &Readings,
        exec_readings: ExecReadings,
        store: &mut TextureStore,
        budget: &mut Budget,
        report: &mut Report,
    ) -> Result<Option<Self>, CardError> {
        let program = program(state, readings);
        let shader = match Shader::new(&program) {
            Ok(shader) => shader,
            Err(error) => {
                report.note(Note::Program { why: error.to_string() });
                return Ok(None);
            }
        };
        let textures = tx::textures(state, readings, store, budget, report)?;
        let job = Job { program, inputs: Some(Vec::new()), ..Job::default() };
        let bindings_error = |error: BindError| CardError::Bindings(error.to_string());
        let mut bindings = Bindings::new(&job, [2, 2]).map_err(bindings_error)?;
        for (unit, texture) in textures.iter().enumerate() {
            if let Some(texture) = texture {
                let sampler = Some(texture.sampler.clone());
                bindings.set_sampler(unit, sampler).map_err(bindings_error)?;
            }
        }
        Ok(Some(Self {
            shader: Arc::new(shader),
            program: job.program,
            textures,
            bindings,
            readings: exec_readings,
        }))
    }

    /// Returns the levels of textures that the program may read.
    pub(crate) fn reads(&self) -> Vec<LevelRead> {
        let mut units = [false; TEXTURE_UNITS];
        for op in self.shader.ops() {
            if let Op::Tex(tex) = op {
                units[usize::from(tex.unit) % TEXTURE_UNITS] = true;
            }
        }
        let used = self.textures.iter().enumerate().filter(|(unit, _)| units[*unit]);
        used.flat_map(|(unit, texture)| {
            let levels = texture.iter().flat_map(|texture| &texture.reads);
            levels.map(move |read| LevelRead { unit, ..read.clone() })
        })
        .collect()
    }

    /// Returns program and textures.
    pub(crate) fn job(&self) -> Job {
        let texture = |texture: &Option<Arc<BoundTexture>>| Some(texture.as_ref()?.texture.clone());
        Job {
            program: self.program.clone(),
            textures: self.textures.each_ref().map(texture),
            ..Job::default()
        }
    }

    /// Returns which targets the program writes.
    pub(crate) fn targets(&self) -> [bool; TARGETS] {
        self.shader.targets()
    }

    /// Returns whether the results for a pixel depend on its own inputs only: the program reads no texture and no other pixel of the quad,
    /// and has no flow control.
    pub(crate) fn is_pure(&self) -> bool {
        self.shader.ops().iter().all(|op| match op {
            Op::Alu(alu) => !alu.rgb.op.is_derivative() && !alu.alpha.op.is_derivative(),
            Op::Tex(_) | Op::Fc(_) => false,
        })
    }

    /// Returns the cost of preparing the program, in instructions.
    pub(crate) fn cost(&self) -> u64 {
        self.program.code.len() as u64 * Limits::PREPARE
    }
}

/// Number of quads in a packed picture: its planes fit into a cache.
pub(crate) const PICTURE: usize = 2048;
/// Rows of quads in a packed picture of many quads: as many as a batch of the engines has.
const ROWS: usize = 8;

/// Returns the size of the packed picture of some quads, at most [`PICTURE`], in quads: a power of two in a row, an even number of rows, so that
/// few engines' chunks are partly outside.
fn layout(quads: usize) -> [usize; 2] {
    let row = quads.div_ceil(ROWS).next_power_of_two().max(2);
    [row, quads.div_ceil(row).next_multiple_of(2).max(2)]
}

/// Returns an upper bound of the number of groups in the packed picture of some quads.
pub(crate) fn groups(quads: usize) -> u64 {
    let [columns, rows] = layout(quads).map(|n| 2 * n);
    let [width, height] = GROUP.map(|n| n as usize);
    (columns.div_ceil(width) * rows.div_ceil(height)) as u64
}

/// Shades quads on one thread, picture by picture.
pub(crate) struct Painter<'a, 'e> {
    fragments: &'a Fragments,
    engine: &'e dyn Engine,
    work: Work<'a>,
    budget: Budget,
    /// Pictures without and with a coverage mask.
    pictures: [Option<Picture<'e>>; 2],
    pool: &'a Pictures<'e>,
}

/// Pictures that no painter uses, for all threads of a draw.
#[derive(Default)]
pub(crate) struct Pictures<'a>(Mutex<Vec<Picture<'a>>>);

/// A picture that is drawn again and again.
struct Picture<'a> {
    size: [u32; 2],
    /// Whether every pixel is covered.
    full: bool,
    bindings: Bindings,
    drawing: Drawing<'a>,
    frame: Frame,
}

/// The results of fragment programs for quads.
#[derive(Clone, Copy)]
pub(crate) enum Shaded<'a> {
    /// Those of a packed picture.
    Picture(&'a Frame),
    /// The same for all pixels.
    Same(&'a Fragment),
}

impl<'a, 'e> Painter<'a, 'e> {
    pub(crate) fn new(
        fragments: &'a Fragments,
        engine: &'e dyn Engine,
        work: Work<'a>,
        budget: Budget,
        pool: &'a Pictures<'e>,
    ) -> Self {
        Self { fragments, engine, work, budget, pictures: [None, None], pool }
    }

    /// Returns which engine ran; `None` if nothing was shaded.
    pub(crate) fn ran(&self) -> Option<RunInfo> {
        let infos = self.pictures.iter().flatten().map(|picture| picture.drawing.run_info());
        infos.fold(None, |ran, info| Some(ran_together(ran, info)))
    }

    /// Runs the program for all pixels of at most [`PICTURE`] quads with a covered sample; uncovered pixels are helpers. A group of pixels
    /// executes at most `instructions`. Returns the results and the number of executed instructions.
    ///
    /// # Errors
    /// [`CardError`] if the program exceeds a limit or cannot run.
    #[expect(clippy::expect_used, reason = "the line before creates the picture")]
    pub(crate) fn shade(
        &mut self,
        quads: &QuadList,
        instructions: u64,
    ) -> Result<(Shaded<'_>, u64), CardError> {
        let [row, rows] = layout(quads.len());
        let size = [2 * row, 2 * rows].map(|n| n as u32);
        let full =
            quads.len() == row * rows && quads.iter().all(|(_, quad)| !quad.masks.contains(&0));
        let slot = &mut self.pictures[usize::from(!full)];
        if slot.as_ref().is_none_or(|picture| picture.size != size) {
            self.pool.put(slot.take());
            *slot = Some(match self.pool.take(size, full) {
                Some(picture) => picture,
                None => Picture::new(self.fragments, self.engine, &self.work, size, full)?,
            });
        }
        let picture = slot.as_mut().expect("there is one now");
        let limits = &mut picture.drawing.options_mut().limits;
        limits.instructions = instructions;
        limits.time = self.budget.time_left();
        let bindings = &mut picture.bindings;
        let width = size[0] as usize;
        if let Some(coverage) = bindings.coverage_mut() {
            coverage.fill(false);
            for (n, (_, quad)) in quads.iter().enumerate() {
                for corner in 0..4 {
                    coverage[place(n, corner, width)] = quad.masks[corner] != 0;
                }
            }
        }
        self.work.interpolate(quads, |temp, first, values| {
            let Some(plane) = bindings.input_values_mut(temp) else { return };
            for (n, [a, b, c, d]) in (first..).zip(values) {
                let at = place(n, 0, width);
                plane[at..at + 2].copy_from_slice(&[*a, *b]);
                plane[at + width..at + width + 2].copy_from_slice(&[*c, *d]);
            }
        });
        let drawn = picture.drawing.draw_into(&picture.bindings, &mut picture.frame);
        drawn.map_err(|error| match error {
            RunError::Time { .. } => self.budget.out_of_time(),
            error => CardError::Fragment(error),
        })?;
        let frame = &picture.frame;
        Ok((Shaded::Picture(frame), frame.counters.instructions))
    }
}

impl<'a> Picture<'a> {
    fn new(
        fragments: &Fragments,
        engine: &'a dyn Engine,
        work: &Work<'_>,
        size: [u32; 2],
        full: bool,
    ) -> Result<Self, CardError> {
        let bindings_error = |error: BindError| CardError::Bindings(error.to_string());
        let pixels = size[0] as usize * size[1] as usize;
        let mut bindings = fragments.bindings.clone();
        bindings.set_size(size);
        for write in work.rs.writes() {
            let data = InputData::Values { width: size[0], values: vec![[0.0; 4]; pixels] };
            let input = Input { temp: write.temp, data };
            bindings.set_input(input).map_err(bindings_error)?;
        }
        let mask = (!full).then(|| vec![false; pixels]);
        bindings.set_coverage(mask).map_err(bindings_error)?;
        // Quads are divided among threads before they are shaded.
        let options = Options { readings: fragments.readings, threads: 1, ..Options::default() };
        let shader = Arc::clone(&fragments.shader);
        let drawing = Drawing::new(engine, shader, &bindings, options)?;
        let frame = drawing.frame(&bindings)?;
        Ok(Self { size, full, bindings, drawing, frame })
    }
}

impl<'a> Pictures<'a> {
    /// Limit of the pictures that are kept.
    const MOST: usize = 32;

    fn lock(&self) -> MutexGuard<'_, Vec<Picture<'a>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a picture of a size out.
    fn take(&self, size: [u32; 2], full: bool) -> Option<Picture<'a>> {
        let mut pictures = self.lock();
        let place = pictures.iter().position(|kept| kept.size == size && kept.full == full)?;
        Some(pictures.swap_remove(place))
    }

    fn put(&self, picture: Option<Picture<'a>>) {
        let mut pictures = self.lock();
        if pictures.len() < Self::MOST {
            pictures.extend(picture);
        }
    }
}

impl Drop for Painter<'_, '_> {
    fn drop(&mut self) {
        let pictures = std::mem::take(&mut self.pictures);
        pictures.into_iter().for_each(|picture| self.pool.put(picture));
    }
}

impl Shaded<'_> {
    /// Returns which pixels of quad `n` are covered and not killed.
    #[inline(always)]
    pub(crate) fn alive(self, n: usize) -> [bool; 4] {
        match self {
            Self::Picture(frame) => pixels(n, frame, frame.coverage()),
            Self::Same(fragment) => [fragment.alive; 4],
        }
    }

    /// Calls `each` for quads with their index among these, and which of their pixels are covered and not killed.
    #[inline(always)]
    pub(crate) fn each_alive(self, quads: Range<usize>, mut each: impl FnMut(usize, [bool; 4])) {
        match self {
            Self::Picture(frame) => each_quad(frame, frame.coverage(), quads, each),
            Self::Same(fragment) => (0..quads.len()).for_each(|n| each(n, [fragment.alive; 4])),
        }
    }

    /// Calls `each` for quads with their index among these, and a colour of their pixels.
    #[inline(always)]
    pub(crate) fn each_color(
        self,
        quads: Range<usize>,
        target: usize,
        mut each: impl FnMut(usize, [[f32; 4]; 4]),
    ) {
        let same = match self {
            Self::Picture(frame) => match frame.target(target) {
                Some(plane) => return each_quad(frame, plane, quads, each),
                None => [0.0; 4],
            },
            Self::Same(fragment) => fragment.colors[target],
        };
        (0..quads.len()).for_each(|n| each(n, [same; 4]));
    }

    /// Returns a colour of the pixels of quad `n`.
    #[inline(always)]
    pub(crate) fn colors(self, n: usize, target: usize) -> [[f32; 4]; 4] {
        match self {
            Self::Picture(frame) => {
                frame.target(target).map_or([[0.0; 4]; 4], |plane| pixels(n, frame, plane))
            }
            Self::Same(fragment) => [fragment.colors[target]; 4],
        }
    }

    /// Returns the depths of the pixels of quad `n`.
    #[inline(always)]
    pub(crate) fn depths(self, n: usize) -> [f32; 4] {
        match self {
            Self::Picture(frame) => frame.depth().map_or([0.0; 4], |plane| pixels(n, frame, plane)),
            Self::Same(fragment) => [fragment.depth; 4],
        }
    }

    /// Returns a pixel of quad `n`.
    pub(crate) fn fragment(self, n: usize, corner: usize) -> Fragment {
        Fragment {
            colors: std::array::from_fn(|target| self.colors(n, target)[corner]),
            depth: self.depths(n)[corner],
            alive: self.alive(n)[corner],
        }
    }
}

/// Calls `each` for quads with their index among these, and their values in a plane of a packed picture.
#[inline(always)]
fn each_quad<T: Copy>(
    frame: &Frame,
    plane: &[T],
    quads: Range<usize>,
    mut each: impl FnMut(usize, [T; 4]),
) {
    let width = frame.width() as usize;
    let row = width / 2;
    let mut n = quads.start;
    while n < quads.end {
        // Quads of a row follow one another.
        let count = (quads.end - n).min(row - (n & (row - 1)));
        let first = place(n, 0, width);
        let [upper, lower] = [first, first + width].map(|at| &plane[at..at + 2 * count]);
        let pairs = upper.as_chunks::<2>().0.iter().zip(lower.as_chunks::<2>().0);
        for (place, ([a, b], [c, d])) in pairs.enumerate() {
            each(n - quads.start + place, [*a, *b, *c, *d]);
        }
        n += count;
    }
}

/// Returns the values of quad `n` in a plane of a packed picture.
#[inline(always)]
fn pixels<T: Copy>(n: usize, frame: &Frame, plane: &[T]) -> [T; 4] {
    let width = frame.width() as usize;
    let first = place(n, 0, width);
    let [a, b] = [&plane[first..first + 2], &plane[first + width..first + width + 2]];
    [a[0], a[1], b[0], b[1]]
}

/// Returns the index of a pixel of quad `n` in a packed picture, whose width is a power of two.
#[inline(always)]
fn place(n: usize, corner: usize, width: usize) -> usize {
    debug_assert!(width.is_power_of_two());
    // Two rows of pixels have twice the width, and a quad two columns.
    let column = (2 * n) & (width - 1);
    let rows = 4 * n - 2 * column;
    rows + corner / 2 * width + column + corner % 2
}

/// Returns the program in the instruction memory: from `US_CODE_OFFSET` to the end of the code window.
fn program(state: &State, readings: &Readings) -> Program {
    let registers = &state.registers;
    let offset: UsCodeOffset = registers.get();
    let range: UsCodeRange = registers.get();
    let first = usize::from(offset.offset_addr());
    let last = usize::from(range.code_addr()) + usize::from(range.code_size());
    let code = state.us.instructions();
    let code = code.get(first..=last.min(code.len() - 1)).unwrap_or_default();
    let mut program = Program::from_code(code.to_vec());
    let target = &mut program.state;
    target.config = Some(registers.get::<UsConfig>());
    target.pixsize = Some(registers.get::<UsPixsize>());
    target.fc_ctrl = Some(registers.get::<UsFcCtrl>());
    target.fc_bool_const = Some(registers.get::<UsFcBoolConst>());
    target.fc_int_const =
        std::array::from_fn::<_, INT_CONSTANTS, _>(|n| Some(member::<UsFcIntConst>(state, n)));
    target.code_addr = Some(registers.get::<UsCodeAddr>());
    target.code_range = Some(range);
    target.code_offset = Some(offset);
    target.out_fmt = std::array::from_fn(|n| Some(member::<UsOutFmt>(state, n)));
    target.w_fmt = Some(registers.get::<UsWFmt>());
    target.format =
        std::array::from_fn::<_, TEXTURE_UNITS, _>(|n| tx::scale_format(state, n, readings));
    target.constants = state.us.constants().to_vec();
    program
}

fn member<W: Mapped>(state: &State, n: usize) -> W {
    state.registers.member(n as u32)
}
