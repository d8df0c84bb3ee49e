/**
 * Names back into text, whole or streamed: exact matches of whole words against one capsule, in one pass.
 * The twin of client_sdk/restore.py; tests/vectors/restore.json holds both to the same bytes.
 */

import type { Names, NameTable } from "./wire";

// A pseudonym is a run of these. The pattern is fixed: none is ever made from a capsule's data.
const RUN = /[0-9A-Za-z]+/g;
const WHOLE_RUN = /^[0-9A-Za-z]+$/;
const ASCII_WORD = /^[0-9A-Za-z]$/;
const JOINING = /^[\p{L}\p{N}\p{M}]$/u;
const WITHOUT_CASE = /^\p{Lo}$/u;
const NAMES_OF_A_SET = 5;
const STOPS = /[.!?…]$/;

/** A stretch of restored text; `pseudonym` is what stood there, where it was a name's. */
export interface Segment {
  text: string;
  pseudonym: string | null;
}

/** `text` with every pseudonym of `table` replaced. Others stay, and so does what only looks alike. */
export function restore(text: string, table: NameTable): string {
  return joined(segmentsOf(text, table));
}

/** The same in stretches, so that names can be told from the text around them. */
export function segmentsOf(text: string, table: NameTable): Segment[] {
  const restorer = new Restorer(table);
  return [...restorer.push(text), ...restorer.finish()];
}

export function joined(segments: readonly Segment[]): string {
  return segments.map((segment) => segment.text).join("");
}

/** One pseudonym's names as words: `A`, `A and B`, or `A, B, C and 12 more`; semicolons where names hold commas. */
export function shown(names: Names): string {
  const more = Math.max(0, names.total - names.names.length);
  if (names.names.length === 0) {
    return more ? `${more} without a name` : "none";
  }
  const comma = between(names.names);
  if (more) {
    return `${names.names.join(comma)} and ${more} more`;
  }
  const last = names.names.at(-1) ?? "";
  return names.names.length > 1 ? `${names.names.slice(0, -1).join(comma)} and ${last}` : last;
}

/** What parts names from one another: a semicolon where one of them holds a comma. */
export function between(names: readonly string[]): string {
  return names.length > 1 && names.some((name) => name.includes(",")) ? "; " : ", ";
}

/** The same names, at most five of each set, as facts and prompts show them. */
export function inShort(table: NameTable): NameTable {
  return new Map([...table].map(([key, { names, total }]) => [key, { names: names.slice(0, NAMES_OF_A_SET), total }]));
}

/**
 * Restores a stream of pieces. What it gives, joined, is `restore` of the pieces joined.
 *
 * Between two pieces it holds back at most the beginning of one pseudonym of the table. A restored name is never
 * read again, so one that looks like a pseudonym stays as it is.
 */
export class Restorer {
  private readonly words = new Map<string, string>();
  private readonly beginnings = new Set<string>();
  private held = "";
  private insideWord = false;

  constructor(table: NameTable) {
    for (const [pseudonym, names] of table) {
      if (WHOLE_RUN.test(pseudonym)) {
        this.words.set(pseudonym, shown(names));
        for (let end = 1; end <= pseudonym.length; end++) {
          this.beginnings.add(pseudonym.slice(0, end));
        }
      }
    }
  }

  /** What of the text so far is certain. */
  push(piece: string): Segment[] {
    return piece ? this.take(this.held + piece, false) : [];
  }

  /** The rest, when the stream has ended. Afterwards the restorer is as new. */
  finish(): Segment[] {
    const rest = this.take(this.held, true);
    this.insideWord = false;
    return rest;
  }

  private take(text: string, last: boolean): Segment[] {
    this.held = "";
    const done: Segment[] = [];
    let at = 0;
    for (const run of text.matchAll(RUN)) {
      const found = run[0];
      const end = run.index + found.length;
      add(done, text.slice(at, run.index), null);
      at = end;
      const openLeft = !this.joins(text, run.index);
      if (!last && end === text.length && openLeft && this.beginnings.has(found)) {
        this.held = found;
        break;
      }
      const whole = openLeft && !(end < text.length && isWordLetter(letterFrom(text, end)));
      const word = whole ? this.words.get(found) : undefined;
      add(done, word ?? found, word === undefined ? null : found);
      if (STOPS.test(word ?? found) && text[at] === ".") {
        at += 1; // "It is Robert Downey Jr." ends once.
      }
    }
    add(done, text.slice(at), null);
    this.insideWord = this.joins(text, text.length - this.held.length);
    return done;
  }

  /** Whether the letter before position `at`, perhaps one given earlier, belongs to the word that follows. */
  private joins(text: string, at: number): boolean {
    return at > 0 ? isWordLetter(letterBefore(text, at)) : this.insideWord;
  }
}

function add(segments: Segment[], text: string, pseudonym: string | null): void {
  const before = segments.at(-1);
  if (pseudonym === null && before?.pseudonym === null) {
    before.text += text;
  } else if (text || pseudonym !== null) {
    segments.push({ text, pseudonym });
  }
}

/**
 * Whether `letter` beside a pseudonym would make it part of a longer word. Letters of scripts without capitals (CJK,
 * kana, Hangul, Thai, Arabic, Hebrew) stand beside a pseudonym without a space, so they are borders.
 */
function isWordLetter(letter: string): boolean {
  if (letter.charCodeAt(0) < 128) {
    return ASCII_WORD.test(letter);
  }
  return JOINING.test(letter) && !WITHOUT_CASE.test(letter);
}

function letterFrom(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) ?? 0);
}

/** The whole letter that ends before `at`: beyond the basic plane it takes two places. */
function letterBefore(text: string, at: number): string {
  const before = text.codePointAt(at - 2);
  return at > 1 && before !== undefined && before > 0xffff ? String.fromCodePoint(before) : text.charAt(at - 1);
}
