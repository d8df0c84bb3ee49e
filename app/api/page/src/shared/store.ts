/** What this browser keeps, in IndexedDB: the key pair, the settings, and the conversations. Nothing of it is sent. */

import { type DBSchema, type IDBPDatabase, openDB } from "idb";
import type { Conversation, KeptKey } from "./stored_types";

export interface KeptSettings {
  /** Empty for who signed in. */
  apiKey: string;
  graph: string;
  names: number;
  /** The language of names, as its tag; the question's where there is none. */
  language?: string;
}

interface Kept extends DBSchema {
  settings: { key: "settings"; value: KeptSettings };
  keys: { key: "reader"; value: KeptKey };
  conversations: { key: string; value: Conversation; indexes: { updated: number } };
}

const NAME = "arog";
let name = NAME;
let opened: Promise<IDBPDatabase<Kept>> | null = null;

/** From now on what is kept is this person's, by an id of them; null: that of whoever has the API key. */
export function openStoreOf(person: string | null): void {
  const wanted = person === null ? NAME : `${NAME}-${person}`;
  if (wanted !== name) {
    name = wanted;
    opened = null;
  }
}

function database(): Promise<IDBPDatabase<Kept>> {
  opened ??= openDB<Kept>(name, 1, {
    upgrade(db) {
      db.createObjectStore("settings");
      db.createObjectStore("keys");
      db.createObjectStore("conversations", { keyPath: "id" }).createIndex("updated", "updated");
    },
  });
  return opened;
}

export async function keptSettings(): Promise<KeptSettings | null> {
  return (await (await database()).get("settings", "settings")) ?? null;
}

export async function keepSettings(settings: KeptSettings): Promise<void> {
  await (await database()).put("settings", settings, "settings");
}

export async function keptKey(): Promise<KeptKey | null> {
  return (await (await database()).get("keys", "reader")) ?? null;
}

export async function keepKey(key: KeptKey): Promise<void> {
  await (await database()).put("keys", key, "reader");
}

/** Newest first. */
export async function keptConversations(): Promise<Conversation[]> {
  return (await (await database()).getAllFromIndex("conversations", "updated")).reverse();
}

export async function keepConversation(conversation: Conversation): Promise<void> {
  await (await database()).put("conversations", conversation);
}

export async function dropConversation(id: string): Promise<void> {
  await (await database()).delete("conversations", id);
}

/** Everything: settings, key and conversations. Names that were sealed to the key stay shut for ever. */
export async function forgetEverything(): Promise<void> {
  const db = await database();
  await Promise.all([db.clear("settings"), db.clear("keys"), db.clear("conversations")]);
}
