/** Counts, shares, sizes and times in words. */

const COUNTS = new Intl.NumberFormat("en");
const TIMES = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const DAYS = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

export function count(number: number): string {
  return COUNTS.format(number);
}

/** `1 graph`, `2 graphs`. */
export function counted(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** A share between 0 and 1 in percent; small ones with more places. */
export function share(part: number): string {
  const percent = 100 * part;
  return `${percent.toFixed(percent >= 10 || percent === 0 ? 0 : percent >= 1 ? 1 : 2)} %`;
}

export function time(iso: string): string {
  const at = new Date(iso);
  return Number.isNaN(at.getTime()) ? iso : TIMES.format(at);
}

export function day(iso: string): string {
  const at = new Date(iso);
  return Number.isNaN(at.getTime()) ? iso : DAYS.format(at);
}

export function bytes(size: number): string {
  const units = ["bytes", "kB", "MB", "GB"];
  const at = size < 1000 ? 0 : Math.min(3, Math.floor(Math.log10(size) / 3));
  const scaled = size / 1000 ** at;
  return `${at === 0 || scaled >= 100 ? Math.round(scaled) : scaled.toFixed(1)} ${units[at]}`;
}

/** What each bar of a histogram counts: `1`, `2-4`, `1,000 or more`. */
export function bars(bounds: readonly number[]): string[] {
  return bounds.map((first, at) => {
    const next = bounds[at + 1];
    if (next === undefined) {
      return `${count(first)} or more`;
    }
    return next - 1 === first ? count(first) : `${count(first)}–${count(next - 1)}`;
  });
}
