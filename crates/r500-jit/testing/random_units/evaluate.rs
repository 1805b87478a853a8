//! Interpreter of units, by the scalar reference semantics.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use r500_exec::texture::{Gradients, QuadFetch, TexReadings};
use r500_fast::codegen::{
    ColorStore, CompileUnit, LANES, LinearInterpolant, PhiMove, PixelOffsets,
};
use r500_ir::{ALL, Fetch, Inst, Opcode, Operand, Stmt, Value};
use r500_numerics::{Arith, canonical_nan};

use super::textures::Samplers;

/// The values of a group of pixels.
pub(super) type Lanes = Vec<u32>;

/// The bits of undefined values.
const UNDEFINED: u32 = 0x7fc0_dead;

/// Executes the statements of a unit for a group of pixels.
pub(super) struct Interpreter<'a> {
    values: Vec<Lanes>,
    lanes: usize,
    samplers: &'a Samplers,
    pub(super) covered: Lanes,
    /// The input and channel of each interpolant.
    inputs: &'a [[u8; 2]],
    interpolants: &'a [LinearInterpolant],
    places: &'a [[PixelOffsets; 2]],
    /// Index of the group's first lane in the batch.
    first: usize,
    /// Consumed fuel, and the address of the last instructions that consumed it.
    pub(super) spent: (u64, u32),
    /// Consumed fuel at which loops end.
    pub(super) limit: u64,
}

/// The resources of a unit's batch.
#[derive(Clone, Copy)]
pub(super) struct Resources<'a> {
    pub(super) samplers: &'a Samplers,
    pub(super) interpolants: &'a [LinearInterpolant],
    pub(super) places: &'a [[PixelOffsets; 2]],
}

impl<'a> Interpreter<'a> {
    /// Starts a group at a lane, with its coverage and no defined values.
    pub(super) fn new(
        unit: &CompileUnit<'a>,
        Resources { samplers, interpolants, places }: Resources<'a>,
        first: usize,
        covered: Lanes,
    ) -> Self {
        let lanes = covered.len();
        let values = vec![vec![UNDEFINED; lanes]; unit.values.len()];
        let (inputs, spent, limit) = (unit.interpolants, (0, 0), u64::MAX);
        Self { values, lanes, samplers, covered, inputs, interpolants, places, first, spent, limit }
    }

    /// Executes a unit: its body and its moves. `slot` returns the contents of a slot. Returns the slots that are written, in order.
    pub(super) fn unit(
        &mut self,
        unit: &CompileUnit<'_>,
        slot: impl Fn(u32) -> Lanes,
    ) -> Vec<(u32, Lanes)> {
        for &(value, at) in unit.reads {
            self.set(value, slot(at));
        }
        self.list(unit.body.iter().copied());
        let mut written: Vec<_> =
            unit.writes.iter().map(|&(value, at)| (at, self.get(Operand::Value(value)))).collect();
        for &PhiMove { value, slot, mask, from } in unit.moves {
            let new = self.choose(mask.unwrap_or(ALL), from, Operand::Value(value));
            self.set(value, new.clone());
            written.push((slot, new));
        }
        written
    }

    /// Stores a colour of the group to a plane of floats.
    pub(super) fn store_color(&self, color: &ColorStore, plane: &mut [[f32; 4]]) {
        let channels = color.channels.map(|channel| self.get(channel));
        for lane in 0..self.lanes {
            let is_covered = self.covered[lane] != 0;
            let pixel = channels.each_ref().map(|channel| f32::from_bits(channel[lane]));
            let nan = |(non_nan, x): (bool, f32)| non_nan && x.is_nan();
            assert!(!is_covered || !color.non_nan.into_iter().zip(pixel).any(nan));
            let stored = !color.covered || is_covered;
            // Two quads are halves of two rows of four pixels of 16 bytes.
            let (chunk, lane) = ((self.first + lane) / LANES, (self.first + lane) % LANES);
            let half = self.places[chunk][lane / 8];
            let at = half.rows[lane / 2 % 2] as usize / 16 + lane / 4 % 2 * 2 + lane % 2;
            plane[at] = pixel.map(|x| if stored { canonical_nan(x) } else { 0.0 });
        }
    }

    fn get(&self, operand: Operand) -> Lanes {
        match operand {
            Operand::Const(bits) => vec![bits; self.lanes],
            Operand::Value(value) => self.values[value.0 as usize].clone(),
        }
    }

    fn set(&mut self, value: Value, lanes: Lanes) {
        self.values[value.0 as usize] = lanes;
    }

    fn any(&self, mask: Operand) -> bool {
        self.get(mask).iter().any(|lane| *lane != 0)
    }

    fn choose(&self, mask: Operand, a: Operand, b: Operand) -> Lanes {
        let (mask, a, b) = (self.get(mask), self.get(a), self.get(b));
        (0..self.lanes).map(|i| mask[i] & a[i] | !mask[i] & b[i]).collect()
    }

