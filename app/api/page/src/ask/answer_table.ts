/** Answers as rows: what a table of them holds, in which order, and as a file. */

import { restore, shown } from "../protocol/restoration";
import type { Item, NameTable } from "../protocol/wire";

export interface Table {
  columns: string[];
  rows: string[][];
  /** Rows that were not sent. */
  more: number;
}

export interface Order {
  column: number;
  descending: boolean;
}

/** The rows of a table among the answer's parts, as columns; null for a part that is no table. */
export function tableOf(item: Item, names: NameTable): Table | null {
  const held = names.get(item.pseudonym);
  if (item.kind !== "table" || held === undefined) {
    return null;
  }
  const rows = held.names.map(columnsOf);
  const width = Math.max(...rows.map((row) => row.length), 1);
  const columns = width === 2 ? ["Name", "Count"] : ["Name", ...Array.from({ length: width - 1 }, (_each, at) => `Value ${at + 1}`)];
  return { columns, rows, more: Math.max(0, held.total - held.names.length) };
}

/** `Alder: 12` is two columns; what stands behind the last colon is the count. */
function columnsOf(line: string): string[] {
  const at = line.lastIndexOf(": ");
  return at < 0 ? [line] : [line.slice(0, at), line.slice(at + 2)];
}

/** The names of the answer with their kinds, as a table; null where there is one name or none. */
export function listOf(items: readonly Item[], names: NameTable): Table | null {
  const listed = items.filter((item) => item.kind === "entity" || item.kind === "set" || item.kind === "value");
  const rows = listed.flatMap((item) => (names.get(item.pseudonym)?.names ?? []).map((name) => [name, restore(item.concept, names)]));
  const more = listed.reduce((sum, item) => sum + Math.max(0, (names.get(item.pseudonym)?.total ?? 0) - (names.get(item.pseudonym)?.names.length ?? 0)), 0);
  return rows.length > 1 ? { columns: ["Name", "Kind"], rows, more } : null;
}

export function sorted(rows: readonly string[][], order: Order | null): string[][] {
  if (order === null) {
    return [...rows];
  }
  const sign = order.descending ? -1 : 1;
  return [...rows].sort((one, other) => sign * compared(one[order.column] ?? "", other[order.column] ?? ""));
}

const LETTERS = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

function compared(one: string, other: string): number {
  const [a, b] = [numberOf(one), numberOf(other)];
  return Number.isNaN(a) || Number.isNaN(b) ? LETTERS.compare(one, other) : a - b;
}

export function numberOf(words: string): number {
  return /^-?[\d,]*\.?\d+$/.test(words) ? Number(words.replaceAll(",", "")) : Number.NaN;
}

/** Rows with tabs between them, as spreadsheets paste them. */
export function copied({ columns, rows }: Table): string {
  return [columns, ...rows].map((row) => row.map((cell) => harmless(cell.replace(/[\t\r\n]+/g, " "))).join("\t")).join("\n");
}

/** As RFC 4180 writes it. */
export function asCsv({ columns, rows }: Table): string {
  const line = (row: readonly string[]) => row.map((cell) => quoted(harmless(cell))).join(",");
  return `${[columns, ...rows].map(line).join("\r\n")}\r\n`;
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** A cell that a spreadsheet would run as a formula begins with an apostrophe. */
function harmless(cell: string): string {
  return /^[=+\-@\t\r]/.test(cell) && Number.isNaN(numberOf(cell)) ? `'${cell}` : cell;
}

/** What a table says to those who can't see it. */
export function titleOf(table: Table): string {
  return shown({ names: table.columns, total: table.columns.length });
}
