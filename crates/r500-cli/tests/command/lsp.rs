//! `r500 lsp`, against what real clients said.
//!
//! `lsp/neovim.jsonl` is what Neovim 0.7.2's own client sent, `lsp/vscode.jsonl` and `lsp/colours.jsonl` what
//! `vscode-languageserver-protocol` (the client of Visual Studio Code) sent, recorded between client and
//! server; `/FOLDER` stands for the folder. Here the messages are sent again, and the answers are held
//! against what they must mean.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use super::{Folder, command};

const FIRST: &str = include_str!("lsp/neovim.jsonl");
const SECOND: &str = include_str!("lsp/vscode.jsonl");
const THIRD: &str = include_str!("lsp/colours.jsonl");

/// What a server said: answers by number, and lists of problems in their order.
struct Session {
    answers: HashMap<u64, Value>,
    published: Vec<Value>,
    status: i32,
}

impl Session {
    fn result(&self, id: u64) -> &Value {
        &self.answers[&id]["result"]
    }

    fn error(&self, id: u64) -> i64 {
        self.answers[&id]["error"]["code"].as_i64().unwrap()
    }
}

/// Sends what a client sent. A request is followed by its answer, a change by what is wrong then, as
/// it was when the client waited for both.
fn replay(messages: &str) -> Session {
    let mut child = command()
        .arg("lsp")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut session = Session { answers: HashMap::new(), published: Vec::new(), status: -1 };
    for line in messages.lines() {
        let message: Value = serde_json::from_str(line).unwrap();
        write!(input, "Content-Length: {}\r\n\r\n{line}", line.len()).unwrap();
        input.flush().unwrap();
        let changes = ["textDocument/didOpen", "textDocument/didChange", "textDocument/didClose"];
        let waits = message["method"].as_str().is_some_and(|method| changes.contains(&method));
        let id = message["id"].as_u64();
        while id.is_some() || waits {
            let answer = receive(&mut output);
            if answer["method"] == "textDocument/publishDiagnostics" {
                session.published.push(answer["params"].clone());
                if waits {
                    break;
                }
            } else if let Some(of) = answer["id"].as_u64() {
                session.answers.insert(of, answer);
                if id == Some(of) {
                    break;
                }
            }
        }
    }
    drop(input);
    session.status = child.wait().unwrap().code().unwrap();
    session
}

