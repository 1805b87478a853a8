// Messages of the page: a line in the header, in place of the title, for some seconds.

import { byId } from "./dom.ts";

const SECONDS = 8;

let silence: ReturnType<typeof setTimeout> | undefined;

export function say(text: string): void {
  const said = byId("said", HTMLDivElement);
  said.textContent = text;
  said.title = text;
  said.classList.add("shown");
  clearTimeout(silence);
  silence = setTimeout(() => said.classList.remove("shown"), SECONDS * 1000);
}

/** Ends the message, because what it was about is over: another program, a change of the text, a finished task. */
export function unsay(): void {
  const said = byId("said", HTMLDivElement);
  clearTimeout(silence);
  said.classList.remove("shown");
  said.textContent = "";
  said.title = "";
}

/** Announces a text to users of screen readers. */
export function announce(text: string): void {
  byId("status", HTMLDivElement).textContent = text;
}
