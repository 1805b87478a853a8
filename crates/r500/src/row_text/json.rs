//! Rows in JSON: a list, parsed row by row, or a sequence of objects (JSON lines).

use std::borrow::Cow;
use std::fmt;
use std::io::{BufRead, Cursor, Read};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};

use super::{Keys, Lines, Names, Row, Stop, Take};
use crate::register_text;

/// Calls `take` for the rows of a text: a list of rows, a single row, or a sequence of rows.
pub(super) fn from_text<E>(text: &str, names: Names<'_>, take: Take<'_, E>) -> Result<(), Stop<E>> {
    let mut reader = Rows { keys: Keys::new(names), take };
    let (_, unfinished) = reader.values(text)?;
    unfinished.map_or(Ok(()), |error| Err(Stop::Wrong(error.to_string())))
}

/// Calls `take` for the rows of a sequence of objects, mostly one a line. `first` is the first line.
pub(super) fn from_lines<E>(
    first: String,
    mut lines: Lines<impl BufRead>,
    names: Names<'_>,
    take: Take<'_, E>,
) -> Result<(), Stop<E>> {
    let mut reader = Rows { keys: Keys::new(names), take };
    // An incomplete value, and the line where it begins.
    let (mut text, mut line) = (first, lines.number);
    loop {
        let at = |message: String| Stop::Wrong(format!("line {line}: {message}"));
        let (done, unfinished) = reader.values(&text).map_err(|stop| match stop {
            Stop::Wrong(message) => at(message),
            stop => stop,
        })?;
        text.drain(..done);
        let next = lines.next()?.map(str::to_owned);
        match (next, unfinished) {
            (Some(next), None) => {
                text = next;
                line = lines.number;
            }
            (Some(next), Some(_)) => text.push_str(&next),
            (None, None) => return Ok(()),
            (None, Some(error)) => return Err(at(error.to_string())),
        }
    }
}

/// Calls `take` for the rows of a list while it is parsed, and of the text after it. `begun` is already read.
pub(super) fn from_list<E>(
    begun: String,
    input: impl BufRead,
    names: Names<'_>,
    take: Take<'_, E>,
) -> Result<(), Stop<E>> {
    let mut input = Cursor::new(begun).chain(input);
    let mut reader = Rows { keys: Keys::new(names), take };
    loop {
        match next_letter(&mut input)? {
            None => return Ok(()),
            Some(b'[') => {
                let mut stop = None;
                let list = List { rows: &mut reader, stop: &mut stop };
                let mut json = serde_json::Deserializer::from_reader(&mut input);
                let result = list.deserialize(&mut json);
                if let Some(stop) = stop {
                    return Err(stop);
                }
                result.map_err(|error| match error.is_io() {
                    true => Stop::Unreadable(error.into()),
                    false => Stop::Wrong(error.to_string()),
                })?;
            }
            Some(_) => {
                let Rows { keys, take } = reader;
                let mut lines = Lines::new(input);
                let first = lines.next()?.unwrap_or_default().to_owned();
                return from_lines(first, lines, keys.names, take);
            }
        }
    }
}

/// Returns the next byte that is not white space, without consuming it.
fn next_letter<E>(input: &mut impl BufRead) -> Result<Option<u8>, Stop<E>> {
    loop {
        let buffer = input.fill_buf()?;
        let Some(&byte) = buffer.first() else { return Ok(None) };
        if !byte.is_ascii_whitespace() {
            return Ok(Some(byte));
        }
        input.consume(1);
    }
}

/// The consumer of rows.
struct Rows<'j, 't, E> {
    keys: Keys<'j>,
    take: Take<'t, E>,
}

impl<E> Rows<'_, '_, E> {
    /// Consumes the rows of all complete values. Returns their length, and the error of an incomplete last one.
    fn values(&mut self, text: &str) -> Result<(usize, Option<serde_json::Error>), Stop<E>> {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value<'_>>();
        let mut done = 0;
        while let Some(value) = values.next() {
            match value {
                Ok(Value::List(rows)) => {
                    for (i, row) in rows.into_iter().enumerate() {
                        self.row(row).map_err(|stop| in_list(i, stop))?;
                    }
                }
                Ok(Value::Row(row)) => self.row(row)?,
                Err(error) if error.is_eof() => return Ok((done, Some(error))),
                Err(error) => return Err(Stop::Wrong(error.to_string())),
            }
            done = values.byte_offset();
        }
        Ok((text.len(), None))
    }

