import { ErrorNote } from "../shared/components/error_note";
import { Answered } from "./answered";
import { askAgain, askInNewConversation, failures, live } from "./asking";
import { enterAgain } from "../shared/session";
import type { Turn } from "../shared/stored_types";
import { Progress } from "./progress";

/** One question, and below it how far its answer is, the answer, or why there is none. */
export function TurnView({ turn, number, isLast }: { turn: Turn; number: number; isLast: boolean }) {
  const now = live.value?.turn === turn.id ? live.value : null;
  const failure = failures.value.get(turn.id);
  return (
    <article class="turn" aria-label={`Question ${number}`} data-answered={now === null && turn.reply !== null}>
      <h2 class="question">{turn.typed}</h2>
      <div class="answer" aria-busy={now !== null}>
        {now !== null && <Progress stage={now.stage} />}
        {now === null && turn.reply !== null && <Answered turn={turn} reply={turn.reply} isLast={isLast} />}
        {now === null && turn.reply === null && failure instanceof Error && (
          <ErrorNote problem={failure}>
            {isLast && failure.code === "unknown_conversation" && (
              <button type="button" onClick={() => void askInNewConversation()}>Ask in a new conversation</button>
            )}
            {isLast && failure.code !== "unknown_conversation" && (
              <button type="button" onClick={() => void askAgain()}>Try again</button>
            )}
            {failure.status === 401 && <button type="button" onClick={enterAgain}>Enter another API key</button>}
          </ErrorNote>
        )}
        {now === null && turn.reply === null && !(failure instanceof Error) && (
          <p class="row quiet">
            <span>{failure === "stopped" ? "Stopped." : "Not answered."}</span>
            {isLast && <button type="button" onClick={() => void askAgain()}>Ask again</button>}
          </p>
        )}
      </div>
    </article>
  );
}
