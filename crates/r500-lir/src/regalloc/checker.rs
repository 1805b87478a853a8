//! Checker of register allocation: abstract interpretation of the machine code, which tracks the set of SSA values that each register and
//! each slot of the frame holds.
//!
//! The low-level IR is the specification; the checker walks it and the machine code in step. Between operations are moves that the
//! allocator inserted, which copy the contents of one location to another. An operation must read each argument from a location that holds
//! it, and then defines its result. At joins of control flow a location keeps the values that it holds on all paths; loops are iterated to
//! the fixed point. Each value has one definition, and at the start of an iteration a location holds at most what it holds before the loop:
//! so at a definition, no location holds the value of the previous iteration. The result does not depend on how the allocator came to its
//! decisions (as in the checker of regalloc2).
//!
//! Among the faults found: a location that was overwritten or never written; a slot that is read as another class (wider or narrower) than
//! it was written as; constants read by an access wider than the pool entry; masks and vectors confused; phis and parameters in another
//! location at the end of an arm or an iteration than at its start; slots of the batch read after a store.
//!
//! [`allocate`](super::allocate) runs the checker in builds with debug assertions only.

mod locations;

use std::fmt;

use crate::Machine;
use crate::{
    Access, Arm, Branch, Class, LirFunction, Loop, MemOperand, Op, Opcode, Phi, Region, VReg,
};
use crate::{Label, MachCode, MachInst, Mem, RegMem};
use locations::{Held, Location, State, add, carry, follow};

/// A fault of the machine code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Index of the instruction.
    pub inst: usize,
    /// What is wrong there.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "instruction {}: {}", self.inst, self.what)
    }
}

/// Checks that machine code computes its function.
///
/// # Errors
/// The first fault.
pub fn check(function: &LirFunction, machine: Machine, listing: &MachCode) -> Result<(), Fault> {
    let mut checker = Checker {
        function,
        machine,
        listing,
        is_defined: defined_values(function),
        at: Position::default(),
        state: State::default(),
        tested: None,
        counters: Vec::new(),
    };
    checker.groups()
}

/// Position of the walk.
#[derive(Clone, Copy, Debug, Default)]
struct Position {
    /// Instructions passed.
    inst: usize,
    /// Operations of the function passed.
    op: u32,
    /// Operations of the machine code passed.
    emitted: usize,
}

struct Checker<'a> {
    function: &'a LirFunction,
    machine: Machine,
    listing: &'a MachCode,
    /// Values with a definition. The others are undefined: any location holds them.
    is_defined: Vec<bool>,
    at: Position,
    state: State,
    /// The mask of the last test.
    tested: Option<VReg>,
    /// Counters of the enclosing loops.
    counters: Vec<u32>,
}

