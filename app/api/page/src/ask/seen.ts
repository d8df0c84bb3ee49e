/** What the model was shown for an answer: its trace, or the ledger's rows where the key may not look up all names. */

import { traceContext } from "../protocol/seal_contexts";
import { ArogError, cannotOpen } from "../protocol/errors";
import { openNames } from "../protocol/reading";
import { inShort } from "../protocol/restoration";
import { CannotOpen, openTrace } from "../protocol/sealing";
import { type ChatAnswer, type LedgerRow, ledgerPageOf, type NameTable, sealedTraceOf } from "../protocol/wire";
import { fields, text } from "../protocol/decode";
import type { Session } from "../shared/session";

/** One request to the model. `digest` is the ledger's SHA-256 of the request; `fits` says that the prompt has it. */
export interface SeenCall {
  step: string;
  at: string;
  outcome: string;
  prompt: string | null;
  reply: string | null;
  /** How many entities of the graph fit what the prompt shows of a thing, at the least. */
  anonymity: number | null;
  bytes: number | null;
  digest: string;
  fits: boolean;
}

/** `hasAllNames`: a trace was given, with the names of all pseudonyms in it; else only those of the answer. */
export interface Seen {
  calls: SeenCall[];
  table: NameTable;
  hasAllNames: boolean;
  /** What answers at the service: `embedded` leaves the machine for nobody. */
  reasoner: string;
}

const LEDGER_ROWS = 1000;
const readinessOf = fields({ reasoner: text });

/** Raises ArogError. */
export async function seenFor(reply: ChatAnswer, session: Session): Promise<Seen> {
  const [rows, trace, reasoner] = await Promise.all([
    rowsOf(reply, session),
    traceOf(reply, session),
    // Unready says no less about it, but not with this status: then it is left out.
    session.service.ask("/readyz", readinessOf).then((told) => told.reasoner).catch(() => ""),
  ]);
  if (trace === null) {
    const calls = rows.map((row) => ({ step: row.step, at: row.at, outcome: outcomeOf(row), prompt: row.payload, reply: null, anonymity: null }));
    return { calls: await checked(calls, rows), table: inShort(await openNames(reply, session.key)), hasAllNames: false, reasoner };
  }
  return { calls: await checked(trace.calls, rows), table: inShort(trace.table), hasAllNames: trace.names_kept, reasoner };
}

/** In the order in which they were sent. */
async function rowsOf(reply: ChatAnswer, session: Session): Promise<LedgerRow[]> {
  const path = `/ledger?answer=${encodeURIComponent(reply.id)}&limit=${LEDGER_ROWS}`;
  return (await session.service.ask(path, ledgerPageOf)).entries.reverse();
}

/** Null where this key may not look into the answer. */
async function traceOf(reply: ChatAnswer, session: Session) {
  const path = `/trace/${encodeURIComponent(reply.id)}?public_key=${session.key.publicText}`;
  try {
    const sealed = await session.service.ask(path, sealedTraceOf);
    return await openTrace(sealed.capsule, session.key, traceContext(reply.id));
  } catch (problem) {
    if (problem instanceof ArogError && problem.status === 404) {
      return null;
    }
    throw problem instanceof CannotOpen ? cannotOpen(problem.message, reply.id) : problem;
  }
}

function outcomeOf(row: LedgerRow): string {
  return row.verdict === "blocked" ? "blocked" : "used";
}

type Call = Omit<SeenCall, "bytes" | "digest" | "fits">;

async function checked(calls: readonly Call[], rows: readonly LedgerRow[]): Promise<SeenCall[]> {
  return Promise.all(
    calls.map(async (call, at) => {
      const row = rows.length === calls.length ? rows[at] : undefined;
      const fits = row !== undefined && call.prompt !== null && (await sha256(call.prompt)) === row.digest;
      return { ...call, bytes: row?.size ?? null, digest: row?.digest ?? "", fits };
    }),
  );
}

async function sha256(words: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(words));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
