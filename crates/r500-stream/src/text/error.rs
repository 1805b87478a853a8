//! Errors of streams' texts, and the limits that some of them are about.

use r500_chip::pm4::MAX_BODY;
use r500_isa::Field;

use super::words;

/// Limit of the dwords of a text: those of 128 full buffers of Mesa. One line can produce many.
pub const MAX_WORDS: usize = 1 << 21;

/// Limit of reported errors.
pub(super) const MAX_ERRORS: usize = 10_000;

/// An error in a stream's text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {kind}")]
pub struct TextError {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1, in characters.
    pub column: usize,
    /// The problem.
    pub kind: TextErrorKind,
}

/// Kinds of text errors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextErrorKind {
    /// Another token is expected.
    #[error("expected {0}")]
    Expected(&'static str),
    /// A name that is neither a register nor a command.
    #[error("no register or command is called {0}")]
    UnknownName(String),
    /// A field that the register does not have.
    #[error("{register} has no field {field}")]
    UnknownField {
        /// The register.
        register: &'static str,
        /// The name.
        field: String,
    },
    /// A value that is invalid for the field.
    #[error("{}", bad_value(field, value))]
    BadValue {
        /// The field.
        field: &'static Field,
        /// The text of the value.
        value: String,
    },
    /// An address that packets do not reach.
    #[error("packets do not reach {0:#x}")]
    Unreachable(u32),
    /// `+` without a packet to continue.
    #[error("there is no packet to continue")]
    NothingToContinue,
    /// A register that does not follow in the continued packet.
    #[error("the packet writes {expected:#06x} next, not {found:#06x}")]
    NotNext {
        /// The next address.
        expected: u32,
        /// The address of the named register.
        found: u32,
    },
    /// A call that is none of those of [macros of drivers](crate::text).
    #[error(
        "{0} is not understood: a call writes a register and a value (OUT_CS_REG), or a value (OUT_CS); relocations and tables have none"
    )]
    UnknownCall(String),
    /// A packet whose header announces more or fewer values than follow.
    #[error("the packet before has {found} of {announced} values")]
    Count {
        /// What its header says.
        announced: usize,
        /// What is there.
        found: usize,
    },
    /// More dwords than a packet can have.
    #[error("a packet holds at most {MAX_BODY} dwords")]
    TooLong,
    /// A `fill` of too many packets.
    #[error("a line fills at most {max} dwords", max = words::MAX_FILL)]
    TooManyFillers,
    /// More dwords than [`MAX_WORDS`].
    #[error("a text assembles to at most {MAX_WORDS} dwords; the rest is not read")]
    TooManyWords,
    /// More errors than are reported.
    #[error("{MAX_ERRORS} lines before this one are in error, too; the rest is not read")]
    TooManyErrors,
}

/// Returns the description of an invalid value, with the valid ones.
fn bad_value(field: &Field, value: &str) -> String {
    let named = field.values.iter().map(|value| match value.name {
        "" => format!("{} ({})", value.code, value.meaning),
        name => format!("{} ({name})", value.code),
    });
    let known = match field.values {
        [] => format!("numbers up to {}", field.max()),
        _ => named.collect::<Vec<_>>().join(", "),
    };
    match value {
        "" => format!("{} needs a value: {known}", field.name),
        _ => format!("{} has no value `{value}`; it has {known}", field.name),
    }
}

/// Returns a word for a message, cut after 200 characters.
pub(super) fn shortened(word: &str) -> String {
    match word.char_indices().nth(200) {
        Some((at, _)) => format!("{}...", &word[..at]),
        None => word.to_owned(),
    }
}
