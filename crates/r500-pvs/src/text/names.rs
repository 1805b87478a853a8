//! Names of operations and registers, shared by printer and parser.

use r500_chip::pvs::{DstType, MacroOp, MathOp, Op, SrcType, Swizzle, VectorOp};

/// Short names of operations, as people write them. All others have the documents' names only.
const SHORT: [(Op, &str); 18] = [
    (Op::Vector(VectorOp::NOP), "VE_NOP"),
    (Op::Vector(VectorOp::DOT_PRODUCT), "VE_DOT"),
    (Op::Vector(VectorOp::MULTIPLY), "VE_MUL"),
    (Op::Vector(VectorOp::MULTIPLY_ADD), "VE_MAD"),
    (Op::Vector(VectorOp::FRACTION), "VE_FRC"),
    (Op::Vector(VectorOp::MAXIMUM), "VE_MAX"),
    (Op::Vector(VectorOp::MINIMUM), "VE_MIN"),
    (Op::Vector(VectorOp::SET_GREATER_THAN_EQUAL), "VE_SGE"),
    (Op::Vector(VectorOp::SET_LESS_THAN), "VE_SLT"),
    (Op::Vector(VectorOp::SET_GREATER_THAN), "VE_SGT"),
    (Op::Vector(VectorOp::SET_EQUAL), "VE_SEQ"),
    (Op::Vector(VectorOp::SET_NOT_EQUAL), "VE_SNE"),
    (Op::Math(MathOp::NOP), "ME_NOP"),
    (Op::Math(MathOp::EXP_BASEE_FF), "ME_EXPE"),
    (Op::Math(MathOp::POWER_FUNC_FF), "ME_POW"),
    (Op::Math(MathOp::RECIP_DX), "ME_RCP"),
    (Op::Math(MathOp::RECIP_SQRT_DX), "ME_RSQ"),
    (Op::Math(MathOp::MULTIPLY), "ME_MUL"),
];

/// Further names that sources have and the printer does not write.
const OTHER: [(Op, &str); 2] =
    [(Op::Math(MathOp::EXP_BASE2_DX), "ME_EXP"), (Op::Math(MathOp::LOG_BASE2_DX), "ME_LOG2")];

/// Spellings of destinations, the printed one first.
pub(super) const DESTINATIONS: [(DstType, &str); 8] = [
    (DstType::TEMPORARY, "temp"),
    (DstType::A0, "a0"),
    (DstType::OUT, "out"),
    (DstType::OUT_REPL_X, "out_repl_x"),
    (DstType::ALT_TEMPORARY, "alt_temp"),
    (DstType::INPUT, "input"),
    (DstType::TEMPORARY, "temporary"),
    (DstType::ALT_TEMPORARY, "alt_temporary"),
];

/// Names of sources by code.
pub(super) const SOURCE_KINDS: [&str; 4] = ["temp", "input", "const", "alt_temp"];

/// Spellings of sources.
pub(super) const SOURCES: [(SrcType, &str); 7] = [
    (SrcType::TEMPORARY, SOURCE_KINDS[0]),
    (SrcType::INPUT, SOURCE_KINDS[1]),
    (SrcType::CONSTANT, SOURCE_KINDS[2]),
    (SrcType::ALT_TEMPORARY, SOURCE_KINDS[3]),
    (SrcType::TEMPORARY, "temporary"),
    (SrcType::CONSTANT, "constant"),
    (SrcType::ALT_TEMPORARY, "alt_temporary"),
];

/// Characters of what a component of a source can read, by code; the first four are those of components. The documents do not name the
/// last two codes: people write the first of them for one half, and the other for components that the instruction does not read.
pub(super) const SELECTS: [char; 8] = ['x', 'y', 'z', 'w', '0', '1', 'h', '_'];

/// The code of components that the instruction does not read.
pub(super) const UNUSED: Swizzle = Swizzle::new(7);

/// Returns the printed spelling of a value; `None` if it has none.
pub(super) fn spelling<T: PartialEq>(
    table: &[(T, &'static str)],
    value: T,
) -> Option<&'static str> {
    table.iter().find(|(known, _)| *known == value).map(|(_, name)| *name)
}

/// Returns the value with a spelling, in any case.
pub(super) fn value<T: Copy>(table: &[(T, &str)], name: &str) -> Option<T> {
    table.iter().find(|(_, known)| known.eq_ignore_ascii_case(name)).map(|(value, _)| *value)
}

/// Returns the printed name of an operation: the short one, the documents' one, or the engine and the number of a reserved code. Macros
/// have the names of the operations that they execute in two clocks.
pub(super) fn name_of(op: Op) -> String {
    let short = spelling(&SHORT, op).or_else(|| op.name());
    match op {
        Op::Macro(MacroOp::MADD) => "VE_MAD".to_owned(),
        Op::Macro(MacroOp::M2X_ADD) => "VE_MULTIPLYX2_ADD".to_owned(),
        _ => short.map_or_else(|| reserved(op), str::to_owned),
    }
}

fn reserved(op: Op) -> String {
    let (engine, code) = match op {
        Op::Vector(op) => ("VE", op.code()),
        Op::Math(op) => ("ME", op.code()),
        Op::Macro(op) => ("MACRO", op.code()),
    };
    format!("{engine}_{code}")
}

/// Returns the operations with names, each once.
fn operations() -> impl Iterator<Item = Op> {
    let vector = (0..64).map(|code| Op::Vector(VectorOp::new(code)));
    let math = (0..64).map(|code| Op::Math(MathOp::new(code)));
    let macros = (0..64).map(|code| Op::Macro(MacroOp::new(code)));
    vector.chain(math).chain(macros)
}

/// Returns the operation with a name, in any case.
pub(super) fn operation(name: &str) -> Option<Op> {
    if let Some(op) = value(&SHORT, name).or_else(|| value(&OTHER, name)) {
        return Some(op);
    }
    let is_named = |op: &Op| match op.name() {
        Some(known) => known.eq_ignore_ascii_case(name),
        None => reserved(*op).eq_ignore_ascii_case(name),
    };
    operations().find(is_named)
}

/// Returns the name of an operation that is most like a word, if one is like it.
pub(super) fn like(word: &str) -> Option<String> {
    let word = word.to_ascii_uppercase();
    let short = SHORT.iter().chain(&OTHER).map(|(_, name)| (*name).to_owned());
    let names = short.chain(operations().filter_map(|op| op.name().map(str::to_owned)));
    let distance = |name: &String| strsim::damerau_levenshtein(&word, name);
    names
        .map(|name| (distance(&name), name))
        .min()
        .filter(|(d, name)| d * 3 <= name.len())
        .map(|(_, name)| name)
}
