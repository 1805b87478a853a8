// Puts the page together: node bundle.mjs FOLDER, where r500.wasm is already.

import { createHash } from "node:crypto";
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync } from "node:zlib";

import { build } from "esbuild";

import { glslTable, lessons } from "./lessons.mjs";

const out = process.argv[2];
if (out === undefined || !existsSync(join(out, "r500.wasm"))) {
  console.error("usage: node bundle.mjs FOLDER, with r500.wasm in it; web/build does all");
  process.exit(2);
}
const here = fileURLToPath(new URL(".", import.meta.url));
const examples = join(here, "..", "examples");
const shaders = join(examples, "glsl");
const scenes = join(examples, "scenes");

/** The names of levels in the files of examples, in their order. */
const LEVELS = ["easy", "medium", "advanced"];

/** The examples by level, with what each says of itself: its first sentence, and comments for its level and its author. */
function gallery() {
  const all = [...examplesOf(examples, ".r5", "-- "), ...examplesOf(shaders, ".frag", "// ").map((one) => ({ ...one, glsl: true })), ...examplesOf(scenes, ".r5", "-- ").map(withFiles)];
  return all.sort((a, b) => a.level - b.level || a.name.localeCompare(b.name));
}

/** A scene with the files that it names. */
function withFiles(scene) {
  const names = [...scene.text.matchAll(/"([^"\n]+)"/g)].map(([, name]) => name).filter((name) => existsSync(join(scenes, name)));
  return { ...scene, scene: true, files: [...new Set(names)].map((name) => [name, readFileSync(join(scenes, name), "utf8")]) };
}

/** The examples of a folder, by the ending of their files, and what begins a line of a comment. */
function examplesOf(folder, ending, begins) {
  const names = readdirSync(folder).filter((name) => name.endsWith(ending)).map((name) => name.slice(0, -ending.length));
  return names.map((name) => {
    const text = readFileSync(join(folder, name + ending), "utf8");
    const comment = text.split("\n").filter((line, n, all) => all.slice(0, n + 1).every((l) => l.startsWith(begins)));
    const about = comment.map((line) => line.slice(begins.length)).join(" ");
    const said = (what) => text.split("\n").find((line) => line.startsWith(`${begins}${what}: `))?.slice(begins.length + what.length + 2).trim();
    const level = LEVELS.indexOf(said("Level"));
    if (level < 0) throw new Error(`${name}${ending} has no line "${begins}Level: ${LEVELS.join("|")}"`);
    return { name, about: about.split(/(?<=\.) /)[0], text, level, author: said("Author") };
  });
}

const virtual = {
  name: "virtual",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^virtual:/ }, ({ path }) => ({ path, namespace: "virtual" }));
    const contents = {
      "virtual:examples": gallery,
      "virtual:lessons": lessons,
      "virtual:glsl": glslTable,
      // Built by mdBook before, if there is one.
      "virtual:guide": () => existsSync(join(out, "guide/index.html")),
    };
    onLoad({ filter: /^virtual:/, namespace: "virtual" }, ({ path }) => ({ contents: JSON.stringify(contents[path]()), loader: "json" }));
  },
};

await build({
  entryPoints: [join(here, "src/boot.ts"), join(here, "src/main.ts"), join(here, "src/machine/worker.ts")],
  entryNames: "[name]",
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  legalComments: "none",
  plugins: [virtual],
  outdir: out,
  logLevel: "warning",
});
await build({ entryPoints: [join(here, "src/style/main.css")], bundle: true, minify: true, outdir: out, logLevel: "warning" });
cpSync(join(here, "static"), out, { recursive: true });
mkdirSync(join(out, "examples"), { recursive: true });
for (const { name, glsl, scene } of gallery()) copyFileSync(join(glsl ? shaders : scene ? scenes : examples, `${name}.png`), join(out, "examples", `${name}.png`));

// The service worker knows all files, and a number that changes with them.
const files = readdirSync(out, { recursive: true }).map((name) => join(out, name)).filter((path) => statSync(path).isFile());
const names = files.map((path) => relative(out, path)).sort();
/** What many visitors never need. */
const LATER = ["optimizer.wasm"];
const hash = createHash("sha256");
for (const path of files.sort()) hash.update(relative(out, path)).update(readFileSync(path));
await build({
  entryPoints: [join(here, "src/offline.ts")],
  entryNames: "offline",
  bundle: true,
  format: "iife",
  target: "es2022",
  minify: true,
  outdir: out,
  define: {
    FILES: JSON.stringify(["./", ...names.filter((name) => !LATER.includes(name))]),
    LATER: JSON.stringify(LATER),
    VERSION: JSON.stringify(hash.digest("hex").slice(0, 16)),
  },
  logLevel: "warning",
});

for (const name of ["r500.wasm", "optimizer.wasm", "main.js", "worker.js", "main.css"]) {
  const bytes = readFileSync(join(out, name));
  const kib = (n) => `${(n / 1024).toFixed(0)} KiB`;
  console.error(`${name.padEnd(10)} ${kib(bytes.length).padStart(9)}, ${kib(brotliCompressSync(bytes).length)} after brotli`);
}
