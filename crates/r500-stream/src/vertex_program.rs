//! Vertex programs of draws: printing and checks.

use std::fmt;

use r500_chip::pvs::{self, Addressing, DstType, Instruction, Op, SrcType, Swizzle};
use r500_chip::values::FlowOp;
use r500_chip::vap::{
    VapCntlStatus, VapOutVtxFmt0, VapPvsCodeCntl0, VapPvsCodeCntl1, VapPvsConstCntl,
    VapPvsFlowCntlAddrsLw, VapPvsFlowCntlAddrsUw, VapPvsFlowCntlLoopIndex, VapPvsFlowCntlOpc,
};

use crate::State;

/// A vertex program and its limits, in the state of a draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VertexProgram {
    /// First and last instruction, last that writes the position.
    pub range: VapPvsCodeCntl0,
    /// Last instruction that reads an input.
    pub inputs: VapPvsCodeCntl1,
    /// Window of constants.
    pub constants: VapPvsConstCntl,
    /// The outputs that the program must write.
    pub outputs: VapOutVtxFmt0,
    /// The instructions from [`VapPvsCodeCntl0::pvs_first_inst`] on.
    pub instructions: Vec<Instruction>,
    /// Flow control instructions in use.
    pub flow: Vec<Flow>,
}

/// A flow control instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Its number, 0 to 15.
    pub number: u8,
    /// What it does.
    pub op: FlowOp,
    /// The instruction after which it takes effect; trip count of a loop, or target of a jump or call.
    pub low: VapPvsFlowCntlAddrsLw,
    /// Last instruction; first instruction of a loop, or return address of a call.
    pub high: VapPvsFlowCntlAddrsUw,
    /// The loop index.
    pub index: VapPvsFlowCntlLoopIndex,
}

/// A likely error in a vertex program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VertexFinding {
    /// The instruction; `None` for the whole program.
    pub instruction: Option<usize>,
    /// The problem.
    pub kind: VertexFindingKind,
}

/// Kinds of likely errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VertexFindingKind {
    /// `PVS_LAST_INST` is before `PVS_FIRST_INST`.
    #[error("PVS_LAST_INST lies before PVS_FIRST_INST")]
    EmptyRange,
    /// An operation that the documents reserve.
    #[error("reserved operation")]
    ReservedOperation,
    /// A kind of operand, swizzle or addressing that the documents reserve.
    #[error("reserved operand")]
    ReservedOperand,
    /// A read of a temporary that no earlier instruction writes (with flow control: no instruction at all).
    #[error("temp[{0}] is read before any instruction writes it")]
    NeverWritten(u8),
    /// A constant beyond `PVS_MAX_CONST_ADDR`.
    #[error("const[{constant}] is beyond PVS_MAX_CONST_ADDR = {max}")]
    BeyondConstants {
        /// The constant.
        constant: u8,
        /// The register's value.
        max: u8,
    },
    /// Two different constants, or two different inputs, in one instruction: drivers of this family move one into a
    /// temporary first.
    #[error("two different {0} in one instruction")]
    TwoAddresses(&'static str),
    /// The position is an output, and no instruction writes `out[0]`.
    #[error("the position (out[0]) is never written")]
    NoPosition,
    /// A flow control instruction refers to an instruction outside the program.
    #[error("flow control {0} refers to an instruction outside the program")]
    FlowOutside(u8),
}

impl VertexProgram {
    /// Returns the program of the state; `None` if vertices bypass programs.
    #[must_use]
    pub fn new(state: &State) -> Option<Self> {
        let registers = &state.registers;
        if registers.get::<VapCntlStatus>().pvs_bypass() {
            return None;
        }
        let range = registers.get::<VapPvsCodeCntl0>();
        let (first, last) =
            (usize::from(range.pvs_first_inst()), usize::from(range.pvs_last_inst()));
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
        Some(Self {
            range,
            inputs: registers.get(),
            constants: registers.get(),
            outputs: registers.get(),
            instructions: (first..=last).map(|n| state.pvs.instruction(n)).collect(),
            flow: flow.collect(),
        })
    }

    /// Returns the instructions with their numbers.
    pub fn numbered(&self) -> impl Iterator<Item = (usize, Instruction)> {
        let first = usize::from(self.range.pvs_first_inst());
        self.instructions.iter().enumerate().map(move |(i, inst)| (first + i, *inst))
    }

