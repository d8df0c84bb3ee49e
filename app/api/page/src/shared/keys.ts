/**
 * The reader's key pair: made here, kept here, never sent. Where WebCrypto has X25519 the private key can't be read
 * out, not even by this page; where it has not, the key is sealed with a passphrase.
 */

import { fromBase64url, toBase64url } from "../protocol/base64url";
import { type ReaderKey, readerKeyOf } from "../protocol/sealing";
import { keepKey, keptKey } from "./store";
import type { WrappedKey } from "./stored_types";

export class WrongPassphrase extends Error {}

const ITERATIONS = 600_000;
export const LEAST_PASSPHRASE = 8;

/** Browsers give WebCrypto to pages of https and of this machine alone. */
export function hasCrypto(): boolean {
  return globalThis.isSecureContext && globalThis.crypto?.subtle !== undefined;
}

export async function hasNativeX25519(): Promise<boolean> {
  try {
    await crypto.subtle.generateKey({ name: "X25519" }, false, ["deriveBits"]);
    return true;
  } catch {
    return false;
  }
}

/** The key that is kept here; `passphrase` where it is wrapped. Null where there is none. Raises WrongPassphrase. */
export async function openKeptKey(passphrase: string): Promise<ReaderKey | null> {
  const kept = await keptKey();
  if (kept === null) {
    return null;
  }
  return kept.kind === "native" ? readerKeyOf(kept.pair) : unwrapped(kept, passphrase);
}

export async function needsPassphrase(): Promise<boolean> {
  const kept = await keptKey();
  return kept === null ? !(await hasNativeX25519()) : kept.kind === "wrapped";
}

/** Makes a key and keeps it. `passphrase` is used where the browser lacks X25519. */
export async function makeKey(passphrase: string): Promise<ReaderKey> {
  if (await hasNativeX25519()) {
    const pair = (await crypto.subtle.generateKey({ name: "X25519" }, false, ["deriveBits"])) as CryptoKeyPair;
    await keepKey({ kind: "native", pair });
    return readerKeyOf(pair);
  }
  const kem = await softKem();
  const pair = await kem.generateKeyPair();
  const salt = crypto.getRandomValues(new Uint8Array(16));
  const nonce = crypto.getRandomValues(new Uint8Array(12));
  const publicText = toBase64url(new Uint8Array(await kem.serializePublicKey(pair.publicKey)));
  const wrapping = await wrappingKey(passphrase, salt);
  const raw = await kem.serializePrivateKey(pair.privateKey);
  const sealed = await crypto.subtle.encrypt(sealing(nonce, publicText), wrapping, raw);
  await keepKey({ kind: "wrapped", publicText, salt, nonce, sealed });
  return readerKeyOf(pair, kem);
}

async function unwrapped(kept: WrappedKey, passphrase: string): Promise<ReaderKey> {
  const kem = await softKem();
  const wrapping = await wrappingKey(passphrase, kept.salt);
  let raw: ArrayBuffer;
  try {
    raw = await crypto.subtle.decrypt(sealing(kept.nonce, kept.publicText), wrapping, kept.sealed);
  } catch {
    throw new WrongPassphrase("That is not the passphrase of this browser's key.");
  }
  const privateKey = await kem.deserializePrivateKey(raw);
  const publicKey = await kem.deserializePublicKey(fromBase64url(kept.publicText).buffer);
  return readerKeyOf({ privateKey, publicKey }, kem);
}

function sealing(nonce: Uint8Array<ArrayBuffer>, publicText: string): AesGcmParams {
  return { name: "AES-GCM", iv: nonce, additionalData: new TextEncoder().encode(publicText) };
}

async function wrappingKey(passphrase: string, salt: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  const words = new TextEncoder().encode(passphrase.normalize("NFKC"));
  const from = await crypto.subtle.importKey("raw", words, "PBKDF2", false, ["deriveKey"]);
  const how = { name: "PBKDF2", hash: "SHA-256", salt, iterations: ITERATIONS };
  return crypto.subtle.deriveKey(how, from, { name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
}

/** X25519 in JavaScript, loaded where the browser has none. */
async function softKem() {
  const { DhkemX25519HkdfSha256 } = await import("@hpke/dhkem-x25519");
  return new DhkemX25519HkdfSha256();
}
