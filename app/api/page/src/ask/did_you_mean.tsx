import { segmentsOf } from "../protocol/restoration";
import type { ChatAnswer, NameTable } from "../protocol/wire";
import { ask, live } from "./asking";

/** The questions that may have been meant, to ask by a click. */
export function DidYouMean({ reply, table }: { reply: ChatAnswer; table: NameTable }) {
  if (!reply.did_you_mean?.length) {
    return null; // Answers that were kept by an earlier version have none.
  }
  const questions = reply.did_you_mean.map((each) => segmentsOf(each, table).map((part) => part.text).join(""));
  return (
    <fieldset class="ambiguous" disabled={live.value !== null}>
      <legend>Did you mean?</legend>
      <div class="choices">
        {questions.map((question) => (
          <button type="button" key={question} onClick={() => void ask(question)}>
            {question}
          </button>
        ))}
      </div>
    </fieldset>
  );
}
