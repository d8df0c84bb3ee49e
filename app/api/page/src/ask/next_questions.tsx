import { restore } from "../protocol/restoration";
import type { ChatAnswer, NameTable } from "../protocol/wire";
import { ask, live } from "./asking";

/** Questions to go on with, to ask by a click. */
export function NextQuestions({ reply, table }: { reply: ChatAnswer; table: NameTable }) {
  if (!reply.suggestions?.length) {
    return null; // Answers that were kept by an earlier version have none.
  }
  return (
    <fieldset class="next" disabled={live.value !== null}>
      <legend>You could ask next</legend>
      <ul class="next-questions">
        {reply.suggestions.map((each) => restore(each, table)).map((question) => (
          <li key={question}>
            <button type="button" onClick={() => void ask(question)}>{question}</button>
          </li>
        ))}
      </ul>
    </fieldset>
  );
}
