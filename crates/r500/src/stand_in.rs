//! Stand-in values for resources that a single program reads and its job does not provide.
//!
//! Driver logs and bare dwords have no constants and no textures. With zeros they draw black; with these values they
//! draw a visible picture, and a caller can report which values are made up. [`Fill`](crate::equivalence::Fill) does
//! the same for two programs that are compared.

use std::io;
use std::path::Path;

use r500_check::ExternalReads;
use r500_isa::state::{UsFcBoolConst, UsFcIntConst};
use r500_program::{Job, Texture};

use crate::texture::{Filter, Source, TextureSpec};

/// Trip count of a loop whose integer constant is not provided.
const ITERATIONS: u8 = 8;

/// Sets the constants and textures that the program of a job reads and the job does not provide, and returns them.
/// Inputs are not changed.
pub fn fill(job: &mut Job) -> ExternalReads {
    let mut missing = ExternalReads::of(&job.program).missing(job);
    missing.inputs.clear();
    for &number in &missing.constants {
        let state = &mut job.program.state;
        let open = state.missing_channels(usize::from(number));
        for (channel, value) in constant(number).into_iter().enumerate() {
            if open >> channel & 1 != 0 {
                state.set_constant(usize::from(number), channel, value.to_bits());
            }
        }
    }
    let int = UsFcIntConst::default().with(UsFcIntConst::KR, ITERATIONS).with(UsFcIntConst::KB, 1);
    for number in bits(missing.int_constants) {
        if let Some(slot) = job.program.state.fc_int_const.get_mut(number) {
            *slot = Some(int);
        }
    }
    if missing.bool_constants != 0 {
        job.program.state.fc_bool_const = Some(UsFcBoolConst(missing.bool_constants));
    }
    for unit in bits(missing.textures.into()) {
        if let Some(slot) = job.textures.get_mut(unit) {
            *slot = texture(unit);
        }
    }
    missing
}

fn bits(set: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |n| set >> n & 1 != 0)
}

/// Returns an opaque colour, with different hues for neighbouring numbers.
fn constant(number: u8) -> [f32; 4] {
    // Multiples of the golden ratio spread evenly over the unit interval.
    let hue = f32::from(number) * 0.618_034;
    let channel = |third: f32| ((hue + third / 3.0).fract() * 24.0).round() / 32.0 + 0.25;
    [channel(0.0), channel(1.0), channel(2.0), 1.0]
}

/// Returns a checkerboard, noise or a gradient, in turn.
fn texture(unit: usize) -> Option<Texture> {
    let (source, filter) = match unit % 3 {
        0 => (Source::Checker, Filter::Nearest),
        1 => (Source::Noise, Filter::Linear),
        _ => (Source::Gradient, Filter::Linear),
    };
    let spec = TextureSpec {
        size: Some([64, 64, 1]),
        cells: 8,
        mag: filter,
        min: filter,
        mip: None,
        seed: unit as u64 + 1,
        ..TextureSpec::new(source)
    };
    let no_files = |_: &Path| Err(io::ErrorKind::NotFound.into());
    spec.load_with(&no_files, Path::new("")).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn missing_bindings_are_filled_and_others_unchanged() {
        let source = "FULL_FC_EN ; const[1] = (1, 2, 3, 4) ;\n\
            LOOP int[2] ; src0.rgb = const[0], src1.rgb = const[1] : temp[1].rgb = MAD src0.rgb src1.rgb src0.000 ; ENDLOOP ;\n\
            TEX TEX_SEM_ACQUIRE temp[2].rgba = LD tex[3].rgba temp[0].rgba ;\n\
            OUT TEX_SEM_WAIT LAST src0.rgb = temp[2] : out[0].rgb = MAX src0.rgb src0.rgb ;";
        let assembly = r500_asm::assemble(source.as_bytes(), r500_asm::Options::default());
        assert!(assembly.is_ok());
        let mut job = assembly.job;
        let filled = fill(&mut job);
        assert_eq!(filled.constants.into_iter().collect::<Vec<_>>(), [0]);
        assert_eq!((filled.int_constants, filled.textures), (1 << 2, 1 << 3));
        let state = &job.program.state;
        assert_eq!(state.constants[1].map(f32::from_bits), [1.0, 2.0, 3.0, 4.0]);
        let made_up = state.constants[0].map(f32::from_bits);
        assert!(made_up.iter().all(|x| (0.25..=1.0).contains(x)), "{made_up:?}");
        assert_eq!(state.fc_int_const[2].unwrap().kr(), ITERATIONS);
        assert!(job.textures[3].is_some() && job.textures[0].is_none());
        assert!(fill(&mut job).is_empty(), "nothing is missing afterwards");
    }
}
