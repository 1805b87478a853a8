// `r500 dap` with the client of VS Code's own adapter tests: npm test, with R500 the command.

import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { DebugClient } from "@vscode/debugadapter-testsupport";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const command = process.env.R500 ?? join(root, "target/debug/r500");
const program = join(mkdtempSync(join(tmpdir(), "r500-dap-")), "loop.r5");
writeFileSync(
  program,
  `-- A loop of three passes.
SIZE 16 16 ;
FULL_FC_EN ;
DEF start = const[4] ;
start = (0.5, 2, 0, 1) ;
int[0] = (3, 0, 1) ;
src0.rgb = start : temp[1].rgb = MAX src0.rgb src0.rgb ;
LOOP int[0] ALU_WAIT ;
@body
    src0.rgb = temp[1] :
        temp[1].rgb = MAD src0.rgb src0.hhh src0.000 ;
ENDLOOP ALU_WAIT ;
OUT TEX_SEM_WAIT LAST src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ;
`,
);

let client;
before(async () => {
  client = new DebugClient(command, "dap", "r500");
  await client.start();
});
after(() => client.stop());

/** Where it stands: the line of the uppermost frame. */
async function line() {
  const { body } = await client.stackTraceRequest({ threadId: 1 });
  return body.stackFrames[0].line;
}
const value = async (expression) => (await client.evaluateRequest({ expression, context: "watch" })).body.result;
/** Sends a request that moves, and waits until it has stopped. */
async function move(request, ...args) {
  const [{ body }] = await Promise.all([client.waitForEvent("stopped"), client.send(request, { threadId: 1, ...args[0] })]);
  return body;
}

test("a pixel is stepped through, forward and back, with breakpoints, watches and registers", async () => {
  const initialized = client.waitForEvent("initialized");
  const { body: abilities } = await client.initializeRequest();
  assert.equal(abilities.supportsStepBack, true);
  await client.launchRequest({ program, pixel: [3, 4] });
  await initialized;

  const { body: set } = await client.setBreakpointsRequest({
    source: { path: program },
    breakpoints: [{ line: 11 }, { line: 12, condition: "temp[1].r < 0.1" }, { line: 13, condition: "temp[" }, { line: 99 }],
  });
  assert.deepEqual(set.breakpoints.map((one) => [one.verified, one.line]), [[true, 10], [true, 12], [false, undefined], [false, undefined]]);
  const { body: labels } = await client.setFunctionBreakpointsRequest({ breakpoints: [{ name: "@body" }, { name: "nothing" }] });
  assert.deepEqual(labels.breakpoints.map((one) => one.verified), [true, false]);
  await client.setFunctionBreakpointsRequest({ breakpoints: [] });
  const entry = client.waitForEvent("stopped");
  await client.configurationDoneRequest();
  assert.equal((await entry).body.reason, "entry");
  assert.equal(await line(), 7);

  // Three visits of the line in the loop, the condition of ENDLOOP holds in the last.
  for (const wanted of ["0.5", "0.25", "0.125"]) {
    assert.equal((await move("continue")).reason, "breakpoint");
    assert.equal(await line(), 10);
    assert.equal(await value("temp[1].r"), wanted);
  }
  await move("continue");
  assert.equal(await line(), 12);
  assert.equal(await value("temp[1].r"), "0.0625");
  assert.equal((await move("reverseContinue")).reason, "breakpoint");
  assert.equal(await line(), 10);
  await move("stepBack");
  assert.equal(await line(), 12);
  await move("stepOut");
  assert.equal(await line(), 13);

  const { body: scopes } = await client.scopesRequest({ frameId: 1 });
  const scope = (name) => scopes.scopes.find((one) => one.name === name).variablesReference;
  const variables = async (reference) => (await client.variablesRequest({ variablesReference: reference })).body.variables;
  const registers = await variables(scope("Registers"));
  assert.deepEqual(registers.map((one) => one.name), ["temp[0]", "temp[1]"]);
  assert.equal(registers[1].value, "(0.0625, 0.25, 0, 0)");
  assert.deepEqual((await variables(registers[1].variablesReference)).map((one) => one.name), ["r", "g", "b", "a"]);
  assert.deepEqual((await variables(scope("Constants"))).map((one) => one.name), ["const[4] start"]);
  assert.equal((await variables(scope("Group"))).length, 16);
  assert.ok((await variables(scope("State"))).some((one) => one.name === "aL"));
  assert.equal(await value("start"), "(0.5, 2, 0, 1)");
  await assert.rejects(value("nonsense"));

  // A change of a value, backward from the end.
  const end = await move("continue");
  assert.match(end.description, /the end of the program/);
  const { body: data } = await client.dataBreakpointInfoRequest({ name: "temp[1]", variablesReference: scope("Registers") });
  assert.equal(data.dataId, "temp[1]");
  await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [] });
  await client.setDataBreakpointsRequest({ breakpoints: [{ dataId: data.dataId }] });
  await move("reverseContinue");
  assert.equal(await value("temp[1].r"), "0.0625");
  await move("restart");
  assert.equal(await line(), 7);
});

test("a program without a source is shown as a listing", async () => {
  const other = new DebugClient(command, "dap", "r500");
  await other.start();
  await other.initializeRequest();
  await other.launchRequest({ program: join(root, "tests/corpus/mesa/loop_mandelbrot.json"), pixel: [16, 40] });
  const entry = other.waitForEvent("stopped");
  await other.configurationDoneRequest();
  await entry;
  const { body } = await other.stackTraceRequest({ threadId: 1 });
  const [frame] = body.stackFrames;
  const { body: source } = await other.sourceRequest({ source: frame.source, sourceReference: frame.source.sourceReference });
  assert.match(source.content.split("\n")[frame.line - 1], /temp\[0\]/);
  await assert.rejects(other.launchRequest({ program: "nothing.r5" }));
  await assert.rejects(other.launchRequest({ program, pixel: [16, 0] }), /outside the picture/);
  await other.stop();
});
