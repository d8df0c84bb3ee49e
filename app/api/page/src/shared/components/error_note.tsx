import type { ComponentChildren } from "preact";
import type { ArogError } from "../../protocol/errors";

/** What went wrong, what to do, and the id by which the operator finds it. Children are buttons. */
export function ErrorNote({ problem, children }: { problem: ArogError; children?: ComponentChildren }) {
  return (
    <div class="note note-bad" role="alert" data-code={problem.code}>
      <p class="note-title">{sentence(problem.message)}</p>
      {problem.hint && <p>{sentence(problem.hint)}</p>}
      {problem.retryAfterS !== null && <p>Try again in {problem.retryAfterS} s.</p>}
      {problem.id && <p class="quiet">The operator finds it as <code>{problem.id}</code>.</p>}
      {children && <p class="row">{children}</p>}
    </div>
  );
}

/** With a capital and a stop, as the service's own words have none at times. */
function sentence(words: string): string {
  const capital = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?…]$/.test(capital) ? capital : `${capital}.`;
}
