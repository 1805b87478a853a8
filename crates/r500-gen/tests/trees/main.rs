//! Hand-written trees against the hand-derived cases of the corpus: the same program, dword for
//! dword, and the same values in every pixel.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod build;

use build::*;
use r500_gen::tree::{
    Cond, Endif, IfForm, IfShape, Invalid, Layout, Leave, LoopForm, LoopKind, Return, Stmt, Sub,
    Tex, TexReg, Tree, Trim,
};
use r500_gen::{Case, Picture, PixelInput, oracle};
use r500_isa::Instruction;
use r500_isa::state::UsFcIntConst;
use r500_isa::values::{AddrOp, Compare, InstType, TexOp};
use r500_isa::words::FcAddr;
use serde_json::Value;

/// Asserts that a tree is a case of the corpus.
#[track_caller]
fn is_case(name: &str, mut tree: Tree) {
    let path = format!("{}/../../tests/corpus/cases/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let json: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    for (n, int) in json["us"]["US_FC_INT_CONST"].as_object().unwrap() {
        tree.ints[n.parse::<usize>().unwrap()] = UsFcIntConst(hex(int));
    }
    tree.bools = hex(&json["us"]["US_FC_BOOL_CONST"]);
    for constant in json["constants"].as_array().unwrap() {
        tree.constants.push([0, 1, 2, 3].map(|i| hex(&constant[i])));
    }
    tree.full_fc = json["us"]["US_FC_CTRL"] == "80000000";
    tree.check().unwrap();

    let program = tree.lower();
    let wanted: Vec<[u32; 6]> = json["program"]
        .as_array()
        .unwrap()
        .iter()
        .map(|inst| [0, 1, 2, 3, 4, 5].map(|i| hex(&inst[i])))
        .collect();
    for (n, (got, wanted)) in program.code.iter().zip(&wanted).enumerate() {
        let got = jump_target_of_pop_aside(*got, *wanted);
        assert_eq!(
            got.0, *wanted,
            "{name}, address {n}:\ngot    {:08x?}\nwanted {wanted:08x?}",
            got.0
        );
    }
    assert_eq!(program.code.len(), wanted.len());
    assert_eq!(program.state.code_addr.unwrap().bits(), hex(&json["us"]["US_CODE_ADDR"]));
    assert_eq!(program.state.code_range.unwrap().bits(), hex(&json["us"]["US_CODE_RANGE"]));
    assert_eq!(program.state.pixsize.unwrap().bits(), hex(&json["us"]["US_PIXSIZE"]));

    let number = |value: &Value| match value.as_str() {
        Some("inf") => f32::INFINITY,
        Some("-inf") => f32::NEG_INFINITY,
        Some(_) => f32::NAN,
        None => value.as_f64().unwrap() as f32,
    };
    let vector = |value: &Value| [0, 1, 2, 3].map(|i| number(&value[i]));
    let inputs = json["inputs"].as_array().unwrap().iter().map(|input| PixelInput {
        temp: u8::try_from(input["temp"].as_u64().unwrap()).unwrap(),
        values: input["values"].as_array().unwrap().iter().map(vector).collect(),
    });
    let size = [0, 1].map(|i| u32::try_from(json["size"][i].as_u64().unwrap()).unwrap());
    let picture = Picture { size, inputs: inputs.collect(), coverage: None };
    let outcomes = oracle::run(&Case { tree, picture });
    let wanted = json["expect"]["target0"].as_array().unwrap();
    assert_eq!(outcomes.len(), wanted.len());
    for (n, (got, wanted)) in outcomes.iter().zip(wanted).enumerate() {
        assert_eq!(got.color[0], vector(wanted), "{name}, pixel {n}");
    }
}

/// Clears the target of a POP, which the popped address replaces.
fn jump_target_of_pop_aside(got: Instruction, wanted: [u32; 6]) -> Instruction {
    let mut same = got;
    if got.cmn().ty() == InstType::FC && got.fc_inst().a_op() == AddrOp::POP {
        let target = Instruction(wanted).fc_addr().jump_addr();
        same.0[3] = got.fc_addr().with(FcAddr::JUMP_ADDR, target).bits();
    }
    same
}

fn hex(value: &Value) -> u32 {
    u32::from_str_radix(value.as_str().unwrap(), 16).unwrap()
}

/// Returns a program of the corpus: t1 cleared, then `body`, then t1 written.
fn between(body: Vec<Stmt>) -> Tree {
    let mut main = vec![clear()];
    main.extend(body);
    main.push(show());
    Tree::new(main)
}

