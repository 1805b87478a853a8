//! Simultaneous numbering of the regions of two functions.
//!
//! Branches are flattened: their arms compute values that only phis select. Loops are paired in order. The parameters
//! of a pair are numbered by *partition refinement*: parameters with equal initial values are assumed equal, the bodies
//! are numbered under that assumption, and classes whose members have different next values are split, to a fixed
//! point. Members of one class are equal in every iteration, by induction, if both loops have the same trip count; the
//! order and the number of parameters do not matter.
//!
//! Each parameter is two members of the partition: in the lanes that execute the iteration, and in the others, which
//! left or did not enter the loop. Two parameters may be equal in the former and differ in the latter.

use std::collections::BTreeMap;

use r500_ir::{DENORMAL, DemandedFp, Function, If, Loop, Opcode, Operand, Stmt, Type};
use r500_isa::values::TexOp;

use super::context::{Context, Contexts, FULL};
use super::table::{Carried, EVERY, Fetched, NONE, Node, Number, Table, UNUSED};
use super::{Known, Unknown};
use crate::SIDES;
use crate::known::InputValue;

/// A step of the flattened code of a region.
#[derive(Clone, Copy)]
enum Step<'a> {
    /// A statement without regions.
    Plain(&'a Stmt),
    /// The phis of a branch, after both arms.
    Phis(&'a If),
    /// A loop, and the mask of the innermost arm around it.
    Loop(&'a Loop, Option<Operand>),
}

fn flatten<'a>(stmts: &'a [Stmt], mask: Option<Operand>, steps: &mut Vec<Step<'a>>) {
    for stmt in stmts {
        match stmt {
            Stmt::If(branch) => {
                for (arm, mask) in branch.arms.iter().zip(branch.masks) {
                    flatten(arm, Some(mask), steps);
                }
                steps.push(Step::Phis(branch));
            }
            Stmt::Loop(repeat) => steps.push(Step::Loop(repeat, mask)),
            _ => steps.push(Step::Plain(stmt)),
        }
    }
}

/// Effects of a region besides its values.
#[derive(Default, PartialEq)]
struct Effects {
    /// The discarded lanes.
    discarded: Number,
    /// Counts of `STAT_WE`: channel and mask.
    counts: Vec<(u8, Number)>,
}

struct Prover<'a> {
    table: Table,
    contexts: Contexts,
    functions: &'a [Function; 2],
    known: &'a Known,
    /// The temporaries of the inputs of both functions.
    temps: &'a [u8],
    /// Number of each value, for each function.
    numbers: [Vec<Option<Number>>; 2],
    /// First instruction that computes a number, for each program.
    locations: [BTreeMap<Number, u32>; 2],
    pairs: u32,
    /// The compared bits of an output.
    output_bits: DemandedFp,
}

/// Compares two functions.
///
/// # Errors
/// [`Unknown`] if a result has different numbers.
pub(super) fn compare(
    functions: &[Function; 2],
    temps: &[u8],
    known: &Known,
) -> Result<(), Unknown> {
    let mut prover = Prover {
        table: Table::default(),
        contexts: Contexts::new(known.textures()),
        functions,
        known,
        temps,
        numbers: functions.each_ref().map(|function| vec![None; function.values.len()]),
        locations: Default::default(),
        pairs: 0,
        output_bits: if known.ignores_zero_signs() { DENORMAL } else { FULL },
    };
    for (side, function) in functions.iter().enumerate() {
        for uniform in &function.uniforms {
            let (symbol, channel) = known.symbol(SIDES[side], uniform.source);
            let number = prover.table.intern(Node::Uniform(symbol, channel));
            prover.set(side, uniform.value, number);
        }
    }
    let [a, b] = functions.each_ref().map(|function| {
        let mut steps = Vec::new();
        flatten(&function.body, None, &mut steps);
        steps
    });
    let discarded = prover.region([&a, &b], [EVERY; 2])?;
    let kept = prover.table.not(discarded);
    prover.outputs(kept)?;
    prover.within_limits()
}

