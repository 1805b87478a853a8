//! What the checker says before, held against what the reference engine does.
//!
//! Programs are generated ones with a structure, near-valid ones without, and soups of flow control
//! that jump anywhere in themselves. For each: a clean program makes no hard finding; every step of
//! a run is an edge of the graph; stacks, levels and aL stay in the ranges that the graph gives; and
//! a pixel of a structured program goes along the pixel edges.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;

use r500_check::dataflow::{ChannelSet, Dataflow, Written};
use r500_check::graph::{Graph, Node, Structure};
use r500_check::{Facts, Given, Severity, Verdict, check_job};
use r500_exec::reference::{Group, LaneState, Reference};
use r500_exec::{Bindings, Block, Draw, FindingKind, Findings, Limits, Options, Shader, draw};
use r500_gen::{Case, Entropy, Rng, Shape, words};
use r500_isa::Instruction;
use r500_isa::state::{UsFcBoolConst, UsFcIntConst};
use r500_isa::values::InstType;
use r500_isa::words::{CmnInst, FcAddr, FcInst};
use r500_program::{Job, Program};

/// Runs every group of an 8x8 picture, watching one pixel each, and holds each step against the
/// graph. The findings, all groups together.
fn follow(job: &Job, what: &str) -> Option<Findings> {
    let shader = Shader::new(&job.program).ok()?;
    let bindings = Bindings::new(job, [8, 8]).ok()?;
    let limits = Limits { instructions: 3000, ..Limits::default() };
    let options = Options { findings: true, limits, ..Options::default() };
    let context = Draw { shader: &shader, bindings: &bindings, options: &options, deadline: None };
    let graph = Graph::new(&job.program).expect("the engine found a window");
    let structure = Structure::recover(&job.program, &graph).ok();
    let pixel_edges: Option<BTreeSet<(usize, usize)>> =
        structure.as_ref().map(|s| s.pixel_edges(&graph).into_iter().collect());
    let mut all = Findings::default();
    for corner in [[0, 0], [4, 0], [0, 4], [4, 4]] {
        let [x, y] = corner;
        let mut group = Group::new(&context, Block { x, y, width: 4, height: 4 });
        let mut executed: Option<usize> = None;
        while !group.ended() && !graph.gave_up() {
            let at = graph.window().index(group.address());
            if let Some(at) = at {
                before_step(&graph, &group, at, what);
            }
            let watched = group.lanes()[5].state;
            if group.step().is_err() {
                break;
            }
            let Some(at) = at else { continue };
            let to = if group.ended() && Some(at) == graph.window().end {
                Node::End
            } else {
                let address = group.address();
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
        }
        all.merge(group.findings());
    }
    (!graph.gave_up()).then_some(all)
}

fn before_step(graph: &Graph, group: &Group<'_>, at: usize, what: &str) {
    let Some(visit) = graph.visit(at) else { panic!("{what}: {at} is reached all the same") };
    let deepest = group.lanes().iter().map(|lane| match lane.state {
        LaneState::Branch(n) => n + 1,
        _ => 0,
    });
    let deepest = deepest.max().unwrap_or(0);
    assert!(deepest <= u32::from(visit.levels.max), "{what}: {at}: {deepest} {:?}", visit.levels);
    let within = |n: usize, min: u8, max: u8| (usize::from(min)..=usize::from(max)).contains(&n);
    assert!(within(group.loops().len(), visit.loops.min, visit.loops.max), "{what}: {at}: loops");
    assert!(within(group.calls().len(), visit.calls.min, visit.calls.max), "{what}: {at}: calls");
    let al = group.al();
    assert!(
        visit.al.unknown || (visit.al.min..=visit.al.max).contains(&al),
        "{what}: {at}: aL {al}"
    );
}

/// Whether a pixel may execute `to` next after `from`, sleeping through flow control at most: an
/// ENDIF or the end of a loop may be what wakes it.
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

/// ENDIF that never jumps.
fn is_quiet(graph: &Graph, at: usize) -> bool {
    graph.edges_from(at).iter().all(|edge| edge.kind == r500_check::graph::EdgeKind::NotTaken)
}

fn hard(findings: &Findings) -> Vec<String> {
    findings.iter().filter(|f| f.kind.is_hard()).map(|f| f.to_string()).collect()
}

/// What facts say of soft findings.
fn hold_facts(facts: &Facts, findings: &Findings, what: &str) {
    if facts.reads_are_defined {
        // Of predicate bits the engine asks for those of a whole half, whatever the half writes.
        let undefined =
            |kind| matches!(kind, FindingKind::NeverWritten | FindingKind::AluResultNotSet);
        // A predicated write counts as done; the engine sees the pixel that it did not reach.
        if !facts.uses_predicates {
            let found: Vec<_> = findings.iter().filter(|f| undefined(f.kind)).collect();
            assert!(found.is_empty(), "{what}: {found:?}");
        }
    }
}

#[test]
fn generated_programs_are_clean_structured_and_followed() {
    let (mut defined, mut groups) = (0, 0);
    for seed in 0..600 {
        let case = Case::generate(&mut Rng::new(seed), &Shape::default());
        let job = case.job("generated");
        let what = format!("seed {seed}");
        let report = check_job(&job);
        let errors: Vec<String> = report
            .findings
            .iter()
            .filter(|finding| finding.severity() == Severity::Error)
            .map(ToString::to_string)
            .collect();
        assert!(errors.is_empty(), "{what}: {errors:#?}\n{case}");
        let Verdict::Clean(facts) = report.verdict else { panic!("{what}: {:?}", report.verdict) };
        let graph = Graph::new(&job.program).unwrap();
        if let Err(unstructured) = Structure::recover(&job.program, &graph) {
            panic!("{what}: {unstructured:?}\n{case}");
        }
        let findings = follow(&job, &what).expect("it runs");
        assert!(hard(&findings).is_empty(), "{what}: {:#?}", hard(&findings));
        hold_facts(&facts, &findings, &what);
        defined += u32::from(facts.reads_are_defined);
        if facts.group_size_invisible {
            groups += 1;
            same_for_every_group(&job, &what);
        }
    }
    assert!(defined > 50 && groups > 50, "{defined} {groups}");
}

fn same_for_every_group(job: &Job, what: &str) {
    let shader = Shader::new(&job.program).unwrap();
    let size = job.size.unwrap_or([8, 8]);
    let bindings = Bindings::new(job, size).unwrap();
    let frame = |group| {
        let options = Options { group, threads: 1, ..Options::default() };
        let frame = draw(&Reference, &shader, &bindings, &options).unwrap();
        let bits = |n| {
            frame
                .target(n)
                .map(|t| t.as_flattened().iter().map(|f| f.to_bits()).collect::<Vec<_>>())
        };
        let depth: Option<Vec<u32>> =
            frame.depth().map(|depth| depth.iter().map(|f| f.to_bits()).collect());
        ([bits(0), bits(1), bits(2), bits(3)], depth, frame.coverage().to_vec())
    };
    let small = frame([2, 2]);
    assert!(small == frame([4, 4]) && small == frame([8, 8]), "{what}: the group's size shows");
}

#[test]
fn near_valid_programs_that_are_clean_make_no_hard_finding() {
    let (mut clean, mut ran) = (0, 0);
    for seed in 0..6000 {
        let mut rng = Rng::new(seed);
        let length = rng.between(1, 6);
        let job = words::job(&mut rng, u16::try_from(length).unwrap());
        clean += u32::from(hold(&job, &format!("seed {seed}"), &mut ran));
    }
    assert!(clean > 40 && ran > 500, "{clean} clean of {ran}");
}

#[test]
fn soups_of_flow_control_that_are_clean_make_no_hard_finding() {
    let (mut clean, mut ran) = (0, 0);
    for seed in 0..8000 {
        let job = soup(&mut Rng::new(seed));
        clean += u32::from(hold(&job, &format!("seed {seed}"), &mut ran));
    }
    assert!(clean > 200 && ran > 5000, "{clean} clean of {ran}");
}

/// Holds a program against its run; whether it is clean.
fn hold(job: &Job, what: &str, ran: &mut u32) -> bool {
    let mut job = job.clone();
    // The engine takes what is not given for 0; the checker does not.
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

/// A few instructions, mostly flow control with targets among themselves.
fn soup(rng: &mut Rng) -> Job {
    let count = rng.between(2, 9) as u16;
    let mov = Instruction([0x0000_7800, 0, 0, 0x00db_0220, 0x00c0_c010, 0x2049_0010]);
    // Compares red with what varies over the picture.
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

/// No dwords make the library panic or take long; what is found can be printed, and fixes apply.
#[test]
fn any_dwords_can_be_checked() {
    for seed in 0..3000 {
        let mut rng = Rng::new(seed);
        let length = rng.between(0, 40);
        let code: Vec<Instruction> = (0..length).map(|_| words::uniform(&mut rng)).collect();
        let mut job = if rng.chance(1, 2) {
            Job::from_program(Program::from_code(code))
        } else {
            words::job(&mut rng, u16::try_from(length).unwrap())
        };
        let report = check_job(&job);
        for finding in &report.findings {
            assert!(!finding.to_string().is_empty());
            if let Some(fix) = &finding.fix {
                fix.apply(&mut job.program);
            }
        }
        if let Ok(graph) = Graph::new(&job.program) {
            let flow =
                Dataflow::new(&graph, Structure::recover(&job.program, &graph).ok().as_ref());
            let _ = Written::of(&flow, &ChannelSet::EMPTY);
            let _ = graph.blocks();
        }
        let _ = check_job(&Job { inputs: None, ..job });
        let _ = Given::default();
    }
}

#[test]
fn debug() {
    let seed: u64 = std::env::var("SEED").unwrap().parse().unwrap();
    let case = Case::generate(&mut Rng::new(seed), &Shape::default());
    println!("{case}");
    let job = case.job("x");
    for (i, inst) in job.program.code.iter().enumerate() {
        if inst.ty() == InstType::FC {
            println!("{i} {:?} func {:02x} any {} else {} b0 {:?} b1 {:?} pop {} a {:?} -> {} {}", inst.fc_inst().op(), inst.fc_inst().jump_func(), inst.fc_inst().jump_any(), inst.fc_inst().b_else(), inst.fc_inst().b_op0(), inst.fc_inst().b_op1(), inst.fc_inst().b_pop_cnt(), inst.fc_inst().a_op(), inst.fc_addr().jump_addr(), inst.fc_addr().jump_global());
        } else { println!("{i} {:?}", inst.ty()); }
    }
    println!("{:?}", job.program.state.code_addr);
    println!("{:?}", job.program.state.code_offset);
}
#[test]
fn debug2() {
    let seed: u64 = std::env::var("SEED2").unwrap().parse().unwrap();
    let mut rng = Rng::new(seed);
    let length = rng.between(1, 6);
    let job = words::job(&mut rng, u16::try_from(length).unwrap());
    for (i, inst) in job.program.code.iter().enumerate() {
        if inst.ty() == InstType::FC {
            println!("{i} {:?} func {:02x} any {} else {} b0 {:?} b1 {:?} pop {} a {:?} -> {} {} int {} bool {} pred {:?} inv {} ign {}", inst.fc_inst().op(), inst.fc_inst().jump_func(), inst.fc_inst().jump_any(), inst.fc_inst().b_else(), inst.fc_inst().b_op0(), inst.fc_inst().b_op1(), inst.fc_inst().b_pop_cnt(), inst.fc_inst().a_op(), inst.fc_addr().jump_addr(), inst.fc_addr().jump_global(), inst.fc_addr().int_addr(), inst.fc_addr().bool_addr(), inst.cmn().rgb_pred_sel(), inst.cmn().rgb_pred_inv(), inst.fc_inst().ignore_uncovered());
        } else { println!("{i} {:?}", inst.ty()); }
    }
    println!("{:?} {:?} {:?} {:?} {:?}", job.program.state.code_addr, job.program.state.code_offset, job.program.state.code_range, job.program.state.fc_bool_const, job.program.state.fc_int_const);
}
