/** Changes of a policy's text, one relation at a time; all else of it stays as its owner wrote it. */

export type Setting = "hide" | "mask" | "description" | "label" | "values";
/** `null` takes a setting out. */
export type Changes = Partial<Record<Setting, string | boolean | null>>;

/** How a relation may be shown, as settings. */
export const SHOWINGS: Record<"relation" | "masked" | "hidden", Changes> = {
  // Said in so many words: what the policy leaves open may be masked at load.
  relation: { hide: null, mask: false, description: null },
  masked: { hide: null, mask: true },
  hidden: { hide: true, mask: null, description: null },
};

/** The policy with these settings in `[relations."PREDICATE"]`; the table is added where there is none. */
export function withRelation(policy: string, predicate: string, changes: Changes): string {
  const lines = policy.replace(/\n+$/, "").split("\n");
  let start = lines.findIndex((line) => isTableOf(line, predicate));
  if (start < 0) {
    if (Object.values(changes).every((value) => value === null)) {
      return policy;
    }
    lines.push(...(lines.length === 1 && lines[0] === "" ? [] : [""]), `[relations.${quoted(predicate)}]`);
    start = lines.length - 1;
  }
  let end = lines.findIndex((line, at) => at > start && /^\s*\[/.test(line));
  end = end < 0 ? lines.length : end;
  let block = lines.slice(start + 1, end);
  for (const [setting, value] of Object.entries(changes)) {
    block = block.filter((line) => !new RegExp(`^\\s*${setting}\\s*=`).test(line));
    if (value !== null) {
      block.unshift(`${setting} = ${typeof value === "boolean" ? value : quoted(value)}`);
    }
  }
  const isEmpty = block.every((line) => line.trim() === "");
  lines.splice(start, end - start, ...(isEmpty ? [] : [lines[start] ?? "", ...block]));
  return `${lines.join("\n").replace(/\n{3,}/g, "\n\n").replace(/^\n+|\n+$/g, "")}\n`;
}

function isTableOf(line: string, predicate: string): boolean {
  const named = /^\s*\[\s*relations\s*\.\s*(.+?)\s*\]\s*(?:#.*)?$/.exec(line)?.[1];
  return named !== undefined && [quoted(predicate), `'${predicate}'`, predicate].includes(named);
}

/** A basic string of TOML: JSON's escapes are among its own. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll("\x7f", "\\u007f");
}
