//! Tests of the adapter: whole sessions, without an editor.

#![allow(clippy::unwrap_used)]

mod vertex;

use super::*;
use crate::command::wire::request_key::in_dap;

/// A loop of three iterations, which halves temp[1].r.
const LOOP: &str = "-- A loop.
SIZE 16 16 ;
FULL_FC_EN ;
DEF start = const[4] ;
start = (0.5, 2, 0, 1) ;
int[0] = (3, 0, 1) ;
src0.rgb = start : temp[1].rgb = MAX src0.rgb src0.rgb ;
LOOP int[0] ALU_WAIT ;
@body
    src0.rgb = temp[1] :
        temp[1].rgb = MAD src0.rgb src0.hhh src0.000 ;
ENDLOOP ALU_WAIT ;
OUT TEX_SEM_WAIT LAST src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ;
";

/// A session: requests, then all that the adapter sent.
struct Client {
    file: tempfile::NamedTempFile,
    requests: Vec<Value>,
}

/// What the adapter sent.
struct Sent(Vec<Value>);

impl Client {
    /// Begins a session with a program and pixel 3,4.
    fn launch(program: &str) -> Self {
        Self::launch_as(".r5", program, json!({ "pixel": [3, 4] }))
    }

    /// Begins a session with a program in a file with a suffix.
    fn launch_as(suffix: &str, program: &str, mut arguments: Value) -> Self {
        let mut file = tempfile::Builder::new().suffix(suffix).tempfile().unwrap();
        file.write_all(program.as_bytes()).unwrap();
        arguments["program"] = json!(file.path());
        let mut client = Self { file, requests: Vec::new() };
        client.ask("initialize", json!({}));
        client.ask("launch", arguments);
        client
    }

    /// Adds a request. Returns its number.
    fn ask(&mut self, command: &str, arguments: Value) -> usize {
        self.requests.push(json!({
            "type": "request", "seq": self.requests.len(), "command": command, "arguments": arguments,
        }));
        self.requests.len() - 1
    }

    fn evaluate(&mut self, context: &str, expression: &str) -> usize {
        self.ask("evaluate", json!({ "context": context, "expression": expression }))
    }

    /// Sets breakpoints on lines of the program.
    fn break_on(&mut self, breakpoints: &Value) -> usize {
        let path = self.file.path().to_str().unwrap().to_owned();
        self.ask(
            "setBreakpoints",
            json!({ "source": { "path": path }, "breakpoints": breakpoints }),
        )
    }

    fn run(self) -> Sent {
        let frame = |request: &Value| {
            let request = request.to_string();
            format!("Content-Length: {}\r\n\r\n{request}", request.len())
        };
        let input: String = self.requests.iter().map(frame).collect();
        let mut out = Vec::new();
        serve(&Messages::arrived(input.as_bytes(), in_dap), &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        let bodies = out.split("Content-Length: ").skip(1);
        let body =
            |part: &str| serde_json::from_str(part.split_once("\r\n\r\n").unwrap().1).unwrap();
        Sent(bodies.map(body).collect())
    }
}

impl Sent {
    fn answer(&self, number: usize) -> &Value {
        self.0.iter().find(|one| one["request_seq"] == number).unwrap()
    }

    /// Returns the body of a response without an error.
    fn body(&self, number: usize) -> &Value {
        let answer = self.answer(number);
        assert_eq!(answer["success"], true, "{answer}");
        &answer["body"]
    }

    fn error(&self, number: usize) -> &str {
        let answer = self.answer(number);
        assert_eq!(answer["success"], false, "{answer}");
        answer["message"].as_str().unwrap()
    }

    /// Returns the bodies of the events after a request, up to the next response.
    fn events(&self, number: usize) -> Vec<(&str, &Value)> {
        let after = self.0.iter().skip_while(|one| one["request_seq"] != number).skip(1);
        let events = after.take_while(|one| one["type"] == "event");
        events.map(|one| (one["event"].as_str().unwrap(), &one["body"])).collect()
    }

    /// Returns the output after a request.
    fn output(&self, number: usize) -> String {
        let events = self.events(number).into_iter().filter(|(event, _)| *event == "output");
        events.map(|(_, body)| body["output"].as_str().unwrap()).collect()
    }

    /// Returns the `stopped` event after a request.
    fn stop(&self, number: usize) -> &Value {
        self.events(number).into_iter().find(|(event, _)| *event == "stopped").unwrap().1
    }

