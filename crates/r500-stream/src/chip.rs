//! The supported chips.

use std::fmt;
use std::str::FromStr;

/// A chip of the R500 family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Chip {
    /// Radeon X1300, X1550.
    Rv515,
    /// Radeon X1600, X1650.
    #[default]
    Rv530,
    /// Radeon X1800.
    R520,
    /// Radeon X1900, X1950.
    R580,
}

impl Chip {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Rv515, Self::Rv530, Self::R520, Self::R580];

    /// Its name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rv515 => "rv515",
            Self::Rv530 => "rv530",
            Self::R520 => "r520",
            Self::R580 => "r580",
        }
    }

    /// Returns a PCI device id of the chip.
    pub fn pci_id(self) -> u16 {
        match self {
            Self::Rv515 => 0x7140,
            Self::Rv530 => 0x71c0,
            Self::R520 => 0x7100,
            Self::R580 => 0x7240,
        }
    }

    /// Returns the chip of a PCI device id that [`pci_id`](Self::pci_id) returns.
    pub fn from_pci_id(id: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|chip| u32::from(chip.pci_id()) == id)
    }
}

impl fmt::Display for Chip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Chip {
    type Err = UnknownChip;

    fn from_str(name: &str) -> Result<Self, UnknownChip> {
        let found = Self::ALL.into_iter().find(|chip| chip.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| UnknownChip(name.to_owned()))
    }
}

/// An unknown chip name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no chip has the name {0:?}; there are rv515, rv530, r520 and r580")]
pub struct UnknownChip(pub String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_ids_find_their_chip() {
        for chip in Chip::ALL {
            assert_eq!(chip.to_string().to_uppercase().parse(), Ok(chip));
            assert_eq!(Chip::from_pci_id(chip.pci_id().into()), Some(chip));
        }
        assert!("rv999".parse::<Chip>().is_err());
        assert_eq!(Chip::from_pci_id(0x5144), None);
    }
}
