/** What Browse keeps while the page is open, for each access of its own: nobody goes on where another one left. */

import type { Access } from "../shared/service";
import type { Query } from "./query";

interface Memory {
  /** The conversation whose pseudonyms things have, by graph and kind. */
  conversations: Map<string, string>;
  /** How a kind's table was last looked at, by graph and kind. */
  queries: Map<string, Query>;
}

const memories = new WeakMap<Access, Memory>();

export function memory(access: Access): Memory {
  const kept = memories.get(access) ?? { conversations: new Map(), queries: new Map() };
  memories.set(access, kept);
  return kept;
}
