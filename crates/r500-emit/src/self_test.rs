//! The self-test: a shader that computes what exact shaders rely on, and the words that an exact host returns.
//!
//! Each row of its picture is an operation, each column a case. The operands of a pixel are a texel; the colour is the word of the result, a byte
//! in each channel, lowest first. The operations are written by the lowering of exact shaders, so a host that passes computes them as those need.

mod operands;
mod operations;

use r500_ir::{Builder, Opcode, Operand, Range, Type as IrType};
use r500_program::Job;
use serde::Serialize;

use crate::bindings::Bindings;
use crate::interface::json;
use crate::lower::{self, Target};
use crate::source::{Axis, Expr, Op, Source, Stmt, Type, Var, Vector, VectorSource};
use crate::textures::Textures;
use crate::{Arithmetic, EmitError, Inputs, Interface, Language, Shader, TextureLevel, write};

use operands::{CASES, Case};
use operations::OPERATIONS;

/// A shader that tests a host, and what the host must return. The shader draws a picture of [`size`](Self::size) pixels with bytes as channels
/// (RGBA, normalized, no sRGB), without blending and dithering.
#[derive(Clone, Debug, PartialEq)]
pub struct SelfTest {
    /// The shader, a fragment shader like those of programs. Its uniform buffer holds the numbers that the host must not know.
    pub shader: Shader,
    /// Width and height of the picture: the number of cases, which is even, and of operations, padded to an even number.
    pub size: [u32; 2],
    /// The only level of its texture, a texel for each pixel, the first row first.
    pub texels: TextureLevel,
    /// The words of the pixels, the first row first.
    pub expected: Vec<u32>,
}

/// An operation that a host computes in another way.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "{operation}: {count} of {} cases differ; the first has operands {operands:08x?} and should be {expected:#010x}, not {actual:#010x}",
    CASES
)]
pub struct SelfTestFailure {
    /// What is computed.
    pub operation: &'static str,
    /// The number of cases that differ.
    pub count: usize,
    /// The operands of the first of them, as bits.
    pub operands: [u32; 3],
    /// The word that is expected.
    pub expected: u32,
    /// The word that the host returned.
    pub actual: u32,
}

/// The reason why a picture cannot be the self-test's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the picture of the self-test has {expected} pixels, not {given}")]
pub struct SelfTestSize {
    /// The number of pixels that it has.
    pub expected: usize,
    /// The number that was given.
    pub given: usize,
}

impl SelfTest {
    /// Compares the pixels that the host drew, row 0 of the target first, and returns the operations that differ: none on a host whose exact shaders
    /// have the bits of the reference engine. NaN may have any bits.
    ///
    /// # Errors
    /// [`SelfTestSize`], if these are not as many pixels.
    pub fn compare(&self, pixels: &[[u8; 4]]) -> Result<Vec<SelfTestFailure>, SelfTestSize> {
        if pixels.len() != self.expected.len() {
            let (expected, given) = (self.expected.len(), pixels.len());
            return Err(SelfTestSize { expected, given });
        }
        let is_nan = |word: u32| f32::from_bits(word).is_nan();
        let mut failures: Vec<SelfTestFailure> = Vec::new();
        let words = pixels.iter().map(|bytes| u32::from_le_bytes(*bytes));
        for (n, (actual, &expected)) in words.zip(&self.expected).enumerate() {
            let Some(operation) = OPERATIONS.get(n / CASES) else { break };
            if actual == expected || is_nan(actual) && is_nan(expected) {
                continue;
            }
            if let Some(known) = failures.last_mut().filter(|f| f.operation == operation.name) {
                known.count += 1;
                continue;
            }
            let [x, y, z, _] = self.texels.texels[n].map(f32::to_bits);
            let (operation, count, operands) = (operation.name, 1, [x, y, z]);
            failures.push(SelfTestFailure { operation, count, operands, expected, actual });
        }
        Ok(failures)
    }

    /// Returns what a host without this library needs next to the shader, as one JSON object: `interface`; `size`; `uniforms`, and `texels` of the texture, as the
    /// bits of floats, four for each vector; `expected`, the words of the pixels; `operations`, the names of the rows.
    #[must_use]
    pub fn json(&self) -> String {
        let bits = |vectors: &[[f32; 4]]| vectors.iter().flatten().map(|x| x.to_bits()).collect();
        json(&Description {
            interface: &self.shader.interface,
            size: self.size,
            operations: self.operations().collect(),
            uniforms: bits(&self.shader.uniforms),
            texels: bits(&self.texels.texels),
            expected: &self.expected,
        })
    }

