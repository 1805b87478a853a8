// Functions that the module makes at run time: it gives the bytes of a module of its own making, and calls
// what that offers through its table. A host that takes none, by a policy of its pages say, gives 0.

/**
 * What to import into the module, and what to call with its exports once it is there.
 *
 * @returns {{ imports: WebAssembly.Imports, begin: (exports: WebAssembly.Exports) => void }}
 */
export function made() {
  /** @type {WebAssembly.Memory | undefined} */
  let memory;
  /** @type {WebAssembly.Table | undefined} */
  let table;
  /** Places in the table that functions were in which are gone. */
  const free = /** @type {number[]} */ ([]);

  /** Puts the function of a module into the table: where, or 0 (which is never a place). */
  const install = (/** @type {number} */ at, /** @type {number} */ length) => {
    if (memory === undefined || table === undefined) return 0;
    try {
      const bytes = new Uint8Array(memory.buffer, at >>> 0, length);
      const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { r500: { memory, table } });
      const place = free.pop() ?? table.grow(1);
      table.set(place, exports.run);
      return place;
    } catch {
      return 0;
    }
  };

  const remove = (/** @type {number} */ place) => {
    table?.set(place, null);
    free.push(place);
  };

  return {
    imports: { r500: { install, remove } },
    begin: (exports) => {
      memory = /** @type {WebAssembly.Memory} */ (exports.memory);
      table = /** @type {WebAssembly.Table} */ (exports.__indirect_function_table);
    },
  };
}
