/** The first-run screen: a sign-in or an API key, a graph, done. The reader's key is made on the way. */

import type { TargetedEvent } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ArogError } from "../protocol/errors";
import { ErrorNote } from "../shared/components/error_note";
import { PassphraseField } from "../shared/components/passphrase_field";
import { LEAST_PASSPHRASE, needsPassphrase } from "../shared/keys";
import { keyAccess, told } from "../shared/service";
import { type KnownGraphs, endSignIn, enter, graphsOf, person, session, signInProblem, stay } from "../shared/session";
import { beginSignIn, personAccess, type SignInPlace, signInPlace } from "../shared/sign_in";

export function Welcome() {
  const [apiKey, setApiKey] = useState("");
  const [place, setPlace] = useState<SignInPlace | null>(null);
  const [graphs, setGraphs] = useState<KnownGraphs | null>(null);
  const [graph, setGraph] = useState("");
  const [passphrase, setPassphrase] = useState("");
  const [wantsPassphrase, setWantsPassphrase] = useState(false);
  const [problem, setProblem] = useState<ArogError | null>(signInProblem.value);
  const [isBusy, setBusy] = useState(false);
  const isSignedIn = person.value !== null;

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
  const look = async () => {
    const found = await graphsOf(isSignedIn ? personAccess : keyAccess(apiKey.trim()));
    const [first = ""] = found.graphs;
    const isSettled = found.graphs.length < 2 && !(await needsPassphrase());
    if (isSettled) {
      await enter(apiKey.trim(), found, first, "");
      return;
    }
    setGraphs(found);
    setGraph(first);
  };
  useEffect(() => {
    void needsPassphrase().then(setWantsPassphrase);
    if (isSignedIn) {
      void tryIt(look);
    } else {
      signInPlace().then(setPlace, (raised: unknown) => setProblem(told(raised)));
    }
  }, []);
  const submit = (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault();
    void tryIt(graphs === null ? look : () => enter(apiKey.trim(), graphs, graph, passphrase));
  };
  const isKnown = isSignedIn || apiKey.trim() !== "";
  const isReady = graphs === null ? isKnown : !wantsPassphrase || passphrase.length >= LEAST_PASSPHRASE;

  return (
    <form class="card welcome" onSubmit={submit}>
      <p class="brand">arog</p>
      <h1>Ask a private graph</h1>
      <p class="lead">
        The language model sees pseudonyms. The names come to this browser sealed, and only this browser can open them.
      </p>
      {place !== null && (
        <>
          <p>
            <button type="button" class="primary" disabled={isBusy} onClick={() => void tryIt(() => beginSignIn(place))}>
              Sign in
            </button>
          </p>
          <p class="quiet">You sign in at {new URL(place.issuer).host}. Or use an API key:</p>
        </>
      )}
      {!isSignedIn && <ApiKeyField value={apiKey} isDisabled={graphs !== null} onInput={setApiKey} />}
      {graphs !== null && (
        <fieldset class="field">
          <legend>Graph</legend>
          {graphs.graphs.map((name) => (
            <label class="option" key={name}>
              <input type="radio" name="graph" checked={name === graph} onChange={() => setGraph(name)} />
              <span>{name}</span>
            </label>
          ))}
          {graphs.graphs.length === 0 && <p class="quiet">You may ask no graph yet: you can look after graphs.</p>}
        </fieldset>
      )}
      {graphs !== null && wantsPassphrase && <PassphraseField isNew value={passphrase} onInput={setPassphrase} />}
      {problem && <ErrorNote problem={problem} />}
      <p class="row">
        <button class={place === null || graphs !== null ? "primary" : ""} disabled={!isReady || isBusy}>
          {graphs === null ? "Continue" : "Begin"}
        </button>
        {isSignedIn && <button type="button" onClick={() => void endSignIn()}>Sign out</button>}
        {!isSignedIn && graphs !== null && <button type="button" onClick={() => setGraphs(null)}>Another key</button>}
        {graphs === null && session.value !== null && <button type="button" onClick={stay}>Back</button>}
      </p>
    </form>
  );
}

function ApiKeyField({ value, isDisabled, onInput }: { value: string; isDisabled: boolean; onInput: (key: string) => void }) {
  return (
    <>
      <label class="field">
        <span>API key</span>
        <input
          type="password"
          name="api-key"
          autocomplete="off"
          spellcheck={false}
          placeholder="arog_…"
          value={value}
          disabled={isDisabled}
          aria-describedby="api-key-help"
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      </label>
      <p class="quiet" id="api-key-help">
        Whoever runs the service gives you one. On your own machine, <code>arog serve</code> writes one for the demo
        graph into <code>data/demo.key</code>.
      </p>
    </>
  );
}
