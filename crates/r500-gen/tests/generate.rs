//! The generator: valid trees, the same for the same seed, with every kind of statement, operand and encoding within
//! some seeds.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};

use r500_gen::tree::{Alu, Cond, Half, If, IfShape, Leave, Loop, Pred, Stmt, Tex, Tree};
use r500_gen::{Bytes, Case, Choices, Rng, Shape, oracle};
use r500_isa::values::{AlphaOp, PredSel, RgbOp, TexOp};
use r500_isa::{FieldValue, Source};

fn case(seed: u64) -> Case {
    Case::generate(&mut Rng::new(seed), &Shape::default())
}

#[test]
fn trees_make_sense_and_stay_within_their_shape() {
    let small = Shape { size: [3, 5], instructions: 30, work: 200, depth: 2, ..Shape::default() };
    let plain = Shape {
        loops: false,
        calls: false,
        kills: false,
        derivatives: false,
        specials: false,
        ..Shape::default()
    };
    let large = Shape { instructions: 480, work: 50_000, depth: 30, ..Shape::default() };
    for seed in 0..150 {
        for shape in [Shape::default(), small, plain, large] {
            let case = Case::generate(&mut Rng::new(seed), &shape);
            case.tree.check().unwrap_or_else(|error| panic!("seed {seed}: {error}\n{case}"));
            let code = case.tree.lower().code.len();
            assert!(code <= shape.instructions as usize + 16, "seed {seed}: {code} instructions");
            let pixels = (shape.size[0] * shape.size[1]) as usize;
            assert!(case.picture.inputs.iter().all(|input| input.values.len() == pixels));
            let found = features(&case);
            for (on, marks) in [
                (shape.loops, ["loop ", "break"]),
                (shape.calls, ["call ", "return"]),
                (shape.kills, ["tex TEXKILL"; 2]),
                (shape.derivatives, ["rgb MDH", "alpha MDV"]),
            ] {
                let has = |mark: &str| found.iter().any(|name| name.starts_with(mark));
                assert!(on || !marks.into_iter().any(has), "seed {seed}: {marks:?}");
            }
        }
    }
}

#[test]
fn a_seed_always_gives_the_same_case() {
    for seed in 0..50 {
        // As text, because NaN does not equal itself.
        assert_eq!(format!("{:?}", case(seed)), format!("{:?}", case(seed)));
    }
    let different: BTreeSet<_> = (0..50).map(|seed| format!("{:?}", case(seed))).collect();
    assert_eq!(different.len(), 50);
}

#[test]
fn any_bytes_give_a_case() {
    let nothing = Case::generate(&mut Bytes::new(&[]), &Shape::default());
    assert_eq!(nothing.tree.main.len(), 1, "{nothing}");
    let mut rng = Rng::new(1);
    let mut sizes = BTreeSet::new();
    for _ in 0..300 {
        // Constants and pixels need some thousand bytes of their own.
        let length = rng.below(20_000) as usize;
        let bytes: Vec<u8> = (0..length).map(|_| rng.below(256) as u8).collect();
        let case = Case::generate(&mut Bytes::new(&bytes), &Shape::default());
        case.tree.check().unwrap_or_else(|error| panic!("{error}\n{case}"));
        sizes.insert(case.tree.lower().code.len());
    }
    assert!(sizes.len() > 40, "{sizes:?}");
}

#[test]
fn pixels_take_different_ways() {
    let mut ways = BTreeMap::new();
    for seed in 0..500 {
        let outcomes = oracle::run(&case(seed));
        let paths: BTreeSet<_> = outcomes.iter().map(|pixel| pixel.path).collect();
        *ways.entry(paths.len()).or_insert(0) += 1;
    }
    // Of 500 programs most diverge, and some have many paths.
    let with = |least: usize| ways.range(least..).map(|(_, count)| count).sum::<u32>();
    assert!(with(2) > 350 && with(5) > 100 && with(12) > 10, "{ways:?}");
}

#[test]
fn everything_comes_up() {
    let mut missing = everything();
    for seed in 0..3000 {
        for name in features(&case(seed)) {
            missing.remove(&name);
        }
    }
    assert!(missing.is_empty(), "never in 3000 programs: {missing:#?}");
}

