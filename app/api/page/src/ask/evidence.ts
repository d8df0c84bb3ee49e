/** Evidence as rows of a table and as nodes of a picture: plain values, laid out in columns from left to right. */

import { inShort, restore, shown } from "../protocol/restoration";
import type { Fact, NameTable } from "../protocol/wire";
import { endOf } from "./path_line";

/** Sets of so many members or fewer are drawn one by one at once. */
export const FEW = 12;
const STACKED = 6;
const WIDE = 1.7; // a large box is so many times as wide as high
const ROW = 44;
const GAP = 14;
const COLUMN_GAP = 230;
const LONGEST_LABEL = 28;
const LETTER = 7.4;

export interface Row {
  /** The position of the fact in the evidence. */
  at: number;
  head: string;
  headConcept: string;
  relation: string;
  isBackward: boolean;
  tail: string;
  tailConcept: string;
  cited: boolean;
  /** The public graph that it is of, with source and licence; empty if it is of the asked one. */
  from: string;
}

/** What leads to the answer first. */
export function rowsOf(facts: readonly Fact[], table: NameTable): Row[] {
  const short = inShort(table);
  const rows = facts.map((fact, at) => ({
    at,
    head: endOf(fact, "head", short),
    headConcept: hasName(fact.head, short) ? restore(fact.head_concept, table) : "",
    ...relationOf(fact, table),
    tail: endOf(fact, "tail", short),
    tailConcept: hasName(fact.tail, short) ? restore(fact.tail_concept, table) : "",
    cited: fact.cited,
    from: fact.public,
  }));
  return [...rows.filter((row) => row.cited), ...rows.filter((row) => !row.cited)];
}

function hasName(pseudonym: string, table: NameTable): boolean {
  return (table.get(pseudonym)?.names.length ?? 0) > 0;
}

export interface PictureNode {
  id: string;
  label: string;
  whole: string;
  concept: string;
  kind: "thing" | "value" | "set" | "box" | "unnamed";
  parent: string | null;
  x: number;
  y: number;
  width: number;
}

export interface PictureEdge {
  id: string;
  /** The position of its fact in the evidence. */
  fact: number;
  source: string;
  target: string;
  label: string;
}

export interface Picture {
  nodes: PictureNode[];
  edges: PictureEdge[];
  height: number;
}

/** `opensAll`: every member of every set has a node of its own. Facts that don't lead to the answer are left out. */
export function pictureOf(facts: readonly Fact[], table: NameTable, opensAll: boolean): Picture {
  const cited = facts.filter((fact) => fact.cited);
  const drawn = cited.length > 0 ? cited : facts;
  const concepts = new Map(drawn.flatMap((fact) => [[fact.head, restore(fact.head_concept, table)], [fact.tail, restore(fact.tail_concept, table)]]));
  const words = new Map(drawn.flatMap((fact) => [[fact.head, endOf(fact, "head", table)], [fact.tail, endOf(fact, "tail", table)]]));
  const nodes: PictureNode[] = [];
  let left = 0;
  let tallest = 0;
  for (const column of columnsOf(drawn)) {
    const placed = column.map((pseudonym) => block(pseudonym, { concept: concepts.get(pseudonym) ?? "", words: words.get(pseudonym) ?? "" }, table, opensAll));
    const width = Math.max(...placed.map((each) => each.width));
    const height = placed.reduce((sum, each) => sum + each.height + GAP, -GAP);
    tallest = Math.max(tallest, height);
    let top = -height / 2;
    for (const each of placed) {
      nodes.push(...each.nodes.map((node) => ({ ...node, x: node.x + left + width / 2, y: node.y + top + each.height / 2 })));
      top += each.height + GAP * 2;
    }
    left += width + COLUMN_GAP;
  }
  return { nodes, edges: drawn.map((fact) => edgeOf(fact, facts.indexOf(fact), table)), height: tallest };
}

/** How many nodes there would be with every member drawn. */
export function sizeOf(facts: readonly Fact[], table: NameTable): number {
  return pictureOf(facts, table, true).nodes.filter((node) => node.kind !== "box").length;
}

