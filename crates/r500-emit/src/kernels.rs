//! Functions next to a shader's body: the reference kernels, built by [`KernelBuilder`], and the lanes of a quad.

mod address;
mod anisotropy;
mod cube;
mod level;

use r500_numerics::branchless::{self, KernelBuilder};

use crate::source::{Axis, Expr, Function, Helper, Op, Stmt, Type, Var, Vector, VectorSource};
use crate::textures::Textures;

/// Returns the functions for these helpers and those that they call, in the order of their calls.
pub(crate) fn functions(helpers: &[Helper], textures: &Textures<'_>) -> Vec<Function> {
    let mut all = helpers.to_vec();
    for helper in helpers {
        all.extend(level::calls(*helper, textures));
    }
    all.sort_unstable();
    all.dedup();
    all.into_iter().map(|helper| function(helper, textures)).collect()
}

fn function(helper: Helper, textures: &Textures<'_>) -> Function {
    let types = match helper {
        Helper::Product => vec![Type::F32; 2],
        Helper::Face => vec![Type::F32; 3],
        Helper::FacePoint(_) => vec![Type::F32; 4],
        Helper::Lod(axes) => (0..2 * axes).map(|_| Type::F32).collect(),
        Helper::Level(unit, filter) => level::parameters(textures.known(unit), Some(filter)),
        Helper::Texture(unit) => level::parameters(textures.known(unit), None),
        Helper::Probes(unit, biased) => anisotropy::parameters(textures.known(unit), biased),
        _ => vec![Type::F32],
    };
    let parameters: Vec<Var> = (0u32..).zip(&types).map(|(n, _)| Var(n)).collect();
    let mut kernel = Kernel { types, body: Vec::new() };
    let x = Word::Var(Var(0), Type::F32);
    let result = match helper {
        Helper::Face => cube::face(&mut kernel),
        Helper::Lod(axes) => level::lod(&mut kernel, axes),
        Helper::FacePoint(unit) => {
            let results = cube::face_point(&mut kernel, textures.known(unit));
            return kernel.finish(helper, parameters, results.into());
        }
        Helper::Level(unit, filter) => {
            let results = level::level(&mut kernel, unit, textures.known(unit), filter);
            return kernel.finish(helper, parameters, results.into());
        }
        Helper::Texture(unit) => {
            let results = level::texture(&mut kernel, unit, textures.known(unit));
            return kernel.finish(helper, parameters, results.into());
        }
        Helper::Probes(unit, biased) => {
            let results = anisotropy::probes(&mut kernel, unit, textures.known(unit), biased);
            return kernel.finish(helper, parameters, results.into());
        }
        Helper::Ex2 => branchless::ex2(&mut kernel, x).float(),
        Helper::Ln2 => branchless::ln2(&mut kernel, x).float(),
        Helper::Sin => branchless::sin(&mut kernel, x).float(),
        Helper::Cos => branchless::cos(&mut kernel, x).float(),
        Helper::Flush => flush(x),
        Helper::Product => kernel.product([Expr::Var(Var(0)), Expr::Var(Var(1))]),
        Helper::QuadLane(lane) => kernel.quad_lane(x, lane),
    };
    kernel.finish(helper, parameters, vec![result])
}

/// A 32-bit word: a float or an integer.
#[derive(Clone, Copy)]
enum Word {
    Const(u32),
    Var(Var, Type),
}

impl Word {
    fn float(self) -> Expr {
        match self {
            Self::Const(bits) => Expr::F32(bits),
            Self::Var(var, Type::F32) => Expr::Var(var),
            Self::Var(var, _) => Expr::op(Op::FromBits, [Expr::Var(var)]),
        }
    }

    fn word(self) -> Expr {
        match self {
            Self::Const(bits) => Expr::U32(bits),
            Self::Var(var, Type::F32) => Expr::op(Op::Bits, [Expr::Var(var)]),
            Self::Var(var, _) => Expr::Var(var),
        }
    }
}

/// Returns x, or a zero of its sign if it is denormal: by its bits, because hosts differ in what they do with denormals.
fn flush(x: Word) -> Expr {
    let bits = x.word();
    let masked = |mask| Expr::op(Op::WordAnd, [bits.clone(), Expr::U32(mask)]);
    let is_small = Expr::op(Op::WordEq, [masked(0x7f80_0000), Expr::U32(0)]);
    Expr::select(is_small, Expr::op(Op::FromBits, [masked(0x8000_0000)]), x.float())
}

