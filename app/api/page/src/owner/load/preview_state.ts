/** What a model would see of the chosen files, asked before they are loaded. */

import { effect, signal } from "@preact/signals";
import type { ArogError } from "../../protocol/errors";
import { previewContext } from "../../protocol/seal_contexts";
import { openCapsule } from "../../protocol/sealing";
import type { NameTable } from "../../protocol/wire";
import { isAborted, told } from "../../shared/service";
import { session } from "../../shared/session";
import { type GraphPreview, type PolicyChanges, graphPreviewOf } from "../wire";
import { type ChosenFile, formOf } from "./files";
import { files, policy } from "./load_state";
import { upload } from "./uploading";

export interface Seen {
  preview: GraphPreview;
  /** Names of the sample, opened here. */
  names: NameTable;
  /** What it was made of: another policy or other files make it stale. */
  policy: string;
  files: ChosenFile[];
}

export const seen = signal<Seen | null>(null);
export const isLooking = signal(false);
export const lookProblem = signal<ArogError | null>(null);

/** So much is looked at as soon as it is chosen. */
const SMALL = 20_000_000; // bytes

/** Looks at files as they are chosen, where they are not large. A policy that was proposed for others is dropped. */
export function lookAtOnce(): void {
  if (isLooking.value) {
    return;
  }
  const before = seen.value?.preview;
  if (before?.is_proposed && policy.value === before.policy) {
    policy.value = "";
  }
  const size = files.value.reduce((sum, { file }) => sum + file.size, 0);
  if (size <= SMALL && files.value.some((each) => each.part === "file")) {
    void look();
  }
}

effect(() => {
  if (session.value === null || files.value.length === 0) {
    seen.value = null;
    lookProblem.value = null;
  }
});

/** Chosen and not sent yet: while one preview is made, the next choices wait for it. */
let waiting: PolicyChanges = { columns: [], tables: [] };

/** Makes one choice: the service writes it into the policy, and shows what it does. Does not raise. */
export async function choose({ columns = [], tables = [] }: Partial<PolicyChanges>): Promise<void> {
  waiting = { columns: [...waiting.columns, ...columns], tables: [...waiting.tables, ...tables] };
  while (!isLooking.value && waiting.columns.length + waiting.tables.length > 0) {
    const sent = waiting;
    waiting = { columns: [], tables: [] };
    await look(sent);
  }
}

/** Asks for a preview; the policy that it is of goes into the editor where it was proposed or changed. Does not raise. */
export async function look(changes: PolicyChanges | null = null): Promise<void> {
  const now = session.value;
  if (now === null) {
    return;
  }
  isLooking.value = true;
  lookProblem.value = null;
  const sent = files.value;
  const form = formOf(sent, policy.value);
  if (changes !== null) {
    form.append("changes", JSON.stringify(changes));
  }
  try {
    const path = `/admin/preview?public_key=${encodeURIComponent(now.key.publicText)}`;
    const preview = await upload(path, graphPreviewOf, {
      access: now.access,
      form,
      onProgress: () => undefined,
      signal: new AbortController().signal,
    });
    const { capsule } = preview;
    const opened = capsule && (await openCapsule(capsule, now.key, await previewContext(preview)));
    if (preview.is_proposed || changes !== null) {
      policy.value = preview.policy;
    }
    seen.value = { preview, names: opened?.table ?? new Map(), policy: policy.value, files: sent };
  } catch (raised) {
    if (!isAborted(raised)) {
      lookProblem.value = told(raised);
    }
  } finally {
    isLooking.value = false;
  }
  if (files.value !== sent) {
    lookAtOnce();
  }
}
