/** The events of one streamed answer: names are restored as far as they are certain. */

import { BadShape, type Decoder, parsed } from "./decode";
import { type ArogError, badAnswer, cannotOpen, errorOf, streamCut } from "./errors";
import { Restorer, type Segment } from "./restore";
import { CannotOpen, openCapsule, type ReaderKey } from "./sealing";
import type { ServerEvent } from "./sse";
import {
  type Capsule,
  type CapsuleEvent,
  capsuleContext,
  capsuleEventOf,
  type ChatAnswer,
  chatAnswerOf,
  errorEventOf,
  type NameTable,
  type Stage,
  stageEventOf,
  textEventOf,
} from "./wire";

export type Shown = { stage: Stage } | { segments: Segment[] };

/**
 * Takes events in their order. The segments that it gives, joined, are the answer's text with its names restored; it
 * holds back only what can still become a pseudonym. Events that it does not know are a newer service's.
 *
 * Names come once, before the text, for the graph that was asked and the conversation that is going on (null: a new
 * one): what is shown can't be taken back, so no other answer's names may stand in it.
 */
export class AnswerReader {
  private names: CapsuleEvent | null = null;
  private restorer = new Restorer(new Map());
  private text = "";
  private answer: ChatAnswer | null = null;

  constructor(
    private readonly key: ReaderKey,
    private readonly graph: string,
    private readonly conversation: string | null,
  ) {}

  /** Whether the last event has come; whatever follows is not read. */
  get isDone(): boolean {
    return this.answer !== null;
  }

  /** What the event shows, if anything. Raises what the service told, and ArogError. */
  async read(event: ServerEvent): Promise<Shown | null> {
    switch (event.name) {
      case "stage":
        return { stage: content(event.data, stageEventOf) };
      case "capsule":
        this.names = this.expected(content(event.data, capsuleEventOf));
        this.restorer = new Restorer(await openNames(this.names, this.key));
        return null;
      case "text":
        return this.restored(content(event.data, textEventOf).text);
      case "answer":
        this.answer = this.checked(content(event.data, chatAnswerOf));
        return { segments: this.restorer.finish() };
      case "error":
        throw errorOf(content(event.data, errorEventOf).status, event.data);
      default:
        return null;
    }
  }

  /** The answer as an unstreamed reply would have held it. Raises ArogError where it has not come. */
  whole(): ChatAnswer {
    if (this.answer === null) {
      throw streamCut();
    }
    return this.answer;
  }

  private expected(names: CapsuleEvent): CapsuleEvent {
    if (this.names !== null) {
      throw badAnswer("names came twice", names.id);
    }
    if (names.graph !== this.graph || (this.conversation !== null && names.conversation !== this.conversation)) {
      throw badAnswer("its names are another answer's", names.id);
    }
    return names;
  }

  private restored(text: string): Shown {
    if (this.names === null) {
      throw badAnswer("text came before its names");
    }
    this.text += text;
    return { segments: this.restorer.push(text) };
  }

  /** What was shown has to be this answer's: the same text, restored with the same names. */
  private checked(answer: ChatAnswer): ChatAnswer {
    if (this.text !== answer.message.content) {
      throw badAnswer("its pieces are not the answer's text", answer.id);
    }
    const told = this.names;
    const same =
      told !== null &&
      told.id === answer.id &&
      told.conversation === answer.conversation &&
      told.graph === answer.graph &&
      sameCapsule(told.capsule, answer.capsule);
    if (!same) {
      throw badAnswer("its names are another answer's", answer.id);
    }
    return answer;
  }
}

/** The names of one answer; none where it has no capsule. Raises ArogError. */
export async function openNames(answer: ChatAnswer | CapsuleEvent, key: ReaderKey): Promise<NameTable> {
  if (answer.capsule === null) {
    return new Map();
  }
  const context = capsuleContext(answer.id, answer.conversation, answer.graph);
  let content: Awaited<ReturnType<typeof openCapsule>>;
  try {
    content = await openCapsule(answer.capsule, key, context);
  } catch (problem) {
    throw asArogError(problem, answer.id);
  }
  if (content.answer_id !== answer.id) {
    throw cannotOpen("they belong to another answer", answer.id, "other_answer");
  }
  return content.table;
}

function asArogError(problem: unknown, id: string): ArogError {
  if (problem instanceof CannotOpen) {
    return cannotOpen(problem.message, id);
  }
  throw problem;
}

function content<T>(data: string, of: Decoder<T>): T {
  try {
    return parsed(data, of);
  } catch (problem) {
    throw problem instanceof BadShape ? badAnswer("an event can't be read") : problem;
  }
}

function sameCapsule(one: Capsule | null, other: Capsule | null): boolean {
  return one === other || (one?.sealed === other?.sealed && one?.suite === other?.suite);
}
