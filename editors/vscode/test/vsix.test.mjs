// The package that `code --install-extension` takes: its manifest, and that it has all that the extension needs.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "r500-vsix-"));
const pack = (name) => {
  const file = join(folder, name);
  execFileSync(join(here, "package"), [file]);
  return readFileSync(file);
};

test("the package has a manifest and everything that the extension loads", () => {
  const bytes = pack("one.vsix");
  assert.deepEqual(pack("two.vsix"), bytes, "two runs write the same bytes");
  const out = join(folder, "out");
  execFileSync("python3", ["-m", "zipfile", "-e", join(folder, "one.vsix"), out]);
  const own = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));

  const xml = readFileSync(join(out, "extension.vsixmanifest"), "utf8");
  const [, id, version, publisher] = xml.match(/<Identity Language="en-US" Id="(.*?)" Version="(.*?)" Publisher="(.*?)" \/>/);
  assert.deepEqual([id, version, publisher], [own.name, own.version, own.publisher]);
  assert.ok(xml.includes(`Id="Microsoft.VisualStudio.Code.Engine" Value="${own.engines.vscode}"`));
  const assets = [...xml.matchAll(/ Path="(.*?)"/g)].map(([, path]) => path);
  assert.ok(assets.includes("extension/package.json"));
  for (const path of assets) assert.ok(existsSync(join(out, path)), path);

  // Every kind of file has a media type.
  const types = readFileSync(join(out, "[Content_Types].xml"), "utf8");
  const known = [...types.matchAll(/Extension="(.*?)" ContentType="\w+\/[\w-]+"/g)].map(([, extension]) => extension);
  const names = readdirSync(join(out, "extension"), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const { name } of names) assert.ok(known.some((extension) => name.endsWith(extension)), name);

  const packed = JSON.parse(readFileSync(join(out, "extension/package.json"), "utf8"));
  assert.deepEqual(packed, own);
  const load = createRequire(join(out, "extension/extension.js"));
  for (const path of [packed.main, ...packed.contributes.grammars.map((grammar) => grammar.path)]) load.resolve(path);
  for (const name of Object.keys(own.dependencies)) load.resolve(name);
  // The client library runs in the editor only; what it depends on loads here.
  const client = createRequire(load.resolve("vscode-languageclient/node"));
  for (const name of ["vscode-languageserver-protocol/node", "semver", "minimatch"]) {
    const path = client.resolve(name);
    assert.ok(path.startsWith(out), `${path} is part of the package`);
    client(name);
  }
  assert.ok(!existsSync(join(out, "extension/node_modules/@vscode")), "tools for tests are not part of it");
});
