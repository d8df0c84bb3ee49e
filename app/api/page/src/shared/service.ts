/** Requests to the service that served this page, with a key or a person's token; replies are read strictly, errors in one shape. */

import { BadShape, type Decoder, parsed } from "../protocol/decode";
import { ArogError, badAnswer, errorOf, unreachable } from "../protocol/errors";
import { eventsOf, type ServerEvent } from "../protocol/sse";

export interface Wanted {
  method?: "GET" | "POST" | "PUT" | "DELETE";
  /** Sent as JSON; a FormData goes as it is. */
  body?: unknown;
  signal?: AbortSignal;
}

/** What lets a request in: an API key, or the token of a person. */
export interface Access {
  /** What goes into the request's head. Raises ArogError. */
  token(): Promise<string>;
  /** The error to show where the service does not know it; null where the service's own words fit. */
  refused(): ArogError | null;
}

export function keyAccess(apiKey: string): Access {
  return { token: () => Promise.resolve(apiKey), refused: () => null };
}

export class Service {
  /** `access` is null for what needs none. */
  constructor(private readonly access: Access | null) {}

  /** The reply of `path`, read by `of`. Raises ArogError; an aborted signal raises AbortError. */
  async ask<T>(path: string, of: Decoder<T>, wanted: Wanted = {}): Promise<T> {
    const response = await this.send(path, wanted, "application/json");
    try {
      return parsed(await textOf(response), of);
    } catch (problem) {
      throw problem instanceof BadShape ? badAnswer(problem.message) : problem;
    }
  }

  /** A request whose reply has no body, or none that is read. Raises as `ask`. */
  async tell(path: string, wanted: Wanted): Promise<void> {
    await this.send(path, wanted, "application/json");
  }

  /** The events of a streamed reply. Raises as `ask`, also halfway. */
  async *stream(path: string, wanted: Wanted): AsyncGenerator<ServerEvent> {
    const response = await this.send(path, wanted, "text/event-stream");
    if (response.body === null || !response.headers.get("content-type")?.startsWith("text/event-stream")) {
      throw badAnswer("it is no stream");
    }
    try {
      yield* eventsOf(response.body);
    } catch (problem) {
      throw problem instanceof TypeError ? unreachable() : problem;
    }
  }

  /** The reply as it comes. Raises as `ask`. */
  async send(path: string, wanted: Wanted, accept: string): Promise<Response> {
    const response = await fetched(path, await this.request(wanted, accept));
    if (!response.ok) {
      const known = errorOf(response.status, await textOf(response), response.headers.get("retry-after"));
      throw (response.status === 401 && this.access?.refused()) || known;
    }
    return response;
  }

  private async request(wanted: Wanted, accept: string): Promise<RequestInit> {
    const headers = new Headers({ Accept: accept });
    if (this.access !== null) {
      headers.set("Authorization", `Bearer ${await this.access.token()}`);
    }
    const isForm = wanted.body instanceof FormData;
    if (wanted.body !== undefined && !isForm) {
      headers.set("Content-Type", "application/json");
    }
    return {
      method: wanted.method ?? "GET",
      headers,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
      ...(wanted.signal ? { signal: wanted.signal } : {}),
      ...(wanted.body === undefined ? {} : { body: isForm ? (wanted.body as FormData) : JSON.stringify(wanted.body) }),
    };
  }
}

async function fetched(path: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(path, request);
  } catch (problem) {
    // What fetch raises quotes nothing of the request, and says nothing either.
    throw problem instanceof TypeError ? unreachable() : problem;
  }
}

async function textOf(response: Response): Promise<string> {
  try {
    return await response.text();
  } catch (problem) {
    throw problem instanceof TypeError ? unreachable() : problem;
  }
}

export function isAborted(problem: unknown): boolean {
  return problem instanceof DOMException && problem.name === "AbortError";
}

/** What to show of anything that was raised; what is not ours is told without its text. */
export function told(problem: unknown): ArogError {
  if (problem instanceof ArogError) {
    return problem;
  }
  const code = problem instanceof Error ? problem.name : "unknown";
  return new ArogError({ code, message: "Something went wrong in this page.", hint: "Load it again." });
}
