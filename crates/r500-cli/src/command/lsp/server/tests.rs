//! Tests of the server: whole sessions, without an editor.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::command::wire::request_key::in_lsp;

/// Serves a list of messages, which have all arrived. Returns the responses, and whether the session ended properly.
fn served(messages: Vec<String>) -> (Vec<Value>, bool) {
    let framed =
        messages.iter().map(|json| format!("Content-Length: {}\r\n\r\n{json}", json.len()));
    let messages = Messages::arrived(framed.collect::<String>().as_bytes(), in_lsp);
    let mut out = Vec::new();
    let done = serve(&messages, &mut out, PathArgs::default()).unwrap();
    (bodies(out), done)
}

/// Returns the messages of an output.
fn bodies(out: Vec<u8>) -> Vec<Value> {
    let text = String::from_utf8(out).unwrap();
    let answers = text.split("Content-Length: ").skip(1);
    let body = |part: &str| serde_json::from_str(part.split_once("\r\n\r\n").unwrap().1).unwrap();
    answers.map(body).collect()
}

fn request(id: u32, method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

fn notification(method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()
}

fn codes(answers: &[Value]) -> Vec<i64> {
    answers.iter().map(|answer| answer["error"]["code"].as_i64().unwrap_or(0)).collect()
}

#[test]
fn a_request_can_be_taken_back_while_it_waits() {
    let document = json!({ "textDocument": { "uri": "untitled:1", "text": ": ;", "version": 1 } });
    let (answers, done) = served(vec![
        request(1, "initialize", json!({})),
        notification("textDocument/didOpen", document.clone()),
        request(2, "textDocument/documentSymbol", document.clone()),
        request(3, "textDocument/documentSymbol", document),
        notification("$/cancelRequest", json!({ "id": 2 })),
        request(4, "shutdown", Value::Null),
        notification("exit", Value::Null),
    ]);
    assert_eq!(codes(&answers), [0, -32800, 0, 0]);
    assert_eq!(answers[2]["result"], json!([]));
    assert!(done);
}

/// Every request of a long session is answered once and in order, whether it was cancelled in time or not.
#[test]
fn thousands_of_requests_are_answered_in_order() {
    const COUNT: u32 = 20_000;
    let document = json!({ "textDocument": { "uri": "untitled:1", "text": ": ;", "version": 1 } });
    let mut session = request(0, "initialize", json!({}));
    let mut input = String::new();
    let mut push =
        |json: &str| input.push_str(&format!("Content-Length: {}\r\n\r\n{json}", json.len()));
    push(&session);
    push(&notification("textDocument/didOpen", document.clone()));
    for id in 1..=COUNT {
        session = request(id, "textDocument/documentSymbol", document.clone());
        push(&session);
        if id % 3 == 0 {
            push(&notification("$/cancelRequest", json!({ "id": id })));
        }
    }
    let messages = Messages::new(io::Cursor::new(input), in_lsp);
    let mut out = Vec::new();
    assert!(!serve(&messages, &mut out, PathArgs::default()).unwrap());
    let answers: Vec<Value> =
        bodies(out).into_iter().filter(|message| message.get("id").is_some()).collect();
    assert_eq!(answers.len(), COUNT as usize + 1);
    for (id, answer) in answers.iter().enumerate() {
        assert_eq!(answer["id"], id);
        let cancelled = answer["error"]["code"] == Code::Cancelled as i32;
        assert!(answer.get("result").is_some() || cancelled && id % 3 == 0, "{answer}");
    }
}

#[test]
fn out_of_order_and_malformed_messages_are_errors() {
    let (answers, done) = served(vec![
        request(1, "textDocument/hover", json!({})),
        notification("textDocument/didOpen", json!({})),
        "no".to_owned(),
        json!(3).to_string(),
        json!({ "id": 9, "result": 1 }).to_string(),
        request(2, "initialize", json!(null)),
        request(3, "initialize", json!({})),
        notification("textDocument/didOpen", json!({ "textDocument": 3 })),
        request(4, "textDocument/hover", json!({ "textDocument": { "uri": "x" } })),
        request(5, "$/unknown", json!([])),
        request(6, "shutdown", Value::Null),
        request(7, "shutdown", Value::Null),
    ]);
    let wanted = [-32002, -32700, -32600, 0, -32600, -32602, -32601, 0, -32600];
    assert_eq!(codes(&answers), wanted);
    assert!(!done);
}

/// Changes apply in sequence, each to the result of the previous one; an invalid one is ignored and reported.
#[test]
fn changes_are_taken_one_after_the_other() {
    let uri = "untitled:1";
    let change = |changes: Value| {
        notification(
            "textDocument/didChange",
            json!({ "textDocument": { "uri": uri, "version": 2 }, "contentChanges": changes }),
        )
    };
    let range = |line: u32, from: u32, to: u32| json!({ "start": { "line": line, "character": from }, "end": { "line": line, "character": to } });
    let text = "-- 😀\nDEF one = temp[0] ;\n";
    let symbols =
        || request(2, "textDocument/documentSymbol", json!({ "textDocument": { "uri": uri } }));
    let (answers, _) = served(vec![
        request(1, "initialize", json!({})),
        notification(
            "textDocument/didOpen",
            json!({ "textDocument": { "uri": uri, "text": text, "version": 1 } }),
        ),
        change(json!([
            { "range": range(0, 5, 5), "text": "\n-- 😀" },
            { "range": range(2, 4, 7), "text": "two" },
        ])),
        symbols(),
        change(json!([{ "range": 7, "text": "" }])),
        symbols(),
    ]);
    assert_eq!(answers[1]["result"][0]["name"], "two");
    assert_eq!(answers[1]["result"][0]["range"]["start"]["line"], 2);
    assert_eq!(answers[2]["method"], "window/showMessage");
    assert_eq!(answers[3]["result"][0]["name"], "two");
}

/// Colours, selections, symbols of all documents, and range formatting.
#[test]
fn colours_selections_symbols_and_ranges() {
    let uri = "untitled:1";
    let text = "const[0] = (1, 0.5, 0, 1) ; -- sky colour\nDEF eye = temp[0] ;\n:    eye.r = MAX src0.r src0.r ;\n:    eye.g = MAX src0.r src0.r ;\n";
    let document = json!({ "textDocument": { "uri": uri, "text": text, "version": 1 } });
    let with = |more: Value| {
        let mut params = json!({ "textDocument": { "uri": uri } });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    };
    let place = |line: u32, character: u32| json!({ "line": line, "character": character });
    let range = json!({ "start": place(3, 0), "end": place(3, 4) });
    let (answers, _) = served(vec![
        request(1, "initialize", json!({})),
        notification("textDocument/didOpen", document),
        request(2, "textDocument/documentColor", with(json!({}))),
        request(
            3,
            "textDocument/colorPresentation",
            with(
                json!({ "color": { "red": 0.2, "green": 1.0 / 3.0, "blue": 0, "alpha": 1 }, "range": range }),
            ),
        ),
        request(4, "textDocument/selectionRange", with(json!({ "positions": [place(2, 5)] }))),
        request(5, "workspace/symbol", json!({ "query": "EY" })),
        request(6, "textDocument/rangeFormatting", with(json!({ "range": range, "options": {} }))),
    ]);
    let result = |n: usize| &answers[n]["result"];
    assert_eq!(result(1)[0]["color"]["green"], 0.5);
    assert_eq!(result(1)[0]["range"]["start"], place(0, 11));
    assert_eq!(result(2)[0]["label"], "(0.2, 0.333, 0, 1)");
    assert_eq!(result(3)[0]["range"]["end"], place(2, 8), "{}", result(3));
    assert!(result(3)[0]["parent"]["parent"]["range"]["start"] == place(0, 0), "{}", result(3));
    assert_eq!((result(4).as_array().unwrap().len(), &result(4)[0]["name"]), (1, &json!("eye")));
    let edits = result(5).as_array().unwrap();
    assert_eq!(edits.len(), 1, "{edits:?}");
    assert!(edits[0]["newText"].as_str().unwrap().contains(": eye.g"), "{edits:?}");
}

/// Registers without a name have definitions, references and highlights.
#[test]
fn registers_are_found_by_number() {
    let uri = "untitled:1";
    let text = "const[2] = (1, 2, 3, 4) ;\nsrc0.rgb = const[2] : temp[1].rgb = MAX src0.rgb src0.rgb ;\nOUT src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb ;\n: temp[1].a = MAX src0.0 src0.0 ;\n";
    let document = json!({ "textDocument": { "uri": uri, "text": text, "version": 1 } });
    let at = |line: u32, character: u32| json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character } });
    let (answers, _) = served(vec![
        request(1, "initialize", json!({})),
        notification("textDocument/didOpen", document),
        request(2, "textDocument/definition", at(1, 12)),
        request(3, "textDocument/definition", at(2, 20)),
        request(4, "textDocument/references", at(2, 16)),
        request(5, "textDocument/documentHighlight", at(2, 16)),
        request(6, "textDocument/definition", at(2, 3)),
        request(7, "textDocument/hover", at(2, 16)),
    ]);
    let result = |n: usize| &answers[n]["result"];
    let lines = |n: usize| -> Vec<u64> {
        let all = result(n).as_array().unwrap().iter();
        all.map(|one| one["range"]["start"]["line"].as_u64().unwrap()).collect()
    };
    assert_eq!(result(1)["range"]["start"]["line"], 0);
    assert_eq!(lines(2), [1, 3]);
    assert_eq!(lines(3), [1, 2, 3]);
    assert_eq!(lines(4), [1, 2, 3]);
    let kinds: Vec<u64> =
        result(4).as_array().unwrap().iter().map(|one| one["kind"].as_u64().unwrap()).collect();
    assert_eq!(kinds, [3, 2, 3]);
    assert_eq!(result(5), &Value::Null);
    let hover = result(6)["contents"]["value"].as_str().unwrap();
    assert!(
        hover.contains("Written by instruction 0, 2\n- 0, line 2: `src0.rgb = const[2]"),
        "{hover}"
    );
    assert!(hover.contains("Read by instruction 1\n- 1, line 3: `OUT src0.rgb"), "{hover}");
}