fn receive(output: &mut impl BufRead) -> Value {
    let mut length = 0;
    loop {
        let mut line = String::new();
        assert!(output.read_line(&mut line).unwrap() > 0, "the server is gone");
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    output.read_exact(&mut body).unwrap();
    serde_json::from_slice(&body).unwrap()
}

fn range(start: (u32, u32), end: (u32, u32)) -> Value {
    let at = |(line, character): (u32, u32)| json!({ "line": line, "character": character });
    json!({ "start": at(start), "end": at(end) })
}

fn codes(published: &Value) -> Vec<&str> {
    let list = published["diagnostics"].as_array().unwrap();
    list.iter().filter_map(|one| one["code"].as_str()).collect()
}

/// The text that a client had in line 8 (from 0) of `first.r5` is, once it was fixed: `src0.rgb =
/// way, src1.rgb = tint : alu[lt].r = MAD src0.rgb src1.rgb src0.000 ;`
#[test]
fn neovim_is_answered() {
    let folder = Folder::new("lsp-neovim");
    folder.write("names.inc", "DEF tint = const[3] ;\n");
    let root = folder.path("").trim_end_matches('/').to_owned();
    let uri = |file: &str| format!("file://{root}/{file}");
    let session = replay(&FIRST.replace("/FOLDER", &root));
    assert_eq!(session.status, 0);
    let can = &session.result(1)["capabilities"];
    assert_eq!((&can["positionEncoding"], &can["hoverProvider"]), (&json!("utf-16"), &json!(true)));

    // `MDA`, and what it is taken for.
    assert_eq!(codes(&session.published[0]), ["E0301"]);
    let mistake = &session.published[0]["diagnostics"][0];
    assert_eq!(mistake["range"], range((7, 46), (7, 49)));
    assert!(mistake["message"].as_str().unwrap().contains("did you mean `MAD`?"));
    let action = &session.result(7)[0];
    assert_eq!((&action["kind"], &action["isPreferred"]), (&json!("quickfix"), &json!(true)));
    let edit = json!([{ "range": range((7, 46), (7, 49)), "newText": "MAD" }]);
    assert_eq!(action["edit"]["changes"][&uri("first.r5")], edit);

    assert!(session.result(2)["contents"]["value"].as_str().unwrap().contains("less than zero"));
    let items = session.result(3)["items"].as_array().unwrap();
    let labels: Vec<&str> = items.iter().filter_map(|item| item["label"].as_str()).collect();
    assert!(labels.contains(&"MAD") && labels.contains(&"DP3") && !labels.contains(&"LD"));
    let mad = &items[labels.iter().position(|label| *label == "MAD").unwrap()];
    assert_eq!(mad["textEdit"]["range"], range((7, 46), (7, 49)));

    // A name from another file, that file, and a name of this one.
    let there = json!({ "uri": uri("names.inc"), "range": range((0, 4), (0, 8)) });
    assert_eq!(session.result(4), &there);
    assert_eq!(session.result(5)["uri"], uri("names.inc"));
    let uses: Vec<&Value> =
        session.result(6).as_array().unwrap().iter().map(|one| &one["range"]).collect();
    // The definition has the name and the register.
    let definition = [range((5, 4), (5, 7)), range((5, 10), (5, 17))];
    let wanted = [&definition[..], &[range((6, 11), (6, 14)), range((7, 11), (7, 14))]].concat();
    assert_eq!(uses, wanted.iter().collect::<Vec<&Value>>());

    // Fixed, and moved by a line with characters of two units: the checker speaks. The fetch is not
    // waited for, and IF does not wait for the comparison.
    let after = session.published.last().unwrap();
    assert!(
        codes(after).contains(&"R5042") && !codes(after).iter().any(|code| code.starts_with('E'))
    );
    let hover = session.result(8)["contents"]["value"].as_str().unwrap();
    assert!(hover.contains("Instruction 1: `00800000 08040c01"), "{hover}");
    let renamed = session.result(9)["changes"][&uri("first.r5")].as_array().unwrap();
    let at: Vec<&Value> = renamed.iter().map(|edit| &edit["range"]["start"]["line"]).collect();
    assert_eq!(at, [&json!(6), &json!(7), &json!(8)]);
    assert!(renamed.iter().all(|edit| edit["newText"] == "reach"));
    let symbols = session.result(10).as_array().unwrap();
    let names: Vec<&str> = symbols.iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names[..2], ["SIZE", "US_PIXSIZE"]);
    assert!(names.contains(&"@again") && names.contains(&"way") && names.contains(&"IF alu"));

    // Five instructions: an address in front of each, six dwords after it.
    let hints = session.result(11).as_array().unwrap();
    assert_eq!(hints.len(), 10);
    assert_eq!(
        hints[0],
        json!({ "label": "0", "position": { "line": 7, "character": 7 }, "paddingRight": true })
    );
    // A fetch: TYPE 3, WMASK rgba; LD; temp[1] from temp[0].
    assert_eq!(hints[1]["label"], "00007803 00400000 e401e400 00000000 00000000 00000000");
    let kinds: Vec<&Value> =
        session.result(12).as_array().unwrap().iter().map(|a| &a["kind"]).collect();
    assert!(kinds.contains(&&json!("quickfix")) && kinds.contains(&&json!("source.fixAll")));
    // What stands in the branch goes in.
    let layout = json!([{ "newText": "    ", "range": range((10, 0), (10, 0)) }]);
    assert_eq!(session.result(13), &layout);
    assert_eq!(session.result(14), &Value::Null);
}

