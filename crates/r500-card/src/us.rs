//! `US`: fragment programs. The quads of a draw are packed into one picture, with inputs by pixel and a coverage mask, and
//! any engine draws it.

use r500_chip::Mapped;
use r500_exec::{Bindings, Engine, Frame, Options, Readings as ExecReadings, Shader, draw};
use r500_isa::state::{
    UsCodeAddr, UsCodeOffset, UsCodeRange, UsConfig, UsFcBoolConst, UsFcCtrl, UsFcIntConst,
    UsOutFmt, UsPixsize, UsWFmt,
};
use r500_isa::{INT_CONSTANTS, TARGETS, TEXTURE_UNITS};
use r500_program::{Input, InputData, Job, Program};
use r500_stream::State;

use crate::limits::{CardError, Limits};
use crate::report::{Note, Report};
use crate::rs::Rs;
use crate::sc::{Quad, Samples};
use crate::su::Primitive;
use crate::tx;

/// Quads in a row of the packed picture.
const ROW: usize = 256;

/// A fragment program with what it reads, but for inputs.
pub(crate) struct Fragments {
    shader: Shader,
    job: Job,
    readings: ExecReadings,
    instructions: u64,
}

/// What fragment programs leave: the packed picture.
pub(crate) struct Shaded {
    frame: Frame,
}

/// What the fragment program left in a pixel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fragment {
    pub(crate) colors: [[f32; 4]; TARGETS],
    pub(crate) depth: f32,
    /// Not killed.
    pub(crate) alive: bool,
}

impl Fragments {
    /// Reads program, constants and textures; `None`, with a note, if nothing could run.
    pub(crate) fn new(
        state: &State,
        readings: ExecReadings,
        limits: Limits,
        report: &mut Report,
    ) -> Option<Self> {
        let program = program(state);
        let shader = match Shader::new(&program) {
            Ok(shader) => shader,
            Err(error) => {
                report.note(Note::Program { why: error.to_string() });
                return None;
            }
        };
        let textures = tx::textures(state, report);
        let job = Job { program, textures, ..Job::default() };
        Some(Self { shader, job, readings, instructions: limits.fragment_instructions })
    }

    /// Returns program and textures.
    pub(crate) fn job(&self) -> &Job {
        &self.job
    }

    /// Returns which targets some instruction writes.
    pub(crate) fn targets(&self) -> [bool; TARGETS] {
        self.shader.targets()
    }

    /// Runs the program for all pixels of quads that have a covered sample; the others are helpers. Each quad comes with
    /// the number of its primitive.
    pub(crate) fn shade(
        &mut self,
        engine: &dyn Engine,
        rs: &Rs,
        samples: &Samples,
        primitives: &[Primitive],
        quads: &[(u32, Quad)],
    ) -> Result<Shaded, CardError> {
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
            // Threads do not pay for small pictures.
            threads: if pixels < 1 << 14 { 1 } else { 0 },
            limits: r500_exec::Limits { instructions: self.instructions, ..Default::default() },
            ..Options::default()
        };
        let bindings = Bindings::new(&self.job, size);
        let bindings = bindings.map_err(|error| CardError::Bindings(error.to_string()))?;
        let frame = draw(engine, &self.shader, &bindings, &options)?;
        Ok(Shaded { frame })
    }
}

impl Shaded {
    /// Returns a pixel of quad `n`.
    pub(crate) fn fragment(&self, n: usize, corner: usize) -> Fragment {
        let place = place(n, corner, self.frame.width() as usize);
        let color = |target| {
            let plane: Option<&[[f32; 4]]> = self.frame.target(target);
            plane.map_or([0.0; 4], |plane| plane[place])
        };
        Fragment {
            colors: std::array::from_fn(color),
            depth: self.frame.depth().map_or(0.0, |plane| plane[place]),
            alive: self.frame.coverage()[place],
        }
    }
}

/// Where a pixel of quad `n` lies in the packed picture.
fn place(n: usize, corner: usize, width: usize) -> usize {
    let (row, column) = (n / ROW * 2 + corner / 2, n % ROW * 2 + corner % 2);
    row * width + column
}

/// The program in the instruction memory: from `US_CODE_OFFSET` to the end of the code window.
fn program(state: &State) -> Program {
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
    target.format = std::array::from_fn::<_, TEXTURE_UNITS, _>(|n| tx::us_format(state, n));
    target.constants = state.us.constants().to_vec();
    program
}

fn member<W: Mapped>(state: &State, n: usize) -> W {
    state.registers.member(n as u32)
}
