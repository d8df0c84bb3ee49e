/** The names of answers, opened with this browser's key when they are shown, and kept in memory alone. */

import { useEffect, useState } from "preact/hooks";
import type { ArogError } from "../protocol/errors";
import { openNames } from "../protocol/reading";
import type { ReaderKey } from "../protocol/sealing";
import type { ChatAnswer, NameTable } from "../protocol/wire";
import { told } from "../shared/service";
import { session } from "../shared/session";

export interface Opened {
  table: NameTable;
  problem: ArogError | null;
}

const NOTHING: NameTable = new Map();
const opening = new WeakMap<ReaderKey, Map<string, Promise<NameTable>>>();

function namesOf(reply: ChatAnswer, key: ReaderKey): Promise<NameTable> {
  const known = opening.get(key) ?? new Map<string, Promise<NameTable>>();
  opening.set(key, known);
  const found = known.get(reply.id) ?? openNames(reply, key);
  known.set(reply.id, found);
  return found;
}

/** Null until they are open. */
export function useNames(reply: ChatAnswer): Opened | null {
  const [opened, setOpened] = useState<Opened | null>(null);
  const key = session.value?.key ?? null;
  useEffect(() => {
    let isShown = true;
    if (key !== null) {
      namesOf(reply, key)
        .then((table) => ({ table, problem: null }))
        .catch((raised: unknown) => ({ table: NOTHING, problem: told(raised) }))
        .then((result) => isShown && setOpened(result));
    }
    return () => {
      isShown = false;
    };
  }, [reply.id, key]);
  return opened;
}
