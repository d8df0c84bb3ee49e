/** What the reader is told of how a question was understood, as plain values. */

import { restore } from "../protocol/restoration";
import type { Ambiguity, ChatAnswer, NameTable } from "../protocol/wire";

/** Words of the question and the name that they were read as, where the graph spells it otherwise. */
export function wordsRead(question: string, reply: ChatAnswer, table: NameTable): { typed: string; name: string }[] {
  // The service counts characters, not the halves that JavaScript splits some into.
  const letters = [...question];
  return reply.inexact.map(({ pseudonym, start, end }) => ({
    typed: letters.slice(start, end).join(""),
    name: restore(pseudonym, table),
  }));
}

export interface Choice {
  name: string;
  /** What tells it from the others: `date of birth: 1954-11-25`. */
  hint: string;
  /** What is sent to choose it: its place, never its name. */
  sent: string;
}

export interface Question {
  mention: string;
  choices: Choice[];
  /** How many more there are than can be chosen by their place. */
  more: number;
}

const ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];

/** What the answer asks back. The service counts all choices of an answer on, so places run through all questions. */
export function questionsOf(reply: ChatAnswer, table: NameTable): Question[] {
  let place = 0;
  return reply.ambiguous.map((one) => {
    const all = one.choices.map((choice) => ({ ...choiceOf(choice, one, table), ordinal: ORDINALS[place++] }));
    const choices = all.flatMap(({ name, hint, ordinal }) =>
      ordinal === undefined ? [] : [{ name, hint, sent: `the ${ordinal} one` }],
    );
    const names = new Set((table.get(one.pseudonym)?.names ?? []).map(String));
    return { mention: [...names].join(" or ") || one.pseudonym, choices, more: all.length - choices.length };
  });
}

function choiceOf(choice: string, of: Ambiguity, table: NameTable): { name: string; hint: string } {
  const hint = of.hints.find((fact) => fact.head === choice);
  const words = hint && `${restore(hint.path.join(" "), table)}: ${restore(hint.tail, table)}`;
  return { name: restore(choice, table), hint: words ?? "" };
}
