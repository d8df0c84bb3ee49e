/** Opening what the service sealed to this browser's key, with HPKE (RFC 9180). */

import { Aes128Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256, type KemInterface } from "@hpke/core";
import { fromBase64url, NotBase64url, toBase64url } from "./base64url";
import { BadShape, type Decoder, parsed } from "./decode";
import {
  type Capsule,
  type CapsuleContent,
  capsuleContentOf,
  type TraceContent,
  traceContentOf,
  X25519_SUITE,
} from "./wire";

const ENCAPSULATED_BYTES = 32;

/** Sealed for another key or another context, or changed on the way; which of them can't be known. */
export class CannotOpen extends Error {}

/** Keys of the browser's own WebCrypto; the private one need not be extractable. */
export const nativeKem = (): KemInterface => new DhkemX25519HkdfSha256();

/**
 * A reader's keys. Promise: nothing here gives the private key's bytes. Condition: `pair` is not extractable, or
 * its maker forgets the bytes. Not promised: who sealed a capsule; the connection to the service proves that.
 */
export class ReaderKey {
  private readonly suite: CipherSuite;

  constructor(
    private readonly pair: CryptoKeyPair,
    readonly publicText: string,
    kem: KemInterface,
  ) {
    this.suite = new CipherSuite({ kem, kdf: new HkdfSha256(), aead: new Aes128Gcm() });
  }

  /** `sealed` is the encapsulated key, then the ciphertext. Raises CannotOpen. */
  async open(sealed: Uint8Array<ArrayBuffer>, context: Uint8Array): Promise<Uint8Array> {
    try {
      const how = {
        recipientKey: this.pair,
        enc: sealed.slice(0, ENCAPSULATED_BYTES).buffer,
        info: context.slice().buffer as ArrayBuffer,
      };
      return new Uint8Array(await this.suite.open(how, sealed.slice(ENCAPSULATED_BYTES).buffer));
    } catch {
      throw new CannotOpen("sealed for another key or context, or changed");
    }
  }
}

/** A reader's key of a pair whose public half can be exported, as WebCrypto's always can. */
export async function readerKeyOf(pair: CryptoKeyPair, kem: KemInterface = nativeKem()): Promise<ReaderKey> {
  const raw = await kem.serializePublicKey(pair.publicKey);
  return new ReaderKey(pair, toBase64url(new Uint8Array(raw)), kem);
}

/** The names of an answer. Raises CannotOpen, also when it is no CapsuleContent. */
export function openCapsule(capsule: Capsule, key: ReaderKey, context: Uint8Array): Promise<CapsuleContent> {
  return opened(capsule, key, context, capsuleContentOf);
}

/** The trace of an answer. Raises CannotOpen, also when it is no TraceContent. */
export function openTrace(capsule: Capsule, key: ReaderKey, context: Uint8Array): Promise<TraceContent> {
  return opened(capsule, key, context, traceContentOf);
}

async function opened<T>(capsule: Capsule, key: ReaderKey, context: Uint8Array, of: Decoder<T>): Promise<T> {
  if (capsule.suite !== X25519_SUITE) {
    throw new CannotOpen("sealed with another suite than this key's");
  }
  let sealed: Uint8Array<ArrayBuffer>;
  try {
    sealed = fromBase64url(capsule.sealed);
  } catch (problem) {
    throw problem instanceof NotBase64url ? new CannotOpen("the capsule is not base64url") : problem;
  }
  const plain = await key.open(sealed, context);
  try {
    // The content is JSON that may end in padding.
    return parsed(new TextDecoder("utf-8", { fatal: true }).decode(plain), of);
  } catch (problem) {
    if (problem instanceof BadShape || problem instanceof TypeError) {
      throw new CannotOpen("the opened capsule has another form than this page reads");
    }
    throw problem;
  }
}
