//! Edge values: numbers at which operations, comparisons and formats change their behaviour, and numbers derived from
//! the literals of programs.

use std::collections::BTreeSet;

use r500_isa::Half;
use r500_isa::values::InstType;
use r500_program::Job;

/// The values that are tried in pairs first.
const FIRST: [f32; 20] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    DENORMAL,
    -DENORMAL,
    f32::MIN_POSITIVE,
    -f32::MIN_POSITIVE,
    f32::MAX,
    f32::MIN,
    -0.5,
    2.0,
    255.0,
    16_777_216.0,
    1.0e20,
    1.0e-20,
];

/// The largest denormal.
const DENORMAL: f32 = f32::from_bits(0x007f_ffff);
/// The smallest denormal.
const SMALLEST: f32 = f32::from_bits(1);

/// Further values.
const MORE: [f32; 42] = [
    SMALLEST,
    -SMALLEST,
    1.0e-40,
    -1.0e-40,
    // Neighbours of thresholds.
    f32::from_bits(0x3eff_ffff),
    f32::from_bits(0x3f00_0001),
    f32::from_bits(0x3f7f_ffff),
    f32::from_bits(0x3f80_0001),
    f32::from_bits(0x0080_0001),
    // Integers, halves, and where fractions end.
    -2.0,
    0.25,
    -0.25,
    1.5,
    2.5,
    -1.5,
    3.0,
    256.0,
    -255.0,
    8_388_607.5,
    8_388_608.0,
    16_777_215.0,
    -16_777_216.0,
    2_147_483_648.0,
    1.0e-10,
    -1.0e-10,
    // Ties of fixed-point and half formats, and the ends of half floats.
    0.5 / 255.0,
    1.5 / 255.0,
    127.5 / 255.0,
    0.5 / 1023.0,
    0.5 / 65_535.0,
    1.0 + 1.0 / 2048.0,
    1.0 + 3.0 / 2048.0,
    65_504.0,
    65_520.0,
    1.0 / 16_384.0,
    1.0 / 33_554_432.0,
    // Periods of the trigonometric functions, in radians and in turns.
    std::f32::consts::PI,
    -std::f32::consts::PI,
    std::f32::consts::FRAC_PI_2,
    1_000.75,
    // Exponents of EX2.
    127.5,
    -126.5,
];

/// The greatest number of values derived from literals.
const MOST_DERIVED: usize = 96;

/// The edge values for a pair of programs.
#[derive(Clone, Debug)]
pub(super) struct Edges {
    /// All, the most important first.
    pub(super) all: Vec<f32>,
    /// The number of those that are tried in pairs.
    pub(super) paired: usize,
}

impl Edges {
    /// Returns the edge values for two programs.
    pub(super) fn of(jobs: [&Job; 2]) -> Self {
        let literals = literals(jobs);
        let mut seen = BTreeSet::new();
        let mut all = Vec::new();
        let mut add = |all: &mut Vec<f32>, x: f32| {
            if seen.insert(x.to_bits()) {
                all.push(x);
            }
        };
        FIRST.into_iter().for_each(|x| add(&mut all, x));
        for &x in literals.iter().take(12) {
            add(&mut all, x);
        }
        let paired = all.len();
        for &x in &literals {
            add(&mut all, x);
            for neighbour in [x.next_up(), x.next_down(), -x, 1.0 / x] {
                add(&mut all, neighbour);
            }
        }
        let derived = all.len();
        // Thresholds after a sum or a product.
        'pairs: for (n, &x) in literals.iter().enumerate() {
            for &y in &literals[n + 1..] {
                for z in [x + y, x - y, y - x, x * y, x / y, y / x] {
                    add(&mut all, z);
                    add(&mut all, z.next_up());
                    add(&mut all, z.next_down());
                }
                if all.len() > derived + MOST_DERIVED {
                    break 'pairs;
                }
            }
        }
        MORE.into_iter().for_each(|x| add(&mut all, x));
        Self { all, paired }
    }
}

/// Returns the distinct literals of two programs: constants that they give and read, inline constants.
fn literals(jobs: [&Job; 2]) -> Vec<f32> {
    let mut seen = BTreeSet::new();
    let mut literals = Vec::new();
    let mut add = |x: f32| {
        if x.is_finite() && x != 0.0 && seen.insert(x.to_bits()) && literals.len() < 64 {
            literals.push(x);
        }
    };
    for job in jobs {
        for inst in &job.program.code {
            if !matches!(inst.ty(), InstType::ALU | InstType::OUT) {
                continue;
            }
            for source in [Half::Rgb, Half::Alpha].into_iter().flat_map(|half| inst.sources(half)) {
                if let Some(inline) = source.inline() {
                    add(inline.value());
                } else if source.constant {
                    let constant = job.program.state.constants.get(usize::from(source.addr));
                    constant.into_iter().flatten().for_each(|&bits| add(f32::from_bits(bits)));
                }
            }
        }
    }
    literals
}
