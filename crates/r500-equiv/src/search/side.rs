//! One of the two programs of a search with its bindings.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use r500_exec::{Bindings, Drawing, Engine, Frame, Options, RunError, Shader};
use r500_isa::state::UsFcIntConst;
use r500_program::{Input, InputData, Job, Texture};

use super::constants_as_inputs::constants_as_inputs;
use super::plan::{Plan, SIZE, Slot};
use crate::exercise::GROUPS;
use crate::{Exercise, Incomparable, InterfaceMatch, SIDES, Side};

pub(super) struct SideState<'a> {
    pub(super) side: Side,
    index: usize,
    /// The original job, with the textures and constants of the picture.
    pub(super) job: Job,
    /// The textures of the original job.
    textures: [Option<Texture>; 16],
    /// Channels of inputs that are set: temporary, channel, slot.
    inputs: Vec<(u8, u8, usize)>,
    /// Channels of constants that are set: number, channel, slot; in the picture, the temporary of that number.
    constants: Vec<(u8, u8, usize)>,
    temps: BTreeMap<u8, u8>,
    bindings: Bindings,
    drawing: Drawing<'a>,
    frame: Frame,
    mask: Option<Vec<bool>>,
    /// Whether the last picture ended.
    pub(super) ended: bool,
}

/// Prepares both programs. Returns whether constants differ from quad to quad.
pub(super) fn prepare<'a>(
    jobs: &[Job; 2],
    plan: &Plan,
    interface: &InterfaceMatch,
    engine: &'a dyn Engine,
    options: &Options<'a>,
) -> Result<([SideState<'a>; 2], bool), Incomparable> {
    let lowered = [0, 1].map(|n: usize| {
        let places = |is_constant: bool| {
            let slots = plan.slots().iter().filter(move |slot| slot.is_constant == is_constant);
            slots.flat_map(move |slot| slot.places[n].iter().map(|(number, _)| *number))
        };
        let mut inputs: BTreeSet<u8> = places(false).collect();
        inputs.extend(jobs[n].inputs.iter().flatten().map(|input| input.temp));
        let constants: BTreeSet<u8> = places(true).collect();
        constants_as_inputs(&jobs[n].program, &inputs, &constants)
    });
    let (programs, by_quad) = match lowered {
        [Some(a), Some(b)] => ([a, b], true),
        _ => (jobs.each_ref().map(|job| (job.program.clone(), BTreeMap::new())), false),
    };
    let [a, b] = programs;
    let mut job_b = jobs[1].clone();
    let mut job_a = jobs[0].clone();
    // A texture that only one program has holds for both.
    for unit in 0..16 {
        match (&job_a.textures[unit], &job_b.textures[unit]) {
            (Some(texture), None) => {
                job_b.textures[unit] = Some(texture.clone());
                job_b.program.state.format[unit] = job_a.program.state.format[unit];
            }
            (None, Some(texture)) => {
                job_a.textures[unit] = Some(texture.clone());
                job_a.program.state.format[unit] = job_b.program.state.format[unit];
            }
            _ => {}
        }
    }
    for n in (0..32).filter(|n| interface.missing.int_constants >> n & 1 != 0) {
        let value = UsFcIntConst::default().with(UsFcIntConst::KR, 1);
        job_a.program.state.fc_int_const[n].get_or_insert(value);
        job_b.program.state.fc_int_const[n].get_or_insert(value);
    }
    let a = SideState::new(0, job_a, plan, a, engine, options)?;
    let b = SideState::new(1, job_b, plan, b, engine, options)?;
    Ok(([a, b], by_quad))
}

impl<'a> SideState<'a> {
    fn new(
        index: usize,
        mut job: Job,
        plan: &Plan,
        (program, temps): (r500_program::Program, BTreeMap<u8, u8>),
        engine: &'a dyn Engine,
        options: &Options<'a>,
    ) -> Result<Self, Incomparable> {
        let side = SIDES[index];
        let of_kind = |is_constant: bool| {
            let slots = plan.slots().iter().enumerate();
            let slots = slots.filter(move |(_, slot)| slot.is_constant == is_constant);
            slots.flat_map(move |(n, slot)| {
                slot.places[index].iter().map(move |&(number, channel)| (number, channel, n))
            })
        };
        let inputs: Vec<_> = of_kind(false).collect();
        let constants: Vec<_> = of_kind(true).collect();
        let pixels = SIZE as u32;
        job.size = Some([pixels; 2]);
        job.coverage = None;
        job.inputs = Some(base_inputs(&job, &inputs, pixels)?);
        let mut lowered = job.clone();
        lowered.program = program;
        // Floats in temporaries instead of constants.
        for (&constant, &temp) in &temps {
            let base = job.program.state.constants.get(usize::from(constant)).copied();
            let base = base.unwrap_or_default().map(f32::from_bits);
            let data = InputData::Values { width: pixels, values: vec![base; SIZE * SIZE] };
            lowered.inputs.get_or_insert_default().push(Input { temp, data });
        }
        let bind = |error| Incomparable::Bind { side, error };
        let run = |error| Incomparable::Run { side, error };
        let bindings = Bindings::new(&lowered, [pixels; 2]).map_err(bind)?;
        let shader =
            Shader::new(&lowered.program).map_err(|error| Incomparable::Shader { side, error })?;
        let drawing = Drawing::new(engine, shader, &bindings, options.clone()).map_err(run)?;
        let frame = drawing.frame(&bindings).map_err(run)?;
        let textures = job.textures.clone();
        Ok(Self {
            side,
            index,
            job,
            textures,
            inputs,
            constants,
            temps,
            bindings,
            drawing,
            frame,
            mask: None,
            ended: true,
        })
    }

    /// Sets the values of a picture.
    pub(super) fn set_values(&mut self, values: &[Vec<f32>], by_quad: bool) {
        self.ended = true;
        for &(temp, channel, slot) in &self.inputs {
            if let Some(pixels) = self.bindings.input_values_mut(temp) {
                for (pixel, value) in pixels.iter_mut().zip(&values[slot]) {
                    pixel[usize::from(channel & 3)] = *value;
                }
            }
        }
        for &(number, channel, slot) in &self.constants {
            if by_quad {
                let temp = self.temps.get(&number).copied().unwrap_or_default();
                if let Some(pixels) = self.bindings.input_values_mut(temp) {
                    for (pixel, value) in pixels.iter_mut().zip(&values[slot]) {
                        pixel[usize::from(channel & 3)] = *value;
                    }
                }
            } else {
                let number = usize::from(number);
                let mut constant = self.bindings.constant(number).unwrap_or_default();
                constant[usize::from(channel & 3)] = values[slot][0];
                // The number is one of 256.
                let _ = self.bindings.set_constant(number, constant);
            }
        }
    }

    pub(super) fn set_mask(&mut self, mask: Option<Vec<bool>>) {
        if mask.is_some() || self.mask.is_some() {
            // The mask has the size of the picture.
            let _ = self.bindings.set_coverage(mask.clone());
            self.mask = mask;
        }
    }

    pub(super) fn set_time(&mut self, left: Duration) {
        self.drawing.options_mut().limits.time = Some(left);
    }

    /// Sets the instruction limit of a group.
    pub(super) fn set_instructions(&mut self, limit: u64) {
        self.drawing.options_mut().limits.instructions = limit;
    }

    pub(super) fn set_int(&mut self, n: usize, value: UsFcIntConst) -> Result<(), Incomparable> {
        self.job.program.state.fc_int_const[n] = Some(value);
        let set = self.bindings.set_int_constant(n, value);
        set.map_err(|error| Incomparable::Bind { side: self.side, error })
    }

    pub(super) fn set_bool(&mut self, n: usize, value: bool) -> Result<(), Incomparable> {
        let bits = self.job.program.state.fc_bool_const.get_or_insert_default();
        bits.0 = if value { bits.0 | 1 << n } else { bits.0 & !(1 << n) };
        let set = self.bindings.set_bool_constant(n, value);
        set.map_err(|error| Incomparable::Bind { side: self.side, error })
    }

    /// Returns the texture of the original job.
    pub(super) fn original(&self, unit: usize) -> Option<&Texture> {
        self.textures[unit].as_ref()
    }

    pub(super) fn set_texture(
        &mut self,
        unit: usize,
        texture: &Texture,
    ) -> Result<(), Incomparable> {
        if self.job.textures[unit].as_ref() == Some(texture)
            && self.bindings.sampler(unit).is_some()
        {
            return Ok(());
        }
        self.job.textures[unit] = Some(texture.clone());
        let format = self.job.program.state.format[unit];
        let set = self.bindings.set_texture(unit, texture, format);
        set.map_err(|error| Incomparable::Bind { side: self.side, error })
    }

    pub(super) fn draw(&mut self) -> Result<(), RunError> {
        self.drawing.draw_into(&self.bindings, &mut self.frame)
    }

    /// Returns the instructions that the pixels of the last picture executed, with a factor for the reference engine.
    pub(super) fn work(&self, reference: u64) -> u64 {
        let info = &self.frame.run_info;
        let is_slow = info.fallback_reason.is_some() || info.engine == "reference";
        let factor = if is_slow { reference } else { 1 };
        self.frame.counters.instructions.saturating_mul(16 * factor)
    }

    pub(super) fn frame(&self) -> &Frame {
        &self.frame
    }

    pub(super) fn covers(&self, pixel: usize) -> bool {
        self.mask.as_ref().is_none_or(|mask| mask[pixel])
    }

    /// Follows some groups of the picture for the coverage of instructions.
    pub(super) fn exercise(&mut self, exercise: &mut Exercise, is_uniform: bool) {
        let groups = if is_uniform { 1 } else { GROUPS };
        let (shader, options) = (self.drawing.shader(), self.drawing.options());
        // A limit only ends the run of a group.
        let _ = exercise.record_groups(shader, &self.bindings, options, groups);
    }

    /// Returns the original program with the values of a quad.
    pub(super) fn quad(
        &self,
        slots: &[Slot],
        at: [usize; 4],
        value: &dyn Fn(usize, usize) -> f32,
    ) -> Job {
        let mut job = self.job.clone();
        job.size = Some([2, 2]);
        job.coverage = self.mask.as_ref().map(|mask| at.map(|pixel| mask[pixel]).to_vec());
        for input in job.inputs.iter_mut().flatten() {
            let mut values = match &input.data {
                InputData::Values { values, .. } => at.map(|pixel| values[pixel]),
                InputData::Planes(_) => at.map(|pixel| {
                    let [x, y] = [pixel % SIZE, pixel / SIZE].map(|n| n as u32);
                    self.bindings.input(input, x, y)
                }),
            };
            for (n, slot) in slots.iter().enumerate().filter(|(_, slot)| !slot.is_constant) {
                for &(_, channel) in
                    slot.places[self.index].iter().filter(|(temp, _)| *temp == input.temp)
                {
                    for (vector, pixel) in values.iter_mut().zip(at) {
                        vector[usize::from(channel & 3)] = value(n, pixel);
                    }
                }
            }
            input.data = InputData::Values { width: 2, values: values.to_vec() };
        }
        for &(number, channel, slot) in &self.constants {
            let bits = value(slot, at[0]).to_bits();
            job.program.state.set_constant(number.into(), channel.into(), bits);
        }
        job
    }
}

/// Returns the inputs of a job, those that are set as values for every pixel.
fn base_inputs(job: &Job, set: &[(u8, u8, usize)], size: u32) -> Result<Vec<Input>, Incomparable> {
    let mut inputs = job.inputs.clone().unwrap_or_default();
    let set: BTreeSet<u8> = set.iter().map(|(temp, ..)| *temp).collect();
    let plain = Job { inputs: Some(Vec::new()), textures: Default::default(), ..job.clone() };
    let bindings = Bindings::new(&plain, [size; 2])
        .map_err(|error| Incomparable::Bind { side: Side::A, error })?;
    for input in inputs
        .iter_mut()
        .filter(|input| set.contains(&input.temp) || matches!(input.data, InputData::Values { .. }))
    {
        let mut values = Vec::with_capacity(SIZE * SIZE);
        for y in 0..size {
            values.extend((0..size).map(|x| bindings.input(input, x, y)));
        }
        input.data = InputData::Values { width: size, values };
    }
    for temp in set {
        if !inputs.iter().any(|input| input.temp == temp) {
            let values = vec![[0.0; 4]; SIZE * SIZE];
            inputs.push(Input { temp, data: InputData::Values { width: size, values } });
        }
    }
    Ok(inputs)
}
