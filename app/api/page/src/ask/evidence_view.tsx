import { useState } from "preact/hooks";
import { inShort, segmentsOf } from "../protocol/restoration";
import type { ChatAnswer, NameTable } from "../protocol/wire";
import { type Row, rowsOf } from "./evidence";
import { EvidencePicture } from "./evidence_picture";
import { NamedText } from "./named_text";

/** What the answer rests on: facts as a picture and as a table of the same, and how it was worked out of them. */
export function Evidence({ reply, table }: { reply: ChatAnswer; table: NameTable }) {
  const [kind, setKind] = useState<"picture" | "table">("picture");
  const facts = reply.evidence;
  return (
    <div class="evidence" role="group" aria-label="Evidence">
      {facts.length > 0 && (
        <div class="segments" role="group" aria-label="Show the evidence as">
          <button type="button" aria-pressed={kind === "picture"} onClick={() => setKind("picture")}>Picture</button>
          <button type="button" aria-pressed={kind === "table"} onClick={() => setKind("table")}>Table</button>
        </div>
      )}
      {facts.length > 0 && (kind === "picture" ? <EvidencePicture facts={facts} table={table} /> : <EvidenceTable rows={rowsOf(facts, table)} />)}
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

function EvidenceTable({ rows }: { rows: readonly Row[] }) {
  return (
    <div class="table-scroll" tabIndex={0} role="group" aria-label="Evidence as a table">
      <table>
        <thead>
          <tr><th scope="col">From</th><th scope="col">Relation</th><th scope="col">To</th><th scope="col">Leads to the answer</th></tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at} class={row.cited ? "" : "uncited"}>
              <td>{row.head} <span class="quiet">{row.headConcept}</span></td>
              <td>{row.isBackward ? `← ${row.relation}` : `${row.relation} →`}</td>
              <td>{row.tail} <span class="quiet">{row.tailConcept}</span></td>
              <td>{row.cited ? "yes" : "also found"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
