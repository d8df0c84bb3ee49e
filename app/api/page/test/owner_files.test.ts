/** Files of a load: what is sent of them, and the lines around a fault. */

import { describe, expect, test } from "vitest";
import { ArogError } from "../src/protocol/errors";
import { type ChosenFile, endingOf, formOf, linesAround, placeOf, withOwnNames } from "../src/owner/load/files";
import { faultLines } from "../src/owner/load/policy_faults";

const file = (name: string, content: string | Uint8Array<ArrayBuffer> = "") => new File([content], name);
const packed = async (content: string) => {
  const bytes = new Blob([content]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(bytes).arrayBuffer());
};
const chosen: ChosenFile[] = [
  { file: file("Nora Lindqvist.TTL"), part: "file" },
  { file: file("words.owl"), part: "ontology" },
  { file: file("more.nt.gz"), part: "file" },
];

describe("what is sent", () => {
  test("each file under its own name", () => {
    const form = formOf(chosen, " \n");
    const sent = [...form.entries()].map(([part, value]) => [part, (value as File).name]);
    expect(sent).toEqual([["file", "Nora Lindqvist.TTL"], ["ontology", "words.owl"], ["file", "more.nt.gz"]]);
    expect(formOf(chosen, "types = 'hide'").get("policy")).toBe("types = 'hide'");
  });

  test("only endings that a load takes", () => {
    expect(["a.ttl", "a.CSV.GZ", "a.exe", "a.gz", "ttl", "a.ttl.zip"].map(endingOf)).toEqual([
      ".ttl", ".csv.gz", null, null, null, null,
    ]);
  });
});

describe("a record of a load", () => {
  test("gets the names of the files back, in the order in which they are read", () => {
    const told = "file-1.ttl, line 3: as in file-2.nt.gz and file-3.owl";
    expect(withOwnNames(told, chosen)).toBe("Nora Lindqvist.TTL, line 3: as in more.nt.gz and words.owl");
    expect(withOwnNames("file-2.csv and file-9.ttl", chosen)).toBe("file-2.csv and file-9.ttl");
  });
});

describe("a fault's place", () => {
  test("is the file of that name", () => {
    expect(placeOf("more.nt.gz, line 7: not valid", chosen)).toEqual({ file: chosen[2]?.file, line: 7 });
    expect(placeOf("words.owl: not valid", chosen)).toEqual({ file: chosen[1]?.file, line: null });
    expect(placeOf("other.nt, line 7: not valid", chosen)).toBeNull();
    expect(placeOf("the graph is too large", chosen)).toBeNull();
  });

  test("has its lines, packed or not, whatever the line ends are", async () => {
    const text = Array.from({ length: 5000 }, (_each, at) => `line ${at + 1}`).join("\r\n");
    const around = [2998, 2999, 3000, 3001, 3002].map((number) => ({ number, text: `line ${number}` }));
    expect(await linesAround(file("a.ttl", text), 3000)).toEqual(around);
    expect(await linesAround(file("a.ttl.gz", await packed(text)), 3000)).toEqual(around);
    expect((await linesAround(file("a.ttl", text), 5000)).map((each) => each.number)).toEqual([4998, 4999, 5000]);
    expect(await linesAround(file("a.ttl", text), 6000)).toEqual([]);
    expect((await linesAround(file("a.ttl", "x".repeat(5_000_000)), 1))[0]?.text.length).toBeLessThan(500);
  });
});

describe("a policy's fault", () => {
  const policy = 'types = "concpt"\n\n[relations."http://x.invalid/a"]\nhide = true\n\n[relations."http://x.invalid/b"]\nhide = 1\n[mediators]\n';
  const bad = (message: string) => new ArogError({ code: "bad_policy", message, hint: "" });

  test("is the line that the service tells", () => {
    expect(faultLines(policy, bad("policy: not valid TOML, line 4."))).toEqual([4]);
    expect(faultLines(policy, bad("policy: not valid TOML, line 40."))).toEqual([9]);
  });

  test("is every line that sets the field that it tells", () => {
    expect(faultLines(policy, bad("policy: types: Input should be 'concept' or 'hide'."))).toEqual([1]);
    expect(faultLines(policy, bad("policy: relations.?.hide: Input should be a valid boolean."))).toEqual([4, 7]);
    expect(faultLines(policy, bad("policy: mediators: unknown field; allowed: blank_nodes."))).toEqual([8]);
    expect(faultLines(policy, bad("policy: top level: unknown field."))).toEqual([]);
    expect(faultLines(policy, null)).toEqual([]);
  });
});
