//! Simplification of operands, channels and modifiers.

use r500_check::diff::{Change, Diff};
use r500_isa::values::{InstType, Swiz};
use r500_isa::{Field, FieldValue, Instruction};

use super::State;

/// The address of a source that is not used: an inline constant.
const NO_SOURCE: u32 = 0x80;

impl State<'_> {
    /// Sets fields of ALU instructions to values that do nothing, where the difference stays: in both programs where both
    /// have the same value, else in the one that has the instruction.
    pub(super) fn simplify_fields(&mut self) {
        let [a, b] = self.jobs.each_ref().map(|job| &job.program);
        let places: Vec<[Option<usize>; 2]> = Diff::of(a, b)
            .changes
            .into_iter()
            .map(|change| match change {
                Change::Same { a, b } | Change::Changed { a, b, .. } => [Some(a), Some(b)],
                Change::Removed(a) => [Some(a), None],
                Change::Added(b) => [None, Some(b)],
            })
            .collect();
        for place in places {
            for absent in [without_rgb as fn(&mut Instruction) -> bool, without_alpha] {
                let mut jobs = self.jobs.clone();
                let mut changed = false;
                for (job, at) in jobs.iter_mut().zip(place) {
                    let inst = at.and_then(|at| job.program.code.get_mut(at));
                    changed |= inst.is_some_and(absent);
                }
                if changed {
                    self.try_jobs(jobs);
                }
            }
            self.simplify_operands(place);
        }
    }

    fn simplify_operands(&mut self, place: [Option<usize>; 2]) {
        for word in 0..6_usize {
            let inst = |n: usize| place[n].map(|at| self.jobs[n].program.code[at]);
            let Some(first) = inst(0).or(inst(1)) else { return };
            if !matches!(first.ty(), InstType::ALU | InstType::OUT) {
                return;
            }
            let Some(register) = first.layout()[word] else { continue };
            for field in register.fields {
                let inst = |n: usize| place[n].map(|at| self.jobs[n].program.code[at]);
                if inst(0).or(inst(1)).is_some_and(|inst| is_in_absent_half(inst, word, field)) {
                    continue;
                }
                let now = [inst(0), inst(1)].map(|inst| inst.map(|i| field.extract(i.0[word])));
                let code = match now {
                    [Some(a), Some(b)] if a != b => continue,
                    [Some(code), _] | [None, Some(code)] => code,
                    [None, None] => continue,
                };
                for simple in simpler(field, code) {
                    let mut jobs = self.jobs.clone();
                    for (job, at) in jobs.iter_mut().zip(place) {
                        if let Some(inst) = at.and_then(|at| job.program.code.get_mut(at)) {
                            set(inst, word, field, simple);
                        }
                    }
                    if self.try_jobs(jobs) {
                        break;
                    }
                }
            }
        }
    }
}

/// Clears the RGB half of an instruction that writes nothing. Returns whether there was one.
fn without_rgb(inst: &mut Instruction) -> bool {
    let (cmn, rgb) = (inst.cmn(), inst.rgb_inst());
    let writes = cmn.rgb_wmask().code() | cmn.rgb_omask().code();
    let is_alu = matches!(inst.ty(), InstType::ALU | InstType::OUT);
    is_alu && writes == 0 && !rgb.alu_wmask() && clear(inst, is_of_rgb)
}

/// Clears the alpha half of an instruction that writes nothing. Returns whether there was one.
fn without_alpha(inst: &mut Instruction) -> bool {
    let (cmn, alpha) = (inst.cmn(), inst.alpha_inst());
    let writes = cmn.alpha_wmask() || cmn.alpha_omask() || alpha.w_omask();
    let is_alu = matches!(inst.ty(), InstType::ALU | InstType::OUT);
    is_alu && !writes && clear(inst, is_of_alpha)
}

/// Returns whether a field is an operand, an opcode or a destination of the RGB half.
fn is_of_rgb(word: usize, field: &Field) -> bool {
    match word {
        3 => field.name != "TARGET",
        5 => !field.name.starts_with("ALPHA"),
        _ => false,
    }
}

/// Returns whether a field is an operand, an opcode or a destination of the alpha half.
fn is_of_alpha(word: usize, field: &Field) -> bool {
    match word {
        4 => field.name != "TARGET",
        5 => field.name.starts_with("ALPHA"),
        _ => false,
    }
}

/// Returns whether a field is part of a half that the assembler leaves out: all zero.
fn is_in_absent_half(inst: Instruction, word: usize, field: &Field) -> bool {
    [is_of_rgb as fn(usize, &Field) -> bool, is_of_alpha].into_iter().any(|half| {
        let mut cleared = inst;
        half(word, field) && !clear(&mut cleared, half)
    })
}

/// Clears the fields that a predicate selects by word and name. Returns whether anything changed.
fn clear(inst: &mut Instruction, selected: impl Fn(usize, &Field) -> bool) -> bool {
    let before = *inst;
    for (word, register) in before.layout().into_iter().enumerate() {
        let fields = register.into_iter().flat_map(|register| register.fields);
        for field in fields.filter(|field| selected(word, field)) {
            inst.0[word] = field.insert(inst.0[word], 0);
        }
    }
    *inst != before
}

/// Sets a field. The address of an unused source has no other bits.
fn set(inst: &mut Instruction, word: usize, field: &Field, code: u32) {
    inst.0[word] = field.insert(inst.0[word], code);
    if is_source(field) && code == NO_SOURCE {
        let Some(register) = inst.layout()[word] else { return };
        let bits = ["CONST", "REL"].map(|bit| register.field(&format!("{}_{bit}", field.name)));
        for bit in bits.into_iter().flatten() {
            inst.0[word] = bit.insert(inst.0[word], 0);
        }
    }
}

fn is_source(field: &Field) -> bool {
    matches!(field.name, "ADDR0" | "ADDR1" | "ADDR2")
}

/// Returns the simpler values of a field of an ALU instruction, the simplest first.
fn simpler(field: &Field, code: u32) -> Vec<u32> {
    let name = field.name;
    if is_source(field) {
        return if code == NO_SOURCE { Vec::new() } else { vec![NO_SOURCE] };
    }
    if name.contains("SWIZ") {
        let order = [Swiz::ZERO, Swiz::ONE].map(FieldValue::code);
        return order.into_iter().take_while(|simple| *simple != code).collect();
    }
    if matches!(name, "RGB_WMASK" | "RGB_OMASK") {
        let single = (0..3).map(|bit| code & !(1 << bit)).filter(|mask| *mask != 0);
        return [0].into_iter().chain(single).filter(|mask| *mask != code).collect();
    }
    // Zero does nothing in these.
    let neutral = name.contains("MOD")
        || name.contains("PRED")
        || name.ends_with("MASK")
        || name.ends_with("CLAMP")
        || matches!(name, "SRCP_OP" | "WRITE_INACTIVE" | "STAT_WE" | "ALU_RESULT_SEL");
    if neutral && code != 0 { vec![0] } else { Vec::new() }
}
