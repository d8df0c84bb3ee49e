import { beginAnew, current, drop, history, show } from "./asking";
import type { Conversation } from "../shared/stored_types";

/** The conversations that this browser keeps, newest first. */
export function History({ onChosen = () => undefined }: { onChosen?: () => void }) {
  const choose = (work: () => void) => () => {
    work();
    onChosen();
  };
  return (
    <div class="history">
      <button type="button" class="wide" onClick={choose(beginAnew)}>New conversation</button>
      {history.value.length === 0 && <p class="quiet">Your conversations stay in this browser.</p>}
      <ul>
        {history.value.map((one) => (
          <li key={one.id} class="history-row">
            <button
              type="button"
              class="history-title"
              aria-current={one.id === current.value.id ? "true" : undefined}
              onClick={choose(() => show(one))}
            >
              <span>{titleOf(one)}</span>
              <span class="quiet">{one.graph} · {dayOf(one.updated)}</span>
            </button>
            <button type="button" class="plain history-drop" aria-label={`Delete: ${titleOf(one)}`} onClick={() => void drop(one)}>
              ✕
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function titleOf(conversation: Conversation): string {
  return conversation.turns[0]?.typed ?? "No question yet";
}

function dayOf(at: number): string {
  return new Date(at).toLocaleDateString(undefined, { day: "numeric", month: "short" });
}
