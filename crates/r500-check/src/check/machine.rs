//! Lints about single instructions: opcodes, reserved values, register ranges, and the state that
//! they use.

use r500_isa::state::{UsCodeAddr, UsPixsize};
use r500_isa::values::{
    AddrOp, AlphaOp, FcOp, InstType, Omod, OutFormat, PredSel, RgbOp, Sel, Swiz, TexOp,
};
use r500_isa::words::{
    AluAlphaAddr, AluAlphaInst, AluRgbAddr, AluRgbInst, AluRgbaInst, CmnInst, FcAddr, FcInst,
    TexAddr, TexAddrDxdy, TexInst,
};
use r500_isa::{CONSTANTS, Half, INSTRUCTION_SLOTS, Instruction, Slot, TEMPORARIES, Word};
use r500_program::State;

use super::Checker;
use crate::LintCode;
use crate::graph::AlRange;
use crate::lint::{Edit, EditTarget, Fix, Lint, Location};
use r500_isa::{Access, OperandField};

/// Checks the number of instructions at an offset.
pub(super) fn past_slots(offset: u32, count: usize) -> Option<Lint> {
    let last = offset as usize + count;
    (last > INSTRUCTION_SLOTS).then(|| {
        let message = format!("instructions reach to address {}, the last slot is 511", last - 1);
        of_program(LintCode::PastSlots, message)
    })
}

/// Checks the number of float constants.
pub(super) fn too_many_constants(state: &State) -> Option<Lint> {
    let constants = state.constants.len();
    (constants > CONSTANTS).then(|| {
        let message = format!("{constants} float constants are given, the processor has 256");
        of_program(LintCode::TooManyConstants, message)
    })
}

fn of_program(code: LintCode, message: String) -> Lint {
    Lint { code, location: Location::Program, message, fix: None, related: Vec::new() }
}

