//! Removal of constants, inputs, textures and state, and simple values for what remains.

use r500_check::ExternalReads;
use r500_program::{Input, InputData, Job, Plane, State as Registers};

use super::{State, is_same_pair};
use r500_exec::builtin_uniforms::NAMES;

/// Simple numbers, the simplest first.
const SIMPLE: [f32; 6] = [0.0, 1.0, 0.5, 2.0, -1.0, 0.25];

impl State<'_> {
    /// Removes what neither program reads, and gives the rest simple values where the difference stays.
    pub(super) fn simplify_bindings(&mut self) {
        let mut jobs = self.jobs.clone();
        jobs.iter_mut().for_each(remove_unread);
        self.try_jobs(jobs);
        self.simplify_state();
        self.simplify_constants();
        self.simplify_inputs();
    }

    /// Removes registers of the state that have the same value in both.
    fn simplify_state(&mut self) {
        let removals: [fn(&mut Registers); 6] = [
            |state| state.config = None,
            |state| state.pixsize = None,
            |state| state.fc_ctrl = None,
            |state| state.w_fmt = None,
            |state| state.fc_bool_const = None,
            |state| state.out_fmt = Default::default(),
        ];
        for remove in removals {
            let mut jobs = self.jobs.clone();
            jobs.iter_mut().for_each(|job| remove(&mut job.program.state));
            self.try_jobs(jobs);
        }
        let mut jobs = self.jobs.clone();
        for job in &mut jobs {
            (job.origin, job.rationale, job.status) = Default::default();
            (job.coverage, job.time) = (None, None);
        }
        self.try_jobs(jobs);
    }

    fn simplify_constants(&mut self) {
        let count = self.jobs.each_ref().map(|job| job.program.state.constants.len());
        for n in 0..count[0].max(count[1]) {
            for channel in 0..4 {
                let value = |job: &Job| {
                    let state = &job.program.state;
                    state.gives_constant(n).then(|| state.constants[n][channel])
                };
                let values = self.jobs.each_ref().map(value);
                let now = match values {
                    [Some(a), Some(b)] if a != b => continue,
                    [Some(now), _] | [None, Some(now)] => now,
                    [None, None] => continue,
                };
                for simple in simpler(now) {
                    let mut jobs = self.jobs.clone();
                    for (job, value) in jobs.iter_mut().zip(values) {
                        if value.is_some() {
                            job.program.state.set_constant(n, channel, simple);
                        }
                    }
                    if self.try_jobs(jobs) {
                        break;
                    }
                }
            }
        }
    }

    fn simplify_inputs(&mut self) {
        let temps = |job: &Job| job.inputs.iter().flatten().map(|input| input.temp).collect();
        let mut all: Vec<u8> = self.jobs.iter().flat_map(|job| -> Vec<u8> { temps(job) }).collect();
        all.sort_unstable();
        all.dedup();
        for temp in all {
            for channel in 0..4 {
                self.simplify_component(temp, channel);
            }
            // The same value in every pixel is shorter as a plane.
            let mut jobs = self.jobs.clone();
            jobs.iter_mut().for_each(|job| make_constant(job, temp));
            self.try_jobs(jobs);
        }
    }

    /// Gives a component of an input the same simple value in all pixels.
    fn simplify_component(&mut self, temp: u8, channel: usize) {
        let pixel = self.difference.as_ref().map_or([0, 0], |difference| difference.pixel);
        let value = |job: &Job| {
            let values = values_of(job, temp)?;
            let at = pixel[1] as usize * job.size?[0] as usize + pixel[0] as usize;
            values.get(at).map(|value| value[channel].to_bits())
        };
        let now = self.jobs.each_ref().map(value);
        let now = match now {
            [Some(a), Some(b)] if a != b => return,
            [Some(now), _] | [None, Some(now)] => now,
            [None, None] => return,
        };
        for simple in simpler(now).chain([now]) {
            let mut jobs = self.jobs.clone();
            for job in &mut jobs {
                for input in job.inputs.iter_mut().flatten().filter(|input| input.temp == temp) {
                    if let InputData::Values { values, .. } = &mut input.data {
                        values.iter_mut().for_each(|v| v[channel] = f32::from_bits(simple));
                    }
                }
            }
            if is_same_pair(&jobs, &self.jobs) || self.try_jobs(jobs) {
                break;
            }
        }
    }
}

/// Returns the bits of numbers that are simpler than one.
fn simpler(now: u32) -> impl Iterator<Item = u32> {
    SIMPLE.into_iter().map(f32::to_bits).take_while(move |simple| *simple != now)
}

fn values_of(job: &Job, temp: u8) -> Option<&[[f32; 4]]> {
    let mut inputs = job.inputs.iter().flatten();
    match &inputs.find(|input| input.temp == temp)?.data {
        InputData::Values { values, .. } => Some(values),
        InputData::Planes(_) => None,
    }
}

/// Replaces an input with the same value in all pixels by planes.
fn make_constant(job: &mut Job, temp: u8) {
    let Some(&[first, ref rest @ ..]) = values_of(job, temp) else { return };
    let bits = first.map(f32::to_bits);
    if rest.iter().any(|value| value.map(f32::to_bits) != bits) {
        return;
    }
    for input in job.inputs.iter_mut().flatten().filter(|input| input.temp == temp) {
        *input = Input::planes(temp, first.map(Plane::constant));
    }
}

/// Removes the constants, textures and inputs that a program does not read, and the names of its constants.
fn remove_unread(job: &mut Job) {
    let reads = ExternalReads::of(&job.program);
    // The values of built-in uniforms are those of the original picture.
    job.uniforms.retain(|uniform| {
        reads.constants.contains(&uniform.constant) && !NAMES.contains(&uniform.name.as_str())
    });
    job.named_by_value.clear();
    let state = &mut job.program.state;
    for n in 0..state.constants.len() {
        let read = u8::try_from(n).is_ok_and(|n| reads.constants.contains(&n));
        if !read && state.gives_constant(n) {
            state.constants[n] = [0; 4];
            let at = state.absent_constants.partition_point(|absent| *absent < n);
            state.absent_constants.insert(at, n);
        }
    }
    while state.constants.len().checked_sub(1).is_some_and(|last| !state.gives_constant(last)) {
        state.constants.pop();
        state.absent_constants.pop();
    }
    for (n, int) in state.fc_int_const.iter_mut().enumerate() {
        if reads.int_constants >> n & 1 == 0 {
            *int = None;
        }
    }
    for (unit, texture) in job.textures.iter_mut().enumerate() {
        if reads.textures >> unit & 1 == 0 {
            *texture = None;
            state.format[unit] = None;
        }
    }
    if let Some(inputs) = &mut job.inputs {
        inputs.retain(|input| reads.inputs.contains_key(&input.temp));
    }
}