/// The same client library as Visual Studio Code's, asking for UTF-8 columns, snippets and plain text.
#[test]
fn the_client_of_visual_studio_code_is_answered() {
    let session = replay(SECOND);
    assert_eq!(session.status, 0);
    let line = |n: usize| serde_json::from_str::<Value>(SECOND.lines().nth(n).unwrap()).unwrap();
    assert_eq!(line(0)["method"], "initialize");
    let ids: Vec<u64> = SECOND
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|message| message.get("method").is_some())
        .filter_map(|message| message["id"].as_u64())
        .collect();
    let of = |method: &str, nth: usize| {
        let all = SECOND.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut all = all.filter(|message| message["method"] == method);
        all.nth(nth).unwrap()["id"].as_u64().unwrap()
    };
    assert_eq!(ids.len(), session.answers.len(), "every request has its answer");
    assert_eq!(session.result(ids[0])["capabilities"]["positionEncoding"], "utf-8");

    // Half a statement, then a whole one with a comment that allows a finding. Columns are bytes.
    assert_eq!(codes(&session.published[0]), ["E0101"]);
    let items = &session.result(of("textDocument/completion", 0))["items"];
    assert_eq!((&items[0]["label"], &items[0]["insertTextFormat"]), (&json!("MAD"), &json!(2)));
    assert_eq!(items[0]["textEdit"]["newText"], "MAD $0");
    assert!(codes(&session.published[1]).iter().all(|code| !code.starts_with('E')));
    let hover = session.result(of("textDocument/hover", 0));
    assert_eq!(hover["contents"]["kind"], "plaintext");
    assert!(hover["contents"]["value"].as_str().unwrap().starts_with("## R5052: last-not-out"));
    assert_eq!(hover["range"], range((2, 15), (2, 20)));
    // Only addresses were asked for.
    let hints = session.result(of("textDocument/inlayHint", 0)).as_array().unwrap();
    assert_eq!((hints.len(), &hints[0]["label"]), (1, &json!("0")));

    // What cannot be: renaming a word of the language, a request that is not served, a closed document.
    assert_eq!(session.result(of("textDocument/prepareRename", 0)), &Value::Null);
    assert_eq!(session.error(of("textDocument/rename", 0)), -32803);
    assert_eq!(session.result(of("textDocument/foldingRange", 0)), &json!([]));
    assert_eq!(session.error(of("textDocument/hover", 1)), -32602);
    let label = &session.result(of("textDocument/definition", 0))["range"];
    assert_eq!(label, &range((0, 14), (0, 20)));
    let marked = session.result(of("textDocument/documentHighlight", 0)).as_array().unwrap();
    assert_eq!(marked.len(), 2);
    // Closing takes back what was said.
    assert_eq!(session.published.last().unwrap()["diagnostics"], json!([]));
}

