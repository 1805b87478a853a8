// The switch of the picture's engine, and who draws.

import { byId, h } from "../app/dom.ts";
import { ENGINES, type Engine, type Pictures } from "./pictures.ts";

const NAMES: Record<Engine, [string, string]> = {
  auto: ["auto", "WebGPU where it serves: fast while the picture plays, exact while it stands still; else the workers"],
  exact: ["WebGPU, exact", "Exact arithmetic also while the picture plays"],
  fast: ["WebGPU, fast", "The functions and samplers of the GPU also while the picture stands still"],
  workers: ["workers", "The engines of this page, on the processor"],
};

/** Shows the switch below the picture. */
export function engineChoice(pictures: Pictures): void {
  const engines = h(
    "select",
    { "aria-label": "Engine of the picture", onchange: () => (pictures.engine.value = engines.value as Engine) },
    ...ENGINES.map((engine) => h("option", { value: engine, title: NAMES[engine][1] }, NAMES[engine][0])),
  );
  const verdict = h("output", { class: "verdict", "aria-label": "Who draws the picture" });
  byId("transport", HTMLDivElement).append(h("label", { class: "engine" }, "engine", engines), verdict);
  pictures.engine.watch((engine) => (engines.value = engine));
  pictures.verdict.watch(({ text, title }) => {
    verdict.textContent = text;
    verdict.title = title;
  });
}
