//! Masks and selections: what is known of which pixels are in a mask keeps both few.
//!
//! A mask that was made as a part of another (a branch's pixels of those that execute) is known to be
//! one, and two parts that were made apart are known to have no pixel in common.

use super::{Builder, first};
use crate::ir::{ALL, Code, NONE, Operand, Range};

/// How far parts of parts are followed: as deep as branches nest in practice.
const DEEP: usize = 16;

impl Builder {
    /// mask ? a : b.
    pub(in crate::ir) fn select(&mut self, mask: Operand, a: Operand, b: Operand) -> Operand {
        if let Some(inverse) = self.inverse(mask) {
            return self.select(inverse, b, a);
        }
        match mask {
            _ if a == b => a,
            ALL => a,
            NONE => b,
            _ if (a, b) == (ALL, NONE) => mask,
            _ if b == NONE && (a == mask || self.within(a, mask)) => a,
            _ => {
                // The same mask chose already.
                if let Some((Code::Select, [inner, x, _])) = self.made(a)
                    && inner == mask
                {
                    return self.select(mask, x, b);
                }
                if let Some((Code::Select, [inner, _, y])) = self.made(b)
                    && inner == mask
                {
                    return self.select(mask, a, y);
                }
                // What is chosen a second time is chosen by either mask.
                if let Some((Code::Select, [inner, x, y])) = self.made(b)
                    && x == a
                {
                    let either = self.or(mask, inner);
                    return self.select(either, a, y);
                }
                let range = self.range(a).or(self.range(b));
                self.def(Code::Select, &[mask, a, b], range)
            }
        }
    }

    /// Both masks.
    pub(in crate::ir) fn and(&mut self, a: Operand, b: Operand) -> Operand {
        match (a, b) {
            (NONE, _) | (_, NONE) => NONE,
            (ALL, other) | (other, ALL) => other,
            _ if a == b || self.within(a, b) => a,
            _ if self.within(b, a) => b,
            _ if self.apart(a, b) => NONE,
            _ => match (self.inverse(a), self.inverse(b)) {
                (_, Some(b)) => self.and_not(a, b),
                (Some(a), _) => self.and_not(b, a),
                _ => {
                    let (a, b) = if first(a) > first(b) { (b, a) } else { (a, b) };
                    self.def(Code::And, &[a, b], Range::ANY)
                }
            },
        }
    }

    /// Either mask.
    pub(in crate::ir) fn or(&mut self, a: Operand, b: Operand) -> Operand {
        match (a, b) {
            (ALL, _) | (_, ALL) => ALL,
            (NONE, other) | (other, NONE) => other,
            _ if a == b || self.within(b, a) => a,
            _ if self.within(a, b) => b,
            _ => {
                for (part, rest) in [(a, b), (b, a)] {
                    // What was taken out comes back.
                    if let Some((Code::AndNot, [whole, taken, _])) = self.made(rest)
                        && (taken == part || self.both(part) == Some((whole, taken)))
                        && self.within(part, whole)
                    {
                        return whole;
                    }
                }
                if self.inverse(a) == Some(b) || self.inverse(b) == Some(a) {
                    return ALL;
                }
                let (a, b) = if first(a) > first(b) { (b, a) } else { (a, b) };
                self.def(Code::Or, &[a, b], Range::ANY)
            }
        }
    }

    /// Mask a without mask b.
    pub(in crate::ir) fn and_not(&mut self, a: Operand, b: Operand) -> Operand {
        match (a, b) {
            (NONE, _) | (_, ALL) => NONE,
            (_, NONE) => a,
            _ if a == b || self.within(a, b) => NONE,
            _ if self.apart(a, b) => a,
            _ => {
                if let Some(b) = self.inverse(b) {
                    return self.and(a, b);
                }
                // What is not in a need not be taken out of it.
                if let Some((Code::Or, [x, y, _])) = self.made(b) {
                    if self.apart(a, x) {
                        return self.and_not(a, y);
                    }
                    if self.apart(a, y) {
                        return self.and_not(a, x);
                    }
                }
                // Of a part of a, only what makes it a part counts.
                if let Some((x, y)) = self.both(b) {
                    if x == a {
                        return self.and_not(a, y);
                    }
                    if y == a {
                        return self.and_not(a, x);
                    }
                }
                if let Some((Code::AndNot, [x, y, _])) = self.made(b)
                    && x == a
                {
                    return self.and(a, y);
                }
                self.def(Code::AndNot, &[a, b], Range::ANY)
            }
        }
    }

    /// The other mask.
    pub(in crate::ir) fn not(&mut self, a: Operand) -> Operand {
        self.and_not(ALL, a)
    }

    /// Whether a mask was made of another one by adding pixels.
    pub(in crate::ir) fn grows(&self, old: Operand, new: Operand) -> bool {
        matches!(self.made(new), Some((Code::Or, [a, b, _])) if a == old || b == old)
    }

    pub(super) fn made(&self, operand: Operand) -> Option<(Code, [Operand; 3])> {
        let op = self.made.get(operand.value()?.index())?.as_ref()?;
        Some((op.code, op.args))
    }

    /// The masks that this is both of.
    fn both(&self, mask: Operand) -> Option<(Operand, Operand)> {
        match self.made(mask)? {
            (Code::And, [a, b, _]) => Some((a, b)),
            _ => None,
        }
    }

    /// The mask that this is the inverse of.
    fn inverse(&self, mask: Operand) -> Option<Operand> {
        match self.made(mask)? {
            (Code::AndNot, [ALL, a, _]) => Some(a),
            _ => None,
        }
    }

    /// Whether a mask is known to be a part of another.
    fn within(&self, part: Operand, whole: Operand) -> bool {
        let mut part = part;
        for _ in 0..DEEP {
            match self.made(part) {
                Some((Code::AndNot, [a, _, _])) => part = a,
                Some((Code::And, [a, b, _])) => {
                    if a == whole || b == whole {
                        return true;
                    }
                    part = a;
                }
                _ => return false,
            }
            if part == whole {
                return true;
            }
        }
        false
    }

    /// Whether two masks are known to have no pixel in common: one is a part of what was taken out where
    /// the other was made.
    fn apart(&self, a: Operand, b: Operand) -> bool {
        self.is_outside(a, b, DEEP) || self.is_outside(b, a, DEEP)
    }

    /// Whether a mask is what was left, or part of it, when another one was taken out.
    fn is_outside(&self, part: Operand, of: Operand, depth: usize) -> bool {
        if depth == 0 {
            return false;
        }
        if let Some((Code::Or, [x, y, _])) = self.made(of) {
            return self.is_outside(part, x, depth - 1) && self.is_outside(part, y, depth - 1);
        }
        let mut part = part;
        for _ in 0..DEEP {
            part = match self.made(part) {
                Some((Code::AndNot, [_, taken, _])) if taken == of || self.within(of, taken) => {
                    return true;
                }
                Some((Code::AndNot | Code::And, [whole, ..])) => whole,
                _ => return false,
            };
        }
        false
    }
}
