// Colours of the language's words. What words mean is asked of the libraries; here they are only told apart.

import { HighlightStyle, StreamLanguage, syntaxHighlighting, type StreamParser } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { tags } from "@lezer/highlight";

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const FLOW = words("if else endif loop endloop rep endrep break continue call return jump fc raw");
const TAGS = words(
  "out tex last nop alu_wait tex_sem_wait tex_sem_acquire write_inactive ignore_uncovered unscaled pred stat_we wmask omask alu_result clamp any all b_else jump_global jump_func a_op b_op0 b_op1 b_pop_cnt",
);
const OPCODES = words(
  "mad dp3 dp4 dp d2a min max cnd cmp frc sop mdh mdv ex2 ln2 rcp rsq sin cos op ld texkill proj lodbias lod dxdy jump breakloop breakrep",
);
const REGISTERS = words("temp const int bool float alu depth src0 src1 src2 srcp al");
const DIRECTIVES = words(
  "name origin status rationale size time def uniform full_fc_en entry end input texture level expect coverage share",
);

interface State {
  /** A statement begins. */
  start: boolean;
  /** A dot stands in front. */
  suffix: boolean;
}

const parser: StreamParser<State> = {
  name: "r500",
  startState: () => ({ start: true, suffix: false }),
  token(stream, state) {
    if (stream.eatSpace()) return null;
    if (stream.match("--")) {
      stream.skipToEnd();
      return "comment";
    }
    const { start, suffix } = state;
    state.suffix = false;
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return "string";
    if (stream.match(/^#include\b/i)) return "meta";
    if (stream.match(/^@[a-z0-9_]+/i)) return "labelName";
    if (!suffix && stream.match(/^(?:0x[0-9a-f]+|\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?![a-z0-9_])/i)) {
      state.start = false;
      return "number";
    }
    const match = stream.match(/^[a-z0-9_]+/i);
    if (Array.isArray(match)) {
      const word = (match[0] ?? "").toLowerCase();
      state.start = false;
      if (suffix) return "propertyName";
      if (word.startsWith("us_") || word.startsWith("tx_")) return "meta";
      if (start && DIRECTIVES.has(word)) return "meta";
      if (start && FLOW.has(word)) return "controlKeyword";
      if (word === "out" && stream.match(/^\s*\[/, false)) return "variableName";
      if (REGISTERS.has(word) || word === "tex" && stream.match(/^\s*\[/, false)) return "variableName";
      if (OPCODES.has(word)) return "operatorKeyword";
      if (TAGS.has(word)) return "modifier";
      if (FLOW.has(word)) return "controlKeyword";
      return "name";
    }
    const mark = stream.next();
    if (mark === ";") state.start = true;
    else if (mark === ".") state.suffix = true;
    else state.start = false;
    return "punctuation";
  },
  languageData: { commentTokens: { line: "--" }, closeBrackets: { brackets: ["(", "[", '"'] } },
};

const style = HighlightStyle.define([
  { tag: tags.comment, color: "var(--code-comment)", fontStyle: "italic" },
  { tag: tags.string, color: "var(--code-string)" },
  { tag: tags.number, color: "var(--code-number)" },
  { tag: tags.meta, color: "var(--code-directive)" },
  { tag: tags.labelName, color: "var(--code-flow)" },
  { tag: tags.controlKeyword, color: "var(--code-flow)", fontWeight: "600" },
  { tag: tags.modifier, color: "var(--code-tag)" },
  { tag: tags.operatorKeyword, color: "var(--code-opcode)", fontWeight: "600" },
  { tag: tags.variableName, color: "var(--code-register)" },
  { tag: tags.propertyName, color: "var(--code-suffix)" },
  { tag: tags.punctuation, color: "var(--code-mark)" },
]);

export const language = (): Extension => [StreamLanguage.define(parser), syntaxHighlighting(style)];
