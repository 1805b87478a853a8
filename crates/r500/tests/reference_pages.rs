//! The guide's reference pages are generated from the tables: this test generates and compares them. `BLESS=1 cargo
//! test -p r500 --test reference_pages` rewrites them.
#![allow(missing_docs, clippy::unwrap_used, clippy::disallowed_methods, clippy::panic)]

use std::fmt::Write;
use std::path::Path;

use r500::isa::{Field, FieldKind, InlineConst, Register, state, texture, words};

#[test]
fn the_pages_are_those_of_the_tables() {
    let pages = [
        ("words.md", page("Instruction words", WORDS, words::REGISTERS)),
        ("state.md", page("State registers", STATE, state::REGISTERS)),
        ("textures.md", page("Texture registers", TEXTURES, texture::REGISTERS)),
        ("chip.md", page_of("Registers of the 3D engine", CHIP, &chip())),
        ("vertex.md", page("Vertex instructions", VERTEX, r500::chip::pvs::REGISTERS)),
        ("inline-constants.md", inline_constants()),
        ("findings.md", findings()),
        ("checks.md", checks()),
        ("readings.md", readings()),
        ("errors.md", errors()),
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/reference");
    for (name, text) in pages {
        let path = folder.join(name);
        if std::env::var_os("BLESS").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, text).unwrap();
            continue;
        }
        let kept = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}; BLESS=1 writes it", path.display()));
        assert!(kept == text, "{} is out of date; BLESS=1 rewrites it", path.display());
    }
}

const WORDS: &str = "\
An instruction is six dwords. Dword 0 is always `US_CMN_INST`; its `TYPE` says what the others are:

| dword | ALU, OUT | texture | flow control |
| --- | --- | --- | --- |
| 0 | `US_CMN_INST` | `US_CMN_INST` | `US_CMN_INST` |
| 1 | `US_ALU_RGB_ADDR` | `US_TEX_INST` | |
| 2 | `US_ALU_ALPHA_ADDR` | `US_TEX_ADDR` | `US_FC_INST` |
| 3 | `US_ALU_RGB_INST` | `US_TEX_ADDR_DXDY` | `US_FC_ADDR` |
| 4 | `US_ALU_ALPHA_INST` | | |
| 5 | `US_ALU_RGBA_INST` | | |
";

const STATE: &str = "\
Registers that travel with a program (`US_*`), say what the rasteriser gives it (`RS_*`), and the few of
`FG_*` and `GA_*` that concern it.
";

const TEXTURES: &str = "\
Registers of the sixteen texture units, one set a unit where a count is given.
";

const CHIP: &str = "\
Registers around the fragment processor, block by block, with their byte offsets in the register aperture. Those of the fragment
processor, its texture units, the rasteriser and the fog block have pages of their own.
";

const VERTEX: &str = "\
An instruction of a vertex program is four dwords: `PVS_DST_OPERAND`, then three sources, `PVS_SRC_OPERAND`. With `DUAL_MATH_OP` the last
is a second instruction, `PVS_DUAL_MATH_INSTRUCTION`.
";

/// Registers of the chip with their addresses, but for those with pages of their own.
fn chip() -> Vec<(&'static Register, String)> {
    use r500::chip::{cp, e2, fg, ga, gb, rb3d, rbbm, sc, su, vap, zb};
    let blocks = [
        rbbm::MAPPINGS,
        cp::MAPPINGS,
        e2::MAPPINGS,
        vap::MAPPINGS,
        gb::MAPPINGS,
        ga::MAPPINGS,
        su::MAPPINGS,
        sc::MAPPINGS,
        fg::MAPPINGS,
        rb3d::MAPPINGS,
        zb::MAPPINGS,
    ];
    let address = |mapping: &r500::chip::Mapping| {
        let last = match mapping.count {
            1 => String::new(),
            n => format!(" to `{:#06x}`", mapping.address_of(n - 1)),
        };
        let alias = mapping.alias.map_or(String::new(), |alias| format!(" and `{alias:#06x}`"));
        format!("`{:#06x}`{last}{alias}", mapping.address)
    };
    let mappings = blocks.into_iter().flatten();
    mappings.map(|mapping| (mapping.register, address(mapping))).collect()
}

