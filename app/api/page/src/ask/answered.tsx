import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { inShort, segmentsOf } from "../protocol/restoration";
import type { ChatAnswer, NameTable } from "../protocol/wire";
import { ErrorNote } from "../shared/components/error_note";
import type { Turn } from "../shared/stored_types";
import { Ambiguous } from "./ambiguous";
import { AnswerText } from "./answer_text";
import { listOf, tableOf } from "./answer_table";
import { AnswerTable, TakeOut } from "./answer_table_view";
import { askAgain, live } from "./asking";
import { Chips } from "./chips";
import { Evidence } from "./evidence_view";
import { NamedText } from "./named_text";
import { NextQuestions } from "./next_questions";
import { useNames } from "./opened";
import { pathLines } from "./path_line";
import { Rate } from "./rating";
import { wordsRead } from "./readings";
import type { Mark } from "./sentences";
import { Confidence } from "./confidence";
import { DidYouMean } from "./did_you_mean";
import { Understood } from "./understood";

/** The turn whose prompts are looked at, if any. */
export const seenTurn = signal<Turn | null>(null);

interface Props {
  turn: Turn;
  reply: ChatAnswer;
  isLast: boolean;
}

/** An answer with its names: its text, what it lists, what it asks back, and what lies behind it. */
export function Answered({ turn, reply, isLast }: Props) {
  const [showsEvidence, setShowsEvidence] = useState(true);
  const [hovered, setHovered] = useState<Mark>(null);
  const [chosen, setChosen] = useState<Mark>(null);
  const opened = useNames(reply);
  if (opened === null) {
    return <p class="answer-text" aria-busy="true" />;
  }
  const { table, problem } = opened;
  const tables = reply.entities.flatMap((item) => tableOf(item, table) ?? []);
  const list = tables[0] ?? listOf(reply.entities, table);
  const hasEvidence = reply.answered && (reply.evidence.length > 0 || reply.entities.length > 0);
  const choose = (mark: Mark) => {
    setChosen(mark);
    setShowsEvidence(showsEvidence || mark !== null);
  };
  const marking = { mark: hovered ?? chosen, chosen, onHover: setHovered, onChoose: choose };
  return (
    <>
      <AnswerText reply={reply} table={table} {...marking} />
      {problem && <ErrorNote problem={problem} />}
      {tables.map((each, at) => <AnswerTable key={at} table={each} />)}
      <Chips entities={reply.entities} table={table} conversation={reply.conversation} />
      <Path reply={reply} table={table} />
      <Confidence confidence={reply.confidence} />
      {!reply.grounded && <p class="quiet">Not all of this answer is in the evidence.</p>}
      <Remarks turn={turn} reply={reply} table={table} />
      {!reply.answered && <Understood reply={reply} table={table} />}
      {isLast && <DidYouMean reply={reply} table={table} />}
      {isLast && <Ambiguous reply={reply} table={table} />}
      <div class="row answer-bar">
        {hasEvidence && (
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
        {list !== null && <TakeOut table={list} />}
        {isLast && live.value === null && (
          <button type="button" class="small" onClick={() => void askAgain()}>Ask again</button>
        )}
      </div>
      <Rate turn={turn} reply={reply} />
      <NextQuestions reply={reply} table={table} isLast={isLast} />
      {hasEvidence && showsEvidence && <Evidence reply={reply} table={table} {...marking} />}
    </>
  );
}

/** How the answer was reached, in a line. */
function Path({ reply, table }: { reply: ChatAnswer; table: NameTable }) {
  const paths = pathLines(reply.evidence, table);
  const lines = paths.length > 0 ? paths : workedOut(reply, table);
  return lines.length === 0 ? null : <p class="quiet path-line">{lines.join(" · ")}</p>;
}

function workedOut(reply: ChatAnswer, table: NameTable): string[] {
  const short = inShort(table);
  return reply.worked_out.map((sentence) => segmentsOf(sentence, short).map((each) => each.text).join(""));
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
