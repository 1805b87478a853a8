//! Measures the transcendental kernels against f64 over all 2^32 arguments.
//!
//! ```text
//! cargo run --release -p r500-numerics --example ulp [-- [KERNEL...] [--threads N]]
//! ```
//!
//! KERNEL is `ex2`, `ln2`, `sin`, `cos`, `rcp` or `rsq`; without one, all are measured. N is the
//! number of threads, all cores by default. The table goes to standard output, progress to standard
//! error. The exit status is 0 if every kernel is within 2 ulp and returns every special value, 1
//! if one does not, 2 for wrong usage.
//!
//! **Measured** are the normal arguments whose exact result is a normal number of float32. The
//! error is |result - exact| in ulp of the exact result: 2^(e - 23) where
//! 2^e <= |exact| < 2^(e + 1). The exact result is that of f64, with the argument of a sine reduced
//! exactly first; its own error is less than 10^-8 ulp.
//!
//! **Special** is every other argument: zeros, denormals (which count as
//! zeros), infinities, NaN, and normal arguments whose exact result is zero,
//! denormal (flushed), infinite or undefined. There the result must have the
//! right bits, or be any NaN.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command: it prints its table and its progress"
)]

use std::f64::consts::FRAC_PI_2;
use std::num::NonZero;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Instant;

use r500_numerics::{Arith, kernels};

/// The expected result of a kernel for an argument.
enum Expected {
    /// A number near this normal number.
    Near(f64),
    /// Exactly these bits.
    Exactly(f32),
    /// Any NaN.
    Nan,
}

/// The statistics of one kernel over all or some of the arguments.
#[derive(Clone, Copy, Default)]
struct Tally {
    measured: u64,
    special: u64,
    /// The largest error in ulp and the bits of the first argument that has it.
    worst: f64,
    worst_at: u32,
    mismatches: u64,
    first_mismatch: Option<u32>,
}

/// The required error bound of every kernel, in ulp.
const BOUND: f64 = 2.0;

