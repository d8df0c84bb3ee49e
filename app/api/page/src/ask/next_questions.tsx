import { joined, segmentsOf } from "../protocol/restoration";
import type { ChatAnswer, NameTable } from "../protocol/wire";
import { ask, live } from "./asking";

interface Props {
  reply: ChatAnswer;
  table: NameTable;
  isLast: boolean;
}

/**
 * Questions to go on with, to ask by a click. They stay when the dialogue has gone on, so that nothing moves; then those
 * that name nothing ("Where do they live?") can't be asked any more.
 */
export function NextQuestions({ reply, table, isLast }: Props) {
  if (!reply.suggestions?.length) {
    return null; // Answers that were kept by an earlier version have none.
  }
  const questions = reply.suggestions.map((each) => {
    const segments = segmentsOf(each, table);
    return { text: joined(segments), hasName: segments.some((segment) => segment.pseudonym !== null) };
  });
  return (
    <fieldset class="next" disabled={live.value !== null}>
      <legend>You could ask next</legend>
      <ul class="next-questions">
        {questions.map(({ text, hasName }) => (
          <li key={text}>
            <button type="button" disabled={!isLast && !hasName} onClick={() => void ask(text)}>{text}</button>
          </li>
        ))}
      </ul>
    </fieldset>
  );
}
