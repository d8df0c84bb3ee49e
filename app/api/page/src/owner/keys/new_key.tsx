import type { TargetedEvent } from "preact";
import { useState } from "preact/hooks";
import { Dialog } from "../../shared/components/dialog";
import { ErrorNote } from "../../shared/components/error_note";
import { service, useAsked, useDoing } from "../asked";
import { type KeyCreated, graphListOf, graphPolicyOf, keyCreatedOf } from "../wire";
import { CopyField } from "./copy_field";

const ENDS = [
  { days: null, title: "Never" },
  { days: 7, title: "In a week" },
  { days: 30, title: "In 30 days" },
  { days: 365, title: "In a year" },
];

interface Grant {
  /** Null: the whole graph. */
  role: string | null;
  inspects: boolean;
}

const WHOLE: Grant = { role: null, inspects: false };

/** Makes a key; it is shown this once. */
export function NewKey({ tenant, onMade, onClose }: { tenant: string; onMade: () => void; onClose: () => void }) {
  const graphs = useAsked("/admin/graphs", graphListOf);
  const [isAdmin, setAdmin] = useState(false);
  const [grants, setGrants] = useState<ReadonlyMap<string, Grant>>(new Map());
  const [label, setLabel] = useState("");
  const [days, setDays] = useState<number | null>(null);
  const [made, setMade] = useState<KeyCreated | null>(null);
  const { isBusy, problem, attempt } = useDoing();
  if (made !== null) {
    return (
      <Dialog title="The new key" onClose={onClose}>
        <p>It is shown this once: copy it, and give it to whoever is to use it over a way that others can't read.</p>
        <CopyField label="API key" value={made.key} />
        <p><button type="button" onClick={onClose}>Done</button></p>
      </Dialog>
    );
  }
  const submit = (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault();
    attempt(async () => {
      const body = { tenant, role: isAdmin ? "admin" : "user", grants: [...grants].flatMap(words), days, label: label.trim() };
      setMade(await service().ask("/admin/keys", keyCreatedOf, { method: "POST", body }));
      onMade();
    });
  };
  const wrong = problem ?? graphs.problem;
  const set = (name: string, grant: Grant | null) => {
    const changed = new Map(grants);
    if (grant === null) {
      changed.delete(name);
    } else {
      changed.set(name, grant);
    }
    setGrants(changed);
  };
  return (
    <Dialog title="Make a key" onClose={onClose}>
      <form class="key-form" onSubmit={submit}>
        <label class="field">
          <span>Label</span>
          <input
            maxLength={80}
            autocomplete="off"
            placeholder="night shift"
            value={label}
            onInput={(event) => setLabel(event.currentTarget.value)}
          />
        </label>
        <fieldset class="field">
          <legend>May ask</legend>
          <label class="check">
            <input
              type="checkbox"
              checked={grants.has("*")}
              onChange={(event) => setGrants(new Map(event.currentTarget.checked ? [["*", WHOLE]] : []))}
            />
            <span>every graph, also those to come</span>
          </label>
          {!grants.has("*") && graphs.value?.graphs.map(({ name }) => (
            <GraphGrant key={name} name={name} grant={grants.get(name) ?? null} onChange={(grant) => set(name, grant)} />
          ))}
          {graphs.value?.graphs.length === 0 && <p class="quiet">There is no graph yet.</p>}
        </fieldset>
        <label class="check">
          <input type="checkbox" checked={isAdmin} onChange={(event) => setAdmin(event.currentTarget.checked)} />
          <span>May look after all graphs and keys (role admin)</span>
        </label>
        <label class="field">
          <span>Ends</span>
          <select onChange={(event) => setDays(ENDS[event.currentTarget.selectedIndex]?.days ?? null)}>
            {ENDS.map((end) => <option key={end.title}>{end.title}</option>)}
          </select>
        </label>
        {wrong && <ErrorNote problem={wrong} />}
        <p class="row">
          <button class="primary" disabled={isBusy || (grants.size === 0 && !isAdmin)}>Make it</button>
          <button type="button" onClick={onClose}>Cancel</button>
        </p>
      </form>
    </Dialog>
  );
}

interface GrantProps {
  name: string;
  grant: Grant | null;
  onChange: (grant: Grant | null) => void;
}

/** One graph: whether a key may ask it, as which role, and whether it may see the names in its traces. */
function GraphGrant({ name, grant, onChange }: GrantProps) {
  const policy = useAsked(grant === null ? null : `/admin/graphs/${name}/policy`, graphPolicyOf);
  const roles = policy.value?.roles ?? [];
  return (
    <div class="grant">
      <label class="check">
        <input
          type="checkbox"
          checked={grant !== null}
          onChange={(event) => onChange(event.currentTarget.checked ? WHOLE : null)}
        />
        <span>{name}</span>
      </label>
      {grant !== null && (
        <div class="grant-more">
          {roles.length > 0 && (
            <label class="row">
              <span class="quiet">sees</span>
              <select
                onChange={(event) => {
                  onChange({ ...grant, role: roles[event.currentTarget.selectedIndex - 1] ?? null });
                }}
              >
                <option>all of it</option>
                {roles.map((role) => <option key={role}>what the role {role} is shown</option>)}
              </select>
            </label>
          )}
          <label class="check quiet">
            <input
              type="checkbox"
              checked={grant.inspects}
              onChange={(event) => onChange({ ...grant, inspects: event.currentTarget.checked })}
            />
            <span>and the names in what the model saw of its questions</span>
          </label>
        </div>
      )}
    </div>
  );
}

function words([graph, { role, inspects }]: [string, Grant]): string[] {
  return [role === null ? graph : `${graph}#${role}`, ...(inspects ? [`inspect:${graph}`] : [])];
}