    fn row(&mut self, item: Item<'_>) -> Result<(), Stop<E>> {
        let mut row = Row::default();
        match item {
            Item::Object(values) => {
                for (key, values) in values {
                    self.keys.set(&mut row, &key, &values.0?)?;
                }
            }
            Item::Bare(values) => self.keys.set(&mut row, self.keys.names.first(), &values.0?)?,
        }
        (self.take)(row).map_err(Stop::Failed)
    }
}

fn in_list<E>(row: usize, stop: Stop<E>) -> Stop<E> {
    match stop {
        Stop::Wrong(message) => Stop::Wrong(format!("row {row}: {message}")),
        stop => stop,
    }
}

/// A list with rows that are consumed while it is parsed.
struct List<'l, 'j, 't, E> {
    rows: &'l mut Rows<'j, 't, E>,
    /// Why the rows end, if that is not a syntax error.
    stop: &'l mut Option<Stop<E>>,
}

impl<'de, E> DeserializeSeed<'de> for List<'_, '_, '_, E> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de, E> Visitor<'de> for List<'_, '_, '_, E> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut i = 0;
        while let Some(item) = list.next_element::<Item<'_>>()? {
            if let Err(stop) = self.rows.row(item) {
                *self.stop = Some(in_list(i, stop));
                return Err(A::Error::custom("stopped"));
            }
            i += 1;
        }
        Ok(())
    }
}

/// A top-level value.
enum Value<'a> {
    List(Vec<Item<'a>>),
    Row(Item<'a>),
}

/// A row.
enum Item<'a> {
    Object(Vec<(Cow<'a, str>, Numbers)>),
    /// Values of the first register.
    Bare(Numbers),
}

/// Numbers, or the error for another value.
struct Numbers(Result<Vec<f32>, String>);

impl<'de: 'a, 'a> Deserialize<'de> for Value<'a> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct ValueVisitor;
        impl<'de> Visitor<'de> for ValueVisitor {
            type Value = Value<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a row or a list of rows")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value<'de>, A::Error> {
                let mut rows = Vec::new();
                while let Some(row) = list.next_element()? {
                    rows.push(row);
                }
                Ok(Value::List(rows))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Value<'de>, A::Error> {
                ItemVisitor.visit_map(map).map(Value::Row)
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Value<'de>, E> {
                ItemVisitor.visit_u64(value).map(Value::Row)
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Value<'de>, E> {
                ItemVisitor.visit_i64(value).map(Value::Row)
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Value<'de>, E> {
                ItemVisitor.visit_f64(value).map(Value::Row)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Value<'de>, E> {
                ItemVisitor.visit_str(text).map(Value::Row)
            }
        }
        json.deserialize_any(ValueVisitor)
    }
}

struct ItemVisitor;

impl<'de: 'a, 'a> Deserialize<'de> for Item<'a> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_any(ItemVisitor)
    }
}

impl<'de> Visitor<'de> for ItemVisitor {
    type Value = Item<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row: an object with registers as keys, or the numbers of the first one")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Item<'de>, A::Error> {
        let mut values = Vec::with_capacity(map.size_hint().unwrap_or(2));
        while let Some(Key(key)) = map.next_key()? {
            values.push((key, map.next_value()?));
        }
        Ok(Item::Object(values))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Item<'de>, A::Error> {
        NumbersVisitor.visit_seq(list).map(Item::Bare)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Item<'de>, E> {
        NumbersVisitor.visit_u64(value).map(Item::Bare)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Item<'de>, E> {
        NumbersVisitor.visit_i64(value).map(Item::Bare)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Item<'de>, E> {
        NumbersVisitor.visit_f64(value).map(Item::Bare)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Item<'de>, E> {
        NumbersVisitor.visit_str(text).map(Item::Bare)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Item<'de>, E> {
        NumbersVisitor.visit_bool(value).map(Item::Bare)
    }

    fn visit_unit<E: Error>(self) -> Result<Item<'de>, E> {
        NumbersVisitor.visit_unit().map(Item::Bare)
    }
}

