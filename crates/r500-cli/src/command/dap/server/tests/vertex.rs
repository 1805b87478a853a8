//! Sessions with vertex programs.

use super::*;
use crate::command::vertex::COUNTING;

/// Begins a session with a vertex of two.
fn counting(vertex: u64) -> Client {
    let inputs = json!(["i0=0,0,0,1", "input[0] = (4, 3, 2, 1)"]);
    Client::launch_as(".vs.asm", COUNTING, json!({ "inputs": inputs, "vertex": vertex }))
}

fn names(sent: &Sent, number: usize) -> Vec<&str> {
    let all = sent.body(number)["variables"].as_array().unwrap();
    all.iter().map(|one| one["name"].as_str().unwrap()).collect()
}

#[test]
fn a_vertex_is_stepped_in_both_directions() {
    let mut client = counting(1);
    let entry = client.ask("configurationDone", json!({}));
    let threads = client.ask("threads", json!({}));
    let stack = client.ask("stackTrace", json!({ "threadId": 1 }));
    client.ask("stepIn", json!({}));
    let in_loop = client.ask("stackTrace", json!({ "threadId": 1 }));
    let loops = client.evaluate("watch", "loops");
    let index = client.evaluate("watch", "aL");
    let out = client.ask("stepOut", json!({}));
    let sum = client.evaluate("watch", "temp[0].x");
    let back = client.ask("stepBack", json!({}));
    let less = client.evaluate("watch", "temp[0].x");
    let end = client.ask("continue", json!({}));
    let result = client.evaluate("watch", "out[0]");
    let start = client.ask("reverseContinue", json!({}));
    let sent = client.run();
    assert!(sent.output(1).contains("vertex 1, 7 instructions recorded"), "{}", sent.output(1));
    assert_eq!(sent.stop(entry)["reason"], "entry");
    let name = sent.body(threads)["threads"][0]["name"].as_str().unwrap();
    assert!(name.ends_with(", vertex 1"), "{name}");
    // The statement of instruction 0 is in line 4, that of 1 in line 5.
    assert_eq!(sent.body(stack)["stackFrames"][0]["line"], 4);
    assert_eq!(sent.body(in_loop)["stackFrames"][0]["line"], 5);
    assert_eq!([loops, index].map(|number| sent.result(number)), ["1", "5"]);
    assert_eq!(sent.stop(out)["reason"], "step");
    assert_eq!([sum, less].map(|number| sent.result(number)), ["3", "2"]);
    assert_eq!(sent.stop(back)["reason"], "step");
    assert_eq!(sent.stop(end)["text"], "the end of the program");
    assert_eq!(sent.result(result), "(3, 3, 3, 3)");
    assert_eq!(sent.stop(start)["text"], "the start of the program");
}

#[test]
fn breakpoints_of_a_vertex_have_conditions_hit_counts_and_messages() {
    let mut client = counting(0);
    let set = client.break_on(&json!([
        { "line": 5, "hitCondition": "2" },
        { "line": 5, "logMessage": "x is {temp[0].x}, aL {aL}" },
        { "line": 7, "condition": "pred" },
        { "line": 8, "condition": "temp[0].x < 6" },
        { "line": 9, "condition": "temp[0].r is green" },
    ]));
    let second = client.ask("continue", json!({}));
    let guarded = client.ask("continue", json!({}));
    let end = client.ask("continue", json!({}));
    let back = client.ask("reverseContinue", json!({}));
    let address = client.evaluate("watch", "address");
    let sent = client.run();
    let points = sent.body(set)["breakpoints"].as_array().unwrap();
    let verified: Vec<bool> =
        points.iter().map(|point| point["verified"].as_bool().unwrap()).collect();
    assert_eq!(verified, [true, true, true, true, false]);
    assert_eq!(sent.stop(second)["hitBreakpointIds"], json!([1]));
    assert_eq!(sent.output(second), "x is 0, aL 5\nx is 1, aL 6\n");
    assert_eq!(sent.stop(guarded)["hitBreakpointIds"], json!([3]));
    // The predicate is set, so that x is 6 at the end.
    assert_eq!(sent.stop(end)["text"], "the end of the program");
    assert_eq!(sent.stop(back)["hitBreakpointIds"], json!([3]));
    assert_eq!(sent.result(address), "3");
}

#[test]
fn changes_of_a_register_of_a_vertex_stop() {
    let mut client = counting(0);
    let info = client.ask("dataBreakpointInfo", json!({ "name": "temp[0].x" }));
    let input = client.ask("dataBreakpointInfo", json!({ "name": "input[0].x" }));
    client.ask("setDataBreakpoints", json!({ "breakpoints": [{ "dataId": "pred" }] }));
    let stop = client.ask("continue", json!({}));
    let sent = client.run();
    assert_eq!(sent.body(info)["dataId"], "temp[0].x");
    assert!(sent.body(input)["description"].as_str().unwrap().contains("is constant"));
    assert_eq!(sent.stop(stop)["reason"], "data breakpoint");
    assert!(sent.stop(stop)["text"].as_str().unwrap().ends_with(": false -> true"));
}

