//! The oracle: an interpreter of syntax trees with ordinary Rust control flow.
//!
//! Each pixel runs independently: a branch is an `if`, a loop a `for`, BREAK a `break`. There are no active masks,
//! branch counters, loop frames, votes or addresses, so the oracle cannot share errors of an engine in these. Only quad
//! differences need the neighbours. A tree may use them only in uniform control flow of a quad
//! ([`Tree::check`](crate::Tree::check)), where the oracle runs the four pixels in parallel.
//!
//! Temporaries, predicate bits and the ALU result start as 0.

mod alu;
mod number;

use r500_isa::TEMPORARIES;
use r500_isa::values::{Channel, Compare, PredSel, TexOp};

use crate::case::Case;
use crate::tree::{Cond, Dest, If, Leave, Loop, LoopKind, Pred, Stmt, Tex, TexReg, Tree};

/// The result of a program for a pixel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Colours of targets A to D; 0 for channels that were not written, and for pixels that are not covered.
    pub color: [[f32; 4]; 4],
    /// Channels written of each target, red in bit 0.
    pub written: [u8; 4],
    /// Depth, if written and covered.
    pub depth: Option<f32>,
    /// Whether it is covered from the start and not killed.
    pub covered: bool,
    /// A hash of all branch decisions: pixels with different hashes took different paths.
    pub path: u64,
}

/// Returns the outcome of every pixel of a case, row by row from y = 0.
///
/// The case's tree must pass its [check](crate::Tree::check); results for others are unspecified.
#[must_use]
pub fn run(case: &Case) -> Vec<Outcome> {
    let [width, height] = case.picture.size;
    let oracle = Oracle::new(&case.tree);
    let mut outcomes = vec![Outcome::default(); width as usize * height as usize];
    for y in (0..height).step_by(2) {
        for x in (0..width).step_by(2) {
            // Top left, top right, bottom left, bottom right, the top row being the lower y.
            let corners = [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)];
            let mut quad = corners.map(|(x, y)| Pixel::new(case, x, y));
            oracle.quad(&mut quad);
            for ((x, y), pixel) in corners.into_iter().zip(quad) {
                if x < width && y < height {
                    outcomes[(y * width + x) as usize] = pixel.outcome();
                }
            }
        }
    }
    outcomes
}

/// Where control continues after a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Continue,
    Return,
}

/// The state of a pixel.
#[derive(Clone, Debug)]
struct Pixel {
    temps: Box<[[f32; 4]; TEMPORARIES]>,
    predicate: [bool; 4],
    alu_result: bool,
    outcome: Outcome,
}

struct Oracle<'a> {
    tree: &'a Tree,
    /// Whether each subroutine takes quad differences, itself or in its callees.
    differ: Vec<bool>,
}

impl<'a> Oracle<'a> {
    fn new(tree: &'a Tree) -> Self {
        let mut oracle = Self { tree, differ: vec![false; tree.subs.len()] };
        // Callees follow their callers.
        for (n, sub) in tree.subs.iter().enumerate().rev() {
            oracle.differ[n] = sub.body.iter().any(|stmt| oracle.differs(stmt));
        }
        oracle
    }

    /// Returns whether a statement takes quad differences.
    fn differs(&self, stmt: &Stmt) -> bool {
        stmt.any(&mut |stmt| match stmt {
            Stmt::Alu(alu) => alu.is_derivative(),
            Stmt::Call(call) => self.differ.get(usize::from(call.sub)).copied().unwrap_or(false),
            _ => false,
        })
    }

    fn quad(&self, quad: &mut [Pixel; 4]) {
        self.list_of_four(&self.tree.main, quad, 0);
    }

