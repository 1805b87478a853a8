// The flow graph.

import { h } from "../app/dom.ts";

export class FlowPane {
  readonly root = h("div", { class: "flow" });

  show(svg: string): void {
    const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
    if (!(parsed instanceof SVGElement)) return this.fail("the graph cannot be drawn");
    // Its colours go by the viewer's wish alone; here they are the page's.
    parsed.querySelector("style")?.remove();
    parsed.setAttribute("aria-label", "Flow graph");
    this.root.replaceChildren(document.importNode(parsed, true));
  }

  fail(why: string): void {
    this.root.replaceChildren(h("p", { class: "empty" }, why));
  }
}
