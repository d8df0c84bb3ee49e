/** The wire types of the service that asking needs; client_sdk/protocol is their original. */

import { type Decoded, fields, list, mapOf, nullable, number, oneOf, optional, text, truth } from "./decode";

export const X25519_SUITE = "DHKEM(X25519,HKDF-SHA256),HKDF-SHA256,AES-128-GCM";

export const MAX_MESSAGES = 100;
export const MAX_MESSAGE_CHARS = 8_000;

export const messageOf = fields({ role: oneOf("user", "assistant"), content: text });
export type Message = Decoded<typeof messageOf>;

export const capsuleOf = fields({ suite: text, sealed: text });
export type Capsule = Decoded<typeof capsuleOf>;

export const namesOf = fields({ names: list(text), total: number });
export type Names = Decoded<typeof namesOf>;
export type NameTable = ReadonlyMap<string, Names>;

export const capsuleContentOf = fields({ answer_id: text, table: mapOf(namesOf) });
export type CapsuleContent = Decoded<typeof capsuleContentOf>;

const ITEM_KINDS = ["entity", "set", "value", "number", "truth", "table"] as const;
export const itemOf = fields({
  pseudonym: text,
  kind: oneOf(...ITEM_KINDS),
  concept: text,
  size: optional(number, 1),
  ordered: optional(truth, false),
});
export type Item = Decoded<typeof itemOf>;

export const factOf = fields({
  head: text,
  head_concept: text,
  path: list(text),
  tail: text,
  tail_concept: text,
  size: optional(text, "1"),
  cited: optional(truth, false),
  tail_count: optional(nullable(number), null),
  public: optional(text, ""),
});
export type Fact = Decoded<typeof factOf>;

export const ambiguityOf = fields({ pseudonym: text, choices: list(text), hints: optional(list(factOf), []) });
export type Ambiguity = Decoded<typeof ambiguityOf>;

export const readingOf = fields({ pseudonym: text, start: number, end: number });

export const usageOf = fields({
  calls: optional(number, 0),
  prompt_tokens: optional(number, 0),
  completion_tokens: optional(number, 0),
  tokens_counted_by: optional(text, "wordpiece"),
  rounds: optional(number, 0),
  retries: optional(number, 0),
  odd_counts: optional(number, 0),
  over_budget: optional(truth, false),
  cost: optional(nullable(number), null),
  currency: optional(text, ""),
  anonymity: optional(nullable(number), null),
  withheld: optional(number, 0),
  attachment: optional(nullable(number), null),
  left_out: optional(list(text), []),
  milliseconds: optional(mapOf(number), new Map<string, number>()),
});
export type Usage = Decoded<typeof usageOf>;

export const chatAnswerOf = fields({
  id: text,
  conversation: text,
  graph: text,
  message: messageOf,
  answered: truth,
  entities: list(itemOf),
  evidence: list(factOf),
  grounded: truth,
  confidence: optional(nullable(number), null),
  ambiguous: list(ambiguityOf),
  inexact: optional(list(readingOf), []),
  notes: optional(list(text), []),
  worked_out: optional(list(text), []),
  understood: optional(list(fields({ pseudonym: text, concept: text })), []),
  did_you_mean: optional(list(text), []),
  looked_for: optional(list(text), []),
  turn: optional(text, ""),
  strategy: optional(text, ""),
  sentences: optional(list(fields({ text, facts: optional(list(number), []), restated: optional(truth, false) })), []),
  removed: optional(number, 0),
  suggestions: optional(list(text), []),
  usage: usageOf,
  capsule: nullable(capsuleOf),
});
export type ChatAnswer = Decoded<typeof chatAnswerOf>;

export const stageEventOf = fields({ name: text, number: nullable(number) });
export type Stage = Decoded<typeof stageEventOf>;
export const textEventOf = fields({ text });
export const errorBodyOf = fields({ code: text, message: text, hint: text, id: text });
export const errorEventOf = fields({ code: text, message: text, hint: text, id: text, status: number });

export const graphNamesOf = fields({ graphs: list(text), inspectable: optional(list(text), []) });

