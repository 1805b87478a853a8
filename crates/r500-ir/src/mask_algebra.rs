//! Mask algebra: simplification of operations on lane masks and of selects.
//!
//! Implication (`%a` implies `%b`: every lane of `%a` is in `%b`) and disjointness follow from definitions: `%a = %b & %c` implies `%b`,
//! and `%b & !%c` is disjoint from every mask that implies `%c`.

use crate::builder::{Builder, argument_order};
use crate::{ALL, NONE, Opcode, Operand, Range, Type};

/// The maximum number of definitions that are followed: as deep as branches nest in practice.
const MAX_DEPTH: usize = 16;

/// Returns the masks that the result of an operation implies directly.
pub(super) fn conjuncts(opcode: Opcode, args: [Operand; 3]) -> [Option<Operand>; 2] {
    match opcode {
        Opcode::And => [Some(args[0]), Some(args[1])],
        Opcode::AndNot => [Some(args[0]), None],
        _ => [None; 2],
    }
}

/// Returns whether `part` is known to imply `whole`. `conjuncts` returns the masks that a mask implies directly; up to `forks` times, those of
/// the second one are followed, too.
pub(super) fn implies(
    part: Operand,
    whole: Operand,
    forks: usize,
    conjuncts: &impl Fn(Operand) -> [Option<Operand>; 2],
) -> bool {
    let mut part = part;
    for _ in 0..MAX_DEPTH {
        if part == whole || part == NONE {
            return true;
        }
        let [Some(first), second] = conjuncts(part) else { return false };
        if second.is_some_and(|second| {
            second == whole || (forks > 0 && implies(second, whole, forks - 1, conjuncts))
        }) {
            return true;
        }
        part = first;
    }
    part == whole
}

impl Builder {
    /// Returns `mask ? a : b`, for operands of a type.
    pub fn select(&mut self, ty: Type, mask: Operand, a: Operand, b: Operand) -> Operand {
        if let Some(inverse) = self.inverse(mask) {
            return self.select(ty, inverse, b, a);
        }
        match mask {
            _ if a == b => a,
            ALL => a,
            NONE => b,
            _ if (a, b) == (ALL, NONE) && ty == Type::Mask => mask,
            _ if b == NONE && (a == mask || self.implies(a, mask)) => a,
            _ => {
                // m ? (m ? x : _) : b → m ? x : b
                if let Some((Opcode::Select, [inner, x, _])) = self.def_of(a)
                    && inner == mask
                {
                    return self.select(ty, mask, x, b);
                }
                if let Some((Opcode::Select, [inner, _, y])) = self.def_of(b)
                    && inner == mask
                {
                    return self.select(ty, mask, a, y);
                }
                if let Some((a, b)) = self.without_implied(mask, a, b) {
                    return self.select(ty, mask, a, b);
                }
                // m ? (n ? x : b) : b → n ? x : b, n in m
                if let Some((Opcode::Select, [inner, _, y])) = self.def_of(a)
                    && y == b
                    && self.implies(inner, mask)
                {
                    return a;
                }
                // m ? a : (n ? a : y) → m | n ? a : y
                if let Some((Opcode::Select, [inner, x, y])) = self.def_of(b)
                    && x == a
                {
                    let either = self.or(mask, inner);
                    return self.select(ty, either, a, y);
                }
                let range = self.range(a).join(self.range(b));
                self.def_typed(ty, Opcode::Select, &[mask, a, b], range)
            }
        }
    }

    /// Returns the operands of a select, without nested selects whose masks its own mask decides.
    fn without_implied(&self, mask: Operand, a: Operand, b: Operand) -> Option<(Operand, Operand)> {
        if let Some((Opcode::Select, [inner, x, y])) = self.def_of(a) {
            // m ? (n ? x : _) : b → m ? x : b, m in n
            if self.implies(mask, inner) {
                return Some((x, b));
            }
            if self.disjoint(mask, inner) {
                return Some((y, b));
            }
        }
        match self.def_of(b) {
            // m ? a : (n ? _ : y) → m ? a : y, n in m
            Some((Opcode::Select, [inner, _, y])) if self.implies(inner, mask) => Some((a, y)),
            _ => None,
        }
    }

    /// Returns a & b.
    pub fn and(&mut self, a: Operand, b: Operand) -> Operand {
        match (a, b) {
            (NONE, _) | (_, NONE) => NONE,
            (ALL, other) | (other, ALL) => other,
            _ if a == b || self.implies(a, b) => a,
            _ if self.implies(b, a) => b,
            _ if self.disjoint(a, b) => NONE,
            _ => match (self.inverse(a), self.inverse(b)) {
                (_, Some(b)) => self.and_not(a, b),
                (Some(a), _) => self.and_not(b, a),
                _ => {
                    let (a, b) =
                        if argument_order(a) > argument_order(b) { (b, a) } else { (a, b) };
                    self.def(Opcode::And, &[a, b], Range::ANY)
                }
            },
        }
    }

