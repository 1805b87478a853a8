//! The functions of the language as formulas of the chip's operations.

use std::f32::consts::{FRAC_1_PI, FRAC_PI_2, LN_2, LOG2_E, PI, TAU};

use r500_glsl::builtins::Builtin;
use r500_glsl::types::{Base, Type};
use r500_glsl::{Binary, Stage};
use r500_isa::values::TexOp;

use crate::arithmetic::{Alu, Arithmetic, FetchKind, Value, dot};
use crate::matrices::{matrix_product, row_product};

/// 1 / (2 pi): the fragment processor's sines count turns.
const TURNS: f32 = FRAC_1_PI / 2.0;

/// Returns the value of a function that does not fetch. `literals`: the arguments that the source writes as constants.
pub(crate) fn call<A: Arithmetic>(
    a: &mut A,
    function: Builtin,
    arguments: &[Value<A>],
    literals: &[Option<Vec<f32>>],
) -> Value<A> {
    let literal = |n: usize| -> Option<f32> {
        let values = literals.get(n)?.as_ref()?;
        let first = *values.first()?;
        values.iter().all(|value| value.to_bits() == first.to_bits()).then_some(first)
    };
    let x = &arguments[0];
    match function {
        Builtin::Radians => a.scale(x, PI / 180.0),
        Builtin::Degrees => a.scale(x, 180.0 / PI),
        Builtin::Sin => turns(a, Alu::Sin, x),
        Builtin::Cos => turns(a, Alu::Cos, x),
        Builtin::Tan => {
            let (sine, cosine) = (turns(a, Alu::Sin, x), turns(a, Alu::Cos, x));
            a.div(&sine, &cosine)
        }
        Builtin::Asin => {
            let acos = acos(a, x);
            let half = a.literal(FRAC_PI_2);
            a.sub(&half, &acos)
        }
        Builtin::Acos => acos(a, x),
        Builtin::Atan if arguments.len() == 2 => atan2(a, x, &arguments[1]),
        Builtin::Atan => atan(a, x),
        Builtin::Sinh | Builtin::Cosh => {
            let (up, down) = exponentials(a, x);
            let both = match function {
                Builtin::Sinh => a.sub(&up, &down),
                _ => a.add(&up, &down),
            };
            a.scale(&both, 0.5)
        }
        Builtin::Tanh => {
            let (up, down) = exponentials(a, x);
            let (difference, sum) = (a.sub(&up, &down), a.add(&up, &down));
            a.div(&difference, &sum)
        }
        Builtin::Pow => match literal(1) {
            Some(1.0) => x.clone(),
            Some(2.0) => a.mul(x, x),
            Some(3.0) => {
                let square = a.mul(x, x);
                a.mul(&square, x)
            }
            Some(4.0) => {
                let square = a.mul(x, x);
                a.mul(&square, &square)
            }
            _ if a.stage() == Stage::Vertex => a.alu(Alu::Pow, &[x, &arguments[1]]),
            _ => {
                let log = a.alu(Alu::Ln2, &[x]);
                let product = a.mul(&log, &arguments[1]);
                a.alu(Alu::Ex2, &[&product])
            }
        },
        Builtin::Exp => exp(a, x),
        Builtin::Log => {
            let log = a.alu(Alu::Ln2, &[x]);
            a.scale(&log, LN_2)
        }
        Builtin::Exp2 => a.alu(Alu::Ex2, &[x]),
        Builtin::Log2 => a.alu(Alu::Ln2, &[x]),
        Builtin::Sqrt => a.sqrt(x),
        Builtin::InverseSqrt => a.alu(Alu::Rsq, &[x]),
        Builtin::Abs => a.abs(x),
        Builtin::Sign => {
            let (zero, one, minus) = (a.literal(0.0), a.literal(1.0), a.negate(x));
            let above = a.at_least_zero(&minus, &zero, &one);
            let below = a.at_least_zero(x, &zero, &one);
            a.sub(&above, &below)
        }
        Builtin::Floor => a.floor(x),
        Builtin::Ceil => {
            let minus = a.negate(x);
            let floor = a.floor(&minus);
            a.negate(&floor)
        }
        Builtin::Trunc => a.trunc(x),
        Builtin::Round | Builtin::RoundEven => {
            let half = a.literal(0.5);
            let moved = a.add(x, &half);
            a.floor(&moved)
        }
        Builtin::Fract => a.alu(Alu::Frc, &[x]),
        Builtin::Mod => {
            let y = &arguments[1];
            let quotient = a.div(x, y);
            let floor = a.floor(&quotient);
            let minus = a.negate(y);
            a.mad(&minus, &floor, x)
        }
        Builtin::Min => a.alu(Alu::Min, &[x, &arguments[1]]),
        Builtin::Max => a.alu(Alu::Max, &[x, &arguments[1]]),
        Builtin::Clamp => {
            if literal(1).map(f32::to_bits) == Some(0) && literal(2) == Some(1.0) {
                return a.saturate(x);
            }
            let low = a.alu(Alu::Max, &[x, &arguments[1]]);
            a.alu(Alu::Min, &[&low, &arguments[2]])
        }
        Builtin::Mix => {
            let difference = a.sub(&arguments[1], x);
            a.mad(&arguments[2], &difference, x)
        }
        Builtin::Step => {
            let difference = a.sub(&arguments[1], x);
            let (zero, one) = (a.literal(0.0), a.literal(1.0));
            a.at_least_zero(&difference, &one, &zero)
        }
        Builtin::SmoothStep => {
            let (from, to) = (x, &arguments[1]);
            let width = a.sub(to, from);
            let reciprocal = a.alu(Alu::Rcp, &[&width]);
            let offset = a.sub(&arguments[2], from);
            let zero = a.literal(0.0);
            let t = a.mad_sat([&offset, &reciprocal, &zero]);
            let (minus_two, three) = (a.literal(-2.0), a.literal(3.0));
            let slope = a.mad(&minus_two, &t, &three);
            let square = a.mul(&t, &t);
            a.mul(&square, &slope)
        }
        Builtin::Length => length(a, x),
        Builtin::Distance => {
            let difference = a.sub(x, &arguments[1]);
            length(a, &difference)
        }
        Builtin::Dot => dot(a, x, &arguments[1]),
        Builtin::Cross => {
            let y = &arguments[1];
            let (first, second) = ([1, 2, 0], [2, 0, 1]);
            let (a1, b1) = (a.pick(x, &second), a.pick(y, &first));
            let negative = a.mul(&a1, &b1);
            let negative = a.negate(&negative);
            let (a2, b2) = (a.pick(x, &first), a.pick(y, &second));
            a.mad(&a2, &b2, &negative)
        }
        Builtin::Normalize => {
            let square = dot(a, x, x);
            let reciprocal = a.alu(Alu::Rsq, &[&square]);
            a.mul(x, &reciprocal)
        }
        Builtin::FaceForward => {
            let side = dot(a, &arguments[2], &arguments[1]);
            let minus = a.negate(x);
            a.at_least_zero(&side, &minus, x)
        }
        Builtin::Reflect => {
            let normal = &arguments[1];
            let along = dot(a, normal, x);
            let twice = a.scale(&along, 2.0);
            let minus = a.negate(normal);
            a.mad(&minus, &twice, x)
        }
        Builtin::Refract => refract(a, x, &arguments[1], &arguments[2]),
        Builtin::MatrixCompMult => a.mul(x, &arguments[1]),
        Builtin::LessThan => compare(a, x, &arguments[1], false, true),
        Builtin::GreaterThanEqual => compare(a, x, &arguments[1], false, false),
        Builtin::GreaterThan => compare(a, &arguments[1], x, false, true),
        Builtin::LessThanEqual => compare(a, &arguments[1], x, false, false),
        Builtin::Equal => compare(a, x, &arguments[1], true, false),
        Builtin::NotEqual => compare(a, x, &arguments[1], true, true),
        Builtin::Any => fold(a, Alu::Max, x),
        Builtin::All => fold(a, Alu::Min, x),
        Builtin::Not => {
            let one = a.literal(1.0);
            a.sub(&one, x)
        }
        Builtin::DFdx => a.alu(Alu::Ddx, &[x]),
        Builtin::DFdy => a.alu(Alu::Ddy, &[x]),
        Builtin::Fwidth => {
            let (dx, dy) = (a.alu(Alu::Ddx, &[x]), a.alu(Alu::Ddy, &[x]));
            let (dx, dy) = (a.abs(&dx), a.abs(&dy));
            a.add(&dx, &dy)
        }
        // Those of matrices need their sizes, and fetches their samplers; the callers do them.
        _ => x.clone(),
    }
}

