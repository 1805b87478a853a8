//! Vertex programs: the instructions that can run, and the registers that belong to them.

use std::collections::BTreeMap;

use r500_chip::pvs::{Addressing, CONSTANTS, DstType, INSTRUCTIONS, OUTPUTS};
use r500_chip::values::FlowOp;
use r500_chip::vap::{
    VapOutVtxFmt0, VapPvsCodeCntl0, VapPvsCodeCntl1, VapPvsConstCntl, VapPvsFlowCntlAddrsLw,
    VapPvsFlowCntlAddrsUw, VapPvsFlowCntlLoopIndex,
};

use crate::Instruction;

/// The registers of a vertex program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Controls {
    /// First and last instruction, last that writes the position.
    pub range: VapPvsCodeCntl0,
    /// Last instruction that reads an input.
    pub inputs: VapPvsCodeCntl1,
    /// Window of constants.
    pub constants: VapPvsConstCntl,
    /// The outputs that the program must write.
    pub outputs: VapOutVtxFmt0,
    /// Flow control instructions in use, in the order of their numbers.
    pub flow: Vec<Flow>,
}

/// A flow control instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

impl Flow {
    /// Returns the loop that executes the instructions from `first` (at least 1) to `last` so many times, with aL from 0 in steps of 1.
    #[must_use]
    pub fn of_loop(number: u8, passes: u8, first: u16, last: u16) -> Self {
        debug_assert!(first > 0, "a loop takes effect after an instruction");
        let after = first.wrapping_sub(1);
        Self {
            number,
            op: FlowOp::LOOP,
            low: VapPvsFlowCntlAddrsLw(u32::from(after) | u32::from(passes) << 16),
            high: VapPvsFlowCntlAddrsUw(u32::from(last) | u32::from(first) << 16),
            index: VapPvsFlowCntlLoopIndex(1 << 8),
        }
    }
}

impl Controls {
    /// Returns the registers with loops: what instructions of one write is complete, and what they read is read, at the end of the outermost
    /// loop around them.
    #[must_use]
    pub fn with_loops(mut self, flow: Vec<Flow>) -> Self {
        debug_assert!(flow.iter().all(|flow| flow.op == FlowOp::LOOP), "jumps have no ends");
        let outermost = |number: u16| {
            let contains =
                |flow: &&Flow| (flow.high.rtn_inst()..=flow.high.last_inst()).contains(&number);
            let ends = flow.iter().filter(contains).map(|flow| flow.high.last_inst());
            ends.max().unwrap_or(number)
        };
        let complete = outermost(self.range.pvs_xyzw_valid_inst());
        let inputs = outermost(self.inputs.pvs_last_vtx_src_inst());
        self.range = self.range.with(VapPvsCodeCntl0::PVS_XYZW_VALID_INST, complete);
        self.inputs = self.inputs.with(VapPvsCodeCntl1::PVS_LAST_VTX_SRC_INST, inputs);
        self.flow = flow;
        self
    }
}

/// A vertex program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Program {
    controls: Controls,
    /// Number of the first of `instructions`.
    base: usize,
    instructions: Vec<Instruction>,
}

impl Program {
    /// Returns the program that registers select of the instruction memory, vectors of four dwords.
    ///
    /// The memory may be longer or shorter than [`INSTRUCTIONS`]; instructions that it does not hold are not part of the program.
    #[must_use]
    pub fn new(controls: Controls, memory: &[[u32; 4]]) -> Self {
        let first = usize::from(controls.range.pvs_first_inst());
        let last = usize::from(controls.range.pvs_last_inst()).max(first);
        // Jumps and calls may leave the code window, so the program is all of the memory if there are any.
        let leaves = controls.flow.iter().any(|flow| flow.op != FlowOp::LOOP);
        let (base, end) = if leaves { (0, INSTRUCTIONS) } else { (first, last + 1) };
        let held = memory.get(base..end.min(memory.len())).unwrap_or_default();
        let instructions = held.iter().map(|words| Instruction(*words)).collect();
        Self { controls, base, instructions }
    }

    /// Returns a program whose instructions stand in memory from `base` on.
    #[must_use]
    pub fn from_code(controls: Controls, base: usize, instructions: Vec<Instruction>) -> Self {
        Self { controls, base, instructions }
    }

    /// Returns the registers of the program.
    #[must_use]
    pub fn controls(&self) -> &Controls {
        &self.controls
    }

    /// Returns the instructions that can run, with the number of the first one. Jumps and calls can reach instructions outside the
    /// code window.
    #[must_use]
    pub fn instructions(&self) -> (usize, &[Instruction]) {
        (self.base, &self.instructions)
    }

    /// Returns constant memory in which `const[n]` of the instructions reads the given bits, for numbers below [`CONSTANTS`]; all else is 0.
    #[must_use]
    pub fn constant_memory(&self, constants: &BTreeMap<usize, [u32; 4]>) -> Vec<[f32; 4]> {
        let base = usize::from(self.controls.constants.pvs_const_base_offset());
        let constants = || constants.range(..CONSTANTS);
        let end = constants().next_back().map_or(0, |(last, _)| base + last + 1);
        let mut memory = vec![[0.0; 4]; end];
        for (number, bits) in constants() {
            memory[base + number] = bits.map(f32::from_bits);
        }
        memory
    }

    /// Returns the outputs that instructions can write, by number.
    #[must_use]
    pub fn written_outputs(&self) -> Vec<usize> {
        let mut written = [false; OUTPUTS];
        for inst in &self.instructions {
            let dst = inst.dst();
            let is_output = matches!(dst.reg_type(), DstType::OUT | DstType::OUT_REPL_X);
            if !is_output || dst.write_mask() == [false; 4] {
                continue;
            }
            match dst.addressing() {
                Addressing::Absolute => {
                    if let Some(output) = written.get_mut(usize::from(dst.offset())) {
                        *output = true;
                    }
                }
                _ => written = [true; OUTPUTS],
            }
        }
        (0..OUTPUTS).filter(|n| written[*n]).collect()
    }

    /// Returns the instructions of the code window, `PVS_FIRST_INST` to `PVS_LAST_INST`, with their numbers.
    pub fn window(&self) -> impl Iterator<Item = (usize, Instruction)> {
        let range = self.controls.range;
        let window = usize::from(range.pvs_first_inst())..=usize::from(range.pvs_last_inst());
        let numbered = self.instructions.iter().enumerate();
        numbered
            .map(|(i, inst)| (self.base + i, *inst))
            .filter(move |(number, _)| window.contains(number))
    }
}