    /// Returns a | b.
    pub fn or(&mut self, a: Operand, b: Operand) -> Operand {
        match (a, b) {
            (ALL, _) | (_, ALL) => ALL,
            (NONE, other) | (other, NONE) => other,
            _ if a == b || self.implies(b, a) => a,
            _ if self.implies(a, b) => b,
            _ => {
                for (part, rest) in [(a, b), (b, a)] {
                    // (w & !t) | t → w
                    if let Some((Opcode::AndNot, [whole, taken, _])) = self.def_of(rest)
                        && (taken == part || self.and_operands(part) == Some((whole, taken)))
                        && self.implies(part, whole)
                    {
                        return whole;
                    }
                }
                if self.inverse(a) == Some(b) || self.inverse(b) == Some(a) {
                    return ALL;
                }
                let (a, b) = if argument_order(a) > argument_order(b) { (b, a) } else { (a, b) };
                self.def(Opcode::Or, &[a, b], Range::ANY)
            }
        }
    }

    /// Returns a & !b.
    pub fn and_not(&mut self, a: Operand, b: Operand) -> Operand {
        match (a, b) {
            (NONE, _) | (_, ALL) => NONE,
            (_, NONE) => a,
            _ if a == b || self.implies(a, b) => NONE,
            _ if self.disjoint(a, b) => a,
            _ => {
                if let Some(b) = self.inverse(b) {
                    return self.and(a, b);
                }
                // a & !(x | y) → a & !y, a and x disjoint
                if let Some((Opcode::Or, [x, y, _])) = self.def_of(b) {
                    if self.disjoint(a, x) {
                        return self.and_not(a, y);
                    }
                    if self.disjoint(a, y) {
                        return self.and_not(a, x);
                    }
                }
                // a & !(a & y) → a & !y
                if let Some((x, y)) = self.and_operands(b) {
                    if x == a {
                        return self.and_not(a, y);
                    }
                    if y == a {
                        return self.and_not(a, x);
                    }
                }
                if let Some((Opcode::AndNot, [x, y, _])) = self.def_of(b)
                    && x == a
                {
                    return self.and(a, y);
                }
                self.def(Opcode::AndNot, &[a, b], Range::ANY)
            }
        }
    }

    /// Returns !a.
    pub fn not(&mut self, a: Operand) -> Operand {
        self.and_not(ALL, a)
    }

    /// Returns whether a mask is `old | x` for some x.
    pub fn is_or_of(&self, old: Operand, new: Operand) -> bool {
        matches!(self.def_of(new), Some((Opcode::Or, [a, b, _])) if a == old || b == old)
    }

    /// Returns the operation that defines an operand; `None` for constants, texels, phis, loop parameters and uniforms.
    pub fn def_of(&self, operand: Operand) -> Option<(Opcode, [Operand; 3])> {
        let inst = self.defs[operand.value()?].as_ref()?;
        Some((inst.opcode, inst.args))
    }

    /// Returns the operands of a mask that is an `and`.
    fn and_operands(&self, mask: Operand) -> Option<(Operand, Operand)> {
        match self.def_of(mask)? {
            (Opcode::And, [a, b, _]) => Some((a, b)),
            _ => None,
        }
    }

    /// Returns the operand of a mask that is a `not`.
    fn inverse(&self, mask: Operand) -> Option<Operand> {
        match self.def_of(mask)? {
            (Opcode::AndNot, [ALL, a, _]) => Some(a),
            _ => None,
        }
    }

    /// Returns whether `part` is known to imply `whole`.
    fn implies(&self, part: Operand, whole: Operand) -> bool {
        let conjuncts =
            |mask| self.def_of(mask).map_or([None; 2], |(opcode, args)| conjuncts(opcode, args));
        implies(part, whole, 0, &conjuncts)
    }

    /// Returns whether two masks are known to be disjoint.
    fn disjoint(&self, a: Operand, b: Operand) -> bool {
        self.is_excluded(a, b, MAX_DEPTH) || self.is_excluded(b, a, MAX_DEPTH)
    }

    /// Returns whether `part` implies `x & !y` for some y that `of` implies.
    fn is_excluded(&self, part: Operand, of: Operand, depth: usize) -> bool {
        if depth == 0 {
            return false;
        }
        if let Some((Opcode::Or, [x, y, _])) = self.def_of(of) {
            return self.is_excluded(part, x, depth - 1) && self.is_excluded(part, y, depth - 1);
        }
        let mut part = part;
        for _ in 0..MAX_DEPTH {
            part = match self.def_of(part) {
                Some((Opcode::AndNot, [_, taken, _])) if taken == of || self.implies(of, taken) => {
                    return true;
                }
                Some((Opcode::AndNot | Opcode::And, [whole, ..])) => whole,
                _ => return false,
            };
        }
        false
    }
}
