/** The things of one kind as a table: sorted by its heads, filtered, in pages, and as a file. */

import type { TargetedEvent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { asCsv } from "../ask/answer_table";
import { count } from "../owner/words";
import type { NameTable, TableCell, TableColumn, TableRow } from "../protocol/wire";
import { ErrorNote } from "../shared/components/error_note";
import { Icon } from "../shared/components/icons";
import { offerFile } from "../shared/saving";
import { graph, session } from "../shared/session";
import { countWords, headOf, kindTitle, kindWords, nameOf, rowsOf, textOf } from "./cells";
import { ColumnFilter } from "./column_filter";
import { type OpenedTable, useTable } from "./excerpt";
import { memory } from "./memory";
import { hrefOfConcept, hrefOfThing } from "./place";
import { NAME, narrowed, PAGE, type Query, sortedBy, START, widened } from "./query";

/** Cells with more letters are cut to a few lines; a pointer shows all of them. */
const LONG = 90;

export function KindTable({ kind }: { kind: string }) {
  const [query, change] = useQuery(kind);
  const { found, problem, isBusy } = useTable(graph.value, kind, query);
  return (
    <>
      {found && <KindTabs found={found} />}
      {problem && (
        <ErrorNote problem={problem}>
          {query !== START && <button type="button" onClick={() => change(START)}>Show all rows</button>}
        </ErrorNote>
      )}
      {found === null && !problem && <p class="quiet" role="status">Opening …</p>}
      {found !== null && found.table.columns.length === 0 && found.table.rows.length === 0 && query.conditions.length === 0 && (
        <p class="lead">This graph has nothing of that kind.</p>
      )}
      {found !== null && (found.table.columns.length > 0 || found.table.rows.length > 0) && (
        <section class="kind-table" aria-busy={isBusy}>
          <TableHead found={found} query={query} onChange={change} />
          <Rows found={found} query={query} onChange={change} />
          <Pages found={found} query={query} onChange={change} />
        </section>
      )}
    </>
  );
}

/** How the kind was looked at last, and a way to look at it otherwise. */
function useQuery(kind: string): [Query, (query: Query) => void] {
  const queries = session.value === null ? new Map<string, Query>() : memory(session.value.access).queries;
  const place = `${graph.value}/${kind}`;
  const [query, setQuery] = useState(queries.get(place) ?? START);
  return [
    query,
    (next) => {
      queries.set(place, next);
      setQuery(next);
    },
  ];
}

function KindTabs({ found }: { found: OpenedTable }) {
  const shown = useRef<HTMLAnchorElement>(null);
  useEffect(() => shown.current?.scrollIntoView({ block: "nearest", inline: "nearest" }), []);
  return (
    <nav class="kind-tabs" aria-label="Kinds">
      {found.table.kinds.map(({ kind, things }) => (
        <a key={kind} ref={kind === found.table.kind ? shown : null} class="tab" href={hrefOfConcept(kind)} aria-current={kind === found.table.kind ? "page" : undefined}>
          {kindTitle(kind, things, found.names)} <span class="quiet">{count(things)}</span>
        </a>
      ))}
    </nav>
  );
}

interface Props {
  found: OpenedTable;
  query: Query;
  onChange: (query: Query) => void;
}

/** How many rows there are, what narrows them, a search by name, and the file. */
function TableHead({ found, query, onChange }: Props) {
  const { table, names } = found;
  const words = (column: string) => {
    const known = table.columns.find((each) => each.column === column);
    return known === undefined ? "name" : headOf(known, names).words;
  };
  return (
    <>
      <header class="owner-head">
        <h2 aria-live="polite">{countWords(found, query.conditions.length > 0)}</h2>
        <div class="row">
          {table.sortable && <NameSearch query={query} onChange={onChange} />}
          <button type="button" onClick={() => offerFile(`${kindWords(table.kind ?? "table", names)}.csv`, "text/csv", asCsv(rowsOf(found)))}>
            CSV of this page
          </button>
        </div>
      </header>
      {query.conditions.length > 0 && (
        <ul class="chips">
          {query.conditions.map((each) => (
            <li key={each.column}>
              <button type="button" class="chip row" title="Take this filter out" onClick={() => onChange(widened(query, each.column))}>
                {words(each.column)}: {each.words} <Icon name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function NameSearch({ query, onChange }: Pick<Props, "query" | "onChange">) {
  const used = query.conditions.find((each) => each.column === NAME)?.contains ?? "";
  const [text, setText] = useState(used);
  const submit = (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault();
    const contains = text.trim();
    onChange(contains === "" ? widened(query, NAME) : narrowed(query, { column: NAME, words: `“${contains}”`, contains }));
  };
  return (
    <form class="row" role="search" aria-label="In this table" onSubmit={submit}>
      <input
        type="search"
        aria-label="Text in a name"
        placeholder="Name contains …"
        maxLength={200}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button>Filter</button>
    </form>
  );
}

function Rows({ found, query, onChange }: Props) {
  const { table, names } = found;
  const isAnyMasked = table.columns.some((each) => each.masked);
  return (
    <>
      <div class="table-scroll" tabIndex={0} role="group" aria-label={`Table of ${kindWords(table.kind ?? "", names)}`}>
        <table>
          <thead>
            <tr>
              <th scope="col" aria-sort={table.sortable ? sortOf(query, NAME) : undefined}>
                {table.named ? <SortButton column={NAME} words="name" isOffered={table.sortable} query={query} onChange={onChange} /> : <span class="hidden">Row</span>}
              </th>
              {table.columns.map((column) => <Head key={column.column} column={column} found={found} query={query} onChange={onChange} />)}
            </tr>
          </thead>
          <tbody>
            {table.rows.map((row) => <Row key={row.thing.pseudonym} row={row} found={found} />)}
          </tbody>
        </table>
      </div>
      {table.total === 0 && <p class="lead">No row is left. Take a filter out to see more.</p>}
      {isAnyMasked && <p class="quiet row"><Icon name="unseen" /> Models never see the words of a column with this mark.</p>}
    </>
  );
}

function Head({ column, found, query, onChange }: Props & { column: TableColumn }) {
  const { words, note } = headOf(column, found.names);
  const isNumber = column.counted || column.value_kind === "number";
  return (
    <th scope="col" class={isNumber ? "number" : undefined} aria-sort={column.sortable ? sortOf(query, column.column) : undefined}>
      <span class="head">
        <SortButton column={column.column} words={words} isOffered={column.sortable} query={query} onChange={onChange} />
        {note && <span class="head-note">{note}</span>}
        {column.masked && <span class="unseen" title="Not shown to models"><Icon name="unseen" /><span class="hidden">not shown to models</span></span>}
        {!column.counted && <ColumnFilter column={column} found={found} query={query} onChange={onChange} />}
      </span>
    </th>
  );
}

interface SortProps {
  column: string;
  words: string;
  isOffered: boolean;
  query: Query;
  onChange: (query: Query) => void;
}

function SortButton({ column, words, isOffered, query, onChange }: SortProps) {
  if (!isOffered) {
    return <span title="Too many different values to sort by">{words}</span>;
  }
  const mark = query.sort !== column ? "" : query.descending ? "↓" : "↑";
  return (
    <button type="button" class="plain sort" title={`Sort by ${words}`} onClick={() => onChange(sortedBy(query, column))}>
      {words}<span class="sort-mark" aria-hidden="true">{mark}</span>
    </button>
  );
}

function sortOf(query: Query, column: string): "ascending" | "descending" | "none" {
  return query.sort !== column ? "none" : query.descending ? "descending" : "ascending";
}

function Row({ row, found: { table, names } }: { row: TableRow; found: OpenedTable }) {
  const href = hrefOfThing(row.thing.pseudonym, table.conversation);
  return (
    <tr>
      {table.named
        ? <th scope="row"><a href={href}>{nameOf(row.thing, names)}</a></th>
        : <td><a href={href}>open</a></td>}
      {row.cells.map((cell, at) => {
        const column = table.columns[at];
        return column && <Cell key={column.column} cell={cell} column={column} names={names} conversation={table.conversation} />;
      })}
    </tr>
  );
}

interface CellProps {
  cell: TableCell;
  column: TableColumn;
  names: NameTable;
  conversation: string;
}

function Cell({ cell, column, names, conversation }: CellProps) {
  if (column.counted) {
    return <td class="number">{cell.total === 0 ? "" : count(cell.total)}</td>;
  }
  const text = textOf(cell, column, names);
  const more = cell.total - cell.ends.length;
  return (
    <td class={column.value_kind === "number" ? "number" : undefined} title={text.length > LONG ? text : undefined}>
      <div class={text.length > LONG ? "cell cut" : "cell"}>
        {cell.ends.map((end, at) => (
          <span key={end.pseudonym}>
            {at > 0 && "; "}
            {end.is_value ? nameOf(end, names, column) : <a href={hrefOfThing(end.pseudonym, conversation)}>{nameOf(end, names)}</a>}
          </span>
        ))}
        {more > 0 && <span class="quiet"> and {count(more)} more</span>}
      </div>
    </td>
  );
}

function Pages({ found: { table }, query, onChange }: Props) {
  const last = table.offset + table.rows.length;
  const next = table.offset + PAGE;
  return (
    <>
      {table.withheld > 0 && (
        <p class="note" role="note">
          {table.withheld === 1 ? "One row" : `${count(table.withheld)} rows`} of this page {table.withheld === 1 ? "is" : "are"} left out:
          with this key you may read no more of this graph for now.
        </p>
      )}
      {table.total > PAGE && (
        <nav class="row" aria-label="Pages">
          <button type="button" disabled={table.offset === 0} onClick={() => onChange({ ...query, offset: Math.max(0, table.offset - PAGE) })}>Previous</button>
          <span class="quiet">{count(table.offset + 1)} to {count(last)} of {count(table.total)}</span>
          <button type="button" disabled={next >= table.total} onClick={() => onChange({ ...query, offset: next })}>Next</button>
        </nav>
      )}
    </>
  );
}
