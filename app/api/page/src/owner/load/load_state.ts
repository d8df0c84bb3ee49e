/** One load at a time, from its files to its end; it goes on while another view is shown. */

import { effect, signal } from "@preact/signals";
import { fields, parsed, text } from "../../protocol/decode";
import { ArogError } from "../../protocol/errors";
import { isAborted, told } from "../../shared/service";
import { change, refreshGraphs, session, settings } from "../../shared/session";
import { type JobStatus, jobStatusOf } from "../wire";
import { type ChosenFile, formOf } from "./files";
import { upload } from "./uploading";

export interface Load {
  name: string;
  files: ChosenFile[];
  state: "sending" | "running" | "waiting" | "done" | "failed";
  /** Of the upload while it is sent, of the job afterwards; 0 to 100. */
  percent: number;
  step: string;
  job: JobStatus | null;
  problem: ArogError | null;
  /** The service can't be reached just now; the load may go on there. */
  isLost: boolean;
}

/** What was put together and not sent yet. */
export const files = signal<ChosenFile[]>([]);
export const policy = signal("");
export const load = signal<Load | null>(null);

const NOTHING_YET = { files: [], percent: 0, step: "", job: null, problem: null, isLost: false };
const followedOf = fields({ id: text, name: text });
const LOOK_EVERY_MS = 300;
let sending = new AbortController();

/** Where this tab keeps which job it follows, so that it goes on after it was loaded anew. */
const FOLLOWED = "arog.job";
let hadSession = false;

effect(() => {
  if (session.value !== null) {
    if (!hadSession) {
      hadSession = true;
      void goOn();
    }
  } else if (hadSession) {
    hadSession = false;
    sending.abort();
    sessionStorage.removeItem(FOLLOWED);
    files.value = [];
    policy.value = "";
    load.value = null;
  }
});

/** Sends the files and follows the job to its end; `hold`: it asks before it goes live. Does not raise: `load` tells. */
export async function begin(name: string, hold: boolean): Promise<void> {
  const now = session.value;
  if (now === null) {
    return;
  }
  const sent = files.value;
  await tracked({ ...NOTHING_YET, name, files: sent, state: "sending" }, async (signal) => {
    const form = formOf(sent, policy.value);
    const onProgress = (share: number) => tell({ percent: 100 * share });
    const path = `/admin/graphs/${name}?hold=${hold}`;
    const job = await upload(path, jobStatusOf, { access: now.access, form, onProgress, signal });
    sessionStorage.setItem(FOLLOWED, JSON.stringify({ id: job.id, name }));
    tell({ job, state: "running", percent: 0 });
    await follow(job.id, signal);
  });
}

/** Follows the job that this tab followed before it was loaded anew. */
async function goOn(): Promise<void> {
  const kept = sessionStorage.getItem(FOLLOWED);
  if (kept !== null) {
    const { id, name } = parsed(kept, followedOf);
    await tracked({ ...NOTHING_YET, name, state: "running" }, (signal) => follow(id, signal));
  }
}

/** Begins with `first` and does the work; `load` tells how it ends. */
async function tracked(first: Load, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  sending = new AbortController();
  load.value = first;
  try {
    await work(sending.signal);
  } catch (raised) {
    if (isAborted(raised)) {
      load.value = null;
    } else {
      tell({ state: "failed", problem: told(raised) });
    }
  }
  sessionStorage.removeItem(FOLLOWED);
}

/** Stops sending, or the job; the graph stays as it was. Raises ArogError. */
export async function stop(): Promise<void> {
  const job = load.value?.job;
  if (job) {
    await session.value?.service.tell(`/admin/jobs/${job.id}`, { method: "DELETE" });
  } else {
    sending.abort();
  }
}

/** The version that waits takes its place. Raises ArogError. */
export async function makeLive(): Promise<void> {
  const job = load.value?.job;
  if (job) {
    await session.value?.service.tell(`/admin/jobs/${job.id}/live`, { method: "POST" });
  }
}

/** Makes room for another load; with `isSame` of the same files, under the policy that was proposed for them. */
export function forget(isSame = false): void {
  const job = load.value?.job;
  if (isSame) {
    policy.value = job?.policy ?? policy.value;
  } else if (job?.state === "done") {
    files.value = [];
    policy.value = "";
  }
  load.value = null;
}

async function follow(id: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    const job = await look(id, signal);
    if (job !== null) {
      if (job.state === "failed") {
        throw new ArogError(job.error ?? { code: "failed", message: "The load failed.", hint: "" });
      }
      const isDone = job.state === "done";
      tell({ state: job.state === "queued" ? "running" : job.state, percent: job.percent, step: job.step, job, isLost: false });
      if (isDone) {
        await arrived(job);
        return;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** Null where the service can't be reached just now. */
async function look(id: string, signal: AbortSignal): Promise<JobStatus | null> {
  const now = session.value;
  if (now === null) {
    throw new DOMException("The session has ended.", "AbortError");
  }
  try {
    return await now.service.ask(`/admin/jobs/${id}`, jobStatusOf, { signal });
  } catch (raised) {
    if (raised instanceof ArogError && (raised.code === "unreachable" || raised.code === "not_ready")) {
      tell({ isLost: true });
      return null;
    }
    throw raised;
  }
}

/** The new graph can be asked: it joins the list, and is chosen where none was. */
async function arrived(job: JobStatus): Promise<void> {
  await refreshGraphs().catch(() => undefined);
  if (settings.value.graph === "" && job.graph !== null && session.value?.graphs.includes(job.graph.name)) {
    await change({ graph: job.graph.name });
  }
}

function tell(some: Partial<Load>): void {
  if (load.value !== null) {
    load.value = { ...load.value, ...some };
  }
}
