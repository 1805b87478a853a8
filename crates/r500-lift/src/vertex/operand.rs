//! Sources and destinations: modifiers, swizzles, relative addresses.

use r500_ir::{ConstantChannel, ModifiedOperand, NONE, Opcode, Operand, Range, Type};
use r500_pvs::{Addressing, CONSTANTS, Dst, DstType, FlowNode, INPUTS, Src, SrcType, Swizzle};

use super::VertexLift;
use super::state::{File, State};

const ZERO: Operand = Operand::Const(0);

/// Where a register number leads.
enum Address {
    /// The same register for all vertices. It may be outside of the memory.
    Known(i64),
    /// An offset from an address register, which is an integer.
    Relative(u8, Operand),
}

impl VertexLift<'_> {
    /// Returns a component of a source, after its swizzle and signs.
    pub(super) fn source(&mut self, src: Src, component: usize) -> ModifiedOperand {
        let select = src.swizzle()[component];
        let value = match select.code() {
            code @ 0..4 => self.register(src, code),
            _ if select == Swizzle::ONE => Operand::float(1.0),
            // Reserved codes read 0.
            _ => ZERO,
        };
        let operand = ModifiedOperand::from(value);
        let operand = if src.abs_xyzw() { operand.abs() } else { operand };
        if src.negate()[component] { operand.negated() } else { operand }
    }

    fn address(&self, offset: u8, addressing: Addressing) -> Address {
        match addressing {
            Addressing::Absolute | Addressing::Reserved => Address::Known(offset.into()),
            Addressing::LoopIndex => Address::Known(i64::from(offset) + i64::from(self.loop_index)),
            Addressing::A0(component) => {
                let component = usize::from(component.code() & 3);
                let index = self.state.get(State::ADDRESS + component);
                match index.as_float() {
                    // An integer; beyond all memories it does not matter where.
                    Some(index) => Address::Known(i64::from(offset) + i64::from(index as i32)),
                    None => Address::Relative(offset, index),
                }
            }
        }
    }

    /// Returns a component of the register that a source names.
    fn register(&mut self, src: Src, component: u8) -> Operand {
        let file = match src.reg_type() {
            SrcType::INPUT => return self.input(src, component),
            SrcType::CONSTANT => return self.constant(src, component),
            SrcType::ALT_TEMPORARY => File::Alternate,
            _ => File::Temporary,
        };
        let component = usize::from(component);
        match self.address(src.offset(), src.addressing()) {
            Address::Known(at) => match inside(at, file.size()) {
                Some(at) => self.state.get(file.variable(at, component)),
                // Reads outside of the memory give 0.
                None => ZERO,
            },
            Address::Relative(offset, index) => {
                let registers = |this: &mut Self, at| this.state.get(file.variable(at, component));
                self.choose(offset, index, file.size(), registers)
            }
        }
    }

    /// Defines the inputs that instructions name, before all statements: in regions they could not be loaded before the function. Unused ones
    /// are dead code.
    pub(super) fn inputs(&mut self, nodes: &[FlowNode]) {
        let mut named = [false; INPUTS];
        self.any(nodes, &mut |inst| {
            for src in inst.read_sources().into_iter().flatten() {
                match (src.reg_type(), src.addressing()) {
                    (SrcType::INPUT, Addressing::Absolute | Addressing::Reserved) => {
                        if let Some(named) = named.get_mut(usize::from(src.offset())) {
                            *named = true;
                        }
                    }
                    (SrcType::INPUT, _) => named = [true; INPUTS],
                    _ => {}
                }
            }
            false
        });
        for (number, _) in (0..).zip(named).filter(|(_, named)| *named) {
            for channel in 0..4 {
                self.builder.input(number, channel, Range::ANY);
            }
        }
    }

    fn input(&mut self, src: Src, component: u8) -> Operand {
        let input = |this: &mut Self, at: usize| {
            let number = u8::try_from(at).expect("there are 32 inputs");
            this.builder.input(number, component, Range::ANY)
        };
        match self.address(src.offset(), src.addressing()) {
            Address::Known(at) => inside(at, INPUTS).map_or(ZERO, |at| input(self, at)),
            Address::Relative(offset, index) => self.choose(offset, index, INPUTS, input),
        }
    }

    fn constant(&mut self, src: Src, channel: u8) -> Operand {
        match self.address(src.offset(), src.addressing()) {
            Address::Known(at) => match inside(at, CONSTANTS) {
                Some(at) => {
                    let constant = u8::try_from(at).expect("there are 256 constants");
                    self.builder.uniform(ConstantChannel { constant, channel }, Range::ANY)
                }
                None => ZERO,
            },
            Address::Relative(base, index) => self.builder.load_constant(base, channel, index),
        }
    }

    /// Returns the value of the register at `offset` + `index`, by a select for each register; 0 outside of the memory.
    fn choose(
        &mut self,
        offset: u8,
        index: Operand,
        count: usize,
        mut register: impl FnMut(&mut Self, usize) -> Operand,
    ) -> Operand {
        let mut chosen = ZERO;
        for at in 0..count {
            let value = register(self, at);
            if value != ZERO {
                let here = self.is_at(offset, index, at);
                chosen = self.builder.select(Type::F32, here, value, chosen);
            }
        }
        chosen
    }

    /// Returns the vertices for which `offset` + `index` is `at`.
    fn is_at(&mut self, offset: u8, index: Operand, at: usize) -> Operand {
        let distance = at as f32 - f32::from(offset);
        self.builder.compare(Opcode::Eq, index.into(), Operand::float(distance).into())
    }

    /// Writes components of a destination in the lanes of their masks.
    pub(super) fn write(&mut self, dst: Dst, masks: [Operand; 4], values: [Operand; 4]) {
        let file = match dst.reg_type() {
            DstType::A0 => return self.write_address(masks, values),
            DstType::OUT | DstType::OUT_REPL_X => File::Output,
            DstType::ALT_TEMPORARY => File::Alternate,
            // Inputs cannot be written.
            DstType::INPUT => return,
            _ => File::Temporary,
        };
        match self.address(dst.offset(), dst.addressing()) {
            Address::Known(at) => {
                if let Some(at) = inside(at, file.size()) {
                    self.write_register(file, at, masks, values);
                }
            }
            Address::Relative(offset, index) => {
                for at in 0..file.size() {
                    let here = self.is_at(offset, index, at);
                    let masks = masks.map(|mask| self.builder.and(mask, here));
                    self.write_register(file, at, masks, values);
                }
            }
        }
    }

    fn write_register(
        &mut self,
        file: File,
        register: usize,
        masks: [Operand; 4],
        values: [Operand; 4],
    ) {
        for (n, (mask, value)) in masks.into_iter().zip(values).enumerate() {
            self.assign(file.variable(register, n), mask, value);
        }
    }

    fn write_address(&mut self, masks: [Operand; 4], values: [Operand; 4]) {
        for (n, (mask, value)) in masks.into_iter().zip(values).enumerate() {
            if mask == NONE {
                continue;
            }
            let floor = self.floor(value);
            // NaN is 0.
            let number = self.builder.compare(Opcode::Eq, floor.into(), floor.into());
            let index = self.builder.select(Type::F32, number, floor, ZERO);
            self.assign(State::ADDRESS + n, mask, index);
        }
    }

    /// Assigns to a variable in the lanes of a mask.
    pub(super) fn assign(&mut self, variable: usize, mask: Operand, value: Operand) {
        if mask == NONE {
            return;
        }
        let old = self.state.get(variable);
        let new = self.builder.select(State::type_of(variable), mask, value, old);
        self.state.set(variable, new);
    }
}

/// Returns a register number as an index, if it is inside of a memory.
fn inside(at: i64, count: usize) -> Option<usize> {
    usize::try_from(at).ok().filter(|at| *at < count)
}
