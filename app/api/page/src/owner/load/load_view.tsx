/** Loading a graph: its files, its name, its policy, and how far it is. */

import type { TargetedEvent } from "preact";
import { useState } from "preact/hooks";
import { ErrorNote } from "../../shared/components/error_note";
import { service, useAsked, useDoing } from "../asked";
import { graphListOf, graphPolicyOf } from "../wire";
import { ChosenFiles } from "./chosen_files";
import { ColumnsView } from "./columns_view";
import { FaultLines } from "./fault_lines";
import { placeOf } from "./files";
import { LoadProgress, inFile } from "./load_progress";
import { begin, files, load, policy } from "./load_state";
import { NotesView } from "./notes_view";
import { PolicyEditor } from "./policy_editor";
import { faultLines } from "./policy_faults";
import { isLooking, look, lookProblem, seen } from "./preview_state";
import { PreviewView, Sample } from "./preview_view";

const NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;

export function LoadView() {
  const known = useAsked("/admin/graphs", graphListOf);
  const [name, setName] = useState(load.value?.name ?? "");
  const [showsText, setShowsText] = useState(false);
  const [hold, setHold] = useState(true);
  const now = load.value;
  const isUnderWay = now?.state === "sending" || now?.state === "running" || now?.state === "waiting";
  const isNew = !known.value?.graphs.some((graph) => graph.name === name);
  const hasFiles = files.value.some((each) => each.part === "file");
  const isReady = hasFiles && NAME.test(name) && !isUnderWay;
  const found = now?.state === "failed" ? null : lookProblem.value;
  const place = found && placeOf(found.message, files.value);
  const { problem, attempt } = useDoing();
  const takeOver = async () => {
    policy.value = (await service().ask(`/admin/graphs/${name}/policy`, graphPolicyOf)).policy;
  };
  const submit = (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isReady) {
      lookProblem.value = null;
      void begin(name, hold).then(known.again);
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
          <section class="card" aria-labelledby="model-title">
            <header class="owner-head">
              <h2 id="model-title">What a model may see</h2>
              <span class="segments" role="group" aria-label="Choose it by">
                <button type="button" aria-pressed={!showsText} onClick={() => setShowsText(false)}>Columns</button>
                <button type="button" aria-pressed={showsText} onClick={() => setShowsText(true)}>TOML</button>
              </span>
            </header>
            <p role="status" class="quiet">{isLooking.value ? "Looking at the files …" : ""}</p>
            {showsText && (
              <PolicyEditor
                value={policy.value}
                onInput={(value) => (policy.value = value)}
                faults={faultLines(policy.value, found ?? now?.problem ?? null)}
              />
            )}
            <p class="row">
              {(showsText || seen.value === null) && (
                <button type="button" disabled={!hasFiles || isLooking.value} onClick={() => void look()}>Look first</button>
              )}
              {!isNew && <button type="button" onClick={() => attempt(takeOver)}>Take the policy of {name}</button>}
              <span class="quiet">Nothing is loaded for a look.</span>
            </p>
            {found && <ErrorNote problem={inFile(found, files.value)} />}
            {problem && <ErrorNote problem={problem} />}
            {place && <FaultLines place={place} />}
            {seen.value && <NotesView notes={seen.value.preview.notes} files={seen.value.files} />}
          </section>
          {seen.value && (
            <div class="choices-and-sample">
              {showsText ? <PreviewView seen={seen.value} /> : <ColumnsView seen={seen.value} />}
              <Sample sample={seen.value.preview.sample} names={seen.value.names} />
            </div>
          )}
          <section class="card">
            <label class="check">
              <input type="checkbox" checked={hold} onChange={(event) => setHold(event.currentTarget.checked)} />
              <span>Show me what prompts about it show, before it goes live</span>
            </label>
            <p class="row"><button class="primary" disabled={!isReady}>Load</button></p>
          </section>
        </form>
      )}
    </>
  );
}
