import { useState } from "preact/hooks";
import type { ChatAnswer } from "../protocol/wire";
import type { ArogError } from "../protocol/errors";
import { ErrorNote } from "../shared/components/error_note";
import { told } from "../shared/service";
import type { Turn } from "../shared/stored_types";
import { live, rate } from "./asking";
import { type Rating, rightAnswers } from "./ratings";

interface Props {
  turn: Turn;
  reply: ChatAnswer;
}

/** Thumb up and thumb down of an answer; below thumb down, a field for what would have been right. */
export function Rate({ turn, reply }: Props) {
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

  return (
    <div class="rating">
      <div class="row" role="group" aria-label="Rate this answer">
        <button
          type="button"
          class="small"
          aria-pressed={turn.rating === "right"}
          disabled={isSending || live.value !== null}
          onClick={() => void send("right")}
        >
          <span aria-hidden="true">👍</span> Right
        </button>
        <button
          type="button"
          class="small"
          aria-pressed={turn.rating === "wrong"}
          disabled={isSending || live.value !== null}
          onClick={() => void send("wrong")}
        >
          <span aria-hidden="true">👎</span> Wrong
        </button>
        {turn.rating !== undefined && !asksWhatIsRight && <span class="quiet" role="status">Thank you.</span>}
      </div>
      {asksWhatIsRight && <WhatIsRight isSending={isSending} send={(names) => void send("wrong", names)} />}
      {problem !== null && <ErrorNote problem={problem} />}
    </div>
  );
}

function WhatIsRight({ isSending, send }: { isSending: boolean; send: (names: string[]) => void }) {
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
