//! The optimiser of vertex programs: what is rewritten, in which order, and what of it is kept.

use r500_chip::values::FlowOp;
use r500_pvs::{Addressing, Controls, Instruction, Program, Src, SrcType};

use super::allocate::allocate;
use super::cost::Cost;
use super::encode::encode;
use super::ir::Block;
use super::layout::{Layout, Rewritten};
use super::lift::{lift, obstacle};
use super::liveness::{Cells, file_written, live};
use super::lower;
use super::pair::pair;
use super::passes::{common, copies, dead, pack, sums, tables};

/// The result of an optimisation.
#[derive(Clone, Debug)]
pub struct Optimized {
    /// The optimised program, or the given one if nothing is better.
    pub program: Program,
    /// Costs of the given program and of the result.
    pub cost: [Cost; 2],
    /// Rewritten stretches, in the order of the program.
    pub changes: Vec<Change>,
    /// What stays as it is, and why.
    pub kept: Vec<Kept>,
    /// For each instruction of the result, the numbers of the original instructions that it computes.
    pub origins: Vec<Vec<usize>>,
}

/// A rewritten stretch of straight code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Numbers of the original's instructions: the first, and the one after the last.
    pub before: (usize, usize),
    /// Numbers of the result's.
    pub after: (usize, usize),
    /// The passes that changed something, in their order.
    pub passes: Vec<&'static str>,
}

/// Instructions that stay as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Numbers of the original's instructions: the first, and the one after the last.
    pub instructions: (usize, usize),
    /// The reason.
    pub why: &'static str,
}

/// A pass.
#[derive(Clone, Copy, Debug)]
pub struct PassInfo {
    /// Name.
    pub name: &'static str,
    /// What it does.
    pub what: &'static str,
    /// Why the rewrite is sound.
    pub why: &'static str,
    kind: PassKind,
}

#[derive(Clone, Copy, Debug)]
enum PassKind {
    /// A rewrite of a block, which returns whether it changed anything.
    Rewrite(fn(&mut Block) -> bool),
    /// After the rewrites.
    Pairs,
}

/// The passes, in order.
#[rustfmt::skip]
const PASSES: &[PassInfo] = &[
    PassInfo {
        name: "dead",
        what: "components that nothing reads are not computed",
        why: "no output depends on them",
        kind: PassKind::Rewrite(|block| {
            let lanes = |block: &Block| block.nodes.iter().map(|node| node.lanes.len()).sum::<usize>();
            let before = lanes(block);
            dead::remove(block);
            lanes(block) != before
        }),
    },
    PassInfo {
        name: "common",
        what: "what is computed twice is computed once",
        why: "the same operation on the same operands has the same bits",
        kind: PassKind::Rewrite(common::eliminate),
    },
    PassInfo {
        name: "copies",
        what: "readers of a copy read what it copies",
        why: "the copy differs in signs of zeros and in denormals only, and the reader shows neither",
        kind: PassKind::Rewrite(copies::propagate),
    },
    PassInfo {
        name: "tables",
        what: "what depends on one comparison is one sum; numbers are operands",
        why: "both results of the comparison were tried",
        kind: PassKind::Rewrite(tables::fold),
    },
    PassInfo {
        name: "coalesce",
        what: "what is only copied to an output is computed there",
        why: "the copy has the same bits",
        kind: PassKind::Rewrite(copies::coalesce),
    },
    PassInfo {
        name: "mads",
        what: "a product and a sum become a multiply-add",
        why: "a multiply-add rounds its product before its sum",
        kind: PassKind::Rewrite(sums::multiply_adds),
    },
    PassInfo {
        name: "dots",
        what: "a product and multiply-adds of one component become a dot product",
        why: "a dot product adds its products in their order, each step rounded",
        kind: PassKind::Rewrite(sums::dots),
    },
    PassInfo {
        name: "pack",
        what: "operations on components of one register or output become one",
        why: "each component is computed from the same operands",
        kind: PassKind::Rewrite(pack::join),
    },
    PassInfo {
        name: "pairs",
        what: "an operation of the math engine is executed with one of the vector engine",
        why: "both read their operands before they write, and nothing between depends on either",
        kind: PassKind::Pairs,
    },
];

/// Returns the passes, in order; new temporaries come after them.
#[must_use]
pub fn passes() -> &'static [PassInfo] {
    PASSES
}

