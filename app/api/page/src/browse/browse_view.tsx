/** The graph to look through, for whoever may inspect it: its kinds, each as a table, and a thing with its facts. */

import "../styles/owner.css";
import "../styles/browse.css";
import type { TargetedEvent } from "preact";
import { useState } from "preact/hooks";
import { count } from "../owner/words";
import type { ExcerptFact, ExcerptThing } from "../protocol/wire";
import { ErrorNote } from "../shared/components/error_note";
import { countOf } from "../shared/plurals";
import { graph, isInspectable } from "../shared/session";
import { kindTitle, kindWords, nameOf } from "./cells";
import { type Opened, useExcerpt, useTable, type Wanted } from "./excerpt";
import { KindTable } from "./kind_table";
import { BROWSE, FOUND, hrefOfConcept, hrefOfThing, type Place, place, sought } from "./place";
import { START } from "./query";

const PAGE = 50;

export function BrowseView() {
  const now = place.value;
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
        <h1>{now.at === "outline" ? `What ${graph.value} holds` : <a href={BROWSE}>{graph.value}</a>}</h1>
        {now.at !== "concept" && <Search />}
      </header>
      <Shown now={now} />
    </main>
  );
}

/** A search among all things of the graph; a table has one of its own. */
function Search() {
  const [search, setSearch] = useState(sought.value);
  const submit = (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault();
    sought.value = search.trim();
    location.hash = sought.value === "" ? BROWSE : FOUND;
  };
  return (
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
  );
}

function Shown({ now }: { now: Place }) {
  switch (now.at) {
    case "outline":
      return <Outline />;
    case "found":
      return sought.value === "" ? <Outline /> : <Things key={sought.value} title={`Found for “${sought.value}”`} wanted={{ search: sought.value }} />;
    case "concept":
      return <KindTable key={`${graph.value}/${now.concept}`} kind={now.concept} />;
    case "thing":
      return <Things key={now.thing} title="" wanted={{ thing: now.thing, conversation: now.conversation }} />;
  }
}

function Outline() {
  const { found, problem } = useTable(graph.value, null, START);
  return (
    <>
      {problem && <ErrorNote problem={problem} />}
      {found && <p class="lead">Choose a kind to see its rows.</p>}
      <ul class="concepts">
        {found?.table.kinds.map(({ kind, things }) => (
          <li key={kind}>
            <a class="card concept" href={hrefOfConcept(kind)}>{kindTitle(kind, things, found.names)} <span class="quiet">{count(things)}</span></a>
          </li>
        ))}
      </ul>
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
      <h2>{title || countOf(excerpt.total, kindWords(only?.concept || "thing", found.names))}</h2>
      {excerpt.total === 0 && <p class="lead">Nothing of that name is in this graph.</p>}
      <ul class="things">
        {excerpt.things.map((each) => (
          <li key={each.pseudonym}><End end={each} found={found} /> <span class="quiet">{kindWords(each.concept, found.names)}</span></li>
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
        <a class="tag" href={hrefOfConcept(thing.concept)}>{kindWords(thing.concept, found.names)}</a>
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