    fn list<'s>(&mut self, stmts: impl IntoIterator<Item = &'s Stmt>) {
        for stmt in stmts {
            match stmt {
                Stmt::Def(value, Inst { opcode: Opcode::Input { input, channel }, .. }) => {
                    let number = self.inputs.binary_search(&[*input, *channel]).unwrap();
                    let LinearInterpolant { x_terms, y_terms } = &self.interpolants[number];
                    let lanes = (self.first..self.first + self.lanes).map(|lane| {
                        let half = self.places[lane / LANES][lane % LANES / 8];
                        let [column, row] = half.interpolants.map(|at| at as usize / 4);
                        let x = x_terms.as_flattened()[column + lane % 8];
                        // `y_terms` follow `x_terms`.
                        let y = y_terms.as_flattened()[row - 16 * 8 + lane % 8];
                        Arith::REFERENCE.add(x, y).to_bits()
                    });
                    self.set(*value, lanes.collect());
                }
                Stmt::Def(value, inst) => {
                    let args = inst.args.map(|arg| self.get(arg));
                    let lanes = (0..self.lanes).map(|lane| evaluate(inst.opcode, &args, lane));
                    self.set(*value, lanes.collect());
                }
                Stmt::If(branch) => {
                    for phi in &branch.phis {
                        phi.incoming
                            .into_iter()
                            .for_each(|from| self.set(phi.value, self.get(from)));
                    }
                    for (arm, stmts) in branch.arms.iter().enumerate() {
                        let mask = branch.masks[arm];
                        if !self.any(mask) {
                            continue;
                        }
                        self.list(stmts);
                        for phi in &branch.phis {
                            let Some(from) = phi.arms[arm] else { continue };
                            let value = Operand::Value(phi.value);
                            self.set(phi.value, self.choose(mask, from, value));
                        }
                    }
                }
                Stmt::Loop(repeat) => {
                    for param in &repeat.params {
                        self.set(param.value, self.get(param.init));
                    }
                    for _ in 0..repeat.max_trips {
                        self.list(&repeat.body);
                        let continues = repeat.continue_mask.is_none_or(|mask| self.any(mask));
                        let next: Vec<_> =
                            repeat.params.iter().map(|param| self.get(param.next)).collect();
                        for (param, next) in repeat.params.iter().zip(next) {
                            self.set(param.value, next);
                        }
                        if !continues || self.spent.0 > self.limit {
                            break;
                        }
                    }
                }
                Stmt::Fetch(fetch) => self.fetch(fetch),
                Stmt::ConsumeFuel { instructions, address } => {
                    self.spent = (self.spent.0 + u64::from(*instructions), *address);
                }
                Stmt::Discard(mask) => {
                    let mask = self.get(*mask);
                    self.covered.iter_mut().zip(mask).for_each(|(covered, mask)| *covered &= !mask);
                }
                other => panic!("{other:?} in a unit"),
            }
        }
    }

    fn fetch(&mut self, fetch: &Fetch) {
        let sampler =
            self.samplers[usize::from(fetch.unit)].as_ref().expect("a unit with a texture");
        let [strq, dx, dy] = [fetch.strq, fetch.dx, fetch.dy].map(|from| {
            let channels = from.map(|operand| self.get(operand));
            move |lane: usize| channels.each_ref().map(|channel| f32::from_bits(channel[lane]))
        });
        let quad = |first: usize| {
            let lanes = [0, 1, 2, 3].map(|corner| first + corner);
            let gradients = lanes.map(|lane| Gradients { dx: dx(lane), dy: dy(lane) });
            let Fetch { op, unscaled, .. } = *fetch;
            QuadFetch { op, unscaled, strq: lanes.map(&strq), gradients }
        };
        let texels: Vec<_> = (0..self.lanes)
            .step_by(4)
            .flat_map(|first| sampler.fetch(&quad(first), &TexReadings::REFERENCE))
            .collect();
        for (channel, value) in fetch.texel.iter().enumerate() {
            if let Some(value) = value {
                self.set(*value, texels.iter().map(|texel| texel[channel].to_bits()).collect());
            }
        }
    }
}

fn evaluate(opcode: Opcode, args: &[Lanes; 3], lane: usize) -> u32 {
    let bits = [args[0][lane], args[1][lane], args[2][lane]];
    match opcode {
        Opcode::QuadBroadcast(corner) => args[0][lane / 4 * 4 + usize::from(corner)],
        Opcode::And => bits[0] & bits[1],
        Opcode::Or => bits[0] | bits[1],
        Opcode::AndNot => bits[0] & !bits[1],
        Opcode::Select => bits[0] & bits[1] | !bits[0] & bits[2],
        opcode => r500_ir::evaluate(opcode, bits).expect("an operation of a unit"),
    }
}

/// Returns whether the bits are equal, or both are NaN.
pub(super) fn same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}
