//! Checks of vertex programs: likely errors.

use r500_chip::pvs::{Addressing, DstType, MathOp, Op, Src, SrcType, VectorOp};
use r500_chip::values::FlowOp;

use crate::instruction::reads_register;
use crate::{Controls, GivenConstants, Instruction, Program};

/// Alternate temporaries of a vertex.
const ALT_TEMPORARIES: usize = 20;

/// The bits of a source that are its address: kind, number, addressing.
const ADDRESS: u32 = 0xe000_1ff3;

/// A likely error in a vertex program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lint {
    /// The instruction; `None` for the whole program.
    pub instruction: Option<usize>,
    /// The problem.
    pub kind: LintKind,
}

/// Kinds of likely errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LintKind {
    /// `PVS_LAST_INST` is before `PVS_FIRST_INST`.
    #[error("PVS_LAST_INST lies before PVS_FIRST_INST")]
    EmptyRange,
    /// An operation that the documents reserve.
    #[error("reserved operation")]
    ReservedOperation,
    /// A kind of operand, swizzle or addressing that the documents reserve.
    #[error("reserved operand")]
    ReservedOperand,
    /// A component that the operation reads selects nothing.
    #[error("{0} of a source is `_`, and the operation reads it")]
    SelectsNothing(char),
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
    /// Two different constants, inputs or alternate temporaries in one instruction: drivers of this family move one into a
    /// temporary first, and assemblers refuse them.
    #[error("two different {0} in one instruction")]
    TwoAddresses(&'static str),
    /// The position is an output, and no instruction writes `out[0]`.
    #[error("the position (out[0]) is never written")]
    NoPosition,
    /// An output that `VAP_OUT_VTX_FMT_0` promises and no instruction writes.
    #[error("{what} (out[{output}]) is never written")]
    MissingOutput {
        /// The output: they are packed, point size before colours.
        output: u8,
        /// What it is.
        what: &'static str,
    },
    /// Three different temporaries in an operation that has no macro of two clocks.
    #[error("three different temporaries in one instruction")]
    ThreeTemporaries,
    /// A macro of two clocks with a second operation.
    #[error("an operation of two clocks has a second operation")]
    DualMacro,
    /// An alternate temporary that does not exist.
    #[error("alt_temp[{0}] does not exist: there are 20")]
    NoAltTemporary(u8),
    /// The position is written after `PVS_XYZW_VALID_INST`.
    #[error("the position is written after PVS_XYZW_VALID_INST = {0}, where it should be complete")]
    LatePosition(u16),
    /// An input is read after `PVS_LAST_VTX_SRC_INST`.
    #[error(
        "an input is read after PVS_LAST_VTX_SRC_INST = {0}, the last instruction that reads one"
    )]
    LateInput(u16),
    /// A sine or cosine of a constant outside -pi to pi.
    #[error("the angle in const[{0}] is outside -pi to pi")]
    AngleOutside(u8),
    /// An instruction depends on the predicate, and none before it (with flow control: none at all) sets it.
    #[error("the predicate is read before any instruction sets it")]
    PredicateNeverSet,
    /// A flow control instruction refers to an instruction outside the program.
    #[error("flow control {0} refers to an instruction outside the program")]
    FlowOutside(u8),
}

/// What a lint is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LintInfo {
    /// The code, which stays.
    pub code: &'static str,
    /// Where the rule is from.
    pub evidence: &'static str,
    /// How to fix the program.
    pub help: &'static str,
}

