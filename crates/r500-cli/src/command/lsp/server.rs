//! The conversation: which message means what, and in which state.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};

use r500::asm::ide::lines::{Encoding, Lines};
use r500::asm::ide::{Analysis, OutlineKind};
use r500::service;
use serde_json::{Value, json};

use super::super::input_args::PathArgs;
use super::answer::{self, Places, token_types};
use super::documents::{Documents, position};
use crate::command::wire::{self, Code, Incoming, fail, send};

/// Serves until the client exits or disconnects; returns whether it sent `shutdown`.
pub(super) fn serve(
    messages: &Receiver<Incoming>,
    out: &mut impl Write,
    paths: PathArgs,
) -> io::Result<bool> {
    let mut server = Server { documents: Documents::new(paths), ..Server::default() };
    let mut queue: VecDeque<Incoming> = VecDeque::new();
    loop {
        // All that has arrived, for a later message may take back an earlier one.
        loop {
            match messages.try_recv() {
                Ok(message) => queue.push_back(message),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    queue.push_back(Incoming::End);
                    break;
                }
            }
        }
        let next = match queue.pop_front() {
            Some(next) => next,
            None => {
                // No request is pending: publish diagnostics.
                server.publish(out)?;
                messages.recv().unwrap_or(Incoming::End)
            }
        };
        match next {
            Incoming::End => return Ok(false),
            Incoming::Malformed(why) => fail(out, &Value::Null, Code::ParseError, &why)?,
            Incoming::Message(message) => {
                if message.get("method").and_then(Value::as_str) == Some("exit") {
                    return Ok(server.state == State::Ended);
                }
                let id = message.get("id");
                if id.is_some() && cancelled(&queue, id) {
                    fail(out, &message["id"], Code::Cancelled, "cancelled")?;
                } else {
                    server.message(&message, out)?;
                }
            }
        }
    }
}

/// Returns whether a message that has arrived takes a request back.
fn cancelled(queue: &VecDeque<Incoming>, id: Option<&Value>) -> bool {
    queue.iter().any(|message| match message {
        Incoming::Message(message) => {
            message.get("method").and_then(Value::as_str) == Some("$/cancelRequest")
                && message.get("params").and_then(|params| params.get("id")) == id
        }
        _ => false,
    })
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    New,
    Running,
    Ended,
}

#[derive(Default)]
struct Server {
    state: State,
    documents: Documents,
    encoding: Encoding,
    snippets: bool,
    markdown: bool,
    addresses: bool,
    words: bool,
    /// Where the guide is, with a `/` at its end; empty if the client did not give it.
    guide: String,
}

/// Why a request has no result.
type Answer = Result<Value, (Code, String)>;

impl Server {
    fn message(&mut self, message: &Value, out: &mut impl Write) -> io::Result<()> {
        let nothing = Value::Null;
        let params = message.get("params").unwrap_or(&nothing);
        match (message.get("method").and_then(Value::as_str), message.get("id")) {
            (Some(method), Some(id)) => match self.request(method, params) {
                Ok(result) => wire::answer(out, id, &result),
                Err((code, why)) => fail(out, id, code, &why),
            },
            (Some(method), None) => self.notification(method, params, out),
            // An answer, although no request was sent.
            (None, Some(_))
                if message.get("result").is_some() || message.get("error").is_some() =>
            {
                Ok(())
            }
            (None, id) => {
                let id = id.unwrap_or(&nothing);
                fail(out, id, Code::InvalidRequest, "no request, notification or answer")
            }
        }
    }

    fn notification(
        &mut self,
        method: &str,
        params: &Value,
        out: &mut impl Write,
    ) -> io::Result<()> {
        if self.state != State::Running {
            return Ok(());
        }
        let document = &params["textDocument"];
        let Some(uri) = document["uri"].as_str() else { return Ok(()) };
        let version = document["version"].clone();
        match method {
            "textDocument/didOpen" => {
                self.documents.open(uri, version, document["text"].as_str().unwrap_or_default());
            }
            "textDocument/didChange" => {
                let changes = params["contentChanges"].as_array().map_or(&[][..], Vec::as_slice);
                if self.documents.change(uri, version, changes, self.encoding).is_none() {
                    // The texts differ from now on; people should know.
                    let message = json!({
                        "type": 1, "message": "r500: a change could not be understood; close and open the file",
                    });
                    return send(
                        out,
                        &json!({
                            "jsonrpc": "2.0", "method": "window/showMessage", "params": message,
                        }),
                    );
                }
            }
            "textDocument/didClose" if self.documents.close(uri) => {
                return publish(out, uri, &Value::Null, Vec::new());
            }
            _ => {}
        }
        Ok(())
    }