#[test]
fn scopes_of_a_vertex_have_registers_inputs_and_constants() {
    let mut client = counting(1);
    client.ask("next", json!({}));
    let scopes = client.ask("scopes", json!({ "frameId": 1 }));
    let all: Vec<usize> = (1..=5)
        .map(|reference| client.ask("variables", json!({ "variablesReference": reference })))
        .collect();
    let channels = client.ask("variables", json!({ "variablesReference": 6 }));
    let sent = client.run();
    let scopes = sent.body(scopes)["scopes"].as_array().unwrap();
    let scopes: Vec<&str> = scopes.iter().map(|scope| scope["name"].as_str().unwrap()).collect();
    assert_eq!(scopes, ["Registers", "Inputs", "Outputs", "Constants", "State"]);
    assert_eq!(names(&sent, all[0]), ["temp[0]", "temp[1]"]);
    assert_eq!(names(&sent, all[1]), ["input[0]"]);
    assert_eq!(sent.body(all[1])["variables"][0]["value"], "(4, 3, 2, 1)");
    assert!(names(&sent, all[2]).is_empty());
    assert_eq!(names(&sent, all[3]), ["const[0]"]);
    assert_eq!(
        names(&sent, all[4]),
        ["step", "address", "active", "predicate", "a0", "aL", "loops", "calls"]
    );
    assert_eq!(names(&sent, channels), ["x", "y", "z", "w"]);
}

#[test]
fn instructions_of_a_vertex_are_disassembled_and_others_are_selected() {
    let mut client = counting(0);
    let whole = client.ask("disassemble", json!({ "memoryReference": "0", "instructionCount": 6 }));
    let set = client.ask(
        "setInstructionBreakpoints",
        json!({ "breakpoints": [{ "instructionReference": "4" }] }),
    );
    client.ask("continue", json!({}));
    let first = client.evaluate("watch", "temp[0].x");
    let select = client.evaluate("repl", "vertex 1");
    let other = client.evaluate("watch", "temp[0].x");
    let none = client.evaluate("repl", "vertex 2");
    let heat = client.evaluate("repl", "heat");
    let words = client.ask("completions", json!({ "text": "ver", "column": 4 }));
    let sent = client.run();
    let all = sent.body(whole)["instructions"].as_array().unwrap();
    // The dwords of the instruction that the assembler wrote.
    let source = r500::pvs::Source::parse(COUNTING, &mut |_| Err(String::new())).unwrap();
    let dwords = source.program.instructions().1[1].0.map(|dword| format!("{dword:08x}"));
    assert_eq!(all[1]["instructionBytes"], dwords.join(" "));
    assert_eq!((&all[1]["line"], &all[5]["presentationHint"]), (&json!(5), &json!("invalid")));
    assert_eq!(sent.body(set)["breakpoints"][0]["verified"], true);
    // Vertex 0 is doubled by the predicate, vertex 1 is not.
    assert_eq!([first, other].map(|number| sent.result(number)), ["6", "3"]);
    assert!(sent.result(select).contains("vertex 1 of 2; 7 steps recorded"));
    assert_eq!(sent.error(none), "vertex 2: there are vertices 0 to 1");
    assert!(sent.error(heat).starts_with("`heat` is neither a command"), "{}", sent.error(heat));
    assert_eq!(sent.body(words)["targets"][0]["label"], "vertex");
}

#[test]
fn what_is_wrong_with_the_launch_of_a_vertex_is_said() {
    let launch = |suffix: &str, program: &str, arguments: Value| {
        let sent = Client::launch_as(suffix, program, arguments).run();
        sent.error(1).to_owned()
    };
    let asm = |arguments| launch(".vs.asm", COUNTING, arguments);
    assert_eq!(asm(json!({ "vertex": 1 })), "vertex 1: there is one vertex, 0");
    assert_eq!(asm(json!({ "vertex": "one" })), "`\"one\"` is not the number of a vertex");
    assert!(asm(json!({ "inputs": "i40=1" })).contains("`i40` is not an input"));
    assert!(asm(json!({ "inputs": [{ "i0": [1, 2] }], "constants": ["x=1"] })).contains("--const"));
    assert_eq!(
        launch(".r5", LOOP, json!({ "vertex": 0 })),
        "`vertex` is for vertex programs and scenes"
    );
    let error = launch(".vs.asm", "temp[0].x = VE_ADD nothing nothing ;", json!({}));
    assert!(error.contains("nothing"), "{error}");
}

#[test]
fn a_vertex_of_a_scene_has_the_values_of_the_draw() {
    let scene = "SCENE 4x4 ;
DRAW triangles {
    VERTICES position 2 { -1 -1  1 -1  0 0.5 }
    INDICES { 2 1 0 }
    VERTEX const[3] = (10, 20, 30, 40) * time ;
    VERTEX PROGRAM { out[0].xyzw = VE_ADD input[0].xyzw const[3].xyzw ; }
    FRAGMENT PROGRAM { OUT TEX_SEM_WAIT LAST : out[0].rgb = MAX src0.000 src0.000 ; }
}
";
    let arguments = json!({ "vertex": 0, "pick": 0, "time": 0.5 });
    let mut client = Client::launch_as(".r5", scene, arguments);
    client.ask("continue", json!({}));
    let result = client.evaluate("watch", "out[0]");
    let sent = client.run();
    assert!(sent.output(1).starts_with("draw 0: vertex 0, 1 instruction recorded"));
    // Index 2 is first: (0, 0.5, 0, 1) + (5, 10, 15, 20).
    assert_eq!(sent.result(result), "(5, 10.5, 15, 21)");
}
