import { describe, expect, test } from "vitest";
import { joined, Restorer, restore } from "../src/protocol/restoration";
import { namedSegments } from "../src/protocol/trace";
import { RESTORING, tableOf } from "./vectors";

const table = tableOf(RESTORING.table);

describe("restoring, as the SDK does it", () => {
  test.each(RESTORING.texts)("$text", ({ text, restored }) => {
    expect(restore(text, table)).toBe(restored);
  });

  test("every split of a stream shows the same pieces", () => {
    expect(RESTORING.streams.length).toBeGreaterThan(100);
    for (const { pieces, shown, rest } of RESTORING.streams) {
      const restorer = new Restorer(table);
      expect(pieces.map((piece) => joined(restorer.push(piece)))).toEqual(shown);
      expect(joined(restorer.finish())).toBe(rest);
    }
  });

  test.each(RESTORING.prompts)("a prompt: $text", ({ text, restored }) => {
    expect(joined(namedSegments(text, table))).toBe(restored);
  });
});

test("a restored name is set apart, with the pseudonym that stood there", () => {
  const restorer = new Restorer(table);
  const segments = [...restorer.push("It is Eq7f2k."), ...restorer.finish()];
  expect(segments.filter((one) => one.pseudonym !== null)).toEqual([{ text: "Anna Keller", pseudonym: "Eq7f2k" }]);
});
