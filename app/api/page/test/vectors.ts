/** The vectors that the page shares with the SDK: tests/vectors, written by its make.py. */

import capsules from "../../../../tests/vectors/capsules.json?raw";
import events from "../../../../tests/vectors/events.json?raw";
import readings from "../../../../tests/vectors/readings.json?raw";
import restoring from "../../../../tests/vectors/restoring.json?raw";
import { fromBase64url } from "../src/protocol/base64url";
import { mapOf } from "../src/protocol/decode";
import { type ReaderKey, readerKeyOf } from "../src/protocol/sealing";
import { type NameTable, namesOf } from "../src/protocol/wire";

// Parsed here and not imported as JSON: a bundler would write them as objects, where `__proto__` is no key.
export const CAPSULES = JSON.parse(capsules) as typeof import("../../../../tests/vectors/capsules.json");
export const EVENTS = JSON.parse(events) as typeof import("../../../../tests/vectors/events.json");
export const READINGS = JSON.parse(readings) as typeof import("../../../../tests/vectors/readings.json");
export const RESTORING = JSON.parse(restoring) as typeof import("../../../../tests/vectors/restoring.json");

export function tableOf(raw: unknown): NameTable {
  return mapOf(namesOf)(raw, "table");
}

/** A key of given bytes as WebCrypto holds it, its private half not extractable, as the page's own are. */
export async function keyOf(privateText: string, publicText: string): Promise<ReaderKey> {
  const jwk = { kty: "OKP", crv: "X25519", d: privateText, x: publicText };
  const privateKey = await crypto.subtle.importKey("jwk", jwk, { name: "X25519" }, false, ["deriveBits"]);
  const raw = fromBase64url(publicText);
  const publicKey = await crypto.subtle.importKey("raw", raw, { name: "X25519" }, true, []);
  return readerKeyOf({ privateKey, publicKey });
}
