/** One dialogue as the page keeps it: what it sends next, and what came back, names still sealed. */

import {
  type ChatAnswer,
  type ChatOptions,
  type ChatRequest,
  MAX_MESSAGES,
  type Message,
} from "../protocol/wire";

/**
 * A question and its answer. `typed` is what the reader sees of the question, `sent` what the service is sent: they
 * differ where a choice was clicked, for then an ordinal travels and no name. `reply` is the answer as it came, its
 * names in its capsule: what is kept of names is sealed to this browser's key.
 */
export interface Turn {
  id: string;
  typed: string;
  sent: string;
  at: number;
  reply: ChatAnswer | null;
}

/** `conversation` is the service's id of it, null before the first answer. */
export interface Conversation {
  id: string;
  graph: string;
  conversation: string | null;
  created: number;
  updated: number;
  turns: Turn[];
}

export function newConversation(graph: string): Conversation {
  const now = Date.now();
  return { id: crypto.randomUUID(), graph, conversation: null, created: now, updated: now, turns: [] };
}

export function newTurn(typed: string, sent: string = typed): Turn {
  return { id: crypto.randomUUID(), typed, sent, at: Date.now(), reply: null };
}

/**
 * What to send to ask `turn` after the turns that were answered before it. Assistant turns go as the service sent
 * them, in pseudonyms: no restored name is ever part of a request.
 */
export function requestOf(
  conversation: Conversation,
  turn: Turn,
  publicKey: string,
  options: ChatOptions,
): ChatRequest {
  const before: Message[] = conversation.turns
    .slice(0, Math.max(0, conversation.turns.findIndex((one) => one.id === turn.id)))
    .flatMap((one) => (one.reply === null ? [] : [{ role: "user" as const, content: one.sent }, one.reply.message]));
  return {
    graph: conversation.graph,
    // The newest turns that fit; pairs, so that the first is a user's.
    messages: [...before.slice(-(MAX_MESSAGES - 2)), { role: "user", content: turn.sent }],
    conversation: conversation.conversation,
    strategy: "sets",
    options,
    public_key: publicKey,
    stream: true,
  };
}
