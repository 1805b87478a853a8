//! What makes two segments or two functions the same.

use std::hash::{Hash, Hasher};

use r500_exec::ir::{Function, Stmt};
use r500_exec::native::Segment;

/// Something written out: equal for what is equal and for nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Content(Vec<u8>);

/// Keeps all that it is shown.
impl Hasher for Content {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

impl Content {
    /// Of a segment and how it is compiled. Where values come from does not count.
    pub(crate) fn of_segment(segment: &Segment<'_>, how: impl Hash) -> Self {
        let mut content = Self::default();
        let Segment {
            body,
            reads,
            writes,
            moves,
            colors,
            stride,
            metered,
            tables,
            ramps,
            origins: _,
        } = segment;
        (how, reads, writes, moves, colors, stride, metered, tables, ramps, body.len())
            .hash(&mut content);
        body.iter().for_each(|stmt| content.stmt(stmt));
        content
    }

    /// Of a function. Where values come from does not count.
    pub(crate) fn of_function(function: &Function) -> Self {
        let mut content = Self::default();
        let Function { values, body, colors, numbers, depth, origins: _ } = function;
        (values, colors, numbers, depth).hash(&mut content);
        content.list(body);
        content
    }

    /// Bytes that it takes.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    fn list(&mut self, stmts: &[Stmt]) {
        stmts.len().hash(self);
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        std::mem::discriminant(stmt).hash(self);
        match stmt {
            Stmt::Def(value, op) => (value, op.code, op.args()).hash(self),
            Stmt::Fetch(fetch) => {
                let r500_exec::ir::Fetch {
                    unit,
                    op,
                    unscaled,
                    strq,
                    dx,
                    dy,
                    active,
                    texel,
                    address,
                } = &**fetch;
                (unit, op, unscaled, strq, dx, dy, active, texel, address).hash(self);
            }
            Stmt::Kill(mask) | Stmt::Watch(mask) => mask.hash(self),
            Stmt::Stat { channel, mask } => (channel, mask).hash(self),
            Stmt::Spend { instructions, address } => (instructions, address).hash(self),
            Stmt::If(branch) => {
                branch.masks.hash(self);
                branch.arms.iter().for_each(|arm| self.list(arm));
                branch.merges.len().hash(self);
                for merge in &branch.merges {
                    (merge.value, merge.before, merge.arms).hash(self);
                }
            }
            Stmt::Loop(repeat) => {
                (repeat.passes, repeat.again, repeat.carried.len()).hash(self);
                for carried in &repeat.carried {
                    (carried.value, carried.init, carried.next).hash(self);
                }
                self.list(&repeat.body);
            }
        }
    }
}