    fn request(&mut self, method: &str, params: &Value) -> Answer {
        match (self.state, method) {
            (State::New, "initialize") => {
                self.state = State::Running;
                return Ok(self.initialize(params));
            }
            (State::New, _) => {
                return Err((Code::NotInitialized, "`initialize` comes first".to_owned()));
            }
            (State::Ended, _) => {
                return Err((Code::InvalidRequest, "after `shutdown` comes `exit`".to_owned()));
            }
            (State::Running, "initialize") => {
                return Err((Code::InvalidRequest, "`initialize` comes once".to_owned()));
            }
            (State::Running, "shutdown") => {
                self.state = State::Ended;
                return Ok(Value::Null);
            }
            (State::Running, _) => {}
        }
        let known = [
            "hover",
            "completion",
            "definition",
            "references",
            "documentHighlight",
            "prepareRename",
            "rename",
            "documentSymbol",
            "semanticTokens/full",
            "semanticTokens/range",
            "foldingRange",
            "documentLink",
            "signatureHelp",
            "inlayHint",
            "codeAction",
            "formatting",
            "rangeFormatting",
            "documentColor",
            "colorPresentation",
            "selectionRange",
        ];
        if method == "workspace/symbol" {
            return Ok(self.workspace_symbols(params["query"].as_str().unwrap_or_default()));
        }
        let what = method.strip_prefix("textDocument/").filter(|what| known.contains(what));
        let Some(what) = what else {
            return Err((Code::MethodNotFound, format!("`{method}` is not served")));
        };
        let uri = params["textDocument"]["uri"].as_str();
        let uri = uri.ok_or_else(|| invalid("no `textDocument.uri`"))?;
        let analysis = self.documents.analysis(uri);
        let analysis: Arc<Analysis> =
            analysis.ok_or_else(|| invalid("that document is not open"))?;
        self.about(what, params, uri, &analysis)
    }

    /// Requests about a document.
    fn about(&self, what: &str, params: &Value, uri: &str, analysis: &Analysis) -> Answer {
        let lines = Lines::new(analysis.text());
        let offset = |value: &Value| {
            let place = position(value).ok_or_else(|| invalid("no position"))?;
            Ok(lines.offset(analysis.text(), place, self.encoding))
        };
        let at = || offset(&params["position"]);
        let range = || -> Result<(usize, usize), (Code, String)> {
            Ok((offset(&params["range"]["start"])?, offset(&params["range"]["end"])?))
        };
        let mut places = Places::new(analysis, uri, self.encoding, &self.guide);
        Ok(match what {
            "hover" => service::hover(analysis, at()?).map_or(Value::Null, |hover| {
                let kind = if self.markdown { "markdown" } else { "plaintext" };
                let contents = json!({ "kind": kind, "value": hover.text });
                json!({ "contents": contents, "range": places.range(hover.span) })
            }),
            "completion" => places.completions(at()?, self.snippets),
            "definition" => {
                analysis.definition(at()?).map_or(Value::Null, |span| places.location(span))
            }
            "references" => {
                let definition = params["context"]["includeDeclaration"].as_bool().unwrap_or(true);
                let found = analysis.references(at()?, definition);
                found.into_iter().map(|span| places.location(span)).collect()
            }
            "documentHighlight" => {
                let found = analysis.references(at()?, true).into_iter();
                let here = found.filter(|span| span.file == 0);
                here.map(|span| json!({ "range": places.range(span) })).collect()
            }
            "prepareRename" => {
                analysis.renamable(at()?).map_or(Value::Null, |span| places.range(span))
            }
            "rename" => {
                let name = params["newName"].as_str().ok_or_else(|| invalid("no `newName`"))?;
                let edits = analysis.rename(at()?, name);
                let edits = edits.map_err(|why| (Code::Failed, why.to_string()))?;
                places.edits(&edits)
            }
            "documentSymbol" => places.symbols(),
            "semanticTokens/full" => places.tokens(0..analysis.text().len()),
            "semanticTokens/range" => {
                let (from, to) = range()?;
                places.tokens(from..to)
            }
            "foldingRange" => places.folds(),
            "documentLink" => places.links(),
            "signatureHelp" => analysis
                .signature(at()?)
                .map_or(Value::Null, |signature| answer::signature(&signature, self.markdown)),
            "inlayHint" => {
                let (from, to) = range()?;
                places.hints(from, to, self.addresses, self.words)
            }
            "codeAction" => {
                let (from, to) = range()?;
                self.actions(params, uri, analysis, &mut places, from, to)
            }
            "documentColor" => places.colors(),
            "colorPresentation" => answer::color_presentation(&params["color"]),
            "selectionRange" => {
                let wanted =
                    params["positions"].as_array().ok_or_else(|| invalid("no `positions`"))?;
                let all: Result<Vec<Value>, _> =
                    wanted.iter().map(|place| Ok(places.selection(offset(place)?))).collect();
                Value::Array(all?)
            }
            "rangeFormatting" => {
                let (from, to) = range()?;
                match r500::asm::format(analysis.text()) {
                    Ok(text) => places.lines(&text, from, to),
                    Err(why) => return Err((Code::Failed, why.to_string())),
                }
            }
            _ => match r500::asm::format(analysis.text()) {
                Ok(text) => analysis.edit_to(&text).iter().map(|edit| places.edit(edit)).collect(),
                Err(why) => return Err((Code::Failed, why.to_string())),
            },
        })
    }