    fn result(&self, number: usize) -> &str {
        self.body(number)["result"].as_str().unwrap()
    }
}

#[test]
fn a_request_can_be_cancelled_while_it_waits() {
    let mut client = Client { file: tempfile::NamedTempFile::new().unwrap(), requests: Vec::new() };
    client.ask("initialize", json!({}));
    client.ask("threads", json!({}));
    client.ask("threads", json!({}));
    client.ask("cancel", json!({ "requestId": 1 }));
    client.ask("cancel", json!({ "requestId": 1 }));
    client.ask("disconnect", json!({}));
    let sent = client.run();
    assert_eq!(sent.error(1), "cancelled");
    for number in [0, 2, 3, 4, 5] {
        sent.body(number);
    }
}

#[test]
fn of_a_source_with_errors_the_first_is_the_cause_and_all_are_printed() {
    let mut client = Client::launch(&format!("{LOOP}nonsense ;\nmore ;\nyet_more ;\n"));
    client.evaluate("watch", "step");
    let path = client.file.path().to_str().unwrap().to_owned();
    let sent = client.run();
    let error = sent.error(1);
    assert!(error.starts_with(&format!("{path}:14:1: unknown word `nonsense`")), "{error}");
    assert!(error.ends_with("(the first of 3 errors)") && !error.contains('\n'), "{error}");
    let output = sent.output(1);
    assert!(["nonsense", "more", "yet_more"].iter().all(|word| output.contains(word)), "{output}");
    assert_eq!(sent.error(2), "nothing is launched");
}

#[test]
fn log_points_print_values_and_do_not_stop() {
    let mut client = Client::launch(LOOP);
    let message = "r is {temp[1].r} at {step}";
    let set = client.break_on(
        &json!([{ "line": 10, "logMessage": message }, { "line": 12, "logMessage": "{" }]),
    );
    let forward = client.ask("continue", json!({}));
    let back = client.ask("reverseContinue", json!({}));
    let over = client.ask("next", json!({}));
    let over_loop = client.ask("next", json!({}));
    let sent = client.run();
    let points = &sent.body(set)["breakpoints"];
    assert_eq!(points[0]["verified"], true);
    assert_eq!(points[1]["verified"], false);
    assert!(points[1]["message"].as_str().unwrap().contains("without a `}`"));
    let lines = ["r is 0.5 at 2\n", "r is 0.25 at 4\n", "r is 0.125 at 6\n"];
    assert_eq!(sent.output(forward), lines.concat());
    assert_eq!(sent.stop(forward)["text"], "the end of the program");
    let reversed: Vec<&str> = lines.iter().rev().copied().collect();
    assert_eq!(sent.output(back), reversed.concat());
    // A step over the loop passes all of them.
    assert_eq!(sent.output(over), "");
    assert_eq!(sent.output(over_loop), lines.concat());
}

#[test]
fn hit_counts_choose_the_same_stops_in_both_directions() {
    let mut client = Client::launch(LOOP);
    client.break_on(&json!([{ "line": 10, "hitCondition": "% 2" }]));
    let there = client.ask("continue", json!({}));
    let value = client.evaluate("watch", "temp[1].r");
    client.ask("continue", json!({}));
    let back = client.ask("reverseContinue", json!({}));
    let again = client.evaluate("watch", "temp[1].r");
    let wrong = client.break_on(&json!([{ "line": 10, "hitCondition": "often" }]));
    client
        .break_on(&json!([{ "line": 10, "hitCondition": ">= 2", "condition": "temp[1].r < 0.2" }]));
    client.ask("restart", json!({}));
    let none = client.ask("continue", json!({}));
    let sent = client.run();
    for stop in [there, back] {
        assert_eq!(sent.stop(stop)["reason"], "breakpoint");
        assert_eq!(sent.stop(stop)["hitBreakpointIds"], json!([1]));
    }
    assert_eq!([value, again].map(|number| sent.result(number)), ["0.25", "0.25"]);
    let wrong = &sent.body(wrong)["breakpoints"][0];
    assert!(wrong["message"].as_str().unwrap().contains("`often` is not a hit count"), "{wrong}");
    // The condition holds once, so that there is no second hit.
    assert_eq!(sent.stop(none)["text"], "the end of the program");
}

#[test]
fn changes_of_a_register_stop_with_both_values() {
    let mut client = Client::launch(LOOP);
    let scopes = client.ask("scopes", json!({ "frameId": 1 }));
    let registers = client.ask("variables", json!({ "variablesReference": 1 }));
    let channels = client.ask("variables", json!({ "variablesReference": 7 }));
    let info = client.ask("dataBreakpointInfo", json!({ "variablesReference": 7, "name": "r" }));
    let constant = client.ask("dataBreakpointInfo", json!({ "name": "start" }));
    client.ask(
        "setDataBreakpoints",
        json!({ "breakpoints": [{ "dataId": "temp[1].r", "hitCondition": "2", "condition": "temp[1].r < 1" }] }),
    );
    let stop = client.ask("continue", json!({}));
    let sent = client.run();
    assert_eq!(sent.body(scopes)["scopes"][0]["variablesReference"], 1);
    // Only temp[1] is written; temp[0] is the input.
    let names: Vec<&str> = sent.body(registers)["variables"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["temp[0]", "temp[1]"]);
    assert_eq!(sent.body(registers)["variables"][1]["variablesReference"], 7);
    let parts = sent.body(channels)["variables"].as_array().unwrap();
    let parts: Vec<(&str, &str)> = parts
        .iter()
        .map(|one| (one["name"].as_str().unwrap(), one["evaluateName"].as_str().unwrap()))
        .collect();
    assert_eq!(
        parts,
        [("r", "temp[1].r"), ("g", "temp[1].g"), ("b", "temp[1].b"), ("a", "temp[1].a")]
    );
    assert_eq!(sent.body(info)["dataId"], "temp[1].r");
    assert_eq!(sent.body(constant)["dataId"], Value::Null);
    assert_eq!(sent.stop(stop)["reason"], "data breakpoint");
    let text = sent.stop(stop)["text"].as_str().unwrap();
    assert!(text.ends_with(": 0.5 -> 0.25"), "{text}");
}

#[test]
fn instructions_are_disassembled_by_number() {
    let mut client = Client::launch(LOOP);
    let stack = client.ask("stackTrace", json!({ "threadId": 1 }));
    let whole = client.ask(
        "disassemble",
        json!({ "memoryReference": "0", "instructionOffset": -1, "instructionCount": 7 }),
    );
    let hex = client.ask("disassemble", json!({ "memoryReference": "0x2", "instructionCount": 1 }));
    let wrong = client.ask("disassemble", json!({ "memoryReference": "x", "instructionCount": 1 }));
    let many =
        client.ask("disassemble", json!({ "memoryReference": "0", "instructionCount": 1_000_000 }));
    let set = client.ask(
        "setInstructionBreakpoints",
        json!({ "breakpoints": [{ "instructionReference": "2", "offset": 1 }, { "instructionReference": "99" }] }),
    );
    let stop = client.ask("continue", json!({}));
    let sent = client.run();
    assert_eq!(sent.body(stack)["stackFrames"][0]["instructionPointerReference"], "0");
    let all = sent.body(whole)["instructions"].as_array().unwrap();
    let addresses: Vec<&str> = all.iter().map(|one| one["address"].as_str().unwrap()).collect();
    assert_eq!(addresses, ["-1", "0", "1", "2", "3", "4", "5"]);
    for outside in [&all[0], &all[6]] {
        assert_eq!(outside["presentationHint"], "invalid");
    }
    // The dwords of the instruction that the assembler wrote.
    let assembly = r500::asm::assemble(LOOP.as_bytes(), r500::asm::Options::default());
    let words = assembly.job.program.code[2].0.map(|word| format!("{word:08x}")).join(" ");
    assert_eq!(all[3]["instructionBytes"], words);
    assert!(all[3]["instruction"].as_str().unwrap().contains("temp[1].rgb = MAD"));
    assert_eq!((&all[3]["symbol"], &all[3]["line"]), (&json!("@body"), &json!(10)));
    assert_eq!(sent.body(hex)["instructions"][0]["address"], "2");
    assert!(sent.error(wrong).contains("`x` is not the address of an instruction"));
    assert!(sent.error(many).contains("10000"));
    let set = &sent.body(set)["breakpoints"];
    assert_eq!((&set[0]["verified"], &set[0]["instructionReference"]), (&json!(true), &json!("3")));
    assert!(set[1]["message"].as_str().unwrap().contains("no instruction at 99"), "{set}");
    assert_eq!(sent.stop(stop)["reason"], "instruction breakpoint");
}

#[test]
fn the_console_takes_the_commands_of_the_debugger() {
    let mut client = Client::launch(LOOP);
    client.break_on(&json!([{ "line": 12 }]));
    let step = client.evaluate("repl", "step 2");
    let value = client.evaluate("repl", "temp[1].a + 1");
    let print = client.evaluate("repl", "print start.g");
    let set = client.evaluate("repl", "break @body if temp[1].r < 0.3");
    let stop = client.ask("continue", json!({}));
    let go = client.ask("continue", json!({}));
    let pixel = client.evaluate("repl", "pixel 0,0");
    let delete = client.evaluate("repl", "delete");
    let wrong = client.evaluate("repl", "dance wildly");
    let usage = client.evaluate("repl", "goto there");
    let words = client.ask("completions", json!({ "text": "reverse-s", "column": 10 }));
    let quit = client.evaluate("repl", "quit");
    let sent = client.run();
    assert!(sent.result(step).starts_with("step 2 of 9  @2"), "{}", sent.result(step));
    assert_eq!(sent.stop(step)["reason"], "step");
    assert_eq!(sent.result(value), "1");
    assert_eq!(sent.events(value).len(), 0);
    assert_eq!(sent.result(print), "start.g = 2");
    assert_eq!(sent.result(set), "breakpoint 2: break @body if temp[1].r < 0.3");
    // Breakpoints of the editor and of the console stop both.
    assert_eq!(sent.stop(stop)["hitBreakpointIds"], json!([1]));
    assert_eq!(sent.stop(go)["hitBreakpointIds"], json!([2]));
    assert!(sent.result(pixel).contains("pixel 0,0 of 16x16"), "{}", sent.result(pixel));
    assert_eq!(sent.stop(pixel)["reason"], "step");
    let removed: Vec<&Value> = sent.events(delete).into_iter().map(|(_, body)| body).collect();
    assert_eq!(removed.len(), 1);
    assert_eq!(
        (&removed[0]["reason"], &removed[0]["breakpoint"]["id"]),
        (&json!("removed"), &json!(1))
    );
    assert!(sent.error(wrong).contains("neither a command (`help` lists them) nor an expression"));
    assert!(sent.error(usage).contains("goto wants a step, 0 to 9"));
    assert_eq!(sent.body(words)["targets"][0]["label"], "reverse-step");
    assert_eq!(sent.events(quit)[0].0, "terminated");
}

#[test]
fn hovers_and_watches_have_values_that_expand() {
    let mut client = Client::launch(LOOP);
    client.evaluate("repl", "step");
    let channel = client.evaluate("hover", "temp[1].a");
    let register = client.evaluate("hover", "temp[1]");
    let two = client.evaluate("watch", "temp[1].gr");
    let parts = client.ask("variables", json!({ "variablesReference": 2 }));
    let bits = client.evaluate("watch", "pred");
    let none = client.evaluate("hover", "src0.rgb");
    client.ask("scopes", json!({ "frameId": 1 }));
    let group = client.ask("variables", json!({ "variablesReference": 8 }));
    let pixel = client.ask("variables", json!({ "variablesReference": 9 }));
    client.ask("next", json!({}));
    client.ask("next", json!({}));
    let later = client.ask("variables", json!({ "variablesReference": 1 }));
    let unknown = client.ask("variables", json!({ "variablesReference": 99 }));
    let sent = client.run();
    assert_eq!(sent.result(channel), "0");
    assert_eq!(sent.body(channel)["variablesReference"], 0);
    assert_eq!(sent.result(register), "(0.5, 2, 0, 0)");
    assert_eq!(sent.body(register)["namedVariables"], 4);
    assert_eq!(sent.result(two), "(2, 0.5)");
    let listed = sent.body(parts)["variables"].as_array().unwrap();
    assert_eq!(listed.len(), 2);
    assert_eq!((&listed[0]["name"], &listed[0]["value"]), (&json!("g"), &json!("2  0x40000000")));
    assert_eq!(sent.body(bits)["variablesReference"], 3);
    assert!(sent.error(none).contains("src0"));
    assert_eq!(sent.body(group)["variables"].as_array().unwrap().len(), 16);
    let own = sent.body(pixel)["variables"].as_array().unwrap();
    assert!(own.iter().any(|one| one["name"] == "temp[1]"), "{own:?}");
    // References stay valid, with the values of the position.
    assert_eq!(sent.body(later)["variables"][0]["value"], "0.0625  0x3d800000");
    assert!(sent.error(unknown).contains("there are no variables of reference 99"));
}
