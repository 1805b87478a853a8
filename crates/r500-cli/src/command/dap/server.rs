//! The protocol: requests with their responses, and events.

use std::io::{self, Write};

use r500::exec::record::{Break, Direction, Stop};
use r500_stream::counted;
use serde_json::{Value, json};

use super::target::{BreakKind, Target};
use super::variables;
use crate::command::wire::{Incoming, Messages, send};

/// Serves until the client disconnects or is gone. Returns whether it disconnected.
pub(super) fn serve(messages: &Messages, out: &mut impl Write) -> io::Result<bool> {
    let mut server = Server::default();
    loop {
        match messages.next() {
            Incoming::Message(message) if message["type"] == "request" => {
                let command = message["command"].as_str().unwrap_or_default().to_owned();
                let answer = server.request(&command, &message["arguments"]);
                let mut events = std::mem::take(&mut server.events);
                server.answer(out, &message, &command, answer)?;
                for (event, body) in events.drain(..) {
                    server.send(out, json!({ "type": "event", "event": event, "body": body }))?;
                }
                if command == "disconnect" {
                    return Ok(true);
                }
            }
            // Responses are ignored: no requests are sent.
            Incoming::Message(_) => {}
            Incoming::Cancelled(request) => {
                let command = request["command"].as_str().unwrap_or_default();
                server.answer(out, &request, command, Err("cancelled".to_owned()))?;
            }
            Incoming::Malformed(why) => {
                let body = json!({ "category": "stderr", "output": format!("r500: {why}\n") });
                server.send(out, json!({ "type": "event", "event": "output", "body": body }))?;
            }
            Incoming::End => return Ok(false),
        }
    }
}

#[derive(Default)]
struct Server {
    sequence: u64,
    target: Option<Target>,
    stop_on_entry: bool,
    /// Whether the client counts lines and columns from 0.
    from_zero: bool,
    /// Events to send after the response.
    events: Vec<(&'static str, Value)>,
}

type Answer = Result<Value, String>;

/// The id of the only thread.
const THREAD: u64 = 1;
/// The source reference of the listing of a program without assembly.
const LISTING: u64 = 1;

impl Server {
    fn send(&mut self, out: &mut impl Write, mut message: Value) -> io::Result<()> {
        self.sequence += 1;
        message["seq"] = json!(self.sequence);
        send(out, &message)
    }

    fn answer(
        &mut self,
        out: &mut impl Write,
        request: &Value,
        command: &str,
        answer: Answer,
    ) -> io::Result<()> {
        let mut response = json!({
            "type": "response", "request_seq": request["seq"], "command": command, "success": answer.is_ok(),
        });
        match answer {
            Ok(body) => response["body"] = body,
            Err(why) => {
                response["message"] = json!(why);
                response["body"] = json!({ "error": { "id": 1, "format": why, "showUser": true } });
            }
        }
        self.send(out, response)
    }

    fn request(&mut self, command: &str, arguments: &Value) -> Answer {
        match command {
            "initialize" => {
                self.from_zero = arguments["linesStartAt1"] == false;
                return Ok(capabilities());
            }
            "launch" => return self.launch(arguments),
            "disconnect" | "terminate" => {
                if command == "terminate" {
                    self.events.push(("terminated", json!({})));
                }
                return Ok(json!({}));
            }
            // Requests are cancelled when this one arrives, before their turn.
            "cancel" => return Ok(json!({})),
            "threads" => {
                let name = self.target.as_ref().map_or_else(String::new, |target| {
                    let [x, y] = pixel(target);
                    format!("{}, pixel {x},{y}", target.name)
                });
                return Ok(json!({ "threads": [{ "id": THREAD, "name": name }] }));
            }
            _ => {}
        }
        let from_zero = self.from_zero;
        let target = self.target.as_mut().ok_or("nothing is launched")?;
        let moved = match command {
            "configurationDone" => {
                if self.stop_on_entry {
                    self.events.push(("stopped", stopped("entry", "")));
                    return Ok(json!({}));
                }
                target.run(Direction::Forward)
            }
            "restart" => {
                target.recording.seek(0);
                Stop::Reached
            }
            "continue" => target.run(Direction::Forward),
            "reverseContinue" => target.run(Direction::Backward),
            "next" => target.recording.step_over(Direction::Forward),
            "stepIn" => target.recording.step(Direction::Forward),
            "stepOut" => target.recording.step_out(Direction::Forward),
            "stepBack" => target.recording.step(Direction::Backward),
            "pause" => Stop::Reached,
            _ => return ask(target, command, arguments, from_zero),
        };
        let reason = match (moved, command) {
            (Stop::Break(_), _) => "breakpoint",
            (Stop::Reached, "pause") => "pause",
            _ => "step",
        };
        let text = match moved {
            Stop::Start => "the start of the program".to_owned(),
            Stop::End => target.end(),
            _ => String::new(),
        };
        self.events.push(("stopped", stopped(reason, &text)));
        Ok(json!({ "allThreadsContinued": true }))
    }

