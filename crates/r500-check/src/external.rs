//! External reads: the constants, textures and inputs that a program reads but does not compute.

use std::collections::{BTreeMap, BTreeSet};

use r500_isa::values::TexOp;
use r500_isa::{CONSTANTS, JumpInput, TEMPORARIES};
use r500_program::{Job, Program};

use crate::dataflow::{Dataflow, Liveness};
use crate::graph::{Graph, Structure};

/// The values that reachable instructions read from outside the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExternalReads {
    /// Float constants, by number, including every constant that an address with aL may name.
    pub constants: BTreeSet<u8>,
    /// The channels of these that instructions name (red in bit 0). Of a constant that is not in `constants`, an entry has no meaning.
    pub constant_channels: BTreeMap<u8, u8>,
    /// Integer constants, bit n for `US_FC_INT_CONST` n.
    pub int_constants: u32,
    /// Boolean constants, bit n for bit n of `US_FC_BOOL_CONST`.
    pub bool_constants: u32,
    /// Texture units, bit n for unit n.
    pub textures: u16,
    /// Temporaries that may be read before they are written, with their channels (red in bit 0).
    pub inputs: BTreeMap<u8, u8>,
}

impl ExternalReads {
    /// Returns the external reads of a program; none if it cannot run.
    #[must_use]
    pub fn of(program: &Program) -> Self {
        let Ok(graph) = Graph::new(program) else { return Self::default() };
        let mut reads = Self::default();
        for index in (0..graph.len()).filter(|&index| graph.reaches(index)) {
            reads.instruction(program, &graph, index);
        }
        let structure = (!graph.gave_up()).then(|| Structure::recover(&graph));
        let structure = structure.as_ref().and_then(|structure| structure.as_ref().ok());
        let flow = Dataflow::new(&graph, structure);
        let live = Liveness::of(&flow);
        let live = live.live_in(graph.window().start);
        for temp in 0..TEMPORARIES as u8 {
            let mask = live.temp(temp);
            if mask != 0 {
                reads.inputs.insert(temp, mask);
            }
        }
        reads
    }

    fn instruction(&mut self, program: &Program, graph: &Graph, index: usize) {
        let info = &graph.infos[index];
        let al = graph.abstract_state(index).map(|visit| visit.al);
        for access in info.constants.iter() {
            let addr = i32::from(access.addr);
            let range = match al {
                Some(al) if access.relative => addr + al.min..=addr + al.max,
                _ => addr..=addr,
            };
            // An address outside the constants wraps in the machine; all constants are an upper
            // bound.
            let wraps = *range.start() < 0 || *range.end() >= CONSTANTS as i32;
            let range = if wraps { 0..=CONSTANTS as i32 - 1 } else { range };
            for n in range.filter_map(|n| u8::try_from(n).ok()) {
                self.constants.insert(n);
                *self.constant_channels.entry(n).or_default() |= access.may;
            }
        }
        let inst = program.code[index];
        if info.fetch && inst.tex_inst().inst() != TexOp::NOP {
            self.textures |= 1 << (inst.tex_inst().tex_id() & 15);
        }
        let Some(flow) = &graph.flows[index] else { return };
        if flow.is_loop_begin() || flow.is_loop_end() {
            self.int_constants |= 1 << (flow.int & 31);
        }
        if inst.fc_inst().depends_on(JumpInput::Boolean) {
            self.bool_constants |= 1 << (inst.fc_addr().bool_addr() & 31);
        }
    }

    /// Returns the reads that a job does not provide; of constants that it provides in part, the channels that it does not. A job without a statement about inputs
    /// provides none.
    #[must_use]
    pub fn missing(&self, job: &Job) -> Self {
        let state = &job.program.state;
        let mut missing = self.clone();
        for (&n, channels) in &mut missing.constant_channels {
            *channels &= state.missing_channels(usize::from(n));
        }
        missing.constants.retain(|n| missing.constant_channels.get(n).is_some_and(|&c| c != 0));
        missing.constant_channels.retain(|_, channels| *channels != 0);
        for (n, int) in state.fc_int_const.iter().enumerate() {
            missing.int_constants &= !(u32::from(int.is_some()) << n);
        }
        if state.fc_bool_const.is_some() {
            missing.bool_constants = 0;
        }
        for (n, texture) in job.textures.iter().enumerate() {
            missing.textures &= !(u16::from(texture.is_some()) << n);
        }
        for input in job.inputs.iter().flatten() {
            missing.inputs.remove(&input.temp);
        }
        missing
    }

    /// Returns whether there are no reads.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.constants.is_empty()
            && self.int_constants == 0
            && self.bool_constants == 0
            && self.textures == 0
            && self.inputs.is_empty()
    }

    /// Returns the union of both sets.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut union = self.clone();
        union.constants.extend(&other.constants);
        for (&n, &mask) in &other.constant_channels {
            *union.constant_channels.entry(n).or_default() |= mask;
        }
        union.int_constants |= other.int_constants;
        union.bool_constants |= other.bool_constants;
        union.textures |= other.textures;
        for (&temp, &mask) in &other.inputs {
            *union.inputs.entry(temp).or_default() |= mask;
        }
        union
    }
}

/// Prints the names in the language's notation: `const[0..3], int[1], tex[0], temp[0]`.
impl std::fmt::Display for ExternalReads {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bits = |set: u32| (0..32).filter(move |n| set >> n & 1 != 0);
        let lists = [
            ("const", self.constants.iter().map(|&n| u32::from(n)).collect::<Vec<u32>>()),
            ("int", bits(self.int_constants).collect()),
            ("bool", bits(self.bool_constants).collect()),
            ("tex", bits(self.textures.into()).collect()),
            ("temp", self.inputs.keys().map(|&n| u32::from(n)).collect()),
        ];
        let mut separator = "";
        for (name, numbers) in lists {
            for range in numbers.chunk_by(|a, b| a + 1 == *b) {
                let (first, last) = (range[0], range[range.len() - 1]);
                write!(f, "{separator}{name}[{first}")?;
                if first != last {
                    write!(f, "..{last}")?;
                }
                f.write_str("]")?;
                separator = ", ";
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_listed_in_ranges() {
        let reads = ExternalReads {
            constants: [0, 1, 2, 7].into(),
            constant_channels: BTreeMap::new(),
            int_constants: 0b11,
            bool_constants: 1 << 31,
            textures: 0b101,
            inputs: [(4, 0b11)].into(),
        };
        assert_eq!(
            reads.to_string(),
            "const[0..2], const[7], int[0..1], bool[31], tex[0], tex[2], temp[4]"
        );
        assert_eq!(ExternalReads::default().to_string(), "");
    }
}
