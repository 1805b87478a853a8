//! Compares recordings with the engine that they step: the values of every step, the pixels of the
//! frame, stepping commands, and searches over an area.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::sync::Arc;

use common::{Inst, capture, constant, corpus, job};
use r500_exec::record::area::{find_first, heatmap};
use r500_exec::record::expr::{Channels, Comparison, FpClass};
use r500_exec::record::{Break, Direction, DrawSetup, End, Expr, Recording, Stop, Variable};
use r500_exec::reference::{Group, GroupState, Reference, Step};
use r500_exec::{Bindings, Draw, Limits, Options, PixelRect, RunError, Shader, draw};
use r500_isa::state::UsFcIntConst;
use r500_isa::values::{AddrOp, FcOp, RgbMask};
use r500_isa::words::{CmnInst, FcInst};
use r500_program::Job;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use Direction::{Backward, Forward};

fn setup(job: &Job, options: Options<'static>) -> DrawSetup {
    let size = job.size.unwrap_or([4, 4]);
    DrawSetup {
        shader: Arc::new(Shader::new(&job.program).unwrap()),
        bindings: Arc::new(Bindings::new(job, size).unwrap()),
        options,
    }
}

/// Runs a pixel step by step. Returns the state before each step, and the steps with their events.
fn stepped(setup: &DrawSetup, [x, y]: [u32; 2]) -> (Vec<GroupState>, Vec<Step>) {
    let draw = Draw::new(&setup.shader, &setup.bindings, &setup.options).unwrap();
    let mut group = Group::new(&draw, PixelRect { x: x & !3, y: y & !3, width: 4, height: 4 });
    group.watch(group.state().lane_at(x, y));
    let (mut states, mut steps) = (vec![group.state().clone()], Vec::new());
    while !group.ended() {
        steps.push(group.step().unwrap());
        states.push(group.state().clone());
    }
    (states, steps)
}

/// Returns the full state of a group as text, bit for bit.
fn held(state: &GroupState) -> String {
    format!("{state:?}")
}

/// Returns a random number below `n`.
fn below(rng: &mut SplitMix64, n: usize) -> usize {
    (rng.next_u64() % n as u64) as usize
}

#[test]
fn every_position_of_a_run_is_the_engines_wherever_one_comes_from() {
    let mut rng = SplitMix64::seed_from_u64(7);
    for (name, job) in corpus("mesa") {
        let [width, height] = job.size.unwrap();
        let pixel =
            [below(&mut rng, width as usize) as u32, below(&mut rng, height as usize) as u32];
        // Poison reveals state that a checkpoint does not keep.
        let setup = setup(&job, Options { poison: true, warnings: true, ..Options::default() });
        let (states, steps) = stepped(&setup, pixel);
        let mut recording = Recording::new(setup, pixel).unwrap();
        assert_eq!(recording.len(), steps.len(), "{name}");
        assert!(recording.addresses().eq(steps.iter().map(|step| step.address)), "{name}");
        assert_eq!(recording.end(), &End::Ended);
        let look = |recording: &Recording, at: usize| {
            assert_eq!(recording.position(), at, "{name}");
            let at_step = |n: Option<usize>| n.and_then(|n| steps.get(n));
            // NaN does not equal itself: compare the printed values.
            assert_eq!(
                format!("{:?}", recording.last_step()),
                format!("{:?}", at_step(at.checked_sub(1))),
                "{name} {at}"
            );
            assert_eq!(
                format!("{:?}", recording.next_step()),
                format!("{:?}", at_step(Some(at))),
                "{name} {at}"
            );
            assert_eq!(held(recording.now().state()), held(&states[at]), "{name} {at}");
            let after = recording.after().map(|snapshot| held(snapshot.state()));
            assert_eq!(after, states.get(at + 1).map(held), "{name} {at}");
        };
        look(&recording, 0);
        for _ in 0..6 {
            let to = below(&mut rng, recording.len() + 1);
            recording.seek(to);
            look(&recording, to);
            recording.step(Backward);
            look(&recording, to.saturating_sub(1));
            recording.step(Forward);
            recording.step(Forward);
            look(&recording, (to.saturating_sub(1) + 2).min(steps.len()));
        }
        recording.seek(usize::MAX);
        look(&recording, steps.len());
    }
}

