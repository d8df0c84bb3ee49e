/** Nouns in the plural, and counts of them: `4 patients`. */

const COUNTS = new Intl.NumberFormat("en");
const IRREGULAR = new Map([["person", "people"], ["child", "children"], ["man", "men"], ["woman", "women"]]);
const HEAD = /^(.*?)([^\s,]+)((?:\s+(?:of|in|at|for|with|by|from|to)\b.*|,.*)?)$/;

/** The head of a noun phrase in the plural: what stands before the first preposition. */
export function plural(noun: string): string {
  const [, before = "", head = noun, after = ""] = HEAD.exec(noun) ?? [];
  return before + pluralWord(head) + after;
}

function pluralWord(word: string): string {
  const known = IRREGULAR.get(word.toLowerCase());
  if (known !== undefined) {
    return known;
  }
  if (/[^aeiou]y$/i.test(word)) {
    return `${word.slice(0, -1)}ies`;
  }
  return /(?:s|x|z|ch|sh)$/i.test(word) ? `${word}es` : `${word}s`;
}

/** `1 patient`, `4 patients`. */
export function countOf(number: number, noun: string): string {
  return `${COUNTS.format(number)} ${number === 1 ? noun : plural(noun)}`;
}
