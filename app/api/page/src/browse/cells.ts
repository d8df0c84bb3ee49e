/** The words of a table: heads, cells and kinds as its owner calls them, and the file that they make. */

import type { Table } from "../ask/answer_table";
import { shown } from "../protocol/restoration";
import type { ExcerptThing, NameTable, TableCell, TableColumn } from "../protocol/wire";
import { countOf, plural } from "../shared/plurals";
import type { OpenedTable } from "./excerpt";

const BACKWARDS = "^";
const TRUTHS = new Map([["true", "yes"], ["false", "no"]]);

/** A kind in its own words, where it came as an opaque word; of several the first. */
export function kindWords(kind: string, names: NameTable): string {
  const [first = kind] = kind.split(", ");
  return ownWords(first, names);
}

/** A kind as the title of its things: `patients`. */
export function kindTitle(kind: string, things: number, names: NameTable): string {
  const words = kindWords(kind, names);
  return things === 1 ? words : plural(words);
}

function ownWords(word: string, names: NameTable): string {
  const held = names.get(word);
  return held === undefined ? word : shown(held);
}

/** What stands at a column's head; `note` says by which relation other things lead here. */
export function headOf(column: TableColumn, names: NameTable): { words: string; note: string } {
  const relation = ownWords(column.column.replace(BACKWARDS, ""), names);
  if (!column.column.startsWith(BACKWARDS)) {
    return { words: relation, note: "" };
  }
  const kind = kindWords(column.leads_to, names);
  return { words: column.counted ? plural(kind) : kind, note: kind === relation ? "" : `← ${relation}` };
}

/** A thing or value by its name. What has none is called by its kind. */
export function nameOf(thing: ExcerptThing, names: NameTable, column?: TableColumn): string {
  const held = names.get(thing.pseudonym);
  if (held === undefined || held.names.length === 0) {
    return `${kindWords(thing.concept, names) || "thing"} without a name`;
  }
  const words = shown(held);
  return column?.value_kind === "truth" ? (TRUTHS.get(words) ?? words) : words;
}

/** All of a cell that was sent, as text. */
export function textOf(cell: TableCell, column: TableColumn, names: NameTable): string {
  if (column.counted) {
    return String(cell.total);
  }
  const more = cell.total - cell.ends.length;
  const listed = cell.ends.map((end) => nameOf(end, names, column));
  return [...listed, ...(more > 0 ? [`${more} more`] : [])].join("; ");
}

/** What is shown, as rows of text. */
export function rowsOf({ table, names }: OpenedTable): Table {
  const heads = table.columns.map((each) => {
    const { words, note } = headOf(each, names);
    return note ? `${words} (${note})` : words;
  });
  const rows = table.rows.map((row) => {
    const cells = row.cells.map((cell, at) => {
      const column = table.columns[at];
      return column === undefined ? "" : textOf(cell, column, names);
    });
    return table.named ? [nameOf(row.thing, names), ...cells] : cells;
  });
  return { columns: table.named ? ["name", ...heads] : heads, rows, more: 0 };
}

/** `12 of 120 members`, `120 members`. */
export function countWords({ table, names }: OpenedTable, isNarrowed: boolean): string {
  const kind = kindWords(table.kind ?? "", names);
  const all = table.kinds.find((each) => each.kind === table.kind)?.things ?? table.total;
  return isNarrowed ? `${table.total.toLocaleString("en")} of ${countOf(all, kind)}` : countOf(table.total, kind);
}
