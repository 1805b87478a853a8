// The subset of Markdown that the libraries use: headings, paragraphs, lists, tables, code.

import { h } from "./dom.ts";

export function markdown(text: string): HTMLElement[] {
  const blocks: HTMLElement[] = [];
  const lines = text.split("\n");
  const take = (while_: (line: string) => boolean): string[] => {
    const taken: string[] = [];
    while (lines.length > 0 && while_(lines[0] ?? "")) taken.push(lines.shift() ?? "");
    return taken;
  };
  while (lines.length > 0) {
    const line = lines[0] ?? "";
    const heading = /^(#{1,6}) (.*)/.exec(line);
    if (line.trim() === "") lines.shift();
    else if (heading !== null) {
      lines.shift();
      blocks.push(h("h2", {}, ...inline(heading[2] ?? "")));
    } else if (line.startsWith("```")) {
      lines.shift();
      blocks.push(h("pre", {}, take((next) => !next.startsWith("```")).join("\n")));
      lines.shift();
    } else if (line.startsWith("    ")) {
      blocks.push(h("pre", {}, take((next) => next.startsWith("    ") || next.trim() === "").map((next) => next.slice(4)).join("\n").trimEnd()));
    } else if (line.startsWith("|")) blocks.push(table(take((next) => next.startsWith("|"))));
    else if (/^[-*] /.test(line)) {
      const items = take((next) => /^([-*]| ) /.test(next));
      const texts: string[] = [];
      for (const item of items) {
        if (/^[-*] /.test(item)) texts.push(item.slice(2));
        else texts.push(`${texts.pop() ?? ""} ${item.trim()}`);
      }
      blocks.push(h("ul", {}, ...texts.map((item) => h("li", {}, ...inline(item)))));
    } else {
      const paragraph = take((next) => next.trim() !== "" && !/^(#{1,6} |```|\||[-*] )/.test(next));
      // A line that looks like the start of another kind of block, but is not.
      if (paragraph.length === 0) paragraph.push(lines.shift() ?? "");
      blocks.push(h("p", {}, ...inline(paragraph.join(" "))));
    }
  }
  return blocks;
}

function table(rows: string[]): HTMLElement {
  const cells = (row: string): string[] =>
    row.replace(/^\||\|\s*$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
  const [head, rule, ...body] = rows;
  const titled = /^[|\s:-]+$/.test(rule ?? "");
  const all = titled ? body : rows;
  const headings = titled && head !== undefined ? cells(head) : [];
  return h(
    "table",
    {},
    headings.some((cell) => cell !== "") && h("thead", {}, h("tr", {}, ...headings.map((cell) => h("th", {}, ...inline(cell))))),
    h("tbody", {}, ...all.map((row) => h("tr", {}, ...cells(row).map((cell) => h("td", {}, ...inline(cell)))))),
  );
}

/** Returns a line with code, emphasis and links as elements. */
export function inline(text: string): (Node | string)[] {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^*\s][^*]*\*|\[[^\]]+\]\([^)]+\))/).map((part) => {
    if (/^`.+`$/.test(part)) return h("code", {}, part.slice(1, -1));
    if (/^\*\*.+\*\*$/.test(part)) return h("b", {}, part.slice(2, -2));
    if (/^\*[^*]+\*$/.test(part)) return h("em", {}, part.slice(1, -1));
    const link = /^\[(.+)\]\(.+\)$/.exec(part);
    return link !== null ? (link[1] ?? "") : part;
  });
}
