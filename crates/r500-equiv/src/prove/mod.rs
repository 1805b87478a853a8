//! Proofs of equivalence by value numbering.
//!
//! Both programs are lifted with symbolic constants, inputs and textures. Their functions are numbered in one table:
//! equal numbers mean equal values, in every lane, for all constants, inputs and textures. The programs are equal if
//! their outputs, discards and loop conditions have equal numbers.
//!
//! | module | concept |
//! | --- | --- |
//! | [`cases`] | integer and boolean constants that neither program provides |
//! | [`state`] | formats of results |
//! | [`table`] | value numbers; masks and selects as decision diagrams |
//! | [`simplify`] | algebraic simplification, exact in the demanded bits |
//! | [`context`] | demanded lanes and bits |
//! | [`regions`] | branches, and loops by partition refinement |
//!
//! The method is incomplete: values with different numbers may still be equal, and then there is no verdict. A proof
//! assumes that pixels do not depend on the size of their group, so it rejects programs that can observe the size.

#![allow(clippy::expect_used, reason = "a broken invariant of a proof must stop loudly")]

mod cases;
mod context;
mod regions;
mod simplify;
mod state;
mod table;

use r500_check::ExternalReads;
use r500_exec::texture::{SamplerKind, TexReadings};
use r500_exec::{BindingKinds, GROUP, GroupKind, Readings, Shader, ShaderError};
use r500_ir::{ConstantChannel, Function};
use r500_isa::TEXTURE_UNITS;
use r500_lift::{InputKind, LiftError, LiftInput, ProgramAnalysis, lift_symbolic};
use r500_program::{Executable, Program};

pub use state::state_difference;

use super::known::{ALL_AXES, S_AND_T};
use super::{Known, Side, TextureKind, interface_match};

/// The verdict of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The programs are equal for all constants, inputs and textures.
    Proved,
    /// The programs are equal for all constants, inputs and textures, for groups whose pixels are all covered. In other
    /// groups, uncovered pixels may show.
    ProvedIfCovered,
    /// No verdict, and why.
    Unknown(Unknown),
}

impl Proof {
    /// Returns whether the programs are proved equal, for all pixels or for groups whose pixels are all covered.
    #[must_use]
    pub fn is_proved(&self) -> bool {
        matches!(self, Self::Proved | Self::ProvedIfCovered)
    }
}

/// Why a proof has no verdict.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unknown {
    /// A program cannot run.
    #[error("{side} cannot run: {error}")]
    Shader {
        /// Which.
        side: Side,
        /// Why.
        error: ShaderError,
    },
    /// A program cannot be lifted.
    #[error("{side}: {error}")]
    Lift {
        /// Which program.
        side: Side,
        /// Why.
        error: LiftError,
    },
    /// The state of the programs differs.
    #[error("{what}")]
    State {
        /// The register, and its values.
        what: String,
    },
    /// Only one file gives an integer or boolean constant that both programs read.
    #[error(
        "{side} reads {registers} and does not carry it; the value of the other program is not its own"
    )]
    Lent {
        /// The program that reads it without carrying it.
        side: Side,
        /// The constants.
        registers: String,
    },
    /// A program has addresses relative to aL and reads an integer constant that neither program provides.
    #[error(
        "{side} has relative addresses, and neither program carries an integer constant that is read"
    )]
    Constants {
        /// Which program.
        side: Side,
    },
    /// Too many integer or boolean constants are read that neither program provides.
    #[error("too many integer or boolean constants are read that neither program carries")]
    Cases,
    /// A program can observe the size of a group of pixels.
    #[error("{side}: the size of the group of pixels may show")]
    Group {
        /// Which program.
        side: Side,
    },
    /// Two results have different numbers.
    #[error("{what} may differ: A computes it {}, B {}", place(addresses[0]), place(addresses[1]))]
    Values {
        /// The compared result.
        what: String,
        /// The instructions that compute it: absolute addresses in A and B; `None` for constants and inputs.
        addresses: [Option<u32>; 2],
    },
    /// The programs do not have the same number of loops.
    #[error("the number of loops differs")]
    Loops,
    /// A pair of loops may have different trip counts.
    #[error("how often a loop iterates may differ: its first instruction is in A {}, in B {}", place(addresses[0]), place(addresses[1]))]
    Trips {
        /// The first instruction in each loop: absolute addresses in A and B.
        addresses: [Option<u32>; 2],
    },
    /// The counts of `STAT_WE` may differ.
    #[error("what STAT_WE counts may differ")]
    Counts,
    /// Only one program has an output.
    #[error("one program has {what}, the other does not")]
    Outputs {
        /// The output.
        what: String,
    },
    /// The proof exceeds its step limit.
    #[error("the proof would take too many steps")]
    TooLong,
}

fn place(address: Option<u32>) -> String {
    address.map_or_else(|| "not at all".to_owned(), |address| format!("at address {address}"))
}

/// Tries to prove two programs equal: that they store the same bits in all targets and depth, and discard the same
/// pixels, for all constants, inputs and textures. Integer and boolean constants are those of the programs. A constant
/// that neither provides may have any value, except those for which the checker finds errors in both programs; a constant
/// that only one provides has no value in the other, so that there is no proof.
#[must_use]
pub fn prove(a: &Program, b: &Program) -> Proof {
    prove_with(a, b, &Known::default())
}

