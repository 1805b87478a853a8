//! `US`: fragment programs, their constants and textures.

use std::sync::Arc;

use r500_chip::Mapped;
use r500_exec::{
    BindError, Bindings, Engine, GROUP_QUADS, Lanes, Op, QuadDrawing, QuadPixels,
    Readings as ExecReadings, RunInfo, Shader,
};
use r500_isa::state::{
    UsCodeAddr, UsCodeOffset, UsCodeRange, UsConfig, UsFcBoolConst, UsFcCtrl, UsFcIntConst,
    UsOutFmt, UsPixsize, UsWFmt,
};
use r500_isa::values::TexOp;
use r500_isa::{INT_CONSTANTS, TARGETS, TEXTURE_UNITS};
use r500_program::{Job, Program};
use r500_stream::State;

use crate::limits::{Budget, CardError, Limits};
use crate::reading::Readings;
use crate::report::{Note, Report};
use crate::rs::Rs;
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

impl Fragment {
    /// That of a pixel whose colours and depth do not matter.
    pub(crate) const ALIVE: Self = Self { colors: [[0.0; 4]; TARGETS], depth: 0.0, alive: true };
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

    /// Returns whether the program may kill pixels, or may not end.
    pub(crate) fn may_kill(&self) -> bool {
        self.shader.ops().iter().any(|op| match op {
            Op::Tex(tex) => tex.op == TexOp::TEXKILL,
            Op::Fc(_) => true,
            Op::Alu(_) => false,
        })
    }

    /// Prepares the program for an engine.
    ///
    /// # Errors
    /// [`CardError::Bindings`] if an input does not exist.
    pub(crate) fn prepare(&self, engine: &dyn Engine, rs: &Rs) -> Result<QuadDrawing, CardError> {
        let (shader, bindings) = (Arc::clone(&self.shader), self.bindings.clone());
        let temps = rs.writes().iter().map(|write| write.temp);
        QuadDrawing::new(engine, shader, bindings, temps, self.readings)
            .map_err(|error| CardError::Bindings(error.to_string()))
    }

    /// Returns the cost of preparing the program, in instructions.
    pub(crate) fn cost(&self) -> u64 {
        self.program.code.len() as u64 * Limits::PREPARE
    }
}

/// Returns the number of groups of some quads.
pub(crate) fn groups(quads: usize) -> u64 {
    quads.div_ceil(GROUP_QUADS) as u64
}

/// The results of fragment programs for quads, whose pixels are lanes.
#[derive(Clone, Copy)]
pub(crate) enum Shaded<'a> {
    /// Those of an engine.
    Quads(&'a QuadPixels<'a>),
    /// The same for all pixels.
    Same(&'a Fragment),
}

impl<'a> Shaded<'a> {
    /// Returns which pixels are not killed, and covered if they are of quads: all bits of the lane, or none.
    #[inline(always)]
    pub(crate) fn alive(self) -> Lanes<'a> {
        match self {
            Self::Quads(pixels) => Lanes::Each(pixels.alive),
            Self::Same(fragment) => {
                Lanes::Same(f32::from_bits(if fragment.alive { !0 } else { 0 }))
            }
        }
    }

    /// Returns a channel of a target.
    #[inline(always)]
    pub(crate) fn channel(self, target: usize, channel: usize) -> Lanes<'a> {
        match self {
            Self::Quads(pixels) => match &pixels.colors[target] {
                Some(channels) => channels[channel],
                None => Lanes::Same(0.0),
            },
            Self::Same(fragment) => Lanes::Same(fragment.colors[target][channel]),
        }
    }

    /// Returns the result for a pixel, with canonical NaN.
    pub(crate) fn fragment(self, lane: usize) -> Fragment {
        match self {
            Self::Quads(pixels) => Fragment {
                colors: std::array::from_fn(|target| pixels.color(target, lane)),
                depth: pixels.depth(lane),
                alive: pixels.is_alive(lane),
            },
            Self::Same(fragment) => *fragment,
        }
    }
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
