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
  const questions = newIn(current.value.turns, turn.id).map((each) => {
    const segments = segmentsOf(each, table);
    return { text: joined(segments), hasName: !reply.answered || segments.some((segment) => segment.pseudonym !== null) };
  });
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

/** The questions that stand below a turn: of those offered with it the first that no turn so far has shown or asked. */
function newIn(turns: readonly Turn[], id: string): string[] {
  const known = new Set<string>();
  for (const each of turns) {
    known.add(folded(each.sent)).add(folded(each.typed));
    const shown = each.reply === null ? [] : offeredBy(each.reply).filter((offered) => !known.has(folded(offered))).slice(0, MOST);
    if (each.id === id) {
      return shown;
    }
    shown.forEach((offered) => known.add(folded(offered)));
  }
  return [];
}

function folded(question: string): string {
  return question.toLowerCase().replace(/\s+/g, " ").trim();
}
