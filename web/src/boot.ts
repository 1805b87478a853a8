// Fetches and compiles the module while the page's script is still loading.

import { load } from "./machine/load.ts";

const module = load("r500.wasm");
// The page reports errors of the module.
module.catch(() => {});
globalThis.r500Module = module;
