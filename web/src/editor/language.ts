// The parts of the language that can be recognised without its keywords: comments, strings, numbers, brackets. They are
// highlighted immediately; the libraries provide the kinds of words (words.ts).

import { HighlightStyle, StreamLanguage, syntaxHighlighting, type StreamParser } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { tags } from "@lezer/highlight";

interface State {
  /** Whether the previous token is a dot. */
  suffix: boolean;
}

const parser: StreamParser<State> = {
  name: "r500",
  startState: () => ({ suffix: false }),
  token(stream, state) {
    if (stream.eatSpace()) return null;
    if (stream.match("--")) {
      stream.skipToEnd();
      return "comment";
    }
    const { suffix } = state;
    state.suffix = false;
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return "string";
    if (!suffix && stream.match(/^(?:0x[0-9a-f]+|\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?![a-z0-9_])/i)) return "number";
    if (stream.match(/^[a-z0-9_]+/i)) return "name";
    state.suffix = stream.next() === ".";
    return "punctuation";
  },
  languageData: { commentTokens: { line: "--" }, closeBrackets: { brackets: ["(", "[", '"'] } },
};

const style = HighlightStyle.define([
  { tag: tags.comment, color: "var(--code-comment)", fontStyle: "italic" },
  { tag: tags.string, color: "var(--code-string)" },
  { tag: tags.number, color: "var(--code-number)" },
  { tag: tags.punctuation, color: "var(--code-mark)" },
]);

export const language = (): Extension => [StreamLanguage.define(parser), syntaxHighlighting(style)];