impl LintKind {
    /// Returns its code, the evidence for the rule, and the remedy.
    #[must_use]
    pub fn info(&self) -> LintInfo {
        let (code, evidence, help) = match self {
            Self::EmptyRange => (
                "R5201",
                "documented: PVS_FIRST_INST, PVS_LAST_INST",
                "set PVS_LAST_INST to the last instruction",
            ),
            Self::ReservedOperation => (
                "R5202",
                "documented: the opcodes of the two engines",
                "use an operation that has a name",
            ),
            Self::ReservedOperand => (
                "R5203",
                "documented: PVS_SRC_OPERAND, PVS_DST_OPERAND",
                "use kinds, components and addressing that have names",
            ),
            Self::SelectsNothing(_) => (
                "R5214",
                "documented: the code has no meaning; people write it for components that nothing reads",
                "select a component",
            ),
            Self::NeverWritten(_) => {
                ("R5204", "derived: a temporary holds what another vertex left", "write it first")
            }
            Self::BeyondConstants { .. } => {
                ("R5205", "documented: PVS_MAX_CONST_ADDR", "raise PVS_MAX_CONST_ADDR")
            }
            Self::TwoAddresses(_) => (
                "R5206",
                "observed: drivers and assemblers for this chip keep to one address of each",
                "copy one of them into a temporary first",
            ),
            Self::NoPosition => ("R5207", "documented: VTX_POS_PRESENT", "write out[0]"),
            Self::MissingOutput { .. } => (
                "R5215",
                "observed: present outputs are packed, position, point size, colours",
                "write it, or clear its bit in VAP_OUT_VTX_FMT_0",
            ),
            Self::ThreeTemporaries => (
                "R5208",
                "documented: only the macros read three temporaries",
                "copy one of them into an alternate temporary first",
            ),
            Self::DualMacro => {
                ("R5209", "documented: a macro takes both clocks", "make them two statements")
            }
            Self::NoAltTemporary(_) => {
                ("R5210", "documented: 20 alternate temporaries", "use another one")
            }
            Self::LatePosition(_) => (
                "R5211",
                "documented: PVS_XYZW_VALID_INST",
                "set the field to the last instruction that writes out[0]",
            ),
            Self::LateInput(_) => (
                "R5212",
                "documented: PVS_LAST_VTX_SRC_INST",
                "set the field to the last instruction that reads an input",
            ),
            Self::AngleOutside(_) => (
                "R5216",
                "observed: assemblers demand reduced angles; others count as the nearest end",
                "reduce it: 2 pi times the fraction of angle / (2 pi) + 1/2, minus pi",
            ),
            Self::PredicateNeverSet => (
                "R5217",
                "derived: the predicate is what another vertex left",
                "set it with an operation whose name has PRED_SET",
            ),
            Self::FlowOutside(_) => (
                "R5213",
                "documented: VAP_PVS_FLOW_CNTL_ADDRS",
                "keep targets within PVS_FIRST_INST to PVS_LAST_INST",
            ),
        };
        LintInfo { code, evidence, help }
    }
}

/// Returns which components of its sources an instruction reads: those that it writes, but for operations that combine components, and
/// those of the math engine, which reads w.
fn needed_components(inst: Instruction) -> [bool; 4] {
    match inst.op() {
        Op::Vector(VectorOp::DOT_PRODUCT) => [true; 4],
        op @ Op::Vector(_) if op.sets_predicate() => [false, false, false, true],
        Op::Math(MathOp::LIGHT_COEFF_DX) => [true, true, false, true],
        Op::Math(_) => [false, false, false, true],
        Op::Vector(_) | Op::Macro(_) => inst.dst().write_mask(),
    }
}

/// Returns the given constant that is the angle of a sine or cosine, if it is outside -pi to pi.
fn angle_outside(inst: Instruction, given: &GivenConstants) -> Option<u8> {
    let is_wave = |op: MathOp| matches!(op, MathOp::SIN | MathOp::COS);
    let of_instruction = match inst.op() {
        Op::Math(op) if is_wave(op) => inst.read_sources()[0].map(|src| (src, 3)),
        _ => None,
    };
    // The operand of a second operation is the first of its two scalars.
    let of_second = inst.dual_math().filter(|dual| is_wave(dual.op()));
    let angles = of_instruction.into_iter().chain(of_second.map(|dual| (dual.source(), 0)));
    let outside = |(src, place): (Src, usize)| {
        let is_constant =
            src.reg_type() == SrcType::CONSTANT && src.addressing() == Addressing::Absolute;
        let component = usize::from(src.swizzle()[place].code());
        let bits = given.get(&src.offset()).filter(|_| is_constant)?.get(component)?;
        (f32::from_bits(*bits).abs() > std::f32::consts::PI).then(|| src.offset())
    };
    angles.filter_map(outside).next()
}

impl Program {
    /// Returns likely errors, in the order of instructions.
    #[must_use]
    pub fn check(&self) -> Vec<Lint> {
        self.check_with(&GivenConstants::new())
    }

