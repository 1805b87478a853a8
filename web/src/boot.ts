// The module is fetched and compiled while the page's script still arrives.

import { load } from "./machine/load.ts";

const module = load("r500.wasm");
// What is wrong with it is said by the page.
module.catch(() => {});
globalThis.r500Module = module;
