// Starts `r500 lsp` for R500 assembly and GLSL, `r500 dap` for walks through pixels, and the preview of pictures.
const {
  commands,
  debug,
  DebugAdapterExecutable,
  EvaluatableExpression,
  languages,
  window,
  workspace,
} = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { Preview } = require("./lib/preview");
const { environment, isShader } = require("./lib/render");

const command = () => workspace.getConfiguration("r500").get("path");

/** The options of the language server. */
function options() {
  const settings = workspace.getConfiguration("r500");
  return {
    guide: settings.get("guide"),
    hints: { addresses: settings.get("hints.addresses"), words: settings.get("hints.words") },
  };
}

/** The language server: the client that is started last, after the ones before have stopped. */
class Server {
  #client;
  #queue = Promise.resolve();

  /** Starts the command that the settings name; stops the one that runs. */
  restart() {
    return this.#then(async () => {
      // A client that could not start cannot be stopped.
      await this.#client?.stop().catch(() => {});
      const server = { command: command(), args: ["lsp"] };
      this.#client = new LanguageClient("r500", "R500 assembly", server, {
        documentSelector: [{ language: "r500" }, { language: "glsl" }],
        initializationOptions: options(),
      });
      await this.#client.start();
    });
  }

  /** Passes changed settings to the server. */
  configure() {
    return this.#then(() =>
      this.#client?.sendNotification("workspace/didChangeConfiguration", { settings: { r500: options() } }),
    );
  }

  stop() {
    return this.#then(() => this.#client?.stop());
  }

  /** Does one thing after the other; a failure, which the client has shown, does not end the queue. */
  #then(work) {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => {});
    return done;
  }
}

const server = new Server();

/** What is debugged where no launch configuration says so: the program in the editor. */
const configurations = {
  resolveDebugConfiguration(_, configuration) {
    if (configuration.type) return configuration;
    const document = window.activeTextEditor?.document;
    if (!document || !isShader(document)) return undefined;
    return { type: "r500", request: "launch", name: "A pixel", program: document.fileName };
  },
};

/** What a hover evaluates: a register with its channels, or a name. */
const expressions = {
  provideEvaluatableExpression(document, position) {
    const range = document.getWordRangeAtPosition(position, /[a-z_]\w*(\[\w+\])?(\.[rgbaxyzw]{1,4}\b)?/i);
    return range && new EvaluatableExpression(range);
  },
};

exports.activate = (context) => {
  const preview = new Preview(context.extensionUri, command);
  context.subscriptions.push(
    preview,
    debug.registerDebugConfigurationProvider("r500", configurations),
    debug.registerDebugAdapterDescriptorFactory("r500", {
      createDebugAdapterDescriptor: () => new DebugAdapterExecutable(command(), ["dap"], { env: environment() }),
    }),
    languages.registerEvaluatableExpressionProvider("r500", expressions),
    commands.registerCommand("r500.preview", () => preview.show()),
    workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("r500.path")) {
        preview.refresh();
        return server.restart();
      }
      return change.affectsConfiguration("r500") ? server.configure() : undefined;
    }),
  );
  return server.restart();
};

exports.deactivate = () => server.stop();