/// Colours of words, folds, links, signatures, the pages of codes, and where else to look. The text of `third.r5` is in the
/// second message.
#[test]
fn colours_folds_and_links_are_those_of_the_text() {
    let folder = Folder::new("lsp-colours");
    folder.write("names.inc", "DEF tint = const[3] ;\n");
    let root = folder.path("").trim_end_matches('/').to_owned();
    let session = replay(&THIRD.replace("/FOLDER", &root));
    assert_eq!(session.status, 0);
    let opened: Value = serde_json::from_str(THIRD.lines().nth(2).unwrap()).unwrap();
    let text = opened["params"]["textDocument"]["text"].as_str().unwrap();

    let can = &session.result(0)["capabilities"]["semanticTokensProvider"];
    let types = can["legend"]["tokenTypes"].as_array().unwrap();
    // Words with their kinds, from differences to absolute places; this text's columns are characters
    // but for its first line.
    let words = |id: u64| -> Vec<(usize, String, String)> {
        let data: Vec<usize> = session.result(id)["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|n| usize::try_from(n.as_u64().unwrap()).unwrap())
            .collect();
        let (mut line, mut column) = (0, 0);
        let mut words = Vec::new();
        for five in data.chunks(5) {
            column = if five[0] > 0 { five[1] } else { column + five[1] };
            line += five[0];
            let row: Vec<u16> = text.lines().nth(line).unwrap().encode_utf16().collect();
            let word = String::from_utf16(&row[column..column + five[2]]).unwrap();
            let kind = types[five[3]].as_str().unwrap();
            words.push((line, word, format!("{kind}{}", if five[4] == 1 { "!" } else { "" })));
        }
        words
    };
    let all = words(1);
    let of_line = |wanted: usize| -> String {
        let here = all.iter().filter(|(line, ..)| *line == wanted);
        here.map(|(_, word, kind)| format!("{word}={kind}")).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(of_line(0), "-- 😀 A fetch that=comment");
    assert_eq!(of_line(2), "#include=macro \"names.inc\"=string");
    assert_eq!(
        of_line(5),
        "@top=label! TEX=keyword temp=variable 1=number rgba=property LD=function tex=variable 0=number \
         rgba=property temp=variable 0=number rgba=property"
    );
    assert_eq!(of_line(6), "IF=keyword alu=variable ALU_WAIT=modifier");
    assert!(of_line(7).ends_with("src1=variable rgb=property tint=parameter"));
    let part: Vec<String> = words(2).into_iter().map(|(_, word, _)| word).collect();
    assert_eq!(part, ["@top", "TEX", "temp"], "what columns 0 to 10 of line 5 touch");

    let lines = |fold: &Value| (fold["startLine"].as_u64(), fold["endLine"].as_u64());
    let folds: Vec<_> = session.result(3).as_array().unwrap().iter().map(lines).collect();
    let wanted = [(0, 1), (6, 8), (7, 8), (9, 10)];
    assert_eq!(folds, wanted.map(|(from, to)| (Some(from), Some(to))));
    let link = |n: usize| session.result(4)[n]["target"].as_str().unwrap();
    assert_eq!(link(0), format!("file://{root}/names.inc"));
    assert_eq!(link(1), format!("file://{root}/skin.png"));

    // After `MAX `, after its first operand, and at the start of a line.
    let help = |id: u64| {
        let help = session.result(id);
        (help["signatures"][0]["label"].clone(), help["activeParameter"].clone())
    };
    assert_eq!(help(5), (json!("MAX A B"), json!(0)));
    assert_eq!(help(6), (json!("MAX A B"), json!(1)));
    assert_eq!(session.result(7), &Value::Null);

    let problems = session.published[0]["diagnostics"].as_array().unwrap();
    let fetch = problems.iter().find(|problem| problem["code"] == "R5042").unwrap();
    let page = format!("file://{root}/book/reference/checks.html#r5042-never-acquired");
    assert_eq!(fetch["codeDescription"]["href"], page);
    let there = &fetch["relatedInformation"][0];
    assert_eq!(there["message"], "fetched here");
    assert_eq!(there["location"]["range"], range((5, 5), (5, 53)));
}

#[test]
fn a_connection_that_breaks_is_no_success() {
    super::with_stdin(&["lsp"], b"").status(1);
    let run = super::with_stdin(&["lsp"], b"Content-Length: 3\r\n\r\n{]}").status(1);
    assert!(run.text().contains("-32700"), "{}", run.text());
}

/// How long an editor waits for what is wrong after a key: prints milliseconds, most of them the assembler's and
/// the checker's. `cargo test -p r500-cli --test command keystroke -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
#[allow(clippy::print_stdout)]
fn keystroke_latency() {
    let folder = Folder::new("lsp-keystroke");
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/mesa");
    let mut programs: Vec<(String, String)> = std::fs::read_dir(corpus)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| {
            let text = command()
                .arg("disasm")
                .arg(&path)
                .arg("--inline-textures")
                .output()
                .unwrap()
                .stdout;
            (
                path.file_stem().unwrap().to_string_lossy().into_owned(),
                String::from_utf8(text).unwrap(),
            )
        })
        .collect();
    programs.sort_by_key(|(_, text)| text.lines().count());
    let longest = programs.pop().unwrap();
    let line = "src0.rgb = temp[1], src1.rgb = const[3], src0.a = temp[2] : temp[1].rgb = MAD src0.rgb src1.rgb src0.aaa, temp[2].a = RSQ |src0.a| ;\n";
    let many = |count: usize| (format!("{count} instructions"), line.repeat(count));
    for (name, text) in [longest, many(512), many(10_000)] {
        let uri = format!("file://{}", folder.path("keystroke.r5"));
        let mut child =
            command().arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut tell = |method: &str, params: Value| {
            let id = (method == "initialize").then_some(1);
            let mut message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
            if let Some(id) = id {
                message["id"] = json!(id);
            }
            let body = message.to_string();
            write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
            input.flush().unwrap();
            receive(&mut output)
        };
        tell("initialize", json!({ "capabilities": {} }));
        let document = json!({ "uri": uri, "text": text, "version": 0, "languageId": "r500" });
        tell("textDocument/didOpen", json!({ "textDocument": document }));
        // A digit in the middle, there and back again.
        let lines: Vec<&str> = text.lines().collect();
        let (row, column) = (lines.len() / 2..lines.len())
            .find_map(|n| Some((n, lines[n].find("temp[")? + 5)))
            .unwrap();
        let was = &lines[row][column..=column];
        let mut times: Vec<f64> = (1..=40)
            .map(|version| {
                let end = json!({ "line": row, "character": column + 1 });
                let start = json!({ "line": row, "character": column });
                let new = if version % 2 == 0 { was } else { "9" };
                let change = json!({ "range": { "start": start, "end": end }, "text": new });
                let from = std::time::Instant::now();
                let answer = tell(
                    "textDocument/didChange",
                    json!({ "textDocument": { "uri": uri, "version": version }, "contentChanges": [change] }),
                );
                assert_eq!(answer["params"]["version"], version);
                from.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        times.sort_by(f64::total_cmp);
        println!(
            "{name}: {} lines, {} bytes: median {:.1} ms, longest {:.1} ms",
            lines.len(),
            text.len(),
            times[times.len() / 2],
            times[times.len() - 1]
        );
        drop(input);
        child.wait().unwrap();
    }
}
