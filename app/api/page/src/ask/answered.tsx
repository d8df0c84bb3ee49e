import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { segmentsOf } from "../protocol/restoration";
import type { ChatAnswer, NameTable, Usage } from "../protocol/wire";
import { ErrorNote } from "../shared/components/error_note";
import { Ambiguous } from "./ambiguous";
import { askAgain, live } from "./asking";
import { Chips } from "./chips";
import type { Turn } from "../shared/stored_types";
import { Evidence } from "./evidence_view";
import { NamedText } from "./named_text";
import { useNames } from "./opened";
import { wordsRead } from "./readings";

/** The turn whose prompts are looked at, if any. */
export const seenTurn = signal<Turn | null>(null);

interface Props {
  turn: Turn;
  reply: ChatAnswer;
  isLast: boolean;
}

/** An answer with its names: its text, what it lists, what it asks back, and what lies behind it. */
export function Answered({ turn, reply, isLast }: Props) {
  const [showsEvidence, setShowsEvidence] = useState(false);
  const opened = useNames(reply);
  if (opened === null) {
    return <p class="answer-text" aria-busy="true" />;
  }
  const { table, problem } = opened;
  return (
    <>
      <p class="answer-text"><NamedText segments={segmentsOf(reply.message.content, table)} /></p>
      {problem && <ErrorNote problem={problem} />}
      <Chips entities={reply.entities} table={table} />
      {!reply.grounded && <p class="quiet">Not all of this answer is in the evidence.</p>}
      <Remarks turn={turn} reply={reply} table={table} />
      {isLast && <Ambiguous reply={reply} table={table} />}
      <div class="row answer-bar">
        {reply.evidence.length > 0 && (
          <button type="button" class="small" aria-expanded={showsEvidence} onClick={() => setShowsEvidence(!showsEvidence)}>
            Evidence
          </button>
        )}
        {reply.usage.calls > 0 && (
          <button
            type="button"
            class="small"
            aria-expanded={seenTurn.value?.id === turn.id}
            onClick={() => (seenTurn.value = seenTurn.value?.id === turn.id ? null : turn)}
          >
            What the model saw
          </button>
        )}
        {isLast && live.value === null && (
          <button type="button" class="small" onClick={() => void askAgain()}>Ask again</button>
        )}
        <span class="quiet">{usageWords(reply.usage)}</span>
      </div>
      {showsEvidence && <Evidence facts={reply.evidence} table={table} />}
    </>
  );
}

/** How names were read that the question spells otherwise, and the service's own notes. */
function Remarks({ turn, reply, table }: { turn: Turn; reply: ChatAnswer; table: NameTable }) {
  const read = wordsRead(turn.sent, reply, table);
  if (read.length === 0 && reply.notes.length === 0) {
    return null;
  }
  return (
    <ul class="remarks quiet">
      {read.map(({ typed, name }) => <li key={typed}>“{typed}” was read as <b class="name">{name}</b>.</li>)}
      {reply.notes.map((note) => <li key={note}><NamedText segments={segmentsOf(note, table)} /></li>)}
    </ul>
  );
}

function usageWords(usage: Usage): string {
  const milliseconds = [...usage.milliseconds.values()].reduce((sum, each) => sum + each, 0);
  const tokens = usage.prompt_tokens + usage.completion_tokens;
  const parts = [
    usage.calls === 1 ? "1 call" : `${usage.calls} calls`,
    tokens > 0 ? `${tokens.toLocaleString()} tokens` : "",
    milliseconds > 0 ? `${(milliseconds / 1000).toFixed(1)} s` : "",
    usage.cost !== null ? `${usage.cost.toFixed(4)} ${usage.currency}` : "",
  ];
  return parts.filter(Boolean).join(" · ");
}
