/** The conditions of one column, behind the button at its head: its values with their counts, and a text to look for. */

import type { TargetedEvent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useDoing } from "../owner/asked";
import { count } from "../owner/words";
import type { TableColumn } from "../protocol/wire";
import { ErrorNote } from "../shared/components/error_note";
import { Icon } from "../shared/components/icons";
import { keepInside, showBelow } from "../shared/components/popover";
import { graph } from "../shared/session";
import { headOf, nameOf } from "./cells";
import { type OpenedTable, tableOf } from "./excerpt";
import { type Condition, narrowed, type Query, widened } from "./query";

interface Props {
  column: TableColumn;
  found: OpenedTable;
  query: Query;
  onChange: (query: Query) => void;
}

export function ColumnFilter(props: Props) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const { words } = headOf(props.column, props.found.names);
  const isUsed = props.query.conditions.some((each) => each.column === props.column.column);
  const close = () => box.current?.hidePopover();
  const moved = () => box.current && button.current && keepInside(box.current, button.current.getBoundingClientRect());
  return (
    <>
      <button
        type="button"
        class="icon-button head-filter"
        ref={button}
        aria-label={`Filter by ${words}`}
        title={`Filter by ${words}`}
        aria-expanded={isOpen}
        aria-pressed={isUsed}
        onClick={() => box.current && button.current && showBelow(box.current, button.current)}
      >
        <Icon name="filter" />
      </button>
      <div
        ref={box}
        class="name-card column-filter"
        popover="auto"
        role="dialog"
        aria-label={`Filter by ${words}`}
        onToggle={(event) => setOpen(event.newState === "open")}
      >
        {isOpen && <Conditions {...props} words={words} onDone={close} onGrown={moved} />}
      </div>
    </>
  );
}

function Conditions({ column, found, query, onChange, words, onDone, onGrown }: Props & { words: string; onDone: () => void; onGrown: () => void }) {
  const used = query.conditions.find((each) => each.column === column.column);
  const take = (condition: Omit<Condition, "column"> | null) => {
    onDone();
    onChange(condition === null ? widened(query, column.column) : narrowed(query, { column: column.column, ...condition }));
  };
  const things = found.table.kinds.find((each) => each.kind === found.table.kind)?.things ?? 0;
  return (
    <>
      {column.sortable && <TextSearch words={words} used={used} onTake={(text) => take({ words: `“${text}”`, contains: text })} />}
      {column.has_choices && <Choices column={column} kind={found.table.kind} query={query} used={used} onTake={take} onGrown={onGrown} />}
      {!column.has_choices && column.filled < things && (
        <button type="button" class="small" onClick={() => take({ words: "empty", isEmpty: true })}>Only empty cells</button>
      )}
      {used !== undefined && <button type="button" class="small" onClick={() => take(null)}>Show all again</button>}
    </>
  );
}

function TextSearch({ words, used, onTake }: { words: string; used: Condition | undefined; onTake: (text: string) => void }) {
  const [text, setText] = useState(used?.contains ?? "");
  const submit = (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (text.trim() !== "") {
      onTake(text.trim());
    }
  };
  return (
    <form class="row" onSubmit={submit}>
      <input
        type="search"
        aria-label={`Text in ${words}`}
        placeholder="Contains …"
        maxLength={200}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button class="small">Filter</button>
    </form>
  );
}

type Take = (condition: Omit<Condition, "column">) => void;

interface ChoicesProps {
  column: TableColumn;
  kind: string | null;
  query: Query;
  used: Condition | undefined;
  onTake: Take;
  onGrown: () => void;
}

/** The values of a column, most rows first: asked for once somebody looks at them, for each name that is read counts. */
function Choices({ column, kind, query, used, onTake, onGrown }: ChoicesProps) {
  const [opened, setOpened] = useState<OpenedTable | null>(null);
  const { problem, attempt } = useDoing();
  useEffect(() => attempt(async () => setOpened(await tableOf(graph.value, kind, query, column.column))), []);
  useEffect(onGrown, [opened]);
  if (problem) {
    return <ErrorNote problem={problem} />;
  }
  if (opened === null) {
    return <p class="quiet" role="status">Counting …</p>;
  }
  return (
    <ul class="column-values">
      {opened.table.choices.map((choice) => {
        const words = choice.value === null ? "empty" : nameOf(choice.value, opened.names, column);
        const condition = choice.value === null ? { isEmpty: true as const } : { value: choice.value.pseudonym };
        const isUsed = used !== undefined && used.value === condition.value && used.isEmpty === condition.isEmpty && used.contains === undefined;
        return (
          <li key={words}>
            <button type="button" class="plain column-value" aria-pressed={isUsed} onClick={() => onTake({ words, ...condition })}>
              <span class={choice.value === null ? "quiet" : undefined}>{words}</span> <span class="quiet number">{count(choice.rows)}</span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}
