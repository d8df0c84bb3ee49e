/** HPKE's `info` of what is sealed: it binds names to what they are restored in. The twin of client_sdk/crypto/sealing.py. */

import type { ChatAnswer, GraphExcerpt, GraphTable, MemoryPage } from "./wire";

/**
 * Binds a capsule to all of its answer but `usage` and the capsule itself: where the text, the evidence or anything
 * else that names are restored in was changed on the way, it does not open.
 */
export async function capsuleContext(answer: ChatAnswer): Promise<Uint8Array> {
  const { usage: _usage, capsule: _capsule, ...bound } = answer;
  return utf8(["arog capsule 3", await digestOf(bound)].join("\n"));
}

/** Of a trace, all of which is sealed. */
export function traceContext(answerId: string): Uint8Array {
  return utf8(["arog trace 1", answerId].join("\n"));
}

/** Binds the names in a preview to its sample. */
export async function previewContext(preview: { id: string; sample: unknown[] }): Promise<Uint8Array> {
  return utf8(["arog preview 2", preview.id, await digestOf(preview.sample)].join("\n"));
}

/** Binds the names in an excerpt of a graph, or in a table, to all of it. */
export async function excerptContext(excerpt: GraphExcerpt | GraphTable): Promise<Uint8Array> {
  const { capsule: _capsule, ...bound } = excerpt;
  return utf8(["arog excerpt 1", await digestOf(bound)].join("\n"));
}

/** Binds the names in what somebody had remembered to the whole page of it. */
export async function memoryContext(page: MemoryPage): Promise<Uint8Array> {
  const { capsule: _capsule, ...bound } = page;
  return utf8(["arog memory 1", await digestOf(bound)].join("\n"));
}

/** SHA-256, hex, of JSON as RFC 8785 writes it. */
async function digestOf(content: unknown): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new Uint8Array(utf8(canonical(content))));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map(canonical).join(",")}]`;
  }
  if (typeof value === "object" && value !== null) {
    const sorted = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
    return `{${sorted.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`).join(",")}}`;
  }
  return JSON.stringify(value);
}

function utf8(words: string): Uint8Array {
  return new TextEncoder().encode(words);
}
