import { useState } from "preact/hooks";
import type { ChatAnswer } from "../protocol/wire";
import type { ArogError } from "../protocol/errors";
import { told } from "../shared/service";
import type { Turn } from "../shared/stored_types";
import { rate } from "./asking";
import { type Rating, rightAnswers } from "./ratings";

/** How the rating of one answer goes on. */
export interface Rater {
  isSending: boolean;
  asksWhatIsRight: boolean;
  problem: ArogError | null;
  send: (rating: Rating, correct?: string[]) => Promise<void>;
}

/** Rates an answer as right or wrong; after "wrong" it asks for what would have been right. */
export function useRater(turn: Turn, reply: ChatAnswer): Rater {
  const [problem, setProblem] = useState<ArogError | null>(null);
  const [isSending, setIsSending] = useState(false);
  const [asksWhatIsRight, setAsksWhatIsRight] = useState(false);

  async function send(rating: Rating, correct: string[] = []): Promise<void> {
    setIsSending(true);
    try {
      await rate(turn, reply, rating, correct);
      setProblem(null);
      setAsksWhatIsRight(rating === "wrong" && correct.length === 0);
    } catch (raised) {
      setProblem(told(raised));
    } finally {
      setIsSending(false);
    }
  }

  return { isSending, asksWhatIsRight, problem, send };
}

export function WhatIsRight({ isSending, send }: { isSending: boolean; send: (names: string[]) => void }) {
  const [typed, setTyped] = useState("");
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        const names = rightAnswers(typed);
        if (names.length > 0) {
          send(names);
        }
      }}
    >
      <label>
        What would have been right? (optional; several with ; between them)
        <input type="text" autoComplete="off" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
      </label>
      <button type="submit" class="small" disabled={isSending}>Send</button>
    </form>
  );
}
