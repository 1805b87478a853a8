// Draws the text of an editor with `r500 render`.
const { spawn } = require("node:child_process");
const { dirname } = require("node:path");

/** Returns whether a document is a program that `r500` draws. */
exports.isShader = (document) => ["r500", "glsl"].includes(document.languageId);

/** The environment of the command: GLSL is compiled by r500's own compiler, whose instructions have lines, unless the editor's names another. */
exports.environment = () => ({ R500_COMPILER: process.env.R500_COMPILER ?? "r500" });

/**
 * Draws a document as a PNG: assembly as it is in the editor, GLSL as it was saved.
 *
 * Returns the process, to stop it, and a promise of `{ png }` (a Buffer) or `{ error }` (a text). Included files and
 * textures are searched in the folder of the document.
 */
exports.render = (command, document, time) => {
  const fromEditor = document.languageId === "r500";
  const input = fromEditor ? ["-", "--from", "assembly"] : [document.fileName];
  const args = ["render", ...input, "-o", "-", "--color", "never"];
  if (time !== undefined) args.push("--time", String(time));
  const cwd = document.isUntitled ? undefined : dirname(document.fileName);
  const child = spawn(command, args, { cwd, env: { ...process.env, ...exports.environment() } });
  const [out, messages] = [[], []];
  child.stdout.on("data", (chunk) => out.push(chunk));
  child.stderr.on("data", (chunk) => messages.push(chunk));
  // The command may end before it has read its input.
  child.stdin.on("error", () => {});
  child.stdin.end(fromEditor ? document.getText() : "");
  const picture = new Promise((resolve) => {
    child.on("error", (error) => resolve({ error: `${command} could not be started: ${error.message}` }));
    child.on("close", (code) => {
      if (code === 0) return resolve({ png: Buffer.concat(out) });
      const text = Buffer.concat(messages).toString().trim();
      return resolve({ error: text || `${command} render ended with status ${code}` });
    });
  });
  return { child, picture };
};
