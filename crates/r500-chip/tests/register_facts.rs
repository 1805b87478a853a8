//! Compares the tables with the facts of the register documents: names, addresses, fields, bits, values, in both
//! directions.
//!
//! `register_facts.tsv` holds the facts; its head explains its columns. `kernel_register_facts.tsv` holds those of registers that the
//! documents do not have.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeMap;

use r500_chip::{Access, Mapping, at, at_text, mappings, named};
use r500_isa::{Field, FieldKind};

const FACTS: &str = include_str!("register_facts.tsv");

const KERNEL_FACTS: &str = include_str!("kernel_register_facts.tsv");

/// Fields of the tables that the extract of the documents lacks: register, field, evidence.
const BEYOND_FIELDS: &[(&str, &str, &str)] = &[
    ("VAP_PVS_FLOW_CNTL_ADDRS", "PVS_FC_ACT_ADRS", "R300_PVS_FC_ACT_ADRS in r300_reg.h"),
    ("VAP_PVS_FLOW_CNTL_ADDRS", "PVS_FC_LOOP_CNT_JMP_INST", "R300_PVS_FC_LOOP_CNT_JMP_INST"),
    ("VAP_PVS_FLOW_CNTL_ADDRS", "PVS_FC_LAST_INST", "R300_PVS_FC_LAST_INST"),
    ("VAP_PVS_FLOW_CNTL_ADDRS", "PVS_FC_RTN_INST", "R300_PVS_FC_RTN_INST"),
    ("GA_LINE_STIPPLE_VALUE", "STIPPLE_VALUE", "one value in the whole register"),
    ("WAIT_UNTIL", "WAIT_CRTC_PFLIP", "RADEON_WAIT_CRTC_PFLIP in radeon_reg.h"),
    ("WAIT_UNTIL", "WAIT_DMA_GUI_IDLE", "RADEON_WAIT_DMA_GUI_IDLE in radeon_reg.h"),
    ("WAIT_UNTIL", "WAIT_2D_IDLE", "WAIT_2D_IDLE in rv515d.h"),
    ("WAIT_UNTIL", "WAIT_3D_IDLE", "WAIT_3D_IDLE in rv515d.h"),
    ("WAIT_UNTIL", "WAIT_HOST_IDLECLEAN", "RADEON_WAIT_HOST_IDLECLEAN in radeon_reg.h"),
];

/// Registers of the tables that the documents lack: name, evidence.
const BEYOND_REGISTERS: &[(&str, &str)] = &[
    ("FG_ZBREG_DEST", "RV530_FG_ZBREG_DEST in r300_reg.h"),
    ("GA_FILL_G", "R500_GA_FILL_G in r300_reg.h"),
];

/// A register of the facts.
#[derive(Debug)]
struct Fact<'a> {
    first: u32,
    alias: Option<u32>,
    last: u32,
    count: u32,
    access: &'a str,
    fields: Vec<FieldFact<'a>>,
}

#[derive(Debug)]
struct FieldFact<'a> {
    name: &'a str,
    hi: u8,
    lo: u8,
    values: Vec<(u32, &'a str)>,
}

fn hex(text: &str) -> u32 {
    u32::from_str_radix(text, 16).unwrap()
}

fn facts(text: &str) -> BTreeMap<&str, Fact<'_>> {
    let mut facts = BTreeMap::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        if let Some(addresses) = columns[1].strip_prefix('@') {
            let (first, last) = addresses.split_once('-').unwrap_or((addresses, ""));
            let (first, alias) = match first.split_once('|') {
                Some((first, alias)) => (first, Some(hex(alias))),
                None => (first, None),
            };
            let first = hex(first);
            let last = if last.is_empty() { first } else { hex(last) };
            let count = columns[2].parse().unwrap();
            let fact = Fact { first, alias, last, count, access: columns[3], fields: vec![] };
            assert!(facts.insert(columns[0], fact).is_none(), "{line}: twice");
        } else {
            let values = columns.get(4).map_or("", |values| values).split_ascii_whitespace();
            let values = values.map(|value| {
                let end = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
                (value[..end].parse().unwrap(), &value[end..])
            });
            facts.get_mut(columns[0]).expect("a register's line first").fields.push(FieldFact {
                name: columns[1],
                hi: columns[2].parse().unwrap(),
                lo: columns[3].parse().unwrap(),
                values: values.collect(),
            });
        }
    }
    facts
}

