//! Compares the tables with the register documents: every register, field, bit range, value and
//! name, in both directions.
//!
//! `register_documents.tsv` holds the facts of the documents; its head explains its columns.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::fmt::Write as _;

use r500_isa::values::TxFormatMsb;
use r500_isa::{Field, FieldKind, FieldValue, Register, Value, registers};

const DOCUMENTS: &str = include_str!("register_documents.tsv");

/// Facts of the tables that the documents lack.
struct Beyond {
    /// Register, field, highest bit, lowest bit, evidence.
    fields: &'static [(&'static str, &'static str, u8, u8, &'static str)],
    /// Register, field, a code that the documents reserve, evidence.
    values: &'static [(&'static str, &'static str, u32, &'static str)],
}

/// Evidence: Mesa's r300 driver, which also drives these cards, used them for S3TC textures and anisotropic filters.
const BEYOND: Beyond = Beyond {
    fields: &[
        ("TX_FILTER0", "MAX_ANISO", 23, 21, "R300_TX_MAX_ANISO_16_TO_1 = 4 << 21 in r300_reg.h"),
        ("TX_FILTER1", "DXTC_SWIZZLE_ENABLE", 21, 21, "R400_DXTC_SWIZZLE_ENABLE in r300_reg.h"),
        ("TX_FILTER1", "MAX_ANISO", 28, 23, "R500_TX_MAX_ANISO(x) = x << 23 in r300_reg.h"),
        ("TX_FILTER1", "ANISO_HIGH_QUALITY", 30, 30, "R500_TX_ANISO_HIGH_QUALITY in r300_reg.h"),
    ],
    values: &[
        ("TX_FILTER0", "MAG_FILTER", 3, "R300_TX_MAG_FILTER_ANISO = 3 << 9 in r300_reg.h"),
        ("TX_FILTER0", "MIN_FILTER", 3, "R300_TX_MIN_FILTER_ANISO = 3 << 11 in r300_reg.h"),
        ("TX_FORMAT1", "TXFORMAT", 15, "R300_TX_FORMAT_DXT1 = 0xF in r300_reg.h"),
        ("TX_FORMAT1", "TXFORMAT", 16, "R300_TX_FORMAT_DXT3 = 0x10 in r300_reg.h"),
        ("TX_FORMAT1", "TXFORMAT", 17, "R300_TX_FORMAT_DXT5 = 0x11 in r300_reg.h"),
    ],
};

#[test]
fn tables_say_what_the_documents_say() {
    let tables: Vec<_> = registers().collect();
    let differences = differences(&rows(DOCUMENTS), &tables, &BEYOND);
    assert!(
        differences.is_empty(),
        "{} differences from the register documents:\n{}",
        differences.len(),
        differences.join("\n")
    );
}

/// Checks that the fixture is complete, by counts taken from the documents.
#[test]
fn fixture_is_whole() {
    let rows = rows(DOCUMENTS);
    let registers: BTreeSet<_> = rows.iter().map(|r| r.register).collect();
    assert_eq!(registers.len(), 47, "documents");
    assert_eq!(registers.iter().filter(|r| r.starts_with("US_")).count(), 22, "US documents");
    assert_eq!(rows.iter().filter(|r| !r.msb).count(), 255, "fields");
    let values = rows.iter().filter(|r| !r.msb).map(|r| r.values.len());
    assert_eq!(values.sum::<usize>(), 737, "lines with a value");
}

