//! Property: any dwords survive a round trip through every view, and views and descriptions agree.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500_isa::state::*;
use r500_isa::texture::*;
use r500_isa::words::*;
use r500_isa::{Half, Instruction, Slot, Word};

fuzz_target!(|bytes: [u8; 24]| {
    let inst = Instruction::from_le_bytes(&bytes);
    assert_eq!(inst.to_le_bytes(), bytes);
    instruction(inst);
    // Each dword as every word, over the bits of its neighbour.
    for (i, word) in inst.0.iter().enumerate() {
        every_view(*word, inst.0[(i + 1) % 6]);
    }
});

/// Checks the parts of an instruction: writing a part back changes nothing, and a part that is
/// written into another instruction is read back from it.
fn instruction(inst: Instruction) {
    let other = Instruction(inst.0.map(|w| !w));
    for slot in Slot::ALL {
        let operand = inst.rgb_operand(slot);
        assert_eq!(inst.with_rgb_operand(slot, operand), inst);
        assert_eq!(other.with_rgb_operand(slot, operand).rgb_operand(slot), operand);
        let operand = inst.alpha_operand(slot);
        assert_eq!(inst.with_alpha_operand(slot, operand), inst);
        assert_eq!(other.with_alpha_operand(slot, operand).alpha_operand(slot), operand);
    }
    for (n, source) in inst.sources(Half::Rgb).into_iter().enumerate() {
        assert_eq!(inst.rgb_addr().with_source(n, source), inst.rgb_addr());
        assert_eq!(other.rgb_addr().with_source(n, source).sources()[n], source);
        // A source is only one of these.
        let things = [source.constant, source.inline().is_some(), source.temporary().is_some()];
        assert_eq!(things.iter().filter(|t| **t).count(), 1);
    }
    assert_eq!(inst.layout()[0], Some(CmnInst::REGISTER));
}

macro_rules! every_view {
    ($($word:ident)*) => {
        fn every_view(bits: u32, over: u32) {
            $({
                let word = $word::from_bits(bits);
                let codes = word.codes();
                let register = $word::REGISTER;
                let named = register.named_bits();
                assert_eq!(word.bits(), bits);
                assert_eq!(word.with_codes(codes).bits(), bits);
                assert_eq!($word(over).with_codes(codes).bits(), bits & named | over & !named);
                let mut described = over;
                for (field, code) in register.fields.iter().zip(codes) {
                    assert_eq!(field.extract(bits), code);
                    described = field.insert(described, code);
                }
                assert_eq!(described, bits & named | over & !named);
            })*
        }
    };
}

every_view! {
    CmnInst AluRgbAddr AluAlphaAddr AluRgbInst AluAlphaInst AluRgbaInst TexInst TexAddr TexAddrDxdy
    FcInst FcAddr
    UsConfig UsPixsize UsCodeAddr UsCodeRange UsCodeOffset UsFcCtrl UsFcBoolConst UsFcIntConst
    UsOutFmt UsWFmt UsFormat
    RsCount RsInstCount RsIp RsInst
    FgAlphaFunc FgAlphaValue FgDepthSrc FgFogBlend FgFogFactor FgFogColorR FgFogColorG FgFogColorB
    GaUsVectorIndex GaUsVectorData
    TxEnable TxFilter0 TxFilter1 TxFilter4 TxFormat0 TxFormat1 TxFormat2 TxOffset TxBorderColor
    TxChromaKey TxInvalTags
}