/// The body of a function.
struct Kernel {
    types: Vec<Type>,
    body: Vec<Stmt>,
}

impl Kernel {
    fn finish(self, helper: Helper, parameters: Vec<Var>, results: Vec<Expr>) -> Function {
        Function { helper, parameters, body: self.body, results, types: self.types }
    }

    fn fresh(&mut self, ty: Type) -> Var {
        let var = Var(u32::try_from(self.types.len()).expect("a kernel has few operations"));
        self.types.push(ty);
        var
    }

    fn variable(&mut self, expr: Expr, ty: Type) -> Var {
        let var = self.fresh(ty);
        self.body.push(Stmt::Let(var, expr));
        var
    }

    /// Returns the channels of a vector.
    fn vector(&mut self, source: VectorSource) -> [Expr; 4] {
        let vector = self.fresh(Type::F32);
        let channels: [Var; 4] = std::array::from_fn(|_| self.fresh(Type::F32));
        let vector = Vector { source, vector, channels: channels.map(Some) };
        self.body.push(Stmt::Vector(Box::new(vector)));
        channels.map(Expr::Var)
    }

    /// Returns the channels of a helper's vector.
    fn call(&mut self, helper: Helper, operands: Vec<Expr>) -> [Expr; 4] {
        self.vector(VectorSource::Call(helper, operands))
    }

    fn set(&mut self, vars: [Var; 4], values: [Expr; 4]) {
        self.body.extend(vars.into_iter().zip(values).map(|(var, value)| Stmt::Set(var, value)));
    }

    fn select_float(&mut self, condition: Expr, yes: f32, no: Expr) -> Expr {
        self.named(Expr::select(condition, Expr::float(yes), no), Type::F32)
    }

    /// Returns x limited to 0..1, NaN as 0.
    fn clamp01(&mut self, x: Expr) -> Expr {
        let below = Expr::op(Op::Lt, [x.clone(), Expr::float(1.0)]);
        let limited = self.named(Expr::select(below, x.clone(), Expr::float(1.0)), Type::F32);
        let positive = Expr::op(Op::Lt, [Expr::float(0.0), x]);
        self.named(Expr::select(positive, limited, Expr::float(0.0)), Type::F32)
    }

    /// Returns a + (b - a) * weight of each channel, each step rounded.
    fn lerp(&mut self, a: [Expr; 4], b: [Expr; 4], weight: &Expr) -> [Expr; 4] {
        let mut channels = a.into_iter().zip(b);
        std::array::from_fn(|_| {
            let (a, b) = channels.next().expect("four channels");
            let step = self.named(Expr::op(Op::Sub, [b, a.clone()]), Type::F32);
            let step = self.named(Expr::op(Op::Mul, [step, weight.clone()]), Type::F32);
            self.named(Expr::op(Op::Add, [a, step]), Type::F32)
        })
    }

    fn named(&mut self, expr: Expr, ty: Type) -> Expr {
        Expr::Var(self.variable(expr, ty))
    }

    fn of_floats<const N: usize>(&mut self, op: Op, operands: [Word; N]) -> Word {
        Word::Var(self.variable(Expr::op(op, operands.map(Word::float)), Type::F32), Type::F32)
    }

    fn of_words(&mut self, op: Op, operands: [Word; 2]) -> Word {
        Word::Var(self.variable(Expr::op(op, operands.map(Word::word)), Type::U32), Type::U32)
    }

    fn compare(&mut self, op: Op, operands: [Word; 2]) -> Var {
        self.variable(Expr::op(op, operands.map(Word::float)), Type::Bool)
    }

    /// Returns a * b, or +0 if a factor is zero.
    fn product(&mut self, [a, b]: [Expr; 2]) -> Expr {
        let is_zero = |x: &Expr| Expr::op(Op::Eq, [x.clone(), Expr::float(0.0)]);
        let either = Expr::or(is_zero(&a), is_zero(&b));
        // Of its own, so that the targets protect it.
        let product = self.named(Expr::op(Op::Mul, [a, b]), Type::F32);
        let result = Expr::select(either, Expr::float(0.0), product);
        self.named(result, Type::F32)
    }