#[test]
fn recording_outputs_equal_frame_pixel() {
    let mut rng = SplitMix64::seed_from_u64(11);
    for (name, job) in corpus("mesa") {
        let [width, height] = job.size.unwrap();
        let options = Options { threads: 1, ..Options::default() };
        for _ in 0..4 {
            let (x, y) =
                (below(&mut rng, width as usize) as u32, below(&mut rng, height as usize) as u32);
            let setup = setup(&job, options.clone());
            let area = PixelRect { x: x & !3, y: y & !3, width: 4, height: 4 };
            let some = Options { area: Some(area), ..options.clone() };
            let frame = draw(&Reference, &setup.shader, &setup.bindings, &some).unwrap();
            let mut recording = Recording::new(setup, [x, y]).unwrap();
            // Any pixel of the group can be inspected without another recording.
            for (dx, dy) in [(0, 0), (1, 2), (3, 3)] {
                assert!(recording.watch([area.x + dx, area.y + dy]));
                let pixel = recording.delivered();
                for target in 0..4 {
                    assert_eq!(
                        pixel.color[target].map(f32::to_bits),
                        frame.color(target, dx, dy).map(f32::to_bits),
                        "{name} {x},{y}"
                    );
                }
                let index = (dy * 4 + dx) as usize;
                assert_eq!(pixel.covered, frame.coverage()[index], "{name}");
                if let Some(depth) = frame.depth() {
                    let depth = depth[index].to_bits();
                    assert_eq!(pixel.depth.unwrap_or(0.0).to_bits(), depth, "{name}");
                }
            }
            assert!(!recording.watch([area.x + 4, area.y]), "not in the group");
        }
    }
}

/// 0 LOOP (2 iterations), 1 call @5, 2 ENDLOOP, 3 out, 4 (end) -, 5 work, 6 return.
fn loop_with_a_call() -> Job {
    let mut job = job(&[
        Inst::fc(FcOp::LOOP).set(FcInst::JUMP_ANY, true),
        Inst::jump(0xff, 5).set(FcInst::A_OP, AddrOp::PUSH),
        Inst::fc(FcOp::ENDLOOP).set(FcInst::JUMP_FUNC, 0xff).set(FcInst::JUMP_ANY, true),
        Inst::out(1),
        Inst::jump(0xff, 7),
        Inst::mov(1, constant(0)),
        Inst::jump(0xff, 0).set(FcInst::A_OP, AddrOp::POP),
        Inst::out(1),
    ]);
    // ENDLOOP jumps back to the instruction after LOOP.
    let endloop = &mut job.program.code[2];
    endloop.0[3] = r500_isa::words::FcAddr::default().with(r500_isa::words::FcAddr::JUMP_ADDR, 1).0;
    job
}

#[test]
fn loops_and_calls_are_stepped_over_and_left() {
    let mut recording =
        Recording::new(setup(&loop_with_a_call(), Options::default()), [1, 1]).unwrap();
    // Worked out by hand: two iterations, each with a call of two instructions.
    let addresses = [0, 1, 5, 6, 2, 1, 5, 6, 2, 3, 4, 7];
    assert!(recording.addresses().eq(addresses));

    // Over the complete loop, and back to its start.
    assert_eq!(recording.step_over(Forward), Stop::Reached);
    assert_eq!(recording.position(), 9);
    assert_eq!(recording.step_over(Backward), Stop::Reached);
    assert_eq!(recording.position(), 0);

    // Into the loop, over its call, and back over it.
    recording.step(Forward);
    assert_eq!((recording.now().address(), recording.now().state().loops().len()), (1, 1));
    recording.step_over(Forward);
    assert_eq!(recording.position(), 4);
    recording.step_over(Backward);
    assert_eq!(recording.position(), 1);

    // Into the call, out of it, out of the loop.
    recording.step(Forward);
    assert_eq!(recording.now().state().calls(), [2]);
    recording.step_out(Forward);
    assert_eq!(recording.now().address(), 2);
    recording.step_out(Forward);
    assert_eq!(recording.now().address(), 3);
    assert_eq!(recording.step_out(Forward), Stop::End);
    assert_eq!(recording.position(), 12);
    assert_eq!(recording.step(Forward), Stop::End);

    // From the last instruction of the loop past its end; in the first iteration that instruction jumps
    // back.
    recording.seek(4);
    assert_eq!(recording.until(Forward), Stop::Reached);
    assert_eq!((recording.position(), recording.now().address()), (6, 5));
    recording.seek(8);
    recording.until(Forward);
    assert_eq!(recording.now().address(), 3);

    // Backward from within the second call: before the call, before the loop.
    recording.seek(7);
    recording.step_out(Backward);
    assert_eq!(recording.position(), 5);
    recording.step_out(Backward);
    assert_eq!(recording.position(), 0);
    assert_eq!(recording.step_out(Backward), Stop::Start);
}

