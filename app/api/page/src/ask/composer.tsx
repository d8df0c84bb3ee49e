import type { TargetedEvent, TargetedKeyboardEvent } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { MAX_MESSAGE_CHARS } from "../protocol/wire";
import { ask, current, draft, live, stop } from "./asking";

/** The box to ask in: Enter asks, Shift and Enter makes a new line, Escape stops. */
export function Composer() {
  const box = useRef<HTMLTextAreaElement>(null);
  const isBusy = live.value !== null;
  // Not where a keyboard would come up on the screen, nor away from what the reader is at.
  useEffect(() => {
    if (document.activeElement === document.body && matchMedia("(hover: hover)").matches) {
      box.current?.focus();
    }
  }, [current.value.id, isBusy]);
  useEffect(() => {
    const area = box.current;
    if (area !== null) {
      area.style.height = "auto";
      area.style.height = `${area.scrollHeight}px`;
    }
  }, [draft.value]);
  const submit = (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isBusy) {
      stop();
    } else if (draft.value.trim()) {
      const question = draft.value;
      draft.value = "";
      void ask(question);
    }
  };
  const onKey = (event: TargetedKeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === "Escape" && isBusy) {
      stop();
    }
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      if (!isBusy) {
        event.currentTarget.form?.requestSubmit();
      }
    }
  };
  return (
    <form class="composer" onSubmit={submit}>
      <div class="composer-box">
        <textarea
          ref={box}
          rows={1}
          aria-label="Your question"
          placeholder={current.value.turns.length ? "Ask a follow-up question" : "Ask a question"}
          maxLength={MAX_MESSAGE_CHARS}
          value={draft.value}
          onInput={(event) => (draft.value = event.currentTarget.value)}
          onKeyDown={onKey}
        />
        {isBusy ? <button class="stop">Stop</button> : <button class="primary" disabled={!draft.value.trim()}>Ask</button>}
      </div>
    </form>
  );
}
