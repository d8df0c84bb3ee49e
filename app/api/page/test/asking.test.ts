import { describe, expect, test } from "vitest";
import { newConversation, newTurn, optionsOf, requestOf } from "../src/ask/conversation";
import { pictureOf, rowsOf, sizeOf } from "../src/ask/evidence";
import { ratingRequest, rightAnswers } from "../src/ask/ratings";
import { questionsOf, wordsRead } from "../src/ask/readings";
import { readablePayload } from "../src/protocol/trace";
import { type ChatAnswer, chatAnswerOf, type Fact, factOf, MAX_MESSAGES } from "../src/protocol/wire";
import { tableOf } from "./vectors";

const TABLE = tableOf({
  Eanna1: { names: ["Anna Keller"], total: 1 },
  Eberg2: { names: ["Jörg Berg"], total: 1 },
  Samb01: { names: ["Anna Keller", "Anna Keller"], total: 2 },
  Sfour4: { names: ["A", "B", "C", "D"], total: 4 },
  Slarge: { names: Array.from({ length: 50 }, (_, n) => `Name ${n}`), total: 70 },
  Vdate1: { names: ["1954-11-25"], total: 1 },
});

function reply(some: Record<string, unknown>): ChatAnswer {
  const whole = {
    id: "a", conversation: "c", graph: "demo", message: { role: "assistant", content: "It is Eanna1." }, answered: true,
    entities: [], evidence: [], grounded: true, ambiguous: [], usage: {}, ...some,
  };
  return chatAnswerOf(whole, "it");
}

function fact(head: string, path: string[], tail: string, cited = true): Fact {
  return factOf({ head, head_concept: "h", path, tail, tail_concept: "t", cited }, "it");
}

describe("what is sent", () => {
  test("a rating is ids, and the right names of what is wrong", () => {
    const answered = reply({});
    expect(ratingRequest(answered, "right", ["Keller"])).toEqual({ conversation: "c", answer: "a", rating: "right" });
    expect(ratingRequest(answered, "wrong", rightAnswers(" Riga ; ; Ulm"))).toEqual({
      conversation: "c", answer: "a", rating: "wrong", correct: ["Riga", "Ulm"],
    });
  });

  test("answers go back as they came, and a choice by its place", () => {
    const first = { ...newTurn("Who treats Berg?"), reply: reply({}) };
    const chosen = newTurn("Anna Keller (born: 1954-11-25)", "the second one");
    const conversation = { ...newConversation("demo"), conversation: "c", turns: [first, chosen] };
    const request = requestOf(conversation, chosen, "public", { names: 50 });
    expect(request.messages).toEqual([
      { role: "user", content: "Who treats Berg?" },
      { role: "assistant", content: "It is Eanna1." },
      { role: "user", content: "the second one" },
    ]);
    expect(JSON.stringify(request)).not.toContain("Keller");
    expect(request.conversation).toBe("c");
  });

  test("a turn is asked with the words that its reader chose to look for", () => {
    const turn = { ...newTurn("I burnt my pan."), lookedFor: ["pan", "oven"] };
    const request = requestOf({ ...newConversation("demo"), turns: [turn] }, turn, "public", {});
    expect(request.options.looked_for).toEqual(["pan", "oven"]);
  });

  test("names are wanted in a language where one is chosen", () => {
    expect(optionsOf({ names: 50 })).toEqual({ names: 50 });
    expect(optionsOf({ names: 50, language: "" })).toEqual({ names: 50 });
    expect(optionsOf({ names: 50, language: "de" })).toEqual({ names: 50, language: "de" });
  });

  test("turns without an answer are left out, and so is what no longer fits", () => {
    const turns = Array.from({ length: 80 }, (_, n) => ({ ...newTurn(`${n}`), reply: n === 79 ? null : reply({}) }));
    const last = newTurn("last");
    const { messages } = requestOf({ ...newConversation("demo"), turns: [...turns, last] }, last, "p", {});
    expect(messages.length).toBe(MAX_MESSAGES - 1);
    expect(messages[0]?.role).toBe("user");
    expect(messages.some((one) => one.content === "79")).toBe(false);
  });
});

