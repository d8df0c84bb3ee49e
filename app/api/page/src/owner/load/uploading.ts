/** Uploads that tell how far they are: what fetch can't do. */

import { BadShape, type Decoder, parsed } from "../../protocol/decode";
import { badAnswer, errorOf, unreachable } from "../../protocol/errors";
import type { Access } from "../../shared/service";

export interface Uploading {
  access: Access;
  form: FormData;
  /** The share of bytes sent, 0 to 1. */
  onProgress: (sent: number) => void;
  signal: AbortSignal;
}

/** The reply to a POST of `form`. Raises ArogError; an aborted signal raises AbortError. */
export async function upload<T>(path: string, of: Decoder<T>, uploading: Uploading): Promise<T> {
  const { access, form, onProgress, signal } = uploading;
  const token = await access.token();
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", path);
    request.setRequestHeader("Authorization", `Bearer ${token}`);
    request.setRequestHeader("Accept", "application/json");
    request.upload.onprogress = (event) => {
      if (event.lengthComputable) {
        onProgress(event.loaded / event.total);
      }
    };
    request.onload = () => {
      if (request.status < 200 || request.status > 299) {
        const known = errorOf(request.status, request.responseText, request.getResponseHeader("retry-after"));
        reject((request.status === 401 && access.refused()) || known);
        return;
      }
      try {
        resolve(parsed(request.responseText, of));
      } catch (problem) {
        reject(problem instanceof BadShape ? badAnswer(problem.message) : problem);
      }
    };
    request.onerror = () => reject(unreachable());
    request.onabort = () => reject(new DOMException("The upload was stopped.", "AbortError"));
    signal.addEventListener("abort", () => request.abort(), { once: true });
    request.send(form);
  });
}
