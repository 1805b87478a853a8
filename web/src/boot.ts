// Fetches and compiles the module, and starts workers for it, while the page's script is still loading.

import { startEarly } from "./machine/early.ts";
import { load } from "./machine/load.ts";

globalThis.r500Early = startEarly(load("r500.wasm"));
