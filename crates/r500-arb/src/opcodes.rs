//! The instructions, and what each computes of its operands.

use r500_glsl::tree::Expr;
use r500_glsl::types::{Dimensions, Type};
use r500_glsl::{Binary, Builtin, Stage};

use crate::build::Build;

/// An instruction.
pub(crate) struct Opcode {
    pub(crate) name: &'static str,
    /// The only stage that has it.
    pub(crate) stage: Option<Stage>,
    pub(crate) form: Form,
}

/// What an instruction computes of the vectors or scalars that it reads; always four components.
type Value = fn(Build, &[Expr]) -> Expr;

/// What an instruction reads.
#[derive(Clone, Copy)]
pub(crate) enum Form {
    /// Vectors.
    Vectors(usize, Value),
    /// Scalars: operands with one component.
    Scalars(usize, Value),
    /// A vector whose components may be 0 and 1.
    Swizzle,
    /// A scalar for the address register.
    Address,
    /// A vector that ends pixels.
    Kill,
    /// Coordinates, a texture unit and its target.
    Fetch(Fetch),
}

/// How a fetch reads its coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fetch {
    Plain,
    /// W is added to the level of detail.
    Biased,
    /// Divided by W.
    Projected,
}

const fn both(name: &'static str, form: Form) -> Opcode {
    Opcode { name, stage: None, form }
}

const fn only(stage: Stage, name: &'static str, form: Form) -> Opcode {
    Opcode { name, stage: Some(stage), form }
}

use Form::{Scalars, Vectors};

/// All instructions of both languages.
pub(crate) const OPCODES: [Opcode; 36] = [
    both("ABS", Vectors(1, |b, a| b.call(Builtin::Abs, a.to_vec()))),
    both("ADD", Vectors(2, |b, a| by(b, Binary::Add, a))),
    both("DP3", Vectors(2, |b, a| b.splat(b.dot(b.xyz(&a[0]), b.xyz(&a[1]))))),
    both("DP4", Vectors(2, |b, a| b.splat(b.dot(a[0].clone(), a[1].clone())))),
    both("DPH", Vectors(2, dph)),
    both("DST", Vectors(2, dst)),
    both("FLR", Vectors(1, |b, a| b.call(Builtin::Floor, a.to_vec()))),
    both("FRC", Vectors(1, |b, a| b.call(Builtin::Fract, a.to_vec()))),
    both("LIT", Vectors(1, lit)),
    both("MAD", Vectors(3, |b, a| b.binary(Binary::Add, by(b, Binary::Mul, a), a[2].clone()))),
    both("MAX", Vectors(2, |b, a| b.call(Builtin::Max, a.to_vec()))),
    both("MIN", Vectors(2, |b, a| b.call(Builtin::Min, a.to_vec()))),
    both("MOV", Vectors(1, |_, a| a[0].clone())),
    both("MUL", Vectors(2, |b, a| by(b, Binary::Mul, a))),
    both("SGE", Vectors(2, |b, a| truths(b, Builtin::GreaterThanEqual, a))),
    both("SLT", Vectors(2, |b, a| truths(b, Builtin::LessThan, a))),
    both("SUB", Vectors(2, |b, a| by(b, Binary::Sub, a))),
    both("XPD", Vectors(2, xpd)),
    only(Stage::Fragment, "CMP", Vectors(3, cmp)),
    only(Stage::Fragment, "LRP", Vectors(3, lrp)),
    both("EX2", Scalars(1, |b, a| b.splat(b.call(Builtin::Exp2, a.to_vec())))),
    both("LG2", Scalars(1, |b, a| b.splat(b.call(Builtin::Log2, a.to_vec())))),
    both("POW", Scalars(2, |b, a| b.splat(b.call(Builtin::Pow, a.to_vec())))),
    both("RCP", Scalars(1, |b, a| b.splat(b.binary(Binary::Div, b.number(1.0), a[0].clone())))),
    both("RSQ", Scalars(1, rsq)),
    only(Stage::Fragment, "COS", Scalars(1, |b, a| b.splat(b.call(Builtin::Cos, a.to_vec())))),
    only(Stage::Fragment, "SIN", Scalars(1, |b, a| b.splat(b.call(Builtin::Sin, a.to_vec())))),
    only(Stage::Fragment, "SCS", Scalars(1, scs)),
    only(Stage::Vertex, "EXP", Scalars(1, exp)),
    only(Stage::Vertex, "LOG", Scalars(1, log)),
    both("SWZ", Form::Swizzle),
    only(Stage::Vertex, "ARL", Form::Address),
    only(Stage::Fragment, "KIL", Form::Kill),
    only(Stage::Fragment, "TEX", Form::Fetch(Fetch::Plain)),
    only(Stage::Fragment, "TXB", Form::Fetch(Fetch::Biased)),
    only(Stage::Fragment, "TXP", Form::Fetch(Fetch::Projected)),
];

