// Serves the page: node serve.mjs [PORT] [FOLDER]. Any host of static files does as well.

import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
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

/** A server of a folder, to this machine only. */
export function serve(folder = join(fileURLToPath(new URL(".", import.meta.url)), "dist"), port = 0) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    let path = join(folder, normalize(decodeURIComponent(pathname)));
    try {
      if (statSync(path).isDirectory()) path = join(path, "index.html");
      const { size } = statSync(path);
      response.writeHead(200, {
        "content-type": TYPES[extname(path)] ?? "application/octet-stream",
        "content-length": size,
        "cache-control": "no-cache",
      });
      if (request.method === "HEAD") response.end();
      else createReadStream(path).pipe(response);
    } catch {
      response.writeHead(404).end("there is no such file");
    }
  });
  return new Promise((resolve) => server.listen(port, "127.0.0.1", () => resolve(server)));
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [port = "8500", folder] = process.argv.slice(2);
  const server = await serve(folder, Number(port));
  console.log(`http://127.0.0.1:${server.address().port}/`);
}
