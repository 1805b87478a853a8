//! Soundness tests: compares the checker's results with runs of the reference engine.
//!
//! The programs are generated structured ones, near-valid unstructured ones, and random flow
//! control with jumps to any of its instructions. For each, a clean program causes no hard runtime
//! warning; every step of a run is an edge of the graph; stacks, levels and aL stay in the ranges
//! of the graph; and a pixel of a structured program follows the pixel edges.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;

use r500_check::dataflow::{ChannelSet, Dataflow, DefiniteInit, Liveness};
use r500_check::graph::{Graph, Node, Structure};
use r500_check::{Assumptions, Facts, Severity, Verdict, check_job};
use r500_exec::reference::{Group, LaneState, Reference};
use r500_exec::{
    Bindings, Draw, Limits, Options, PixelRect, RuntimeWarnings, Shader, WarningKind, draw,
};
use r500_gen::{Case, Choices, Rng, Shape, raw_programs};
use r500_isa::Instruction;
use r500_isa::state::{UsFcBoolConst, UsFcIntConst};
use r500_isa::values::{InstType, RgbMask};
use r500_isa::words::{CmnInst, FcAddr, FcInst};
use r500_program::{Job, Program};

/// Returns the number of seeds, multiplied by `R500_SEEDS`.
fn seeds(count: u64) -> std::ops::Range<u64> {
    let times = std::env::var("R500_SEEDS").ok().and_then(|times| times.parse().ok());
    0..count * times.unwrap_or(1)
}

/// Runs two groups of an 8x8 picture, recording one pixel each, and checks each step against the
/// graph. Returns the runtime warnings of all groups.
fn follow(job: &Job, what: &str) -> Option<RuntimeWarnings> {
    let shader = Shader::new(&job.program).ok()?;
    let bindings = Bindings::new(job, [8, 8]).ok()?;
    let limits = Limits { instructions: 500, ..Limits::default() };
    let options = Options { warnings: true, limits, ..Options::default() };
    let context = Draw::new(&shader, &bindings, &options).expect("a group of whole quads");
    let graph = Graph::new(&job.program).expect("the engine found a window");
    let structure = Structure::recover(&graph).ok();
    let pixel_edges: Option<BTreeSet<(usize, usize)>> =
        structure.as_ref().map(|s| s.pixel_edges(&graph).into_iter().collect());
    let mut all = RuntimeWarnings::default();
    for corner in [[0, 0], [4, 4]] {
        let [x, y] = corner;
        let mut group = Group::new(&context, PixelRect { x, y, width: 4, height: 4 });
        let mut executed: Option<usize> = None;
        while !group.ended() && !graph.gave_up() {
            let at = graph.window().index(group.state().address());
            if let Some(at) = at {
                before_step(&graph, &group, at, what);
            }
            // An uncovered pixel may have no vote and follow the other pixels.
            let lane = &group.state().lanes()[5];
            let watched = if lane.covered { lane.state } else { LaneState::Branch(0) };
            if group.step().is_err() {
                break;
            }
            let Some(at) = at else { continue };
            let to = if group.ended() && Some(at) == graph.window().end {
                Node::End
            } else {
                let address = group.state().address();
                graph.window().index(address).map_or(Node::Outside(address), Node::Instruction)
            };
            assert!(
                graph.edges_from(at).iter().any(|edge| edge.to == to),
                "{what}: {at} goes to {to:?}, not in the graph"
            );
            if let (Some(edges), LaneState::Active) = (&pixel_edges, watched) {
                if let Some(last) = executed {
                    assert!(
                        leads(&graph, edges, last, at),
                        "{what}: a pixel goes from {last} to {at}"
                    );
                }
                executed = Some(at);
            }
            if !group.state().lanes()[5].covered {
                executed = None;
            }
        }
        all.merge(group.state().warnings());
    }
    (!graph.gave_up()).then_some(all)
}