    /// Returns the value that x has in a lane of the quad.
    ///
    /// Hosts have differences of neighbours. Those of natural numbers below 2^16 are exact, so both halves of the word are sent as numbers.
    fn quad_lane(&mut self, x: Word, lane: u8) -> Expr {
        let bits = self.named(x.word(), Type::U32);
        let low = Expr::op(Op::WordAnd, [bits.clone(), Expr::U32(0xffff)]);
        let high = Expr::op(Op::ShiftRight, [bits, Expr::U32(16)]);
        let [low, high] = [low, high].map(|half| {
            let number = self.named(Expr::op(Op::ToFloat, [half]), Type::F32);
            let number = self.at(number, Axis::X, lane & 1 != 0);
            let number = self.at(number, Axis::Y, lane & 2 != 0);
            Expr::op(Op::ToWord, [number])
        });
        let word = Expr::op(Op::WordOr, [low, Expr::op(Op::ShiftLeft, [high, Expr::U32(16)])]);
        Expr::op(Op::FromBits, [word])
    }

    /// Returns the value of a number in the first or second pixel along an axis.
    fn at(&mut self, number: Expr, axis: Axis, second: bool) -> Expr {
        let op = match axis {
            Axis::X => Op::ColumnDifference,
            Axis::Y => Op::RowDifference,
        };
        let difference = self.named(Expr::op(op, [number.clone()]), Type::F32);
        let in_second = Expr::InSecond(axis);
        let (zero, op) = (Expr::float(0.0), if second { Op::Add } else { Op::Sub });
        let step = match second {
            true => Expr::select(in_second, zero, difference),
            false => Expr::select(in_second, difference, zero),
        };
        self.named(Expr::op(op, [number, step]), Type::F32)
    }
}

impl KernelBuilder for Kernel {
    type Value = Word;
    type Mask = Var;

    fn bits(&mut self, bits: u32) -> Word {
        Word::Const(bits)
    }

    fn add(&mut self, a: Word, b: Word) -> Word {
        self.of_floats(Op::Add, [a, b])
    }

    fn sub(&mut self, a: Word, b: Word) -> Word {
        self.of_floats(Op::Sub, [a, b])
    }

    fn mul(&mut self, a: Word, b: Word) -> Word {
        self.of_floats(Op::Mul, [a, b])
    }

    fn min(&mut self, a: Word, b: Word) -> Word {
        let less = self.lt(a, b);
        self.select(less, a, b)
    }

    fn max(&mut self, a: Word, b: Word) -> Word {
        let greater = self.lt(b, a);
        self.select(greater, a, b)
    }

    fn rint(&mut self, a: Word) -> Word {
        self.of_floats(Op::RoundEven, [a])
    }

    fn and(&mut self, a: Word, b: Word) -> Word {
        self.of_words(Op::WordAnd, [a, b])
    }

    fn or(&mut self, a: Word, b: Word) -> Word {
        self.of_words(Op::WordOr, [a, b])
    }

    fn int_add(&mut self, a: Word, b: Word) -> Word {
        self.of_words(Op::WordAdd, [a, b])
    }

    fn int_sub(&mut self, a: Word, b: Word) -> Word {
        self.of_words(Op::WordSub, [a, b])
    }

    fn exponent_from_int(&mut self, a: Word) -> Word {
        self.of_words(Op::ShiftLeft, [a, Word::Const(23)])
    }

    fn exponent_to_float(&mut self, a: Word) -> Word {
        let shifted = self.of_words(Op::ShiftRightSigned, [a, Word::Const(23)]);
        Word::Var(
            self.variable(Expr::op(Op::ToFloatSigned, [shifted.word()]), Type::F32),
            Type::F32,
        )
    }

    fn lt(&mut self, a: Word, b: Word) -> Var {
        self.compare(Op::Lt, [a, b])
    }

    fn ge(&mut self, a: Word, b: Word) -> Var {
        self.compare(Op::Ge, [a, b])
    }

    fn is_zero(&mut self, a: Word) -> Var {
        self.compare(Op::Eq, [a, Word::Const(0)])
    }

    fn select(&mut self, mask: Var, a: Word, b: Word) -> Word {
        let chosen = Expr::select(Expr::Var(mask), a.float(), b.float());
        Word::Var(self.variable(chosen, Type::F32), Type::F32)
    }
}
