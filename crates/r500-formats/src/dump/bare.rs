//! Numbers without offsets: bytes in hex (`xxd -p`, `od -An -t x1`), and decimal lists.

use super::MOST;
use super::group::Group;
use super::line::{decimal, hex_digits};

/// Returns how the numbers of a text are printed that is nothing but bytes in hex, or decimal numbers; `None` for other texts. The beginning
/// of a text is enough; it may be cut anywhere.
pub(super) fn group(text: &str) -> Option<Group> {
    let bytes = is_bytes(text).then_some(Group::Bytes);
    bytes.or_else(|| is_decimals(text).then_some(Group::Decimals))
}

/// Returns the bytes of such a text in the order of memory; `None` if one is not whole, or there are too many.
pub(super) fn bytes(text: &str, group: Group) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for token in tokens(text) {
        group.append(&mut bytes, token)?;
        if bytes.len() > MOST * 4 {
            return None;
        }
    }
    Some(bytes)
}

/// Two digits a token, or more than a dword without a blank: eight digits are a dword of hex text.
fn is_bytes(text: &str) -> bool {
    let mut tokens = tokens(text);
    let Some(first) = tokens.next() else { return false };
    let byte = |token: &str| token.len() == 2 && hex_digits(token);
    match first.len() {
        // A number of two digits alone may be anything.
        2 => byte(first) && tokens.next().is_some_and(byte) && all_but_cut(tokens, byte),
        // Sixteen digits may be a number of 64 bits.
        length @ 18.. => {
            hex_digits(first)
                && length.is_multiple_of(2)
                && all_but_cut(tokens, |token| token.len() <= length && hex_digits(token))
        }
        _ => false,
    }
}

/// Decimal numbers as programs print them: no zeros before them, and not all of eight digits, as the dwords of hex text are.
fn is_decimals(text: &str) -> bool {
    let mut short = false;
    let mut count = 0;
    let all = all_but_cut(tokens(text), |token| {
        short |= token.len() != 8;
        count += 1;
        decimal(token)
    });
    all && short && count > 1
}

/// Returns whether all tokens are so, but for the last, of which only a part may be there.
fn all_but_cut<'a>(
    tokens: impl Iterator<Item = &'a str>,
    mut is: impl FnMut(&'a str) -> bool,
) -> bool {
    let mut tokens = tokens.peekable();
    while let Some(token) = tokens.next() {
        if !is(token) && (tokens.peek().is_some() || !hex_digits(token)) {
            return false;
        }
    }
    true
}

fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || c == ',').filter(|token| !token.is_empty())
}