    /// Returns the names of the operations, by row.
    pub fn operations(&self) -> impl Iterator<Item = &'static str> + use<> {
        OPERATIONS.iter().map(|operation| operation.name)
    }
}

/// A self-test without its shader.
#[derive(Serialize)]
struct Description<'a> {
    interface: &'a Interface,
    size: [u32; 2],
    operations: Vec<&'static str>,
    uniforms: Vec<u32>,
    texels: Vec<u32>,
    expected: &'a [u32],
}

/// Returns the self-test of the hosts of a language.
///
/// # Errors
/// [`EmitError::ExactLanguage`] for OpenGL ES 3.00.
pub fn self_test(language: Language) -> Result<SelfTest, EmitError> {
    if language == Language::GlslEs300 {
        return Err(EmitError::ExactLanguage);
    }
    let job = Job::default();
    let textures = Textures::of(&job, Arithmetic::Exact);
    let source = source(&textures)?;
    let kind = (Arithmetic::Exact, language, Inputs::Varyings);
    let bindings = Bindings::of(&source, &job, &[], kind, &textures);
    let mut interface = bindings.interface(&source);
    let rows = OPERATIONS.len().next_multiple_of(2);
    let size = [CASES, rows].map(|n| u32::try_from(n).expect("a small picture"));
    let cases = cases(rows);
    let texels: Vec<[f32; 4]> = cases.iter().map(|(row, case)| operands_of(*row, case)).collect();
    let level = TextureLevel { size: [size[0], size[1], 1], texels };
    for texture in &mut interface.textures {
        texture.is_assumed = false;
        texture.texels = Some(crate::ShaderTexels { size: level.size, levels: 1 });
    }
    let expected = (0..cases.len()).map(|n| expected(&cases, n)).collect();
    let uniforms = interface.uniform_values(&job, [1, 1])?;
    let code = write(&source, &bindings, language);
    let shader = Shader { code, interface, uniforms, max_instructions: 0 };
    Ok(SelfTest { shader, size, texels: level, expected })
}

/// Returns the row and the case of each pixel. Rows after the last operation repeat it.
fn cases(rows: usize) -> Vec<(usize, Case)> {
    let row = |row: usize| {
        let operation = &OPERATIONS[row.min(OPERATIONS.len() - 1)];
        operands::cases(operation.operands).map(move |case| (row, case))
    };
    (0..rows).flat_map(row).collect()
}

/// Returns the texel of a pixel: three operands, and the row, which selects the operation.
fn operands_of(row: usize, case: &Case) -> [f32; 4] {
    let [x, y, z] = case.map(f32::from_bits);
    [x, y, z, row as f32]
}

fn expected(cases: &[(usize, Case)], n: usize) -> u32 {
    let (row, case) = &cases[n];
    let Some(operation) = OPERATIONS.get(*row) else { return 0 };
    match operation.lane {
        None => (operation.expected)(case.map(f32::from_bits)).to_bits(),
        // The first operand in another pixel of the quad.
        Some([x, y]) => {
            let (column, row) = (n % CASES, n / CASES);
            let at = ((row & !1) + y) * CASES + (column & !1) + x;
            cases[at].1[0]
        }
    }
}

/// Returns the shader: all operations of a pixel's operands, of which its row selects one.
fn source(textures: &Textures<'_>) -> Result<Source, EmitError> {
    let mut builder = Builder::new();
    let [x, y, z, row] = [0, 1, 2, 3].map(|channel| builder.input(0, channel, Range::ANY));
    let mut chosen = Operand::Const(0);
    for (n, operation) in OPERATIONS.iter().enumerate() {
        builder.set_source_loc(u32::try_from(n).expect("a small number"));
        let result = (operation.build)(&mut builder, [x, y, z]);
        let is_row = builder.def(Opcode::Eq, &[row, Operand::float(n as f32)], Range::ANY);
        let select = [is_row, result, chosen];
        chosen = builder.def_typed(IrType::F32, Opcode::Select, &select, Range::ANY);
    }
    let (function, _) = builder.finish([Some([chosen; 4]), None, None, None], None);
    let annotate =
        |n: u32| OPERATIONS.get(n as usize).map_or("", |operation| operation.name).to_owned();
    let arithmetic = Arithmetic::Exact;
    let inputs = Inputs::Varyings;
    let target = Target { arithmetic, inputs, textures, annotate: &annotate, outputs: &[] };
    let mut source = lower::lower(&function, &target)?;
    let operands = load_operands(&mut source);
    source.each_root_mut(&mut |root| {
        root.each_mut(&mut |expr| {
            if let Expr::Input(_, channel) = expr {
                *expr = Expr::Var(operands[usize::from(*channel & 3)]);
            }
        });
    });
    write_bytes(&mut source);
    Ok(source)
}