/// Returns 1 where `a - b` is at least 0, or 0 for `equal`; the other way with `negated`.
pub(crate) fn compare<A: Arithmetic>(
    a: &mut A,
    left: &Value<A>,
    right: &Value<A>,
    equal: bool,
    negated: bool,
) -> Value<A> {
    let test = difference(a, left, right, equal);
    let (zero, one) = (a.literal(0.0), a.literal(1.0));
    match negated {
        true => a.at_least_zero(&test, &zero, &one),
        false => a.at_least_zero(&test, &one, &zero),
    }
}

/// Returns what is at least 0 exactly if `left >= right`, or if both are equal.
pub(crate) fn difference<A: Arithmetic>(
    a: &mut A,
    left: &Value<A>,
    right: &Value<A>,
    equal: bool,
) -> Value<A> {
    let difference = a.sub(left, right);
    if !equal {
        return difference;
    }
    let size = a.abs(&difference);
    a.negate(&size)
}

/// Combines all components.
pub(crate) fn fold<A: Arithmetic>(a: &mut A, op: Alu, x: &Value<A>) -> Value<A> {
    let mut all = a.pick(x, &[0]);
    for i in 1..x.len() {
        let next = a.pick(x, &[i]);
        all = a.alu(op, &[&all, &next]);
    }
    all
}

