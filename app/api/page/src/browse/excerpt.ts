/** A part of the graph as the service gives it, its names opened with this browser's key. */

import { useEffect, useState } from "preact/hooks";
import { cannotOpen, type ArogError } from "../protocol/errors";
import { excerptContext } from "../protocol/seal_contexts";
import { CannotOpen, openCapsule } from "../protocol/sealing";
import { type GraphExcerpt, graphExcerptOf, type NameTable } from "../protocol/wire";
import { isAborted, told } from "../shared/service";
import { session } from "../shared/session";

/** One of `concept`, `search` and `thing`. */
export interface Wanted {
  concept?: string;
  search?: string;
  thing?: string;
  conversation?: string | null;
  offset?: number;
}

export interface Opened {
  excerpt: GraphExcerpt;
  names: NameTable;
}

/** The conversation whose pseudonyms things have here, for each graph: begun by the first look. */
const conversations = new Map<string, string>();

/** Raises ArogError; an aborted signal raises AbortError. */
async function looked(graph: string, wanted: Wanted, signal: AbortSignal): Promise<Opened | null> {
  const now = session.value;
  if (now === null) {
    return null;
  }
  const conversation = wanted.conversation ?? conversations.get(graph) ?? null;
  const body = { ...wanted, conversation, public_key: now.key.publicText };
  const excerpt = await now.service.ask(`/graphs/${encodeURIComponent(graph)}/browse`, graphExcerptOf, { method: "POST", body, signal });
  if (wanted.conversation === undefined) {
    conversations.set(graph, excerpt.conversation);
  }
  try {
    const content = excerpt.capsule && (await openCapsule(excerpt.capsule, now.key, await excerptContext(excerpt)));
    return { excerpt, names: content?.table ?? new Map() };
  } catch (problem) {
    throw problem instanceof CannotOpen ? cannotOpen(problem.message, excerpt.id) : problem;
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
    looked(graph, wanted, leaving.signal)
      .then(setFound)
      .catch((raised: unknown) => {
        if (!isAborted(raised)) {
          setProblem(told(raised));
        }
      });
    return () => leaving.abort();
  }, [graph, asked]);
  return { found, problem };
}
