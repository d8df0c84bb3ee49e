import { useState } from "preact/hooks";
import { inShort, segmentsOf } from "../protocol/restoration";
import type { ChatAnswer, NameTable } from "../protocol/wire";
import { type Row, rowsOf } from "./evidence";
import { EvidencePicture } from "./evidence_picture";
import { NamedText } from "./named_text";
import { hasCarriers, type Mark, markedFacts, sentencesOf } from "./sentences";

interface Props {
  reply: ChatAnswer;
  table: NameTable;
  /** What is marked now, and which sentence or fact was chosen. */
  mark: Mark;
  chosen: Mark;
  onHover: (mark: Mark) => void;
  onChoose: (mark: Mark) => void;
}

/** What the answer rests on: facts as a picture and as a table of the same, and how it was worked out of them. */
export function Evidence({ reply, table, ...marking }: Props) {
  // Sentences lean on facts by their numbers, which the table has.
  const [kind, setKind] = useState<"picture" | "table">(hasCarriers(reply) ? "table" : "picture");
  const facts = reply.evidence;
  return (
    <div class="evidence" role="group" aria-label="Evidence">
      {facts.length > 0 && (
        <div class="segments" role="group" aria-label="Show the evidence as">
          <button type="button" aria-pressed={kind === "picture"} onClick={() => setKind("picture")}>Picture</button>
          <button type="button" aria-pressed={kind === "table"} onClick={() => setKind("table")}>Table</button>
        </div>
      )}
      {facts.length > 0 && kind === "picture" && (
        <EvidencePicture facts={facts} table={table} marked={markedFacts(reply, marking.mark)} onHover={marking.onHover} />
      )}
      {facts.length > 0 && kind === "table" && <EvidenceTable reply={reply} rows={rowsOf(facts, table)} {...marking} />}
      <WorkedOut reply={reply} table={table} />
    </div>
  );
}

function WorkedOut({ reply, table }: { reply: ChatAnswer; table: NameTable }) {
  const short = inShort(table);
  if (reply.worked_out.length === 0 && reply.evidence.length > 0) {
    return null;
  }
  return (
    <ul class="worked-out">
      {reply.evidence.length > 0
        ? reply.worked_out.map((sentence) => <li key={sentence}><NamedText segments={segmentsOf(sentence, short)} /></li>)
        : <li>It rests on the values of all things of a kind: no path from one thing to another had to be followed.</li>}
    </ul>
  );
}

function EvidenceTable({ reply, rows, mark, chosen, onHover, onChoose }: Omit<Props, "table"> & { rows: readonly Row[] }) {
  const isNumbered = hasCarriers(reply);
  const marked = markedFacts(reply, mark);
  const classOf = (row: Row) => [row.cited ? "" : "uncited", marked.has(row.at) ? "fact-marked" : ""].filter(Boolean).join(" ");
  return (
    <div class="table-scroll" tabIndex={0} role="group" aria-label="Evidence as a table">
      <table>
        <thead>
          <tr>
            {isNumbered && <th scope="col">Fact</th>}
            <th scope="col">From</th><th scope="col">Relation</th><th scope="col">To</th><th scope="col">Leads to the answer</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={row.at}
              class={classOf(row)}
              onMouseEnter={() => onHover({ kind: "fact", at: row.at })}
              onMouseLeave={() => onHover(null)}
            >
              {isNumbered && <td><FactNumber reply={reply} at={row.at} chosen={chosen} onHover={onHover} onChoose={onChoose} /></td>}
              <td>{row.head} <span class="quiet">{row.headConcept}</span></td>
              <td>{row.isBackward ? `← ${row.relation}` : `${row.relation} →`}</td>
              <td>{row.tail} <span class="quiet">{row.tailConcept}</span></td>
              <td>{row.cited ? "yes" : "also found"}{row.from !== "" && <span class="quiet"> public, from {row.from}</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The number of a fact, by which the sentences that lean on it are shown. */
function FactNumber({ reply, at, chosen, onHover, onChoose }: Omit<Props, "table" | "mark"> & { at: number }) {
  const carried = sentencesOf(reply, at).length;
  if (carried === 0) {
    return <span class="quiet">{at + 1}</span>;
  }
  const own: Mark = { kind: "fact", at };
  const isChosen = chosen?.kind === "fact" && chosen.at === at;
  return (
    <button
      type="button"
      class="footnote"
      aria-pressed={isChosen}
      aria-label={`Fact ${at + 1}: show the ${carried === 1 ? "sentence that it carries" : `${carried} sentences that it carries`}`}
      onFocus={() => onHover(own)}
      onBlur={() => onHover(null)}
      onClick={() => onChoose(isChosen ? null : own)}
    >
      {at + 1}
    </button>
  );
}
