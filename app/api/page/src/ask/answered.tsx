import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { joined, segmentsOf } from "../protocol/restoration";
import type { ChatAnswer, NameTable } from "../protocol/wire";
import { ErrorNote } from "../shared/components/error_note";
import type { Turn } from "../shared/stored_types";
import { Ambiguous } from "./ambiguous";
import { AnswerBar, type Open } from "./answer_bar";
import { AnswerText } from "./answer_text";
import { listOf, tableOf } from "./answer_table";
import { AnswerTable } from "./answer_table_view";
import { BarChart, isChart } from "./bar_chart";
import { ByLine } from "./by_line";
import { DidYouMean } from "./did_you_mean";
import { Evidence } from "./evidence_view";
import { LookedFor } from "./looked_for";
import { NamedText } from "./named_text";
import { NextQuestions } from "./next_questions";
import { useNames } from "./opened";
import { useRater } from "./rating";
import { wordsRead } from "./readings";
import { type Mark, sentenceOf } from "./sentences";

/** The turn whose prompts are looked at, if any. */
export const seenTurn = signal<Turn | null>(null);

interface Props {
  turn: Turn;
  reply: ChatAnswer;
  isLast: boolean;
}

/** An answer with its names: its sentence, one line of how it came about, a row of icons, and what these open. */
export function Answered({ turn, reply, isLast }: Props) {
  const [open, setOpen] = useState<Open | "unchosen">("unchosen");
  const [hovered, setHovered] = useState<Mark>(null);
  const [chosen, setChosen] = useState<Mark>(null);
  const rater = useRater(turn, reply);
  const opened = useNames(reply);
  if (opened === null) {
    return <p class="answer-text" aria-busy="true" />;
  }
  const { table, problem } = opened;
  const tables = reply.entities.flatMap((item) => tableOf(item, table) ?? []);
  const charts = tables.filter(isChart);
  const list = tables.length > 0 ? null : listOf(reply.entities, table);
  const rows = list === null ? tables : [list];
  const hasEvidence = reply.answered && (reply.evidence.length > 0 || reply.entities.length > 0);
  // Rows that no chart shows are the answer itself.
  const shows: Open = open === "unchosen" ? (tables.length > charts.length ? "table" : null) : open;
  const choose = (mark: Mark) => {
    setChosen(mark);
    setOpen(mark === null ? shows : "evidence");
  };
  const marking = { mark: hovered ?? chosen, chosen, onHover: setHovered, onChoose: choose };
  const text = joined(segmentsOf(sentenceOf(reply), table));
  return (
    <>
      <AnswerText reply={reply} table={table} onMore={() => setOpen("table")} {...marking} />
      {problem && <ErrorNote problem={problem} />}
      {charts.map((each, at) => <BarChart key={at} table={each} />)}
      <ByLine reply={reply} table={table} />
      <Remarks turn={turn} reply={reply} table={table} />
      {isLast && <LookedFor reply={reply} table={table} />}
      {isLast && <DidYouMean reply={reply} table={table} />}
      {isLast && <Ambiguous reply={reply} table={table} />}
      <AnswerBar
        turn={turn}
        reply={reply}
        isLast={isLast}
        text={text}
        has={{ evidence: hasEvidence, table: rows.length > 0 }}
        open={shows}
        onOpen={setOpen}
        rater={rater}
      />
      {shows === "table" && rows.map((each, at) => <AnswerTable key={at} table={each} />)}
      {hasEvidence && shows === "evidence" && <Evidence reply={reply} table={table} {...marking} />}
      <NextQuestions turn={turn} reply={reply} table={table} isLast={isLast} />
    </>
  );
}

/** How names were read that the question spells otherwise, and the service's own notes. */
function Remarks({ turn, reply, table }: { turn: Turn; reply: ChatAnswer; table: NameTable }) {
  const read = wordsRead(turn.sent, reply, table);
  const isWhole = reply.grounded || !reply.answered;
  if (read.length === 0 && reply.notes.length === 0 && isWhole) {
    return null;
  }
  return (
    <ul class="remarks quiet">
      {!isWhole && <li>Not all of this answer is in the evidence.</li>}
      {read.map(({ typed, name }) => <li key={typed}>“{typed}” was read as <b class="name">{name}</b>.</li>)}
      {reply.notes.map((note) => <li key={note}><NamedText segments={segmentsOf(note, table)} /></li>)}
    </ul>
  );
}