describe("what is asked back", () => {
  const two = { pseudonym: "Samb01", choices: ["Eanna1", "Eberg2"], hints: [fact("Eanna1", ["born"], "Vdate1")] };

  test("places count on through all names that several share", () => {
    const questions = questionsOf(reply({ ambiguous: [two, { ...two, pseudonym: "Eberg2" }] }), TABLE);
    expect(questions.map((one) => one.mention)).toEqual(["Anna Keller", "Jörg Berg"]);
    expect(questions.flatMap((one) => one.choices.map((choice) => choice.sent))).toEqual([
      "the first one", "the second one", "the third one", "the fourth one",
    ]);
    expect(questions[0]?.choices[0]).toEqual({ name: "Anna Keller", hint: "born: 1954-11-25", sent: "the first one" });
  });

  test("beyond the tenth nothing can be chosen by its place", () => {
    const many = { pseudonym: "Samb01", choices: Array.from({ length: 13 }, () => "Eanna1") };
    const [question] = questionsOf(reply({ ambiguous: [many] }), TABLE);
    expect([question?.choices.length, question?.more]).toEqual([10, 3]);
  });

  test("words that were read otherwise are counted in characters, as the service counts them", () => {
    const inexact = [{ pseudonym: "Eanna1", start: 2, end: 6 }];
    expect(wordsRead("😀 Anne?", reply({ inexact }), TABLE)).toEqual([{ typed: "Anne", name: "Anna Keller" }]);
  });
});

describe("evidence", () => {
  const facts = [
    fact("Eberg2", ["^treated by"], "Sfour4"),
    fact("Sfour4", ["has stay|on ward", "part of"], "Eunkn1"),
    fact("Eberg2", ["born"], "Vdate1", false),
  ];

  test("rows tell the direction, and what leads to the answer comes first", () => {
    const rows = rowsOf([...facts].reverse(), TABLE);
    expect(rows.map((row) => row.cited)).toEqual([true, true, false]);
    expect(rows[1]).toMatchObject({ head: "Jörg Berg", relation: "treated by", isBackward: true, tail: "A, B, C and D" });
    expect(rows[0]).toMatchObject({ relation: "has stay / on ward › part of", isBackward: false, tail: "1 t" });
  });

  test("the picture holds what leads to the answer, in columns, small sets as a box of their members", () => {
    const { nodes, edges } = pictureOf(facts, TABLE, false);
    expect(nodes.map((node) => node.kind)).toEqual(["thing", "box", "thing", "thing", "thing", "thing", "unnamed"]);
    expect(edges.map(({ source, target }) => [source, target])).toEqual([["Sfour4", "Eberg2"], ["Sfour4", "Eunkn1"]]);
    const at = (id: string) => nodes.find((node) => node.id === id)?.x ?? Number.NaN;
    expect(at("Eberg2")).toBeLessThan(at("Sfour4/0"));
    expect(at("Sfour4/0")).toBeLessThan(at("Eunkn1"));
  });

  test("no two members stand in one place", () => {
    const { nodes } = pictureOf([fact("Eberg2", ["knows"], "Slarge")], TABLE, true);
    const places = nodes.filter((node) => node.kind !== "box").map(({ x, y }) => `${x} ${y}`);
    expect(new Set(places).size).toBe(places.length);
  });

  test("a large set is one node until all are wanted, and those without a name are told", () => {
    const large = [fact("Eberg2", ["knows"], "Slarge")];
    const labels = (opensAll: boolean) => pictureOf(large, TABLE, opensAll).nodes.map((node) => node.label);
    expect(labels(false)).toEqual(["Jörg Berg", "Name 0 and 69 more"]);
    expect(labels(true)).toContain("and 20 more");
    expect(sizeOf(large, TABLE)).toBe(52);
  });

  test("facts in a ring end", () => {
    const ring = [fact("Eanna1", ["knows"], "Eberg2"), fact("Eberg2", ["knows"], "Eanna1")];
    expect(pictureOf(ring, TABLE, true).nodes.length).toBe(2);
  });
});

test("a prompt reads as its messages, an object as its parts, and anything else as it is", () => {
  expect(readablePayload('{"messages":[{"role":"user","content":"a"}]}')).toEqual([{ title: "user", text: "a" }]);
  expect(readablePayload('{"question":"q","things":[{"a":1},"b"]}')).toEqual([
    { title: "question", text: "q" },
    { title: "things", text: '{"a":1}\nb' },
  ]);
  expect(readablePayload("plain")).toEqual([{ title: "", text: "plain" }]);
  expect(readablePayload("[1]")).toEqual([{ title: "", text: "[1]" }]);
});
