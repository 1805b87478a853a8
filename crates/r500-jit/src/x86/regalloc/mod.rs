//! Registers for values.
//!
//! One pass over the program in order. Values live in registers while there are enough; then the one
//! that is looked at last goes to the frame, and comes back where it is looked at. What lies in memory
//! anyway (constants, slots) needs no store, and often no register.
//!
//! Branches and loops keep the places of values: behind an arm or a pass everything that is needed is
//! back where it was before it. So what an arm does to places concerns nobody else.
//!
//! | module | job |
//! | --- | --- |
//! | `lives` | where each value is looked at |
//! | `places` | what is where |
//! | `moves` | moves all at once |
//! | `checker` | in debug builds: does every operand read its value |

#[cfg(any(debug_assertions, test))]
mod checker;
mod moves;
mod places;

use crate::lives::Lives;
use crate::op::{Access, Arm, Branch, Class, Given, Kind, Node, Op, Program, Repeat, V};
use crate::x86::inst::{Inst, Label, Listing, Mem, Place};
use crate::x86::known_bugs::{self, KnownBug, is_injected};
use crate::x86::level::Level;
use moves::{Move, Spot};
use places::Places;

/// Gives registers to a program.
pub(crate) fn allocate(program: &Program, level: Level) -> Listing {
    let lives = Lives::of(program);
    let mut allocate = Allocate {
        program,
        places: Places::new(level, program),
        lives,
        at: 0,
        ops: 0,
        depth: 0,
        pass_ends: u32::MAX,
        out: Listing::default(),
    };
    allocate.groups();
    allocate.out.stack = allocate.places.frame();
    allocate.out.groups = program.groups;
    let listing = allocate.out;
    #[cfg(any(debug_assertions, test))]
    if !known_bugs::is_unchecked()
        && let Err(fault) = checker::check(program, level, &listing)
    {
        unreachable!("register allocation for {level:?}: {fault}");
    }
    listing
}

/// The most vectors that are alive at once.
pub(crate) fn pressure(program: &Program) -> usize {
    let lives = Lives::of(program);
    lives.pressure(0, lives.end())
}

struct Allocate<'a> {
    program: &'a Program,
    places: Places,
    lives: Lives,
    /// Where the pass is; counts as [`Lives`] did.
    at: u32,
    /// Operations so far.
    ops: u32,
    depth: u32,
    /// Where the pass of the innermost loop ends.
    pass_ends: u32,
    out: Listing,
}

/// Places within which a value is looked at again soon.
const SOON: u32 = 64;