fn length<A: Arithmetic>(a: &mut A, x: &Value<A>) -> Value<A> {
    if x.len() == 1 {
        return a.abs(x);
    }
    let square = dot(a, x, x);
    a.sqrt(&square)
}

fn turns<A: Arithmetic>(a: &mut A, op: Alu, x: &Value<A>) -> Value<A> {
    if a.stage() == Stage::Vertex {
        // The operation takes -pi to pi: half a turn is added before the reduction, and taken off after it.
        let (by, half) = (a.literal(TURNS), a.literal(0.5));
        let turns = a.mad(x, &by, &half);
        let fraction = a.alu(Alu::Frc, &[&turns]);
        let (tau, minus_pi) = (a.literal(TAU), a.literal(-PI));
        let angle = a.mad(&fraction, &tau, &minus_pi);
        return a.alu(op, &[&angle]);
    }
    let turns = a.scale(x, TURNS);
    // The documents give no range of the operation; Mesa's driver reduces to one turn, too.
    let fraction = a.alu(Alu::Frc, &[&turns]);
    a.alu(op, &[&fraction])
}

fn exp<A: Arithmetic>(a: &mut A, x: &Value<A>) -> Value<A> {
    let scaled = a.scale(x, LOG2_E);
    a.alu(Alu::Ex2, &[&scaled])
}

fn exponentials<A: Arithmetic>(a: &mut A, x: &Value<A>) -> (Value<A>, Value<A>) {
    let minus = a.negate(x);
    (exp(a, x), exp(a, &minus))
}

/// Abramowitz and Stegun, 4.4.45: error below 7e-5.
fn acos<A: Arithmetic>(a: &mut A, x: &Value<A>) -> Value<A> {
    let size = a.abs(x);
    let one = a.literal(1.0);
    let rest = a.sub(&one, &size);
    let root = a.sqrt(&rest);
    let polynomial = a.horner(&size, &[1.570_728_8, -0.212_114_4, 0.074_261, -0.018_729_3]);
    let right = a.mul(&root, &polynomial);
    let pi = a.literal(PI);
    let left = a.sub(&pi, &right);
    a.at_least_zero(x, &right, &left)
}

