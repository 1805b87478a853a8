// Starts `r500 lsp` for R500 assembly.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const settings = workspace.getConfiguration("r500");
  const server = { command: settings.get("path"), args: ["lsp"] };
  client = new LanguageClient("r500", "R500 assembly", server, {
    documentSelector: [{ language: "r500" }],
    initializationOptions: {
      guide: settings.get("guide"),
      hints: { addresses: settings.get("hints.addresses"), words: settings.get("hints.words") },
    },
  });
  return client.start();
};

exports.deactivate = () => client?.stop();
