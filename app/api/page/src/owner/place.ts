/** Where in the owner's pages the reader is: what follows `#/graphs`. */

import { signal } from "@preact/signals";

export type Place = { at: "list" | "load" | "keys" | "ledger" } | { at: "graph"; name: string };

export const place = signal<Place>(placeOf(location.hash));
addEventListener("hashchange", () => {
  place.value = placeOf(location.hash);
});

export const HREFS = { list: "#/graphs", load: "#/graphs/load", keys: "#/graphs/keys", ledger: "#/graphs/ledger" };

export function hrefOfGraph(name: string): string {
  return `#/graphs/of/${name}`;
}

function placeOf(hash: string): Place {
  const [, first = "", second = ""] = hash.replace(/^#\/?/, "").split("/");
  if (first === "of" && /^[a-z0-9_-]+$/.test(second)) {
    return { at: "graph", name: second };
  }
  return first === "load" || first === "keys" || first === "ledger" ? { at: first } : { at: "list" };
}
