import { joined, segmentsOf } from "../protocol/restoration";
import type { ChatAnswer, NameTable } from "../protocol/wire";
import type { Turn } from "../shared/stored_types";
import { ask, current, live } from "./asking";
import { offeredBy } from "./sentences";

/** So many fit beside one another below an answer. */
const MOST = 2;

interface Props {
  turn: Turn;
  reply: ChatAnswer;
  table: NameTable;
  isLast: boolean;
}

/**
 * Questions to go on with, to ask by a click; none that the conversation has offered or asked before. They stay when the
 * dialogue has gone on, so that nothing moves; then those that name nothing ("Where do they live?") can't be asked any
 * more.
 */
export function NextQuestions({ turn, reply, table, isLast }: Props) {
  const turns = current.value.turns;
  const before = turns.slice(0, Math.max(0, turns.findIndex((each) => each.id === turn.id) + 1));
  const known = new Set(before.map((each) => folded(each.sent)));
  for (const each of before.slice(0, -1)) {
    for (const offered of each.reply === null ? [] : offeredBy(each.reply)) {
      known.add(folded(offered));
    }
  }
  const questions = offeredBy(reply)
    .filter((each) => !known.has(folded(each)))
    .map((each) => {
      const segments = segmentsOf(each, table);
      return { text: joined(segments), hasName: !reply.answered || segments.some((segment) => segment.pseudonym !== null) };
    })
    .filter(({ text }) => !known.has(folded(text)))
    .slice(0, MOST);
  if (questions.length === 0) {
    return null;
  }
  return (
    <fieldset class="next" disabled={live.value !== null}>
      <legend class="hidden">You could ask next</legend>
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

function folded(question: string): string {
  return question.toLowerCase().replace(/\s+/g, " ").trim();
}
