//! Copy coalescing: registers that a copy connects become one, where nothing can see the difference.
//!
//! Variables that live over branches and loops are copied to registers of their own at the end of each way. If no component of the two
//! registers is written while the other one's is needed, both are one register, and the copy is gone.

mod interference;

use std::collections::HashMap;

use crate::code::{
    Atom, Code, Component, Node, Op, Register, Relative, Routine, Shape, count, each, reads,
    written,
};
use interference::Interference;

/// Whether an operation of a routine is one instruction, which reads all before it writes.
type IsOne<'a> = &'a dyn Fn(&Routine, &Op) -> bool;

/// What a processor allows.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'a> {
    pub(crate) is_one: IsOne<'a>,
    /// Whether inputs are in temporaries, which can be written.
    pub(crate) has_writable_inputs: bool,
}

/// Most nodes of a routine: what is longer does not fit the chip.
const MOST_NODES: usize = 1 << 13;
/// Most copies at a time, for the memory that their interference takes.
const MOST_COPIES: usize = 1 << 10;
/// Rounds. A second one finds what the first one's pairs, which only grow, did not allow.
const ROUNDS: usize = 8;

/// Coalesces copies, those of inner loops first.
pub(crate) fn coalesce(routine: &mut Routine, rules: Rules<'_>) {
    if count(&routine.nodes) > MOST_NODES {
        return;
    }
    for _ in 0..ROUNDS {
        let mut copies = Vec::new();
        list_copies(&routine.nodes, 0, &mut copies);
        let uses = uses_of(&routine.nodes);
        let used = |register: Register| uses.get(&register).copied().unwrap_or_default();
        copies.retain(|copy| {
            // The optimiser does better with what is read elsewhere, too, if no branch is involved.
            let [from, to] = [used(copy.from), used(copy.to)];
            from.writes > 1 || to.writes > 1 || from.reads == copy.places.len()
        });
        // They cost the most.
        copies.sort_by_key(|copy| std::cmp::Reverse(copy.depth));
        copies.truncate(MOST_COPIES);
        let registers: Vec<Register> =
            copies.iter().flat_map(|copy| [copy.from, copy.to]).collect();
        let mut graph = Interference::of(routine, &registers, rules.is_one);
        let mut merged: Vec<Merge> = Vec::new();
        for copy in &copies {
            let Copy { from, to, places, .. } = copy.after(&merged);
            if from == to {
                continue;
            }
            let back: Vec<(u8, u8)> = places.iter().map(|(from, to)| (*to, *from)).collect();
            let merge = find(routine, &graph, rules, from, to, &places)
                .or_else(|| find(routine, &graph, rules, to, from, &back));
            let Some(merge) = merge else { continue };
            for c in graph.used(merge.gone) {
                graph.merge((merge.gone, c), (merge.stays, merge.place(c)));
            }
            rename(&mut routine.nodes, &merge);
            merged.push(merge);
        }
        if merged.is_empty() {
            return;
        }
        remove_identities(&mut routine.nodes);
    }
}

/// A copy of components of a register to another one.
#[derive(Clone)]
struct Copy {
    depth: usize,
    from: Register,
    to: Register,
    /// Components of both.
    places: Vec<(u8, u8)>,
}

impl Copy {
    /// Returns what it is once registers are parts of others.
    fn after(&self, merged: &[Merge]) -> Self {
        let Self { depth, mut from, mut to, mut places } = self.clone();
        for merge in merged {
            for (of_from, of_to) in &mut places {
                *of_from = merge.component(from, *of_from);
                *of_to = merge.component(to, *of_to);
            }
            (from, to) = (merge.register(from), merge.register(to));
        }
        Self { depth, from, to, places }
    }
}

