/** Parts of the graph as the service gives them, their names opened with this browser's key. */

import { useEffect, useState } from "preact/hooks";
import { cannotOpen, type ArogError } from "../protocol/errors";
import type { Decoder } from "../protocol/decode";
import { excerptContext } from "../protocol/seal_contexts";
import { CannotOpen, openCapsule } from "../protocol/sealing";
import { type GraphExcerpt, graphExcerptOf, type GraphTable, graphTableOf, type NameTable } from "../protocol/wire";
import { isAborted, told } from "../shared/service";
import { session } from "../shared/session";
import { memory } from "./memory";
import { type Query, wantedBy } from "./query";

/** One of `search` and `thing`. */
export interface Wanted {
  search?: string;
  thing?: string;
  conversation?: string | null;
  offset?: number;
}

export interface Opened {
  excerpt: GraphExcerpt;
  names: NameTable;
}

export interface OpenedTable {
  table: GraphTable;
  names: NameTable;
}

/** Where a graph's things are looked at, the pseudonyms of one conversation hold on; each table has its own. */
const THINGS = "";

/**
 * Asks for a part of a graph, and opens its names. `place` is whose conversation is gone on with, null for that of
 * `wanted`. Raises ArogError; an aborted signal raises AbortError.
 */
async function looked<T extends GraphExcerpt | GraphTable>(
  path: string,
  of: Decoder<T>,
  wanted: object,
  place: string | null,
  signal?: AbortSignal,
): Promise<[T, NameTable] | null> {
  const now = session.value;
  if (now === null) {
    return null;
  }
  const { conversations } = memory(now.access);
  const known = place === null ? {} : { conversation: conversations.get(place) ?? null };
  const body = { ...wanted, ...known, public_key: now.key.publicText };
  const found = await now.service.ask(path, of, { method: "POST", body, ...(signal && { signal }) });
  if (place !== null) {
    conversations.set(place, found.conversation);
  }
  try {
    const content = found.capsule && (await openCapsule(found.capsule, now.key, await excerptContext(found)));
    return [found, content?.table ?? new Map()];
  } catch (problem) {
    throw problem instanceof CannotOpen ? cannotOpen(problem.message, found.id) : problem;
  }
}

export function useExcerpt(graph: string, wanted: Wanted | null): { found: Opened | null; problem: ArogError | null } {
  const [found, setFound] = useState<Opened | null>(null);
  const [problem, setProblem] = useState<ArogError | null>(null);
  const asked = JSON.stringify(wanted);
  useEffect(() => {
    setFound(null);
    setProblem(null);
    if (wanted === null || graph === "") {
      return;
    }
    const leaving = new AbortController();
    const place = wanted.conversation === undefined ? placeIn(graph, THINGS) : null;
    looked(`/graphs/${encodeURIComponent(graph)}/browse`, graphExcerptOf, wanted, place, leaving.signal)
      .then((opened) => setFound(opened && { excerpt: opened[0], names: opened[1] }))
      .catch(unlessAborted(setProblem));
    return () => leaving.abort();
  }, [graph, asked]);
  return { found, problem };
}

/** The table of a kind, or the kinds alone. An older page of it stays until the next one is there. */
export function useTable(
  graph: string,
  kind: string | null,
  query: Query,
): { found: OpenedTable | null; problem: ArogError | null; isBusy: boolean } {
  const [found, setFound] = useState<OpenedTable | null>(null);
  const [problem, setProblem] = useState<ArogError | null>(null);
  const [ended, setEnded] = useState("");
  const asked = JSON.stringify(wantedBy(kind, query));
  useEffect(() => {
    const leaving = new AbortController();
    tableOf(graph, kind, query, null, leaving.signal)
      .then((opened) => {
        setFound(opened);
        setProblem(null);
      })
      .catch(unlessAborted(setProblem))
      .finally(() => !leaving.signal.aborted && setEnded(asked));
    return () => leaving.abort();
  }, [graph, asked]);
  return { found, problem, isBusy: ended !== asked };
}

/** A page of a kind; with the counts of a column's values where `choicesOf` names one. Raises ArogError. */
export async function tableOf(
  graph: string,
  kind: string | null,
  query: Query,
  choicesOf: string | null = null,
  signal?: AbortSignal,
): Promise<OpenedTable | null> {
  const wanted = { ...wantedBy(kind, query), choices_of: choicesOf };
  const place = placeIn(graph, kind ?? THINGS);
  const opened = await looked(`/graphs/${encodeURIComponent(graph)}/table`, graphTableOf, wanted, place, signal);
  return opened && { table: opened[0], names: opened[1] };
}

function placeIn(graph: string, kind: string): string {
  return `${graph}/${kind}`;
}

function unlessAborted(set: (problem: ArogError) => void): (raised: unknown) => void {
  return (raised) => {
    if (!isAborted(raised)) {
      set(told(raised));
    }
  };
}
