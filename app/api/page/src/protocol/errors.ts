/** What can go wrong between the page and the service. None of it holds a question's or an answer's text. */

import { BadShape, parsed } from "./decode";
import plain from "./plain_words.json";
import { errorBodyOf } from "./wire";

export interface ErrorWords {
  code: string;
  message: string;
  hint: string;
  id?: string;
  status?: number;
  retryAfterS?: number | null;
}

/** `code` is for programs, `hint` says what to do, `id` is what the service's operator can look up. */
export class ArogError extends Error {
  readonly code: string;
  readonly hint: string;
  readonly id: string;
  readonly status: number;
  readonly retryAfterS: number | null;

  constructor(words: ErrorWords) {
    super(words.message);
    this.code = words.code;
    this.hint = words.hint;
    this.id = words.id ?? "";
    this.status = words.status ?? 0;
    this.retryAfterS = words.retryAfterS ?? null;
  }
}

const SENTENCES = new Map([
  [401, "The API key is missing or unknown."],
  [403, "This API key may not do that."],
  [404, "There is no such thing at the service."],
  [413, "The request is too large."],
  [429, "Too many requests."],
  [502, "The language model behind the service is not available."],
  [503, "The service is not ready."],
  [504, "The service ran out of time."],
]);

/** The error that a reply stands for. Only an ErrorBody's own fields are taken from `body`: a proxy's page is not shown. */
export function errorOf(status: number, body: string, retryAfter: string | null = null): ArogError {
  const retryAfterS = retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) : null;
  try {
    const told = parsed(body, errorBodyOf);
    return new ArogError({ ...told, ...forPeople(told), status, retryAfterS });
  } catch (problem) {
    if (!(problem instanceof BadShape)) {
      throw problem;
    }
    const message = SENTENCES.get(status) ?? (status >= 500 ? "The service failed." : "The service refused the request.");
    return new ArogError({ code: `http_${status}`, message, hint: "", status, retryAfterS });
  }
}

/** The service's hints are for programs as well: where one speaks of requests or commands, people get other words. */
function forPeople({ code, message, hint }: ErrorWords): Partial<ErrorWords> {
  const words = new Map<string, { message?: string; hint: string }>(Object.entries(plain)).get(code);
  const isTechnical = /`|\b(?:GET|POST|DELETE) |AROG_/.test(`${message} ${hint}`);
  return words !== undefined && isTechnical ? words : isTechnical ? { hint: "" } : {};
}

export function unreachable(): ArogError {
  return new ArogError({
    code: "unreachable",
    message: "The service can't be reached.",
    hint: "Is it running, and are you on its network? Then try again.",
  });
}

export function streamCut(): ArogError {
  return new ArogError({
    code: "stream_cut",
    message: "The connection broke before the answer was whole.",
    hint: "Ask again.",
  });
}

export function badAnswer(what: string, id = ""): ArogError {
  return new ArogError({
    code: "bad_answer",
    message: `The reply is not right: ${what}.`,
    hint: "Ask again; if it happens again, is something between you and the service changing replies?",
    id,
  });
}

export function cannotOpen(what: string, id = "", code = "cannot_open"): ArogError {
  return new ArogError({
    code,
    message: `The names can't be opened: ${what}.`,
    hint: "They were sealed to another key than this browser has now, or the answer was changed on its way here.",
    id,
  });
}
