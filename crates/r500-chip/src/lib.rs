//! The R500 blocks around the fragment processor as data: registers with addresses, PM4 packets, words of vertex
//! instructions.
//!
//! One module per block: [`cp`], [`rbbm`], [`e2`], [`vap`], [`ga`], [`gb`], [`su`], [`sc`], [`rb3d`], [`zb`]. Each is a table that reads
//! like the register documents, with one row per field, defined by the same macro as the tables of [`r500_isa`]. The
//! registers of the fragment processor, its texture units, the rasteriser and the fog block (`US_*`, `TX_*`, `RS_*`,
//! `FG_*`) are in `r500_isa`; [`fragment`] adds their addresses. [`values`] holds the named values.
//!
//! ```
//! use r500_chip::{Mapped, at, named, su::SuCullMode};
//!
//! let place = at(0x42b8).unwrap();
//! assert_eq!(place.to_string(), "SU_CULL_MODE");
//! assert_eq!(named("TX_FILTER0_3").unwrap().address(), 0x440c);
//! assert_eq!(SuCullMode::MAPPING.address, 0x42b8);
//! assert!(SuCullMode(2).cull_back());
//! ```
//!
//! Source of names, addresses, bits and values: the R5xx register documents that AMD published. Rows from other sources
//! say so.
#![no_std]
#![forbid(unsafe_code)]

mod map;
mod table;

pub mod cp;
mod driver_names;
pub mod e2;
pub mod fg;
pub mod fragment;
pub mod ga;
pub mod gb;
pub mod pm4;
pub mod pvs;
pub mod rb3d;
pub mod rbbm;
pub mod sc;
pub mod su;
pub mod tiling;
pub mod values;
pub mod vap;
pub mod zb;

pub use map::{Access, Block, Indexing, Mapped, Mapping, RegisterRef};

use r500_isa::Register;

/// Size of the register aperture in bytes. Type-0 packets reach its first 32 KiB; instruction words lie above.
pub const APERTURE: u32 = 0xc000;

const TABLES: [&[&Mapping]; 12] = [
    rbbm::MAPPINGS,
    cp::MAPPINGS,
    e2::MAPPINGS,
    vap::MAPPINGS,
    gb::MAPPINGS,
    ga::MAPPINGS,
    su::MAPPINGS,
    sc::MAPPINGS,
    fragment::MAPPINGS,
    fg::MAPPINGS,
    rb3d::MAPPINGS,
    zb::MAPPINGS,
];

/// Returns every register and register set with addresses, block by block.
pub fn mappings() -> impl Iterator<Item = &'static Mapping> {
    TABLES.iter().copied().flatten().copied()
}

/// Returns every description: the instruction words and registers of `r500_isa`, the registers of this crate, packet
/// headers and vertex instruction words.
pub fn registers() -> impl Iterator<Item = &'static Register> {
    let here = mappings().filter(|mapping| !fragment::MAPPINGS.contains(mapping));
    let others = pm4::REGISTERS.iter().chain(pvs::REGISTERS).copied();
    r500_isa::registers().chain(here.map(|mapping| mapping.register)).chain(others)
}

/// Returns the addresses of a register or register set; `None` for packet headers and vertex instruction words.
#[must_use]
pub fn mapping_of(register: &Register) -> Option<&'static Mapping> {
    mappings().find(|mapping| mapping.register.name == register.name)
}

/// What drivers put before documented names.
const PREFIXES: [&str; 4] = ["R500_", "R300_", "R400_", "RADEON_"];

/// Returns a name as the documents have it: without the prefix that drivers' sources put before it, such as `R300_`. Case is ignored.
#[must_use]
pub fn without_prefix(name: &str) -> &str {
    let rest = PREFIXES.iter().find_map(|prefix| {
        let (head, rest) = name.split_at_checked(prefix.len())?;
        head.eq_ignore_ascii_case(prefix).then_some(rest)
    });
    rest.unwrap_or(name)
}

/// Returns the description with a documented name, without the index of a set, or with a [prefix](without_prefix) of drivers. Case is
/// ignored.
#[must_use]
pub fn register(name: &str) -> Option<&'static Register> {
    let name = without_prefix(name);
    registers().find(|register| register.name.eq_ignore_ascii_case(name))
}

/// Returns the register at a byte offset. If instruction words share the address, returns the first of
/// [`fragment::MAPPINGS`].
#[must_use]
pub fn at(address: u32) -> Option<RegisterRef> {
    if address >= APERTURE || !address.is_multiple_of(4) {
        return None;
    }
    let (table, row, index) = INDEX[(address / 4) as usize].split()?;
    Some(RegisterRef { mapping: TABLES[table][row], index })
}

