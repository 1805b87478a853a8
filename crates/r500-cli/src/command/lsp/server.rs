//! The protocol: messages and states.

use std::io::{self, Write};
use std::sync::Arc;

use r500::asm::ide::lines::{Encoding, Lines};
use r500::asm::ide::{Analysis, OutlineKind};
use r500::service;
use serde_json::{Value, json};

use super::super::input_args::PathArgs;
use super::answer::{self, PositionMap, token_types};
use super::documents::{Documents, position};
use crate::command::wire::{self, Code, Incoming, Messages, fail, send};

/// Serves until the client exits or disconnects; returns whether it sent `shutdown`.
pub(super) fn serve(
    messages: &Messages,
    out: &mut impl Write,
    paths: PathArgs,
) -> io::Result<bool> {
    let mut server = Server { documents: Documents::new(paths), ..Server::default() };
    loop {
        if messages.is_idle() {
            server.publish(out)?;
        }
        match messages.next() {
            Incoming::End => return Ok(false),
            Incoming::Malformed(why) => fail(out, &Value::Null, Code::ParseError, &why)?,
            Incoming::Cancelled(request) => {
                fail(out, &request["id"], Code::Cancelled, "cancelled")?;
            }
            Incoming::Message(message) => {
                if message.get("method").and_then(Value::as_str) == Some("exit") {
                    return Ok(server.state == State::Ended);
                }
                server.message(&message, out)?;
            }
        }
    }
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
    /// Address of the guide, with a final `/`; empty if the client did not provide it.
    guide: String,
    /// Whether the client requests hints again when it is asked to.
    refreshes_hints: bool,
    /// Number of requests to the client.
    requests: u64,
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
            // The response to a request for a refresh, which has no content.
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
        if method == "workspace/didChangeConfiguration" {
            return self.change_settings(&params["settings"]["r500"], out);
        }
        let document = &params["textDocument"];
        let Some(uri) = document["uri"].as_str() else { return Ok(()) };
        let version = document["version"].clone();
        match method {
            "textDocument/didOpen" => {
                let text = |name: &str| document[name].as_str().unwrap_or_default();
                self.documents.open(uri, text("languageId"), version, text("text"));
            }
            "textDocument/didChange" => {
                let changes = params["contentChanges"].as_array().map_or(&[][..], Vec::as_slice);
                if self.documents.change(uri, version, changes, self.encoding).is_none() {
                    // Client and server now have different texts; the user should know.
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
        if let Some(shader) = self.documents.shader(uri) {
            let range = self.documents.get(uri).and_then(|document| {
                let lines = Lines::new(&document.text);
                let at = |end: &str| position(&params["range"][end]);
                let (start, end) = (at("start")?, at("end")?);
                let place = |at| lines.offset(&document.text, at, self.encoding);
                Some(place(start)..place(end))
            });
            return Ok(shader.answer(what, uri, self.encoding, range));
        }
        let analysis = self.documents.analysis(uri);
        let analysis: Arc<Analysis> =
            analysis.ok_or_else(|| invalid("that document is not open"))?;
        self.about(what, params, uri, &analysis)
    }

    /// Handles a request about a document.
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
        let mut places = PositionMap::new(analysis, uri, self.encoding, &self.guide);
        Ok(match what {
            "hover" => service::hover(analysis, at()?).map_or(Value::Null, |hover| {
                let kind = if self.markdown { "markdown" } else { "plaintext" };
                let contents = json!({ "kind": kind, "value": hover.text });
                json!({ "contents": contents, "range": places.range(hover.span) })
            }),
            "completion" => places.completions(at()?, self.snippets),
            "definition" => match analysis.definitions(at()?).as_slice() {
                [] => Value::Null,
                [one] => places.location(*one),
                several => several.iter().map(|span| places.location(*span)).collect(),
            },
            "references" => {
                let definition = params["context"]["includeDeclaration"].as_bool().unwrap_or(true);
                let found = analysis.references(at()?, definition);
                found.into_iter().map(|span| places.location(span)).collect()
            }
            "documentHighlight" => places.highlights(at()?),
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

    /// Returns symbols of all open documents with names that contain a text.
    fn workspace_symbols(&mut self, query: &str) -> Value {
        let query = query.to_ascii_lowercase();
        let mut all = Vec::new();
        for uri in self.documents.uris() {
            if self.documents.shader(&uri).is_some() {
                continue;
            }
            let Some(analysis) = self.documents.analysis(&uri) else { continue };
            let mut places = PositionMap::new(&analysis, &uri, self.encoding, &self.guide);
            for entry in analysis.outline() {
                let kind = match entry.kind {
                    OutlineKind::Label | OutlineKind::Macro => 12,
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
        places: &mut PositionMap<'_>,
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
        self.refreshes_hints = client["workspace"]["inlayHint"]["refreshSupport"] == true;
        self.set_options(&params["initializationOptions"]);
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

    /// Takes the options of the client: `{"guide": "…", "hints": {"addresses": true, "words": true}}`.
    fn set_options(&mut self, options: &Value) {
        let hints = &options["hints"];
        self.addresses = hints["addresses"].as_bool().unwrap_or(true);
        self.words = hints["words"].as_bool().unwrap_or(true);
        let guide = options["guide"].as_str().unwrap_or_default();
        let web = ["https://", "http://", "file://"].iter().any(|scheme| guide.starts_with(scheme));
        self.guide = if web { format!("{}/", guide.trim_end_matches('/')) } else { String::new() };
    }

    /// Takes changed options. Diagnostics are published again, and a client that supports it requests hints again.
    fn change_settings(&mut self, options: &Value, out: &mut impl Write) -> io::Result<()> {
        if !options.is_object() {
            return Ok(());
        }
        self.set_options(options);
        self.documents.all_stale();
        if !self.refreshes_hints {
            return Ok(());
        }
        self.requests += 1;
        let id = format!("r500-{}", self.requests);
        send(out, &json!({ "jsonrpc": "2.0", "id": id, "method": "workspace/inlayHint/refresh" }))
    }

    /// Publishes the diagnostics of changed documents.
    fn publish(&mut self, out: &mut impl Write) -> io::Result<()> {
        for uri in self.documents.stale() {
            if let Some(shader) = self.documents.shader(&uri) {
                let version = self.documents.get(&uri).map_or(Value::Null, |d| d.version.clone());
                publish(out, &uri, &version, shader.diagnostics(self.encoding))?;
                continue;
            }
            let Some(analysis) = self.documents.analysis(&uri) else { continue };
            let mut places = PositionMap::new(&analysis, &uri, self.encoding, &self.guide);
            let problems = service::diagnostics(&analysis);
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
mod tests;
