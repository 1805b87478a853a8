//! Message framing: a header with the length, then JSON.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, sync_channel};

use serde_json::{Value, json};

/// Size limit of a message in bytes; a longer one is skipped.
const MOST: usize = 64 << 20;

/// Limit of queued messages. A client that sends faster than the server answers must wait.
const MOST_WAITING: usize = 256;

/// Something that arrived.
#[derive(Debug)]
pub(super) enum Incoming {
    Message(Value),
    /// An invalid message: the reason.
    Malformed(String),
    /// The end of the input.
    End,
}

/// Error codes of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    ParseError = -32700,
    InvalidRequest = -32600,
    MethodNotFound = -32601,
    InvalidParams = -32602,
    NotInitialized = -32002,
    Cancelled = -32800,
    Failed = -32803,
}

/// Returns a queue of messages, read on a background thread in order of arrival.
pub(super) fn incoming(input: impl Read + Send + 'static) -> Receiver<Incoming> {
    let (send, receive) = sync_channel(MOST_WAITING);
    std::thread::spawn(move || {
        let mut input = BufReader::new(input);
        loop {
            let message = match read(&mut input) {
                Ok(Some(Ok(message))) => Incoming::Message(message),
                Ok(Some(Err(why))) => Incoming::Malformed(why),
                Ok(None) | Err(_) => Incoming::End,
            };
            let end = matches!(message, Incoming::End);
            if send.send(message).is_err() || end {
                return;
            }
        }
    });
    receive
}

/// Returns the next message, or why it is invalid; `None` at the end.
fn read(input: &mut impl BufRead) -> io::Result<Option<Result<Value, String>>> {
    let mut length: Option<usize> = None;
    let mut some = false;
    loop {
        let mut line = Vec::new();
        // A header is short; a line without an end is not a header.
        if input.by_ref().take(8192).read_until(b'\n', &mut line)? == 0 {
            return Ok(some.then(|| Err("the input ends in a header".to_owned())));
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        if line.is_empty() {
            // Empty lines before a header are harmless.
            if some {
                break;
            }
            continue;
        }
        some = true;
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok();
        }
    }
    let Some(length) = length else {
        return Ok(Some(Err("a header without Content-Length".to_owned())));
    };
    if length > MOST {
        io::copy(&mut input.by_ref().take(length as u64), &mut io::sink())?;
        return Ok(Some(Err(format!("a message of {length} bytes"))));
    }
    let mut body = Vec::new();
    if input.by_ref().take(length as u64).read_to_end(&mut body)? < length {
        return Ok(Some(Err("the input ends in a message".to_owned())));
    }
    Ok(Some(serde_json::from_slice(&body).map_err(|error| error.to_string())))
}

/// Sends a message.
pub(super) fn send(out: &mut impl Write, message: &Value) -> io::Result<()> {
    // In a JSON string, an escape denotes the character itself.
    let body = message.to_string();
    let body = r500::asm::visible(&body);
    write!(out, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    out.flush()
}

/// Answers a request.
pub(super) fn answer(out: &mut impl Write, id: &Value, result: &Value) -> io::Result<()> {
    send(out, &json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

/// Answers a request with an error.
pub(super) fn fail(out: &mut impl Write, id: &Value, code: Code, message: &str) -> io::Result<()> {
    let error = json!({ "code": code as i32, "message": message });
    send(out, &json!({ "jsonrpc": "2.0", "id": id, "error": error }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use super::*;

    #[test]
    fn messages_are_read_and_what_is_none_is_passed_over() {
        let input = b"content-length: 2\r\nContent-Type: x\r\n\r\n{}Content-Length: 3\r\n\r\n{]}\
            Nonsense\r\n\r\n\r\nContent-Length: 4\r\n\r\n[1] Content-Length: 9\r\n\r\n{}";
        let mut input = &input[..];
        let mut next = || read(&mut input).unwrap();
        assert_eq!(next(), Some(Ok(json!({}))));
        assert!(next().unwrap().is_err());
        assert!(next().unwrap().unwrap_err().contains("without Content-Length"));
        assert_eq!(next(), Some(Ok(json!([1]))));
        assert!(next().unwrap().unwrap_err().contains("ends in a message"));
        assert_eq!(next(), None);
    }
}
