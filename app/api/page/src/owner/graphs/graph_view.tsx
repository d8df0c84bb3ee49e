import { useState } from "preact/hooks";
import { Dialog } from "../../shared/components/dialog";
import { ErrorNote } from "../../shared/components/error_note";
import { refreshGraphs } from "../../shared/session";
import { service, useAsked, useDoing } from "../asked";
import { HREFS } from "../place";
import { offerFile } from "../../shared/saving";
import { graphListOf, graphReportOf } from "../wire";
import { time } from "../words";
import { Counts } from "./graph_list";
import { ReportView } from "./report_view";

/** One graph: its counts, what prompts about it tell, and its end. */
export function GraphView({ name }: { name: string }) {
  const listed = useAsked("/admin/graphs", graphListOf);
  const report = useAsked(`/admin/graphs/${name}/report`, graphReportOf);
  const [isDeleting, setDeleting] = useState(false);
  const graph = listed.value?.graphs.find((each) => each.name === name);
  const problem = listed.problem ?? report.problem;
  const save = () => {
    offerFile(`${name}-privacy.json`, "application/json", JSON.stringify(report.value, null, 1));
  };
  return (
    <>
      <p><a href={HREFS.list}>← All graphs</a></p>
      <header class="owner-head">
        <h1>{name}</h1>
        <p class="row">
          <a class="button" href={HREFS.load}>Load a new version</a>
          <button type="button" class="danger" onClick={() => setDeleting(true)}>Delete …</button>
        </p>
      </header>
      {graph && (
        <>
          <p class="quiet">Loaded {time(graph.loaded_at)} as version <code>{graph.version.slice(0, 8)}</code></p>
          <Counts graph={graph} />
        </>
      )}
      {problem && <ErrorNote problem={problem} />}
      {!problem && report.value === null && <p class="lead" role="status">Measuring how well prompts hide whom they show …</p>}
      {report.value && (
        <>
          <header class="owner-head">
            <h2>What prompts tell</h2>
            <button type="button" onClick={save}>Save as JSON</button>
          </header>
          <ReportView report={report.value} />
        </>
      )}
      {isDeleting && <DeleteDialog name={name} onClose={() => setDeleting(false)} />}
    </>
  );
}

function DeleteDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const { isBusy, problem, attempt } = useDoing();
  const remove = () =>
    attempt(async () => {
      await service().tell(`/admin/graphs/${name}`, { method: "DELETE" });
      await refreshGraphs();
      location.hash = HREFS.list;
      onClose();
    });
  return (
    <Dialog title={`Delete ${name}?`} onClose={onClose}>
      <p>The graph goes with all that is kept of it: its names, and the conversations about it. Nobody can bring it back.</p>
      {problem && <ErrorNote problem={problem} />}
      <p class="row">
        <button type="button" class="danger" disabled={isBusy} onClick={remove}>Delete the graph</button>
        <button type="button" onClick={onClose}>Keep it</button>
      </p>
    </Dialog>
  );
}
