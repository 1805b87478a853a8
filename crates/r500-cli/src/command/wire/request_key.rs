//! The names of requests, by which they are cancelled.
//!
//! They are found before a message is parsed: the rest of the message is passed over, and takes no memory.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

/// The name of a request: `id` in the Language Server Protocol, `seq` in the Debug Adapter Protocol.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::command) enum RequestKey {
    Number(i64),
    Text(String),
}

/// The requests that a message names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::command) struct Mentions {
    /// The request that the message is.
    pub(in crate::command) request: Option<RequestKey>,
    /// The request that it cancels.
    pub(in crate::command) cancels: Option<RequestKey>,
}

impl<'de> Deserialize<'de> for RequestKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Key;

        impl Visitor<'_> for Key {
            type Value = RequestKey;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer or a text")
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<RequestKey, E> {
                Ok(RequestKey::Number(number))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<RequestKey, E> {
                i64::try_from(number).map(RequestKey::Number).map_err(E::custom)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<RequestKey, E> {
                Ok(RequestKey::Text(text.to_owned()))
            }
        }

        deserializer.deserialize_any(Key)
    }
}

/// Returns the requests that a message of the Language Server Protocol names.
pub(in crate::command) fn in_lsp(message: &[u8]) -> Mentions {
    #[derive(Deserialize)]
    struct Head<'a> {
        #[serde(borrow)]
        method: Option<std::borrow::Cow<'a, str>>,
        id: Option<RequestKey>,
    }
    #[derive(Deserialize)]
    struct Cancel {
        params: CancelParams,
    }
    #[derive(Deserialize)]
    struct CancelParams {
        id: RequestKey,
    }
    // The server reports what is not understood here.
    let Ok(head) = serde_json::from_slice::<Head<'_>>(message) else { return Mentions::default() };
    match head.method.as_deref() {
        Some("$/cancelRequest") => Mentions {
            request: head.id,
            cancels: serde_json::from_slice::<Cancel>(message).ok().map(|cancel| cancel.params.id),
        },
        Some(_) => Mentions { request: head.id, cancels: None },
        // A response.
        None => Mentions::default(),
    }
}

/// Returns the requests that a message of the Debug Adapter Protocol names.
pub(in crate::command) fn in_dap(message: &[u8]) -> Mentions {
    #[derive(Deserialize)]
    struct Head<'a> {
        #[serde(borrow, rename = "type")]
        kind: std::borrow::Cow<'a, str>,
        #[serde(borrow)]
        command: Option<std::borrow::Cow<'a, str>>,
        seq: Option<RequestKey>,
    }
    #[derive(Deserialize)]
    struct Cancel {
        arguments: CancelArguments,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct CancelArguments {
        request_id: RequestKey,
    }
    let Ok(head) = serde_json::from_slice::<Head<'_>>(message) else { return Mentions::default() };
    if head.kind != "request" {
        return Mentions::default();
    }
    let cancels = (head.command.as_deref() == Some("cancel"))
        .then(|| serde_json::from_slice::<Cancel>(message).ok())
        .flatten()
        .map(|cancel| cancel.arguments.request_id);
    Mentions { request: head.seq, cancels }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(number: i64) -> Option<RequestKey> {
        Some(RequestKey::Number(number))
    }

    #[test]
    fn requests_of_editors_have_ids() {
        let named = |request, cancels| Mentions { request, cancels };
        let text = |text: &str| Some(RequestKey::Text(text.to_owned()));
        for (message, wanted) in [
            (r#"{"id": 3, "method": "x", "params": [1, {}]}"#, named(number(3), None)),
            (r#"{"method": "x", "id": "a\u0062"}"#, named(text("ab"), None)),
            (r#"{"method": "$/cancelRequest", "params": {"id": -3}}"#, named(None, number(-3))),
            (r#"{"params": {"id": "3"}, "method": "$\/cancelRequest"}"#, named(None, text("3"))),
            (r#"{"method": "x", "params": {"id": 3}}"#, named(None, None)),
            // Neither is a request of the client's.
            (r#"{"id": 3, "result": 1}"#, named(None, None)),
            (r#"{"id": [[[]]], "method": "x"}"#, named(None, None)),
            (r#"{"id": 1.5, "method": "x"}"#, named(None, None)),
            (r#"{"method": "$/cancelRequest", "params": 3}"#, named(None, None)),
            ("[1", named(None, None)),
        ] {
            assert_eq!(in_lsp(message.as_bytes()), wanted, "{message}");
        }
    }

    #[test]
    fn requests_of_debuggers_have_sequence_numbers() {
        for (message, request, cancels) in [
            (r#"{"type": "request", "seq": 3, "command": "next"}"#, number(3), None),
            (
                r#"{"type": "request", "seq": 4, "command": "cancel", "arguments": {"requestId": 3}}"#,
                number(4),
                number(3),
            ),
            (r#"{"type": "request", "seq": 4, "command": "cancel"}"#, number(4), None),
            (r#"{"type": "response", "seq": 4, "command": "cancel"}"#, None, None),
            (r#"{"seq": 4}"#, None, None),
        ] {
            assert_eq!(in_dap(message.as_bytes()), Mentions { request, cancels }, "{message}");
        }
    }
}
