//! Proofs of equivalence by value numbering.
//!
//! Both programs are lifted with symbolic constants, inputs and textures. Their functions are numbered in one
//! table: equal numbers mean equal values, in every lane, for all constants, inputs and textures. The programs are
//! equal where their outputs, their discards and the control of their loops have equal numbers.
//!
//! | module | concept |
//! | --- | --- |
//! | [`cases`] | integer and boolean constants that programs do not carry |
//! | [`table`] | value numbers; masks and selections as decision diagrams |
//! | [`simplify`] | algebra that is exact in the bits that are demanded |
//! | [`context`] | values in the lanes and bits that their users demand |
//! | [`regions`] | branches, and loops by partition refinement |
//!
//! What has different numbers may be equal all the same: then there is no verdict. A proof is about pixels that do
//! not depend on the size of their group, so programs in which it shows are refused.

#![allow(clippy::expect_used, reason = "a broken invariant of a proof must stop loudly")]

mod cases;
mod context;
mod regions;
mod simplify;
mod table;

use r500_check::ExternalReads;
use r500_exec::{Bindings, Draw, Options, Shader, ShaderError};
use r500_ir::{Function, LiftError, lift_symbolic};
use r500_isa::texture::{TxFilter0, TxFormat1};
use r500_isa::values::{CoordType, TexelFilter, TxFormat};
use r500_program::{Input, InputData, Job, Level, Program, Texture};

use super::{Known, Side, TextureKind};

/// The verdict of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The programs are equal for all constants, inputs and textures.
    Proved,
    /// No verdict, and why.
    Unknown(Unknown),
}

/// Why there is no verdict.
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
    /// A program has no form that can be compared.
    #[error("{side}: {error}")]
    Lift {
        /// Which.
        side: Side,
        /// Why.
        error: LiftError,
    },
    /// A program has addresses relative to aL, and neither program carries an integer constant that is read.
    #[error(
        "{side} has relative addresses, and neither program carries an integer constant that is read"
    )]
    Constants {
        /// Which.
        side: Side,
    },
    /// Neither program carries integer or boolean constants that are read, and there are too many of them.
    #[error("too many integer or boolean constants are read that neither program carries")]
    Cases,
    /// The size of a group of pixels may show.
    #[error("{side}: the size of the group of pixels may show")]
    Group {
        /// Which.
        side: Side,
    },
    /// Something has different numbers.
    #[error("{what} may differ: A computes it {}, B {}", place(addresses[0]), place(addresses[1]))]
    Values {
        /// What is compared.
        what: String,
        /// The instructions that compute it: absolute addresses in A and B; `None` for constants and inputs.
        addresses: [Option<u32>; 2],
    },
    /// The programs do not have the same number of loops.
    #[error("the number of loops differs")]
    Loops,
    /// A pair of loops is not known to iterate equally often.
    #[error("how often a loop iterates may differ: its first instruction is in A {}, in B {}", place(addresses[0]), place(addresses[1]))]
    Trips {
        /// The first instruction in each loop: absolute addresses in A and B.
        addresses: [Option<u32>; 2],
    },
    /// What `STAT_WE` counts may differ.
    #[error("what STAT_WE counts may differ")]
    Counts,
    /// One program has an output that the other does not have.
    #[error("one program has {what}, the other does not")]
    Outputs {
        /// The output.
        what: String,
    },
    /// The proof has too many steps.
    #[error("the proof would take too many steps")]
    TooLong,
}

fn place(address: Option<u32>) -> String {
    address.map_or_else(|| "not at all".to_owned(), |address| format!("at address {address}"))
}

/// Tries to prove that two programs are equal: that they write the same bits to all targets and depth, and discard
/// the same pixels, for all constants, inputs and textures. Integer and boolean constants are those of the programs; what
/// only one carries holds for both, and what neither carries may have any value, but for those with which the checker finds
/// errors in both programs.
#[must_use]
pub fn prove(a: &Program, b: &Program) -> Proof {
    prove_with(a, b, &Known::default())
}

