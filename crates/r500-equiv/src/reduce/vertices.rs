//! Reduction of two vertex programs that differ: what the values at the difference do not need goes.
//!
//! Inputs and constants are those of a vertex with ordinary values where one is found, since at infinities and zeros too much does not
//! matter; else those of the given one. Passes, repeated until none changes anything:
//!
//! 1. Flow control, instructions and components that they write go from either program, where both still write the same values at the
//!    difference. What writes the component that differs stays.
//! 2. Instructions that stand in both programs go from both, if they then still differ in that output.
//!
//! At last inputs and constants become 0 or 1, if the programs then still differ there.

use std::time::Instant;

use r500_pvs::{
    Addressing, Controls, Dst, DstType, GivenConstants, INSTRUCTIONS, Instruction, Program,
};

use crate::vertex::{VertexDifference, VertexSearch};

/// How a pair of vertex programs is reduced.
pub struct VertexReduction<'a> {
    /// Tolerance and instructions; when the reduction ends with what it has.
    pub search: VertexSearch,
    /// Called after each change that stays: with the number of instructions of A and B, and that of runs.
    pub progress: &'a dyn Fn([usize; 2], u64),
}

/// A reduced pair.
#[derive(Clone, Debug)]
pub struct ReducedVertices {
    /// The programs.
    pub programs: [Program; 2],
    /// The constants that each gives itself.
    pub given: [GivenConstants; 2],
    /// The values with which they differ, and how.
    pub difference: VertexDifference,
    /// Number of runs.
    pub runs: u64,
    /// Whether no step that is known is left: not if the time ran out.
    pub complete: bool,
}

/// The pair so far.
struct State<'a> {
    of: &'a VertexReduction<'a>,
    pair: ReducedVertices,
}

impl VertexReduction<'_> {
    /// Reduces two programs, each with the constants that it gives itself, that differ for the vertex of `found`.
    #[must_use]
    pub fn run(
        &self,
        programs: [(&Program, &GivenConstants); 2],
        found: &VertexDifference,
    ) -> ReducedVertices {
        let found = self.search.ordinary(programs).unwrap_or_else(|| found.clone());
        let pair = ReducedVertices {
            programs: programs.map(|(program, _)| program.clone()),
            given: programs.map(|(_, given)| given.clone()),
            difference: found,
            runs: 0,
            complete: false,
        };
        let mut state = State { of: self, pair };
        let mut changed = true;
        while changed && !state.is_late() {
            changed = state.remove_flow();
            changed |= state.remove_instructions();
            changed |= state.remove_components();
            changed |= state.remove_from_both();
        }
        state.simplify_values();
        ReducedVertices { complete: !state.is_late(), ..state.pair }
    }
}