impl Prover<'_> {
    fn set(&mut self, side: usize, value: r500_ir::Value, number: Number) {
        self.numbers[side][value.0 as usize] = Some(number);
        let location = self.functions[side].values[value].source_loc;
        self.locations[side].entry(number).or_insert(location);
    }

    fn number(&mut self, side: usize, operand: Operand) -> Number {
        match operand {
            Operand::Const(bits) => self.table.constant(bits),
            Operand::Value(value) => self.numbers[side][value.0 as usize]
                .expect("the verifier has seen that definitions precede uses"),
        }
    }

    /// Returns the number of `mask ? yes : no`, without simplification. Selects of masks become Boolean operations.
    fn select(&mut self, ty: Type, [mask, yes, no]: [Number; 3]) -> Number {
        match ty {
            Type::F32 => self.table.raw(Opcode::Select, &[mask, yes, no]),
            Type::Mask => {
                let yes = self.table.raw(Opcode::And, &[mask, yes]);
                let no = self.table.raw(Opcode::AndNot, &[no, mask]);
                self.table.raw(Opcode::Or, &[yes, no])
            }
        }
    }

    fn canonical(&mut self, number: Number, context: Context) -> Number {
        self.contexts.canonical(&mut self.table, number, context)
    }

    fn mask(&mut self, number: Number, care: Number) -> Number {
        self.contexts.mask(&mut self.table, number, care)
    }

    fn within_limits(&self) -> Result<(), Unknown> {
        if self.table.is_exhausted() { Err(Unknown::TooLong) } else { Ok(()) }
    }

    /// Numbers a region of both functions: the code up to the first loop of each, the two loops, and so on. Returns the
    /// lanes that both discard. `around` is the mask of lanes that execute the region.
    fn region(&mut self, steps: [&[Step<'_>]; 2], around: [Number; 2]) -> Result<Number, Unknown> {
        let mut effects = [Effects::default(), Effects::default()];
        let mut at = [0, 0];
        loop {
            let mut loops = [None, None];
            for side in 0..2 {
                while let Some(step) = steps[side].get(at[side]) {
                    at[side] += 1;
                    match *step {
                        Step::Loop(repeat, mask) => {
                            let executing = match mask {
                                Some(mask) => self.number(side, mask),
                                None => around[side],
                            };
                            loops[side] = Some((repeat, executing));
                            break;
                        }
                        Step::Phis(branch) => self.phis(side, branch),
                        Step::Plain(stmt) => self.plain(side, stmt, &mut effects[side])?,
                    }
                }
            }
            match loops {
                [Some(a), Some(b)] => self.pair([a.0, b.0], [a.1, b.1])?,
                [None, None] => break,
                _ => return Err(Unknown::Loops),
            }
        }
        for effects in &mut effects {
            effects.discarded = self.mask(effects.discarded, EVERY);
            for (_, mask) in &mut effects.counts {
                *mask = self.contexts.mask(&mut self.table, *mask, EVERY);
            }
            effects.counts.sort_unstable();
        }
        self.within_limits()?;
        let discarded = [0, 1].map(|side| effects[side].discarded);
        if discarded[0] != discarded[1] {
            return Err(self.parting("which pixels are discarded", discarded));
        }
        if effects[0].counts != effects[1].counts {
            return Err(Unknown::Counts);
        }
        Ok(discarded[0])
    }

    fn plain(&mut self, side: usize, stmt: &Stmt, effects: &mut Effects) -> Result<(), Unknown> {
        match stmt {
            Stmt::Def(value, inst) => {
                let args: Vec<Number> =
                    inst.args().iter().map(|&arg| self.number(side, arg)).collect();
                let number = match (inst.opcode, self.functions[side].values[*value].ty) {
                    (Opcode::Select, ty) => self.select(ty, [args[0], args[1], args[2]]),
                    (Opcode::Input { input, channel }, _) => self.input(side, input, channel),
                    (opcode, _) => self.table.raw(opcode, &args),
                };
                self.set(side, *value, number);
            }
            Stmt::Fetch(fetch) => {
                let reads = fetch.strq.iter().chain(&fetch.dx).chain(&fetch.dy);
                let reads: Vec<Number> = reads
                    .chain([&fetch.active])
                    .map(|&operand| self.number(side, operand))
                    .collect();
                let differs = self.known.textures()[usize::from(fetch.unit)].differs;
                let fetched = Fetched {
                    side: differs.then_some(SIDES[side]),
                    unit: fetch.unit,
                    op: TexOp::code(fetch.op),
                    unscaled: fetch.unscaled,
                };
                for (channel, texel) in (0u8..).zip(fetch.texel) {
                    if let Some(value) = texel {
                        let node = Node::Texel(fetched, reads.clone(), channel);
                        let number = self.table.intern(node);
                        self.set(side, value, number);
                    }
                }
            }
            Stmt::Discard(mask) => {
                let mask = self.number(side, *mask);
                effects.discarded = self.table.raw(Opcode::Or, &[effects.discarded, mask]);
            }
            Stmt::Stat { channel, mask } => {
                let mask = self.number(side, *mask);
                effects.counts.push((*channel, mask));
            }
            Stmt::GroupHazard(_) => {
                return Err(Unknown::Group { side: SIDES[side] });
            }
            // Both programs are structured, so they terminate; the number of executed instructions is not compared.
            Stmt::ConsumeFuel { .. } => {}
            Stmt::If(_) | Stmt::Loop(_) => unreachable!("regions have been flattened"),
        }
        Ok(())
    }

    /// Returns the number of a channel of an input, by its index in the bindings.
    fn input(&mut self, side: usize, input: u8, channel: u8) -> Number {
        let temp = self.temps[usize::from(input)];
        match self.known.input(SIDES[side], temp, channel) {
            InputValue::Number(x) => self.table.constant(x.to_bits()),
            InputValue::Any(index) => self.table.intern(Node::Input(index)),
        }
    }

    /// Numbers the phis of a branch: selects by the masks of its arms.
    fn phis(&mut self, side: usize, branch: &If) {
        let masks = branch.masks.map(|mask| self.number(side, mask));
        for phi in &branch.phis {
            let ty = self.functions[side].values[phi.value].ty;
            let mut number = match (phi.incoming, ty) {
                (Some(incoming), _) => self.number(side, incoming),
                (None, Type::Mask) => NONE,
                (None, Type::F32) => UNUSED,
            };
            for (mask, arm) in masks.into_iter().zip(phi.arms).rev() {
                if let Some(arm) = arm {
                    let arm = self.number(side, arm);
                    number = self.select(ty, [mask, arm, number]);
                }
            }
            self.set(side, phi.value, number);
        }
    }

    /// Numbers a pair of loops. `around` is the mask of lanes that enter them.
    fn pair(&mut self, loops: [&Loop; 2], around: [Number; 2]) -> Result<(), Unknown> {
        self.pairs += 1;
        let id = self.pairs;
        let entering = [0, 1].map(|side| self.mask(around[side], EVERY));
        let active = loops.map(active_param);
        if active[0].is_some() != active[1].is_some() {
            return Err(Unknown::Trips { addresses: self.loop_locations(loops) });
        }
        let bodies = loops.map(|repeat| {
            let mut steps = Vec::new();
            flatten(&repeat.body, None, &mut steps);
            steps
        });
        let mut refinement = Refinement { id, loops, active, around: [EVERY; 2] };
        // Without a mask parameter, the lanes that enter a loop execute every iteration.
        if active[0].is_none() && entering[0] == entering[1] {
            refinement.around = around;
        }
        let members = refinement.members();
        let begin = [0, 1].map(|side| match active[side] {
            Some(param) => self.number(side, loops[side].params[param].init),
            None => refinement.around[side],
        });
        let inits = self.halves(&refinement, &members, begin, |param| param.init);
        let mut classes = partition(members.iter().map(Member::kind).zip(inits));
        // The values of a body get new numbers in every round.
        for round in 0u32.. {
            let executing = self.carry(&refinement, &members, &classes, Some(round));
            self.region([&bodies[0], &bodies[1]], executing)?;
            let next = [0, 1].map(|side| match active[side] {
                Some(param) => self.number(side, loops[side].params[param].next),
                None => refinement.around[side],
            });
            let nexts = self.halves(&refinement, &members, next, |param| param.next);
            let refined = partition(classes.iter().copied().zip(nexts));
            let stable = count(&refined) == count(&classes);
            classes = refined;
            if stable {
                break;
            }
        }
        let trips = loops.map(|repeat| repeat.max_trips);
        let masks = [0, 1].map(|side| match loops[side].continue_mask {
            Some(mask) => {
                let mask = self.number(side, mask);
                self.mask(mask, EVERY)
            }
            None => EVERY,
        });
        self.within_limits()?;
        if masks[0] != masks[1] {
            return Err(self.parting("how often a loop iterates", masks));
        }
        let differ = |side: usize| {
            let at = members.iter().position(|member| member.is_active(side, &active));
            at.map(|at| classes[at])
        };
        if trips[0] != trips[1] || differ(0) != differ(1) {
            return Err(Unknown::Trips { addresses: self.loop_locations(loops) });
        }
        self.carry(&refinement, &members, &classes, None);
        Ok(())
    }

    /// Returns the canonical form of each member, given the masks of lanes that execute the iteration.
    fn halves(
        &mut self,
        refinement: &Refinement<'_>,
        members: &[Member],
        executing: [Number; 2],
        of: impl Fn(&r500_ir::LoopParam) -> Operand,
    ) -> Vec<Number> {
        let executing = executing.map(|mask| self.mask(mask, EVERY));
        let resting = executing.map(|mask| self.table.not(mask));
        members
            .iter()
            .map(|member| {
                let side = member.side;
                let number = self.number(side, of(&refinement.loops[side].params[member.param]));
                let care = match member.half {
                    Half::Both => EVERY,
                    Half::Executing => executing[side],
                    Half::Resting => resting[side],
                };
                self.canonical(number, Context::within(care))
            })
            .collect()
    }

    /// Numbers the parameters of both loops by their classes. Returns the masks of lanes that execute the iteration.
    fn carry(
        &mut self,
        refinement: &Refinement<'_>,
        members: &[Member],
        classes: &[u32],
        round: Option<u32>,
    ) -> [Number; 2] {
        let Refinement { id, loops, active, around } = *refinement;
        let mut executing = around;
        let mut value = None;
        for (member, &class) in members.iter().zip(classes) {
            let side = member.side;
            let param = &loops[side].params[member.param];
            let is_mask = self.functions[side].values[param.value].ty == Type::Mask;
            let node = Node::Carried(Carried { pair: id, round, class, is_mask });
            let number = self.table.intern(node);
            // Order of members: the mask of the loop, then both halves of each parameter.
            match (member.half, value.take()) {
                (Half::Both, _) => {
                    if member.is_active(side, &active) {
                        executing[side] = number;
                    }
                    self.set(side, param.value, number);
                }
                (Half::Executing, _) => value = Some(number),
                (Half::Resting, inside) => {
                    let inside = inside.expect("the other half comes first");
                    let ty = if is_mask { Type::Mask } else { Type::F32 };
                    let number = self.select(ty, [executing[side], inside, number]);
                    self.set(side, param.value, number);
                }
            }
        }
        executing
    }

    /// Compares the outputs of pixels that are not discarded.
    fn outputs(&mut self, kept: Number) -> Result<(), Unknown> {
        for target in 0..4 {
            let colors = [0, 1].map(|side| self.functions[side].colors[target]);
            let name = char::from(b"ABCD"[target]);
            match colors {
                [Some(a), Some(b)] => {
                    for (channel, (a, b)) in a.into_iter().zip(b).enumerate() {
                        let letter = char::from(b"rgba"[channel]);
                        self.same(&format!("target {name}, {letter}"), [a, b], kept)?;
                    }
                }
                [None, None] => {}
                _ => return Err(Unknown::Outputs { what: format!("target {name}") }),
            }
        }
        match [0, 1].map(|side| self.functions[side].depth) {
            [Some(a), Some(b)] => {
                self.same("which pixels write depth", [a.1, b.1], kept)?;
                let written = self.number(0, a.1);
                let written = self.mask(written, EVERY);
                let kept = self.table.and(kept, written);
                self.same("depth", [a.0, b.0], kept)
            }
            [None, None] => Ok(()),
            _ => Err(Unknown::Outputs { what: "depth".to_owned() }),
        }
    }

    fn same(&mut self, what: &str, operands: [Operand; 2], care: Number) -> Result<(), Unknown> {
        let numbers = [0, 1].map(|side| {
            let number = self.number(side, operands[side]);
            self.canonical(number, Context { care, fp: self.output_bits })
        });
        self.within_limits()?;
        if numbers[0] == numbers[1] { Ok(()) } else { Err(self.parting(what, numbers)) }
    }

    /// Returns the innermost pair of values at which two results differ: descends into the first differing operands
    /// while the operations are equal.
    fn parting(&self, what: &str, numbers: [Number; 2]) -> Unknown {
        let mut pair = numbers;
        while let Some(inner) = self.table.first_difference(pair) {
            pair = inner;
        }
        let location = |side: usize| {
            [pair[side], numbers[side]].into_iter().find_map(|number| {
                let known = &self.locations[side];
                known.get(&number).or_else(|| known.get(&self.contexts.source(number)?)).copied()
            })
        };
        Unknown::Values { what: what.to_owned(), addresses: [location(0), location(1)] }
    }

    /// Returns the address of the first instruction in each loop that computes a value.
    fn loop_locations(&self, loops: [&Loop; 2]) -> [Option<u32>; 2] {
        [0, 1].map(|side| {
            loops[side].body.iter().find_map(|stmt| match stmt {
                Stmt::Def(value, _) => Some(self.functions[side].values[*value].source_loc),
                Stmt::Fetch(fetch) => Some(fetch.address),
                _ => None,
            })
        })
    }
}

/// Partition refinement of the parameters of a pair of loops.
struct Refinement<'a> {
    id: u32,
    loops: [&'a Loop; 2],
    /// The parameter that is the mask of lanes that execute an iteration.
    active: [Option<usize>; 2],
    /// That mask for loops without such a parameter.
    around: [Number; 2],
}

/// A member of the partition: a parameter of one of the loops in some lanes.
#[derive(Clone, Copy)]
struct Member {
    side: usize,
    param: usize,
    half: Half,
}

#[derive(Clone, Copy, PartialEq)]
enum Half {
    /// All lanes: for the mask that separates the other two.
    Both,
    /// The lanes that execute the iteration.
    Executing,
    /// The other lanes.
    Resting,
}

impl Refinement<'_> {
    fn members(&self) -> Vec<Member> {
        let mut members = Vec::new();
        for side in 0..2 {
            if let Some(param) = self.active[side] {
                members.push(Member { side, param, half: Half::Both });
            }
            for param in
                (0..self.loops[side].params.len()).filter(|&n| Some(n) != self.active[side])
            {
                members.push(Member { side, param, half: Half::Executing });
                members.push(Member { side, param, half: Half::Resting });
            }
        }
        members
    }
}

impl Member {
    /// Returns the kind of half: only members of the same kind are compared.
    fn kind(&self) -> u32 {
        match self.half {
            Half::Both => 0,
            Half::Executing => 1,
            Half::Resting => 2,
        }
    }

    fn is_active(&self, side: usize, active: &[Option<usize>; 2]) -> bool {
        self.side == side && active[side] == Some(self.param)
    }
}

/// Returns the parameter that is the mask of lanes that execute an iteration: its next value is the loop condition.
fn active_param(repeat: &Loop) -> Option<usize> {
    let mask = repeat.continue_mask?;
    repeat.params.iter().position(|param| param.next == mask)
}

/// Partitions by equal keys, and numbers the classes in order of their first member.
fn partition(keys: impl Iterator<Item = (u32, Number)>) -> Vec<u32> {
    let mut known: BTreeMap<(u32, Number), u32> = BTreeMap::new();
    keys.map(|key| {
        let next = u32::try_from(known.len()).expect("a loop has less than 2^32 parameters");
        *known.entry(key).or_insert(next)
    })
    .collect()
}

fn count(classes: &[u32]) -> usize {
    classes.iter().max().map_or(0, |&last| last as usize + 1)
}