/// [`prove`], for what is left open where something is known.
#[must_use]
pub fn prove_with(a: &Program, b: &Program, known: &Known) -> Proof {
    match equal([a, b], known) {
        Ok(()) => Proof::Proved,
        Err(unknown) => Proof::Unknown(unknown),
    }
}

fn equal(programs: [&Program; 2], known: &Known) -> Result<(), Unknown> {
    let temps = inputs(programs);
    let cases = cases::cases(programs)?;
    let several = cases.len() > 1;
    let mut broken = Ok(());
    let mut compared = 0;
    for [a, b] in cases {
        match [lifted(&a, Side::A, &temps, known), lifted(&b, Side::B, &temps, known)] {
            // A LOOP whose count is 0 may jump to where no loop runs: with that count, neither program has a meaning.
            [
                Err(error @ Unknown::Lift { error: LiftError::Broken(_), .. }),
                Err(Unknown::Lift { error: LiftError::Broken(_), .. }),
            ] if several => {
                broken = Err(error);
            }
            [a, b] => {
                regions::compare(&[a?, b?], known)?;
                compared += 1;
            }
        }
    }
    if compared == 0 { broken } else { Ok(()) }
}

/// The temporaries that an input may be in: those that either program reads before it writes them.
fn inputs(programs: [&Program; 2]) -> Vec<u8> {
    let mut temps: Vec<u8> = programs
        .into_iter()
        .flat_map(|program| ExternalReads::of(program).inputs.into_keys())
        .collect();
    temps.sort_unstable();
    temps.dedup();
    temps
}

/// Lifts a program. Its integer and boolean constants are known.
fn lifted(program: &Program, side: Side, temps: &[u8], known: &Known) -> Result<Function, Unknown> {
    let mut job = Job::from_program(program.clone());
    let shader = Shader::new(program).map_err(|error| Unknown::Shader { side, error })?;
    // Values of pixels: nothing is known of them.
    let unknown =
        |temp: u8| Input { temp, data: InputData::Values { width: 2, values: vec![[0.0; 4]; 4] } };
    job.inputs = Some(temps.iter().copied().map(unknown).collect());
    job.size = Some([2, 2]);
    job.textures = std::array::from_fn(|unit| Some(texture(known.textures()[unit])));
    let refused = |error: LiftError| match error {
        LiftError::Group(_) => Unknown::Group { side },
        error => Unknown::Lift { side, error },
    };
    let bindings = Bindings::new(&job, [2, 2])
        .map_err(|error| Unknown::Lift { side, error: LiftError::Broken(error.to_string()) })?;
    let options = Options::default();
    let draw = Draw::new(&shader, &bindings, &options)
        .map_err(|error| Unknown::Lift { side, error: LiftError::Broken(error.to_string()) })?;
    lift_symbolic(&draw, &known.symbolic(side)).map_err(refused)
}

/// A texture of which a fetch may use all that an instruction gives, as far as nothing else is known: as many coordinates as there are, and the level of
/// detail, which chooses between two filters. Its texels are floats of any value.
fn texture(kind: TextureKind) -> Texture {
    let min_filter = if kind.ignores_lod { TexelFilter::POINT } else { TexelFilter::LINEAR };
    let coordinates = if kind.is_flat { CoordType::D2 } else { CoordType::D3 };
    Texture {
        filter0: TxFilter0::default()
            .with(TxFilter0::MAG_FILTER, TexelFilter::POINT)
            .with(TxFilter0::MIN_FILTER, min_filter),
        format1: TxFormat1::default()
            .with(TxFormat1::TXFORMAT, TxFormat::F32_32_32_32)
            .with(TxFormat1::TEX_COORD_TYPE, coordinates),
        levels: vec![Level { width: 1, height: 1, layers: 1, bytes: vec![0; 16] }],
        ..Texture::default()
    }
}
