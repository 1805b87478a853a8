//! Pass pipeline: runs the passes in order until none lowers the cost.

use std::collections::HashSet;
use std::rc::Rc;

use r500_isa::TEMPORARIES;
use r500_isa::state::UsPixsize;
use r500_program::Program;

use crate::cost::Cost;
use crate::flow::{self, Analyses};
use crate::layout::Code;
use crate::predicates;
use crate::segment::{self, Passes, Task};
use crate::sync;

/// Optimisation level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Level {
    /// Branch simplification, copy propagation, comparison folding and dead-code elimination.
    O1,
    /// `O1`, scheduling and register assignment.
    #[default]
    O2,
    /// `O2` with a search of ten times as many steps.
    O3,
}

/// Optimiser options.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Which passes run, and how long the search takes.
    pub level: Level,
    /// Names of the passes to run; all if empty. Unknown names select nothing.
    pub only: Vec<String>,
    /// Permitted changes of results.
    pub allow: Vec<Allowance>,
    /// What the result may cost, where the program costs less: a compiler's output uses as few temporaries as it can, and no NOPs.
    /// `US_PIXSIZE` of the program must back the temporaries.
    pub allowed: Cost,
}

/// A permitted change of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Allowance {
    /// The sign of zeros in render targets and depth.
    ZeroSign,
}

impl Allowance {
    /// All allowances.
    pub const ALL: [Self; 1] = [Self::ZeroSign];

    /// Returns its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ZeroSign => "zero-sign",
        }
    }

    /// Returns a description of the permitted change.
    #[must_use]
    pub fn what(self) -> &'static str {
        match self {
            Self::ZeroSign => {
                "a zero in a render target or in depth may have the other sign; all else is exact"
            }
        }
    }
}

/// A pass of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassInfo {
    /// Name.
    pub name: &'static str,
    /// Description.
    pub what: &'static str,
    /// Why the rewrite is sound.
    pub why: &'static str,
    level: Level,
    kind: PassKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PassKind {
    BranchesToBreaks,
    RemoveEmpty,
    MergeEndifs,
    Predicates,
    Segments(Passes),
}

const DEAD: Passes = Passes {
    kills: false,
    copies: false,
    compares: false,
    selects: false,
    mads: false,
    coalesce: false,
    gathers: false,
    presubs: false,
    dead: true,
    schedule: false,
};
const ALL: Passes = Passes {
    kills: true,
    copies: true,
    compares: true,
    selects: true,
    mads: true,
    coalesce: true,
    gathers: true,
    presubs: true,
    dead: true,
    schedule: true,
};

/// The passes, in order.
#[rustfmt::skip]
const PIPELINE: &[PassInfo] = &[
    PassInfo {
        name: "branches",
        what: "IF c; BREAK; ENDIF becomes BREAK IF c",
        why: "each pixel leaves the loop on the same condition, at the same place",
        level: Level::O1,
        kind: PassKind::BranchesToBreaks,
    },
    PassInfo {
        name: "empty",
        what: "branches without instructions are removed, and so is ELSE before ENDIF",
        why: "no instruction depends on which pixels were active",
        level: Level::O1,
        kind: PassKind::RemoveEmpty,
    },
    PassInfo {
        name: "endifs",
        what: "ENDIFs in a row become one that closes several levels",
        why: "each pixel becomes active again at the same place",
        level: Level::O1,
        kind: PassKind::MergeEndifs,
    },
    PassInfo {
        name: "dead",
        what: "lanes that nothing reads are removed",
        why: "no result depends on them",
        level: Level::O1,
        kind: PassKind::Segments(DEAD),
    },
    PassInfo {
        name: "kills",
        what: "TEXKILLs of a few numbers become one",
        why: "a pixel is killed if any of the numbers is less than 0, wherever that is decided",
        level: Level::O1,
        kind: PassKind::Segments(Passes { kills: true, ..DEAD }),
    },
    PassInfo {
        name: "copies",
        what: "reads of copies and repeated operations become reads of their source",
        why: "the values have the same bits, up to signs of zeros that no reader shows",
        level: Level::O1,
        kind: PassKind::Segments(Passes { copies: true, ..DEAD }),
    },
    PassInfo {
        name: "compares",
        what: "comparisons read what is compared",
        why: "a comparison with zero gives the same for the copy and the source",
        level: Level::O1,
        kind: PassKind::Segments(Passes { copies: true, compares: true, ..DEAD }),
    },
    PassInfo {
        name: "selects",
        what: "selects read what a truth value was selected by",
        why: "the truth value is 1 exactly where the condition holds, and 0 elsewhere",
        level: Level::O1,
        kind: PassKind::Segments(Passes { copies: true, selects: true, ..DEAD }),
    },
    PassInfo {
        name: "mads",
        what: "a product and a sum become MAD",
        why: "MAD rounds its product before its sum",
        level: Level::O1,
        kind: PassKind::Segments(Passes { mads: true, ..DEAD }),
    },
    PassInfo {
        name: "coalesce",
        what: "what a copy copies is computed in its place, with its output modifier and clamp",
        why: "the copy has the same bits, up to signs of zeros that no reader shows",
        level: Level::O1,
        kind: PassKind::Segments(Passes { coalesce: true, ..DEAD }),
    },
    PassInfo {
        name: "gathers",
        what: "copies from several registers to one output become a product and a sum",
        why: "products with 1 and sums with 0 have the same bits, up to signs of zeros that no reader shows",
        level: Level::O1,
        kind: PassKind::Segments(Passes { gathers: true, ..DEAD }),
    },
    PassInfo {
        name: "schedule",
        what: "instructions are scheduled anew, with both halves and all lanes used",
        why: "the same operations run on the same operands, in an order that their dependences allow",
        level: Level::O2,
        kind: PassKind::Segments(ALL),
    },
    // After scheduling, which tries both alternatives: a scheduled read of a register finds a partner more easily.
    PassInfo {
        name: "presubs",
        what: "sums of two registers, 1 - x and 1 - 2x become operands",
        why: "the presubtract unit rounds as the sum does, up to signs of zeros that no reader shows",
        level: Level::O1,
        kind: PassKind::Segments(Passes { presubs: true, ..DEAD }),
    },
    // Last, because segments end at predicated instructions.
    PassInfo {
        name: "predicates",
        what: "short branches become predicated instructions",
        why: "each pixel executes the same instructions",
        level: Level::O1,
        kind: PassKind::Predicates,
    },
];