    /// Returns likely errors, in the order of instructions.
    #[must_use]
    pub fn check(&self) -> Vec<VertexFinding> {
        let mut findings = Vec::new();
        let mut find = |instruction, kind| findings.push(VertexFinding { instruction, kind });
        if self.instructions.is_empty() {
            find(None, VertexFindingKind::EmptyRange);
            return findings;
        }
        let mut written = [false; 256];
        if !self.flow.is_empty() {
            // Loops and calls change the order: all written temporaries count as initialised.
            for (_, inst) in self.numbered() {
                let dst = inst.dst();
                if dst.reg_type() == DstType::TEMPORARY {
                    written[usize::from(dst.offset())] = true;
                }
            }
        }
        let mut position = false;
        for (n, inst) in self.numbered() {
            let dst = inst.dst();
            if inst.op().name().is_none() {
                find(Some(n), VertexFindingKind::ReservedOperation);
                continue;
            }
            let sources = read_sources(inst);
            let reserved = |src: &pvs::Src| {
                src.addressing() == Addressing::Reserved
                    || src.swizzle().iter().any(|swizzle| !swizzle.is_named())
            };
            if !dst.reg_type().is_named()
                || dst.addressing() == Addressing::Reserved
                || sources.iter().flatten().any(reserved)
            {
                find(Some(n), VertexFindingKind::ReservedOperand);
            }
            for src in sources.iter().flatten().filter(|src| is_used(src)) {
                if src.addressing() != Addressing::Absolute {
                    continue;
                }
                let (number, max) = (src.offset(), self.constants.pvs_max_const_addr());
                match src.reg_type() {
                    SrcType::TEMPORARY if !written[usize::from(number)] => {
                        find(Some(n), VertexFindingKind::NeverWritten(number));
                        // Reported once.
                        written[usize::from(number)] = true;
                    }
                    SrcType::CONSTANT if number > max => {
                        let kind = VertexFindingKind::BeyondConstants { constant: number, max };
                        find(Some(n), kind);
                    }
                    _ => {}
                }
            }
            for (kind, name) in [(SrcType::CONSTANT, "constants"), (SrcType::INPUT, "inputs")] {
                let addresses =
                    sources.iter().flatten().filter(|s| is_used(s) && s.reg_type() == kind);
                let mut addresses = addresses.map(|src| (src.addressing(), src.offset()));
                let first = addresses.next();
                if addresses.any(|address| Some(address) != first) {
                    find(Some(n), VertexFindingKind::TwoAddresses(name));
                }
            }
            match dst.reg_type() {
                DstType::TEMPORARY if dst.addressing() == Addressing::Absolute => {
                    written[usize::from(dst.offset())] = true;
                }
                // Any temporary may be the one.
                DstType::TEMPORARY => written = [true; 256],
                DstType::OUT | DstType::OUT_REPL_X => {
                    position |= dst.offset() == 0 || dst.addressing() != Addressing::Absolute;
                }
                _ => {}
            }
        }
        if self.outputs.vtx_pos_present() && !position {
            find(None, VertexFindingKind::NoPosition);
        }
        let inside =
            |n: u16| (self.range.pvs_first_inst()..=self.range.pvs_last_inst()).contains(&n);
        for flow in &self.flow {
            let (low, high) = (flow.low, flow.high);
            let target = match flow.op {
                FlowOp::LOOP => high.rtn_inst(),
                _ => low.loop_cnt_jmp_inst(),
            };
            let last = if flow.op == FlowOp::JUMP { low.act_adrs() } else { high.last_inst() };
            if ![low.act_adrs(), target, last].into_iter().all(inside) {
                find(None, VertexFindingKind::FlowOutside(flow.number));
            }
        }
        findings
    }
}

/// Returns the sources that the instruction reads, including that of its second operation.
fn read_sources(inst: Instruction) -> [Option<pvs::Src>; 3] {
    let count = inst.op().sources();
    let [a, b, c] = inst.sources();
    let first = |n: usize, src| (count > n).then_some(src);
    match (inst.dual_math(), inst.op()) {
        (Some(dual), _) => [first(0, a), first(1, b), Some(dual.source())],
        // The second source of a power is not read.
        (None, Op::Math(_)) if count == 3 => [Some(a), None, Some(c)],
        (None, _) => [first(0, a), first(1, b), first(2, c)],
    }
}

