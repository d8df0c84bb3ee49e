/** The page: its first-run screen, then the views under their tabs. The address after `#` says which view. */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { AskView } from "./ask/ask_view";
import { BrowseView } from "./browse/browse_view";
import { MemoryView } from "./memory/memory_view";
import { OwnerView } from "./owner/owner_view";
import { ErrorNote } from "./shared/components/error_note";
import { TopBar } from "./shared/components/top_bar";
import { told } from "./shared/service";
import { begin, isInspectable, phase } from "./shared/session";
import type { ArogError } from "./protocol/errors";
import { Locked } from "./welcome/locked";
import { Welcome } from "./welcome/welcome";

/** Each view under its tab: to add one, add a line here. */
export const VIEWS = [
  { id: "ask", title: "Ask", view: AskView },
  { id: "browse", title: "Browse", view: BrowseView },
  { id: "memory", title: "Memory", view: MemoryView },
  { id: "graphs", title: "Graphs", view: OwnerView },
] as const;

export type ViewId = (typeof VIEWS)[number]["id"];

export const shownView = signal<ViewId>(viewOf(location.hash));
const problem = signal<ArogError | null>(null);

function viewOf(hash: string): ViewId {
  const wanted = hash.replace(/^#\/?/, "").split("/")[0];
  return VIEWS.find((each) => each.id === wanted)?.id ?? "ask";
}

export function App() {
  useEffect(() => {
    const onHash = () => {
      shownView.value = viewOf(location.hash);
    };
    addEventListener("hashchange", onHash);
    begin().catch((raised: unknown) => {
      problem.value = told(raised);
    });
    return () => removeEventListener("hashchange", onHash);
  }, []);
  if (problem.value !== null) {
    return <main class="alone"><ErrorNote problem={problem.value} /></main>;
  }
  switch (phase.value) {
    case "starting":
      return <main class="alone" aria-busy="true" />;
    case "insecure":
      return <main class="alone"><Insecure /></main>;
    case "welcome":
      return <main class="alone"><Welcome /></main>;
    case "locked":
      return <main class="alone"><Locked /></main>;
    case "ready": {
      const View = VIEWS.find((each) => each.id === shownView.value)?.view ?? AskView;
      return (
        <div class="frame">
          <TopBar views={VIEWS.filter((each) => each.id !== "browse" || isInspectable.value)} shown={shownView.value} />
          <View />
        </div>
      );
    }
  }
}

function Insecure() {
  return (
    <section class="card">
      <h1>This address is not safe enough</h1>
      <p>
        Names are restored in your browser with its own cryptography, which browsers give to pages of https and of this
        machine alone.
      </p>
      <p>Open the page as <code>https://…</code>, or as <code>http://127.0.0.1</code> on the machine of the service.</p>
    </section>
  );
}
