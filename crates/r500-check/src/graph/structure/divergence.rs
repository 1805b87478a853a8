//! Divergence analysis: where pixels of a group execute different paths.

use super::{Statement, Subroutine};
use crate::graph::Graph;

/// Marks the instructions that only some pixels of a group execute.
pub(super) struct Divergence<'a> {
    graph: &'a Graph,
    divergent: Vec<bool>,
    subs: Vec<bool>,
}

impl<'a> Divergence<'a> {
    pub(super) fn of(graph: &'a Graph, main: &[Statement], subs: &[Subroutine]) -> Vec<bool> {
        let mut found =
            Self { graph, divergent: vec![false; graph.len()], subs: vec![false; subs.len()] };
        found.mark_divergent(main, false);
        // A subroutine called from divergent code may be marked late; iterate.
        for _ in 0..=subs.len() {
            for (number, sub) in subs.iter().enumerate() {
                found.mark_divergent(&sub.body, found.subs[number]);
            }
        }
        found.divergent
    }

    fn uniform(&self, at: usize) -> bool {
        self.graph.flows[at].is_none_or(|flow| flow.uniform)
    }

    fn mark_divergent(&mut self, statements: &[Statement], apart: bool) {
        for statement in statements {
            match statement {
                Statement::Straight { first, last } => {
                    self.divergent[*first..=*last].iter_mut().for_each(|d| *d |= apart);
                }
                Statement::If { at, then, otherwise, else_at, endif } => {
                    self.divergent[*at] |= apart;
                    let apart = apart || !self.uniform(*at);
                    for at in else_at.iter().chain(endif) {
                        self.divergent[*at] |= apart;
                    }
                    self.mark_divergent(then, apart);
                    self.mark_divergent(otherwise, apart);
                }
                Statement::UniformIf { at, then, over, otherwise } => {
                    for at in over.iter().chain([at]) {
                        self.divergent[*at] |= apart;
                    }
                    self.mark_divergent(then, apart);
                    self.mark_divergent(otherwise, apart);
                }
                Statement::Loop { at, body, end } => {
                    self.divergent[*at] |= apart;
                    let apart = apart || self.diverges(body, false);
                    self.divergent[*end] |= apart;
                    self.mark_divergent(body, apart);
                }
                Statement::Call { at, sub } => {
                    self.divergent[*at] |= apart;
                    self.subs[*sub] |= apart || !self.uniform(*at);
                }
                Statement::Break(at)
                | Statement::Continue(at)
                | Statement::Return(at)
                | Statement::Skip { at, .. } => self.divergent[*at] |= apart,
            }
        }
    }

    /// Returns whether pixels may leave an iteration of this body at different instructions.
    fn diverges(&self, body: &[Statement], apart: bool) -> bool {
        body.iter().any(|statement| match statement {
            Statement::If { at, then, otherwise, .. } => {
                let apart = apart || !self.uniform(*at);
                self.diverges(then, apart) || self.diverges(otherwise, apart)
            }
            Statement::UniformIf { then, otherwise, .. } => {
                self.diverges(then, apart) || self.diverges(otherwise, apart)
            }
            Statement::Break(at) | Statement::Continue(at) => apart || !self.uniform(*at),
            _ => false,
        })
    }
}
