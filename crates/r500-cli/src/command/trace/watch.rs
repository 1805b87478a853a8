//! `--watch`: filter for instructions of a trace.

use std::fmt;
use std::str::FromStr;

use r500::exec::reference::{Event, EventKind, Write};
use r500::isa::{TARGETS, TEMPORARIES};
use r500::pvs::OUTPUTS;
use r500::register_text;

/// A watched location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WatchFilter {
    /// Channels of a temporary.
    Temp(u8, u8),
    /// Channels of an output.
    Out(u8, u8),
    Depth,
    Predicate,
    AluResult,
    Kill,
}

impl WatchFilter {
    /// Returns whether pixels have it.
    pub(super) fn is_of_pixels(self) -> bool {
        !matches!(self, Self::Out(n, _) if usize::from(n) >= TARGETS)
    }

    /// Returns whether vertices have it.
    pub(super) fn is_of_vertices(self) -> bool {
        matches!(self, Self::Temp(..) | Self::Out(..) | Self::Predicate)
    }

    /// Returns whether an instruction wrote it.
    pub(super) fn sees(self, event: &Event) -> bool {
        let killed = matches!(event.kind, EventKind::Tex { killed: true, .. });
        (self == Self::Kill && killed)
            || event.writes.iter().any(|write| match (self, write) {
                (Self::Temp(n, channels), Write::Temp { temp, mask, .. }) => {
                    n == *temp && channels & mask != 0
                }
                (Self::Out(n, channels), Write::Output { target, mask, .. }) => {
                    n == *target && channels & mask != 0
                }
                (Self::Depth, Write::Depth(_))
                | (Self::Predicate, Write::Predicate { .. })
                | (Self::AluResult, Write::AluResult(_)) => true,
                _ => false,
            })
    }
}

impl fmt::Display for WatchFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Temp(n, _) => write!(f, "temp[{n}]"),
            Self::Out(n, _) => write!(f, "out[{n}]"),
            Self::Depth => f.write_str("depth"),
            Self::Predicate => f.write_str("pred"),
            Self::AluResult => f.write_str("alu"),
            Self::Kill => f.write_str("kill"),
        }
    }
}

impl FromStr for WatchFilter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = || {
            format!(
                "`{text}` cannot be watched; write temp[N], temp[N].CHANNELS, out[N], depth, pred, alu or kill"
            )
        };
        match text {
            "depth" => return Ok(Self::Depth),
            "pred" => return Ok(Self::Predicate),
            "alu" => return Ok(Self::AluResult),
            "kill" => return Ok(Self::Kill),
            _ => {}
        }
        let (name, mask) = match text.rsplit_once('.') {
            None => (text, 0b1111),
            Some((name, letters)) => {
                let channels = register_text::channels(letters).ok_or_else(wanted)?;
                (name, channels.into_iter().fold(0, |mask, c| mask | 1 << c))
            }
        };
        let number = |kind, count| {
            register_text::register(name, kind, count).and_then(|n| u8::try_from(n).ok())
        };
        if name.starts_with('o') {
            return number("out", OUTPUTS).map(|n| Self::Out(n, mask)).ok_or_else(wanted);
        }
        number("temp", TEMPORARIES).map(|n| Self::Temp(n, mask)).ok_or_else(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watchable_registers_parse() {
        let watch = |text: &str| text.parse::<WatchFilter>();
        assert_eq!(watch("temp[3]"), Ok(WatchFilter::Temp(3, 15)));
        assert_eq!(watch("t3.ra"), Ok(WatchFilter::Temp(3, 9)));
        assert_eq!(watch("out[1]"), Ok(WatchFilter::Out(1, 15)));
        assert_eq!(watch("pred"), Ok(WatchFilter::Predicate));
        assert!(watch("out[3]").is_ok_and(WatchFilter::is_of_pixels));
        assert!(watch("out[4]").is_ok_and(|out| out.is_of_vertices() && !out.is_of_pixels()));
        assert!(watch("temp[128]").is_err() && watch("out[128]").is_err() && watch("x").is_err());
    }
}
