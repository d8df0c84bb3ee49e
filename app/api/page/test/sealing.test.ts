import { DhkemX25519HkdfSha256 } from "@hpke/dhkem-x25519";
import { describe, expect, test } from "vitest";
import { fromBase64url, toBase64url } from "../src/protocol/base64url";
import { capsuleContext, memoryContext, previewContext, traceContext } from "../src/protocol/seal_contexts";
import { parsed } from "../src/protocol/decode";
import { ArogError } from "../src/protocol/errors";
import { openNames } from "../src/protocol/reading";
import { CannotOpen, openCapsule, openTrace, readerKeyOf } from "../src/protocol/sealing";
import { type ChatAnswer, chatAnswerOf, memoryPageOf } from "../src/protocol/wire";
import { CAPSULES, keyOf, tableOf } from "./vectors";

const answer = answerOf(CAPSULES.answer);
const context = await capsuleContext(answer);
const key = await keyOf(CAPSULES.private_key, CAPSULES.public_key);

/** The key as browsers without X25519 hold it. */
async function softKey() {
  const kem = new DhkemX25519HkdfSha256();
  const privateKey = await kem.deserializePrivateKey(fromBase64url(CAPSULES.private_key).buffer);
  const publicKey = await kem.deserializePublicKey(fromBase64url(CAPSULES.public_key).buffer);
  return readerKeyOf({ privateKey, publicKey }, kem);
}

describe.each([["WebCrypto's key", key], ["a key in JavaScript", await softKey()]])("with %s", (_kind, reader) => {
  test("its public half reads as the SDK writes it", () => {
    expect(reader.publicText).toBe(CAPSULES.public_key);
  });

  test.each(CAPSULES.opened)("a capsule of the SDK opens", async ({ capsule, content }) => {
    const opened = await openCapsule(capsule, reader, context);
    expect(opened.answer_id).toBe(content.answer_id);
    expect(opened.table).toEqual(tableOf(content.table));
  });

  test.each(CAPSULES.traces)("a trace of the SDK opens", async ({ capsule, content }) => {
    const opened = await openTrace(capsule, reader, traceContext(answer.id));
    expect(opened.calls).toMatchObject(content.calls);
    expect(opened.table).toEqual(tableOf(content.table));
  });

  test.each(CAPSULES.refused)("a capsule that is not right stays shut: $why", async ({ capsule }) => {
    await expect(openCapsule(capsule, reader, context)).rejects.toBeInstanceOf(CannotOpen);
  });
});

/** As it comes over the wire. */
function answerOf(sent: unknown): ChatAnswer {
  return parsed(JSON.stringify(sent), chatAnswerOf);
}

test("an answer's capsule is bound to the same bytes as the SDK's", () => {
  expect(new TextDecoder().decode(context)).toBe(CAPSULES.context);
});

test.each(CAPSULES.changed)("a capsule does not open in a changed answer: $why", async ({ answer: changed }) => {
  const names = await openNames({ ...answer, capsule: changed.capsule }, key);
  expect(names.size).toBeGreaterThan(1);
  await expect(openNames(answerOf(changed), key)).rejects.toBeInstanceOf(ArogError);
});

test.each(CAPSULES.previews)("a preview opens, and not with another sample", async ({ preview, content }) => {
  const opened = await openCapsule(preview.capsule, key, await previewContext(preview));
  expect(opened.table).toEqual(tableOf(content.table));
  const other = await previewContext({ ...preview, sample: [] });
  await expect(openCapsule(preview.capsule, key, other)).rejects.toBeInstanceOf(CannotOpen);
});

test.each(CAPSULES.memories)("a page of the memory opens, and not with another sentence", async ({ page, content }) => {
  const sent = parsed(JSON.stringify(page), memoryPageOf);
  const opened = await openCapsule(page.capsule, key, await memoryContext(sent));
  expect(opened.table).toEqual(tableOf(content.table));
  const other = await memoryContext({ ...sent, facts: [] });
  await expect(openCapsule(page.capsule, key, other)).rejects.toBeInstanceOf(CannotOpen);
});

test("only one text stands for the same bytes", () => {
  for (const { text, bytes } of CAPSULES.base64url) {
    if (bytes === null) {
      expect(() => fromBase64url(text), text).toThrow();
    } else {
      expect([...fromBase64url(text)]).toEqual(bytes);
      expect(toBase64url(Uint8Array.from(bytes))).toBe(text.replace(/=+$/, ""));
    }
  }
});