const IF: Cond = Cond::ALU_RESULT;

#[test]
fn branches() {
    let arms = branch(IF, vec![count(1)], Some(vec![count(2)]));
    is_case("if_divergent", between(vec![below('r', 1.0), Stmt::If(arms), count(4)]));

    let inner = branch(IF, vec![count(1)], Some(vec![count(2)]));
    let outer = branch(IF, vec![below('g', 2.0), Stmt::If(inner)], Some(vec![count(4)]));
    is_case("if_nested_counters", between(vec![below('r', 2.0), Stmt::If(outer)]));
}

#[test]
fn one_endif_closes_two_levels() {
    let mut inner = branch(IF, vec![count(1)], None);
    inner.form.shape = IfShape::Merged;
    let outer = branch(IF, vec![below('g', 2.0), Stmt::If(inner)], None);
    is_case("endif_pop2", between(vec![below('r', 2.0), Stmt::If(outer), count(2)]));
}

#[test]
fn plain_jumps_by_booleans() {
    let unless = |cond: Cond, mask| {
        let mut node = branch(cond, vec![count(mask)], None);
        node.form.shape = IfShape::Plain;
        Stmt::If(node)
    };
    let body = vec![
        unless(Cond::boolean(3).not(), 1),
        unless(Cond::boolean(3), 2),
        unless(Cond::boolean(31), 4),
    ];
    is_case("bool_jump", between(body));
}

/// Returns a branch as Mesa emits it in loops: IF and BREAK ignore uncovered pixels.
fn ignoring(mut stmt: Stmt) -> Stmt {
    let ignore = Trim { ignore_uncovered: true, ..Trim::USUAL };
    match &mut stmt {
        Stmt::If(node) => node.form.trims[0] = ignore,
        Stmt::Loop(node) => node.form.trims = [ignore; 2],
        Stmt::Break(node) => node.trim = ignore,
        _ => {}
    }
    stmt
}

#[test]
fn breaks() {
    let out = ignoring(Stmt::If(branch(IF, vec![ignoring(brk())], None)));
    let mut node = repeat(LoopKind::Loop, 0, vec![count(1), below('r', 2.0), out, count(2)]);
    node.form = LoopForm::MESA;
    is_case("break_divergent", between(vec![ignoring(Stmt::Loop(node)), count(4)]));

    let inner = branch(IF, vec![brk()], None);
    let middle = branch(IF, vec![below('r', 1.0), Stmt::If(inner), count(2)], None);
    let body = vec![count(1), below('r', 3.0), Stmt::If(middle)];
    let node = Stmt::Loop(repeat(LoopKind::Loop, 0, body));
    let outer = branch(IF, vec![node, count(4)], None);
    is_case("break_two_ifs", between(vec![below('g', 3.0), Stmt::If(outer)]));
}

#[test]
fn break_by_predicate() {
    let leave = Stmt::Break(Leave { when: Some(P_R), ..Leave::ALWAYS });
    let mut passed = predicate(t(0), t(1), 1);
    if let Stmt::Alu(alu) = &mut passed {
        alu.alpha.sources[0] = inline(0.0);
    }
    let body = vec![count(1), passed, leave, count(2)];
    let node = repeat(LoopKind::Rep, 0, body);
    is_case("break_predicate", between(vec![Stmt::Loop(node), count(4)]));
}

#[test]
fn continues() {
    let leave = Stmt::Continue(Leave::ALWAYS);
    let skip = Stmt::If(branch(IF, vec![leave], None));
    let body = vec![count(1), below('r', 2.0), skip, count(2)];
    let node = repeat(LoopKind::Loop, 0, body);
    is_case("continue_divergent", between(vec![Stmt::Loop(node), count(4)]));
}

#[test]
fn loops() {
    let node = repeat(LoopKind::Rep, 0, vec![count(1)]);
    is_case("rep_zero", between(vec![Stmt::Loop(node)]));

    let relative = r500_isa::Source { addr: 0, constant: true, relative: true };
    let inner = repeat(LoopKind::Rep, 1, vec![add(1, relative)]);
    let outer = repeat(LoopKind::Loop, 0, vec![Stmt::Loop(inner)]);
    is_case("loop_rep_al", between(vec![Stmt::Loop(outer)]));
}

fn with_subs(body: Vec<Stmt>, subs: Vec<Sub>) -> Tree {
    Tree { subs, layout: Layout::Inside, ..between(body) }
}