fn place(place: Variable) -> Expr {
    Expr::Variable(place)
}

fn number(n: f32) -> Expr {
    Expr::Number(n)
}

fn compare(op: Comparison, a: Expr, b: Expr) -> Expr {
    Expr::Compare(op, Box::new(a), Box::new(b))
}

/// Returns whether to stop at a position.
type Wanted<'a> = Box<dyn Fn(usize) -> bool + 'a>;

#[test]
fn breakpoints_are_the_same_in_both_directions() {
    let red = Channels::new(&[0]).unwrap();
    for name in ["loop_mandelbrot", "tex_mips", "scene_raymarch"] {
        let job = capture(name);
        let pixel = [21, 30];
        let setup = setup(&job, Options::default());
        let (states, steps) = stepped(&setup, pixel);
        let lane = states[0].lane_at(pixel[0], pixel[1]).unwrap();
        let lists: [(Vec<Break>, Wanted<'_>); 4] = [
            (
                vec![Break::At(7), Break::At(3)],
                Box::new(|at| {
                    steps.get(at).is_some_and(|step| step.address == 7 || step.address == 3)
                }),
            ),
            (
                vec![Break::If(place(Variable::AluResult))],
                Box::new(|at| {
                    let alu = |at: usize| states[at].lanes()[lane].alu_result;
                    alu(at) && !(at > 0 && alu(at - 1))
                }),
            ),
            (
                vec![Break::Changes(place(Variable::Temp(0, red)))],
                Box::new(|at| {
                    let red = |at: usize| states[at].lanes()[lane].temps[0][0].to_bits();
                    at > 0 && red(at) != red(at - 1)
                }),
            ),
            (
                vec![Break::At(2), Break::AtIf(5, place(Variable::Active))],
                Box::new(|at| {
                    steps.get(at).is_some_and(|step| {
                        let active = states[at].lanes()[lane].is_active();
                        step.address == 2 || step.address == 5 && active
                    })
                }),
            ),
        ];
        for (breaks, wanted) in lists {
            let wanted: Vec<usize> = (0..states.len()).filter(|&at| wanted(at)).collect();
            let mut recording = Recording::new(setup.clone(), pixel).unwrap();
            let mut forward: Vec<usize> =
                recording.breaks_here(&breaks).take(1).map(|_| 0).collect();
            while let Stop::Break(n) = recording.run(Forward, &breaks) {
                assert!(recording.breaks_here(&breaks).any(|here| here == n));
                forward.push(recording.position());
            }
            assert_eq!(recording.position(), recording.len());
            assert_eq!(forward, wanted, "{name} {breaks:?}");
            let mut backward = Vec::new();
            while let Stop::Break(_) = recording.run(Backward, &breaks) {
                backward.insert(0, recording.position());
            }
            assert_eq!(recording.position(), 0);
            assert_eq!(backward, wanted, "{name} {breaks:?} backward");
            // All hits, from any position.
            recording.seek(recording.len() / 2);
            let all = breaks.iter().flat_map(|stop| recording.hits(stop, None));
            let mut all: Vec<usize> = all.collect();
            all.sort_unstable();
            assert_eq!(all, wanted, "{name} {breaks:?} all");
            let red_is_low = compare(Comparison::Lt, place(Variable::Temp(0, red)), number(0.5));
            for stop in &breaks {
                let low = |at: &usize| states[*at].lanes()[lane].temps[0][0] < 0.5;
                let expected: Vec<usize> =
                    recording.hits(stop, None).into_iter().filter(low).collect();
                assert_eq!(recording.hits(stop, Some(&red_is_low)), expected, "{name} {stop:?}");
            }
        }
    }
}

#[test]
fn conditions_come_to_what_their_words_say() {
    // temp[0] = (x, y, 0, 1) of the pixel, const[0] = 1 everywhere.
    let recording =
        Recording::new(setup(&job(&[Inst::out(0)]), Options::default()), [2, 3]).unwrap();
    let holds = |expr: Expr| expr.holds(&recording.now());
    let temp = |list: &[u8]| place(Variable::Temp(0, Channels::new(list).unwrap()));
    assert!(holds(compare(Comparison::Eq, temp(&[0]), number(2.0))));
    assert!(holds(compare(Comparison::Gt, temp(&[1]), temp(&[0]))));
    assert!(!holds(compare(Comparison::Lt, temp(&[1]), temp(&[0]))));
    // Any channel, then all channels.
    let above = || compare(Comparison::Ge, temp(&[0, 1, 2]), number(2.0));
    assert!(holds(above()) && !holds(Expr::All(Box::new(above()))));
    assert_eq!((above().width(), Expr::All(Box::new(above())).width()), (3, 1));
    // 0 / 0 is NaN: it differs from everything and equals nothing.
    let nan = || {
        Expr::Arithmetic(
            r500_exec::record::expr::Arithmetic::Divide,
            Box::new(temp(&[2])),
            Box::new(temp(&[2])),
        )
    };
    assert!(holds(Expr::Is(FpClass::Nan, Box::new(nan()))));
    assert!(holds(compare(Comparison::Ne, nan(), nan())));
    assert!(!holds(compare(Comparison::Eq, nan(), nan())));
    assert!(!holds(Expr::Is(FpClass::Finite, Box::new(nan()))));
    assert!(holds(Expr::Is(FpClass::Zero, Box::new(Expr::Neg(Box::new(temp(&[2])))))));
    assert!(holds(Expr::Is(FpClass::Negative, Box::new(Expr::Neg(Box::new(temp(&[2])))))));
    let both = |a, b| Expr::And(Box::new(a), Box::new(b));
    assert!(holds(both(place(Variable::Active), place(Variable::Covered))));
    assert!(!holds(both(place(Variable::Active), place(Variable::Killed))));
    assert!(holds(Expr::Not(Box::new(place(Variable::AluResult)))));
    assert!(holds(compare(Comparison::Eq, place(Variable::X), number(2.0))));
    assert!(holds(compare(Comparison::Eq, place(Variable::Y), number(3.0))));
    assert!(Channels::new(&[]).is_none() && Channels::new(&[4]).is_none());
}

#[test]
fn heat_and_sightings_are_what_stepping_counts() {
    let job = capture("loop_mandelbrot");
    let setup = setup(&job, Options { threads: 2, ..Options::default() });
    // The area is not aligned to groups.
    let area = PixelRect { x: 17, y: 26, width: 9, height: 6 };
    let condition = place(Variable::AluResult);
    let heat = heatmap(&setup, area).unwrap();
    let seen = find_first(&setup, area, &condition).unwrap();
    let mut earliest = None;
    for i in 0..(area.width * area.height) {
        let (x, y) = (area.x + i % area.width, area.y + i / area.width);
        let (states, steps) = stepped(&setup, [x, y]);
        let lane = states[0].lane_at(x, y).unwrap();
        let active = steps.iter().filter(|step| step.event.as_ref().unwrap().active).count() as u64;
        let work = heat.activity[i as usize];
        assert_eq!((work.executed, work.waited), (active, steps.len() as u64 - active), "{x},{y}");
        let first = states.iter().position(|state| state.lanes()[lane].alu_result);
        assert_eq!(seen.first[i as usize], first.map(|at| at as u64), "{x},{y}");
        if let Some(first) = first
            && earliest.is_none_or(|(_, at)| (first as u64) < at)
        {
            earliest = Some(([x, y], first as u64));
        }
        let recording = Recording::new(setup.clone(), [x, y]).unwrap();
        assert_eq!(recording.activity()[recording.now().lane()], work);
    }
    assert!(earliest.is_some() && seen.earliest() == earliest);
    assert!(heat.activity.iter().any(|work| work.waited > 0), "pixels of this loop wait");
    assert_eq!((heat.stopped, seen.stopped), (0, 0));
    let outside = PixelRect { x: 60, y: 0, width: 5, height: 1 };
    assert!(matches!(find_first(&setup, outside, &condition), Err(RunError::AreaOutside { .. })));
}

#[test]
fn an_endless_program_is_kept_as_far_as_it_came() {
    let job = job(&[Inst::jump(0xff, 0), Inst::out(0)]);
    let limits = Limits { instructions: 1000, ..Limits::default() };
    let setup = setup(&job, Options { limits, ..Options::default() });
    let mut recording = Recording::new(setup.clone(), [0, 0]).unwrap();
    assert_eq!(recording.len(), 1000);
    let expected = RunError::Instructions { address: 0, pixel: [0, 0], limit: 1000 };
    assert_eq!(recording.end(), &End::Stopped(expected));
    assert_eq!(recording.run(Forward, &[]), Stop::End);
    assert_eq!(recording.position(), 1000);
    assert!(recording.next_step().is_none());
    assert!(!recording.delivered().color[0].iter().any(|&x| x != 0.0));
    let heat = heatmap(&setup, PixelRect { x: 0, y: 0, width: 4, height: 4 }).unwrap();
    assert_eq!((heat.stopped, heat.activity[5].executed), (1, 1000));
    assert!(Recording::new(setup, [4, 0]).is_err(), "outside the picture");
}

#[test]
fn seeking_in_a_long_run_takes_few_steps() {
    // 250 iterations of 100 iterations of three instructions, and the flow control: over 100,000 steps.
    let mut job = job(&[
        Inst::fc(FcOp::LOOP).set(FcInst::JUMP_ANY, true),
        Inst::fc(FcOp::REP).set(FcInst::JUMP_ANY, true).set(r500_isa::words::FcAddr::INT_ADDR, 1),
        Inst::mov(3, constant(0)).set(CmnInst::RGB_WMASK, RgbMask::RGB),
        Inst::mov(4, common::temp(0)),
        Inst::mov(5, common::temp(4)),
        Inst::fc(FcOp::ENDREP)
            .set(FcInst::JUMP_FUNC, 0xff)
            .set(FcInst::JUMP_ANY, true)
            .set(r500_isa::words::FcAddr::JUMP_ADDR, 2),
        Inst::fc(FcOp::ENDLOOP)
            .set(FcInst::JUMP_FUNC, 0xff)
            .set(FcInst::JUMP_ANY, true)
            .set(r500_isa::words::FcAddr::JUMP_ADDR, 1),
        Inst::out(5),
    ]);
    job.program.state.fc_int_const[0] = Some(UsFcIntConst(250));
    job.program.state.fc_int_const[1] = Some(UsFcIntConst(100));
    let mut recording = Recording::new(setup(&job, Options::default()), [1, 2]).unwrap();
    // LOOP, 250 times REP, 100 times three and ENDREP, ENDLOOP, and OUT.
    assert_eq!(recording.len(), 1 + 250 * (1 + 100 * 4 + 1) + 1);
    let mut rng = SplitMix64::seed_from_u64(3);
    for _ in 0..50 {
        let to = below(&mut rng, recording.len());
        recording.seek(to);
        // The instruction counter equals the position: no step was omitted or repeated.
        assert_eq!(recording.now().state().counters().instructions, to as u64);
    }
}
