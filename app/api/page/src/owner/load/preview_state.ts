/** What a model would see of the chosen files, asked before they are loaded. */

import { effect, signal } from "@preact/signals";
import type { ArogError } from "../../protocol/errors";
import { previewContext } from "../../protocol/seal_contexts";
import { openCapsule } from "../../protocol/sealing";
import type { NameTable } from "../../protocol/wire";
import { isAborted, told } from "../../shared/service";
import { session } from "../../shared/session";
import { type GraphPreview, graphPreviewOf } from "../wire";
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

effect(() => {
  if (session.value === null || files.value.length === 0) {
    seen.value = null;
    lookProblem.value = null;
  }
});

/** Asks for a preview; a policy that is proposed goes into the editor. Does not raise. */
export async function look(): Promise<void> {
  const now = session.value;
  if (now === null) {
    return;
  }
  isLooking.value = true;
  lookProblem.value = null;
  const sent = files.value;
  try {
    const path = `/admin/preview?public_key=${encodeURIComponent(now.key.publicText)}`;
    const preview = await upload(path, graphPreviewOf, {
      apiKey: now.apiKey,
      form: formOf(sent, policy.value),
      onProgress: () => undefined,
      signal: new AbortController().signal,
    });
    const { capsule } = preview;
    const opened = capsule && (await openCapsule(capsule, now.key, await previewContext(preview)));
    if (preview.is_proposed) {
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
}
