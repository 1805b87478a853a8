//! Built-in uniforms: named constants that the host sets before each picture.
//!
//! | name | channels |
//! | --- | --- |
//! | `time` | seconds |
//! | `resolution` | width and height of the picture in pixels, then 1/width and 1/height |
//! | `mouse` | pointer position from 0 to 1, from the lower left; 1 while a button is pressed; 0 |
//! | `frame` | number of pictures drawn before this one |
//! | `viewport` | half of the width and of the height in pixels, 1/2, 0: scale and offset from clip space to pixels, which drivers put in constants |
//!
//! A source binds one with `UNIFORM "mouse" = const[3].rgba ;` and gives the constant a default for hosts without a
//! value: `const[3] = (0.5, 0.5, 0, 0) ;`.
//!
//! Every front end follows the same rule, so that all draw the same picture. The first of these that exists is the value:
//!
//! 1. what the user or the host gives for this picture: a constant, a time, a clock, a pointer, a frame of a sequence;
//! 2. `TIME` of the source, for `time`; the size of the picture, for `resolution`;
//! 3. the constant's value in the source;
//! 4. zero.
//!
//! [`bind`] does this for a picture of a job.

use crate::{BindError, Bindings};
use r500_program::{Job, Uniform};

/// The names, in the order of the table above.
pub const NAMES: [&str; 5] = ["time", "resolution", "mouse", "frame", VIEWPORT];

/// The name of the scale, and of the offset, of the viewport.
pub const VIEWPORT: &str = "viewport";

/// Values of the built-in uniforms that a host knows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BuiltinUniforms {
    /// Time in seconds.
    pub time: Option<f32>,
    /// Width and height in pixels.
    pub resolution: Option<[u32; 2]>,
    /// Pointer position from 0 to 1 (column, row from the bottom), and whether a button is pressed.
    pub mouse: Option<([f32; 2], bool)>,
    /// Number of pictures drawn before this one.
    pub frame: Option<u32>,
}

/// Returns the size of a job's picture where nothing else gives one.
#[must_use]
pub fn default_size(job: &Job) -> [u32; 2] {
    job.size.unwrap_or([256, 256])
}

/// Returns the time at which a job's picture is drawn where nothing else gives one: `TIME`, or the value of the constant
/// named `time`, or 0.
#[must_use]
pub fn start_time(job: &Job) -> f32 {
    let carried = || {
        let uniform = job.uniforms.iter().find(|uniform| uniform.name == "time")?;
        let value = job.program.state.constants.get(usize::from(uniform.constant))?;
        value.get(usize::from(uniform.channel)).copied().map(f32::from_bits)
    };
    job.time.or_else(carried).unwrap_or(0.0)
}

/// Binds the data of a job for a picture of `size`, with the built-in uniforms that every host knows.
///
/// # Errors
/// [`BindError`], with the part that does not fit.
pub fn bind(job: &Job, size: [u32; 2]) -> Result<Bindings, BindError> {
    let mut bindings = Bindings::new(job, size)?;
    BuiltinUniforms::of_picture(job, size).bind(&job.uniforms, &mut bindings)?;
    Ok(bindings)
}

impl BuiltinUniforms {
    /// Returns the values that every host knows: the size of the picture, and the time that the source gives.
    #[must_use]
    pub fn of_picture(job: &Job, size: [u32; 2]) -> Self {
        Self { time: job.time, resolution: Some(size), mouse: None, frame: None }
    }

    /// Returns the channel values for the uniforms of a program: constant, channel, value.
    #[must_use]
    pub fn values(&self, uniforms: &[Uniform]) -> Vec<(usize, usize, f32)> {
        let of = |uniform: &Uniform| {
            let values = self.named(&uniform.name);
            let constant = usize::from(uniform.constant);
            let channels = usize::from(uniform.channel)..4;
            let channels = channels.take(uniform.channels.into());
            channels.zip(values).map(move |(channel, value)| (constant, channel, value))
        };
        uniforms.iter().flat_map(of).collect()
    }

