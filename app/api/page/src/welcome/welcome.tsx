/** The first-run screen: an API key, a graph that it may ask, done. The reader's key is made on the way. */

import type { TargetedEvent } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ArogError } from "../protocol/errors";
import { ErrorNote } from "../shared/components/error_note";
import { PassphraseField } from "../shared/components/passphrase_field";
import { LEAST_PASSPHRASE, needsPassphrase } from "../shared/keys";
import { told } from "../shared/service";
import { type KnownGraphs, enter, graphsOf, session, stay } from "../shared/session";

export function Welcome() {
  const [apiKey, setApiKey] = useState("");
  const [graphs, setGraphs] = useState<KnownGraphs | null>(null);
  const [graph, setGraph] = useState("");
  const [passphrase, setPassphrase] = useState("");
  const [wantsPassphrase, setWantsPassphrase] = useState(false);
  const [problem, setProblem] = useState<ArogError | null>(null);
  const [isBusy, setBusy] = useState(false);

  useEffect(() => {
    void needsPassphrase().then(setWantsPassphrase);
  }, []);

  const tryIt = async (work: () => Promise<void>) => {
    setBusy(true);
    setProblem(null);
    try {
      await work();
    } catch (raised) {
      setProblem(told(raised));
    } finally {
      setBusy(false);
    }
  };
  const submit = (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (graphs === null) {
      void tryIt(async () => {
        const found = await graphsOf(apiKey.trim());
        const [first = ""] = found.graphs;
        const isSettled = found.graphs.length < 2 && !(await needsPassphrase());
        if (isSettled) {
          await enter(apiKey.trim(), found, first, "");
          return;
        }
        setGraphs(found);
        setGraph(first);
      });
    } else {
      void tryIt(() => enter(apiKey.trim(), graphs, graph, passphrase));
    }
  };
  const isReady = graphs === null ? apiKey.trim() !== "" : !wantsPassphrase || passphrase.length >= LEAST_PASSPHRASE;

  return (
    <form class="card welcome" onSubmit={submit}>
      <p class="brand">arog</p>
      <h1>Ask a private graph</h1>
      <p class="lead">
        The language model sees pseudonyms. The names come to this browser sealed, and only this browser can open them.
      </p>
      <label class="field">
        <span>API key</span>
        <input
          type="password"
          name="api-key"
          autocomplete="off"
          spellcheck={false}
          placeholder="arog_…"
          value={apiKey}
          disabled={graphs !== null}
          aria-describedby="api-key-help"
          onInput={(event) => setApiKey(event.currentTarget.value)}
        />
      </label>
      <p class="quiet" id="api-key-help">
        Whoever runs the service gives you one. On your own machine, <code>arog serve</code> writes one for the demo
        graph into <code>data/demo.key</code>.
      </p>
      {graphs !== null && (
        <fieldset class="field">
          <legend>Graph</legend>
          {graphs.graphs.map((name) => (
            <label class="option" key={name}>
              <input type="radio" name="graph" checked={name === graph} onChange={() => setGraph(name)} />
              <span>{name}</span>
            </label>
          ))}
          {graphs.graphs.length === 0 && <p class="quiet">This key may ask no graph yet: you can look after graphs with it.</p>}
        </fieldset>
      )}
      {graphs !== null && wantsPassphrase && <PassphraseField isNew value={passphrase} onInput={setPassphrase} />}
      {problem && <ErrorNote problem={problem} />}
      <p class="row">
        <button class="primary" disabled={!isReady || isBusy}>{graphs === null ? "Continue" : "Begin"}</button>
        {graphs !== null && <button type="button" onClick={() => setGraphs(null)}>Another key</button>}
        {graphs === null && session.value !== null && <button type="button" onClick={stay}>Back</button>}
      </p>
    </form>
  );
}
