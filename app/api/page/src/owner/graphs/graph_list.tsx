import { ErrorNote } from "../../shared/components/error_note";
import { session } from "../../shared/session";
import { useAsked } from "../asked";
import { HREFS, hrefOfGraph } from "../place";
import { type GraphSummary, graphListOf } from "../wire";
import { count, counted, time } from "../words";

/** Every graph of the tenant; who may only ask sees what it may ask. */
export function GraphList() {
  const { value, problem, again } = useAsked("/admin/graphs", graphListOf);
  if (problem?.code === "not_permitted") {
    return <NotForOwners />;
  }
  return (
    <>
      <header class="owner-head">
        <h1>Graphs</h1>
        <a class="button primary" href={HREFS.load}>Load a graph</a>
      </header>
      {problem && <ErrorNote problem={problem}><button type="button" onClick={again}>Try again</button></ErrorNote>}
      {value?.graphs.length === 0 && <p class="lead">There is none yet: load one from files.</p>}
      <ul class="plain-list">
        {value?.graphs.map((graph) => <li key={graph.name}><GraphCard graph={graph} /></li>)}
      </ul>
    </>
  );
}

function GraphCard({ graph }: { graph: GraphSummary }) {
  return (
    <article class="card graph-card">
      <h2><a href={hrefOfGraph(graph.name)}>{graph.name}</a></h2>
      <p class="quiet">Loaded {time(graph.loaded_at)}</p>
      <Counts graph={graph} />
    </article>
  );
}

export function Counts({ graph }: { graph: GraphSummary }) {
  const told = [
    ["triples", graph.triples],
    ["entities", graph.entities],
    ["values", graph.values],
    ["relations", graph.relations],
    ["names that pass as words", graph.public_words],
  ] as const;
  return (
    <dl class="counts">
      {told.map(([what, number]) => (
        <div key={what}>
          <dt>{what}</dt>
          <dd>{count(number)}</dd>
        </div>
      ))}
    </dl>
  );
}

function NotForOwners() {
  const graphs = session.value?.graphs ?? [];
  return (
    <>
      <h1>Graphs</h1>
      <p class="lead">
        Your key may ask {counted(graphs.length, "graph")}. Looking after graphs takes a key of the role admin.
      </p>
      <ul class="plain-list">
        {graphs.map((name) => <li key={name} class="card">{name}</li>)}
      </ul>
    </>
  );
}