impl Allocate<'_> {
    /// The whole program, for one group of pixels after the other.
    fn groups(&mut self) {
        let end = self.lives.end();
        self.at += 1;
        self.keep(0, end, &[]);
        let held = self.places.registers();
        let top = self.label();
        self.push(Inst::Label(top));
        let program = self.program;
        self.nodes(&program.body);
        self.at = end;
        let back = |(class, register, v)| Move {
            class,
            to: Spot::Register(class, register),
            from: self.places.spot(v),
        };
        self.moves(held.into_iter().map(back).collect());
        self.push(Inst::NextGroup(top));
    }

    fn nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Ops(ops) => ops.iter().for_each(|op| self.op(op)),
                Node::Spend(instructions) => self.push(Inst::Spend(*instructions)),
                Node::Branch(branch) => self.branch(branch),
                Node::Repeat(repeat) => self.repeat(repeat),
            }
        }
    }

    fn op(&mut self, op: &Op) {
        self.at += 1;
        let number = self.ops;
        self.ops += 1;
        if op.dst.is_some_and(|dst| !self.lives.is_needed(dst)) {
            self.release(op.args());
            return;
        }
        let mut op = *op;
        let memory = self.arrange(&mut op);
        let in_pool = is_injected(KnownBug::TexelOffsetsInPool);
        if let (Some((at, Access::Lanes)), args, false) = (memory, op.args, in_pool) {
            self.put_into_frame(args[at].expect("offsets are an argument"));
        }
        // What must be in a register comes first, so that it finds one.
        let mut places = [None; 3];
        let mut locked = Vec::new();
        for v in op.args() {
            if let Some(register) = self.places.register(v) {
                locked.push((self.program.class(v), register));
            }
        }
        for (i, v) in op.args.iter().enumerate() {
            let Some(v) = *v else { continue };
            let alone = op.args.iter().filter(|other| **other == Some(v)).count() == 1;
            let mem = self.places.memory(v);
            let place = match (self.places.register(v), mem, memory) {
                (None, Some(mem), Some((at, Access::Lanes))) if at == i && in_pool => {
                    Place::Memory(mem)
                }
                (_, _, Some((at, Access::Lanes))) if at == i => {
                    Place::Memory(self.places.lanes(v).expect("offsets were put there"))
                }
                (Some(register), ..) => Place::Register(register),
                (None, Some(mem), Some((at, access)))
                    if at == i
                        && alone
                        && !(access == Access::Wide && matches!(mem, Mem::Const(_)))
                        && !self.deserves_register(v) =>
                {
                    Place::Memory(mem)
                }
                _ => Place::Register(self.load(v, &mut locked)),
            };
            places[i] = Some(place);
        }
        // The result may take a register of theirs, but a place in the frame that is still to be read
        // must not be written meanwhile.
        for v in op.args() {
            if self.lives.next(v, self.at).is_none() {
                self.places.drop_register(v);
            }
        }
        let dst = match op.dst {
            Some(dst) => {
                let class = self.program.class(dst);
                let hint = self.places.hint(dst);
                let register = self.find_register(class, &[], hint);
                self.places.put(dst, register);
                register
            }
            None => 0,
        };
        self.release(op.args());
        self.push(Inst::Op { kind: op.kind, dst, args: places, origin: op.origin });
        if cfg!(any(debug_assertions, test)) {
            self.out.sources.push(number);
        }
        // It will be read from memory: the sooner it is there, the less is waited for it.
        if let Some(dst) = op.dst.filter(|dst| self.lives.is_offset(*dst)) {
            self.put_away(dst);
        }
    }

    /// Exchanges arguments if that saves a load. Returns the argument that may lie in memory.
    fn arrange(&self, op: &mut Op) -> Option<(usize, Access)> {
        let memory = op.kind.memory_operand(self.places.level.mask() == Class::Mask);
        let exchanged = match op.kind {
            Kind::Cmp(relation) => Kind::Cmp(relation.mirrored()),
            kind if kind.is_commutative() && memory.is_some() => kind,
            _ => return memory,
        };
        let [Some(a), Some(b), _] = op.args else { return memory };
        let in_register = |v| self.places.register(v).is_some();
        // What will be loaded better is what lies in memory for good.
        let better = !in_register(a)
            && (in_register(b)
                || self.program.given(a).is_some() && self.program.given(b).is_none());
        if better {
            op.kind = exchanged;
            op.args.swap(0, 1);
        }
        memory
    }

    /// Whether a value in memory is worth a register: it is looked at again soon, and there is one.
    fn deserves_register(&self, v: V) -> bool {
        let class = self.program.class(v);
        let next = self.lives.next(v, self.at).filter(|next| *next < self.pass_ends);
        next.is_some_and(|next| next - self.at < SOON) && self.places.has_free(class)
    }

    fn load(&mut self, v: V, locked: &mut Vec<(Class, u8)>) -> u8 {
        if let Some(register) = self.places.register(v) {
            return register;
        }
        let class = self.program.class(v);
        let register = self.find_register(class, locked, None);
        if let Some(from) = self.places.memory(v) {
            self.push(Inst::Load { class, dst: register, from });
        }
        self.places.put(v, register);
        locked.push((class, register));
        register
    }

    /// A register that is free, or made so.
    fn find_register(&mut self, class: Class, locked: &[(Class, u8)], hint: Option<u8>) -> u8 {
        if let Some(register) = self.places.free(class, hint) {
            return register;
        }
        let (lives, places, at) = (&self.lives, &self.places, self.at);
        let victim = places
            .registers()
            .into_iter()
            .filter(|(of, register, _)| *of == class && !locked.contains(&(class, *register)))
            .max_by_key(|(_, register, v)| {
                let distance = lives.next(*v, at).map_or(u32::MAX / 8, |next| next - at);
                // What lies in memory need not be stored.
                let cheap = if places.memory(*v).is_some() { 3 } else { 1 };
                (distance.min(u32::MAX / 8) * cheap, *register)
            });
        let (_, register, v) = victim.expect("an operation locks fewer registers than there are");
        self.evict(v);
        register
    }

    /// Takes a value's register; the frame keeps it.
    fn evict(&mut self, v: V) {
        match self.lives.is_needed_from(v, self.at) {
            true => self.put_away(v),
            false => self.places.drop_register(v),
        }
    }

    /// Has a value be in memory alone.
    fn put_away(&mut self, v: V) {
        let class = self.program.class(v);
        if let Some(from) = self.places.register(v) {
            if self.places.memory(v).is_none() {
                let to = self.places.home(v);
                self.push(Inst::Store { class, to, from });
            }
            self.places.drop_register(v);
        }
    }

    /// Has a value be in memory where each of its lanes can be read.
    fn put_into_frame(&mut self, v: V) {
        if let Some(Given::Const(_)) = self.program.given(v)
            && self.places.lanes(v).is_none()
        {
            let from = self.load(v, &mut Vec::new());
            let to = self.places.home(v);
            self.push(Inst::Store { class: self.program.class(v), to, from });
        }
        self.put_away(v);
    }

    /// Frees what nobody looks at any more.
    fn release(&mut self, values: impl Iterator<Item = V>) {
        for v in values {
            if self.lives.next(v, self.at).is_none() {
                self.places.forget(v);
            }
        }
    }

    fn branch(&mut self, branch: &Branch) {
        self.at += 1;
        let vars: Vec<(V, Option<V>)> = (branch.merges.iter())
            .filter(|merge| self.lives.is_needed(merge.var))
            .map(|merge| (merge.var, merge.before))
            .collect();
        self.begin_vars(&vars);
        self.release(branch.merges.iter().filter_map(|merge| merge.before));
        for arm in &branch.arms {
            self.arm(arm);
        }
    }

    /// Values with places of their own, that are others as yet.
    fn begin_vars(&mut self, vars: &[(V, Option<V>)]) {
        for (i, &(var, from)) in vars.iter().enumerate() {
            let again = vars[i + 1..].iter().any(|(_, other)| *other == from);
            self.begin_var(var, from, again);
        }
    }

    fn begin_var(&mut self, var: V, from: Option<V>, again: bool) {
        let class = self.program.class(var);
        let Some(from) = from else {
            let register = self.find_register(class, &[], None);
            self.places.put(var, register);
            return;
        };
        // The last look at it: where it is is the place.
        if !again && self.lives.next(from, self.at).is_none() && self.program.given(from).is_none()
        {
            self.places.rename(from, var);
            return;
        }
        let source = self.places.register(from);
        let locked: Vec<_> = source.map(|register| (class, register)).into_iter().collect();
        let register = self.find_register(class, &locked, None);
        match (source, self.places.memory(from)) {
            (Some(from), _) => self.push(Inst::Move { class, dst: register, from }),
            (None, Some(from)) => self.push(Inst::Load { class, dst: register, from }),
            (None, None) => {}
        }
        self.places.put(var, register);
    }

    fn arm(&mut self, arm: &Arm) {
        self.at += 1;
        let class = self.program.class(arm.mask);
        let mask = self.load(arm.mask, &mut Vec::new());
        self.push(Inst::Test { class, mask });
        self.release(std::iter::once(arm.mask));
        let behind = self.label();
        self.push(Inst::SkipIfNone(behind));
        let before = self.places.save();
        for assign in &arm.assign {
            self.places.aim(assign.from, assign.old);
        }
        self.release(arm.assign.iter().map(|assign| assign.old));
        self.nodes(&arm.body);
        self.at += 1;
        let mut moves = Vec::new();
        for (to, v) in before.spots() {
            let assign = arm.assign.iter().find(|assign| assign.old == v);
            let from = match (assign, to) {
                (Some(assign), _) if self.lives.is_needed(assign.new) => assign.from,
                // What is only in the frame stays there.
                (None, Spot::Register(..)) if self.lives.next(v, self.at).is_some() => v,
                _ => continue,
            };
            let from = self.places.spot(from);
            moves.push(Move { class: self.program.class(v), to, from });
        }
        self.moves(moves);
        self.places.restore(before);
        for assign in &arm.assign {
            self.places.rename(assign.old, assign.new);
        }
        self.sweep();
        self.push(Inst::Label(behind));
    }

    fn moves(&mut self, mut moves: Vec<Move>) {
        let named = moves.clone();
        let places = &mut self.places;
        // A register that is free now and afterwards, or a slot of the frame.
        let mut spare = |class| {
            let is_named = |spot| named.iter().any(|m| m.to == spot || m.from == spot);
            let mut free = places.frees(class).map(|register| Spot::Register(class, register));
            let register = free.find(|spot| !is_named(*spot));
            drop(free);
            register.unwrap_or_else(|| Spot::Memory(places.spare_home(&named)))
        };
        if is_injected(KnownBug::MovesByClass) {
            let vectors = moves.extract_if(.., |m| m.class == Class::Vector).collect();
            moves::resolve(vectors, &mut spare, &mut self.out.insts);
        }
        moves::resolve(moves, spare, &mut self.out.insts);
    }

    /// Frees the places of values that nobody looks at any more, or never did.
    fn sweep(&mut self) {
        let held = self.places.registers().into_iter().map(|(_, _, v)| v);
        let dead: Vec<V> = held
            .chain(self.places.stacked())
            .filter(|v| self.lives.next(*v, self.at).is_none())
            .collect();
        for v in dead {
            self.places.forget(v);
        }
    }

    fn repeat(&mut self, repeat: &Repeat) {
        self.at += 1;
        let (start, end) = self.lives.span(self.at);
        let carried: Vec<_> = (repeat.carried.iter().copied())
            .filter(|c| self.lives.is_used_in(c.var, start, end) || self.lives.is_needed(c.out))
            .collect();
        let vars: Vec<_> = carried.iter().map(|c| (c.var, Some(c.init))).collect();
        self.begin_vars(&vars);
        self.release(repeat.carried.iter().map(|c| c.init));
        self.keep(start, end, &vars);
        let counter = self.depth;
        self.depth += 1;
        self.out.counters = self.out.counters.max(self.depth);
        let top = self.label();
        self.push(Inst::Begin { counter, passes: repeat.passes });
        self.push(Inst::Label(top));
        // Passes change what is in registers.
        for c in &carried {
            if self.places.register(c.var).is_some() {
                self.places.drop_home(c.var);
            }
        }
        let before = self.places.save();
        for c in &carried {
            self.places.aim(c.next, c.var);
        }
        self.release(carried.iter().map(|c| c.var));
        let outer = std::mem::replace(&mut self.pass_ends, end);
        self.nodes(&repeat.body);
        self.pass_ends = outer;
        self.at = end;
        if let Some(again) = repeat.again {
            let class = self.program.class(again);
            let mask = self.load(again, &mut Vec::new());
            self.push(Inst::Test { class, mask });
        }
        let mut moves = Vec::new();
        for (to, v) in before.spots() {
            let from = match (carried.iter().find(|c| c.var == v), to) {
                (Some(c), _) => c.next,
                // What the loop looks at is where it looks for it, and so is what others look at later.
                (None, Spot::Register(..))
                    if self.lives.is_needed_from(v, end)
                        || self.lives.is_used_in(v, start, end) =>
                {
                    v
                }
                _ => continue,
            };
            let from = self.places.spot(from);
            moves.push(Move { class: self.program.class(v), to, from });
        }
        self.moves(moves);
        self.push(Inst::Again {
            counter,
            to: top,
            tested: repeat.again.is_some(),
            address: repeat.address,
        });
        self.places.restore(before);
        for c in &carried {
            self.places.rename(c.var, c.out);
        }
        self.sweep();
        self.depth -= 1;
    }

    /// Before a loop: if it needs more registers than there are, only what goes from pass to pass keeps
    /// its register; what the loop only looks at is read from memory, which costs nothing at the end of a
    /// pass. If it needs less, what it looks at in memory gets those that are left.
    fn keep(&mut self, start: u32, end: u32, vars: &[(V, Option<V>)]) {
        let count = self.places.level.registers(Class::Vector);
        let needed = self.lives.pressure(start, end);
        let inside = start != 0;
        if inside && needed > count {
            for (class, _, v) in self.places.registers() {
                if class == Class::Vector && !vars.iter().any(|(var, _)| *var == v) {
                    self.evict(v);
                }
            }
            for &(var, _) in vars {
                let class = self.program.class(var);
                if class == Class::Vector
                    && self.lives.is_used_in(var, start, end)
                    && self.places.memory(var).is_some()
                    && self.places.has_free(class)
                {
                    self.load(var, &mut Vec::new());
                }
            }
        }
        // Slots hold another group's values each time, constants do not.
        let given = self.lives.given_in(start, end, |v| match self.program.given(v) {
            Some(Given::Const(_)) => true,
            Some(Given::Slot(..)) => inside,
            None => false,
        });
        for v in given.into_iter().take(count.saturating_sub(needed + 1)) {
            if self.places.register(v).is_some() || self.places.has_free(Class::Vector) {
                self.load(v, &mut Vec::new());
                // It is to be there in the next pass, too.
                self.lives.add(v, end);
            }
        }
    }

    fn label(&mut self) -> Label {
        let label = Label(self.out.labels);
        self.out.labels += 1;
        label
    }

    fn push(&mut self, inst: Inst) {
        self.out.insts.push(inst);
    }
}
