/** The graph to look through, for whoever may inspect it: its concepts, things of them, a thing with its facts. */

import "../styles/owner.css";
import type { TargetedEvent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useAsked } from "../owner/asked";
import { count } from "../owner/words";
import { shown } from "../protocol/restoration";
import { type ExcerptFact, type ExcerptThing, graphOutlineOf, type NameTable } from "../protocol/wire";
import { ErrorNote } from "../shared/components/error_note";
import { countOf, plural } from "../shared/plurals";
import { graph, isInspectable } from "../shared/session";
import { type Opened, useExcerpt, type Wanted } from "./excerpt";
import { BROWSE, hrefOfConcept, hrefOfThing, type Place, place } from "./place";

const PAGE = 50;

export function BrowseView() {
  const [search, setSearch] = useState("");
  const [wanted, setWanted] = useState("");
  const now = place.value;
  useEffect(() => setWanted(""), [now]);
  const submit = (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault();
    setWanted(search.trim());
  };
  if (!isInspectable.value) {
    return (
      <main class="page-main">
        <h1>Browse</h1>
        <p class="lead">Your key may not look through this graph: that takes the grant to inspect it.</p>
      </main>
    );
  }
  return (
    <main class="page-main browse">
      <header class="owner-head">
        <h1>{now.at === "outline" && wanted === "" ? `What ${graph.value} holds` : <a href={BROWSE} onClick={() => setWanted("")}>{graph.value}</a>}</h1>
        <form class="row" role="search" onSubmit={submit}>
          <input
            type="search"
            aria-label="Find a thing by its name"
            placeholder="Find by name"
            maxLength={200}
            value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
          <button>Find</button>
        </form>
      </header>
      {wanted !== "" ? <Things key={wanted} title={`Found for “${wanted}”`} wanted={{ search: wanted }} /> : <Shown now={now} />}
    </main>
  );
}

function Shown({ now }: { now: Place }) {
  switch (now.at) {
    case "outline":
      return <Outline />;
    case "concept":
      return <Things key={now.concept} title={plural(now.concept)} wanted={{ concept: now.concept }} />;
    case "thing":
      return <Things key={now.thing} title="" wanted={{ thing: now.thing, conversation: now.conversation }} />;
  }
}

function Outline() {
  const { value, problem } = useAsked(`/graphs/${encodeURIComponent(graph.value)}/outline`, graphOutlineOf);
  return (
    <>
      {problem && <ErrorNote problem={problem} />}
      <ul class="concepts">
        {value?.concepts.map(({ concept, things }) => (
          <li key={concept} class="card">
            <a href={hrefOfConcept(concept)}>{things === 1 ? concept : plural(concept)}</a> <span class="quiet">{count(things)}</span>
          </li>
        ))}
      </ul>
      {value && (
        <section class="card">
          <h2>Relations</h2>
          <ul class="chips">{value.relations.map((each) => <li key={each} class="chip">{each}</li>)}</ul>
        </section>
      )}
    </>
  );
}

function Things({ title, wanted }: { title: string; wanted: Wanted }) {
  const [offset, setOffset] = useState(0);
  const { found, problem } = useExcerpt(graph.value, { ...wanted, offset });
  if (problem) {
    return <ErrorNote problem={problem} />;
  }
  if (found === null) {
    return <p class="quiet" role="status">Opening …</p>;
  }
  const { excerpt } = found;
  const [only] = excerpt.things;
  if (wanted.thing !== undefined && excerpt.total === 1 && only !== undefined) {
    return <Thing thing={only} found={found} />;
  }
  return (
    <>
      <h2>{title || countOf(excerpt.total, only?.concept || "thing")}</h2>
      {excerpt.total === 0 && <p class="lead">Nothing of that name is in this graph.</p>}
      <ul class="things">
        {excerpt.things.map((each) => (
          <li key={each.pseudonym}><End end={each} found={found} /> <span class="quiet">{each.concept}</span></li>
        ))}
      </ul>
      {excerpt.total > PAGE && (
        <p class="row">
          <button type="button" disabled={offset === 0} onClick={() => setOffset(offset - PAGE)}>Earlier</button>
          <span class="quiet">{count(offset + 1)} to {count(Math.min(offset + PAGE, excerpt.total))} of {count(excerpt.total)}</span>
          <button type="button" disabled={offset + PAGE >= excerpt.total} onClick={() => setOffset(offset + PAGE)}>Later</button>
        </p>
      )}
    </>
  );
}

/** One thing, and each relation of it with what it leads to. */
function Thing({ thing, found }: { thing: ExcerptThing; found: Opened }) {
  return (
    <article class="card">
      <header class="owner-head">
        <h2>{nameOf(thing, found.names)}</h2>
        <a class="tag" href={hrefOfConcept(thing.concept)}>{thing.concept}</a>
      </header>
      {found.excerpt.facts.length === 0 && <p class="quiet">Nothing else is known of it.</p>}
      <dl class="facts">
        {found.excerpt.facts.map((fact, at) => <Fact key={at} fact={fact} found={found} />)}
      </dl>
    </article>
  );
}

function Fact({ fact, found }: { fact: ExcerptFact; found: Opened }) {
  const words = found.names.get(fact.relation)?.names[0] ?? fact.relation;
  return (
    <div>
      <dt>{fact.inverse ? `← ${words}` : words}</dt>
      <dd>
        {fact.ends.map((end, at) => <span key={end.pseudonym}>{at > 0 && ", "}<End end={end} found={found} /></span>)}
        {fact.total > fact.ends.length && <span class="quiet"> and {count(fact.total - fact.ends.length)} more</span>}
      </dd>
    </div>
  );
}

function End({ end, found }: { end: ExcerptThing; found: Opened }) {
  const name = nameOf(end, found.names);
  return end.is_value ? <span>{name}</span> : <a href={hrefOfThing(end.pseudonym, found.excerpt.conversation)}>{name}</a>;
}

/** What has no name is called by its kind. */
function nameOf(thing: ExcerptThing, names: NameTable): string {
  const held = names.get(thing.pseudonym);
  return held === undefined || held.names.length === 0 ? `${thing.concept || "thing"} without a name` : shown(held);
}
