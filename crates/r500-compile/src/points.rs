//! Debug locations: which execution of a statement an instruction computes a part of.
//!
//! The compiler expands calls and loops, so a statement becomes several [`Point`]s, one for each call and each unrolled pass around it. In
//! a loop of the chip a point is executed in each pass; together with the numbers of the passes it is a [`Visit`]. The
//! [evaluator](crate::evaluate) executes the same visits, which is how the values of variables at an instruction are known.

use std::collections::HashMap;
use std::ops::Range;

use r500_glsl::Span;
use r500_glsl::tree::{Expr, ExprKind, Loop, Shader, Stmt, StmtKind};

/// What nodes of the code come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) span: Span,
    pub(crate) point: PointId,
}

/// The index of a point; 0 is the start of the program.
pub(crate) type PointId = u32;

/// A part of a shader: the number of a statement or call, and which part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Part {
    number: u32,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    /// Before `main`.
    Start,
    /// After `main`.
    End,
    Statement,
    /// The test of a loop, before the pass of its number.
    Test,
    /// The step of a loop, in the pass of its number.
    Step,
    /// The passes of a loop.
    Pass,
    Call,
}

impl Part {
    pub(crate) const START: Self = Self { number: 0, kind: Kind::Start };
    pub(crate) const END: Self = Self { number: 0, kind: Kind::End };
}

/// The parts of a shader by their places in its tree. Trees of the same source have the same numbers.
pub(crate) struct Parts {
    numbers: HashMap<usize, u32>,
}

impl Parts {
    /// Numbers the statements, loops and calls of a shader.
    pub(crate) fn of(shader: &Shader) -> Self {
        let mut parts = Self { numbers: HashMap::new() };
        for init in shader.variables.iter().filter_map(|variable| variable.init.as_ref()) {
            parts.calls(init);
        }
        for statement in shader.functions.iter().flat_map(|function| &function.body) {
            statement.each(&mut |inside| {
                parts.add(&inside.span);
                if let StmtKind::Loop(of) = &inside.kind {
                    parts.add(&of.body);
                }
                inside.expressions(&mut |expr| parts.calls(expr));
            });
        }
        parts
    }

    fn add<T>(&mut self, of: &T) {
        let number = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        self.numbers.insert(address(of), number);
    }

    fn calls(&mut self, expr: &Expr) {
        expr.each(&mut |inside| {
            if matches!(inside.kind, ExprKind::Call(..)) {
                self.add(&inside.span);
            }
        });
    }

    #[expect(clippy::expect_used, reason = "variables of another statement must not be shown")]
    fn part<T>(&self, of: &T, kind: Kind) -> Part {
        let number = *self.numbers.get(&address(of)).expect("all parts of a tree have numbers");
        Part { number, kind }
    }

    pub(crate) fn statement(&self, statement: &Stmt) -> Part {
        self.part(&statement.span, Kind::Statement)
    }

    pub(crate) fn test(&self, of: &Loop) -> Part {
        self.part(&of.body, Kind::Test)
    }

    pub(crate) fn step(&self, of: &Loop) -> Part {
        self.part(&of.body, Kind::Step)
    }

    pub(crate) fn passes(&self, of: &Loop) -> Part {
        self.part(&of.body, Kind::Pass)
    }

    pub(crate) fn call(&self, call: &Span) -> Part {
        self.part(call, Kind::Call)
    }
}

/// The place in memory of a field that a statement, a loop or an expression has for itself.
fn address<T>(of: &T) -> usize {
    std::ptr::from_ref(of).addr()
}

/// What is around a point: a call, or a pass of a loop.
#[derive(Clone, Copy, Debug)]
enum Level {
    Call(Part),
    /// A pass that is lowered by itself.
    Pass(Part, u32),
    /// A pass of a loop of the chip.
    ChipPass(Part),
    /// A pass of a loop of the chip that is in another one: the loop of the source has as many passes as the inner one in each pass of the
    /// outer one.
    PassOfBoth(Part, u32),
}

/// All points of a program.
#[derive(Clone, Debug)]
pub(crate) struct Points {
    /// With the level around each.
    levels: Vec<(Option<u32>, Level)>,
    points: Vec<(Option<u32>, Part)>,
    /// The innermost open level.
    open: Option<u32>,
}

/// The execution of a part of a shader.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Visit {
    /// The calls and passes around it, the outermost first. Calls have the number 0.
    pub(crate) path: Vec<(Part, u32)>,
    pub(crate) part: Part,
}

impl Points {
    pub(crate) fn new() -> Self {
        Self { levels: Vec::new(), points: vec![(None, Part::START)], open: None }
    }

    /// Adds the point of a part at the open level.
    pub(crate) fn add(&mut self, part: Part) -> PointId {
        self.points.push((self.open, part));
        u32::try_from(self.points.len() - 1).unwrap_or(0)
    }

    fn enter(&mut self, level: Level) -> Option<u32> {
        let around = self.open;
        self.levels.push((around, level));
        self.open = u32::try_from(self.levels.len() - 1).ok();
        around
    }

    /// Opens the level of a call. Returns the one around it, to [`leave`](Self::leave) to.
    pub(crate) fn enter_call(&mut self, call: Part) -> Option<u32> {
        self.enter(Level::Call(call))
    }

    /// Opens the level of a pass.
    pub(crate) fn enter_pass(&mut self, of: Part, pass: usize) -> Option<u32> {
        self.enter(Level::Pass(of, u32::try_from(pass).unwrap_or(u32::MAX)))
    }

