/** The sentences of a reply in dialogue, each with the facts that carry it, and which of both are marked. */

import { Restorer, type Segment } from "../protocol/restoration";
import type { ChatAnswer, NameTable } from "../protocol/wire";

/** A stretch of the reply's text: a sentence with the positions of its facts, or what stands between two (null). */
export interface Part {
  segments: Segment[];
  sentence: number | null;
  facts: number[];
}

/** What has the pointer or the focus, or was chosen: a sentence or a fact, by its position. */
export type Mark = { kind: "sentence" | "fact"; at: number } | null;

/**
 * The whole text of the reply, restored in one go, cut where its sentences begin and end; null where it has none, or
 * where they do not stand in it one after the other.
 */
export function partsOf(reply: ChatAnswer, table: NameTable): Part[] | null {
  const sentences = reply.sentences ?? []; // Answers that were kept by an earlier version have none.
  const content = reply.message.content;
  const cuts: { text: string; sentence: number | null }[] = [];
  let at = 0;
  for (const [sentence, { text }] of sentences.entries()) {
    const found = text === "" ? -1 : content.indexOf(text, at);
    if (found < 0) {
      return null;
    }
    cuts.push({ text: content.slice(at, found), sentence: null }, { text, sentence });
    at = found + text.length;
  }
  if (sentences.length === 0) {
    return null;
  }
  cuts.push({ text: content.slice(at), sentence: null });
  const restorer = new Restorer(table);
  const parts = cuts.map(({ text, sentence }) => ({
    segments: restorer.push(text),
    sentence,
    facts: sentence === null ? [] : factsOf(reply, sentence),
  }));
  parts.at(-1)?.segments.push(...restorer.finish());
  return parts.filter((part) => part.segments.length > 0);
}

/** The facts that carry a sentence, by their positions in the evidence, each once. */
export function factsOf(reply: ChatAnswer, sentence: number): number[] {
  const facts = reply.sentences?.[sentence]?.facts ?? [];
  return [...new Set(facts)].filter((at) => Number.isInteger(at) && at >= 0 && at < reply.evidence.length);
}

/** The sentences that a fact carries. */
export function sentencesOf(reply: ChatAnswer, fact: number): number[] {
  return (reply.sentences ?? []).flatMap((_, sentence) => (factsOf(reply, sentence).includes(fact) ? [sentence] : []));
}

/** Whether any sentence leans on a fact that is shown. */
export function hasCarriers(reply: ChatAnswer): boolean {
  return reply.evidence.some((_, fact) => sentencesOf(reply, fact).length > 0);
}

/** The facts to set apart. */
export function markedFacts(reply: ChatAnswer, mark: Mark): ReadonlySet<number> {
  return new Set(mark === null ? [] : mark.kind === "fact" ? [mark.at] : factsOf(reply, mark.at));
}

/** The sentences to set apart. */
export function markedSentences(reply: ChatAnswer, mark: Mark): ReadonlySet<number> {
  return new Set(mark === null ? [] : mark.kind === "sentence" ? [mark.at] : sentencesOf(reply, mark.at));
}

/** `1, 3`: facts as they are numbered in the evidence. */
export function numbersOf(facts: readonly number[]): string {
  return facts.map((at) => at + 1).join(", ");
}

/** `2 statements were removed: the graph does not hold them.`, and how many were restated. */
export function amendmentsOf(reply: ChatAnswer): string[] {
  const restated = (reply.sentences ?? []).filter((sentence) => sentence.restated).length;
  const told: string[] = [];
  if (restated > 0) {
    const sentences = restated === 1 ? "1 sentence was" : `${restated} sentences were`;
    told.push(`${sentences} written anew from the graph: the model's own could not be confirmed.`);
  }
  if (reply.removed > 0) {
    const ends = reply.removed === 1 ? ["1 statement was", "it"] : [`${reply.removed} statements were`, "them"];
    told.push(`${ends[0]} removed: the graph does not hold ${ends[1]}.`);
  }
  return told;
}

/** Between a reply that has no answer and the questions that follow it; app/chat/turns.py writes it. */
const TO_TRY = " Questions to try: ";

/** The reply without the questions to try. */
export function sentenceOf(reply: ChatAnswer): string {
  return reply.message.content.split(TO_TRY, 1)[0] ?? "";
}

/** The questions to go on with, each once; those in the text of a reply without an answer are among them. */
export function offeredBy(reply: ChatAnswer): string[] {
  const inText = reply.message.content.split(TO_TRY)[1]?.match(/[^?]+\?/g) ?? [];
  return [...new Set([...(reply.suggestions ?? []), ...inText].map((each) => each.trim()))];
}