/// Checks that the comparison detects a difference of every kind.
#[test]
fn comparison_sees_every_kind_of_difference() {
    let cases = [
        // (text of the documents, replacement, part of the only reported difference)
        ("US_PIXSIZE\tPIX_SIZE\t6\t0", "", "US_PIXSIZE: not documented"),
        (
            "US_PIXSIZE\tPIX_SIZE\t6\t0",
            "US_PIXSIZE\tPIX_SIZE\t7\t0",
            "PIX_SIZE: bits 6:0, documented 7:0",
        ),
        ("FG_FOG_BLEND\tENABLE\t0\t0\t0 1\n", "", "FG_FOG_BLEND.ENABLE: not documented"),
        ("FG_FOG_BLEND\tENABLE", "FG_FOG_BLEND\tENABLED", "FG_FOG_BLEND.ENABLED: not in the table"),
        ("US_W_FMT\tW_SRC", "US_Z_FMT\tW_SRC", "US_Z_FMT: not in the table"),
        ("1=WSRC_RAS", "1=WSRC_RS", "W_SRC = 1: named \"WSRC_RAS\", documented \"WSRC_RS\""),
        ("0=WSRC_US 1=WSRC_RAS", "0=WSRC_US 1", "W_SRC = 1: named \"WSRC_RAS\", documented \"\""),
        ("0=WSRC_US 1=WSRC_RAS", "0=WSRC_US 1!", "W_SRC = 1: in the table, documented as reserved"),
        ("0=WSRC_US 1=WSRC_RAS", "0=WSRC_US", "W_SRC = 1: in the table, not documented"),
        ("2=W24_FP 3!", "2=W24_FP 3=W32", "W_FMT = 3: not in the table"),
        ("2=W24_FP 3!", "2=W24_FP 4=W32", "W_FMT = 4: does not fit the field"),
        ("FN\t2\t1\t0~linear", "FN\t2\t1\t0~square", "FN = 0: \"linear\" does not say square"),
        (
            "22\t22\t0 1\nTX_FILTER1",
            "22\t22\t0 1\nTX_FILTER1\tDXTC_SWIZZLE_ENABLE\t21\t21\t0 1\nTX_FILTER1",
            "DXTC_SWIZZLE_ENABLE: no exception needed",
        ),
        ("16! 17! 18=TX_FMT_Y8", "17! 18=TX_FMT_Y8", "TXFORMAT = 16: no exception needed"),
        ("+MSB\t4\t0\t0=TX_FMT_1 ", "+MSB\t4\t0\t0=TX_FMT_2 ", "TXFORMAT+MSB = 0: named"),
    ];
    let tables: Vec<_> = registers().collect();
    for (fact, instead, complaint) in cases {
        assert_eq!(DOCUMENTS.matches(fact).count(), 1, "{fact} occurs once in the fixture");
        let altered = DOCUMENTS.replace(fact, instead);
        let found = differences(&rows(&altered), &tables, &BEYOND);
        assert!(
            found.iter().any(|d| d.contains(complaint)),
            "{fact:?} -> {instead:?}: wanted {complaint:?}, found {found:?}"
        );
    }
    let order = DOCUMENTS.replace("W_FMT\tW_FMT\t1\t0", "W_FMT\tSWAP\t1\t0");
    let order = order.replace("W_FMT\tW_SRC\t2\t2", "W_FMT\tW_FMT\t1\t0");
    let order = order.replace("W_FMT\tSWAP\t1\t0", "W_FMT\tW_SRC\t2\t2");
    let found = differences(&rows(&order), &tables, &BEYOND);
    assert!(found.iter().any(|d| d.starts_with("US_W_FMT: order of fields")), "{found:?}");
}

