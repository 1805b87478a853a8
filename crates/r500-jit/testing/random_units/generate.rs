//! Generation of statements.

#![allow(clippy::unwrap_used)]

use r500_fast::codegen::ColorStore;
use r500_ir::{
    AddSign, DenormalMode, Fetch, If, Inst, Loop, LoopParam, MulFlags, Opcode, Operand, Phi, Stmt,
    Type, Value, ValueData, Values,
};
use r500_isa::values::TexOp;

use super::textures::UNITS;

/// A random source.
pub(super) struct Random {
    pub(super) state: u64,
    pub(super) numbers: Numbers,
}

/// Exponents of numbers that are tiny alone, as products, as quotients, or in combination.
pub(super) const SIZES: [u32; 20] =
    [1, 1, 2, 3, 8, 14, 18, 22, 24, 25, 26, 27, 63, 64, 64, 102, 127, 127, 128, 254];

/// The distribution of numbers in a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// Usual magnitudes.
    Plain,
    /// All kinds, subnormals included, in long units.
    All,
    /// Numbers whose products and sums are about to underflow, in short units.
    Edges,
}

impl Random {
    pub(super) fn next(&mut self) -> u32 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 24) as u32
    }

    pub(super) fn below(&mut self, end: u32) -> u32 {
        self.next() % end
    }

    pub(super) fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u32) as usize]
    }

    /// Returns a number of any kind, mostly of usual magnitude.
    pub(super) fn float(&mut self) -> f32 {
        if self.numbers == Numbers::Edges {
            let size = self.of(&SIZES) << 23;
            let bits = size.wrapping_add(self.below(5)).wrapping_sub(2);
            return f32::from_bits(bits | self.below(2) << 31);
        }
        match self.below(12) {
            0 => self.of(&[0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1.0, -1.0, 0.5]),
            1 if self.numbers == Numbers::All => f32::from_bits(self.next() & 0x807f_ffff),
            2 if self.numbers == Numbers::All => f32::from_bits(self.next() ^ self.next() << 8),
            _ => self.below(2000) as f32 / 64.0 - 15.0,
        }
    }
}

/// A unit under construction.
pub(super) struct Generator {
    pub(super) random: Random,
    /// Values in scope, and masks.
    pub(super) floats: Vec<Operand>,
    pub(super) masks: Vec<Operand>,
    /// Counters of the enclosing loops, which are uniform.
    pub(super) counters: Vec<Operand>,
    pub(super) values: Values,
    /// Statements left to generate.
    pub(super) left: u32,
    /// Whether inputs are computed.
    pub(super) inputs: bool,
}

pub(super) fn type_of(is_mask: bool) -> Type {
    if is_mask { Type::Mask } else { Type::F32 }
}

/// The input channel of each interpolant.
pub(super) const INPUTS: [[u8; 2]; 3] = [[0, 0], [0, 3], [2, 1]];

impl Generator {
    pub(super) fn fresh(&mut self, ty: Type) -> Value {
        self.values.push(ValueData::new(ty))
    }

    pub(super) fn float(&mut self) -> Operand {
        match self.random.below(5) {
            0 => Operand::float(self.random.float()),
            1 => self.random.of(&self.floats),
            // Prefer a recent value, for long dependence chains.
            _ => {
                let young = self.floats.len().saturating_sub(24);
                self.random.of(&self.floats[young..])
            }
        }
    }

    pub(super) fn mask(&mut self) -> Operand {
        self.random.of(&self.masks)
    }

    pub(super) fn def(&mut self, opcode: Opcode, args: &[Operand], to: &mut Vec<Stmt>) -> Operand {
        // Selects are of floats here.
        let value = self.fresh(opcode.result_type().unwrap_or(Type::F32));
        to.push(Stmt::Def(value, Inst::new(opcode, args)));
        Operand::Value(value)
    }

