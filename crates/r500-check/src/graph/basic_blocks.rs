//! Basic blocks, dominators, natural loops.

use std::collections::BTreeSet;

use super::{EdgeKind, Graph, Node};

/// A basic block: consecutive instructions, entered at the first only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Index of the first instruction.
    pub first: usize,
    /// Index of the last instruction.
    pub last: usize,
    /// Whether some run may reach it.
    pub reached: bool,
    /// The outgoing edges.
    pub successors: Vec<(EdgeKind, BlockNode)>,
    /// The predecessors in ascending order.
    pub predecessors: Vec<usize>,
    /// The immediate dominator; `None` for the start block and unreachable blocks.
    pub dominator: Option<usize>,
}

/// The target of an edge between blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BlockNode {
    /// A block, by number.
    Block(usize),
    /// The end of the program.
    End,
    /// An absolute address that cannot run.
    Outside(u32),
}

/// A natural loop: the blocks that reach a back edge of the header without passing through the
/// header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NaturalLoop {
    /// The loop header, which dominates the other blocks.
    pub header: usize,
    /// Its blocks, ascending, the header included.
    pub blocks: Vec<usize>,
}

/// The basic blocks of a program, in the order of their addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// The blocks.
    pub blocks: Vec<Block>,
    /// The block where the program starts.
    pub start: usize,
    /// Natural loops, by ascending header. Loops that share a header are one.
    pub loops: Vec<NaturalLoop>,
    /// Whether some cycle has several entries and so is not a natural loop.
    pub irreducible: bool,
}

impl Blocks {
    pub(super) fn of(graph: &Graph) -> Self {
        let (mut blocks, at) = cut(graph);
        connect(graph, &mut blocks, &at);
        let start = at[graph.window.start];
        let order = reverse_postorder(&blocks, start);
        dominate(&mut blocks, &order, start);
        let mut found = Self { blocks, start, loops: Vec::new(), irreducible: false };
        found.find_loops(&order);
        found
    }

    /// Returns the block that contains an instruction.
    #[must_use]
    pub fn containing(&self, index: usize) -> Option<usize> {
        let next = self.blocks.partition_point(|block| block.first <= index);
        next.checked_sub(1).filter(|&n| self.blocks[n].last >= index)
    }

    /// Returns whether block `a` dominates block `b`.
    #[must_use]
    pub fn dominates(&self, a: usize, b: usize) -> bool {
        let mut at = Some(b);
        while let Some(block) = at {
            if block == a {
                return true;
            }
            at = self.blocks.get(block).and_then(|block| block.dominator);
        }
        false
    }

    fn find_loops(&mut self, order: &[usize]) {
        let mut position = vec![usize::MAX; self.blocks.len()];
        for (i, &block) in order.iter().enumerate() {
            position[block] = i;
        }
        for &from in order {
            for &(_, to) in &self.blocks[from].successors {
                let BlockNode::Block(header) = to else { continue };
                if position[header] > position[from] {
                    continue;
                }
                if !self.dominates(header, from) {
                    self.irreducible = true;
                    continue;
                }
                let body = self.body(header, from);
                match self.loops.iter_mut().find(|known| known.header == header) {
                    Some(known) => {
                        let all: BTreeSet<usize> =
                            known.blocks.iter().copied().chain(body).collect();
                        known.blocks = all.into_iter().collect();
                    }
                    None => {
                        self.loops.push(NaturalLoop { header, blocks: body.into_iter().collect() });
                    }
                }
            }
        }
        self.loops.sort_by_key(|found| found.header);
    }

    fn body(&self, header: usize, tail: usize) -> BTreeSet<usize> {
        let mut body = BTreeSet::from([header, tail]);
        let mut work = vec![tail];
        while let Some(block) = work.pop() {
            if block == header {
                continue;
            }
            for &before in &self.blocks[block].predecessors {
                if body.insert(before) {
                    work.push(before);
                }
            }
        }
        body
    }
}

/// Partitions the code into basic blocks. Also returns the block of each instruction.
fn cut(graph: &Graph) -> (Vec<Block>, Vec<usize>) {
    let count = graph.len();
    let mut begins = vec![false; count + 1];
    begins[graph.window.start] = true;
    for edge in &graph.edges {
        if edge.kind != EdgeKind::Next {
            begins[edge.from + 1] = true;
            if let Node::Instruction(to) = edge.to {
                begins[to] = true;
            }
        }
    }
    let (mut blocks, mut at) = (Vec::<Block>::new(), Vec::with_capacity(count));
    for (index, &begins) in begins.iter().enumerate().take(count) {
        let reached = graph.reaches(index);
        match blocks.last_mut() {
            Some(block) if !begins && block.reached == reached => block.last = index,
            _ => blocks.push(Block {
                first: index,
                last: index,
                reached,
                successors: Vec::new(),
                predecessors: Vec::new(),
                dominator: None,
            }),
        }
        at.push(blocks.len() - 1);
    }
    (blocks, at)
}

fn connect(graph: &Graph, blocks: &mut [Block], at: &[usize]) {
    for number in 0..blocks.len() {
        for edge in graph.edges_from(blocks[number].last) {
            let to = match edge.to {
                Node::Instruction(index) => BlockNode::Block(at[index]),
                Node::End => BlockNode::End,
                Node::Outside(address) => BlockNode::Outside(address),
            };
            blocks[number].successors.push((edge.kind, to));
            if let BlockNode::Block(next) = to
                && !blocks[next].predecessors.contains(&number)
            {
                blocks[next].predecessors.push(number);
            }
        }
    }
}

fn reverse_postorder(blocks: &[Block], start: usize) -> Vec<usize> {
    let mut order = Vec::with_capacity(blocks.len());
    let mut seen = vec![false; blocks.len()];
    // A block and the number of its successors visited.
    let mut stack = vec![(start, 0)];
    seen[start] = true;
    while let Some((block, done)) = stack.last_mut() {
        let Some(&(_, to)) = blocks[*block].successors.get(*done) else {
            order.push(*block);
            stack.pop();
            continue;
        };
        *done += 1;
        if let BlockNode::Block(next) = to
            && !seen[next]
        {
            seen[next] = true;
            stack.push((next, 0));
        }
    }
    order.reverse();
    order
}

/// Immediate dominators, by the iteration of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance
/// Algorithm", 2001).
fn dominate(blocks: &mut [Block], order: &[usize], start: usize) {
    let mut position = vec![usize::MAX; blocks.len()];
    for (i, &block) in order.iter().enumerate() {
        position[block] = i;
    }
    let mut dominators: Vec<Option<usize>> = vec![None; blocks.len()];
    dominators[start] = Some(start);
    let mut changed = true;
    while changed {
        changed = false;
        for &block in order.iter().filter(|&&block| block != start) {
            let known = blocks[block].predecessors.iter().filter(|&&p| dominators[p].is_some());
            let joined = known.copied().reduce(|mut a, mut b| {
                while a != b {
                    let deeper = if position[a] > position[b] { &mut a } else { &mut b };
                    *deeper = dominators[*deeper].unwrap_or(start);
                }
                a
            });
            if joined.is_some() && dominators[block] != joined {
                dominators[block] = joined;
                changed = true;
            }
        }
    }
    for (number, block) in blocks.iter_mut().enumerate() {
        block.dominator = dominators[number].filter(|_| number != start);
    }
}
