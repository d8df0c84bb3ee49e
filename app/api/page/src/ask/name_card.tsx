/** A name in an answer: a link that opens a small card, which says what it is and three facts. */

import { useRef, useState } from "preact/hooks";
import { kindWords } from "../browse/cells";
import { type Opened, useExcerpt } from "../browse/excerpt";
import { hrefOfThing } from "../browse/place";
import { restore, shown } from "../protocol/restoration";
import type { ChatAnswer, NameTable } from "../protocol/wire";
import { showBelow } from "../shared/components/popover";
import { isInspectable } from "../shared/session";
import { ask, live } from "./asking";

const FACTS = 3;
/** The first letter of a value's pseudonym. A value has no facts of its own. */
const VALUE = "V";

/** The kind of what a pseudonym stands for; null where it is a value, a number or nothing that the answer holds. */
export function kindOf(pseudonym: string, reply: ChatAnswer, names: NameTable): string | null {
  const kind = sealedKindOf(pseudonym, reply);
  return kind === null ? null : restore(kind, names);
}

/** The same with an opaque word in the place of a kind that is masked. */
function sealedKindOf(pseudonym: string, reply: ChatAnswer): string | null {
  if (pseudonym.startsWith(VALUE)) {
    return null;
  }
  const item = reply.entities.find((each) => each.pseudonym === pseudonym);
  if (item !== undefined) {
    return item.kind === "entity" || item.kind === "set" ? item.concept : null;
  }
  const [fact] = reply.evidence.filter((each) => each.head === pseudonym || each.tail === pseudonym);
  if (fact !== undefined) {
    return fact.head === pseudonym ? fact.head_concept : fact.tail_concept;
  }
  return reply.understood.find((each) => each.pseudonym === pseudonym)?.concept ?? null;
}

interface Props {
  name: string;
  kind: string;
  pseudonym: string;
  reply: ChatAnswer;
}

export function NameLink({ name, kind, pseudonym, reply }: Props) {
  const [isOpen, setOpen] = useState(false);
  const card = useRef<HTMLDivElement>(null);
  const link = useRef<HTMLButtonElement>(null);
  const open = () => {
    if (card.current !== null && link.current !== null) {
      showBelow(card.current, link.current);
    }
  };
  return (
    <>
      <button type="button" class="name name-link" ref={link} aria-expanded={isOpen} title={`It came as ${pseudonym}`} onClick={open}>
        {name}
      </button>
      <div
        ref={card}
        class="name-card"
        popover="auto"
        role="dialog"
        aria-label={name}
        onToggle={(event) => setOpen(event.newState === "open")}
      >
        {isOpen && <Card name={name} kind={kind} pseudonym={pseudonym} reply={reply} onLeave={() => card.current?.hidePopover()} />}
      </div>
    </>
  );
}

function Card({ name, kind, pseudonym, reply, onLeave }: Props & { onLeave: () => void }) {
  const conversation = reply.conversation;
  const whole = useExcerpt(reply.graph, isInspectable.value ? { thing: pseudonym, conversation } : null).found;
  const isOne = whole === null || whole.excerpt.total === 1;
  const member = isOne ? null : memberOf(whole, name);
  const own = useExcerpt(reply.graph, member === null ? null : { thing: member, conversation }).found;
  const found = isOne ? whole : own;
  const thing = isOne ? pseudonym : member;
  return (
    <>
      <p><b>{name}</b> <span class="quiet">{(found && kindWords(found.excerpt.things[0]?.concept ?? "", found.names)) || kind}</span></p>
      {isInspectable.value && (
        <dl class="card-facts">
          {found?.excerpt.facts.slice(0, FACTS).map((fact, at) => (
            <div key={at}>
              <dt>{fact.inverse ? "← " : ""}{wordsIn(found, fact.relation)}</dt>
              <dd>
                {fact.ends.slice(0, FACTS).map((end) => wordsIn(found, end.pseudonym)).join(", ")}
                {fact.total > FACTS && ` and ${fact.total - FACTS} more`}
              </dd>
            </div>
          ))}
        </dl>
      )}
      <p class="row">
        <button
          type="button"
          class="small"
          disabled={live.value !== null}
          onClick={() => {
            onLeave();
            void ask(`Tell me about ${name}.`);
          }}
        >
          Tell me more
        </button>
        {isInspectable.value && thing !== null && <a href={hrefOfThing(thing, conversation)}>All facts</a>}
      </p>
    </>
  );
}

/** The pseudonym of the member of a set that has this name. */
function memberOf({ excerpt, names }: Opened, name: string): string | null {
  return excerpt.things.find((each) => names.get(each.pseudonym)?.names.includes(name))?.pseudonym ?? null;
}

function wordsIn({ names }: Opened, pseudonym: string): string {
  const held = names.get(pseudonym);
  return held === undefined ? pseudonym : shown(held);
}
