//! Hash-consed stacks of a group of pixels: equal stacks have equal numbers.

/// An interned stack; 0 is the empty stack.
pub(super) type StackId = u32;

/// An interner of stacks: a tree in which a stack is a path from the root.
#[derive(Clone, Debug)]
pub(super) struct StackInterner<T> {
    nodes: Vec<Node<T>>,
}

#[derive(Clone, Debug)]
struct Node<T> {
    below: StackId,
    key: u32,
    depth: u16,
    first_child: u32,
    sibling: u32,
    data: T,
}

const NONE: u32 = u32::MAX;

impl<T: Default> StackInterner<T> {
    pub(super) fn new() -> Self {
        let root = Node {
            below: 0,
            key: NONE,
            depth: 0,
            first_child: NONE,
            sibling: NONE,
            data: T::default(),
        };
        Self { nodes: vec![root] }
    }

    /// Returns the depth of a stack.
    pub(super) fn depth(&self, stack: StackId) -> usize {
        self.nodes.get(stack as usize).map_or(0, |node| usize::from(node.depth))
    }

    /// Returns the stack with an entry pushed.
    pub(super) fn push(&mut self, stack: StackId, key: u32) -> StackId {
        let Some(parent) = self.nodes.get(stack as usize) else { return stack };
        let (depth, first) = (parent.depth + 1, parent.first_child);
        let mut child = first;
        while let Some(node) = self.nodes.get(child as usize) {
            if node.key == key {
                return child;
            }
            child = node.sibling;
        }
        let new = u32::try_from(self.nodes.len()).unwrap_or(NONE);
        let node = Node {
            below: stack,
            key,
            depth,
            first_child: NONE,
            sibling: first,
            data: T::default(),
        };
        self.nodes.push(node);
        self.nodes[stack as usize].first_child = new;
        new
    }

    /// Returns the top entry and the stack below it.
    pub(super) fn pop(&self, stack: StackId) -> Option<(u32, StackId)> {
        let node = self.nodes.get(stack as usize).filter(|_| stack != 0)?;
        Some((node.key, node.below))
    }

    /// Returns the data of a stack's top entry; meaningless for the empty stack.
    pub(super) fn top(&self, stack: StackId) -> &T {
        &self.nodes[(stack as usize).min(self.nodes.len() - 1)].data
    }

    pub(super) fn top_mut(&mut self, stack: StackId) -> &mut T {
        let last = self.nodes.len() - 1;
        &mut self.nodes[(stack as usize).min(last)].data
    }

    /// Returns the number of stacks, including the empty one.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_stacks_share_one_number() {
        let mut stacks = StackInterner::<u8>::new();
        let a = stacks.push(0, 7);
        let ab = stacks.push(a, 9);
        assert_eq!((stacks.push(0, 7), stacks.push(a, 9), stacks.len()), (a, ab, 3));
        assert_ne!(stacks.push(0, 9), ab);
        assert_eq!(
            (stacks.pop(ab), stacks.pop(a), stacks.pop(0)),
            (Some((9, a)), Some((7, 0)), None)
        );
        assert_eq!((stacks.depth(ab), stacks.depth(0)), (2, 0));
    }
}
