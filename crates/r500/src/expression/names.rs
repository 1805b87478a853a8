//! Keywords of expressions.

use r500_exec::record::Variable;
use r500_exec::record::expr::FpClass;

/// Keywords of variables with one channel.
pub(super) const WORDS: [(&str, Variable); 15] = [
    ("depth", Variable::Depth),
    ("alu_result", Variable::AluResult),
    ("alu", Variable::AluResult),
    ("active", Variable::Active),
    ("covered", Variable::Covered),
    ("killed", Variable::Killed),
    ("al", Variable::Al),
    ("address", Variable::Address),
    ("pc", Variable::Address),
    ("step", Variable::Step),
    ("loops", Variable::Loops),
    ("passes", Variable::Iterations),
    ("calls", Variable::Calls),
    ("x", Variable::X),
    ("y", Variable::Y),
];

/// Keywords after `is`; the first of a class is the one that is printed.
pub(super) const CLASSES: [(&str, FpClass); 9] = [
    ("nan", FpClass::Nan),
    ("inf", FpClass::Infinite),
    ("infinite", FpClass::Infinite),
    ("infinity", FpClass::Infinite),
    ("finite", FpClass::Finite),
    ("denormal", FpClass::Denormal),
    ("subnormal", FpClass::Denormal),
    ("zero", FpClass::Zero),
    ("negative", FpClass::Negative),
];