    fn launch(&mut self, arguments: &Value) -> Answer {
        let target = Target::launch(arguments)?;
        self.stop_on_entry = arguments["stopOnEntry"] != false;
        let text = format!(
            "{}: pixel {:?}, {} recorded, up to {}\n",
            target.name,
            pixel(&target),
            counted(target.recording.len(), "instruction"),
            target.end()
        );
        self.events.push(("output", json!({ "category": "console", "output": text })));
        self.target = Some(target);
        // The client may set breakpoints from now on.
        self.events.push(("initialized", json!({})));
        Ok(json!({}))
    }
}

fn pixel(target: &Target) -> [u32; 2] {
    let now = target.recording.now();
    [now.pixel().x, now.pixel().y]
}

fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsConditionalBreakpoints": true,
        "supportsFunctionBreakpoints": true,
        "supportsDataBreakpoints": true,
        "supportsEvaluateForHovers": true,
        "supportsStepBack": true,
        "supportsRestartRequest": true,
        "supportsTerminateRequest": true,
        "supportsCancelRequest": true,
    })
}

fn stopped(reason: &str, text: &str) -> Value {
    let mut body = json!({ "reason": reason, "threadId": THREAD, "allThreadsStopped": true });
    if !text.is_empty() {
        body["description"] = json!(format!("Stopped at {text}"));
        body["text"] = json!(text);
    }
    body
}

/// Handles requests that do not move the position.
fn ask(target: &mut Target, command: &str, arguments: &Value, from_zero: bool) -> Answer {
    let own = usize::from(from_zero);
    Ok(match command {
        "setBreakpoints" => {
            let ours = is_ours(target, &arguments["source"]);
            let wanted = arguments["breakpoints"].as_array().map_or(&[][..], Vec::as_slice);
            let mut breaks = Vec::new();
            let answers: Vec<Value> = wanted
                .iter()
                .map(|one| {
                    let line = one["line"].as_u64().and_then(|line| usize::try_from(line).ok());
                    let found =
                        line.filter(|_| ours).and_then(|line| target.map.address_of(line + own));
                    let (address, line) = found.ok_or("no instruction of the program is there")?;
                    breaks.push(target.break_at(address, one["condition"].as_str())?);
                    Ok(json!({ "verified": true, "line": line - own }))
                })
                .map(verified)
                .collect();
            // Other files have no instructions of this program, so their breakpoints do not affect it.
            if ours {
                target.set_breaks(BreakKind::Line, breaks);
            }
            json!({ "breakpoints": answers })
        }
        "setFunctionBreakpoints" => {
            set(target, BreakKind::Label, &arguments["breakpoints"], |target, one| {
                let name = one["name"].as_str().unwrap_or_default();
                let labels = || target.map.labels().collect::<Vec<_>>().join(", ");
                let address = target.map.label(name);
                let address = address.ok_or_else(|| {
                    format!("there is no label `{name}`; there are: {}", labels())
                })?;
                target.break_at(address, one["condition"].as_str())
            })
        }
        "dataBreakpointInfo" => {
            let name = arguments["name"].as_str().unwrap_or_default();
            // Without a reference the name is an expression.
            let listed = match arguments["variablesReference"].as_u64() {
                Some(owner) if owner != 0 => variables::variables(target, owner)?,
                _ => Vec::new(),
            };
            let listed = listed.iter().find(|variable| variable["name"] == name);
            let text =
                listed.and_then(|variable| variable["evaluateName"].as_str()).unwrap_or(name);
            match target.break_on_change(text) {
                Ok(_) => {
                    json!({ "dataId": text, "description": format!("{text} changes"), "accessTypes": ["write"] })
                }
                Err(why) => json!({ "dataId": null, "description": why }),
            }
        }
        "setDataBreakpoints" => {
            set(target, BreakKind::Data, &arguments["breakpoints"], |target, one| {
                target.break_on_change(one["dataId"].as_str().unwrap_or_default())
            })
        }
        "setExceptionBreakpoints" => json!({}),
        "stackTrace" => {
            let calls =
                target.recording.now().state().calls().iter().rev().copied().collect::<Vec<u32>>();
            let addresses = std::iter::once(target.address()).chain(calls);
            let frames: Vec<Value> =
                addresses.enumerate().map(|(n, address)| frame(target, n, address, own)).collect();
            json!({ "totalFrames": frames.len(), "stackFrames": frames })
        }
        "source" => {
            let text = target.map.lines.join("\n");
            json!({ "content": text, "mimeType": "text/x-r500" })
        }
        "scopes" => json!({ "scopes": variables::scopes() }),
        "variables" => {
            let reference = arguments["variablesReference"].as_u64();
            let reference = reference.ok_or("`variables` needs a `variablesReference`")?;
            json!({ "variables": variables::variables(target, reference)? })
        }
        "evaluate" => {
            let text = arguments["expression"].as_str().unwrap_or_default();
            json!({ "result": target.evaluate(text)?, "variablesReference": 0 })
        }
        _ => return Err(format!("`{command}` is not served")),
    })
}