fn before_step(graph: &Graph, group: &Group<'_>, at: usize, what: &str) {
    let Some(visit) = graph.abstract_state(at) else {
        panic!("{what}: {at} is reached all the same")
    };
    let deepest = group.state().lanes().iter().map(|lane| match lane.state {
        LaneState::Branch(n) => n + 1,
        _ => 0,
    });
    let deepest = deepest.max().unwrap_or(0);
    assert!(deepest <= u32::from(visit.levels.max), "{what}: {at}: {deepest} {:?}", visit.levels);
    let within = |n: usize, min: u8, max: u8| (usize::from(min)..=usize::from(max)).contains(&n);
    assert!(
        within(group.state().loops().len(), visit.loops.min, visit.loops.max),
        "{what}: {at}: loops"
    );
    assert!(
        within(group.state().calls().len(), visit.calls.min, visit.calls.max),
        "{what}: {at}: calls"
    );
    let al = group.al();
    assert!(
        visit.al.unknown || (visit.al.min..=visit.al.max).contains(&al),
        "{what}: {at}: aL {al}"
    );
}

/// Returns whether a pixel may execute `to` next after `from`, with only flow control in between:
/// an ENDIF or the end of a loop may reactivate it.
fn leads(graph: &Graph, edges: &BTreeSet<(usize, usize)>, from: usize, to: usize) -> bool {
    let next = |from: usize| edges.range((from, 0)..(from + 1, 0)).map(|edge| edge.1);
    let mut seen = BTreeSet::new();
    let mut work: Vec<usize> = next(from).collect();
    while let Some(at) = work.pop() {
        if at == to {
            return true;
        }
        let flow = graph.edges_from(at).len() != 1
            || graph.edges_from(at)[0].kind.label() != ""
            || is_quiet(graph, at);
        if flow && seen.insert(at) {
            work.extend(next(at));
        }
    }
    false
}

/// Returns whether an instruction never jumps, as some ENDIFs.
fn is_quiet(graph: &Graph, at: usize) -> bool {
    graph.edges_from(at).iter().all(|edge| edge.kind == r500_check::graph::EdgeKind::NotTaken)
}

fn hard(findings: &RuntimeWarnings) -> Vec<String> {
    findings.iter().filter(|f| f.kind.is_hard()).map(|f| f.to_string()).collect()
}

/// Checks the facts against soft runtime warnings.
fn hold_facts(facts: &Facts, findings: &RuntimeWarnings, what: &str) {
    if facts.reads_are_defined {
        // The engine requires the predicate bits of a whole half, regardless of what the half
        // writes.
        let undefined =
            |kind| matches!(kind, WarningKind::NeverWritten | WarningKind::AluResultNotSet);
        // A predicated write counts as executed; the engine detects a pixel for which it was not.
        if !facts.uses_predicates {
            let found: Vec<_> = findings.iter().filter(|f| undefined(f.kind)).collect();
            assert!(found.is_empty(), "{what}: {found:?}");
        }
    }
}

#[test]
fn generated_programs_are_clean_and_runs_follow_the_graph() {
    let mut groups = 0;
    for seed in seeds(600) {
        let case = Case::generate(&mut Rng::new(seed), &Shape::default());
        let job = case.job("generated");
        let what = format!("seed {seed}");
        let report = check_job(&job);
        let errors: Vec<String> = report
            .lints
            .iter()
            .filter(|finding| finding.severity() == Severity::Error)
            .map(ToString::to_string)
            .collect();
        assert!(errors.is_empty(), "{what}: {errors:#?}\n{case}");
        let Verdict::Clean(facts) = report.verdict else { panic!("{what}: {:?}", report.verdict) };
        let graph = Graph::new(&job.program).unwrap();
        if let Err(unstructured) = Structure::recover(&graph) {
            panic!("{what}: {unstructured:?}\n{case}");
        }
        let findings = follow(&job, &what).expect("it runs");
        assert!(hard(&findings).is_empty(), "{what}: {:#?}", hard(&findings));
        hold_facts(&facts, &findings, &what);
        if facts.group_size_invisible {
            groups += 1;
            same_for_every_group(&job, &what);
        }
    }
    assert!(groups > 200, "the size of the group is invisible in {groups}");
}