impl State<'_> {
    fn is_late(&self) -> bool {
        self.of.search.deadline.is_some_and(|end| Instant::now() >= end)
    }

    /// Takes a changed pair if it still differs in the output, or, if `same`, writes the very values there.
    fn takes(&mut self, mut changed: ReducedVertices, same: bool) -> bool {
        let written = |pair: &ReducedVertices| {
            let VertexDifference { output, component, .. } = pair.difference;
            pair.programs.each_ref().map(|program| writes(program, output, component))
        };
        if written(&changed) != written(&self.pair) {
            return false;
        }
        self.pair.runs += 1;
        let programs = [0, 1].map(|side| (&changed.programs[side], &changed.given[side]));
        let Some(values) = self.of.search.values_at(programs, &changed.difference) else {
            return false;
        };
        let was = self.pair.difference.values;
        let stays = match same {
            true => values.map(f32::to_bits) == was.map(f32::to_bits),
            false => self.of.search.differ(values[0], values[1]),
        };
        if stays {
            changed.difference.values = values;
            changed.runs = self.pair.runs;
            self.pair = changed;
            let lengths =
                self.pair.programs.each_ref().map(|program| program.instructions().1.len());
            (self.of.progress)(lengths, self.pair.runs);
        }
        stays
    }

    /// Takes another program on one side, if both then write the same values.
    fn takes_program(&mut self, side: usize, program: Program) -> bool {
        let mut changed = self.pair.clone();
        changed.programs[side] = program;
        self.takes(changed, true)
    }

    fn remove_flow(&mut self) -> bool {
        let mut any = false;
        for side in 0..2 {
            let mut n = 0;
            while n < self.pair.programs[side].controls().flow.len() && !self.is_late() {
                let program = &self.pair.programs[side];
                let mut controls = program.controls().clone();
                controls.flow.remove(n);
                let (base, code) = program.instructions();
                let program = Program::from_code(controls, base, code.to_vec());
                if self.takes_program(side, program) {
                    any = true;
                } else {
                    n += 1;
                }
            }
        }
        any
    }

    /// Removes instructions, in ever smaller parts.
    fn remove_instructions(&mut self) -> bool {
        let mut any = false;
        for side in 0..2 {
            let mut part = self.pair.programs[side].instructions().1.len().next_power_of_two() / 2;
            while part > 0 {
                let mut at = 0;
                while at < self.pair.programs[side].instructions().1.len() && !self.is_late() {
                    let program = &self.pair.programs[side];
                    let length = program.instructions().1.len();
                    let less = without(program, |n| (at..at + part).contains(&n));
                    let less = less.filter(|less| less != program);
                    let taken = less.is_some_and(|less| self.takes_program(side, less));
                    any |= taken;
                    // Where instructions become NOPs the next ones do not move up.
                    if !taken || self.pair.programs[side].instructions().1.len() == length {
                        at += part;
                    }
                }
                part /= 2;
            }
        }
        any
    }

    /// Removes components that instructions write.
    fn remove_components(&mut self) -> bool {
        let mut any = false;
        for side in 0..2 {
            for n in 0..self.pair.programs[side].instructions().1.len() {
                for field in [Dst::WE_X, Dst::WE_Y, Dst::WE_Z, Dst::WE_W] {
                    let program = &self.pair.programs[side];
                    let (base, code) = program.instructions();
                    let mut code = code.to_vec();
                    let Some(inst) = code.get_mut(n) else { continue };
                    let is_written = Dst(inst.0[0]).with(field, false) != Dst(inst.0[0]);
                    if !is_written || self.is_late() {
                        continue;
                    }
                    inst.0[0] = Dst(inst.0[0]).with(field, false).0;
                    let program = Program::from_code(program.controls().clone(), base, code);
                    any |= self.takes_program(side, program);
                }
            }
        }
        any
    }

    /// Removes instructions from both programs that are the same in both.
    fn remove_from_both(&mut self) -> bool {
        let mut any = false;
        let mut n = 0;
        let common = |[a, b]: &[Program; 2]| common(a.instructions().1, b.instructions().1);
        let mut pairs = common(&self.pair.programs);
        while !self.is_late() {
            let [a, b] = self.pair.programs.each_ref();
            let Some(&(of_a, of_b)) = pairs.get(n) else { break };
            let less = [without(a, |n| n == of_a), without(b, |n| n == of_b)];
            let [Some(a), Some(b)] = less else { break };
            let changed = ReducedVertices { programs: [a, b], ..self.pair.clone() };
            if changed.programs != self.pair.programs && self.takes(changed, false) {
                pairs = common(&self.pair.programs);
                any = true;
            } else {
                n += 1;
            }
        }
        any
    }

    /// Replaces inputs and constants by 0 or 1.
    fn simplify_values(&mut self) {
        let found = &self.pair.difference;
        let places = found.inputs.len() + found.constants.len();
        for place in 0..places * 4 {
            let (register, component) = (place / 4, place % 4);
            let value = *component_of(&mut self.pair.difference, register, component);
            for simple in [0.0f32, 1.0] {
                if value.to_bits() == simple.to_bits() || self.is_late() {
                    break;
                }
                let mut changed = self.pair.clone();
                *component_of(&mut changed.difference, register, component) = simple;
                if self.takes(changed, false) {
                    break;
                }
            }
        }
    }
}

/// Returns whether an instruction writes a component of an output.
fn writes(program: &Program, output: u8, component: u8) -> bool {
    program.instructions().1.iter().any(|inst| {
        let dst = inst.dst();
        let is_output = matches!(dst.reg_type(), DstType::OUT | DstType::OUT_REPL_X);
        // An address may be of any output.
        let is_this = dst.addressing() != Addressing::Absolute || dst.offset() == output;
        is_output && is_this && dst.write_mask()[usize::from(component)]
    })
}

/// Returns a component of an input, or of a constant after all inputs.
fn component_of(found: &mut VertexDifference, register: usize, component: usize) -> &mut f32 {
    let inputs = found.inputs.len();
    match register.checked_sub(inputs) {
        None => &mut found.inputs[register][component],
        Some(constant) => &mut found.constants[constant][component],
    }
}

/// Returns a program without some instructions, by their places; `None` if none would be left. Where there is flow control, which counts
/// instructions, they become such that write nothing.
fn without(program: &Program, removed: impl Fn(usize) -> bool) -> Option<Program> {
    let (base, code) = program.instructions();
    let numbered = code.iter().enumerate();
    let controls = program.controls();
    if !controls.flow.is_empty() {
        let code = numbered.map(|(n, inst)| if removed(n) { Instruction([0; 4]) } else { *inst });
        return Some(Program::from_code(controls.clone(), base, code.collect()));
    }
    let code: Vec<Instruction> =
        numbered.filter(|(n, _)| !removed(*n)).map(|(_, inst)| *inst).collect();
    if code.is_empty() {
        return None;
    }
    let controls = Controls {
        constants: controls.constants,
        outputs: controls.outputs,
        ..Controls::of_code(base, &code)
    };
    Some(Program::from_code(controls, base, code))
}

