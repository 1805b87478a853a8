//! Built-in uniforms: named constants that the host sets before each picture.
//!
//! | name | channels |
//! | --- | --- |
//! | `time` | seconds |
//! | `resolution` | width and height of the picture in pixels, then 1/width and 1/height |
//! | `mouse` | pointer position from 0 to 1, from the lower left; 1 while a button is pressed; 0 |
//! | `frame` | number of pictures drawn before this one |
//!
//! A source binds one with `UNIFORM "mouse" = const[3].rgba ;` and gives the constant a default for hosts without a
//! value: `const[3] = (0.5, 0.5, 0, 0) ;`.

use r500_program::{Job, Uniform};

/// The names, in the order of the table above.
pub const NAMES: [&str; 4] = ["time", "resolution", "mouse", "frame"];

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

impl BuiltinUniforms {
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

    fn named(&self, name: &str) -> Vec<f32> {
        match name {
            "time" => self.time.into_iter().collect(),
            "resolution" => self.resolution.map_or_else(Vec::new, |size| {
                let [width, height] = size.map(|side| side as f32);
                vec![width, height, width.recip(), height.recip()]
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
}