/// A key, borrowed if it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a register")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        json.deserialize_str(KeyVisitor)
    }
}

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_any(NumbersVisitor)
    }
}

struct NumbersVisitor;

impl NumbersVisitor {
    fn one<E>(value: f32) -> Result<Numbers, E> {
        Ok(Numbers(Ok(vec![value])))
    }

    fn wrong<E>(what: &str) -> Result<Numbers, E> {
        Ok(Numbers(Err(format!("{what} is not a number"))))
    }
}

impl<'de> Visitor<'de> for NumbersVisitor {
    type Value = Numbers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or a list of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Numbers, A::Error> {
        let mut all = Vec::with_capacity(4);
        let mut wrong = None;
        while let Some(Number(number)) = list.next_element()? {
            match number {
                Ok(number) => all.push(number),
                Err(message) => wrong = wrong.or(Some(message)),
            }
        }
        Ok(Numbers(wrong.map_or(Ok(all), Err)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Numbers, A::Error> {
        while map.next_entry::<de::IgnoredAny, de::IgnoredAny>()?.is_some() {}
        Self::wrong("an object")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Numbers, E> {
        Self::one(value as f32)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Numbers, E> {
        Self::one(value as f32)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Numbers, E> {
        Self::one(rounded_once(value))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Numbers, E> {
        Ok(Numbers(register_text::float(text).map(|value| vec![value])))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Numbers, E> {
        Self::wrong(if value { "`true`" } else { "`false`" })
    }

    fn visit_unit<E: Error>(self) -> Result<Numbers, E> {
        Self::wrong("`null`")
    }
}

/// A number of a list, or the error for another value.
struct Number(Result<f32, String>);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct NumberVisitor;
        impl<'de> Visitor<'de> for NumberVisitor {
            type Value = Number;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Number, E> {
                Ok(Number(Ok(value as f32)))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Number, E> {
                Ok(Number(Ok(value as f32)))
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Number, E> {
                Ok(Number(Ok(rounded_once(value))))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Number, E> {
                Ok(Number(register_text::float(text)))
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<Number, E> {
                Ok(Number(Err(format!("`{value}` is not a number"))))
            }

            fn visit_unit<E: Error>(self) -> Result<Number, E> {
                Ok(Number(Err("`null` is not a number".to_owned())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Number, A::Error> {
                while list.next_element::<de::IgnoredAny>()?.is_some() {}
                Ok(Number(Err("a list is not a number".to_owned())))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Number, A::Error> {
                while map.next_entry::<de::IgnoredAny, de::IgnoredAny>()?.is_some() {}
                Ok(Number(Err("an object is not a number".to_owned())))
            }
        }
        json.deserialize_any(NumberVisitor)
    }
}

/// Returns the float nearest to the decimal that a double was parsed from. The double may be halfway between two floats
/// where the decimal is not, and denormals are rounded at other positions. In these cases the shortest decimal of the
/// double decides.
fn rounded_once(value: f64) -> f32 {
    const DROPPED_BITS: u32 = 29;
    let dropped = value.to_bits() & ((1 << DROPPED_BITS) - 1);
    let halfway = dropped == 1 << (DROPPED_BITS - 1);
    if halfway || value.abs() < f64::from(f32::MIN_POSITIVE) * 2.0 {
        return value.to_string().parse().unwrap_or(value as f32);
    }
    value as f32
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn numbers_are_rounded_once() {
        // The last one is slightly more than halfway between two floats, and the nearest double is exactly halfway.
        for text in ["0.1", "1e-40", "-3.4028235e38", "16777217.0", "1.000000059604644776"] {
            let double: f64 = text.parse().unwrap();
            let float: f32 = text.parse().unwrap();
            assert_eq!(rounded_once(double), float, "{text}");
        }
    }
}