/// Most repetitions of all passes: each that changes something leaves fewer operations, components or reads.
const ROUNDS: usize = 64;

/// Search steps in one stretch: operations of all rewrites that are tried.
const STEPS: u64 = 1_000_000;

/// Optimises a program. The result depends on the program and the names of passes only; all run if there are no names. The result has no
/// more instructions, clocks or temporaries than the program.
#[must_use]
pub fn optimize(program: &Program, only: &[String]) -> Optimized {
    let (base, code) = program.instructions();
    let cost = Cost::of(code);
    let unchanged = |kept: Vec<Kept>| Optimized {
        program: program.clone(),
        cost: [cost, cost],
        changes: Vec::new(),
        kept,
        origins: (base..).take(code.len()).map(|n| vec![n]).collect(),
    };
    if let Some(why) = obstacle_of_program(program) {
        return unchanged(vec![Kept { instructions: (base, base + code.len()), why }]);
    }
    let controls = program.controls();
    let lives = live(base, code, controls);
    let mut layout = Layout::new(base, controls);
    let (mut changes, mut kept): (Vec<Change>, Vec<Kept>) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < code.len() {
        let end = stretch(code, at, |n| layout.is_boundary(base + n));
        if end == at {
            let why = obstacle(code[at]).unwrap_or(UNREADABLE);
            match kept.last_mut().filter(|kept| kept.instructions.1 == base + at && kept.why == why)
            {
                Some(kept) => kept.instructions.1 += 1,
                None => kept.push(Kept { instructions: (base + at, base + at + 1), why }),
            }
            layout.keep(base + at, code[at]);
            at += 1;
            continue;
        }
        let stretch = Stretch {
            first: base + at,
            code: &code[at..end],
            live_in: &lives[at],
            live_out: &lives[end],
            temporaries: cost.temporaries,
            may_be_empty: controls.flow.is_empty(),
        };
        match stretch.optimize(only) {
            Some((better, passes)) => {
                let first = layout.next();
                layout.replace(base + at, &better);
                let (before, after) = ((base + at, base + end), (first, layout.next()));
                changes.push(Change { before, after, passes });
            }
            None => (at..end).for_each(|n| layout.keep(base + n, code[n])),
        }
        at = end;
    }
    let Some((result, origins)) = layout.finish(program) else { return unchanged(kept) };
    let after = Cost::of(result.instructions().1);
    if changes.is_empty() || !after.improves(&cost) {
        return unchanged(kept);
    }
    Optimized { program: result, cost: [cost, after], changes, kept, origins }
}

const UNREADABLE: &str =
    "instructions with operands that only some chips can read stay as they are";

/// Returns why a program stays as it is.
fn obstacle_of_program(program: &Program) -> Option<&'static str> {
    let Controls { range, flow, .. } = program.controls();
    let (base, code) = program.instructions();
    if flow.iter().any(|flow| flow.op != FlowOp::LOOP) {
        return Some("programs with jumps or calls stay as they are");
    }
    let (first, last) = (usize::from(range.pvs_first_inst()), usize::from(range.pvs_last_inst()));
    if code.is_empty() || base != first || first + code.len() != last + 1 {
        return Some("programs that are not all of their code window stay as they are");
    }
    let inside = first..first + code.len();
    let is_regular = |flow: &r500_pvs::Flow| {
        let [begin, end, target] =
            [flow.low.act_adrs().wrapping_add(1), flow.high.last_inst(), flow.high.rtn_inst()]
                .map(usize::from);
        inside.contains(&begin)
            && inside.contains(&end)
            && inside.contains(&target)
            && begin <= end
            && target <= end
    };
    if !flow.iter().all(is_regular) {
        return Some(
            "loops that leave the code window, or end before they begin, stay as they are",
        );
    }
    let is_relative = |src: &Src| {
        let is_register = !matches!(src.reg_type(), SrcType::INPUT | SrcType::CONSTANT);
        is_register && src.addressing() != Addressing::Absolute
    };
    let addresses_registers = |inst: &Instruction| {
        let dual = inst.dual_math().map(|dual| dual.source());
        let writes = file_written(inst.dst().reg_type()).is_some()
            && inst.dst().addressing() != Addressing::Absolute;
        // All three, as the interpreter reads them.
        writes || inst.sources().iter().chain(&dual).any(is_relative)
    };
    code.iter()
        .any(addresses_registers)
        .then_some("programs that address temporaries relatively stay as they are")
}