/// Returns whether some component selects the register.
fn is_used(src: &pvs::Src) -> bool {
    src.swizzle().iter().any(|swizzle| !matches!(*swizzle, Swizzle::ZERO | Swizzle::ONE))
}

/// Prints one instruction a line, then flow control.
impl fmt::Display for VertexProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "# instructions {} to {}; position complete after {}, inputs read up to {}",
            self.range.pvs_first_inst(),
            self.range.pvs_last_inst(),
            self.range.pvs_xyzw_valid_inst(),
            self.inputs.pvs_last_vtx_src_inst(),
        )?;
        for (n, inst) in self.numbered() {
            writeln!(f, "{n:4}: {inst}")?;
        }
        for flow in &self.flow {
            writeln!(f, "# {flow}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, target) = (self.low.act_adrs(), self.low.loop_cnt_jmp_inst());
        let (last, back) = (self.high.last_inst(), self.high.rtn_inst());
        write!(f, "flow control {}, after {at}: ", self.number)?;
        match self.op {
            FlowOp::JUMP => write!(f, "jump to {target}"),
            FlowOp::CALL => write!(f, "call {target} to {last}, return to {back}"),
            _ => write!(
                f,
                "{target} times {back} to {last}, aL from {} by {}",
                self.index.loop_init_val(),
                self.index.loop_step_val()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use r500_chip::pvs::Instruction;

    use super::*;
    use crate::{CommandProcessor, StreamWriter, Submission};

    fn program(lines: &[&str], more: &str) -> VertexProgram {
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
        VertexProgram::new(&state).unwrap()
    }

    #[test]
    fn programs_print_with_numbers_and_flow_control() {
        let lines = [
            "VE_ADD out[0].xyzw, input[0].xyzw, temp[0].0000",
            "VE_ADD temp[1].x, temp[1].0000, temp[0].1111",
        ];
        let more = "
            VAP_PVS_FLOW_CNTL_OPC = { PVS_FC_OPC_1 2 }
            VAP_PVS_FLOW_CNTL_ADDRS_LW_1 = { ACT_ADRS 2, LOOP_CNT_JMP_INST 9 }
            VAP_PVS_FLOW_CNTL_ADDRS_UW_1 = { LAST_INST 3, RTN_INST 3 }
            VAP_PVS_FLOW_CNTL_LOOP_INDEX_1 = { LOOP_INIT_VAL 5, LOOP_STEP_VAL -1 }";
        let program = program(&lines, more);
        let text = program.to_string();
        let expected = "\
# instructions 2 to 3; position complete after 3, inputs read up to 0
   2: VE_ADD out[0].xyzw, input[0].xyzw, temp[0].0000
   3: VE_ADD temp[1].x, temp[1].0000, temp[0].1111
# flow control 1, after 2: 9 times 3 to 3, aL from 5 by -1
";
        assert_eq!(text, expected);
        assert_eq!(program.check(), []);
    }

    #[test]
    fn invalid_instructions_are_reported_with_address() {
        let lines = [
            "VE_MULTIPLY temp[0].xyzw, const[3].xyzw, const[4].xyzw",
            "VE_ADD temp[2].xyzw, temp[0].xyzw, temp[1].xyzw",
            "ME_POWER_FUNC_FF temp[3].x, temp[2].xxxx, temp[9].xxxx, temp[2].yyyy",
            ".dwords 0x0000003f 0 0 0",
            "VE_FRACTION temp[0].x, temp[1].xxxx",
        ];
        let lines = lines.map(|line| line.replace(" 0 0 0", " 0x0 0x0 0x0"));
        let lines = lines.each_ref().map(String::as_str);
        let more = "VAP_PVS_CONST_CNTL = { PVS_MAX_CONST_ADDR 3 }
            VAP_PVS_FLOW_CNTL_OPC = { PVS_FC_OPC_0 1 }
            VAP_PVS_FLOW_CNTL_ADDRS_LW_0 = { ACT_ADRS 2, LOOP_CNT_JMP_INST 7 }";
        let found: Vec<String> = program(&lines, more)
            .check()
            .iter()
            .map(|finding| {
                let at = finding.instruction.map_or("program".to_owned(), |n| n.to_string());
                format!("{at}: {}", finding.kind)
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
        assert_eq!(VertexProgram::new(&state), None);
    }
}
