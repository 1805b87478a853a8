//! Abstract register state: the operand that each register channel holds.

use r500_exec::Shader;
use r500_exec::reference::POISON;
use r500_ir::{NONE, Operand, Type};
use r500_isa::{TARGETS, TEMPORARIES};

/// The operand of each variable: register channels that an instruction can read or write, and the state of enclosing loops.
#[derive(Clone, Debug)]
pub(crate) struct RegState {
    pub(crate) temps: Vec<[Operand; 4]>,
    pub(crate) colors: [[Operand; 4]; TARGETS],
    pub(crate) depth: Operand,
    /// Mask: lanes that wrote depth.
    pub(crate) depth_written: Operand,
    /// Masks: predicate bits R to A.
    pub(crate) predicate: [Operand; 4],
    /// Mask: ALU result.
    pub(crate) alu_result: Operand,
    /// The state of the enclosing loops, innermost last.
    pub(crate) loop_exits: Vec<LoopExitState>,
}

/// The state of a loop for lanes that have left an iteration.
#[derive(Clone, Debug)]
pub(crate) struct LoopExitState {
    /// Mask: lanes that have left the loop.
    pub(crate) exited: Operand,
    /// Mask: lanes that are inactive for the rest of the iteration.
    pub(crate) inactive: Operand,
    /// The registers that the loop modifies, at the time when a lane became inactive; in the order of
    /// [`LoopScope::modified`](crate::flow::LoopScope).
    pub(crate) exit_values: Vec<Operand>,
}

impl RegState {
    /// The index of depth in [`Self::vars`]; its mask is next.
    pub(crate) const DEPTH: usize = (TEMPORARIES + TARGETS) * 4;
    /// The index of predicate bit R.
    pub(crate) const PREDICATE: usize = Self::DEPTH + 2;
    /// The index of the ALU result.
    pub(crate) const ALU_RESULT: usize = Self::PREDICATE + 4;
    /// The number of registers.
    pub(crate) const REGISTERS: usize = Self::ALU_RESULT + 1;

    /// Returns the index of the red channel of a temporary.
    pub(crate) fn temp(addr: usize) -> usize {
        addr % TEMPORARIES * 4
    }

    /// Returns the index of the red channel of an output.
    pub(crate) fn color(target: u8) -> usize {
        (TEMPORARIES + usize::from(target & 3)) * 4
    }

    /// Returns the type of a register, by its index.
    pub(crate) fn register_type(place: usize) -> Type {
        if place <= Self::DEPTH { Type::F32 } else { Type::Mask }
    }

    /// Returns the initial state: undefined registers are 0, or the poison pattern.
    pub(crate) fn start(poison: bool) -> Self {
        let undefined = Operand::float(if poison { POISON } else { 0.0 });
        Self {
            temps: vec![[undefined; 4]; TEMPORARIES],
            colors: [[Operand::float(0.0); 4]; TARGETS],
            depth: Operand::float(0.0),
            depth_written: NONE,
            predicate: [Operand::mask(poison), NONE, Operand::mask(poison), NONE],
            alu_result: Operand::mask(poison),
            loop_exits: Vec::new(),
        }
    }

    /// Iterates over all variables, by index.
    pub(crate) fn vars(&self) -> impl Iterator<Item = Operand> + '_ {
        let plain = self.temps.iter().chain(&self.colors).flatten().copied();
        plain
            .chain([self.depth, self.depth_written])
            .chain(self.predicate)
            .chain([self.alu_result])
            .chain(self.loop_exits.iter().flat_map(|loop_exits| {
                [loop_exits.exited, loop_exits.inactive]
                    .into_iter()
                    .chain(loop_exits.exit_values.iter().copied())
            }))
    }

    /// As [`vars`](Self::vars), mutable.
    pub(crate) fn vars_mut(&mut self) -> impl Iterator<Item = &mut Operand> {
        let plain = self.temps.iter_mut().chain(&mut self.colors).flatten();
        plain
            .chain([&mut self.depth, &mut self.depth_written])
            .chain(&mut self.predicate)
            .chain([&mut self.alu_result])
            .chain(self.loop_exits.iter_mut().flat_map(|loop_exits| {
                [&mut loop_exits.exited, &mut loop_exits.inactive]
                    .into_iter()
                    .chain(&mut loop_exits.exit_values)
            }))
    }

    /// Returns the registers, without the state of loops.
    pub(crate) fn registers(&self) -> Vec<Operand> {
        self.vars().take(Self::REGISTERS).collect()
    }

    /// Returns the outputs: the colours of the existing targets, and depth with its mask.
    #[expect(clippy::type_complexity, reason = "two fields of a function")]
    pub(crate) fn outputs(
        &self,
        shader: &Shader,
    ) -> ([Option<[Operand; 4]>; 4], Option<(Operand, Operand)>) {
        let mut targets = shader.targets();
        targets[0] = true;
        let mut colors = [None; 4];
        for (target, color) in colors.iter_mut().enumerate().filter(|(target, _)| targets[*target])
        {
            *color = Some(self.colors[target]);
        }
        (colors, shader.writes_depth().then_some((self.depth, self.depth_written)))
    }
}