/// Returns the end of the stretch of straight code that begins at an instruction.
fn stretch(code: &[Instruction], at: usize, is_boundary: impl Fn(usize) -> bool) -> usize {
    let is_end = |n: &usize| {
        *n > at && is_boundary(*n) || obstacle(code[*n]).is_some() || !is_readable(code[*n])
    };
    (at..code.len()).find(is_end).unwrap_or(code.len())
}

/// Returns whether an instruction reads what one can: one constant, one input, and so on.
fn is_readable(inst: Instruction) -> bool {
    let none = Cells::default();
    lower::instructions(&lift(0, &[inst], &none, &none)).is_some()
}

/// Straight code.
struct Stretch<'a> {
    first: usize,
    code: &'a [Instruction],
    live_in: &'a Cells,
    live_out: &'a Cells,
    /// Temporaries that the program has.
    temporaries: usize,
    /// Whether nothing may remain of it.
    may_be_empty: bool,
}

impl Stretch<'_> {
    /// Returns better code and the passes that changed something; `None` if there is none.
    fn optimize(&self, only: &[String]) -> Option<(Rewritten, Vec<&'static str>)> {
        let block = lift(self.first, self.code, self.live_in, self.live_out);
        let is_chosen = |name: &str| only.is_empty() || only.iter().any(|other| other == name);
        let chosen: Vec<&PassInfo> = PASSES.iter().filter(|pass| is_chosen(pass.name)).collect();
        // With fewer passes if what they make does not fit into the temporaries.
        let attempts: [&[&str]; 4] =
            [&[], &["pack"], &["pack", "common"], &["pack", "common", "copies", "dots"]];
        let mut best: Option<(Cost, Rewritten, Vec<&'static str>)> = None;
        for without in attempts {
            let mut block = block.clone();
            block.refuel(STEPS);
            let mut passes = run(
                &mut block,
                chosen.iter().copied().filter(|pass| !without.contains(&pass.name)),
            );
            for pairs in [true, false] {
                if pairs && !is_chosen("pairs") {
                    continue;
                }
                let Some(rewritten) = self.code_of(&block, pairs) else { continue };
                let words: Vec<Instruction> = rewritten.iter().map(|(inst, _)| *inst).collect();
                let cost = Cost::of(&words);
                if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                    if rewritten.iter().any(|(inst, _)| inst.dual_math().is_some()) && pairs {
                        passes.push("pairs");
                    }
                    best = Some((cost, rewritten, passes.clone()));
                }
            }
            if best.is_some() {
                break;
            }
        }
        let (cost, rewritten, passes) = best?;
        let is_empty = rewritten.is_empty() && !self.may_be_empty;
        let is_better = cost.improves(&Cost::of(self.code)) && !is_empty;
        is_better.then_some((rewritten, passes))
    }

    /// Returns the instructions of a block; `None` if there are too few temporaries.
    fn code_of(&self, block: &Block, pairs: bool) -> Option<Rewritten> {
        let mut insts = lower::instructions(block)?;
        if pairs {
            pair(&mut insts, &mut []);
        }
        let homes = allocate(&insts, &[], self.temporaries, &lower::numbered(block)).ok()?;
        let words = encode(&insts, &homes);
        let origins = insts.iter().map(|inst| {
            let dual = inst.dual.iter().flat_map(|dual| &dual.origin);
            let mut origins: Vec<usize> = inst.origin.iter().chain(dual).copied().collect();
            origins.sort_unstable();
            origins.dedup();
            origins
        });
        Some(words.into_iter().zip(origins).collect())
    }
}

/// Runs passes until none changes anything. Returns those that did.
fn run<'a>(
    block: &mut Block,
    passes: impl Iterator<Item = &'a PassInfo> + Clone,
) -> Vec<&'static str> {
    let mut changed: Vec<&'static str> = Vec::new();
    for _ in 0..ROUNDS {
        let mut is_changed = false;
        for pass in passes.clone() {
            let mut steps = 0;
            let PassKind::Rewrite(rewrite) = pass.kind else { continue };
            while rewrite(block) {
                is_changed = true;
                if !changed.contains(&pass.name) {
                    changed.push(pass.name);
                }
                steps += 1;
                if steps > 4 * r500_pvs::INSTRUCTIONS {
                    break;
                }
            }
        }
        if !is_changed {
            break;
        }
    }
    changed
}
