/** Below it an answer comes with a caution: as client_sdk/answers/confidence.py has it. */
const MIN_SURE = 0.7;

/** How sure an answer is, in a few small words; nothing where nothing measures it. */
export function Confidence({ confidence }: { confidence: number | null | undefined }) {
  // An answer that was kept before answers had one has none.
  if (confidence === null || confidence === undefined) {
    return null;
  }
  const words = `confidence ${confidence.toFixed(2)}`;
  return confidence < MIN_SURE ? <p class="note">Not sure: {words}.</p> : <p class="quiet">{words}</p>;
}
