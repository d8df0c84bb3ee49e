/** What the service remembers for the reader of a graph: listed with names opened here, saved as a file, forgotten. */

import { personOf } from "../ask/conversation";
import { badAnswer, cannotOpen } from "../protocol/errors";
import { joined, type Segment, segmentsOf } from "../protocol/restoration";
import { memoryContext } from "../protocol/seal_contexts";
import { CannotOpen, openCapsule, type ReaderKey } from "../protocol/sealing";
import { memoryForgottenOf, type MemoryPage, memoryPageOf, type NameTable, type OfferWord } from "../protocol/wire";
import { offerFile } from "../shared/saving";
import type { Session } from "../shared/session";

export interface RememberedFact {
  id: string;
  /** When it was kept, as ISO 8601 writes it. */
  madeAt: string;
  segments: Segment[];
  /** Whether it was read as a relation of the graph; else it is kept as it was said. */
  isFact: boolean;
  /** What became of its offer to the graph's owner; empty where it is not offered. */
  offer: OfferWord;
}

export interface RememberedPage {
  facts: RememberedFact[];
  total: number;
}

const NO_NAMES: NameTable = new Map();

/** The sentences from `offset` on, newest first. Raises ArogError; an aborted signal raises AbortError. */
export async function pageOf(now: Session, graph: string, offset: number, signal?: AbortSignal): Promise<RememberedPage> {
  const wanted = { ...whose(now, graph), offset: String(offset), public_key: now.key.publicText };
  const page = await now.service.ask(`/memory?${new URLSearchParams(wanted)}`, memoryPageOf, signal ? { signal } : {});
  if (page.graph !== graph) {
    throw badAnswer("it is of another graph");
  }
  const table = await namesOf(page, now.key);
  const facts = page.facts.map((fact) => ({
    id: fact.id,
    madeAt: fact.made_at,
    segments: segmentsOf(fact.text, table),
    isFact: fact.form === "fact",
    offer: fact.offer,
  }));
  return { facts, total: page.total };
}

/** Raises ArogError. */
export async function namesOf(page: MemoryPage, key: ReaderKey): Promise<NameTable> {
  if (page.capsule === null) {
    return NO_NAMES;
  }
  try {
    return (await openCapsule(page.capsule, key, await memoryContext(page))).table;
  } catch (problem) {
    throw problem instanceof CannotOpen ? cannotOpen(problem.message, page.id) : problem;
  }
}

/** Raises ArogError. */
export async function forget(now: Session, graph: string, id: string): Promise<void> {
  await now.service.tell(`/memory/${encodeURIComponent(id)}?${new URLSearchParams(whose(now, graph))}`, { method: "DELETE" });
}

/** Offers a sentence to the graph's owner, or takes that back. Raises ArogError. */
export async function offer(now: Session, graph: string, id: string, isOffered: boolean): Promise<void> {
  const path = `/memory/${encodeURIComponent(id)}/offer?${new URLSearchParams(whose(now, graph))}`;
  await now.service.tell(path, { method: isOffered ? "POST" : "DELETE" });
}

/** How many sentences are gone. Raises ArogError. */
export async function forgetAll(now: Session, graph: string): Promise<number> {
  return (await now.service.ask(`/memory?${new URLSearchParams(whose(now, graph))}`, memoryForgottenOf, { method: "DELETE" })).facts;
}

function whose(now: Session, graph: string): Record<string, string> {
  return { graph, person: personOf(now.key.publicText) };
}

/** All of it as a file of JSON, its names in clear. Raises ArogError. */
export async function download(now: Session, graph: string): Promise<void> {
  const found = new Map<string, RememberedFact>();
  for (let offset = 0, total = 1; offset < total; ) {
    const page = await pageOf(now, graph, offset);
    page.facts.forEach((fact) => found.set(fact.id, fact));
    offset += page.facts.length;
    total = page.facts.length === 0 ? 0 : page.total;
  }
  offerFile(`memory-${graph}.json`, "application/json", asFile(graph, [...found.values()]));
}

export function asFile(graph: string, facts: readonly RememberedFact[]): string {
  const rows = facts.map(({ id, madeAt, segments, isFact, offer }) => {
    return { id, made_at: madeAt, text: joined(segments), form: isFact ? "fact" : "words", offer };
  });
  return `${JSON.stringify({ graph, facts: rows }, null, 2)}\n`;
}
