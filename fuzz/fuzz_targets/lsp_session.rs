//! Property: any bytes are a session of the language server that ends, with whole messages as answers; each request whose message is
//! JSON is answered once and in order.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500_fuzz::sessions::{Session, framed, messages};
use r500_gen::{Bytes, Choices};
use serde_json::{Value, json};

const METHODS: [&str; 30] = [
    "textDocument/hover",
    "textDocument/didOpen",
    "textDocument/didChange",
    "$/cancelRequest",
    "textDocument/completion",
    "textDocument/definition",
    "textDocument/references",
    "textDocument/documentHighlight",
    "textDocument/prepareRename",
    "textDocument/rename",
    "textDocument/documentSymbol",
    "textDocument/semanticTokens/full",
    "textDocument/semanticTokens/range",
    "textDocument/foldingRange",
    "textDocument/documentLink",
    "textDocument/signatureHelp",
    "textDocument/inlayHint",
    "textDocument/codeAction",
    "textDocument/formatting",
    "textDocument/rangeFormatting",
    "textDocument/documentColor",
    "textDocument/colorPresentation",
    "textDocument/selectionRange",
    "textDocument/didClose",
    "workspace/symbol",
    "initialize",
    "shutdown",
    "exit",
    "initialized",
    "other",
];

fuzz_target!(|bytes: &[u8]| {
    match Session::of(bytes) {
        Session::Wire(bytes) => drop(serve(bytes.to_vec())),
        Session::Messages(lines) => {
            let mut input = framed(&json!({ "id": 0, "method": "initialize", "params": {} }));
            let (mut requests, mut ended) = (vec![json!(0)], false);
            for line in lines {
                let message = message(line, requests.len());
                let method = message["method"].as_str();
                if let (Some(id), Some(_), false) = (message.get("id"), method, ended) {
                    requests.push(id.clone());
                }
                ended |= method == Some("exit");
                input.extend(framed(&message));
            }
            let answers = serve(input);
            let answers = answers.iter().filter_map(|answer| answer.get("id").cloned());
            // What is neither request nor answer gets an error without a name.
            let answers: Vec<Value> = answers.filter(|id| !id.is_null()).collect();
            assert_eq!(answers, requests);
        }
    }
});

fn serve(input: Vec<u8>) -> Vec<Value> {
    let mut out = Vec::new();
    r500_cli::serve_lsp(std::io::Cursor::new(input), &mut out).expect("memory takes everything");
    messages(&out)
}

/// Returns the message of a line: the method, positions and a text.
fn message(line: &[u8], id: usize) -> Value {
    let mut choices = Bytes::new(line);
    let method = METHODS[choices.below(METHODS.len() as u32) as usize];
    let uri = choices.pick("untitled:1", &["untitled:2", "file:///nowhere/a.r5", "x"]);
    let mut place = || json!({ "line": choices.below(8), "character": choices.below(32) });
    let (start, end) = (place(), place());
    let range = json!({ "start": start, "end": end });
    let number = choices.below(16);
    let text = String::from_utf8_lossy(&line[line.len() - choices.left()..]);
    // `;` ends a statement, as a line does, and a line of this input ends a message.
    let text = text.replace('\r', "\n");
    let change = match number % 4 {
        0 => json!({ "text": text }),
        _ => json!({ "range": range, "text": text }),
    };
    let mut params = json!({
        "textDocument": { "uri": uri, "version": number, "text": text },
        "contentChanges": [change],
        "position": start,
        "positions": [start, end],
        "range": range,
        "newName": text,
        "query": text,
        "context": { "includeDeclaration": number.is_multiple_of(2), "diagnostics": [] },
        "color": { "red": number, "green": 0.5, "blue": 0, "alpha": 1 },
        "options": { "tabSize": number },
    });
    let notification = ["didOpen", "didChange", "didClose", "exit", "initialized"];
    let mut message = json!({ "jsonrpc": "2.0", "method": method });
    if method == "$/cancelRequest" {
        params["id"] = json!(number);
    } else if !notification.iter().any(|name| method.ends_with(name)) {
        message["id"] = json!(id);
    }
    message["params"] = params;
    message
}
