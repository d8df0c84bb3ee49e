/** Begins a dialogue and its turns, and makes the request that asks the next one, names still sealed. */

import { type ChatOptions, type ChatRequest, MAX_MESSAGES, type Message } from "../protocol/wire";
import type { KeptSettings } from "../shared/store";
import type { Conversation, Turn } from "../shared/stored_types";

export function newConversation(graph: string): Conversation {
  const now = Date.now();
  return { id: crypto.randomUUID(), graph, conversation: null, created: now, updated: now, turns: [] };
}

const PERSON_CHARS = 32;

export function newTurn(typed: string, sent: string = typed): Turn {
  return { id: crypto.randomUUID(), typed, sent, at: Date.now(), reply: null };
}

/** What the settings say of names. */
export function optionsOf({ names, language }: Pick<KeptSettings, "names" | "language">): ChatOptions {
  return language ? { names, language } : { names };
}

/**
 * The request that asks `turn` after the turns that were answered before it. Assistant turns go as the service sent
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
    strategy: "auto",
    options: {
      ...options,
      ...(turn.lookedFor === undefined ? {} : { looked_for: turn.lookedFor }),
      person: personOf(publicKey),
    },
    public_key: publicKey,
    stream: true,
  };
}

/** Each browser is a person: what is rated or remembered in one is none of another's, though they share an API key. */
export function personOf(publicKey: string): string {
  return publicKey.slice(-PERSON_CHARS);
}
