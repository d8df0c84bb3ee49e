/** What each column is and how much of it a model may see, chosen by clicking. The service writes the policy. */

import { useState } from "preact/hooks";
import type { ColumnRole, ColumnSeen, Exposure, TableSeen } from "../wire";
import { counted } from "../words";
import { choose } from "./preview_state";
import type { Seen } from "./preview_state";

const ROLE_WORDS: Record<ColumnRole, string> = {
  key: "key",
  name: "name",
  alias: "other name",
  concept: "thing of its own",
  value: "value",
  reference: "reference",
  class: "class",
  schema: "schema",
  unused: "not read",
};
const EXPOSURE_WORDS: Record<Exposure, string> = { private: "private", shown: "shown", masked: "masked" };
const TYPE_WORDS = ["number", "date", "text", "truth"];
const MOST_COLUMNS = 200;

export function ColumnsView({ seen }: { seen: Seen }) {
  const { tables, columns } = seen.preview;
  const others = columns.filter((each) => each.file === "");
  return (
    <div class="columns">
      <p class="quiet">
        Private: a model reads the relation, and a stand-in for each cell. Shown: it reads the cells too. Masked: it does not
        even read the relation.
      </p>
      {tables.map((table) => (
        <TableOfColumns key={table.file} table={table} tables={tables} columns={columns.filter((each) => each.file === table.file)} />
      ))}
      {others.length > 0 && (
        <section class="card">
          <h3>Relations</h3>
          <Columns columns={others.slice(0, MOST_COLUMNS)} tables={tables} title="Relations" />
        </section>
      )}
    </div>
  );
}

function TableOfColumns({ table, tables, columns }: { table: TableSeen; tables: TableSeen[]; columns: ColumnSeen[] }) {
  return (
    <section class="card" aria-label={table.file}>
      <header class="owner-head">
        <h3>{table.file}</h3>
        <span class="quiet">{counted(table.rows, "row")}</span>
      </header>
      {table.links ? (
        <p class="quiet">Its rows join things of other files.</p>
      ) : (
        <label class="row">
          <span class="quiet">Each row is a</span>
          <Words label={`Kind of the rows of ${table.file}`} value={table.concept} onChange={(concept) => void choose({ tables: [{ file: table.file, concept }] })} />
        </label>
      )}
      <Columns columns={columns.slice(0, MOST_COLUMNS)} tables={tables} title={`Columns of ${table.file}`} />
    </section>
  );
}

function Columns({ columns, tables, title }: { columns: ColumnSeen[]; tables: TableSeen[]; title: string }) {
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label={title}>
      <table class="column-table">
        <thead>
          <tr>
            <th scope="col">column</th>
            <th scope="col">to a model</th>
            <th scope="col">is</th>
            <th scope="col">a model reads</th>
          </tr>
        </thead>
        <tbody>{columns.map((each) => <ColumnRow key={each.column} seen={each} tables={tables} />)}</tbody>
      </table>
    </div>
  );
}

function ColumnRow({ seen, tables }: { seen: ColumnSeen; tables: TableSeen[] }) {
  const { file, column, role } = seen;
  const title = file === "" ? (column.split(/[#/]/).filter(Boolean).at(-1) ?? column) : column;
  const isNamed = role === "value" || role === "concept" || role === "reference";
  return (
    <tr>
      <th scope="row"><span title={seen.why || column}>{title}</span></th>
      <td>
        {seen.exposures.length > 1 ? (
          <span class="segments" role="group" aria-label={`${title} to a model`}>
            {seen.exposures.map((each) => (
              <button
                type="button"
                key={each}
                aria-pressed={seen.exposure === each}
                onClick={() => void choose({ columns: [{ file, column, exposure: each }] })}
              >
                {EXPOSURE_WORDS[each]}
              </button>
            ))}
          </span>
        ) : (
          <span class="quiet">{role === "unused" ? "" : EXPOSURE_WORDS[seen.exposure]}</span>
        )}
      </td>
      <td>
        <span class="value-view">
          <Choice
            label={`What ${title} is`}
            value={role}
            choices={seen.roles.map((each) => [each, ROLE_WORDS[each]])}
            onChange={(chosen) => void choose({ columns: [{ file, column, role: chosen as ColumnRole }] })}
          />
          {role === "value" && seen.type !== null && (
            <Choice
              label={`Type of ${title}`}
              value={seen.type}
              choices={TYPE_WORDS.map((each) => [each, each])}
              onChange={(type) => void choose({ columns: [{ file, column, type }] })}
            />
          )}
          {role === "reference" && file !== "" && (
            <Choice
              label={`What ${title} refers to`}
              value={seen.refers_to}
              choices={[["", "things of their own"], ...tables.map((each): [string, string] => [each.file, each.file])]}
              onChange={(refersTo) => void choose({ columns: [{ file, column, refers_to: refersTo }] })}
            />
          )}
        </span>
      </td>
      <td>
        {isNamed ? (
          <Words label={`Words for ${title}`} value={seen.relation} onChange={(relation) => void choose({ columns: [{ file, column, relation }] })} />
        ) : (
          <span class="quiet">{role === "name" || role === "alias" ? "a pseudonym" : ""}</span>
        )}
      </td>
    </tr>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  choices: (readonly [string, string])[];
  onChange: (value: string) => void;
}

function Choice({ label, value, choices, onChange }: ChoiceProps) {
  if (choices.length === 0) {
    return <span>{value}</span>;
  }
  return (
    <select aria-label={label} onChange={(event) => onChange(event.currentTarget.value)}>
      {choices.map(([id, words]) => <option key={id} value={id} selected={id === value}>{words}</option>)}
    </select>
  );
}

/** Sent when the focus leaves, or by Enter: each change makes a new preview. */
function Words({ label, value, onChange }: { label: string; value: string; onChange: (value: string) => void }) {
  const [draft, setDraft] = useState<string | null>(null);
  const finish = () => {
    if (draft !== null && draft.trim() !== value) {
      onChange(draft.trim());
    }
    setDraft(null);
  };
  return (
    <input
      aria-label={label}
      maxLength={80}
      value={draft ?? value}
      onInput={(event) => setDraft(event.currentTarget.value)}
      onBlur={finish}
      onKeyDown={(event) => {
        if (event.key === "Enter") {
          event.preventDefault();
          finish();
        }
      }}
    />
  );
}
