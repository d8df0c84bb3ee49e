/** Who is using the page: an API key or a person, the graphs that they may ask, and the reader's key. */

import { computed, signal } from "@preact/signals";
import type { ArogError } from "../protocol/errors";
import type { ReaderKey } from "../protocol/sealing";
import { graphNamesOf } from "../protocol/wire";
import { hasCrypto, makeKey, needsPassphrase, openKeptKey } from "./keys";
import { type Access, keyAccess, Service, told } from "./service";
import { idOf, type Person, personAccess, signedIn, signOut } from "./sign_in";
import { forgetTheme } from "./theme";
import { forgetEverything, keepSettings, keptSettings, openStoreOf, type KeptSettings } from "./store";

export interface Session {
  access: Access;
  service: Service;
  key: ReaderKey;
  graphs: string[];
  /** Those of them that may be looked through. */
  inspectable: string[];
}

/** `insecure`: the browser gives no cryptography here. `locked`: the key waits for its passphrase. */
export type Phase = "starting" | "insecure" | "welcome" | "locked" | "ready";

export const phase = signal<Phase>("starting");
export const session = signal<Session | null>(null);
/** Who is signed in; null where an API key is used. */
export const person = signal<Person | null>(null);
/** Why the last sign-in did not come through. */
export const signInProblem = signal<ArogError | null>(null);
export const settings = signal<KeptSettings>({ apiKey: "", graph: "", names: 50 });
export const graph = computed(() => settings.value.graph);
/** Whether the chosen graph may be looked through. */
export const isInspectable = computed(() => session.value?.inspectable.includes(settings.value.graph) ?? false);

/** What is kept here becomes the session; without it the first-run screen comes. Raises ArogError. */
export async function begin(): Promise<void> {
  if (!hasCrypto()) {
    phase.value = "insecure";
    return;
  }
  await findPerson();
  const kept = await keptSettings();
  if (kept === null || signInProblem.value !== null) {
    phase.value = "welcome";
    return;
  }
  settings.value = { ...settings.value, ...kept };
  if (await needsPassphrase()) {
    phase.value = "locked";
    return;
  }
  await unlock("");
}

async function findPerson(): Promise<void> {
  try {
    person.value = await signedIn();
  } catch (raised) {
    signInProblem.value = told(raised);
  }
  openStoreOf(person.value && (await idOf(person.value)));
}

/** What lets in whoever is signed in, else the API key. */
function accessBy(apiKey: string): Access {
  return person.value === null ? keyAccess(apiKey) : personAccess;
}

/** Opens the kept key. Raises WrongPassphrase. */
export async function unlock(passphrase: string): Promise<void> {
  const key = (await openKeptKey(passphrase)) ?? (await makeKey(passphrase));
  const { apiKey, graph } = settings.value;
  const access = accessBy(apiKey);
  session.value = { access, service: new Service(access), key, graphs: [graph], inspectable: [] };
  phase.value = "ready";
  // The graphs may have changed since; without the service the history can still be read.
  await refreshGraphs().catch(() => undefined);
}

export async function refreshGraphs(): Promise<void> {
  const now = session.value;
  if (now !== null) {
    session.value = { ...now, ...(await graphsOf(now.access)) };
  }
}

/** The graphs that may be asked. Raises ArogError. */
export async function graphsOf(access: Access): Promise<KnownGraphs> {
  return new Service(access).ask("/graphs", graphNamesOf);
}

export type KnownGraphs = Pick<Session, "graphs" | "inspectable">;

/** Ends the first run: keeps the settings, and makes the reader's key where there is none. */
export async function enter(apiKey: string, known: KnownGraphs, graph: string, passphrase: string): Promise<void> {
  const key = (await openKeptKey(passphrase)) ?? (await makeKey(passphrase));
  await change({ apiKey, graph });
  const access = accessBy(apiKey);
  session.value = { access, service: new Service(access), key, ...known };
  phase.value = "ready";
}

/** Back to the first-run screen for another API key, or to sign in; key and conversations stay. */
export function enterAgain(): void {
  phase.value = "welcome";
}

/** Ends the sign-in of this tab. What this browser keeps of the person stays, and shows when they sign in again. */
export async function endSignIn(): Promise<void> {
  session.value = null;
  phase.value = "starting";
  await signOut();
  // Conversations, and what else is in the page's memory, are the person's.
  location.reload();
}

/** Back from there with the key that was in use. */
export function stay(): void {
  phase.value = "ready";
}

/** Changes what is kept of the settings. */
export async function change(some: Partial<KeptSettings>): Promise<void> {
  settings.value = { ...settings.value, ...some };
  await keepSettings(settings.value);
}

/** Takes everything out of this browser. */
export async function leave(): Promise<void> {
  await forgetEverything();
  await signOut();
  forgetTheme();
  session.value = null;
  person.value = null;
  openStoreOf(null);
  settings.value = { apiKey: "", graph: "", names: 50 };
  phase.value = "welcome";
}