/// Checks that register counts match what instruction fields can address.
#[test]
fn indexed_registers_are_as_many_as_their_indices_reach() {
    let count = |name: &str| usize::from(r500_isa::register(name).unwrap().count);
    let reach = |register: &str, field: &str| {
        let field = r500_isa::register(register).unwrap().field(field).unwrap();
        field.max() as usize + 1
    };
    assert_eq!(count("US_FC_INT_CONST"), reach("US_FC_ADDR", "INT_ADDR"));
    assert_eq!(count("US_OUT_FMT"), reach("US_ALU_RGB_INST", "TARGET"));
    assert_eq!(count("RS_IP"), reach("RS_INST", "TEX_ID"));
    assert_eq!(count("RS_INST"), reach("RS_INST_COUNT", "INST_COUNT"));
    for name in [
        "US_FORMAT",
        "TX_FILTER0",
        "TX_FILTER1",
        "TX_FORMAT0",
        "TX_FORMAT1",
        "TX_FORMAT2",
        "TX_OFFSET",
        "TX_BORDER_COLOR",
        "TX_CHROMA_KEY",
    ] {
        assert_eq!(count(name), reach("US_TEX_INST", "TEX_ID"), "{name}");
    }
    assert_eq!(r500_isa::INT_CONSTANTS, reach("US_FC_ADDR", "INT_ADDR"));
    assert_eq!(r500_isa::BOOL_CONSTANTS, reach("US_FC_ADDR", "BOOL_ADDR"));
    assert_eq!(r500_isa::TEXTURE_UNITS, reach("US_TEX_INST", "TEX_ID"));
    assert_eq!(r500_isa::TARGETS, reach("US_ALU_RGB_INST", "TARGET"));
    assert_eq!(r500_isa::CONSTANTS, reach("US_ALU_RGB_ADDR", "ADDR0"));
    assert_eq!(r500_isa::TEMPORARIES, reach("US_ALU_RGBA_INST", "RGB_ADDRD"));
    assert_eq!(r500_isa::INSTRUCTION_SLOTS, reach("US_FC_ADDR", "JUMP_ADDR"));
}

/// A field of the documents.
#[derive(Clone, Debug)]
struct Row<'a> {
    register: &'a str,
    field: &'a str,
    /// Whether the values are those of `TXFORMAT` with its sixth bit set.
    msb: bool,
    hi: u8,
    lo: u8,
    values: Vec<(u32, Fact<'a>)>,
}

/// The documentation of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fact<'a> {
    Named(&'a str),
    Described(Vec<&'a str>),
    Prose,
    Reserved,
}

impl Row<'_> {
    fn label(&self) -> String {
        format!("{}.{}{}", self.register, self.field, if self.msb { "+MSB" } else { "" })
    }
}

fn rows(fixture: &str) -> Vec<Row<'_>> {
    let lines = fixture.lines().filter(|l| !l.is_empty() && !l.starts_with('#'));
    lines
        .map(|line| {
            let mut columns = line.split('\t');
            let mut next = || columns.next().expect("four columns or five");
            let (register, field, hi, lo) = (next(), next(), next(), next());
            let values = columns.next().unwrap_or_default();
            assert!(columns.next().is_none(), "five columns at most: {line}");
            let (field, msb) = match field.strip_suffix("+MSB") {
                Some(field) => (field, true),
                None => (field, false),
            };
            Row {
                register,
                field,
                msb,
                hi: hi.parse().expect("highest bit"),
                lo: lo.parse().expect("lowest bit"),
                values: values.split_ascii_whitespace().map(value).collect(),
            }
        })
        .collect()
}

fn value(text: &str) -> (u32, Fact<'_>) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (code, rest) = text.split_at(end);
    let fact = match rest.split_at_checked(1) {
        None => Fact::Prose,
        Some(("=", name)) => Fact::Named(name),
        Some(("~", words)) => Fact::Described(words.split('+').collect()),
        Some(("!", "")) => Fact::Reserved,
        _ => panic!("not a value: {text}"),
    };
    (code.parse().expect("code"), fact)
}

