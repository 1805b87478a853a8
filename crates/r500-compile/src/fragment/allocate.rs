//! Temporaries for virtual registers: a linear scan over the program, colours and alpha by themselves.

use r500_isa::TEMPORARIES;

use crate::code::{Node, Register, Routine, Shape, reads};

/// Where registers are.
#[derive(Clone, Debug)]
pub(crate) struct Allocation {
    /// The temporary of each register; `None` for those that are not used.
    pub(crate) temporaries: Vec<Option<u8>>,
    /// For each input of the routine that is used: its temporary.
    pub(crate) inputs: Vec<Option<u8>>,
    /// The number of temporaries.
    pub(crate) count: usize,
}

/// Where the components of a routine's registers are.
#[derive(Clone, Copy)]
pub(super) struct Homes<'a> {
    pub(super) routine: &'a Routine,
    pub(super) allocation: &'a Allocation,
}

impl Homes<'_> {
    /// Returns the temporary and the channel of a register's component.
    #[expect(
        clippy::expect_used,
        reason = "a broken promise of the passes before must not compile"
    )]
    pub(super) fn home(&self, register: Register, component: u8) -> (u8, usize) {
        let temporary = self.allocation.temporaries[register.0 as usize]
            .expect("the allocation has a temporary for each register that code names");
        match self.routine.shape(register) {
            Shape::Alpha => (temporary, 3),
            _ => (temporary, usize::from(component & 3)),
        }
    }
}

/// The first and the last place where a register has a value.
#[derive(Clone, Copy, Debug)]
struct Interval {
    first: usize,
    last: usize,
}

struct Scan<'a> {
    routine: &'a Routine,
    place: usize,
    intervals: Vec<Option<Interval>>,
}

impl Scan<'_> {
    fn touch(&mut self, register: Register) {
        let place = self.place;
        let interval = &mut self.intervals[register.0 as usize];
        match interval {
            Some(interval) => interval.last = place,
            None => {
                // Inputs are there before the first instruction.
                let is_input = matches!(self.routine.shape(register), Shape::Input(_));
                *interval = Some(Interval { first: if is_input { 0 } else { place }, last: place });
            }
        }
    }

    fn list(&mut self, nodes: &[Node]) {
        for node in nodes {
            self.place += 2;
            let mut read = Vec::new();
            reads(node, &mut |register, _| read.push(register));
            // An instruction reads before it writes; several that compute one value do not, so what they read lives on.
            let several = matches!(node, Node::Op(op) if !self.routine.is_one_instruction(op));
            self.place += usize::from(several);
            read.into_iter().for_each(|register| self.touch(register));
            self.place -= usize::from(several);
            match node {
                Node::Op(op) => self.touch(op.register),
                Node::Fetch(fetch) => self.touch(fetch.register),
                Node::If(_, yes, no, _) => {
                    self.list(yes);
                    self.list(no);
                }
                Node::Loop(_, body, _) => {
                    let start = self.place;
                    self.list(body);
                    self.place += 2;
                    // What comes from before the loop is there in each pass.
                    let end = self.place;
                    for interval in self.intervals.iter_mut().flatten() {
                        if interval.first <= start && interval.last > start {
                            interval.last = end;
                        }
                    }
                }
                Node::Kill(..) | Node::Output(..) | Node::Break(_) | Node::Continue(_) => {}
            }
        }
    }
}

/// Gives each register a temporary.
///
/// # Errors
/// The number of temporaries that are needed, if the chip has fewer.
pub(crate) fn allocate(routine: &Routine, inputs: usize) -> Result<Allocation, usize> {
    let mut scan = Scan { routine, place: 0, intervals: vec![None; routine.shapes.len()] };
    scan.list(&routine.nodes);
    let mut order: Vec<(usize, Interval)> = scan
        .intervals
        .iter()
        .enumerate()
        .filter_map(|(n, interval)| Some((n, (*interval)?)))
        .collect();
    let rank = |n: usize| match routine.shapes[n] {
        Shape::Input(input) => usize::from(input),
        _ => inputs,
    };
    order.sort_by_key(|(n, interval)| (interval.first, rank(*n), *n));
    let mut allocation = Allocation {
        temporaries: vec![None; routine.shapes.len()],
        inputs: vec![None; inputs],
        count: 0,
    };
    // The last place at which a temporary's colours and its alpha are in use.
    let mut files: [Vec<usize>; 2] = [Vec::new(), Vec::new()];
    for (n, interval) in order {
        let needs: &[usize] = match routine.shapes[n] {
            Shape::Colors => &[0],
            Shape::Alpha => &[1],
            Shape::Whole | Shape::Input(_) => &[0, 1],
        };
        // Reads precede writes in an instruction: a register may begin where another one ends.
        let is_free = |t: usize| {
            needs.iter().all(|file| {
                files[*file].get(t).is_none_or(|last| *last <= interval.first && interval.first > 0)
            })
        };
        #[expect(clippy::expect_used, reason = "past all that are in use, one is free")]
        let t = (0..).find(|t| is_free(*t)).expect("the numbers do not end");
        for file in needs {
            if files[*file].len() <= t {
                files[*file].resize(t + 1, 0);
            }
            files[*file][t] = interval.last;
        }
        allocation.count = allocation.count.max(t + 1);
        let temporary = u8::try_from(t).unwrap_or(u8::MAX);
        allocation.temporaries[n] = Some(temporary);
        if let Shape::Input(input) = routine.shapes[n] {
            allocation.inputs[usize::from(input)] = Some(temporary);
        }
    }
    if allocation.count > TEMPORARIES { Err(allocation.count) } else { Ok(allocation) }
}
