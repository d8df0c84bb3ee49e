import { useState } from "preact/hooks";
import { offerFile } from "../shared/saving";
import { type Order, type Table, asCsv, copied, numberOf, sorted, titleOf } from "./answer_table";

/** An answer of several columns: a table that is sorted by its heads. */
export function AnswerTable({ table }: { table: Table }) {
  const [order, setOrder] = useState<Order | null>(null);
  const sortBy = (column: number) =>
    setOrder(order?.column === column ? (order.descending ? null : { column, descending: true }) : { column, descending: false });
  return (
    <div class="answer-table" role="group" aria-label="The answer as a table">
      <div class="table-scroll" tabIndex={0} role="group" aria-label={`Table of ${titleOf(table)}`}>
        <table>
          <thead>
            <tr>
              {table.columns.map((title, column) => (
                <th key={title} scope="col" aria-sort={sortOf(order, column)}>
                  <button type="button" class="plain sort" onClick={() => sortBy(column)}>
                    {title}<span aria-hidden="true">{markOf(order, column)}</span>
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted(table.rows, order).map((row, at) => (
              <tr key={at}>
                {row.map((cell, column) => <td key={column} class={Number.isNaN(numberOf(cell)) ? undefined : "number"}>{cell}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {table.more > 0 && <p class="quiet">And {table.more} more. Settings say how many names are sent.</p>}
      <TakeOut table={table} />
    </div>
  );
}

function sortOf(order: Order | null, column: number): "ascending" | "descending" | "none" {
  if (order?.column !== column) {
    return "none";
  }
  return order.descending ? "descending" : "ascending";
}

function markOf(order: Order | null, column: number): string {
  return order?.column !== column ? " ↕" : order.descending ? " ↓" : " ↑";
}

/** Takes an answer's rows out of the page: to the clipboard, or as a file. */
function TakeOut({ table }: { table: Table }) {
  const [isCopied, setCopied] = useState(false);
  const copy = () => navigator.clipboard.writeText(copied(table)).then(() => setCopied(true), () => setCopied(false));
  return (
    <p class="row">
      <button type="button" class="small" onClick={() => void copy()}>{isCopied ? "Rows copied" : "Copy rows"}</button>
      <button type="button" class="small" onClick={() => offerFile("answer.csv", "text/csv", asCsv(table))}>CSV</button>
    </p>
  );
}