impl Checker<'_> {
    pub(super) fn check_machine(&mut self) {
        let highest = self.highest_temporary();
        for index in self.reached() {
            let inst = self.program.code[index];
            match inst.ty() {
                InstType::FC => self.check_fc(index, inst),
                InstType::TEX => self.check_tex(index, inst),
                _ => self.check_alu(index, inst),
            }
            self.check_predicates(index, inst);
            self.check_ranges(index, highest);
            self.check_stray(index, inst);
        }
        self.check_any_output();
        let window = self.graph.window();
        match window.end {
            None => {
                let place = Location::State(UsCodeAddr::REGISTER);
                self.add(
                    LintCode::EndOutside,
                    place,
                    "END_ADDR names no instruction that can run".into(),
                );
            }
            Some(end) => {
                let ty = self.program.code[end].ty();
                if ty != InstType::OUT && self.graph.reaches(end) {
                    let place = self.field(end, 0, CmnInst::TYPE);
                    self.add(
                        LintCode::LastNotOut,
                        place,
                        format!("the last instruction is {ty:?}"),
                    );
                }
            }
        }
    }

    fn check_alu(&mut self, index: usize, inst: Instruction) {
        let (rgb, alpha) = (inst.rgba_inst().rgb_op(), inst.alpha_inst().alpha_op());
        if !rgb.is_named() {
            let place = self.field(index, 5, AluRgbaInst::RGB_OP);
            self.add(LintCode::ReservedRgbOp, place, format!("RGB_OP {} is reserved", rgb.code()));
        }
        if !alpha.is_named() {
            let place = self.field(index, 4, AluAlphaInst::ALPHA_OP);
            self.add(
                LintCode::ReservedAlphaOp,
                place,
                format!("ALPHA_OP {} is reserved", alpha.code()),
            );
        }
        if alpha == AlphaOp::DP && !rgb.is_dot_product() {
            let place = self.field(index, 4, AluAlphaInst::ALPHA_OP);
            self.add(LintCode::DpWithoutDotProduct, place, format!("alpha DP with RGB {rgb:?}"));
        }
        if rgb == RgbOp::SOP && !alpha.is_transcendental() {
            let place = self.field(index, 5, AluRgbaInst::RGB_OP);
            self.add(LintCode::SopWithoutFunction, place, format!("SOP with alpha {alpha:?}"));
        }
        // A half that writes nothing has no result to modify; compilers leave OMOD at 7 there.
        let wanted = inst.result_channels();
        let selects = matches!(rgb, RgbOp::MIN | RgbOp::MAX | RgbOp::CMP | RgbOp::CND);
        if inst.omod(Half::Rgb) == Omod::DISABLED && !selects && wanted & 7 != 0 {
            let place = self.field(index, 3, AluRgbInst::OMOD);
            self.add(LintCode::OmodDisabled, place, format!("OMOD 7 on RGB {rgb:?}"));
        }
        let selects = matches!(alpha, AlphaOp::MIN | AlphaOp::MAX | AlphaOp::CMP | AlphaOp::CND);
        if inst.omod(Half::Alpha) == Omod::DISABLED && !selects && wanted & 8 != 0 {
            let place = self.field(index, 4, AluAlphaInst::OMOD);
            self.add(LintCode::OmodDisabled, place, format!("OMOD 7 on alpha {alpha:?}"));
        }
        self.check_derivative(index, inst);
        if inst.ty() == InstType::OUT {
            self.check_out(index);
        }
    }

    fn check_derivative(&mut self, index: usize, inst: Instruction) {
        let wanted = inst.result_channels();
        let (rgb, alpha) = (inst.rgba_inst().rgb_op(), inst.alpha_inst().alpha_op());
        for slot in [Slot::A, Slot::C] {
            if rgb.is_derivative() && wanted & 7 != 0 {
                let operand = inst.rgb_operand(slot);
                // Compilers leave the bits of an unused operand C at 0.
                let unwritten = slot == Slot::C && operand.swiz == [Swiz::R; 3];
                let crossed = !unwritten
                    && (0..3u8).any(|i| {
                        wanted >> i & 1 != 0 && !straight(operand.swiz[usize::from(i)], i)
                    });
                let [sel, swiz] = match slot {
                    Slot::A => [
                        self.field(index, 3, AluRgbInst::RGB_SEL_A),
                        self.field(index, 3, AluRgbInst::RED_SWIZ_A),
                    ],
                    _ => [
                        self.field(index, 5, AluRgbaInst::RGB_SEL_C),
                        self.field(index, 5, AluRgbaInst::RED_SWIZ_C),
                    ],
                };
                self.add_derivative("RGB", slot, operand.sel, crossed, [sel, swiz]);
            }
            if alpha.is_derivative() && wanted & 8 != 0 {
                let operand = inst.alpha_operand(slot);
                let unwritten = slot == Slot::C && operand.swiz == [Swiz::R];
                let crossed = !unwritten && !straight(operand.swiz[0], 3);
                let [sel, swiz] = match slot {
                    Slot::A => [
                        self.field(index, 4, AluAlphaInst::ALPHA_SEL_A),
                        self.field(index, 4, AluAlphaInst::ALPHA_SWIZ_A),
                    ],
                    _ => [
                        self.field(index, 5, AluRgbaInst::ALPHA_SEL_C),
                        self.field(index, 5, AluRgbaInst::ALPHA_SWIZ_C),
                    ],
                };
                self.add_derivative("alpha", slot, operand.sel, crossed, [sel, swiz]);
            }
        }
    }

    fn add_derivative(
        &mut self,
        half: &str,
        slot: Slot,
        sel: Sel,
        crossed: bool,
        [place, swizzle]: [Location; 2],
    ) {
        if sel != Sel::SRC0 {
            let message = format!("operand {half} {slot:?} is not src0");
            self.add(LintCode::DerivativeOperands, place, message);
        } else if crossed {
            let message = format!("operand {half} {slot:?} is swizzled, which has no effect");
            self.add(LintCode::DerivativeOperands, swizzle, message);
        }
    }

    /// Reports a program that writes nothing.
    fn check_any_output(&mut self) {
        let writes = |index: usize| {
            let info = &self.graph.infos[index];
            let output = info.depth || info.outputs.iter().any(|output| output.1 != 0);
            output && self.program.code[index].ty() == InstType::OUT
        };
        if !self.reached().any(writes) {
            let message = "nothing is written to a render target or depth";
            self.add(LintCode::NoOutput, Location::Program, message.into());
        }
    }

    fn check_out(&mut self, index: usize) {
        let info = &self.graph.infos[index];
        let outputs = info.outputs;
        if outputs.iter().all(|output| output.1 == 0) && !info.depth {
            let place = self.field(index, 0, CmnInst::RGB_OMASK);
            self.add(LintCode::OutWithoutOutput, place, "OUT without an output".into());
        }
        for (half, (target, mask)) in outputs.into_iter().enumerate() {
            let formats = self.state.map(|state| state.out_fmt).unwrap_or_default();
            let format = formats.get(usize::from(target)).copied().flatten();
            if mask != 0 && format.is_some_and(|f| f.out_fmt() == OutFormat::UNUSED) {
                let place = if half == 0 {
                    self.field(index, 3, AluRgbInst::TARGET)
                } else {
                    self.field(index, 4, AluAlphaInst::TARGET)
                };
                let letter = char::from(b"ABCD"[usize::from(target & 3)]);
                let message = format!("render target {letter} is not used (US_OUT_FMT)");
                self.add(LintCode::UnusedTarget, place, message);
            }
        }
    }

    fn check_tex(&mut self, index: usize, inst: Instruction) {
        let tex = inst.tex_inst();
        let op = tex.inst();
        if !op.is_named() {
            let place = self.field(index, 1, TexInst::INST);
            self.add(LintCode::ReservedTexOp, place, format!("INST {} is reserved", op.code()));
            return;
        }
        let unit = tex.tex_id();
        let samples = !matches!(op, TexOp::NOP | TexOp::TEXKILL);
        if samples && self.assumptions.units.is_some_and(|units| units >> unit & 1 == 0) {
            let place = self.field(index, 1, TexInst::TEX_ID);
            self.add(LintCode::UnitDisabled, place, format!("texture unit {unit} is not enabled"));
        }
    }

    fn check_fc(&mut self, index: usize, inst: Instruction) {
        let fc = inst.fc_inst();
        if !self.program.full_fc && (fc.op() != FcOp::JUMP || fc.a_op() != AddrOp::NONE) {
            let edit = Edit::state(EditTarget::FcCtrl, r500_isa::state::UsFcCtrl::FULL_FC_EN, true);
            let fix =
                Fix { text: "set US_FC_CTRL.FULL_FC_EN".into(), safe: false, edits: vec![edit] };
            let message = format!("{:?} needs full flow control", fc.op());
            let place = self.field(index, 2, FcInst::OP);
            self.add_fixed(LintCode::PartialFlowControl, place, message, fix);
        }
        let looked = self.graph.infos[index].predicate_reads != 0;
        if looked && inst.cmn().rgb_pred_sel() == PredSel::RGBA {
            let place = self.field(index, 0, CmnInst::RGB_PRED_SEL);
            self.add(LintCode::FcPredicateRgba, place, "PRED_SEL RGBA on flow control".into());
        }
    }

    fn check_predicates(&mut self, index: usize, inst: Instruction) {
        let cmn = inst.cmn();
        if !cmn.rgb_pred_sel().is_named() {
            let place = self.field(index, 0, CmnInst::RGB_PRED_SEL);
            let message = format!("RGB_PRED_SEL {} is reserved", cmn.rgb_pred_sel().code());
            self.add(LintCode::ReservedPredicate, place, message);
        }
        if !cmn.alpha_pred_sel().is_named() {
            let place = self.field(index, 0, CmnInst::ALPHA_PRED_SEL);
            let message = format!("ALPHA_PRED_SEL {} is reserved", cmn.alpha_pred_sel().code());
            self.add(LintCode::ReservedPredicate, place, message);
        }
    }

    /// Checks addresses with aL, and US_PIXSIZE.
    fn check_ranges(&mut self, index: usize, highest: i32) {
        let Some(&visit) = self.graph.abstract_state(index) else { return };
        let info = self.graph.infos[index];
        let pixsize = self.program.pixsize.map(i32::from);
        for access in info.reads.iter().chain(info.writes.iter()) {
            let (min, max) = span(access, visit.al);
            self.check_relative(index, access, (min, max), TEMPORARIES);
            let Some(last) = pixsize.filter(|&last| max > last) else { continue };
            let edit = Edit::state(
                EditTarget::Pixsize,
                UsPixsize::PIX_SIZE,
                u8::try_from(highest).unwrap_or(127),
            );
            let text = format!("set US_PIXSIZE to {highest}");
            let fix = Fix { text, safe: true, edits: vec![edit] };
            let place = self.place_of(index, access.field);
            let message = format!("temp[{}] is above US_PIXSIZE {last}", max.min(127));
            self.add_fixed(LintCode::PastPixsize, place, message, fix);
        }
        for access in info.constants.iter() {
            self.check_relative(index, access, span(access, visit.al), CONSTANTS);
        }
    }

    fn check_relative(&mut self, index: usize, access: &Access, span: (i32, i32), count: usize) {
        let last = i32::try_from(count).unwrap_or(i32::MAX) - 1;
        if access.relative && (span.0 < 0 || span.1 > last) {
            let moved = if span.0 < 0 { span.0 } else { span.1 };
            let message = format!("aL moves the address to {moved}, the last is {last}");
            let place = self.place_of(index, access.field);
            self.add(LintCode::RelativeRange, place, message);
        }
    }

    fn check_stray(&mut self, index: usize, inst: Instruction) {
        for (word, (&dword, named)) in inst.0.iter().zip(named_bits(inst.ty())).enumerate() {
            if dword & !named != 0 {
                let place = self.at(index);
                let message =
                    format!("dword {word} has bits {:#010x} that no field names", dword & !named);
                self.add(LintCode::StrayBits, place, message);
            }
        }
    }

    /// Returns the highest temporary that an instruction names, as far as it is known.
    fn highest_temporary(&self) -> i32 {
        let mut highest = 0;
        for index in self.reached() {
            let Some(visit) = self.graph.abstract_state(index) else { continue };
            let info = &self.graph.infos[index];
            for access in info.reads.iter().chain(info.writes.iter()) {
                highest = highest.max(span(access, visit.al).1);
            }
        }
        highest.min(127)
    }

    /// Returns the address field of an access.
    pub(super) fn place_of(&self, index: usize, via: OperandField) -> Location {
        match via {
            OperandField::RgbSource0 => self.field(index, 1, AluRgbAddr::ADDR0),
            OperandField::RgbSource1 => self.field(index, 1, AluRgbAddr::ADDR1),
            OperandField::RgbSource2 => self.field(index, 1, AluRgbAddr::ADDR2),
            OperandField::AlphaSource0 => self.field(index, 2, AluAlphaAddr::ADDR0),
            OperandField::AlphaSource1 => self.field(index, 2, AluAlphaAddr::ADDR1),
            OperandField::AlphaSource2 => self.field(index, 2, AluAlphaAddr::ADDR2),
            OperandField::RgbDest => self.field(index, 5, AluRgbaInst::RGB_ADDRD),
            OperandField::AlphaDest => self.field(index, 4, AluAlphaInst::ALPHA_ADDRD),
            OperandField::TexSource => self.field(index, 2, TexAddr::SRC_ADDR),
            OperandField::TexDest => self.field(index, 2, TexAddr::DST_ADDR),
            OperandField::Dx => self.field(index, 3, TexAddrDxdy::DX_ADDR),
            OperandField::Dy => self.field(index, 3, TexAddrDxdy::DY_ADDR),
        }
    }
}