/// Puts the load of a pixel's operands before everything else, and returns their variables.
fn load_operands(source: &mut Source) -> [Var; 4] {
    let [vector, channels @ ..]: [Var; 5] = std::array::from_fn(|_| source.fresh(Type::F32));
    let at = [Axis::X, Axis::Y].map(|axis| Expr::op(Op::ToWord, [Expr::Centre(axis)]));
    let load = VectorSource::Load(0, at.into(), Expr::U32(0));
    let vector = Vector { source: load, vector, channels: channels.map(Some) };
    source.body.insert(0, Stmt::Vector(Box::new(vector)));
    channels
}

/// Makes the colour, a float, the bytes of its word.
fn write_bytes(source: &mut Source) {
    let Some([result, ..]) = source.colors[0].take() else {
        unreachable!("the self-test writes a colour")
    };
    let word = source.fresh(Type::U32);
    source.body.push(Stmt::Let(word, Expr::op(Op::Bits, [result])));
    source.colors[0] = Some([0, 8, 16, 24].map(|shift| {
        let shifted = match shift {
            0 => Expr::Var(word),
            shift => Expr::op(Op::ShiftRight, [Expr::Var(word), Expr::U32(shift)]),
        };
        let byte = Expr::op(Op::WordAnd, [shifted, Expr::U32(255)]);
        Expr::op(Op::Div, [Expr::op(Op::ToFloat, [byte]), Expr::float(255.0)])
    }));
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use super::*;

    #[test]
    fn every_language_of_exact_shaders_has_a_self_test() {
        for language in Language::ALL {
            let test = self_test(language);
            if language == Language::GlslEs300 {
                assert_eq!(test, Err(EmitError::ExactLanguage));
                continue;
            }
            let test = test.unwrap();
            assert_eq!(test.size.map(|n| n % 2), [0, 0]);
            let pixels = test.size.map(|n| n as usize).into_iter().product::<usize>();
            assert_eq!([test.expected.len(), test.texels.texels.len()], [pixels; 2]);
        }
    }

    #[test]
    fn the_expected_words_pass_and_a_wrong_one_is_named() {
        let test = self_test(Language::Wgsl).unwrap();
        let mut pixels: Vec<[u8; 4]> =
            test.expected.iter().map(|word| word.to_le_bytes()).collect();
        assert_eq!(test.compare(&pixels), Ok(Vec::new()));
        let row = OPERATIONS.iter().position(|o| o.name.starts_with("1 / a")).unwrap();
        let at = row * CASES;
        pixels[at][0] ^= 1;
        pixels[at + 3][0] ^= 1;
        let failures = test.compare(&pixels).unwrap();
        let [failure] = failures.as_slice() else { panic!("{failures:?}") };
        assert_eq!((failure.operation, failure.count), (OPERATIONS[row].name, 2));
        assert_eq!(failure.expected ^ failure.actual, 1);
        assert_eq!(test.compare(&pixels[1..]).unwrap_err().given, pixels.len() - 1);
    }

    #[test]
    fn each_operation_has_cases_with_different_results() {
        let test = self_test(Language::Wgsl).unwrap();
        for (operation, words) in OPERATIONS.iter().zip(test.expected.chunks(CASES)) {
            let mut words = words.to_vec();
            words.sort_unstable();
            words.dedup();
            assert!(words.len() > 1, "{}: one result", operation.name);
        }
    }

    #[test]
    fn a_host_that_fuses_products_and_sums_is_found() {
        let rounded = |[a, b, c]: [f32; 3]| a * b + c;
        let fused = |[a, b, c]: [f32; 3]| a.mul_add(b, c);
        let cases = operands::cases(operands::Kind::Sums).map(|case| case.map(f32::from_bits));
        let different = cases.filter(|case| {
            let (a, b) = (rounded(*case), fused(*case));
            a.to_bits() != b.to_bits() && !(a.is_nan() && b.is_nan())
        });
        assert!(different.count() > CASES / 4);
    }
}