/// Returns the names of all features.
fn everything() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let mut add = |name: String| {
        all.insert(name);
    };
    RgbOp::VALUES.iter().for_each(|op| add(format!("rgb {:?}", RgbOp::new(op.code as u8))));
    AlphaOp::VALUES.iter().for_each(|op| add(format!("alpha {:?}", AlphaOp::new(op.code as u8))));
    TexOp::VALUES.iter().for_each(|op| add(format!("tex {:?}", TexOp::new(op.code as u8))));
    for half in ["rgb", "alpha"] {
        (0..8).for_each(|omod| add(format!("{half} omod {omod}")));
        (0..4).for_each(|srcp| add(format!("{half} srcp {srcp}")));
        for slot in 0..3 {
            (0..4).for_each(|sel| add(format!("{half} operand {slot} sel {sel}")));
            (0..8).for_each(|swiz| add(format!("{half} operand {slot} swizzle {swiz}")));
            (0..4).for_each(|modifier| add(format!("{half} operand {slot} mod {modifier}")));
            for kind in ["temp", "temp[aL]", "constant", "constant[aL]", "inline"] {
                add(format!("{half} source {slot} {kind}"));
            }
        }
        for name in ["clamp", "dest[aL]", "wmask 0", "wmask 1"] {
            add(format!("{half} {name}"));
        }
        (0..4).for_each(|compare| add(format!("{half} sets predicate {compare}")));
        (0..4).for_each(|target| add(format!("{half} target {target}")));
    }
    (0..8).for_each(|mask| add(format!("rgb wmask {mask}")));
    for what in ["alu rgb", "alu alpha", "out rgb", "out alpha", "tex rgb", "tex alpha"] {
        for sel in 0..6 {
            add(format!("{what} predicate {sel}"));
            add(format!("{what} predicate {sel} inverted"));
        }
    }
    for (sel, op) in [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2), (1, 3)] {
        add(format!("alu result {sel} {op}"));
    }
    for name in ["depth", "last", "nop", "alu_wait", "tex_sem_wait", "stat_we", "tex[aL]"] {
        add(name.to_owned());
    }
    for shape in ["Usual", "Through", "Merged", "Plain"] {
        add(format!("if {shape}"));
        add(format!("if {shape} else"));
        add(format!("if {shape} else any"));
    }
    for form in ["Never", "Always", "Either"] {
        add(format!("endif {form}"));
    }
    for cond in ["alu", "not alu", "bool", "not bool", "table", "NONE", "NONE inverted", "RGBA"] {
        add(format!("condition {cond}"));
    }
    for sel in 2..6 {
        add(format!("condition predicate {sel}"));
        add(format!("condition predicate {sel} inverted"));
    }
    for kind in ["Loop", "Rep"] {
        for form in ["any", "all", "past end", "at end", "end any", "end all"] {
            add(format!("loop {kind} {form}"));
        }
        for passes in ["0", "1", "some", "255"] {
            add(format!("loop {kind} passes {passes}"));
        }
        for leave in ["break", "continue"] {
            for when in ["always", "sometimes"] {
                (0..4).for_each(|depth| add(format!("{leave} {kind} {when} depth {depth}")));
            }
        }
    }
    for name in ["break any", "continue any", "aL negative", "loops nested 3", "merged twice"] {
        add(name.to_owned());
    }
    for name in ["always", "sometimes", "plain", "counted", "all", "any", "in loop", "in branch"] {
        add(format!("call {name}"));
    }
    for name in ["call in sub", "return", "return if", "return at depth", "differences in loop"] {
        add(name.to_owned());
    }
    for what in ["if", "else", "endif", "loop", "end", "leave", "call"] {
        add(format!("{what} ignore_uncovered"));
        add(format!("{what} global"));
    }
    for layout in ["AfterMain", "Front", "Inside"] {
        add(format!("layout {layout}"));
    }
    for name in ["offset", "partial", "zero rule", "no zero rule", "coverage", "127 temporaries"] {
        add(name.to_owned());
    }
    all
}

/// Returns the names of the features of a case.
fn features(case: &Case) -> BTreeSet<String> {
    let tree = &case.tree;
    let mut seen = Seen { tree, names: BTreeSet::new() };
    seen.add(format!("layout {:?}", tree.layout));
    let marks = [
        (tree.offset != 0, "offset"),
        (!tree.full_fc, "partial"),
        (tree.zero_rule, "zero rule"),
        (!tree.zero_rule, "no zero rule"),
        (case.picture.coverage.is_some(), "coverage"),
        (tree.pixsize == 127, "127 temporaries"),
    ];
    marks.into_iter().filter(|(on, _)| *on).for_each(|(_, name)| seen.add(name.to_owned()));
    seen.list(&tree.main, &Way::default());
    for sub in &tree.subs {
        seen.list(&sub.body, &Way { sub: true, ..Way::default() });
    }
    seen.names
}

