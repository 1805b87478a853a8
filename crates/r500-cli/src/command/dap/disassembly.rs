//! The disassembly view: instructions with their dwords. Addresses are the numbers of instructions.

use serde_json::{Value, json};

use super::frames;
use super::target::{Inspected, Target};

/// Limit of the instructions of a response.
const MOST: i64 = 10_000;

/// Returns the instructions of a `disassemble` request. Addresses without an instruction are marked as invalid.
pub(super) fn disassemble<M: Inspected>(
    target: &Target<M>,
    arguments: &Value,
    from: usize,
) -> Result<Value, String> {
    let count = arguments["instructionCount"]
        .as_i64()
        .filter(|count| (0..=MOST).contains(count))
        .ok_or_else(|| format!("`instructionCount` is not a number from 0 to {MOST}"))?;
    let first = address(&arguments["memoryReference"])?;
    let first = plus(plus(first, &arguments["offset"])?, &arguments["instructionOffset"])?;
    plus(first, &json!(count))?;
    let all = first..first + count;
    let instructions: Vec<Value> = all.map(|at| instruction(target, at, from)).collect();
    Ok(json!({ "instructions": instructions }))
}

/// Adds an optional offset of a request to an address.
pub(super) fn plus(address: i64, offset: &Value) -> Result<i64, String> {
    let number = if offset.is_null() { Some(0) } else { offset.as_i64() };
    number
        .and_then(|number| address.checked_add(number))
        .ok_or_else(|| format!("`{offset}` is not an offset"))
}

/// Parses an address: decimal, or hexadecimal after `0x`.
pub(super) fn address(reference: &Value) -> Result<i64, String> {
    let text = reference.as_str().unwrap_or_default();
    let number = match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    number
        .map(i64::from)
        .ok_or_else(|| format!("`{text}` is not the address of an instruction, such as 12 or 0xc"))
}

fn instruction<M: Inspected>(target: &Target<M>, at: i64, from: usize) -> Value {
    let session = &target.session;
    let found = u32::try_from(at).ok().and_then(|address| {
        let dwords = session.recording.machine().dwords(address)?;
        Some((address, dwords, session.texts.get(address)?))
    });
    let Some((address, dwords, text)) = found else {
        return json!({
            "address": at.to_string(), "instruction": "no instruction", "presentationHint": "invalid",
        });
    };
    let words: Vec<String> = dwords.iter().map(|word| format!("{word:08x}")).collect();
    let mut value = json!({
        "address": address.to_string(),
        "instructionBytes": words.join(" "),
        "instruction": text.split_whitespace().collect::<Vec<_>>().join(" "),
    });
    if let Some(label) = session.map.label_at(address) {
        value["symbol"] = json!(format!("@{label}"));
    }
    if let Some((first, last)) = session.map.line_of(address) {
        value["location"] = frames::source(target);
        value["line"] = json!(first + from - 1);
        value["endLine"] = json!(last + from - 1);
    }
    value
}
