//! Numbering of two functions side by side.
//!
//! Branches are flattened: their arms compute values that only the phis select from. Loops are paired in order.
//! The parameters of a pair are numbered by *partition refinement*: all that begin alike are taken to be equal, the
//! bodies are numbered under that assumption, and classes whose members have different next values are split, until none is.
//! What remains in one class is equal in every iteration, by induction, given that both loops iterate equally often;
//! so values may be carried in any order, and in any number.

use std::collections::BTreeMap;

use r500_ir::{Function, If, Loop, Operand, Stmt};

use super::numbering::{Node, Number, Table};
use super::{Side, Unknown};

/// Nodes that a proof may make.
const MOST_NODES: usize = 2_000_000;

/// A step of the flattened code of a region.
#[derive(Clone, Copy)]
enum Step<'a> {
    /// A statement without regions.
    Plain(&'a Stmt),
    /// The phis of a branch, after both arms.
    Phis(&'a If),
    Loop(&'a Loop),
}

fn flatten<'a>(stmts: &'a [Stmt], steps: &mut Vec<Step<'a>>) {
    for stmt in stmts {
        match stmt {
            Stmt::If(branch) => {
                branch.arms.iter().for_each(|arm| flatten(arm, steps));
                steps.push(Step::Phis(branch));
            }
            Stmt::Loop(repeat) => steps.push(Step::Loop(repeat)),
            _ => steps.push(Step::Plain(stmt)),
        }
    }
}

/// What a region does beyond its values.
#[derive(Default, PartialEq)]
struct Effects {
    discards: Vec<Number>,
    /// Channel of `STAT_WE`, and mask.
    counts: Vec<(u8, Number)>,
}

struct Prover<'a> {
    table: Table,
    functions: &'a [Function; 2],
    /// Number by value, of each function.
    numbers: [Vec<Option<Number>>; 2],
    /// The first instruction that computes a number, in each program.
    locations: [BTreeMap<Number, u32>; 2],
    loops: u32,
}

