//! Proofs of equivalence by value numbering.
//!
//! Both programs are lifted with symbolic constants, inputs and textures. Their functions are numbered in one table:
//! equal numbers mean equal values, in every lane, for all constants, inputs and textures. The programs are equal if
//! their outputs, discards and loop conditions have equal numbers.
//!
//! | module | concept |
//! | --- | --- |
//! | [`cases`] | integer and boolean constants that neither program provides |
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
mod table;

use r500_check::ExternalReads;
use r500_exec::{Bindings, Draw, Options, Shader, ShaderError};
use r500_ir::{Function, LiftError, ProgramAnalysis, lift_symbolic};
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

/// Tries to prove two programs equal: that they write the same bits to all targets and depth, and discard the same
/// pixels, for all constants, inputs and textures. Integer and boolean constants are those of the programs: a value
/// that only one provides holds for both. A constant that neither provides may have any value, except those for which
/// the checker finds errors in both programs.
#[must_use]
pub fn prove(a: &Program, b: &Program) -> Proof {
    prove_with(a, b, &Known::default())
}

/// Tries to prove two programs equal, as [`prove`], under assumptions about their bindings.
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
            // A LOOP with count 0 may jump to an instruction outside of any loop: with that count, neither program is
            // defined.
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

/// Lifts a program. Its integer and boolean constants are given.
fn lifted(program: &Program, side: Side, temps: &[u8], known: &Known) -> Result<Function, Unknown> {
    let mut job = Job::from_program(program.clone());
    let shader = Shader::new(program).map_err(|error| Unknown::Shader { side, error })?;
    // Independent values for each pixel: nothing is assumed.
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
    let analysis = ProgramAnalysis::new(&draw).map_err(refused)?;
    lift_symbolic(&draw, &analysis, &known.symbolic(side)).map_err(refused)
}

/// Returns the most general texture for the assumptions: it uses all coordinates that there are, and the level of
/// detail, which selects between two filters. Its texels are floats of any value.
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