const excerptThingOf = fields({ pseudonym: text, concept: text, is_value: truth });
export type ExcerptThing = Decoded<typeof excerptThingOf>;
const excerptFactOf = fields({ relation: text, inverse: truth, ends: list(excerptThingOf), total: number });
export type ExcerptFact = Decoded<typeof excerptFactOf>;
export const graphExcerptOf = fields({
  id: text,
  graph: text,
  conversation: text,
  total: number,
  things: list(excerptThingOf),
  facts: list(excerptFactOf),
  capsule: nullable(capsuleOf),
});
export type GraphExcerpt = Decoded<typeof graphExcerptOf>;
const tableColumnOf = fields({
  column: text,
  leads_to: text,
  value_kind: nullable(text),
  masked: truth,
  counted: truth,
  filled: number,
  distinct: number,
  sortable: truth,
  has_choices: truth,
});
export type TableColumn = Decoded<typeof tableColumnOf>;
const tableCellOf = fields({ ends: list(excerptThingOf), total: number });
export type TableCell = Decoded<typeof tableCellOf>;
const tableRowOf = fields({ thing: excerptThingOf, cells: list(tableCellOf) });
export type TableRow = Decoded<typeof tableRowOf>;
const tableChoiceOf = fields({ value: nullable(excerptThingOf), rows: number });
export type TableChoice = Decoded<typeof tableChoiceOf>;
export const graphTableOf = fields({
  id: text,
  graph: text,
  conversation: text,
  kinds: list(fields({ kind: text, things: number })),
  kind: nullable(text),
  named: truth,
  sortable: truth,
  columns: list(tableColumnOf),
  rows: list(tableRowOf),
  total: number,
  offset: number,
  withheld: number,
  choices: list(tableChoiceOf),
  capsule: nullable(capsuleOf),
});
export type GraphTable = Decoded<typeof graphTableOf>;

export const graphSuggestionsOf = fields({ questions: list(text) });

const offerOf = oneOf("", "offered", "refused", "taken");
export type OfferWord = Decoded<typeof offerOf>;
const memoryFactOf = fields({
  id: text,
  made_at: text,
  text,
  form: oneOf("fact", "words"),
  conversation: text,
  offer: offerOf,
});
export const memoryPageOf = fields({
  id: text,
  graph: text,
  facts: list(memoryFactOf),
  total: number,
  offset: number,
  capsule: nullable(capsuleOf),
});
export type MemoryPage = Decoded<typeof memoryPageOf>;
export const memoryForgottenOf = fields({ facts: number });

export const tracedCallOf = fields({
  step: text,
  at: text,
  outcome: text,
  prompt: nullable(text),
  reply: nullable(text),
  anonymity: optional(nullable(number), null),
});
export type TracedCall = Decoded<typeof tracedCallOf>;
export const traceContentOf = fields({
  answer_id: text,
  calls: list(tracedCallOf),
  names_kept: truth,
  table: mapOf(namesOf),
});
export type TraceContent = Decoded<typeof traceContentOf>;
export const sealedTraceOf = fields({ answer: text, capsule: capsuleOf });

export const ledgerRowOf = fields({
  id: text,
  at: text,
  answer: text,
  step: text,
  size: number,
  digest: text,
  verdict: text,
  payload: nullable(text),
  key_id: optional(text, ""),
  asker: optional(text, ""),
  graph: optional(nullable(text), null),
});
export type LedgerRow = Decoded<typeof ledgerRowOf>;
export const ledgerPageOf = fields({ entries: list(ledgerRowOf) });

export interface ChatOptions {
  width?: number;
  depth?: number;
  relations_per_concept?: number;
  names?: number;
  language?: string;
  suggestions?: number;
  person?: string;
  beside?: string[];
  looked_for?: string[];
}

export interface ChatRequest {
  graph: string;
  messages: Message[];
  conversation: string | null;
  strategy: "auto" | "sets" | "arog" | "dialogue";
  options: ChatOptions;
  public_key: string;
  stream: boolean;
}