    /// Opens the level of all passes of a loop of the chip; with `inner` passes if it is in another one for the same loop of the source.
    pub(crate) fn enter_chip_loop(&mut self, of: Part, inner: Option<usize>) -> Option<u32> {
        self.enter(match inner.and_then(|inner| u32::try_from(inner).ok()) {
            Some(inner) => Level::PassOfBoth(of, inner),
            None => Level::ChipPass(of),
        })
    }

    pub(crate) fn leave(&mut self, to: Option<u32>) {
        self.open = to;
    }

    /// Returns the visit of a point in passes of the chip's loops around it, the outermost first; `None` if these are other loops.
    pub(crate) fn visit(&self, point: PointId, passes: &[u32]) -> Option<Visit> {
        let (mut level, part) = *self.points.get(point as usize)?;
        let mut path = Vec::new();
        let mut left = passes.iter().rev();
        while let Some(at) = level {
            let (around, of) = *self.levels.get(at as usize)?;
            path.push(match of {
                Level::Call(call) => (call, 0),
                Level::Pass(of, pass) => (of, pass),
                Level::ChipPass(of) => (of, *left.next()?),
                Level::PassOfBoth(of, inner) => {
                    let (pass, outer) = (*left.next()?, *left.next()?);
                    (of, outer * inner + pass)
                }
            });
            level = around;
        }
        path.reverse();
        left.next().is_none().then_some(Visit { path, part })
    }

    /// Returns whether a point is in a loop of the chip.
    pub(crate) fn is_in_chip_loop(&self, point: PointId) -> bool {
        let mut level = self.points.get(point as usize).and_then(|(level, _)| *level);
        while let Some((around, of)) = level.and_then(|at| self.levels.get(at as usize)) {
            if matches!(of, Level::ChipPass(_) | Level::PassOfBoth(..)) {
                return true;
            }
            level = *around;
        }
        false
    }
}

/// A loop of the chip.
#[derive(Clone, Debug)]
pub(crate) struct ChipLoop {
    /// Its instructions, which are executed in each pass.
    pub(crate) body: Range<usize>,
    /// Its passes, if nothing leaves it.
    pub(crate) passes: u32,
}

/// The passes of the chip's loops in a run, which is followed instruction by instruction.
#[derive(Clone, Debug)]
pub struct PassCounter<'a> {
    loops: &'a [ChipLoop],
    /// The open loops with the numbers of their passes, the outermost first.
    open: Vec<(usize, u32)>,
}

impl PassCounter<'_> {
    /// Continues to an instruction, by number. Returns the number of the pass of each loop around it, the outermost first.
    pub fn step(&mut self, at: usize) -> Vec<u32> {
        while let Some((of, pass)) = self.open.last_mut() {
            let of = &self.loops[*of];
            let is_inside = of.body.contains(&at);
            let has_next = *pass + 1 < of.passes;
            if is_inside && (at != of.body.start || has_next) {
                *pass += u32::from(at == of.body.start);
                break;
            }
            self.open.pop();
        }
        let is_open = |open: &[(usize, u32)], n: usize| open.iter().any(|(of, _)| *of == n);
        let mut entered: Vec<usize> = (0..self.loops.len())
            .filter(|n| self.loops[*n].body.contains(&at) && !is_open(&self.open, *n))
            .collect();
        entered.sort_by_key(|n| std::cmp::Reverse(self.loops[*n].body.len()));
        self.open.extend(entered.into_iter().map(|n| (n, 0)));
        self.open.iter().map(|(_, pass)| *pass).collect()
    }
}

/// Which executions of statements the instructions of a program compute.
#[derive(Clone, Debug)]
pub struct DebugInfo {
    points: Points,
    /// The points of each instruction.
    of_instructions: Vec<Vec<PointId>>,
    loops: Vec<ChipLoop>,
}

impl DebugInfo {
    pub(crate) fn new(points: Points, origins: &[Vec<Origin>], loops: Vec<ChipLoop>) -> Self {
        let of_one = |origins: &Vec<Origin>| {
            // As a debugger shows it: the first line.
            let mut sorted = origins.clone();
            sorted.sort_by_key(|origin| (origin.span.start, origin.span.end, origin.point));
            let mut points: Vec<PointId> = sorted.iter().map(|origin| origin.point).collect();
            points.dedup();
            points
        };
        Self { points, of_instructions: origins.iter().map(of_one).collect(), loops }
    }

    /// Begins to follow a run.
    #[must_use]
    pub fn passes(&self) -> PassCounter<'_> {
        PassCounter { loops: &self.loops, open: Vec::new() }
    }

    /// Returns the visits that an instruction is a part of in passes of the loops around it, that of its first line first.
    pub(crate) fn visits(&self, at: usize, passes: &[u32]) -> Vec<(PointId, Visit)> {
        let points = self.of_instructions.get(at).into_iter().flatten();
        points.filter_map(|point| Some((*point, self.points.visit(*point, passes)?))).collect()
    }
}

/// Returns the places in the source of each instruction.
pub(crate) fn spans(origins: &[Vec<Origin>]) -> Vec<Vec<Span>> {
    let of_one = |origins: &Vec<Origin>| {
        let mut spans: Vec<Span> = origins.iter().map(|origin| origin.span).collect();
        spans.dedup();
        spans
    };
    origins.iter().map(of_one).collect()
}