fn sub(body: Vec<Stmt>, counted: bool) -> Sub {
    Sub { body, counted }
}

#[test]
fn calls() {
    let body = vec![call(0, None), count(2), call(0, None)];
    is_case("call_return", with_subs(body, vec![sub(vec![count(1)], false)]));

    let subs =
        vec![sub(vec![count(1), call(1, None), count(4)], false), sub(vec![count(2)], false)];
    is_case("call_nested", with_subs(vec![call(0, None)], subs));

    let body = vec![
        predicate(t(0), inline(2.0), 15),
        call(0, Some(P_R)),
        count(2),
        predicate(t(0), inline(0.0), 15),
        call(0, Some(P_R)),
        count(4),
    ];
    is_case("call_conditional", with_subs(body, vec![sub(vec![count(1)], true)]));

    let relative = r500_isa::Source { addr: 0, constant: true, relative: true };
    let node = Stmt::Loop(repeat(LoopKind::Loop, 0, vec![call(0, None)]));
    let outer = branch(IF, vec![node, count(2)], None);
    let body = vec![below('r', 3.0), Stmt::If(outer)];
    is_case("call_in_loop", with_subs(body, vec![sub(vec![add(1, relative)], false)]));
}

/// Word 2 (`US_FC_INST`) and word 3 (`US_FC_ADDR`) of the flow-control instructions of a program.
fn flow(tree: &Tree) -> Vec<(usize, u32, u32)> {
    tree.check().unwrap();
    let code = tree.lower().code;
    let flow = code.iter().enumerate().filter(|(_, inst)| inst.0[0] & 3 == 2);
    flow.map(|(n, inst)| (n, inst.0[2], inst.0[3])).collect()
}

// Fields of US_FC_INST: OP 2:0, B_ELSE 4, JUMP_ANY 5, A_OP 7:6, JUMP_FUNC 15:8, B_POP_CNT 20:16,
// B_OP0 25:24, B_OP1 27:26 (DECR 1, INCR 2), IGNORE_UNCOVERED 28; JUMP_ADDR is bits 24:16 of
// US_FC_ADDR.

#[test]
fn a_branch_may_fall_through_its_endif() {
    let mut node = branch(IF, vec![count(1)], Some(vec![count(2)]));
    node.form = IfForm { shape: IfShape::Through, else_any: true, ..IfForm::USUAL };
    node.form.endif = Endif::Either { table: 0x5a, any: false };
    // 0 compare, 1 IF, 2 then, 3 ELSE, 4 otherwise, 5 ENDIF, 6 idle.
    let tree = Tree::new(vec![below('r', 1.0), Stmt::If(node.clone())]);
    let wanted = [
        // INCR in both cases, after ELSE.
        (1, 0x0a00_0f00, 4 << 16),
        // No B_OP: ENDIF follows. ANY without active pixels never jumps.
        (3, 0x0000_0030, 5 << 16),
        // DECR 1 in both cases, to the next instruction.
        (5, 0x0501_5a00, 6 << 16),
    ];
    assert_eq!(flow(&tree), wanted);

    node.otherwise = None;
    node.form.endif = Endif::Always;
    let tree = Tree::new(vec![below('r', 1.0), Stmt::If(node)]);
    // IF targets ENDIF with the level open; ENDIF always jumps.
    assert_eq!(flow(&tree), [(1, 0x0a00_0f00, 3 << 16), (3, 0x0401_ff00, 4 << 16)]);
}

#[test]
fn merged_branches_close_what_they_jump_over() {
    let mut innermost = branch(IF, vec![count(1)], Some(vec![count(2)]));
    innermost.form.shape = IfShape::Merged;
    let mut inner = branch(IF, vec![Stmt::If(innermost)], None);
    inner.form.shape = IfShape::Merged;
    let outer = branch(IF, vec![count(4)], Some(vec![Stmt::If(inner)]));
    // 0 IF, 1 then, 2 ELSE, 3 IF, 4 IF, 5 then, 6 ELSE, 7 otherwise, 8 ENDIF, 9 idle.
    let wanted = [
        (0, 0x0a00_0f00, 3 << 16),
        // Never taken: its own level, after ENDIF.
        (2, 0x0401_0010, 9 << 16),
        // If all skip it, the outer level is closed as well.
        (3, 0x0601_0f00, 9 << 16),
        (4, 0x0a00_0f00, 7 << 16),
        // The third level: two around it and its own.
        (6, 0x0403_0010, 9 << 16),
        (8, 0x0103_0020, 9 << 16),
    ];
    assert_eq!(flow(&Tree::new(vec![Stmt::If(outer)])), wanted);
}

