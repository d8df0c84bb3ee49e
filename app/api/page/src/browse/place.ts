/** Where in the graph the reader is: what follows `#/browse`. Nothing there is a name. */

import { signal } from "@preact/signals";

export type Place =
  | { at: "outline" }
  | { at: "found" }
  | { at: "concept"; concept: string }
  | { at: "thing"; thing: string; conversation: string };

export const place = signal<Place>(placeOf(location.hash));
addEventListener("hashchange", () => {
  place.value = placeOf(location.hash);
});

export const BROWSE = "#/browse";
export const FOUND = `${BROWSE}/found`;
/** The name that was looked for last: it is kept here, and is in no address. */
export const sought = signal("");

export function hrefOfThing(thing: string, conversation: string): string {
  return `${BROWSE}/thing/${thing}/${conversation}`;
}

export function hrefOfConcept(concept: string): string {
  return `${BROWSE}/of/${encodeURIComponent(concept)}`;
}

function placeOf(hash: string): Place {
  const [, kind = "", first = "", second = ""] = hash.replace(/^#\/?/, "").split("/");
  if (kind === "thing" && first !== "" && second !== "") {
    return { at: "thing", thing: first, conversation: second };
  }
  if (kind === "found") {
    return { at: "found" };
  }
  return kind === "of" && first !== "" ? { at: "concept", concept: decodeURIComponent(first) } : { at: "outline" };
}
