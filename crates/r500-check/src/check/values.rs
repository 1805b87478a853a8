//! Lints about constants: missing ones, and operations with constant results.

use r500_isa::words::FcAddr;
use r500_program::State;

use super::Checker;
use super::machine::span;
use crate::LintCode;
use r500_isa::JumpInput;

impl Checker<'_> {
    pub(super) fn check_values(&mut self, state: &State) {
        let given = is_given(state);
        for index in self.reached() {
            if given {
                self.check_constants(index, state);
            }
            if self.graph.infos[index].is_alu() {
                self.check_nan(index, state);
            }
        }
    }

    fn check_constants(&mut self, index: usize, state: &State) {
        let Some(&visit) = self.graph.abstract_state(index) else { return };
        let count = i32::try_from(state.constants.len()).unwrap_or(i32::MAX);
        let info = self.graph.infos[index];
        for access in info.constants.iter() {
            let (_, last) = span(access, visit.al);
            if last >= count && last < 256 {
                let place = self.place_of(index, access.field);
                self.add(LintCode::NoConstant, place, format!("const[{last}] is not provided"));
            }
        }
        let Some(flow) = self.graph.flows[index] else { return };
        let counts = flow.is_loop_begin() || flow.op == r500_isa::values::FcOp::ENDLOOP;
        if counts && self.graph.int_constant(flow.int).is_none() {
            let place = self.field(index, 3, FcAddr::INT_ADDR);
            self.add(LintCode::NoIntConstant, place, format!("int[{}] is not provided", flow.int));
        }
        let fc = self.program.code[index];
        if fc.fc_inst().depends_on(JumpInput::Boolean) && state.fc_bool_const.is_none() {
            let place = self.field(index, 3, FcAddr::BOOL_ADDR);
            let message = format!("bool[{}] is not provided", fc.fc_addr().bool_addr());
            self.add(LintCode::NoBoolConstant, place, message);
        }
    }
}

/// Returns whether a program carries any state; only then are missing constants reported. Bare
/// dwords do not; their state comes from elsewhere.
fn is_given(state: &State) -> bool {
    state.config.is_some()
        || state.pixsize.is_some()
        || state.fc_ctrl.is_some()
        || state.fc_bool_const.is_some()
        || state.code_addr.is_some()
        || state.code_range.is_some()
        || state.code_offset.is_some()
        || !state.constants.is_empty()
        || state.fc_int_const.iter().any(Option::is_some)
}
