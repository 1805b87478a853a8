//! `r500 explain`.

use super::r500;

#[test]
fn every_diagnostic_has_a_page() {
    for code in r500::asm::DiagnosticCode::ALL {
        r500(&["explain", code.name()]).status(0).shows(code.name());
    }
}