/// Tries to prove two programs equal, as [`prove`], under assumptions about their bindings.
#[must_use]
pub fn prove_with(a: &Program, b: &Program, known: &Known) -> Proof {
    if let Some(what) = state_difference([a, b]) {
        return Proof::Unknown(Unknown::State { what });
    }
    if is_copy([a, b], known) {
        return Proof::Proved;
    }
    match equal([a, b], known, false) {
        Ok(()) => Proof::Proved,
        Err(Unknown::Group { .. }) if !known.is_partly_covered() => {
            match equal([a, b], known, true) {
                Ok(()) => Proof::ProvedIfCovered,
                Err(unknown) => Proof::Unknown(unknown),
            }
        }
        Err(unknown) => Proof::Unknown(unknown),
    }
}

/// Returns whether both programs are the same and read the same values.
fn is_copy(programs: [&Program; 2], known: &Known) -> bool {
    let [a, b] = programs;
    let reads = ExternalReads::of(a);
    let mut constants = interface_match::constant_channels(&reads)
        .map(|(constant, channel)| ConstantChannel { constant, channel });
    let value = |side: Side, place: ConstantChannel| match known.literal(side, place) {
        Some(bits) => Err(bits),
        None => Ok(known.symbol(side, place)),
    };
    let mut temps = interface_match::temp_channels(&reads);
    let units = (0..TEXTURE_UNITS).filter(|unit| reads.textures >> unit & 1 != 0);
    let executable = |program| Executable::of(program).ok();
    let (Some(x), Some(y)) = (executable(a), executable(b)) else { return false };
    (x.code, x.full_fc, x.bool_constants, x.int_constants)
        == (y.code, y.full_fc, y.bool_constants, y.int_constants)
        && (x.window, x.pixsize) == (y.window, y.pixsize)
        && a.state.config == b.state.config
        && constants.all(|place| value(Side::A, place) == value(Side::B, place))
        && temps
            .all(|(temp, c)| known.input(Side::A, temp, c).is_same(known.input(Side::B, temp, c)))
        && units.into_iter().all(|unit| !known.textures()[unit].differs)
}

fn equal(programs: [&Program; 2], known: &Known, covered: bool) -> Result<(), Unknown> {
    let temps = inputs(programs);
    let cases = cases::cases(programs)?;
    let several = cases.len() > 1;
    let mut broken = Ok(());
    let mut compared = 0;
    for [a, b] in cases {
        let lifted = |program: &Program, side| lifted(program, side, &temps, known, covered);
        match [lifted(&a, Side::A), lifted(&b, Side::B)] {
            // A LOOP with count 0 may jump to an instruction outside of any loop: with that count, neither program is
            // defined.
            [
                Err(error @ Unknown::Lift { error: LiftError::Broken(_), .. }),
                Err(Unknown::Lift { error: LiftError::Broken(_), .. }),
            ] if several => {
                broken = Err(error);
            }
            [a, b] => {
                regions::compare(&[a?, b?], &temps, known)?;
                compared += 1;
            }
        }
    }
    if compared == 0 { broken } else { Ok(()) }
}

/// Returns the temporaries that may hold inputs: those that either program reads before it writes them.
fn inputs(programs: [&Program; 2]) -> Vec<u8> {
    let mut temps: Vec<u8> = programs
        .into_iter()
        .flat_map(|program| ExternalReads::of(program).inputs.into_keys())
        .collect();
    temps.sort_unstable();
    temps.dedup();
    temps
}

/// Lifts a program. Its integer and boolean constants are given. Pixels may be uncovered unless `covered`.
fn lifted(
    program: &Program,
    side: Side,
    temps: &[u8],
    known: &Known,
    covered: bool,
) -> Result<Function, Unknown> {
    let shader = Shader::new(program).map_err(|error| Unknown::Shader { side, error })?;
    let state = &program.state;
    let constants: Vec<_> = state.constants.iter().map(|c| c.map(f32::from_bits)).collect();
    let input = LiftInput {
        shader: &shader,
        constants: &constants,
        int_constants: state.fc_int_const,
        bool_constants: state.fc_bool_const,
        inputs: temps.iter().copied().map(InputKind::any).collect(),
        kinds: BindingKinds {
            samplers: known.textures().map(|kind| Some(sampler(kind))),
            groups: GroupKind {
                size: GROUP,
                cover_picture: covered,
                quads_inside: covered,
                groups_inside: covered,
            },
        },
        poison: false,
        readings: Readings::REFERENCE,
    };
    let refused = |error: LiftError| match error {
        LiftError::Group(_) => Unknown::Group { side },
        error => Unknown::Lift { side, error },
    };
    let analysis = ProgramAnalysis::new(&input).map_err(refused)?;
    lift_symbolic(&input, &analysis, &known.symbolic(side)).map_err(refused)
}

/// Returns the most general sampler for the assumptions: it uses all coordinates that there are, and the level of
/// detail. Its texels are floats of any value.
fn sampler(kind: TextureKind) -> SamplerKind {
    SamplerKind {
        axes: if kind.is_flat { S_AND_T } else { ALL_AXES },
        depends_on_lod: !kind.ignores_lod,
        bounds: None,
        readings: TexReadings::REFERENCE,
    }
}
