// Serves the page: node serve.mjs [PORT] [FOLDER]. Any host of static files does as well.

import { createReadStream, realpathSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".wasm": "application/wasm",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".webmanifest": "application/manifest+json",
};

/** The regular file that a request means, or nothing: links are followed inside the folder only. */
function find(root, url) {
  try {
    // Not `new URL`: of `//` it would make a host, and `/%` does not decode.
    const path = decodeURIComponent(url.replace(/[?#].*$/s, ""));
    if (!path.startsWith("/") || path.includes("\0")) return undefined;
    let file = realpathSync(join(root, path));
    if (statSync(file).isDirectory()) file = realpathSync(join(file, "index.html"));
    const status = statSync(file);
    return file.startsWith(root + sep) && status.isFile() ? { file, size: status.size } : undefined;
  } catch {
    return undefined;
  }
}

/** A server of a folder, to this machine only. */
export function serve(folder = join(fileURLToPath(new URL(".", import.meta.url)), "dist"), port = 0) {
  const root = realpathSync(folder);
  const server = createServer((request, response) => {
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.writeHead(405, { allow: "GET, HEAD" }).end("only files are served");
      return;
    }
    const found = find(root, request.url);
    if (found === undefined) {
      response.writeHead(404).end("there is no such file");
      return;
    }
    response.writeHead(200, {
      "content-type": TYPES[extname(found.file)] ?? "application/octet-stream",
      "content-length": found.size,
      "cache-control": "no-cache",
    });
    if (request.method === "HEAD") response.end();
    // A file that cannot be read after all, or shrinks meanwhile: the answer ends early.
    else createReadStream(found.file).on("error", () => response.destroy()).pipe(response);
  });
  return new Promise((resolve, reject) => server.on("error", reject).listen(port, "127.0.0.1", () => resolve(server)));
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [port = "8500", folder] = process.argv.slice(2);
  const server = await serve(folder, Number(port));
  console.log(`http://127.0.0.1:${server.address().port}/`);
}
