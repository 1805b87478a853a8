//! `US`: fragment programs. Packs the quads of a draw into one picture, with inputs by pixel and a coverage mask, for
//! any engine.

use r500_chip::Mapped;
use r500_exec::{
    Bindings, Engine, Frame, GROUP, Op, Options, Readings as ExecReadings, RunError, RunInfo,
    Shader, draw,
};
use r500_isa::state::{
    UsCodeAddr, UsCodeOffset, UsCodeRange, UsConfig, UsFcBoolConst, UsFcCtrl, UsFcIntConst,
    UsOutFmt, UsPixsize, UsWFmt,
};
use r500_isa::{INT_CONSTANTS, TARGETS, TEXTURE_UNITS};
use r500_program::{Input, InputData, Job, Program};
use r500_stream::State;

use crate::limits::{Budget, CardError, Limits};
use crate::reading::Readings;
use crate::report::{Note, Report};
use crate::rs::Rs;
use crate::sc::{Quad, Samples};
use crate::su::Primitive;
use crate::texture_cache::LevelRead;
use crate::tx;

/// Number of quads in a row of the packed picture.
const ROW: usize = 256;

/// A fragment program with its bindings, except inputs.
pub(crate) struct Fragments {
    shader: Shader,
    job: Job,
    readings: ExecReadings,
    /// The levels of textures that the program may read.
    reads: Vec<LevelRead>,
}

/// The quads to shade.
pub(crate) struct Work<'a> {
    pub(crate) rs: &'a Rs,
    pub(crate) samples: &'a Samples,
    pub(crate) primitives: &'a [Primitive],
}

/// The results of fragment programs: packed pictures of the given number of quads each.
pub(crate) struct Shaded {
    frames: Vec<Frame>,
    quads: usize,
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
        let mut reads = Vec::new();
        let textures = tx::textures(state, readings, budget, report, &mut reads)?;
        let mut units = [false; TEXTURE_UNITS];
        for op in shader.ops() {
            if let Op::Tex(tex) = op {
                units[usize::from(tex.unit) % TEXTURE_UNITS] = true;
            }
        }
        reads.retain(|read| units[read.unit]);
        let job = Job { program, textures, ..Job::default() };
        Ok(Some(Self { shader, job, readings: exec_readings, reads }))
    }

    /// Takes the levels of textures that the program may read.
    pub(crate) fn take_reads(&mut self) -> Vec<LevelRead> {
        std::mem::take(&mut self.reads)
    }

    /// Returns program and textures.
    pub(crate) fn job(&self) -> &Job {
        &self.job
    }

    /// Returns which targets the program writes.
    pub(crate) fn targets(&self) -> [bool; TARGETS] {
        self.shader.targets()
    }

    /// Runs the program for all pixels of quads with a covered sample; uncovered pixels are helpers. Each quad has the
    /// number of its primitive.
    ///
    /// # Errors
    /// [`CardError`] if the program exceeds the budget or cannot run.
    pub(crate) fn shade(
        &mut self,
        engine: &dyn Engine,
        work: &Work<'_>,
        quads: &[(u32, Quad)],
        budget: &mut Budget,
    ) -> Result<Shaded, CardError> {
        let prepare = self.job.program.code.len() as u64 * Limits::PREPARE;
        budget.fragment_instructions(prepare)?;
        let (limit, shared) = budget.group_instructions(groups(quads.len()));
        match self.picture(engine, work, quads, limit, budget) {
            Ok(frame) => {
                budget.fragment_instructions(frame.counters.instructions)?;
                Ok(Shaded { frames: vec![frame], quads: quads.len() })
            }
            // One group may need more than its share of the remaining budget: in smaller pictures each has more.
            Err(CardError::Fragment(RunError::Instructions { .. }))
                if shared && quads.len() > PART =>
            {
                let mut frames = Vec::new();
                for part in quads.chunks(PART) {
                    budget.fragment_instructions(prepare)?;
                    let (limit, _) = budget.group_instructions(groups(part.len()));
                    let frame = self.picture(engine, work, part, limit, budget)?;
                    budget.fragment_instructions(frame.counters.instructions)?;
                    frames.push(frame);
                }
                Ok(Shaded { frames, quads: PART })
            }
            Err(error) => Err(error),
        }
    }

    /// Draws a packed picture of quads.
    fn picture(
        &mut self,
        engine: &dyn Engine,
        work: &Work<'_>,
        quads: &[(u32, Quad)],
        instructions: u64,
        budget: &Budget,
    ) -> Result<Frame, CardError> {
        let Work { rs, samples, primitives } = work;
        let rows = quads.len().div_ceil(ROW);
        let columns = quads.len().min(ROW);
        let size = [2 * columns, 2 * rows].map(|n| n as u32);
        let width = 2 * columns;
        let pixels = width * 2 * rows;
        let mut values = vec![vec![[0.0; 4]; pixels]; rs.writes().len()];
        let mut coverage = vec![false; pixels];
        for (n, (primitive, quad)) in quads.iter().enumerate() {
            let Some(primitive) = primitives.get(*primitive as usize) else { continue };
            for corner in 0..4 {
                let place = place(n, corner, width);
                coverage[place] = quad.masks[corner] != 0;
                let at = quad.pixel(corner);
                let inputs = rs.inputs(primitive, at, samples.center(at));
                for (values, input) in values.iter_mut().zip(inputs) {
                    values[place] = input;
                }
            }
        }
        let input = |(write, values): (&crate::rs::Write, Vec<_>)| Input {
            temp: write.temp,
            data: InputData::Values { width: width as u32, values },
        };
        self.job.size = Some(size);
        self.job.inputs = Some(rs.writes().iter().zip(values).map(input).collect());
        self.job.coverage = Some(coverage);
        let options = Options {
            readings: self.readings,
            // Threads are too expensive for small pictures.
            threads: if pixels < 1 << 14 { 1 } else { 0 },
            limits: r500_exec::Limits {
                instructions,
                time: budget.time_left(),
                ..Default::default()
            },
            ..Options::default()
        };
        let bindings = Bindings::new(&self.job, size);
        let bindings = bindings.map_err(|error| CardError::Bindings(error.to_string()))?;
        draw(engine, &self.shader, &bindings, &options).map_err(|error| match error {
            RunError::Time { .. } => budget.out_of_time(),
            error => CardError::Fragment(error),
        })
    }
}