    pub(super) fn operation(&mut self, to: &mut Vec<Stmt>) {
        let product = MulFlags {
            negate: self.random.below(2) == 0,
            zero_a: self.random.below(3) == 0,
            zero_b: self.random.below(3) == 0,
        };
        let (a, b, c, m, n) = (self.float(), self.float(), self.float(), self.mask(), self.mask());
        let bits = self.random.of(&[Opcode::Neg, Opcode::Abs, Opcode::NegAbs, Opcode::Flush]);
        let quotient = self.random.of(&[Opcode::Frc, Opcode::Rcp, Opcode::Rsq]);
        let power = self.random.of(&[Opcode::Ex2, Opcode::Ln2]);
        let wave = self.random.of(&[Opcode::Sin, Opcode::Cos]);
        let corner = Opcode::QuadBroadcast(self.random.below(3) as u8);
        let made = match self.random.below(26) {
            0..=4 => {
                let sign = self.random.of(&[AddSign::Plus, AddSign::Minus]);
                self.def(Opcode::Mad(product, sign), &[a, b, c], to)
            }
            5 => self.def(Opcode::Mul(product), &[a, b], to),
            6 => self.def(Opcode::Add, &[a, b], to),
            7 => self.def(Opcode::Sub, &[a, b], to),
            8 => self.def(bits, &[a], to),
            9 => {
                let code =
                    self.random.of::<fn(DenormalMode) -> Opcode>(&[Opcode::Min, Opcode::Max])(
                        DenormalMode::Kept,
                    );
                self.def(code, &[a, b], to)
            }
            10 => {
                let sum = self.def(Opcode::Add, &[a, b], to);
                let product = self.def(Opcode::Mul(product), &[a, c], to);
                let code =
                    self.random.of::<fn(DenormalMode) -> Opcode>(&[Opcode::Min, Opcode::Max])(
                        DenormalMode::Excluded,
                    );
                self.def(code, &[sum, product], to)
            }
            11 => self.def(Opcode::Select, &[m, a, b], to),
            12 => self.def(Opcode::Clamp01, &[a], to),
            13 => {
                let quotient = self.def(quotient, &[a], to);
                // The root of a, if the first quotient is its reciprocal.
                match self.random.below(2) {
                    0 => self.def(Opcode::Rcp, &[quotient], to),
                    _ => quotient,
                }
            }
            14 => self.def(power, &[a], to),
            15 => self.def(wave, &[a], to),
            16 => self.def(corner, &[a], to),
            17 => self.def(Opcode::Select, &[m, a, Operand::Const(0)], to),
            18 => self.def(Opcode::Select, &[m, Operand::Const(0), a], to),
            other => {
                let mask = match other {
                    19 => self.def(Opcode::And, &[m, n], to),
                    20 => self.def(Opcode::Or, &[m, n], to),
                    21 => self.def(Opcode::AndNot, &[m, n], to),
                    22 => {
                        let value = self.fresh(Type::Mask);
                        let args = [m, n, self.masks[0]];
                        to.push(Stmt::Def(value, Inst::new(Opcode::Select, &args)));
                        Operand::Value(value)
                    }
                    _ => {
                        let code =
                            self.random.of(&[Opcode::Lt, Opcode::Ge, Opcode::Eq, Opcode::Ne]);
                        self.def(code, &[a, b], to)
                    }
                };
                self.masks.push(mask);
                return;
            }
        };
        self.floats.push(made);
    }

    /// Adds a value that costs several operations and depends on loop counters only.
    fn computed_of_counters(&mut self, to: &mut Vec<Stmt>) {
        let (a, b) = (self.random.of(&self.counters), self.random.of(&self.counters));
        let sum = self.def(Opcode::Add, &[a, b], to);
        let kernel = self.random.of(&[Opcode::Sin, Opcode::Ex2, Opcode::Rcp]);
        let computed = self.def(kernel, &[sum], to);
        self.floats.push(computed);
    }

    /// Returns colour stores.
    pub(super) fn colors(&mut self) -> Vec<ColorStore> {
        let targets = self.random.below(16) as u8;
        let targets = (0..4).filter(|target| targets >> target & 1 != 0);
        targets
            .map(|target| {
                let channels = [(); 4].map(|()| self.float());
                let covered = self.random.below(2) == 0;
                ColorStore { target, channels, non_nan: [false; 4], covered, encoding: None }
            })
            .collect()
    }

    pub(super) fn list(&mut self, depth: u32, most: u32) -> Vec<Stmt> {
        let mut list = Vec::new();
        for _ in 0..=self.random.below(most) {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            match self.random.below(24) {
                0 if depth > 0 => self.branch(depth, &mut list),
                1 if depth > 0 => self.repeat(depth, &mut list),
                2 => self.fetch(&mut list),
                4 if self.inputs => {
                    let [input, channel] = self.random.of(&INPUTS);
                    let made = self.def(Opcode::Input { input, channel }, &[], &mut list);
                    self.floats.push(made);
                }
                3 if self.random.below(4) == 0 => list.push(Stmt::Discard(self.mask())),
                _ => self.operation(&mut list),
            }
        }
        list
    }

