// The extension in an editor that this test plays: settings, preview, pixels.

import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const command = process.env.R500 ?? join(root, "target/debug/r500");
const folder = mkdtempSync(join(tmpdir(), "r500-extension-"));
const require = createRequire(import.meta.url);

/** What happened, in order. */
const log = [];
const settings = { path: command, guide: "", "hints.addresses": true, "hints.words": true };
const listeners = {};
const on = (name) => (listener) => {
  listeners[name] = listener;
  return { dispose: () => delete listeners[name] };
};
const panel = {
  messages: [],
  webview: {
    cspSource: "extension:",
    asWebviewUri: (uri) => uri,
    onDidReceiveMessage: on("message"),
    postMessage: (message) => panel.messages.push(message),
  },
  onDidDispose: on("disposed"),
  reveal: () => log.push("reveal"),
  dispose: () => listeners.disposed?.(),
};
const vscode = {
  Uri: { joinPath: (base, ...names) => [base, ...names].join("/") },
  ViewColumn: { Beside: -2 },
  EvaluatableExpression: class {
    constructor(range) {
      this.range = range;
    }
  },
  DebugAdapterExecutable: class {},
  commands: { registerCommand: (name, run) => ((listeners[name] = run), { dispose() {} }) },
  debug: {
    registerDebugConfigurationProvider: () => ({ dispose() {} }),
    registerDebugAdapterDescriptorFactory: () => ({ dispose() {} }),
    startDebugging: (_, configuration) => log.push(configuration),
  },
  languages: {
    registerEvaluatableExpressionProvider: (_, provider) => ((listeners.expression = provider), { dispose() {} }),
  },
  window: {
    activeTextEditor: undefined,
    createWebviewPanel: () => panel,
    onDidChangeActiveTextEditor: on("editor"),
    showInformationMessage: (text) => log.push(text),
    showErrorMessage: (text) => log.push(text),
  },
  workspace: {
    getConfiguration: () => ({ get: (name) => settings[name] }),
    getWorkspaceFolder: () => undefined,
    onDidChangeConfiguration: on("configuration"),
    onDidChangeTextDocument: on("text"),
    onDidSaveTextDocument: on("saved"),
  },
};
class LanguageClient {
  constructor(_id, _name, server, options) {
    Object.assign(this, { server, options });
  }
  async start() {
    log.push(`start ${this.server.command}`);
    if (this.server.command === "nothing") throw new Error("it could not be started");
  }
  async stop() {
    log.push(`stop ${this.server.command}`);
    if (this.server.command === "nothing") throw new Error("it is not running");
  }
  sendNotification(method, params) {
    log.push([method, params]);
  }
}
const load = Module._load;
Module._load = (name, ...rest) => {
  if (name === "vscode") return vscode;
  return name === "vscode-languageclient/node" ? { LanguageClient } : load(name, ...rest);
};
const { activate, deactivate } = require("../extension.js");
after(() => (Module._load = load));

/** Waits until a function returns something. */
async function until(get) {
  for (let tries = 0; tries < 400; tries++) {
    const found = get();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`nothing came; the log: ${JSON.stringify(log)}`);
}
const changed = (name) => listeners.configuration({ affectsConfiguration: (asked) => name === asked || name.startsWith(`${asked}.`) });
const happened = () => log.splice(0);

test("changed settings apply without a restart of the editor", async () => {
  const context = { extensionUri: "extension", subscriptions: [] };
  await activate(context);
  assert.deepEqual(happened(), [`start ${command}`]);
  settings["hints.words"] = false;
  await changed("r500.hints.words");
  const options = { guide: "", hints: { addresses: true, words: false } };
  assert.deepEqual(happened(), [["workspace/didChangeConfiguration", { settings: { r500: options } }]]);
  await changed("editor.fontSize");
  assert.deepEqual(happened(), []);
  // Another command replaces the server, also one that could not be started.
  settings.path = "nothing";
  await assert.rejects(changed("r500.path"));
  settings.path = command;
  await changed("r500.path");
  assert.deepEqual(happened(), [`stop ${command}`, "start nothing", "stop nothing", `start ${command}`]);
});

