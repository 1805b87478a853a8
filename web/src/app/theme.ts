// The theme, light or dark: the system's, or the one chosen here.

import { byId } from "./dom.ts";
import { lasting } from "./storage.ts";

const THEMES = ["", "light", "dark"] as const;
const TITLES = { "": "Colours: as the system", light: "Colours: light", dark: "Colours: dark" };
const SIGNS = { "": "◐", light: "○", dark: "●" };

export function theme(): void {
  const button = byId("theme", HTMLButtonElement);
  const stored = lasting.getItem("r500.theme") ?? "";
  let chosen = THEMES.find((theme) => theme === stored) ?? "";
  const show = (): void => {
    document.documentElement.dataset["theme"] = chosen;
    button.textContent = SIGNS[chosen];
    button.title = TITLES[chosen];
    button.setAttribute("aria-label", TITLES[chosen]);
  };
  button.addEventListener("click", () => {
    chosen = THEMES[(THEMES.indexOf(chosen) + 1) % THEMES.length] ?? "";
    lasting.setItem("r500.theme", chosen);
    show();
  });
  show();
}