/// Compares two functions.
///
/// # Errors
/// [`Unknown`] where something has different numbers.
pub(super) fn compare(functions: &[Function; 2]) -> Result<(), Unknown> {
    let mut prover = Prover {
        table: Table::default(),
        functions,
        numbers: functions.each_ref().map(|function| vec![None; function.values.len()]),
        locations: Default::default(),
        loops: 0,
    };
    for (side, function) in functions.iter().enumerate() {
        for uniform in &function.uniforms {
            let number = prover.table.uniform(uniform.source);
            prover.set(side, uniform.value, number);
        }
    }
    let [a, b] = functions.each_ref().map(|function| {
        let mut steps = Vec::new();
        flatten(&function.body, &mut steps);
        steps
    });
    prover.region([&a, &b])?;
    prover.outputs()
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
            // Of a loop without a pair nothing is known; every such value is of its own kind.
            Operand::Value(value) => match self.numbers[side][value.0 as usize] {
                Some(number) => number,
                None => {
                    let number = self.fresh();
                    self.set(side, value, number);
                    number
                }
            },
        }
    }

    fn fresh(&mut self) -> Number {
        self.loops += 1;
        self.table.intern(Node::Exit(self.loops, 0))
    }

    /// Numbers a region of both functions: code up to the first loop of each, the two loops, and so on.
    fn region(&mut self, steps: [&[Step<'_>]; 2]) -> Result<(), Unknown> {
        let mut effects = [Effects::default(), Effects::default()];
        let mut at = [0, 0];
        loop {
            let mut loops = [None, None];
            for side in 0..2 {
                while let Some(step) = steps[side].get(at[side]) {
                    at[side] += 1;
                    match *step {
                        Step::Loop(repeat) => {
                            loops[side] = Some(repeat);
                            break;
                        }
                        Step::Phis(branch) => self.phis(side, branch),
                        Step::Plain(stmt) => self.plain(side, stmt, &mut effects[side])?,
                    }
                }
            }
            match loops {
                [Some(a), Some(b)] => self.pair([a, b])?,
                [None, None] => break,
                _ => return Err(self.unknown("the number of loops".to_owned(), [0, 0])),
            }
        }
        for effects in &mut effects {
            let masks = std::mem::take(&mut effects.discards);
            effects.discards.push(self.table.any(&masks));
            effects.counts.sort_unstable();
        }
        if effects[0] != effects[1] {
            let first = [0, 1].map(|side| effects[side].discards[0]);
            return Err(self.parting("which pixels are discarded", first));
        }
        if self.table.len() > MOST_NODES {
            return Err(self.unknown("too many values".to_owned(), [0, 0]));
        }
        Ok(())
    }

    fn plain(&mut self, side: usize, stmt: &Stmt, effects: &mut Effects) -> Result<(), Unknown> {
        match stmt {
            Stmt::Def(value, inst) => {
                let args: Vec<Number> =
                    inst.args().iter().map(|&arg| self.number(side, arg)).collect();
                let number = self.table.inst(inst, &args);
                self.set(side, *value, number);
            }
            Stmt::Fetch(fetch) => {
                let reads = fetch.strq.iter().chain(&fetch.dx).chain(&fetch.dy).copied();
                let reads: Vec<Operand> = reads.chain([fetch.active]).collect();
                let reads: Vec<Number> =
                    reads.into_iter().map(|operand| self.number(side, operand)).collect();
                for (channel, texel) in (0u8..).zip(fetch.texel) {
                    if let Some(value) = texel {
                        let number = self.table.texel(fetch, reads.clone(), channel);
                        self.set(side, value, number);
                    }
                }
            }
            Stmt::Discard(mask) => {
                let mask = self.number(side, *mask);
                effects.discards.push(mask);
            }
            Stmt::Stat { channel, mask } => {
                let mask = self.number(side, *mask);
                effects.counts.push((*channel, mask));
            }
            Stmt::GroupHazard(_) => {
                return Err(Unknown::Group { side: [Side::A, Side::B][side] });
            }
            Stmt::ConsumeFuel { .. } | Stmt::If(_) | Stmt::Loop(_) => {}
        }
        Ok(())
    }

    /// A phi is a select by the masks of its arms.
    fn phis(&mut self, side: usize, branch: &If) {
        let masks = branch.masks.map(|mask| self.number(side, mask));
        for phi in &branch.phis {
            let arms = phi.arms.map(|arm| arm.map(|arm| self.number(side, arm)));
            let incoming = match phi.incoming {
                Some(incoming) => Some(self.number(side, incoming)),
                // Only lanes of the arms are used: an arm may stand for the others.
                None => arms[1].or(arms[0]),
            };
            let mut number = incoming.unwrap_or_else(|| self.table.intern(Node::Unused));
            for (mask, arm) in masks.into_iter().zip(arms).rev() {
                if let Some(arm) = arm {
                    number = self.table.select(mask, arm, number);
                }
            }
            self.set(side, phi.value, number);
        }
    }

    /// Numbers a pair of loops.
    fn pair(&mut self, loops: [&Loop; 2]) -> Result<(), Unknown> {
        self.loops += 1;
        let id = self.loops;
        let params: Vec<(usize, usize)> = (0..2)
            .flat_map(|side| (0..loops[side].params.len()).map(move |param| (side, param)))
            .collect();
        let bodies = loops.map(|repeat| {
            let mut steps = Vec::new();
            flatten(&repeat.body, &mut steps);
            steps
        });
        let inits: Vec<Number> = params
            .iter()
            .map(|&(side, param)| self.number(side, loops[side].params[param].init))
            .collect();
        let mut classes = partition(inits.iter().map(|&init| (0, init)));
        // Values of a body get new numbers in every round.
        for round in 0u32.. {
            for (&(side, param), &class) in params.iter().zip(&classes) {
                let number = self.table.intern(Node::Param(id, round, class));
                self.set(side, loops[side].params[param].value, number);
            }
            self.region([&bodies[0], &bodies[1]])?;
            let nexts: Vec<Number> = params
                .iter()
                .map(|&(side, param)| self.number(side, loops[side].params[param].next))
                .collect();
            let refined = partition(classes.iter().copied().zip(nexts));
            let stable = count(&refined) == count(&classes);
            classes = refined;
            if stable {
                break;
            }
        }
        let trips = loops.map(|repeat| repeat.max_trips);
        let masks =
            [0, 1].map(|side| loops[side].continue_mask.map(|mask| self.number(side, mask)));
        if trips[0] != trips[1] || masks[0] != masks[1] {
            let masks = masks.map(|mask| mask.unwrap_or_default());
            return Err(self.parting("how often a loop iterates", masks));
        }
        for (&(side, param), &class) in params.iter().zip(&classes) {
            let number = self.table.intern(Node::Exit(id, class));
            self.set(side, loops[side].params[param].value, number);
        }
        Ok(())
    }

    fn outputs(&mut self) -> Result<(), Unknown> {
        for target in 0..4 {
            let colors = [0, 1].map(|side| self.functions[side].colors[target]);
            let name = char::from(b"ABCD"[target]);
            match colors {
                [Some(a), Some(b)] => {
                    for (channel, (a, b)) in a.into_iter().zip(b).enumerate() {
                        let letter = char::from(b"rgba"[channel]);
                        self.same(&format!("target {name}, {letter}"), [a, b])?;
                    }
                }
                [None, None] => {}
                _ => return Err(self.unknown(format!("target {name}"), [0, 0])),
            }
        }
        match [0, 1].map(|side| self.functions[side].depth) {
            [Some(a), Some(b)] => {
                self.same("depth", [a.0, b.0])?;
                self.same("which pixels write depth", [a.1, b.1])
            }
            [None, None] => Ok(()),
            _ => Err(self.unknown("depth".to_owned(), [0, 0])),
        }
    }

    fn same(&mut self, what: &str, operands: [Operand; 2]) -> Result<(), Unknown> {
        let numbers = [0, 1].map(|side| self.number(side, operands[side]));
        if numbers[0] == numbers[1] { Ok(()) } else { Err(self.parting(what, numbers)) }
    }

    /// Returns the innermost pair of values in which two parts differ: the same operation on other operands is
    /// followed to the first of these.
    fn parting(&self, what: &str, numbers: [Number; 2]) -> Unknown {
        let mut pair = numbers;
        while let Some(inner) = self.table.first_difference(pair) {
            pair = inner;
        }
        let location = |side: usize| {
            [pair[side], numbers[side]]
                .iter()
                .find_map(|number| self.locations[side].get(number).copied())
                .unwrap_or_default()
        };
        self.unknown(what.to_owned(), [location(0), location(1)])
    }

    fn unknown(&self, what: String, addresses: [u32; 2]) -> Unknown {
        Unknown::Values { what, addresses }
    }
}

/// Numbers the classes of equal keys, in order of their first member.
#[expect(clippy::expect_used, reason = "there are at most as many classes as loop parameters")]
fn partition(keys: impl Iterator<Item = (u32, Number)>) -> Vec<u32> {
    let mut known: BTreeMap<(u32, Number), u32> = BTreeMap::new();
    keys.map(|key| {
        let next = u32::try_from(known.len()).expect("fewer than 2^32 classes");
        *known.entry(key).or_insert(next)
    })
    .collect()
}

fn count(classes: &[u32]) -> usize {
    classes.iter().max().map_or(0, |&last| last as usize + 1)
}
