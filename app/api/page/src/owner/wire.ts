/** The wire types of those who own graphs; client_sdk/protocol is their original. */

import { type Decoded, fields, list, nullable, number, oneOf, optional, text } from "../protocol/decode";
import { errorBodyOf } from "../protocol/wire";

export const graphSummaryOf = fields({
  name: text,
  version: text,
  triples: number,
  entities: number,
  values: number,
  relations: number,
  loaded_at: text,
  public_words: number,
});
export type GraphSummary = Decoded<typeof graphSummaryOf>;
export const graphListOf = fields({ graphs: list(graphSummaryOf) });

export const profileRiskOf = fields({ profile: text, prompts: number, expected: number, few: number, smallest: number });
export type ProfileRisk = Decoded<typeof profileRiskOf>;
const privacy = { k: number, profiles: list(profileRiskOf), warnings: list(text) };
export const privacySummaryOf = fields(privacy);
export type PrivacySummary = Decoded<typeof privacySummaryOf>;

export const jobStatusOf = fields({
  id: text,
  state: oneOf("queued", "running", "done", "failed"),
  step: optional(text, ""),
  percent: optional(number, 0),
  error: nullable(errorBodyOf),
  graph: nullable(graphSummaryOf),
  policy: nullable(text),
  notes: optional(list(text), []),
  privacy: nullable(privacySummaryOf),
});
export type JobStatus = Decoded<typeof jobStatusOf>;

const setSizesOf = fields({ concept: nullable(text), entities: number, one_hop: list(number), two_hops: list(number) });
export type SetSizes = Decoded<typeof setSizesOf>;
const relationUseOf = fields({
  relation: text,
  subjects: number,
  objects: number,
  value_kind: nullable(text),
  shown_as: nullable(text),
});
export type RelationUse = Decoded<typeof relationUseOf>;
const nameGapsOf = fields({
  names: number,
  values: number,
  like_own_words: list(text),
  like_frequent_words: list(text),
  of_one_character: list(text),
  too_short: number,
  unguarded: number,
});
export type NameGaps = Decoded<typeof nameGapsOf>;
export const graphReportOf = fields({
  ...privacy,
  graph: text,
  version: text,
  loaded_at: text,
  triples: number,
  entities: number,
  relations: number,
  hidden_relations: number,
  bounds: list(number),
  whole: setSizesOf,
  concepts: list(setSizesOf),
  rare_relations: list(relationUseOf),
  value_relations: list(relationUseOf),
  names: nameGapsOf,
});
export type GraphReport = Decoded<typeof graphReportOf>;
