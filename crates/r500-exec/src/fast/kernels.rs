//! Which loop does an operation: by what it computes and which of its arguments are constants.
//!
//! Each loop is a function of its own for each level. Arguments that are constants have loops of
//! their own where programs often have them; elsewhere they are spread out to a slot.

use core::marker::PhantomData;

use super::code::Arg;
use super::lanes::arith::{self, FromC, Ieee, MinusBoth, MinusC, PlusC, ZeroA, ZeroBoth};
use super::lanes::{Chunk, Splat, Src, bits, choose, functions};
use super::machine::Spare;
use super::simd::{Job, Level};
use crate::ir::{Code, Denormals, Product, Sign};

/// A loop over one, two, three operands.
trait Kernel<const N: usize> {
    fn run<L: Level>(dst: &mut [Chunk], a: impl Src, b: impl Src, c: impl Src, sign: Splat);
}

/// A kernel with its operands.
struct Run<'a, K, A, B, C> {
    dst: &'a mut [Chunk],
    a: A,
    b: B,
    c: C,
    sign: Splat,
    kernel: PhantomData<K>,
}

macro_rules! kernels {
    ($($name:ident[$n:literal] |$level:ident, $d:ident, $a:ident, $b:ident, $c:ident, $sign:ident| $call:expr;)*) => {$(
        struct $name;

        impl Kernel<$n> for $name {
            #[inline(always)]
            #[allow(unused_variables, reason = "each takes as many as it needs")]
            fn run<$level: Level>(
                $d: &mut [Chunk],
                $a: impl Src,
                $b: impl Src,
                $c: impl Src,
                $sign: Splat,
            ) {
                $call;
            }
        }

        impl<A: Src, B: Src, C: Src> Job for Run<'_, $name, A, B, C> {
            type Output = ();

            #[inline(always)]
            fn run<L: Level>(self, _: L) {
                <$name as Kernel<$n>>::run::<L>(self.dst, self.a, self.b, self.c, self.sign);
            }
        }
    )*};
}

#[rustfmt::skip]
kernels! {
    Neg[1] |L, d, a, b, c, s| bits::neg(d, a);
    Abs[1] |L, d, a, b, c, s| bits::abs(d, a);
    NegAbs[1] |L, d, a, b, c, s| bits::neg_abs(d, a);
    Flush[1] |L, d, a, b, c, s| bits::flush(d, a);
    TopLeft[1] |L, d, a, b, c, s| bits::corner::<0>(d, a);
    TopRight[1] |L, d, a, b, c, s| bits::corner::<1>(d, a);
    BottomLeft[1] |L, d, a, b, c, s| bits::corner::<2>(d, a);
    Clamp01[1] |L, d, a, b, c, s| functions::clamp01::<L::Flush>(d, a);
    Frc[1] |L, d, a, b, c, s| functions::frc::<L::Flush, L::Rint>(d, a);
    Rcp[1] |L, d, a, b, c, s| arith::rcp::<L::Flush>(d, a);
    Rsq[1] |L, d, a, b, c, s| arith::rsq::<L::Flush>(d, a);
    Ex2[1] |L, d, a, b, c, s| functions::ex2::<L::Flush>(d, a);
    Ln2[1] |L, d, a, b, c, s| functions::ln2::<L::Flush>(d, a);
    Sin[1] |L, d, a, b, c, s| functions::sin::<L::Flush, L::Rint>(d, a);
    Cos[1] |L, d, a, b, c, s| functions::cos::<L::Flush, L::Rint>(d, a);

    Add[2] |L, d, a, b, c, s| arith::add::<L::Flush>(d, a, b);
    Sub[2] |L, d, a, b, c, s| arith::sub::<L::Flush>(d, a, b);
    Mul[2] |L, d, a, b, c, s| arith::mul::<L::Flush, Ieee>(d, a, b);
    MulSigned[2] |L, d, a, b, c, s| arith::mul_signed::<L::Flush, Ieee>(d, a, b, s);
    MulZeroA[2] |L, d, a, b, c, s| arith::mul_signed::<L::Flush, ZeroA>(d, a, b, s);
    MulZeroBoth[2] |L, d, a, b, c, s| arith::mul_signed::<L::Flush, ZeroBoth>(d, a, b, s);
    Min[2] |L, d, a, b, c, s| choose::min::<L::Flush>(d, a, b);
    Max[2] |L, d, a, b, c, s| choose::max::<L::Flush>(d, a, b);
    MinRaw[2] |L, d, a, b, c, s| choose::min_raw::<L::Flush>(d, a, b);
    MaxRaw[2] |L, d, a, b, c, s| choose::max_raw::<L::Flush>(d, a, b);
    Lt[2] |L, d, a, b, c, s| choose::compare::<L::Flush, choose::Lt>(d, a, b);
    Ge[2] |L, d, a, b, c, s| choose::compare::<L::Flush, choose::Ge>(d, a, b);
    Eq[2] |L, d, a, b, c, s| choose::compare::<L::Flush, choose::Eq>(d, a, b);
    Ne[2] |L, d, a, b, c, s| choose::compare::<L::Flush, choose::Ne>(d, a, b);
    And[2] |L, d, a, b, c, s| choose::and(d, a, b);
    Or[2] |L, d, a, b, c, s| choose::or(d, a, b);
    AndNot[2] |L, d, a, b, c, s| choose::and_not(d, a, b);

    Mad[3] |L, d, a, b, c, s| arith::mad::<L::Flush, Ieee, PlusC>(d, a, b, c);
    MadMinus[3] |L, d, a, b, c, s| arith::mad::<L::Flush, Ieee, MinusC>(d, a, b, c);
    MadFrom[3] |L, d, a, b, c, s| arith::mad::<L::Flush, Ieee, FromC>(d, a, b, c);
    MadBoth[3] |L, d, a, b, c, s| arith::mad::<L::Flush, Ieee, MinusBoth>(d, a, b, c);
    MadZeroA[3] |L, d, a, b, c, s| arith::mad_signed::<L::Flush, ZeroA, PlusC>(d, a, b, c, s);
    MadZeroAMinus[3] |L, d, a, b, c, s| arith::mad_signed::<L::Flush, ZeroA, MinusC>(d, a, b, c, s);
    MadZeroBoth[3] |L, d, a, b, c, s| arith::mad_signed::<L::Flush, ZeroBoth, PlusC>(d, a, b, c, s);
    MadZeroBothMinus[3] |L, d, a, b, c, s| arith::mad_signed::<L::Flush, ZeroBoth, MinusC>(d, a, b, c, s);
    Select[3] |L, d, a, b, c, s| choose::select(d, a, b, c);
}

