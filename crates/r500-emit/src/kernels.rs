//! Functions next to a shader's body: the reference kernels, built by [`KernelBuilder`], and the lanes of a quad.

use r500_numerics::branchless::{self, KernelBuilder};

use crate::source::{Axis, Expr, Function, Helper, Op, Stmt, Type, Var};

/// Returns the functions for these helpers.
pub(crate) fn functions(helpers: &[Helper]) -> Vec<Function> {
    let mut helpers = helpers.to_vec();
    helpers.sort_unstable();
    helpers.into_iter().map(function).collect()
}

fn function(helper: Helper) -> Function {
    let parameters: Vec<Var> =
        (0..if helper == Helper::Product { 2 } else { 1 }).map(Var).collect();
    let mut kernel = Kernel { types: vec![Type::F32; parameters.len()], body: Vec::new() };
    let x = Word::Var(Var(0), Type::F32);
    let result = match helper {
        Helper::Ex2 => branchless::ex2(&mut kernel, x).float(),
        Helper::Ln2 => branchless::ln2(&mut kernel, x).float(),
        Helper::Sin => branchless::sin(&mut kernel, x).float(),
        Helper::Cos => branchless::cos(&mut kernel, x).float(),
        Helper::Flush => flush(x),
        Helper::Product => kernel.product([Expr::Var(Var(0)), Expr::Var(Var(1))]),
        Helper::QuadLane(lane) => kernel.quad_lane(x, lane),
    };
    Function { helper, parameters, body: kernel.body, result, types: kernel.types }
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
    fn variable(&mut self, expr: Expr, ty: Type) -> Var {
        let var = Var(u32::try_from(self.types.len()).expect("a kernel has few operations"));
        self.types.push(ty);
        self.body.push(Stmt::Let(var, expr));
        var
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
