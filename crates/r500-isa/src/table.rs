//! The table macros: descriptions, typed fields, and compile-time checks of the rows.

use core::marker::PhantomData;

/// Description of a 32-bit register or instruction word.
#[derive(Debug, PartialEq, Eq)]
pub struct Register {
    /// Documented name, such as `US_CMN_INST`.
    pub name: &'static str,
    /// The number of such registers: 1, or the length of an indexed set such as `TX_FILTER0_0..15`.
    pub count: u8,
    /// One-line description of its purpose.
    pub meaning: &'static str,
    /// Its fields, in the order of the documents.
    pub fields: &'static [Field],
}

/// Description of a field of a register.
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    /// Documented name, such as `JUMP_FUNC`.
    pub name: &'static str,
    /// Highest bit.
    pub hi: u8,
    /// Lowest bit.
    pub lo: u8,
    /// How its bits are interpreted.
    pub kind: FieldKind,
    /// The values with a name or a description, by ascending code.
    pub values: &'static [Value],
    /// One-line description of its effect.
    pub meaning: &'static str,
}

/// How the bits of a field are interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// One bit: off or on.
    Flag,
    /// An unsigned number.
    Number,
    /// A two's complement number.
    Signed,
    /// One of the named values; others are reserved.
    Choice,
    /// A 32-bit floating-point number.
    Float,
}

/// Description of a field value.
#[derive(Debug, PartialEq, Eq)]
pub struct Value {
    /// The bits of the field.
    pub code: u32,
    /// Documented name, such as `US_FC_OP_JUMP`; empty where the documents give none.
    pub name: &'static str,
    /// Short description of its meaning.
    pub meaning: &'static str,
}

impl Register {
    /// Returns the field with a documented name. Case is ignored.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|f| f.name.eq_ignore_ascii_case(name))
    }

    /// Returns the bits that fields name. The others are kept and have no known meaning.
    #[must_use]
    pub const fn named_bits(&self) -> u32 {
        let mut mask = 0;
        let mut i = 0;
        while i < self.fields.len() {
            mask |= self.fields[i].mask();
            i += 1;
        }
        mask
    }

    /// Rejects a table whose fields overlap or exceed the word, or whose values repeat, are out of
    /// order or do not fit their field. Every table of this crate is checked at compile time:
    ///
    /// ```
    /// # use r500_isa::{Field, FieldKind, Register};
    /// # const fn flag(name: &'static str, bit: u8) -> Field {
    /// #     Field { name, hi: bit, lo: bit, kind: FieldKind::Flag, values: &[], meaning: "" }
    /// # }
    /// const NEIGHBOURS: Register =
    ///     Register { name: "R", count: 1, meaning: "", fields: &[flag("A", 4), flag("B", 5)] };
    /// const _: () = NEIGHBOURS.assert_sound();
    /// ```
    ///
    /// ```compile_fail,E0080
    /// # use r500_isa::{Field, FieldKind, Register};
    /// # const fn flag(name: &'static str, bit: u8) -> Field {
    /// #     Field { name, hi: bit, lo: bit, kind: FieldKind::Flag, values: &[], meaning: "" }
    /// # }
    /// const OVERLAP: Register =
    ///     Register { name: "R", count: 1, meaning: "", fields: &[flag("A", 4), flag("B", 4)] };
    /// const _: () = OVERLAP.assert_sound();
    /// ```
    ///
    /// # Panics
    ///
    /// If the table is rejected; in a constant, this is a compile-time error.
    pub const fn assert_sound(&self) {
        let mut taken = 0u32;
        let mut i = 0;
        while i < self.fields.len() {
            let field = &self.fields[i];
            assert!(field.lo <= field.hi && field.hi < 32, "bit range outside the word");
            assert!(taken & field.mask() == 0, "two fields share a bit");
            taken |= field.mask();
            let mut v = 0;
            while v < field.values.len() {
                let code = field.values[v].code;
                assert!(code <= field.max(), "a value does not fit its field");
                assert!(v == 0 || field.values[v - 1].code < code, "values must ascend");
                v += 1;
            }
            i += 1;
        }
    }
}

impl Field {
    /// Returns the number of bits.
    #[must_use]
    pub const fn width(&self) -> u32 {
        (self.hi - self.lo + 1) as u32
    }

    /// Returns the greatest code that fits.
    #[must_use]
    pub const fn max(&self) -> u32 {
        u32::MAX >> (32 - self.width())
    }

    /// Returns the field's bits within the word.
    #[must_use]
    pub const fn mask(&self) -> u32 {
        self.max() << self.lo
    }

    /// Extracts the field's code from `word`.
    #[must_use]
    pub const fn extract(&self, word: u32) -> u32 {
        (word & self.mask()) >> self.lo
    }

    /// Returns `word` with this field set to `code`, truncated to the field's width.
    #[must_use]
    pub const fn insert(&self, word: u32, code: u32) -> u32 {
        (word & !self.mask()) | ((code << self.lo) & self.mask())
    }

