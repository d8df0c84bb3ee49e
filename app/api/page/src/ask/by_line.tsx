/** The quiet line under an answer: how it was found, how sure it is, and how long it took. */

import { inShort, joined, segmentsOf } from "../protocol/restoration";
import type { ChatAnswer, NameTable } from "../protocol/wire";
import { pathLines } from "./path_line";

/** Below it an answer comes with a caution: as client_sdk/answers/evidence.py has it. */
const MIN_SURE = 0.7;
const MIN_VERY_SURE = 0.9;

export function ByLine({ reply, table }: { reply: ChatAnswer; table: NameTable }) {
  const how = howFound(reply, table);
  const sure = howSure(reply.confidence);
  const long = howLong(reply);
  if (how === "" && sure === "" && long === "") {
    return null;
  }
  return (
    <p class="by-line quiet">
      {how !== "" && <span class="by-line-how" title={how}>{how}</span>}
      {sure !== "" && (
        <span class={sure === "not sure" ? "unsure" : undefined} title={`Confidence ${reply.confidence?.toFixed(2)} of 1`}>{sure}</span>
      )}
      {long !== "" && <span>{long}</span>}
    </p>
  );
}

function howFound(reply: ChatAnswer, table: NameTable): string {
  const paths = pathLines(reply.evidence, table);
  const short = inShort(table);
  const lines = paths.length > 0 ? paths : reply.worked_out.map((sentence) => joined(segmentsOf(sentence, short)));
  return reply.answered ? lines.join("; ") : "";
}

/** Empty where nothing measures it. An answer that was kept before answers had a confidence has none. */
export function howSure(confidence: number | null | undefined): string {
  if (confidence === null || confidence === undefined) {
    return "";
  }
  return confidence < MIN_SURE ? "not sure" : confidence < MIN_VERY_SURE ? "fairly sure" : "sure";
}

function howLong({ usage }: ChatAnswer): string {
  const seconds = [...usage.milliseconds.values()].reduce((sum, each) => sum + each, 0) / 1000;
  return seconds === 0 ? "" : seconds < 0.1 ? "under 0.1 s" : `${seconds.toFixed(1)} s`;
}