/// Changed settings apply to open documents.
#[test]
fn changed_settings_apply_at_once() {
    let uri = "untitled:1";
    let document = json!({ "textDocument": { "uri": uri, "text": ": ; : ;", "version": 1 } });
    let whole =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9, "character": 0 } });
    let asked = json!({ "textDocument": { "uri": uri }, "range": whole });
    let client =
        json!({ "capabilities": { "workspace": { "inlayHint": { "refreshSupport": true } } } });
    let settings = json!({ "guide": "https://example.org/book", "hints": { "addresses": true, "words": false } });
    let (answers, done) = served(vec![
        request(1, "initialize", client),
        notification("textDocument/didOpen", document),
        request(2, "textDocument/inlayHint", asked.clone()),
        notification(
            "workspace/didChangeConfiguration",
            json!({ "settings": { "r500": settings } }),
        ),
        json!({ "jsonrpc": "2.0", "id": "r500-1", "result": null }).to_string(),
        notification("workspace/didChangeConfiguration", json!({ "settings": null })),
        request(3, "textDocument/inlayHint", asked),
        request(4, "shutdown", Value::Null),
        notification("exit", Value::Null),
    ]);
    assert!(done);
    let by_id = |id: u32| &answers.iter().find(|answer| answer["id"] == id).unwrap()["result"];
    assert_eq!(by_id(2).as_array().unwrap().len(), 4);
    assert_eq!(by_id(3).as_array().unwrap().len(), 2);
    let refresh: Vec<&Value> =
        answers.iter().filter(|answer| answer["method"] == "workspace/inlayHint/refresh").collect();
    assert_eq!(refresh.len(), 1);
    assert_eq!(refresh[0]["id"], "r500-1");
}

