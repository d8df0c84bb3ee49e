/** What the reader asked to be remembered of a graph: each sentence with its day, to be forgotten or saved. */

import "../styles/owner.css";
import "../styles/memory.css";
import { useEffect, useState } from "preact/hooks";
import { NamedText } from "../ask/named_text";
import { count, day } from "../owner/words";
import type { ArogError } from "../protocol/errors";
import { joined } from "../protocol/restoration";
import { ErrorNote } from "../shared/components/error_note";
import { countOf } from "../shared/plurals";
import { isAborted, told } from "../shared/service";
import { graph, session, type Session } from "../shared/session";
import { download, forget, forgetAll, offer, pageOf, type RememberedFact, type RememberedPage } from "./remembered";

const PAGE = 50;

export function MemoryView() {
  return <Remembered key={graph.value} of={graph.value} />;
}

function Remembered({ of }: { of: string }) {
  const [offset, setOffset] = useState(0);
  const [page, setPage] = useState<RememberedPage | null>(null);
  const [problem, setProblem] = useState<ArogError | null>(null);
  const [done, setDone] = useState("");
  const now = session.value;
  useEffect(() => {
    const leaving = new AbortController();
    if (now !== null) {
      pageOf(now, of, offset, leaving.signal).then(setPage).catch((raised: unknown) => isAborted(raised) || setProblem(told(raised)));
    }
    return () => leaving.abort();
  }, [now, of, offset]);
  const attempt = (work: (now: Session) => Promise<void>) => {
    setProblem(null);
    if (now !== null) {
      work(now).catch((raised: unknown) => setProblem(told(raised)));
    }
  };
  const drop = (fact: RememberedFact) => attempt(async (now) => {
    await forget(now, of, fact.id);
    setPage((before) => before && { facts: before.facts.filter((each) => each.id !== fact.id), total: before.total - 1 });
    setDone(`Forgotten: ${joined(fact.segments)}`);
  });
  const propose = (fact: RememberedFact) => attempt(async (now) => {
    const isOffered = fact.offer !== "offered";
    await offer(now, of, fact.id, isOffered);
    const changed: RememberedFact = { ...fact, offer: isOffered ? "offered" : "" };
    setPage((before) => before && { ...before, facts: before.facts.map((each) => (each.id === fact.id ? changed : each)) });
    setDone(isOffered ? `Offered to the owner of ${of}: ${joined(fact.segments)}` : `Taken back: ${joined(fact.segments)}`);
  });
  const dropAll = () => attempt(async (now) => {
    const gone = await forgetAll(now, of);
    setPage({ facts: [], total: 0 });
    setDone(`Forgotten: ${countOf(gone, "sentence")}.`);
  });
  return (
    <main class="page-main">
      <header class="owner-head">
        <h1>What is remembered for you</h1>
        {page !== null && page.total > 0 && (
          <button type="button" onClick={() => attempt((now) => download(now, of))}>Download</button>
        )}
      </header>
      <p class="lead">
        Of {of}, in your words, for you alone, but for what you offer to the owner of the graph. No model is asked about it.
      </p>
      {problem && <ErrorNote problem={problem} />}
      <p class="quiet" role="status">{page === null && problem === null ? "Opening …" : done}</p>
      {page?.total === 0 && <p>Nothing. To have something remembered, write for example “Remember that …” when you ask.</p>}
      <ul class="memory">
        {page?.facts.map((fact) => <Entry key={fact.id} fact={fact} onForget={() => drop(fact)} onOffer={() => propose(fact)} />)}
      </ul>
      {page !== null && <Pages offset={offset} page={page} go={setOffset} />}
      {page !== null && page.total > 0 && <ForgetAll onForget={dropAll} />}
    </main>
  );
}

const OFFERS = { "": "", offered: " · offered to the owner", taken: " · taken into the graph", refused: " · refused by the owner" };

function Entry({ fact, onForget, onOffer }: { fact: RememberedFact; onForget: () => void; onOffer: () => void }) {
  const words = joined(fact.segments);
  const [title, label] = fact.offer === "offered" ? ["Take back", `Take the offer back: ${words}`] : ["Offer", `Offer to the owner: ${words}`];
  return (
    <li class="memory-entry">
      <p><NamedText segments={fact.segments} /></p>
      <p class="quiet">{day(fact.madeAt)}{!fact.isFact && " · as you said it"}{OFFERS[fact.offer]}</p>
      <p class="memory-buttons">
        {fact.offer !== "taken" && <button type="button" class="small" aria-label={label} title="The owner of the graph then sees this sentence, and that it is yours" onClick={onOffer}>{title}</button>}
        <button type="button" class="small" aria-label={`Forget: ${words}`} onClick={onForget}>Forget</button>
      </p>
    </li>
  );
}

function Pages({ offset, page, go }: { offset: number; page: RememberedPage; go: (offset: number) => void }) {
  const end = offset + page.facts.length;
  if (offset === 0 && end >= page.total) {
    return null;
  }
  return (
    <p class="row">
      <button type="button" disabled={offset === 0} onClick={() => go(Math.max(0, offset - PAGE))}>Newer</button>
      <span class="quiet">{count(Math.min(offset + 1, end))} to {count(end)} of {count(page.total)}</span>
      <button type="button" disabled={end >= page.total} onClick={() => go(end)}>Older</button>
    </p>
  );
}

/** Asks once more: nothing brings it back. */
function ForgetAll({ onForget }: { onForget: () => void }) {
  const [isAsking, setAsking] = useState(false);
  return isAsking ? (
    <p class="row">
      <button type="button" class="danger" onClick={onForget}>Forget it all for good</button>
      <button type="button" onClick={() => setAsking(false)}>Keep it</button>
    </p>
  ) : (
    <p><button type="button" onClick={() => setAsking(true)}>Forget it all …</button></p>
  );
}
