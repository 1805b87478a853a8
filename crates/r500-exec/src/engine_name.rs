//! The names of the engines.

use std::fmt;
use std::str::FromStr;

/// The name of an engine. All engines give the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineName {
    /// The [reference engine](crate::reference), of this crate.
    Reference,
    /// The fast engine, of the crate `r500-fast`.
    Fast,
    /// The jit engine, of the crate `r500-jit`.
    Jit,
}

impl EngineName {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Reference, Self::Fast, Self::Jit];

    /// Returns the name, in lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Fast => "fast",
            Self::Jit => "jit",
        }
    }

    /// Returns what distinguishes the engine, as a list of choices says it.
    #[must_use]
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Reference => "Defines the results; one pixel group after the other",
            Self::Fast => "The same results, many pixels at a time",
            Self::Jit => "The same results, as machine code",
        }
    }
}

impl fmt::Display for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for EngineName {
    type Err = UnknownEngine;

    fn from_str(name: &str) -> Result<Self, UnknownEngine> {
        let found = Self::ALL.into_iter().find(|engine| engine.name() == name);
        found.ok_or_else(|| UnknownEngine(name.to_owned()))
    }
}

/// The name of no engine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no engine is called `{0}`: there are reference, fast and jit")]
pub struct UnknownEngine(pub String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_lists_every_name() {
        let error = UnknownEngine("gpu".to_owned());
        assert_eq!("gpu".parse::<EngineName>(), Err(error.clone()));
        let error = error.to_string();
        for engine in EngineName::ALL {
            assert_eq!(engine.name().parse(), Ok(engine));
            assert!(error.contains(engine.name()), "{error}");
        }
    }
}
