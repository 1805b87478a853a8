//! Keywords of expressions.

use r500_exec::record::expr::FpClass;

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
