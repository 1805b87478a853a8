//! Round trips of every field of every register at every code: a written code is read back, and no
//! other bits change. Descriptions ([`Field`]) and typed views must agree.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use r500_isa::state::*;
use r500_isa::texture::*;
use r500_isa::words::*;
use r500_isa::{Field, FieldKind, FieldValue, Register, Word, registers};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Returns the codes to test a field with: all codes up to 16 bits; for wider fields every single
/// set bit, every single clear bit, both ends, and random codes.
fn codes(field: &Field) -> Vec<u32> {
    if field.width() <= 16 {
        return (0..=field.max()).collect();
    }
    let bits = (0..field.width()).map(|bit| 1 << bit);
    let ends = [0, field.max()];
    let random = random(u64::from(field.mask())).take(1000);
    bits.clone()
        .chain(bits.map(|b| !b))
        .chain(ends)
        .chain(random)
        .map(|c| c & field.max())
        .collect()
}

/// Returns values for the other bits of the word.
fn backgrounds(register: &Register) -> impl Iterator<Item = u32> {
    let seed = u64::from(register.named_bits()) ^ (register.fields.len() as u64) << 32;
    [0, u32::MAX, 0x5555_5555, 0xaaaa_aaaa].into_iter().chain(random(seed).take(4))
}

/// Returns random dwords.
fn random(seed: u64) -> impl Iterator<Item = u32> {
    let mut random = SplitMix64::seed_from_u64(seed);
    std::iter::from_fn(move || Some(random.next_u32()))
}

/// Returns the field's bit positions without any of the crate's arithmetic.
fn bits_of(field: &Field) -> impl Iterator<Item = u32> {
    (0..32).filter(|bit| (u32::from(field.lo)..=u32::from(field.hi)).contains(bit))
}

#[test]
fn descriptions_read_and_write_exactly_their_bits() {
    for register in registers() {
        for field in register.fields {
            assert_eq!(field.width(), bits_of(field).count() as u32);
            assert_eq!(field.mask(), bits_of(field).map(|bit| 1 << bit).sum::<u32>());
            for background in backgrounds(register) {
                for code in codes(field) {
                    let word = field.insert(background, code);
                    let mut wanted = background;
                    for (i, bit) in bits_of(field).enumerate() {
                        wanted = wanted & !(1 << bit) | (code >> i & 1) << bit;
                    }
                    let label = || format!("{}.{} = {code:#x}", register.name, field.name);
                    assert_eq!(word, wanted, "{} in {background:#010x}", label());
                    assert_eq!(field.extract(word), code, "{} in {word:#010x}", label());
                }
            }
        }
    }
}

#[test]
fn descriptions_drop_what_does_not_fit() {
    for register in registers() {
        for field in register.fields.iter().filter(|f| f.width() < 32) {
            let (word, beyond) = (0x1234_5678, field.max() + 1);
            assert_eq!(field.insert(word, beyond), field.insert(word, 0), "{}", field.name);
            assert_eq!(field.insert(word, beyond | 1), field.insert(word, 1), "{}", field.name);
        }
    }
}

/// Typed views: one function per word, because their types differ.
macro_rules! typed {
    ($($word:ident)*) => {
        /// Registers that have a typed view below.
        const TYPED: &[&Register] = &[ $( $word::REGISTER ),* ];

        /// Per typed view: sets one field through its type and returns the bits and the codes of
        /// all fields.
        const SET_ONE: &[fn(&Register, usize, u32, u32) -> (u32, Vec<u32>)] = &[ $(
            |register, index, background, code| {
                assert_eq!(register, $word::REGISTER);
                let word = $word::from_bits(background);
                let mut codes = word.codes();
                codes[index] = code;
                let word = word.with_codes(codes);
                assert_eq!(Word::bits(word), word.bits());
                (word.bits(), word.codes().to_vec())
            }
        ),* ];
    };
}