/// Name, kernel and expected result.
type Kernel = (&'static str, fn(f32) -> f32, fn(f32) -> Expected);

const KERNELS: [Kernel; 6] = [
    ("ex2", kernels::ex2, expected_ex2),
    ("ln2", kernels::ln2, expected_ln2),
    ("sin", kernels::sin, expected_sin),
    ("cos", kernels::cos, expected_cos),
    ("rcp", |x| Arith::REFERENCE.rcp(x), expected_rcp),
    ("rsq", |x| Arith::REFERENCE.rsq(x), expected_rsq),
];

fn main() -> ExitCode {
    let (names, threads) = match arguments() {
        Ok(options) => options,
        Err(message) => {
            eprintln!("ulp: {message}\nusage: ulp [KERNEL...] [--threads N]");
            return ExitCode::from(2);
        }
    };
    println!("kernel    measured      special   worst ulp  at                          mismatches");
    let mut good = true;
    for kernel @ (name, ..) in names {
        let tally = measure(kernel, threads);
        println!("{}", tally.row(name));
        good &= tally.worst <= BOUND && tally.mismatches == 0;
    }
    ExitCode::from(u8::from(!good))
}

/// Returns the kernels to measure and the number of threads.
fn arguments() -> Result<(Vec<Kernel>, usize), String> {
    let mut names = Vec::new();
    let mut threads = thread::available_parallelism().map_or(1, NonZero::get);
    let mut rest = std::env::args().skip(1);
    while let Some(argument) = rest.next() {
        if argument == "--threads" {
            let number = rest.next().and_then(|n| n.parse().ok()).filter(|n| *n > 0);
            threads = number.ok_or("--threads wants a number above 0")?;
        } else if let Some(kernel) = KERNELS.iter().find(|(name, ..)| *name == argument) {
            names.push(*kernel);
        } else {
            let known = KERNELS.map(|(name, ..)| name).join(", ");
            return Err(format!("no kernel `{argument}` ({known})"));
        }
    }
    if names.is_empty() {
        names = KERNELS.to_vec();
    }
    Ok((names, threads))
}

/// Compares a kernel with its expected results, over all arguments.
fn measure((name, kernel, want): Kernel, threads: usize) -> Tally {
    const CHUNK_BITS: u32 = 22;
    const CHUNKS: u32 = 1 << (32 - CHUNK_BITS);

    let start = Instant::now();
    let next = AtomicU32::new(0);
    let work = || {
        let mut tally = Tally::default();
        loop {
            let chunk = next.fetch_add(1, Ordering::Relaxed);
            if chunk >= CHUNKS {
                return tally;
            }
            if chunk.is_multiple_of(CHUNKS / 8) {
                let percent = chunk * 100 / CHUNKS;
                eprintln!("{name}: {percent} % after {:.0?}", start.elapsed());
            }
            let first = chunk << CHUNK_BITS;
            for bits in first..=first + ((1 << CHUNK_BITS) - 1) {
                let x = f32::from_bits(bits);
                tally.check(bits, kernel(x), want(x));
            }
        }
    };
    let tally = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut total = Tally::default();
        for worker in workers {
            match worker.join() {
                Ok(part) => total.merge(&part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        total
    });
    eprintln!("{name}: done after {:.0?}", start.elapsed());
    tally
}

impl Tally {
    fn check(&mut self, bits: u32, got: f32, want: Expected) {
        let right = match want {
            Expected::Near(exact) => {
                self.measured += 1;
                let error = (f64::from(got) - exact).abs() / ulp(exact);
                // A NaN or an infinity instead of a number has no error in ulp.
                if error > self.worst && error.is_finite() {
                    (self.worst, self.worst_at) = (error, bits);
                }
                got.is_finite()
            }
            Expected::Exactly(value) => {
                self.special += 1;
                got.to_bits() == value.to_bits()
            }
            Expected::Nan => {
                self.special += 1;
                got.is_nan()
            }
        };
        if !right {
            self.mismatches += 1;
            self.first_mismatch.get_or_insert(bits);
        }
    }

    /// Adds the statistics of another part. The sum does not depend on which thread computed a
    /// part.
    fn merge(&mut self, other: &Self) {
        self.measured += other.measured;
        self.special += other.special;
        self.mismatches += other.mismatches;
        if other.worst > self.worst || other.worst == self.worst && other.worst_at < self.worst_at {
            (self.worst, self.worst_at) = (other.worst, other.worst_at);
        }
        self.first_mismatch = match (self.first_mismatch, other.first_mismatch) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }

    fn row(&self, name: &str) -> String {
        let at = format!("{:e}", f32::from_bits(self.worst_at));
        let mut row = format!(
            "{name:6} {:11} {:12} {:11.4}  {:#010x} {at:16} {:10}",
            self.measured, self.special, self.worst, self.worst_at, self.mismatches
        );
        if let Some(first) = self.first_mismatch {
            row += &format!(" first at {first:#010x}");
        }
        row
    }
}

/// Returns the unit in the last place of the float32 binade of a normal number.
fn ulp(exact: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff << 52;
    f64::from_bits((exact.to_bits() & EXPONENT) - (23 << 52))
}

/// Returns an argument in double, exactly, a denormal as zero of its sign.
fn operand(x: f32) -> f64 {
    if x.is_subnormal() { f64::from(0.0_f32.copysign(x)) } else { f64::from(x) }
}

/// Returns the expected result for a result in f64: near it, or exactly the zero, infinity or NaN
/// that it becomes in float32.
fn expected(exact: f64) -> Expected {
    if exact.is_nan() {
        Expected::Nan
    } else if exact.abs() < f64::from(f32::MIN_POSITIVE) {
        Expected::Exactly(0.0_f32.copysign(exact as f32))
    } else if exact.abs() > f64::from(f32::MAX) {
        Expected::Exactly(f32::INFINITY.copysign(exact as f32))
    } else {
        Expected::Near(exact)
    }
}

/// Returns the expected result; for arguments that count as zero it is exactly the special value of
/// f64.
fn expected_at_zero(x: f32, exact: f64) -> Expected {
    if operand(x) == 0.0 { Expected::Exactly(exact as f32) } else { expected(exact) }
}

fn expected_ex2(x: f32) -> Expected {
    expected_at_zero(x, operand(x).exp2())
}

fn expected_ln2(x: f32) -> Expected {
    expected_at_zero(x, operand(x).log2())
}

fn expected_sin(x: f32) -> Expected {
    let (r, quarters) = reduce(x);
    let w = quarters.min(2.0 - quarters).copysign(r);
    expected_at_zero(x, (FRAC_PI_2 * w).sin())
}

fn expected_cos(x: f32) -> Expected {
    let (_, quarters) = reduce(x);
    expected_at_zero(x, (FRAC_PI_2 * (1.0 - quarters)).sin())
}

/// Reduces an argument by whole turns, exactly. Returns the remainder in turns, and its magnitude
/// in quarters of a turn; NaN for infinities.
fn reduce(x: f32) -> (f64, f64) {
    let x = operand(x);
    let r = x - x.round_ties_even();
    (r, 4.0 * r.abs())
}

fn expected_rcp(x: f32) -> Expected {
    expected_at_zero(x, 1.0 / operand(x))
}

fn expected_rsq(x: f32) -> Expected {
    expected_at_zero(x, 1.0 / operand(x).sqrt())
}
