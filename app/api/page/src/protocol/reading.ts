/** The events of one streamed answer: names are restored once the whole answer is there. */

import { capsuleContext } from "./seal_contexts";
import { BadShape, type Decoder, parsed } from "./decode";
import { type ArogError, badAnswer, cannotOpen, errorOf, streamCut } from "./errors";
import { Restorer, type Segment } from "./restoration";
import { CannotOpen, openCapsule, type ReaderKey } from "./sealing";
import type { ServerEvent } from "./sse";
import {
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
 * Takes events in their order. The segments that it gives, joined, are the answer's text with its names restored.
 * Events that it does not know are a newer service's.
 *
 * Promise: no segment is shown before the whole answer is there, is the one of the graph that was asked and the
 * conversation that is going on (null: a new one), and has opened its names: they open for its own text alone.
 */
export class AnswerReader {
  private readonly pieces: string[] = [];
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
      case "text":
        this.pieces.push(content(event.data, textEventOf).text);
        return null;
      case "answer": {
        const answer = this.checked(content(event.data, chatAnswerOf));
        const restorer = new Restorer(await openNames(answer, this.key));
        this.answer = answer;
        return { segments: [...this.pieces.flatMap((piece) => restorer.push(piece)), ...restorer.finish()] };
      }
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

  private checked(answer: ChatAnswer): ChatAnswer {
    if (answer.graph !== this.graph || (this.conversation !== null && answer.conversation !== this.conversation)) {
      throw badAnswer("it answers something else", answer.id);
    }
    if (this.pieces.join("") !== answer.message.content) {
      throw badAnswer("its pieces are not the answer's text", answer.id);
    }
    return answer;
  }
}

/**
 * The names of one answer; none where it has no capsule. Raises ArogError.
 *
 * Promise: of an answer that was changed on the way nothing opens, be it a letter of its text (capsuleContext).
 */
export async function openNames(answer: ChatAnswer, key: ReaderKey): Promise<NameTable> {
  if (answer.capsule === null) {
    return new Map();
  }
  let content: Awaited<ReturnType<typeof openCapsule>>;
  try {
    content = await openCapsule(answer.capsule, key, await capsuleContext(answer));
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
