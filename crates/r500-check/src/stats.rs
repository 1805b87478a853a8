//! Program statistics: instruction counts and estimated cost.

use r500_isa::values::{InstType, Omod, Sel, TexOp};
use r500_isa::{Half, Instruction, Slot};
use r500_program::{Program, WindowError};

use crate::graph::{Graph, Statement, Structure};

macro_rules! stats {
    ($($name:ident $title:literal $side:ident $meaning:literal;)*) => {
        /// Statistics of a program. Unreachable instructions are only counted as unreachable.
        ///
        /// **Cycles** come from a simple model: every instruction takes one cycle to issue, one
        /// with `NOP` two. A branch costs its more expensive arm, a loop its iterations (one, if
        /// the integer constant is not given), a call its subroutine. Texture and pipeline latency
        /// are not modelled. The number is an upper bound of instructions issued per group of
        /// pixels: it compares programs and does not predict time.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Stats {
            $( #[doc = $meaning] pub $name: u64, )*
        }

        impl Stats {
            /// Short titles of the numbers for table headings, in order.
            pub const TITLES: &'static [&'static str] = &[ $( $title, )* ];
            /// Names of the numbers in JSON and CSV, in order.
            pub const NAMES: &'static [&'static str] = &[ $( stringify!($name), )* ];
            /// Descriptions of the numbers, in order.
            pub const MEANINGS: &'static [&'static str] = &[ $( $meaning, )* ];

            /// Whether each number is a cost (less is better), in order; the others describe the
            /// program only.
            pub const COSTS: &'static [bool] = &[ $( is_cost!($side), )* ];

            /// Returns the numbers, in order.
            #[must_use]
            pub fn values(&self) -> Vec<u64> {
                vec![ $( self.$name, )* ]
            }

            /// Adds the numbers of another program.
            pub fn add(&mut self, other: &Self) {
                $( self.$name = self.$name.saturating_add(other.$name); )*
            }
        }
    };
}

macro_rules! is_cost {
    (cost) => {
        true
    };
    (kind) => {
        false
    };
}

#[rustfmt::skip]
stats! {
    instructions  "inst"      cost  "Instructions that some run may reach.";
    unreached     "dead"      kind  "Instructions that no run reaches.";
    alu           "alu"       cost  "ALU and OUT instructions.";
    outputs       "out"       kind  "OUT instructions.";
    textures      "tex"       cost  "Texture fetches.";
    kills         "kil"       kind  "TEXKILL instructions.";
    flow          "fc"        cost  "Flow-control instructions.";
    co_issued     "pair"      kind  "ALU and OUT instructions of which both halves do something.";
    rgb_only      "vec"       kind  "ALU and OUT instructions of which only the RGB half does something.";
    alpha_only    "sca"       kind  "ALU and OUT instructions of which only the alpha half does something.";
    idle          "idle"      kind  "ALU and OUT instructions of which neither half does anything.";
    presubtract   "presub"    kind  "ALU and OUT instructions that read a presubtract result.";
    omod          "omod"      kind  "ALU and OUT instructions whose result is scaled by OMOD.";
    predicated    "pred"      kind  "Instructions with writes that a predicate selects.";
    inlines       "inl"       kind  "Source addresses that are inline constants other than 0 and are read.";
    temporaries   "temps"     cost  "Temporaries used: one more than the highest.";
    constants     "consts"    cost  "Constants used: one more than the highest.";
    indirections  "ind"       cost  "Texture indirections: phases of fetches each of which needs a result of the phase before, in address order.";
    nops          "nop"       cost  "Instructions with NOP.";
    waits         "wait"      cost  "Instructions that wait for the texture semaphore.";
    branch_levels "if-depth"  cost  "Branch levels open at once, at most.";
    loop_levels   "lp-depth"  cost  "Loops running inside each other, at most.";
    call_levels   "cl-depth"  cost  "Calls open at once, at most.";
    loops         "loops"     kind  "LOOP and REP instructions.";
    longest_path  "path"      cost  "Instructions on the longest path, each loop passed once; 0 where the program is not structured.";
    cycles        "cycles"    cost  "Issue cycles of the longest path by the model above; 0 where the program is not structured.";
}

impl Stats {
    /// Returns the numbers of a program.
    ///
    /// # Errors
    /// [`WindowError`] if no instruction can run.
    pub fn of(program: &Program) -> Result<Self, WindowError> {
        let graph = Graph::new(program)?;
        let structure = Structure::recover(&graph).ok();
        Ok(Self::of_graph(program, &graph, structure.as_ref()))
    }

