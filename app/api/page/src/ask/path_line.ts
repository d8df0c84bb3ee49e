/** How an answer was reached, in words: `From Zeno Mbekani by “treated by” to 4 patients`. */

import { restore, shown } from "../protocol/restoration";
import type { Fact, NameTable } from "../protocol/wire";
import { countOf } from "../shared/plurals";

const MOST_CHAINS = 3;
const BUCKETS = new Map([["2-5", "2–5"], ["6-20", "6–20"], ["more", "more than 20"]]);

/** What stands at the end of a fact: its name where there is one, else a count and a concept; never a pseudonym. */
export function endOf(fact: Fact, end: "head" | "tail", table: NameTable): string {
  const [pseudonym, concept] = end === "head" ? [fact.head, fact.head_concept] : [fact.tail, fact.tail_concept];
  const names = table.get(pseudonym);
  if (names !== undefined && names.names.length > 0) {
    return shown(names);
  }
  return someOf(fact, end, restore(concept, table) || "thing");
}

function someOf(fact: Fact, end: "head" | "tail", concept: string): string {
  if (end === "head") {
    return concept;
  }
  if (fact.tail_count !== null) {
    return countOf(fact.tail_count, concept);
  }
  const bucket = BUCKETS.get(fact.size);
  return bucket === undefined ? countOf(1, concept) : `${bucket} ${countOf(2, concept).slice(2)}`;
}

/** Chains of the facts that lead to the answer, each in which a fact begins where the one before ends. */
export function pathLines(facts: readonly Fact[], table: NameTable): string[] {
  const chains: Fact[][] = [];
  for (const fact of facts.filter((each) => each.cited)) {
    const chain = chains.find((each) => each.at(-1)?.tail === fact.head);
    if (chain === undefined) {
      chains.push([fact]);
    } else {
      chain.push(fact);
    }
  }
  return chains.slice(0, MOST_CHAINS).map((chain) => lineOf(chain, table));
}

function lineOf(chain: readonly Fact[], table: NameTable): string {
  const [first, last] = [chain[0], chain.at(-1)];
  if (first === undefined || last === undefined) {
    return "";
  }
  const steps = chain.flatMap((fact) => fact.path).map((step) => `“${stepOf(step, table)}”`);
  return `From ${inShort(first, "head", table)} by ${steps.join(", then ")} to ${inShort(last, "tail", table)}`;
}

/** One name as it is, of several their count. */
function inShort(fact: Fact, end: "head" | "tail", table: NameTable): string {
  const names = table.get(end === "head" ? fact.head : fact.tail);
  const concept = restore(end === "head" ? fact.head_concept : fact.tail_concept, table) || "thing";
  return names !== undefined && names.total > 1 ? countOf(names.total, concept) : endOf(fact, end, table);
}

function stepOf(step: string, table: NameTable): string {
  return restore(step.replaceAll("^", "").replaceAll("|", " / "), table);
}