    pub(super) fn fetch(&mut self, to: &mut Vec<Stmt>) {
        let texel = [(); 4].map(|()| (self.random.below(3) > 0).then(|| self.fresh(Type::F32)));
        let fetch = Fetch {
            unit: self.random.of(&UNITS),
            op: self.random.of(&[TexOp::LD, TexOp::PROJ, TexOp::LODBIAS, TexOp::LOD, TexOp::DXDY]),
            unscaled: self.random.below(3) == 0,
            strq: [(); 4].map(|()| self.float()),
            dx: [(); 4].map(|()| self.float()),
            dy: [(); 4].map(|()| self.float()),
            active: self.mask(),
            texel,
            address: 0,
        };
        to.push(Stmt::Fetch(Box::new(fetch)));
        self.floats.extend(texel.into_iter().flatten().map(Operand::Value));
    }

    /// Calls `f`, after which the values that it defines are out of scope.
    pub(super) fn inside<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        let (floats, masks) = (self.floats.len(), self.masks.len());
        let result = f(self);
        self.floats.truncate(floats);
        self.masks.truncate(masks);
        result
    }

    pub(super) fn branch(&mut self, depth: u32, to: &mut Vec<Stmt>) {
        let (m, n) = (self.mask(), self.mask());
        let other = self.def(Opcode::AndNot, &[n, m], to);
        // The arms are disjoint.
        let mut merges: Vec<(Phi, bool)> = (0..self.random.below(6))
            .map(|_| {
                let is_mask = self.random.below(3) == 0;
                let before = if is_mask { self.mask() } else { self.float() };
                (
                    Phi {
                        value: self.fresh(type_of(is_mask)),
                        incoming: Some(before),
                        arms: [None; 2],
                    },
                    is_mask,
                )
            })
            .collect();
        let mut arm = |generator: &mut Self, number: usize| {
            generator.inside(|generator| {
                let stmts = generator.list(depth - 1, 12);
                for (merge, is_mask) in &mut merges {
                    if generator.random.below(4) > 0 {
                        let from = if *is_mask { generator.mask() } else { generator.float() };
                        merge.arms[number] = Some(from);
                    }
                }
                stmts
            })
        };
        let arms = [arm(self, 0), arm(self, 1)];
        for (merge, is_mask) in &merges {
            let list = if *is_mask { &mut self.masks } else { &mut self.floats };
            list.push(Operand::Value(merge.value));
        }
        let phis = merges.into_iter().map(|(merge, _)| merge).collect();
        to.push(Stmt::If(Box::new(If { masks: [m, other], arms, phis })));
    }

    pub(super) fn repeat(&mut self, depth: u32, to: &mut Vec<Stmt>) {
        let mut carried: Vec<(LoopParam, bool)> = (0..1 + self.random.below(7))
            .map(|_| {
                let is_mask = self.random.below(3) == 0;
                let init = if is_mask { self.mask() } else { self.float() };
                (LoopParam { value: self.fresh(type_of(is_mask)), init, next: init }, is_mask)
            })
            .collect();
        let counter = (self.random.below(2) == 0).then(|| {
            let init = Operand::float(self.random.below(5) as f32);
            let value = self.fresh(Type::F32);
            carried.push((LoopParam { value, init, next: init }, false));
            value
        });
        let see = |generator: &mut Self, carried: &[(LoopParam, bool)]| {
            for (carried, is_mask) in carried {
                let list = if *is_mask { &mut generator.masks } else { &mut generator.floats };
                list.push(Operand::Value(carried.value));
            }
        };
        let (body, again) = self.inside(|generator| {
            see(generator, &carried);
            let mut body = Vec::new();
            if let Some(counter) = counter {
                generator.counters.push(Operand::Value(counter));
                generator.computed_of_counters(&mut body);
            }
            body.extend(generator.list(depth - 1, 16));
            if counter.is_some() {
                generator.counters.pop();
            }
            for (carried, is_mask) in &mut carried {
                carried.next = match counter {
                    Some(counter) if counter == carried.value => {
                        let step = Operand::float(0.25);
                        generator.def(Opcode::Add, &[Operand::Value(counter), step], &mut body)
                    }
                    _ if *is_mask => generator.mask(),
                    _ => generator.float(),
                };
            }
            (body, (generator.random.below(3) > 0).then(|| generator.mask()))
        });
        see(self, &carried);
        let params = carried.into_iter().map(|(carried, _)| carried).collect();
        let passes = 1 + self.random.below(4);
        to.push(Stmt::Loop(Box::new(Loop {
            max_trips: passes,
            params,
            body,
            continue_mask: again,
        })));
    }
}
