import { ArogError } from "../../protocol/errors";
import { ErrorNote } from "../../shared/components/error_note";
import { useDoing } from "../asked";
import { Counts } from "../graphs/graph_list";
import { RiskChart, Warnings } from "../graphs/risk_chart";
import { change } from "../../shared/session";
import { hrefOfGraph } from "../place";
import { FaultLines } from "./fault_lines";
import { type ChosenFile, placeOf, withOwnNames } from "./files";
import { type Load, forget, makeLive, stop } from "./load_state";

/** How far a load is, and how it ended. */
export function LoadProgress({ load }: { load: Load }) {
  switch (load.state) {
    case "sending":
    case "running":
      return <UnderWay load={load} />;
    case "waiting":
      return <Waiting load={load} />;
    case "failed":
      return load.problem && <Failed load={load} problem={load.problem} />;
    case "done":
      return <Done load={load} />;
  }
}

function UnderWay({ load }: { load: Load }) {
  const isSending = load.state === "sending";
  const { isBusy, problem, attempt } = useDoing();
  const what = isSending ? "sending the files" : load.step || "waiting for its turn";
  return (
    <section class="card load-progress" aria-labelledby="progress-title">
      <h2 id="progress-title">Loading {load.name}</h2>
      <progress max={100} value={load.percent} aria-labelledby="progress-title" />
      <p role="status">{load.isLost ? "The service can't be reached just now; still looking." : `${what} …`}</p>
      <p><button type="button" disabled={isBusy} onClick={() => attempt(stop)}>Stop</button></p>
      {problem && <ErrorNote problem={problem} />}
    </section>
  );
}

/** All is built and measured: the owner says whether it takes the old version's place. */
function Waiting({ load }: { load: Load }) {
  const { isBusy, problem, attempt } = useDoing();
  return (
    <section class="load-progress" aria-labelledby="waiting-title">
      <div class="card">
        <h2 id="waiting-title">{load.name} is ready to go live</h2>
        <p role="status">This is what prompts about it will show. Without your word it is dropped after ten minutes.</p>
        <p class="row">
          <button type="button" class="primary" disabled={isBusy} onClick={() => attempt(makeLive)}>Make it live</button>
          <button type="button" disabled={isBusy} onClick={() => attempt(stop)}>Drop it</button>
        </p>
        {problem && <ErrorNote problem={problem} />}
      </div>
      {load.job?.privacy && (
        <>
          <Warnings privacy={load.job.privacy} />
          <RiskChart privacy={load.job.privacy} />
        </>
      )}
    </section>
  );
}

function Failed({ load, problem }: { load: Load; problem: ArogError }) {
  const place = placeOf(withOwnNames(problem.message, load.files), load.files);
  return (
    <section class="load-progress" aria-label="The load failed">
      <ErrorNote problem={inFile(problem, load.files)}>
        <button type="button" onClick={() => forget()}>Close</button>
      </ErrorNote>
      {place && <FaultLines place={place} />}
    </section>
  );
}

const OWNERS_OWN = new Set(["load_failed", "bad_policy", "stopped"]);

/** The same with the file's own name, and as this page can help. What is the owner's own needs no operator. */
export function inFile(problem: ArogError, files: readonly ChosenFile[]): ArogError {
  const { code, status, retryAfterS } = problem;
  const told = withOwnNames(problem.message, files);
  const message = placeOf(told, files) ? `In ${told}` : told;
  const hint = code === "bad_policy" ? "With nothing in the editor a policy is proposed, which you can go on from." : problem.hint;
  return new ArogError({ code, message, hint, id: OWNERS_OWN.has(code) ? "" : problem.id, status, retryAfterS });
}

/** To the box to ask in, with this graph chosen. */
async function askNow(graph: string): Promise<void> {
  await change({ graph });
  location.hash = "#/ask";
}

function Done({ load }: { load: Load }) {
  const job = load.job;
  return (
    <section class="load-progress">
      <div class="card">
        <h2>{load.name} is loaded</h2>
        <p class="row">
          <button type="button" class="primary" onClick={() => void askNow(load.name)}>Ask it now</button>
          <a class="button" href={hrefOfGraph(load.name)}>See its report</a>
          {job?.policy && <button type="button" onClick={() => forget(true)}>Change the policy that was proposed</button>}
          <button type="button" onClick={() => forget()}>Load another</button>
        </p>
        {job?.graph && <Counts graph={job.graph} />}
        {job !== null && job.notes.length > 0 && (
          <ul class="notes">
            {job.notes.map((note) => <li key={note}>{withOwnNames(note, load.files)}</li>)}
          </ul>
        )}
      </div>
      {job?.privacy && (
        <>
          <Warnings privacy={job.privacy} />
          <RiskChart privacy={job.privacy} />
        </>
      )}
    </section>
  );
}