    /// Returns the description of `code`, if the table has one.
    #[must_use]
    pub fn value(&self, code: u32) -> Option<&'static Value> {
        self.values.iter().find(|v| v.code == code)
    }
}

/// A typed view of the 32 bits of a described word.
pub trait Word: Copy {
    /// Its description.
    const REGISTER: &'static Register;
    /// Creates the view of a dword.
    fn from_bits(bits: u32) -> Self;
    /// Returns the bits.
    fn bits(self) -> u32;
}

/// A type that the bits of a field are read as.
pub trait FieldValue: Copy {
    /// How the bits are interpreted.
    const KIND: FieldKind;
    /// Its named values.
    const VALUES: &'static [Value];
    /// Decodes the field's bits.
    fn from_code(code: u32) -> Self;
    /// Encodes as the field's bits.
    fn code(self) -> u32;
}

/// A field of the word `W` that reads as a `T`.
#[derive(Debug)]
pub struct BitField<W, T> {
    hi: u8,
    lo: u8,
    of: PhantomData<fn() -> (W, T)>,
}

impl<W, T> Clone for BitField<W, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W, T> Copy for BitField<W, T> {}

impl<W: Word, T: FieldValue> BitField<W, T> {
    /// Returns the field of these bits; [`registers!`](crate::registers!) calls it for each row.
    #[must_use]
    pub const fn new(hi: u8, lo: u8) -> Self {
        Self { hi, lo, of: PhantomData }
    }

    const fn max(self) -> u32 {
        u32::MAX >> (31 - (self.hi - self.lo))
    }

    /// Reads the field.
    #[inline]
    #[must_use]
    pub fn get(self, word: W) -> T {
        T::from_code((word.bits() >> self.lo) & self.max())
    }

    /// Returns the word with the field set; a code wider than the field loses its upper bits.
    #[inline]
    #[must_use]
    pub fn set(self, word: W, value: T) -> W {
        let mask = self.max() << self.lo;
        W::from_bits((word.bits() & !mask) | ((value.code() << self.lo) & mask))
    }

    /// Reads the field through its type and returns its code.
    #[inline]
    #[must_use]
    pub fn code(self, word: W) -> u32 {
        self.get(word).code() & self.max()
    }

    /// Returns the description of the field.
    #[must_use]
    pub fn describe(self) -> &'static Field {
        let fields = W::REGISTER.fields;
        fields.iter().find(|f| f.lo == self.lo).unwrap_or(&fields[0])
    }
}

impl FieldValue for bool {
    const KIND: FieldKind = FieldKind::Flag;
    const VALUES: &'static [Value] = &[];
    #[inline]
    fn from_code(code: u32) -> Self {
        code & 1 != 0
    }
    #[inline]
    fn code(self) -> u32 {
        u32::from(self)
    }
}

impl FieldValue for f32 {
    const KIND: FieldKind = FieldKind::Float;
    const VALUES: &'static [Value] = &[];
    #[inline]
    fn from_code(code: u32) -> Self {
        Self::from_bits(code)
    }
    #[inline]
    fn code(self) -> u32 {
        self.to_bits()
    }
}

macro_rules! numbers {
    ($($ty:ident $kind:ident;)*) => {$(
        impl FieldValue for $ty {
            const KIND: FieldKind = FieldKind::$kind;
            const VALUES: &'static [Value] = &[];
            #[inline]
            #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]
            fn from_code(code: u32) -> Self {
                code as $ty
            }
            #[inline]
            #[allow(clippy::cast_sign_loss, clippy::cast_lossless)]
            fn code(self) -> u32 {
                self as u32
            }
        }
    )*};
}

numbers! {
    u8 Number;
    u16 Number;
    u32 Number;
    i8 Signed;
}

/// Defines enumerations of field values, each as a `Copy` type. Codes without a name are values,
/// too.
///
/// `IDENT = CODE "NAME" "meaning";`, where `NAME` is the documented name and may be empty.
#[macro_export]
macro_rules! choices {
    ($(
        $(#[$doc:meta])*
        $ty:ident { $( $id:ident = $code:literal $name:literal $meaning:literal; )* }
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $ty(u8);

        impl $ty {
            $( #[doc = $meaning] pub const $id: Self = Self($code); )*

            /// Returns the value with that code, named or not.
            #[inline]
            #[must_use]
            pub const fn new(code: u8) -> Self {
                Self(code)
            }

            /// Returns the code.
            #[inline]
            #[must_use]
            pub const fn code(self) -> u8 {
                self.0
            }

            /// Returns the description; `None` for a reserved code.
            #[must_use]
            pub fn describe(self) -> Option<&'static $crate::Value> {
                <Self as $crate::FieldValue>::VALUES.iter().find(|v| v.code == u32::from(self.0))
            }

            /// Returns whether the tables name this code.
            #[must_use]
            pub fn is_named(self) -> bool {
                self.describe().is_some()
            }
        }

        impl core::fmt::Debug for $ty {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self.0 {
                    $( $code => f.write_str(stringify!($id)), )*
                    #[allow(unreachable_patterns)]
                    code => write!(f, concat!(stringify!($ty), "({})"), code),
                }
            }
        }

        impl $crate::FieldValue for $ty {
            const KIND: $crate::FieldKind = $crate::FieldKind::Choice;
            const VALUES: &'static [$crate::Value] =
                &[ $( $crate::Value { code: $code, name: $name, meaning: $meaning }, )* ];
            #[inline]
            #[allow(clippy::cast_possible_truncation)]
            fn from_code(code: u32) -> Self {
                Self(code as u8)
            }
            #[inline]
            fn code(self) -> u32 {
                u32::from(self.0)
            }
        }
    )*};
}

