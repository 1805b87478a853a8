//! Notation of operands, shared by printer and parser.

use r500_chip::pvs::{Component, DstType, SrcType, Swizzle};

/// Spellings of destinations.
pub(super) const DESTINATIONS: [(DstType, &str); 6] = [
    (DstType::TEMPORARY, "temp"),
    (DstType::A0, "a0"),
    (DstType::OUT, "out"),
    (DstType::OUT_REPL_X, "out_x"),
    (DstType::ALT_TEMPORARY, "alt"),
    (DstType::INPUT, "input"),
];

/// Spellings of sources.
pub(super) const SOURCES: [(SrcType, &str); 4] = [
    (SrcType::TEMPORARY, "temp"),
    (SrcType::INPUT, "input"),
    (SrcType::CONSTANT, "const"),
    (SrcType::ALT_TEMPORARY, "alt"),
];

/// Spellings of the values that a source component can read. The documents do not name the last code; programs have it in components that
/// the instruction does not read.
pub(super) const SWIZZLES: [(Swizzle, &str); 7] = [
    (Swizzle::X, "x"),
    (Swizzle::Y, "y"),
    (Swizzle::Z, "z"),
    (Swizzle::W, "w"),
    (Swizzle::ZERO, "0"),
    (Swizzle::ONE, "1"),
    (Swizzle::new(7), "_"),
];

/// Spellings of components.
pub(super) const COMPONENTS: [(Component, &str); 4] =
    [(Component::X, "x"), (Component::Y, "y"), (Component::Z, "z"), (Component::W, "w")];

/// Returns the spelling of a value; `None` if it has none.
pub(super) fn spelling<T: PartialEq>(
    table: &[(T, &'static str)],
    value: T,
) -> Option<&'static str> {
    table.iter().find(|(known, _)| *known == value).map(|(_, name)| *name)
}

/// Returns the value with a spelling.
pub(super) fn value<T: Copy>(table: &[(T, &str)], name: &str) -> Option<T> {
    table.iter().find(|(_, known)| *known == name).map(|(value, _)| *value)
}
