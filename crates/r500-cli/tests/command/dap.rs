//! `r500 dap` with shaders in GLSL, by our own compiler.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use super::{Folder, command};

/// Sends requests, and returns the bodies of the responses in their order.
fn answers(requests: &[(&str, Value)]) -> Vec<Value> {
    let mut child = command()
        .arg("dap")
        .env("R500_COMPILER", "r500")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    for (number, (command, arguments)) in requests.iter().enumerate() {
        let request = json!({
            "type": "request", "seq": number, "command": command, "arguments": arguments,
        });
        let request = request.to_string();
        write!(input, "Content-Length: {}\r\n\r\n{request}", request.len()).unwrap();
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    let bodies = output.split("Content-Length: ").skip(1);
    let body = |part: &str| serde_json::from_str(part.split_once("\r\n\r\n").unwrap().1).unwrap();
    let messages: Vec<Value> = bodies.map(body).collect();
    let answer = |number: usize| {
        let answer = messages.iter().find(|one| one["request_seq"] == number).unwrap();
        assert_eq!(answer["success"], true, "{answer}");
        answer["body"].clone()
    };
    (0..requests.len()).map(answer).collect()
}

fn line(stack: &Value) -> &Value {
    &stack["stackFrames"][0]["line"]
}

#[test]
fn lines_of_a_vertex_shader_are_stepped() {
    let shader = "attribute vec4 place;
uniform vec4 offset;
varying vec4 tint;
void main() {
    vec4 moved = place + offset;
    tint = 1.0 - moved;
    gl_Position = moved * 2.0;
}
";
    let folder = Folder::new("dap-vertex-shader");
    let file = folder.write("moved.vert", shader);
    let watch = |text: &str| ("evaluate", json!({ "context": "watch", "expression": text }));
    let breakpoints = json!({ "source": { "path": file }, "breakpoints": [{ "line": 7 }] });
    let launch = json!({
        "program": file, "inputs": "i0=1,2,3,1", "constants": ["0=1,1,1,0"],
    });
    let none = json!({});
    let all = answers(&[
        ("initialize", none.clone()),
        ("launch", launch),
        ("stackTrace", none.clone()),
        ("setBreakpoints", breakpoints),
        ("continue", none.clone()),
        ("stackTrace", none.clone()),
        watch("offset.x"),
        ("continue", none.clone()),
        watch("out[0]"),
        ("scopes", none),
        ("variables", json!({ "variablesReference": 4 })),
    ]);
    assert_eq!(line(&all[2]), 5);
    assert_eq!(all[3]["breakpoints"][0]["line"], 7);
    assert_eq!(line(&all[5]), 7);
    assert_eq!(all[6]["result"], "1");
    // (1, 2, 3, 1) + (1, 1, 1, 0), twice.
    assert_eq!(all[8]["result"], "(4, 6, 8, 2)");
    let scopes = all[9]["scopes"].as_array().unwrap();
    assert_eq!(scopes[0]["name"], "Variables");
    let inputs = scopes.iter().find(|scope| scope["name"] == "Inputs").unwrap();
    assert_eq!(inputs["variablesReference"], 4);
    assert_eq!(all[10]["variables"][0]["name"], "input[0] place");
}
