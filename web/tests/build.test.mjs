// web/build with tools that are stand-ins: what a failed build leaves, and what happens without optional tools.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = join(fileURLToPath(new URL(".", import.meta.url)), "../..");

/** Commands of the system that the script may use. */
const SYSTEM = ["bash", "env", "dirname", "readlink", "mkdir", "rm", "mv", "cp", "cat", "tail", "sleep", "id", "find", "timeout", "node"];

/** A project with the script and nothing to build; `tools` are the commands of the machine, by name. */
function project(tools) {
  const folder = mkdtempSync(join(tmpdir(), "r500-build-"));
  const [web, bin] = [join(folder, "web"), join(folder, "bin")];
  for (const path of [web, bin, join(folder, "tools"), join(folder, "docs"), join(web, "node_modules/.bin"), join(web, "node_modules/esbuild"), join(folder, "lib/rustlib/wasm32-unknown-unknown/lib")]) mkdirSync(path, { recursive: true });
  copyFileSync(join(root, "web/build"), join(web, "build"));
  copyFileSync(join(root, "tools/targets.sh"), join(folder, "tools/targets.sh"));
  writeFileSync(join(web, "package-lock.json"), "{}");
  writeFileSync(join(web, "node_modules/.package-lock.json"), "{}");
  writeFileSync(join(web, "bundle.mjs"), 'import { writeFileSync } from "node:fs";\nwriteFileSync(`${process.argv[2]}/index.html`, "new");\n');
  const script = (path, text) => {
    writeFileSync(path, `#!/usr/bin/env bash\n${text}\n`);
    chmodSync(path, 0o755);
  };
  script(join(web, "node_modules/.bin/tsc"), "exit 0");
  for (const name of SYSTEM) symlinkSync(spawnSync("which", [name], { encoding: "utf8" }).stdout.trim(), join(bin, name));
  const module = join(folder, "target/wasm32-unknown-unknown/page");
  const usual = { rustc: `echo ${folder}`, npm: "exit 0", cargo: `mkdir -p ${module} && echo module >${module}/r500_web.wasm` };
  for (const [name, text] of Object.entries({ ...usual, ...tools })) script(join(bin, name), text);
  const run = (...options) => spawnSync(join(bin, "bash"), [join(web, "build"), ...options], { encoding: "utf8", env: { PATH: bin, HOME: folder } });
  return { web, folder, run, page: () => readFileSync(join(web, "dist/index.html"), "utf8") };
}

test("a build that fails leaves the page that was there, and says so", () => {
  for (const [tools, why] of [
    [{ cargo: "echo 'error: no such field' ; exit 101" }, /no such field.*does not build/s],
    [{ mdbook: "echo 'error: a chapter is missing' ; exit 1" }, /a chapter is missing.*guide cannot be built/s],
  ]) {
    const { web, run, page } = project(tools);
    mkdirSync(join(web, "dist"));
    writeFileSync(join(web, "dist/index.html"), "old");
    const { status, stderr } = run();
    assert.equal(status, 3, stderr);
    assert.match(stderr, why);
    assert.match(stderr, /dist is the page of the last build that succeeded/);
    assert.equal(page(), "old");
    assert.equal(existsSync(join(web, "dist.new")), false);
  }
});

test("a build replaces the page as a whole, shows its parts, and says what a missing tool costs", () => {
  const { web, run, page } = project({});
  mkdirSync(join(web, "dist"));
  writeFileSync(join(web, "dist/gone.html"), "old");
  const { status, stderr } = run();
  assert.equal(status, 0, stderr);
  assert.equal(page(), "new");
  assert.equal(existsSync(join(web, "dist/gone.html")), false);
  assert.equal(existsSync(join(web, "dist.old")), false);
  assert.match(stderr, /\[0:\d\d\] 2\/5 .*\[0:\d\d\] 3\/5 .*\[0:\d\d\] 4\/5 .*\[0:\d\d\] 5\/5 /s);
  assert.match(stderr, /no wasm-opt \(Debian: binaryen\): the modules are larger/);
  assert.match(stderr, /no mdbook .*without the guide/);
});

test("--install waits for the lock of apt, and continues without an optional tool; mdBook comes from crates.io", () => {
  const { folder, run, page } = project({
    "apt-get": 'echo "$*" >>"$HOME/apt"\necho "E: Could not get lock" >&2\nexit 100',
    cargo: `if [ "$1" = install ]; then
  echo "$*" >"$HOME/installed"
  mkdir -p "$HOME/target/tools/bin"
  printf '#!/usr/bin/env bash\\nmkdir -p "$4"; echo guide >"$4/index.html"\\n' >"$HOME/target/tools/bin/mdbook"
  while [ ! -x "$HOME/target/tools/bin/mdbook" ]; do ${process.execPath} -e 'require("fs").chmodSync(process.argv[1], 0o755)' "$HOME/target/tools/bin/mdbook"; done
else
  mkdir -p "$HOME/target/wasm32-unknown-unknown/page" && echo module >"$HOME/target/wasm32-unknown-unknown/page/r500_web.wasm"
fi`,
  });
  const { status, stderr } = run("--install");
  assert.equal(status, 0, stderr);
  assert.equal(page(), "new");
  assert.match(readFileSync(join(folder, "apt"), "utf8"), /DPkg::Lock::Timeout=120 install .*binaryen/);
  assert.match(stderr, /waits for it, at most 120 seconds.*no wasm-opt \(Debian: binaryen\): the modules are larger/s);
  assert.match(readFileSync(join(folder, "installed"), "utf8"), /^install --locked .* mdbook --no-default-features/);
  assert.equal(readFileSync(join(folder, "web/dist/guide/index.html"), "utf8"), "guide\n");
});
