//! Levels of a texture: level of detail, selection of levels, filters within one, as `r500-texture` computes them.

use r500_isa::values::{CoordType, LayerFilter};

use super::Kernel;
use super::address::{self, Tap, Taps, limited};
use crate::source::{Expr, FilterKind, Helper, Op, Stmt, Type, Var, VectorSource};
use crate::textures::{ExactTexture, Textures};

/// Returns the helpers that a helper's function calls.
pub(super) fn calls(helper: Helper, textures: &Textures<'_>) -> Vec<Helper> {
    match helper {
        Helper::Lod(_) => vec![Helper::Ln2],
        Helper::Probes(unit, _) => {
            let mut all = vec![Helper::Ln2, Helper::Texture(unit)];
            all.extend(calls(Helper::Texture(unit), textures));
            all
        }
        Helper::Texture(unit) => {
            let filters = [FilterKind::Magnified, FilterKind::Minified];
            let used = |filter: &FilterKind| {
                *filter == FilterKind::Magnified || !has_one_filter(textures.known(unit))
            };
            filters.into_iter().filter(used).map(|filter| Helper::Level(unit, filter)).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns whether the minifying filter in the finest level is the magnifying one, so that one function serves both.
fn has_one_filter(texture: &ExactTexture) -> bool {
    let settings = &texture.settings;
    settings.mag_filter == settings.min_filter && !chooses_levels(texture)
}

/// Returns whether a minified texture has several levels to choose from.
fn chooses_levels(texture: &ExactTexture) -> bool {
    let [finest, coarsest] = texture.settings.levels;
    texture.settings.mip_filter != LayerFilter::NONE && finest < coarsest
}

/// Returns whether a position has a third number: R of a volume, the face of a cube.
pub(super) fn has_third(texture: &ExactTexture) -> bool {
    texture.settings.kind != CoordType::D2
}

/// Returns the types of parameters: the position, and then the level for the filter of minified textures, or the level of detail where there is no filter.
pub(super) fn parameters(texture: &ExactTexture, filter: Option<FilterKind>) -> Vec<Type> {
    let mut types = vec![Type::F32; 2];
    types.extend(has_third(texture).then_some(Type::F32));
    match filter {
        None => types.push(Type::F32),
        Some(FilterKind::Minified) if chooses_levels(texture) => types.push(Type::U32),
        Some(_) => {}
    }
    types
}

/// Returns the level of detail of two steps, the parameters: the logarithm of the longer one.
pub(super) fn lod(kernel: &mut Kernel, axes: u8) -> Expr {
    let mut squared = |first: u8| {
        let mut square = |axis: u8| {
            let step = Expr::Var(Var(u32::from(first + axis)));
            kernel.named(Expr::op(Op::Mul, [step.clone(), step]), Type::F32)
        };
        let mut squares: Vec<Expr> = (0..axes).map(&mut square).collect();
        let mut sum = squares.remove(0);
        for square in squares {
            sum = kernel.named(Expr::op(Op::Add, [sum, square]), Type::F32);
        }
        sum
    };
    let (right, down) = (squared(0), squared(axes));
    let is_longer = Expr::op(Op::Ge, [right.clone(), down.clone()]);
    let longer = kernel.named(Expr::select(is_longer, right, down), Type::F32);
    let log = kernel.named(Expr::Call(Helper::Ln2, vec![longer]), Type::F32);
    kernel.named(Expr::op(Op::Mul, [log, Expr::float(0.5)]), Type::F32)
}

/// Returns the colour at a position with a level of detail before `LOD_BIAS`: selects filter and levels.
pub(super) fn texture(kernel: &mut Kernel, unit: u8, texture: &ExactTexture) -> [Expr; 4] {
    let settings = &texture.settings;
    let position: Vec<Expr> =
        (0..if has_third(texture) { 3 } else { 2 }).map(|n| Expr::Var(Var(n))).collect();
    let lod = Expr::Var(Var(u32::try_from(position.len()).expect("two or three")));
    let lod = biased(kernel, lod, settings.lod_bias);

    let channels: [Var; 4] = std::array::from_fn(|_| kernel.fresh(Type::F32));
    let start = channels.map(|channel| Stmt::Mut(channel, Expr::F32(0)));
    kernel.body.extend(start);
    let outer = std::mem::take(&mut kernel.body);
    let colors = kernel.call(Helper::Level(unit, FilterKind::Magnified), position.clone());
    kernel.set(channels, colors);
    let magnified = std::mem::take(&mut kernel.body);
    let colors = minified(kernel, unit, texture, position, lod.clone());
    kernel.set(channels, colors);
    let minified = std::mem::replace(&mut kernel.body, outer);
    let is_minified = Expr::op(Op::Lt, [Expr::float(0.0), lod]);
    kernel.body.push(Stmt::If(is_minified, minified, magnified));
    channels.map(Expr::Var)
}

/// Returns a level of detail with `LOD_BIAS`, in the steps that the chip has.
pub(super) fn biased(kernel: &mut Kernel, lod: Expr, bias: f32) -> Expr {
    let biased = kernel.named(Expr::op(Op::Add, [lod, Expr::float(bias)]), Type::F32);
    let biased = address::nan_to_zero(kernel, biased);
    // Beyond all levels, where hosts need no infinities.
    let biased = limited(kernel, biased, 32.0);
    // The level of detail has four bits of fraction.
    let steps = kernel.named(Expr::op(Op::Mul, [biased, Expr::float(16.0)]), Type::F32);
    let steps = kernel.named(Expr::op(Op::Floor, [steps]), Type::F32);
    kernel.named(Expr::op(Op::Mul, [steps, Expr::float(1.0 / 16.0)]), Type::F32)
}

/// Returns the colour of a minified texture.
fn minified(
    kernel: &mut Kernel,
    unit: u8,
    texture: &ExactTexture,
    position: Vec<Expr>,
    lod: Expr,
) -> [Expr; 4] {
    let settings = &texture.settings;
    let [finest, coarsest] = settings.levels.map(|level| Expr::float(level as f32));
    let filter = if has_one_filter(texture) { FilterKind::Magnified } else { FilterKind::Minified };
    let helper = Helper::Level(unit, filter);
    let several = chooses_levels(texture);
    let at = |level: Expr| {
        let level = several.then_some(level);
        position.iter().cloned().chain(level).collect::<Vec<_>>()
    };
    if settings.mip_filter == LayerFilter::NONE {
        return kernel.call(helper, position);
    }
    let below = Expr::op(Op::Lt, [lod.clone(), finest.clone()]);
    let lod = kernel.named(Expr::select(below, finest, lod), Type::F32);
    let beyond = Expr::op(Op::Lt, [coarsest.clone(), lod.clone()]);
    let lod = kernel.named(Expr::select(beyond, coarsest.clone(), lod), Type::F32);
    if settings.mip_filter != LayerFilter::LINEAR {
        let sum = kernel.named(Expr::op(Op::Add, [lod, Expr::float(0.5)]), Type::F32);
        let floor = kernel.named(Expr::op(Op::Floor, [sum]), Type::F32);
        let level = kernel.named(Expr::op(Op::ToWord, [floor]), Type::U32);
        return kernel.call(helper, at(level));
    }
    let floor = kernel.named(Expr::op(Op::Floor, [lod.clone()]), Type::F32);
    let mut weight = kernel.named(Expr::op(Op::Sub, [lod, floor.clone()]), Type::F32);
    if let Some((slope, bias)) = settings.tri_perf {
        let product = kernel.named(Expr::op(Op::Mul, [Expr::float(slope), weight]), Type::F32);
        let line = kernel.named(Expr::op(Op::Sub, [product, Expr::float(bias)]), Type::F32);
        weight = kernel.clamp01(line);
    }
    let first = kernel.named(Expr::op(Op::ToWord, [floor]), Type::U32);
    let next = kernel.named(Expr::op(Op::WordAdd, [first.clone(), Expr::U32(1)]), Type::U32);
    let last = Expr::U32(settings.levels[1]);
    let is_level = Expr::op(Op::WordLt, [next.clone(), last.clone()]);
    let second = kernel.named(Expr::select(is_level, next, last), Type::U32);
    // Blended even with weight 0: an infinite texel then gives NaN.
    let first = kernel.call(helper, at(first));
    let second = kernel.call(helper, at(second));
    kernel.lerp(first, second, &weight)
}

/// Returns the colour at a position in a level: texels interpolated along S, then T, then R.
pub(super) fn level(
    kernel: &mut Kernel,
    unit: u8,
    texture: &ExactTexture,
    kind: FilterKind,
) -> [Expr; 4] {
    let settings = &texture.settings;
    let count = if has_third(texture) { 3 } else { 2 };
    let constant = settings.levels[0];
    let level = match kind {
        FilterKind::Minified if chooses_levels(texture) => Expr::Var(Var(count)),
        _ => Expr::U32(constant),
    };
    let filter = match kind {
        FilterKind::Magnified => settings.mag_filter,
        FilterKind::Minified => settings.min_filter,
    };
    let mut along = |axis: u8| {
        let n = usize::from(axis);
        let size = settings.size[n];
        let in_this = size_of_level(kernel, size, &level);
        let is_power = match in_this {
            Expr::U32(size) => size.is_power_of_two(),
            _ => size.is_power_of_two(),
        };
        let (mode, linear) = (settings.clamp[n], filter[n]);
        let axis = address::Axis { mode, size: in_this, is_power, linear };
        let u = Expr::Var(Var(u32::try_from(n).expect("three axes")));
        let u = in_level(kernel, u, settings.mip_shift[n], &level);
        let u = address::coordinate(kernel, u);
        address::taps(kernel, &axis, u)
    };
    let columns = along(0);
    let rows = along(1);
    let layers = match settings.kind {
        CoordType::D2 => None,
        CoordType::D3 => Some(along(2)),
        _ => {
            let face = Expr::op(Op::ToWord, [Expr::Var(Var(2))]);
            let texel = kernel.named(face, Type::U32);
            Some(Taps::Point(Tap { texel, inside: None }))
        }
    };
    let (border, unit) = (texture.border, unit);
    let in_layer = |kernel: &mut Kernel, layer: Option<&Tap>| {
        mix(kernel, &rows, &mut |kernel, row| {
            mix(kernel, &columns, &mut |kernel, column| {
                let taps: Vec<&Tap> = [column, row].into_iter().chain(layer).collect();
                texel(kernel, unit, &taps, &level, border)
            })
        })
    };
    match &layers {
        None => in_layer(kernel, None),
        Some(layers) => mix(kernel, layers, &mut |kernel, layer| in_layer(kernel, Some(layer))),
    }
}

/// Returns the interpolated colour of the texels along an axis; `color` returns the colour of one texel.
fn mix(
    kernel: &mut Kernel,
    taps: &Taps,
    color: &mut dyn FnMut(&mut Kernel, &Tap) -> [Expr; 4],
) -> [Expr; 4] {
    match taps {
        Taps::Point(only) => color(kernel, only),
        Taps::Linear([first, second], weight) => {
            let first = color(kernel, first);
            let second = color(kernel, second);
            kernel.lerp(first, second, weight)
        }
    }
}

/// Returns the colour of a texel, or that of the border.
fn texel(
    kernel: &mut Kernel,
    unit: u8,
    taps: &[&Tap],
    level: &Expr,
    border: [f32; 4],
) -> [Expr; 4] {
    let at = taps.iter().map(|tap| tap.texel.clone()).collect();
    let color = kernel.vector(VectorSource::Load(unit, at, level.clone()));
    let inside = taps.iter().filter_map(|tap| tap.inside.clone()).reduce(Expr::and);
    let Some(inside) = inside else { return color };
    let inside = kernel.named(inside, Type::Bool);
    let mut channels = color.into_iter().zip(border);
    std::array::from_fn(|_| {
        let (texel, border) = channels.next().expect("four channels");
        kernel.named(Expr::select(inside.clone(), texel, Expr::float(border)), Type::F32)
    })
}

/// Returns the number of texels of an axis in a level.
fn size_of_level(kernel: &mut Kernel, size: u32, level: &Expr) -> Expr {
    if let Expr::U32(level) = level {
        return Expr::U32((size >> level).max(1));
    }
    let shifted = Expr::op(Op::ShiftRight, [Expr::U32(size), level.clone()]);
    let shifted = kernel.named(shifted, Type::U32);
    let is_none = Expr::op(Op::WordEq, [shifted.clone(), Expr::U32(0)]);
    kernel.named(Expr::select(is_none, Expr::U32(1), shifted), Type::U32)
}

/// Returns a coordinate in texels of a level. `most` is the maximum number of halvings.
fn in_level(kernel: &mut Kernel, u: Expr, most: u32, level: &Expr) -> Expr {
    let factor = match level {
        // The product with 1 would be the coordinate, which is a product already.
        Expr::U32(0) => return u,
        Expr::U32(level) => Expr::F32((127 - (*level).min(most)) << 23),
        level => {
            let is_less = Expr::op(Op::WordLt, [level.clone(), Expr::U32(most)]);
            let shift = Expr::select(is_less, level.clone(), Expr::U32(most));
            let shift = kernel.named(shift, Type::U32);
            let exponent = Expr::op(Op::WordSub, [Expr::U32(127), shift]);
            let bits = Expr::op(Op::ShiftLeft, [exponent, Expr::U32(23)]);
            kernel.named(Expr::op(Op::FromBits, [bits]), Type::F32)
        }
    };
    kernel.named(Expr::op(Op::Mul, [u, factor]), Type::F32)
}