fn differences(documents: &[Row<'_>], tables: &[&Register], beyond: &Beyond) -> Vec<String> {
    let mut out = Vec::new();

    for name in documents.iter().map(|r| r.register).collect::<BTreeSet<_>>() {
        if !tables.iter().any(|t| t.name == name) {
            out.push(format!("{name}: not in the table"));
        }
    }
    for table in tables {
        let rows: Vec<_> = documents.iter().filter(|r| r.register == table.name).collect();
        if rows.is_empty() {
            out.push(format!("{}: not documented", table.name));
            continue;
        }
        let documented: Vec<_> = rows.iter().filter(|r| !r.msb).map(|r| r.field).collect();
        let known = |field: &Field| {
            beyond.fields.iter().any(|(register, name, hi, lo, _)| {
                (*register, *name, *hi, *lo) == (table.name, field.name, field.hi, field.lo)
            })
        };
        let present: Vec<_> = table.fields.iter().filter(|f| !known(f)).map(|f| f.name).collect();
        let undocumented = present.iter().filter(|f| !documented.contains(f));
        out.extend(undocumented.map(|f| format!("{}.{f}: not documented", table.name)));
        let missing = documented.iter().filter(|f| !present.contains(f));
        out.extend(missing.map(|f| format!("{}.{f}: not in the table", table.name)));
        let sorted = |names: &[&'static str]| names.iter().copied().collect::<BTreeSet<_>>();
        let same = sorted(&present).iter().eq(&documented.iter().copied().collect::<BTreeSet<_>>());
        if same && present != documented {
            out.push(format!(
                "{}: order of fields {present:?}, documented {documented:?}",
                table.name
            ));
        }
        for row in rows {
            if let Some(field) = table.fields.iter().find(|f| f.name == row.field) {
                compare_field(row, field, beyond, &mut out);
            }
        }
    }
    for (register, field, hi, lo, evidence) in beyond.fields {
        let table = tables.iter().find(|t| t.name == *register);
        let documented = documents.iter().any(|r| (r.register, r.field) == (*register, *field));
        let bits = table.and_then(|t| t.field(field)).map(|f| (f.hi, f.lo));
        if documented || bits != Some((*hi, *lo)) {
            out.push(format!("{register}.{field}: no exception needed ({evidence})"));
        }
    }
    for (register, field, code, evidence) in beyond.values {
        let reserved = documents.iter().any(|r| {
            (r.register, r.field, r.msb) == (*register, *field, false)
                && r.values.contains(&(*code, Fact::Reserved))
        });
        if !reserved {
            out.push(format!("{register}.{field} = {code}: no exception needed ({evidence})"));
        }
    }
    out
}

fn compare_field(row: &Row<'_>, field: &Field, beyond: &Beyond, out: &mut Vec<String>) {
    let label = row.label();
    if (row.hi, row.lo) != (field.hi, field.lo) {
        out.push(format!(
            "{label}: bits {}:{}, documented {}:{}",
            field.hi, field.lo, row.hi, row.lo
        ));
    }
    let table = if row.msb { TxFormatMsb::VALUES } else { field.values };
    for (code, fact) in &row.values {
        if *code > field.max() {
            out.push(format!("{label} = {code}: does not fit the field"));
        }
        let exempt = beyond
            .values
            .iter()
            .any(|(r, f, c, _)| (*r, *f, *c) == (row.register, row.field, *code) && !row.msb);
        match (table.iter().find(|v| v.code == *code), fact) {
            (None, Fact::Reserved) => {}
            (None, Fact::Prose) if field.kind == FieldKind::Flag && table.is_empty() => {}
            (None, _) => out.push(format!("{label} = {code}: not in the table")),
            (Some(_), Fact::Reserved) if exempt => {}
            (Some(_), Fact::Reserved) => {
                out.push(format!("{label} = {code}: in the table, documented as reserved"));
            }
            (Some(value), fact) => compare_value(&label, value, fact, out),
        }
    }
    let undocumented = table.iter().filter(|v| !row.values.iter().any(|(code, _)| *code == v.code));
    out.extend(undocumented.map(|v| format!("{label} = {}: in the table, not documented", v.code)));
}

fn compare_value(label: &str, value: &Value, fact: &Fact<'_>, out: &mut Vec<String>) {
    let name = if let Fact::Named(name) = fact { *name } else { "" };
    if value.name != name {
        out.push(format!("{label} = {}: named {:?}, documented {name:?}", value.code, value.name));
    }
    if value.meaning.is_empty() {
        out.push(format!("{label} = {}: no meaning", value.code));
    }
    if let Fact::Described(wanted) = fact {
        let mut words = value.meaning.split([' ', ',', ';', ':', '(', ')', '*', '-']);
        let mut missing = String::new();
        for word in wanted {
            if !words.any(|w| w.eq_ignore_ascii_case(word)) {
                let _ = write!(missing, " {word}");
            }
        }
        if !missing.is_empty() {
            out.push(format!(
                "{label} = {}: {:?} does not say{missing}",
                value.code, value.meaning
            ));
        }
    }
}