/// Nested blocks are children, consecutive blocks are siblings.
#[test]
fn the_outline_is_a_tree() {
    let text = "SIZE 4 4 ; IF alu ; @a : ; LOOP int[0] ; @b : ; ENDLOOP ; ELSE ; @c : ; ENDIF ; IF alu ; ENDIF ;";
    let uri = "untitled:1";
    let document = json!({ "textDocument": { "uri": uri, "text": text, "version": 1 } });
    let (answers, _) = served(vec![
        request(1, "initialize", json!({})),
        notification("textDocument/didOpen", document.clone()),
        request(2, "textDocument/documentSymbol", document),
    ]);
    fn outline(list: &Value) -> String {
        let one = |symbol: &Value| {
            let name = symbol["name"].as_str().unwrap();
            let children = &symbol["children"];
            if children.is_null() {
                name.to_owned()
            } else {
                format!("{name}[{}]", outline(children))
            }
        };
        list.as_array().unwrap().iter().map(one).collect::<Vec<_>>().join(" ")
    }
    assert_eq!(outline(&answers[1]["result"]), "SIZE IF alu[@a LOOP int[0][@b] @c] IF alu");
}

/// A GLSL document has errors with fixes, and then what each line costs; other requests have empty answers.
#[test]
fn glsl_is_compiled() {
    let uri = "file:///tmp/ring.frag";
    let broken = "precision highp float;\nvarying vec2 uv;\nvoid main() {\n    gl_FragColor = vec4(uv.x, 1, smoothstp(0.0, 1.0, uv.y), 1.0);\n}\n";
    let opened = json!({ "textDocument": { "uri": uri, "languageId": "glsl", "text": broken, "version": 1 } });
    let document = json!({ "uri": uri });
    let whole =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9, "character": 0 } });
    let asked =
        json!({ "textDocument": document, "range": whole, "context": { "diagnostics": [] } });
    let place = json!({ "textDocument": document, "position": { "line": 3, "character": 20 } });
    let change = json!({
        "textDocument": { "uri": uri, "version": 2 },
        "contentChanges": [{ "range": { "start": { "line": 3, "character": 33 }, "end": { "line": 3, "character": 42 } }, "text": "smoothstep" }],
    });
    let (answers, done) = served(vec![
        request(1, "initialize", json!({})),
        notification("textDocument/didOpen", opened),
        request(2, "textDocument/codeAction", asked.clone()),
        request(3, "textDocument/hover", place.clone()),
        request(4, "textDocument/completion", place),
        notification("textDocument/didChange", change),
        request(5, "textDocument/inlayHint", asked),
        request(6, "shutdown", Value::Null),
        notification("exit", Value::Null),
    ]);
    assert!(done);
    let by_id = |id: u32| &answers.iter().find(|answer| answer["id"] == id).unwrap()["result"];
    let fix = &by_id(2)[0];
    assert_eq!(fix["title"], "did you mean `smoothstep`?");
    assert_eq!(fix["edit"]["changes"][uri][0]["newText"], "smoothstep");
    assert_eq!((by_id(3), by_id(4)), (&Value::Null, &json!([])));
    let hints = by_id(5).as_array().unwrap();
    let of_line = |line: u64| hints.iter().find(|hint| hint["position"]["line"] == line).unwrap();
    assert!(of_line(3)["label"].as_str().unwrap().ends_with("instructions"), "{hints:?}");
}

