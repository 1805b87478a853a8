use super::{decode, encode, to_linear8};

/// The bits of the 256 values, computed independently of this code with decimals of 80 digits and
/// rounded to float32 once.
#[rustfmt::skip]
const WANT: [u32; 256] = [
    0x0000_0000, 0x399f_22b4, 0x3a1f_22b4, 0x3a6e_b40e, 0x3a9f_22b4, 0x3ac6_eb61, 0x3aee_b40e, 0x3b0b_3e5d,
    0x3b1f_22b4, 0x3b33_070a, 0x3b46_eb61, 0x3b5b_518e, 0x3b70_f18f, 0x3b83_e1c6, 0x3b8f_e616, 0x3b9c_87fd,
    0x3ba9_c9b6, 0x3bb7_ad6f, 0x3bc6_354a, 0x3bd5_6360, 0x3be5_39c1, 0x3bf5_ba71, 0x3c03_73b6, 0x3c0c_6153,
    0x3c15_a705, 0x3c1f_45be, 0x3c29_3e6b, 0x3c33_91f7, 0x3c3e_4149, 0x3c49_4d44, 0x3c54_b6c9, 0x3c60_7eb4,
    0x3c6c_a5df, 0x3c79_2d22, 0x3c83_0aa9, 0x3c89_af9f, 0x3c90_85dc, 0x3c97_8dc6, 0x3c9e_c7c2, 0x3ca6_3433,
    0x3cad_d37d, 0x3cb5_a602, 0x3cbd_ac21, 0x3cc5_e63a, 0x3cce_54ac, 0x3cd6_f7d5, 0x3cdf_d010, 0x3ce8_ddba,
    0x3cf2_212d, 0x3cfb_9ac3, 0x3d02_a56a, 0x3d07_98dd, 0x3d0c_a7e6, 0x3d11_d2af, 0x3d17_1964, 0x3d1c_7c30,
    0x3d21_fb3c, 0x3d27_96b2, 0x3d2d_4ebb, 0x3d33_2381, 0x3d39_152b, 0x3d3f_23e4, 0x3d45_4fd2, 0x3d4b_991d,
    0x3d51_ffec, 0x3d58_8468, 0x3d5f_26b6, 0x3d65_e6fd, 0x3d6c_c563, 0x3d73_c20e, 0x3d7a_dd24, 0x3d81_0b65,
    0x3d84_b793, 0x3d88_732e, 0x3d8c_3e48, 0x3d90_18f4, 0x3d94_0344, 0x3d97_fd49, 0x3d9c_0715, 0x3da0_20ba,
    0x3da4_4a4a, 0x3da8_83d6, 0x3dac_cd6f, 0x3db1_2727, 0x3db5_910f, 0x3dba_0b38, 0x3dbe_95b3, 0x3dc3_3090,
    0x3dc7_dbe0, 0x3dcc_97b4, 0x3dd1_641d, 0x3dd6_412b, 0x3ddb_2eee, 0x3de0_2d76, 0x3de5_3cd4, 0x3dea_5d18,
    0x3def_8e51, 0x3df4_d090, 0x3dfa_23e5, 0x3dff_885e, 0x3e02_7f06, 0x3e05_427f, 0x3e08_0ea2, 0x3e0a_e377,
    0x3e0d_c104, 0x3e10_a753, 0x3e13_966a, 0x3e16_8e51, 0x3e19_8f0f, 0x3e1c_98ac, 0x3e1f_ab30, 0x3e22_c6a1,
    0x3e25_eb07, 0x3e29_186a, 0x3e2c_4ed0, 0x3e2f_8e42, 0x3e32_d6c5, 0x3e36_2862, 0x3e39_831f, 0x3e3c_e703,
    0x3e40_5417, 0x3e43_ca60, 0x3e47_49e6, 0x3e4a_d2af, 0x3e4e_64c3, 0x3e52_0029, 0x3e55_a4e7, 0x3e59_5305,
    0x3e5d_0a89, 0x3e60_cb7a, 0x3e64_95df, 0x3e68_69be, 0x3e6c_471f, 0x3e70_2e07, 0x3e74_1e7e, 0x3e78_188b,
    0x3e7c_1c33, 0x3e80_14bf, 0x3e82_2039, 0x3e84_308b, 0x3e86_45b8, 0x3e88_5fc3, 0x3e8a_7eb0, 0x3e8c_a281,
    0x3e8e_cb3b, 0x3e90_f8df, 0x3e93_2b72, 0x3e95_62f6, 0x3e97_9f6f, 0x3e99_e0e0, 0x3e9c_274c, 0x3e9e_72b6,
    0x3ea0_c321, 0x3ea3_1890, 0x3ea5_7307, 0x3ea7_d288, 0x3eaa_3716, 0x3eac_a0b6, 0x3eaf_0f68, 0x3eb1_8332,
    0x3eb3_fc15, 0x3eb6_7a14, 0x3eb8_fd34, 0x3ebb_8576, 0x3ebe_12de, 0x3ec0_a56e, 0x3ec3_3d2a, 0x3ec5_da14,
    0x3ec8_7c30, 0x3ecb_2380, 0x3ecd_d008, 0x3ed0_81ca, 0x3ed3_38c9, 0x3ed5_f508, 0x3ed8_b68a, 0x3edb_7d52,
    0x3ede_4963, 0x3ee1_1abf, 0x3ee3_f169, 0x3ee6_cd65, 0x3ee9_aeb5, 0x3eec_955b, 0x3eef_815c, 0x3ef2_72b8,
    0x3ef5_6974, 0x3ef8_6593, 0x3efb_6716, 0x3efe_6e00, 0x3f00_bd2b, 0x3f02_460c, 0x3f03_d1a5, 0x3f05_5ff7,
    0x3f06_f104, 0x3f08_84cd, 0x3f0a_1b54, 0x3f0b_b499, 0x3f0d_509f, 0x3f0e_ef65, 0x3f10_90ef, 0x3f12_353d,
    0x3f13_dc50, 0x3f15_862a, 0x3f17_32cc, 0x3f18_e237, 0x3f1a_946e, 0x3f1c_4970, 0x3f1e_0140, 0x3f1f_bbde,
    0x3f21_794d, 0x3f23_398c, 0x3f24_fc9f, 0x3f26_c285, 0x3f28_8b41, 0x3f2a_56d2, 0x3f2c_253c, 0x3f2d_f67f,
    0x3f2f_ca9c, 0x3f31_a194, 0x3f33_7b6a, 0x3f35_581d, 0x3f37_37b0, 0x3f39_1a24, 0x3f3a_ff7a, 0x3f3c_e7b2,
    0x3f3e_d2cf, 0x3f40_c0d2, 0x3f42_b1bc, 0x3f44_a58e, 0x3f46_9c49, 0x3f48_95ef, 0x3f4a_9280, 0x3f4c_91ff,
    0x3f4e_946c, 0x3f50_99c9, 0x3f52_a216, 0x3f54_ad56, 0x3f56_bb88, 0x3f58_ccaf, 0x3f5a_e0cc, 0x3f5c_f7df,
    0x3f5f_11ea, 0x3f61_2eef, 0x3f63_4eee, 0x3f65_71e9, 0x3f67_97e0, 0x3f69_c0d5, 0x3f6b_ecca, 0x3f6e_1bbf,
    0x3f70_4db5, 0x3f72_82ae, 0x3f74_baab, 0x3f76_f5ae, 0x3f79_33b6, 0x3f7b_74c6, 0x3f7d_b8de, 0x3f80_0000,
];