/// Dead writes have no effect: without them, the picture is identical bit by bit.
#[test]
fn removing_dead_writes_keeps_the_picture() {
    let mut dropped = 0;
    for seed in seeds(400) {
        let case = Case::generate(&mut Rng::new(seed), &Shape::default());
        let job = case.job("generated");
        let graph = Graph::new(&job.program).unwrap();
        // Tests without the structure, too.
        let structure = Structure::recover(&graph).unwrap();
        let structure = if seed % 4 == 0 { None } else { Some(&structure) };
        let live = Liveness::of(&Dataflow::new(&graph, structure));
        let mut lean = job.clone();
        for (at, inst) in lean.program.code.iter_mut().enumerate() {
            let alu = matches!(inst.ty(), InstType::ALU | InstType::OUT);
            let (rgb, alpha) = (inst.rgba_inst(), inst.alpha_inst());
            if !alu || rgb.rgb_addrd_rel() || alpha.alpha_addrd_rel() || inst.cmn().write_inactive()
            {
                continue;
            }
            let cmn = inst.cmn();
            let mask = cmn.rgb_wmask().code() & live.live_out(at).temp(rgb.rgb_addrd());
            let wanted = live.live_out(at).temp(alpha.alpha_addrd()) & 8 != 0;
            let new = cmn
                .with(CmnInst::RGB_WMASK, RgbMask::new(mask))
                .with(CmnInst::ALPHA_WMASK, cmn.alpha_wmask() && wanted);
            dropped += u32::from(new != cmn);
            inst.0[0] = new.bits();
        }
        assert!(picture(&job, [4, 4]) == picture(&lean, [4, 4]), "seed {seed}");
    }
    assert!(dropped > 1000, "{dropped}");
}

fn same_for_every_group(job: &Job, what: &str) {
    let small = picture(job, [2, 2]);
    let same = small == picture(job, [4, 4]) && small == picture(job, [8, 8]);
    assert!(same, "{what}: the group's size shows");
}

/// Returns colours, depth and coverage as bits.
fn picture(job: &Job, group: [u32; 2]) -> (Vec<Option<Vec<u32>>>, Vec<bool>) {
    let shader = Shader::new(&job.program).unwrap();
    let size = job.size.unwrap_or([8, 8]);
    let bindings = Bindings::new(job, size).unwrap();
    let options = Options { group, threads: 1, ..Options::default() };
    let frame = draw(&Reference, &shader, &bindings, &options).unwrap();
    let bits = |values: &[f32]| values.iter().map(|f| f.to_bits()).collect::<Vec<_>>();
    let target = |n| frame.target(n).map(|t| bits(t.as_flattened()));
    let depth = frame.depth().map(bits);
    (vec![target(0), target(1), target(2), target(3), depth], frame.coverage().to_vec())
}

#[test]
fn clean_near_valid_programs_cause_no_hard_warning() {
    let (mut clean, mut ran) = (0, 0);
    for seed in seeds(4000) {
        let mut rng = Rng::new(seed);
        let length = rng.between(1, 6);
        let job = raw_programs::job(&mut rng, u16::try_from(length).unwrap());
        clean += u32::from(check_facts_hold(&job, &format!("seed {seed}"), &mut ran));
    }
    assert!(clean > 30 && ran > 400, "{clean} clean of {ran}");
}

#[test]
fn clean_random_flow_control_causes_no_hard_warning() {
    let (mut clean, mut ran) = (0, 0);
    for seed in seeds(5000) {
        let job = raw_program(&mut Rng::new(seed));
        clean += u32::from(check_facts_hold(&job, &format!("seed {seed}"), &mut ran));
    }
    assert!(clean > 100 && ran > 4000, "{clean} clean of {ran}");
}

/// Checks a program against a run of it. Returns whether it is clean.
fn check_facts_hold(job: &Job, what: &str, ran: &mut u32) -> bool {
    let mut job = job.clone();
    // The engine uses 0 for missing constants; the checker does not.
    for int in &mut job.program.state.fc_int_const {
        int.get_or_insert(UsFcIntConst(0));
    }
    let job = &job;
    let report = check_job(job);
    let Some(findings) = follow(job, what) else { return false };
    *ran += 1;
    let hard = hard(&findings);
    match report.verdict {
        Verdict::Clean(facts) => {
            assert!(hard.is_empty(), "{what}: {hard:#?}\n{:#?}", job.program);
            hold_facts(&facts, &findings, what);
            true
        }
        _ => false,
    }
}

