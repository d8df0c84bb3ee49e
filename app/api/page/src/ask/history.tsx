/** The conversations that this browser keeps, newest first: found by their words, renamed, exported, deleted. */

import type { TargetedEvent } from "preact";
import { useState } from "preact/hooks";
import { session } from "../shared/session";
import type { Conversation } from "../shared/stored_types";
import { beginAnew, current, drop, history, rename, show } from "./asking";
import { exportConversation, titleOf } from "./conversation_file";

const MANY = 5;

export function History({ onChosen = () => undefined }: { onChosen?: () => void }) {
  const [wanted, setWanted] = useState("");
  const found = history.value.filter((one) => holds(one, wanted));
  const choose = (work: () => void) => () => {
    work();
    onChosen();
  };
  return (
    <div class="history">
      <button type="button" class="wide" onClick={choose(beginAnew)}>New conversation</button>
      {history.value.length === 0 && <p class="quiet">Your conversations stay in this browser.</p>}
      {(history.value.length > MANY || wanted !== "") && (
        <input
          type="search"
          aria-label="Search conversations"
          placeholder="Search conversations"
          value={wanted}
          onInput={(event) => setWanted(event.currentTarget.value)}
        />
      )}
      {found.length === 0 && wanted !== "" && <p class="quiet" role="status">None holds these words.</p>}
      <ul>
        {found.map((one) => <Entry key={one.id} conversation={one} onChoose={choose(() => show(one))} />)}
      </ul>
    </div>
  );
}

function Entry({ conversation, onChoose }: { conversation: Conversation; onChoose: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const title = titleOf(conversation);
  return (
    <li class="history-entry">
      <div class="history-row">
        <button
          type="button"
          class="history-title"
          aria-current={conversation.id === current.value.id ? "true" : undefined}
          onClick={onChoose}
        >
          <span>{title}</span>
          <span class="quiet">{conversation.graph} · {dayOf(conversation.updated)}</span>
        </button>
        <button type="button" class="plain history-more" aria-label={`More for: ${title}`} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          ⋯
        </button>
      </div>
      {isOpen && <Actions conversation={conversation} onDone={() => setOpen(false)} />}
    </li>
  );
}

function Actions({ conversation, onDone }: { conversation: Conversation; onDone: () => void }) {
  const [isRenaming, setRenaming] = useState(false);
  const [isDropping, setDropping] = useState(false);
  const [title, setTitle] = useState(titleOf(conversation));
  const key = session.value?.key ?? null;
  const submit = (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault();
    void rename(conversation, title).then(onDone);
  };
  if (isRenaming) {
    return (
      <form class="history-actions" onSubmit={submit}>
        <input aria-label="New title" maxLength={120} value={title} onInput={(event) => setTitle(event.currentTarget.value)} />
        <button class="small">Save</button>
        <button type="button" class="small" onClick={onDone}>Cancel</button>
      </form>
    );
  }
  return (
    <p class="history-actions">
      <button type="button" class="small" onClick={() => setRenaming(true)}>Rename</button>
      {key !== null && (
        <button type="button" class="small" onClick={() => void exportConversation(conversation, key).then(onDone)}>Export</button>
      )}
      {isDropping ? (
        <button type="button" class="small danger" onClick={() => void drop(conversation)}>Delete for good</button>
      ) : (
        <button type="button" class="small" onClick={() => setDropping(true)}>Delete</button>
      )}
    </p>
  );
}

/** In its title, its graph, or what was typed: names in answers are sealed, and not looked through. */
function holds(conversation: Conversation, wanted: string): boolean {
  const words = [titleOf(conversation), conversation.graph, ...conversation.turns.map((turn) => turn.typed)];
  return words.some((each) => each.toLowerCase().includes(wanted.trim().toLowerCase()));
}

function dayOf(at: number): string {
  return new Date(at).toLocaleDateString(undefined, { day: "numeric", month: "short" });
}
