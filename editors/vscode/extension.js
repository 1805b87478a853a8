// Starts `r500 lsp` for R500 assembly and `r500 dap` for walks through its pixels.
const { debug, DebugAdapterExecutable, window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

const command = () => workspace.getConfiguration("r500").get("path");

/** What is debugged where no launch configuration says so: the program in the editor. */
const configurations = {
  resolveDebugConfiguration(_, configuration) {
    if (configuration.type) return configuration;
    const editor = window.activeTextEditor;
    if (editor?.document.languageId !== "r500") return undefined;
    return { type: "r500", request: "launch", name: "A pixel", program: editor.document.fileName };
  },
};

exports.activate = (context) => {
  const settings = workspace.getConfiguration("r500");
  context.subscriptions.push(
    debug.registerDebugConfigurationProvider("r500", configurations),
    debug.registerDebugAdapterDescriptorFactory("r500", {
      createDebugAdapterDescriptor: () => new DebugAdapterExecutable(command(), ["dap"]),
    }),
  );
  const server = { command: command(), args: ["lsp"] };
  client = new LanguageClient("r500", "R500 assembly", server, {
    documentSelector: [{ language: "r500" }, { language: "glsl" }],
    initializationOptions: {
      guide: settings.get("guide"),
      hints: { addresses: settings.get("hints.addresses"), words: settings.get("hints.words") },
    },
  });
  return client.start();
};

exports.deactivate = () => client?.stop();
