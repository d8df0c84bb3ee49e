/** Those who own graphs: what is loaded, loading, and what prompts about it tell. */

import "../styles/owner.css";
import { useEffect, useRef } from "preact/hooks";
import { GraphList } from "./graphs/graph_list";
import { GraphView } from "./graphs/graph_view";
import { KeysView } from "./keys/keys_view";
import { LedgerView } from "./ledger/ledger_view";
import { LoadView } from "./load/load_view";
import { HREFS, type Place, place } from "./place";

const TABS = [
  { id: "list", title: "Graphs" },
  { id: "load", title: "Load" },
  { id: "keys", title: "Keys" },
  { id: "ledger", title: "Ledger" },
] as const;

export function OwnerView() {
  const now = place.value;
  const top = useRef<HTMLElement>(null);
  const where = now.at === "graph" ? `of ${now.name}` : now.at;
  useEffect(() => top.current?.scrollTo(0, 0), [where]);
  const current = now.at === "graph" ? "list" : now.at;
  return (
    <main class="page-main owner" ref={top}>
      <nav class="owner-tabs" aria-label="Looking after graphs">
        {TABS.map((tab) => (
          <a key={tab.id} class="tab" href={HREFS[tab.id]} aria-current={tab.id === current ? "page" : undefined}>
            {tab.title}
          </a>
        ))}
      </nav>
      <Shown now={now} />
    </main>
  );
}

function Shown({ now }: { now: Place }) {
  switch (now.at) {
    case "graph":
      return <GraphView key={now.name} name={now.name} />;
    case "load":
      return <LoadView />;
    case "keys":
      return <KeysView />;
    case "ledger":
      return <LedgerView />;
    case "list":
      return <GraphList />;
  }
}
