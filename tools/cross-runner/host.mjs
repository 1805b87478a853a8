// Runs cross-runner's WebAssembly under Node, with the command line of `cross-runner`.
//
//     node host.mjs MODULE digests ENGINE,... FIRST COUNT FILE...
//     node host.mjs MODULE speed ENGINE WIDTH SECONDS FILE...

import { readFileSync, writeSync } from "node:fs";

import { made } from "../../web/src/machine/made.mjs";

const [modulePath, command, engine, ...rest] = process.argv.slice(2);

/**
 * Returns seconds of processor time of this thread, if Linux reports them; else seconds of
 * wall-clock time.
 */
function now() {
    try {
        return Number(readFileSync("/proc/self/schedstat", "latin1").split(" ")[0]) / 1e9;
    } catch {
        return performance.now() / 1000;
    }
}

const { imports, begin } = made();
const { instance } = await WebAssembly.instantiate(readFileSync(modulePath), { host: { now }, ...imports });
begin(instance.exports);
const { memory, room, answer, text, length } = instance.exports;

/** Returns the text that the module left, with a length in bytes. */
function textOf(bytes) {
    return Buffer.from(memory.buffer, text(), bytes).toString();
}

/** Prints the answer to a request: a line, followed by the bytes of a file. */
function ask(line, file) {
    const parts = [Buffer.from(`${line}\n`), ...(file === undefined ? [] : [readFileSync(file)])];
    const request = Buffer.concat(parts);
    // Growing the memory replaces the buffer, so it is read again after every call.
    const at = room(request.length);
    new Uint8Array(memory.buffer).set(request, at);
    let got;
    try {
        got = answer();
    } catch (trap) {
        throw new Error(`${line}: ${trap.message}: ${textOf(length())}`);
    }
    if (got < 0) throw new Error(textOf(-got));
    const bytes = Buffer.from(new Uint8Array(memory.buffer, text(), got));
    for (let done = 0; done < bytes.length; ) done += writeSync(1, bytes, done);
}

try {
    if (command === "digests") {
        const [first, count, ...files] = rest;
        for (const one of engine.split(",")) {
            for (const file of files) ask(`file ${one} ${file}`, file);
            ask(`generated ${one} ${first} ${count}`);
        }
    } else if (command === "speed") {
        const [width, seconds, ...files] = rest;
        for (const file of files) ask(`speed ${engine} ${width} ${seconds} ${file}`, file);
    } else {
        throw new Error("usage: node host.mjs MODULE digests|speed ENGINE ...");
    }
} catch (error) {
    console.error(`error: ${error.message}`);
    process.exitCode = 3;
}
