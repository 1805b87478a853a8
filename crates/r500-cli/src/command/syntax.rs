//! Parsing of option values: sizes, areas, ranges, registers, numbers, chips, engines.

use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use r500::exec::{EngineName, PixelRect};
use r500::register_text;
use r500_stream::Chip;

/// Returns a positive number of seconds.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("`{text}` is not a number of seconds"))?;
    Duration::try_from_secs_f64(seconds).map_err(|error| format!("`{text}`: {error}"))
}

/// Parses the name of a chip.
pub(super) fn chip() -> impl TypedValueParser<Value = Chip> {
    PossibleValuesParser::new(Chip::ALL.map(Chip::name)).try_map(|name| name.parse::<Chip>())
}

/// Parses the name of an engine.
pub(super) fn engine() -> impl TypedValueParser<Value = EngineName> {
    let named = |name: EngineName| PossibleValue::new(name.name()).help(name.summary());
    PossibleValuesParser::new(EngineName::ALL.map(named)).try_map(|name| name.parse())
}

/// Parses `WxH`, each at least 1.
pub(super) fn size(text: &str) -> Result<[u32; 2], String> {
    let wanted = || format!("`{text}` is not a size; write WIDTHxHEIGHT, such as 256x256");
    let (width, height) = text.split_once(['x', 'X']).ok_or_else(wanted)?;
    let part = |part: &str| part.trim().parse::<u32>().map_err(|_| wanted());
    let size = [part(width)?, part(height)?];
    if size.contains(&0) {
        return Err(format!(
            "a picture of {}x{} has no pixels; each side is at least 1",
            size[0], size[1]
        ));
    }
    Ok(size)
}

/// Parses `X,Y,WxH`: lower left pixel and size.
pub(super) fn area(text: &str) -> Result<PixelRect, String> {
    let wanted = || {
        format!(
            "`{text}` is not a part of a picture; write X,Y,WIDTHxHEIGHT (X,Y: lower left pixel)"
        )
    };
    let mut parts = text.splitn(3, ',');
    let mut next = || parts.next().ok_or_else(wanted);
    let number = |part: &str| part.trim().parse::<u32>().map_err(|_| wanted());
    let (x, y) = (number(next()?)?, number(next()?)?);
    let [width, height] = size(next()?)?;
    Ok(PixelRect { x, y, width, height })
}

/// Parses `X,Y`.
pub(super) fn pixel(text: &str) -> Result<[u32; 2], String> {
    let wanted = || format!("`{text}` is not a pixel; write X,Y (y = 0 is the bottom row)");
    let (x, y) = text.split_once(',').ok_or_else(wanted)?;
    let part = |part: &str| part.trim().parse().map_err(|_| wanted());
    Ok([part(x)?, part(y)?])
}

/// Parses `A..B` (B excluded) or `A..=B`.
pub(super) fn frames(text: &str) -> Result<std::ops::Range<u32>, String> {
    let wanted = || format!("`{text}` is not a range of frames; write FIRST..END (END left out)");
    let (first, end) = text.split_once("..").ok_or_else(wanted)?;
    let (end, included) = match end.strip_prefix('=') {
        Some(end) => (end, 1),
        None => (end, 0),
    };
    let part = |part: &str| part.trim().parse::<u32>().map_err(|_| wanted());
    let range = part(first)?..part(end)?.saturating_add(included);
    if range.is_empty() { Err(format!("the range `{text}` holds no frames")) } else { Ok(range) }
}

/// A shard `K/N`: part K of N, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shard {
    part: u64,
    of: u64,
}

impl Shard {
    /// Returns whether a work item belongs to this shard.
    pub(super) fn takes(self, item: u64) -> bool {
        item % self.of == self.part - 1
    }

    /// Returns the part, from 0, and the number of parts.
    pub(super) fn part_of(self) -> [u64; 2] {
        [self.part - 1, self.of]
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.part, self.of)
    }
}

/// Numbers work items in order, and selects those of a shard; all of them without one.
pub(super) struct Sharding {
    shard: Option<Shard>,
    next: u64,
}

impl Sharding {
    /// Starts with the first item.
    pub(super) fn new(shard: Option<Shard>) -> Self {
        Self { shard, next: 0 }
    }

    /// Returns whether the next item belongs to the shard.
    pub(super) fn takes_next(&mut self) -> bool {
        let item = self.next;
        self.next += 1;
        self.shard.is_none_or(|shard| shard.takes(item))
    }
}

/// Parses a [`Shard`].
pub(super) fn shard(text: &str) -> Result<Shard, String> {
    let wanted = || format!("`{text}` is not a shard; write K/N with K from 1 to N");
    let (part, of) = text.split_once('/').ok_or_else(wanted)?;
    let shard = Shard {
        part: part.trim().parse().map_err(|_| wanted())?,
        of: of.trim().parse().map_err(|_| wanted())?,
    };
    if shard.part == 0 || shard.part > shard.of { Err(wanted()) } else { Ok(shard) }
}

/// Parses one to four floats separated by commas. Missing components are 0, alpha 1.
pub(super) fn vector(text: &str) -> Result<[f32; 4], String> {
    let mut value = [0.0, 0.0, 0.0, 1.0];
    let mut parts = text.split(',');
    for (channel, part) in value.iter_mut().zip(parts.by_ref()) {
        *channel = register_text::float(part)?;
    }
    if parts.next().is_some() {
        return Err(format!("`{text}` has more than four numbers"));
    }
    Ok(value)
}

/// Returns whether a name contains a pattern, in which `*` matches anything.
pub(super) fn holds(pattern: &str, name: &str) -> bool {
    let mut rest = name;
    pattern.split('*').all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_areas() {
        assert_eq!(size("640x480"), Ok([640, 480]));
        assert!(size("0x4").is_err() && size("4").is_err() && size("-1x4").is_err());
        assert_eq!(area("1,2,3x4"), Ok(PixelRect { x: 1, y: 2, width: 3, height: 4 }));
        assert!(area("1,2").is_err() && area("1,2,3").is_err() && area("1,2,3x0").is_err());
        assert_eq!(pixel("3, 4"), Ok([3, 4]));
    }

    #[test]
    fn patterns() {
        assert!(holds("abs", "fs-abs-vec2.0"));
        assert!(holds("fs*vec", "fs-abs-vec2.0"));
        assert!(!holds("vec*fs", "fs-abs-vec2.0"));
        assert!(holds("", "anything"));
    }

    #[test]
    fn ranges_and_shards() {
        assert_eq!(frames("0..24"), Ok(0..24));
        assert_eq!(frames("3..=5"), Ok(3..6));
        assert!(frames("3..3").is_err() && frames("3").is_err());
        assert!(shard("0/4").is_err() && shard("5/4").is_err() && shard("1").is_err());
        let mut second = Sharding::new(shard("2/3").ok());
        assert_eq!([0; 6].map(|_| second.takes_next()), [false, true, false, false, true, false]);
        assert!(Sharding::new(None).takes_next());
        // Each item belongs to exactly one shard.
        for item in 0..20 {
            let takers =
                (1..=3).filter(|k| shard(&format!("{k}/3")).is_ok_and(|shard| shard.takes(item)));
            assert_eq!(takers.count(), 1);
        }
    }

    #[test]
    fn numbers() {
        assert_eq!(vector("1,2"), Ok([1.0, 2.0, 0.0, 1.0]));
        assert!(vector("1,2,3,4,5").is_err());
    }
}