    /// Symbols of all open documents whose names hold a text.
    fn workspace_symbols(&mut self, query: &str) -> Value {
        let query = query.to_ascii_lowercase();
        let mut all = Vec::new();
        for uri in self.documents.uris() {
            let Some(analysis) = self.documents.analysis(&uri) else { continue };
            let mut places = Places::new(&analysis, &uri, self.encoding, &self.guide);
            for entry in analysis.outline() {
                let kind = match entry.kind {
                    OutlineKind::Label => 12,
                    OutlineKind::Name => 13,
                    _ => continue,
                };
                if entry.name.to_ascii_lowercase().contains(&query) {
                    let location = places.location(entry.name_span);
                    all.push(json!({ "name": entry.name, "kind": kind, "location": location }));
                }
            }
        }
        Value::Array(all)
    }

    fn actions(
        &self,
        params: &Value,
        uri: &str,
        analysis: &Analysis,
        places: &mut Places<'_>,
        from: usize,
        to: usize,
    ) -> Value {
        let only = params["context"]["only"].as_array();
        // `source` requests all kinds below it.
        let wants = |kind: &str| {
            only.is_none_or(|only| {
                only.iter().filter_map(Value::as_str).any(|wanted| {
                    kind == wanted
                        || kind.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('.'))
                })
            })
        };
        let mut list = if wants("quickfix") { places.actions(from, to) } else { Vec::new() };
        if wants("source.fixAll") {
            let again = |text: &[u8]| self.documents.assemble(uri, text);
            let fixed = service::fix_all(analysis, again);
            if let Some(edit) = fixed.and_then(|text| analysis.edit_to(&text)) {
                list.push(json!({
                    "title": "Apply all safe fixes of the checker", "kind": "source.fixAll",
                    "edit": places.edits(&[edit]),
                }));
            }
        }
        Value::Array(list)
    }

    fn initialize(&mut self, params: &Value) -> Value {
        let client = &params["capabilities"];
        let folders = params["workspaceFolders"].as_array().map(Vec::as_slice).unwrap_or_default();
        let folders = folders.iter().map(|folder| &folder["uri"]).chain([&params["rootUri"]]);
        let folders = folders.filter_map(|uri| super::documents::path_of(uri.as_str()?));
        self.documents.folders = folders.collect();
        let encodings = client["general"]["positionEncodings"].as_array();
        let utf8 = encodings.is_some_and(|all| all.iter().any(|encoding| encoding == "utf-8"));
        self.encoding = if utf8 { Encoding::Utf8 } else { Encoding::Utf16 };
        let document = &client["textDocument"];
        self.snippets = document["completion"]["completionItem"]["snippetSupport"] == true;
        let formats = document["hover"]["contentFormat"].as_array();
        self.markdown = formats.is_none_or(|all| all.iter().any(|format| format == "markdown"));
        let hints = &params["initializationOptions"]["hints"];
        self.addresses = hints["addresses"].as_bool().unwrap_or(true);
        self.words = hints["words"].as_bool().unwrap_or(true);
        let guide = params["initializationOptions"]["guide"].as_str().unwrap_or_default();
        let web = ["https://", "http://", "file://"].iter().any(|scheme| guide.starts_with(scheme));
        self.guide = if web { format!("{}/", guide.trim_end_matches('/')) } else { String::new() };
        let types = document["semanticTokens"]["tokenTypes"].as_array();
        let labels = types.is_some_and(|all| all.iter().any(|name| name == "label"));
        json!({
            "serverInfo": { "name": "r500", "version": env!("CARGO_PKG_VERSION") },
            "capabilities": {
                "positionEncoding": if utf8 { "utf-8" } else { "utf-16" },
                "textDocumentSync": { "openClose": true, "change": 2 },
                "hoverProvider": true,
                "completionProvider": { "triggerCharacters": [".", "[", "(", "@", "="] },
                "definitionProvider": true,
                "referencesProvider": true,
                "documentHighlightProvider": true,
                "renameProvider": { "prepareProvider": true },
                "documentSymbolProvider": true,
                "semanticTokensProvider": {
                    "legend": { "tokenTypes": token_types(labels), "tokenModifiers": ["declaration"] },
                    "full": true, "range": true,
                },
                "foldingRangeProvider": true,
                "documentLinkProvider": {},
                "signatureHelpProvider": { "triggerCharacters": [" ", "(", ","] },
                "inlayHintProvider": true,
                "codeActionProvider": { "codeActionKinds": ["quickfix", "source.fixAll"] },
                "documentFormattingProvider": true,
                "documentRangeFormattingProvider": true,
                "colorProvider": true,
                "selectionRangeProvider": true,
                "workspaceSymbolProvider": true,
            },
        })
    }

    /// Says what is wrong with the documents that changed.
    fn publish(&mut self, out: &mut impl Write) -> io::Result<()> {
        for uri in self.documents.stale() {
            let Some(analysis) = self.documents.analysis(&uri) else { continue };
            let mut places = Places::new(&analysis, &uri, self.encoding, &self.guide);
            let problems = service::problems(&analysis);
            let list = problems.iter().map(|problem| places.diagnostic(problem)).collect();
            let version = self.documents.get(&uri).map_or(Value::Null, |d| d.version.clone());
            publish(out, &uri, &version, list)?;
        }
        Ok(())
    }
}

