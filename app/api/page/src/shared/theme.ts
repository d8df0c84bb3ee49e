/** Dark or light: the system's choice, or the reader's. */

import { signal } from "@preact/signals";

export const THEMES = [
  { id: "system", title: "As the system" },
  { id: "light", title: "Light" },
  { id: "dark", title: "Dark" },
] as const;
export type Theme = (typeof THEMES)[number]["id"];

const KEY = "arog.theme";

export const chosenTheme = signal<Theme>(THEMES.find((each) => each.id === localStorage.getItem(KEY))?.id ?? "system");
apply(chosenTheme.value);

export function chooseTheme(theme: Theme): void {
  chosenTheme.value = theme;
  localStorage.setItem(KEY, theme);
  apply(theme);
}

function apply(theme: Theme): void {
  if (theme === "system") {
    delete document.documentElement.dataset.theme;
  } else {
    document.documentElement.dataset.theme = theme;
  }
}
