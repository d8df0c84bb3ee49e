import { describe, expect, test } from "vitest";
import { ArogError } from "../src/protocol/errors";
import { AnswerReader, type Shown } from "../src/protocol/reading";
import { joined } from "../src/protocol/restoration";
import { EventParser } from "../src/protocol/sse";
import { CAPSULES, EVENTS, keyOf, READINGS } from "./vectors";

const key = await keyOf(READINGS.private_key, CAPSULES.public_key);

describe("server-sent events, cut anywhere", () => {
  test.each(EVENTS.streams)("$bytes", ({ bytes, events: expected }) => {
    const raw = Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0));
    for (let at = 0; at <= raw.length; at++) {
      const parser = new EventParser();
      expect([...parser.push(raw.slice(0, at)), ...parser.push(raw.slice(at))]).toEqual(expected);
    }
    const one = new EventParser();
    expect([...raw].flatMap((byte) => one.push(Uint8Array.of(byte)))).toEqual(expected);
  });
});

describe("streamed answers are read as the SDK reads them", () => {
  test.each(READINGS.streams)("$why", async ({ events: sent, shown, error }) => {
    const reader = new AnswerReader(key, READINGS.graph, READINGS.conversation);
    const found: string[] = [];
    let code = "";
    try {
      for (const event of sent) {
        const words = wordsOf(await reader.read(event));
        if (words) {
          found.push(words);
        }
      }
      reader.whole();
    } catch (problem) {
      if (!(problem instanceof ArogError)) {
        throw problem;
      }
      code = problem.code;
    }
    expect(found).toEqual(shown);
    expect(code).toBe(error);
  });
});

function wordsOf(shown: Shown | null): string {
  if (shown === null) {
    return "";
  }
  if ("segments" in shown) {
    return joined(shown.segments);
  }
  return shown.stage.number === null ? `[${shown.stage.name}]` : `[${shown.stage.name} ${shown.stage.number}]`;
}
