//! Includes without end.

use std::process::Stdio;

use super::{Folder, command_line, r500, with_stdin};

/// Writes 40 files, each with two includes of the next one; returns the first.
fn fan(folder: &Folder) -> String {
    for n in 1..40 {
        let next = format!("#include \"{0}.inc\"\n#include \"{0}.inc\"\n", n + 1);
        folder.write(&format!("{n}.inc"), next);
    }
    folder.write("40.inc", ": ;\n");
    folder.write("main.r5", "#include \"1.inc\"\n#include \"1.inc\"\n")
}

#[test]
fn includes_that_fan_out_are_an_error_in_every_command() {
    let folder = Folder::new("fan");
    let main = fan(&folder);
    for command in ["asm", "check", "render", "run", "trace", "disasm", "convert", "cfg"] {
        r500(&command_line(command, &main)).status(1).says(&[
            "E0006",
            "39.inc:1:10",
            "4096 includes",
        ]);
    }
    for args in [&["stats", &main][..], &["test", &main], &["check", "--fix", &main]] {
        let run = r500(args).status(1);
        assert!((run.text() + &run.messages()).contains("E0006"), "{args:?}: {run:?}");
    }
    r500(&["diff", &main, &main]).status(1).says(&["E0006"]);
    r500(&["debug", &main, "--script", &main]).status(1).says(&["E0006"]);
}

#[test]
fn the_language_server_answers_about_includes_that_fan_out() {
    let folder = Folder::new("fan-lsp");
    let main = fan(&folder);
    let text = std::fs::read_to_string(&main).unwrap();
    let messages = [
        serde_json::json!({ "id": 1, "method": "initialize", "params": { "capabilities": {} } }),
        serde_json::json!({ "method": "textDocument/didOpen", "params": { "textDocument": {
            "uri": format!("file://{main}"), "languageId": "r500", "version": 1, "text": text } } }),
        serde_json::json!({ "id": 2, "method": "textDocument/codeAction", "params": {
            "textDocument": { "uri": format!("file://{main}") }, "context": { "diagnostics": [] },
            "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 1, "character": 0 } } } }),
        serde_json::json!({ "id": 3, "method": "shutdown" }),
        serde_json::json!({ "method": "exit" }),
    ];
    let mut input = Vec::new();
    for mut message in messages {
        message["jsonrpc"] = "2.0".into();
        let message = message.to_string();
        input.extend(format!("Content-Length: {}\r\n\r\n{message}", message.len()).bytes());
    }
    let run = with_stdin(&["lsp"], Stdio::piped(), &input).status(0);
    // It assembled the source to answer, and went on.
    for id in 1..=3 {
        assert!(run.text().contains(&format!("\"id\":{id}")), "{}", run.text());
    }
}

/// A long file included often: the bytes count each time.
#[test]
fn included_bytes_are_an_error_past_a_limit() {
    let folder = Folder::new("bytes");
    folder.write("long.inc", "-- a comment\n".repeat(80_000));
    let main = folder.write("main.r5", "#include \"long.inc\"\n".repeat(100));
    r500(&["asm", &main]).status(1).says(&["E0006", "main.r5:17:", "16777216 bytes"]);
}
