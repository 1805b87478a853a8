// The flow graph.

import { h } from "../app/dom.ts";

export class FlowPane {
  readonly root = h("div", { class: "flow" });

  show(svg: string): void {
    const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
    if (!(parsed instanceof SVGElement)) return this.fail("the graph cannot be drawn");
    // The SVG's style follows the viewer's preference; here the page's style applies.
    parsed.querySelector("style")?.remove();
    parsed.setAttribute("aria-label", "Flow graph");
    this.root.replaceChildren(document.importNode(parsed, true));
  }

  fail(why: string): void {
    this.root.replaceChildren(h("p", { class: "empty" }, why));
  }
}
