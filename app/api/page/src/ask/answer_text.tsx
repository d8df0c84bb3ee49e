import { segmentsOf } from "../protocol/restoration";
import type { ChatAnswer, NameTable } from "../protocol/wire";
import { NamedText } from "./named_text";
import { type Mark, markedSentences, numbersOf, partsOf, amendmentsOf, sentenceOf } from "./sentences";

interface Props {
  reply: ChatAnswer;
  table: NameTable;
  /** What is marked now, and which sentence or fact was chosen. */
  mark: Mark;
  chosen: Mark;
  onHover: (mark: Mark) => void;
  onChoose: (mark: Mark) => void;
  /** When all of many names are wanted. */
  onMore: () => void;
}

/** The text of an answer. Sentences that facts carry show these when they are pointed at, stepped to or chosen. */
export function AnswerText({ reply, table, mark, chosen, onHover, onChoose, onMore }: Props) {
  const links = { reply, table, onMore };
  const parts = partsOf(reply, table);
  const marked = markedSentences(reply, mark);
  return (
    <>
      <p class="answer-text">
        {parts === null && <NamedText segments={segmentsOf(sentenceOf(reply), table)} links={links} />}
        {parts?.map(({ segments, sentence, facts }, at) => {
          if (sentence === null || facts.length === 0) {
            return <NamedText key={at} segments={segments} links={links} />;
          }
          const own: Mark = { kind: "sentence", at: sentence };
          const isChosen = chosen?.kind === "sentence" && chosen.at === sentence;
          return (
            <span
              key={at}
              class={marked.has(sentence) ? "sentence sentence-marked" : "sentence"}
              onMouseEnter={() => onHover(own)}
              onMouseLeave={() => onHover(null)}
              onClick={() => onChoose(isChosen ? null : own)}
            >
              <NamedText segments={segments} links={links} />
              <button
                type="button"
                class="footnote"
                aria-pressed={isChosen}
                aria-label={`Show the ${facts.length === 1 ? "fact that carries" : "facts that carry"} this sentence: ${numbersOf(facts)}`}
                onFocus={() => onHover(own)}
                onBlur={() => onHover(null)}
              >
                {numbersOf(facts)}
              </button>
            </span>
          );
        })}
      </p>
      {amendmentsOf(reply).map((amendment) => (
        <p key={amendment} class="quiet removed">
          {amendment}
        </p>
      ))}
    </>
  );
}
