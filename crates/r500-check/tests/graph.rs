//! Graphs, blocks, structure and definitions of hand-written programs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use r500_check::dataflow::{ChannelId, ChannelSet, Dataflow, DefiniteInit, Definition, Liveness};
use r500_check::graph::{EdgeKind, Graph, Node, Role, Statement, Structure, UnstructuredReason};
use r500_check::{Assumptions, LintCode, Stats, check};
use r500_isa::Instruction;
use r500_isa::state::UsCodeAddr;
use r500_isa::words::{AluAlphaInst, AluRgbaInst, FcAddr, FcInst};
use r500_program::Program;

fn recovered(program: &Program) -> (Graph, Structure) {
    let graph = Graph::new(program).unwrap();
    let structure = Structure::recover(&graph).unwrap();
    (graph, structure)
}

/// 0 mov, 1 LOOP, 2 test, 3 IF, 4 BREAK, 5 ENDIF, 6 ENDLOOP, 7 OUT.
#[test]
fn break_inside_if_is_recovered() {
    let program = LintCode::BreakDepth.good().program;
    let (graph, structure) = recovered(&program);
    let [
        Statement::Straight { first: 0, last: 0 },
        Statement::Loop { at: 1, body, end: 6 },
        Statement::Straight { first: 7, last: 7 },
    ] = structure.main.as_slice()
    else {
        panic!("{:?}", structure.main)
    };
    let [
        Statement::Straight { first: 2, last: 2 },
        Statement::If { at: 3, then, else_at: None, endif: Some(5), .. },
    ] = body.as_slice()
    else {
        panic!("{body:?}")
    };
    assert_eq!(then.as_slice(), [Statement::Break(4)]);
    assert_eq!(structure.roles[4], Some(Role::Break { exit: 7 }));
    // BREAK may leave the group in the loop for other pixels.
    assert_eq!(
        structure.pixel_edges(&graph),
        [(0, 1), (1, 2), (2, 3), (3, 4), (3, 5), (4, 7), (5, 6), (6, 2), (6, 7)]
    );
    let of = |at: usize| -> Vec<_> {
        graph.edges_from(at).iter().map(|edge| (edge.kind, edge.to)).collect()
    };
    assert_eq!(
        of(4),
        [(EdgeKind::NotTaken, Node::Instruction(5)), (EdgeKind::Break, Node::Instruction(7))]
    );
    assert_eq!(of(7), [(EdgeKind::End, Node::End)]);
    // Pixels diverge at the break, so the whole body runs with some pixels inactive.
    let divergent: Vec<usize> = (0..8).filter(|&at| structure.divergent[at]).collect();
    assert_eq!(divergent, [2, 3, 4, 5, 6]);
    // Four iterations, aL from 0 in steps of 1.
    let visit = graph.abstract_state(4).unwrap();
    assert_eq!(
        (visit.levels.exact(), visit.loops.exact(), visit.calls.exact()),
        (Some(1), Some(1), Some(0))
    );
    assert_eq!((visit.al.min, visit.al.max, visit.al.unknown), (0, 3, false));
    assert_eq!(graph.abstract_state(7).unwrap().al.max, 0);
}

#[test]
fn basic_blocks_include_the_natural_loop() {
    let graph = Graph::new(&LintCode::BreakDepth.good().program).unwrap();
    let blocks = graph.blocks();
    let spans: Vec<(usize, usize)> = blocks.blocks.iter().map(|b| (b.first, b.last)).collect();
    // IF jumps to 6, the instruction after the ENDIF at 5.
    assert_eq!(spans, [(0, 1), (2, 3), (4, 4), (5, 5), (6, 6), (7, 7)]);
    let dominators: Vec<Option<usize>> = blocks.blocks.iter().map(|b| b.dominator).collect();
    assert_eq!(dominators, [None, Some(0), Some(1), Some(2), Some(1), Some(1)]);
    assert_eq!(blocks.loops.len(), 1);
    assert_eq!(
        (blocks.loops[0].header, blocks.loops[0].blocks.as_slice()),
        (1, [1, 2, 3, 4].as_slice())
    );
    assert!(!blocks.irreducible && blocks.dominates(0, 5) && !blocks.dominates(2, 5));
    assert_eq!(blocks.containing(3), Some(1));
}

/// 0 CALL, 1 OUT (the end), 2 mov, 3 RETURN.
#[test]
fn call_and_return_are_recovered() {
    let program = LintCode::PartialFlowControl.good().program;
    let (graph, structure) = recovered(&program);
    assert_eq!(structure.subs.len(), 1);
    assert_eq!((structure.subs[0].entry, structure.subs[0].counted), (2, false));
    assert_eq!(structure.pixel_edges(&graph), [(0, 2), (2, 3), (3, 1)]);
    let kinds: Vec<EdgeKind> = graph.edges().iter().map(|edge| edge.kind).collect();
    assert_eq!(kinds, [EdgeKind::Call, EdgeKind::End, EdgeKind::Next, EdgeKind::Return]);
    assert_eq!(graph.abstract_state(2).unwrap().calls.exact(), Some(1));
    // The subroutine writes what OUT reads.
    let flow = Dataflow::new(&graph, Some(&structure));
    assert_eq!(flow.definitions(1, ChannelId::Temp(1, 0)), [Definition::At(2)]);
    assert_eq!(flow.uses(2, ChannelId::Temp(1, 0)), [1]);
}

