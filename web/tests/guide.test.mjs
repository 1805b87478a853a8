// The guide's programs that the page shows, by the r500 command: the table from GLSL to R500, the exercises.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { exercises, glslTable } from "../lessons.mjs";

const root = join(fileURLToPath(new URL(".", import.meta.url)), "../..");
const command = process.env.R500 ?? join(root, "target/debug/r500");
const folder = mkdtempSync(join(tmpdir(), "r500-guide-"));
const SIZE = 16;

/** The values that a program draws. */
function drawn(name, text) {
  const [file, raw] = [join(folder, name), join(folder, "drawn.f32")];
  writeFileSync(file, text);
  const options = ["--size", `${SIZE}x${SIZE}`, "--texture", "0=gradient,size=16x16", "-o", raw];
  execFileSync(command, ["render", file, ...options], { env: { ...process.env, R500_COMPILER: "r500" }, stdio: ["ignore", "ignore", "pipe"] });
  const bytes = readFileSync(raw);
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

/** A shader that draws what a row computes: values that differ from pixel to pixel, of both signs. */
const shader = (glsl, type) => `precision highp float;
varying vec2 uv;
uniform sampler2D image;
void main() {
    vec3 x = vec3(2.0 * uv - 1.0, 0.5), y = vec3(uv.yx, 0.25), z = vec3(uv.x, 1.0, uv.y), color;
    float s = uv.x + 0.25, t = uv.y + 0.25;
    ${type} r;
    ${glsl.includes(";") ? glsl : `r = ${glsl};`}
    gl_FragColor = vec4(vec3(r), 1.0);
}
`;

const program = (rows, type) => `INPUT temp[1] = (plane(-1, 2, 0), plane(-1, 0, 2), 0.5, 0) ;
INPUT temp[2] = (plane(0, 0, 1), plane(0, 1, 0), 0.25, 0) ;
INPUT temp[3] = (plane(0, 1, 0), 1, plane(0, 0, 1), 0) ;
INPUT temp[4] = (0, 0, 0, plane(0.25, 1, 0)) ;
INPUT temp[5] = (0, 0, 0, plane(0.25, 0, 1)) ;
TEXTURE tex[0] = gradient(16, 16) ;
${["r", "x", "y", "z", "s", "t", "m", "n"].map((name, n) => `DEF ${name} = temp[${n}] ;`).join("\n")}
${rows}
OUT TEX_SEM_WAIT src0.rgb = r, src0.a = r : out[0].rgb = MAD src0.${type === "float" ? "aaa" : "rgb"} src0.111 src0.000, out[0].a = MAD src0.1 src0.1 src0.0 ;
`;

test("each row of the table computes what its GLSL computes", () => {
  const sections = glslTable();
  const rows = sections.flatMap(({ rows }) => rows);
  assert.ok(sections.length >= 5 && rows.length >= 35, `${rows.length} rows`);
  for (const name of ["mix", "dot", "texture2D", "if", "for", "clamp", "pow", "sin", "normalize", "discard"]) {
    assert.ok(rows.some(({ glsl }) => new RegExp(`\\b${name}\\b`).test(glsl)), name);
  }
  const wrong = [];
  for (const { glsl, program: lines } of rows) {
    const type = /\br\.a =/.test(lines) ? "float" : "vec3";
    const wanted = drawn("row.frag", shader(glsl, type));
    const got = drawn("row.r5", program(lines, type));
    assert.equal(got.length, SIZE * SIZE * 4);
    const first = wanted.findIndex((value, n) => !(Math.abs(value - got[n]) <= 1e-4 * Math.max(1, Math.abs(value))));
    if (first >= 0) wrong.push(`${glsl}: ${wanted[first]}, not ${got[first]}, at ${first}`);
    // A picture of one colour would hide a mistake.
    const colours = new Set(Array.from({ length: SIZE * SIZE }, (_, n) => wanted.slice(n * 4, n * 4 + 4).join()));
    if (colours.size < 2) wrong.push(`${glsl}: one colour`);
  }
  assert.deepEqual(wrong, []);
});

/** Whether the `EXPECT` lines of a program hold, and what the checker finds in it. */
function tested(text) {
  const file = join(folder, "exercise.r5");
  writeFileSync(file, text);
  const { status, stdout, stderr } = spawnSync(command, ["test", file], { encoding: "utf8" });
  const check = spawnSync(command, ["check", file], { encoding: "utf8" });
  return { passes: status === 0, fails: status === 1, said: stdout + stderr, found: check.status === 0 ? "" : check.stdout + check.stderr };
}

test("each exercise fails as it begins, and its solution passes; the checker finds nothing in either", () => {
  const all = exercises();
  assert.ok(all.length >= 8);
  for (const { title, program, solution } of all) {
    const [begin, end] = [tested(program), tested(solution)];
    // The seventh is about the number of instructions, which EXPECT does not know.
    const shorter = title.includes("Fewer instructions");
    assert.equal(shorter ? begin.passes : begin.fails, true, `${title}: ${begin.said}`);
    assert.equal(end.passes, true, `${title}: ${end.said}`);
    if (shorter) assert.deepEqual([program, solution].map((text) => text.match(/^[^-\n]*\b(MAD|OUT)\b.*(\n {4}.*)?;$/gm).length), [5, 2], title);
    assert.deepEqual([begin.found, end.found], ["", ""], title);
    const expectations = (text) => text.match(/^EXPECT.*$/gm);
    assert.deepEqual(expectations(program), expectations(solution), `${title}: the solution solves the exercise as it is`);
  }
});