fn by(b: Build, op: Binary, a: &[Expr]) -> Expr {
    b.binary(op, a[0].clone(), a[1].clone())
}

fn truths(b: Build, function: Builtin, a: &[Expr]) -> Expr {
    b.join(vec![b.truths(function, a[0].clone(), a[1].clone())])
}

fn dph(b: Build, a: &[Expr]) -> Expr {
    let dot = b.dot(b.xyz(&a[0]), b.xyz(&a[1]));
    b.splat(b.binary(Binary::Add, dot, b.component(&a[1], 3)))
}

/// 1, and products for distances: `(1, a.y * b.y, a.z, b.w)`.
fn dst(b: Build, a: &[Expr]) -> Expr {
    let y = b.binary(Binary::Mul, b.component(&a[0], 1), b.component(&a[1], 1));
    b.join(vec![b.number(1.0), y, b.component(&a[0], 2), b.component(&a[1], 3)])
}

/// Coefficients of a light: `(1, max(x, 0), x > 0 ? max(y, 0) ^ w : 0, 1)`, where `w` is between -128 and 128.
fn lit(b: Build, a: &[Expr]) -> Expr {
    let zero = || b.number(0.0);
    let positive = |c: u8| b.call(Builtin::Max, vec![b.component(&a[0], c), zero()]);
    let limits = vec![b.component(&a[0], 3), b.number(-128.0), b.number(128.0)];
    let exponent = b.call(Builtin::Clamp, limits);
    let power = b.call(Builtin::Pow, vec![positive(1), exponent]);
    let test = b.compare(Binary::Gt, b.component(&a[0], 0), zero());
    b.join(vec![b.number(1.0), positive(0), b.select(test, power, zero()), b.number(1.0)])
}

/// The cross product; W is open.
fn xpd(b: Build, a: &[Expr]) -> Expr {
    let cross = b.call(Builtin::Cross, vec![b.xyz(&a[0]), b.xyz(&a[1])]);
    b.join(vec![cross, b.number(1.0)])
}

/// Where the first operand is less than 0 the second one, elsewhere the third one.
fn cmp(b: Build, a: &[Expr]) -> Expr {
    let test = b.truths(Builtin::LessThan, a[0].clone(), b.vector([0.0; 4]));
    b.call(Builtin::Mix, vec![a[2].clone(), a[1].clone(), test])
}

fn lrp(b: Build, a: &[Expr]) -> Expr {
    b.call(Builtin::Mix, vec![a[2].clone(), a[1].clone(), a[0].clone()])
}

fn rsq(b: Build, a: &[Expr]) -> Expr {
    let size = b.call(Builtin::Abs, a.to_vec());
    b.splat(b.call(Builtin::InverseSqrt, vec![size]))
}

/// `(cos, sin)`; Z and W are open.
fn scs(b: Build, a: &[Expr]) -> Expr {
    let (cosine, sine) = (b.call(Builtin::Cos, a.to_vec()), b.call(Builtin::Sin, a.to_vec()));
    b.join(vec![cosine, sine, b.number(0.0), b.number(1.0)])
}