/// The arcus tangent of 0 to 1: a minimax polynomial of degree 11, error below 3e-6.
fn atan_of_unit<A: Arithmetic>(a: &mut A, t: &Value<A>) -> Value<A> {
    let square = a.mul(t, t);
    let coefficients =
        [0.999_995_6, -0.332_994_6, 0.195_635_93, -0.121_239_07, 0.057_477_314, -0.013_480_47];
    let polynomial = a.horner(&square, &coefficients);
    a.mul(t, &polynomial)
}

fn atan<A: Arithmetic>(a: &mut A, x: &Value<A>) -> Value<A> {
    let size = a.abs(x);
    let one = a.literal(1.0);
    let inside = a.sub(&one, &size);
    let reciprocal = a.alu(Alu::Rcp, &[&size]);
    let t = a.at_least_zero(&inside, &size, &reciprocal);
    let near = atan_of_unit(a, &t);
    let half = a.literal(FRAC_PI_2);
    let far = a.sub(&half, &near);
    let angle = a.at_least_zero(&inside, &near, &far);
    let minus = a.negate(&angle);
    a.at_least_zero(x, &angle, &minus)
}

fn atan2<A: Arithmetic>(a: &mut A, y: &Value<A>, x: &Value<A>) -> Value<A> {
    let (high, wide) = (a.abs(y), a.abs(x));
    let most = a.alu(Alu::Max, &[&high, &wide]);
    let least = a.alu(Alu::Min, &[&high, &wide]);
    // 0 / 0 is 0: a product with 0 is.
    let t = a.div(&least, &most);
    let near = atan_of_unit(a, &t);
    let (half, pi) = (a.literal(FRAC_PI_2), a.literal(PI));
    let far = a.sub(&half, &near);
    let flat = a.sub(&wide, &high);
    let angle = a.at_least_zero(&flat, &near, &far);
    let left = a.sub(&pi, &angle);
    let angle = a.at_least_zero(x, &angle, &left);
    let minus = a.negate(&angle);
    a.at_least_zero(y, &angle, &minus)
}

fn refract<A: Arithmetic>(
    a: &mut A,
    ray: &Value<A>,
    normal: &Value<A>,
    eta: &Value<A>,
) -> Value<A> {
    let one = a.literal(1.0);
    let along = dot(a, normal, ray);
    let minus = a.negate(&along);
    let across = a.mad(&minus, &along, &one);
    let square = a.mul(eta, eta);
    let minus = a.negate(&square);
    let k = a.mad(&minus, &across, &one);
    let root = a.sqrt(&k);
    let factor = a.mad(eta, &along, &root);
    let minus = a.negate(normal);
    let scaled = a.mul(eta, ray);
    let refracted = a.mad(&minus, &factor, &scaled);
    let zero = a.literal(0.0);
    a.at_least_zero(&k, &refracted, &zero)
}

/// The quotient of integers: towards 0. Half is added to what is divided, so that the reciprocal's rounding does not show below 2^21.
pub(crate) fn integer_quotient<A: Arithmetic>(
    a: &mut A,
    left: &Value<A>,
    right: &Value<A>,
) -> Value<A> {
    let (size, by) = (a.abs(left), a.abs(right));
    let half = a.literal(0.5);
    let moved = a.add(&size, &half);
    let quotient = a.div(&moved, &by);
    let floor = a.floor(&quotient);
    let minus = a.negate(&floor);
    let along = a.at_least_zero(right, &floor, &minus);
    let against = a.negate(&along);
    a.at_least_zero(left, &along, &against)
}

