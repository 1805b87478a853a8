//! `r500 explain`.

use super::r500;

#[test]
fn every_diagnostic_has_a_page() {
    for code in r500::asm::DiagnosticCode::ALL {
        r500(&["explain", code.name()]).status(0).shows(code.name());
    }
}

/// The word is one that the kernel printed for a card that hung: 0x80010140 is bits 31, 16, 8 and 64 free entries (`rv515d.h`).
#[test]
fn registers_of_the_kernels_messages_are_explained() {
    for what in [
        &["RBBM_STATUS=0x80010140"][..],
        &["0x80010140", "--as", "RADEON_RBBM_STATUS"],
        &["0x0e40=0x80010140"],
        &["@e40=0x80010140"],
        &["rbbm_status=80010140"],
    ] {
        let run = r500(&[&["explain"], what].concat()).status(0);
        let text = run.text();
        for (field, value) in [
            ("CMDFIFO_AVAIL", "64"),
            ("HIRQ_ON_RBB", "1"),
            ("CP_CMDSTRM_BUSY", "1"),
            ("GUI_ACTIVE", "1"),
            ("E2_BUSY", "0"),
        ] {
            let line = text.lines().find(|line| line.contains(field)).unwrap();
            assert!(line.split_whitespace().any(|word| word == value), "{line}");
        }
    }
    for (what, address) in [
        ("CP_STAT", "0x07c0"),
        ("RADEON_CP_RB_WPTR", "0x0714"),
        ("R300_CP_RESYNC_ADDR", "0x0778"),
        ("@0e40", "0x0e40"),
        ("0xe40", "0x0e40"),
        ("RADEON_ISYNC_CNTL", "0x1724"),
        ("RADEON_DP_GUI_MASTER_CNTL", "0x146c"),
        ("R300_DSTCACHE_CTLSTAT", "0x1714"),
        ("RADEON_WAIT_UNTIL", "0x1720"),
        ("R300_SC_SCISSORS_TL", "0x43e0"),
        ("R500_US_FORMAT0_3", "0x464c"),
        ("R500_GA_FILL_G", "0x4224"),
    ] {
        r500(&["explain", what]).status(0).shows(address);
    }
    // A member of a set has its own address.
    r500(&["explain", "RADEON_SCRATCH_REG2"]).status(0).shows("SCRATCH_REG");
}
