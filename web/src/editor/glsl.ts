// GLSL: highlighting of comments, directives of the preprocessor, numbers, types, keywords, built-in names.

import { HighlightStyle, indentService, StreamLanguage, syntaxHighlighting, type StreamParser } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { tags } from "@lezer/highlight";

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

const TYPES = words("void bool int uint float vec2 vec3 vec4 bvec2 bvec3 bvec4 ivec2 ivec3 ivec4 uvec2 uvec3 uvec4 mat2 mat3 mat4 mat2x2 mat2x3 mat2x4 mat3x2 mat3x3 mat3x4 mat4x2 mat4x3 mat4x4 sampler1D sampler2D sampler3D samplerCube sampler2DRect sampler1DShadow sampler2DShadow struct");
const KEYWORDS = words("if else for while do return break continue discard true false const in out inout uniform varying attribute precision highp mediump lowp invariant flat smooth centroid");
const FUNCTIONS = words(
  "radians degrees sin cos tan asin acos atan pow exp log exp2 log2 sqrt inversesqrt abs sign floor ceil round trunc fract mod min max clamp mix step smoothstep length distance dot cross normalize faceforward reflect refract matrixCompMult transpose inverse determinant outerProduct lessThan lessThanEqual greaterThan greaterThanEqual equal notEqual any all not dFdx dFdy fwidth texture textureLod textureProj texture1D texture2D texture2DProj texture2DLod texture3D textureCube shadow1D shadow2D",
);
const INPUTS = words("gl_FragColor gl_FragData gl_FragCoord gl_FragDepth gl_FrontFacing gl_PointCoord iTime iGlobalTime iResolution iMouse iFrame iChannel0 iChannel1 iChannel2 iChannel3");

interface State {
  /** Whether a comment of several lines continues. */
  comment: boolean;
}

const parser: StreamParser<State> = {
  name: "glsl",
  startState: () => ({ comment: false }),
  token(stream, state) {
    if (state.comment) {
      state.comment = !stream.match(/^.*?\*\//);
      if (state.comment) stream.skipToEnd();
      return "comment";
    }
    if (stream.eatSpace()) return null;
    if (stream.match("//@")) {
      stream.skipToEnd();
      return "meta";
    }
    if (stream.match("//")) {
      stream.skipToEnd();
      return "comment";
    }
    if (stream.match("/*")) {
      state.comment = true;
      return "comment";
    }
    if (stream.match(/^#\s*\w*/)) return "meta";
    if (stream.match(/^(?:0x[0-9a-f]+|(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)[uf]?/i)) return "number";
    const word = (stream.match(/^[a-z_]\w*/i) as RegExpMatchArray | null)?.[0];
    if (word === undefined) {
      stream.next();
      return "punctuation";
    }
    if (TYPES.has(word)) return "typeName";
    if (KEYWORDS.has(word)) return "keyword";
    if (FUNCTIONS.has(word)) return "string";
    return INPUTS.has(word) ? "atom" : "name";
  },
  languageData: { commentTokens: { line: "//", block: { open: "/*", close: "*/" } }, closeBrackets: { brackets: ["(", "[", "{"] }, indentOnInput: /^\s*\}$/ },
};

/** The indentation of the line before, one level more after an opening brace, one less before a closing one. */
const indent = indentService.of((context, at) => {
  if (at === 0) return 0;
  const { doc } = context.state;
  const before = doc.lineAt(at - (doc.lineAt(at).from === at ? 1 : 0));
  const base = /^\s*/.exec(before.text)?.[0].length ?? 0;
  const opens = /[{(]\s*(?:\/\/.*)?$/.test(before.text) ? context.unit : 0;
  const closes = /^\s*[})]/.test(context.textAfterPos(at)) ? context.unit : 0;
  return Math.max(0, base + opens - closes);
});

const style = HighlightStyle.define([
  { tag: tags.comment, color: "var(--code-comment)", fontStyle: "italic" },
  { tag: tags.meta, color: "var(--code-directive)" },
  { tag: tags.number, color: "var(--code-number)" },
  { tag: tags.typeName, color: "var(--code-register)" },
  { tag: tags.keyword, color: "var(--code-flow)", fontWeight: "600" },
  { tag: tags.string, color: "var(--code-opcode)" },
  { tag: tags.atom, color: "var(--code-tag)" },
  { tag: tags.punctuation, color: "var(--code-mark)" },
]);

export const glsl = (): Extension => [StreamLanguage.define(parser), syntaxHighlighting(style), indent];

/** Returns whether a text is a fragment shader or a program of ARB_fragment_program, as far as it can be seen without the compiler. */
export function isShader(text: string): boolean {
  if (/^\s*!!ARBfp1\.0/.test(text)) return true;
  const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
  return /\bvoid\s+(?:main|mainImage)\s*\(/.test(code) && !/\bgl_Position\b/.test(code);
}
