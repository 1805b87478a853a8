//! Copy coalescing: what a copy copies is computed in the copy's place, where nothing can see the difference.
//!
//! Variables that live over branches and loops are copied to registers of their own at the end of each way. If all that reads the source is
//! between its definition and the copy, and nothing in between uses the register of the variable or leaves the list, the source is that
//! register.

use std::collections::HashMap;

use crate::arithmetic::Alu;
use crate::code::{Atom, Code, Component, Node, Op, Register, Relative, Routine, Shape, reads};

/// Whether an operation of a routine is one instruction, which reads all before it writes.
type IsOne<'a> = &'a dyn Fn(&Routine, &Op) -> bool;

/// Coalesces copies until none is left that can be.
pub(crate) fn coalesce(routine: &mut Routine, is_one: IsOne<'_>) {
    loop {
        let uses = Uses::of(routine);
        let mut nodes = std::mem::take(&mut routine.nodes);
        let done = in_list(&mut nodes, routine, &uses, is_one);
        routine.nodes = nodes;
        if !done {
            return;
        }
    }
}

/// How often registers are read and written in the whole program.
struct Uses {
    reads: HashMap<Register, usize>,
    writes: HashMap<Register, usize>,
}

impl Uses {
    fn of(routine: &Routine) -> Self {
        let mut uses = Self { reads: HashMap::new(), writes: HashMap::new() };
        uses.add(&routine.nodes);
        uses
    }

    fn add(&mut self, nodes: &[Node]) {
        for node in nodes {
            reads(node, &mut |register, _| *self.reads.entry(register).or_default() += 1);
            match node {
                Node::Op(op) => *self.writes.entry(op.register).or_default() += 1,
                Node::Fetch(fetch) => *self.writes.entry(fetch.register).or_default() += 1,
                Node::If(_, yes, no, _) => {
                    self.add(yes);
                    self.add(no);
                }
                Node::Loop(_, body, _) => self.add(body),
                _ => {}
            }
        }
    }
}

/// A copy that can go: where, the register that is copied, the one that gets it, and the component of that one for each component.
struct Found {
    copy: usize,
    define: usize,
    from: Register,
    to: Register,
    places: Vec<(u8, u8)>,
}

fn in_list(nodes: &mut Vec<Node>, routine: &Routine, uses: &Uses, is_one: IsOne<'_>) -> bool {
    let found = (0..nodes.len()).find_map(|at| find(nodes, at, routine, uses, is_one));
    if let Some(found) = found {
        apply(nodes, &found);
        return true;
    }
    nodes.iter_mut().any(|node| match node {
        Node::If(_, yes, no, _) => {
            in_list(yes, routine, uses, is_one) || in_list(no, routine, uses, is_one)
        }
        Node::Loop(_, body, _) => in_list(body, routine, uses, is_one),
        _ => false,
    })
}

fn find(
    nodes: &[Node],
    copy: usize,
    routine: &Routine,
    uses: &Uses,
    is_one: IsOne<'_>,
) -> Option<Found> {
    let Node::Op(Op { code: Code::Copy, register: to, lanes, operands, .. }) = &nodes[copy] else {
        return None;
    };
    let mut places = Vec::new();
    let mut from = None;
    for (lane, component) in lanes.iter().zip(&operands[0]) {
        let (register, c) = component.plain()?;
        if *from.get_or_insert(register) != register || places.iter().any(|(other, _)| *other == c)
        {
            return None;
        }
        places.push((c, *lane));
    }
    let from = from.filter(|from| from != to)?;
    if uses.writes.get(&from) != Some(&1) || matches!(routine.shape(from), Shape::Input(_)) {
        return None;
    }
    let define = nodes[..copy].iter().rposition(|node| match node {
        Node::Op(op) => op.register == from,
        Node::Fetch(fetch) => fetch.register == from,
        _ => false,
    })?;
    if !fits(&nodes[define], &places, routine, *to) {
        return None;
    }
    // Nothing in between uses the variable's register or leaves; all that reads the source is here.
    let mut inside = Looks { from, to: *to, reads: 0, touches: false };
    inside.list(&nodes[define + 1..copy]);
    let (mut own, mut reads_to) = (0, false);
    reads(&nodes[define], &mut |register, _| {
        own += usize::from(register == from);
        reads_to |= register == *to;
    });
    // An instruction reads before it writes; several do not.
    let overwrites = reads_to && matches!(&nodes[define], Node::Op(op) if !is_one(routine, op));
    let all = uses.reads.get(&from).copied().unwrap_or(0);
    (!inside.touches && !overwrites && own == 0 && inside.reads + lanes.len() == all)
        .then_some(Found { copy, define, from, to: *to, places })
}