/// Returns the places of instructions that both have in the same order: a longest common subsequence.
/// Of longer programs than the processor has, only the beginning is compared.
fn common(a: &[Instruction], b: &[Instruction]) -> Vec<(usize, usize)> {
    let [a, b] = [a, b].map(|code| &code[..code.len().min(INSTRUCTIONS)]);
    let width = b.len() + 1;
    let mut longest = vec![0u32; (a.len() + 1) * width];
    for (i, of_a) in a.iter().enumerate().rev() {
        for (j, of_b) in b.iter().enumerate().rev() {
            longest[i * width + j] = match of_a == of_b {
                true => longest[(i + 1) * width + j + 1] + 1,
                false => longest[(i + 1) * width + j].max(longest[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use r500_pvs::Source;

    use super::*;

    fn source(text: &str) -> Source {
        Source::parse(text, &mut |_| Err(String::new())).unwrap()
    }

    fn reduced(texts: [&str; 2]) -> ReducedVertices {
        let [a, b] = texts.map(source);
        let programs = [(&a.program, &a.constants), (&b.program, &b.constants)];
        let search = VertexSearch {
            batches: 8,
            seed: 1,
            tolerance: None,
            instructions: 10_000,
            deadline: None,
        };
        let found = search.compare(programs).difference.unwrap();
        let reduced = VertexReduction { search, progress: &|_, _| {} }.run(programs, &found);
        assert!(reduced.complete);
        // It differs as it says.
        let programs = [0, 1].map(|side| (&reduced.programs[side], &reduced.given[side]));
        let values = search.values_at(programs, &reduced.difference).unwrap();
        assert_eq!(values.map(f32::to_bits), reduced.difference.values.map(f32::to_bits));
        assert!(search.differ(values[0], values[1]));
        reduced
    }

    fn lines(program: &Program) -> Vec<String> {
        program.instructions().1.iter().map(ToString::to_string).collect()
    }

    /// A transform with a wrong sign in one scalar product: all that does not lead to it goes.
    #[test]
    fn what_does_not_lead_to_the_difference_goes() {
        let program = |sign: &str| {
            format!(
                "out[0].x = VE_DOT const[0].xyzw input[0].xyzw ;
                 out[0].y = VE_DOT const[1].xyzw input[0].xyzw ;
                 temp[0].xyzw = VE_MUL input[1].xyzw const[2].xyzw ;
                 out[1].xyzw = VE_MAD temp[0].xyzw {sign}const[3].xxxx input[2].xyzw ;
                 out[2].xyzw = VE_ADD input[3].xyzw input[3].0000 ;"
            )
        };
        let reduced = reduced([&program(""), &program("-")]);
        for (side, program) in reduced.programs.iter().enumerate() {
            let lines = lines(program);
            assert!(lines.len() <= 2, "{side}: {lines:?}");
            assert!(lines.iter().any(|line| line.contains("VE_MAD")), "{lines:?}");
            assert!(lines.iter().all(|line| !line.contains("VE_DOT")), "{lines:?}");
            // One component.
            assert!(!lines.iter().any(|line| line.contains(".xyzw =")), "{lines:?}");
        }
        let simple = |vector: &[f32; 4]| vector.iter().all(|v| *v == 0.0 || *v == 1.0);
        let strange = reduced.difference.inputs.iter().filter(|vector| !simple(vector)).count();
        assert!(strange <= 1, "{:?}", reduced.difference.inputs);
    }

    #[test]
    fn flow_control_that_does_not_matter_goes() {
        let program = |op: &str| {
            format!(
                "FLOW[0] = LOOP after 0, 3 times 1 to 1, aL 0 step 0 ;
                 temp[1].x = VE_ADD input[0].xxxx input[0].0000 ;
                 temp[1].y = VE_ADD temp[1].yyyy input[0].yyyy ;
                 out[0].x = {op} temp[1].xxxx input[1].xxxx ;"
            )
        };
        let reduced = reduced([&program("VE_MIN"), &program("VE_MAX")]);
        for program in &reduced.programs {
            assert!(program.controls().flow.is_empty());
            assert!(program.instructions().1.len() <= 2, "{:?}", lines(program));
        }
    }

    #[test]
    fn common_instructions_are_in_order() {
        let code = |numbers: &[u32]| -> Vec<Instruction> {
            numbers.iter().map(|n| Instruction([*n; 4])).collect()
        };
        let pairs = common(&code(&[1, 2, 3, 4]), &code(&[2, 4, 3, 4]));
        assert_eq!(pairs, [(1, 0), (2, 2), (3, 3)]);
    }
}
