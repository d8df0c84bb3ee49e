/** Who is using the page: the API key, the graphs that it may ask, and the reader's key. One for the whole page. */

import { computed, signal } from "@preact/signals";
import type { ReaderKey } from "../protocol/sealing";
import { graphNamesOf } from "../protocol/wire";
import { hasCrypto, makeKey, needsPassphrase, openKeptKey } from "./keys";
import { Service } from "./service";
import { forgetTheme } from "./theme";
import { forgetEverything, keepSettings, keptSettings, type KeptSettings } from "./store";

export interface Session {
  apiKey: string;
  service: Service;
  key: ReaderKey;
  graphs: string[];
  /** Those of them that the key may look through. */
  inspectable: string[];
}

/** `insecure`: the browser gives no cryptography here. `locked`: the key waits for its passphrase. */
export type Phase = "starting" | "insecure" | "welcome" | "locked" | "ready";

export const phase = signal<Phase>("starting");
export const session = signal<Session | null>(null);
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
  const kept = await keptSettings();
  if (kept === null) {
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

/** Opens the kept key. Raises WrongPassphrase. */
export async function unlock(passphrase: string): Promise<void> {
  const key = (await openKeptKey(passphrase)) ?? (await makeKey(passphrase));
  const { apiKey, graph } = settings.value;
  session.value = { apiKey, service: new Service(apiKey), key, graphs: [graph], inspectable: [] };
  phase.value = "ready";
  // The graphs may have changed since; without the service the history can still be read.
  await refreshGraphs().catch(() => undefined);
}

export async function refreshGraphs(): Promise<void> {
  const now = session.value;
  if (now !== null) {
    session.value = { ...now, ...(await graphsOf(now.apiKey)) };
  }
}

/** The graphs that an API key may ask. Raises ArogError. */
export async function graphsOf(apiKey: string): Promise<KnownGraphs> {
  return new Service(apiKey).ask("/graphs", graphNamesOf);
}

export type KnownGraphs = Pick<Session, "graphs" | "inspectable">;

/** Ends the first run: keeps the settings, and makes the reader's key where there is none. */
export async function enter(apiKey: string, known: KnownGraphs, graph: string, passphrase: string): Promise<void> {
  const key = (await openKeptKey(passphrase)) ?? (await makeKey(passphrase));
  await change({ apiKey, graph });
  session.value = { apiKey, service: new Service(apiKey), key, ...known };
  phase.value = "ready";
}

/** Back to the first-run screen for another API key; key and conversations stay. */
export function enterAgain(): void {
  phase.value = "welcome";
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
  forgetTheme();
  session.value = null;
  settings.value = { apiKey: "", graph: "", names: 50 };
  phase.value = "welcome";
}