typed! {
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

#[test]
fn every_register_has_its_typed_view_tested() {
    let all: Vec<_> = registers().map(|r| r.name).collect();
    let typed: Vec<_> = TYPED.iter().map(|r| r.name).collect();
    assert_eq!(typed, all);
}

#[test]
fn typed_fields_keep_every_code_and_everything_else() {
    for (register, set_one) in TYPED.iter().zip(SET_ONE) {
        for (index, field) in register.fields.iter().enumerate() {
            for background in backgrounds(register) {
                for code in codes(field) {
                    let (bits, codes) = set_one(register, index, background, code);
                    let label = || {
                        let (register, field) = (register.name, field.name);
                        format!("{register}.{field} = {code:#x} in {background:#010x}")
                    };
                    assert_eq!(bits, field.insert(background, code), "{}", label());
                    let described: Vec<_> =
                        register.fields.iter().map(|f| f.extract(bits)).collect();
                    assert_eq!(codes, described, "{}", label());
                }
            }
        }
    }
}

#[test]
fn unnamed_bits_survive_rewriting_all_fields() {
    for (register, set_one) in TYPED.iter().zip(SET_ONE) {
        let unnamed = !register.named_bits();
        let field = &register.fields[0];
        for background in backgrounds(register) {
            let (bits, _) = set_one(register, 0, background, field.extract(background));
            assert_eq!(bits, background, "{}", register.name);
            let (bits, _) = set_one(register, 0, background, field.extract(!background));
            assert_eq!(bits & unnamed, background & unnamed, "{}", register.name);
        }
    }
}

/// Instruction words with and without unnamed bits, taken from the documents by hand.
#[test]
fn named_bits() {
    let wanted = [
        ("US_CMN_INST", 0xffff_ffff),
        ("US_ALU_RGB_ADDR", 0xffff_ffff),
        ("US_ALU_ALPHA_ADDR", 0xffff_ffff),
        ("US_ALU_RGB_INST", 0xffff_ffff),
        ("US_ALU_ALPHA_INST", 0xffff_ffff),
        ("US_ALU_RGBA_INST", 0xffff_ffff),
        ("US_TEX_INST", 0x0fcf_0000), // 27:22 and 19:16
        ("US_TEX_ADDR", 0xffff_ffff),
        ("US_TEX_ADDR_DXDY", 0xffff_ffff),
        ("US_FC_INST", 0x1f1f_fff7), // 28:24, 20:4, 2:0
        ("US_FC_ADDR", 0x81ff_1f1f), // 31, 24:16, 12:8, 4:0
        ("US_CONFIG", 0x0000_0002),
        ("US_CODE_ADDR", 0x01ff_01ff),
        ("US_FC_CTRL", 0xc000_0000),
        ("US_FC_INT_CONST", 0x00ff_ffff),
        ("US_OUT_FMT", 0x001f_ff1f),
        ("TX_OFFSET", 0xffff_ffff),
    ];
    for (name, bits) in wanted {
        assert_eq!(r500_isa::register(name).unwrap().named_bits(), bits, "{name}");
    }
}

#[test]
fn a_code_wider_than_its_field_leaves_the_neighbours_alone() {
    // Seven bits at 10:4, between RGB_OP and RGB_ADDRD_REL.
    let word = AluRgbaInst::from_bits(0).with(AluRgbaInst::RGB_ADDRD, 0xff);
    assert_eq!(word.bits(), 0x7f << 4);
    let word = AluRgbaInst::from_bits(u32::MAX).with(AluRgbaInst::RGB_ADDRD, 0x80);
    assert_eq!(word.bits(), !(0x7f << 4));
    // Nine bits at 24:16 of FC_ADDR.
    let word = FcAddr::from_bits(0).with(FcAddr::JUMP_ADDR, 0xffff);
    assert_eq!(word.bits(), 0x01ff_0000);
}

#[test]
fn signed_numbers_fill_their_type() {
    // A narrower field would need sign extension.
    for register in registers() {
        for field in register.fields.iter().filter(|f| f.kind == FieldKind::Signed) {
            assert_eq!(field.width(), 8, "{}.{}", register.name, field.name);
        }
    }
    let word = UsFcIntConst::from_bits(0xabff_0105).with(UsFcIntConst::KB, -2);
    assert_eq!((word.bits(), word.kb()), (0xabfe_0105, -2));
}

#[test]
fn flags_have_one_bit_and_names_are_found_again() {
    for register in registers() {
        assert!(!register.meaning.is_empty(), "{}", register.name);
        assert_eq!(r500_isa::register(&register.name.to_lowercase()), Some(register));
        for field in register.fields {
            let label = format!("{}.{}", register.name, field.name);
            assert!(field.kind != FieldKind::Flag || field.width() == 1, "{label}");
            assert!(!field.meaning.is_empty(), "{label}");
            let found = register.field(&field.name.to_lowercase());
            assert_eq!(found, Some(field), "{label}: another field has the same name");
            for value in field.values {
                assert_eq!(field.value(value.code), Some(value), "{label}");
                let named = |v: &&r500_isa::Value| !v.name.is_empty() && v.name == value.name;
                assert!(field.values.iter().filter(named).count() <= 1, "{label}: {}", value.name);
            }
        }
    }
    assert_eq!(r500_isa::register("US_NOTHING"), None);
}

#[test]
fn typed_fields_describe_themselves() {
    assert_eq!(CmnInst::STAT_WE.describe().name, "STAT_WE");
    assert_eq!(CmnInst::TYPE.describe().name, "TYPE");
    assert_eq!(TexAddr::DST_A_SWIZ.describe().name, "DST_A_SWIZ");
    assert_eq!(UsConfig::ZERO_TIMES_ANYTHING_EQUALS_ZERO.describe().lo, 1);
}

#[test]
fn reserved_codes_are_values() {
    use r500_isa::values::{AlphaOp, RgbOp, TexOp};
    for (code, named) in [(5, true), (6, false), (12, true), (13, false), (15, false)] {
        let word = AluRgbaInst::from_bits(0).with(AluRgbaInst::RGB_OP, RgbOp::new(code));
        assert_eq!(word.rgb_op().code(), code);
        assert_eq!(word.rgb_op().is_named(), named, "{code}");
        assert_eq!(word.bits(), u32::from(code));
    }
    assert_eq!(format!("{:?} {:?}", RgbOp::new(6), RgbOp::MDV), "RgbOp(6) MDV");
    assert!(!AlphaOp::new(4).is_named() && !TexOp::new(7).is_named());
    assert_eq!(TexOp::from_code(7).describe(), None);
}

/// The checks that every table of the crate passes at compile time.
mod soundness {
    use r500_isa::{Field, FieldKind, Register, Value};

    /// Checks a register with these fields: highest bit, lowest bit, codes of the values.
    fn check(fields: &[(u8, u8, &[u32])]) {
        let value = |code: &u32| Value { code: *code, name: "", meaning: "" };
        let field = |(hi, lo, codes): &(u8, u8, &[u32])| Field {
            name: "F",
            hi: *hi,
            lo: *lo,
            kind: FieldKind::Number,
            values: codes.iter().map(value).collect::<Vec<_>>().leak(),
            meaning: "",
        };
        let fields = fields.iter().map(field).collect::<Vec<_>>().leak();
        Register { name: "R", count: 1, meaning: "", fields }.assert_sound();
    }

    #[test]
    fn neighbours_and_full_words_pass() {
        check(&[(3, 0, &[]), (4, 4, &[0, 1]), (31, 5, &[2])]);
        check(&[(31, 0, &[0, u32::MAX])]);
        check(&[]);
    }

    #[test]
    #[should_panic(expected = "two fields share a bit")]
    fn overlap() {
        check(&[(3, 0, &[]), (8, 8, &[]), (9, 3, &[])]);
    }

    #[test]
    #[should_panic(expected = "bit range outside the word")]
    fn beyond_bit_31() {
        check(&[(32, 30, &[])]);
    }

    #[test]
    #[should_panic(expected = "bit range outside the word")]
    fn ends_exchanged() {
        check(&[(3, 4, &[])]);
    }

    #[test]
    #[should_panic(expected = "a value does not fit its field")]
    fn value_too_wide() {
        check(&[(2, 1, &[4])]);
    }

    #[test]
    #[should_panic(expected = "values must ascend")]
    fn repeated_value() {
        check(&[(2, 1, &[1, 1])]);
    }
}