/// `2 ^ x` in Z, of its whole part in X, the fraction of `x` in Y.
fn exp(b: Build, a: &[Expr]) -> Expr {
    let floor = b.call(Builtin::Floor, a.to_vec());
    let whole = b.call(Builtin::Exp2, vec![floor]);
    let fraction = b.call(Builtin::Fract, a.to_vec());
    b.join(vec![whole, fraction, b.call(Builtin::Exp2, a.to_vec()), b.number(1.0)])
}

/// The logarithm of `|x|` in Z, its whole part in X, and in Y what is left of `|x|`, from 1 to 2.
fn log(b: Build, a: &[Expr]) -> Expr {
    let size = b.call(Builtin::Abs, a.to_vec());
    let log = b.call(Builtin::Log2, vec![size.clone()]);
    let floor = b.call(Builtin::Floor, vec![log.clone()]);
    let scale = b.call(Builtin::Exp2, vec![b.negate(floor.clone())]);
    b.join(vec![floor, b.binary(Binary::Mul, size, scale), log, b.number(1.0)])
}

/// A target of textures: its name, what it reads, and whether it compares with depths.
pub(crate) type Target = (&'static str, Dimensions, bool);

/// All targets.
pub(crate) const TARGETS: [Target; 8] = [
    ("1D", Dimensions::D1, false),
    ("2D", Dimensions::D2, false),
    ("3D", Dimensions::D3, false),
    ("CUBE", Dimensions::Cube, false),
    ("RECT", Dimensions::Rect, false),
    ("SHADOW1D", Dimensions::D1, true),
    ("SHADOW2D", Dimensions::D2, true),
    ("SHADOWRECT", Dimensions::Rect, true),
];

/// What a fetch gives.
pub(crate) fn fetch(b: Build, fetch: Fetch, target: Target, sampler: Expr, place: &Expr) -> Expr {
    let (_, dimensions, shadow) = target;
    // The chip divides coordinates of planes and volumes; a direction is divided before.
    let by_chip = match (dimensions, shadow) {
        (Dimensions::D1, false) => Some(Builtin::Texture1DProj),
        (Dimensions::D2, false) => Some(Builtin::Texture2DProj),
        (Dimensions::Rect, false) => Some(Builtin::Texture2DRectProj),
        (Dimensions::D3, _) => Some(Builtin::Texture3DProj),
        (Dimensions::D1, true) => Some(Builtin::Shadow1DProj),
        (Dimensions::D2, true) => Some(Builtin::Shadow2DProj),
        (Dimensions::Cube, _) | (Dimensions::Rect, true) => None,
    };
    if let (Fetch::Projected, Some(function)) = (fetch, by_chip) {
        return b.call_of(function, vec![sampler, place.clone()], Type::floats(4));
    }
    let divided;
    let place = if fetch == Fetch::Projected {
        divided = b.binary(Binary::Div, place.clone(), b.component(place, 3));
        &divided
    } else {
        place
    };
    let (function, coordinates) = match (dimensions, shadow) {
        (Dimensions::D1, false) => (Builtin::Texture1D, b.component(place, 0)),
        (Dimensions::D2, false) => (Builtin::Texture2D, b.swizzle(place.clone(), &[0, 1])),
        (Dimensions::Rect, false) => (Builtin::Texture2DRect, b.swizzle(place.clone(), &[0, 1])),
        (Dimensions::D3, _) => (Builtin::Texture3D, b.xyz(place)),
        (Dimensions::Cube, _) => (Builtin::TextureCube, b.xyz(place)),
        (Dimensions::D1, true) => (Builtin::Shadow1D, b.xyz(place)),
        (Dimensions::D2, true) => (Builtin::Shadow2D, b.xyz(place)),
        (Dimensions::Rect, true) => (Builtin::Shadow2DRect, b.xyz(place)),
    };
    let mut arguments = vec![sampler, coordinates];
    // Rectangles have one level of detail.
    if fetch == Fetch::Biased && dimensions != Dimensions::Rect {
        arguments.push(b.component(place, 3));
    }
    b.call_of(function, arguments, Type::floats(4))
}
