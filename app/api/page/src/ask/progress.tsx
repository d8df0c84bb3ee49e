import type { Stage } from "../protocol/wire";

const WORDS = new Map([
  ["linking", "Finding the names in your question"],
  ["finding", "Searching the graph"],
  ["concluding", "Working out the answer"],
  ["suggesting", "Looking for questions to go on with"],
  ["sealing", "Sealing the names for you"],
]);

/** How far the service is, in words. */
export function Progress({ stage }: { stage: Stage | null }) {
  return (
    <p class="progress">
      <span class="progress-dot" aria-hidden="true" />
      {wordsOf(stage)} …
    </p>
  );
}

/** What is going on, in words. */
export function wordsOf(stage: Stage | null): string {
  if (stage === null) {
    return "Asking";
  }
  if (stage.name === "round") {
    return `Searching the graph, step ${stage.number ?? 1}`;
  }
  return WORDS.get(stage.name) ?? "Working";
}
