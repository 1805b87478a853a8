//! Register allocation: a linear scan over the operations in program order.
//!
//! When registers run out, the value with the farthest next use is spilled to the frame. Later uses read it from there, and reload it if
//! the next use is near. Values that are given in memory (constants, slots) are never stored, and often need no register.
//!
//! Branches and loops restore the register state: after an arm or an iteration each live value is in the location that it had before. So
//! arms do not affect each other's allocation. Constants and slots that a loop uses are loaded into free registers before the first
//! iteration.
//!
//! | module | job |
//! | --- | --- |
//! | `live_ranges` | where each value is live |
//! | `reg_state` | the location of each value |
//! | `parallel_move` | parallel moves |
//! | `checker` | in debug builds: checks that every operand reads its value |

mod checker;
mod parallel_move;
mod reg_state;

use crate::LiveRanges;
use crate::known_bugs::{KnownBug, is_injected};
use crate::{Access, Arm, Branch, Class, LirFunction, Loop, MemOperand, Op, Opcode, Region, VReg};
use crate::{Label, MachCode, MachInst, Mem, RegMem};
use crate::{Machine, MemoryOperands};
use parallel_move::{Location, Move};
use reg_state::RegState;

pub use checker::{Fault, check};

/// Allocates registers for a function.
pub fn allocate(function: &LirFunction, machine: Machine) -> MachCode {
    let live_ranges = LiveRanges::of(function);
    let mut allocator = Allocator {
        function,
        regs: RegState::new(machine, function),
        live_ranges,
        at: 0,
        ops: 0,
        depth: 0,
        pass_ends: u32::MAX,
        out: MachCode::default(),
    };
    allocator.groups();
    allocator.out.stack = allocator.regs.frame();
    allocator.out.groups = function.groups;
    allocator.out.separate_fuel_counts = function.separate_fuel_counts;
    let listing = allocator.out;
    #[cfg(debug_assertions)]
    if !crate::known_bugs::is_unchecked()
        && let Err(fault) = check(function, machine, &listing)
    {
        unreachable!("register allocation for {machine:?}: {fault}");
    }
    listing
}

/// Returns the register pressure: the maximum number of live vectors.
pub fn pressure(function: &LirFunction) -> usize {
    let live_ranges = LiveRanges::of(function);
    live_ranges.pressure(0, live_ranges.end())
}

struct Allocator<'a> {
    function: &'a LirFunction,
    regs: RegState,
    live_ranges: LiveRanges,
    /// The current program point, numbered as in [`LiveRanges`].
    at: u32,
    /// Operations so far, dead ones included.
    ops: u32,
    depth: u32,
    /// The end of the innermost loop.
    pass_ends: u32,
    out: MachCode,
}

/// A reload goes to a register if the next use is less than this many points away.
const SOON: u32 = 64;