/// 0 CALL, 1 mov, 2 CALL, 3 OUT (the end), 4 mov, 5 RETURN: the write of 1 reaches 3 on every path
/// that returns to its own call, although RETURN continues at 1 and at 3.
#[test]
fn return_continues_after_its_own_call() {
    let mut program = LintCode::PartialFlowControl.good().program;
    let [call, out, mov, back] = program.code[..] else { panic!("{:?}", program.code) };
    let to = |mut inst: Instruction, target| {
        inst.0[3] = inst.fc_addr().with(FcAddr::JUMP_ADDR, target).bits();
        inst
    };
    let mut second = mov;
    second.0[4] = mov.alpha_inst().with(AluAlphaInst::ALPHA_ADDRD, 2).bits();
    second.0[5] = mov.rgba_inst().with(AluRgbaInst::RGB_ADDRD, 2).bits();
    program.code = vec![to(call, 4), second, to(call, 4), out, mov, back];
    let end = UsCodeAddr(0).with(UsCodeAddr::END_ADDR, 3);
    program.state.code_addr = Some(end);
    program.state.code_range = None;
    let (graph, structure) = recovered(&program);
    let flow = Dataflow::new(&graph, Some(&structure));
    let written = DefiniteInit::of(&flow, &ChannelSet::EMPTY);
    let at = |at: usize| (1..=2).map(|t| written.always(at).temp(t)).collect::<Vec<_>>();
    // Before 4, either all channels or none were written.
    assert_eq!([at(0), at(1), at(2), at(3), at(4)].concat(), [0, 0, 15, 0, 15, 15, 15, 15, 0, 0]);
    let maybe = |at: usize| written.maybe(at).temp(2);
    assert_eq!([maybe(1), maybe(2), maybe(3), maybe(4)], [0, 15, 15, 15]);
}

/// 0 test, 1 mov, 2 IF, 3 mov, 4 ENDIF, 5 OUT: both writes of temp[1] may reach OUT.
#[test]
fn both_writes_reach_a_use_after_endif() {
    let program = LintCode::MissingAluWait.good().program;
    let (graph, structure) = recovered(&program);
    let flow = Dataflow::new(&graph, Some(&structure));
    let red = ChannelId::Temp(1, 0);
    assert_eq!(flow.definitions(5, red), [Definition::At(1), Definition::At(3)]);
    assert_eq!(flow.definitions(0, ChannelId::Temp(0, 0)), [Definition::Start]);
    assert_eq!((flow.uses(1, red), flow.uses(3, red)), (vec![5], vec![5]));
    let live = Liveness::of(&flow);
    assert_eq!(
        (live.live_out(1).temp(1), live.live_in(1).temp(1), live.live_out(5).temp(1)),
        (15, 0, 0)
    );
    assert!(
        live.live_out(0).contains(ChannelId::AluResult)
            && !live.live_out(2).contains(ChannelId::AluResult)
    );
    // Without the structure every write is conditional: the previous value may remain.
    let weak = Dataflow::new(&graph, None);
    assert!(weak.writes_are_conditional());
    assert_eq!(weak.definitions(5, red), [Definition::Start, Definition::At(1), Definition::At(3)]);
}

#[test]
fn divergent_jump_is_unstructured_with_its_reason() {
    let program = LintCode::Unstructured.bad().program;
    let graph = Graph::new(&program).unwrap();
    let error = Structure::recover(&graph).unwrap_err();
    assert_eq!(error.index, 2);
    assert!(error.reason == UnstructuredReason::DivergentJump, "{}", error.reason);
}

/// The deepest nesting in 512 slots: 500 nested jumps, in a thread with a small stack.
#[test]
fn five_hundred_nested_jumps_fit_a_small_stack() {
    let jump = |to: u16| {
        let inst = FcInst(0).with(FcInst::JUMP_FUNC, 0xaa);
        let addr = FcAddr(0).with(FcAddr::JUMP_ADDR, to);
        Instruction([2, 0, inst.bits(), addr.bits(), 0, 0])
    };
    let mut code: Vec<Instruction> = (0..500).map(|_| jump(500)).collect();
    code.push(Instruction([0x0007_8001, 0, 0x80, 0x00db_0220, 0x00c1_8003, 0x0049_0000]));
    let program = Program::from_code(code);
    let check = move || {
        let (graph, structure) = recovered(&program);
        let stats = Stats::of_graph(&program, &graph, Some(&structure));
        (stats.longest_path, check(&program, &Assumptions::default()).has_errors())
    };
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(check).unwrap();
    assert_eq!(thread.join().unwrap(), (501, false));
}

/// Programs with more instructions than the processor has slots are rejected quickly.
#[test]
fn hundred_thousand_instructions_are_rejected_quickly() {
    let program = Program::from_code(vec![Instruction([0x7800, 0, 0, 0x00db_0220, 0, 0]); 100_000]);
    let report = check(&program, &Assumptions::default());
    assert!(report.with_code(LintCode::PastSlots).next().is_some());
    assert!(Stats::of(&program).unwrap().instructions == 100_000);
}
