//! Merging of fuel statements with only operations in between.
//!
//! `consume 3; %1 = ..; consume 4` → `consume 7; %1 = ..`. The limit is reached at the same count; the error reports the address of the
//! first statement.

use super::Pass;
use crate::Stmt;

pub(super) const PASS: Pass =
    Pass { name: "merge_fuel", run: |function, _| merge(&mut function.body) };

/// Merges the fuel statements of a list and of its regions. Returns whether there were any to merge.
fn merge(list: &mut Vec<Stmt>) -> bool {
    let before = list.len();
    let mut inner = false;
    let mut last: Option<usize> = None;
    let mut kept: Vec<Stmt> = Vec::with_capacity(list.len());
    for mut stmt in list.drain(..) {
        match &mut stmt {
            Stmt::ConsumeFuel { instructions: more, .. } => {
                if let Some(Stmt::ConsumeFuel { instructions, .. }) =
                    last.and_then(|at| kept.get_mut(at))
                {
                    *instructions = instructions.saturating_add(*more);
                    continue;
                }
                last = Some(kept.len());
            }
            Stmt::If(branch) => {
                branch.arms.iter_mut().for_each(|arm| inner |= merge(arm));
                last = None;
            }
            Stmt::Loop(repeat) => {
                inner |= merge(&mut repeat.body);
                last = None;
            }
            _ => {}
        }
        kept.push(stmt);
    }
    *list = kept;
    inner || list.len() != before
}
