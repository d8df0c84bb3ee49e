/** The ledger: what the model was sent for questions of this tenant, and whether the record is whole. */

import { useState } from "preact/hooks";
import { readablePayload } from "../../protocol/trace";
import { type LedgerRow, ledgerPageOf } from "../../protocol/wire";
import { ErrorNote } from "../../shared/components/error_note";
import { service, useAsked, useDoing } from "../asked";
import { offerFile } from "../../shared/saving";
import { type LedgerCheck, ledgerCheckOf } from "../wire";
import { bytes, count, counted, time } from "../words";

const FIRST = 50;
const MOST = 1000;
const MOST_FINDINGS = 100;

export function LedgerView() {
  const [limit, setLimit] = useState(FIRST);
  const page = useAsked(`/ledger?limit=${limit}`, ledgerPageOf);
  const entries = page.value?.entries ?? [];
  return (
    <>
      <h1>Ledger</h1>
      <p class="lead">Every request to the model is written down before it is sent; who changes that later is found out.</p>
      <Verification />
      <header class="owner-head">
        <h2>What the model was sent</h2>
        <button type="button" onClick={page.again}>Load again</button>
      </header>
      {page.problem && <ErrorNote problem={page.problem} />}
      {page.value && entries.length === 0 && (
        <p class="quiet">Nothing yet: nobody has asked.</p>
      )}
      <ul class="ledger">
        {entries.map((row) => <li key={row.id}><Entry row={row} /></li>)}
      </ul>
      {entries.length === limit && limit < MOST && (
        <p><button type="button" onClick={() => setLimit(Math.min(MOST, limit * 4))}>Show more</button></p>
      )}
    </>
  );
}

function Verification() {
  const [checked, setChecked] = useState<LedgerCheck | null>(null);
  const [rowsRead, setRowsRead] = useState(0);
  const [withTexts, setWithTexts] = useState(false);
  const { isBusy, problem, attempt } = useDoing();
  const check = () =>
    attempt(async () => {
      setChecked(null);
      setRowsRead(0);
      setChecked(await wholeCheck(setRowsRead));
    });
  const save = () => attempt(() => exported(withTexts));
  return (
    <section class="card">
      <h2>Is it whole?</h2>
      <p class="quiet">
        Each row holds a digest of the one before it, and the end is signed every hour. A row that was changed, deleted,
        added or moved is reported.
      </p>
      <p class="row">
        <button type="button" class="primary" disabled={isBusy} onClick={check}>{isBusy ? "Working …" : "Check it"}</button>
        <button type="button" disabled={isBusy} onClick={save}>Export</button>
        <label class="check quiet">
          <input type="checkbox" checked={withTexts} onChange={(event) => setWithTexts(event.currentTarget.checked)} />
          <span>with what was sent and replied, in pseudonyms</span>
        </label>
      </p>
      {isBusy && rowsRead > 0 && <p class="quiet" role="status">{counted(rowsRead, "row")} checked so far.</p>}
      {problem && <ErrorNote problem={problem} />}
      {checked && <Outcome checked={checked} />}
    </section>
  );
}

function Outcome({ checked }: { checked: LedgerCheck }) {
  const rows = checked.rows === 0 ? "No rows yet" : `Rows ${count(checked.first)} to ${count(checked.last)}`;
  const signed = counted(checked.checkpoints, "checkpoint");
  return (
    <div class={checked.is_whole ? "note note-good" : "note note-bad"} role={checked.is_whole ? "status" : "alert"}>
      <p class="note-title">
        {checked.is_whole ? "The ledger is whole." : `${counted(checked.wrong, "thing is", "things are")} wrong.`}
      </p>
      <p>{rows}, {signed}.</p>
      {checked.findings.length > 0 && (
        <ul class="warnings">{checked.findings.map((finding) => <li key={finding}>{finding}</li>)}</ul>
      )}
      {checked.findings.length < checked.wrong && <p>And {count(checked.wrong - checked.findings.length)} more.</p>}
      {checked.remarks.map((remark) => <p key={remark}>{remark}</p>)}
      <p class="quiet">
        Signed with <code>{checked.key.slice(0, 16)}…</code>. A database that was set back as a whole is found only by a
        checkpoint kept elsewhere: keep an export.
      </p>
    </div>
  );
}

function Entry({ row }: { row: LedgerRow }) {
  const isBlocked = row.verdict === "blocked";
  return (
    <details class="entry">
      <summary>
        <span class={isBlocked ? "tag tag-bad" : "tag"}>{isBlocked ? "blocked" : row.step}</span>
        <span>{time(row.at)}</span>
        <span>{row.graph ?? "a graph no longer kept"}</span>
        <span class="quiet">{row.key_id === "suggestions" ? "the service, for suggestions" : row.asker || row.key_id}</span>
        <span class="quiet">{bytes(row.size)}</span>
        <span class="grow" />
        <code>{row.digest.slice(0, 12)}</code>
      </summary>
      <p class="quiet">Answer <code>{row.answer}</code>, SHA-256 <code>{row.digest}</code></p>
      {row.payload === null ? (
        <p class="quiet">{isBlocked ? "The guard stopped it: it was not sent, and its text is not kept." : "Its text is not kept any more."}</p>
      ) : (
        readablePayload(row.payload).map((part, at) => (
          <section key={at}>
            {part.title && <h3>{part.title}</h3>}
            <pre class="payload" tabIndex={0}>{part.text}</pre>
          </section>
        ))
      )}
    </details>
  );
}

/** The check of all rows, which the service makes some thousand at a time. Raises ArogError. */
async function wholeCheck(onRows: (rows: number) => void): Promise<LedgerCheck> {
  const findings: string[] = [];
  let path = "/admin/ledger/check";
  for (;;) {
    const checked = await service().ask(path, ledgerCheckOf);
    findings.push(...checked.findings.slice(0, MOST_FINDINGS - findings.length));
    if (checked.cursor === null) {
      return { ...checked, findings };
    }
    onRows(checked.rows);
    path = `/admin/ledger/check?cursor=${encodeURIComponent(checked.cursor)}`;
  }
}

/** The whole ledger as a file of JSON lines, for `arog ledger verify --file`. Raises ArogError. */
async function exported(withTexts: boolean): Promise<void> {
  const path = `/admin/ledger/export?payloads=${withTexts}`;
  const reply = await service().send(path, { method: "POST" }, "application/x-ndjson");
  offerFile("ledger.jsonl", "application/x-ndjson", await reply.blob());
}
