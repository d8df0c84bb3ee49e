/** Types of what this browser keeps: the key pair, and dialogues with their names still sealed. */

import type { ChatAnswer } from "../protocol/wire";

interface NativeKey {
  kind: "native";
  pair: CryptoKeyPair;
}

/** `sealed` is the private key under AES-256-GCM, its key PBKDF2's of the passphrase. */
export interface WrappedKey {
  kind: "wrapped";
  publicText: string;
  salt: Uint8Array<ArrayBuffer>;
  nonce: Uint8Array<ArrayBuffer>;
  sealed: ArrayBuffer;
}

export type KeptKey = NativeKey | WrappedKey;

/**
 * A question and its answer. `typed` is what the reader sees of the question, `sent` what the service is sent: they
 * differ where a choice was clicked, for then an ordinal travels and no name. `reply` is the answer as it came, its
 * names in its capsule: what is kept of names is sealed to this browser's key. `rating` is the reader's own of it.
 * `lookedFor` is what public facts are looked for by, where the reader chose it.
 */
export interface Turn {
  id: string;
  typed: string;
  sent: string;
  at: number;
  reply: ChatAnswer | null;
  rating?: "right" | "wrong";
  lookedFor?: string[];
}

/** `conversation` is the service's id of it, null before the first answer; `title` is the reader's own for it. */
export interface Conversation {
  id: string;
  graph: string;
  conversation: string | null;
  created: number;
  updated: number;
  turns: Turn[];
  title?: string;
}
