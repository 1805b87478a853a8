//! Errors of binding a texture.

use r500_isa::{BitField, FieldValue, Word};

/// A texture that cannot be sampled, with the reason and a remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// A mode that the machine does not have.
    #[error("{setting}, which is not modelled: {remedy}")]
    NotModelled {
        /// The field.
        setting: Setting,
        /// The remedy.
        remedy: &'static str,
    },
    /// A value that the documents reserve.
    #[error("{setting}, which is reserved: {remedy}")]
    Reserved {
        /// The field.
        setting: Setting,
        /// The remedy.
        remedy: &'static str,
    },
    /// A format that the documents reserve.
    #[error(
        "TX_FORMAT1.TXFORMAT = {code} with TX_FORMAT2.TXFORMAT_MSB set is a reserved format: \
         the formats with that bit are 0 to 6"
    )]
    ReservedFormat {
        /// `TXFORMAT`.
        code: u8,
    },
    /// Fewer levels than `NUM_LEVELS` says.
    #[error(
        "TX_FORMAT0.NUM_LEVELS = {num_levels} stands for {} levels and {given} are given: \
         give the rest or lower NUM_LEVELS", u32::from(*num_levels) + 1
    )]
    MissingLevels {
        /// `NUM_LEVELS`: levels, minus one.
        num_levels: u8,
        /// Levels given.
        given: usize,
    },
    /// A level whose size does not follow from the texture's.
    #[error(
        "level {level} is given as {}x{}x{}, by TX_FORMAT0 and TX_FORMAT2 it has {}x{}x{} texels \
         (width, height, layers or faces): correct either",
        given[0], given[1], given[2], wanted[0], wanted[1], wanted[2]
    )]
    LevelSize {
        /// The level.
        level: usize,
        /// Width, height, layers as given.
        given: [u32; 3],
        /// Width, height, layers by the registers.
        wanted: [u32; 3],
    },
    /// A level with more or fewer bytes than its size and format need.
    #[error(
        "level {level} has {given} bytes, its size and format (TX_FORMAT1.TXFORMAT) need {wanted}, \
         {row_bytes} a row (TX_FORMAT2.TXPITCH where TX_FORMAT0.TXPITCH_EN is set): \
         correct the bytes or the registers"
    )]
    LevelBytes {
        /// The level.
        level: usize,
        /// Bytes given.
        given: usize,
        /// Bytes needed.
        wanted: u64,
        /// Bytes from one row (of blocks, in block formats) to the next.
        row_bytes: u64,
    },
    /// A level whose size is not a multiple of the unit of byte swapping.
    #[error(
        "level {level} has {given} bytes, and {setting} swaps within units of {unit}: \
         give whole units or clear ENDIAN_SWAP"
    )]
    SwapUnit {
        /// The level.
        level: usize,
        /// Bytes given.
        given: usize,
        /// Bytes of a unit.
        unit: usize,
        /// `ENDIAN_SWAP`.
        setting: Setting,
    },
}

/// A field of a register and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The register.
    pub register: &'static str,
    /// The field.
    pub field: &'static str,
    /// Its value.
    pub code: u32,
    /// The meaning of the value, or for a flag of the field; empty for a reserved value.
    pub meaning: &'static str,
}

impl Setting {
    /// Returns the setting of a field in a word.
    pub(super) fn of<W: Word, T: FieldValue>(field: BitField<W, T>, word: W) -> Self {
        let row = field.describe();
        let code = field.get(word).code();
        let meaning = match row.value(code) {
            Some(value) => value.meaning,
            None if row.values.is_empty() => row.meaning,
            None => "",
        };
        Self { register: W::REGISTER.name, field: row.name, code, meaning }
    }

    /// Returns the error that the setting is not modelled.
    pub(super) fn not_modelled(self, remedy: &'static str) -> BindError {
        BindError::NotModelled { setting: self, remedy }
    }

    /// Returns the error that the value is reserved.
    pub(super) fn reserved(self, remedy: &'static str) -> BindError {
        BindError::Reserved { setting: self, remedy }
    }
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { register, field, code, meaning } = self;
        write!(f, "{register}.{field} = {code}")?;
        if meaning.is_empty() { Ok(()) } else { write!(f, " ({meaning})") }
    }
}