/// Returns the passes, in order.
#[must_use]
pub fn passes() -> &'static [PassInfo] {
    PIPELINE
}

/// An accepted rewrite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Name of the pass.
    pub pass: &'static str,
    /// Indices in the original program of the instructions that changed, ascending.
    pub before: Vec<u32>,
    /// Indices in the result of their replacements, ascending.
    pub after: Vec<u32>,
    /// Costs of the program before and after the rewrite.
    pub cost: [Cost; 2],
    /// Why the rewrite is sound.
    pub why: &'static str,
}

/// The result of an optimisation.
#[derive(Clone, Debug)]
pub struct Optimized {
    /// The optimised program, or the given one if no pass improves it.
    pub program: Program,
    /// Accepted rewrites, in order.
    pub changes: Vec<Change>,
    /// Costs of the given program and of the result.
    pub cost: [Cost; 2],
    /// For each instruction of the result, the indices of the original instructions that it replaces.
    pub origins: Vec<Vec<u32>>,
}

/// Search steps in one segment, below [`Level::O3`].
const STEPS: u64 = 200_000;
const STEPS_O3: u64 = 2_000_000;

/// Optimises a program. The result depends on the program and the options only, and the optimiser is idempotent.
#[must_use]
pub fn optimize(program: &Program, options: &Options) -> Optimized {
    let cost = Cost::of(program).unwrap_or_default();
    let analyses = Analyses::of(program).map(Rc::new);
    let origins = (0u32..).take(program.code.len()).map(|at| vec![at]).collect();
    let mut state = State {
        program: program.clone(),
        origins,
        given: cost.most(&options.allowed),
        pixsize: program.state.pixsize,
        cost,
        analyses,
        changes: Vec::new(),
        ignore_zero_signs: options.allow.contains(&Allowance::ZeroSign),
        in_vain: HashSet::new(),
    };
    let chosen: Vec<&PassInfo> = PIPELINE
        .iter()
        .filter(|pass| pass.level <= options.level)
        .filter(|pass| options.only.is_empty() || options.only.iter().any(|name| name == pass.name))
        .collect();
    let fuel = if options.level == Level::O3 { STEPS_O3 } else { STEPS };
    // Terminates: every accepted rewrite lowers the cost, and costs are well-ordered.
    while chosen.iter().any(|pass| state.run(pass, fuel)) {}
    let State { program: result, origins, cost: after, mut changes, .. } = state;
    for change in &mut changes {
        let stands_for =
            |at: &u32| origins[*at as usize].iter().any(|from| change.before.contains(from));
        change.after = (0u32..).take(origins.len()).filter(stands_for).collect();
    }
    Optimized { program: result, changes, cost: [cost, after], origins }
}

struct State {
    program: Program,
    origins: Vec<Vec<u32>>,
    /// Cost of the original program. No component of a result's cost exceeds it.
    given: Cost,
    /// `US_PIXSIZE` of the original program.
    pixsize: Option<UsPixsize>,
    cost: Cost,
    /// Of the program as it is now.
    analyses: Option<Rc<Analyses>>,
    changes: Vec<Change>,
    /// Whether zeros in outputs may have either sign.
    ignore_zero_signs: bool,
    /// Rewrites that found nothing better.
    in_vain: HashSet<Task>,
}

