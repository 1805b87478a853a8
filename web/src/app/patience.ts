// Time limits: how long a worker may be silent before the page gives up.

/** The greatest factor that an address may ask for. */
const GREATEST = 100;

/**
 * Milliseconds that the page waits for an answer that usually comes within so many. `?patience=4` in the address makes it
 * wait four times as long: for slow machines, and for programs that take their time.
 */
export function patience(usual: number): number {
  const address = globalThis.location as Location | undefined;
  const factor = Number(new URLSearchParams(address?.search).get("patience") ?? 1);
  return factor >= 1 ? usual * Math.min(factor, GREATEST) : usual;
}
