/** The view of those who ask: the history at the side, the dialogue, and the box to ask in. */

import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Dialog } from "../shared/components/dialog";
import { graph } from "../shared/session";
import { seenTurn } from "./answered";
import { announcement, current, failures, followGraph, loadHistory } from "./asking";
import { Composer } from "./composer";
import { EmptyState } from "./empty_state";
import { History } from "./history";
import { SeenPanel } from "./seen_panel";
import { TurnView } from "./turn_view";

const LEAST_SEEN = 120; // pixels
const isHistoryOpen = signal(false);

export function AskView() {
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    void loadHistory();
  }, []);
  useEffect(() => followGraph(graph.value), [graph.value]);
  const { turns } = current.value;
  // The newest question goes to the top, and its answer grows below it: nothing moves while it does.
  useLayoutEffect(() => list.current?.lastElementChild?.scrollIntoView({ block: "start" }), [current.value.id, turns.length]);
  useLayoutEffect(() => showAnswer(list.current?.lastElementChild ?? null), [turns.at(-1)?.reply, failures.value]);
  // Of the conversation on the screen alone: another one's prompts would stand beside the wrong answer.
  const seen = turns.find((turn) => turn.id === seenTurn.value?.id)?.reply ?? null;
  return (
    <div class={seen === null ? "ask" : "ask ask-with-seen"}>
      <aside class="ask-side" aria-label="Conversations"><History /></aside>
      <main class="ask-main">
        <div class="ask-scroll">
          <div class="ask-column">
            <button type="button" class="plain only-narrow" onClick={() => (isHistoryOpen.value = true)}>
              Conversations
            </button>
            <h1 class="hidden">Ask</h1>
            <p class="hidden" role="status">{announcement.value}</p>
            {turns.length === 0 && <EmptyState />}
            <ol class="turns" ref={list}>
              {turns.map((turn, at) => (
                <li key={turn.id}><TurnView turn={turn} number={at + 1} isLast={at === turns.length - 1} /></li>
              ))}
            </ol>
          </div>
        </div>
        <Composer />
      </main>
      {seen !== null && <SeenPanel key={seen.id} reply={seen} onClose={() => (seenTurn.value = null)} />}
      {isHistoryOpen.value && (
        <Dialog title="Conversations" kind="side" onClose={() => (isHistoryOpen.value = false)}>
          <History onChosen={() => (isHistoryOpen.value = false)} />
        </Dialog>
      )}
    </div>
  );
}

/** Below a question that fills the screen its answer would begin out of sight. */
function showAnswer(turn: Element | null): void {
  const answer = turn?.querySelector(".answer");
  const scroll = turn?.closest(".ask-scroll");
  if (answer && scroll && answer.getBoundingClientRect().top > scroll.getBoundingClientRect().bottom - LEAST_SEEN) {
    answer.scrollIntoView({ block: "start" });
  }
}