/// Returns to which component a copy moves a component.
fn place_of(places: &[(u8, u8)], component: u8) -> Option<u8> {
    places.iter().find(|(from, _)| *from == component).map(|(_, to)| *to)
}

/// Returns whether a node can write other components of another register.
fn fits(node: &Node, places: &[(u8, u8)], routine: &Routine, to: Register) -> bool {
    let place = |c: u8| place_of(places, c);
    let is_alpha = |c: u8| routine.shape(to) == Shape::Alpha || c == 3;
    match node {
        Node::Op(op) => {
            op.lanes.iter().all(|lane| place(*lane).is_some())
                && match op.code {
                    // Only alpha has them, and differences keep their channel.
                    Code::Alu(Alu::Ddx | Alu::Ddy) => false,
                    Code::Alu(alu) if alu.is_transcendental() => {
                        op.lanes.iter().all(|lane| place(*lane).is_some_and(is_alpha))
                    }
                    _ => true,
                }
        }
        Node::Fetch(fetch) => {
            routine.shape(to) != Shape::Alpha
                && (0..4).all(|c| !fetch.lanes[usize::from(c)] || place(c) == Some(c))
        }
        _ => false,
    }
}

/// What nodes between a definition and a copy do.
struct Looks {
    from: Register,
    to: Register,
    reads: usize,
    touches: bool,
}

impl Looks {
    fn list(&mut self, nodes: &[Node]) {
        for node in nodes {
            reads(node, &mut |register, _| {
                self.reads += usize::from(register == self.from);
                self.touches |= register == self.to;
            });
            match node {
                Node::Op(op) => self.touches |= op.register == self.to,
                Node::Fetch(fetch) => self.touches |= fetch.register == self.to,
                Node::If(_, yes, no, _) => {
                    self.list(yes);
                    self.list(no);
                }
                Node::Loop(_, body, _) => self.list(body),
                Node::Break(_) | Node::Continue(_) => self.touches = true,
                Node::Kill(..) | Node::Output(..) => {}
            }
        }
    }
}

fn apply(nodes: &mut Vec<Node>, found: &Found) {
    #[expect(clippy::expect_used, reason = "`find` gives up when a lane has no place")]
    let place = |c: u8| place_of(&found.places, c).expect("the copy reads each lane");
    match &mut nodes[found.define] {
        Node::Op(op) => {
            op.register = found.to;
            op.lanes.iter_mut().for_each(|lane| *lane = place(*lane));
        }
        Node::Fetch(fetch) => fetch.register = found.to,
        _ => {}
    }
    nodes.remove(found.copy);
    let component = |component: &mut Component| match &mut component.atom {
        Atom::Register(register, c) | Atom::Relative(Relative { index: (register, c), .. }, _)
            if *register == found.from =>
        {
            (*register, *c) = (found.to, place(*c));
        }
        _ => {}
    };
    rename(&mut nodes[found.define + 1..found.copy], &component, &|(register, c)| {
        if *register == found.from {
            (*register, *c) = (found.to, place(*c));
        }
    });
}

fn rename(
    nodes: &mut [Node],
    component: &dyn Fn(&mut Component),
    place: &dyn Fn(&mut (Register, u8)),
) {
    for node in nodes {
        match node {
            Node::Op(op) => op.operands.iter_mut().flatten().for_each(component),
            Node::Fetch(fetch) => {
                let gradients = fetch.gradients.iter_mut().flatten().flatten();
                fetch.strq.iter_mut().chain(gradients).for_each(place);
            }
            Node::Kill(list, _) => list.iter_mut().for_each(place),
            Node::Output(_, value, _) => value.iter_mut().for_each(component),
            Node::If(condition, yes, no, _) => {
                component(&mut condition.test);
                rename(yes, component, place);
                rename(no, component, place);
            }
            Node::Loop(_, body, _) => rename(body, component, place),
            Node::Break(_) | Node::Continue(_) => {}
        }
    }
}
