/** The wire types of those who own graphs; client_sdk/protocol is their original. */

import { type Decoded, fields, list, nullable, number, oneOf, optional, text, truth } from "../protocol/decode";
import { capsuleOf, errorBodyOf } from "../protocol/wire";

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
  state: oneOf("queued", "running", "waiting", "done", "failed"),
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

export const graphPolicyOf = fields({ graph: text, policy: text, roles: list(text) });

const predicateSeenOf = fields({
  predicate: text,
  use: oneOf("name", "class", "schema", "relation", "masked", "hidden"),
  triples: number,
  label: optional(text, ""),
  description: optional(text, ""),
  value_kind: nullable(text),
  shown_as: nullable(text),
});
export type PredicateSeen = Decoded<typeof predicateSeenOf>;
export const ROLES = ["key", "name", "alias", "concept", "value", "reference", "class", "schema", "unused"] as const;
export type ColumnRole = (typeof ROLES)[number];
export const EXPOSURES = ["private", "shown", "masked"] as const;
export type Exposure = (typeof EXPOSURES)[number];
export const TYPES = ["number", "date", "text", "truth"] as const;
const columnSeenOf = fields({
  file: text,
  column: text,
  role: oneOf(...ROLES),
  type: optional(nullable(oneOf(...TYPES)), null),
  unit: optional(text, ""),
  refers_to: optional(text, ""),
  relation: optional(text, ""),
  concept: optional(text, ""),
  exposure: optional(oneOf(...EXPOSURES), "private"),
  why: optional(text, ""),
  filled: optional(number, 0),
  distinct: optional(number, 0),
  roles: optional(list(oneOf(...ROLES)), []),
  exposures: optional(list(oneOf(...EXPOSURES)), []),
});
export type ColumnSeen = Decoded<typeof columnSeenOf>;
const tableSeenOf = fields({
  file: text,
  concept: text,
  rows: number,
  links: optional(truth, false),
  exposure: optional(oneOf("private", "masked"), "private"),
  why: optional(text, ""),
});
export type TableSeen = Decoded<typeof tableSeenOf>;

/** What the owner chose otherwise of one column, or of one table. */
export interface ColumnChange {
  file: string;
  column: string;
  role?: ColumnRole;
  type?: string;
  unit?: string;
  refers_to?: string;
  relation?: string;
  exposure?: Exposure;
}
export interface TableChange {
  file: string;
  concept?: string;
  exposure?: "private" | "masked";
}
export interface PolicyChanges {
  columns: ColumnChange[];
  tables: TableChange[];
}

const entitySeenOf = fields({
  pseudonym: text,
  concept: text,
  facts: list(fields({ relation: text, end: text })),
});
export type EntitySeen = Decoded<typeof entitySeenOf>;
export const graphPreviewOf = fields({
  id: text,
  policy: text,
  is_proposed: truth,
  triples: number,
  entities: number,
  values: number,
  mediators: number,
  predicates: list(predicateSeenOf),
  concepts: list(text),
  sample: list(entitySeenOf),
  notes: list(text),
  columns: optional(list(columnSeenOf), []),
  tables: optional(list(tableSeenOf), []),
  capsule: nullable(capsuleOf),
});
export type GraphPreview = Decoded<typeof graphPreviewOf>;

const keyListedOf = fields({
  key_id: text,
  role: text,
  grants: list(text),
  created_at: text,
  expires_at: nullable(text),
  revoked_at: nullable(text),
  label: optional(text, ""),
  last_used_at: optional(nullable(text), null),
});
export type KeyListed = Decoded<typeof keyListedOf>;
export const keyListOf = fields({ tenant: text, own: text, keys: list(keyListedOf) });
export type KeyList = Decoded<typeof keyListOf>;
export const keyCreatedOf = fields({ key_id: text, key: text, grants: list(text), role: text });
export type KeyCreated = Decoded<typeof keyCreatedOf>;

const deviceOf = fields({ fingerprint: text, suite: text, registered_at: text, revoked_at: nullable(text) });
export type Device = Decoded<typeof deviceOf>;
export const deviceListOf = fields({ key_id: text, required: truth, devices: list(deviceOf) });

export const ledgerCheckOf = fields({
  rows: number,
  first: number,
  last: number,
  checkpoints: number,
  is_whole: truth,
  wrong: number,
  findings: list(text),
  remarks: list(text),
  key: text,
  cursor: nullable(text),
});
export type LedgerCheck = Decoded<typeof ledgerCheckOf>;