/// Calls a kernel's function for the level.
macro_rules! call {
    ($level:ident, $kernel:ident, $dst:ident, $a:expr, $b:expr, $c:expr, $sign:expr) => {
        $level.call(Run::<$kernel, _, _, _> {
            dst: $dst,
            a: $a,
            b: $b,
            c: $c,
            sign: $sign,
            kernel: PhantomData,
        })
    };
}

/// One operation. `spare` are the slots that it may read.
#[inline(always)]
pub(super) fn op<L: Level>(
    level: L,
    code: Code,
    dst: &mut [Chunk],
    args: [Arg; 3],
    spare: Spare<'_>,
) {
    let mut spare = spare;
    let none = Splat(0.0);
    let [a, b, c] = args;

    macro_rules! unary {
        ($kernel:ident) => {{
            let [a] = spare.slots([a]);
            call!(level, $kernel, dst, a, none, none, none)
        }};
    }
    // Constants second; those that come first are spread out.
    macro_rules! binary {
        ($kernel:ident, $sign:expr, $a:expr, $b:expr) => {
            match ($a, $b) {
                (Arg::Slot(a), Arg::Slot(b)) => {
                    call!(level, $kernel, dst, spare.get(a), spare.get(b), none, $sign)
                }
                (Arg::Slot(a), Arg::Const(b)) => {
                    call!(level, $kernel, dst, spare.get(a), Splat(b), none, $sign)
                }
                (a, b) => {
                    let [a, b] = spare.slots([a, b]);
                    call!(level, $kernel, dst, a, b, none, $sign)
                }
            }
        };
        ($kernel:ident) => {
            binary!($kernel, none, a, b)
        };
    }
    // Constants in any place.
    macro_rules! either {
        ($kernel:ident) => {
            match (a, b) {
                (Arg::Const(a), Arg::Slot(b)) => {
                    call!(level, $kernel, dst, Splat(a), spare.get(b), none, none)
                }
                _ => binary!($kernel),
            }
        };
    }
    macro_rules! ternary {
        ($kernel:ident, $sign:expr, $a:expr, $b:expr) => {
            match ($a, $b, c) {
                (Arg::Slot(a), Arg::Slot(b), Arg::Slot(c)) => {
                    call!(level, $kernel, dst, spare.get(a), spare.get(b), spare.get(c), $sign)
                }
                (Arg::Slot(a), Arg::Slot(b), Arg::Const(c)) => {
                    call!(level, $kernel, dst, spare.get(a), spare.get(b), Splat(c), $sign)
                }
                (Arg::Slot(a), Arg::Const(b), Arg::Slot(c)) => {
                    call!(level, $kernel, dst, spare.get(a), Splat(b), spare.get(c), $sign)
                }
                (Arg::Slot(a), Arg::Const(b), Arg::Const(c)) => {
                    call!(level, $kernel, dst, spare.get(a), Splat(b), Splat(c), $sign)
                }
                (a, b, c) => {
                    let [a, b, c] = spare.slots([a, b, c]);
                    call!(level, $kernel, dst, a, b, c, $sign)
                }
            }
        };
    }

    match code {
        // Delivered before the steps.
        Code::Input { .. } => {}
        Code::Mul(product) => {
            let (form, sign, a, b) = form(product, a, b);
            match (form, product.negate) {
                (Form::Ieee, false) => binary!(Mul, none, a, b),
                (Form::Ieee, true) => binary!(MulSigned, sign, a, b),
                (Form::ZeroA, _) => binary!(MulZeroA, sign, a, b),
                (Form::ZeroBoth, _) => binary!(MulZeroBoth, sign, a, b),
            }
        }
        Code::Mad(product, sum) => {
            let (form, sign, a, b) = form(product, a, b);
            match (form, product.negate, sum) {
                (Form::Ieee, false, Sign::Plus) => ternary!(Mad, none, a, b),
                (Form::Ieee, false, Sign::Minus) => ternary!(MadMinus, none, a, b),
                (Form::Ieee, true, Sign::Plus) => ternary!(MadFrom, none, a, b),
                (Form::Ieee, true, Sign::Minus) => ternary!(MadBoth, none, a, b),
                (Form::ZeroA, _, Sign::Plus) => ternary!(MadZeroA, sign, a, b),
                (Form::ZeroA, _, Sign::Minus) => ternary!(MadZeroAMinus, sign, a, b),
                (Form::ZeroBoth, _, Sign::Plus) => ternary!(MadZeroBoth, sign, a, b),
                (Form::ZeroBoth, _, Sign::Minus) => ternary!(MadZeroBothMinus, sign, a, b),
            }
        }
        Code::Add => binary!(Add),
        Code::Sub => either!(Sub),
        Code::Neg => unary!(Neg),
        Code::Abs => unary!(Abs),
        Code::NegAbs => unary!(NegAbs),
        Code::Min(Denormals::Excluded) => binary!(Min),
        Code::Max(Denormals::Excluded) => binary!(Max),
        Code::Min(Denormals::Kept) => binary!(MinRaw),
        Code::Max(Denormals::Kept) => binary!(MaxRaw),
        Code::Select => match (a, b, c) {
            (Arg::Slot(mask), Arg::Const(a), Arg::Const(b)) => {
                call!(level, Select, dst, spare.get(mask), Splat(a), Splat(b), none)
            }
            _ => ternary!(Select, none, a, b),
        },
        Code::Flush => unary!(Flush),
        Code::Clamp01 => unary!(Clamp01),
        Code::Frc => unary!(Frc),
        Code::Rcp => unary!(Rcp),
        Code::Rsq => unary!(Rsq),
        Code::Ex2 => unary!(Ex2),
        Code::Ln2 => unary!(Ln2),
        Code::Sin => unary!(Sin),
        Code::Cos => unary!(Cos),
        Code::Corner(0) => unary!(TopLeft),
        Code::Corner(1) => unary!(TopRight),
        Code::Corner(_) => unary!(BottomLeft),
        Code::Lt => either!(Lt),
        Code::Ge => either!(Ge),
        Code::Eq => either!(Eq),
        Code::Ne => either!(Ne),
        Code::And => binary!(And),
        Code::Or => binary!(Or),
        Code::AndNot => either!(AndNot),
    }
}

/// How much of the zero rule a product needs.
#[derive(Clone, Copy)]
enum Form {
    Ieee,
    ZeroA,
    ZeroBoth,
}

/// The form of a product, its sign as the kernels take it, and its factors in the form's order.
#[inline(always)]
fn form(product: Product, a: Arg, b: Arg) -> (Form, Splat, Arg, Arg) {
    let sign = Splat(if product.negate { -0.0 } else { 0.0 });
    match (product.zero_a, product.zero_b) {
        (false, false) => (Form::Ieee, sign, a, b),
        (true, false) => (Form::ZeroA, sign, a, b),
        (false, true) => (Form::ZeroA, sign, b, a),
        (true, true) => (Form::ZeroBoth, sign, a, b),
    }
}