fn publish(out: &mut impl Write, uri: &str, version: &Value, list: Vec<Value>) -> io::Result<()> {
    let mut params = json!({ "uri": uri, "diagnostics": list });
    if version.is_i64() {
        params["version"] = version.clone();
    }
    let method = "textDocument/publishDiagnostics";
    send(out, &json!({ "jsonrpc": "2.0", "method": method, "params": params }))
}

fn invalid(why: &str) -> (Code, String) {
    (Code::InvalidParams, why.to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::mpsc::channel;

    use super::*;

    /// Serves messages that have all arrived; what was answered, and whether it ended well.
    fn served(messages: Vec<Incoming>) -> (Vec<Value>, bool) {
        let (send, receive) = channel();
        messages.into_iter().for_each(|message| send.send(message).unwrap());
        drop(send);
        let mut out = Vec::new();
        let done = serve(&receive, &mut out, PathArgs::default()).unwrap();
        let text = String::from_utf8(out).unwrap();
        let answers = text.split("Content-Length: ").skip(1);
        let body =
            |part: &str| serde_json::from_str(part.split_once("\r\n\r\n").unwrap().1).unwrap();
        (answers.map(body).collect(), done)
    }

    fn request(id: u32, method: &str, params: Value) -> Incoming {
        Incoming::Message(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    }

    fn tell(method: &str, params: Value) -> Incoming {
        Incoming::Message(json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }

    fn codes(answers: &[Value]) -> Vec<i64> {
        answers.iter().map(|answer| answer["error"]["code"].as_i64().unwrap_or(0)).collect()
    }

    #[test]
    fn a_request_can_be_taken_back_while_it_waits() {
        let document =
            json!({ "textDocument": { "uri": "untitled:1", "text": ": ;", "version": 1 } });
        let (answers, done) = served(vec![
            request(1, "initialize", json!({})),
            tell("textDocument/didOpen", document.clone()),
            request(2, "textDocument/documentSymbol", document.clone()),
            request(3, "textDocument/documentSymbol", document),
            tell("$/cancelRequest", json!({ "id": 2 })),
            request(4, "shutdown", Value::Null),
            tell("exit", Value::Null),
        ]);
        assert_eq!(codes(&answers), [0, -32800, 0, 0]);
        assert_eq!(answers[2]["result"], json!([]));
        assert!(done);
    }

    #[test]
    fn what_is_out_of_order_or_no_message_is_an_error() {
        let (answers, done) = served(vec![
            request(1, "textDocument/hover", json!({})),
            tell("textDocument/didOpen", json!({})),
            Incoming::Malformed("no".to_owned()),
            Incoming::Message(json!(3)),
            Incoming::Message(json!({ "id": 9, "result": 1 })),
            request(2, "initialize", json!(null)),
            request(3, "initialize", json!({})),
            tell("textDocument/didOpen", json!({ "textDocument": 3 })),
            request(4, "textDocument/hover", json!({ "textDocument": { "uri": "x" } })),
            request(5, "$/unknown", json!([])),
            request(6, "shutdown", Value::Null),
            request(7, "shutdown", Value::Null),
            Incoming::End,
        ]);
        let wanted = [-32002, -32700, -32600, 0, -32600, -32602, -32601, 0, -32600];
        assert_eq!(codes(&answers), wanted);
        assert!(!done);
    }

    /// Changes follow each other, each in the text that the one before it left; what no change is leaves
    /// the text, and is notified.
    #[test]
    fn changes_are_taken_one_after_the_other() {
        let uri = "untitled:1";
        let change = |changes: Value| {
            tell(
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
            tell(
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

    /// Colours, selections, symbols of all documents, and formatting of the lines that are meant.
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
            tell("textDocument/didOpen", document),
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
            request(
                6,
                "textDocument/rangeFormatting",
                with(json!({ "range": range, "options": {} })),
            ),
        ]);
        let result = |n: usize| &answers[n]["result"];
        assert_eq!(result(1)[0]["color"]["green"], 0.5);
        assert_eq!(result(1)[0]["range"]["start"], place(0, 11));
        assert_eq!(result(2)[0]["label"], "(0.2, 0.333, 0, 1)");
        assert_eq!(result(3)[0]["range"]["end"], place(2, 8), "{}", result(3));
        assert!(result(3)[0]["parent"]["parent"]["range"]["start"] == place(0, 0), "{}", result(3));
        assert_eq!(
            (result(4).as_array().unwrap().len(), &result(4)[0]["name"]),
            (1, &json!("eye"))
        );
        let edits = result(5).as_array().unwrap();
        assert_eq!(edits.len(), 1, "{edits:?}");
        assert!(edits[0]["newText"].as_str().unwrap().contains(": eye.g"), "{edits:?}");
    }

    /// What stands in a block is below it, a second block next to the first.
    #[test]
    fn the_outline_is_a_tree() {
        let text = "SIZE 4 4 ; IF alu ; @a : ; LOOP int[0] ; @b : ; ENDLOOP ; ELSE ; @c : ; ENDIF ; IF alu ; ENDIF ;";
        let uri = "untitled:1";
        let document = json!({ "textDocument": { "uri": uri, "text": text, "version": 1 } });
        let (answers, _) = served(vec![
            request(1, "initialize", json!({})),
            tell("textDocument/didOpen", document.clone()),
            request(2, "textDocument/documentSymbol", document),
        ]);
        fn told(list: &Value) -> String {
            let one = |symbol: &Value| {
                let name = symbol["name"].as_str().unwrap();
                let children = &symbol["children"];
                if children.is_null() {
                    name.to_owned()
                } else {
                    format!("{name}[{}]", told(children))
                }
            };
            list.as_array().unwrap().iter().map(one).collect::<Vec<_>>().join(" ")
        }
        assert_eq!(told(&answers[1]["result"]), "SIZE IF alu[@a LOOP int[0][@b] @c] IF alu");
    }
}
