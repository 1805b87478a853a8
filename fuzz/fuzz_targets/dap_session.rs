//! Property: any bytes are a session of the debug adapter that ends, with whole messages as answers, which are numbered; each request is
//! answered once and in order.
#![no_main]

use std::io::Write;
use std::path::PathBuf;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use r500_fuzz::sessions::{Session, framed, messages};
use r500_gen::{Bytes, Choices};
use serde_json::{Value, json};

const COMMANDS: [&str; 27] = [
    "next",
    "stepIn",
    "stepOut",
    "stepBack",
    "continue",
    "reverseContinue",
    "evaluate",
    "setBreakpoints",
    "setFunctionBreakpoints",
    "setDataBreakpoints",
    "dataBreakpointInfo",
    "setExceptionBreakpoints",
    "stackTrace",
    "scopes",
    "variables",
    "threads",
    "source",
    "pause",
    "restart",
    "configurationDone",
    "launch",
    "cancel",
    "initialize",
    "terminate",
    "disconnect",
    "other",
    "",
];

/// A program with labels, a loop, a subroutine and names.
const PROGRAM: &[u8] = include_bytes!("../../examples/march.r5");

fuzz_target!(|bytes: &[u8]| {
    match Session::of(bytes) {
        Session::Wire(bytes) => drop(serve(bytes.to_vec())),
        Session::Messages(lines) => {
            let mut choices = Bytes::new(lines.first().copied().unwrap_or_default());
            let launch = json!({
                "program": program(), "size": [8, 8], "limitInstructions": 2000,
                "pixel": [choices.below(9), choices.below(9)],
                "stopOnEntry": choices.chance(1, 2),
            });
            let zero = choices.chance(1, 2);
            let first = [("initialize", json!({ "linesStartAt1": !zero })), ("launch", launch)];
            let (mut input, mut requests) = (Vec::new(), Vec::new());
            let rest = lines.iter().skip(1).map(|line| request(line));
            for (command, arguments) in first.into_iter().chain(rest) {
                let seq = requests.len() as u64;
                input.extend(framed(&json!({
                    "type": "request", "seq": seq, "command": command, "arguments": arguments,
                })));
                requests.push(seq);
                if command == "disconnect" {
                    break;
                }
            }
            let answers = serve(input);
            let answers = answers.iter().filter(|message| message["type"] == "response");
            let answers: Vec<u64> =
                answers.filter_map(|answer| answer["request_seq"].as_u64()).collect();
            assert_eq!(answers, requests);
        }
    }
});

fn serve(input: Vec<u8>) -> Vec<Value> {
    let mut out = Vec::new();
    r500_cli::serve_dap(std::io::Cursor::new(input), &mut out).expect("memory takes everything");
    let all = messages(&out);
    for (seq, message) in (1u64..).zip(&all) {
        assert_eq!(message["seq"], seq);
    }
    all
}

/// Returns the path of the program.
fn program() -> &'static PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let path = std::env::temp_dir().join(format!("r500-fuzz-{}.r5", std::process::id()));
        let mut file = std::fs::File::create(&path).expect("a folder for temporary files");
        file.write_all(PROGRAM).expect("room for a few bytes");
        path
    })
}

/// Returns the request of a line: the command, numbers and a text.
fn request(line: &[u8]) -> (&'static str, Value) {
    let mut choices = Bytes::new(line);
    let command = COMMANDS[choices.below(COMMANDS.len() as u32) as usize];
    let number = choices.below(256);
    let ours = choices.chance(3, 4);
    let text = String::from_utf8_lossy(&line[line.len() - choices.left()..]).into_owned();
    if command == "launch" {
        let arguments =
            json!({ "program": program(), "size": [number % 10, 8], "limitInstructions": number });
        return (command, arguments);
    }
    let condition = if text.is_empty() { Value::Null } else { json!(text) };
    let path = if ours { program().clone() } else { PathBuf::from("/nowhere") };
    let arguments = json!({
        "source": { "path": path },
        "breakpoints": [
            { "line": number, "condition": condition, "name": text, "dataId": text },
            { "line": number / 16, "name": "scene", "dataId": "temp[0].r" },
        ],
        "name": text,
        "expression": text,
        "variablesReference": number,
        "requestId": number % 16,
        "threadId": 1,
    });
    (command, arguments)
}
