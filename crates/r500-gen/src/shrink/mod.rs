//! Test-case reduction: from a failing case to a small failing case.
//!
//! Simpler versions are tried in a fixed order, larger cuts first, until none of them fails: pixels, statements, bodies
//! in place of the statements around them, encodings, operands, numbers. Shrinking is deterministic.

mod edit;

use crate::case::{Case, Picture, PixelInput};
use crate::tree::{Layout, Stmt};

/// Limit of tried versions.
const ATTEMPTS: usize = 100_000;

/// Returns the smallest case found that still fails. `fails` is called with cases whose trees
/// [check](crate::Tree::check); it must be true for `case` itself, or nothing is tried.
///
/// ```
/// use r500_gen::{Case, Rng, Shape, shrink, tree::Stmt};
///
/// // "Fails" if there is a loop: one empty loop is left.
/// let has_loop = |case: &Case| case.tree.main.iter().any(|stmt| matches!(stmt, Stmt::Loop(_)));
/// let case = (0..).map(|seed| Case::generate(&mut Rng::new(seed), &Shape::default()));
/// let case = case.into_iter().find(has_loop).unwrap();
/// let small = shrink(&case, has_loop);
/// assert!(matches!(&small.tree.main[..], [Stmt::Loop(node)] if node.body.is_empty()));
/// ```
pub fn shrink(case: &Case, fails: impl FnMut(&Case) -> bool) -> Case {
    let mut shrinker = Shrinker { best: case.clone(), fails, left: ATTEMPTS };
    if !(shrinker.fails)(case) {
        return shrinker.best;
    }
    loop {
        let mut smaller = shrinker.pixels();
        smaller |= shrinker.cut();
        smaller |= shrinker.subs();
        smaller |= shrinker.statements();
        smaller |= shrinker.state();
        smaller |= shrinker.inputs();
        if !smaller {
            return shrinker.best;
        }
    }
}

struct Shrinker<F> {
    best: Case,
    fails: F,
    left: usize,
}

impl<F: FnMut(&Case) -> bool> Shrinker<F> {
    /// Accepts a version if it differs, is valid, and fails.
    fn try_case(&mut self, case: Case) -> bool {
        let other = case.tree != self.best.tree || !same(&case.picture, &self.best.picture);
        if self.left == 0 || !other || case.tree.check().is_err() {
            return false;
        }
        self.left -= 1;
        let fails = (self.fails)(&case);
        if fails {
            self.best = case;
        }
        fails
    }

    fn edit(&mut self, change: impl FnOnce(&mut Case)) -> bool {
        let mut case = self.best.clone();
        change(&mut case);
        self.try_case(case)
    }

    /// Removes pixels: halves, then single rows and columns of quads.
    fn pixels(&mut self) -> bool {
        let mut smaller = self.edit(|case| case.picture.coverage = None);
        for axis in [0, 1] {
            let mut step = self.best.picture.size[axis] / 2;
            while step != 0 {
                let mut from = 0;
                while from + step <= self.best.picture.size[axis] {
                    let size = self.best.picture.size[axis];
                    // Quads are not split.
                    let fits = step < size && (step.is_multiple_of(2) || size == 1 + step);
                    let cut = fits && self.edit(|case| case.picture.remove(axis, from, step));
                    smaller |= cut;
                    from += if cut { 0 } else { step };
                }
                step /= 2;
            }
        }
        smaller
    }

    /// Removes statements: all of a list, half of it, and so on.
    fn cut(&mut self) -> bool {
        let mut smaller = false;
        let mut n = 0;
        while let Some(length) = self.best.tree.list_mut(n).map(|list| list.len()) {
            let mut step = length;
            while step != 0 {
                let mut from = 0;
                while from + step <= self.best.tree.list_mut(n).map_or(0, |list| list.len()) {
                    let cut = self.edit(|case| {
                        if let Some(list) = case.tree.list_mut(n) {
                            list.drain(from..from + step);
                        }
                    });
                    smaller |= cut;
                    from += if cut { 0 } else { step };
                }
                step /= 2;
            }
            n += 1;
        }
        smaller
    }

    /// Removes unused subroutines.
    fn subs(&mut self) -> bool {
        let mut smaller = false;
        for n in (0..self.best.tree.subs.len()).rev() {
            let mut called = false;
            self.best.tree.each(&mut |stmt| {
                called |= matches!(stmt, Stmt::Call(call) if usize::from(call.sub) == n);
            });
            if !called {
                smaller |= self.edit(|case| {
                    case.tree.subs.remove(n);
                    edit::renumber(&mut case.tree, n);
                });
            }
        }
        smaller
    }

