/** What the model was sent and said, as text to read: in pseudonyms as it left, each marked with its name. */

import { type Segment, segmentsOf } from "./restoration";
import type { NameTable } from "./wire";

const ESCAPE = /(\\+(?:u[0-9a-fA-F]{4}|[\s\S]))/u;

/**
 * `text` of a prompt or reply in stretches, names restored. It is JSON within JSON: what stands behind an escape
 * (`\nEq7f2k`) begins a word. Joined, the same as client_sdk/trace.py's `with_names`. Names are not escaped.
 */
export function namedSegments(text: string, table: NameTable): Segment[] {
  return text.split(ESCAPE).flatMap((part, at) => (at % 2 ? [{ text: part, pseudonym: null }] : segmentsOf(part, table)));
}

export interface PromptPart {
  title: string;
  text: string;
}

/** A chat request as its messages, another object with one line for each part, and the rest as it is. */
export function readablePayload(payload: string): PromptPart[] {
  let content: unknown;
  try {
    content = JSON.parse(payload);
  } catch {
    return [{ title: "", text: payload }];
  }
  if (typeof content !== "object" || content === null || Array.isArray(content)) {
    return [{ title: "", text: payload }];
  }
  const { messages } = content as { messages?: unknown };
  if (Array.isArray(messages) && messages.every((one) => typeof one === "object" && one !== null)) {
    return messages.map((one) => ({ title: String(one.role), text: String(one.content) }));
  }
  return Object.entries(content).map(([key, value]) => ({ title: key, text: linesOf(value) }));
}

function linesOf(value: unknown): string {
  if (Array.isArray(value) && value.length) {
    return value.map((one) => (typeof one === "string" ? one : JSON.stringify(one))).join("\n");
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}
