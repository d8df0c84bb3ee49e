/** A reply of the service as a component needs it: asked when it comes, again when told to. */

import { useCallback, useEffect, useState } from "preact/hooks";
import type { Decoder } from "../protocol/decode";
import type { ArogError } from "../protocol/errors";
import { type Service, isAborted, told } from "../shared/service";
import { session } from "../shared/session";

export interface Asked<T> {
  /** Null until it is there; an older one stays while it is asked again. */
  value: T | null;
  problem: ArogError | null;
  again: () => void;
}

/** `path` null: nothing is asked. `of` is a constant of its module. */
export function useAsked<T>(path: string | null, of: Decoder<T>): Asked<T> {
  const [value, setValue] = useState<T | null>(null);
  const [problem, setProblem] = useState<ArogError | null>(null);
  const [times, setTimes] = useState(0);
  useEffect(() => {
    if (path === null) {
      return;
    }
    const leaving = new AbortController();
    service()
      .ask(path, of, { signal: leaving.signal })
      .then((found) => {
        setValue(found);
        setProblem(null);
      })
      .catch((raised: unknown) => {
        if (!isAborted(raised)) {
          setProblem(told(raised));
        }
      });
    return () => leaving.abort();
  }, [path, of, times]);
  const again = useCallback(() => setTimes((before) => before + 1), []);
  return { value, problem, again };
}

/** What a button does: whether it is under way, and what went wrong. */
export function useDoing(): {
  isBusy: boolean;
  problem: ArogError | null;
  attempt: (work: () => Promise<void>) => void;
} {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ArogError | null>(null);
  const attempt = (work: () => Promise<void>) => {
    setBusy(true);
    setProblem(null);
    work()
      .catch((raised: unknown) => setProblem(told(raised)))
      .finally(() => setBusy(false));
  };
  return { isBusy, problem, attempt };
}

/** Views of owners are shown with a session alone. */
export function service(): Service {
  const now = session.value;
  if (now === null) {
    throw new Error("there is no session");
  }
  return now.service;
}
