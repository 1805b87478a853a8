// The parts of the page's texts that have code: lessons, the table from GLSL to R500, exercises. The page's bundle and the
// tests read them from the same files.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const guide = join(here, "../docs/src");

/** Returns the text of a Markdown block of code with a language, and the text before and after it. */
function block(text, language, of) {
  const found = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "ms").exec(text);
  if (found === null) throw new Error(`${of} has no block of ${language} where one belongs`);
  return { code: found[1], before: text.slice(0, found.index).trim(), after: text.slice(found.index + found[0].length).trim() };
}

/**
 * The lessons, in their order: files of `lessons/`, each with a title, an explanation, a program with `EXPECT` lines that do
 * not hold yet, a task, and the program that solves it.
 */
export function lessons() {
  const folder = join(here, "lessons");
  return readdirSync(folder).sort().map((file) => {
    const text = readFileSync(join(folder, file), "utf8");
    const title = /^# (.*)\n/.exec(text)?.[1];
    const [explanation, task, ...more] = text.replace(/^# .*\n/, "").split(/^## Task$/m);
    if (title === undefined || task === undefined || more.length > 0) throw new Error(`${file}: a lesson has a title and one task`);
    const begin = block(explanation, "r5", file);
    const end = block(task, "r5", file);
    const glsl = /^```glsl$/m.test(begin.before) ? block(begin.before, "glsl", file).code : null;
    return { name: `lesson-${file.replace(/^\d+-|\.md$/g, "")}`, title, about: begin.before, program: begin.code, task: end.before, solution: end.code, glsl };
  });
}

/**
 * The table from GLSL to R500, by section: an expression, or statements that assign `r`; the lines of the program that compute the
 * same; a note.
 */
export function glslTable() {
  const text = readFileSync(join(guide, "glsl-to-r500.md"), "utf8");
  return text.split(/^## /m).slice(1).map((section) => {
    const rows = section.split("\n").filter((line) => /^\| `/.test(line)).map((line) => {
      const [, glsl, program, note] = line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
      const lines = program.split("<br>").map((part) => part.replace(/^&emsp;/, "    ").replaceAll("`", ""));
      return { glsl: glsl.replaceAll("`", ""), program: lines.join("\n"), note };
    });
    return { title: section.split("\n")[0], rows };
  });
}

/** The exercises of the guide: a title, a program to begin with, and the program that solves it. */
export function exercises() {
  const text = readFileSync(join(guide, "exercises.md"), "utf8");
  return text.split(/^## /m).slice(1).map((section) => {
    const title = section.split("\n")[0];
    const [task, solution] = section.split("<details>");
    return { title, program: block(task, "r5", title).code, solution: block(solution ?? "", "r5", title).code };
  });
}