test("the picture follows the text, and a click on a pixel debugs it", async () => {
  const program = join(folder, "half.r5");
  writeFileSync(join(folder, "size.inc"), "SIZE 3 2 ;\n");
  const ending = "OUT LAST src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ;\n";
  writeFileSync(program, ending);
  const document = {
    languageId: "r500",
    fileName: program,
    isUntitled: false,
    isDirty: true,
    text: `#include "size.inc"\n${ending}`,
    getText: () => document.text,
    save: async () => (log.push("save"), true),
  };
  await listeners["r500.preview"]();
  assert.match(happened()[0], /Open a program/);
  vscode.window.activeTextEditor = { document };
  await listeners["r500.preview"]();
  assert.match(panel.webview.html, /default-src 'none'/);
  const [first] = await until(() => panel.messages.length && panel.messages.splice(0));
  assert.equal(first.name, "half.r5");
  const png = Buffer.from(first.png, "base64");
  assert.equal(png.subarray(1, 4).toString(), "PNG");
  // The size is that of the file that the unsaved text includes.
  assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [3, 2]);

  document.text = "SIZE 3 2 ;\nnonsense ;\n";
  listeners.text({ document });
  const [broken] = await until(() => panel.messages.length && panel.messages.splice(0));
  assert.match(broken.error, /unknown word `nonsense`/);

  await listeners.message({ time: 1.5 });
  await listeners.message({ pixel: [2, 1] });
  const launch = { type: "r500", request: "launch", name: "Pixel 2,1", program, pixel: [2, 1], time: 1.5 };
  assert.deepEqual(happened(), ["save", launch]);

  // GLSL, as it was saved.
  const shader = join(folder, "red.frag");
  writeFileSync(shader, "void main() { gl_FragColor = vec4(1.0, 0.0, 0.0, 1.0); }\n");
  const glsl = { languageId: "glsl", fileName: shader, isUntitled: false, isDirty: false };
  listeners.editor({ document: glsl });
  const drawn = await until(() => panel.messages.find((message) => message.name === "red.frag"));
  assert.equal(drawn.error, undefined);
  await listeners.message({ pixel: [0, 0] });
  assert.equal(happened()[0].program, shader);

  settings.path = join(folder, "no-command");
  listeners.text({ document });
  await until(() => panel.messages.find((message) => /could not be started/.test(message.error)));
  panel.dispose();
  assert.equal(listeners.text, undefined);
  await deactivate();
});

test("a hover evaluates registers with their channels", () => {
  const line = "  src0.rgb = temp[12].a, tint.rg";
  const document = {
    getWordRangeAtPosition(at, pattern) {
      const all = [...line.matchAll(new RegExp(pattern, "g"))];
      return all.find((match) => match.index <= at && at <= match.index + match[0].length)?.[0];
    },
  };
  const under = (text) => listeners.expression.provideEvaluatableExpression(document, line.indexOf(text))?.range;
  assert.equal(under("temp"), "temp[12].a");
  assert.equal(under("2]"), "temp[12].a");
  assert.equal(under("tint"), "tint.rg");
  assert.equal(under("="), undefined);
});

test("a point of the picture is a pixel, the bottom row 0", () => {
  const { pixelAt } = require("../media/pixel.js");
  const box = { left: 10, top: 20, width: 300, height: 200 };
  assert.deepEqual(pixelAt({ x: 10, y: 20 }, box, [3, 2]), [0, 1]);
  assert.deepEqual(pixelAt({ x: 309, y: 219 }, box, [3, 2]), [2, 0]);
  assert.deepEqual(pixelAt({ x: 160, y: 119 }, box, [3, 2]), [1, 1]);
  assert.equal(pixelAt({ x: 310, y: 100 }, box, [3, 2]), null);
  assert.equal(pixelAt({ x: 9, y: 100 }, box, [3, 2]), null);
});