/// Returns the register with a documented name, including the index of a member of a set (`RB3D_COLOROFFSET0`,
/// `TX_FILTER0_3`), with a [prefix](without_prefix) of drivers, or with a name that only drivers have (`SC_SCISSORS_TL`). Case is ignored.
#[must_use]
pub fn named(name: &str) -> Option<RegisterRef> {
    let name = without_prefix(name);
    documented(name).or_else(|| of_drivers(name))
}

/// Returns the register at an address that is written as `@4e04`, `@0x4e04` or `0x4e04`, in bytes.
#[must_use]
pub fn at_text(address: &str) -> Option<RegisterRef> {
    let (marked, digits) = match address.strip_prefix('@') {
        Some(digits) => (true, digits),
        None => (false, address),
    };
    let hexadecimal = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let digits = hexadecimal.or_else(|| marked.then_some(digits))?;
    // A sign is none of its digits.
    let digits = Some(digits).filter(|digits| !digits.starts_with('+'))?;
    at(u32::from_str_radix(digits, 16).ok()?)
}

/// Returns what follows `head`, in any case.
fn after<'a>(name: &'a str, head: &str) -> Option<&'a str> {
    let (start, tail) = name.split_at_checked(head.len())?;
    start.eq_ignore_ascii_case(head).then_some(tail)
}

/// Returns the index of a member of a set, as it is written.
fn index_below(count: u32, digits: &str) -> Option<u32> {
    let canonical = digits == "0" || !digits.starts_with(['0', '+']);
    digits.parse().ok().filter(|index| canonical && *index < count)
}

fn of_drivers(name: &str) -> Option<RegisterRef> {
    driver_names::NAMES.iter().find_map(|driver| {
        let tail = after(name, driver.name)?;
        let index = match driver.count {
            1 => tail.is_empty().then_some(0),
            count => index_below(count, tail.strip_prefix('_')?),
        }?;
        at(driver.address + index * driver.stride)
    })
}

fn documented(name: &str) -> Option<RegisterRef> {
    mappings().find_map(|mapping| {
        let tail = after(name, mapping.register.name)?;
        let number = |digits: &str| index_below(mapping.count, digits);
        let index = match mapping.indexing {
            Indexing::Single => tail.is_empty().then_some(0),
            Indexing::Underscore(_) => tail.strip_prefix('_').and_then(number),
            Indexing::Plain(_) | Indexing::PairAddress(_) => number(tail),
            Indexing::PairName(_) => PAIRS.iter().position(|pair| *pair == tail).map(|i| i as u32),
        }?;
        (index < mapping.count).then_some(RegisterRef { mapping, index })
    })
}

/// Names of pairs of vertex arrays.
const PAIRS: [&str; 8] = ["01", "23", "45", "67", "89", "1011", "1213", "1415"];

/// Table, row and member at an address.
#[derive(Clone, Copy)]
struct Entry(u32);

impl Entry {
    const EMPTY: Self = Self(u32::MAX);

    const fn new(table: usize, row: usize, index: u32) -> Self {
        Self((table as u32) << 24 | (row as u32) << 16 | index)
    }

    const fn split(self) -> Option<(usize, usize, u32)> {
        if self.0 == u32::MAX {
            return None;
        }
        Some(((self.0 >> 24) as usize, (self.0 >> 16 & 0xff) as usize, self.0 & 0xffff))
    }
}

/// The register at each dword of the aperture. Overlapping registers do not compile, except instruction words.
static INDEX: [Entry; APERTURE as usize / 4] = index();

const fn index() -> [Entry; APERTURE as usize / 4] {
    let mut entries = [Entry::EMPTY; APERTURE as usize / 4];
    let mut table = 0;
    while table < TABLES.len() {
        let mut row = 0;
        while row < TABLES[table].len() {
            let mapping = TABLES[table][row];
            let mut index = 0;
            while index < mapping.count {
                let dword = mapping.address_of(index) as usize / 4;
                let free = entries[dword].split().is_none();
                assert!(free || mapping.address >= 0x9000, "two registers share an address");
                if free {
                    entries[dword] = Entry::new(table, row, index);
                }
                index += 1;
            }
            if let Some(alias) = mapping.alias {
                let dword = alias as usize / 4;
                assert!(entries[dword].split().is_none(), "two registers share an address");
                assert!(mapping.count == 1, "only single registers have an alias");
                entries[dword] = Entry::new(table, row, 0);
            }
            row += 1;
        }
        table += 1;
    }
    entries
}
