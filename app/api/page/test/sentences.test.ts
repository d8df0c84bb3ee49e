import { describe, expect, test } from "vitest";
import { joined, restore } from "../src/protocol/restoration";
import type { ChatAnswer, Fact, NameTable } from "../src/protocol/wire";
import {
  amendmentsOf, factsOf, hasCarriers, markedFacts, markedSentences, numbersOf, partsOf, sentencesOf,
} from "../src/ask/sentences";

const table: NameTable = new Map([
  ["Eq7f2k", { names: ["Robert Downey Jr."], total: 1 }],
  ["Ex81zp", { names: ["Dr. Bruno Weiß"], total: 1 }],
]);
const fact: Fact = {
  head: "Eq7f2k", head_concept: "patient", path: ["treated by"], tail: "Ex81zp", tail_concept: "doctor",
  size: "1", cited: true, tail_count: null, public: "",
};
const SENTENCES = [
  { text: "Ex81zp treats Eq7f2k.", facts: [0, 1, 0], restated: false },
  { text: "Eq7f2k is well.", facts: [1], restated: true },
  { text: "Anything else?", facts: [], restated: false },
];

function reply(content: string, sentences: ChatAnswer["sentences"] = SENTENCES): ChatAnswer {
  const bare = { message: { role: "assistant", content }, sentences, evidence: [fact, fact] };
  return bare as Partial<ChatAnswer> as ChatAnswer;
}

describe("the text of a reply", () => {
  const texts = [
    "Ex81zp treats Eq7f2k. Eq7f2k is well. Anything else?",
    "Well: Ex81zp treats Eq7f2k.\n\nEq7f2k is well.  Anything else? Eq7f2k",
    "Ex81zp treats Eq7f2k.Eq7f2k is well.Anything else?",
  ];
  test.each(texts)("is restored as a whole: %s", (content) => {
    const parts = partsOf(reply(content), table) ?? [];
    expect(joined(parts.flatMap((part) => part.segments))).toBe(restore(content, table));
    expect(parts.flatMap((part) => part.sentence ?? [])).toEqual([0, 1, 2]);
  });

  test("is cut at its sentences, each with its facts", () => {
    const parts = partsOf(reply(texts[0] ?? ""), table) ?? [];
    const cut = parts.filter((part) => part.sentence !== null).map((part) => [joined(part.segments), part.facts]);
    expect(cut).toEqual([
      ["Dr. Bruno Weiß treats Robert Downey Jr.", [0, 1]],
      ["Robert Downey Jr. is well.", [1]],
      ["Anything else?", []],
    ]);
  });

  test.each([
    ["without sentences", reply("Ex81zp treats Eq7f2k.", [])],
    ["of an earlier version", reply("Ex81zp treats Eq7f2k.", undefined)],
    ["with a sentence that is not in it", reply("Eq7f2k is well. Ex81zp treats Eq7f2k.")],
    ["with an empty sentence", reply("Ex81zp treats Eq7f2k.", [{ text: "", facts: [0], restated: false }])],
  ])("is left whole %s", (_name, given) => {
    expect(partsOf(given, table)).toBeNull();
  });
});

describe("what carries what", () => {
  const given = reply("Ex81zp treats Eq7f2k. Eq7f2k is well. Anything else?");

  test("goes both ways", () => {
    expect([...markedFacts(given, { kind: "sentence", at: 0 })]).toEqual([0, 1]);
    expect([...markedSentences(given, { kind: "fact", at: 1 })]).toEqual([0, 1]);
    expect([...markedSentences(given, { kind: "sentence", at: 1 })]).toEqual([1]);
    expect([...markedFacts(given, null), ...markedSentences(given, null)]).toEqual([]);
    expect(sentencesOf(given, 0)).toEqual([0]);
  });

  test("leaves out positions that the evidence does not have", () => {
    expect(factsOf(reply("", [{ text: "A.", facts: [7, -1, 0.5, 1], restated: false }]), 0)).toEqual([1]);
    expect(hasCarriers(given)).toBe(true);
    expect(hasCarriers(reply("", [{ text: "A.", facts: [7], restated: false }]))).toBe(false);
  });

  test("is said in words", () => {
    expect([[0], [0, 1, 4]].map(numbersOf)).toEqual(["1", "1, 2, 5"]);
    const own = reply("", []);
    expect([0, 1, 2].flatMap((removed) => amendmentsOf({ ...own, removed }))).toEqual([
      "1 statement was removed: the graph does not hold it.",
      "2 statements were removed: the graph does not hold them.",
    ]);
    expect(amendmentsOf({ ...reply(""), removed: 0 })).toEqual([
      "1 sentence was written anew from the graph: the model's own could not be confirmed.",
    ]);
  });
});