/// Returns a few instructions, mostly flow control with jumps among them.
fn raw_program(rng: &mut Rng) -> Job {
    let count = rng.between(2, 9) as u16;
    let mov = Instruction([0x0000_7800, 0, 0, 0x00db_0220, 0x00c0_c010, 0x2049_0010]);
    // Compares red of a value that varies over the picture.
    let test =
        Instruction([0x0080_0000, 0x0802_0080 | 1, 0x0802_0080, 0x80db_0220, 0, 0x0049_0000]);
    let code: Vec<Instruction> = (0..count)
        .map(|_| match rng.below(8) {
            0 => mov,
            1 => test,
            _ => {
                let func = rng.pick(0x00, &[0xff, 0x0f, 0xf0, 0xaa, 0xcc]);
                let inst = FcInst(0)
                    .with(FcInst::OP, r500_isa::values::FcOp::new(rng.below(8) as u8))
                    .with(FcInst::B_ELSE, rng.chance(1, 8))
                    .with(FcInst::JUMP_ANY, rng.chance(1, 2))
                    .with(
                        FcInst::A_OP,
                        rng.pick(
                            r500_isa::values::AddrOp::NONE,
                            &[0, 0, 1, 2].map(r500_isa::values::AddrOp::new),
                        ),
                    )
                    .with(FcInst::JUMP_FUNC, func)
                    .with(FcInst::B_POP_CNT, rng.below(3) as u8)
                    .with(FcInst::B_OP0, r500_isa::values::BranchOp::new(rng.below(3) as u8))
                    .with(FcInst::B_OP1, r500_isa::values::BranchOp::new(rng.below(3) as u8));
                let addr = FcAddr(0)
                    .with(FcAddr::JUMP_ADDR, rng.below(u32::from(count)) as u16)
                    .with(FcAddr::INT_ADDR, rng.below(3) as u8);
                let cmn = CmnInst(0).with(CmnInst::TYPE, InstType::FC);
                Instruction([cmn.bits(), 0, inst.bits(), addr.bits(), 0, 0])
            }
        })
        .collect();
    let mut program = Program::from_code(code);
    let int = |kr, kg, kb| {
        let int = UsFcIntConst(0).with(UsFcIntConst::KR, kr).with(UsFcIntConst::KG, kg);
        Some(int.with(UsFcIntConst::KB, kb))
    };
    program.state.fc_int_const[0] = int(3, 1, 2);
    program.state.fc_int_const[1] = int(1, 0, 0);
    program.state.fc_int_const[2] = int(0, 0, -1);
    if rng.chance(1, 2) {
        program.state.fc_bool_const = Some(UsFcBoolConst(rng.bits()));
    }
    Job::from_program(program)
}

/// No dwords make the library panic or take long. Lints can be printed, and fixes can be applied.
#[test]
fn random_dwords_never_panic() {
    for seed in seeds(3000) {
        let mut rng = Rng::new(seed);
        let length = rng.between(0, 40);
        let code: Vec<Instruction> = (0..length).map(|_| raw_programs::uniform(&mut rng)).collect();
        let mut job = if rng.chance(1, 2) {
            Job::from_program(Program::from_code(code))
        } else {
            raw_programs::job(&mut rng, u16::try_from(length).unwrap())
        };
        let report = check_job(&job);
        for finding in &report.lints {
            assert!(!finding.to_string().is_empty());
            if let Some(fix) = &finding.fix {
                fix.apply(&mut job.program);
            }
        }
        if let Ok(graph) = Graph::new(&job.program) {
            let flow = Dataflow::new(&graph, Structure::recover(&graph).ok().as_ref());
            let _ = DefiniteInit::of(&flow, &ChannelSet::EMPTY);
            let _ = graph.blocks();
        }
        let _ = check_job(&Job { inputs: None, ..job });
        let _ = Assumptions::default();
    }
}
