/** The dialogue on the screen and what goes on in it: asking, stopping, asking again, and the history. */

import { signal } from "@preact/signals";
import type { ArogError } from "../protocol/errors";
import { AnswerReader } from "../protocol/reading";
import { joined, type Segment } from "../protocol/restoration";
import type { ChatAnswer, Stage } from "../protocol/wire";
import { isAborted, told } from "../shared/service";
import { change, session, type Session, settings } from "../shared/session";
import { dropConversation, keepConversation, keptConversations } from "../shared/store";
import type { Conversation, Turn } from "../shared/stored_types";
import { wordsOf } from "./progress";
import { newConversation, newTurn, optionsOf, requestOf } from "./conversation";
import { type Rating, ratingRequest } from "./ratings";

/** The turn that is being answered now: how far it is, and the text so far. */
export interface Live {
  turn: string;
  stage: Stage | null;
  segments: Segment[];
}

export const current = signal<Conversation>(newConversation(""));
export const history = signal<Conversation[]>([]);
export const live = signal<Live | null>(null);
/** Why a turn has no answer; it is not kept. */
export const failures = signal<ReadonlyMap<string, ArogError | "stopped">>(new Map());
/** What is told to those who listen to the page: each stage, then the answer. */
export const announcement = signal("");
/** What stands in the box below the dialogue. */
export const draft = signal("");

let running: AbortController | null = null;

export async function loadHistory(): Promise<void> {
  const kept = await keptConversations();
  history.value = kept;
  const last = kept[0];
  if (current.value.turns.length === 0 && last !== undefined && last.graph === settings.value.graph) {
    current.value = last;
  }
}

/** Begins a new conversation: new pseudonyms, and nothing of the others goes with it. */
export function beginAnew(): void {
  stop();
  current.value = newConversation(settings.value.graph);
}

export function show(conversation: Conversation): void {
  stop();
  current.value = conversation;
  void change({ graph: conversation.graph });
}

/** The conversation on the screen is always one about the chosen graph. */
export function followGraph(graph: string): void {
  if (current.value.graph !== graph) {
    beginAnew();
  }
}

export async function drop(conversation: Conversation): Promise<void> {
  await dropConversation(conversation.id);
  history.value = history.value.filter((one) => one.id !== conversation.id);
  if (current.value.id === conversation.id) {
    beginAnew();
  }
}

/** Gives a conversation a title of its own; without one it is called by its first question. */
export async function rename(conversation: Conversation, title: string): Promise<void> {
  const { title: _old, ...rest } = conversation;
  const kept = title.trim() === "" ? rest : { ...rest, title: title.trim() };
  if (current.value.id === kept.id) {
    current.value = { ...current.value, ...kept };
  }
  history.value = history.value.map((one) => (one.id === kept.id ? kept : one));
  await keepConversation(kept);
}

/** Asks `typed`; `sent` is what travels, where that is something else. */
export async function ask(typed: string, sent: string = typed): Promise<void> {
  const now = session.value;
  if (now === null || live.value !== null || !typed.trim()) {
    return;
  }
  followGraph(settings.value.graph);
  const turn = newTurn(typed.trim(), sent.trim());
  const asked = { ...current.value, turns: [...current.value.turns, turn] };
  await remember(asked);
  await answer(now, asked, turn);
}

/** Asks the last turn once more; `lookedFor`: what public facts are then looked for by. */
export async function askAgain(lookedFor?: string[]): Promise<void> {
  const now = session.value;
  const last = current.value.turns.at(-1);
  if (now === null || live.value !== null || last === undefined) {
    return;
  }
  const { rating: _old, ...unrated } = last;
  const turn = { ...unrated, ...(lookedFor === undefined ? {} : { lookedFor }), reply: null };
  await answer(now, withTurn(current.value, turn), turn);
}

/** Asks the last turn in a conversation of its own: where the service keeps the old one no longer. */
export async function askInNewConversation(): Promise<void> {
  const last = current.value.turns.at(-1);
  if (last === undefined) {
    return;
  }
  await remember({ ...current.value, turns: current.value.turns.filter((one) => one.id !== last.id) });
  beginAnew();
  await ask(last.typed, last.sent);
}

/** Sends the rating of an answer, and keeps which it was. Raises ArogError. */
export async function rate(turn: Turn, reply: ChatAnswer, rating: Rating, correct: string[]): Promise<void> {
  const [now, rated] = [session.value, current.value];
  if (now === null) {
    return;
  }
  await now.service.tell("/ratings", { method: "POST", body: ratingRequest(reply, rating, correct) });
  const whole = current.value.id === rated.id ? current.value : rated;
  await remember(withTurn(whole, { ...turn, rating }));
}

export function stop(): void {
  running?.abort();
}

async function answer(now: Session, asked: Conversation, turn: Turn): Promise<void> {
  const mine = new AbortController();
  running = mine;
  fail(turn.id, null);
  live.value = { turn: turn.id, stage: null, segments: [] };
  try {
    const reply = await streamed(now, asked, turn, mine.signal);
    await remember({ ...withTurn(asked, { ...turn, reply }), conversation: reply.conversation });
  } catch (raised) {
    fail(turn.id, isAborted(raised) ? "stopped" : told(raised));
  } finally {
    if (running === mine) {
      running = null;
    }
    if (live.value?.turn === turn.id) {
      live.value = null;
    }
  }
}

async function streamed(now: Session, asked: Conversation, turn: Turn, signal: AbortSignal) {
  const request = requestOf(asked, turn, now.key.publicText, optionsOf(settings.value));
  const reader = new AnswerReader(now.key, asked.graph, asked.conversation);
  for await (const event of now.service.stream("/chat", { method: "POST", body: request, signal })) {
    const shown = await reader.read(event);
    const before = live.value;
    if (shown !== null && before?.turn === turn.id) {
      live.value = "stage" in shown
        ? { ...before, stage: shown.stage }
        : { ...before, segments: [...before.segments, ...shown.segments] };
      announcement.value = reader.isDone ? joined(live.value.segments) : wordsOf(live.value.stage);
    }
    if (reader.isDone) {
      break;
    }
  }
  return reader.whole();
}

/** Keeps a conversation, and shows it where it is the one on the screen. */
async function remember(conversation: Conversation): Promise<void> {
  const kept = { ...conversation, updated: Date.now() };
  if (current.value.id === kept.id) {
    current.value = kept;
  }
  history.value = [kept, ...history.value.filter((one) => one.id !== kept.id)];
  await keepConversation(kept);
}

function withTurn(conversation: Conversation, turn: Turn): Conversation {
  return { ...conversation, turns: conversation.turns.map((one) => (one.id === turn.id ? turn : one)) };
}

function fail(turn: string, problem: ArogError | "stopped" | null): void {
  const now = new Map(failures.value);
  if (problem === null) {
    now.delete(turn);
  } else {
    now.set(turn, problem);
  }
  failures.value = now;
}