/// Number of quads of a part of a picture that exceeds the budget as a whole.
const PART: usize = 1024;

/// Returns an upper bound of the number of groups in the packed picture of some quads.
fn groups(quads: usize) -> u64 {
    let [columns, rows] = [2 * quads.min(ROW), 2 * quads.div_ceil(ROW)];
    let [width, height] = GROUP.map(|n| n as usize);
    (columns.div_ceil(width) * rows.div_ceil(height)) as u64
}

impl Shaded {
    /// Returns which engine ran each picture.
    pub(crate) fn run_infos(&self) -> impl Iterator<Item = &RunInfo> {
        self.frames.iter().map(|frame| &frame.run_info)
    }

    /// Returns which pixels of quad `n` are covered and not killed.
    #[inline(always)]
    pub(crate) fn alive(&self, n: usize) -> [bool; 4] {
        let frame = &self.frames[n / self.quads];
        self.pixels(n, frame.coverage())
    }

    /// Returns a colour of the pixels of quad `n`.
    #[inline(always)]
    pub(crate) fn colors(&self, n: usize, target: usize) -> [[f32; 4]; 4] {
        let plane = self.frames[n / self.quads].target(target);
        plane.map_or([[0.0; 4]; 4], |plane| self.pixels(n, plane))
    }

    /// Returns the depths of the pixels of quad `n`.
    #[inline(always)]
    pub(crate) fn depths(&self, n: usize) -> [f32; 4] {
        let plane = self.frames[n / self.quads].depth();
        plane.map_or([0.0; 4], |plane| self.pixels(n, plane))
    }

    /// Returns the values of quad `n` in a plane of its frame.
    #[inline(always)]
    fn pixels<T: Copy>(&self, n: usize, plane: &[T]) -> [T; 4] {
        let width = self.frames[n / self.quads].width() as usize;
        let first = place(n % self.quads, 0, width);
        let [a, b] = [&plane[first..first + 2], &plane[first + width..first + width + 2]];
        [a[0], a[1], b[0], b[1]]
    }

    /// Returns a pixel of quad `n`.
    pub(crate) fn fragment(&self, n: usize, corner: usize) -> Fragment {
        let frame = &self.frames[n / self.quads];
        let place = place(n % self.quads, corner, frame.width() as usize);
        let color = |target| {
            let plane: Option<&[[f32; 4]]> = frame.target(target);
            plane.map_or([0.0; 4], |plane| plane[place])
        };
        Fragment {
            colors: std::array::from_fn(color),
            depth: frame.depth().map_or(0.0, |plane| plane[place]),
            alive: frame.coverage()[place],
        }
    }
}

/// Returns the index of a pixel of quad `n` in the packed picture.
fn place(n: usize, corner: usize, width: usize) -> usize {
    let (row, column) = (n / ROW * 2 + corner / 2, n % ROW * 2 + corner % 2);
    row * width + column
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