/// Replaces the breakpoints of a kind. Returns the result for each.
fn set(
    target: &mut Target,
    kind: BreakKind,
    wanted: &Value,
    make: impl Fn(&Target, &Value) -> Result<Break, String>,
) -> Value {
    let wanted = wanted.as_array().map_or(&[][..], Vec::as_slice);
    let made: Vec<Result<Break, String>> = wanted.iter().map(|one| make(target, one)).collect();
    let answers = made.iter().map(|one| {
        verified(one.as_ref().map(|_| json!({ "verified": true })).map_err(Clone::clone))
    });
    let answers: Vec<Value> = answers.collect();
    target.set_breaks(kind, made.into_iter().filter_map(Result::ok).collect());
    json!({ "breakpoints": answers })
}

fn verified(answer: Answer) -> Value {
    answer.unwrap_or_else(|why| json!({ "verified": false, "message": why }))
}

/// Returns whether a source of the client is that of the program.
fn is_ours(target: &Target, source: &Value) -> bool {
    let Some(path) = &target.map.path else { return source["sourceReference"] == LISTING };
    let canonical =
        |path: &std::path::Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    source["path"].as_str().is_some_and(|other| canonical(other.as_ref()) == canonical(path))
}

fn frame(target: &Target, number: usize, address: u32, own: usize) -> Value {
    let source = match &target.map.path {
        Some(path) => {
            let path = path.canonicalize().unwrap_or_else(|_| path.clone());
            json!({ "name": target.name, "path": path.to_string_lossy() })
        }
        None => json!({ "name": format!("{} (listing)", target.name), "sourceReference": LISTING }),
    };
    let label = target.map.label_before(address);
    let name = label.map_or_else(|| format!("@{address}"), |label| format!("{label} @{address}"));
    let mut frame = json!({ "id": number + 1, "name": name, "line": 0, "column": 0 });
    // Instructions of included files have no line here.
    if let Some((first, last)) = target.map.line_of(address) {
        let indent =
            target.map.lines.get(first - 1).map_or(0, |line| line.len() - line.trim_start().len());
        frame["line"] = json!(first - own);
        frame["endLine"] = json!(last - own);
        frame["column"] = json!(indent + 1 - own);
        frame["source"] = source;
    }
    frame
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::command::wire::request_key::in_dap;

    #[test]
    fn a_request_can_be_cancelled_while_it_waits() {
        let request = |seq: u32, command: &str, arguments: Value| {
            let request = json!({
                "type": "request", "seq": seq, "command": command, "arguments": arguments,
            });
            let request = request.to_string();
            format!("Content-Length: {}\r\n\r\n{request}", request.len())
        };
        let input = [
            request(1, "initialize", json!({})),
            request(2, "threads", json!({})),
            request(3, "threads", json!({})),
            request(4, "cancel", json!({ "requestId": 2 })),
            request(5, "cancel", json!({ "requestId": 2 })),
            request(6, "disconnect", json!({})),
        ];
        let mut out = Vec::new();
        let messages = Messages::arrived(input.concat().as_bytes(), in_dap);
        assert!(serve(&messages, &mut out).unwrap());
        let out = String::from_utf8(out).unwrap();
        let bodies = out.split("Content-Length: ").skip(1);
        let answers: Vec<(u64, bool)> = bodies
            .map(|part| {
                let body = part.split_once("\r\n\r\n").unwrap().1;
                let answer: Value = serde_json::from_str(body).unwrap();
                assert_eq!(answer["success"] == false, answer["message"] == "cancelled");
                (answer["request_seq"].as_u64().unwrap(), answer["success"] == true)
            })
            .collect();
        let wanted = [(1, true), (2, false), (3, true), (4, true), (5, true), (6, true)];
        assert_eq!(answers, wanted);
    }
}
