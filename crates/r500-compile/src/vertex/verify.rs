//! Checks a compilation: what the program writes is what the [evaluator](crate::evaluate) gives, for attributes and uniforms of any kind.

use std::fmt;

use r500_glsl::tree::Shader;
use r500_pvs::{INPUTS, Interpreter, OUTPUTS};

use super::Compiled;
use crate::comparison::{Random, same};
use crate::evaluate::{Vertices, vertices};

/// A vertex for which the program writes other values than the shader says: an error of the compiler.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// What differs: `gl_Position.x`.
    pub what: String,
    /// What the evaluator gives.
    pub expected: f32,
    /// What the program writes.
    pub written: f32,
    /// The vector of each input.
    pub inputs: Vec<[f32; 4]>,
    /// The constants.
    pub constants: Vec<[f32; 4]>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, written, expected, .. } = self;
        write!(f, "{what} is {written}; the shader gives {expected}")
    }
}

impl std::error::Error for Mismatch {}

/// How much was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Vertices whose results are the same.
    pub vertices: usize,
    /// Vertices whose results the rules leave open.
    pub open: usize,
}

/// Compares `runs` times four vertices, with numbers that `seed` chooses.
///
/// # Errors
/// [`Mismatch`], the first one.
pub fn verify(
    shader: &Shader,
    compiled: &Compiled,
    runs: usize,
    seed: u64,
) -> Result<Checked, Box<Mismatch>> {
    let mut random = Random::new(seed);
    let mut checked = Checked::default();
    for _ in 0..runs {
        let given = random_vertices(compiled, &mut random);
        compare(shader, compiled, &given, &mut checked)?;
    }
    Ok(checked)
}

pub(crate) fn random_vertices(compiled: &Compiled, random: &mut Random) -> Vertices {
    let mut given = Vertices::default();
    for (uniform, base) in compiled.uniforms.iter().zip(&compiled.uniform_bases) {
        let value = std::array::from_fn(|_| random.uniform(*base));
        given.uniforms.insert(uniform.name.clone(), value);
    }
    for attribute in &compiled.attributes {
        let values = std::array::from_fn(|_| std::array::from_fn(|_| random.number()));
        given.attributes.insert(attribute.name.clone(), values);
    }
    given
}

/// Compares four vertices.
///
/// # Errors
/// [`Mismatch`], the first one.
pub fn compare(
    shader: &Shader,
    compiled: &Compiled,
    given: &Vertices,
    checked: &mut Checked,
) -> Result<(), Box<Mismatch>> {
    let expected = vertices(shader, given);
    let program = &compiled.source.program;
    let constants = constants(compiled, given);
    let interpreter = Interpreter::new(program, &constants);
    for vertex in 0..4 {
        if expected.open[vertex] {
            checked.open += 1;
            continue;
        }
        let mut inputs = [[0.0; 4]; INPUTS];
        for attribute in &compiled.attributes {
            let values = given.attributes.get(&attribute.name).copied().unwrap_or_default();
            inputs[usize::from(attribute.input)] = values[vertex];
        }
        let mut written = [[0.0; 4]; OUTPUTS];
        let run: Result<(), std::convert::Infallible> =
            interpreter.run(&inputs, &mut written, || Ok(()));
        let Ok(()) = run;
        for output in &compiled.outputs {
            let want = &expected.outputs[&output.name];
            for (c, letter) in "xyzw".chars().enumerate().take(want.len()) {
                let have = written[usize::from(output.output)][c];
                if !same(want[c][vertex], have) {
                    return Err(Box::new(Mismatch {
                        what: format!("{}.{letter}", output.name),
                        expected: want[c][vertex],
                        written: have,
                        inputs: inputs[..compiled.attributes.len()].to_vec(),
                        constants,
                    }));
                }
            }
        }
        checked.vertices += 1;
    }
    Ok(())
}

/// Returns the constants of a program with the uniforms that vertices are given.
pub(crate) fn constants(compiled: &Compiled, given: &Vertices) -> Vec<[f32; 4]> {
    let numbers = compiled.source.constants.iter().map(|(n, bits)| (usize::from(*n), *bits));
    let mut bits: std::collections::BTreeMap<usize, [u32; 4]> = numbers.collect();
    for uniform in &compiled.uniforms {
        let value = given.uniforms.get(&uniform.name).copied().unwrap_or_default();
        bits.insert(usize::from(uniform.constant), value.map(f32::to_bits));
    }
    compiled.source.program.constant_memory(&bits)
}
