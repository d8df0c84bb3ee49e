import { useState } from "preact/hooks";
import { joined, segmentsOf } from "../protocol/restoration";
import type { ChatAnswer, NameTable } from "../protocol/wire";
import { askAgain, live } from "./asking";

const MOST = 12;

/** The words that public facts were looked for by: a click takes one away, the box adds one, and the turn is asked anew. */
export function LookedFor({ reply, table }: { reply: ChatAnswer; table: NameTable }) {
  const [added, setAdded] = useState("");
  if (!reply.looked_for?.length) {
    return null; // Answers that were kept by an earlier version have none.
  }
  const words = reply.looked_for.map((each) => joined(segmentsOf(each, table)));
  const add = (event: Event) => {
    event.preventDefault();
    if (added.trim() !== "") {
      void askAgain([...new Set([...words, added.trim()])]);
    }
  };
  return (
    <fieldset class="looked-for" disabled={live.value !== null}>
      <legend>Looked for public facts about</legend>
      <div class="choices">
        {words.map((word) => (
          <button
            type="button"
            key={word}
            aria-label={`Leave out ${word}`}
            disabled={words.length === 1}
            onClick={() => void askAgain(words.filter((other) => other !== word))}
          >
            {word} <span aria-hidden="true">×</span>
          </button>
        ))}
        {words.length < MOST && (
          <form class="row" onSubmit={add}>
            <input
              type="text"
              aria-label="Look for something else too"
              placeholder="something else"
              maxLength={60}
              value={added}
              onInput={(event) => setAdded(event.currentTarget.value)}
            />
            <button type="submit">Add</button>
          </form>
        )}
      </div>
    </fieldset>
  );
}