    /// Returns the statistics of a program with a given graph.
    #[must_use]
    pub fn of_graph(program: &Program, graph: &Graph, structure: Option<&Structure>) -> Self {
        let mut stats = Self::default();
        for (index, &inst) in program.code.iter().enumerate() {
            let Some(visit) = graph.abstract_state(index) else {
                stats.unreached += 1;
                continue;
            };
            stats.instructions += 1;
            let cmn = inst.cmn();
            stats.nops += u64::from(cmn.nop());
            stats.waits += u64::from(cmn.tex_sem_wait());
            let deeper = |known: u64, now: u8| known.max(u64::from(now));
            stats.branch_levels = deeper(stats.branch_levels, visit.levels.max);
            stats.loop_levels = deeper(stats.loop_levels, visit.loops.max);
            stats.call_levels = deeper(stats.call_levels, visit.calls.max);
            let info = &graph.infos[index];
            for access in info.reads.iter().chain(info.writes.iter()) {
                let moved = if access.relative { visit.al.max } else { 0 };
                let above = u64::try_from(i32::from(access.addr) + moved + 1).unwrap_or(0);
                stats.temporaries = stats.temporaries.max(above.min(128));
            }
            for access in info.constants.iter() {
                let moved = if access.relative { visit.al.max } else { 0 };
                let above = u64::try_from(i32::from(access.addr) + moved + 1).unwrap_or(0);
                stats.constants = stats.constants.max(above.min(256));
            }
            let selects = info.ty != InstType::FC && info.predicate_reads != 0;
            stats.predicated += u64::from(selects);
            match inst.ty() {
                InstType::FC => {
                    stats.flow += 1;
                    let begins = graph.flows[index].is_some_and(|flow| flow.is_loop_begin());
                    stats.loops += u64::from(begins);
                }
                InstType::TEX => {
                    let kills = inst.tex_inst().inst() == TexOp::TEXKILL;
                    stats.kills += u64::from(kills);
                    stats.textures += u64::from(info.fetch);
                }
                _ => stats.count_alu(inst),
            }
        }
        stats.indirections = indirections(graph);
        if let Some(structure) = structure {
            stats.longest_path = Costs::of(program, graph, structure, false);
            stats.cycles = Costs::of(program, graph, structure, true);
        }
        stats
    }

    fn count_alu(&mut self, inst: Instruction) {
        self.alu += 1;
        self.outputs += u64::from(inst.ty() == InstType::OUT);
        let [rgb, alpha] = inst.active_halves();
        let (rgb_op, alpha_op) = (inst.rgba_inst().rgb_op(), inst.alpha_inst().alpha_op());
        match (rgb, alpha) {
            (true, true) => self.co_issued += 1,
            (true, false) => self.rgb_only += 1,
            (false, true) => self.alpha_only += 1,
            (false, false) => self.idle += 1,
        }
        let presubtracts = Slot::ALL.into_iter().any(|slot| {
            (rgb && rgb_op.uses(slot) && inst.rgb_operand(slot).sel == Sel::SRCP)
                || (alpha && alpha_op.uses(slot) && inst.alpha_operand(slot).sel == Sel::SRCP)
        });
        self.presubtract += u64::from(presubtracts);
        let scales = |half| !matches!(inst.omod(half), Omod::MUL1 | Omod::DISABLED);
        self.omod += u64::from((rgb && scales(Half::Rgb)) || (alpha && scales(Half::Alpha)));
        let reads = inst.source_reads();
        for n in 0..3 {
            let value = |half: Half| inst.sources(half)[n].inline().map_or(0, |i| i.code());
            self.inlines += u64::from(reads.rgb[n] != 0 && value(Half::Rgb) != 0);
            self.inlines += u64::from(reads.alpha[n] && value(Half::Alpha) != 0);
        }
    }

    /// Returns the integer constants of reachable loops that the program does not give. Their loops
    /// count as one iteration in [`cycles`](Self::cycles).
    #[must_use]
    pub fn unknown_trip_counts(graph: &Graph) -> Vec<u8> {
        let loops = graph.flows.iter().enumerate().filter_map(|(index, flow)| {
            let flow = flow.as_ref().filter(|flow| flow.is_loop_begin())?;
            let given = graph.int_constant(flow.int).is_some();
            (graph.reaches(index) && !given).then_some(flow.int)
        });
        let unknown: std::collections::BTreeSet<u8> = loops.collect();
        unknown.into_iter().collect()
    }

    /// Returns the fraction of ALU and OUT instructions that use both halves, of those that use
    /// any.
    #[must_use]
    pub fn co_issue_rate(&self) -> f64 {
        let used = self.co_issued + self.rgb_only + self.alpha_only;
        if used == 0 { 0.0 } else { self.co_issued as f64 / used as f64 }
    }
}

/// Returns the number of texture indirection phases in address order: a fetch whose coordinates
/// were written in the phase begins a new phase.
fn indirections(graph: &Graph) -> u64 {
    let (mut phases, mut written) = (0, 0u128);
    for (index, step) in graph.infos.iter().enumerate() {
        if !graph.reaches(index) {
            continue;
        }
        let dependent = step.reads.iter().any(|access| written >> (access.addr & 127) & 1 != 0);
        if step.fetch && (phases == 0 || dependent) {
            phases += 1;
            written = 0;
        }
        for access in step.writes.iter() {
            written |= 1 << (access.addr & 127);
        }
    }
    phases
}

/// Costs of statements: instructions, or cycles with repeated loops.
struct Costs<'a> {
    program: &'a Program,
    graph: &'a Graph,
    structure: &'a Structure,
    cycles: bool,
    /// Costs of subroutines computed so far: several calls may name the same subroutine.
    subs: Vec<Option<u64>>,
}