fn list_copies(nodes: &[Node], depth: usize, copies: &mut Vec<Copy>) {
    for node in nodes {
        match node {
            Node::Op(Op { code: Code::Copy, register: to, lanes, operands, .. }) => {
                let first = copies.len();
                for (lane, component) in lanes.iter().zip(&operands[0]) {
                    let Some((from, c)) = component.plain().filter(|(from, _)| from != to) else {
                        continue;
                    };
                    match copies[first..].iter_mut().find(|copy| copy.from == from) {
                        Some(copy) => copy.places.push((c, *lane)),
                        None => {
                            let places = vec![(c, *lane)];
                            copies.push(Copy { depth, from, to: *to, places });
                        }
                    }
                }
            }
            Node::If(_, yes, no, _) => {
                list_copies(yes, depth, copies);
                list_copies(no, depth, copies);
            }
            Node::Loop(_, body, _) => list_copies(body, depth + 1, copies),
            _ => {}
        }
    }
}

/// How often a register is used.
#[derive(Clone, Copy, Default)]
struct Uses {
    /// Nodes that write it.
    writes: usize,
    /// Components that are read.
    reads: usize,
}

fn uses_of(nodes: &[Node]) -> HashMap<Register, Uses> {
    let mut uses: HashMap<Register, Uses> = HashMap::new();
    each(nodes, &mut |node| {
        reads(node, &mut |register, _| uses.entry(register).or_default().reads += 1);
        written(node)
            .into_iter()
            .for_each(|register| uses.entry(register).or_default().writes += 1);
    });
    uses
}

/// A register that becomes a part of another one.
#[derive(Clone, Debug)]
struct Merge {
    gone: Register,
    stays: Register,
    /// For each component that the program names, that of the other register.
    places: [Option<u8>; 4],
}

impl Merge {
    #[expect(clippy::expect_used, reason = "`find` gives each component a place or gives up")]
    fn place(&self, component: u8) -> u8 {
        self.places[usize::from(component)].expect("each component that is named has a place")
    }

    /// Returns the register that one is, or is a part of.
    fn register(&self, register: Register) -> Register {
        if register == self.gone { self.stays } else { register }
    }

    /// Returns which component of that a component is.
    fn component(&self, register: Register, component: u8) -> u8 {
        if register == self.gone { self.place(component) } else { component }
    }

    fn rename(&self, register: &mut Register, component: &mut u8) {
        *component = self.component(*register, *component);
        *register = self.register(*register);
    }

    fn rename_component(&self, component: &mut Component) {
        match &mut component.atom {
            Atom::Register(register, c)
            | Atom::Relative(Relative { index: (register, c), .. }, _) => self.rename(register, c),
            Atom::Uniform(..) | Atom::Literal(_) => {}
        }
    }

    fn rename_op(&self, op: &mut Op) {
        op.lanes.iter_mut().for_each(|lane| *lane = self.component(op.register, *lane));
        op.register = self.register(op.register);
        op.operands.iter_mut().flatten().for_each(|component| self.rename_component(component));
    }
}

/// Finds components of `stays` for those of `gone`, with some given.
fn find(
    routine: &Routine,
    graph: &Interference,
    rules: Rules<'_>,
    gone: Register,
    stays: Register,
    given: &[(u8, u8)],
) -> Option<Merge> {
    let is_input = |register| matches!(routine.shape(register), Shape::Input(_));
    if is_input(gone) || is_input(stays) && !rules.has_writable_inputs {
        return None;
    }
    let components = match routine.shape(stays) {
        Shape::Alpha => 1,
        Shape::Colors => 3,
        Shape::Whole | Shape::Input(_) => 4,
    };
    let mut places: [Option<u8>; 4] = [None; 4];
    for &(from, to) in given {
        let place = &mut places[usize::from(from)];
        if *place.get_or_insert(to) != to {
            return None;
        }
    }
    for c in graph.used(gone) {
        let fits = |places: &[Option<u8>; 4], to: u8| {
            let is_taken = (0..4).any(|other| other != c && places[usize::from(other)] == Some(to));
            to < components && !is_taken && graph.may_share((gone, c), (stays, to))
        };
        let place = match places[usize::from(c)] {
            Some(to) => Some(to).filter(|to| fits(&places, *to)),
            None => std::iter::once(c).chain(0..components).find(|to| fits(&places, *to)),
        };
        places[usize::from(c)] = Some(place?);
    }
    let merge = Merge { gone, stays, places };
    is_possible(&routine.nodes, routine, rules, &merge).then_some(merge)
}

