import { change, session, settings } from "../session";
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
      <GraphChoice />
      <button type="button" class="plain" onClick={() => (areSettingsOpen.value = true)}>Settings</button>
      {areSettingsOpen.value && <Settings onClose={() => (areSettingsOpen.value = false)} />}
    </header>
  );
}

/** Which graph is asked; to choose where the key may ask several. */
function GraphChoice() {
  const graphs = session.value?.graphs ?? [];
  const { graph } = settings.value;
  if (graphs.length < 2) {
    return <span class="quiet top-graph">{graph}</span>;
  }
  return (
    <select
      class="top-graph"
      aria-label="Graph"
      value={graph}
      onChange={(event) => void change({ graph: event.currentTarget.value })}
    >
      {graphs.map((name) => <option key={name}>{name}</option>)}
    </select>
  );
}
