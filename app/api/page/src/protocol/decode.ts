/** Reading JSON that came over the wire: what has another form is refused, and fields that are not known are passed over. */

/** Says where the form was broken; never what stood there. */
export class BadShape extends Error {}

export type Decoder<T> = (value: unknown, at: string) => T;
export type Decoded<D> = D extends Decoder<infer T> ? T : never;

export const text: Decoder<string> = (value, at) => (typeof value === "string" ? value : refuse(at));
export const truth: Decoder<boolean> = (value, at) => (typeof value === "boolean" ? value : refuse(at));
export const number: Decoder<number> = (value, at) => (typeof value === "number" ? value : refuse(at));

/** Anything; what is read of it is decided later. */
export const anything: Decoder<unknown> = (value) => value;

export function oneOf<const T extends string>(...words: T[]): Decoder<T> {
  return (value, at) => words.find((word) => word === value) ?? refuse(at);
}

export function list<T>(of: Decoder<T>): Decoder<T[]> {
  return (value, at) => (Array.isArray(value) ? value.map((each, n) => of(each, `${at}[${n}]`)) : refuse(at));
}

/** A JSON object as a Map: no key of it can be taken for a property of ours. */
export function mapOf<T>(of: Decoder<T>): Decoder<Map<string, T>> {
  return (value, at) => new Map(Object.entries(objectIn(value, at)).map(([key, each]) => [key, of(each, `${at}.*`)]));
}

/** `fallback` stands where the field is missing. */
export function optional<T>(of: Decoder<T>, fallback: T): Decoder<T> {
  return (value, at) => (value === undefined ? fallback : of(value, at));
}

export function nullable<T>(of: Decoder<T>): Decoder<T | null> {
  return (value, at) => (value === null || value === undefined ? null : of(value, at));
}

export function fields<S extends Record<string, Decoder<unknown>>>(
  shape: S,
): Decoder<{ [K in keyof S]: Decoded<S[K]> }> {
  return (value, at) => {
    const found = objectIn(value, at);
    const read = Object.entries(shape).map(([key, of]) => {
      return [key, of(Object.hasOwn(found, key) ? found[key] : undefined, `${at}.${key}`)];
    });
    return Object.fromEntries(read) as { [K in keyof S]: Decoded<S[K]> };
  };
}

/** Raises BadShape, also where `source` is no JSON. */
export function parsed<T>(source: string, of: Decoder<T>): T {
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch {
    throw new BadShape("no JSON");
  }
  return of(value, "it");
}

function objectIn(value: unknown, at: string): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : refuse(at);
}

function refuse(at: string): never {
  throw new BadShape(`${at} has another form than this page reads`);
}
