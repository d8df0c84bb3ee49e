import { useState } from "preact/hooks";
import { hrefOfThing } from "../browse/place";
import { isInspectable } from "../shared/session";
import type { Item, NameTable } from "../protocol/wire";

const SHOWN = 12;

/** The parts of the answer, a chip for each name; of many names the first, until all are wanted. */
export function Chips({ entities, table, conversation }: { entities: readonly Item[]; table: NameTable; conversation: string }) {
  const [showsAll, setShowsAll] = useState(false);
  const all = entities
    .filter((item) => item.kind === "entity" || item.kind === "set")
    .flatMap((item) => (table.get(item.pseudonym)?.names ?? []).map((name) => ({ name, concept: item.concept, thing: item.pseudonym })));
  if (all.length === 0) {
    return null;
  }
  const shown = showsAll ? all : all.slice(0, SHOWN);
  return (
    <ul class="chips" aria-label="Named in the answer">
      {shown.map(({ name, concept, thing }, at) => (
        <li key={at} class="chip">
          {isInspectable.value ? <a href={hrefOfThing(thing, conversation)}>{name}</a> : name} <span class="chip-kind">{concept}</span>
        </li>
      ))}
      {all.length > shown.length && (
        <li>
          <button type="button" class="chip chip-more" onClick={() => setShowsAll(true)}>
            {all.length - shown.length} more
          </button>
        </li>
      )}
    </ul>
  );
}
