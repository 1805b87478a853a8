//! The values that instructions write, as inputs of the program without them.

use std::collections::BTreeMap;

use r500_exec::reference::Group;
use r500_exec::{Bindings, Draw, Options, PixelRect, Shader};
use r500_program::{Input, InputData, Job};

/// The values of temporaries after the last execution of each instruction that writes them, pixel by pixel.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    /// By index of the instruction and temporary.
    values: BTreeMap<(usize, u8), Vec<[f32; 4]>>,
}

impl Recorded {
    /// Records a job whose picture is one group. Returns nothing for larger pictures, and where a run fails.
    pub(super) fn of(job: &Job, options: &Options<'_>) -> Self {
        Self::record(job, options).unwrap_or_default()
    }

    fn record(job: &Job, options: &Options<'_>) -> Option<Self> {
        let [width, height] = job.size?;
        if width > options.group[0] || height > options.group[1] {
            return None;
        }
        let shader = Shader::new(&job.program).ok()?;
        let bindings = Bindings::new(job, [width, height]).ok()?;
        let draw = Draw::new(&shader, &bindings, options).ok()?;
        let mut group = Group::new(&draw, PixelRect { x: 0, y: 0, width, height });
        let mut recorded = Self::default();
        while !group.ended() {
            let al = group.al();
            let step = group.step().ok()?;
            let index = step.address.checked_sub(shader.offset())? as usize;
            let Some(op) = shader.instruction(step.address) else { continue };
            for access in r500_isa::InstInfo::new(op).writes.iter() {
                let moved = i32::from(access.addr) + if access.relative { al } else { 0 };
                let temp = (moved & 0x7f) as u8;
                let mut values = Vec::new();
                for y in 0..height {
                    for x in 0..width {
                        let lane = &group.state().lanes()[group.state().lane_at(x, y)?];
                        values.push(lane.temps[usize::from(temp)]);
                    }
                }
                recorded.values.insert((index, temp), values);
            }
        }
        Some(recorded)
    }

    /// Returns the values of a temporary after the last of these instructions that writes it.
    pub(super) fn after(
        &self,
        removed: impl DoubleEndedIterator<Item = usize>,
        temp: u8,
    ) -> Option<&[[f32; 4]]> {
        let mut removed = removed.rev();
        removed.find_map(|index| self.values.get(&(index, temp)).map(Vec::as_slice))
    }
}

/// Returns an input with these values, for a picture of this width.
pub(super) fn input(temp: u8, values: &[[f32; 4]], width: u32) -> Input {
    Input { temp, data: InputData::Values { width, values: values.to_vec() } }
}
