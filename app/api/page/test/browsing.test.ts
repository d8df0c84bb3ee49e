import { describe, expect, test } from "vitest";
import { asCsv } from "../src/ask/answer_table";
import { countWords, headOf, kindTitle, nameOf, rowsOf } from "../src/browse/cells";
import { narrowed, sortedBy, START, wantedBy, widened } from "../src/browse/query";
import type { GraphTable, NameTable, TableColumn } from "../src/protocol/wire";

const COLUMN: TableColumn = {
  column: "city", leads_to: "city", value_kind: null, masked: false, counted: false, filled: 2, distinct: 2, sortable: true, has_choices: false,
};

function namesOf(table: Record<string, string>): NameTable {
  return new Map(Object.entries(table).map(([word, name]) => [word, { names: [name], total: 1 }]));
}

function thing(pseudonym: string, concept = "member", is_value = false) {
  return { pseudonym, concept, is_value };
}

const NAMES = namesOf({ E1aaaa: "Ada, K.", E2bbbb: "Pillau", V3cccc: "true", Rk3ma2: "wage", "masked item": "member", V4dddd: "=1+1" });
const TABLE: GraphTable = {
  id: "t", graph: "g", conversation: "c", kinds: [{ kind: "masked item", things: 120 }], kind: "masked item", named: true, sortable: true,
  columns: [
    COLUMN,
    { ...COLUMN, column: "Rk3ma2", leads_to: "", masked: true, value_kind: "text" },
    { ...COLUMN, column: "active", leads_to: "", value_kind: "truth" },
    { ...COLUMN, column: "^loan", leads_to: "loan", counted: true },
  ],
  rows: [
    {
      thing: thing("E1aaaa"),
      cells: [
        { ends: [thing("E2bbbb", "city")], total: 3 },
        { ends: [thing("V4dddd", "", true)], total: 1 },
        { ends: [thing("V3cccc", "", true)], total: 1 },
        { ends: [], total: 7 },
      ],
    },
  ],
  total: 12, offset: 0, withheld: 0, choices: [], capsule: null,
};

describe("a table's words", () => {
  test("heads are the owner's, and what leads here is called by its kind", () => {
    const heads = TABLE.columns.map((column) => headOf(column, NAMES));
    expect(heads.map((each) => each.words)).toEqual(["city", "wage", "active", "loans"]);
    expect(headOf({ ...COLUMN, column: "^works at", leads_to: "doctor, nurse" }, NAMES)).toEqual({ words: "doctor", note: "← works at" });
  });

  test("a masked kind is called by its own word, and counted in it", () => {
    expect(kindTitle("masked item", 2, NAMES)).toBe("members");
    expect(countWords({ table: TABLE, names: NAMES }, true)).toBe("12 of 120 members");
  });

  test("what has no name is called by its kind", () => {
    expect(nameOf(thing("E9zzzz", "loan"), NAMES)).toBe("loan without a name");
  });

  test("the file holds what is shown, and no cell that a spreadsheet would run", () => {
    const csv = asCsv(rowsOf({ table: TABLE, names: NAMES }));
    expect(csv).toBe('name,city,wage,active,loans\r\n"Ada, K.",Pillau; 2 more,\'=1+1,yes,7\r\n');
  });

  test("rows without a name have no column of names", () => {
    expect(rowsOf({ table: { ...TABLE, named: false }, names: NAMES }).columns).toEqual(["city", "wage", "active", "loans"]);
  });
});

describe("how a table is looked at", () => {
  const second = { ...START, offset: 25 };

  test("a head sorts up, then down, then no more, each from the first page", () => {
    const up = sortedBy(second, "city");
    expect(up).toMatchObject({ sort: "city", descending: false, offset: 0 });
    expect(sortedBy(up, "city")).toMatchObject({ sort: "city", descending: true });
    expect(sortedBy(sortedBy(up, "city"), "city")).toMatchObject({ sort: null, descending: false });
  });

  test("a column has one condition, and names stay here", () => {
    const narrow = narrowed(narrowed(second, { column: "city", words: "Pillau", value: "E2bbbb" }), { column: "", words: "“a”", contains: "a" });
    const again = narrowed(narrow, { column: "city", words: "empty", isEmpty: true });
    expect(wantedBy("member", again)).toEqual({
      kind: "member", sort: null, descending: false, offset: 0,
      filters: [{ column: "", contains: "a" }, { column: "city", is_empty: true }],
    });
    expect(JSON.stringify(wantedBy("member", narrow))).not.toContain("Pillau");
    expect(widened(again, "").conditions.map((each) => each.column)).toEqual(["city"]);
  });
});
