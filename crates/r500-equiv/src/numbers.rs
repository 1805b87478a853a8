//! Numbers as text.

/// Returns the shortest decimal that reads back as the same float.
pub(crate) fn number(value: f32) -> String {
    let is_plain = value == 0.0 || !value.is_finite() || (1e-4..1e7).contains(&value.abs());
    if is_plain { value.to_string() } else { format!("{value:e}") }
}

/// Returns `(a, b, c)`.
pub(crate) fn vector(values: &[f32]) -> String {
    let texts: Vec<String> = values.iter().copied().map(number).collect();
    format!("({})", texts.join(", "))
}
