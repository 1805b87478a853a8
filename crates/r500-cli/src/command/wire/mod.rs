//! The wire of the editor servers: messages with a header that has their length, read ahead within limits.
//!
//! | module | content |
//! | --- | --- |
//! | [`queue`] | the messages that wait |
//! | [`request_key`] | the names of requests, by which they are cancelled |

mod queue;
pub(super) mod request_key;

/// The synchronization of [`queue`]. `tools/loom` replaces it.
mod sync {
    pub(super) use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
}

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::Arc;

use serde_json::{Value, json};

use queue::{Capacity, Queue, Taken};
use request_key::{Mentions, RequestKey};

/// Size limit of a message in bytes; a longer one is skipped.
const MOST: usize = 64 << 20;

/// Limit of messages that wait. A client that sends faster than the server answers must wait.
const CAPACITY: Capacity = Capacity { items: 256, bytes: 16 << 20 };

/// Something that arrived.
#[derive(Debug)]
pub(super) enum Incoming {
    Message(Value),
    /// A request that was cancelled while it waited.
    Cancelled(Value),
    /// An invalid message: the reason.
    Malformed(String),
    /// The end of the input.
    End,
}

/// The messages of a client, in order of arrival. The bytes of a message become [`Value`]s, which take more memory, when it is its
/// turn.
#[derive(Debug)]
pub(super) struct Messages(Arc<Waiting>);

/// A message's JSON, or why there is none.
type Waiting = Queue<RequestKey, Result<Vec<u8>, String>>;

impl Messages {
    /// Reads messages on a background thread. `mentions` finds the requests that a message names.
    pub(super) fn new(input: impl Read + Send + 'static, mentions: fn(&[u8]) -> Mentions) -> Self {
        let queue = Arc::new(Queue::new(CAPACITY));
        let messages = Self(queue.clone());
        std::thread::spawn(move || read_all(input, mentions, &queue));
        messages
    }

    /// Returns messages that have all arrived; as many as can wait.
    #[cfg(test)]
    pub(super) fn arrived(input: &[u8], mentions: fn(&[u8]) -> Mentions) -> Self {
        let queue = Arc::new(Queue::new(CAPACITY));
        read_all(input, mentions, &queue);
        Self(queue)
    }

    /// Returns the next message; waits for it.
    pub(super) fn next(&self) -> Incoming {
        let Some(Taken { value, cancelled }) = self.0.take() else { return Incoming::End };
        let parsed =
            value.and_then(|json| serde_json::from_slice(&json).map_err(|e| e.to_string()));
        match parsed {
            Ok(message) if cancelled => Incoming::Cancelled(message),
            Ok(message) => Incoming::Message(message),
            Err(why) => Incoming::Malformed(why),
        }
    }

    /// Returns whether the client has nothing to do but wait.
    pub(super) fn is_idle(&self) -> bool {
        self.0.is_idle()
    }
}

impl Drop for Messages {
    /// The thread that reads ends with its next message.
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Reads messages until the input or the queue ends.
fn read_all(input: impl Read, mentions: fn(&[u8]) -> Mentions, queue: &Waiting) {
    let mut input = BufReader::new(input);
    while let Ok(Some(message)) = read(&mut input) {
        let Mentions { request, cancels } = message.as_deref().map(mentions).unwrap_or_default();
        if let Some(cancelled) = &cancels {
            queue.cancel(cancelled);
        }
        let bytes = message.as_ref().map_or_else(String::len, Vec::len);
        if !queue.push(request, bytes, message) {
            return;
        }
    }
    queue.close();
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

/// Returns the JSON of the next message, or why there is none; `None` at the end.
fn read(input: &mut impl BufRead) -> io::Result<Option<Result<Vec<u8>, String>>> {
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
    Ok(Some(Ok(body)))
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
    #![allow(clippy::panic)]

    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;

    /// Messages that name no requests.
    fn unnamed(_: &[u8]) -> Mentions {
        Mentions::default()
    }

    #[test]
    fn messages_are_read_and_what_is_none_is_passed_over() {
        let input = b"content-length: 2\r\nContent-Type: x\r\n\r\n{}Content-Length: 3\r\n\r\n{]}\
            Nonsense\r\n\r\n\r\nContent-Length: 4\r\n\r\n[1] Content-Length: 9\r\n\r\n{}";
        let messages = Messages::arrived(input, unnamed);
        let message = || match messages.next() {
            Incoming::Message(message) => message,
            other => panic!("{other:?}"),
        };
        let malformed = || match messages.next() {
            Incoming::Malformed(why) => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(message(), json!({}));
        assert!(malformed().contains("key must be a string"));
        assert!(malformed().contains("without Content-Length"));
        assert_eq!(message(), json!([1]));
        assert!(malformed().contains("ends in a message"));
        assert!(matches!(messages.next(), Incoming::End));
    }

    /// An input that counts what is read of it.
    struct Counted<R>(R, Arc<AtomicUsize>);

    impl<R: Read> Read for Counted<R> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let count = self.0.read(to)?;
            self.1.fetch_add(count, Relaxed);
            Ok(count)
        }
    }

    /// A server that answers nothing, because its client does not read, leaves further messages in the client's pipe.
    #[test]
    fn what_is_read_ahead_is_bounded() {
        for (bytes, total) in [(100, 20_000), (1 << 20, 64)] {
            let message = format!("Content-Length: {bytes}\r\n\r\n1{}", " ".repeat(bytes - 1));
            let input = io::Cursor::new(message.repeat(total));
            let count = Arc::new(AtomicUsize::new(0));
            let messages = Messages::new(Counted(input, count.clone()), unnamed);
            // As many as fit, one that waits for room, and a buffer of BufReader.
            let fit = CAPACITY.items.min(CAPACITY.bytes / bytes);
            let most = (fit + 1) * message.len() + 8192;
            while count.load(Relaxed) < (fit + 1) * message.len() {
                std::thread::yield_now();
            }
            for taken in 0..total {
                let read = count.load(Relaxed);
                assert!(
                    read <= most + taken * message.len(),
                    "{read} bytes before message {taken}"
                );
                assert!(matches!(messages.next(), Incoming::Message(_)));
            }
            assert!(matches!(messages.next(), Incoming::End));
        }
    }
}