fn page(title: &str, about: &str, registers: &[&'static Register]) -> String {
    let registers: Vec<_> = registers.iter().map(|register| (*register, String::new())).collect();
    page_of(title, about, &registers)
}

fn page_of(title: &str, about: &str, registers: &[(&Register, String)]) -> String {
    let mut out = format!("# {title}\n\n{GENERATED}\n\n{about}");
    for (register, address) in registers {
        let count = match register.count {
            1 => String::new(),
            n => format!(" (0 to {})", n - 1),
        };
        write!(out, "\n## {}{count}\n\n{}\n", register.name, sentence(register.meaning)).unwrap();
        if !address.is_empty() {
            writeln!(out, "\nAt {address}.").unwrap();
        }
        out += "\n| bits | field | meaning |\n| --- | --- | --- |\n";
        for field in register.fields {
            let bits = match (field.hi, field.lo) {
                (hi, lo) if hi == lo => hi.to_string(),
                (hi, lo) => format!("{hi}:{lo}"),
            };
            let meaning = cell(&sentence(field.meaning));
            writeln!(out, "| {bits} | `{}` | {meaning}{} |", field.name, values(field)).unwrap();
        }
        let unnamed = !register.named_bits();
        if unnamed != 0 {
            writeln!(out, "\nBits that no field names: `{unnamed:#010x}`. They are kept.").unwrap();
        }
    }
    out
}

fn values(field: &Field) -> String {
    let mut out = String::new();
    for value in field.values {
        let name = match value.name {
            "" => String::new(),
            name => format!("`{name}`: "),
        };
        write!(out, "<br>{} {name}{}", value.code, cell(value.meaning)).unwrap();
    }
    let all = field.max() as usize + 1;
    if field.kind == FieldKind::Choice && field.values.len() < all {
        out += "<br>others are reserved";
    }
    out
}

fn inline_constants() -> String {
    let mut out = format!(
        "# Inline constants\n\n{GENERATED}\n\n\
         A source address with bit 7 set and `CONST` clear is a number: four bits of exponent (bias 7) \
         above three bits of mantissa, exponent 0 denormal. The assembler takes the value or, as \
         `float(n)`, the code.\n\n\
         | codes | +0 | +1 | +2 | +3 | +4 | +5 | +6 | +7 |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
    );
    for row in 0..16u8 {
        write!(out, "| {} |", row * 8).unwrap();
        for column in 0..8 {
            write!(out, " {} |", InlineConst::new(row * 8 + column).value()).unwrap();
        }
        out += "\n";
    }
    out
}

fn findings() -> String {
    let mut out = format!(
        "# Findings\n\n{GENERATED}\n\n\
         What the reference engine reports of a run (`r500 render --findings`). A *hard* one says that \
         the program cannot run as written: the documents give it no meaning, and what happens is this \
         project's choice. Execution continues.\n\n\
         | finding | | what happened |\n| --- | --- | --- |\n"
    );
    for kind in r500::exec::WarningKind::ALL {
        let hard = if kind.is_hard() { "hard" } else { "" };
        let text = cell(&kind.text().replace("{}", "*N*"));
        writeln!(out, "| `{}` | {hard} | {text} |", kind.name()).unwrap();
    }
    out
}

fn checks() -> String {
    let mut out = format!(
        "# Codes of the checker\n\n{GENERATED}\n\n\
         Static findings of `r500 check`; `r500 check --explain CODE` shows the same. An \
         *error* cannot run as written: where it happens, the reference engine reports a hard \
         [finding](findings.md). A *warning* runs, but perhaps not as meant, or not so on a card. The programs \
         that have a code and just not are the checker's own tests; what stands in front of their instructions is \
         where their state differs.\n"
    );
    for &code in r500::check::LintCode::ALL {
        write!(out, "\n{}", r500::lint::page(code)).unwrap();
    }
    out
}

fn readings() -> String {
    let mut out = format!(
        "# Readings\n\n{GENERATED}\n\n\
         Rules that the documents leave open, each a named choice of the reference engine \
         (`--reading NAME=VALUE`). The first value is the default, and what every other engine does.\n"
    );
    for info in r500::exec::Readings::TABLE {
        write!(out, "\n## {}\n\n{}\n\n", info.name, info.question).unwrap();
        for (value, meaning) in info.values {
            writeln!(out, "- `{value}`: {meaning}").unwrap();
        }
        writeln!(out, "\n{}", info.evidence).unwrap();
    }
    out
}

fn errors() -> String {
    let mut out = format!(
        "# Errors and warnings of the assembler\n\n{GENERATED}\n\n\
         `r500 explain CODE` shows the same.\n"
    );
    for code in r500::asm::DiagnosticCode::ALL {
        let info = code.info();
        write!(out, "\n## {}: {}\n\n{}\n", info.name, info.title, info.explanation).unwrap();
        write!(out, "\n```text\n{}\n```\n", info.example.trim_end()).unwrap();
    }
    out
}

const GENERATED: &str = "<!-- Made from the tables by `crates/r500/tests/reference_pages.rs`. -->";

/// Returns a table's phrase as a sentence.
fn sentence(phrase: &str) -> String {
    let phrase = phrase.trim_end_matches('.');
    // Names such as aL keep their case.
    if phrase.starts_with("aL") {
        return format!("{phrase}.");
    }
    let mut chars = phrase.chars();
    let first = chars.next().map(|c| c.to_uppercase().collect::<String>()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
