//! Relocation: code with symbolic jump targets, and its assembly into a program.

use r500_check::graph::Graph;
use r500_isa::Instruction;
use r500_isa::state::{UsCodeAddr, UsCodeRange, UsPixsize};
use r500_isa::values::InstType;
use r500_isa::words::FcAddr;
use r500_program::Program;

/// A relocatable instruction.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) inst: Instruction,
    /// Jump target: a label, or [`END`].
    pub(crate) target: Option<u32>,
    /// Labels: jump targets that denote this line. A line inherits the labels of removed lines before it.
    pub(crate) names: Vec<u32>,
    /// Addresses in the original program of the instructions that it replaces.
    pub(crate) origins: Vec<u32>,
}

/// The label after the last line.
pub(crate) const END: u32 = u32::MAX;

/// The relocatable code of a program.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    pub(crate) lines: Vec<Line>,
    /// Labels that denote the end of the code.
    end_names: Vec<u32>,
}

impl Code {
    /// Reads a program; `None` if its code window is not all of its code.
    pub(crate) fn of(program: &Program, graph: &Graph, origins: &[Vec<u32>]) -> Option<Self> {
        let window = graph.window();
        let last = program.code.len().checked_sub(1)?;
        let whole = window.first == 0
            && window.start == 0
            && window.last == last
            && window.end == Some(last);
        if !whole || program.code.len() > r500_isa::INSTRUCTION_SLOTS {
            return None;
        }
        let mut lines = Vec::with_capacity(program.code.len());
        for (at, &inst) in program.code.iter().enumerate() {
            let target = match graph.flow(at) {
                Some(flow) => {
                    let index = flow.target.checked_sub(window.offset)?;
                    Some(if index as usize > last { END } else { index })
                }
                None => None,
            };
            let name = u32::try_from(at).ok()?;
            lines.push(Line { inst, target, names: vec![name], origins: origins[at].clone() });
        }
        Some(Self { lines, end_names: vec![END] })
    }

    /// Removes the lines that `keep` rejects. The next remaining line inherits their labels.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(usize) -> bool) {
        let mut orphans = Vec::new();
        let mut kept = Vec::with_capacity(self.lines.len());
        for (at, mut line) in std::mem::take(&mut self.lines).into_iter().enumerate() {
            if keep(at) {
                line.names.append(&mut orphans);
                kept.push(line);
            } else {
                orphans.append(&mut line.names);
            }
        }
        self.end_names.append(&mut orphans);
        self.lines = kept;
    }

    /// Replaces lines `first..=last` by instructions without jumps. Only `first` may be a jump target.
    pub(crate) fn replace(
        &mut self,
        first: usize,
        last: usize,
        with: Vec<(Instruction, Vec<u32>)>,
    ) {
        let names: Vec<u32> =
            self.lines[first..=last].iter().flat_map(|line| line.names.iter().copied()).collect();
        let mut new: Vec<Line> = with
            .into_iter()
            .map(|(inst, origins)| Line { inst, target: None, names: Vec::new(), origins })
            .collect();
        match new.first_mut() {
            Some(line) => line.names = names,
            None => match self.lines.get_mut(last + 1) {
                Some(line) => line.names.extend(names),
                None => self.end_names.extend(names),
            },
        }
        self.lines.splice(first..=last, new);
    }

    /// Assembles the program: resolves jumps, and sets the code window and `US_PIXSIZE` (at most the given one). Also
    /// returns the origins of its instructions. `None` if no line is left.
    pub(crate) fn assemble(
        &self,
        like: &Program,
        pixsize: Option<UsPixsize>,
    ) -> Option<(Program, Vec<Vec<u32>>)> {
        let count = self.lines.len();
        let last = u16::try_from(count.checked_sub(1)?).ok()?;
        let address = |name: u32| {
            let found = self.lines.iter().position(|line| line.names.contains(&name));
            found.or_else(|| self.end_names.contains(&name).then_some(count))
        };
        let offset = u32::from(like.state.base_address());
        let mut program = like.clone();
        program.code.clear();
        for line in &self.lines {
            let mut inst = line.inst;
            if let Some(target) = line.target {
                let word = inst.fc_addr();
                let base = if word.jump_global() { offset } else { 0 };
                let to = u32::try_from(address(target)?).ok()? + base;
                inst.0[3] = word.with(FcAddr::JUMP_ADDR, u16::try_from(to).ok()?).bits();
            }
            program.code.push(inst);
        }
        if let Some(addr) = program.state.code_addr {
            program.state.code_addr = Some(addr.with(UsCodeAddr::END_ADDR, last));
        }
        if let Some(range) = program.state.code_range {
            program.state.code_range = Some(range.with(UsCodeRange::CODE_SIZE, last));
        }
        if let Some(size) = pixsize {
            let used = crate::cost::Cost::of(&program).ok()?.temporaries;
            let highest = u8::try_from(used.saturating_sub(1)).ok()?.min(size.pix_size());
            program.state.pixsize = Some(size.with(UsPixsize::PIX_SIZE, highest));
        }
        let origins = self.lines.iter().map(|line| line.origins.clone()).collect();
        Some((program, origins))
    }

    /// Returns whether a line is a flow-control instruction.
    pub(crate) fn is_flow(&self, at: usize) -> bool {
        self.lines[at].inst.ty() == InstType::FC
    }
}
