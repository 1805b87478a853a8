//! Dotted names with indices, `state.light[1].spot.direction`, and patterns of them.

use r500_glsl::Span;

/// What is in brackets after a name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Index {
    /// `[3]`
    One(u32),
    /// `[3..5]`
    Range(u32, u32),
    /// `[a.x + 3]`: the variable with its component, and the offset.
    Relative {
        /// The name of the address register.
        register: String,
        /// Its component.
        component: Option<String>,
        /// What is added.
        offset: i32,
    },
}

/// A name of a path.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) index: Option<(Index, Span)>,
}

/// What a pattern found in a path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Match {
    /// The path as one writes it with all optional indices and without optional words: `state.matrix.modelview[0].row`.
    pub(crate) name: String,
    /// The first and the last vector that are meant, if the pattern has several.
    pub(crate) vectors: Option<(u32, u32)>,
    /// How many parts of the path it took.
    pub(crate) parts: usize,
}

/// How far a pattern came in a path that it does not match.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mismatch {
    /// The part that it does not match; the number of parts, if there are too few.
    pub(crate) at: usize,
    /// What it wanted there.
    pub(crate) wanted: Wanted,
}

/// What a pattern wants.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Wanted {
    /// One of these names.
    Names(Vec<&'static str>),
    /// An index below this.
    Index(u32),
    /// No index.
    NoIndex,
}

/// Matches a path with a pattern: parts with points between them, alternatives with `|`. A part with `?` in front may be missing; its first
/// alternative is then meant. `#8` after a part wants an index below 8, `#8?` is 0 without one. `@4` wants a vector or a range of the
/// four; `@4?` means all without an index.
pub(crate) fn find(pattern: &'static str, path: &[Part]) -> Result<Match, Mismatch> {
    let mut name = String::new();
    let mut vectors = None;
    let mut at = 0;
    for part in pattern.split('.') {
        let (part, is_optional) = part.strip_prefix('?').map_or((part, false), |rest| (rest, true));
        let (names, index) = match part.find(['#', '@']) {
            Some(place) => (&part[..place], Some(&part[place..])),
            None => (part, None),
        };
        let mut names = names.split('|');
        let Some(found) = path.get(at).filter(|part| names.clone().any(|n| n == part.name)) else {
            if is_optional {
                continue;
            }
            return Err(Mismatch { at, wanted: Wanted::Names(names.collect()) });
        };
        let is_default = is_optional && names.next() == Some(&*found.name);
        if !is_default {
            if !name.is_empty() {
                name.push('.');
            }
            name += &found.name;
        }
        match index {
            Some(index) => indexed(index, found, &mut name, &mut vectors)
                .map_err(|wanted| Mismatch { at, wanted })?,
            None if found.index.is_some() => {
                return Err(Mismatch { at, wanted: Wanted::NoIndex });
            }
            None => {}
        }
        at += 1;
    }
    Ok(Match { name, vectors, parts: at })
}

/// Takes the index of a part as its pattern (`#8?`, `@4`) says.
#[expect(clippy::expect_used, reason = "a pattern without its limit must not match")]
fn indexed(
    pattern: &'static str,
    part: &Part,
    name: &mut String,
    vectors: &mut Option<(u32, u32)>,
) -> Result<(), Wanted> {
    let is_optional = pattern.ends_with('?');
    let digits = pattern.trim_matches(|c: char| !c.is_ascii_digit());
    let most = digits.parse().expect("patterns are constants with numbers, which a test reads");
    let wanted = Wanted::Index(most);
    let is_range = pattern.starts_with('@');
    let range = match &part.index {
        None if is_optional && is_range => (0, most - 1),
        None if is_optional => (0, 0),
        Some((Index::One(n), _)) => (*n, *n),
        Some((Index::Range(first, last), _)) if is_range => (*first, *last),
        _ => return Err(wanted),
    };
    if range.0 > range.1 || range.1 >= most {
        return Err(wanted);
    }
    match is_range {
        true => *vectors = Some(range),
        false => *name += &format!("[{}]", range.0),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by it")]

    use super::*;

    fn path(text: &str) -> Vec<Part> {
        let part = |text: &str| {
            let (name, index) = text.split_once('[').map_or((text, None), |(name, index)| {
                let index = index.trim_end_matches(']');
                let number = |text: &str| text.parse().unwrap();
                let index = match index.split_once("..") {
                    Some((a, b)) => Index::Range(number(a), number(b)),
                    None => Index::One(number(index)),
                };
                (name, Some((index, Span::default())))
            });
            Part { name: name.to_owned(), span: Span::default(), index }
        };
        // The points of a range are not those between parts.
        text.replace("..", "~").split('.').map(|text| part(&text.replace('~', ".."))).collect()
    }

    #[test]
    fn paths_have_one_name() {
        let light = "state.light#8.spot.direction";
        let found = find(light, &path("state.light[1].spot.direction.x")).unwrap();
        assert_eq!((&*found.name, found.parts), ("state.light[1].spot.direction", 4));
        let side = "state.material.?front|back.ambient|diffuse";
        assert_eq!(
            find(side, &path("state.material.front.diffuse")).unwrap().name,
            "state.material.diffuse"
        );
        assert_eq!(
            find(side, &path("state.material.back.diffuse")).unwrap().name,
            "state.material.back.diffuse"
        );
        let rows = "state.matrix.modelview#1?.row@4";
        let found = find(rows, &path("state.matrix.modelview.row[1..2]")).unwrap();
        assert_eq!((&*found.name, found.vectors), ("state.matrix.modelview[0].row", Some((1, 2))));
    }

    #[test]
    fn indices_have_limits() {
        let light = "state.light#8.ambient";
        let wanted = |text: &str| find(light, &path(text)).unwrap_err();
        assert_eq!(wanted("state.light[8].ambient"), Mismatch { at: 1, wanted: Wanted::Index(8) });
        assert_eq!(wanted("state.light.ambient"), Mismatch { at: 1, wanted: Wanted::Index(8) });
        assert_eq!(wanted("state.light[0].blue").at, 2);
        let none = find("state.fog.color", &path("state.fog[1].color")).unwrap_err();
        assert_eq!(none, Mismatch { at: 1, wanted: Wanted::NoIndex });
    }
}
