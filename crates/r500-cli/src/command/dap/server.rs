//! The protocol: requests with their responses, and events.

use std::io::{self, Write};

use r500::breakpoint::Owner;
use r500::exec::record::Direction;
use serde_json::{Value, json};

use super::debuggee::{Debuggee, Movement};
use super::{console, launch};
use crate::command::debug::language::Kind;
use crate::command::wire::{Incoming, Messages, send};

/// Serves until the client disconnects or is gone. Returns whether it disconnected.
pub(super) fn serve(messages: &Messages, out: &mut impl Write) -> io::Result<bool> {
    // Clients count from 1 unless they say otherwise.
    let mut server = Server { line_from: 1, column_from: 1, ..Server::default() };
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
    target: Option<Box<dyn Debuggee>>,
    stop_on_entry: bool,
    /// The numbers of the client's first line and first column: 0 or 1.
    line_from: usize,
    column_from: usize,
    /// Events to send after the response.
    events: Vec<(&'static str, Value)>,
}

type Answer = Result<Value, String>;

/// The id of the only thread.
const THREAD: u64 = 1;

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
                self.line_from = usize::from(arguments["linesStartAt1"] != false);
                self.column_from = usize::from(arguments["columnsStartAt1"] != false);
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
                let name = self.target.as_ref().map_or_else(String::new, |target| target.name());
                return Ok(json!({ "threads": [{ "id": THREAD, "name": name }] }));
            }
            "completions" => {
                let kind = self.target.as_ref().map_or(Kind::Pixel, |target| target.kind());
                return Ok(console::completions(arguments, kind, self.column_from));
            }
            "evaluate" if arguments["context"] == "repl" => return self.enter(arguments),
            _ => {}
        }
        let line_from = self.line_from;
        let target = self.target.as_mut().ok_or("nothing is launched")?;
        match command {
            "configurationDone" if self.stop_on_entry => {
                self.events.push(("stopped", stopped("entry", "")));
                Ok(json!({}))
            }
            "configurationDone" | "continue" => self.run(Direction::Forward),
            "reverseContinue" => self.run(Direction::Backward),
            "restart" => self.step(Movement::ToStart),
            "next" => self.step(Movement::Over),
            "stepIn" => self.step(Movement::Step(Direction::Forward)),
            "stepOut" => self.step(Movement::Out),
            "stepBack" => self.step(Movement::Step(Direction::Backward)),
            "pause" => {
                self.events.push(("stopped", stopped("pause", "")));
                Ok(json!({}))
            }
            _ => target.ask(command, arguments, line_from),
        }
    }

    fn launch(&mut self, arguments: &Value) -> Answer {
        let target = match launch::launch(arguments) {
            Ok(target) => target,
            Err(error) => {
                if let Some(details) = error.details {
                    self.print("stderr", &format!("{details}\n"));
                }
                return Err(error.message);
            }
        };
        self.stop_on_entry = arguments["stopOnEntry"] != false;
        self.print("console", &target.greeting());
        self.target = Some(target);
        // The client may set breakpoints from now on.
        self.events.push(("initialized", json!({})));
        Ok(json!({}))
    }

    fn print(&mut self, category: &str, text: &str) {
        self.events.push(("output", json!({ "category": category, "output": text })));
    }

    /// Runs to the next breakpoint of any kind.
    fn run(&mut self, direction: Direction) -> Answer {
        let target = self.target.as_mut().ok_or("nothing is launched")?;
        let ran = target.run(direction);
        let hits = &ran.hits;
        let mut event = match hits.first() {
            Some(hit) => {
                let reason = match hit.owner {
                    Owner::Command | Owner::Line => "breakpoint",
                    Owner::Label => "function breakpoint",
                    Owner::Instruction => "instruction breakpoint",
                    Owner::Data => "data breakpoint",
                };
                stopped(reason, &hit.description())
            }
            None => stopped("step", &target.edge(ran.stop)),
        };
        if !hits.is_empty() {
            event["hitBreakpointIds"] = hits.iter().map(|hit| hit.number).collect();
        }
        self.log(&ran.log);
        self.events.push(("stopped", event));
        Ok(json!({ "allThreadsContinued": true }))
    }

    /// Moves the position without regard to breakpoints; messages on the way are logged.
    fn step(&mut self, step: Movement) -> Answer {
        let target = self.target.as_mut().ok_or("nothing is launched")?;
        let moved = target.step(step);
        let event = stopped("step", &target.edge(moved.stop));
        self.log(&moved.log);
        self.events.push(("stopped", event));
        Ok(json!({}))
    }

    fn log(&mut self, lines: &[String]) {
        if !lines.is_empty() {
            self.print("console", &format!("{}\n", lines.join("\n")));
        }
    }

    /// Executes a line of the debug console.
    fn enter(&mut self, arguments: &Value) -> Answer {
        let target = self.target.as_mut().ok_or("nothing is launched")?;
        let line = arguments["expression"].as_str().unwrap_or_default();
        let entered = target.enter(line)?;
        for number in entered.removed {
            let point = json!({ "id": number, "verified": false });
            self.events.push(("breakpoint", json!({ "reason": "removed", "breakpoint": point })));
        }
        if entered.moved {
            self.events.push(("stopped", stopped("step", "")));
        }
        if entered.quit {
            self.events.push(("terminated", json!({})));
        }
        Ok(entered.answer)
    }
}

fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsConditionalBreakpoints": true,
        "supportsHitConditionalBreakpoints": true,
        "supportsLogPoints": true,
        "supportsFunctionBreakpoints": true,
        "supportsInstructionBreakpoints": true,
        "supportsDataBreakpoints": true,
        "supportsDisassembleRequest": true,
        "supportsEvaluateForHovers": true,
        "supportsCompletionsRequest": true,
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

#[cfg(test)]
mod tests;