#[test]
fn leaving_closes_the_levels_within_the_loop_only() {
    // A loop in a branch, a plain jump and a counted branch in the loop, with exits from the latter.
    let mut plain = branch(Cond::boolean(1), vec![], None);
    plain.then = vec![Stmt::If(branch(IF, vec![Stmt::Continue(Leave::ALWAYS), brk()], None))];
    plain.form.shape = IfShape::Plain;
    let node = Stmt::Loop(repeat(LoopKind::Rep, 7, vec![Stmt::If(plain), brk()]));
    let mut tree = Tree::new(vec![Stmt::If(branch(P_R, vec![node], None))]);
    tree.ints[7] = UsFcIntConst(1);
    // 0 IF, 1 REP, 2 plain, 3 IF, 4 CONTINUE, 5 BREAK, 6 ENDIF, 7 BREAK, 8 ENDREP, 9 ENDIF.
    let wanted = [
        (0, 0x0200_3300, 10 << 16),
        (1, 0x0000_0023, 9 << 16 | 7 << 8),
        (2, 0x0000_5500, 7 << 16 | 1),
        (3, 0x0200_0f00, 7 << 16),
        (4, 0x0401_ff07, 8 << 16),
        (5, 0x0401_ff06, 9 << 16),
        (6, 0x0101_0020, 7 << 16),
        (7, 0x0000_ff06, 9 << 16),
        (8, 0x0000_ff24, 2 << 16 | 7 << 8),
        (9, 0x0101_0020, 10 << 16),
    ];
    assert_eq!(flow(&tree), wanted);
    // IF's predicate is in the common word: RRRR is 2, at bit 3; ALU_WAIT is bit 10.
    assert_eq!(tree.lower().code[0].0[0], 0x0000_0412);
}

#[test]
fn subroutines_may_stand_anywhere() {
    let early = Stmt::If(branch(Cond::boolean(2), vec![ret(None)], None));
    let subs = vec![sub(vec![early, ret(Some(Cond::boolean(5))), count(1)], true)];
    let main = vec![call(0, Some(P_R)), count(2)];
    let base = Tree { subs, ..Tree::new(main) };
    // The call: CC, ANY, PUSH (2), INCR. Within the subroutine, from its start: 0 IF (over a
    // RETURN that closes two levels), 1 RETURN, 2 ENDIF, 3 RETURN by boolean, 5 RETURN.
    let code = |start: u32, at: usize| {
        let within = |n: u32, inst: u32, target: u32, rest: u32| {
            ((start + n) as usize, inst, (start + target) << 16 | rest)
        };
        let mut all = vec![
            (at, 0x0800_cca0, start << 16),
            within(0, 0x0200_5500, 3, 2),
            within(1, 0x0402_ff40, 2, 0),
            within(2, 0x0101_0020, 3, 0),
            within(3, 0x0401_aa40, 4, 5),
            within(5, 0x0401_ff40, 6, 0),
        ];
        all.sort_unstable();
        all
    };
    let after = Tree { layout: Layout::AfterMain, ..base.clone() };
    assert_eq!(flow(&after), code(2, 0));
    assert_eq!(after.lower().state.code_addr.unwrap().bits(), 1 << 16);
    let front = Tree { layout: Layout::Front, ..base.clone() };
    assert_eq!(flow(&front), code(0, 6));
    assert_eq!(front.lower().state.code_addr.unwrap().bits(), 7 << 16 | 6);
    let inside = Tree { layout: Layout::Inside, ..base };
    let mut wanted = code(2, 0);
    wanted.insert(1, (1, 0x0000_ff00, 8 << 16));
    assert_eq!(flow(&inside), wanted);
    assert_eq!(inside.lower().state.code_addr.unwrap().bits(), 8 << 16);
}

#[test]
fn global_targets_count_from_the_start_of_the_memory() {
    let mut node = branch(IF, vec![count(1)], None);
    node.form.trims[0].global = true;
    let tree = Tree { offset: 100, ..Tree::new(vec![Stmt::If(node)]) };
    assert_eq!(flow(&tree), [(0, 0x0200_0f00, 1 << 31 | 103 << 16), (2, 0x0101_0020, 3 << 16)]);
    let state = tree.lower().state;
    assert_eq!(state.code_offset.unwrap().bits(), 100);
    assert_eq!(state.code_range.unwrap().bits(), 3 << 16 | 100);
    assert_eq!(state.code_addr.unwrap().bits(), 3 << 16);
}

