/** Dark or light: the system's choice, or the reader's. */

import { computed, signal } from "@preact/signals";

export const THEMES = [
  { id: "system", title: "As the system" },
  { id: "light", title: "Light" },
  { id: "dark", title: "Dark" },
] as const;
export type Theme = (typeof THEMES)[number]["id"];

const KEY = "arog.theme";
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

export const chosenTheme = signal<Theme>(THEMES.find((each) => each.id === localStorage.getItem(KEY))?.id ?? "system");
const system = signal(systemIsDark.matches);
/** What is shown now: canvases, which know no CSS, are drawn anew when it changes. */
export const isDark = computed(() => (chosenTheme.value === "system" ? system.value : chosenTheme.value === "dark"));

systemIsDark.addEventListener("change", (event) => {
  system.value = event.matches;
});
apply(chosenTheme.value);

export function chooseTheme(theme: Theme): void {
  chosenTheme.value = theme;
  localStorage.setItem(KEY, theme);
  apply(theme);
}

export function forgetTheme(): void {
  chooseTheme("system");
  localStorage.removeItem(KEY);
}

function apply(theme: Theme): void {
  if (theme === "system") {
    delete document.documentElement.dataset.theme;
  } else {
    document.documentElement.dataset.theme = theme;
  }
}