/** What hangs on nothing stands at the left; everything else one column right of what it first hangs on. */
function columnsOf(facts: readonly Fact[]): string[][] {
  const heads = [...new Set(facts.map((fact) => fact.head))];
  const tails = new Set(facts.filter((fact) => fact.head !== fact.tail).map((fact) => fact.tail));
  const roots = heads.filter((head) => !tails.has(head));
  const columns: string[][] = [roots.length > 0 ? roots : heads.slice(0, 1)];
  const placed = new Set(columns[0]);
  for (let last = columns[0]; last !== undefined && last.length > 0; last = columns.at(-1)) {
    const next = [...new Set(facts.filter((fact) => last?.includes(fact.head)).map((fact) => fact.tail))];
    const fresh = next.filter((tail) => !placed.has(tail));
    fresh.forEach((tail) => placed.add(tail));
    if (fresh.length === 0) {
      break;
    }
    columns.push(fresh);
  }
  const left = [...new Set(facts.flatMap((fact) => [fact.head, fact.tail]))].filter((each) => !placed.has(each));
  return left.length > 0 ? [...columns, left] : columns;
}

interface Block {
  nodes: PictureNode[];
  width: number;
  height: number;
}

interface Labels {
  concept: string;
  words: string;
}

/** One thing, or a set as a box around its members; places are counted from the block's middle. */
function block(pseudonym: string, { concept, words }: Labels, table: NameTable, opensAll: boolean): Block {
  const names = table.get(pseudonym);
  if (names === undefined || names.names.length === 0) {
    return single({ id: pseudonym, ...labelled(words), concept, kind: "unnamed", parent: null });
  }
  const kind = pseudonym.startsWith("V") ? "value" : "thing";
  if (names.total <= 1) {
    return single({ id: pseudonym, ...labelled(shown(names)), concept, kind, parent: null });
  }
  if (names.names.length > FEW && !opensAll) {
    const some = shown({ names: names.names.slice(0, 1), total: names.total });
    return single({ id: pseudonym, ...labelled(some), concept, kind: "set", parent: null });
  }
  return boxed(pseudonym, concept, kind, [
    ...names.names,
    ...(names.total > names.names.length ? [`and ${names.total - names.names.length} more`] : []),
  ]);
}

type Unplaced = Omit<PictureNode, "x" | "y">;

function single(node: Unplaced): Block {
  return { nodes: [{ ...node, x: 0, y: 0 }], width: node.width, height: ROW };
}

function boxed(pseudonym: string, concept: string, kind: "thing" | "value", names: readonly string[]): Block {
  const labels = names.map(labelled);
  const cell = Math.max(...labels.map((each) => each.width)) + GAP;
  const columns = names.length <= STACKED ? 1 : Math.ceil(Math.sqrt((WIDE * names.length * ROW) / cell));
  const rows = Math.ceil(names.length / columns);
  const members = labels.map((each, at) => ({
    id: `${pseudonym}/${at}`,
    ...each,
    concept,
    kind,
    parent: pseudonym,
    x: ((at % columns) - (columns - 1) / 2) * cell,
    y: (Math.floor(at / columns) - (rows - 1) / 2) * ROW,
  }));
  const box = { id: pseudonym, label: concept, whole: concept, concept, kind: "box" as const, parent: null, x: 0, y: 0, width: 0 };
  return { nodes: [box, ...members], width: columns * cell + GAP, height: rows * ROW + 3 * GAP };
}

function labelled(whole: string): { label: string; whole: string; width: number } {
  const letters = [...whole];
  const label = letters.length > LONGEST_LABEL ? `${letters.slice(0, LONGEST_LABEL - 1).join("")}…` : whole;
  return { label, whole, width: Math.max(56, [...label].length * LETTER + 26) };
}

/** An edge that points as the relation does: what was walked backwards points back. */
function edgeOf(fact: Fact, position: number, table: NameTable): PictureEdge {
  const { relation, isBackward } = relationOf(fact, table);
  const [source, target] = isBackward ? [fact.tail, fact.head] : [fact.head, fact.tail];
  return { id: `edge/${position}`, fact: position, source, target, label: relation };
}

function relationOf(fact: Fact, table: NameTable): { relation: string; isBackward: boolean } {
  const isBackward = fact.path.length > 0 && fact.path.every((step) => step.startsWith("^"));
  const words = fact.path.map((step) => {
    const read = restore(step.replace(/^\^/, "").replaceAll("|", " / ").replaceAll("^", ""), table);
    return step.startsWith("^") && !isBackward ? `← ${read}` : read;
  });
  return { relation: words.join(" › "), isBackward };
}