/// One edit of the whole document; none for one that is formatted.
#[test]
fn glsl_is_formatted() {
    let uri = "file:///tmp/one.frag";
    let text = "void main(){gl_FragColor=vec4(1.0);}";
    let opened =
        json!({ "textDocument": { "uri": uri, "languageId": "glsl", "text": text, "version": 1 } });
    let formatted = "void main() {\n    gl_FragColor = vec4(1.0);\n}\n";
    let asked = json!({ "textDocument": { "uri": uri }, "options": { "tabSize": 4, "insertSpaces": true } });
    let change = json!({
        "textDocument": { "uri": uri, "version": 2 }, "contentChanges": [{ "text": formatted }],
    });
    let (answers, _) = served(vec![
        request(1, "initialize", json!({})),
        notification("textDocument/didOpen", opened),
        request(2, "textDocument/formatting", asked.clone()),
        notification("textDocument/didChange", change),
        request(3, "textDocument/formatting", asked),
        request(4, "shutdown", Value::Null),
        notification("exit", Value::Null),
    ]);
    let by_id = |id: u32| &answers.iter().find(|answer| answer["id"] == id).unwrap()["result"];
    assert_eq!(by_id(2)[0]["newText"], formatted);
    assert_eq!(by_id(2)[0]["range"]["end"], json!({ "line": 0, "character": text.len() }));
    assert_eq!(by_id(3), &json!([]));
}
