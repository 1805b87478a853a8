//! Lints: problems of a program, their locations and, if known, their fixes.

use std::fmt;

use r500_isa::{BitField, Field, FieldValue, Register, Word};
use r500_program::Program;

use crate::{LintCode, Severity};

/// A lint: a problem found in a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lint {
    /// The lint code; [`LintCode::info`] has its meaning, evidence and remedy.
    pub code: LintCode,
    /// The location.
    pub location: Location,
    /// The message, with names and numbers of this program.
    pub message: String,
    /// A fix, if one is known. It does not change the program's behaviour otherwise.
    pub fix: Option<Fix>,
    /// Related locations, each with a reason.
    pub related: Vec<(Location, &'static str)>,
}

impl Lint {
    /// Severity of the lint.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.code.info().severity
    }
}

impl fmt::Display for Lint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.code.info();
        write!(f, "{}[{}]: {}: {}", info.severity.name(), info.number, self.location, self.message)
    }
}

/// The location of a lint: the program, a state register, an instruction or one of its fields.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Location {
    /// The program as a whole.
    Program,
    /// A register of the state.
    State(&'static Register),
    /// An instruction.
    Instruction {
        /// Its index in [`Program::code`].
        index: usize,
        /// Its absolute address.
        address: u32,
        /// The field, if the lint concerns one: the number of its dword, and the field.
        field: Option<(u8, &'static Field)>,
    },
}

impl Location {
    /// Returns the index of the instruction, if the location is one.
    #[must_use]
    pub fn index(&self) -> Option<usize> {
        match *self {
            Self::Instruction { index, .. } => Some(index),
            _ => None,
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program => f.write_str("program"),
            Self::State(register) => f.write_str(register.name),
            Self::Instruction { address, field: None, .. } => write!(f, "address {address}"),
            Self::Instruction { address, field: Some((_, field)), .. } => {
                write!(f, "address {address}, {}", field.name)
            }
        }
    }
}

/// Short, because descriptions of registers are long.
impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Location({self})")
    }
}

/// A change that resolves a lint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The effect, in the imperative.
    pub text: String,
    /// Whether `--fix` applies it: it only adds waits, NOPs or stack frame space, so no result
    /// changes.
    pub safe: bool,
    /// Fields to set.
    pub edits: Vec<Edit>,
}

/// A field to set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Edit {
    /// The instruction or register that contains the field.
    pub target: EditTarget,
    /// The register or instruction word.
    pub register: &'static Register,
    /// The field.
    pub field: &'static Field,
    /// The new code.
    pub code: u32,
}

/// The target of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditTarget {
    /// A dword of an instruction.
    Instruction {
        /// Index in [`Program::code`].
        index: usize,
        /// Number of the dword, 0 to 5.
        word: u8,
    },
    /// `US_PIXSIZE`.
    Pixsize,
    /// `US_FC_CTRL`.
    FcCtrl,
}

impl fmt::Debug for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Edit({:?}: {} = {})", self.target, self.field.name, self.code)
    }
}

impl Edit {
    /// Sets a field of an instruction.
    pub(crate) fn word<W: Word, T: FieldValue>(
        index: usize,
        word: u8,
        field: BitField<W, T>,
        value: T,
    ) -> Self {
        let target = EditTarget::Instruction { index, word };
        Self { target, register: W::REGISTER, field: field.describe(), code: value.code() }
    }

    /// Sets a field of a state register.
    pub(crate) fn state<W: Word, T: FieldValue>(
        target: EditTarget,
        field: BitField<W, T>,
        value: T,
    ) -> Self {
        Self { target, register: W::REGISTER, field: field.describe(), code: value.code() }
    }

    /// Applies the edit. A location that the program lacks is ignored.
    pub fn apply(&self, program: &mut Program) {
        let Self { field, code, .. } = *self;
        match self.target {
            EditTarget::Instruction { index, word } => {
                let inst = program.code.get_mut(index);
                if let Some(dword) = inst.and_then(|inst| inst.0.get_mut(usize::from(word))) {
                    *dword = field.insert(*dword, code);
                }
            }
            EditTarget::Pixsize => {
                if let Some(register) = &mut program.state.pixsize {
                    register.0 = field.insert(register.0, code);
                }
            }
            EditTarget::FcCtrl => {
                if let Some(register) = &mut program.state.fc_ctrl {
                    register.0 = field.insert(register.0, code);
                }
            }
        }
    }
}

impl Fix {
    /// Applies the fix.
    pub fn apply(&self, program: &mut Program) {
        self.edits.iter().for_each(|edit| edit.apply(program));
    }
}