/// The context of a statement in its body.
#[derive(Clone, Default)]
struct Way {
    sub: bool,
    loops: Vec<String>,
    branches: usize,
    /// Branches since the innermost loop.
    levels: usize,
    merged: bool,
}

struct Seen<'a> {
    tree: &'a Tree,
    names: BTreeSet<String>,
}

impl Seen<'_> {
    fn add(&mut self, name: String) {
        self.names.insert(name);
    }

    fn list(&mut self, list: &[Stmt], way: &Way) {
        list.iter().for_each(|stmt| self.stmt(stmt, way));
    }

    fn stmt(&mut self, stmt: &Stmt, way: &Way) {
        match stmt {
            Stmt::Alu(alu) => self.alu(alu, way),
            Stmt::Tex(tex) => self.tex(tex),
            Stmt::If(node) => self.branch(node, way),
            Stmt::Loop(node) => self.repeat(node, way),
            Stmt::Break(node) => self.leave("break", node, way),
            Stmt::Continue(node) => self.leave("continue", node, way),
            Stmt::Call(node) => {
                let counted = self.tree.subs[usize::from(node.sub)].counted;
                self.trim("call", node.trim);
                self.add(format!("call {}", if counted { "counted" } else { "plain" }));
                self.add(format!("call {}", if node.any { "any" } else { "all" }));
                let when = node.when.map(|cond| self.condition(cond));
                self.add(format!("call {}", if when.is_some() { "sometimes" } else { "always" }));
                for (on, name) in [
                    (way.sub, "call in sub"),
                    (!way.loops.is_empty(), "call in loop"),
                    (way.branches != 0, "call in branch"),
                ] {
                    if on {
                        self.add(name.to_owned());
                    }
                }
            }
            Stmt::Return(node) => {
                let when = node.when.map(|cond| self.condition(cond));
                self.add(if when.is_some() { "return if" } else { "return" }.to_owned());
                if way.levels != 0 {
                    self.add("return at depth".to_owned());
                }
            }
        }
    }

    fn branch(&mut self, node: &If, way: &Way) {
        let If { form, .. } = node;
        self.condition(node.cond);
        let shape = form.shape;
        self.add(format!("if {shape:?}"));
        if node.otherwise.is_some() {
            self.add(format!("if {shape:?} else"));
            if form.else_any {
                self.add(format!("if {shape:?} else any"));
            }
        }
        let endif = format!("{:?}", form.endif);
        self.add(format!("endif {}", endif.split(' ').next().unwrap()));
        for (name, trim) in ["if", "else", "endif"].into_iter().zip(form.trims) {
            self.trim(name, trim);
        }
        let merged = shape == IfShape::Merged;
        if merged && way.merged {
            self.add("merged twice".to_owned());
        }
        let inside = Way {
            branches: way.branches + 1,
            levels: way.levels + usize::from(shape != IfShape::Plain),
            merged,
            ..way.clone()
        };
        self.list(&node.then, &inside);
        self.list(node.otherwise.as_deref().unwrap_or_default(), &inside);
    }

    fn repeat(&mut self, node: &Loop, way: &Way) {
        let kind = format!("{:?}", node.kind);
        let form = node.form;
        let int = self.tree.int(node.int);
        let passes = match int.kr() {
            0 => "0",
            1 => "1",
            255 => "255",
            _ => "some",
        };
        for name in [
            if form.any { "any" } else { "all" },
            if form.past_end { "past end" } else { "at end" },
            if form.end_any { "end any" } else { "end all" },
            &format!("passes {passes}"),
        ] {
            self.add(format!("loop {kind} {name}"));
        }
        if kind == "Loop" && i32::from(int.kg()) + i32::from(int.kb()) < 0 && int.kr() > 1 {
            self.add("aL negative".to_owned());
        }
        self.trim("loop", form.trims[0]);
        self.trim("end", form.trims[1]);
        let mut loops = way.loops.clone();
        loops.push(kind);
        if loops.len() == 3 {
            self.add("loops nested 3".to_owned());
        }
        self.list(&node.body, &Way { loops, levels: 0, ..way.clone() });
    }

    fn leave(&mut self, what: &str, node: &Leave, way: &Way) {
        let kind = way.loops.last().unwrap();
        self.trim("leave", node.trim);
        if node.any {
            self.add(format!("{what} any"));
        }
        let when = node.when.map(|cond| self.condition(cond));
        let when = if when.is_some() { "sometimes" } else { "always" };
        self.add(format!("{what} {kind} {when} depth {}", way.levels));
    }

    fn condition(&mut self, cond: Cond) {
        let name = match cond.table {
            0xf0 => "alu",
            0x0f => "not alu",
            0xaa => "bool",
            0x55 => "not bool",
            0xcc | 0x33 => {
                let inverted = if cond.pred.inv { " inverted" } else { "" };
                self.add(format!("condition predicate {}{inverted}", cond.pred.sel.code()));
                return;
            }
            _ => match cond.pred.sel {
                PredSel::NONE if cond.pred.inv => "NONE inverted",
                PredSel::NONE => "NONE",
                PredSel::RGBA => "RGBA",
                _ => "table",
            },
        };
        self.add(format!("condition {name}"));
    }

    fn trim(&mut self, what: &str, trim: r500_gen::tree::Trim) {
        if trim.ignore_uncovered {
            self.add(format!("{what} ignore_uncovered"));
        }
        if trim.global {
            self.add(format!("{what} global"));
        }
    }

    fn alu(&mut self, alu: &Alu, way: &Way) {
        self.add(format!("rgb {:?}", alu.rgb.op));
        self.add(format!("alpha {:?}", alu.alpha.op));
        self.half("rgb", &alu.rgb, alu.out);
        self.half("alpha", &alu.alpha, alu.out);
        if let Some((sel, op)) = alu.result {
            self.add(format!("alu result {} {}", sel.code(), op.code()));
        }
        if alu.is_derivative() && !way.loops.is_empty() {
            self.add("differences in loop".to_owned());
        }
        let hints = alu.hints;
        for (on, name) in [
            (alu.depth && alu.out, "depth"),
            (hints.last, "last"),
            (hints.nop, "nop"),
            (hints.alu_wait, "alu_wait"),
            (hints.tex_sem_wait, "tex_sem_wait"),
            (hints.stat_we != 0, "stat_we"),
        ] {
            if on {
                self.add(name.to_owned());
            }
        }
    }

    fn half<Op, const N: usize>(&mut self, name: &str, half: &Half<Op, N>, out: bool) {
        self.add(format!("{name} omod {}", half.omod.code()));
        self.add(format!("{name} srcp {}", half.srcp.code()));
        self.add(format!("{name} wmask {}", half.wmask));
        for (slot, operand) in half.operands.iter().enumerate() {
            self.add(format!("{name} operand {slot} sel {}", operand.sel.code()));
            self.add(format!("{name} operand {slot} mod {}", operand.modifier.code()));
            for swiz in operand.swiz {
                self.add(format!("{name} operand {slot} swizzle {}", swiz.code()));
            }
        }
        for (slot, source) in half.sources.into_iter().enumerate() {
            let Source { constant, relative, .. } = source;
            let kind = match (constant, source.inline()) {
                (true, _) => "constant",
                (false, Some(_)) => "inline",
                (false, None) => "temp",
            };
            let relative = if relative { "[aL]" } else { "" };
            self.add(format!("{name} source {slot} {kind}{relative}"));
        }
        if half.clamp {
            self.add(format!("{name} clamp"));
        }
        if half.dest.relative && half.wmask != 0 {
            self.add(format!("{name} dest[aL]"));
        }
        if half.omask != 0 {
            let what = if out { "target" } else { "sets predicate" };
            self.add(format!("{name} {what} {}", half.target.code()));
        }
        self.predicate(&format!("{} {name}", if out { "out" } else { "alu" }), half.pred);
    }

    fn predicate(&mut self, what: &str, pred: Pred) {
        let inverted = if pred.inv { " inverted" } else { "" };
        self.add(format!("{what} predicate {}{inverted}", pred.sel.code()));
    }

    fn tex(&mut self, tex: &Tex) {
        self.add(format!("tex {:?}", tex.op));
        self.predicate("tex rgb", tex.rgb_pred);
        self.predicate("tex alpha", tex.alpha_pred);
        if tex.coord.relative || tex.dest.relative {
            self.add("tex[aL]".to_owned());
        }
    }
}
