//! Anisotropic filters: the number of probes, their level of detail and their positions, as `r500-texture` computes them.

use super::Kernel;
use super::level::{biased, has_third};
use crate::source::{Expr, Helper, Op, Stmt, Type, Var};
use crate::textures::ExactTexture;

/// Returns the types of parameters: the position, the two steps of a pixel with two axes each, and the bias of the instruction.
pub(super) fn parameters(texture: &ExactTexture, has_bias: bool) -> Vec<Type> {
    let count = if has_third(texture) { 3 } else { 2 } + 4 + usize::from(has_bias);
    vec![Type::F32; count]
}

/// Returns the mean of the colours of the probes.
pub(super) fn probes(
    kernel: &mut Kernel,
    unit: u8,
    texture: &ExactTexture,
    has_bias: bool,
) -> [Expr; 4] {
    let axes = if has_third(texture) { 3 } else { 2 };
    let parameter = |n: u32| Expr::Var(Var(n));
    let position: Vec<Expr> = (0..axes).map(parameter).collect();
    let steps = [0, 2].map(|n| [parameter(axes + n), parameter(axes + n + 1)]);
    let footprint = Footprint::of(kernel, steps, texture);
    let mut lod = footprint.lod;
    if has_bias {
        lod = kernel.named(Expr::op(Op::Add, [lod, parameter(axes + 4)]), Type::F32);
    }
    let count = count(kernel, footprint.count, &lod, texture);
    mean(kernel, &count, |kernel, index| {
        let part = part(kernel, index, &count);
        let is_one = Expr::op(Op::WordEq, [count.clone(), Expr::U32(1)]);
        let mut operands = position.clone();
        for (x, step) in operands.iter_mut().zip(footprint.step.clone()) {
            let along = kernel.named(Expr::op(Op::Mul, [step, part.clone()]), Type::F32);
            let moved = kernel.named(Expr::op(Op::Add, [x.clone(), along]), Type::F32);
            *x = kernel.named(Expr::select(is_one.clone(), x.clone(), moved), Type::F32);
        }
        operands.push(lod.clone());
        kernel.call(Helper::Texture(unit), operands)
    })
}

/// The area of the texture that a pixel covers.
struct Footprint {
    /// The longer step, along which the probes lie.
    step: [Expr; 2],
    /// The number of probes, a word.
    count: Expr,
    /// The level of detail, without any bias.
    lod: Expr,
}

impl Footprint {
    fn of(kernel: &mut Kernel, [dx, dy]: [[Expr; 2]; 2], texture: &ExactTexture) -> Self {
        let filter = texture.settings.anisotropy.expect("the texture has an anisotropic filter");
        let mut product =
            |a: &Expr, b: &Expr| kernel.named(Expr::op(Op::Mul, [a.clone(), b.clone()]), Type::F32);
        let squares = [&dx, &dy].map(|[u, v]| [product(u, u), product(v, v)]);
        let corners = [product(&dx[0], &dy[1]), product(&dx[1], &dy[0])];
        let [right, down] =
            squares.map(|square| kernel.named(Expr::op(Op::Add, square), Type::F32));
        let is_right = Expr::op(Op::Ge, [right.clone(), down.clone()]);
        let is_right = kernel.named(is_right, Type::Bool);
        let mut longer_of =
            |x: Expr, y: Expr| kernel.named(Expr::select(is_right.clone(), x, y), Type::F32);
        let longer = longer_of(right, down);
        let [[dx_u, dx_v], [dy_u, dy_v]] = [dx, dy];
        let step = [longer_of(dx_u, dy_u), longer_of(dx_v, dy_v)];
        let area = kernel.named(Expr::op(Op::Sub, corners), Type::F32);
        let magnitude = Expr::op(Op::WordAnd, [Expr::op(Op::Bits, [area]), Expr::U32(0x7fff_ffff)]);
        let area = kernel.named(Expr::op(Op::FromBits, [magnitude]), Type::F32);

        let mut count = Expr::U32(1);
        for n in 1..filter.most {
            let n = Expr::float(n as f32 + 0.5);
            let larger = maximum(kernel, area.clone(), n.clone());
            let square = kernel.named(Expr::op(Op::Mul, [n, larger]), Type::F32);
            let is_further = Expr::op(Op::Ge, [longer.clone(), square]);
            let one = Expr::select(is_further, Expr::U32(1), Expr::U32(0));
            count = kernel.named(Expr::op(Op::WordAdd, [count, one]), Type::U32);
        }
        let isotropic = half_of_logarithm(kernel, longer);
        let shorter = logarithm(kernel, area);
        let shorter = kernel.named(Expr::op(Op::Sub, [shorter, isotropic.clone()]), Type::F32);
        let limit = Expr::float(filter.log2_most);
        let limited = kernel.named(Expr::op(Op::Sub, [isotropic.clone(), limit]), Type::F32);
        let several = maximum(kernel, shorter, limited);
        let is_one = Expr::op(Op::WordEq, [count.clone(), Expr::U32(1)]);
        let lod = kernel.named(Expr::select(is_one, isotropic, several), Type::F32);
        Self { step, count, lod }
    }
}