#[test]
fn kills_are_encoded_and_done() {
    // As in the corpus: source t5, destination t7, both unswizzled, nothing written.
    let kill = Tex {
        op: TexOp::TEXKILL,
        acquire: true,
        coord: TexReg::temp(5),
        dest: r500_gen::tree::Dest::temp(7),
        hints: r500_gen::tree::Hints { tex_sem_wait: true, ..Default::default() },
        ..Tex::IDLE
    };
    let tree = Tree::new(vec![Stmt::Tex(kill), show()]);
    assert_eq!(tree.lower().code[0].0, [0x0000_0007, 0x0280_0000, 0xe407_e405, 0, 0, 0]);

    let values = [0.0, -0.0, f32::NAN, -1e-40, -1.0, 1.0];
    let coordinates = values.map(|x| [1.0, x, 1.0, 1.0]);
    let inputs = [(1, [[1.0; 4]; 6]), (5, coordinates)];
    let inputs = inputs.map(|(temp, values)| PixelInput { temp, values: values.to_vec() });
    let picture = Picture { size: [6, 1], inputs: inputs.to_vec(), coverage: None };
    let outcomes = oracle::run(&Case { tree, picture });
    // Only values less than zero kill: no zero, no denormal, no NaN.
    let covered: Vec<_> = outcomes.iter().map(|pixel| pixel.covered).collect();
    assert_eq!(covered, [true, true, true, true, false, true]);
    assert_eq!(outcomes[4].color[0], [0.0; 4]);
    assert_eq!(outcomes[5].color[0], [1.0; 4]);
}

#[test]
fn senseless_trees_are_refused() {
    let check = |tree: &Tree| tree.check().unwrap_err();
    let with = |stmt: Stmt| Tree::new(vec![stmt]);
    let rep = |body: Vec<Stmt>| {
        let mut tree = with(Stmt::Loop(repeat(LoopKind::Rep, 0, body)));
        tree.ints[0] = UsFcIntConst(2);
        tree
    };
    assert_eq!(check(&with(brk())), Invalid::LeavesNoLoop);
    assert_eq!(check(&with(call(0, None))), Invalid::Call);
    assert_eq!(check(&with(ret(None))), Invalid::Return);

    let mut plain = branch(IF, vec![], None);
    plain.form.shape = IfShape::Plain;
    assert_eq!(check(&with(Stmt::If(plain))), Invalid::PlainBranch);
    let mut merged = branch(IF, vec![], None);
    merged.form.shape = IfShape::Merged;
    assert_eq!(check(&with(Stmt::If(merged.clone()))), Invalid::Merged);
    let early = branch(IF, vec![Stmt::If(merged.clone()), count(1)], None);
    assert_eq!(check(&with(Stmt::If(early))), Invalid::Merged);
    let before_else = branch(IF, vec![Stmt::If(merged)], Some(vec![]));
    assert_eq!(check(&with(Stmt::If(before_else))), Invalid::Merged);

    let mut tree = rep(vec![]);
    if let Stmt::Loop(node) = &mut tree.main[0] {
        node.form.past_end = false;
    }
    assert_eq!(tree.check(), Ok(()));
    tree.ints[0] = UsFcIntConst(0);
    assert_eq!(check(&tree), Invalid::EmptyLoop);
    assert_eq!(check(&Tree { full_fc: false, ..rep(vec![]) }), Invalid::PartialFlowControl);

    // aL is 4, 2, 0 in three iterations from 4 in steps of -2.
    let relative = |addr| r500_isa::Source { addr, constant: false, relative: true };
    let mut tree = with(Stmt::Loop(repeat(LoopKind::Loop, 0, vec![add(1, relative(28))])));
    tree.ints[0] = UsFcIntConst(0x00fe_0403);
    assert_eq!(tree.check(), Ok(()));
    tree.ints[0] = UsFcIntConst(0x00ef_0403);
    assert_eq!(check(&tree), Invalid::Temporary(28 + 4 - 34));
    tree.ints[0] = UsFcIntConst(0x00fe_0403);
    tree.pixsize = 31;
    assert_eq!(check(&tree), Invalid::Temporary(32));
    assert_eq!(
        check(&with(add(1, r500_isa::Source { constant: true, ..t(0) }))),
        Invalid::Constant(0)
    );

    let subs = vec![sub(vec![call(0, None)], false)];
    assert_eq!(check(&Tree { subs, ..with(call(0, None)) }), Invalid::Call);
    let subs = vec![sub(vec![], false)];
    assert_eq!(check(&Tree { subs, ..with(call(0, Some(P_R))) }), Invalid::ConditionalCall);
    for arm in [branch(IF, vec![ret(None)], None), branch(P_R, vec![], Some(vec![ret(None)]))] {
        let subs = vec![sub(vec![Stmt::If(arm)], true)];
        assert_eq!(check(&Tree { subs, ..with(call(0, None)) }), Invalid::Return);
    }
    let subs = vec![sub(vec![Stmt::Return(Return { when: Some(IF), trim: Trim::USUAL })], true)];
    assert_eq!(check(&Tree { subs, ..with(call(0, None)) }), Invalid::Return);
    // An arm that runs without an active pixel.
    let mut arm = branch(Cond::boolean(0), vec![], Some(vec![ret(None)]));
    arm.form.else_any = true;
    let subs = vec![sub(vec![Stmt::If(arm)], true)];
    assert_eq!(check(&Tree { subs, ..with(call(0, None)) }), Invalid::Return);

    let mut deep = vec![];
    for _ in 0..32 {
        deep = vec![Stmt::If(branch(IF, deep, None))];
    }
    assert_eq!(Tree::new(deep.clone()).check(), Ok(()));
    let five = Tree { full_fc: false, ..Tree::new(deep.clone()) };
    assert_eq!(check(&five), Invalid::Depth);
    assert_eq!(check(&with(Stmt::If(branch(IF, deep, None)))), Invalid::Depth);
    assert_eq!(check(&Tree { offset: 512, ..with(count(1)) }), Invalid::Size(515));
}

