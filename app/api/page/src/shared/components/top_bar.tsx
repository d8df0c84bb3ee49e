import { session, settings } from "../session";
import { Settings } from "./settings";
import { signal } from "@preact/signals";

interface Tab {
  id: string;
  title: string;
}

const areSettingsOpen = signal(false);

/** The name, the views' tabs, and the settings. */
export function TopBar({ views, shown }: { views: readonly Tab[]; shown: string }) {
  return (
    <header class="top-bar">
      <a class="brand" href="#/ask">arog</a>
      <nav aria-label="Views">
        {views.map((view) => (
          <a key={view.id} class="tab" href={`#/${view.id}`} aria-current={view.id === shown ? "page" : undefined}>
            {view.title}
          </a>
        ))}
      </nav>
      <span class="grow" />
      {session.value && settings.value.graph && (
        <span class="quiet top-graph" title="The graph that is asked">{settings.value.graph}</span>
      )}
      <button type="button" class="plain" onClick={() => (areSettingsOpen.value = true)}>Settings</button>
      {areSettingsOpen.value && <Settings onClose={() => (areSettingsOpen.value = false)} />}
    </header>
  );
}