impl Allocator<'_> {
    /// Allocates the whole function, as a loop over groups of pixels.
    fn groups(&mut self) {
        let end = self.live_ranges.end();
        self.at += 1;
        self.preload_loop(0, end, &[]);
        let held = self.regs.registers();
        let top = self.label();
        self.push(MachInst::Label(top));
        let function = self.function;
        self.nodes(&function.body);
        self.at = end;
        let back = |(class, register, v)| Move {
            class,
            to: Location::Register(class, register),
            from: self.regs.location(v),
        };
        self.moves(held.into_iter().map(back).collect());
        self.push(MachInst::NextGroup(top));
    }

    fn nodes(&mut self, nodes: &[Region]) {
        for node in nodes {
            match node {
                Region::Ops(ops) => ops.iter().for_each(|op| self.op(op)),
                Region::ConsumeFuel(instructions) => {
                    self.push(MachInst::ConsumeFuel(*instructions))
                }
                Region::Branch(branch) => self.branch(branch),
                Region::Loop(repeat) => self.repeat(repeat),
            }
        }
    }

    fn op(&mut self, op: &Op) {
        self.at += 1;
        let number = self.ops;
        self.ops += 1;
        if op.dst.is_some_and(|dst| !self.live_ranges.is_used(dst)) {
            self.free_dead(op.args());
            return;
        }
        let mut op = *op;
        let memory = self.arrange(&mut op);
        let in_pool = is_injected(KnownBug::TexelOffsetsInPool);
        if let (Some((at, Access::Lanes)), args, false) = (memory, op.args, in_pool) {
            self.store_to_frame(args[at].expect("offsets are an argument"));
        }
        // Arguments that need a register are allocated first, while registers are free.
        let mut regs = [None; 3];
        let mut locked = Vec::new();
        for v in op.args() {
            if let Some(register) = self.regs.register(v) {
                locked.push((self.function.class(v), register));
            }
        }
        for (i, v) in op.args.iter().enumerate() {
            let Some(v) = *v else { continue };
            let alone = op.args.iter().filter(|other| **other == Some(v)).count() == 1;
            let mem = self.regs.memory(v);
            let place = match (self.regs.register(v), mem, memory) {
                (None, Some(mem), Some((at, Access::Lanes))) if at == i && in_pool => {
                    RegMem::Memory(mem)
                }
                (_, _, Some((at, Access::Lanes))) if at == i => {
                    RegMem::Memory(self.regs.lanes(v).expect("offsets were put there"))
                }
                (Some(register), ..) => RegMem::Register(register),
                (None, Some(mem @ Mem::Const(0)), Some((at, Access::Zero))) if at == i => {
                    RegMem::Memory(mem)
                }
                (None, Some(mem), Some((at, access)))
                    if at == i
                        && access != Access::Zero
                        && alone
                        && !(access == Access::Wide && matches!(mem, Mem::Const(_)))
                        && !self.prefers_register(v) =>
                {
                    RegMem::Memory(mem)
                }
                _ => RegMem::Register(self.load(v, &mut locked)),
            };
            regs[i] = Some(place);
        }
        // The result may reuse the register of a dead argument. It must not reuse its spill slot, which the instruction still reads.
        for v in op.args() {
            if self.live_ranges.next_use(v, self.at).is_none() {
                self.regs.drop_register(v);
            }
        }
        let dst = match op.dst {
            Some(dst) => {
                let class = self.function.class(dst);
                let hint = self.regs.hint(dst).or_else(|| {
                    let overwritten = self.regs.machine.overwritten(op.opcode);
                    overwritten.iter().find_map(|n| match regs[*n] {
                        Some(RegMem::Register(register)) => {
                            self.regs.frees(class).find(|free| *free == register)
                        }
                        _ => None,
                    })
                });
                let register = self.find_register(class, &[], hint);
                self.regs.put(dst, register);
                register
            }
            None => 0,
        };
        self.free_dead(op.args());
        self.push(MachInst::Op { opcode: op.opcode, dst, args: regs, origin: op.origin });
        if cfg!(any(debug_assertions, test)) {
            self.out.sources.push(number);
        }
        // Texel offsets are read from memory: an early store hides its latency.
        if let Some(dst) = op.dst.filter(|dst| self.live_ranges.is_offset(*dst))
            && self.regs.machine.operands == MemoryOperands::Usual
        {
            self.spill(dst);
        }
    }

    /// Swaps the arguments if that saves a load. Returns the argument that may be a memory operand.
    fn arrange(&self, op: &mut Op) -> Option<(usize, Access)> {
        let memory = self.regs.machine.memory_operand(op.opcode);
        let exchanged = match op.opcode {
            Opcode::Cmp(relation) => Opcode::Cmp(relation.mirrored()),
            opcode if opcode.is_commutative() && memory.is_some() => opcode,
            _ => return memory,
        };
        let [Some(a), Some(b), _] = op.args else { return memory };
        let in_register = |v| self.regs.register(v).is_some();
        // A value that is given in memory is the better memory operand.
        let better = !in_register(a)
            && (in_register(b)
                || self.function.mem_operand(a).is_some()
                    && self.function.mem_operand(b).is_none());
        if better {
            op.opcode = exchanged;
            op.args.swap(0, 1);
        }
        memory
    }

    /// Returns whether to reload a value from memory into a register: its next use is near, in the same iteration, and a register is free.
    fn prefers_register(&self, v: VReg) -> bool {
        let class = self.function.class(v);
        let next = self.live_ranges.next_use(v, self.at).filter(|next| *next < self.pass_ends);
        next.is_some_and(|next| next - self.at < SOON) && self.regs.has_free(class)
    }

    fn load(&mut self, v: VReg, locked: &mut Vec<(Class, u8)>) -> u8 {
        if let Some(register) = self.regs.register(v) {
            return register;
        }
        let class = self.function.class(v);
        let register = self.find_register(class, locked, None);
        if let Some(from) = self.regs.memory(v) {
            self.push(MachInst::Load { class, dst: register, from });
        }
        self.regs.put(v, register);
        locked.push((class, register));
        register
    }

    /// Returns a free register; spills a value if there is none.
    fn find_register(&mut self, class: Class, locked: &[(Class, u8)], hint: Option<u8>) -> u8 {
        if let Some(register) = self.regs.free(class, hint) {
            return register;
        }
        let (live_ranges, regs, at) = (&self.live_ranges, &self.regs, self.at);
        let victim = regs
            .registers()
            .into_iter()
            .filter(|(of, register, _)| *of == class && !locked.contains(&(class, *register)))
            .max_by_key(|(_, register, v)| {
                let distance = live_ranges.next_use(*v, at).map_or(u32::MAX / 8, |next| next - at);
                // A value with a copy in memory need not be stored.
                let cheap = if regs.memory(*v).is_some() { 3 } else { 1 };
                (distance.min(u32::MAX / 8) * cheap, *register)
            });
        let (_, register, v) = victim.expect("an operation locks fewer registers than there are");
        self.evict(v);
        register
    }

    /// Frees a value's register; spills the value if it is still used.
    fn evict(&mut self, v: VReg) {
        match self.live_ranges.is_used_from(v, self.at) {
            true => self.spill(v),
            false => self.regs.drop_register(v),
        }
    }

    /// Spills a value and frees its register. A value with a copy in memory is not stored.
    fn spill(&mut self, v: VReg) {
        let class = self.function.class(v);
        if let Some(from) = self.regs.register(v) {
            if self.regs.memory(v).is_none() {
                let to = self.regs.spill_slot(v);
                self.push(MachInst::Store { class, to, from });
            }
            self.regs.drop_register(v);
        }
    }

    /// Spills a value so that each of its lanes can be read from memory; a constant is stored to the frame first.
    fn store_to_frame(&mut self, v: VReg) {
        if let Some(MemOperand::Const(_)) = self.function.mem_operand(v)
            && self.regs.lanes(v).is_none()
        {
            let from = self.load(v, &mut Vec::new());
            let to = self.regs.spill_slot(v);
            self.push(MachInst::Store { class: self.function.class(v), to, from });
        }
        self.spill(v);
    }

    /// Frees the locations of dead values.
    fn free_dead(&mut self, values: impl Iterator<Item = VReg>) {
        for v in values {
            if self.live_ranges.next_use(v, self.at).is_none() {
                self.regs.forget(v);
            }
        }
    }

    fn branch(&mut self, branch: &Branch) {
        self.at += 1;
        let vars: Vec<(VReg, Option<VReg>)> = (branch.phis.iter())
            .filter(|phi| self.live_ranges.is_used(phi.var))
            .map(|phi| (phi.var, phi.incoming))
            .collect();
        self.begin_vars(&vars);
        self.free_dead(branch.phis.iter().filter_map(|phi| phi.incoming));
        for arm in &branch.arms {
            self.arm(arm);
        }
    }

    /// Allocates a location of its own for each variable (phi or loop parameter), initialised with its incoming value.
    fn begin_vars(&mut self, vars: &[(VReg, Option<VReg>)]) {
        for (i, &(var, from)) in vars.iter().enumerate() {
            let used_again = vars[i + 1..].iter().any(|(_, other)| *other == from);
            self.begin_var(var, from, used_again);
        }
    }

    fn begin_var(&mut self, var: VReg, from: Option<VReg>, used_again: bool) {
        let class = self.function.class(var);
        let Some(from) = from else {
            let register = self.find_register(class, &[], None);
            self.regs.put(var, register);
            return;
        };
        // Last use of the incoming value: the variable takes over its location.
        if !used_again
            && self.live_ranges.next_use(from, self.at).is_none()
            && self.function.mem_operand(from).is_none()
        {
            self.regs.rename(from, var);
            return;
        }
        let source = self.regs.register(from);
        let locked: Vec<_> = source.map(|register| (class, register)).into_iter().collect();
        let register = self.find_register(class, &locked, None);
        match (source, self.regs.memory(from)) {
            (Some(from), _) => self.push(MachInst::Move { class, dst: register, from }),
            (None, Some(from)) => self.push(MachInst::Load { class, dst: register, from }),
            (None, None) => {}
        }
        self.regs.put(var, register);
    }

    fn arm(&mut self, arm: &Arm) {
        self.at += 1;
        let class = self.function.class(arm.mask);
        let mask = self.load(arm.mask, &mut Vec::new());
        self.push(MachInst::Test { class, mask });
        self.free_dead(std::iter::once(arm.mask));
        let after = self.label();
        self.push(MachInst::BranchIfNone(after));
        let before = self.regs.save();
        for assign in &arm.assign {
            self.regs.set_hint(assign.from, assign.old);
        }
        self.free_dead(arm.assign.iter().map(|assign| assign.old));
        self.nodes(&arm.body);
        self.at += 1;
        let mut moves = Vec::new();
        for (to, v) in before.locations() {
            let assign = arm.assign.iter().find(|assign| assign.old == v);
            let from = match (assign, to) {
                (Some(assign), _) if self.live_ranges.is_used(assign.new) => assign.from,
                // A value that is only in the frame stays there.
                (None, Location::Register(..))
                    if self.live_ranges.next_use(v, self.at).is_some() =>
                {
                    v
                }
                _ => continue,
            };
            let from = self.regs.location(from);
            moves.push(Move { class: self.function.class(v), to, from });
        }
        self.moves(moves);
        self.regs.restore(before);
        for assign in &arm.assign {
            self.regs.rename(assign.old, assign.new);
        }
        self.free_unused();
        self.push(MachInst::Label(after));
    }

    fn moves(&mut self, mut moves: Vec<Move>) {
        let named = moves.clone();
        let regs = &mut self.regs;
        // A register that is free before and after the moves, or a slot of the frame.
        let mut spare = |class| {
            let is_named = |location| named.iter().any(|m| m.to == location || m.from == location);
            let mut free = regs.frees(class).map(|register| Location::Register(class, register));
            let register = free.find(|location| !is_named(*location));
            drop(free);
            register.unwrap_or_else(|| Location::Memory(regs.spare_slot(&named)))
        };
        if is_injected(KnownBug::MovesByClass) {
            let vectors = moves.extract_if(.., |m| m.class == Class::Vector).collect();
            parallel_move::resolve(vectors, &mut spare, &mut self.out.insts);
        }
        parallel_move::resolve(moves, spare, &mut self.out.insts);
    }

    /// Frees the locations of dead values, also of those without uses.
    fn free_unused(&mut self) {
        let held = self.regs.registers().into_iter().map(|(_, _, v)| v);
        let dead: Vec<VReg> = held
            .chain(self.regs.spilled())
            .filter(|v| self.live_ranges.next_use(*v, self.at).is_none())
            .collect();
        for v in dead {
            self.regs.forget(v);
        }
    }

    fn repeat(&mut self, repeat: &Loop) {
        self.at += 1;
        let (start, end) = self.live_ranges.loop_bounds(self.at);
        let param: Vec<_> = (repeat.params.iter().copied())
            .filter(|c| {
                self.live_ranges.is_used_in(c.var, start, end) || self.live_ranges.is_used(c.out)
            })
            .collect();
        let vars: Vec<_> = param.iter().map(|c| (c.var, Some(c.init))).collect();
        self.begin_vars(&vars);
        self.free_dead(repeat.params.iter().map(|c| c.init));
        self.preload_loop(start, end, &vars);
        let counter = self.depth;
        self.depth += 1;
        self.out.counters = self.out.counters.max(self.depth);
        let top = self.label();
        self.push(MachInst::LoopBegin { counter, trips: repeat.max_trips });
        self.push(MachInst::Label(top));
        // The loop changes parameters in registers, so their copies in spill slots become stale.
        for c in &param {
            if self.regs.register(c.var).is_some() {
                self.regs.drop_spill_slot(c.var);
            }
        }
        let before = self.regs.save();
        for c in &param {
            self.regs.set_hint(c.next, c.var);
        }
        self.free_dead(param.iter().map(|c| c.var));
        let outer = std::mem::replace(&mut self.pass_ends, end);
        self.nodes(&repeat.body);
        self.pass_ends = outer;
        self.at = end;
        if let Some(continue_mask) = repeat.continue_mask {
            let class = self.function.class(continue_mask);
            let mask = self.load(continue_mask, &mut Vec::new());
            self.push(MachInst::Test { class, mask });
        }
        let mut moves = Vec::new();
        for (to, v) in before.locations() {
            let from = match (param.iter().find(|c| c.var == v), to) {
                (Some(c), _) => c.next,
                // Restores the locations of values that the loop uses, or that are used after it.
                (None, Location::Register(..))
                    if self.live_ranges.is_used_from(v, end)
                        || self.live_ranges.is_used_in(v, start, end) =>
                {
                    v
                }
                _ => continue,
            };
            let from = self.regs.location(from);
            moves.push(Move { class: self.function.class(v), to, from });
        }
        self.moves(moves);
        self.push(MachInst::LoopBack {
            counter,
            to: top,
            tested: repeat.continue_mask.is_some(),
            address: repeat.address,
        });
        self.regs.restore(before);
        for c in &param {
            self.regs.rename(c.var, c.out);
        }
        self.free_unused();
        self.depth -= 1;
    }

    /// Prepares registers for a loop. If the loop needs more registers than there are, only loop parameters keep their registers: values
    /// that the loop only reads become memory operands, which need no restoring move at the end of an iteration. Otherwise the free
    /// registers preload constants and slots that the loop uses.
    fn preload_loop(&mut self, start: u32, end: u32, vars: &[(VReg, Option<VReg>)]) {
        let count = self.regs.machine.registers(Class::Vector);
        let needed = self.live_ranges.pressure(start, end);
        let inside = start != 0;
        if inside && needed > count {
            for (class, _, v) in self.regs.registers() {
                if class == Class::Vector && !vars.iter().any(|(var, _)| *var == v) {
                    self.evict(v);
                }
            }
            for &(var, _) in vars {
                let class = self.function.class(var);
                if class == Class::Vector
                    && self.live_ranges.is_used_in(var, start, end)
                    && self.regs.memory(var).is_some()
                    && self.regs.has_free(class)
                {
                    self.load(var, &mut Vec::new());
                }
            }
        }
        // Slots hold other values for the next group of pixels, constants do not.
        let given = self.live_ranges.constants_used_in(start, end, |v| {
            match self.function.mem_operand(v) {
                Some(MemOperand::Const(_)) => true,
                Some(MemOperand::Slot(..)) => inside,
                None => false,
            }
        });
        for v in given.into_iter().take(count.saturating_sub(needed + 1)) {
            if self.regs.register(v).is_some() || self.regs.has_free(Class::Vector) {
                self.load(v, &mut Vec::new());
                // Keeps the value live across the back edge.
                self.live_ranges.add(v, end);
            }
        }
    }

    fn label(&mut self) -> Label {
        let label = Label(self.out.labels);
        self.out.labels += 1;
        label
    }

    fn push(&mut self, inst: MachInst) {
        self.out.insts.push(inst);
    }
}
