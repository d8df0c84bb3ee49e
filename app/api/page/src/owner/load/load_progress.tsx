import { ArogError } from "../../protocol/errors";
import { ErrorNote } from "../../shared/components/error_note";
import { Counts } from "../graphs/graph_list";
import { RiskChart, Warnings } from "../graphs/risk_chart";
import { hrefOfGraph } from "../place";
import { FaultLines } from "./fault_lines";
import { placeOf, withFileNames } from "./files";
import { type Load, forget, stop } from "./load_state";

/** How far a load is, and how it ended. */
export function LoadProgress({ load }: { load: Load }) {
  switch (load.state) {
    case "sending":
    case "running":
      return <UnderWay load={load} />;
    case "failed":
      return load.problem && <Failed load={load} problem={load.problem} />;
    case "done":
      return <Done load={load} />;
  }
}

function UnderWay({ load }: { load: Load }) {
  const isSending = load.state === "sending";
  const what = isSending ? "sending the files" : load.step || "waiting for its turn";
  return (
    <section class="card load-progress" aria-labelledby="progress-title">
      <h2 id="progress-title">Loading {load.name}</h2>
      <progress max={100} value={load.percent} aria-labelledby="progress-title" />
      <p role="status">{load.isLost ? "The service can't be reached just now; still looking." : `${what} …`}</p>
      {isSending && <p><button type="button" onClick={stop}>Stop</button></p>}
    </section>
  );
}

function Failed({ load, problem }: { load: Load; problem: ArogError }) {
  const place = placeOf(problem.message, load.files);
  const message = place ? `In ${withFileNames(problem.message, load.files)}` : problem.message;
  const { code, hint, id, status, retryAfterS } = problem;
  return (
    <section class="load-progress" aria-label="The load failed">
      <ErrorNote problem={new ArogError({ code, message, hint, id, status, retryAfterS })}>
        <button type="button" onClick={() => forget()}>Close</button>
      </ErrorNote>
      {place && <FaultLines place={place} />}
    </section>
  );
}

function Done({ load }: { load: Load }) {
  const job = load.job;
  return (
    <section class="load-progress">
      <div class="card">
        <h2>{load.name} is loaded</h2>
        <p class="row">
          <a class="button primary" href={hrefOfGraph(load.name)}>See its report</a>
          {job?.policy && <button type="button" onClick={() => forget(true)}>Change the policy that was proposed</button>}
          <button type="button" onClick={() => forget()}>Load another</button>
        </p>
        {job?.graph && <Counts graph={job.graph} />}
        {job !== null && job.notes.length > 0 && (
          <ul class="notes">
            {job.notes.map((note) => <li key={note}>{withFileNames(note, load.files)}</li>)}
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
