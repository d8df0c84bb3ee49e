/** Changes of a policy's text leave all else as it was written. */

import { describe, expect, test } from "vitest";
import { SHOWINGS, withRelation } from "../src/owner/load/policy_edits";

const A = "http://x.invalid/a";
const B = "http://x.invalid/b";

describe("a relation's settings", () => {
  test("get a table of their own where there is none", () => {
    expect(withRelation("", A, SHOWINGS.masked)).toBe(`[relations."${A}"]\nmask = true\n`);
    expect(withRelation("types = 'hide' # mine\n", A, SHOWINGS.hidden)).toBe(
      `types = 'hide' # mine\n\n[relations."${A}"]\nhide = true\n`,
    );
    expect(withRelation("types = 'hide'\n", A, SHOWINGS.relation)).toBe(
      `types = 'hide'\n\n[relations."${A}"]\nmask = false\n`,
    );
  });

  test.each([`[relations."${A}"]`, `[relations.'${A}']`, `  [ relations . "${A}" ]  # theirs`])("go into %s", (head) => {
    const policy = `${head}\n# a remark\nlabel = "of"\nmask = true\ndescription = "x"\n\n[mediators]\nblank_nodes = false\n`;
    expect(withRelation(policy, A, SHOWINGS.hidden)).toBe(
      `${head}\nhide = true\n# a remark\nlabel = "of"\n\n[mediators]\nblank_nodes = false\n`,
    );
  });

  test("of another relation stay", () => {
    const policy = `[relations."${A}"]\nhide = true\n\n[relations."${B}"]\nhide = true\n`;
    expect(withRelation(policy, B, { values: "year", hide: null })).toBe(
      `[relations."${A}"]\nhide = true\n\n[relations."${B}"]\nvalues = "year"\n`,
    );
  });

  test("take their table with them when nothing is left", () => {
    const policy = `[relations."${A}"]\nhide = true\n\n[relations."${B}"]\nhide = true\n`;
    expect(withRelation(policy, A, { hide: null })).toBe(`[relations."${B}"]\nhide = true\n`);
    expect(withRelation(`[relations."${A}"]\nhide = true\n`, A, { hide: null })).toBe("\n");
  });

  test("are of a plain word and of one with quotes, too", () => {
    expect(withRelation("[relations.likes]\n", "likes", SHOWINGS.masked)).toBe("[relations.likes]\nmask = true\n");
    const odd = 'is "a"\\ b\t';
    const policy = withRelation("", odd, SHOWINGS.masked);
    expect(policy).toBe('[relations."is \\"a\\"\\\\ b\\t"]\nmask = true\n');
    expect(withRelation(policy, odd, { mask: null, hide: true })).toBe('[relations."is \\"a\\"\\\\ b\\t"]\nhide = true\n');
  });
});