/// Returns the number of probes: one in a magnified texture, unless its filter is anisotropic, too.
fn count(kernel: &mut Kernel, count: Expr, lod: &Expr, texture: &ExactTexture) -> Expr {
    let filter = texture.settings.anisotropy.expect("the texture has an anisotropic filter");
    if filter.magnified {
        return count;
    }
    let lod = biased(kernel, lod.clone(), texture.settings.lod_bias);
    let is_minified = Expr::op(Op::Lt, [Expr::float(0.0), lod]);
    kernel.named(Expr::select(is_minified, count, Expr::U32(1)), Type::U32)
}

/// Returns where a probe is along the step, from -1/2 to 1/2: (2 index + 1 - count) / (2 count).
fn part(kernel: &mut Kernel, index: &Expr, count: &Expr) -> Expr {
    let mut doubled = |word: &Expr| {
        let float = kernel.named(Expr::op(Op::ToFloat, [word.clone()]), Type::F32);
        let doubled = Expr::op(Op::Mul, [Expr::float(2.0), float.clone()]);
        (kernel.named(doubled, Type::F32), float)
    };
    let ((index, _), (twice, count)) = (doubled(index), doubled(count));
    let next = kernel.named(Expr::op(Op::Add, [index, Expr::float(1.0)]), Type::F32);
    let numerator = kernel.named(Expr::op(Op::Sub, [next, count]), Type::F32);
    kernel.named(Expr::op(Op::Div, [numerator, twice]), Type::F32)
}

/// Returns the mean of so many colours: that of n + 1 is that of the first n, interpolated by 1 / (n + 1) to the last.
fn mean(
    kernel: &mut Kernel,
    count: &Expr,
    color: impl FnOnce(&mut Kernel, &Expr) -> [Expr; 4],
) -> [Expr; 4] {
    let mean: [Var; 4] = std::array::from_fn(|_| kernel.fresh(Type::F32));
    kernel.body.extend(mean.map(|var| Stmt::Mut(var, Expr::F32(0))));
    let counter = kernel.fresh(Type::U32);
    let index = Expr::Var(counter);
    let outer = std::mem::take(&mut kernel.body);
    let is_probe = Expr::op(Op::WordLt, [index.clone(), count.clone()]);
    kernel.body.push(Stmt::BreakUnless(is_probe));
    let color = color(kernel, &index);
    let number = kernel.named(Expr::op(Op::ToFloat, [index.clone()]), Type::F32);
    let number = kernel.named(Expr::op(Op::Add, [number, Expr::float(1.0)]), Type::F32);
    let weight = kernel.named(Expr::op(Op::Div, [Expr::float(1.0), number]), Type::F32);
    let mixed = kernel.lerp(mean.map(Expr::Var), color.clone(), &weight);
    let is_first = kernel.named(Expr::op(Op::WordEq, [index, Expr::U32(0)]), Type::Bool);
    let mut pairs = color.into_iter().zip(mixed);
    let values = std::array::from_fn(|_| {
        let (color, mixed) = pairs.next().expect("four channels");
        kernel.named(Expr::select(is_first.clone(), color, mixed), Type::F32)
    });
    kernel.set(mean, values);
    let body = std::mem::replace(&mut kernel.body, outer);
    // The limit of all filters; the condition ends the loop before.
    kernel.body.push(Stmt::Loop(counter, 16, body));
    mean.map(Expr::Var)
}

/// Returns a if it is at least b, else b.
fn maximum(kernel: &mut Kernel, a: Expr, b: Expr) -> Expr {
    let is_first = Expr::op(Op::Ge, [a.clone(), b.clone()]);
    kernel.named(Expr::select(is_first, a, b), Type::F32)
}

fn logarithm(kernel: &mut Kernel, x: Expr) -> Expr {
    kernel.named(Expr::Call(Helper::Ln2, vec![x]), Type::F32)
}

fn half_of_logarithm(kernel: &mut Kernel, x: Expr) -> Expr {
    let log = logarithm(kernel, x);
    kernel.named(Expr::op(Op::Mul, [log, Expr::float(0.5)]), Type::F32)
}