    /// Simplifies each statement.
    fn statements(&mut self) -> bool {
        let mut smaller = false;
        let mut n = 0;
        while let Some(length) = self.best.tree.list_mut(n).map(|list| list.len()) {
            for i in (0..length).rev() {
                let mut version = 0;
                loop {
                    let mut case = self.best.clone();
                    if !edit::simplify(&mut case.tree, n, i, version) {
                        break;
                    }
                    smaller |= self.try_case(case);
                    version += 1;
                }
            }
            n += 1;
        }
        smaller
    }

    /// Simplifies constants and registers.
    fn state(&mut self) -> bool {
        let mut smaller = self.edit(|case| case.tree.layout = Layout::AfterMain);
        smaller |= self.edit(|case| case.tree.offset = 0);
        smaller |= self.edit(|case| case.tree.full_fc = true);
        smaller |= self.edit(|case| case.tree.zero_rule = false);
        smaller |= self.edit(|case| case.tree.bools = 0);
        for n in 0..self.best.tree.ints.len() {
            for version in 0..edit::INTEGERS {
                smaller |= self.edit(|case| edit::integer(&mut case.tree.ints[n], version));
            }
        }
        let mut step = self.best.tree.constants.len();
        while step != 0 {
            let kept = self.best.tree.constants.len().saturating_sub(step);
            smaller |= self.edit(|case| case.tree.constants.truncate(kept));
            step /= 2;
        }
        for n in 0..self.best.tree.constants.len() {
            for channel in 0..4 {
                for simple in [0.0_f32, 1.0] {
                    if rank(f32::from_bits(self.best.tree.constants[n][channel])) > rank(simple) {
                        smaller |=
                            self.edit(|case| case.tree.constants[n][channel] = simple.to_bits());
                    }
                }
            }
        }
        for bit in 0..u32::BITS {
            smaller |= self.edit(|case| case.tree.bools &= !(1 << bit));
        }
        smaller
    }

    /// Simplifies initial values of pixels.
    fn inputs(&mut self) -> bool {
        let mut smaller = false;
        for n in (0..self.best.picture.inputs.len()).rev() {
            smaller |= self.edit(|case| drop(case.picture.inputs.remove(n)));
        }
        for n in 0..self.best.picture.inputs.len() {
            for i in 0..self.best.picture.inputs[n].values.len() {
                for channel in 0..4 {
                    for simple in [0.0, 1.0] {
                        let now = self.best.picture.inputs[n].values[i][channel];
                        if rank(now) > rank(simple) {
                            smaller |= self.edit(|case| {
                                case.picture.inputs[n].values[i][channel] = simple;
                            });
                        }
                    }
                }
            }
        }
        smaller
    }
}

impl Picture {
    /// Removes `count` columns (axis 0) or rows (axis 1) from `from`.
    fn remove(&mut self, axis: usize, from: u32, count: u32) {
        let [width, height] = self.size;
        let kept = |place: usize| {
            let at = [place as u32 % width, place as u32 / width][axis];
            at < from || at >= from + count
        };
        for PixelInput { values, .. } in &mut self.inputs {
            let mut place = 0..;
            values.retain(|_| place.next().is_some_and(kept));
        }
        if let Some(coverage) = &mut self.coverage {
            let mut place = 0..;
            coverage.retain(|_| place.next().is_some_and(kept));
        }
        self.size = if axis == 0 { [width - count, height] } else { [width, height - count] };
    }
}

/// Returns the complexity of a number: 0 is simpler than 1, and 1 than any other.
fn rank(x: f32) -> u8 {
    match x.to_bits() {
        0 => 0,
        0x3f80_0000 => 1,
        _ => 2,
    }
}

/// Returns whether two pictures are equal bit by bit, NaN included.
fn same(a: &Picture, b: &Picture) -> bool {
    let bits = |input: &PixelInput| {
        (input.temp, input.values.iter().map(|value| value.map(f32::to_bits)).collect::<Vec<_>>())
    };
    a.size == b.size
        && a.coverage == b.coverage
        && a.inputs.iter().map(bits).eq(b.inputs.iter().map(bits))
}
