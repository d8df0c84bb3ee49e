import { useEffect, useState } from "preact/hooks";
import { graphSuggestionsOf } from "../protocol/wire";
import { session, settings } from "../shared/session";
import { ask } from "./asking";

const DEMO_QUESTIONS = [
  "Which cities have a population below 20,000?",
  "Which doctor has the highest monthly salary?",
  "How many patients are insured by each insurer?",
  "Which clinics were opened after 1 January 2000?",
];

/** What to do before the first question. Suggestions were answered by the service; where it has none, none is shown. */
export function EmptyState() {
  const { graph } = settings.value;
  const suggested = useSuggestions(graph);
  if (graph === "") {
    return (
      <section class="empty">
        <h2>There is no graph to ask yet</h2>
        <p class="lead">Load one under <a href="#/graphs/load">Graphs</a>, or use a key that may ask one.</p>
      </section>
    );
  }
  return (
    <section class="empty">
      <h2>What would you like to know?</h2>
      <p class="lead">
        Ask <strong>{graph}</strong> in plain words, with names as you know them. They are replaced before a language
        model sees the question, and put back here.
      </p>
      <ul class="examples">
        {suggested.map((question) => (
          <li key={question}>
            <button type="button" onClick={() => void ask(question)}>{question}</button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function useSuggestions(graph: string): readonly string[] {
  const [found, setFound] = useState<readonly string[]>([]);
  useEffect(() => {
    setFound(graph === "demo" ? DEMO_QUESTIONS : []);
    const leaving = new AbortController();
    if (graph !== "" && graph !== "demo") {
      session.value?.service
        .ask(`/graphs/${encodeURIComponent(graph)}/suggestions`, graphSuggestionsOf, { signal: leaving.signal })
        .then(({ questions }) => setFound(questions), () => undefined);
    }
    return () => leaving.abort();
  }, [graph]);
  return found;
}
