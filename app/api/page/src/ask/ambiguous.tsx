import type { ChatAnswer, NameTable } from "../protocol/wire";
import { ask, live } from "./asking";
import { questionsOf } from "./readings";

/** What a name may mean, to choose by a click. What is sent is the choice's place: no name travels. */
export function Ambiguous({ reply, table }: { reply: ChatAnswer; table: NameTable }) {
  return (
    <>
      {questionsOf(reply, table).map(({ mention, choices, more }, at) => (
        <fieldset class="ambiguous" key={at} disabled={live.value !== null}>
          <legend>Which {mention} do you mean?</legend>
          <div class="choices">
            {choices.map(({ name, hint, sent }) => (
              <button
                type="button"
                key={sent}
                onClick={() => void ask(hint ? `${name} (${hint})` : `${name}: ${sent}`, sent)}
              >
                <span>{name}</span>
                {hint && <span class="quiet">{hint}</span>}
              </button>
            ))}
          </div>
          {more > 0 && <p class="quiet">And {more} more: ask with a fuller name.</p>}
        </fieldset>
      ))}
    </>
  );
}
