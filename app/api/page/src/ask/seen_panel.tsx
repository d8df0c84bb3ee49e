/** Beside an answer: each prompt as it left, its pseudonyms marked, their names shown on this machine alone. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { ArogError } from "../protocol/errors";
import { readablePayload } from "../protocol/trace";
import type { ChatAnswer, NameTable } from "../protocol/wire";
import { ErrorNote } from "../shared/components/error_note";
import { told } from "../shared/service";
import { session } from "../shared/session";
import { MarkedText, NameTip } from "./marked_text";
import { type Seen, type SeenCall, seenFor } from "./seen";

interface Props {
  reply: ChatAnswer;
  onClose: () => void;
}

export function SeenPanel({ reply, onClose }: Props) {
  const [seen, setSeen] = useState<Seen | null>(null);
  const [problem, setProblem] = useState<ArogError | null>(null);
  const [showsNames, setShowsNames] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    let isShown = true;
    setSeen(null);
    setProblem(null);
    const now = session.value;
    if (now !== null) {
      seenFor(reply, now)
        .then((found) => isShown && setSeen(found))
        .catch((raised: unknown) => isShown && setProblem(told(raised)));
    }
    return () => {
      isShown = false;
    };
  }, [reply.id]);
  useEffect(() => {
    const before = document.activeElement;
    heading.current?.focus();
    return () => before instanceof HTMLElement && before.focus();
  }, []);
  return (
    <aside
      class="seen"
      aria-labelledby="seen-title"
      onKeyDown={(event) => {
        if (event.key === "Escape") {
          onClose();
        }
      }}
    >
      <header class="dialog-head">
        <h2 id="seen-title" ref={heading} tabIndex={-1}>What the model saw</h2>
        <button type="button" class="plain" aria-label="Close" onClick={onClose}>✕</button>
      </header>
      {problem && <ErrorNote problem={problem} />}
      {seen === null && problem === null && <p class="quiet" role="status">Opening …</p>}
      {seen !== null && (
        <>
          <p>{introOf(seen)}</p>
          <Figures reply={reply} />
          <div class="segments" role="group" aria-label="Show the prompts">
            <button type="button" aria-pressed={!showsNames} onClick={() => setShowsNames(false)}>In pseudonyms</button>
            <button type="button" aria-pressed={showsNames} onClick={() => setShowsNames(true)}>With names, here alone</button>
          </div>
          {!seen.hasAllNames && (
            <p class="quiet">
              Only names of this answer are known here, where a prompt has the same pseudonyms: for all others your key
              needs the grant to inspect.
            </p>
          )}
          {reply.usage.left_out.length > 0 && (
            <ul class="quiet">{reply.usage.left_out.map((each) => <li key={each}>{each}</li>)}</ul>
          )}
          <NameTip>
            {seen.calls.map((call, at) => (
              <Call key={at} call={call} number={at + 1} table={seen.table} showsNames={showsNames} isOpen={at === 0} />
            ))}
          </NameTip>
        </>
      )}
    </aside>
  );
}

function introOf(seen: Seen): string {
  const prompts = seen.calls.length === 1 ? "This prompt" : `These ${seen.calls.length} prompts`;
  if (seen.reasoner === "embedded") {
    return `${prompts} went to the reasoner inside the service, which sees what a language model would: pseudonyms, relations and kinds. Nothing left the machine.`;
  }
  return `${prompts} left for the language model. Point at a marked word, or go to it with the arrow keys, to see whom it stands for.`;
}

function Figures({ reply }: { reply: ChatAnswer }) {
  const { usage } = reply;
  const milliseconds = [...usage.milliseconds.values()].reduce((sum, each) => sum + each, 0);
  const figures: [string, string | null][] = [
    ["Calls", String(usage.calls)],
    ["Steps", String(usage.rounds)],
    ["Tokens sent", usage.prompt_tokens > 0 ? usage.prompt_tokens.toLocaleString() : null],
    ["Tokens back", usage.prompt_tokens > 0 ? usage.completion_tokens.toLocaleString() : null],
    ["Cost", usage.cost === null ? null : `${usage.cost.toFixed(4)} ${usage.currency}`],
    ["Time", `${(milliseconds / 1000).toFixed(1)} s`],
    ["Hidden among", usage.anonymity === null ? null : thingsOf(usage.anonymity)],
    // They would have shown too much: the service took the steps itself.
    ["Prompts not sent", usage.withheld > 0 ? String(usage.withheld) : null],
  ];
  return (
    <dl class="seen-figures">
      {figures.filter(([, value]) => value !== null).map(([title, value]) => <div key={title}><dt>{title}</dt><dd>{value}</dd></div>)}
    </dl>
  );
}

/** How many things of the graph a prompt's description fits: the more, the less it tells. */
function thingsOf(anonymity: number): string {
  return anonymity === 1 ? "1 thing" : `${anonymity.toLocaleString()} things`;
}

const OUTCOMES = new Map([
  ["unusable", "the reply broke its rules"],
  ["blocked", "the guard stopped it: nothing was sent"],
  ["none", "nothing came back"],
]);

interface CallProps {
  call: SeenCall;
  number: number;
  table: NameTable;
  showsNames: boolean;
  isOpen: boolean;
}

function Call({ call, number, table, showsNames, isOpen }: CallProps) {
  const outcome = OUTCOMES.get(call.outcome);
  return (
    <details class="call" open={isOpen}>
      <summary>
        <span class="call-title">Prompt {number}</span>
        <span class="quiet">
          {[
            call.step,
            call.bytes === null ? "" : `${(call.bytes / 1000).toFixed(1)} kB`,
            call.anonymity === null ? "" : `hidden among ${thingsOf(call.anonymity)}`,
            outcome ?? "",
          ].filter(Boolean).join(" · ")}
        </span>
      </summary>
      {call.prompt === null && call.outcome !== "blocked" && <p class="quiet">It is no longer kept.</p>}
      {call.prompt !== null && readablePayload(call.prompt).filter((part) => !isNothing(part.text)).map((part, at) => (
        <Part key={at} title={part.title} text={part.text} table={table} showsNames={showsNames} />
      ))}
      {call.reply !== null && <h3 class="call-reply">Its reply</h3>}
      {call.reply !== null && readablePayload(call.reply).filter((part) => !isNothing(part.text)).map((part, at) => (
        <Part key={at} title={part.title} text={part.text} table={table} showsNames={showsNames} />
      ))}
      {call.digest && (
        <p class="quiet digest">
          SHA-256 <code>{call.digest.slice(0, 16)}…</code> {call.fits ? "matches the ledger: this is what was recorded." : "of the ledger."}
        </p>
      )}
    </details>
  );
}

function isNothing(words: string): boolean {
  return words === "" || words === "[]" || words === "null";
}

function Part({ title, text, table, showsNames }: { title: string; text: string; table: NameTable; showsNames: boolean }) {
  return (
    <div class="part">
      {title && <h3 class="part-title">{title.replaceAll("_", " ")}</h3>}
      <pre><MarkedText text={text} table={table} showsNames={showsNames} /></pre>
    </div>
  );
}