impl Checker<'_> {
    fn fault<T>(&self, what: impl Into<String>) -> Result<T, Fault> {
        Err(Fault { inst: self.at.inst, what: what.into() })
    }

    fn class(&self, v: VReg) -> Class {
        self.function.class(v)
    }

    fn is_undefined(&self, v: VReg) -> bool {
        !self.is_defined[v.index()]
    }

    /// Checks the whole function, a loop over groups of pixels.
    fn groups(&mut self) -> Result<(), Fault> {
        self.fill_memory();
        self.moves()?;
        let top = self.label()?;
        let start = self.at;
        let mut first = self.state.clone();
        loop {
            self.at = start;
            self.state = first.clone();
            self.nodes(&self.function.body)?;
            self.moves()?;
            let back = self.take()?;
            if !matches!(back, MachInst::NextGroup(to) if to == top) {
                return self.fault(format!("{back:?} in place of the next group"));
            }
            // Constants are the same for the next group; all other values change.
            let function = self.function;
            for held in self.state.0.values_mut() {
                held.values
                    .retain(|v| matches!(function.mem_operand(*v), Some(MemOperand::Const(_))));
            }
            self.fill_memory();
            if !first.join(&self.state) {
                break;
            }
        }
        match self.listing.insts.get(self.at.inst) {
            None => Ok(()),
            Some(inst) => self.fault(format!("{inst:?} after the end of the program")),
        }
    }

    /// Initialises slots of the batch and constants with the given values, at the start of a group.
    fn fill_memory(&mut self) {
        self.state.0.retain(|at, _| !matches!(at, Location::Slot(..)));
        for (n, operand) in (0..).zip(&self.function.mem_operands) {
            let at = match *operand {
                Some(MemOperand::Const(bits)) => Location::Const(bits),
                Some(MemOperand::Slot(slot, part)) => Location::Slot(slot, part),
                None => continue,
            };
            let held = Held { class: Class::Vector, values: Vec::new() };
            add(&mut self.state.0.entry(at).or_insert(held).values, VReg(n));
        }
    }

    fn nodes(&mut self, nodes: &[Region]) -> Result<(), Fault> {
        for node in nodes {
            match node {
                Region::Ops(ops) => ops.iter().try_for_each(|op| self.op(op))?,
                Region::ConsumeFuel(instructions) => {
                    self.moves()?;
                    let inst = self.take()?;
                    if !matches!(inst, MachInst::ConsumeFuel(n) if n == *instructions) {
                        return self.fault(format!("{inst:?}, not {instructions} to be counted"));
                    }
                    self.tested = None;
                }
                Region::Branch(branch) => self.branch(branch)?,
                Region::Loop(repeat) => self.repeat(repeat)?,
            }
        }
        Ok(())
    }

    /// Returns the next instruction.
    fn take(&mut self) -> Result<MachInst, Fault> {
        let Some(inst) = self.listing.insts.get(self.at.inst) else {
            return self.fault("the listing ends before the program");
        };
        self.at.inst += 1;
        Ok(*inst)
    }

    fn label(&mut self) -> Result<Label, Fault> {
        match self.take()? {
            MachInst::Label(label) => Ok(label),
            other => self.fault(format!("{other:?} in place of a label")),
        }
    }

    /// Interprets the moves that the allocator inserted here.
    fn moves(&mut self) -> Result<(), Fault> {
        while let Some(inst) = self.listing.insts.get(self.at.inst) {
            let register = Location::register;
            let (class, to, from) = match *inst {
                MachInst::Load { class, dst, from } => (class, register(class, dst), from.into()),
                MachInst::Store { class, to, from } => (class, to.into(), register(class, from)),
                MachInst::Move { class, dst, from } => {
                    (class, register(class, dst), register(class, from))
                }
                MachInst::MemMove { class, to, from } => (class, to.into(), from.into()),
                _ => break,
            };
            self.copy(class, to, from)?;
            self.at.inst += 1;
        }
        Ok(())
    }

    /// Copies the contents of a location.
    fn copy(&mut self, class: Class, to: Location, from: Location) -> Result<(), Fault> {
        if let Location::Slot(..) | Location::Const(_) = to {
            return self.fault(format!("{to:?} is overwritten by a move"));
        }
        self.exists(to)?;
        self.exists(from)?;
        let values = match self.state.0.get(&from) {
            Some(held) if held.class != class => {
                let was = held.class;
                return self.fault(format!("{from:?} is read as {class:?}, holds {was:?}"));
            }
            Some(held) => held.values.clone(),
            // Copies of a location that was never written are undefined, too.
            None => Vec::new(),
        };
        self.state.0.insert(to, Held { class, values });
        Ok(())
    }

    /// Checks that the register or slot exists.
    fn exists(&self, at: Location) -> Result<(), Fault> {
        let exists = match at {
            Location::Register(class, register) => {
                let class = if class == Class::Mask as u8 { Class::Mask } else { Class::Vector };
                usize::from(register) < self.machine.registers(class)
            }
            Location::Stack(slot) => slot < self.listing.stack,
            Location::Slot(_, part) => part < self.function.groups.max(1),
            Location::Const(_) => true,
        };
        if exists { Ok(()) } else { self.fault(format!("there is no {at:?}")) }
    }

    /// Checks that a location holds a value, and that it is read as the value's class.
    fn read(&self, v: VReg, class: Class, from: Location) -> Result<(), Fault> {
        if self.class(v) != class {
            return self.fault(format!("{v:?} is {:?}, read as {class:?}", self.class(v)));
        }
        self.exists(from)?;
        if self.is_undefined(v) || self.state.holds(from, v) {
            return Ok(());
        }
        let held = self.state.0.get(&from).map(|held| &held.values);
        let places = self.state.places_of(v);
        self.fault(format!("{from:?} holds {held:?}, not {v:?}, which is in {places:?}"))
    }

    fn op(&mut self, op: &Op) -> Result<(), Fault> {
        let number = self.at.op;
        self.at.op += 1;
        let is_next = self.listing.sources.get(self.at.emitted) == Some(&number);
        if !is_next {
            // An operation whose result is not used may be missing; then no location holds the result.
            return match op.dst {
                Some(_) => Ok(()),
                None => self.fault(format!("{op:?} is missing")),
            };
        }
        self.moves()?;
        let inst = self.take()?;
        self.at.emitted += 1;
        self.tested = None;
        let MachInst::Op { opcode, dst, args, .. } = inst else {
            return self.fault(format!("{inst:?}, not {op:?}"));
        };
        self.at.inst -= 1;
        let mut wanted = op.args;
        if opcode != op.opcode {
            match (opcode, op.opcode) {
                (Opcode::Cmp(is), Opcode::Cmp(of)) if is == of.mirrored() => wanted.swap(0, 1),
                _ => return self.fault(format!("{opcode:?}, not {:?}", op.opcode)),
            }
        }
        let is_symmetric = match opcode {
            Opcode::Cmp(relation) => relation == relation.mirrored(),
            _ => opcode.is_commutative(),
        };
        // The allocator may have swapped the arguments of a commutative operation.
        if let ([Some(a), Some(b), _], [Some(place), ..]) = (wanted, args)
            && is_symmetric
        {
            let place = place.located(self.class(a));
            if !self.state.holds(place, a) && self.state.holds(place, b) {
                wanted.swap(0, 1);
            }
        }
        self.arguments(opcode, wanted, args)?;
        match op.dst {
            Some(v) => self.define(v, opcode, dst)?,
            None => self.effect(opcode, op),
        }
        self.at.inst += 1;
        Ok(())
    }

    /// Checks that an operation reads its arguments from locations that hold them and that it can access.
    fn arguments(
        &self,
        opcode: Opcode,
        values: [Option<VReg>; 3],
        places: [Option<RegMem>; 3],
    ) -> Result<(), Fault> {
        let memory = self.machine.memory_operand(opcode);
        for (n, (v, place)) in values.into_iter().zip(places).enumerate() {
            let (v, place) = match (v, place) {
                (Some(v), Some(place)) => (v, place),
                (None, None) => continue,
                _ => return self.fault(format!("argument {n}: {v:?} in {place:?}")),
            };
            let class = self.operand_class(opcode, n);
            match (place, memory.filter(|(at, _)| *at == n)) {
                (RegMem::Memory(mem), None) => {
                    return self.fault(format!("argument {n} of {opcode:?} in memory: {mem:?}"));
                }
                (RegMem::Memory(Mem::Const(bits)), Some((_, Access::Lanes | Access::Wide))) => {
                    return self.fault(format!(
                        "{opcode:?} reads the constant {bits:#x}, which may be there once, as more"
                    ));
                }
                (RegMem::Memory(mem), Some((_, Access::Zero))) if mem != Mem::Const(0) => {
                    return self.fault(format!("{opcode:?} has {mem:?} in it, not zero"));
                }
                (RegMem::Register(_), Some((_, Access::Lanes))) => {
                    return self.fault(format!("{opcode:?} reads lanes of {place:?}"));
                }
                _ => {}
            }
            self.read(v, class, place.located(class))?;
        }
        Ok(())
    }

    /// Returns the register class that an instruction reads an argument from.
    fn operand_class(&self, opcode: Opcode, argument: usize) -> Class {
        let mask = match opcode {
            Opcode::MaskAnd
            | Opcode::MaskOr
            | Opcode::MaskAndNot
            | Opcode::FromMask
            | Opcode::CountFuel(_) => true,
            Opcode::Blend | Opcode::MaskedMove | Opcode::MaskedMul => argument == 0,
            _ => false,
        };
        if mask { self.machine.mask() } else { Class::Vector }
    }

    /// Returns the register class that an instruction writes its result to.
    fn result_class(&self, opcode: Opcode) -> Class {
        match opcode {
            Opcode::Cmp(_)
            | Opcode::MaskAnd
            | Opcode::MaskOr
            | Opcode::MaskAndNot
            | Opcode::MaskAll
            | Opcode::MaskNone
            | Opcode::ToMask => self.machine.mask(),
            _ => Class::Vector,
        }
    }

    /// Records that a register holds the result of an operation.
    fn define(&mut self, v: VReg, opcode: Opcode, register: u8) -> Result<(), Fault> {
        let class = self.result_class(opcode);
        if self.class(v) != class {
            return self.fault(format!("{v:?} is {:?}, defined as {class:?}", self.class(v)));
        }
        let at = Location::register(class, register);
        self.exists(at)?;
        self.state.0.insert(at, Held { class, values: vec![v] });
        Ok(())
    }

    /// Interprets an operation without a result: stores to slots.
    fn effect(&mut self, opcode: Opcode, op: &Op) {
        let Opcode::Store(slot, part) = opcode else { return };
        // The slot of another interleaved group may alias this one: the last chunk is interleaved with itself.
        self.state.0.retain(|at, _| !matches!(at, Location::Slot(of, _) if *of == slot));
        let values = op.args().collect();
        let held = Held { class: Class::Vector, values };
        self.state.0.insert(Location::Slot(slot, part), held);
    }

    fn branch(&mut self, branch: &Branch) -> Result<(), Fault> {
        for &Phi { var, incoming } in &branch.phis {
            if let Some(incoming) = incoming {
                self.state.alias(var, incoming);
                self.alias_undefined(var, incoming);
            }
        }
        branch.arms.iter().try_for_each(|arm| self.arm(arm))
    }

    /// Makes a variable undefined if its incoming value is: any location holds it, also the one that the allocator chose.
    fn alias_undefined(&mut self, to: VReg, from: VReg) {
        if self.is_undefined(from) {
            self.is_defined[to.index()] = false;
        }
    }

    fn arm(&mut self, arm: &Arm) -> Result<(), Fault> {
        self.moves()?;
        self.test(arm.mask)?;
        let inst = self.take()?;
        let MachInst::BranchIfNone(after) = inst else {
            return self.fault(format!("{inst:?} in place of a branch"));
        };
        self.demand_tested(arm.mask)?;
        let mut skipped = self.state.clone();
        self.tested = None;
        self.nodes(&arm.body)?;
        self.moves()?;
        // The phis after the arm: the assigned values if the arm runs, the previous ones if it is skipped.
        for assign in &arm.assign {
            skipped.alias(assign.new, assign.old);
            self.state.alias(assign.new, assign.from);
            let [old, from] = [assign.old, assign.from].map(|v| self.is_undefined(v));
            self.is_defined[assign.new.index()] = !(old && from);
            // An undefined value is in every location that holds the phi on the other path.
            match (old, from) {
                (true, false) => follow(&mut skipped, &self.state, assign.new),
                (false, true) => follow(&mut self.state, &skipped, assign.new),
                _ => {}
            }
        }
        let label = self.label()?;
        if label != after {
            return self.fault(format!("{label:?} in place of {after:?}"));
        }
        self.state.join(&skipped);
        self.tested = None;
        Ok(())
    }

    /// Interprets the test of a mask.
    fn test(&mut self, v: VReg) -> Result<(), Fault> {
        let inst = self.take()?;
        self.at.inst -= 1;
        let MachInst::Test { class, mask } = inst else {
            return self.fault(format!("{inst:?} in place of a test of {v:?}"));
        };
        if class != self.machine.mask() {
            return self.fault(format!("{class:?} is tested as a mask"));
        }
        self.read(v, class, RegMem::Register(mask).located(class))?;
        self.at.inst += 1;
        self.tested = Some(v);
        Ok(())
    }

    fn demand_tested(&self, mask: VReg) -> Result<(), Fault> {
        if self.tested == Some(mask) {
            return Ok(());
        }
        self.fault(format!("the last test was of {:?}, not {mask:?}", self.tested))
    }

    fn repeat(&mut self, repeat: &Loop) -> Result<(), Fault> {
        for c in &repeat.params {
            self.state.alias(c.var, c.init);
            self.alias_undefined(c.var, c.init);
        }
        self.moves()?;
        let inst = self.take()?;
        let MachInst::LoopBegin { counter, trips } = inst else {
            return self.fault(format!("{inst:?} in place of the start of a loop"));
        };
        if trips != repeat.max_trips {
            return self.fault(format!("{trips} iterations, not {}", repeat.max_trips));
        }
        if counter >= self.listing.counters || self.counters.contains(&counter) {
            return self.fault(format!("counter {counter} is not free"));
        }
        let top = self.label()?;
        self.counters.push(counter);
        let start = self.at;
        let mut first = self.state.clone();
        loop {
            self.at = start;
            self.state = first.clone();
            self.tested = None;
            self.nodes(&repeat.body)?;
            self.moves()?;
            if let Some(mask) = repeat.continue_mask {
                self.test(mask)?;
                self.moves()?;
            }
            let inst = self.take()?;
            let MachInst::LoopBack { counter: of, to, tested, .. } = inst else {
                return self.fault(format!("{inst:?} in place of the end of a loop"));
            };
            if (of, to, tested) != (counter, top, repeat.continue_mask.is_some()) {
                return self.fault(format!("{inst:?} ends another loop than {top:?}"));
            }
            if let Some(mask) = repeat.continue_mask {
                self.demand_tested(mask)?;
            }
            let mut back = self.state.clone();
            carry(&mut back, &repeat.params);
            if !first.join(&back) {
                break;
            }
        }
        for c in &repeat.params {
            self.state.alias(c.out, c.next);
        }
        self.counters.pop();
        self.tested = None;
        Ok(())
    }
}

/// Returns for each value whether it has a definition.
fn defined_values(function: &LirFunction) -> Vec<bool> {
    let mut defined: Vec<bool> = function.mem_operands.iter().map(Option::is_some).collect();
    define_in(&function.body, &mut defined);
    defined
}

fn define_in(nodes: &[Region], defined: &mut [bool]) {
    let define = |v: VReg, defined: &mut [bool]| {
        let before = std::mem::replace(&mut defined[v.index()], true);
        assert!(!before, "{v:?} has one definition");
    };
    for node in nodes {
        match node {
            Region::Ops(ops) => ops.iter().filter_map(|op| op.dst).for_each(|v| define(v, defined)),
            Region::ConsumeFuel(_) => {}
            Region::Branch(branch) => {
                for phi in &branch.phis {
                    define(phi.var, defined);
                    defined[phi.var.index()] = phi.incoming.is_some();
                }
                for arm in &branch.arms {
                    arm.assign.iter().for_each(|assign| define(assign.new, defined));
                    define_in(&arm.body, defined);
                }
            }
            Region::Loop(repeat) => {
                for c in &repeat.params {
                    define(c.var, defined);
                    define(c.out, defined);
                }
                define_in(&repeat.body, defined);
            }
        }
    }
}
