//! The table macro of a block: `r500_isa::registers!` with addresses.

/// Defines the registers of a block: typed views and their [`Mapping`](crate::Mapping)s.
///
/// The arguments are the block's variant of [`Block`](crate::Block), then registers as in [`r500_isa::registers!`] whose heads also have an
/// address, `| ALIAS`, the [`Indexing`](crate::Indexing) of a set and the [`Access`](crate::Access).
macro_rules! block {
    (
        $block:ident;
        $(
            $(#[$doc:meta])*
            $word:ident $name:literal @ $address:literal $( | $alias:literal )?
            $( * $count:literal [$indexing:ident $stride:literal] )? $access:ident $about:literal
            { $( $rows:tt )* }
        )*
    ) => {
        r500_isa::registers! {
            $( $(#[$doc])* $word $name $( * $count )? $about { $( $rows )* } )*
        }

        $(
            impl $crate::Mapped for $word {
                const MAPPING: &'static $crate::Mapping = &$crate::Mapping {
                    register: <$word as r500_isa::Word>::REGISTER,
                    block: $crate::Block::$block,
                    access: $crate::Access::$access,
                    address: $address,
                    alias: $crate::table::alias!($( $alias )?),
                    count: <$word as r500_isa::Word>::REGISTER.count as u32,
                    indexing: $crate::table::indexing!($( $indexing $stride )?),
                };
            }
        )*

        /// The registers of this module with their addresses, in ascending order.
        pub const MAPPINGS: &[&$crate::Mapping] =
            &[ $( <$word as $crate::Mapped>::MAPPING, )* ];
    };
}
pub(crate) use block;

macro_rules! alias {
    () => {
        None
    };
    ($alias:literal) => {
        Some($alias)
    };
}
pub(crate) use alias;

macro_rules! indexing {
    () => {
        $crate::Indexing::Single
    };
    ($indexing:ident $stride:literal) => {
        $crate::Indexing::$indexing($stride)
    };
}
pub(crate) use indexing;