    /// Returns likely errors, in the order of instructions, of a program with the constants that it gives.
    #[must_use]
    pub fn check_with(&self, given: &GivenConstants) -> Vec<Lint> {
        let Controls { range, inputs, constants, outputs, flow: flow_control } = self.controls();
        let mut lints = Vec::new();
        let mut find = |instruction, kind| lints.push(Lint { instruction, kind });
        if self.window().next().is_none() {
            find(None, LintKind::EmptyRange);
            return lints;
        }
        let mut written = [false; 256];
        if !flow_control.is_empty() {
            // Loops and calls change the order: all written temporaries count as initialised.
            for (_, inst) in self.window() {
                let dst = inst.dst();
                if dst.reg_type() == DstType::TEMPORARY {
                    written[usize::from(dst.offset())] = true;
                }
            }
        }
        let mut position = false;
        let sets = |inst: &Instruction| {
            inst.op().sets_predicate()
                || inst.dual_math().is_some_and(|dual| Op::Math(dual.op()).sets_predicate())
        };
        let mut predicate = !flow_control.is_empty() && self.window().any(|(_, inst)| sets(&inst));
        for (n, inst) in self.window() {
            let dst = inst.dst();
            if inst.op().name().is_none() {
                find(Some(n), LintKind::ReservedOperation);
                continue;
            }
            let sources = inst.read_sources();
            let reserved = |src: &Src| src.addressing() == Addressing::Reserved;
            let needed = needed_components(inst);
            let selects_nothing = sources
                .iter()
                .flatten()
                .find_map(|src| (0..4).find(|c| needed[*c] && src.swizzle()[*c].code() == 7));
            // The source of a second operation has two scalars, of which the first is always read.
            if let (Some(component), None) = (selects_nothing, inst.dual_math()) {
                find(Some(n), LintKind::SelectsNothing(['x', 'y', 'z', 'w'][component]));
            }
            if !dst.reg_type().is_named()
                || dst.addressing() == Addressing::Reserved
                || sources.iter().flatten().any(reserved)
            {
                find(Some(n), LintKind::ReservedOperand);
            }
            for src in sources.iter().flatten().filter(|src| reads_register(src)) {
                if src.addressing() != Addressing::Absolute {
                    continue;
                }
                let (number, max) = (src.offset(), constants.pvs_max_const_addr());
                match src.reg_type() {
                    SrcType::TEMPORARY if !written[usize::from(number)] => {
                        find(Some(n), LintKind::NeverWritten(number));
                        // Reported once.
                        written[usize::from(number)] = true;
                    }
                    SrcType::CONSTANT if number > max => {
                        let kind = LintKind::BeyondConstants { constant: number, max };
                        find(Some(n), kind);
                    }
                    _ => {}
                }
            }
            if let Some(constant) = angle_outside(inst, given) {
                find(Some(n), LintKind::AngleOutside(constant));
            }
            if dst.pred_enable() && !predicate {
                find(Some(n), LintKind::PredicateNeverSet);
                // Reported once.
                predicate = true;
            }
            predicate |= sets(&inst);
            let one_address = [
                (SrcType::CONSTANT, "constants"),
                (SrcType::INPUT, "inputs"),
                (SrcType::ALT_TEMPORARY, "alternate temporaries"),
            ];
            for (kind, name) in one_address {
                let addresses =
                    sources.iter().flatten().filter(|s| reads_register(s) && s.reg_type() == kind);
                let mut addresses = addresses.map(|src| (src.addressing(), src.offset()));
                let first = addresses.next();
                if addresses.any(|address| Some(address) != first) {
                    find(Some(n), LintKind::TwoAddresses(name));
                }
            }
            let read = |kind: SrcType| {
                sources.iter().flatten().filter(move |s| reads_register(s) && s.reg_type() == kind)
            };
            let mut temporaries: Vec<_> =
                read(SrcType::TEMPORARY).map(|src| src.0 & ADDRESS).collect();
            temporaries.sort_unstable();
            temporaries.dedup();
            let is_macro = matches!(inst.op(), Op::Macro(_));
            if temporaries.len() > 2 && !is_macro {
                find(Some(n), LintKind::ThreeTemporaries);
            }
            if is_macro && inst.dual_math().is_some() {
                find(Some(n), LintKind::DualMacro);
            }
            let last = inputs.pvs_last_vtx_src_inst();
            if read(SrcType::INPUT).next().is_some() && n > usize::from(last) {
                find(Some(n), LintKind::LateInput(last));
            }
            let alternates =
                read(SrcType::ALT_TEMPORARY).map(|src| (src.addressing(), src.offset()));
            let written_alternate = (dst.reg_type() == DstType::ALT_TEMPORARY)
                .then(|| (dst.addressing(), dst.offset()));
            let none = alternates.chain(written_alternate).find(|(addressing, number)| {
                *addressing == Addressing::Absolute && usize::from(*number) >= ALT_TEMPORARIES
            });
            if let Some((_, number)) = none {
                find(Some(n), LintKind::NoAltTemporary(number));
            }
            let complete = range.pvs_xyzw_valid_inst();
            let is_output = matches!(dst.reg_type(), DstType::OUT | DstType::OUT_REPL_X);
            let writes_position = is_output
                && dst.offset() == 0
                && dst.addressing() == Addressing::Absolute
                && dst.write_mask() != [false; 4];
            if writes_position && n > usize::from(complete) && flow_control.is_empty() {
                find(Some(n), LintKind::LatePosition(complete));
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
        if outputs.vtx_pos_present() && !position {
            find(None, LintKind::NoPosition);
        }
        let present = [
            (outputs.vtx_pt_size_present(), "the point size"),
            (outputs.vtx_color_0_present(), "colour 0"),
            (outputs.vtx_color_1_present(), "colour 1"),
            (outputs.vtx_color_2_present(), "colour 2"),
            (outputs.vtx_color_3_present(), "colour 3"),
        ];
        let writes = self.written_outputs();
        for ((_, what), output) in present.into_iter().filter(|(present, _)| *present).zip(1..) {
            if !writes.contains(&usize::from(output)) {
                find(None, LintKind::MissingOutput { output, what });
            }
        }
        let inside = |n: u16| (range.pvs_first_inst()..=range.pvs_last_inst()).contains(&n);
        for flow in flow_control {
            let (low, high) = (flow.low, flow.high);
            let target = match flow.op {
                FlowOp::LOOP => high.rtn_inst(),
                _ => low.loop_cnt_jmp_inst(),
            };
            let last = if flow.op == FlowOp::JUMP { low.act_adrs() } else { high.last_inst() };
            if ![low.act_adrs(), target, last].into_iter().all(inside) {
                find(None, LintKind::FlowOutside(flow.number));
            }
        }
        lints
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use crate::{LintKind, Source};

    /// Returns the findings of a text.
    fn findings(text: &str) -> Vec<(Option<usize>, LintKind)> {
        let source = Source::parse(text, &mut |_| Err(String::new())).unwrap();
        source
            .program
            .check_with(&source.constants)
            .iter()
            .map(|lint| (lint.instruction, lint.kind))
            .collect()
    }

    const POSITION: &str = "out[0].xyzw = VE_ADD input[0].xyzw input[0].0000 ;";

    #[test]
    fn programs_of_people_are_clean() {
        // Components that are not written, and those of scalars that are not w, may be left out.
        let text = "temp[0].xy = VE_MAD const[0].xy__ const[0].zz__ const[0].ww__ ;
            temp[1].x = ME_SIN temp[0].___x ;
            temp[1].yz = VE_MUL input[0]._-zz_ temp[0]._xy_ , alt_temp[3].w = ME_COS temp[0].y_ ;
            temp[2].xyz = VE_MAD temp[0].xyx_ alt_temp[3].w1w_ temp[1].x0y_ ;
            out[1].xyz = VE_ADD temp[2].xyz_ temp[1].000_ ;";
        assert_eq!(findings(&format!("{text}{POSITION}")), []);
    }

    #[test]
    fn each_rule_has_a_program_that_breaks_it_and_one_that_does_not() {
        use LintKind as K;
        let cases = [
            ("temp[0].x = VE_FRC input[0].x___ ;", "temp[0].x = VE_FRC input[0]._xxx ;", K::SelectsNothing('x')),
            ("temp[0].x = VE_DOT input[0].xyzw input[0].xyz0 ;", "temp[0].x = VE_DOT input[0].xyzw input[0].xyz_ ;", K::SelectsNothing('w')),
            ("temp[0].x = VE_ADD const[0].xxxx const[0].yyyy ;", "temp[0].x = VE_ADD const[0].xxxx const[1].xxxx ;", K::TwoAddresses("constants")),
            (
                "alt_temp[0].x = VE_ADD const[0].xxxx const[0].yyyy ; temp[0].x = VE_ADD alt_temp[0].xxxx alt_temp[0].xxxx ;",
                "temp[0].x = VE_ADD alt_temp[0].xxxx alt_temp[1].xxxx ;",
                K::TwoAddresses("alternate temporaries"),
            ),
            (
                "alt_temp[19].x = VE_ADD const[0].xxxx const[0].yyyy ;",
                "alt_temp[20].x = VE_ADD const[0].xxxx const[0].yyyy ;",
                K::NoAltTemporary(20),
            ),
            (
                "temp[1].xyzw = VE_FRC const[0].xxxx ; temp[2].xyzw = VE_FRC const[0].xxxx ; temp[3].xyzw = VE_FRC const[0].xxxx ;
                 temp[0].x = VE_MAD temp[1].xxxx temp[2].xxxx temp[3].xxxx ;",
                "temp[1].xyzw = VE_FRC const[0].xxxx ; temp[2].xyzw = VE_FRC const[0].xxxx ; temp[3].xyzw = VE_FRC const[0].xxxx ;
                 temp[0].x = VE_MAD.1CLK temp[1].xxxx temp[2].xxxx temp[3].xxxx ;",
                K::ThreeTemporaries,
            ),
            (
                "temp[0].x = VE_ADD const[0].xxxx const[0].yyyy ;",
                "temp[0].x = VE_MULTIPLYX2_ADD.2CLK const[0].xxxx const[0].yyyy, alt_temp[0].x = ME_RCP const[0].x_ ;",
                K::DualMacro,
            ),
            (
                "const[3] = (3.14, -7, 0, 0) ; temp[0].x = ME_SIN const[3].xxxx ; temp[1].x = ME_COS const[4].xxxx ;",
                "const[3] = (3.14, -7, 0, 0) ; temp[0].x = ME_SIN const[3].yyyy ;",
                K::AngleOutside(3),
            ),
            (
                "const[3] = (3.14, -7, 0, 0) ; temp[0].x = VE_FRC input[0].xxxx , alt_temp[0].x = ME_COS const[3].xy ;",
                "const[3] = (3.14, -7, 0, 0) ; temp[0].x = VE_FRC input[0].xxxx , alt_temp[0].x = ME_COS const[3].yx ;",
                K::AngleOutside(3),
            ),
            (
                "temp[0].w = ME_PRED_SET_EQ input[0].xxxx ; (p) temp[1].x = VE_FRC input[0].xxxx ;",
                "(p) temp[1].x = VE_FRC input[0].xxxx ; temp[0].w = ME_PRED_SET_EQ input[0].xxxx ;",
                K::PredicateNeverSet,
            ),
            ("temp[0].x = VE_30 const[0].xxxx const[0].xxxx const[0].xxxx ;", "", K::ReservedOperation),
            ("temp[0].x = VE_FRC const[aL+1].xxxx ;", "temp[0].x = VE_FRC const[a0.x+aL+1].xxxx ;", K::ReservedOperand),
            ("temp[0].x = VE_FRC const[0].xxxx ; temp[1].x = VE_FRC temp[0].xxxx ;", "temp[1].x = VE_FRC temp[0].xxxx ;", K::NeverWritten(0)),
        ];
        for (clean, broken, kind) in cases {
            // Of an operation without a name there is no clean form.
            let (clean, broken) = if broken.is_empty() { (broken, clean) } else { (clean, broken) };
            let kinds = |text: &str| -> Vec<LintKind> {
                findings(&format!("{text}{POSITION}")).into_iter().map(|(_, kind)| kind).collect()
            };
            assert_eq!(kinds(clean), [], "{clean}");
            assert!(kinds(broken).contains(&kind), "{broken}: {:?}", kinds(broken));
        }
        let marks = |range: &str| {
            findings(&format!("{range} temp[0].x = VE_FRC const[0].xxxx ; {POSITION}"))
        };
        assert_eq!(
            marks("VAP_PVS_CODE_CNTL_0 = PVS_LAST_INST(1) ; VAP_PVS_CODE_CNTL_1 = 0 ;"),
            [(Some(1), K::LateInput(0)), (Some(1), K::LatePosition(0))]
        );
        assert_eq!(marks("VAP_PVS_CODE_CNTL_0 = PVS_XYZW_VALID_INST(1) PVS_LAST_INST(1) ;"), []);
        assert_eq!(findings("temp[0].x = VE_FRC const[0].xxxx ;"), [(None, K::NoPosition)]);
        // Point size and colour 1: out[1] and out[2].
        let promised = |text: &str| {
            findings(&format!(
                "VAP_OUT_VTX_FMT_0 = VTX_POS_PRESENT VTX_COLOR_1_PRESENT VTX_PT_SIZE_PRESENT ; {text}{POSITION}"
            ))
        };
        let missing = |output, what| (None, K::MissingOutput { output, what });
        assert_eq!(promised(""), [missing(1, "the point size"), missing(2, "colour 1")]);
        assert_eq!(promised("out[1].x = VE_FRC const[0].xxxx ;"), [missing(2, "colour 1")]);
        assert_eq!(promised("out[a0.x+1].x = VE_FRC const[0].xxxx ;"), []);
    }
}
