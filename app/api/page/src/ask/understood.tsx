import { shown } from "../protocol/restoration";
import type { ChatAnswer, NameTable } from "../protocol/wire";

/** Of a question without an answer: which of its words were known, and what can be done. */
export function Understood({ reply, table }: { reply: ChatAnswer; table: NameTable }) {
  if (reply.ambiguous.length > 0 || reply.did_you_mean?.length > 0) {
    return null;
  }
  const named = reply.understood.map(({ pseudonym, concept }) => {
    const names = table.get(pseudonym);
    return { name: names === undefined ? "" : shown(names), concept };
  });
  const known = named.filter((each) => each.name !== "");
  return (
    <div class="note understood">
      {known.length > 0 && (
        <p>
          Understood:{" "}
          {known.map(({ name, concept }, at) => (
            <span key={at}>{at > 0 && ", "}<b class="name">{name}</b> <span class="quiet">{concept}</span></span>
          ))}
        </p>
      )}
      {named.length === 0 && <p>No name of this graph was found in the question.</p>}
      <p class="quiet">Ask in other words, or with a name as the graph has it.</p>
    </div>
  );
}
