//! Abstract register state of a vertex: the operand in each component.

use r500_ir::{NONE, Operand, Type};
use r500_pvs::{ALT_TEMPORARIES, OUTPUTS, TEMPORARIES};

/// The operand of each variable: components of temporaries, alternate temporaries, outputs and A0, and the predicate.
#[derive(Clone, Debug)]
pub(super) struct State {
    variables: Vec<Operand>,
}

/// A register file that programs write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum File {
    Temporary,
    Alternate,
    Output,
}

impl File {
    /// Returns the number of registers.
    pub(super) fn size(self) -> usize {
        match self {
            Self::Temporary => TEMPORARIES,
            Self::Alternate => ALT_TEMPORARIES,
            Self::Output => OUTPUTS,
        }
    }

    /// Returns the variable of component x of register 0.
    fn first(self) -> usize {
        match self {
            Self::Temporary => 0,
            Self::Alternate => 4 * TEMPORARIES,
            Self::Output => 4 * (TEMPORARIES + ALT_TEMPORARIES),
        }
    }

    /// Returns the variable of a component.
    pub(super) fn variable(self, register: usize, component: usize) -> usize {
        self.first() + 4 * register + component
    }
}

impl State {
    /// The variable of A0's x.
    pub(super) const ADDRESS: usize = 4 * (TEMPORARIES + ALT_TEMPORARIES + OUTPUTS);
    /// The variable of the predicate.
    pub(super) const PREDICATE: usize = Self::ADDRESS + 4;
    /// The number of variables.
    pub(super) const VARIABLES: usize = Self::PREDICATE + 1;

    /// Returns the state at the start of a program: zeros, and no predicate.
    pub(super) fn start() -> Self {
        let mut variables = vec![Operand::float(0.0); Self::VARIABLES];
        variables[Self::PREDICATE] = NONE;
        Self { variables }
    }

    /// Returns the type of a variable.
    pub(super) fn type_of(variable: usize) -> Type {
        if variable == Self::PREDICATE { Type::Mask } else { Type::F32 }
    }

    pub(super) fn get(&self, variable: usize) -> Operand {
        self.variables[variable]
    }

    pub(super) fn set(&mut self, variable: usize, operand: Operand) {
        self.variables[variable] = operand;
    }

    /// Returns the mask of vertices with the predicate.
    pub(super) fn predicate(&self) -> Operand {
        self.get(Self::PREDICATE)
    }

    /// Returns an output.
    pub(super) fn output(&self, register: usize) -> [Operand; 4] {
        [0, 1, 2, 3].map(|n| self.get(File::Output.variable(register, n)))
    }
}
