//! Lints about constants: missing ones, and operations with constant results.

use r500_isa::words::FcAddr;

use super::Checker;
use super::machine::span;
use crate::LintCode;
use r500_isa::JumpInput;

impl Checker<'_> {
    pub(super) fn check_values(&mut self) {
        for index in self.reached() {
            if self.has_state {
                self.check_constants(index);
            }
            if self.graph.infos[index].is_alu() {
                self.check_nan(index);
            }
        }
    }

    fn check_constants(&mut self, index: usize) {
        let Some(&visit) = self.graph.abstract_state(index) else { return };
        let state = &self.program.state;
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
        if counts && state.fc_int_const[usize::from(flow.int & 31)].is_none() {
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
