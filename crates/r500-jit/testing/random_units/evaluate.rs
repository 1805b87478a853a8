//! An interpreter of units, by the scalar reference semantics.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use r500_fast::codegen::{LANES, LinearInterpolant, PixelOffsets};
use r500_ir::{Inst, Opcode, Operand, Stmt, Value};

use super::generate::INPUTS;
use super::textures::{REFERENCE, Textures};

/// Values of a group of pixels.
pub(super) type Lanes = Vec<u32>;

/// Computes what a unit says, for a group.
pub(super) struct Interpreter<'a> {
    pub(super) values: Vec<Lanes>,
    pub(super) lanes: usize,
    pub(super) textures: &'a Textures,
    pub(super) covered: Lanes,
    pub(super) interpolants: &'a [LinearInterpolant],
    pub(super) places: &'a [[PixelOffsets; 2]],
    /// The first of its lanes.
    pub(super) first: usize,
}

impl Interpreter<'_> {
    pub(super) fn get(&self, operand: Operand) -> Lanes {
        match operand {
            Operand::Const(bits) => vec![bits; self.lanes],
            Operand::Value(value) => self.values[value.0 as usize].clone(),
        }
    }

    pub(super) fn set(&mut self, value: Value, lanes: Lanes) {
        self.values[value.0 as usize] = lanes;
    }

    pub(super) fn any(&self, mask: Operand) -> bool {
        self.get(mask).iter().any(|lane| *lane != 0)
    }

    pub(super) fn choose(&self, mask: Operand, a: Operand, b: Operand) -> Lanes {
        let (mask, a, b) = (self.get(mask), self.get(a), self.get(b));
        (0..self.lanes).map(|i| mask[i] & a[i] | !mask[i] & b[i]).collect()
    }

    pub(super) fn list(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match stmt {
                Stmt::Def(value, Inst { opcode: Opcode::Input { input, channel }, .. }) => {
                    let number = INPUTS.binary_search(&[*input, *channel]).unwrap();
                    let LinearInterpolant { x_terms: along, y_terms: across } =
                        &self.interpolants[number];
                    let lanes = (self.first..self.first + self.lanes).map(|lane| {
                        let half = self.places[lane / LANES][lane % LANES / 8];
                        let [column, row] = half.interpolants.map(|at| at as usize / 4);
                        let along = along.as_flattened()[column + lane % 8];
                        // `y_terms` follow `x_terms`.
                        let across = across.as_flattened()[row - 16 * 8 + lane % 8];
                        REFERENCE.add(along, across).to_bits()
                    });
                    self.set(*value, lanes.collect());
                }
                Stmt::Def(value, inst) => {
                    let args = inst.args.map(|arg| self.get(arg));
                    let lanes = (0..self.lanes).map(|lane| evaluate(inst.opcode, &args, lane));
                    self.set(*value, lanes.collect());
                }
                Stmt::If(branch) => {
                    for merge in &branch.phis {
                        self.set(merge.value, self.get(merge.incoming.unwrap()));
                    }
                    for (arm, stmts) in branch.arms.iter().enumerate() {
                        let mask = branch.masks[arm];
                        if !self.any(mask) {
                            continue;
                        }
                        self.list(stmts);
                        for merge in &branch.phis {
                            let Some(from) = merge.arms[arm] else { continue };
                            let value = Operand::Value(merge.value);
                            self.set(merge.value, self.choose(mask, from, value));
                        }
                    }
                }
                Stmt::Loop(repeat) => {
                    for carried in &repeat.params {
                        self.set(carried.value, self.get(carried.init));
                    }
                    for _ in 0..repeat.max_trips {
                        self.list(&repeat.body);
                        let again = repeat.continue_mask.is_none_or(|again| self.any(again));
                        let next: Vec<_> =
                            repeat.params.iter().map(|carried| self.get(carried.next)).collect();
                        for (carried, next) in repeat.params.iter().zip(next) {
                            self.set(carried.value, next);
                        }
                        if !again {
                            break;
                        }
                    }
                }
                Stmt::Fetch(fetch) => {
                    let of = |from: [Operand; 4]| from.map(|operand| self.get(operand));
                    let (strq, dx, dy) = (of(fetch.strq), of(fetch.dx), of(fetch.dy));
                    let lane = |all: &[Lanes; 4], lane: usize| {
                        [0, 1, 2, 3].map(|i| f32::from_bits(all[i][lane]))
                    };
                    let places: Vec<_> = (0..self.lanes).map(|i| lane(&strq, i)).collect();
                    let steps: Vec<_> =
                        (0..self.lanes).map(|i| [lane(&dx, i), lane(&dy, i)]).collect();
                    let texels = self.textures.fetch(fetch, &places, &steps);
                    for (channel, value) in fetch.texel.iter().enumerate() {
                        if let Some(value) = value {
                            let lanes = texels.iter().map(|texel| texel[channel].to_bits());
                            self.set(*value, lanes.collect());
                        }
                    }
                }
                Stmt::Discard(mask) => {
                    let mask = self.get(*mask);
                    self.covered.iter_mut().zip(mask).for_each(|(covered, mask)| *covered &= !mask);
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

pub(super) fn evaluate(opcode: Opcode, args: &[Lanes; 3], lane: usize) -> u32 {
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

/// The same number, or both none.
pub(super) fn same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}