fn differences(facts: &BTreeMap<&str, Fact<'_>>) -> Vec<String> {
    let mut out = Vec::new();
    for mapping in mappings() {
        let name = mapping.register.name;
        match facts.get(name) {
            None if BEYOND_REGISTERS.iter().any(|(beyond, _)| *beyond == name) => {}
            None => out.push(format!("{name}: not in the facts")),
            Some(fact) => {
                compare_addresses(mapping, fact, &mut out);
                // The tests of `r500_isa` compare the fields of its registers.
                if r500_isa::register(name).is_none() {
                    compare_fields(name, mapping.register.fields, &fact.fields, &mut out);
                }
            }
        }
    }
    for name in facts.keys() {
        if !mappings().any(|mapping| mapping.register.name == *name) {
            out.push(format!("{name}: not in the tables"));
        }
    }
    out
}

fn compare_addresses(mapping: &'static Mapping, fact: &Fact<'_>, out: &mut Vec<String>) {
    let name = mapping.register.name;
    let last = mapping.address_of(mapping.count - 1);
    if (mapping.address, last, mapping.alias) != (fact.first, fact.last, fact.alias) {
        out.push(format!("{name}: {:#x} to {last:#x}, {:?}", mapping.address, mapping.alias));
    }
    if mapping.count != fact.count {
        out.push(format!("{name}: {} of it, not {}", mapping.count, fact.count));
    }
    let access = match mapping.access {
        Access::ReadWrite => "R/W",
        Access::Read => "R",
        Access::Write => "W",
    };
    if access != fact.access {
        out.push(format!("{name}: access {access}"));
    }
}

fn compare_fields(name: &str, fields: &[Field], facts: &[FieldFact<'_>], out: &mut Vec<String>) {
    let known = |field: &&Field| {
        !BEYOND_FIELDS
            .iter()
            .any(|(register, beyond, _)| (*register, *beyond) == (name, field.name))
    };
    let fields: Vec<&Field> = fields.iter().filter(known).collect();
    let names = |names: Vec<&str>| names.join(" ");
    let (table, fact) = (
        names(fields.iter().map(|field| field.name).collect()),
        names(facts.iter().map(|field| field.name).collect()),
    );
    if table != fact {
        out.push(format!("{name}: fields {table}, facts {fact}"));
        return;
    }
    for (field, fact) in fields.iter().zip(facts) {
        let label = format!("{name}.{}", field.name);
        if (field.hi, field.lo) != (fact.hi, fact.lo) {
            out.push(format!("{label}: bits {}:{}", field.hi, field.lo));
        }
        if field.meaning.is_empty() || field.values.iter().any(|value| value.meaning.is_empty()) {
            out.push(format!("{label}: no meaning"));
        }
        for (code, text) in &fact.values {
            match (field.value(*code), *text) {
                (None, "!") => {}
                (None, "") if field.kind == FieldKind::Flag && field.values.is_empty() => {}
                (Some(_), "") => {}
                (Some(value), name) if name == format!("={}", value.name) => {}
                (value, _) => out.push(format!("{label} = {code}: {value:?}, fact {text:?}")),
            }
        }
        let listed = |code| fact.values.iter().any(|(known, _)| *known == code);
        let unlisted = field.values.iter().filter(|value| !listed(value.code));
        // If the facts list no values for a field, its values come from a header that the type names.
        let unlisted = unlisted.filter(|_| !fact.values.is_empty() && !is_shared_type(&label));
        out.extend(unlisted.map(|value| format!("{label} = {}: not in the facts", value.code)));
    }
}

/// The facts list the byte orders of vertex data with 0 and 1 merged.
fn is_shared_type(label: &str) -> bool {
    label == "VAP_CNTL_STATUS.VC_SWAP"
}

/// Returns the facts of the documents and of the kernel.
fn all_facts(documents: &str) -> BTreeMap<&str, Fact<'_>> {
    let mut all = facts(documents);
    for (name, fact) in facts(KERNEL_FACTS) {
        assert!(all.insert(name, fact).is_none(), "{name}: in both");
    }
    all
}

