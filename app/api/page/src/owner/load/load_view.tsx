/** Loading a graph: its files, its name, its policy, and how far it is. */

import type { TargetedEvent } from "preact";
import { useState } from "preact/hooks";
import { useAsked } from "../asked";
import { graphListOf } from "../wire";
import { ChosenFiles } from "./chosen_files";
import { LoadProgress } from "./load_progress";
import { begin, files, load, policy } from "./load_state";
import { PolicyEditor } from "./policy_editor";
import { faultLines } from "./policy_faults";

const NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;

export function LoadView() {
  const known = useAsked("/admin/graphs", graphListOf);
  const [name, setName] = useState(load.value?.name ?? "");
  const now = load.value;
  const isUnderWay = now?.state === "sending" || now?.state === "running";
  const isNew = !known.value?.graphs.some((graph) => graph.name === name);
  const isReady = files.value.some((each) => each.part === "file") && NAME.test(name) && !isUnderWay;
  const submit = (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isReady) {
      void begin(name).then(known.again);
    }
  };
  return (
    <>
      <h1>Load a graph</h1>
      {now !== null && <LoadProgress load={now} />}
      {!isUnderWay && now?.state !== "done" && (
        <form class="load-form" onSubmit={submit}>
          <ChosenFiles />
          <section class="card">
            <label class="field">
              <span>Name</span>
              <input
                name="graph-name"
                list="known-graphs"
                autocomplete="off"
                spellcheck={false}
                placeholder="clinic"
                value={name}
                aria-describedby="graph-name-help"
                onInput={(event) => setName(event.currentTarget.value.trim())}
              />
            </label>
            <datalist id="known-graphs">
              {known.value?.graphs.map((graph) => <option key={graph.name} value={graph.name} />)}
            </datalist>
            <p class="quiet" id="graph-name-help">
              {name !== "" && !NAME.test(name)
                ? "Small letters, digits, - and _; the first a letter or digit; at most 63."
                : isNew
                  ? "Those who ask see it. Small letters, digits, - and _."
                  : `A new version of ${name}: it takes the old one's place when it is whole.`}
            </p>
          </section>
          <section class="card">
            <h2>Policy</h2>
            <p class="quiet">
              What is a name, and what a model may be shown. Left empty, one is proposed from the files, used, and shown
              afterwards.
            </p>
            <PolicyEditor
              value={policy.value}
              onInput={(value) => (policy.value = value)}
              faults={faultLines(policy.value, now?.problem ?? null)}
            />
          </section>
          <p class="row"><button class="primary" disabled={!isReady}>Load</button></p>
        </form>
      )}
    </>
  );
}
