//! References of the protocol to values that expand.

/// A value that expands. Its parts are read when it is expanded.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    /// Those of the shader.
    Variables,
    /// A variable of the shader that has several vectors.
    Variable(String),
    Registers,
    Inputs,
    Outputs,
    Constants,
    State,
    Group,
    /// An expression of several channels.
    Expression(String),
    Loops,
    Calls,
    /// A pixel of the group, by its lane.
    Lane(usize),
    /// A temporary of a lane.
    LaneTemp(usize, usize),
}

/// A variable, before it has a reference.
pub(super) struct Shown {
    pub(super) name: String,
    pub(super) value: String,
    /// The expression that has this value.
    pub(super) expression: Option<String>,
    /// What it expands to, and the number of its parts.
    pub(super) parts: Option<(Node, usize)>,
}

impl Shown {
    /// Returns a variable that does not expand and has no expression.
    pub(super) fn plain(name: &str, value: String) -> Self {
        Self { name: name.to_owned(), value, expression: None, parts: None }
    }

    /// Returns a number of things, which expands to them.
    pub(super) fn counted(name: &str, count: usize, node: Node) -> Self {
        Self {
            parts: (count > 0).then_some((node, count)),
            ..Self::plain(name, if count == 0 { "none".to_owned() } else { count.to_string() })
        }
    }
}

/// The references of values that expand, from 1. They stay valid: what expands is read again.
#[derive(Default)]
pub(super) struct References(Vec<Node>);

impl References {
    /// Returns the reference of a value.
    pub(super) fn of(&mut self, node: Node) -> usize {
        if let Some(known) = self.0.iter().position(|other| *other == node) {
            return known + 1;
        }
        self.0.push(node);
        self.0.len()
    }

    /// Returns the value of a reference.
    pub(super) fn get(&self, reference: u64) -> Option<Node> {
        let index = usize::try_from(reference).ok()?.checked_sub(1)?;
        self.0.get(index).cloned()
    }
}
