import { expect, test } from "vitest";
import { asFile, namesOf } from "../src/memory/remembered";
import { parsed } from "../src/protocol/decode";
import { ArogError } from "../src/protocol/errors";
import { segmentsOf } from "../src/protocol/restoration";
import { memoryPageOf } from "../src/protocol/wire";
import { CAPSULES, keyOf } from "./vectors";

const key = await keyOf(CAPSULES.private_key, CAPSULES.public_key);

test.each(CAPSULES.memories)("a file has each sentence with its names and its day", async ({ page }) => {
  const sent = parsed(JSON.stringify(page), memoryPageOf);
  const segments = segmentsOf(sent.facts[0]?.text ?? "", await namesOf(sent, key));
  expect(segments[0]?.pseudonym).toBe("Eq7f2k");
  const facts = [{ id: "f1", madeAt: "2026-01-02T03:04:05Z", segments, isFact: false, offer: "" as const }];
  const file = JSON.parse(asFile("clinic", facts)) as { graph: string; facts: { text: string }[] };
  expect(file.graph).toBe("clinic");
  expect(file.facts).toMatchObject([{ id: "f1", made_at: "2026-01-02T03:04:05Z", form: "words" }]);
  expect(file.facts[0]?.text).toMatch(/ prefers “mornings”\.$/);
  expect(file.facts[0]?.text).not.toContain("Eq7f2k");
});

test.each(CAPSULES.memories)("names of a page that was changed are not shown", async ({ page }) => {
  const sent = parsed(JSON.stringify({ ...page, total: 2 }), memoryPageOf);
  await expect(namesOf(sent, key)).rejects.toBeInstanceOf(ArogError);
});
