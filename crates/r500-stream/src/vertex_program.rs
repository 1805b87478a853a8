//! The vertex program of a draw: registers and memory as a program.

use r500_chip::values::FlowOp;
use r500_chip::vap::{VapCntlStatus, VapPvsFlowCntlOpc};
use r500_pvs::INSTRUCTIONS;
use r500_pvs::{Controls, Flow, Program};

use crate::{RegisterFile, State};

impl State {
    /// Returns the vertex program; `None` if vertices bypass programs.
    #[must_use]
    pub fn vertex_program(&self) -> Option<Program> {
        let bypass = self.registers.get::<VapCntlStatus>().pvs_bypass();
        let memory = &self.pvs.vectors()[..INSTRUCTIONS];
        (!bypass).then(|| Program::new(controls(&self.registers), memory))
    }
}

fn controls(registers: &RegisterFile) -> Controls {
    let ops = registers.get::<VapPvsFlowCntlOpc>().codes();
    let flow = ops.iter().zip(0..).filter_map(|(code, number)| {
        let op = FlowOp::new(*code as u8);
        let n = u32::from(number);
        (op != FlowOp::NONE).then(|| Flow {
            number,
            op,
            low: registers.member(n),
            high: registers.member(n),
            index: registers.member(n),
        })
    });
    Controls {
        range: registers.get(),
        inputs: registers.get(),
        constants: registers.get(),
        outputs: registers.get(),
        flow: flow.collect(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use r500_pvs::{Instruction, LintKind};

    use super::*;
    use crate::{CommandProcessor, StreamWriter, Submission};

    fn program(lines: &[&str], more: &str) -> Program {
        let mut stream = StreamWriter::default();
        stream.write(0x2200, &[2]);
        for line in lines {
            stream.write_one(0x2208, &line.parse::<Instruction>().unwrap().0);
        }
        let last = lines.len() as u32 + 1;
        stream.write(0x22d0, &[2 | last << 10 | last << 20]);
        stream.write(0x2090, &[1]);
        let mut words = stream.into_words();
        words.extend(crate::text::parse(more).unwrap());
        let mut state = State::default();
        let submission = Submission { words, ..Submission::default() };
        assert!(CommandProcessor::new(&mut state, &submission).next_effect().is_none());
        state.vertex_program().unwrap()
    }

    #[test]
    fn programs_print_with_numbers_and_flow_control() {
        let lines = [
            "out[0].xyzw = VE_ADD input[0].xyzw temp[0].0000",
            "temp[1].x = VE_ADD temp[1].0000 temp[0].1111",
        ];
        let more = "
            VAP_PVS_FLOW_CNTL_OPC = { PVS_FC_OPC_1 2 }
            VAP_PVS_FLOW_CNTL_ADDRS_LW_1 = { ACT_ADRS 2, LOOP_CNT_JMP_INST 9 }
            VAP_PVS_FLOW_CNTL_ADDRS_UW_1 = { LAST_INST 3, RTN_INST 3 }
            VAP_PVS_FLOW_CNTL_LOOP_INDEX_1 = { LOOP_INIT_VAL 5, LOOP_STEP_VAL -1 }";
        let program = program(&lines, more);
        let text = program.to_string();
        let expected = "\
-- instructions 2 to 3; position complete after 3, inputs read up to 0
VAP_PVS_CODE_CNTL_0 = PVS_FIRST_INST(2) PVS_XYZW_VALID_INST(3) PVS_LAST_INST(3) ;
VAP_PVS_CODE_CNTL_1 = 0 ;
VAP_PVS_CONST_CNTL = 0 ;
FLOW[1] = LOOP after 2, 9 times 3 to 3, aL 5 step -1 ;
out[0].xyzw = VE_ADD input[0].xyzw temp[0].0000                          ; -- 2
temp[1].x = VE_ADD temp[1].0000 temp[0].1111                             ; -- 3
";
        assert_eq!(text, expected);
        // The mark of the last instruction that reads an input is before one that does.
        let kinds: Vec<LintKind> = program.check().iter().map(|lint| lint.kind).collect();
        assert_eq!(kinds, [LintKind::LateInput(0)]);
    }

    #[test]
    fn invalid_instructions_are_reported_with_address() {
        let lines = [
            "temp[0].xyzw = VE_MUL const[3].xyzw const[4].xyzw",
            "temp[2].xyzw = VE_ADD temp[0].xyzw temp[1].xyzw",
            "temp[3].x = ME_POW temp[2].xxxx temp[2].yyyy",
            ".dwords 0x0000003f 0 0 0",
            "temp[0].x = VE_FRC temp[1].xxxx",
        ];
        let lines = lines.map(|line| line.replace(" 0 0 0", " 0x0 0x0 0x0"));
        let lines = lines.each_ref().map(String::as_str);
        let more = "VAP_PVS_CONST_CNTL = { PVS_MAX_CONST_ADDR 3 }
            VAP_PVS_FLOW_CNTL_OPC = { PVS_FC_OPC_0 1 }
            VAP_PVS_FLOW_CNTL_ADDRS_LW_0 = { ACT_ADRS 2, LOOP_CNT_JMP_INST 7 }";
        let found: Vec<String> = program(&lines, more)
            .check()
            .iter()
            .map(|lint| {
                let at = lint.instruction.map_or("program".to_owned(), |n| n.to_string());
                format!("{at}: {}", lint.kind)
            })
            .collect();
        let expected = [
            "2: const[4] is beyond PVS_MAX_CONST_ADDR = 3",
            "2: two different constants in one instruction",
            "3: temp[1] is read before any instruction writes it",
            "5: reserved operation",
            "program: the position (out[0]) is never written",
            "program: flow control 0 refers to an instruction outside the program",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn bypassed_vertices_have_no_program() {
        let mut state = State::default();
        state.registers.write(0x2140, 0x100);
        assert_eq!(state.vertex_program(), None);
    }
}
