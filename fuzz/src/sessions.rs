//! Inputs and outputs of the editor servers.

use serde_json::Value;

/// A fuzzer's input as a session.
pub enum Session<'a> {
    /// Bytes as a client sends them.
    Wire(&'a [u8]),
    /// A line for each message, whose content the target chooses.
    Messages(Vec<&'a [u8]>),
}

impl<'a> Session<'a> {
    /// Returns the session of an input. A header, which begins with `C`, begins bytes of the wire.
    pub fn of(bytes: &'a [u8]) -> Self {
        match bytes.first() {
            Some(b'C' | b'c') => Self::Wire(bytes),
            _ => Self::Messages(bytes.split(|byte| *byte == b'\n').collect()),
        }
    }
}

/// Returns a message with its header.
pub fn framed(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Returns the messages of an output, which consists of whole ones.
pub fn messages(mut out: &[u8]) -> Vec<Value> {
    let mut all = Vec::new();
    while !out.is_empty() {
        let rest = out.strip_prefix(b"Content-Length: ").expect("a header");
        let end = rest.windows(4).position(|four| four == b"\r\n\r\n").expect("a header's end");
        let length = std::str::from_utf8(&rest[..end]).expect("digits");
        let (body, rest) = rest[end + 4..].split_at(length.parse().expect("a length"));
        all.push(serde_json::from_slice(body).expect("JSON"));
        out = rest;
    }
    all
}
