// The preview: a webview with the picture of the program in the editor. A click on a pixel starts the debugger there.
const { debug, Uri, ViewColumn, window, workspace } = require("vscode");
const { basename } = require("node:path");
const { isShader, render } = require("./render");

/** Milliseconds without a change after which the picture is drawn. */
const PAUSE = 120;

exports.Preview = class Preview {
  #root;
  #command;
  #panel;
  #document;
  #time;
  #timer;
  #child;
  #listeners = [];

  /** `root` is the folder of the extension, `command` returns the r500 command. */
  constructor(root, command) {
    this.#root = root;
    this.#command = command;
  }

  /** Shows the picture of the program in the active editor, and follows it. */
  show() {
    const document = window.activeTextEditor?.document;
    if (!document || !isShader(document)) {
      window.showInformationMessage("Open a program (.r5, .fs.asm or a GLSL fragment shader) to see its picture.");
      return;
    }
    this.#document = document;
    if (this.#panel) this.#panel.reveal(undefined, true);
    else this.#open();
    this.refresh();
  }

  /** Draws again after a pause. */
  refresh() {
    if (!this.#panel) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#draw(), PAUSE);
  }

  dispose() {
    this.#panel?.dispose();
  }

  #open() {
    const media = Uri.joinPath(this.#root, "media");
    this.#panel = window.createWebviewPanel(
      "r500.preview",
      "R500 picture",
      { viewColumn: ViewColumn.Beside, preserveFocus: true },
      { enableScripts: true, localResourceRoots: [media], retainContextWhenHidden: true },
    );
    const { webview } = this.#panel;
    webview.html = page(webview, media);
    this.#listeners = [
      webview.onDidReceiveMessage((message) => this.#receive(message)),
      this.#panel.onDidDispose(() => this.#closed()),
      workspace.onDidChangeTextDocument(({ document }) => this.#changed(document)),
      workspace.onDidSaveTextDocument((document) => this.#changed(document)),
      window.onDidChangeActiveTextEditor((editor) => {
        if (!editor || !isShader(editor.document) || editor.document === this.#document) return;
        this.#document = editor.document;
        this.refresh();
      }),
    ];
  }

  #closed() {
    clearTimeout(this.#timer);
    this.#child?.kill();
    this.#listeners.forEach((listener) => listener.dispose());
    this.#listeners = [];
    this.#panel = undefined;
  }

  /** A change of another file may change an included one. */
  #changed(document) {
    if (document === this.#document || isShader(document)) this.refresh();
  }

  async #draw() {
    this.#child?.kill();
    const document = this.#document;
    const { child, picture } = render(this.#command(), document, this.#time);
    this.#child = child;
    const drawn = await picture;
    // A later picture replaces this one.
    if (this.#child !== child || !this.#panel) return;
    const name = basename(document.fileName);
    this.#panel.title = name;
    const { webview } = this.#panel;
    if (drawn.png) webview.postMessage({ name, png: drawn.png.toString("base64") });
    else webview.postMessage({ name, error: drawn.error });
  }

  async #receive({ ready, pixel, time }) {
    if (ready) {
      this.refresh();
    } else if (pixel) {
      await this.#debug(pixel);
    } else if (time !== undefined) {
      this.#time = time === null ? undefined : time;
      this.refresh();
    }
  }

  /** Starts the debugger at a pixel. It reads the file, so that changes are saved first. */
  async #debug(pixel) {
    const document = this.#document;
    if (document.isUntitled || (document.isDirty && !(await document.save()))) {
      window.showErrorMessage("The program has to be saved before a pixel can be debugged.");
      return;
    }
    const configuration = {
      type: "r500",
      request: "launch",
      name: `Pixel ${pixel[0]},${pixel[1]}`,
      program: document.fileName,
      pixel,
    };
    if (this.#time !== undefined) configuration.time = this.#time;
    await debug.startDebugging(workspace.getWorkspaceFolder(document.uri), configuration);
  }
};

/** The page of the webview. It loads nothing but the extension's own files. */
function page(webview, media) {
  const file = (name) => webview.asWebviewUri(Uri.joinPath(media, name));
  const policy = `default-src 'none'; img-src data:; script-src ${webview.cspSource}; style-src ${webview.cspSource}`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="stylesheet" href="${file("preview.css")}">
<title>R500 picture</title>
</head>
<body>
<canvas id="picture" width="1" height="1" tabindex="0" aria-label="The picture. A click debugs a pixel."></canvas>
<p id="about" role="status">drawing…</p>
<label>time <input id="time" type="number" step="0.1" placeholder="of the program"> s</label>
<pre id="error" role="alert" hidden></pre>
<script src="${file("pixel.js")}"></script>
<script src="${file("preview.js")}"></script>
</body>
</html>`;
}