#[test]
fn the_table_is_correctly_rounded() {
    for (k, want) in (0..=255).zip(WANT) {
        assert_eq!(to_linear8(k).to_bits(), want, "{k}");
    }
}

/// Compares with the usual formula by the platform's power function.
#[test]
fn the_curve_agrees_with_the_power_function() {
    for k in 0..=10_000 {
        let y = f64::from(k) / 10_000.0;
        let usual = if y <= 0.04045 { y / 12.92 } else { ((y + 0.055) / 1.055).powf(2.4) };
        assert!((decode(y) - usual).abs() <= 4.0 * f64::EPSILON * usual, "{y}");
        let usual = if y <= 0.0031308 { 12.92 * y } else { 1.055 * y.powf(1.0 / 2.4) - 0.055 };
        assert!((encode(y) - usual).abs() <= 8.0 * f64::EPSILON * usual, "{y}");
    }
}

#[test]
fn inputs_outside_0_to_1_are_clamped() {
    assert_eq!(decode(0.0), 0.0);
    assert_eq!(decode(1.0), 1.0);
    assert_eq!(encode(0.0), 0.0);
    assert!((encode(1.0) - 1.0).abs() <= f64::EPSILON);
    for outside in [-1.0, f64::NEG_INFINITY, f64::NAN] {
        assert_eq!(decode(outside), 0.0);
        assert_eq!(encode(outside), 0.0);
    }
    for outside in [1.5, f64::INFINITY] {
        assert_eq!(decode(outside), decode(1.0));
        assert_eq!(encode(outside), encode(1.0));
    }
    // The smallest double is on the straight part of both curves.
    assert_eq!(encode(f64::from_bits(1)), 13.0 * f64::from_bits(1));
}

/// The linear and the curved parts meet only to the precision of the constants: a value in the gap
/// round-trips to that precision.
#[test]
fn encoding_undoes_decoding() {
    for k in 0..=1023 {
        let y = f64::from(k) / 1023.0;
        assert!((encode(decode(y)) - y).abs() < 1e-6, "{k}");
        assert_eq!((encode(decode(y)) * 1023.0).round(), f64::from(k));
    }
}
