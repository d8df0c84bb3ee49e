/** What can be done with an answer, as one row of icons. */

import { useState } from "preact/hooks";
import { IconButton } from "../shared/components/icons";
import type { ChatAnswer } from "../protocol/wire";
import { seenTurn } from "./answered";
import { askAgain, live } from "./asking";
import { type Rater, WhatIsRight } from "./rating";
import type { Turn } from "../shared/stored_types";
import { ErrorNote } from "../shared/components/error_note";

export type Open = "evidence" | "table" | null;

interface Props {
  turn: Turn;
  reply: ChatAnswer;
  isLast: boolean;
  /** The answer as it reads. */
  text: string;
  has: { evidence: boolean; table: boolean };
  open: Open;
  onOpen: (open: Open) => void;
  rater: Rater;
}

export function AnswerBar({ turn, reply, isLast, text, has, open, onOpen, rater }: Props) {
  const [isCopied, setCopied] = useState(false);
  const copy = () => navigator.clipboard.writeText(text).then(() => setCopied(true), () => setCopied(false));
  const toggle = (one: Open) => onOpen(open === one ? null : one);
  const isSeen = seenTurn.value?.id === turn.id;
  const isBusy = rater.isSending || live.value !== null;
  return (
    <>
      <div class="answer-bar" role="group" aria-label="This answer">
        {has.evidence && (
          <IconButton name="evidence" label="Evidence" expanded={open === "evidence"} onClick={() => toggle("evidence")} />
        )}
        {reply.usage.calls > 0 && (
          <IconButton name="seen" label="What the model saw" expanded={isSeen} onClick={() => (seenTurn.value = isSeen ? null : turn)} />
        )}
        <IconButton name="copy" label={isCopied ? "Copied" : "Copy"} onClick={() => void copy()} />
        {has.table && <IconButton name="table" label="As a table" expanded={open === "table"} onClick={() => toggle("table")} />}
        <IconButton name="right" label="Right" pressed={turn.rating === "right"} disabled={isBusy} onClick={() => void rater.send("right")} />
        <IconButton name="wrong" label="Wrong" pressed={turn.rating === "wrong"} disabled={isBusy} onClick={() => void rater.send("wrong")} />
        {isLast && live.value === null && <IconButton name="again" label="Ask again" onClick={() => void askAgain()} />}
        {turn.rating !== undefined && !rater.asksWhatIsRight && <span class="quiet" role="status">Thank you.</span>}
      </div>
      {rater.asksWhatIsRight && <WhatIsRight isSending={rater.isSending} send={(names) => void rater.send("wrong", names)} />}
      {rater.problem !== null && <ErrorNote problem={rater.problem} />}
    </>
  );
}