impl<'a> Costs<'a> {
    fn of(program: &'a Program, graph: &'a Graph, structure: &'a Structure, cycles: bool) -> u64 {
        let subs = vec![None; structure.subs.len()];
        Self { program, graph, structure, cycles, subs }.list(&structure.main)
    }

    fn list(&mut self, statements: &[Statement]) -> u64 {
        statements.iter().fold(0, |sum, statement| sum.saturating_add(self.statement(statement)))
    }

    fn statement(&mut self, statement: &Statement) -> u64 {
        match statement {
            Statement::Straight { first, last } => {
                (*first..=*last).map(|at| self.instruction(at)).sum()
            }
            Statement::If { at, then, else_at, otherwise, endif } => {
                let then = self.list(then).saturating_add(self.maybe(*else_at));
                let arms = then.max(self.list(otherwise));
                arms.saturating_add(self.instruction(*at)).saturating_add(self.maybe(*endif))
            }
            Statement::UniformIf { at, then, over, otherwise } => {
                let then = self.list(then).saturating_add(self.maybe(*over));
                then.max(self.list(otherwise)).saturating_add(self.instruction(*at))
            }
            Statement::Loop { at, body, end } => {
                let pass = self.list(body).saturating_add(self.instruction(*end));
                let iterations = if self.cycles { self.iterations(*at) } else { 1 };
                pass.saturating_mul(iterations).saturating_add(self.instruction(*at))
            }
            Statement::Call { at, sub } => self.sub(*sub).saturating_add(self.instruction(*at)),
            Statement::Break(at)
            | Statement::Continue(at)
            | Statement::Return(at)
            | Statement::Skip { at, .. } => self.instruction(*at),
        }
    }

    fn sub(&mut self, number: usize) -> u64 {
        if let Some(known) = self.subs[number] {
            return known;
        }
        // Calls are not recursive, so this terminates.
        let structure = self.structure;
        let cost = self.list(&structure.subs[number].body);
        self.subs[number] = Some(cost);
        cost
    }

    fn maybe(&self, at: Option<usize>) -> u64 {
        at.map_or(0, |at| self.instruction(at))
    }

    fn instruction(&self, at: usize) -> u64 {
        1 + u64::from(self.cycles && self.program.code[at].cmn().nop())
    }

    fn iterations(&self, at: usize) -> u64 {
        let constant = self.graph.flow(at).and_then(|flow| self.graph.int_constant(flow.int));
        constant.map_or(1, |constant| u64::from(constant.kr()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use crate::{LintCode, Stats};

    #[test]
    fn costs_of_a_loop_of_four_iterations() {
        // mov, LOOP, test, IF, BREAK, ENDIF, ENDLOOP, OUT.
        let stats = Stats::of(&LintCode::BreakDepth.good().program).unwrap();
        assert_eq!((stats.instructions, stats.alu, stats.flow, stats.outputs), (8, 3, 5, 1));
        // The mov and OUT use both halves, the comparison colours only.
        assert_eq!((stats.co_issued, stats.rgb_only, stats.idle), (2, 1, 0));
        assert_eq!((stats.branch_levels, stats.loop_levels, stats.loops), (1, 1, 1));
        // All eight once; five of them (test to ENDLOOP) four times.
        assert_eq!((stats.longest_path, stats.cycles), (8, 3 + 4 * 5));
        assert_eq!((stats.temporaries, stats.constants, stats.textures), (2, 0, 0));
    }

    #[test]
    fn fetches_and_phases() {
        let stats = Stats::of(&LintCode::NotAwaited.good().program).unwrap();
        assert_eq!((stats.textures, stats.indirections, stats.waits), (1, 1, 1));
        let stats = Stats::of(&LintCode::MissingNop.good().program).unwrap();
        assert_eq!((stats.presubtract, stats.nops, stats.cycles), (1, 1, 4));
        assert!((stats.co_issue_rate() - 1.0).abs() < 1e-9);
    }

    /// Each subroutine calls the next one twice: there are 2^15 paths, but the computation is fast.
    #[test]
    fn cost_of_nested_calls_grows_exponentially() {
        let stats = Stats::of(&LintCode::TooTangled.bad().program).unwrap();
        // s(0) = 1 (RETURN); s(n) = 2 calls + 2 s(n-1) + RETURN = 2 s(n-1) + 3; main: CALL, OUT.
        let sub = (0..15).fold(1u64, |cost, _| 2 * cost + 3);
        assert_eq!(stats.longest_path, sub + 2);
    }

    #[test]
    fn names_fit_values() {
        let stats = Stats::default();
        assert_eq!(Stats::NAMES.len(), stats.values().len());
        assert_eq!(Stats::TITLES.len(), Stats::MEANINGS.len());
        assert_eq!(Stats::COSTS.len(), Stats::NAMES.len());
        let cost = |name| Stats::COSTS[Stats::NAMES.iter().position(|n| *n == name).unwrap()];
        assert!(cost("cycles") && cost("temporaries") && !cost("co_issued"));
    }
}
