// The service worker: caches all files, so that the page works without a network. It uses the network first, so that
// new versions are loaded immediately.

/// <reference lib="webworker" />

/** Files that are cached from the first visit on. */
declare const FILES: string[];
/** Files that are cached on first use, and from the second visit on. */
declare const LATER: string[];
declare const VERSION: string;

const worker = self as unknown as ServiceWorkerGlobalScope;
const CACHE = `r500-${VERSION}`;

worker.addEventListener("install", (event) => {
  event.waitUntil(
    caches
      .open(CACHE)
      .then((cache) => cache.addAll(FILES))
      .then(() => worker.skipWaiting()),
  );
});

worker.addEventListener("activate", (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((keys) => Promise.all(keys.filter((key) => key.startsWith("r500-") && key !== CACHE).map((key) => caches.delete(key))))
      .then(() => worker.clients.claim()),
  );
});

// A page that was opened before is open again.
worker.addEventListener("message", (event) => event.waitUntil(keepRest()));

/** Caches the remaining files; without a network, the next visit does. */
async function keepRest(): Promise<void> {
  const cache = await caches.open(CACHE);
  const kept = await Promise.all(LATER.map((file) => cache.match(file)));
  await cache.addAll(LATER.filter((_, n) => kept[n] === undefined)).catch(() => {});
}

worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== worker.location.origin) return;
  const later = LATER.some((file) => new URL(file, worker.location.href).pathname === url.pathname);
  event.respondWith(
    fetch(request)
      .then((response) => {
        if (later && response.ok) event.waitUntil(keep(request, response.clone()));
        return response;
      })
      .catch(async () => (await caches.match(request, { ignoreSearch: true })) ?? Response.error()),
  );
});

async function keep(request: Request, response: Response): Promise<void> {
  const cache = await caches.open(CACHE);
  await cache.put(request, response);
}