#[test]
fn tables_equal_facts() {
    let differences = differences(&all_facts(FACTS));
    assert!(differences.is_empty(), "{}:\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn facts_are_complete() {
    let facts = facts(FACTS);
    assert_eq!(facts.len(), 204, "registers");
    assert_eq!(facts.values().map(|fact| fact.fields.len()).sum::<usize>(), FIELDS);
}

/// 624 rows of the documents, three of which describe several fields.
const FIELDS: usize = 640;

#[test]
fn comparison_reports_every_kind_of_difference() {
    let cases = [
        ("GA_OFFSET\t@4290", "GA_OFFSET\t@4294", "GA_OFFSET: 0x4290"),
        ("WAIT_UNTIL\t@1720", "WAIT\t@1720", "WAIT_UNTIL: not in the facts"),
        ("GA_OFFSET\tX_OFFSET\t15\t0", "GA_OFFSET\tX_OFFSET\t14\t0", "X_OFFSET: bits 15:0"),
        ("GA_OFFSET\tX_OFFSET\t15\t0\n", "", "GA_OFFSET: fields"),
        ("RS_IP\t@4074-40b0\t16", "RS_IP\t@4074-40b0\t15", "RS_IP: 16 of it"),
        ("3=ARGB1555", "3=ARGB555", "COLORFORMAT = 3"),
        ("3=ARGB1555 ", "", "COLORFORMAT = 3: not in the facts"),
        ("\t1\tW\tMISC\nWAIT", "\t1\tR/W\tMISC\nWAIT", "WAIT_UNTIL: access W"),
    ];
    for (fact, instead, complaint) in cases {
        assert_eq!(FACTS.matches(fact).count(), 1, "{fact:?} occurs once in the facts");
        let mut altered = FACTS.replace(fact, instead);
        if instead.starts_with("WAIT\t") {
            altered = altered.replace("\nWAIT_UNTIL\t", "\nWAIT\t");
        }
        let found = differences(&all_facts(&altered));
        assert!(found.iter().any(|d| d.contains(complaint)), "{complaint}: {found:?}");
    }
}

#[test]
fn every_register_is_found_by_address_and_name() {
    for place in mappings().flat_map(Mapping::members) {
        let found = at(place.address()).expect("an address of the tables");
        // Instruction words share addresses; the lookup returns the first.
        if place.address() < 0x9000 {
            assert_eq!(found, place);
        } else {
            assert_eq!(found.address(), place.address());
        }
        assert_eq!(named(&place.to_string()), Some(place), "{place}");
        assert_eq!(named(&place.to_string().to_lowercase()), Some(place), "{place}");
    }
    assert_eq!(at(0x2098), named("VAP_VPORT_XSCALE"), "second address");
    for address in [0, 0x1d99, 0x2082, 0x4000, 0xc000, u32::MAX] {
        assert_eq!(at(address), None, "{address:#x}");
    }
    for name in [
        "",
        "TX_FILTER0",
        "TX_FILTER0_16",
        "TX_FILTER0_03",
        "TX_FILTER0_+3",
        "SU_CULL_MODE_0",
        "VAP_VTX_AOS_ATTR10",
    ] {
        assert_eq!(named(name), None, "{name}");
    }
    assert_eq!(named("VAP_VTX_AOS_ADDR3").unwrap().address(), 0x20d8);
    assert_eq!(named("VAP_VTX_AOS_ATTR23").unwrap().address(), 0x20d0);
}

/// Names and addresses as r300_reg.h (Mesa) and radeon_reg.h (xf86-video-ati) have them.
#[test]
fn names_that_only_drivers_have_are_found() {
    let cases = [
        ("R300_SE_VPORT_ZOFFSET", 0x1dac, "VAP_VPORT_ZOFFSET"),
        ("R300_VAP_OUTPUT_VTX_FMT_1", 0x2094, "VAP_OUT_VTX_FMT_1"),
        ("R500_TX_FILTER_4", 0x4110, "TX_FILTER4"),
        ("R300_SC_CLIPRECT_TL_3", 0x43c8, "SC_CLIP_3_A"),
        ("R300_SC_CLIPRECT_BR_3", 0x43cc, "SC_CLIP_3_B"),
        ("sc_scissors_tl", 0x43e0, "SC_SCISSOR0"),
        ("R500_US_FORMAT0_0", 0x4640, "US_FORMAT_0"),
        ("R500_US_FORMAT0_15", 0x467c, "US_FORMAT_15"),
        ("R300_RB3D_CBLEND", 0x4e04, "RB3D_BLENDCNTL"),
        ("R300_RB3D_ZSTENCILCNTL", 0x4f04, "ZB_ZSTENCILCNTL"),
    ];
    for (name, address, documented) in cases {
        let place = named(name).expect(name);
        assert_eq!((place.address(), place.to_string().as_str()), (address, documented), "{name}");
    }
    for address in ["@4e04", "@0x4e04", "0x4e04", "0X4E04"] {
        assert_eq!(at_text(address).expect(address).to_string(), "RB3D_BLENDCNTL");
    }
    for wrong in ["4e04", "@", "0x", "@+4e04", "@ffffffff", "@100000000"] {
        assert!(at_text(wrong).is_none(), "{wrong}");
    }
    for wrong in [
        "SC_CLIPRECT_TL_4",
        "SC_CLIPRECT_TL",
        "US_FORMAT0_16",
        "US_FORMAT0_01",
        "SE_VPORT_XSCALE_0",
    ] {
        assert!(named(wrong).is_none(), "{wrong}");
    }
}