impl State {
    /// Runs a pass. Returns whether it improved the program.
    fn run(&mut self, pass: &PassInfo, fuel: u64) -> bool {
        let Some(analyses) = self.analyses.clone() else { return false };
        let Some(code) = Code::of(&self.program, &analyses.graph, &self.origins) else {
            return false;
        };
        match pass.kind {
            PassKind::BranchesToBreaks => {
                let mut code = code;
                flow::branches_to_breaks(&self.program, &analyses, &mut code)
                    && self.accept(pass, &code)
            }
            PassKind::RemoveEmpty => {
                let mut code = code;
                flow::remove_empty(&self.program, &analyses, &mut code) && self.accept(pass, &code)
            }
            PassKind::MergeEndifs => {
                let mut code = code;
                flow::merge_endifs(&self.program, &analyses, &mut code) && self.accept(pass, &code)
            }
            PassKind::Predicates => {
                let branches = predicates::short_branches(&self.program, &analyses, &code);
                branches.into_iter().any(|branch| {
                    let mut code = code.clone();
                    branch.predicate(&mut code);
                    self.accept(pass, &code)
                })
            }
            PassKind::Segments(passes) => self.segments(pass, passes, &analyses, &code, fuel),
        }
    }

    /// Rewrites the segments that get shorter: all together, or only one if all together do not improve the program.
    fn segments(
        &mut self,
        pass: &PassInfo,
        passes: Passes,
        analyses: &Analyses,
        code: &Code,
        fuel: u64,
    ) -> bool {
        let limits = segment::Limits {
            temporaries: self.given.temporaries.min(TEMPORARIES as u64) as usize,
            ignore_zero_signs: self.ignore_zero_signs,
        };
        let mut found = Vec::new();
        for segment in segment::segments(&self.program, analyses) {
            let task = Task::of(&self.program, analyses, segment, passes);
            if self.in_vain.contains(&task) {
                continue;
            }
            let mut steps = fuel;
            let rewritten =
                segment::rewrite(&self.program, analyses, segment, &task, limits, &mut steps);
            match rewritten {
                Some(rewritten) => found.push((segment, rewritten)),
                None => drop(self.in_vain.insert(task)),
            }
        }
        // From last to first, so that earlier indices stay valid.
        found.reverse();
        let replace =
            |code: &mut Code, (segment, rewritten): &(segment::Segment, segment::Rewritten)| {
                let with = rewritten.code.iter().map(|(inst, from)| {
                    let origins = from.iter().flat_map(|&at| self.origins[at].clone()).collect();
                    (*inst, origins)
                });
                let with = with.collect();
                code.replace(segment.first, segment.last, with);
            };
        let mut all = code.clone();
        found.iter().for_each(|one| replace(&mut all, one));
        let singles: Vec<Code> = found
            .iter()
            .map(|one| {
                let mut code = code.clone();
                replace(&mut code, one);
                code
            })
            .collect();
        if found.is_empty() {
            return false;
        }
        self.accept(pass, &all) || singles.iter().any(|code| self.accept(pass, code))
    }

    /// Assembles a rewritten program, and accepts it if its cost is lower. Returns whether it did.
    fn accept(&mut self, pass: &PassInfo, code: &Code) -> bool {
        let Some((mut program, _)) = code.assemble(&self.program, self.pixsize) else {
            return false;
        };
        sync::synchronize(&mut program, &self.program);
        let Ok(cost) = Cost::of(&program) else { return false };
        if cost >= self.cost || !cost.no_worse_than(&self.given) {
            return false;
        }
        let Some(analyses) = Analyses::of(&program) else { return false };
        let origins: Vec<Vec<u32>> = code.lines.iter().map(|line| line.origins.clone()).collect();
        let kept: Vec<(&[u32; 6], &Vec<u32>)> =
            self.program.code.iter().map(|inst| &inst.0).zip(&self.origins).collect();
        // Changed instructions: those whose words and origins do not both occur in the result.
        let new: Vec<(&[u32; 6], &Vec<u32>)> =
            program.code.iter().map(|inst| &inst.0).zip(&origins).collect();
        let mut before: Vec<u32> = kept
            .iter()
            .filter(|line| !new.contains(line))
            .flat_map(|line| line.1.iter().copied())
            .collect();
        before.sort_unstable();
        before.dedup();
        let cost = [self.cost, cost];
        self.changes.push(Change {
            pass: pass.name,
            before,
            after: Vec::new(),
            cost,
            why: pass.why,
        });
        (self.program, self.origins, self.cost) = (program, origins, cost[1]);
        self.analyses = Some(Rc::new(analyses));
        true
    }
}
