import { ErrorNote } from "../shared/components/error_note";
import { segmentsOf } from "../protocol/restore";
import type { ChatAnswer } from "../protocol/wire";
import { Chips } from "./chips";
import type { Turn } from "./conversation";
import { NamedText } from "./named_text";
import { useNames } from "./opened";

/** An answer with its names: its text, what it lists, what it asks back, and what lies behind it. */
export function Answered({ reply }: { turn: Turn; reply: ChatAnswer; isLast: boolean }) {
  const opened = useNames(reply);
  if (opened === null) {
    return <p class="answer-text" aria-busy="true" />;
  }
  return (
    <>
      <p class="answer-text"><NamedText segments={segmentsOf(reply.message.content, opened.table)} /></p>
      {opened.problem && <ErrorNote problem={opened.problem} />}
      <Chips entities={reply.entities} table={opened.table} />
    </>
  );
}