/// Fetches. `arguments` are those after the sampler, of which `coordinates` are in the texture, and `shadow` whether depths are compared.
pub(crate) fn fetch<A: Arithmetic>(
    a: &mut A,
    function: Builtin,
    unit: u8,
    [coordinates, shadow, rect]: [usize; 3],
    arguments: &[Value<A>],
) -> Value<A> {
    let name = function.name();
    let (projective, has_lod, graded) =
        (name.contains("Proj"), name.contains("Lod"), name.contains("Grad"));
    let place = &arguments[0];
    let count = place.len();
    let extra = arguments.get(1).filter(|_| !graded);
    let projected = projective && (extra.is_some() || shadow != 0);
    let mut list: Vec<usize> = (0..coordinates).collect();
    // S, T, R in their places, then Q. A plane has no R.
    while list.len() < 3 {
        let is_q = list.len() == 2 && projective && !projected;
        list.push(if is_q { count - 1 } else { list.len().min(count - 1) });
    }
    let mut base = place.clone();
    let last = a.pick(place, &[count - 1]);
    if projected {
        base = a.div(place, &last);
    }
    let q = match extra {
        Some(extra) => extra.clone(),
        None if projective && !projected => last,
        None => a.pick(&base, &[list[2]]),
    };
    let str_ = a.pick(&base, &list);
    let strq = a.join(&[str_, q]);
    let op = match () {
        () if graded => TexOp::DXDY,
        () if has_lod => TexOp::LOD,
        () if extra.is_some() => TexOp::LODBIAS,
        () if projective && !projected => TexOp::PROJ,
        () => TexOp::LD,
    };
    let kind = FetchKind { unit, op, unscaled: rect != 0 };
    let texel = match (graded, arguments) {
        (true, [_, dx, dy]) => a.fetch(kind, &strq, Some([dx, dy])),
        _ => a.fetch(kind, &strq, None),
    };
    if shadow == 0 {
        return texel;
    }
    // The chip does not compare: the texel is the depth, and the fragment is lit if its own is not greater.
    let depth = a.pick(&base, &[2]);
    let texel = a.pick(&texel, &[0]);
    let lit = compare(a, &texel, &depth, false, false);
    let one = a.literal(1.0);
    match function {
        Builtin::Texture => lit,
        _ => a.join(&[lit.clone(), lit.clone(), lit, one]),
    }
}

/// `+ - * / %` of values of two types.
pub(crate) fn arithmetic<A: Arithmetic>(
    a: &mut A,
    op: Binary,
    (left, left_ty): (&Value<A>, &Type),
    (right, right_ty): (&Value<A>, &Type),
) -> Value<A> {
    let is_integer = left_ty.base() == Some(Base::Int);
    match op {
        Binary::Add => a.add(left, right),
        Binary::Sub => a.sub(left, right),
        Binary::Mul => match (left_ty, right_ty) {
            (Type::Matrix { rows, .. }, Type::Matrix { .. } | Type::Vector(_, 2..)) => {
                matrix_product(a, left, right, usize::from(*rows))
            }
            (Type::Vector(_, 2..), Type::Matrix { .. }) => row_product(a, left, right),
            _ => a.mul(left, right),
        },
        Binary::Div if is_integer => integer_quotient(a, left, right),
        Binary::Div => a.div(left, right),
        Binary::Rem => {
            let quotient = integer_quotient(a, left, right);
            let minus = a.negate(right);
            a.mad(&minus, &quotient, left)
        }
        _ => left.clone(),
    }
}

/// Converts components between floats, integers and truths.
pub(crate) fn convert<A: Arithmetic>(
    a: &mut A,
    value: &Value<A>,
    from: &Type,
    to: &Type,
) -> Value<A> {
    let base = |ty: &Type| match ty {
        Type::Array(of, _) => of.base(),
        ty => ty.base(),
    };
    match (base(from), base(to)) {
        (Some(Base::Float), Some(Base::Int)) => a.trunc(value),
        (Some(Base::Float | Base::Int), Some(Base::Bool)) => {
            let test = a.abs(value);
            let test = a.negate(&test);
            let (zero, one) = (a.literal(0.0), a.literal(1.0));
            a.at_least_zero(&test, &zero, &one)
        }
        _ => value.clone(),
    }
}
