// The page as a part of another page: the address with `?embed` shows the picture, with `?embed=code` the program next to it.

import { byId, h } from "./dom.ts";

/** What of the page is shown in another page; `undefined` if this is the whole page. */
export const embedded: "picture" | "code" | undefined = wanted(new URLSearchParams(location.search).get("embed"));

function wanted(value: string | null): typeof embedded {
  return value === null ? undefined : value === "code" ? "code" : "picture";
}

/** Width and height of the frame in a page, with the bar under the picture. */
const WIDTH = 640;
const HEIGHT = 480;

/** Returns the HTML that embeds a program, from the address of the page that shows it. */
export function embedding(address: string, name: string): string {
  const url = new URL(address);
  url.search = "?embed";
  const frame = h("iframe", { src: url.href, title: name, width: String(WIDTH), height: String(HEIGHT), loading: "lazy", style: "border: 0" });
  return `<!-- ?embed=code in place of ?embed shows the program, too. -->\n${frame.outerHTML}\n`;
}

/** Hides what an embedded page leaves out, and shows the way to the whole page. `open` opens it with the program and a pixel. */
export function embed(open: () => void): void {
  if (embedded === undefined) return;
  document.body.classList.add("embed", `embed-${embedded}`);
  // The header is hidden, and its heading with it.
  document.querySelector("main")?.prepend(h("h1", { class: "unseen" }, "r500: a program and its picture"));
  byId("transport", HTMLDivElement).append(
    h("button", { type: "button", class: "whole", title: "Open the whole page with this program in a new tab", onclick: open }, "Open in r500 ↗"),
  );
}
