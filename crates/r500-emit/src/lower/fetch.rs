//! Fetches: by the host's sampler in fast shaders, by our own arithmetic on loaded texels in exact ones.

use r500_ir::{Fetch, Operand};
use r500_isa::values::{CoordType, TexOp};
use r500_numerics::Arith;

use super::{Lower, quotient};
use crate::EmitError;
use crate::source::{
    Expr, FilterKind, Helper, Lod, Op, Sample, Stmt, Type, Var, Vector, VectorSource,
};
use crate::textures::ExactTexture;

impl Lower<'_> {
    pub(super) fn fetch(&mut self, fetch: &Fetch, out: &mut Vec<Stmt>) -> Result<(), EmitError> {
        let channels = fetch.texel.map(|value| value.filter(|value| self.uses.is_used(*value)));
        if channels == [None; 4] {
            return Ok(());
        }
        let source = if self.is_exact() {
            let texture = self.target.textures.exact(fetch.unit, fetch.address)?;
            self.comment(fetch.address, out);
            self.exact_fetch(fetch, texture, out)
        } else {
            self.comment(fetch.address, out);
            VectorSource::Sample(self.sample(fetch))
        };
        let vector = self.fresh(Type::F32);
        let channels = channels.map(|value| value.map(|value| self.variable(value)));
        out.push(Stmt::Vector(Box::new(Vector { source, vector, channels })));
        Ok(())
    }

    fn sample(&mut self, fetch: &Fetch) -> Sample {
        let count = self.target.textures.dimensions(fetch.unit).count();
        let mut first = |operands: [Operand; 4]| -> Vec<Expr> {
            operands[..count].iter().map(|operand| self.float(*operand)).collect()
        };
        let (mut coordinates, dx, dy) = (first(fetch.strq), first(fetch.dx), first(fetch.dy));
        let q = self.float(fetch.strq[3]);
        let lod = match fetch.op {
            TexOp::LODBIAS => Lod::Bias(q),
            TexOp::LOD => Lod::Level(q),
            TexOp::DXDY => Lod::Gradients(dx, dy),
            TexOp::PROJ => {
                let divided = |x| quotient(x, q.clone());
                coordinates = coordinates.into_iter().map(divided).collect();
                Lod::Implicit
            }
            _ => Lod::Implicit,
        };
        Sample { unit: fetch.unit, coordinates, unscaled: fetch.unscaled, lod }
    }

    /// Returns the call that fetches: the coordinates become a position in texels, the instruction a level of detail.
    fn exact_fetch(
        &mut self,
        fetch: &Fetch,
        texture: &ExactTexture,
        out: &mut Vec<Stmt>,
    ) -> VectorSource {
        let unit = fetch.unit;
        let is_cube = texture.settings.kind == CoordType::CUBE;
        let count = if is_cube { 3 } else { texture.axes() };
        let mut coordinates = self.first(fetch.strq, count);
        let q = self.float(fetch.strq[3]);
        if fetch.op == TexOp::PROJ {
            coordinates = coordinates
                .into_iter()
                .map(|x| self.rounded(quotient(x, q.clone()), out))
                .collect();
        }
        let here = Fetched { fetch, texture, q, out };
        let (position, detail) = match is_cube {
            true => self.on_cube(here, coordinates),
            false => self.in_plane(here, coordinates),
        };
        let mut operands = position;
        let helper = match detail {
            Detail::Unused => Helper::Level(unit, FilterKind::Magnified),
            Detail::Lod(lod) => {
                operands.push(lod);
                Helper::Texture(unit)
            }
            Detail::Steps(steps, bias) => {
                operands.extend(steps);
                let helper = Helper::Probes(unit, bias.is_some());
                operands.extend(bias);
                helper
            }
        };
        self.helper(helper);
        VectorSource::Call(helper, operands)
    }

    /// Returns the position in texels of level 0, and what the level of detail depends on.
    fn in_plane(&mut self, here: Fetched<'_>, coordinates: Vec<Expr>) -> (Vec<Expr>, Detail) {
        let Fetched { fetch, texture, q, out } = here;
        let position = self.scaled(coordinates, fetch.unscaled, texture, out);
        if !texture.depends_on_lod() {
            return (position, Detail::Unused);
        }
        let steps = match fetch.op {
            TexOp::LOD => return (position, Detail::Lod(q)),
            TexOp::DXDY => [fetch.dx, fetch.dy]
                .map(|gradient| {
                    let gradient = self.first(gradient, texture.axes());
                    self.scaled(gradient, fetch.unscaled, texture, out)
                })
                .concat(),
            _ => {
                let lanes = [0, 1, 2].map(|lane| self.lane(lane, &position, out));
                let [from, right, below] = lanes;
                [right, below]
                    .map(|to| {
                        let pairs = to.into_iter().zip(from.clone());
                        pairs
                            .map(|(to, from)| self.rounded(Expr::op(Op::Sub, [to, from]), out))
                            .collect::<Vec<_>>()
                    })
                    .concat()
            }
        };
        (position, self.detail(texture, steps, (fetch.op, q), out))
    }

    /// Likewise for a cube: the position is u, v and the face.
    fn on_cube(&mut self, here: Fetched<'_>, direction: Vec<Expr>) -> (Vec<Expr>, Detail) {
        let Fetched { fetch, texture, q, out } = here;
        let face = self.call(Helper::Face, direction.clone());
        let face = self.rounded(face, out);
        let [u, v, _] = self.face_point(fetch.unit, &face, direction.clone(), out);
        let position = vec![u, v, face.clone()];
        if !texture.depends_on_lod() {
            return (position, Detail::Unused);
        }
        let [from, right, below] = match fetch.op {
            TexOp::LOD => return (position, Detail::Lod(q)),
            TexOp::DXDY => {
                let [right, below] = [fetch.dx, fetch.dy].map(|gradient| {
                    let gradient = self.first(gradient, 3);
                    let pairs = direction.iter().cloned().zip(gradient);
                    pairs.map(|(x, step)| self.rounded(sum(x, step), out)).collect()
                });
                [direction, right, below]
            }
            _ => [0, 1, 2].map(|lane| self.lane(lane, &direction, out)),
        };
        // Each pixel takes the steps on its own face.
        let [from, right, below] = [from, right, below]
            .map(|direction| self.face_point(fetch.unit, &face, direction, out));
        let meets = |point: &[Expr; 3]| Expr::op(Op::Lt, [Expr::float(0.0), point[2].clone()]);
        let steps = [right, below].map(|to| {
            let both = Expr::and(meets(&from), meets(&to));
            let both = self.named(both, Type::Bool, out);
            // A direction at 90 degrees or more from the axis of the face meets no point of its plane: the step is infinite.
            [f32::INFINITY, 0.0]
                .into_iter()
                .zip(to)
                .zip(from.clone())
                .map(|((none, to), from)| {
                    let step = self.rounded(Expr::op(Op::Sub, [to, from]), out);
                    let step = Expr::select(both.clone(), step, Expr::float(none));
                    self.named(step, Type::F32, out)
                })
                .collect::<Vec<_>>()
        });
        (position, self.detail(texture, steps.concat(), (fetch.op, q), out))
    }

    /// Returns what the level of detail of two steps depends on, with the bias of the instruction.
    fn detail(
        &mut self,
        texture: &ExactTexture,
        steps: Vec<Expr>,
        (op, q): (TexOp, Expr),
        out: &mut Vec<Stmt>,
    ) -> Detail {
        let bias = (op == TexOp::LODBIAS).then_some(q);
        if texture.settings.anisotropy.is_some() {
            return Detail::Steps(steps, bias);
        }
        let lod = self.call(Helper::Lod(texture.axes()), steps);
        let lod = self.rounded(lod, out);
        Detail::Lod(match bias {
            Some(bias) => self.rounded(Expr::op(Op::Add, [lod, bias]), out),
            None => lod,
        })
    }

    fn first(&mut self, operands: [Operand; 4], count: u8) -> Vec<Expr> {
        operands[..usize::from(count)].iter().map(|operand| self.float(*operand)).collect()
    }

    /// Returns coordinates in texels of level 0.
    fn scaled(
        &mut self,
        coordinates: Vec<Expr>,
        unscaled: bool,
        texture: &ExactTexture,
        out: &mut Vec<Stmt>,
    ) -> Vec<Expr> {
        let scale = if unscaled { [1.0; 3] } else { texture.settings.scale };
        coordinates
            .into_iter()
            .zip(scale)
            .map(|(x, scale)| self.rounded(product(x, scale), out))
            .collect()
    }

    /// Returns what a lane of the quad has.
    fn lane(&mut self, lane: u8, values: &[Expr], out: &mut Vec<Stmt>) -> Vec<Expr> {
        values
            .iter()
            .map(|value| {
                let value = self.call(Helper::QuadLane(lane), vec![value.clone()]);
                self.rounded(value, out)
            })
            .collect()
    }

    /// Returns the position of a direction on a face, and its component along the axis of the face.
    fn face_point(
        &mut self,
        unit: u8,
        face: &Expr,
        direction: Vec<Expr>,
        out: &mut Vec<Stmt>,
    ) -> [Expr; 3] {
        let helper = Helper::FacePoint(unit);
        self.helper(helper);
        let operands = std::iter::once(face.clone()).chain(direction).collect();
        let vector = self.fresh(Type::F32);
        let channels: [Var; 3] = std::array::from_fn(|_| self.fresh(Type::F32));
        let [u, v, major] = channels.map(Some);
        let source = VectorSource::Call(helper, operands);
        let vector = Vector { source, vector, channels: [u, v, major, None] };
        out.push(Stmt::Vector(Box::new(vector)));
        channels.map(Expr::Var)
    }

    /// Returns a variable of a rounded result, so that the target protects it.
    fn rounded(&mut self, value: Expr, out: &mut Vec<Stmt>) -> Expr {
        self.named(value, Type::F32, out)
    }

    fn named(&mut self, value: Expr, ty: Type, out: &mut Vec<Stmt>) -> Expr {
        let var = self.fresh(ty);
        out.push(Stmt::Let(var, value));
        Expr::Var(var)
    }
}

/// Returns x * scale. WGSL refuses constant expressions without a finite value, so constants are multiplied here.
fn product(x: Expr, scale: f32) -> Expr {
    match x {
        Expr::F32(x) => Expr::float(Arith::REFERENCE.mul(f32::from_bits(x), scale)),
        x => Expr::op(Op::Mul, [x, Expr::float(scale)]),
    }
}

/// Returns a + b, likewise.
fn sum(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::F32(a), Expr::F32(b)) => {
            Expr::float(Arith::REFERENCE.add(f32::from_bits(a), f32::from_bits(b)))
        }
        (a, b) => Expr::op(Op::Add, [a, b]),
    }
}

/// What the level of detail of a fetch depends on.
enum Detail {
    /// No fetch of the unit needs one.
    Unused,
    /// A level of detail without the unit's bias.
    Lod(Expr),
    /// The steps of a pixel, for an anisotropic filter, and the bias of the instruction.
    Steps(Vec<Expr>, Option<Expr>),
}

/// A fetch that is translated, and where to.
struct Fetched<'a> {
    fetch: &'a Fetch,
    texture: &'a ExactTexture,
    q: Expr,
    out: &'a mut Vec<Stmt>,
}
