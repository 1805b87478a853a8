// Lessons: an explanation above the program, and a task, which is solved when the `EXPECT` lines of the program hold.

import { byId, h, update } from "../app/dom.ts";
import { markdown } from "../app/markdown.ts";
import { count } from "../app/numbers.ts";
import type { Judged, Source } from "../machine/protocol.ts";
import all from "virtual:lessons";
import { lasting } from "../app/storage.ts";

export interface LessonEvents {
  /** Opens the program of a lesson, or the draft of an earlier attempt. */
  open(source: Source): void;
  /** Replaces the text of the open program; the change can be undone. */
  replace(text: string): void;
  /** Compiles GLSL and opens the result. */
  compile(name: string, glsl: string): void;
}

type Lesson = (typeof all)[number];

/** The names of the solved lessons, in the browser's storage. */
const SOLVED = "r500.lessons";

export class Lessons {
  private readonly root = byId("lesson", HTMLElement);
  private readonly title = h("h2", { tabIndex: -1 });
  private readonly back = h("button", { type: "button", onclick: () => this.move(-1) }, "‹ Back");
  private readonly next = h("button", { type: "button", onclick: () => this.move(1) }, "Next ›");
  private readonly about = h("div", { class: "about" });
  private readonly task = h("div", { class: "task" });
  private readonly verdict = h("p", { class: "verdict", role: "status" });
  private readonly glsl = h("button", { type: "button", onclick: () => this.compile() }, "Compile this GLSL");
  private readonly solved = new Set(stored());
  private lesson: Lesson | undefined;

  constructor(private readonly events: LessonEvents) {
    const again = h("button", { type: "button", title: "The program as the lesson gives it; Ctrl Z brings yours back", onclick: () => this.lesson && events.replace(this.lesson.program) }, "Start again");
    const solution = h("button", { type: "button", title: "A program that solves the task; Ctrl Z brings yours back", onclick: () => this.lesson && events.replace(this.lesson.solution) }, "Show a solution");
    this.root.append(
      h("header", {}, this.title, this.back, this.next, h("button", { type: "button", class: "quiet", "aria-label": "Close the lesson", onclick: () => this.close() }, "×")),
      h("div", { class: "text", tabindex: "0", role: "region", "aria-label": "Text of the lesson" }, this.about, this.task),
      h("footer", {}, this.verdict, this.glsl, again, solution),
    );
  }

  /** Returns a button for each lesson, with a mark if it is solved. `chosen` is called before the lesson opens. */
  list(chosen: () => void): HTMLElement {
    const button = (lesson: Lesson, n: number): HTMLElement => {
      const solved = this.solved.has(lesson.name);
      const begin = (): void => {
        chosen();
        this.begin(n);
      };
      return h("li", {}, h("button", { type: "button", class: solved ? "solved" : "", onclick: begin }, `${n + 1}  ${lesson.title}`, solved && h("span", {}, h("span", { "aria-hidden": "true" }, " ✓"), h("span", { class: "unseen" }, ", solved"))));
    };
    return h("ol", { class: "lessons" }, ...all.map(button));
  }

  begin(n: number): void {
    const lesson = all[n];
    if (lesson !== undefined) this.events.open({ name: lesson.name, text: lesson.program, files: [] });
  }

  /** Shows the lesson of a program after it was opened; hides it if the program belongs to none. */
  opened(name: string): void {
    const at = all.findIndex((lesson) => lesson.name === name);
    const lesson = all[at];
    this.lesson = lesson;
    this.root.hidden = lesson === undefined;
    if (lesson === undefined) return;
    this.title.textContent = `Lesson ${at + 1} of ${all.length}: ${lesson.title}`;
    this.back.disabled = at === 0;
    this.next.disabled = at === all.length - 1;
    update(this.about, ...markdown(lesson.about));
    const [first, ...more] = markdown(lesson.task);
    first?.prepend(h("b", {}, "Task. "));
    update(this.task, ...(first === undefined ? [] : [first]), ...more);
    this.glsl.hidden = lesson.glsl === null;
    this.task.parentElement?.scrollTo(0, 0);
    this.say("", false);
  }

  /** Takes the verdicts on the `EXPECT` lines of the open program; `undefined` if it does not assemble. */
  judged(verdicts: readonly Pick<Judged, "passes">[] | undefined): void {
    const { lesson } = this;
    if (lesson === undefined) return;
    if (verdicts === undefined) return this.say("The program does not assemble: the list below it says where and why.", false);
    const wanted = lesson.program.match(/^EXPECT out/gm)?.length ?? 0;
    const met = verdicts.filter(({ passes }) => passes).length;
    if (verdicts.length < wanted) return this.say("An EXPECT line is missing: Start again brings it back.", false);
    if (met < verdicts.length) return this.say(`Not solved yet: ${met} of ${count(verdicts.length, "EXPECT line")} hold${verdicts.length === 1 ? "s" : ""}.`, false);
    this.say(this.next.disabled ? "✓ Solved. This was the last lesson; Help has the guide, and exercises." : "✓ Solved.", true);
    this.solved.add(lesson.name);
    lasting.setItem(SOLVED, JSON.stringify([...this.solved]));
  }

  private say(text: string, solved: boolean): void {
    this.verdict.textContent = text;
    this.root.classList.toggle("solved", solved);
  }

  private move(by: number): void {
    this.begin(all.findIndex((lesson) => lesson === this.lesson) + by);
    // A button that is disabled at an end loses the focus.
    this.title.focus();
  }

  private compile(): void {
    if (this.lesson?.glsl) this.events.compile("compiled.frag", this.lesson.glsl);
  }

  private close(): void {
    this.lesson = undefined;
    this.root.hidden = true;
  }
}

function stored(): string[] {
  try {
    const names: unknown = JSON.parse(lasting.getItem(SOLVED) ?? "[]");
    return Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
  } catch {
    return [];
  }
}
