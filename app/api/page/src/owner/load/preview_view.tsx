/** The preview: which predicates are names, what is shown of the rest, and a sample as a model would see it. */

import type { NameTable } from "../../protocol/wire";
import type { EntitySeen, PredicateSeen } from "../wire";
import { count, counted } from "../words";
import { files, policy } from "./load_state";
import { SHOWINGS, withRelation } from "./policy_edits";
import { type Seen, isLooking, look } from "./preview_state";

const MOST_PREDICATES = 200;

export function PreviewView({ seen }: { seen: Seen }) {
  const { preview } = seen;
  const isStale = seen.policy !== policy.value || seen.files !== files.value;
  const named = preview.predicates.filter((each) => each.use === "name");
  return (
    <section class="preview" aria-labelledby="preview-title">
      <header class="owner-head">
        <h2 id="preview-title">Predicates and counts</h2>
        {isStale && (
          <button type="button" disabled={isLooking.value} onClick={() => void look()}>Look again</button>
        )}
      </header>
      {isStale && <p class="note note-mark" role="status">This is of before your last change.</p>}
      <p class="quiet">
        {counted(preview.triples, "triple")}, {counted(preview.entities, "entity", "entities")},{" "}
        {counted(preview.values, "value")}
        {preview.mediators > 0 && `, ${counted(preview.mediators, "node")} that only join others`}. Nothing is loaded yet.
      </p>
      {named.length === 0 && (
        <p class="note note-mark">
          No predicate gives names: things are called by the ends of their addresses. If one of those below holds names,
          write it into <code>names</code> of the policy.
        </p>
      )}
      <Predicates predicates={preview.predicates} />
    </section>
  );
}

function Predicates({ predicates }: { predicates: PredicateSeen[] }) {
  return (
    <div class="card">
      <h3>Predicates</h3>
      <p class="quiet">A change here is written into the policy above; look again to see what it does.</p>
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Predicates">
        <table>
          <thead>
            <tr>
              <th scope="col">predicate</th>
              <th scope="col" class="number">triples</th>
              <th scope="col">is</th>
              <th scope="col">a model reads</th>
              <th scope="col">values as</th>
            </tr>
          </thead>
          <tbody>
            {predicates.slice(0, MOST_PREDICATES).map((each) => <PredicateRow key={each.predicate} seen={each} />)}
          </tbody>
        </table>
      </div>
      {predicates.length > MOST_PREDICATES && (
        <p class="quiet">And {count(predicates.length - MOST_PREDICATES)} rarer ones.</p>
      )}
    </div>
  );
}

const USES = { name: "names", class: "classes", schema: "schema" } as const;
const SHOWN_AS = ["pseudonym", "year", "decade", "bucket", "clear"];

function PredicateRow({ seen }: { seen: PredicateSeen }) {
  const short = shortened(seen.predicate);
  const { use } = seen;
  const set = (showing: string) => {
    if (showing === "relation" || showing === "masked" || showing === "hidden") {
      const changes = use === "hidden" && showing !== "hidden" ? { ...SHOWINGS[showing], values: null } : SHOWINGS[showing];
      policy.value = withRelation(policy.value, seen.predicate, changes);
    }
  };
  const setValues = (view: string) => {
    policy.value = withRelation(policy.value, seen.predicate, { values: view === "pseudonym" ? null : view });
  };
  return (
    <tr>
      <td><span title={seen.predicate}>{short}</span></td>
      <td class="number">{count(seen.triples)}</td>
      <td>
        {use === "name" || use === "class" || use === "schema" ? (
          <span class={`use use-${use}`}>{USES[use]}</span>
        ) : (
          <select key={use} defaultValue={use} aria-label={`How ${short} is shown`} onChange={(event) => set(event.currentTarget.value)}>
            <option value="relation" selected={use === "relation"}>shown</option>
            <option value="masked" selected={use === "masked"}>masked</option>
            <option value="hidden" selected={use === "hidden"}>hidden</option>
          </select>
        )}
      </td>
      <td><Words seen={seen} short={short} /></td>
      <td>
        {seen.value_kind !== null && (use === "relation" || use === "masked") && (
          <span class="value-view">
            <select
              defaultValue={seen.shown_as ?? "pseudonym"}
              aria-label={`How values of ${short} are shown`}
              onChange={(event) => setValues(event.currentTarget.value)}
            >
              {SHOWN_AS.map((view) => <option key={view} selected={view === (seen.shown_as ?? "pseudonym")}>{view}</option>)}
            </select>
            <span class="quiet">{seen.value_kind}</span>
          </span>
        )}
      </td>
    </tr>
  );
}

/** What a model reads: its words can be changed, or of a masked relation what stands beside the opaque word. */
function Words({ seen, short }: { seen: PredicateSeen; short: string }) {
  if (seen.use !== "relation" && seen.use !== "masked") {
    return seen.use === "name" ? <span class="quiet">pseudonyms</span> : null;
  }
  const isMasked = seen.use === "masked";
  const set = (words: string) => {
    const changes = words.trim() === "" ? null : words.trim();
    policy.value = withRelation(policy.value, seen.predicate, isMasked ? { description: changes } : { label: changes });
  };
  return (
    <span class="value-view">
      {isMasked && <code>{seen.label}</code>}
      <input
        defaultValue={isMasked ? seen.description : seen.label}
        placeholder={isMasked ? "described as nothing" : "its own word"}
        maxLength={isMasked ? 200 : 100}
        aria-label={isMasked ? `Description of ${short}` : `Words for ${short}`}
        // At each key: what moved when the focus leaves would take the place of what is being clicked.
        onInput={(event) => set(event.currentTarget.value)}
      />
    </span>
  );
}

export function Sample({ sample, names }: { sample: EntitySeen[]; names: NameTable }) {
  return (
    <div class="card">
      <h3>{counted(sample.length, "sample prompt")}</h3>
      <p class="quiet">
        On the left as you know them: their names came sealed, and this browser opened them. On the right as a model
        would see them.
      </p>
      <ul class="sample">
        {sample.map((entity) => (
          <li key={entity.pseudonym}>
            <p class="sample-name">{names.get(entity.pseudonym)?.names[0] ?? "—"}</p>
            <div>
              <p><code>{entity.pseudonym} ({entity.concept})</code></p>
              <ul>
                {entity.facts.map((fact, at) => (
                  <li key={at}><code>{fact.relation} → {fact.end}</code></li>
                ))}
              </ul>
            </div>
          </li>
        ))}
      </ul>
    </div>
  );
}

function shortened(predicate: string): string {
  return predicate.split(/[#/]/).filter(Boolean).at(-1) ?? predicate;
}