/// Returns the least and the greatest address of an access, as far as aL is known.
pub(super) fn span(access: &Access, al: AlRange) -> (i32, i32) {
    let addr = i32::from(access.addr);
    if access.relative { (addr + al.min, addr + al.max) } else { (addr, addr) }
}

/// Returns whether a swizzle selects a channel itself, or has no effect.
fn straight(swiz: Swiz, channel: u8) -> bool {
    swiz.code() == channel || swiz == Swiz::UNUSED
}

/// Returns the bits of an instruction's dwords that some field names.
fn named_bits(ty: InstType) -> [u32; 6] {
    const CMN: u32 = CmnInst::REGISTER.named_bits();
    const FC: [u32; 6] =
        [CMN, 0, FcInst::REGISTER.named_bits(), FcAddr::REGISTER.named_bits(), 0, 0];
    const TEX: [u32; 6] = [
        CMN,
        TexInst::REGISTER.named_bits(),
        TexAddr::REGISTER.named_bits(),
        TexAddrDxdy::REGISTER.named_bits(),
        0,
        0,
    ];
    const ALU: [u32; 6] = [
        CMN,
        AluRgbAddr::REGISTER.named_bits(),
        AluAlphaAddr::REGISTER.named_bits(),
        AluRgbInst::REGISTER.named_bits(),
        AluAlphaInst::REGISTER.named_bits(),
        AluRgbaInst::REGISTER.named_bits(),
    ];
    match ty {
        InstType::FC => FC,
        InstType::TEX => TEX,
        _ => ALU,
    }
}