#[test]
fn differences_need_all_four_pixels() {
    let mut stmt = count(1);
    if let Stmt::Alu(alu) = &mut stmt {
        alu.rgb.op = r500_isa::values::RgbOp::MDH;
    }
    let check = |stmt: Stmt| Tree::new(vec![stmt]).check();
    assert_eq!(check(stmt.clone()), Ok(()));
    let when = |cond| Stmt::If(branch(cond, vec![stmt.clone()], None));
    assert_eq!(check(when(Cond::boolean(0))), Ok(()));
    assert_eq!(check(when(IF)), Err(Invalid::Derivative));
    let repeated = |body| {
        let mut tree = Tree::new(vec![Stmt::Loop(repeat(LoopKind::Rep, 0, body))]);
        tree.ints[0] = UsFcIntConst(2);
        tree.check()
    };
    assert_eq!(repeated(vec![stmt.clone()]), Ok(()));
    assert_eq!(repeated(vec![stmt.clone(), brk()]), Err(Invalid::Derivative));
    let ignore = ignoring(Stmt::If(branch(IF, vec![], None)));
    assert_eq!(Tree::new(vec![stmt.clone(), ignore]).check(), Err(Invalid::Derivative));
}

#[test]
fn trees_read_like_programs() {
    let leave = Stmt::Break(Leave { when: Some(P_R.not()), ..Leave::ALWAYS });
    let body = vec![count(3), compare(t(0), 'g', t(1), Compare::GE), leave];
    let node = repeat(LoopKind::Loop, 4, body);
    let arms = branch(IF, vec![Stmt::Loop(node)], Some(vec![call(0, None)]));
    let mut tree = Tree { subs: vec![sub(vec![], true)], ..between(vec![Stmt::If(arms)]) };
    tree.ints[4] = UsFcIntConst(0x00ff_0203);
    let wanted = "\
state: zero rule off, temporaries to t32, full flow control, code at 0, subroutines AfterMain
main:
  t1.rgb = MAD(#0.rgb, .111, .000); t1.a = MAD(#0.a, .1, .0)
  if alu {
    loop 3 times, aL = 2 step -1 (i4) { (any)
      t1.rg = MAD(t1.rgb, .111, #1.rgb)
      (rgb) = MAD(t0.g00, .111, -t1.r00); alu = red >= 0
      break if !p.r
    } (any)
  } else {
    call sub0 (any)
  }
  out A.rgb = MAD(t1.rgb, .111, .000); A.a = MAD(t1.a, .1, .0) tex_wait
sub0 (counted):
";
    assert_eq!(tree.to_string(), wanted);
}
