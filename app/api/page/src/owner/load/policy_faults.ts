/** Where in a policy the service's error is: it tells a line, or the field, never what stands there. */

import type { ArogError } from "../../protocol/errors";

/** Line numbers from 1; several where the field stands more than once, none where nothing can be told. */
export function faultLines(policy: string, problem: ArogError | null): number[] {
  if (problem?.code !== "bad_policy") {
    return [];
  }
  const lines = policy.split("\n");
  const told = /not valid TOML, line (\d+)/.exec(problem.message);
  if (told) {
    return [Math.min(Number(told[1]), lines.length)];
  }
  const field = /policy: ([\w.?]+): /.exec(problem.message)?.[1]?.split(".").filter((part) => !/^(\d+|\?)$/.test(part)).at(-1);
  return field === undefined ? [] : linesOf(lines, field);
}

/** Lines that set a field, or begin a table of that name. */
function linesOf(lines: readonly string[], field: string): number[] {
  const sets = new RegExp(`^\\s*(?:"?${field}"?\\s*=|\\[+\\s*"?${field}"?[\\].])`);
  return lines.flatMap((line, at) => (sets.test(line) ? [at + 1] : []));
}
