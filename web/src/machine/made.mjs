// Functions that the module generates at run time: it passes the bytes of a generated module, and calls its function
// through the table. A host that does not accept them, for example because of a content security policy, returns 0.

/**
 * Returns the imports of the module, and the function to call with its exports after instantiation.
 *
 * @returns {{ imports: WebAssembly.Imports, begin: (exports: WebAssembly.Exports) => void }}
 */
export function made() {
  /** @type {WebAssembly.Memory | undefined} */
  let memory;
  /** @type {WebAssembly.Table | undefined} */
  let table;
  /** Free places in the table, whose functions were removed. */
  const free = /** @type {number[]} */ ([]);

  /**
   * Installs the function of a module in the table. Returns its place, or 0 (which is never a
   * place) on failure.
   */
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
