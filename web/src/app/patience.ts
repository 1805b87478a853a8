// Time limits: how long a worker may take before the page gives up.

/** The greatest factor in an address. */
const GREATEST = 100;

/**
 * Returns the time limit in milliseconds for an answer that usually takes at most `usual`. `?patience=4` in the address makes the limit
 * four times as long, for slow machines and for slow programs.
 */
export function patience(usual: number): number {
  const address = globalThis.location as Location | undefined;
  const factor = Number(new URLSearchParams(address?.search).get("patience") ?? 1);
  return factor >= 1 ? usual * Math.min(factor, GREATEST) : usual;
}