/// Defines registers, each as a typed view, with one row per field.
///
/// `NAME accessor HI:LO Type [VALUES] "meaning";`, where `[VALUES]` names the value descriptions of
/// a flag or number that has some: a `&[Value]` constant in scope. Fields that overlap do not compile.
///
/// ```
/// r500_isa::registers! {
///     Line "LINE" * 2 "an example." {
///         WIDTH width 15:0  u16 "in sixths of a pixel";
///         SORT  sort  18:18 bool "sort end points";
///     }
/// }
/// assert_eq!(Line(0x4_000c).width(), 12);
/// assert_eq!(Line(0).with(Line::SORT, true).bits(), 0x4_0000);
/// ```
#[macro_export]
macro_rules! registers {
    ($(
        $(#[$doc:meta])*
        $word:ident $name:literal $( * $count:literal )? $about:literal {
            $( $field:ident $get:ident $hi:literal : $lo:literal $ty:ident $( [$values:ident] )? $meaning:literal; )*
        }
    )*) => {
        $(
            #[doc = concat!("`", $name, "`: ", $about)]
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
            #[repr(transparent)]
            pub struct $word(pub u32);

            impl $word {
                $(
                    #[doc = concat!("`", $name, ".", stringify!($field), "`, bits ", stringify!($hi), ":", stringify!($lo), ": ", $meaning)]
                    pub const $field: $crate::BitField<Self, $ty> = $crate::BitField::new($hi, $lo);

                    #[doc = concat!("`", stringify!($field), "`, bits ", stringify!($hi), ":", stringify!($lo), ": ", $meaning)]
                    #[inline]
                    #[must_use]
                    pub fn $get(self) -> $ty {
                        Self::$field.get(self)
                    }
                )*

                /// Returns this word with one field changed.
                #[inline]
                #[must_use]
                pub fn with<T: $crate::FieldValue>(self, field: $crate::BitField<Self, T>, value: T) -> Self {
                    field.set(self, value)
                }

                /// Returns the bits.
                #[inline]
                #[must_use]
                pub const fn bits(self) -> u32 {
                    self.0
                }

                /// Returns the codes of all fields, in the table's order.
                #[inline]
                #[must_use]
                pub fn codes(self) -> [u32; [$( stringify!($field) ),*].len()] {
                    [ $( Self::$field.code(self), )* ]
                }

                /// Returns this word with all fields set to these codes, in the table's order; bits
                /// that no field names stay, and a code wider than its field loses its upper bits.
                #[inline]
                #[must_use]
                pub fn with_codes(self, codes: [u32; [$( stringify!($field) ),*].len()]) -> Self {
                    let [$( $get ),*] = codes;
                    self $( .with(Self::$field, <$ty as $crate::FieldValue>::from_code($get)) )*
                }
            }

            impl $crate::Word for $word {
                const REGISTER: &'static $crate::Register = &$crate::Register {
                    name: $name,
                    count: $crate::__count!($( $count )?),
                    meaning: $about,
                    fields: &[ $(
                        $crate::Field {
                            name: stringify!($field),
                            hi: $hi,
                            lo: $lo,
                            kind: <$ty as $crate::FieldValue>::KIND,
                            values: $crate::__values_of!($ty $( [$values] )?),
                            meaning: $meaning,
                        },
                    )* ],
                };
                #[inline]
                fn from_bits(bits: u32) -> Self {
                    Self(bits)
                }
                #[inline]
                fn bits(self) -> u32 {
                    self.0
                }
            }

            const _: () = <$word as $crate::Word>::REGISTER.assert_sound();
        )*

        /// The registers of this module, in reading order.
        pub const REGISTERS: &[&$crate::Register] = &[ $( <$word as $crate::Word>::REGISTER, )* ];
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __count {
    () => {
        1
    };
    ($count:literal) => {
        $count
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __values_of {
    ($ty:ident) => {
        <$ty as $crate::FieldValue>::VALUES
    };
    ($ty:ident [$values:ident]) => {
        $values
    };
}
