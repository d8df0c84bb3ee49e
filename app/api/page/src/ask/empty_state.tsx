import { settings } from "../shared/session";
import { ask } from "./asking";

const DEMO_QUESTIONS = [
  "Which cities have a population below 20,000?",
  "Which doctor has the highest monthly salary?",
  "How many patients are insured by each insurer?",
  "Which clinics were opened after 1 January 2000?",
];

/** What to do before the first question. The demo graph, whose people are invented, comes with examples. */
export function EmptyState() {
  const { graph } = settings.value;
  return (
    <section class="empty">
      <h2>What would you like to know?</h2>
      <p class="lead">
        Ask <strong>{graph}</strong> in plain words, with names as you know them. They are replaced before a language
        model sees the question, and put back here.
      </p>
      {graph === "demo" && (
        <ul class="examples">
          {DEMO_QUESTIONS.map((question) => (
            <li key={question}>
              <button type="button" onClick={() => void ask(question)}>{question}</button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
