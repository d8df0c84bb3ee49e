import { useEffect, useRef, useState } from "preact/hooks";
import type { Fact, NameTable } from "../protocol/wire";
import { EvidencePicture } from "./evidence_picture";
import { type Row, rowsOf } from "./evidence";

/** What the answer rests on, as a picture and as a table of the same. */
export function Evidence({ facts, table }: { facts: readonly Fact[]; table: NameTable }) {
  const [kind, setKind] = useState<"picture" | "table">("picture");
  const section = useRef<HTMLElement>(null);
  useEffect(() => section.current?.scrollIntoView({ block: "nearest" }), []);
  return (
    <section ref={section} class="evidence" aria-label="Evidence">
      <div class="segments" role="group" aria-label="Show the evidence as">
        <button type="button" aria-pressed={kind === "picture"} onClick={() => setKind("picture")}>Picture</button>
        <button type="button" aria-pressed={kind === "table"} onClick={() => setKind("table")}>Table</button>
      </div>
      {kind === "picture" ? <EvidencePicture facts={facts} table={table} /> : <EvidenceTable rows={rowsOf(facts, table)} />}
    </section>
  );
}

function EvidenceTable({ rows }: { rows: readonly Row[] }) {
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label="Evidence as a table">
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
              <td>{row.cited ? "yes" : "found on the way"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