/// Returns whether each node can do its job with other components, in as many instructions.
fn is_possible(nodes: &[Node], routine: &Routine, rules: Rules<'_>, merge: &Merge) -> bool {
    let is_alpha = |register: Register, c: u8| c == 3 || routine.shape(register) == Shape::Alpha;
    nodes.iter().all(|node| {
        let mut is_read = false;
        reads(node, &mut |register, _| is_read |= register == merge.gone);
        match node {
            Node::Op(op) if op.register == merge.gone || is_read => {
                let stays_alpha = |lane: &u8| {
                    !is_alpha(op.register, *lane) || is_alpha(merge.stays, merge.place(*lane))
                };
                match op.code {
                    // Differences keep their channel.
                    Code::Alu(alu) if alu.is_difference() => return false,
                    // Only alpha has them.
                    Code::Alu(alu)
                        if alu.is_transcendental()
                            && op.register == merge.gone
                            && !op.lanes.iter().all(stays_alpha) =>
                    {
                        return false;
                    }
                    _ => {}
                }
                let mut renamed = op.clone();
                merge.rename_op(&mut renamed);
                !(rules.is_one)(routine, op) || (rules.is_one)(routine, &renamed)
            }
            Node::Fetch(fetch) if fetch.register == merge.gone => {
                let keeps = |c: u8| !fetch.lanes[usize::from(c)] || merge.place(c) == c;
                routine.shape(merge.stays) != Shape::Alpha && (0..4).all(keeps)
            }
            Node::Output(_, value, origin) if is_read => {
                let copy = |value: &[Component]| Op {
                    code: Code::Copy,
                    register: merge.stays,
                    lanes: (0..value.len() as u8).collect(),
                    operands: vec![value.to_vec()],
                    origin: *origin,
                };
                let mut renamed = value.clone();
                renamed.iter_mut().for_each(|component| merge.rename_component(component));
                !(rules.is_one)(routine, &copy(value)) || (rules.is_one)(routine, &copy(&renamed))
            }
            Node::If(_, yes, no, _) => {
                is_possible(yes, routine, rules, merge) && is_possible(no, routine, rules, merge)
            }
            Node::Loop(_, body, _) => is_possible(body, routine, rules, merge),
            _ => true,
        }
    })
}

fn rename(nodes: &mut [Node], merge: &Merge) {
    for node in nodes {
        match node {
            Node::Op(op) => merge.rename_op(op),
            Node::Fetch(fetch) => {
                // Its lanes keep their components.
                fetch.register = merge.register(fetch.register);
                let gradients = fetch.gradients.iter_mut().flatten().flatten();
                let places = fetch.strq.iter_mut().chain(gradients);
                places.for_each(|(register, c)| merge.rename(register, c));
            }
            Node::Kill(list, _) => {
                list.iter_mut().for_each(|(register, c)| merge.rename(register, c));
            }
            Node::Output(_, value, _) => {
                value.iter_mut().for_each(|component| merge.rename_component(component));
            }
            Node::If(condition, yes, no, _) => {
                merge.rename_component(&mut condition.test);
                rename(yes, merge);
                rename(no, merge);
            }
            Node::Loop(_, body, _) => rename(body, merge),
            Node::Break(_) | Node::Continue(_) => {}
        }
    }
}

/// Removes lanes that are copied to themselves, and branches that are empty then.
fn remove_identities(nodes: &mut Vec<Node>) {
    nodes.retain_mut(|node| match node {
        Node::Op(Op { code: Code::Copy, register, lanes, operands, .. }) => {
            let kept: Vec<(u8, Component)> = lanes
                .iter()
                .copied()
                .zip(operands[0].iter().copied())
                .filter(|(lane, component)| component.plain() != Some((*register, *lane)))
                .collect();
            (*lanes, operands[0]) = kept.into_iter().unzip();
            !lanes.is_empty()
        }
        Node::If(_, yes, no, _) => {
            remove_identities(yes);
            remove_identities(no);
            !yes.is_empty() || !no.is_empty()
        }
        Node::Loop(_, body, _) => {
            remove_identities(body);
            true
        }
        _ => true,
    });
}