    /// Stores the values in a job's constants.
    pub fn apply(&self, job: &mut Job) {
        for (constant, channel, value) in self.values(&job.uniforms) {
            job.program.state.set_constant(constant, channel, value.to_bits());
        }
    }

    /// Stores the values in the constants of bindings.
    ///
    /// # Errors
    /// [`BindError`] if a uniform names a constant that does not exist.
    pub fn bind(&self, uniforms: &[Uniform], bindings: &mut Bindings) -> Result<(), BindError> {
        for (constant, channel, number) in self.values(uniforms) {
            let mut value = bindings.constant(constant).unwrap_or_default();
            if let Some(channel) = value.get_mut(channel) {
                *channel = number;
            }
            bindings.set_constant(constant, value)?;
        }
        Ok(())
    }

    fn named(&self, name: &str) -> Vec<f32> {
        match name {
            "time" => self.time.into_iter().collect(),
            "resolution" => self.resolution.map_or_else(Vec::new, |size| {
                let [width, height] = size.map(|side| side as f32);
                vec![width, height, width.recip(), height.recip()]
            }),
            VIEWPORT => self.resolution.map_or_else(Vec::new, |size| {
                let [x, y] = size.map(|side| side as f32 / 2.0);
                vec![x, y, 0.5, 0.0]
            }),
            "mouse" => self.mouse.map_or_else(Vec::new, |([x, y], pressed)| {
                vec![x, y, f32::from(u8::from(pressed)), 0.0]
            }),
            "frame" => self.frame.map(|frame| frame as f32).into_iter().collect(),
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn each_name_fills_the_channels_that_it_is_bound_to() {
        let uniform = |name: &str, constant, channel, channels| Uniform {
            name: name.into(),
            constant,
            channel,
            channels,
        };
        let mut job = Job {
            uniforms: vec![
                uniform("resolution", 1, 0, 4),
                uniform("mouse", 2, 1, 2),
                uniform("time", 2, 0, 1),
                uniform("frame", 0, 3, 1),
                uniform("other", 5, 0, 4),
            ],
            ..Job::default()
        };
        let builtin = BuiltinUniforms {
            time: Some(2.5),
            resolution: Some([4, 2]),
            mouse: Some(([0.25, 0.75], true)),
            frame: None,
        };
        builtin.apply(&mut job);
        let constants: Vec<[f32; 4]> =
            job.program.state.constants.iter().map(|bits| bits.map(f32::from_bits)).collect();
        assert_eq!(constants, [[0.0; 4], [4.0, 2.0, 0.25, 0.5], [2.5, 0.25, 0.75, 0.0]]);
        assert!(
            !job.program.state.gives_constant(0),
            "a host that counts no pictures gives no `frame`"
        );
    }

    #[test]
    fn a_time_that_is_not_given_leaves_the_constant() {
        let uniform = Uniform { name: "time".into(), constant: 1, channel: 2, channels: 1 };
        let mut job = Job { uniforms: vec![uniform], ..Job::default() };
        let bound = |job: &Job| bind(job, [4, 2]).unwrap().constant(1);
        assert_eq!(start_time(&job), 0.0);
        job.program.state.set_constant(1, 2, 0.75_f32.to_bits());
        assert_eq!(start_time(&job), 0.75);
        assert_eq!(bound(&job), Some([0.0, 0.0, 0.75, 0.0]));
        // A given zero is a time.
        job.time = Some(0.0);
        assert_eq!(start_time(&job), 0.0);
        assert_eq!(bound(&job), Some([0.0; 4]));
    }

    #[test]
    fn the_resolution_is_that_of_the_picture() {
        let uniform = Uniform { name: "resolution".into(), constant: 0, channel: 0, channels: 2 };
        let mut job = Job { uniforms: vec![uniform], ..Job::default() };
        job.program.state.set_constant(0, 0, 1.0_f32.to_bits());
        assert_eq!(bind(&job, [4, 2]).unwrap().constant(0), Some([4.0, 2.0, 0.0, 0.0]));
    }
}