    /// Runs statements for four pixels in uniform control flow.
    fn list_of_four(&self, list: &[Stmt], quad: &mut [Pixel; 4], al: i32) -> Flow {
        for stmt in list {
            let flow = if self.differs(stmt) {
                self.four(stmt, quad, al)
            } else {
                // The condition is uniform, so all four agree.
                quad.each_mut().map(|pixel| self.one(stmt, pixel, al))[0]
            };
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }

    /// Runs a statement with quad differences.
    fn four(&self, stmt: &Stmt, quad: &mut [Pixel; 4], al: i32) -> Flow {
        match stmt {
            Stmt::Alu(alu) => {
                self.alu_of_four(alu, quad, al);
                Flow::Next
            }
            Stmt::If(node) => {
                // The condition is static.
                let holds = quad.each_mut().map(|pixel| self.decides(node.cond, pixel))[0];
                self.list_of_four(arm(node, holds), quad, al)
            }
            Stmt::Loop(node) => {
                for al in self.passes(node, al) {
                    self.list_of_four(&node.body, quad, al);
                }
                Flow::Next
            }
            Stmt::Call(call) => {
                self.list_of_four(self.tree.sub(call.sub), quad, al);
                Flow::Next
            }
            _ => Flow::Next,
        }
    }

    /// Runs statements for one pixel.
    fn list(&self, list: &[Stmt], pixel: &mut Pixel, al: i32) -> Flow {
        for stmt in list {
            let flow = self.one(stmt, pixel, al);
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }

    fn one(&self, stmt: &Stmt, pixel: &mut Pixel, al: i32) -> Flow {
        let leave = |node: &Leave, pixel: &mut Pixel, flow| {
            if self.wants(node.when, pixel) { flow } else { Flow::Next }
        };
        match stmt {
            Stmt::Alu(alu) => self.alu(alu, pixel, al),
            Stmt::Tex(tex) => texture(tex, pixel, al),
            Stmt::If(node) => {
                let holds = self.decides(node.cond, pixel);
                return self.list(arm(node, holds), pixel, al);
            }
            Stmt::Loop(node) => {
                for al in self.passes(node, al) {
                    match self.list(&node.body, pixel, al) {
                        Flow::Next | Flow::Continue => {}
                        Flow::Break => break,
                        Flow::Return => return Flow::Return,
                    }
                }
            }
            Stmt::Break(node) => return leave(node, pixel, Flow::Break),
            Stmt::Continue(node) => return leave(node, pixel, Flow::Continue),
            Stmt::Call(call) => {
                if self.wants(call.when, pixel) {
                    self.list(self.tree.sub(call.sub), pixel, al);
                }
            }
            Stmt::Return(node) => {
                if self.wants(node.when, pixel) {
                    return Flow::Return;
                }
            }
        }
        Flow::Next
    }

    /// Returns aL of each iteration of a loop: KR iterations; LOOP counts from KG in steps of KB, REP does not change
    /// aL.
    fn passes(&self, node: &Loop, al: i32) -> impl Iterator<Item = i32> + use<> {
        let int = self.tree.int(node.int);
        let (start, step) = match node.kind {
            LoopKind::Loop => (i32::from(int.kg()), i32::from(int.kb())),
            LoopKind::Rep => (al, 0),
        };
        (0..i32::from(int.kr())).map(move |pass| start + pass * step)
    }

    fn wants(&self, when: Option<Cond>, pixel: &mut Pixel) -> bool {
        when.is_none_or(|cond| self.decides(cond, pixel))
    }

    fn decides(&self, cond: Cond, pixel: &mut Pixel) -> bool {
        let predicate = match cond.pred.sel {
            PredSel::RGBA | PredSel::RRRR => pixel.predicate[0],
            PredSel::GGGG => pixel.predicate[1],
            PredSel::BBBB => pixel.predicate[2],
            PredSel::AAAA => pixel.predicate[3],
            _ => true,
        };
        let boolean = self.tree.boolean(cond.boolean);
        let holds = cond.holds(pixel.alu_result, predicate != cond.pred.inv, boolean);
        pixel.outcome.path =
            (pixel.outcome.path ^ u64::from(holds) ^ 2).wrapping_mul(0x0100_0000_01b3);
        holds
    }
}

/// Returns the taken arm.
fn arm(node: &If, holds: bool) -> &[Stmt] {
    if holds { &node.then } else { node.otherwise.as_deref().unwrap_or_default() }
}

fn texture(tex: &Tex, pixel: &mut Pixel, al: i32) {
    // A disabled unit returns colour 0, alpha 1.
    const TEXEL: [f32; 4] = [0.0, 0.0, 0.0, 1.0];
    match tex.op {
        TexOp::NOP => {}
        TexOp::TEXKILL => {
            let TexReg { addr, relative, swiz } = tex.coord;
            let value = pixel.temp(Dest { addr, relative }, al);
            let below = swiz.iter().any(|&c| number::less(value[index(c)], 0.0));
            if below && pixel.passes(tex.rgb_pred, 0) {
                pixel.outcome.covered = false;
            }
        }
        _ => {
            for i in 0..4 {
                let pred = if i < 3 { tex.rgb_pred } else { tex.alpha_pred };
                if tex.wmask >> i & 1 != 0 && pixel.passes(pred, i) {
                    pixel.write(tex.dest, al, i, TEXEL[index(tex.swiz[i])]);
                }
            }
        }
    }
}

impl Pixel {
    fn new(case: &Case, x: u32, y: u32) -> Self {
        let mut temps = Box::new([[0.0; 4]; TEMPORARIES]);
        for input in &case.picture.inputs {
            if let Some(temp) = temps.get_mut(usize::from(input.temp)) {
                *temp = case.picture.input(input, x, y);
            }
        }
        let covered = case.picture.covers(x, y);
        let outcome = Outcome { covered, path: 0xcbf2_9ce4_8422_2325, ..Outcome::default() };
        Self { temps, predicate: [false; 4], alu_result: false, outcome }
    }

    fn outcome(self) -> Outcome {
        let Outcome { covered, path, .. } = self.outcome;
        if covered { self.outcome } else { Outcome { path, ..Outcome::default() } }
    }

    /// Returns whether a predicate lets a channel (0 red to 3 alpha) through.
    fn passes(&self, pred: Pred, channel: usize) -> bool {
        let bit = match pred.sel {
            PredSel::RGBA => self.predicate[channel],
            PredSel::RRRR => self.predicate[0],
            PredSel::GGGG => self.predicate[1],
            PredSel::BBBB => self.predicate[2],
            PredSel::AAAA => self.predicate[3],
            // Without a predicate, inversion has no effect.
            _ => return true,
        };
        bit != pred.inv
    }

    fn temp(&self, at: Dest, al: i32) -> [f32; 4] {
        self.temps.get(address(at.addr, at.relative, al)).copied().unwrap_or_default()
    }

    fn write(&mut self, at: Dest, al: i32, channel: usize, value: f32) {
        if let Some(temp) = self.temps.get_mut(address(at.addr, at.relative, al)) {
            temp[channel] = value;
        }
    }
}

/// Compares a value with zero.
fn compare(op: Compare, x: f32) -> bool {
    match op {
        Compare::LT => number::less(x, 0.0),
        Compare::GE => number::less(0.0, x) || number::equal(x, 0.0),
        Compare::NE => !number::equal(x, 0.0),
        _ => number::equal(x, 0.0),
    }
}

/// Returns the index of a register with aL added; past the end of every bank if it is negative.
fn address(addr: u8, relative: bool, al: i32) -> usize {
    usize::try_from(i32::from(addr) + if relative { al } else { 0 }).unwrap_or(usize::MAX)
}

fn index(channel: Channel) -> usize {
    usize::from(channel.code() & 3)
}
